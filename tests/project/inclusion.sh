#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the order of inclusion between rooms (docs/dev/architecture.md): a room includes only the rooms to its right and
# what those may include. The directories inside capture, probe, ui and src/cmd have an order too.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$root" || exit 1

rooms='src/base:
src/metric: src/base
src/snapshot: src/metric
src/window: src/snapshot
src/table: src/window
src/compare: src/table
src/store: src/window
src/session: src/store src/table
src/report: src/compare
probe/object: src/base
probe/process: probe/object
probe/dwarf: probe/process
probe/resolver: probe/dwarf
probe: probe/resolver
capture/procfs: src/snapshot
capture/host: capture/procfs
capture/bpf: src/snapshot
capture/scx: capture/bpf capture/host
capture: capture/scx probe
ui/terminal: src/session src/compare src/report
ui/widget: ui/terminal
ui/page: ui/widget
ui: ui/page
src/cmd/line: capture src/session src/report
src/cmd/live: src/cmd/export ui
src/cmd/record: src/cmd/live
src/cmd/export: src/cmd/line
src/cmd: src/cmd/record
src: src/cmd
bench: src/cmd'

# inclusions: a line for each inclusion of a project header, the file and the header's path. A header without a
# directory lies beside the file; one with a directory below src or at the top.
inclusions()
{
    # shellcheck disable=SC2046 # no name of a file has a blank
    awk '
        FNR == 1 { directory = FILENAME; sub(/\/[^\/]*$/, "", directory) }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            split($0, parts, "\"")
            header = parts[2]
            if (header !~ /\//)
                header = directory "/" header
            else if (system("test -e src/" header) == 0)
                header = "src/" header
            print FILENAME, header
        }' $(source_files | grep -E '^(src|capture|probe|ui|bench)/.*\.[ch]$')
}

list=$(inclusions)

# Every directory with sources is a room.
findings=$(printf '%s\n' "$list" | sed 's|/[^/ ]* .*||' | sort -u | while read -r directory; do
    echo "$rooms" | grep -q "^$directory:" || echo "$directory"
done)
result "every directory of sources is a room" "$findings"

findings=$(printf '%s\n' "$rooms" "$list" | awk '
    function room(path) { sub(/\/[^\/]*$/, "", path); return path }
    # whether b stands right of a, at whatever distance
    function may(a, b, i, n, next_rooms) {
        if (a == b)
            return 1
        if ((a, b) in known)
            return known[a, b]
        n = split(allowed[a], next_rooms, " ")
        known[a, b] = 0
        for (i = 1; i <= n; i++) {
            if (may(next_rooms[i], b))
                return known[a, b] = 1
        }
        return 0
    }
    $1 ~ /:$/ { name = $1; sub(/:$/, "", name); sub(/^[^ ]* */, ""); allowed[name] = $0; next }
    !may(room($1), room($2)) { print $1 " includes " $2 }')
result "a room includes only the rooms to its right" "$findings"

findings=$(printf '%s\n' "$list" | awk '
    { from = $1; to = $2; sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to) }
    from != to && $2 ~ /_internal\.h$/ { print $1 " includes " $2 }')
result "no room includes the internals of another" "$findings"

# The names of users come from passwd(5).
findings=$(for file in $(source_files | grep -E '^src/(metric|snapshot|window|table|compare|session|report)/.*\.[ch]$'); do
    grep -nE '(^|[^>.a-z_])(fopen|open|openat|read|write|ioctl|socket)\(' "$file" /dev/null
done | grep -vE '^src/snapshot/user_names\.c:|^[^:]*:[0-9]*:[ 	]*(/?\*|//)' | cut -d: -f1,2)
result "no room between capture and the screen does input or output except the store" "$findings"

findings=$(for file in $(source_files | grep -E '^(src|capture|probe)/.*\.[ch]$'); do
    grep -nE '#[ ]*include[ ]*<(ncurses|curses|ncursesw/|panel)' "$file" /dev/null
done | cut -d: -f1,2)
result "only the screen uses ncurses" "$findings"
finish
