#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# workload.sh CTOP: `ctop capture -- COMMAND` captures for as long as the command runs, and has its exit status.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
file=$directory/out.ctprof.zst

run 'the status of the command' 7 err 'threads\? read' capture -o "$file" -- sh -c 'exit 7'
run 'a signal' 137 err 'threads\? read' capture -o "$file" -- sh -c 'kill -9 $$'
run 'no such command' 127 err '^ctop: cannot run /nonesuch/x: No such file' capture -o "$file" -- /nonesuch/x
run 'a command that is no program' 126 err '^ctop: cannot run /etc/passwd: Permission denied' capture -o "$file" -- /etc/passwd
run 'its output is its own' 0 out '^-n --for$' capture -o "$file" -- sh -c 'printf "%s\n" "$*"' sh -n --for
refuse 'only after --' 2 "'touch' is one word too many; a command to run follows --" capture -o "$file" touch "$directory/ran"
refuse 'a time' 2 'leave --for out' capture -o "$file" --for 3 -- true
refuse 'standard output' 2 'the output of the command goes there: use -o FILE' capture -o - -- true
run 'a file that cannot be written' 125 err 'nowhere' capture -o "$directory/nowhere/file" -- touch "$directory/ran"
result 'and then it does not run' "$([ ! -e "$directory/ran" ] || echo it ran)"
run 'a process that is not there' 125 err 'there is no process 4194305' capture -o "$file" -p 4194305 -- touch "$directory/ran"
result 'nor here' "$([ ! -e "$directory/ran" ] || echo it ran)"

# The window is as long as the command, its threads have rows of their own, and long ones have many parts.
ln -s "$(command -v sleep)" "$directory/workload-test"
run 'a command of 2 s' 0 err 'threads\? read' capture -o "$file" -- sh -c "'$directory/workload-test' 4 & exec sleep 2"
text=$("$ctop" show "$file" --all --limit 0 2>&1)
expect 'its time' 'rate over [23]\.[0-9]*s' "$text"
expect 'its threads are not those of ctop' '^[+ ]*workload-test  *1' "$text"
# shellcheck disable=SC2016
"$ctop" capture -o "$file.parent" -- sh -c 'grep PPid /proc/$PPID/status' >"$directory/parent" 2>/dev/null &
capture=$!
wait $capture
if ! grep -q . "$directory/parent" || grep -q "	$capture\$" "$directory/parent"; then
    result 'nor is it a child of a child' "the parent: $(cat "$directory/parent")"
else
    result 'nor is it a child of a child' ''
fi
parts=$(zstd -dc "$file" | grep -o '"parts":\[.*' | grep -o '"length_ns"' | wc -l)
result 'its parts' "$([ "$parts" -ge 5 ] || echo "only $parts")"

# Ctrl-C ends the command, and ctop saves what it has. A shell without job control lets what is in the background ignore
# it.
if ! env --default-signal=INT true 2>/dev/null; then
    echo "skip - an interrupted command: env(1) here cannot reset a signal"
    finish
fi
env --default-signal=INT,QUIT "$ctop" capture -o "$directory/interrupted" -- \
    sh -c "trap 'exit 3' INT; echo \$\$ >'$directory/ready'; while :; do sleep 0.1; done" 2>/dev/null &
capture=$!
while [ ! -s "$directory/ready" ]; do sleep 0.1; done
kill -INT "$(cat "$directory/ready")" $capture
wait $capture
status=$?
result 'the status of an interrupted command' "$([ $status = 3 ] || echo "exit status $status")"
result 'what it did is saved' "$([ -s "$directory/interrupted" ] || echo 'nothing saved')"
finish
