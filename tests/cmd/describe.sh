#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# describe.sh CTOP: `ctop metrics NAME` and `ctop help columns` tell what is known of metrics and columns, and
# `ctop --version` what is built in.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"

run 'a column by its title' 0 out '^CPU%  .*cpu' metrics CPU%
run 'the tabs it stands on' 0 out '^  tabs      Overview' metrics CPU%
run 'the metric it is made of' 0 out '^run_time_ns' metrics cpu%
run 'a metric by its name' 0 out '^  source    io read_bytes' metrics read_bytes
run 'its unit' 0 out '^  unit      bytes' metrics read_bytes
run 'what it needs' 0 out '^  needs     a kernel with TASK_IO_ACCOUNTING' metrics read_bytes
run 'the columns made of it' 0 out '^  columns   .*READ/s' metrics read_bytes
run 'a derived metric by its formula' 0 out '^  formula ' metrics disk_io_fraction
run 'a former title is known' 0 out '^MWAIT%' metrics MEM%
run 'several names' 0 out '^MIGR/s' metrics cpu% migr
run 'the list is there without a name' 0 out 'run_time_ns' metrics
refuse 'a slip' 2 "no column or metric 'run_tiem_ns', did you mean run_time_ns" metrics run_tiem_ns
refuse 'no likeness' 2 "no column or metric 'zzzzzz'; " metrics zzzzzz
refuse 'no other format' 2 'json has the whole list' metrics cpu% --format json
run 'help has keys' 0 out '^  Enter  *open the row' help keys
run 'help has filters' 0 out '^  user = root  ' help filters
run 'by its old name, too' 0 out '^  user = root  ' help filter
run 'help has times' 0 out '^  yesterday 09:40  ' help times
run 'the short help has commands by purpose' 0 out '^Keep:$' -h
result 'the short help fits 45 lines' "$([ "$(wc -l <"$directory/out")" -le 45 ] || cat "$directory/out")"
run 'the long help has all options' 0 out '^ *--cgroup-root DIR' --help
run 'a row for each thread' 0 out '^ *TID ' -b -n 1 -d 0.1 -H --limit 3
refuse 'not by group as well' 2 '^ctop: --threads and --group-by contradict each other' -b -H -g process
run 'sorting by a letter' 0 out 'RUNQ%' -b -n 1 -d 0.1 -s runq --limit 3
run 'several processes' 0 out '  1 thread, ' -b -n 1 -d 0.1 -p $$,$$
refuse 'the output of others' 2 "'-o': -s COLUMN sorts" -b -o cpu
refuse 'a unit that there is not' 2 "takes a time from 0.1 to 3600 s, such as 90s, not '5x'" -b -d 5x
run 'help has the grammar of rules' 0 out '^  \[after:\]NUMBER(GROUPS) OP LIMIT$' help rules
run 'with its parts' 0 out '^  GROUPS    a glob ' help rules
run 'and examples' 0 out '^  CPU%(worker-\* of api) > 20%' help rules
run 'help has the columns' 0 out '^  RUNQ% ' help columns
run 'the version' 0 out '^ctop [0-9.]*$' --version
run 'what is built in' 0 out '^features: [+-]bpf [+-]export$' -V
run 'the libraries' 0 out '^libraries: .*libzstd [0-9].*, zlib [0-9]' --version
refuse 'help knows no other topic' 2 "unknown command or topic 'colmns', did you mean 'columns'? valid: capture, .*, columns, filters, keys, rules, times$" help colmns
for name in $("$ctop" metrics --format tsv | cut -f 2 | grep -E '^[a-z_]+$' | grep -vx -e name -e thread_count); do
    "$ctop" metrics "$name" >"$directory/out" 2>&1 && head -n 1 "$directory/out" | grep -qw "$name" ||
        echo "$name" >>"$directory/unknown"
done
result 'every metric of the list is known by its name' "$(cat "$directory/unknown" 2>/dev/null)"
finish
