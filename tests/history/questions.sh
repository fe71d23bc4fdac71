#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# questions.sh MAKER: every question of docs/history.md is asked, as it stands there, of a history that MAKER made, by the
# sqlite3 that everybody has; each is answered.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
maker=$1
failures=0

command -v sqlite3 >/dev/null || {
    echo "skip - questions of docs/history.md: sqlite3 is not installed"
    exit 77
}

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
"$maker" --make "$directory" || exit 1

# A question is what is indented, from SELECT or WITH to the semicolon.
awk -v directory="$directory" '
    !asking && /^    (SELECT|WITH)/ { name = sprintf("%s/question-%d.sql", directory, ++questions); asking = 1 }
    asking { print > name }
    /;$/ { asking = 0 }' "$root/docs/history.md"

questions=0
for question in "$directory"/question-*.sql; do
    [ -e "$question" ] || continue
    questions=$((questions + 1))
    name=$(basename "$question" .sql)
    if ! sqlite3 -readonly -bail "$directory/groups.db" <"$question" >"$directory/answer" 2>&1; then
        echo "not ok - $name: $(cat "$directory/answer")"
        failures=1
    elif [ ! -s "$directory/answer" ]; then
        echo "not ok - $name has no answer"
        failures=1
    else
        echo "ok - $name: $(head -n 1 "$directory/answer")"
    fi
done
if [ "$questions" -ne 5 ]; then
    echo "not ok - there are $questions questions"
    failures=1
fi

# The columns of the view are those of the page.
sqlite3 -readonly "$directory/groups.db" "SELECT name FROM pragma_table_info('group_minutes')" | sort >"$directory/there"
# shellcheck disable=SC2016 # no shell reads these backticks
sed -n '/^| column | |$/,/^$/s/^| \(`[^|]*`\) |.*/\1/p' "$root/docs/history.md" | tr -d '`,' | tr ' ' '\n' | sort >"$directory/told"
if diff "$directory/told" "$directory/there"; then
    echo "ok - the page names every column"
else
    echo "not ok - the page names every column"
    failures=1
fi
exit $failures
