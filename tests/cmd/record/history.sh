#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# history.sh CTOP: what `ctop record` has recorded of the real host, listed, printed as a series, and named where files
# are.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../../project/sources.sh"
ctop=$1
directory=$(mktemp -d) || exit 1
burner=
spawner=
titled=
# shellcheck disable=SC2317 # by the trap
clean()
{
    for process in $burner $spawner $titled; do
        kill -KILL "$process" 2>/dev/null
    done
    rm -rf "$directory"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
history=$directory/history
export XDG_CONFIG_HOME="$directory" TZ=UTC

# a shell with a name of its own, in letters lest it is a pattern, that runs
burns=burns-$(echo $$ | tr 0-9 g-p)
cp /bin/sh "$directory/$burns"
"$directory/$burns" -c 'while :; do :; done' &
burner=$!
# processes that come and go between two rounds
sh -c 'while :; do /bin/true; done' &
spawner=$!

# burnt: what the burner has run, ms
burnt()
{
    awk '{ printf "%d", $1 / 1000000 }' "/proc/$burner/schedstat" 2>/dev/null || echo 0
}

# record: six rounds; fails where the burner got nearly no CPU meanwhile
record()
{
    rm -rf "$history"
    before=$(burnt)
    "$ctop" record --no-heap -d 0.5 -n 6 --history "$history" 2>"$directory/said"
    status=$?
    [ $status != 0 ] || [ $(($(burnt) - before)) -ge 50 ]
}

record || record || record
result "six rounds are recorded" "$([ $status = 0 ] || cat "$directory/said")"
# the file that has this name is not a moment
"$ctop" capture --no-heap -p $$ -o "$directory/file@now" 2>/dev/null

# dump ARGUMENTS...
dump()
{
    "$ctop" dump --history "$history" "$@" 2>&1
}

# --- a host whose kernel is called as a formula begins ---

cp -r "$history" "$directory/formula"
release=$(uname -r)
for file in "$directory"/formula/*.ctlog; do
    "$(dirname "$0")/../../history/read_log.py" --replace "$release" "=${release#?}" "$file"
done
result "a formula stays one in CSV" "$("$ctop" history --history "$directory/formula" --format csv 2>&1 | grep -q ",=${release#?}," ||
    "$ctop" history --history "$directory/formula" --format csv 2>&1)"
result "it is none with --csv-safe" "$("$ctop" history --history "$directory/formula" --format csv --csv-safe 2>&1 | grep -q ",'=${release#?}," ||
    "$ctop" history --history "$directory/formula" --format csv --csv-safe 2>&1)"

# --- series ---

result "a table for each round but the first" "$(dump --format csv --limit 1 | awk -F, '
    NR == 1 && $1 != "time_unix_ns" { print "the first column is", $1 }
    NR > 1 && $1 <= before { print $1, "is not behind", before }
    NR > 1 { before = $1; count++ }
    END { if (count != 5) print count, "tables" }')"
result "text has the day" "$(dump --limit 1 | grep -c "^$history  20[0-9-]* [0-9:]*  " | grep -v '^5$')"
result "a lack of memory is no damage" "$(for limit in $(seq 12000 500 26000); do
    # shellcheck disable=SC3045 # dash and bash have it
    (ulimit -v "$limit" && dump --limit 1 | grep -e damaged -e 'cannot be read')
done)"
result "JSON is an object in a line" "$(dump --format json --limit 1 | grep -c '^{"time_unix_ns":[0-9]*,"interval_ns":[1-9].*}$' | grep -v '^5$')"

# run_time ARGUMENTS...: what the burner ran, ns, in all tables together
run_time()
{
    dump --mode interval --columns run_time_ns -g process --filter "name=$burns" --limit 0 --format tsv "$@" |
        awk -F '\t' -v burns="$burns" 'NR > 1 && $2 == burns { sum += $3; count++ } END { printf "%.0f %d\n", sum, count }'
}
each=$(run_time)
whole=$(run_time --every 1d)
result "one table for all the time has what each has" "$([ "${each% *}" = "${whole% *}" ] && [ "${each% *}" -gt 0 ] &&
    [ "${each#* }" = 5 ] && [ "${whole#* }" = 1 ] || echo "$each in each, $whole in one")"
# all_time ARGUMENTS...: what all rows ran, ns, those of what had ended too. Not "exe": a test that may run at the same time
# lets threads of it execute it again and again, and one table of all the time lacks 0.5 % of such a process.
all_time()
{
    dump --mode interval --columns run_time_ns -g process --limit 0 --format tsv "$@" |
        awk -F '\t' 'NR > 1 && $2 != "exe" { sum += $3 } END { printf "%.0f\n", sum }'
}
if "$ctop" doctor 2>/dev/null | grep -q -E '^(on|partial) .*every thread in one pass'; then
    result "and all that ended in between" "$([ "$(all_time)" = "$(all_time --every 1d)" ] || echo "$(all_time) in each, $(all_time --every 1d) in one")"
    result "by the second too" "$([ "$(all_time)" = "$(all_time --every 1s)" ] || echo "$(all_time) in each, $(all_time --every 1s) by the second")"
else
    echo "skip - and all that ended in between: nobody tells of it exactly without BPF"
fi
first=$(dump --mode total --format csv --limit 1 | awk -F, 'NR == 2 { print $1 }')
third=$(dump --mode total --format csv --limit 1 | awk -F, 'NR == 4 { print $1 }')
# in whole seconds the third round is the last that may be meant
result "from one time to another" "$(dump --mode total --format csv --limit 1 --from "@$(echo "$first" | sed 's/\(.*\)\(.........\)/\1.\2/')" \
    --to "@$(echo "$third" | sed 's/\(.*\)\(.........\)/\1.\2/')" | awk 'END { if (NR != 4) print NR - 1, "tables" }')"

from="@$(echo "$third" | sed 's/\(.*\)\(.........\)/\1.\2/')"
result "to a second, and the rounds within it" "$(dump --mode total --format csv --limit 1 --to "@${third%?????????}" |
    awk -F, -v third="$third" 'END { if ($1 < third) print "ends with", $1 }')"
last=$(dump --mode total --format csv --limit 1 | awk -F, 'END { print $1 }')
result "a table for so much time begins with the round asked for" "$(dump --every 1d --from "$from" --format json --limit 1 |
    sed 's/^{"time_unix_ns":\([0-9]*\),"interval_ns":\([0-9]*\).*/\1 \2/' | awk -v last="$last" -v third="$third" '
    NR == 1 && $1 == last && $2 > (last - third) * 0.9 && $2 < (last - third) * 1.1 { good = 1 }
    END { if (!good || NR != 1) print NR, "tables; the span is", last - third, "of", $0 }')"
result "or for a time without end" "$(timeout 60 "$ctop" dump --history "$history" --every 18446744073s --from "$from" --format csv --limit 1 2>&1 |
    awk 'END { if (NR != 2) print NR, "lines" }')"

