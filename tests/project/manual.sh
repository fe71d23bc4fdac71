#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# manual.sh PAGE...: the manual pages, made from their templates, have no mistakes mandoc knows of, and no line
# of a template is left in them.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"

for page in "$@"; do
    name=$(basename "$page")
    result "$name has no template line left" "$(grep -n '^@' "$page")"
    if command -v mandoc >/dev/null 2>&1; then
        result "$name passes mandoc" "$(mandoc -Tlint -W warning "$page")"
    else
        echo "skip - $name passes mandoc: mandoc is not installed"
    fi
done
finish
