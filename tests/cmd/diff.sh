#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# diff.sh CTOP DATA: where `ctop diff` reads and writes, what it refuses, and its exit statuses.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
before=$2/snapshots/real.a.ctprof.zst
after=$2/snapshots/real.b.ctprof.zst
empty=$2/snapshots/both_empty.a.ctprof.zst

# print NAME WANTED ARGUMENT...: diff with these arguments prints a line that matches, and nothing that is no number.
print()
{
    name=$1
    wanted=$2
    shift 2
    text=$("$ctop" diff "$@" 2>&1)
    found=$?
    if [ "$found" != 0 ]; then
        result "$name" "exit status $found: $text"
    elif printf '%s\n' "$text" | grep -qwi -e nan -e inf; then
        result "$name" "a cell is no number: $(printf '%s\n' "$text" | grep -wi -e nan -e inf | head -n 1)"
    else
        expect "$name" "$wanted" "$text"
    fi
}

refuse "one file" 2 "^ctop: diff needs two files" diff "$before"
refuse "three files" 2 "^ctop: more than two files are sets of runs, with -- between them" diff "$before" "$after" "$after"
refuse "a set of one run" 2 "at least 2 on each side: ctop diff A1 A2 A3 -- B1 B2 B3" diff "$before" "$after" -- "$after"
refuse "no run after" 2 "at least 2 on each side" diff "$before" "$after" --
refuse "noise of two sets" 2 "(or --noise for one set)" diff "$before" "$after" -- "$after" "$before" --noise
refuse "noise of one file" 2 "^ctop: diff needs two files" diff "$before" --noise
refuse "noise with a rule" 2 "contradict each other" diff "$before" "$after" --noise --fail-if 'CPU%(*) > 20%'
for option in --metrics=run_time_ns --sections=primary --sort-by=run_time_ns --tab=io --long --all --per=thread; do
    refuse "noise with $option" 2 "^ctop: --noise has a table of its own: leave out " diff "$before" "$after" --noise "$option"
done
refuse "sets in ktstr's cells" 2 "leave out --ktstr" diff "$before" "$before" -- "$after" "$after" --ktstr
refuse "sets by threads" 2 "leave out --match thread" diff "$before" "$before" -- "$after" "$after" --match thread
refuse "sets per thread" 2 "leave out per-thread" diff "$before" "$before" -- "$after" "$after" --per thread
refuse "sets and who delays whom" 2 "not between sets of runs" diff "$before" "$before" -- "$after" "$after" \
    --fail-if 'delayed(redis-server) > 0.2'
refuse "standard input for two runs" 2 "standard input can be one run, not several" diff - "$before" -- - "$after"
refuse "no file of floors" 1 "nothing.csv: No such file or directory" diff "$before" "$after" --floors "$directory/nothing.csv"
refuse "missing first file" 1 "nothing.zst" diff "$directory/nothing.zst" "$after"
refuse "missing second file" 1 "nothing.zst" diff "$before" "$directory/nothing.zst"
refuse "directory" 1 "is a directory" diff "$before" "$directory"
head -c 1000 "$after" >"$directory/cut.zst"
refuse "truncated file" 1 "cut.zst" diff "$before" "$directory/cut.zst"
# A report must not overwrite one of its snapshots, even through a link.
cp "$before" "$directory/before.zst"
ln "$directory/before.zst" "$directory/hard.zst"
ln -s before.zst "$directory/soft.zst"
for out in before.zst hard.zst soft.zst; do
    refuse "output to $out, the first file" 1 "would be overwritten: name another file with -o$" diff "$directory/before.zst" \
        "$after" -o "$directory/$out"
    refuse "output to $out, the second file" 1 "would be overwritten" diff "$after" "$directory/before.zst" -o "$directory/$out"
done
refuse "output to the file on standard input" 1 "would be overwritten" diff - "$after" -o "$directory/soft.zst" <"$directory/hard.zst"
# shellcheck disable=SC2094 # that is refused
"$ctop" diff "$directory/before.zst" "$after" >>"$directory/before.zst" 2>"$directory/errors"
result "standard output to a file that is read" "$(grep -q '^ctop: standard output is read as ' "$directory/errors" ||
    cat "$directory/errors")"
result "the snapshot stays" "$(cmp "$before" "$directory/before.zst" 2>&1)"

