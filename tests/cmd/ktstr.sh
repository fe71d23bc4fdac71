#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ktstr.sh CTOP DATA COMMAND: every case of COMMAND (`show`, `diff`) must print ktstr's cells.
# DATA holds snapshots/PAIR.a and .b, and cells/cases.tsv with a line per case: name, command, pair, arguments.
set -u
ctop=$1
data=$2
wanted=$3
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
tab=$(printf '\t')
equal=0
different=0

while IFS="$tab" read -r name command pair arguments; do
    [ "$command" = "$wanted" ] || continue
    b=$data/snapshots/$pair.b.ctprof.zst
    set -f
    # shellcheck disable=SC2086 # the arguments of a case are words
    if [ "$command" = show ]; then
        set -- $arguments "$b"
    else
        set -- $arguments "$data/snapshots/$pair.a.ctprof.zst" "$b"
    fi
    set +f
    "$ctop" "$command" --format tsv --limit 0 "$@" >"$directory/cells" 2>"$directory/errors"
    if cmp -s "$data/cells/$name.tsv" "$directory/cells"; then
        equal=$((equal + 1))
    else
        different=$((different + 1))
        echo "$name: $command $arguments ($pair)"
        diff "$data/cells/$name.tsv" "$directory/cells" | head -n 6
        head -n 2 "$directory/errors"
    fi
done <"$data/cells/cases.tsv"
echo "$wanted: $equal equal, $different different"
[ "$different" = 0 ] && [ "$equal" != 0 ]
