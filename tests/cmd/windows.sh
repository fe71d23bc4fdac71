#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# windows.sh CTOP LOAD: files with windows of the real host. A pool that does the same all the time has not changed; once
# others compute beside it, its waits for a CPU have, and a rule about them is broken.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
load=$2
directory=$(mktemp -d) || exit 1
pool=
hogs=
# shellcheck disable=SC2317 # by the trap
clean()
{
    for process in $pool $hogs; do
        kill "$process" 2>/dev/null
    done
    rm -rf "$directory"
}
trap clean EXIT
export XDG_CONFIG_HOME="$directory" TZ=UTC

# six threads that run 1 ms of each 100 ms on one CPU, as long as somebody holds their standard input
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
mkfifo "$directory/input"
taskset -c "$cpu" "$load" 2 4 --busy 6 <"$directory/input" >"$directory/ready" &
pool=$!
exec 3>"$directory/input"
result "the pool runs" "$(until_true 20 grep -q ready "$directory/ready" || echo "it does not")"

# window NAME: what happens in three seconds
window()
{
    if ! "$ctop" capture --no-heap --for 3 -o "$directory/$1" 2>"$directory/said"; then
        result "a window is captured" "$(cat "$directory/said")"
    fi
}

# compare BEFORE AFTER RULE: prints what the comparison says; its status is that of the rule
compare()
{
    "$ctop" diff "$directory/$1" "$directory/$2" -g process --fail-if "$3" 2>/dev/null
}

# steady: two windows one after the other
steady()
{
    window one
    window two
    said=$(compare one two 'run_time_ns(load*) > 20%')
}

# hogged: one window alone, one beside four that never sleep on that CPU
hogged()
{
    window two
    hogs=
    for _ in 1 2 3 4; do
        taskset -c "$cpu" "$directory/hog" -c 'while :; do :; done' &
        hogs="$hogs $!"
    done
    window three
    said=$(compare two three 'wait_time_ns(load*) > 20%')
    status=$?
    for process in $hogs; do
        kill "$process"
    done
    [ $status = 3 ]
}

# up to three times, since somebody else may want the CPU in one of the windows
if steady || steady || steady; then found=; else found=$(echo "$said" | head -n 12); fi
result "what goes on as before breaks no rule" "$found"
result "a file has rates" "$("$ctop" show "$directory/one" | grep -q '  rate over 3\.[0-9]s' || "$ctop" show "$directory/one" | head -n 2)"
result "and amounts" "$("$ctop" show "$directory/one" --mode interval --columns cpu,run_time_ns -f 'load-' --format json | grep -o '"load-{N}".*' |
    grep -q '"run_time_ns":{"value":[1-9][0-9]*,' || "$ctop" show "$directory/one" --mode interval -f 'load-' --format json)"
result "rows say what is real" "$("$ctop" diff "$directory/one" "$directory/two" -g process --format tsv --limit 0 \
    --metrics run_time_ns 2>/dev/null | awk -F '\t' '$1 == "load-{N}" && $NF !~ /^(yes|no)$/ { print }')"
cp /bin/sh "$directory/hog"
if hogged || hogged || hogged; then found=; else found=$(echo "$said" | head -n 12); fi
result "waits that grew break one" "$found"
result "its row has both numbers" "$(echo "$said" | grep -q '^load-{N}  .*[0-9] → .*[0-9]' || echo "$said" | head -n 20)"
result "who came is told" "$(echo "$said" | grep -q '^  [123]\. hog, which was not there before, ' || echo "$said" | head -n 12)"
finish
