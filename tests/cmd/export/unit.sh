#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# unit.sh CTOP UNIT: the unit of `ctop export` is understood by systemd, as tight as it is meant to be, and leaves it the
# rights that it needs.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../../project/sources.sh"
ctop=$(realpath "$1") || exit 1
unit=$2
if ! command -v systemd-analyze >/dev/null; then
    echo "SKIP: needs systemd-analyze"
    exit 77
fi
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM

# the program that would be installed, and the page that `man` has not found yet
file=$directory/ctop-export.service
sed -e "s#^ExecStart=[^ ]*#ExecStart=$ctop#" -e '/^Documentation=/d' "$unit" >"$file"
result "systemd understands it" "$(systemd-analyze verify "$file" 2>&1 | grep -i 'ctop-export')"
exposure=$(systemd-analyze security --offline=yes "$file" 2>/dev/null | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
if [ -z "$exposure" ]; then
    echo "skip - its exposure: this systemd-analyze judges no files"
else
    result "its exposure is at most 2.6" "$(awk -v level="$exposure" 'BEGIN { if (level > 2.6) print level }')"
fi
result "it bounds what it gives" "$([ "$(sed -n 's/^AmbientCapabilities=//p' "$unit")" = "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" ] ||
    echo "the sets differ")"

# Whoever may connect reads what /proc tells the owner of a process alone.
listen=$(sed -n 's/^ExecStart=.* --listen \([^ ]*\).*/\1/p' "$unit")
socket=$directory/${listen##*/}
"$ctop" export --listen "unix:$socket" -d 0.5 2>"$directory/said" &
exporter=$!
until_true 20 grep -q serving "$directory/said"
result "it listens on a socket that its group alone may connect to" "$({ [ "${listen%%:*}" = unix ] &&
    [ "$(stat -c %a "$socket")" = 660 ] && grep -q '^RuntimeDirectoryMode=0750$' "$unit"; } || echo "$listen: $(cat "$directory/said")")"
kill $exporter
wait $exporter

# With the unit's capabilities and no more, as another user.
capabilities=$(sed -n 's/^AmbientCapabilities=//p' "$unit" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
# shellcheck disable=SC2086 # words
can "what it can read" "needs setpriv, CAP_SETUID, CAP_SETGID and what the unit gives" \
    $nobody --inh-caps "$capabilities" --ambient-caps "$capabilities" true || finish
chmod 755 "$directory"
cp "$ctop" "$directory/ctop"
mkdir "$directory/collector"
chown 65534:65534 "$directory/collector"
page=$directory/collector/ctop.prom
said=$(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
    --inh-caps "-all,$capabilities" --ambient-caps "-all,$capabilities" --bounding-set "-all,$capabilities" \
    "$directory/ctop" export --textfile "$page" -g user -n 2 -d 0.5 2>&1)
status=$?
result "it exports with these rights" "$([ $status = 0 ] || echo "status $status: $said")"
result "groups of root are there" "$(grep -qE '^ctop_group_threads\{axis="user",group="(root|0)"\} [1-9]' "$page" || cat "$page" 2>&1)"
said=$("$ctop" export --textfile "$directory/root.prom" -g user -n 2 -d 0.5 2>&1)
status=$?
result "root exports" "$([ $status = 0 ] || echo "status $status: $said")"
# threads that are kept from BPF one run may notice and another not; what ended is told by BPF, too
result "it reads all that root reads" "$(sed -n 's/^\(ctop_feature_on.*\)/\1/p' "$page" >"$directory/own"
    sed -n 's/^\(ctop_feature_on.*\)/\1/p' "$directory/root.prom" >"$directory/all"
    [ -s "$directory/own" ] && [ -s "$directory/all" ] || echo "no features"
    grep -v '"scx"\|"latency"\|"bpf"' "$directory/all" | grep -vxFf "$directory/own")"
finish
