#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# record.sh CTOP HEAR: `ctop record` on the real host: its end by signals, a second one, what it tells a service manager,
# a full disk, rules. HEAR prints what is sent to a socket.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../../project/sources.sh"
ctop=$1
hear=$2
directory=$(mktemp -d) || exit 1
mounted=
# shellcheck disable=SC2317 # by the trap
clean()
{
    # of those that have ended the ids may be somebody else's
    read -r children <"/proc/$$/task/$$/children"
    for process in $children; do
        kill -KILL "$process" 2>/dev/null
    done
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$directory"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

# rounds HISTORY: how many it has.
rounds()
{
    "$ctop" history --history "$1" --format tsv 2>/dev/null |
        awk -F '\t' '$1 ~ /\.ctlog$/ { sum += $4 } END { print sum + 0 }'
}

has_rounds()
{
    [ "$(rounds "$1")" -ge "$2" ]
}

record()
{
    "$ctop" record --no-heap -d 0.5 "$@"
}

# begin HISTORY ARGUMENTS...: starts a recorder, by the command $with if that is set.
with=
begin()
{
    history=$1
    shift
    # shellcheck disable=SC2086 # words
    $with "$ctop" record --no-heap -d 0.5 --history "$history" "$@" 2>"$directory/said" &
    recorder=$!
    with=
}

# end SIGNAL: ends it.
end()
{
    kill -"$1" $recorder
    wait $recorder
    status=$?
}

# --- so many rounds, then the end ---

said=$(record -n 3 --history "$directory/three" 2>&1)
status=$?
result "it ends by itself after so many rounds" "$([ $status = 0 ] || echo "status $status: $said")"
result "so many are there" "$([ "$(rounds "$directory/three")" = 3 ] || "$ctop" history --history "$directory/three" 2>&1)"
result "it says where and how much" "$(case $said in *"recording into $directory/three every 500 ms, keeping 14 d, at most 2 GiB"*) ;; *) echo "$said" ;; esac)"
for length in '1s 1 s' '90s 1 min 30 s' '90m 1 h 30 min' '1d 1 d' '26w 182 d'; do
    said=$(record -n 1 --keep "${length%% *}" --history "$directory/kept" 2>&1)
    result "and for how long: ${length#* }" "$(case $said in *" ms, keeping ${length#* }, "*) ;; *) echo "$said" ;; esac)"
done
result "others may not read it" "$(find "$directory/three" -perm /007)"

# --- signals ---

# in the background a shell has SIGINT ignored, and SIGHUP below nohup(1)
for signal in TERM HUP INT KILL; do
    with="env --default-signal=INT,HUP"
    begin "$directory/$signal"
    until_true 120 has_rounds "$history" 2
    before=$(rounds "$history")
    end $signal
    case $signal in
    TERM) expected=0 ;;
    HUP) expected=129 ;;
    INT) expected=130 ;;
    KILL) expected=137 ;;
    esac
    result "SIG$signal ends it" "$([ $status = "$expected" ] || echo "status $status: $(cat "$directory/said")")"
    result "all rounds are there after SIG$signal" "$([ "$(rounds "$history")" -ge "$before" ] && [ "$before" -ge 2 ] ||
        echo "$(rounds "$history") rounds, of $before")"
done
said=$(record -n 2 --history "$directory/KILL" 2>&1)
result "it goes on after SIGKILL" "$([ "$(rounds "$directory/KILL")" -ge $((before + 2)) ] || echo "$said")"
result "nothing is damaged" "$("$ctop" history --check --history "$directory/KILL" --format tsv 2>&1 | grep -A 5 damage)"
result "the time between is a gap" "$("$ctop" history --history "$directory/KILL" 2>&1 | grep -q 'not recorded' ||
    "$ctop" history --history "$directory/KILL" 2>&1)"

# in rates each stretch has a table, up to its last round
tables=$("$ctop" dump --history "$directory/KILL" --every 1d --format csv --limit 1 2>/dev/null | tail -n +2 | cut -d , -f 1 | sort -u | wc -l)
result "what was before it is not left out of a series" "$([ "$tables" = 2 ] || echo "$tables tables")"

# what is ignored stays so: nohup(1)
with="env --ignore-signal=HUP"
begin "$directory/ignored"
until_true 120 has_rounds "$directory/ignored" 1
kill -HUP $recorder
before=$(rounds "$directory/ignored")
result "an ignored SIGHUP does not end it" "$(until_true 120 has_rounds "$directory/ignored" $((before + 2)) || echo "it does")"

