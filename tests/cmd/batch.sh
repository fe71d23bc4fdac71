#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# batch.sh CTOP: a `ctop -b` whose reader has stopped reading ends by SIGTERM all the same, and one that was stopped
# itself goes on at its interval.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

mkfifo "$directory/pipe"
# shellcheck disable=SC2217 # holds the pipe open and reads nothing
sleep 60 <"$directory/pipe" &
reader=$!
# all columns of all threads fill the 64 KiB of the pipe in a few rounds
"$ctop" -b -d 0.1 -t all -g thread-exact --limit 0 --format json >"$directory/pipe" 2>/dev/null &
writer=$!
sleep 2
kill -TERM $writer
waited=0
while kill -0 $writer 2>/dev/null && [ $waited -lt 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
result "SIGTERM ends it while nobody reads" "$(kill -KILL $writer 2>/dev/null && echo "it does not")"
kill $reader

: >"$directory/rounds"
"$ctop" -b -d 1 -n 4 -p $$ -g process --format csv --no-heap >"$directory/rounds" 2>"$directory/notes" &
stopped=$!
waited=0
while [ "$(wc -l <"$directory/rounds")" -lt 2 ] && [ $waited -lt 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
kill -STOP $stopped
sleep 3
kill -CONT $stopped
wait $stopped
result "after a stop rounds are an interval apart" "$(cat "$directory/notes"
    tail -n +2 "$directory/rounds" | cut -d, -f1 | uniq |
        awk 'NR > 1 && ($1 - before) / 1e9 < 0.5 { print "only", ($1 - before) / 1e9, "s" } { before = $1 }
            END { if (NR != 4) print NR, "rounds" }')"
finish