# refused NAME STATUS TEXT COMMAND...
refused()
{
    name=$1
    expected=$2
    text=$3
    shift 3
    said=$(timeout 60 "$@" 2>&1 </dev/null)
    status=$?
    result "$name" "$([ $status = "$expected" ] && printf '%s\n' "$said" | grep -q -e "$text" || echo "status $status: $said")"
}

later='the nearest round is of 20.* later; --nearest takes it$' earlier='the nearest round is of 20.* earlier; --nearest takes it$'
refused "nothing was recorded before" 1 "$history: nothing was recorded before 2026-01-01 00:00:00: $later" "$ctop" dump \
    --history "$history" --to 2026-01-01
refused "nor after" 1 "nothing was recorded after 2100-01-01 00:00:00: $earlier" "$ctop" dump --history "$history" --from 2100-01-01
refused "nor between" 1 "nothing was recorded from 2026-01-01 00:00:00 to 2026-01-02 00:00:00: $later" "$ctop" dump \
    --history "$history" --from 2026-01-01 --to 2026-01-02
result "the nearest round is printed" "$("$ctop" dump --history "$history" --nearest --from 2100-01-01 --every 1m --format csv \
    --limit 1 2>"$directory/said" | awk -F, -v last="$last" 'END { if (NR != 2 || $1 != last) print NR, "lines, the last is of", $1 }')"
