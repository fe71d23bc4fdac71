#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# backend.sh CTOP REFUSE: reading threads by BPF: the rights it needs, its messages without them, a refusal by the kernel
# later on, giving up the rights, and leaving nothing in the kernel.
# shellcheck disable=SC2317 # what until_true calls
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
refuse=$2
# refuses BPF_PROG_TEST_RUN and BPF_ITER_CREATE but not BPF_PROG_LOAD, like kernels before 5.19 with
# kernel.unprivileged_bpf_disabled set and CAP_BPF dropped
refuse_runs="$refuse EPERM bpf:10 bpf:33 --"
PATH=$PATH:/usr/sbin:/sbin

why=$("$ctop" -b -n 1 -d 0.1 --no-heap --backend bpf 2>&1 >/dev/null)
if [ -n "$why" ]; then
    echo "SKIP: $why"
    exit 77
fi
chmod 755 "$directory"
cp "$ctop" "$directory/ctop"

# nobody CAPABILITIES COMMAND...: as an ordinary user who holds these capabilities.
nobody()
{
    sets=$(echo "-all,$1" | sed 's/,$//')
    shift
    setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$sets" --ambient-caps="$sets" \
        --bounding-set="$sets" "$@"
}

batch="-b -n 1 -d 0.1 --no-heap"

# programs: BPF_PROG_LOAD
expect "a kernel that refuses programs is not one without them" '^ *not permitted: the kernel refused the program' \
    "$("$refuse" EPERM bpf:5 -- "$ctop" doctor)"
expect "a sandbox that refuses bpf(2) is named" '^ *remedy: a seccomp profile that allows bpf(2)' \
    "$("$refuse" EPERM bpf:5 -- "$ctop" doctor)"
expect "nor is a want of descriptors" '^ *could not be read: the kernel refused the program: Too many open' \
    "$("$refuse" EMFILE bpf:5 -- "$ctop" doctor)"
result "doctor says that it works" "$("$ctop" doctor | grep -q -E '^(on|partial)  *every thread in one pass' || "$ctop" doctor)"
# shellcheck disable=SC2086 # words on purpose
result "a backend that there is not is refused" "$("$ctop" $batch --backend ebpf >/dev/null 2>&1; [ $? = 2 ] || echo "taken")"

# shellcheck disable=SC2086
{
    for capabilities in '' +bpf +perfmon; do
        refused "an ordinary user with ${capabilities:-nothing} is told what is missing" 'needs CAP_BPF and CAP_PERFMON' \
            nobody "$capabilities" "$directory/ctop" $batch --backend bpf
    done
    result "without it ctop reads procfs" "$(nobody '' "$directory/ctop" $batch 2>&1 >/dev/null)"
    said=$(nobody +bpf,+perfmon "$directory/ctop" $batch -t io --format csv --backend bpf 2>&1)
    result "exactly CAP_BPF and CAP_PERFMON do" "$(printf '%s\n' "$said" | grep -q '^[0-9]' || echo "$said")"
    # this shell is root's
    said=$(nobody +bpf,+perfmon "$directory/ctop" $batch -p $$ -t io --format json --columns rchar --backend bpf 2>&1)
    result "they do not show the I/O of others" \
        "$(printf '%s\n' "$said" | grep -q '"reason":"not-permitted"' || echo "$said")"

    if can "not in a user namespace" "none can be made here" unshare --user --map-root-user true; then
        refused "not in a user namespace" 'initial user namespace' unshare --user --map-root-user "$ctop" $batch --backend bpf
    fi
    if can "not in a pid namespace" "needs CAP_SYS_ADMIN to make one" unshare --pid --fork --mount-proc true; then
        refused "not in a pid namespace" 'initial pid namespace' \
            unshare --pid --fork --mount-proc "$ctop" $batch --backend bpf
    fi
    if can "not in a time namespace" "needs CAP_SYS_ADMIN to make one, and CONFIG_TIME_NS" \
        unshare --time --fork --boottime 86400 --monotonic 86400 true; then
        refused "not in a time namespace" 'initial time namespace' \
            unshare --time --fork --boottime 86400 --monotonic 86400 "$ctop" $batch --backend bpf
    fi

    if setcap cap_bpf,cap_perfmon=ep "$directory/ctop" 2>/dev/null &&
        setpriv --reuid=65534 --regid=65534 --clear-groups "$directory/ctop" $batch >/dev/null 2>&1; then
        refused "not with file capabilities" 'not with rights .* its user lacks' \
            setpriv --reuid=65534 --regid=65534 --clear-groups "$directory/ctop" $batch --backend bpf
    else
        echo "skip - not with file capabilities: this file system keeps none"
    fi

    # AT_SECURE, as where a security module changes root's domain
    cp "$ctop" "$directory/ctop-group" && chgrp 65534 "$directory/ctop-group" && chmod g+s "$directory/ctop-group"
    result "root does without being asked where his rights come from" \
        "$("$directory/ctop-group" $batch --backend bpf 2>&1 >/dev/null)"
}

