#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The C sources are as clang-format 14 lays them out; every text file keeps to .editorconfig.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$root" || exit 1

version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$version" = 14 ]; then
    # shellcheck disable=SC2046 # no blanks in our file names
    findings=$(clang-format --dry-run -Werror $(source_files | grep '\.[ch]$') 2>&1 | grep ' error: ' | cut -d: -f1,2)
    result "clang-format" "$findings"
else
    echo "skip - clang-format: version 14 decides the layout, here is ${version:-none}"
fi

# Text: not the recorded kernel files and snapshots, which are bytes as they came.
text_files=$(source_files | grep -E '(\.(c|h|def|md|sh|build|in)|^scripts/[^/]*|^\.ci/run)$' | grep -v '/data/')

# shellcheck disable=SC2046,SC2086
result "no blanks at line ends" "$(grep -nE '[ 	]+$' $(echo "$text_files" | grep -v '\.md$') | cut -d: -f1,2)"

findings=
for file in $text_files; do
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || findings="$findings $file"
done
result "files end with a newline" "$findings"

# shellcheck disable=SC2046
result "C is indented with tabs" "$(grep -nE '^        +[^ *]' $(echo "$text_files" | grep '\.[ch]$') | cut -d: -f1,2)"

# shellcheck disable=SC2046
result "no tabs in meson files and scripts" \
    "$(grep -nE '^	' $(echo "$text_files" | grep -E 'meson|^scripts/|\.sh$') | cut -d: -f1,2)"

# shellcheck disable=SC2086
result "no carriage returns" "$(grep -l "$(printf '\r')" $text_files)"

findings=
for file in $(source_files | grep -E '\.([ch]|def)$|^scripts/[^/.]*$|\.sh$' | grep -v -e '/data/' -e '^scripts/packages$'); do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' || findings="$findings $file"
done
result "every source names its licence" "$findings"

# A file holds a concept whole, so a long one is only pointed out.
for file in $(source_files | grep -E '\.[ch]$' | grep -v '^tests/'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 1000 ] || echo "note: $file has $lines lines"
done
finish
