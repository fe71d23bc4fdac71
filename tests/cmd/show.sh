#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# show.sh CTOP DATA: where `ctop show` reads and writes, what it refuses, and its exit statuses.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
file=$2/snapshots/real.b.ctprof.zst

refuse "no file" 2 "^ctop: show needs a file" show --limit 1
refuse "two files" 2 "is one word too many" show "$file" "$file"
refuse "missing file" 1 "nothing.zst" show "$directory/nothing.zst"
refuse "an empty name" 1 "^ctop: '' does not exist; check the name$" show ''
refuse "a name that is too long" 1 "^ctop: cannot open x*: File name too long$" show "$(head -c 5000 /dev/zero | tr '\0' x)"
refuse "no name of a column at all" 2 "no column or metric 'x*'; .ctop help columns. lists them$" show "$file" \
    --columns "$(head -c 5000 /dev/zero | tr '\0' x)"
run "all sections are named" 0 out "cgroup-io" show --help
refuse "directory" 1 "is a directory" show "$directory"
refuse "unknown option" 2 "unknown option '--sectons', did you mean '--sections'" show "$file" --sectons primary
refuse "unknown axis" 2 "unknown axis 'cgruop', did you mean 'cgroup'? valid: process" show "$file" -g cgruop
refuse "axis all" 2 "show --long has no axis 'all'; valid: process, pid, cgroup, container, thread, thread-exact, user, wait, host" show "$file" --long -g all
refuse "unknown metric" 2 "unknown metric 'run_time', did you mean 'run_time_ns'? valid: thread_count, " show "$file" --metrics run_time
refuse "no field of a scheduler" 2 "unknown metric 'scx.'" show "$file" --metrics nice,scx.
refuse "nor of anything else" 2 "unknown metric 'a.b'" show "$file" --metrics a.b
refuse "no metric" 2 "unknown metric ''; valid: thread_count, .*, total_offcpu_delay_ns$" show "$file" --metrics ''
refuse "unknown section" 2 "unknown section 'smaps', did you mean 'smaps-rollup'?" show "$file" --sections primary,smaps
refuse "section twice" 2 "section 'Primary' is named twice" show "$file" --sections 'primary, Primary'
refuse "unknown column" 2 "unknown column 'delta'; valid: group, threads, metric, value, tags, uptime" show "$file" --long --columns delta
refuse "sort by a category" 2 "cannot sort by 'policy'" show "$file" --long --sort-by policy
refuse "sort direction" 2 "unknown direction 'up'; valid: asc, desc" show "$file" --long --sort-by nice:up
refuse "sort twice" 2 "metric 'nice' is named twice" show "$file" --long --sort-by nice,nice:asc
refuse "unknown format" 2 "did you mean 'json'? valid: text, tsv, csv, json" show "$file" --format jsn
cp "$file" "$directory/read.zst"
ln -s "$directory/read.zst" "$directory/link.zst"
refuse "output to the file that is read" 1 "link.zst is read as .*read.zst and would be overwritten" show "$directory/read.zst" \
    -o "$directory/link.zst"
refuse "the same of a report" 1 "would be overwritten" show --long "$directory/link.zst" -o "$directory/read.zst"
result "the snapshot stays" "$(cmp "$file" "$directory/read.zst" 2>&1)"
refuse "size cap" 1 "raise it with --max-bytes" show "$file" --max-bytes 1000
head -c 1000 "$file" >"$directory/cut.zst"
refuse "truncated file" 1 "cut.zst" show "$directory/cut.zst"
: >"$directory/empty.zst"
refuse "empty file" 1 "empty.zst" show "$directory/empty.zst"

"$ctop" show "$file" --sections scx >/dev/null 2>"$directory/errors"
result "a section without anything" "$(grep -q 'has nothing for --sections scx$' "$directory/errors" || cat "$directory/errors")"

# What the columns of a tab do not apply to is one line.
"$ctop" show "$file" -t latency >"$directory/text" 2>/dev/null
result "groups without numbers" "$(grep -qE '^ [0-9]+ groups without numbers here \(--all prints them\)$' "$directory/text" ||
    cat "$directory/text")"
"$ctop" show "$file" -t latency --all >"$directory/text" 2>/dev/null
result "all groups" "$(grep 'without numbers' "$directory/text"; [ "$(wc -l <"$directory/text")" -gt 20 ] || cat "$directory/text")"

