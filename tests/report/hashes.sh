#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hashes.sh CTOP SNAPSHOT: the policy of an HTML report must name the SHA-256 of its style and of its script, else
# a browser applies neither. Also asks xmllint, where there is one, whether the page is well-formed.
set -u
ctop=$1
snapshot=$2
for program in sha256sum basenc base64; do
    command -v "$program" >/dev/null || { echo "SKIP: no $program"; exit 77; }
done
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
page=$directory/page.html
"$ctop" show "$snapshot" --format html -o "$page" || exit 1
failed=0

for element in style script; do
    sed -n "/<$element>/,/<\/$element>/p" "$page" | sed "1s/.*<$element>//; \$s/<\/$element>.*//" >"$directory/$element"
    # the last line holds nothing but the end tag
    sed -i '$d' "$directory/$element"
    hash=$(sha256sum <"$directory/$element" | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | base64)
    if ! grep -q "$element-src 'sha256-$hash'" "$page"; then
        echo "the $element has the hash $hash, which the policy does not name"
        failed=1
    fi
done
if command -v xmllint >/dev/null; then
    xmllint --noout "$page" || failed=1
fi
exit "$failed"