# shellcheck disable=SC2086
{
    refused "a pass that fails ends what wants no other way" 'cannot read threads by BPF: Operation not permitted' \
        $refuse_runs "$ctop" $batch --backend bpf
    said=$($refuse_runs "$ctop" -b -n 2 -d 0.1 --no-heap -p $$ --format csv 2>"$directory/errors")
    result "after a pass that fails ctop reads procfs" \
        "$([ "$(printf '%s\n' "$said" | grep -c '^[0-9]')" = 2 ] || echo "printed: $said")"
    result "and says so once" \
        "$([ "$(grep -c 'read from procfs now; .*Operation not permitted' "$directory/errors")" = 1 ] || cat "$directory/errors")"
}

# Processes that the kernel hides from BPF are counted, and read from procfs if the user names them with -p.
# shellcheck disable=SC2086 # words
kept=$("$ctop" $batch -p 1 --backend bpf 2>&1 >/dev/null)
# shellcheck disable=SC2086
case $kept in
*"BPF does not show process 1, but procfs does"*)
    # threads ARGUMENT...: takes a snapshot and prints the number of threads read
    threads()
    {
        "$ctop" capture --no-heap "$@" 2>&1 | sed -n 's/^ctop: \([0-9,]*\) thread[s]* read.*/\1/p'
    }
    result "a process that BPF does not show is read from procfs" \
        "$([ "$(threads -p 1 -o "$directory/one")" = "$(sed -n 's/^Threads:[[:space:]]*//p' /proc/1/status)" ] ||
            "$ctop" show "$directory/one" 2>&1)"
    expect "of all threads, the header says how many are hidden" ' threads* (at least [0-9,]* more hidden from BPF)' \
        "$("$ctop" $batch 2>&1)"
    threads -o "$directory/all" >/dev/null
    expect "the file does too" ' threads* (at least [0-9,]* more hidden from BPF)' "$("$ctop" show "$directory/all" 2>&1)"
    ;;
*) echo "skip - a process that BPF does not show is read from procfs: BPF shows process 1 here" ;;
esac

# kernel_objects: the BPF objects of the host, a line KIND ID each.
kernel_objects()
{
    for kind in prog map link btf; do
        bpftool $kind show | sed -n "s/^\([0-9][0-9]*\): .*/$kind \1/p"
    done | LC_ALL=C sort
}

# held_objects: of them those that processes have descriptors of. The id of a program, also of the one of a link, is
# called prog_id there: see bpf_prog_show_fdinfo(), bpf_map_show_fdinfo(), bpf_link_show_fdinfo(), bpf_btf_show_fdinfo().
held_objects()
{
    sed -n 's/^\(prog\|map\|link\|btf\)_id:[[:space:]]*/\1 /p' "$@" 2>/dev/null | LC_ALL=C sort -u
}