"$ctop" show --long --format tsv "$file" >"$directory/tsv" 2>"$directory/errors"
status=$?
result "exit status of a report" "$([ "$status" = 0 ] || echo "exit status $status")"
result "nothing on stderr" "$(cat "$directory/errors")"
result "standard input" "$("$ctop" show --long --format tsv - <"$file" | cmp - "$directory/tsv" 2>&1)"
"$ctop" show --long --format tsv -o "$directory/written" "$file"
result "-o" "$(cmp "$directory/written" "$directory/tsv" 2>&1)"
chmod 640 "$directory/written"
"$ctop" show --long --format tsv -o "$directory/written" "$file"
result "-o keeps the permissions of a file" "$(stat -c %a "$directory/written" | grep -vx 640)"
result "-o - is standard output" "$("$ctop" show --long --format tsv -o - "$file" | cmp - "$directory/tsv" 2>&1; ls -d -- - 2>/dev/null)"
for out in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    refuse "-o $out" 1 "^ctop: cannot write $out: .*; name a regular file, or - for standard output$" show "$file" -o $out
done
refuse "capture -o /dev/stdout" 1 "^ctop: cannot write /dev/stdout: .*, or - for standard output$" capture -p $$ --no-heap -o /dev/stdout
echo old >"$directory/kept"
"$ctop" show --long -o "$directory/kept" "$directory/cut.zst" 2>/dev/null
result "-o keeps the old file when the report fails" "$([ "$(cat "$directory/kept")" = old ] || cat "$directory/kept")"
result "and leaves nothing behind" "$(find "$directory" -name '*kept?*' -o -name '.*kept*')"
ln -s written "$directory/link"
ln -s nothing-yet "$directory/dangling"
ln -s loop "$directory/loop"
"$ctop" show --long --format csv -o "$directory/link" "$file" && "$ctop" show --long --format tsv -o "$directory/dangling" "$file"
result "-o keeps links" "$(for link in link dangling; do [ -L "$directory/$link" ] || echo "$link is replaced"; done)"
result "-o writes through a link" "$("$ctop" show --long --format csv "$file" | cmp - "$directory/written" 2>&1)"
result "-o makes what a link leads to" "$(cmp "$directory/nothing-yet" "$directory/tsv" 2>&1)"
refuse "-o into a loop" 1 "cannot write $directory/loop: Too many levels of symbolic links" show "$file" -o "$directory/loop"
text=$(ulimit -f 8 && "$ctop" show --long --format tsv --limit 0 -o "$directory/large" "$file" 2>&1)
result "past the file size limit it fails" "$([ $? = 1 ] || echo "exit status: $text")"
expect "and tells" "cannot write .*large: File too large" "$text"
result "and leaves nothing either" "$(find "$directory" -name '*large*')"
refuse "-o into nowhere" 1 "$directory/none" show "$file" -o "$directory/none/out"
text=$("$ctop" show --long "$file" 2>&1 >/dev/full)
result "a full disk fails" "$([ $? = 1 ] || echo "exit status: $text")"
expect "and is told" "cannot write to standard output: No space left on device" "$text"
text=$("$ctop" capture -p $$ --no-heap -o - 2>&1 >/dev/full)
expect "for a snapshot, too" "cannot write to standard output: No space left on device; free some space or name another file" "$text"
text=$("$ctop" show --long "$file" 2>&1 >&-)
result "a closed stdout fails" "$([ $? = 1 ] || echo "exit status: $text")"
expect "and is told" "cannot write to standard output: Bad file descriptor" "$text"
(
    "$ctop" show --long --limit 0 --format json "$file" 2>"$directory/errors"
    echo $? >"$directory/status"
) | head -c 1 >/dev/null
result "a reader that leaves ends it by SIGPIPE" "$(grep -vx 141 "$directory/status"; cat "$directory/errors")"
text=$( ("$ctop" show --long --limit 0 "$file" 2>"$directory/errors" | head -n 1) )
expect "its first line is there" "real.b.ctprof.zst: 101 threads by process" "$text"
result "and nothing is said" "$(cat "$directory/errors")"
(
    trap '' PIPE
    "$ctop" show --long --limit 0 --format json "$file" 2>"$directory/errors"
    echo "status $?" >>"$directory/errors"
) | :
expect "where SIGPIPE is ignored it is told" "cannot write to standard output: Broken pipe" "$(cat "$directory/errors")"
expect "and fails" "status 1" "$(cat "$directory/errors")"

text=$("$ctop" show --long --sections sched-ext,pressure "$file" 2>&1)
expect "a section of cgroups on another axis is told of" \
    "section pressure needs --group-by cgroup and is left out (groups are by process)" "$text"