result "and that it is the nearest" "$(grep -q '^ctop: nothing was recorded after 2100-01-01 00:00:00: .* earlier$' "$directory/said" ||
    cat "$directory/said")"
refused "from after to" 2 "is later than --to" "$ctop" dump --history "$history" --from -1m --to -2m
refused "a time is checked" 2 "did you mean '-15m'" "$ctop" dump --history "$history" --from 15m
refused "there is no such directory" 1 "$directory/no" "$ctop" dump --history "$directory/no"
refused "a file is no history" 1 "is a file; name the directory" "$ctop" dump --history "$0"
mkdir "$directory/nothing"
refused "a directory without a history" 1 "$directory/nothing: there is no history in it" "$ctop" history --history "$directory/nothing"

# --- moments ---

# the moment of the newest round
newest="@@${last%?????????}.${last#"${last%?????????}"}"
result "a moment is shown" "$("$ctop" show "$history$newest" 2>&1 | grep -q "^$history@20.* rate over " || "$ctop" show "$history$newest" 2>&1)"
result "of the history that is meant" "$("$ctop" show "$newest" --history "$history" 2>&1 | grep -q "^$history@20" ||
    "$ctop" show "$newest" --history "$history" 2>&1)"
mkdir "$directory/ctop"
echo "history = $history" >"$directory/ctop/ctop.conf"
result "or that the configuration names" "$("$ctop" show "$newest" 2>&1 | grep -q "^$history@20" || "$ctop" show "$newest" 2>&1)"
result "the live command prints it too" "$("$ctop" -b --nearest @now 2>&1 | grep -q "^$history@20" || "$ctop" -b --nearest @now 2>&1)"
rm -r "$directory/ctop"
moment=$(TZ=EST5 "$ctop" show "$history$newest" 2>&1 | sed -n "s#^\($history@[0-9-]* [0-9:]*\)  20.*#\1#p")
result "its name is a moment too" "$(TZ=EST5 "$ctop" show "$moment" 2>&1 | grep -q "^$moment  " || echo "$moment")"
findings=$("$ctop" show "$directory/file@now" 2>&1)
result "a file of that name is meant" "$(echo "$findings" | grep -q "^$directory/file@now  " || echo "$findings")"
refused "a time before the history" 1 "$history: the history had not begun at 2026-01-01 00:00:00: $later" "$ctop" show "$history@2026-01-01"
refused "a time after it, on one side" 1 "the history had ended at 2100-01-01 00:00:00: $earlier" "$ctop" diff "$history$newest" \
    "$history@2100-01-01"
findings=$("$ctop" show --nearest "$history@2026-01-01" 2>&1)
result "the nearest is shown" "$(echo "$findings" | grep -q "^$history@20" || echo "$findings")"
result "that it is the nearest is told" "$(echo "$findings" |
    grep -q '^ctop: the history had not begun at 2026-01-01 00:00:00: the nearest round is of 20.* later$' || echo "$findings")"
