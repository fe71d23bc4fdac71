#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tls.sh SOURCE_ROOT COMPILER...: links a program in the ways that decide where its thread-local storage lies, also with
# segments that do not begin at a multiple of their alignment, and has it compare.
# shellcheck disable=SC2086 # the words of the compiler
set -eu

root=$1
shift
compiler=$* # with a wrapper (ccache) more than one word
here=$root/tests/probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ "$(uname -m)" = x86_64 ] || { echo "SKIP: the assembly is for x86_64"; exit 77; }
command -v ld >/dev/null || { echo "SKIP: needs ld"; exit 77; }

failed=0

# check COMPILER OPTION...
check()
{
    echo "$@"
    "$@" -pthread -I"$root/src" -I"$root" "$here/tls_program.c" "$root/probe/process/tls.c" -o "$work/program"
    "$work/program" || { echo "wrong"; failed=1; }
}

# The standard linker script of a mode, with the segment 8 bytes off its alignment.
misalign()
{
    ld "$@" --verbose | sed -n '/^====/,/^====/p' | grep -v '^====' |
        sed 's/^  \.tdata[[:space:]]*:/  .tdata (ALIGN(256) + 8) :/' >"$work/script"
    if ! grep -q 'ALIGN(256) + 8' "$work/script"; then
        [ "$failed" = 0 ] || exit 1
        echo "SKIP: the standard script of this ld is another"
        exit 77
    fi
}

check $compiler
check $compiler -static
check $compiler -static-pie -fPIE
check $compiler -DBIG=300
check $compiler -DBIG=300 -static
misalign
check $compiler -DBIG=300 -no-pie -fno-pie -Wl,-T,"$work/script"
check $compiler -DBIG=300 -static -Wl,-T,"$work/script"
if command -v musl-gcc >/dev/null; then
    check musl-gcc -DBIG=300 -static -Wl,-T,"$work/script"
fi
misalign -pie
check $compiler -DBIG=300 -pie -fPIE -Wl,-T,"$work/script"
if command -v ld.gold >/dev/null; then
    check $compiler -DBIG=300 -fuse-ld=gold
fi
exit "$failed"