result "but not when all sections are shown" "$("$ctop" show --long "$file" 2>&1 >/dev/null)"
text=$("$ctop" show --long "$file")
expect "500 rows of a section by default" "^\.\.\. [0-9]* more lines truncated (use --limit 0 for unlimited)$" "$text"
result "exactly" "$([ "$(printf '%s\n' "$text" | sed -n '/^## primary/,/^\.\.\./p' | wc -l)" = 503 ] || echo differs)"
"$ctop" show --long --limit 0 "$file" >"$directory/text"
result "none cut with --limit 0" "$([ -s "$directory/text" ] || echo "nothing is printed"; grep truncated "$directory/text")"
result "none cut in tsv" "$([ "$(wc -l <"$directory/tsv")" -gt 1000 ] || echo cut)"
LC_ALL=C "$ctop" show --long --limit 0 "$file" >"$directory/text"
result "ascii where the locale is" "$([ -s "$directory/text" ] || echo "nothing is printed"; LC_ALL=C grep -n '[^ -~]' "$directory/text" | head -n 3)"
result "utf-8 in tsv whatever the locale" "$(LC_ALL=C "$ctop" show --long --format tsv "$file" | cmp - "$directory/tsv" 2>&1)"
text=$("$ctop" show --long --format csv --sections primary "$file" | head -n 1)
expect "csv of one section starts with the header" "^pcomm,threads,metric,value,unit,state,reason$" "$text"
text=$("$ctop" show --long --sort-by cpu_efficiency:asc --sections derived --metrics cpu_efficiency --format tsv "$file" | cut -f4 | grep '^[0-9]')
result "derived metrics sort" "$([ -n "$text" ] || echo "there are none"; printf '%s\n' "$text" | sort -n -c 2>&1)"

# the table of the screen
text=$("$ctop" show "$file" --limit 3)
expect "a table tells of the host" "^psi cpu 80 mem 0 io 0$" "$text"
expect "of the file" "^$file  [-0-9]* [:0-9]*  101 threads, 52 groups by process, of which 49 rows left out (--limit)  total" "$text"
expect "has the columns of the tab" "^ PROCESS  *THR  *CPU  *RUNQ " "$text"
expect "a line a row, the largest first" "^ redis-server 11 2.2m 2.4m " "$(printf '%s\n' "$text" | sed -n 4p | tr -s ' ')"
expect "and says what its marks mean" "^· is unavailable: not in the file$" "$text"
result "as many rows as are asked for" "$([ "$(printf '%s\n' "$text" | wc -l)" = 8 ] || printf '%s\n' "$text")"
expect "another tab" "^ PROCESS  *THR .* MINF  *MAJF " "$("$ctop" show "$file" -t memory)"
expect "the tab Cgroup has cgroups" "^ CGROUP  *THR  *CGCPU " "$("$ctop" show "$file" -t cgroup)"
expect "unless others are asked for" "^ PROCESS  *THR  *CGCPU " "$("$ctop" show "$file" -t cgroup -g process)"
refuse "a tab that there is not" 2 "unknown tab 'xyzzy'; valid: overview, .*, scx$" show "$file" --no-config -t xyzzy
expect "columns are those of the screen" "^ CGROUP  *MINF  *POLICY$" "$("$ctop" show "$file" -g cgroup --columns minf,policy 2>&1)"
expect "a filter" ", 1 group by process " "$("$ctop" show "$file" -f redis-server)"
expect "tsv with units in the names" "^time_unix_ns	group	threads	cpu_ns	run_queue_ns	" "$("$ctop" show "$file" -t overview --format tsv)"
expect "json is an object" '^{"time_unix_ns":.*"mode":"total".*"rows":\[.*\]}$' "$("$ctop" show -b "$file" --format json)"
expect "and says of several how many" '"pid":{"value":[0-9]*,"unit":"","state":"several"}' "$("$ctop" show -b "$file" --format json --columns threads,pid -g cgroup)"
result "ascii where it is asked for" "$("$ctop" show --ascii "$file" | LC_ALL=C grep -n '[^ -~]' | head -n 3)"
refuse "rates of a file" 2 "is one reading and has totals only: leave out --mode rate; .ctop capture --for 10. makes a file with rates" show "$file" --mode rate
refuse "a column of the long form" 2 "no column or metric 'metric'.*; with --long it is valid$" show "$file" --columns metric,value
refuse "two orders" 2 "takes one column here.*; with --long it is valid$" show "$file" --sort-by nice,run_time_ns
refuse "a tab of the long form" 2 "choose a table, which this is not" show "$file" --long -t run
for options in "--metrics run_time_ns" "--sections derived" "--ktstr" "--format markdown" "--format tsv"; do
    # shellcheck disable=SC2086 # several words
    text=$("$ctop" show "$file" --long $options)
    # shellcheck disable=SC2086
    result "$options is long" "$([ "$("$ctop" show "$file" $options)" = "$text" ] || echo differs)"
done

