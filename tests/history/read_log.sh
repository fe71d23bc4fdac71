#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# read_log.sh CTOP READER: checks that a reader written from ctop-history(5) finds the times and marks that ctop
# recorded and lists, and valid checksums.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
reader=$2
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM

# a rule that is true at once makes a mark
"$ctop" record --no-heap -d 0.5 -n 70 --when 'thread_count(*) > 0' --history "$directory" >"$directory/said" 2>&1
status=$?
result "70 rounds are recorded" "$([ $status = 0 ] || cat "$directory/said")"
python3 "$reader" "$directory"/*.ctlog >"$directory/list" 2>&1
status=$?
result "the reader finds what the page says" "$([ $status = 0 ] || tail -n 5 "$directory/list")"
result "it finds all rounds" "$(grep -c '^round' "$directory/list" | grep -v '^70$')"
result "and no damage" "$(grep '^damage' "$directory/list")"
result "an index after 64 rounds, and one at the end" "$(awk -F '\t' '$1 == "index" { print $4 }' "$directory/list" | tr '\n' ' ' |
    grep -v '^64 6 $')"
result "the times are those that ctop prints" "$("$ctop" dump --history "$directory" --mode total --limit 1 --format csv |
    awk -F, 'NR > 1 { print $1 }' >"$directory/dumped"
    awk -F '\t' '$1 == "round" { print $2 }' "$directory/list" | diff - "$directory/dumped")"
result "so are the marks" "$("$ctop" history --history "$directory" --format json | grep -o '"rule"' | wc -l >"$directory/marks"
    grep -c '^mark' "$directory/list" | diff - "$directory/marks")"
result "the host is named" "$(awk -F '\t' -v kernel="$(uname -r)" '$1 == "facts" && $4 == kernel { found = 1 }
    END { if (!found) print "not in", FILENAME }' "$directory/list")"
finish
