#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# diff_rules.sh CTOP DATA: rules of `ctop diff`, matching of threads and columns by time, as options; the banner in
# each format.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
before=$2/snapshots/real.a.ctprof.zst
after=$2/snapshots/real.b.ctprof.zst

# compare NAME STATUS WHERE WANTED ARGUMENT...: diff ends with this status and has a line that matches on WHERE, out or err.
compare()
{
    name=$1
    status=$2
    where=$3
    wanted=$4
    shift 4
    run "$name" "$status" "$where" "$wanted" diff "$before" "$after" "$@"
}

grown='thread_count(worker-{N}) >= 4'
kept='thread_count(worker-{N}) > 4'
compare 'a rule that is kept' 0 out '^rule kept: thread_count(worker-{N}) > 4: ' -g thread --fail-if "$kept"
compare 'a rule that is broken' 3 err '^ctop: rule broken: thread_count(worker-{N}) >= 4: worker-{N} changed by +4 ' \
    -g thread --fail-if "$grown"
compare 'one broken rule among others' 3 err 'thread_count(worker-{N}) >= 4' -g thread --fail-if "$kept" --fail-if "$grown"
compare 'a rule in percent' 3 err 'changed by +4 (+20.0%)' -g thread --fail-if 'thread_count(worker-{N}) >= 20%'
compare 'a rule about the second file' 3 err 'worker-{N} has 24' -g thread --fail-if 'after:thread_count(worker-*) > 23'
compare 'a rule finds groups of processes, threads and cgroups' 3 err 'worker-{N} changed by +4 ' --fail-if 'thread_count(worker-*) >= 4'
compare 'or those that it names' 3 err 'no group matches' --fail-if 'thread_count(cgroup:worker-*) >= 4'
compare 'a share of time of single readings' 2 err 'CPU% is a share of time, and these are single readings' --fail-if 'CPU%(*) > 5'
compare 'pressure' 2 err 'pressure is watched by ctop record --when' --fail-if 'psi.cpu > 5'
compare 'a rule without a group' 3 err 'rule broken: run_time_ns(nobody) > 1: no group matches' --fail-if 'run_time_ns(nobody) > 1'
compare 'a rule in text' 3 out '^rule broken: ' -g thread --fail-if "$grown"
compare 'a rule in json' 3 out '"rule":"thread_count(worker-{N}) >= 4","broken":true,"result":"broken"' -g thread \
    --fail-if "$grown" --format json
compare 'the row of a group that broke it' 3 out '^! worker-{N} ' -g thread --fail-if "$grown"
compare 'comes first' 3 out '^! broke a rule$' -g thread --fail-if "$grown"
first=$(grep -n '^! worker' "$directory/out" | head -n 1 | cut -d: -f1)
title=$(grep -n '^  thread ' "$directory/out" | head -n 1 | cut -d: -f1)
result 'below the titles' "$([ "$first" = $((title + 1)) ] || cat "$directory/out")"
compare 'a rule that is kept marks nothing' 0 out '^thread ' -g thread --fail-if "$kept"
compare 'the pool of a process' 3 err ' of .* in .* has ' --fail-if 'after:thread_count(* of *) > 0'
compare 'a pool that is not there' 3 err 'no group matches' --fail-if 'after:thread_count(worker-* of nobody) > 0'
compare 'a path in quotation marks' 3 err 'has ' --fail-if 'after:thread_count(cgroup:"/*") > 0'
compare 'a rule in markdown' 3 out '^- \*\*rule broken\*\*: ' -g thread --fail-if "$grown" --format markdown
compare 'a rule in html' 3 out '<strong>rule broken:</strong>' -g thread --fail-if "$grown" --format html
compare 'the report is whole when a rule is broken' 3 err 'rule broken' -g thread --fail-if "$grown" --format html \
    -o "$directory/page.html"
tail -n 1 "$directory/page.html" | grep -q '</html>' && complete='' || complete='it is not'
result 'and in its place' "$complete"
compare 'an unknown metric' 2 err "did you mean run_time_ns" --fail-if 'run_time_n(x) > 1'
compare 'an unknown unit' 2 err 'not a number with a unit of read_bytes; units are B, K,' --fail-if 'read_bytes(x) > 1ms'
compare 'what can never hold' 2 err 'can never hold: thread_count is never below 0' --fail-if 'after:thread_count(*) < 0'
run 'is refused before files are read' 2 err 'can never hold' diff "$directory/none" "$directory/none" \
    --fail-if 'after:thread_count(*) < 0'
run 'a group that cannot be read, too' 2 err 'a name is missing' diff "$directory/none" "$directory/none" \
    --fail-if 'thread_count() > 0'
run 'and a number of other groups' 2 err 'is a number of cgroups' diff "$directory/none" "$directory/none" \
    --fail-if 'CGCPU%(process:web) > 1'
unjudged='after:P99(worker-{N}) > 1ms'
compare 'a rule that is not judged' 4 err '^ctop: rule not judged: after:P99(worker-{N}) > 1ms: ' -g thread --fail-if "$unjudged"
compare 'in json' 4 out '"broken":false,"result":"not judged"' -g thread --fail-if "$unjudged" --format json
compare 'fails where that is asked for' 3 err 'rule not judged' -g thread --fail-if "$unjudged" --unjudged fail
compare 'or does not count' 0 err 'rule not judged' -g thread --fail-if "$unjudged" --unjudged ok
compare 'a broken rule counts more' 3 err 'rule not judged' -g thread --fail-if "$unjudged" --fail-if "$grown"
compare 'another word' 2 err "'never'" --fail-if "$kept" --unjudged never
run 'one file twice' 2 err 'are one capture: rules need two' diff "$before" "$before" --fail-if "$kept"
run 'and without rules' 0 out 'both are the same capture' diff "$before" "$before"
compare 'no rule at all' 2 err "rule '': there are no groups in parentheses" --fail-if ''

compare 'threads of files that tell no boot' 2 err 'threads cannot be matched: the file of before does not tell the boot' \
    --match thread
compare 'an unknown way to match' 2 err "'threads'" --match threads
compare 'each second' 0 out 'per-second' --per second --format csv
compare 'each second and each thread' 0 out 'per-second,per-thread_before,per-thread_after,' --per thread --per second --format csv
compare 'each day' 2 err "did you mean\|valid: second, thread" --per day
compare 'a column by name' 0 out '^per-second$' --columns per-second --format tsv --sections primary

compare 'the banner in text' 0 out '^note: there are 1 min 8 s between the captures by the wall clock$'
compare 'the banner in json' 0 out '"id":"no-provenance"' --format json
compare 'the banner beside tsv' 0 err '^ctop: note: there are 1 min 8 s' --format tsv
grep -q 'between the captures' "$directory/out" && inside='it is among the rows' || inside=''
result 'and not in it' "$inside"

finish