# what it says has no reader any more
record -n 8 --history "$directory/unheard" --when 'thread_count(*) > 0' --rest 1s 2>&1 | head -n 1 >/dev/null
result "it records on when nobody listens" "$(has_rounds "$directory/unheard" 8 || rounds "$directory/unheard")"

# --- a second one ---

said=$(record -n 1 --history "$directory/ignored" 2>&1)
status=$?
result "a second one is refused" "$([ $status = 1 ] && echo "$said" | grep -q $recorder || echo "status $status: $said")"
end TERM
said=$(record -n 1 --history "$directory/ignored" 2>&1)
status=$?
result "it is not once the first has ended" "$([ $status = 0 ] || echo "status $status: $said")"

# --- a service manager ---

"$hear" "$directory/socket" >"$directory/heard" &
ear=$!
until_true 60 test -S "$directory/socket"
with="env NOTIFY_SOCKET=$directory/socket WATCHDOG_USEC=3000000"
begin "$directory/service"
result "it says that it is ready" "$(until_true 120 grep -q '^READY=1|STATUS=recorded 0 rounds' "$directory/heard" || cat "$directory/heard")"
result "it says that it is alive" "$(until_true 120 grep -q '^WATCHDOG=1' "$directory/heard" || cat "$directory/heard")"
end TERM
result "it says that it stops" "$(until_true 60 grep -q '^STOPPING=1|STATUS=' "$directory/heard" || cat "$directory/heard")"
kill $ear

# --- where the history is ---

(
    mkdir "$directory/home"
    exec env HOME="$directory/home" STATE_DIRECTORY="$directory/state" "$ctop" record --no-heap -n 1
) 2>"$directory/said"
result "a service records into its state directory" "$(has_rounds "$directory/state" 1 || cat "$directory/said")"
mkdir -p "$directory/configuration/ctop"
echo "history = $directory/chosen" >"$directory/configuration/ctop/ctop.conf"
(
    exec env XDG_CONFIG_HOME="$directory/configuration" STATE_DIRECTORY="$directory/state" "$ctop" record --no-heap -n 1
) 2>"$directory/said"
result "the configuration file names another" "$(has_rounds "$directory/chosen" 1 || cat "$directory/said")"

# --- what is refused ---

# refused NAME STATUS TEXT ARGUMENTS...
refused()
{
    name=$1
    expected=$2
    text=$3
    shift 3
    said=$(timeout 60 "$ctop" record -n 1 "$@" 2>&1)
    status=$?
    result "$name" "$([ $status = "$expected" ] && printf '%s\n' "$said" | grep -q -e "$text" || echo "status $status: $said")"
}

# limited N ARGUMENTS...: with so many open files, of which 64 and one for each rule are needed
limited()
{
    (
        # shellcheck disable=SC3045 # every shell that tests run with has it
        ulimit -n "$1"
        shift
        timeout 120 "$ctop" record --no-heap -n 3 -d 0.5 "$@" 2>&1
    )
}
said=$(limited 64 --history "$directory/few")
status=$?
result "64 open files are enough" "$([ $status = 0 ] && has_rounds "$directory/few" 3 || echo "status $status: $said")"
said=$(limited 63 --history "$directory/fewer")
status=$?
result "with fewer it does not begin" "$(case $status$said in 1*"63 open files"*"needs 64"*"ulimit -n"*) ;; *) echo "status $status: $said" ;; esac)"
said=$(limited 64 --history "$directory/fewer" --when 'psi.cpu > 99')
status=$?
result "a rule needs one more" "$(case $status$said in 1*"needs 65"*) ;; *) echo "status $status: $said" ;; esac)"
result "nothing is made of either" "$(ls -d "$directory/fewer" 2>/dev/null)"

: >"$directory/file"
refused "a file is no history" 1 "$directory/file" --history "$directory/file"
ln -s loop "$directory/loop"
refused "a loop of links is none" 1 "$directory/loop: Too many levels of symbolic links; name another" --history "$directory/loop"
refused "a rule is checked first" 2 "did you mean run_time_ns" --history "$directory/no" --when 'run_tim_ns(*) > 1s'
refused "pressure in percent" 2 "psi.cpu > 20" --history "$directory/no" --when 'psi.cpu > 20ms'
refused "a length of time" 2 "not a length of time" --history "$directory/no" --keep 14
refused "a size" 2 "not a size" --history "$directory/no" --max-size 2X
result "nothing was made of it" "$(ls -d "$directory/no" 2>/dev/null)"

# --- rules ---

