#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# batch.sh CTOP: the processes of ctop are one row, which no export has; a `ctop -b` whose reader has stopped reading ends by SIGTERM all the same, and one that was stopped
# itself goes on at its interval.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"

# self_rows OPTION...: the rows called `ctop (self)` of two rounds, and how many there should be
self_rows()
{
    "$ctop" -b -d 0.3 -n 2 --no-heap "$@" 2>/dev/null | grep -c 'ctop (self)'
}
result "the processes of ctop are one row a round" "$(for axis in process pid thread; do
    rows=$(self_rows -g $axis --format csv)
    [ "$rows" = 2 ] || echo "by $axis: $rows rows in 2 rounds"
done)"
# shellcheck disable=SC2016 # the process id of the shell that becomes ctop
result "one that is named by -p is as any other" "$(
    rows=$(sh -c 'exec "$0" -b -n 1 -p $$ -g process --format csv --no-heap' "$ctop" 2>/dev/null)
    echo "$rows" | grep -q ',ctop,' || echo "$rows"
)"
run "an export has groups" 0 out '^ctop_group_threads{axis="process"' -b -d 0.3 -n 2 --no-heap --format openmetrics --limit 0
result "but not them" "$(grep 'ctop (self)' "$directory/out")"

# futexes: the threads of another ctop wait for one another
"$ctop" -b -d 60 -p $$ --no-heap >/dev/null 2>&1 &
waiting=$!
sleep 1
run "it lists the futexes of a process" 0 out '^[0-9]*,0x[0-9a-f]*,1,' -b --futex -p $waiting -d 0.2 -n 2 --format csv
result "with one header for two rounds" "$([ "$(grep -c '^time_unix_ns,address,threads,waits,time_ns,longest_ns,hint,mapping,' "$directory/out")" = 1 ] || cat "$directory/out")"
run "and in text with their mapping" 0 out '^ 0x[0-9a-f]*  *1 .* [^ ][^ ]*$' -b --futex -p $waiting -d 0.2 -n 1
kill $waiting
refuse "futexes of no process" 2 'add one -p PID' -b --futex
refuse "an order of futexes by a metric" 2 '--sort-by does nothing with --futex' -b --futex -p $$ --sort-by cpu
refuse "groups of futexes" 2 '--group-by does nothing with --futex' -b --futex -p $$ -g pid

# filters find names in other scripts in every locale
cp "$(command -v sleep)" "$directory/ЙЦУКЕН"
"$directory/ЙЦУКЕН" 60 &
named=$!
for locale in C C.UTF-8; do
    for filter in йцукен /^йцу/ ЙЦУКЕН; do
        result "$filter finds ЙЦУКЕН in the locale $locale" "$(
            rows=$(LC_ALL=$locale "$ctop" -b -n 1 -d 0.1 -p $named -g process -f "$filter" --format csv --no-heap 2>&1)
            echo "$rows" | grep -q ',ЙЦУКЕН,' || echo "$rows"
        )"
    done
done
kill $named

# without a terminal to draw on it prints a table
("$ctop" -d 0.1 -p $$ --no-heap 2>"$directory/errors"; echo $? >"$directory/status") | cat >"$directory/out"
result "into a pipe ctop prints one table and ends" "$([ "$(cat "$directory/status")" = 0 ] || cat "$directory/status" "$directory/errors"
    [ "$(grep -c '^ PROCESS ' "$directory/out")" = 1 ] || head -n 5 "$directory/out")"
result "without anything that a terminal would obey" "$(tr -cd '\033' <"$directory/out")"

# --- pages for Prometheus ---

for option in "--sort-by cpu%" "--mode total" "--all" "-t run"; do
    # shellcheck disable=SC2086 # words
    refuse "$option is for tables" 2 "^ctop: --[a-z-]* is for tables: leave it out; " -b -n 1 --format openmetrics $option
done
refuse "waits of some groups" 2 "leave out --latency or the filter$" -b -n 1 --format openmetrics --latency -f 'process = sh'
run "columns beside the default" 0 out '^ctop_group_threads{axis="process"' -b -n 1 -d 0.1 --no-heap --format openmetrics --columns +THROT
run "a limit of groups" 0 out '^ctop_groups_limit{axis="process"} 1$' -b -n 1 -d 0.1 --no-heap --format openmetrics --limit 1
run "a limit of 0 is none" 0 out '^ctop_groups{axis="process"}' -b -n 1 -d 0.1 --no-heap --format openmetrics --limit 0
result "and so there is no number of it" "$(grep -e '^ctop_groups_limit{' -e 'group="(other)"' "$directory/out")"

expect "a cgroup that is not there is told" "no thread is in cgroup '/no/such' (option -c); " \
    "$("$ctop" -b -n 1 --no-heap -c /no/such 2>&1 >/dev/null)"

mkfifo "$directory/pipe"
# shellcheck disable=SC2217 # holds the pipe open and reads nothing
sleep 60 <"$directory/pipe" &
reader=$!
# all columns of all threads fill the 64 KiB of the pipe in a few rounds
"$ctop" -b -d 0.1 -t all -g thread-exact --limit 0 --format json >"$directory/pipe" 2>/dev/null &
writer=$!
# waits_for_reader PROCESS: whether it is in ppoll(2) of two descriptors without a timeout (proc_pid_syscall(5)); asked by
# the shell itself, who may look into his children
# shellcheck disable=SC2317 # by until_true
waits_for_reader()
{
    read -r _ _ count timeout _ <"/proc/$1/syscall" && [ "$count $timeout" = "0x2 0x0" ]
}
result "nobody reads what it writes" "$(until_true 60 waits_for_reader $writer || cat "/proc/$writer/syscall")"
kill -TERM $writer
# shellcheck disable=SC2317 # by until_true
has_ended()
{
    ! kill -0 "$1" 2>/dev/null
}
until_true 60 has_ended $writer
result "SIGTERM ends it while nobody reads" "$(kill -KILL $writer 2>/dev/null && echo "it does not")"
kill $reader
(
    trap '' PIPE
    "$ctop" -b -d 0.1 -p $$ --no-heap 2>"$directory/errors"
    echo "status $?" >>"$directory/errors"
) | :
result "without a reader it ends, and says so where SIGPIPE is ignored" "$([ "$(tail -n 2 "$directory/errors")" = "ctop: cannot write the output: Broken pipe
status 1" ] || cat "$directory/errors")"

: >"$directory/rounds"
"$ctop" -b -d 2 -n 4 -p $$ -g process --format csv --no-heap >"$directory/rounds" 2>"$directory/notes" &
stopped=$!
# shellcheck disable=SC2317 # by until_true
has_lines()
{
    [ "$(wc -l <"$1")" -ge "$2" ]
}
until_true 60 has_lines "$directory/rounds" 2
kill -STOP $stopped
sleep 5 # some intervals, however many
kill -CONT $stopped
wait $stopped
# after one that is late by nearly an interval one may come soon, but not at once
result "after a stop rounds are an interval apart" "$(cat "$directory/notes"
    tail -n +2 "$directory/rounds" | cut -d, -f1 | uniq | awk '
        NR > 1 { apart = ($1 - before) / 1e9; is_short = apart < 0.5 }
        is_short && (was_short || apart < 0.05) { print "only", apart, "s" }
        { before = $1; was_short = is_short }
        END { if (NR != 4) print NR, "rounds" }')"
finish
