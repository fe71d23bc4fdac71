# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the tests of commands: $ctop from the first argument, a private $directory, and cases that run the program.

# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C.UTF-8

# expect NAME WANTED TEXT: the text has a line that matches.
expect()
{
    if printf '%s\n' "$3" | grep -q -e "$2"; then
        result "$1" ""
    else
        result "$1" "no line '$2' in: $3"
    fi
}

# run NAME STATUS WHERE WANTED ARGUMENT...: ctop ends with this status and has a line that matches on WHERE, out or err.
run()
{
    name=$1
    status=$2
    where=$3
    wanted=$4
    shift 4
    "$ctop" "$@" >"$directory/out" 2>"$directory/err"
    found=$?
    if [ "$found" != "$status" ]; then
        result "$name" "exit status $found, not $status: $(cat "$directory/err")"
    elif grep -q -e "$wanted" "$directory/$where"; then
        result "$name" ""
    else
        result "$name" "no line '$wanted' in: $(head -c 2000 "$directory/$where")"
    fi
}

# refuse NAME STATUS SENTENCE ARGUMENT...: ctop fails with this status and sentence, and prints nothing.
refuse()
{
    sentence=$3
    name=$1
    status=$2
    shift 3
    run "$name" "$status" err "$sentence" "$@"
    [ ! -s "$directory/out" ] || result "$name and prints nothing" "$(head -c 2000 "$directory/out")"
}

# refused NAME SENTENCE COMMAND...: the command fails with status 1 and says this.
refused()
{
    name=$1
    sentence=$2
    shift 2
    text=$("$@" 2>&1 >/dev/null)
    found=$?
    if [ $found != 1 ]; then
        result "$name" "exit status $found: $text"
    else
        expect "$name" "$sentence" "$text"
    fi
}
