#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The documents name what exists: each file in backticks (but for the pages that add some), each function, and on the
# page of walks each function in its file.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
cd "$root" || exit 1

# defines FILE FUNCTION: whether a definition of the function begins a line of the file.
defines()
{
    grep -qE "^[a-z_].*[ *]$2\(" "$1" 2>/dev/null
}

findings=$(for page in README.md CONTRIBUTING.md docs/*.md docs/*/*.md; do
    case $page in docs/dev/add-a-*) continue ;; esac
    # shellcheck disable=SC2016
    grep -oE '`(src|capture|probe|ui|tests|scripts|docs|man|bench)/[a-z0-9_/.-]*\.[a-z]+`' "$page" | tr -d '`' |
        while read -r file; do
            [ -e "$file" ] || echo "$page: $file"
        done
done)
result "the files that documents name exist" "$findings"

# shellcheck disable=SC2016
findings=$(grep -ohE '`[a-z0-9_]+\(\)`' README.md CONTRIBUTING.md docs/*.md docs/*/*.md | tr -d '`()' | sort -u | while read -r function; do
    grep -rqE "\\b$function\\(" --include='*.[ch]' src capture probe ui tests || echo "$function()"
done)
result "the functions that documents name exist" "$findings"

# shellcheck disable=SC2016
rows=$(sed -n 's/^| `\([a-z0-9_]*\)()` | `\([a-z0-9_/.]*\)` |.*/\1 \2/p' docs/dev/walks.md)
findings=$(echo "$rows" | while read -r function file; do
    defines "$file" "$function" || echo "$function() is not in $file"
done)
result "the functions of the walks are where the page says" "$findings"

# A row that the pattern above does not read would not be checked.
# shellcheck disable=SC2016
findings=$(grep '()`' docs/dev/walks.md | grep -vE '^\| `[a-z0-9_]+\(\)` \| `[a-z0-9_/.]+` \|')
[ "$(echo "$rows" | wc -l)" -gt 20 ] || findings="$findings fewer than 20 functions"
result "every function of the walks stands in a row with its file" "$findings"
finish