refuse "size cap" 1 "raise it with --max-bytes" diff "$before" "$after" --max-bytes 1000
refuse "standard input twice" 2 "one side of a comparison" diff - -
refuse "no time between" 2 "is zero or unknown: leave out --per second" diff "$before" "$before" --per second
refuse "unknown axis" 2 "unknown axis 'cgruop', did you mean 'cgroup'" diff "$before" "$after" -g cgruop
refuse "unknown metric" 2 "unknown metric 'run_time', did you mean 'run_time_ns'" diff "$before" "$after" --metrics run_time
refuse "unknown section" 2 "unknown section 'smaps', did you mean 'smaps-rollup'" diff "$before" "$after" --sections smaps
refuse "unknown column" 2 "unknown column 'value'; valid: group, threads, metric, before, after, delta, %, arrow, tags, uptime" diff \
    "$before" "$after" --columns value
refuse "arrow and a side" 2 "column arrow already shows before and after" diff "$before" "$after" --columns group,arrow,candidate
refuse "unknown display format" 2 "did you mean 'full'? valid: arrow, full, delta-only, no-pct, pct-only" diff \
    "$before" "$after" --display-format ful
refuse "sort by a category" 2 "cannot sort by 'state'" diff "$before" "$after" --sort-by state

"$ctop" diff "$before" "$after" --format tsv >"$directory/diff" 2>"$directory/errors" && failed='' || failed='not 0'
result "exit status with differences" "$failed"
"$ctop" compare "$before" "$after" --format tsv >"$directory/compare" 2>>"$directory/errors"
result "compare is diff" "$(cmp "$directory/diff" "$directory/compare" 2>&1)"
"$ctop" diff - "$after" --format tsv <"$before" >"$directory/stdin" 2>>"$directory/errors"
result "standard input first" "$(cmp "$directory/diff" "$directory/stdin" 2>&1)"
"$ctop" diff "$before" - --format tsv <"$after" >"$directory/stdin" 2>>"$directory/errors"
result "standard input second" "$(cmp "$directory/diff" "$directory/stdin" 2>&1)"
"$ctop" diff "$before" "$after" --format tsv -o "$directory/file" 2>>"$directory/errors"
result "output file" "$(cmp "$directory/diff" "$directory/file" 2>&1)"
"$ctop" diff "$before" "$before" --format tsv --columns delta >"$directory/same" 2>>"$directory/errors" && failed='' || failed='not 0'
result "exit status without" "$failed"
result "a file with itself" "$([ -s "$directory/same" ] || echo "nothing is printed"
    grep -v -e '^#' -e '^delta$' -e '^+0' -e '^same$' -e '^-$' -e '^row' -e '^some' -e '^full' "$directory/same" | head -n 3)"

print "text" "^jtarget worker-{N}  /app.slice/web-{N}.service  *8 → 12  *2.0ms → 2.2ms  *2.3ms → 21.4ms " "$before" "$after"
print "which says what did not change" "^[0-9]* more did not change measurably (--all prints them)$" "$before" "$after"
print "the columns of another tab" "^process  *THR  *RSS  .*MAJF" "$before" "$after" -g process -t memory
"$ctop" diff "$before" "$after" -g process 2>&1 | sed '1,/^process  /d' >"$directory/text"
expect "and with --all what did not change" "^$(awk '/ more did not change/ { rows += $1; next } { rows++ } END { print rows }' "$directory/text")$" \
    "$("$ctop" diff "$before" "$after" -g process --all 2>&1 | sed '1,/^process  /d' | wc -l)"
print "a metric of a group" "^/app.slice/web-{N}.service | jtarget | worker-{N}  *8 → 12  *run_time_ns " "$before" "$after" --metrics run_time_ns
print "first file empty" "^redis-server io_thd_{N}  /app.slice/cache.service  *- → 3  *- → 98.4s " "$empty" "$after"
print "second file empty" "^redis-server io_thd_{N}  /app.slice/cache.service  *3 → -  *98.4s → - " "$after" "$empty"
print "and each metric" "^/app.slice/cache.service | redis-server | io_thd_{N}  *3 → -  *run_time_ns  *98.4s → -  *-  *-" "$after" "$empty" --long
result "all are in one table" "$("$ctop" diff "$before" "$after" 2>&1 | grep '^## ' | grep -v '^## groups$')"
print "but for ktstr, which lists others" "^# only-candidate$" "$before" "$after" --ktstr --format tsv
print "both files empty" "^before " "$empty" "$empty"
print "hosts that differ" "^before " "$2/snapshots/extremes.a.ctprof.zst" "$2/snapshots/random-1.b.ctprof.zst"
print "section of cgroups on another axis" "^ctop: section pressure needs --group-by cgroup" \
    "$before" "$after" -g process --sections primary,pressure