refused "a history is no snapshot" 1 "$history is a history: name a moment: $history@-1h$" "$ctop" show "$history"
# the burner has a CPU all the time, as often as the hypervisor lets it
range=$("$ctop" show "$history@-1h..now" -f "$burns" --columns cpu 2>/dev/null)
result "a range is shown" "$(echo "$range" | grep -q "^$history@20.*\.\.20.*  rate over " || echo "$range")"
result "with what ran in it" "$(echo "$range" | awk -v burns="$burns" '$1 == burns { cpu = $2 } END { if (cpu < 1) print "CPU% is", cpu }')"
refused "a range that ends first" 1 "the range is empty: it ends at " "$ctop" show "$history@now..-1h"
refused "a range outside" 1 "$history: nothing was recorded from 20.* to 20.*: $later" "$ctop" show "$history@-2h..-1h"
result "or the round nearest to it" "$("$ctop" show --nearest "$history@-2h..-1h" 2>/dev/null | grep "^$history@20" | grep -qv '[.][.]' ||
    "$ctop" show --nearest "$history@-2h..-1h" 2>&1)"
refused "a range of no time" 2 "as a range of a history: .*did you mean '09:40'" "$ctop" show "$history@-1h..9.40"
refused "a time that is none" 2 "and as a moment of a history: .*did you mean '09:40'" "$ctop" show "$history@9.40"
refused "a moment of nothing" 1 "$directory/no" "$ctop" show "$directory/no@now"
said=$("$ctop" diff "$history@@$((first / 1000000000 + 1))" "$history$newest" -g process --fail-if "after:run_time_ns($burns) > 1ms" 2>&1)
status=$?
result "two moments are compared" "$([ $status = 3 ] && echo "$said" | grep -q 'compares rates over ' || echo "status $status: $said")"
range=$(echo "$said" | sed -n 's/^ctop: what happened between them: ctop show .\(.*\).$/\1/p')
result "what happened between them is named" "$("$ctop" show "$range" 2>&1 | grep -q "^$range  .*  rate over " || echo "$said")"

said=$("$ctop" diff --nearest "$history@now" "$history@@4102444800" 2>&1)
result "one round is the same on both sides, with nothing between" "$(echo "$said" | grep -q 'both are the same capture' &&
    ! echo "$said" | grep 'what happened between' || echo "$said")"
result "a moment is compared with what comes through a pipe" "$("$ctop" capture --no-heap -o - 2>/dev/null |
    "$ctop" diff "$history$newest" - -g process 2>&1 | grep -q '^note: .* threads are the same on both sides' ||
    echo "it is not")"

# --- rounds of other versions ---

# version NAME LETTER REASON...: makes a copy of ctop whose names of these reasons end with LETTER, so that no other
# copy knows them
version()
{
    name=$1
    letter=$2
    shift 2
    script=
    for reason in "$@"; do
        script="$script;s/$reason\$/${reason%?}$letter/"
    done
    LC_ALL=C sed -z "${script#;}" "$ctop" >"$directory/$name"
    chmod +x "$directory/$name"
}

# record_with COMMAND...: records three more rounds; a copy's changed reasons only occur without privileges
record_with()
{
    "$@" record --no-heap --backend procfs -d 0.5 -n 3 --history "$directory/versions" 2>&1
}

without="setpriv --bounding-set=-all --inh-caps=-all"
# shellcheck disable=SC2317 # by can
gives_up()
{
    $without true && ! $without cat "/proc/$$/io"
}
if can "a reason of another version keeps its name" "needs setpriv and capabilities, without which I/O is not read" gives_up; then
    version newer Q not-permitted not-in-kernel switched-off not-read
    version older Z bad-stamp
    # shellcheck disable=SC2086 # it has arguments
    said=$(record_with $without "$directory/newer" && record_with "$directory/older" && record_with "$ctop") && said=
    result "other versions record" "$said"
    # times of the rounds in seconds, with the fraction
    "$ctop" dump --history "$directory/versions" --mode total --format csv --limit 1 | sed -n 's/^\([0-9]*\)\([0-9]\{9\}\),.*/\1.\2/p' >"$directory/times"
    begin=$(sed -n 2p "$directory/times")
    for round in 6 9; do
        end=$(sed -n ${round}p "$directory/times")
        for format in text tsv json; do
            said=$("$ctop" show "$directory/versions@@$begin..@$end" -t io -g pid --filter "pid = $$" --all --limit 0 --format $format 2>&1)
            status=$?
            result "a reason of another version keeps its name: $format" "$([ $status = 0 ] || echo "exit status $status: $said"
                [ $format = tsv ] || echo "$said" | grep -q 'not-permitteQ' || echo "$said"
                echo "$said" | grep 'bad-stamZ')"
        done
    done
