#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# unit.sh CTOP UNIT: the unit of `ctop record` is understood by systemd, as tight as it is meant to be, and leaves the
# recorder the rights that it needs.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../../project/sources.sh"
ctop=$1
unit=$2
if ! command -v systemd-analyze >/dev/null; then
    echo "SKIP: needs systemd-analyze"
    exit 77
fi
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
program=$(cd "$(dirname "$ctop")" && pwd)/$(basename "$ctop")

# the program that would be installed, and the page that `man` has not found yet
sed -e "s#^ExecStart=[^ ]*#ExecStart=$program#" -e '/^Documentation=/d' "$unit" >"$directory/ctop-record.service"
result "systemd understands it" "$(systemd-analyze verify "$directory/ctop-record.service" 2>&1 | grep -v '^$' | grep -i 'ctop-record')"
exposure=$(systemd-analyze security --offline=yes "$directory/ctop-record.service" 2>/dev/null | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
if [ -z "$exposure" ]; then
    echo "skip - its exposure: this systemd-analyze judges no files"
else
    result "its exposure is at most 2.5" "$(awk -v level="$exposure" 'BEGIN { if (level > 2.5) print level }')"
fi

# The recorder with the unit's capabilities and no more, as another user.
capabilities=$(sed -n 's/^AmbientCapabilities=//p' "$unit" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
result "it bounds what it gives" "$([ "$(sed -n 's/^AmbientCapabilities=//p' "$unit")" = "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" ] ||
    echo "the sets differ")"
# shellcheck disable=SC2086 # words
can "what it can read" "needs setpriv, CAP_SETUID, CAP_SETGID and what the unit gives" \
    $nobody --inh-caps "$capabilities" --ambient-caps "$capabilities" true || finish
chmod 755 "$directory"
cp "$ctop" "$directory/ctop"
mkdir "$directory/state"
chown 65534:65534 "$directory/state"
as_service()
{
    STATE_DIRECTORY=$directory/state setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
        --inh-caps "-all,$capabilities" --ambient-caps "-all,$capabilities" --bounding-set "-all,$capabilities" "$@"
}
said=$(as_service "$directory/ctop" record -d 0.5 -n 2 2>&1)
status=$?
result "it records with these rights" "$([ $status = 0 ] || echo "status $status: $said")"
result "its history is its own" "$(find "$directory/state" ! -user 65534)"
# by name, where that was found in time
result "threads of other users are in it" "$("$ctop" dump --history "$directory/state" -g user --format csv --limit 0 2>&1 |
    cut -d, -f2 | grep -qx '0\|root' || "$ctop" dump --history "$directory/state" -g user --limit 0 2>&1)"
# in part where threads are kept from BPF, which one run may notice and another not
doctor()
{
    "$@" doctor 2>&1 | grep -cE '^(on|partial) .*\(BPF\)'
}
result "it reads by BPF what root reads by it" "$([ "$(doctor as_service "$directory/ctop")" = "$(doctor "$ctop")" ] ||
    as_service "$directory/ctop" doctor 2>&1)"
finish
