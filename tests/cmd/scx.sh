#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# scx.sh CTOP: `ctop scx` where no contexts can be read: what is known all the same, and why the rest is not.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
mkdir -p "$directory/proc/1/task/1" "$directory/none" "$directory/off/kernel/sched_ext" "$directory/on/kernel/sched_ext/root"
echo "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0" \
    >"$directory/proc/1/stat"
cp "$directory/proc/1/stat" "$directory/proc/1/task/1/stat"
echo disabled >"$directory/off/kernel/sched_ext/state"
(
    cd "$directory/on/kernel/sched_ext" || exit
    echo enabled >state
    echo 7 >enable_seq
    echo 0 >switch_all
    echo 3 >nr_rejected
    echo 0 >hotplug_seq
    printf 'lavd_1.1.4_x86_64\033[31m\n' >root/ops
    printf 'SCX_EV_SELECT_CPU_FALLBACK 12\nSCX_EV_REFILL_SLICE_DFL 0\n' >root/events
)

# scx NAME STATUS WHERE WANTED SYS OPTION...: as run, on that tree.
scx()
{
    name=$1
    status=$2
    where=$3
    wanted=$4
    sys=$directory/$5
    shift 5
    run "$name" "$status" "$where" "$wanted" scx --proc-root "$directory/proc" --sys-root "$sys" "$@"
}

scx "a kernel without sched_ext is said" 1 err '^ctop: no contexts: no /sys/kernel/sched_ext (CONFIG_SCHED_CLASS_EXT)$' none
scx "no scheduler is said" 1 err '^ctop: no contexts: no sched_ext scheduler runs$' off

scx "why there are no contexts" 1 err '^ctop: no contexts: the proc root is a saved tree$' on
text=$(cat "$directory/out")
expect "the scheduler, fit for a terminal" '^scheduler lavd_1.1.4_x86_64?\[31m$' "$text"
expect "how many were started" '^started   7 since boot$' "$text"
expect "the switch mode" '^threads   those with the policy SCHED_EXT (switch_all 0)$' "$text"
expect "refused tasks" '^rejected  3$' "$text"
expect "its counters" '^events    SCX_EV_SELECT_CPU_FALLBACK 12$' "$text"
expect "all of them" '^          SCX_EV_REFILL_SLICE_DFL 0$' "$text"

scx "all of it as JSON" 1 out '^{"scheduler":{"name":"lavd_1.1.4_x86_64\\u001b\[31m","family":"lavd","enable_seq":7,"switch_all":0,"nr_rejected":3,"events":{"SCX_EV_SELECT_CPU_FALLBACK":12,"SCX_EV_REFILL_SLICE_DFL":0}},"contexts":{"state":"off","reason":"other-namespace","detail":"the proc root is a saved tree","remedy":null,"of_other_tasks":0}}$' \
    on --json
scx "an operand is misuse" 2 err '' on something
scx "a process that is none is misuse" 2 err '' on -p 0
finish
