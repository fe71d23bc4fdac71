#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The shell scripts pass shellcheck, and scripts/count-tests counts what it is given.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$root" || exit 1

scripts=$(for file in $(source_files | grep -E '^scripts/[^/]*$|^tests/(architectures|distributions|kernels|packages|pictures|schedulers|scx/types|soak|targets)/[^/.]*$|^tests/stability$|^debian/(postrm|tests/[a-z]*)$|\.sh$|^\.ci/run$'); do
    case $file in
    scripts/packages) ;;
    *.sh) echo "$file" ;;
    *) head -n 1 "$file" | grep -q '^#!.*sh$' && echo "$file" ;;
    esac
done)
if command -v shellcheck >/dev/null 2>&1; then
    for file in $scripts; do
        result "shellcheck $file" "$(shellcheck -x -f gcc "$file" 2>&1)"
    done
else
    echo "skip - shellcheck: not installed"
fi

result "scripts/packages has a package for each manager" \
    "$(awk '!/^#/ && (NF < 6 || $1 !~ /^(build|test|load|package|programs)$/) { print FILENAME ":" FNR }' scripts/packages)"

# The counter, over records made here.
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

# record STATUS TEXT: one program's record; a STATUS of - leaves none, as a killed program does.
record()
{
    rm -f "$directory"/*
    echo program >"$directory/1.name"
    printf '%b' "$2" >"$directory/1.output"
    [ "$1" = - ] || echo "$1" >"$directory/1.status"
}

# counts NAME STATUS WANTED-LAST-LINE [WANTED-LINE]
counts()
{
    printed=$(scripts/count-tests "$directory")
    status=$?
    last=$(printf '%s\n' "$printed" | tail -n 1)
    if [ "$last" != "tests: $3" ] || [ "$status" != "$2" ]; then
        result "$1" "got status $status and: $last"
    elif [ -n "${4-}" ] && ! printf '%s\n' "$printed" | grep -qxF "$4"; then
        result "$1" "no line '$4' in: $printed"
    else
        result "$1" ""
    fi
}

run='[==========] Running 2 test(s).\n[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n'
record 0 "${run}[       OK ] b\n[==========] 2 test(s) run.\n[  PASSED  ] 2 test(s).\n"
counts "counts cmocka cases" 0 "2 passed, 0 failed, 0 skipped"
record 1 "${run}[  FAILED  ] b\n[==========] 2 test(s) run.\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] b\n"
counts "counts a failed case once" 1 "1 passed, 1 failed, 0 skipped" "failed: program: b"
record 1 "${run}[ RUN      ] inner\n[  FAILED  ] inner\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] inner\n[  FAILED  ] b\n"
counts "counts groups within a case" 1 "1 passed, 2 failed, 0 skipped" "failed: program: inner"
record 0 "${run}SKIP: no swap here\n[  SKIPPED ] b\n[==========] 2 test(s) run.\n[  SKIPPED ] 1 test(s), listed below:\n"
counts "prints why a case was skipped" 0 "1 passed, 0 failed, 1 skipped" "skipped: program: b: no swap here"
record 0 "[ RUN      ] a\nSKIP: no swap here\n[       OK ] a\n[ RUN      ] b\n[  SKIPPED ] b\n"
counts "a skip without a reason of its own is a failure" 1 "1 passed, 1 failed, 0 skipped" \
    "failed: program: b (skipped without a reason)"
record 139 "$run"
counts "a crash is a failure" 1 "1 passed, 1 failed, 0 skipped" "failed: program: b (ended with status 139)"
record - ""
counts "a killed program is a failure" 1 "0 passed, 1 failed, 0 skipped" "failed: program: status killed"
record 77 "SKIP: needs root\n"
counts "status 77 is a skip, and skips alone are no success" 1 "0 passed, 0 failed, 1 skipped" "skipped: program: needs root"
record 0 "ok - one\nskip - two: no tty\n"
counts "counts shell cases" 0 "1 passed, 0 failed, 1 skipped" "skipped: program: two: no tty"
record 77 ""
counts "status 77 without a reason is a failure" 1 "0 passed, 1 failed, 0 skipped" "failed: program: (skipped without a reason)"
record 1 "ok - one\nnot ok - two\n"
counts "counts failed shell cases" 1 "1 passed, 1 failed, 0 skipped" "failed: program: two"
record 1 "ok - one\n"
counts "a bad status is a failure whatever was printed" 1 "1 passed, 1 failed, 0 skipped" "failed: program: status 1"
rm -f "$directory"/*
counts "nothing run is no success" 1 "0 passed, 0 failed, 0 skipped"
finish
