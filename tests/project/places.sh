#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What docs/dev/add-a-*.md promise: a metric, a source, a column, a tab and a report format are added to a copy of
# the tree by following the pages to the letter, in no more files than they say; the copy is built, and what
# was added is there wherever a user looks.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"

copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$copy/tree" "$copy/steps"
(cd "$root" && source_files | grep -v '^tests/' | tar -cf - -T -) | (cd "$copy/tree" && tar -xf -)

# steps PAGE HEADING: writes the steps of a section (of the whole page without a heading) to $copy/steps:
# N.how (before, end or new), N.anchor, N.file, N.text; and prints how many places the page promises.
steps()
{
    rm -f "$copy"/steps/*
    awk -v heading="$2" -v to="$copy/steps/" '
        function quoted(number, parts) { split($0, parts, "`"); return parts[number * 2] }
        /^## / { outside = heading != "" && $0 != "## " heading }
        heading != "" && !begun { outside = outside || !/^## /; begun = !outside; if (!/^## /) next }
        outside { next }
        /^Places: [0-9]+/ { sub(/^Places: /, ""); print $0 + 0 }
        /^Before `.*` in `[^`]*`:$/ { how = "before"; anchor = quoted(1); file = quoted(2); next }
        /^At the end of `[^`]*`:$/ { how = "end"; anchor = ""; file = quoted(1); next }
        /^In a new file `[^`]*`:$/ { how = "new"; anchor = ""; file = quoted(1); next }
        /^```$/ {
            if (text) { text = 0; how = ""; next }
            if (how == "") next
            text = 1
            n++
            printf "%s\n", how > (to n ".how")
            printf "%s\n", anchor > (to n ".anchor")
            printf "%s\n", file > (to n ".file")
            printf "" > (to n ".text")
            next
        }
        text { print > (to n ".text") }
    ' "$root/docs/dev/$1"
}

# follow NAME PAGE HEADING: takes the steps in the copy.
follow()
{
    promised=$(steps "$2" "$3")
    findings=
    for step in "$copy"/steps/*.how; do
        step=${step%.how}
        [ -f "$step.how" ] || continue
        file=$copy/tree/$(cat "$step.file")
        case $(cat "$step.how") in
        new)
            [ ! -e "$file" ] || findings="$findings $(cat "$step.file") is there already"
            cp "$step.text" "$file"
            ;;
        end) cat "$step.text" >>"$file" ;;
        before)
            awk -v anchor="$(cat "$step.anchor")" -v text="$step.text" '
                !found && index($0, anchor) {
                    found = 1
                    while ((getline line < text) > 0) print line
                }
                { print }
                END { exit !found }
            ' "$file" >"$file.new" || findings="$findings $(cat "$step.file") has no $(cat "$step.anchor")"
            cat "$file.new" >"$file"
            rm "$file.new"
            ;;
        esac
    done
    result "the steps of $1 can be followed" "$findings"
    touched=$(cat "$copy"/steps/*.file | sort -u | wc -l)
    findings=
    [ "$touched" = "${promised:-none}" ] || findings="$touched files, the page says ${promised:-nothing}"
    result "$1 takes as many places as its page says" "$findings"
}

follow 'a metric' add-a-metric.md ''
follow 'a source' add-a-source.md ''
follow 'a column' add-a-view.md 'A column'
follow 'a tab' add-a-view.md 'A tab'
follow 'a report format' add-a-view.md 'A report format'

# Without debug data a cache of compilations knows the files of another copy again.
compiler=${CC:-cc}
! command -v ccache >/dev/null 2>&1 || compiler="ccache ${compiler#ccache }"
if ! CC=$compiler meson setup -Dtests=disabled --buildtype=plain -Doptimization=0 "$copy/build" "$copy/tree" \
    >"$copy/log" 2>&1 || ! ninja -C "$copy/build" ctop man/ctop.1 >"$copy/log" 2>&1; then
    result 'the copy is built' "$(grep -E -A4 'error|ERROR|FAILED' "$copy/log" | head -n 40; echo 'the build failed')"
    finish
fi
result 'the copy is built' ''
ctop=$copy/build/ctop

# A process of the saved kind, with what the new metrics are read from.
task=$copy/proc/1/task/1
mkdir -p "$task"
for file in stat status schedstat io comm cgroup; do
    cat "/proc/self/task/self/$file" >"$task/$file" 2>/dev/null || cat "/proc/$$/task/$$/$file" >"$task/$file"
done
rule=$(printf '%067d' 0 | tr 0 -) # as the kernel's, SEQ_printf() of kernel/sched/debug.c
sed -i '1s/^[0-9]* /1 /' "$task/stat"
printf 'sh (1, #threads: 1)\n%s\nse.nr_migrations : 3\nnr_switches : 711\n' "$rule" >"$task/sched"
printf 'done: 712\n' >"$task/things"
cp "$task/stat" "$task/status" "$copy/proc/1/"

# has NAME PATTERN COMMAND...: the command prints a line with it.
has()
{
    name=$1
    pattern=$2
    shift 2
    "$@" >"$copy/out" 2>&1
    result "$name" "$(grep -qE -- "$pattern" "$copy/out" || head -n 20 "$copy/out" | cut -c 1-200)"
}

"$ctop" capture --proc-root "$copy/proc" -o "$copy/file" >"$copy/out" 2>&1
result 'a file is captured' "$([ -s "$copy/file" ] || cat "$copy/out")"
for pair in nr_switches=711 things_done=712; do
    metric=${pair%=*}
    has "ctop metrics lists $metric" "	$metric	" "$ctop" metrics --format tsv
    has "the file has $metric" "\"$metric\":${pair#*=}[,}]" zstd -dc "$copy/file"
    has "ctop show reads $metric" "	$metric	${pair#*=}$" "$ctop" show "$copy/file" --format tsv
    has "the manual page explains $metric" "$metric" cat "$copy/build/man/ctop.1"
done
has 'the file counts the readings of the source' '"things":' zstd -dc "$copy/file"
has 'the column is on its tab' 'forced_migrations' "$ctop" -b -n 1 -t wakeups --format tsv --proc-root "$copy/proc"
has 'the manual page explains the column' 'FORCED' cat "$copy/build/man/ctop.1"
has 'the tab has its columns' 'migrations_per_s' "$ctop" -b -n 1 -t moves --format tsv --proc-root "$copy/proc"
has 'the manual page explains the tab' '^.It Ic Moves' cat "$copy/build/man/ctop.1"
has 'a message lists the tab' 'moves' "$ctop" -t moev
has 'a report has the format' "^$(sed 's/.*(\(.*\)).*/\1/' "$task/stat")\$" "$ctop" show "$copy/file" --format names
has 'a message lists the format' 'names' "$ctop" show "$copy/file" --format name
has 'the help lists the format' 'names;' "$ctop" show --help
has 'the manual page lists the format' 'names;' cat "$copy/build/man/ctop.1"
finish