result "metrics limit every section" "$("$ctop" show "$file" --metrics wait_time_ns | grep '^## ' | grep -v '^## primary$')"
expect "but those that are named" "^redis-server  *Rss " "$("$ctop" show "$file" --metrics wait_time_ns --sections smaps-rollup)"

"$ctop" capture -p $$ --no-heap -o "$directory/own" 2>/dev/null
expect "what is switched off has a remedy" "switched off.* (what helps: ctop doctor)$" \
    "$("$ctop" show "$directory/own" --columns thr,alloc)"
result "and what was read is no reason" "$("$ctop" show "$directory/own" | grep -e ': read\>')"

# without a terminal files are printed, by the command that prints as many
before=$2/snapshots/real.a.ctprof.zst
for options in "" "-g cgroup --format csv --csv-safe" "--sections host-pressure --format json" "--sort-by run_time_ns:asc --limit 3"; do
    # shellcheck disable=SC2086 # several words
    "$ctop" $options "$file" >"$directory/out" 2>&1
    # shellcheck disable=SC2086
    text=$("$ctop" show "$file" $options 2>&1 | cmp - "$directory/out" 2>&1)
    result "ctop FILE $options is ctop show" "$text"
done
"$ctop" -o "$directory/piped" "$file" --long --format tsv
result "ctop FILE -o, too" "$(cmp "$directory/piped" "$directory/tsv" 2>&1)"
"$ctop" diff "$before" "$file" --per second --fail-if 'run_time_ns(*) > 0' --format csv >"$directory/tsv" 2>&1
wanted=$?
"$ctop" "$before" --per second "$file" --fail-if 'run_time_ns(*) > 0' --format csv >"$directory/out" 2>&1
result "ctop A B is ctop diff" "$([ $? = "$wanted" ] && [ "$wanted" = 3 ] || echo "exit status")$(cmp "$directory/out" "$directory/tsv" 2>&1)"
text=$("$ctop" "$file" --interval 3 2>&1)
result "what is for a screen is refused" "$([ $? = 2 ] || echo "exit status: $text")"
expect "and named" "^ctop: unknown option '--interval'" "$text"
expect "with the command that it is" "^ctop: without the screen this is 'ctop show'$" "$text"
for options in "" "-t memory --format json" "-g cgroup -f user --sort-by rss:asc --limit 2 --format tsv" "--format tsv" "--long --limit 2"; do
    # shellcheck disable=SC2086 # several words
    "$ctop" -b $options "$file" >"$directory/out" 2>&1
    # shellcheck disable=SC2086
    text=$("$ctop" show -b "$file" $options 2>&1 | cmp - "$directory/out" 2>&1)
    result "ctop -b FILE $options is ctop show" "$text"
done
"$ctop" -b "$before" "$file" >"$directory/out" 2>&1
result "ctop -b A B is ctop diff" "$("$ctop" diff "$before" "$file" 2>&1 | cmp - "$directory/out" 2>&1)"
expect "a slip stays one" "^ctop: unknown command 'shwo', did you mean 'show'" "$("$ctop" shwo 2>&1)"
expect "a filter of users that the file lacks says so" "^ctop: the filter: USER cannot be read: not in the file" \
    "$("$ctop" show "$file" -u root 2>&1)"
refuse "an unknown user" 2 "there is no user 'roto', did you mean 'root'? a number is taken too$" show "$file" -u roto
refuse "an unknown user in a filter" 2 "there is no user 'roto', did you mean 'root'" show "$file" -f 'web or user != roto'
refuse "an empty cgroup" 2 '^ctop: "" is an empty filter$' show "$file" -c ''
text=$("$ctop" show "$file" -c / --format csv -b 2>&1)
expect "a cgroup" "redis-server" "$text"
result "another cgroup" "$("$ctop" show "$file" -c /none -c other.slice --format csv -b 2>&1 | grep redis)"
text=$("$ctop" show "$file" -f 'zzz or redis' -c / --format csv -b 2>&1)
expect "one letter is like no other one" "no thread is in cgroup '0' (option -c); there are: " "$("$ctop" show "$file" -c 0 2>&1)"
result "with a filter both hold" "$(printf '%s\n' "$text" | grep -c redis-server | grep -x 0; printf '%s\n' "$text" | grep kdamond)"
expect "conditions on threads narrow threads" "redis-server *1 " "$("$ctop" show "$file" -f 'redis and thread = redis-server' 2>&1)"
text=$("$ctop" metrics --format tsv)
result "metrics lists 87 and 17" \
    "$([ "$(printf '%s\n' "$text" | sed -n '/^# derived/q;p' | wc -l)" = 89 ] && [ "$(printf '%s\n' "$text" | sed -n '/^# derived/,$p' | wc -l)" = 19 ] || echo "$text")"
finish
