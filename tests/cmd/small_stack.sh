#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# small_stack.sh CTOP DATA: commands that make tables work with a stack of 64 KiB (RLIMIT_STACK), which threads have then too.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$(realpath "$1") || exit 1
before=$(realpath "$2")/snapshots/real.a.ctprof.zst
after=$(realpath "$2")/snapshots/real.b.ctprof.zst
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1

# works ARGUMENT...: ctop ends well.
works()
{
    said=$(prlimit --stack=65536 "$ctop" "$@" 2>&1 >/dev/null)
    status=$?
    result "ctop $*" "$([ $status = 0 ] || echo "status $status: $said")"
}

for filter in 'cgroup = /' 'RSS > 1'; do
    works --no-config -b -n 2 -d 0.1 -p $$ --filter "$filter"
done
works capture -p $$ -o now.ctprof.zst
works export -p $$ -n 1 -d 0.1 --textfile page.prom
works show "$before"
works show --long "$before"
works diff "$before" "$after"
works diff --long "$before" "$after"
works doctor
if "$ctop" record --help >/dev/null 2>&1; then
    works record -p $$ -n 2 -d 0.5 --history history
    works history --history history
fi
finish
