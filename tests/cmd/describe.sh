#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# describe.sh CTOP: `ctop metrics NAME` and `ctop help columns` tell what is known of metrics and columns.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"

# says NAME PATTERN ARGUMENT...: the command prints a line that matches.
says()
{
    name=$1
    pattern=$2
    shift 2
    "$ctop" "$@" >"$directory/out" 2>"$directory/errors"
    result "$name" "$(grep -qE -- "$pattern" "$directory/out" || cat "$directory/out" "$directory/errors")"
}

# refuses NAME SENTENCE ARGUMENT...: it prints nothing, exits with 2 and says this.
refuses()
{
    name=$1
    sentence=$2
    shift 2
    "$ctop" "$@" >"$directory/out" 2>"$directory/errors"
    status=$?
    if [ $status != 2 ] || [ -s "$directory/out" ]; then
        result "$name" "status $status: $(cat "$directory/out")"
    else
        result "$name" "$(grep -qF -- "$sentence" "$directory/errors" || cat "$directory/errors")"
    fi
}

says 'a column by its title' '^CPU%  .*cpu' metrics CPU%
says 'the tabs it stands on' '^  tabs      Overview' metrics CPU%
says 'the metric it is made of' '^run_time_ns' metrics cpu%
says 'a metric by its name' '^  source    io read_bytes' metrics read_bytes
says 'its unit' '^  unit      bytes' metrics read_bytes
says 'what it needs' '^  needs     a kernel with TASK_IO_ACCOUNTING' metrics read_bytes
says 'the columns made of it' '^  columns   .*READ/s' metrics read_bytes
says 'a derived metric by its formula' '^  formula ' metrics disk_io_fraction
says 'a former title is known' '^MWAIT%' metrics MEM%
says 'several names' '^MIGR/s' metrics cpu% migr
says 'the list is there without a name' 'run_time_ns' metrics
refuses 'a slip' "no column or metric 'run_tiem_ns', did you mean run_time_ns" metrics run_tiem_ns
refuses 'no likeness' "no column or metric 'zzzzzz'; " metrics zzzzzz
refuses 'no other format' 'json has the whole list' metrics cpu% --format json
says 'help has keys' '^  Enter  *open the row' help keys
says 'help has filters' '^  user = root  ' help filter
says 'help has the columns' '^  RUNQ% ' help columns
refuses 'help knows no other topic' "unknown command 'colmns'" help colmns
for name in $("$ctop" metrics --format tsv | cut -f 2 | grep -E '^[a-z_]+$' | grep -vx -e name -e thread_count); do
    "$ctop" metrics "$name" >"$directory/out" 2>&1 && head -n 1 "$directory/out" | grep -qw "$name" ||
        echo "$name" >>"$directory/unknown"
done
result 'every metric of the list is known by its name' "$(cat "$directory/unknown" 2>/dev/null)"
finish