# objects_of PROCESS: those that it holds, and the maps of its programs, which it may hold no descriptors of.
objects_of()
{
    held_objects "/proc/$1"/fdinfo/* >"$directory/held"
    {
        cat "$directory/held"
        sed -n 's/^prog //p' "$directory/held" | while read -r program; do
            bpftool prog show id "$program" | sed -n 's/.* map_ids //p' | tr ',' '\n' | sed 's/^/map /'
        done
    } | LC_ALL=C sort -u
}

# left: objects of ctop that there still are.
left()
{
    kernel_objects >"$directory/now"
    LC_ALL=C comm -12 "$directory/own" "$directory/now"
}

nothing_left()
{
    [ -z "$(left)" ]
}

# left_after_kill NAME ARGUMENT...: runs `ctop -b ARGUMENT...` until it has printed, and kills it.
left_after_kill()
{
    name=$1
    shift
    # what the run before printed would be taken for this one's
    rm -f "$directory/rounds"
    "$ctop" -b -d 0.2 --no-heap --backend bpf "$@" >"$directory/rounds" 2>"$directory/errors" &
    process=$!
    until_true 60 test -s "$directory/rounds"
    objects_of $process >"$directory/own"
    left >"$directory/during"
    for kind in prog map link; do
        result "$name: while it runs bpftool sees its ${kind}s" "$(grep -q "^$kind " "$directory/during" || cat "$directory/errors" "$directory/own")"
    done
    # cap_perfmon is bit 38, cap_bpf 39, cap_sys_admin, which stands for both, 21
    # the first thread prints, with the user's own rights, the other one reads
    reading=$(find /proc/$process/task -mindepth 1 -maxdepth 1 ! -name "$process")
    effective=$(sed -n 's/^CapEff:[[:space:]]*//p' "$reading/status")
    result "$name: rounds hold no right to load programs" \
        "$([ $((0x$effective & (1 << 38 | 1 << 39 | 1 << 21))) = 0 ] || echo "$effective")"
    kill -9 $process
    wait $process 2>/dev/null
    # what the kernel frees after a grace period
    until_true 60 nothing_left
    result "$name: nothing is left behind after kill -9" "$(left)"
}

# has_program PROCESS NAME: whether a process holds a program of that name
has_program()
{
    held_objects "/proc/$1"/fdinfo/* >"$directory/own"
    bpftool prog show | sed -n "s/^\\([0-9]*\\): .* name $2 .*/prog \\1/p" | LC_ALL=C sort -u |
        LC_ALL=C comm -12 - "$directory/own" | grep -q .
}

# held SET THREAD_STATUS: which of the rights to load are in a capability set of a thread
held()
{
    echo $((0x$(sed -n "s/^$1:[[:space:]]*//p" "$2") & (1 << 38 | 1 << 39 | 1 << 21)))
}

if command -v bpftool >/dev/null; then
    left_after_kill "threads and their ends"
    without=$(wc -l <"$directory/own")
    left_after_kill "with how long waits take" --latency -t latency
    result "more is there while waits are measured" "$([ "$(wc -l <"$directory/own")" -gt "$without" ] || cat "$directory/own")"
    # what measures waits comes behind the first round, with rights that only the capture thread keeps until then
    if command -v script >/dev/null; then
        : >"$directory/process"
        chmod 666 "$directory/process"
        cp "$ctop" "$directory/plain" # without the capabilities of the file above
        mkfifo "$directory/keys"
        exec 3<>"$directory/keys" # script(1) ends with its input
        TERM=xterm nobody +bpf,+perfmon script -qec \
            "echo \$\$ >$directory/process; exec $directory/plain -d 0.2 --no-heap --backend bpf" /dev/null <&3 >"$directory/screen" 2>&1 &
        shell=$!
        why="the programs were not loaded"
        # loaded_and_dropped: whether the programs are there and a thread has no rights any more, or it has ended; `why`
        # not
                loaded_and_dropped()
        {
            process=$(cat "$directory/process")
            [ -n "$process" ] || return 1
            if [ ! -d "/proc/$process" ]; then
                why="it ended: $(tail -c 300 "$directory/screen")"
                return 0
            fi
            has_program "$process" count_switch || return 1
            why="no thread gave the rights up"
            for status in "/proc/$process"/task/*/status; do
                [ "$(held CapPrm "$status")" = 0 ] && why=
            done
            [ -z "$why" ]
        }
        until_true 60 loaded_and_dropped
        for status in "/proc/$process"/task/*/status; do
            [ -e "$status" ] || continue
            [ "$(held CapEff "$status")" = 0 ] || why="$why $(grep -H CapEff "$status")"
        done
        result "the screen loads the rest later and gives the rights up too" "$why"
        kill "$process" 2>/dev/null
        wait $shell 2>/dev/null
        exec 3>&-
    else
        echo "skip - the screen loads the rest later and gives the rights up too: no script(1)"
    fi
else
    echo "skip - nothing is left behind after kill -9: no bpftool"
fi
finish