print "rows that a limit cuts" "^\.\.\. [0-9]* more lines truncated (use --limit 0 for unlimited)" "$before" "$after" --limit 3
print "rows that a limit cuts from tsv" "rows of section primary are left out by --limit" "$before" "$after" --limit 3 --format tsv
# what matters stands first, not what grew by the largest factor
"$ctop" diff "$before" "$after" -g process >"$directory/text" 2>&1
expect "the largest change is told" \
    "^  1. redis-server ran 2 min 5 s longer on a CPU (6.4 s → 2 min 11 s, 11 threads); waiting for a CPU 6.8 s → 2 min 22 s$" "$(cat "$directory/text")"
result "so are three" "$(sed -n '/^largest changes:/,/^$/p' "$directory/text" | grep -c '^  [123]\. ' | grep -v '^3$')"
expect "and the order" "^rows are sorted by harm: " "$(cat "$directory/text")"
expect "which the rows have" "^redis-server  *11  *6.4s → 2.2m " "$(sed -n '/^## groups/,$p' "$directory/text" | sed -n 3p)"
# rows of a file have all columns; on a terminal they fit, and what matters most is last
script -qec "stty cols 80; '$ctop' diff '$before' '$after' -g process --ascii" /dev/null </dev/null 2>&1 | tr -d '\r' >"$directory/terminal"
expect "a table on a terminal" "^redis-server  *11  *6.4s -> 2.2m " "$(cat "$directory/terminal")"
result "fits it" "$(sed -n '/^## groups/,/ did not change measurably/p' "$directory/terminal" | grep '.\{81\}')"
expect "and names what does not" "^no room for .*, FAULT, MIGR (a pipe or a file has all columns)$" "$(cat "$directory/terminal")"
expect "before the largest changes" "^  3\. " "$(tail -n 1 "$directory/terminal")"
"$ctop" diff "$before" "$after" -g process --long >"$directory/text" 2>&1
expect "and those of each metric" "^6$" "$(sed -n '/^## primary/,$p' "$directory/text" | sed -n 3,9p | grep -c '^redis-server ')"
result "no number of a CPU is among them" "$(sed -n 1,40p "$directory/text" | grep -w processor)"
"$ctop" diff "$before" "$after" -g process --per second --per thread >"$directory/text" 2>&1
expect "by second and thread, too" " 2 min 11 s, 1.8 s per second, 578 ms → 11.9 s per thread, 11 threads); waiting for a CPU 6.8 s → 2 min 22 s$" "$(cat "$directory/text")"
expect "which are columns of each metric" "^process  *threads  *metric .* %uptime  *per-second  *per-thread$" "$(cat "$directory/text")"
print "in markdown" "^1\. redis-server ran 2 min 5 s longer on a CPU" "$before" "$after" -g process --format markdown
expect "in html" "^<li>redis-server ran 2 min 5 s longer on a CPU" \
    "$("$ctop" diff "$before" "$after" -g process --format html 2>&1)"
result "but not in ktstr's cells" "$("$ctop" diff "$before" "$after" --ktstr 2>&1 | grep -e 'largest' -e 'sorted by')"
expect "which have ktstr's order" "^io_thd_{N}	3	stime_clock_ticks	" \
    "$("$ctop" diff "$before" "$after" --ktstr -g comm --format tsv 2>/dev/null | sed -n 3p)"
"$ctop" capture -p $$ -o "$directory/own" 2>/dev/null
print "programs read the sentences of ctop's own files" '^"changes":\[' "$directory/own" "$directory/own" --format json
result "and of no others" "$("$ctop" diff "$before" "$after" --format json 2>&1 | grep '"changes":')"
print "the words of the screen" "^process  *threads  *metric  *before  *after  *change  *%$" "$before" "$after" -g process --display-format full
result "in markdown, too" "$("$ctop" diff "$before" "$after" -g process --format markdown 2>&1 | grep -w -e baseline -e candidate -e pcomm)"
print "which choose columns" "^process  *change$" "$before" "$after" -g process --columns group,change
refuse "one in two words" 2 "column 'before' is named twice" diff "$before" "$after" --columns baseline,before
expect "metrics limit every section" "^## primary$" "$("$ctop" diff "$before" "$after" -g process --metrics wait_time_ns 2>&1)"
result "and there is no other" "$("$ctop" diff "$before" "$after" -g process --metrics wait_time_ns 2>&1 | grep '^## ' |
    grep -v '^## primary$')"
print "but those named" "Anonymous" "$before" "$after" -g process --metrics wait_time_ns --sections smaps-rollup
"$ctop" diff "$directory/own" "$directory/own" --metrics wait_time_ns --format csv >"$directory/text" 2>/dev/null
result "no memory maps in csv of ctop's own files" "$([ -s "$directory/text" ] || echo "nothing is printed"
    grep -e '^# ' "$directory/text" | grep -v '^# primary$')"
