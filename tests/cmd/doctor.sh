#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# doctor.sh CTOP: `ctop doctor` on this host, on a made tree, and with less privilege.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"

run "with things missing it succeeds" 0 out '^[0-9]* of [0-9]* on$' doctor
text=$("$ctop" doctor 2>&1)
result "no line above 80 columns but remedies" "$(printf '%s\n' "$text" | grep -v 'remedy: ' | grep '.\{81\}')"
json=$("$ctop" doctor --format json)
result "json is one object with every feature" \
    "$([ "$(printf '%s' "$json" | grep -o '"state":"[a-z]*"' | wc -l)" = "$(printf '%s\n' "$text" | grep -cE '^(on|off|partial|unknown)  *')" ] ||
        echo "$json")"

mkdir -p "$directory/proc/sys/kernel/yama" "$directory/proc/1/task/1" "$directory/sys/kernel/sched_ext" "$directory/cgroup"
echo 0 >"$directory/proc/sys/kernel/task_delayacct"
echo 0 >"$directory/proc/sys/kernel/sched_schedstats"
echo "cpu memory pids" >"$directory/cgroup/cgroup.controllers"
: >"$directory/proc/1/task/1/schedstat"
text=$("$ctop" doctor --proc-root "$directory/proc" --sys-root "$directory/sys" --cgroup-root "$directory/cgroup" 2>&1)
expect "a switch that is off has its remedy" 'remedy: sysctl kernel.task_delayacct=1$' "$text"
expect "scheduler statistics are off" 'remedy: sysctl kernel.sched_schedstats=1$' "$text"
expect "a saved tree is another namespace" 'another namespace: the proc root is a saved tree' "$text"
expect "schedstat is there" '^on  *run time and run-queue wait' "$text"
expect "io is not" 'CONFIG_TASK_IO_ACCOUNTING' "$text"
expect "sched_ext is there" '^on  *sched_ext' "$text"
expect "cgroup records are whole" '^on  *cgroup v2' "$text"

refuse "a root that is not there is named" 1 "$directory/none" doctor --proc-root "$directory/none"
refuse "an unknown format is misuse" 2 "'xml'" doctor --format xml

# shellcheck disable=SC2086 # words
if can "without privilege" "$nobody_needed" $nobody "$ctop" -V; then
    text=$($nobody "$ctop" doctor 2>&1)
    expect "without privilege taskstats has its remedy" 'setcap cap_net_admin,cap_sys_ptrace,cap_dac_read_search=ep /' "$text"
    expect "without privilege I/O is partial" '^partial  *I/O of other' "$text"
fi
finish
