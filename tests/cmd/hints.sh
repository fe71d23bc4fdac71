#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hints.sh CTOP TARGET REFUSE: hints name only privileges that the user lacks, and none if something else failed.
# TARGET is a program with a shared jemalloc ("" for none).
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
target=$2
refuse=$3
processes=
# shellcheck disable=SC2086 # several
trap '[ -z "$processes" ] || kill $processes; rm -rf "$directory"' EXIT

# shellcheck disable=SC2086 # words
need "$nobody_needed" $nobody true
powerless="setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace"
chmod 755 "$directory"
cp "$ctop" "$directory/ctop"

# tells NAME WANTED REFUSED TEXT: the text has a line that matches WANTED and none that matches REFUSED.
tells()
{
    if printf '%s\n' "$4" | grep -q -e "$3"; then
        result "$1" "$4"
    else
        expect "$1" "$2" "$4"
    fi
}

sleep 600 &
processes=$!
of_root=$!
$nobody sleep 600 &
processes="$processes $!"
of_nobody=$!
# shellcheck disable=SC2317 # by until_true
is_named()
{
    [ "$(cat "/proc/$1/comm")" = "$2" ]
}
for pid in $of_root $of_nobody; do
    until_true 60 is_named "$pid" sleep
done
tells "an ordinary user is told to be root" "not permitted (run as root, or " "security module" \
    "$($nobody "$directory/ctop" probe --pid "$of_root" 2>&1)"
tells "root without the capability is told of it" "not permitted (start ctop with CAP_SYS_PTRACE, which this root lacks" \
    "run as root" "$($powerless "$directory/ctop" probe --pid "$of_nobody" 2>&1)"
confined="setpriv --bounding-set=-sys_ptrace,-sys_admin --inh-caps=-all"
tells "root in a container is told of its container" \
    "not permitted (start ctop with CAP_SYS_PTRACE, which this root lacks (its container:.* --cap-add=SYS_PTRACE))" \
    "run as root\|setcap" "$($confined "$directory/ctop" probe --pid "$of_nobody" 2>&1)"
$powerless sleep 600 &
processes="$processes $!"
of_powerless=$!
until_true 60 is_named "$of_powerless" sleep
expect "but reads a process that has no more than itself" '^[0-9]*,sleep,[0-9]' \
    "$($powerless "$directory/ctop" -b -n 1 -p "$of_powerless" --mode total --columns rchar --no-heap --format csv 2>&1)"
may_read=$(readlink "/proc/$of_nobody/exe")
if readlink /proc/1/exe >/dev/null 2>&1; then
    echo "skip - root is not told to be root: root may read every process here"
elif can "root is not told to be root" "needs CAP_SYS_PTRACE" [ "$may_read" ]; then
    tells "root is not told to be root" "not permitted (no privilege is missing; " "run as root" \
        "$("$directory/ctop" probe --pid 1 2>&1)"
fi
if setcap cap_net_admin,cap_sys_ptrace,cap_dac_read_search=ep "$directory/ctop" 2>/dev/null &&
    $nobody "$directory/ctop" doctor 2>/dev/null | grep -q '^on  *taskstats'; then
    tells "with file capabilities another user's process is read" jemalloc-not-found not-permitted \
        "$($nobody "$directory/ctop" probe --pid "$of_root" 2>&1)"
    if ! readlink /proc/1/exe >/dev/null 2>&1; then
        tells "and they are not asked for again" "not permitted (no privilege is missing; " "setcap" \
            "$($nobody "$directory/ctop" probe --pid 1 2>&1)"
    fi
else
    echo "skip - file capabilities: they have no effect here"
fi
# another file: a process of the last ctop may still run the one there was
rm "$directory/ctop"
cp "$ctop" "$directory/ctop"

# Failures to start the processes that read debug data. The target ends with its input.
if [ -n "$target" ]; then
    mkfifo "$directory/started"
    exec 3<>"$directory/started"
    "$target" park 1 <&3 >"$directory/0" 2>&1 &
    processes="$processes $!"
    of_target=$!
    until_true 60 grep -q ready "$directory/0"
    tells "a refused call is named" "call-refused\\] .*memfd_create: Operation not permitted (allow it" "worker-panic" \
        "$("$refuse" EPERM memfd_create -- "$ctop" probe --pid $of_target 2>&1)"
    tells "a want of descriptors too" "no-resources\\] .*Too many open files (raise the limit (ulimit -n)" "worker-panic" \
        "$("$refuse" EMFILE memfd_create -- "$ctop" probe --pid $of_target 2>&1)"
else
    echo "skip - what keeps debug data from being read: there is no program with jemalloc"
fi

# A jemalloc that is nobody's known build: its version says another one.
library=
[ -z "$target" ] || library=$(ldd "$target" | sed -n 's/.*=> \(.*libjemalloc[^ ]*\) .*/\1/p')
if [ -z "$library" ]; then
    echo "skip - an unknown jemalloc: there is no program with a shared one"
    finish
fi
mkdir "$directory/library"
LC_ALL=C sed 's/5\.3\.0-/9.9.9-/g' "$library" >"$directory/library/$(basename "$library")"
cp "$target" "$directory/target"
mkfifo "$directory/input"
exec 3<>"$directory/input" # it ends with its input
export LD_LIBRARY_PATH="$directory/library"
$nobody "$directory/target" park 1 <&3 >"$directory/1" 2>&1 &
processes="$processes $!"
of_nobody=$!
"$directory/target" park 1 <&3 >"$directory/2" 2>&1 &
processes="$processes $!"
of_root=$!
unset LD_LIBRARY_PATH
for output in 1 2; do
    until_true 60 grep -q ready "$directory/$output"
done
mkdir -m 777 "$directory/files"
if can "another failure is not taken for a missing privilege" "needs CAP_SYS_PTRACE" [ "$may_read" ]; then
    tells "another failure is not taken for a missing privilege" "1 failed, mostly jemalloc-in-dso$" "privilege\|run as root" \
        "$("$ctop" capture -p "$of_nobody" -o "$directory/files/1" 2>&1)"
fi
tells "nor where both are" "2 failed, mostly jemalloc-in-dso; not permitted: run as root, or" "security module" \
    "$($nobody "$directory/ctop" capture -p "$of_nobody" -p "$of_root" -o "$directory/files/2" 2>&1)"
finish
