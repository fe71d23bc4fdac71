#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The order of inclusion between the rooms of the house (docs/architecture.md): a room includes only what
# stands left of it.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$root" || exit 1

# room directory: rooms it may include besides itself
rooms='base src/base:
model src/model: base
report src/report: base model
probe probe: base
capture capture: base model probe
ui ui: base model report
cmd src/cmd: base model report probe capture ui
bench bench: base model report probe capture ui cmd'

# included FILE: the room of every project header that the file includes, with the line number.
included()
{
    sed -n 's/^[ 	]*#[ 	]*include[ 	]*"\([^"]*\)".*/\1/p' "$1"
}

echo "$rooms" | while read -r room directory allowed; do
    directory=${directory%:}
    [ -d "$directory" ] || continue
    findings=
    for file in $(source_files | grep "^$directory/.*\.[ch]$"); do
        for header in $(included "$file"); do
            case $header in
            ../* | */../*) findings="$findings $file:$header" ;;
            */*)
                case " $room $allowed " in
                *" ${header%%/*} "*) ;;
                *) findings="$findings $file:$header" ;;
                esac
                ;;
            esac
        done
    done
    result "$room includes itself${allowed:+, $allowed}" "$findings"
done | {
    # The loop runs in a subshell: its lines decide.
    lines=$(cat)
    printf '%s\n' "$lines"
    ! printf '%s\n' "$lines" | grep -q '^not ok'
} || failures=1

findings=$(for file in $(source_files | grep -E '^src/model/.*\.[ch]$' | grep -v '/snapshot_file'); do
    grep -nE '(^|[^>.a-z_])(fopen|open|openat|read|write|ioctl|socket)\(' "$file" /dev/null
done | grep -vE '^[^:]*:[0-9]*:[ 	]*(/?\*|//)' | cut -d: -f1,2)
result "the model does no input or output except the snapshot file" "$findings"

findings=$(for file in $(source_files | grep -E '^(base|src/base|src/model|src/report|capture|probe|src/cmd)/.*\.[ch]$' | grep -v '^src/cmd/live'); do
    grep -nE '#[ ]*include[ ]*<(ncurses|curses|ncursesw/|panel)' "$file" /dev/null
done | cut -d: -f1,2)
result "only the screen uses ncurses" "$findings"
finish
