#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# diff_rules.sh CTOP DATA: rules of `ctop diff`, matching of threads and columns by time, as options; the banner in
# each format.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
before=$2/snapshots/real.a.ctprof.zst
after=$2/snapshots/real.b.ctprof.zst
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
export LC_ALL=C.UTF-8

# run NAME STATUS WHERE WANTED ARGUMENT...: diff ends with this status and has a line that matches on WHERE, out or err.
run()
{
    name=$1
    status=$2
    where=$3
    wanted=$4
    shift 4
    "$ctop" diff "$before" "$after" "$@" >"$directory/out" 2>"$directory/err"
    found=$?
    if [ "$found" != "$status" ]; then
        result "$name" "exit status $found, not $status: $(cat "$directory/err")"
    elif grep -q -e "$wanted" "$directory/$where"; then
        result "$name" ""
    else
        result "$name" "no line '$wanted' in: $(head -c 2000 "$directory/$where")"
    fi
}

grown='thread_count(worker-{N}) >= 4'
kept='thread_count(worker-{N}) > 4'
run 'a rule that is kept' 0 out '^rule kept: thread_count(worker-{N}) > 4: ' -g thread --fail-if "$kept"
run 'a rule that is broken' 3 err '^ctop: rule broken: thread_count(worker-{N}) >= 4: worker-{N} changed by +4 ' \
    -g thread --fail-if "$grown"
run 'one broken rule among others' 3 err 'thread_count(worker-{N}) >= 4' -g thread --fail-if "$kept" --fail-if "$grown"
run 'a rule in percent' 3 err 'changed by +4 (+20.0%)' -g thread --fail-if 'thread_count(worker-{N}) >= 20%'
run 'a rule about the second file' 3 err 'worker-{N} has 24' -g thread --fail-if 'after:thread_count(worker-*) > 23'
run 'a rule finds groups of processes, threads and cgroups' 3 err 'worker-{N} changed by +4 ' --fail-if 'thread_count(worker-*) >= 4'
run 'or those that it names' 3 err 'no group matches' --fail-if 'thread_count(cgroup:worker-*) >= 4'
run 'a share of time of single readings' 2 err 'CPU% is a share of time, and these are single readings' --fail-if 'CPU%(*) > 5'
run 'pressure' 2 err 'pressure is watched by ctop record --when' --fail-if 'psi.cpu > 5'
run 'a rule without a group' 3 err 'rule broken: run_time_ns(nobody) > 1: no group matches' --fail-if 'run_time_ns(nobody) > 1'
run 'a rule in text' 3 out '^rule broken: ' -g thread --fail-if "$grown"
run 'a rule in json' 3 out '"rule":"thread_count(worker-{N}) >= 4","broken":true' -g thread --fail-if "$grown" --format json
run 'a rule in markdown' 3 out '^- \*\*rule broken\*\*: ' -g thread --fail-if "$grown" --format markdown
run 'a rule in html' 3 out '<strong>rule broken:</strong>' -g thread --fail-if "$grown" --format html
run 'the report is whole when a rule is broken' 3 err 'rule broken' -g thread --fail-if "$grown" --format html \
    -o "$directory/page.html"
tail -n 1 "$directory/page.html" | grep -q '</html>' && complete='' || complete='it is not'
result 'and in its place' "$complete"
run 'an unknown metric' 2 err "did you mean run_time_ns" --fail-if 'run_time_n(x) > 1'
run 'an unknown unit' 2 err 'not a number with a unit of read_bytes; units are B, K,' --fail-if 'read_bytes(x) > 1ms'
run 'no rule at all' 2 err "rule '': there are no groups in parentheses" --fail-if ''

run 'threads of files that tell no boot' 1 err 'threads cannot be matched: the file of before does not tell the boot' \
    --match thread
run 'an unknown way to match' 2 err "'threads'" --match threads
run 'each second' 0 out 'per-second' --per second --format csv
run 'each second and each thread' 0 out 'per-second,per-thread_before,per-thread_after,' --per thread --per second --format csv
run 'each day' 2 err "did you mean\|valid: second, thread" --per day
run 'a column by name' 0 out '^per-second$' --columns per-second --format tsv --sections primary

run 'the banner in text' 0 out '^note: there are 1 min 8 s between the captures by the wall clock$'
run 'the banner in json' 0 out '"id":"no-provenance"' --format json
run 'the banner beside tsv' 0 err '^ctop: note: there are 1 min 8 s' --format tsv
grep -q 'between the captures' "$directory/out" && inside='it is among the rows' || inside=''
result 'and not in it' "$inside"

finish
