# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the tests of the tree itself and of the commands: the top of the tree, its files, one line per case, waiting.

root=$(cd "$(dirname "$0")/../.." && pwd)
failures=0

project_files=$(cd "$root" && find . -path ./.git -prune -o -path './build*' -prune -o -path './.cache' -prune -o \
    -type d -exec test -d '{}/meson-private' ';' -prune -o \
    -type f -print | sed 's#^\./##' | LC_ALL=C sort)

# source_files: the project's own files (no build directories, no version control), relative to the top.
source_files()
{
    printf '%s\n' "$project_files"
}

# result NAME FINDINGS: prints the case's line, and before it what was found.
result()
{
    if [ -n "$2" ]; then
        printf '%s\n' "$2"
        echo "not ok - $1"
        failures=$((failures + 1))
    else
        echo "ok - $1"
    fi
}

# $nobody COMMAND...: runs a command as a user without rights.
# shellcheck disable=SC2034 # used by the tests
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
# shellcheck disable=SC2034
nobody_needed="needs setpriv, CAP_SETUID and CAP_SETGID to become another user"

# need REASON COMMAND...: tries a requirement of the tests; if the command fails, skips the whole program.
need()
{
    reason=$1
    shift
    "$@" >/dev/null 2>&1 && return
    echo "SKIP: $reason"
    exit 77
}

# can CASES REASON COMMAND...: the same for some cases: returns whether the command succeeds, else counts one skip.
can()
{
    skipped="$1: $2"
    shift 2
    "$@" >/dev/null 2>&1 && return
    echo "skip - $skipped"
    return 1
}

# until_true SECONDS COMMAND...: waits until the command succeeds, at most so long; a test that passes never waits for
# the end.
until_true()
{
    wait_end=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt $wait_end ] || return 1
        sleep 0.1
    done
}

# finish: ends the program with the status of its cases.
finish()
{
    [ "$failures" = 0 ]
    exit
}
