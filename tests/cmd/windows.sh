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
# shellcheck source=tests/cmd/windows_pool.sh
. "$(dirname "$0")/windows_pool.sh"

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

# pressure: for how long some thread of the host has waited for a CPU, ms
pressure()
{
    sed -n 's/^some .*total=\([0-9]*\)[0-9][0-9][0-9]$/\1/p' /proc/pressure/cpu 2>/dev/null || echo 0
}

# hogged: one window alone, one beside four that never sleep on that CPU
hogged()
{
    begun=$(pressure)
    window two
    others=$(($(pressure) - begun))
    hogged_window 4 three
    said=$(compare two three 'wait_time_ns(load*) > 20%')
    status=$?
    [ $status = 3 ] && came && has_both_numbers
}

# came: whether a sentence is about those who compute, who were not there before, and their row says so, too
came()
{
    echo "$said" | grep -q '^  [123]\. hog, new: ' &&
        echo "$said" | grep -q '^[! ]*hog  *- → 4  *- → [≥0-9]'
}

# has_both_numbers: whether the row of the pool is marked, and marks what is real, with what it was and what it is
has_both_numbers()
{
    echo "$said" | grep -q '^! load-{N}  .* ≠[≥0-9.]* → [≥0-9]'
}

# grown NAME CONDITION...: a result about the window beside the hogs. Where others wanted the CPUs before, too, the waits
# of the pool vary so much that no change stands out.
grown()
{
    name=$1
    shift
    if "$@"; then
        result "$name" ""
    elif [ "$others" -gt 300 ]; then
        echo "skip - $name: somebody waited for a CPU for $others ms of the 3 s before"
    else
        result "$name" "$(echo "$said" | head -n 20)"
    fi
}

# up to three times, since somebody else may want the CPU in one of the windows
if steady || steady || steady; then found=; else found=$(echo "$said" | head -n 12); fi
result "what goes on as before breaks no rule" "$found"
result "a file has rates" "$("$ctop" show "$directory/one" | grep -qE '  rate over ([3-9]|[1-9][0-9]+)(\.[0-9])?s' || "$ctop" show "$directory/one" | head -n 2)"
result "and amounts" "$("$ctop" show "$directory/one" --mode interval --columns cpu,run_time_ns -f 'load-' --format json | grep -o '"load-{N}".*' |
    grep -q '"run_time_ns":{"value":[1-9][0-9]*,' || "$ctop" show "$directory/one" --mode interval -f 'load-' --format json)"
result "rows say what is real" "$("$ctop" diff "$directory/one" "$directory/two" -g process --format tsv --limit 0 \
    --metrics run_time_ns 2>/dev/null | awk -F '\t' '$1 == "load-{N}" && $NF !~ /^(real|burst|no|not tested)$/ { print }')"
result "csv has how much each side varies" "$("$ctop" diff "$directory/one" "$directory/two" -g process --format csv --sections primary --limit 1 \
    --metrics run_time_ns 2>/dev/null | grep -q ',spread_before,spread_after,p,verdict,' || echo no)"
result "rates are not divided" "$("$ctop" diff "$directory/one" "$directory/two" --columns group,metric,per-thread 2>&1 |
    grep -q 'leave out per-thread' || echo no)"
cp /bin/sh "$directory/brief"

# ends_within: a window of a process, of which there is no other, that ends before the window does
ends_within()
{
    # shellcheck disable=SC2016 # of the other shell
    "$directory/brief" -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; sleep 1' &
    brief=$!
    "$ctop" capture --no-heap --for 4 -p "$brief" -o "$directory/ended" 2>"$directory/said" &
    wait "$brief"
    wait $!
    "$ctop" show "$directory/ended" --mode interval --columns cpu,ended --format json |
        grep -q '"brief".*"ended":{"value":1,'
}

if "$ctop" doctor 2>/dev/null | grep -q '^on .*what ended threads did'; then
    # up to three times, since it may get no CPU for as long as the window
    result "what has ended when the window does is in it" \
        "$(ends_within || ends_within || ends_within || cat "$directory/said")"
else
    echo "skip - what has ended when the window does is in it: nobody tells of it here"
fi
result "but not what was not there when it began" "$("$ctop" capture --no-heap --for 1 -p 4194303 -o "$directory/none" 2>&1 |
    grep -q 'there is no process 4194303' || echo "there is")"
hogged || hogged || hogged || true
grown "waits that grew break a rule" [ "$status" = 3 ]
grown "its row has both numbers" has_both_numbers
grown "who came is told" came
finish
