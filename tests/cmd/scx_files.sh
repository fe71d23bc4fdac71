#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# scx_files.sh CTOP MAKE_CONTEXTS: what sched_ext schedulers keep, from files to reports in every format.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
"$2" "$directory" || exit 1
before=$directory/before.ctprof.zst
after=$directory/after.ctprof.zst

# lacks NAME UNWANTED: the last run has printed no such line.
lacks()
{
    found=$(grep -e "$2" "$directory/out")
    result "$1" "$found"
}

tab=$(printf '\t')
run 'the scheduler' 0 out '^scheduler  *made_1.2$' show --long "$before"
run 'its events' 0 out "^SCX_EV_SELECT_CPU_FALLBACK${tab}100\$" show "$before" --sections scx --format tsv
run 'a sum' 0 out "^worker-{N}${tab}2${tab}scx.weight${tab}405\$" show "$before" --sections scx -g comm --format tsv
run 'a mean' 0 out "^worker-{N}${tab}2${tab}scx.avg_runtime${tab}500ns\$" show "$before" --sections scx -g comm --format tsv
run 'a sum that is to be a maximum' 0 out "^worker-{N}${tab}2${tab}scx.weight${tab}305\$" \
    show "$before" --sections scx -g comm --format tsv --scx-reduce scx.weight=max
run 'a mean that is to be a sum, and another one' 0 out "^worker-{N}${tab}2${tab}scx.avg_runtime${tab}1.000µs\$" \
    show "$before" --sections scx -g comm --format tsv --scx-reduce weight=max,avg_runtime=sum
run 'a way that is none' 2 err "did you mean 'max'" show "$before" --scx-reduce weight=maxx
run 'an age' 0 out "^web${tab}3${tab}scx.last_run_at${tab}10.000µs\$" show "$before" --sections scx --format tsv
run 'a negative number' 0 out "^web${tab}3${tab}scx.max_slots${tab}-1\$" show "$before" --sections scx --format tsv
run 'a word' 0 out "^web${tab}3${tab}scx.state${tab}IDLE (2/3)\$" show "$before" --sections scx --format tsv
lacks 'no row of a group without contexts' '^db'
run 'fields by name' 0 out '^web  *3  *scx.greedy  *1$' show "$before" --metrics scx.greedy
lacks 'and no other' 'scx.weight\|run_time_ns'
run 'fields that no thread has' 0 err '^ctop: no thread has the field scx.gredy; ' \
    show "$before" --metrics scx.greedy,scx.gredy
run 'in csv with the sections, there being two tables' 0 out '^# scx$' \
    show "$before" --sections scx --format csv
run 'in csv' 0 out '^web,3,scx.weight,505,count,ok,$' show "$before" --sections scx --format csv
run 'in json' 0 out '"metric":"scx.weight","value":{"value":505,"unit":"count","state":"ok"' show "$before" --format json
run 'in markdown' 0 out '^| .web. | 3 | .scx.weight. | 505 |$' show "$before" --format markdown
run 'in html' 0 out 'scx.weight' show "$before" --format html
run 'the cells of ktstr' 0 out . show "$before" --ktstr
lacks 'have no contexts' 'scx'

run 'a counter of both sides' 0 out '^web  *3  *3  *0  *0  *scx.sum_runtime  *6.0ms → 18.0ms  *+12.0ms  *+200.0%' \
    diff "$before" "$after" -g process --long
run 'in each second' 0 out "scx.sum_runtime.*+1.2ms/s" diff "$before" "$after" -g process --per second
run 'thread by thread' 0 out '^web  *3  *3  *0  *0  *scx.sum_runtime  *6.0ms → 18.0ms' \
    diff "$before" "$after" -g process --match thread --long
run 'events of both sides' 0 out '^SCX_EV_SELECT_CPU_FALLBACK  *100 → 300 (+200)$' diff "$before" "$after" --long
run 'a rule' 3 err '^ctop: rule broken: scx.sum_runtime(web) > 10ms: web changed by +12.0ms (+200.0%)$' \
    diff "$before" "$after" -g process --fail-if 'scx.sum_runtime(web) > 10ms'
run 'another scheduler' 0 out '^warning: other sched_ext scheduler, made_1.2 in before and other_0.1 in after: ' \
    diff "$before" "$directory/other.ctprof.zst"
run 'in json' 0 out '"id":"other-scheduler"' diff "$before" "$directory/other.ctprof.zst" --format json
run 'a field that only one has' 0 out '^web  *3  *3  *0  *0  *scx.layer_id  *- → 42 ' \
    diff "$before" "$directory/other.ctprof.zst" -g process --long
run 'no scheduler' 0 out '^warning: sched_ext scheduler made_1.2 in before and none in after: ' \
    diff "$before" "$directory/none.ctprof.zst"
run 'whose groups have no such fields' 0 out '^web  *3  *3  *0  *0  *scx.weight  *505 → -  *-  *-' \
    diff "$before" "$directory/none.ctprof.zst" -g process --long
run 'a report of no scheduler' 0 out . show "$directory/none.ctprof.zst"
lacks 'has no such tables' '^## scx'

# A file that is read and written again holds the same.
run 'rewritten' 0 out . show - --format json <"$before"
sed 's/"file":"[^"]*"//' "$directory/out" >"$directory/first"
"$ctop" show "$before" --format json | sed 's/"file":"[^"]*"//' | cmp -s - "$directory/first" && same='' || same='it differs'
result 'from a pipe as from a file' "$same"

finish
