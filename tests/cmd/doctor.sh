#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# doctor.sh CTOP REFUSE: `ctop doctor` on this host, on a fabricated tree, with fewer privileges, and with refused calls.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
refuse=$2

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

# without NAME REFUSED TEXT: expects that no line of TEXT matches REFUSED.
without()
{
    result "$1" "$(printf '%s\n' "$3" | grep -e "$2")"
}

# A call that a sandbox refuses does not mean a missing kernel feature. glibc uses faccessat2(2) to look for files.
plain=$("$ctop" doctor 2>&1)
text=$("$refuse" EPERM faccessat2 -- "$ctop" doctor 2>&1)
for words in 'run time and run-queue wait in schedstat' 'I/O accounting' 'sched_ext state'; do
    result "without faccessat2 as with it: $words" \
        "$([ "$(printf '%s\n' "$plain" | grep -A 1 "$words")" = "$(printf '%s\n' "$text" | grep -A 1 "$words")" ] || echo "$text")"
done
without "without faccessat2 BPF is not missing in the kernel" 'not in this kernel.*refused\|not in this kernel: no /sys/kernel/btf' "$text"
if printf '%s\n' "$plain" | grep -qE '^(on|partial) *every thread in one pass'; then
    expect "without faccessat2 BPF says what is refused" 'not permitted: a sandbox (seccomp) refuses faccessat2(2)' "$text"
else
    echo "skip - without faccessat2 BPF says what is refused: threads are not read by BPF here"
fi

# mounted MOUNT COMMAND...: runs both commands in a new mount namespace.
mounted()
{
    unshare --mount sh -c "$1 && shift && exec \"\$@\"" sh "$@"
}

chmod 755 "$directory"
mkdir "$directory/here"
if can "what mounts hide" "needs the right to mount (CAP_SYS_ADMIN)" mounted "mount -t tmpfs none $directory/here" true; then
    text=$(mounted "mount -t proc -o subset=pid proc $directory/here" "$ctop" doctor --proc-root "$directory/here" 2>&1)
    expect "the option that hides pressure is named" "not permitted: $directory/here is mounted with subset=pid" \
        "$(printf '%s\n' "$text" | tr -s ' \n' ' ')"
    without "what a mount hides is not missing in the kernel" 'CONFIG_PSI\|psi=1\|CONFIG_TASK_DELAY\|CONFIG_SCHEDSTATS\|CONFIG_IRQ' "$text"
    text=$(mounted "mount -t tmpfs none /sys" "$ctop" doctor 2>&1)
    expect "a /sys that is not mounted is named" 'no sysfs is mounted on /sys' "$text"
    without "nothing is missing in the kernel for it" 'CONFIG_SCHED_CLASS_EXT\|CONFIG_DEBUG_INFO_BTF' "$text"
fi

# root with few capabilities, like in a container, and no way to get others
confined="setpriv --bounding-set=-all,+chown,+dac_override,+fowner,+setgid,+setuid,+setfcap --inh-caps=-all"
# shellcheck disable=SC2086 # words
if [ "$(id -u)" = 0 ] && can "root in a container" "needs setpriv and CAP_SETPCAP" $confined true; then
    text=$($confined "$ctop" doctor 2>&1)
    options='--cap-add=NET_ADMIN --cap-add=SYS_PTRACE --cap-add=PERFMON'
    if printf '%s\n' "$plain" | grep -q 'CONFIG_DEBUG_INFO_BTF\|not in this build'; then
        options='--cap-add=NET_ADMIN --cap-add=SYS_PTRACE'
        echo "skip - root in a container is told of --cap-add=PERFMON: there is no BPF here"
    fi
    for option in $options; do
        expect "root in a container is told of $option" "remedy: start ctop with .* which this root lacks.*$option)" "$text"
    done
    without "root in a container is not sent to root, file capabilities or the boot of the host" \
        'setcap\|as root\|command line' "$text"
    result "what is not permitted is not missing in the kernel" "$(printf '%s\n' "$text" | grep 'not in this kernel' |
        while read -r line; do
            printf '%s\n' "$plain" | grep -qF "$line" || echo "$line"
        done)"
elif [ "$(id -u)" != 0 ]; then
    echo "skip - root in a container: needs to be root"
fi
if can "in a pid namespace" "needs the right to make one (CAP_SYS_ADMIN)" unshare --pid --fork --mount-proc true; then
    text=$(unshare --pid --fork --mount-proc "$ctop" doctor 2>&1)
    expect "in a pid namespace the host's is what helps" 'remedy: .*--pid=host' "$text"
fi

# shellcheck disable=SC2086 # words
if can "without privilege" "$nobody_needed" $nobody "$ctop" -V; then
    text=$($nobody "$ctop" doctor 2>&1)
    expect "without privilege taskstats has its remedy" 'setcap cap_net_admin,cap_sys_ptrace,cap_dac_read_search=ep /' "$text"
    expect "without privilege I/O is partial" '^partial  *I/O of other' "$text"
    if [ "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null)" = 0 ]; then
        expect "delays need the right and the switch, in this order" 'remedy: .*setcap .*; .*sysctl kernel.task_delayacct=1$' "$text"
    else
        echo "skip - delays need the right and the switch, in this order: kernel.task_delayacct is not 0 here"
    fi
    # shellcheck disable=SC2086 # words
    if mounted "mount -t tmpfs none $directory/here" true 2>/dev/null; then
        text=$(mounted "mount -t proc -o hidepid=2 proc $directory/here" $nobody "$ctop" doctor --proc-root "$directory/here" 2>&1)
        expect "the option that hides processes is named" "$directory/here is mounted with hidepid=" \
            "$(printf '%s\n' "$text" | tr -s ' \n' ' ')"
    fi
fi
finish
