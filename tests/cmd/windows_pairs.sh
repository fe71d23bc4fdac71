#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# windows_pairs.sh CTOP LOAD PAIRS: the trial that a gate has to pass. Windows of a pool that does the same all the time,
# each compared with the one before: no row of the pool is real and no rule is broken. Then a third as many beside others that
# compute on the same CPU: each time the rule about its run queue is broken, and the first sentence is about the others.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
load=$2
pairs=$3
# shellcheck source=tests/cmd/windows_pool.sh
. "$(dirname "$0")/windows_pool.sh"

# breaks BEFORE AFTER RULE: whether it is broken; what is said is in $directory/report
breaks()
{
    "$ctop" diff "$directory/$1" "$directory/$2" -g process --fail-if "$3" >"$directory/report" 2>/dev/null
    [ $? = 3 ]
}

# real BEFORE AFTER: how many rows of the pool are real
real()
{
    "$ctop" diff "$directory/$1" "$directory/$2" -g process --format tsv --limit 0 2>/dev/null |
        awk -F '\t' '$1 == "load-{N}" && ($NF == "real" || $NF == "not tested") { count++ } END { print count + 0 }'
}

# quiet PAIRS: windows one after the other
quiet()
{
    rows=0 broken=0 number=0
    window before
    while [ "$number" -lt "$1" ]; do
        number=$((number + 1))
        window after
        rows=$((rows + $(real before after)))
        ! breaks before after 'CPU%(load*) > 20%' || broken=$((broken + 1))
        mv "$directory/after" "$directory/before"
    done
    echo "in $1 pairs of windows without a change $rows rows of the pool are real, $broken rules are broken"
}

quiet "$pairs"
result "no row of what goes on as before is real" "$([ "$rows" = 0 ] || echo "$rows are, in $pairs pairs")"
result "and it breaks no rule" "$([ "$broken" = 0 ] || echo "$broken of $pairs are broken")"

# hogged PAIRS: a window alone and one beside two that never sleep on that CPU
hogged()
{
    number=0 broken=0 named=0
    while [ "$number" -lt "$1" ]; do
        number=$((number + 1))
        window before
        hogged_window 2 after
        ! breaks before after 'RUNQ%(load*) > 20%' || broken=$((broken + 1))
        if grep -q '^  1\. hog, new: on a CPU ' "$directory/report"; then
            named=$((named + 1))
        else
            grep '^  1\.' "$directory/report"
        fi
    done
    echo "in $1 pairs with others on its CPU $broken rules about its run queue are broken, $named first sentences are about the others"
}

hogged $((pairs / 3))
result "waits beside others break the rule each time" "$([ "$broken" = "$number" ] || echo "$broken of $number")"
result "and who causes them is the first that is said" "$([ "$named" = "$number" ] || echo "$named of $number")"
finish
