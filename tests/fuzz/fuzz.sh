#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fuzz.sh TARGET SEEDS [SECONDS]: runs a fuzz target over its seeds and what grows from them, by default shortly.
# What it finds is kept beside the target.
set -u

target=$1
seeds=$2
seconds=${3:-5}
name=$(basename "$target")
corpus=$(mktemp -d) || exit 1
trap 'rm -rf "$corpus"' EXIT

if CTOP_FUZZ_SEEDS="$corpus" "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=60 -print_final_stats=1 \
    -artifact_prefix="$(dirname "$target")/$name-" "$corpus" "$seeds" 2>&1; then
    echo "ok - $name"
else
    echo "not ok - $name"
    exit 1
fi