print "csv has both sides" "^pcomm,threads_before,threads_after,metric,baseline,candidate,delta,%," "$before" "$after" -g process \
    --format csv
# ktstr's words are in reports of its files, and with --ktstr, alone
for format in text tsv csv json markdown; do
    "$ctop" diff "$directory/own" "$directory/own" -g process --all --format $format >"$directory/text" 2>&1 && failed='' || failed='not 0'
    result "ctop's words in $format" "$failed$(grep -w -e pcomm -e fudged -e baseline -e candidate "$directory/text")"
done
print "which name columns" "^process,threads_before,threads_after,same,came,went,metric,before,after,delta,%," "$directory/own" \
    "$directory/own" -g process --format csv
print "and the group" '"group_by":"process"' "$directory/own" "$directory/own" -g process --format json
print "but for --ktstr" "^pcomm,threads_before,threads_after,metric,baseline,candidate,delta,%," "$directory/own" \
    "$directory/own" -g process --format csv --ktstr
"$ctop" diff "$directory/own" "$directory/own" -g process --format csv --ktstr >"$directory/text" 2>/dev/null
result "and its old name" "$("$ctop" diff "$directory/own" "$directory/own" -g process --format csv --reference 2>/dev/null |
    diff "$directory/text" - | head -n 3)"
result "which help does not print" "$("$ctop" help diff | grep -e reference)"

# sets of runs: one file on each side is no set
"$ctop" diff "$before" -- "$after" --format tsv >"$directory/parted" 2>>"$directory/errors"
result "-- between two files" "$(cmp "$directory/diff" "$directory/parted" 2>&1)"
rule='run_time_ns(redis-server) > 1s'
run "a rule of sets" 3 out "^rule broken: $rule: redis-server changed by +" diff "$before" "$before" -- "$after" "$after" -g process \
    --fail-if "$rule"
expect "the runs are named" "^note: compares the mean values of 2 runs before (.*real.a.*, .*real.a.*) and 2 runs after (.*): a change is real \
if all runs of one side are beyond all of the other$" "$(cat "$directory/out")"
expect "and copies" "^warning: .*real.a.ctprof.zst and .*real.a.ctprof.zst are the same capture: " "$(cat "$directory/out")"
expect "the head has the last of each" "^after   .*real.b.ctprof.zst, the last of 2 runs: " "$(cat "$directory/out")"
expect "and how many runs are needed" \
    "^note: $rule, of redis-server: 4 runs a side are needed to find it four times in five, and there are 2 and 2$" "$(cat "$directory/out")"
run "sets that overlap" 0 out "^rule kept: $rule: " diff "$before" "$after" -- "$after" "$before" -g process --fail-if "$rule"
expect "which did not change" "did not change measurably (--all prints them)$" "$(cat "$directory/out")"
print "ranges have no likelihood" "^redis-server	.*	run_time_ns	.*	-	real$" "$before" "$before" -- "$after" "$after" -g process \
    --format tsv --metrics run_time_ns
print "but four runs have" "^redis-server	.*	run_time_ns	.*	0\.0[0-9]*	real$" "$before" "$before" "$before" "$before" -- \
    "$after" "$after" "$after" "$after" -g process --format tsv --metrics run_time_ns

# what varies without a change
print "noise" "^process  *metric  *mean  *floor$" "$before" "$after" --noise -g process
print "says what it is of" "^ctop: note: a run has no window, so thread lifetimes are compared; " "$before" "$after" --noise
print "of a group" "^redis-server  *run_time_ns  " "$before" "$after" --noise -g process
for format in tsv csv json markdown html; do
    "$ctop" diff "$before" "$after" --noise -g process --format $format -o "$directory/floors.$format" 2>>"$directory/errors"
    result "noise in $format" "$(grep -q run_time_ns "$directory/floors.$format" || head -c 500 "$directory/floors.$format")"
done
run "floors" 0 out "^rule kept: $rule: " diff "$before" "$before" -- "$after" "$after" -g process --fail-if "$rule" \
    --floors "$directory/floors.csv"
run "floors in another format" 1 err "floors.tsv is no table of floors in CSV: make one with " diff "$before" "$after" \
    --floors "$directory/floors.tsv"
run "floors of another axis" 1 err "floors.csv has floors of groups by process: compare with -g process" diff \
    "$before" "$before" -- "$after" "$after" --floors "$directory/floors.csv"
run "output to the floors" 1 err "floors.csv and would be overwritten: name another file with -o" diff "$before" "$after" -g process \
    --floors "$directory/floors.csv" -o "$directory/floors.csv"
print "floors without a verdict" "^warning: the floors are not used: a change between two single readings has no verdict$" \
    "$before" "$after" -g process --floors "$directory/floors.csv"
finish
