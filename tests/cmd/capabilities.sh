#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# capabilities.sh CTOP WITH_ENTRY: an ordinary user runs a ctop with file capabilities. It reads the host's threads with
# them, but opens files that the user names only with the user's own rights.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
with_entry=$2
capabilities=cap_net_admin,cap_sys_ptrace,cap_dac_read_search=ep

# shellcheck disable=SC2086 # words
need "$nobody_needed" $nobody true
chmod 755 "$directory"
cp "$ctop" "$directory/ctop"
need "needs setcap, CAP_SETFCAP and a file system that keeps file capabilities" setcap $capabilities "$directory/ctop"
mkdir "$directory/own" "$directory/closed"
chown 65534:65534 "$directory/own"
chmod 700 "$directory/closed"
"$ctop" capture -o "$directory/closed/secret" >/dev/null 2>&1
cp "$directory/closed/secret" "$directory/secret"
chmod 600 "$directory/secret"

as_nobody()
{
    $nobody "$@"
}

# Not through setpriv at all when the file system is mounted nosuid: the capabilities do not count then.
if ! as_nobody "$directory/ctop" doctor 2>/dev/null | grep -q '^on  *taskstats'; then
    echo "SKIP: file capabilities have no effect here (nosuid, another user namespace, or bounded)"
    exit 77
fi

umask 022
if said=$(as_nobody "$directory/ctop" capture -o "$directory/own/file" 2>&1); then
    said=
fi
result "capture as nobody" "$said"
as_nobody "$directory/ctop" capture -o "$directory/own/workload" -- grep CapEff /proc/self/status >"$directory/caps" 2>/dev/null
result "a command that is captured gets none of them" "$(grep -q '^CapEff:.0000000000000000$' "$directory/caps" ||
    cat "$directory/caps")"
result "taskstats answers" "$(as_nobody "$directory/ctop" show "$directory/own/file" --metrics cpu_delay_count \
    --format tsv | awk -F '\t' '$3 == "cpu_delay_count" && $4 ~ /^[0-9]/ { found = 1 } END { if (!found) print "no value" }')"
result "I/O of root's processes is read" "$({ as_nobody "$directory/ctop" capture -p $$ -o "$directory/own/one" &&
    as_nobody "$directory/ctop" show "$directory/own/one" --metrics read_bytes --format tsv; } 2>&1 |
    awk -F '\t' '$3 == "read_bytes" && $4 ~ /^[0-9]/ { found = 1 } END { if (!found) print "no value" }')"
result "the snapshot belongs to the user" "$([ "$(stat -c %u "$directory/own/file")" = 65534 ] || echo "it does not")"
result "no one else reads what the capabilities read" "$(stat -c %a "$directory/own/file" | grep -v '^600$')"
as_nobody "$directory/ctop" record --no-heap -n 1 --history "$directory/own/history" 2>/dev/null
result "nor what they record" "$(stat -c %a "$directory/own/history" 2>&1 | grep -v '^700$')"
refused "no reading of root's file" "ermission denied" as_nobody "$directory/ctop" show "$directory/secret"
refused "no reading below root's directory" "ermission denied" as_nobody "$directory/ctop" show "$directory/closed/secret"
refused "no writing into root's directory" "ermission denied" as_nobody "$directory/ctop" capture -o "$directory/closed/file"
refused "no redirected root below root's directory" "ermission denied" as_nobody \
    "$directory/ctop" capture --proc-root "$directory/closed" -o "$directory/own/two"
said=$(as_nobody "$directory/ctop" probe --pid $$ --sidecar "$directory/closed/secret" 2>&1)
result "no sidecar below root's directory" "$(case $?$said in 2*ermission\ denied*) ;; *) echo "$said" ;; esac)"
echo "save-dir = /of-root-alone" >"$directory/closed.conf"
chmod 600 "$directory/closed.conf"
said=$(as_nobody "$directory/ctop" --config "$directory/closed.conf" --print-config 2>&1)
result "no configuration of root's" "$(case $?$said in
    *of-root-alone*) echo "$said" ;;
    1*"cannot read $directory/closed.conf: Permission denied"*) ;;
    *) echo "$said" ;;
    esac)"
# The process is another user's: with the capability its executable is seen, and has no jemalloc.
result "root's processes are probed" "$(as_nobody "$directory/ctop" probe --pid $$ 2>&1 |
    grep ctop-probe-fatal | grep -v ': jemalloc-not-found$')"
mkdir -p "$directory/own/tree/1/task/1"
echo "of-root-alone" >"$directory/secret"
ln -s "$directory/secret" "$directory/own/tree/1/task/1/comm"
as_nobody "$directory/ctop" capture --proc-root "$directory/own/tree" -o "$directory/own/three" >/dev/null 2>&1
result "no link out of a redirected root is followed to root's file" \
    "$("$ctop" show "$directory/own/three" -g thread-exact 2>/dev/null | grep of-root-alone)"

# An environment entry without "=", which begins like a variable that ctop removes.
said=$(as_nobody timeout 60 "$with_entry" NCURSES_NO_VALUE "$directory/ctop" -V 2>&1)
status=$?
result "an entry of the environment without a value is no endless loop" "$([ $status = 0 ] || echo "status $status: $said")"

# Descriptions of terminals that the user brings along: taken by the plain program, not by the one with capabilities.
if ! command -v script >/dev/null || ! command -v tic >/dev/null; then
    echo "skip - descriptions of terminals: needs script and tic"
    finish
fi
cp "$ctop" "$directory/plain"
mkdir -p "$directory/own/home"
infocmp xterm | sed 's/^xterm[^,]*,/ctop-own-terminal,/' >"$directory/own/terminal"
tic -x -o "$directory/own/home/.terminfo" "$directory/own/terminal"
chmod -R a+rX "$directory/own"

# starts PROGRAM VARIABLE=VALUE: whether that program knows the terminal.
starts()
{
    ! (while printf q 2>/dev/null; do sleep 0.1; done) | as_nobody env -u TERMINFO -u TERMINFO_DIRS -u HOME TERM=ctop-own-terminal "$2" \
        timeout 20 script -qec "$directory/$1" /dev/null | grep -q 'unknown terminal'
}

for variable in TERMINFO TERMINFO_DIRS HOME; do
    value=$directory/own/home/.terminfo
    [ $variable != HOME ] || value=$directory/own/home
    result "$variable describes the terminal to an ordinary program" "$(starts plain "$variable=$value" || echo "it does not")"
    result "$variable does not with file capabilities" "$(! starts ctop "$variable=$value" || echo "it does")"
done
finish