# a shell with a name of its own, that runs
cp /bin/sh "$directory/ctop-burns"
"$directory/ctop-burns" -c 'while :; do :; done' &
burner=$!
begin "$directory/rules" --when 'run_time_ns(ctop-burns) > 50ms' --when 'run_time_ns(ctop-burns) > 5000s' \
    --when 'CPU%("ctop-burns" of ctop-*) > 5' --rest 1h
# shellcheck disable=SC2317 # by until_true
has_mark()
{
    "$ctop" history --history "$directory/rules" --format tsv 2>/dev/null | grep -q 'ctop-burns) > 50ms: ctop-burns has'
}
result "a rule makes a mark" "$(until_true 120 has_mark || cat "$directory/said")"
# shellcheck disable=SC2317 # by until_true
has_pool_mark()
{
    "$ctop" history --history "$directory/rules" --format tsv 2>/dev/null | grep -q '> 5: ctop-burns of ctop-burns in .* has'
}
result "so does one about the threads of a process" "$(until_true 120 has_pool_mark || cat "$directory/said")"
before=$(rounds "$directory/rules")
until_true 120 has_rounds "$directory/rules" $((before + 4))
end TERM
kill -KILL $burner
marks=$("$ctop" history --history "$directory/rules" --format tsv | grep -c 'ctop-burns)')
result "and rests" "$([ "$marks" = 1 ] || echo "$marks marks: $(cat "$directory/said")")"
result "with a snapshot beside it" "$(
    file=$("$ctop" history --history "$directory/rules" --format tsv | awk -F '\t' '/ctop-burns\)/ { print $NF }')
    "$ctop" show "$directory/rules/$file" 2>&1 | grep -q ctop-burns || "$ctop" history --history "$directory/rules" 2>&1)"
result "it is said once" "$([ "$(grep -c 'ctop-burns has' "$directory/said")" = 1 ] || cat "$directory/said")"

# more rules than anybody writes by hand: each has its own file that the kernel signals
set --
for percent in $(seq 1 90); do
    set -- "$@" --when "psi.cpu > $percent" --when "psi.io > $percent"
done
said=$(record -n 4 --history "$directory/many" "$@" 2>&1)
status=$?
result "there may be many rules" "$([ $status = 0 ] && has_rounds "$directory/many" 4 || echo "status $status: $said")"

# pressure: more processes that run than there are CPUs
if [ -w /proc/pressure/cpu ]; then
    burners=
    for _ in $(seq $(($(nproc) * 2))); do
        "$directory/ctop-burns" -c 'while :; do :; done' &
        burners="$burners $!"
    done
    begin "$directory/pressure" -d 1 --when 'psi.cpu > 1'
    # shellcheck disable=SC2317 # by until_true
    has_pressure_mark()
    {
        "$ctop" history --history "$directory/pressure" --format tsv 2>/dev/null | grep -q 'psi.cpu > 1: some thread waited for cpu'
    }
    result "pressure makes a mark" "$(until_true 120 has_pressure_mark || cat "$directory/said")"
    end TERM
    for process in $burners; do
        kill -KILL "$process"
    done
    result "and does no harm" "$([ $status = 0 ] || echo "status $status: $(cat "$directory/said")")"
else
    echo "skip - pressure makes a mark: there is no pressure here"
fi

# --- a full disk ---

mkdir "$directory/small"
if can "a full disk" "needs CAP_SYS_ADMIN to mount" mount -t tmpfs -o size=600k none "$directory/small"; then
    mounted=$directory/small
    begin "$directory/small/history"
    until_true 120 has_rounds "$directory/small/history" 2
    dd if=/dev/zero of="$directory/small/filler" bs=4k 2>/dev/null
    result "recording pauses on a full disk, and says so" "$(until_true 240 grep -q 'recording pauses' "$directory/said" ||
        { cat "$directory/said"; ls -l "$directory/small/history"; })"
    before=$(rounds "$directory/small/history")
    result "what was stored is there" "$([ "$before" -ge 2 ] || echo "$before rounds")"
    rm "$directory/small/filler"
    result "it goes on by itself" "$(until_true 240 grep -q 'recording goes on' "$directory/said" || cat "$directory/said")"
    result "with more rounds" "$(until_true 120 has_rounds "$directory/small/history" $((before + 1)) || rounds "$directory/small/history")"
    end TERM
    result "it ends well" "$([ $status = 0 ] || echo "status $status: $(cat "$directory/said")")"
    result "the pause is told" "$([ "$(grep -c 'recording pauses' "$directory/said")" -ge 1 ] || cat "$directory/said")"
fi
finish
