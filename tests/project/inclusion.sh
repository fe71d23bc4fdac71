#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The order of inclusion between the rooms of the house (docs/architecture.md): a room includes only what
# stands left of it. A room is a directory; the files of a directory below it are a room of their own.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$root" || exit 1

base='src/base'
metric="$base src/metric"
user="$metric src/process src/user"
snapshot="$user src/snapshot"
group="$snapshot src/group"
table="$group src/table"
view="$table src/view"
window="$view src/latency src/user src/process src/window"
diff="$window src/diff"
session="$diff src/evidence src/session"
compare="$session src/compare"
tables="$diff src/tables"
ui="$compare src/host src/tables src/report src/lookup src/timeline"
object="$base probe/object"
process="$object src/process probe/process"
dwarf="$process probe/dwarf"
resolver="$dwarf probe/resolver"
probe="$resolver probe"
latency="$snapshot capture/procfs capture/host capture/bpf"
capture="$latency $probe capture/taskstats capture/latency capture/scx capture/ended capture/task capture/preview"

line="$ui src/json src/ctprof $capture capture capture/lookup src/cmd/line"
history="$line src/history src/timeline src/config src/cmd/config src/cmd/history"
files="$history src/cmd/files"
live="$files ui/terminal ui/widget ui/page ui"

# directory: directories it may include besides itself
rooms="src/base:
src/json: $base
src/process: $base
src/config: $base
src/metric: $base
src/user: $metric src/process
src/snapshot: $metric
src/ctprof: $snapshot src/json
src/recording: $snapshot
src/group: $snapshot
src/host: $snapshot
src/table: $group
src/view: $table
src/lookup: $table
src/diff: $window
src/latency: $table
src/evidence: $table
src/window: $view src/latency src/user
src/session: $diff src/evidence
src/timeline: $session src/recording src/history
src/compare: $session
src/export: $session
src/tables: $diff
src/history: $session src/recording
src/report: $tables src/host
probe/object: $base
probe/process: $object src/process
probe/dwarf: $process
probe/resolver: $dwarf src/process
probe: $resolver
capture/procfs: $snapshot
capture/host: $snapshot capture/procfs
capture/taskstats: $snapshot
capture/bpf: $metric
capture/latency: $latency
capture/scx: $latency
capture/lookup: $resolver $table src/lookup
capture/ended: $snapshot capture/bpf capture/procfs capture/host capture/taskstats
capture/task: $snapshot capture/bpf
capture/preview: $snapshot capture/procfs capture/host
capture: $capture
ui/terminal: $compare
ui/widget: $compare ui/terminal
ui/page: $compare ui/terminal ui/widget
ui: $ui ui/terminal ui/widget ui/page
ui/look: $ui ui/terminal ui/widget ui/page ui
ui/loop: $ui ui/terminal ui/widget ui/page ui ui/look
src/cmd/line: $line
src/cmd/history: $history
src/cmd/files: $files
src/cmd/config: $line src/config
src/cmd/live: $live src/config src/cmd/config src/export
src/cmd/probe: $line
src/cmd/export: $line src/export src/cmd/live
src/cmd/record: $live src/cmd/live src/recording
src/cmd: $live src/config src/cmd/config src/cmd/live src/cmd/probe src/cmd/record src/cmd/export src/export
bench: $ui src/recording src/export src/json src/ctprof src/history $capture capture"

# included FILE: every project header that the file includes.
included()
{
    sed -n 's/^[ 	]*#[ 	]*include[ 	]*"\([^"]*\)".*/\1/p' "$1"
}

# room_of HEADER: the directory of a header that is named with its room.
room_of()
{
    directory=${1%/*}
    [ ! -d "src/$directory" ] || directory=src/$directory
    echo "$directory"
}

echo "$rooms" | while read -r room allowed; do
    room=${room%:}
    findings=
    for file in $(source_files | grep "^$room/[^/]*\.[ch]$"); do
        for header in $(included "$file"); do
            case $header in
            ../* | */../*) findings="$findings $file:$header" ;;
            */*)
                case " $allowed " in
                *" $(room_of "$header") "*) ;;
                *) findings="$findings $file:$header" ;;
                esac
                ;;
            esac
        done
    done
    result "$room includes only what stands left of it" "$findings"
done | {
    # The loop runs in a subshell: its lines decide.
    lines=$(cat)
    printf '%s\n' "$lines"
    ! printf '%s\n' "$lines" | grep -q '^not ok'
} || failures=1

# Every directory with sources is a room (src itself holds main.c).
findings=$(source_files | grep -E '^(src|probe|capture|ui)/.*\.[ch]$' | sed 's|/[^/]*$||' | sort -u | while read -r directory; do
    [ "$directory" = src ] || echo "$rooms" | grep -q "^$directory:" || echo "$directory"
done)
result "every directory of sources is a room" "$findings"

findings=$(for file in $(source_files | grep -E '^src/(metric|snapshot|group|window|table|view|diff|session|compare|export|tables|report)/.*\.[ch]$'); do
    grep -nE '(^|[^>.a-z_])(fopen|open|openat|read|write|ioctl|socket)\(' "$file" /dev/null
done | grep -vE '^[^:]*:[0-9]*:[ 	]*(/?\*|//)' | cut -d: -f1,2)
result "no room below capture does input or output except the snapshot file's" "$findings"

findings=$(for file in $(source_files | grep -E '^(src|capture|probe)/.*\.[ch]$'); do
    grep -nE '#[ ]*include[ ]*<(ncurses|curses|ncursesw/|panel)' "$file" /dev/null
done | cut -d: -f1,2)
result "only the screen uses ncurses" "$findings"
finish
