#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# hosts.sh CTOP: commands on a directory with two copies of a history of this host, and entries that are not histories.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
hosts=$directory/hosts
export XDG_CONFIG_HOME="$directory" TZ=EST5

mkdir "$hosts" "$hosts/empty"
: >"$hosts/notes.txt"
# both hosts are copies of this history
said=$("$ctop" record --no-heap -d 0.5 -n 8 --history "$hosts/web-1" 2>&1) && said=
result "a host is recorded" "$said"
cp -r "$hosts/web-1" "$hosts/web-2"
first=$("$ctop" dump --history "$hosts/web-1" --mode total --format csv --limit 1 | awk -F, 'NR == 2 { print $1 }')
last=$("$ctop" dump --history "$hosts/web-1" --mode total --format csv --limit 1 | awk -F, 'END { print $1 }')
begin=@${first%?????????}
middle=@$((${first%?????????} + 2))
end=@${last%?????????}

# table ARGUMENTS...: prints the rows of both hosts at the newest round
table()
{
    "$ctop" show "$hosts@$end" --format tsv -b --limit 0 "$@" 2>/dev/null
}

# field NAME: prints the column that has this title in the first line
field()
{
    awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next } { print $column }'
}

run "one moment of all" 0 out "^$hosts: 2 hosts, EST  20[0-9-]* [0-9:]*  [0-9,]* threads, [0-9,]* groups by process" \
    show "$hosts@$end"
result "no line says what one host was like" "$("$ctop" show "$hosts@$end" 2>/dev/null | sed -n '1{/^psi /p}')"
run "with the hosts of each row" 0 out "PROCESS  *HOST " show "$hosts@$end"
run "what is no history is named" 0 err "notes.txt is left out: .* is a file" show "$hosts@$end"
run "and what has none" 0 err "empty is left out: .*there is no history in it" show "$hosts@$end"
result "rows of both are one" "$(table -g process | field host | grep -v '^2 hosts$')"
one=$("$ctop" show "$hosts/web-1@$end" --format tsv -b --limit 0 -g process 2>/dev/null | field threads | awk '{ n += $1 } END { print n }')
both=$(table -g process | field threads | awk '{ n += $1 } END { print n }')
result "which have the threads of both" "$([ "$both" = $((2 * one)) ] || echo "$one on one, $both on both")"
result "-g host has a row for each" "$(table -g host | field group | sort | tr '\n' ' ' | grep -v '^web-1 web-2 $')"
result "with the threads of each" "$(table -g host | field threads | grep -v "^$one\$")"
result "processes are not joined" "$(table -g pid | field host | sort -u | tr '\n' ' ' | grep -v '^web-1 web-2 $')"
run "JSON has the host, too" 0 out '2 hosts' show "$hosts@$end" -b --format json
refuse "all metrics are of one host" 2 "which make a table only" show "$hosts@$end" --long
refuse "a time that nobody has" 1 "no host has anything at that time" show "$hosts@2000-01-01"
run "but the nearest round" 0 err "web-1: .*the nearest round is of" show "$hosts@2000-01-01" --nearest
refuse "names of several hosts have no order" 2 "cannot sort rows of several hosts by USER" show "$hosts@$end" --sort-by user_name

run "hosts are compared with themselves" 0 out "$hosts@.* → $hosts@.*, EST: 2 hosts, largest change first" \
    diff "$hosts@$begin..$middle" "$hosts@$middle..$end" -g host --all
run "a row for each" 0 out "^web-2 " diff "$hosts@$begin..$middle" "$hosts@$middle..$end" -g host --all
run "or for each group of each" 0 out "^web-1  [^ ]" diff "$hosts@$begin..$middle" "$hosts@$middle..$end" -g process --all
refuse "but not with one" 2 "name two moments of it" diff "$hosts@$begin" "$hosts/web-1@$end"
refuse "nor judged by a rule" 2 "has the histories of several hosts" diff "$hosts@$begin" "$hosts@$end" --fail-if 'CPU%(*) > 1%'

run "all are listed" 0 out "^web-1  *20[0-9-]* [0-9:]*  *20[0-9-]* [0-9:]*  *0" history "$hosts"
run "with what is none" 0 out "^notes.txt .* is a file" history "$hosts"
run "one by its name" 0 out "starts of the host" history "$hosts/web-2"
refuse "a series is of one host" 1 "has the histories of several hosts: name one of them" dump --history "$hosts"
refuse "nothing is there" 1 "there is no history in it" history "$hosts/empty"
finish