fi

# --- files that cannot be read ---

mkdir "$directory/linked"
ln -s "$history"/*.ctlog "$directory/linked"
refused "a link is no file of a history" 1 "linked: 20[-0-9]*.ctlog is no regular file" "$ctop" history --history "$directory/linked"
cp -r "$history" "$directory/beside"
mkfifo "$directory/beside/2026-01-02.ctlog"
refused "and none that is passed over" 0 "beside/2026-01-02.ctlog: it is no regular file" "$ctop" history --history "$directory/beside"
result "nor one to be removed for its age" "$("$ctop" record -n 1 -d 0.5 --keep 1d --history "$directory/beside" 2>&1 |
    grep 'beside/'; test -p "$directory/beside/2026-01-02.ctlog" || echo "it is gone")"
cp -r "$history" "$directory/former"
head -c 2000000 /dev/zero >"$directory/former/2026-01-02.rounds"
refused "a day of the former format is named" 0 "2026-01-02.rounds: it has the format of ctop before 1.0" \
    "$ctop" history --history "$directory/former"
result "it counts, and is removed first" "$("$ctop" record --no-heap -n 2 -d 0.5 --max-size 1M --history "$directory/former" 2>&1 |
    grep 'former/2'; test ! -e "$directory/former/2026-01-02.rounds" || echo "it is there")"
cp -r "$history" "$directory/cut"
truncate -s 1000 "$directory"/cut/*.ctlog
refused "a file that is cut in its first round has none" 1 "there is no round in it yet" "$ctop" dump --history "$directory/cut"
cp -r "$history" "$directory/damaged"
for file in "$directory"/damaged/*.ctlog; do
    printf 'damaged!' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc 2>/dev/null
done
refused "damage is listed with file and place" 0 'damaged/20[-0-9]*.ctlog: .* byte [0-9]' \
    "$ctop" history --check --history "$directory/damaged"
cp -r "$history" "$directory/prefix"
for file in "$directory"/prefix/*.ctlog; do
    truncate -s -1 "$file"
done
result "the beginning of a file is a file" "$("$ctop" history --check --history "$directory/prefix" --format tsv 2>&1 |
    grep -e damage || "$ctop" dump --history "$directory/prefix" --format csv --limit 1 2>&1 | awk 'END { if (NR != 6) print NR, "lines" }')"

# --- an ordinary user, where the service records and where it does not ---

# as_ordinary DIRECTORY COMMAND...: runs a command as nobody, with DIRECTORY alone in /var/lib
as_ordinary()
{
    recorded=$1
    shift
    # shellcheck disable=SC2016,SC2086 # for the other shell; words
    unshare --mount sh -c 'mount -t tmpfs none /var/lib && mkdir -m 700 "/var/lib/$1" && shift && exec "$@"' sh "$recorded" \
        $nobody env -u XDG_STATE_HOME -u STATE_DIRECTORY HOME="$directory/home" "$@"
}
if can "where the service records" "needs CAP_SYS_ADMIN to mount; $nobody_needed" as_ordinary ctop true; then
    chmod 755 "$directory"
    cp "$ctop" "$directory/copy"
    said=$(as_ordinary ctop "$directory/copy" show @-1h 2>&1)
    status=$?
    result "it says where the service records" "$([ "$status $said" = "1 ctop: No history in ~/.local/state/ctop. The ctop-record \
service writes to /var/lib/ctop: use sudo, or --history DIR" ] || echo "status $status: $said")"
    said=$(as_ordinary other "$directory/copy" dump 2>&1)
    result "or that there is nothing" "$(echo "$said" | grep -q "$directory/home/.local/state/ctop: there is no such directory" ||
        echo "$said")"
fi

# --- titles ---

# a process without arguments but with a name of several words: it seems to have set its own title
echo 'while :; do :; done' >"$directory/loop"
bash -c 'exec -a "db: SELECT 1" sh' <"$directory/loop" &
titled=$!

# titles NAME ARGUMENTS...: records the titled process and the burner into the history NAME
titles()
{
    name=$1
    shift
    "$ctop" record --no-heap -d 0.5 -n 4 -p "$titled" -p "$burner" --history "$directory/$name" "$@" 2>&1
}

# told NAME: prints the command lines in the history NAME
told()
{
    "$ctop" dump --history "$directory/$1" -g pid --columns command --format csv 2>&1
}

# a recorder waits 250 ms for a title, which may be too short beside tests of another build
has_title()
{
    titles self >/dev/null && told self | grep -q 'db: SELECT 1'
}
has_title || has_title || has_title
said=$(titles all --titles all && titles none --no-titles)
result "a title is recorded" "$(told self | grep -q 'db: SELECT 1' || echo "$said $(told self)")"
result "a command line is not" "$(told self | grep 'while')"
result "all of it is with --titles all" "$(told all | grep -q -- '-c while :' || told all)"
result "nothing is with --no-titles" "$(told none | grep -e SELECT -e while)"
result "a moment has its title" "$("$ctop" show "$directory/self@now" --nearest -g pid --columns command 2>&1 | grep -q 'db: SELECT 1' ||
    "$ctop" show "$directory/self@now" --nearest -g pid --columns command 2>&1)"
said=$("$ctop" show "$directory/self@now" --nearest -g pid --columns command -f 'command = *SELECT*' 2>&1)
result "which is found by a filter" "$(case $said in *'db: SELECT 1'*) ;; *) echo "$said" ;; esac)"
refused "where no title is recorded it says so" 0 "no title was recorded here" \
    "$ctop" show "$directory/none@now" --nearest -f 'command = *SELECT*'
refused "titles are of two kinds" 2 "valid: self, all" "$ctop" record --titles whole -n 1 --history "$directory/whole"
refused "or there are none" 2 "contradict" "$ctop" record --titles all --no-titles -n 1 --history "$directory/whole"

# --- a gap ---

sleep 3 # in which nobody records
# time_of_day SECONDS: prints the time of day SECONDS after the newest round
time_of_day()
{
    date -u -d "@$((${last%?????????} + $1))" +%H:%M:%S
}
result "times of day are the last ones before now" "$(dump --mode total --format csv --limit 1 --from "$(time_of_day -60)" --to "$(time_of_day 1)" |
    awk -F, 'NR == 1 && $1 != "time_unix_ns"; END { if (NR != 7) print NR, "lines" }')"
"$ctop" record --no-heap -d 0.5 -n 2 --history "$history" 2>/dev/null
refused "nothing is shown of it" 1 "nothing was recorded at 20.* $(time_of_day 2): the nearest round is of 20" "$ctop" show "$history@$(time_of_day 2)"
result "a gap is listed" "$("$ctop" history --history "$history" | grep -A 3 '^## gaps' | grep -q 'not recorded' || "$ctop" history --history "$history")"
result "nothing is counted over it" "$(dump --format csv --limit 1 | awk 'END { if (NR != 7) print NR - 1, "tables" }')"
result "JSON lists the same" "$("$ctop" history --history "$history" --format json | grep -q '"not recorded"' ||
    "$ctop" history --history "$history" --format json)"
finish
