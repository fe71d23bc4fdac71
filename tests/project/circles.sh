#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# circles.sh BUILD: checks that no files of the program use each other in a circle. Files of a room have an order as the
# rooms have (inclusion.sh): what a file uses is what the symbols of its object say.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$1" || exit 1

if ! command -v nm >/dev/null 2>&1; then
    echo "skip - no circle of files: nm is not installed"
    finish
fi

# objects: a line for each file of the program that was compiled: its object and its name.
objects()
{
    awk -F '"' -v root="$root/" -v build="$PWD/" '
        $2 == "file" { file = $4 }
        $2 == "output" { output = $4 }
        /}/ && file != "" {
            if (file !~ /^\//)
                file = build file
            while (match(file, /\/[^\/]+\/\.\.\//))
                file = substr(file, 1, RSTART) substr(file, RSTART + RLENGTH)
            file = index(file, root) == 1 ? substr(file, length(root) + 1) : ""
            if (file ~ /^(src|capture|probe|ui)\/.*\.c$/)
                print output, file
            file = ""
        }' compile_commands.json | while read -r object file; do
        [ ! -e "$object" ] || [ ! -e "$root/$file" ] || echo "$object" "$file"
    done
}

list=$(objects)
findings=
[ "$(echo "$list" | wc -l)" -gt 100 ] || findings="fewer than 100 objects in $1"
result "the program is compiled" "$findings"

# Letters of types are those of nm(1): U, v and w are used, other capitals are defined for all. A link of files that is in
# no circle is dropped: nobody uses its first file, or its second one uses nobody. While links are left there is a
# circle; the shortest one is printed and cut, and then others show.
# shellcheck disable=SC2046 # no name of a file has a blank
findings=$({
    echo "$list"
    nm -A -P $(echo "$list" | cut -d ' ' -f 1)
} | awk '
    NF == 2 && $1 !~ /:$/ { file_of[$1] = $2; next }
    {
        sub(/:$/, "", $1)
        if ($3 ~ /^[Uvw]$/)
            used[file_of[$1], $2]
        else if ($3 ~ /^[A-Z]$/)
            definer[$2] = file_of[$1]
    }
    # drops links that are in no circle, and returns how many are left
    function drop(link, ends, count, before, users, others) {
        count = -1
        do {
            before = count
            count = 0
            split("", users)
            split("", others)
            for (link in symbols) {
                split(link, ends, SUBSEP)
                users[ends[1]]
                others[ends[2]]
            }
            for (link in symbols) {
                split(link, ends, SUBSEP)
                if (ends[1] in others && ends[2] in users)
                    count++
                else
                    delete symbols[link]
            }
        } while (count != before)
        return count
    }
    # the length of the shortest circle through a file, 0 for none; its files, in order, to circle[0 ...]
    function find(start, queue, head, tail, came, file, link, ends, count, i) {
        queue[tail = 1] = start
        for (head = 1; head <= tail && !(start in came); head++) {
            file = queue[head]
            for (link in symbols) {
                split(link, ends, SUBSEP)
                if (ends[1] != file || ends[2] in came)
                    continue
                came[ends[2]] = file
                queue[++tail] = ends[2]
            }
        }
        if (!(start in came))
            return 0
        file = start
        do {
            file = came[file]
            count++
        } while (file != start)
        circle[count] = file = start
        for (i = count - 1; i >= 0; i--)
            circle[i] = file = came[file]
        return count
    }
    END {
        for (use in used) {
            split(use, ends, SUBSEP)
            to = definer[ends[2]]
            if (to != "" && to != ends[1])
                symbols[ends[1], to] = symbols[ends[1], to] " " ends[2]
        }
        while (drop() > 0) {
            shortest = 0
            for (link in symbols) {
                split(link, ends, SUBSEP)
                count = find(ends[1])
                if (count == 0 || (shortest > 0 && count >= shortest))
                    continue
                shortest = count
                for (i = 0; i <= count; i++)
                    best[i] = circle[i]
            }
            print "a circle of " shortest " files:"
            for (i = 0; i < shortest; i++)
                print "    " best[i] " uses " best[i + 1] ":" symbols[best[i], best[i + 1]]
            delete symbols[best[0], best[1]]
        }
    }' || echo "awk has failed")
result "no circle of files" "$findings"
finish
