#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# config.sh CTOP: the configuration file: its keys are the options, the command line counts more, what is wrong is told
# with its line, and what --print-config prints is read back as it was.
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
export XDG_CONFIG_HOME="$directory/home"
unset NO_COLOR
file=$directory/home/ctop/ctop.conf
mkdir -p "$directory/home/ctop"

# config TEXT: the user's file.
config()
{
    printf '%b' "$1" >"$file"
}

# prints NAME WANTED ARGUMENT...: --print-config has this line.
prints()
{
    name=$1
    wanted=$2
    shift 2
    "$ctop" "$@" --print-config >"$directory/out" 2>"$directory/errors"
    result "$name" "$(grep -qxF -- "$wanted" "$directory/out" || cat "$directory/errors" "$directory/out")"
}

# told NAME SENTENCE: the user's file makes this sentence, and ctop works all the same.
told()
{
    "$ctop" --print-config >"$directory/out" 2>"$directory/errors"
    status=$?
    if [ $status != 0 ]; then
        result "$1" "status $status"
    else
        result "$1" "$(grep -qxF -- "ctop: $file$2" "$directory/errors" || cat "$directory/errors")"
    fi
}

rm -f "$file"
prints 'without a file there are defaults' '# interval = 2'
result 'and nothing is said' "$(cat "$directory/errors")"

config 'interval = 5\nascii = yes # plain\ncgroup-flatten = /a/*\ncgroup-flatten = /b/*\nfilter = "x # y"\nmode=tot\n'
prints 'a number is read' 'interval = 5'
prints 'a flag is read' 'ascii = yes'
prints 'a text is read with its #' 'filter = "x # y"'
prints 'a list has a line for each' 'cgroup-flatten = /b/*'
prints 'names may be shortened' 'mode = total'
prints 'the command line counts more' 'interval = 7' -d 7
prints 'also with the default' '# interval = 2' --interval 2
prints 'a flag can be taken back' '# ascii = no' --ascii=no
prints 'a list is replaced' 'cgroup-flatten = /c' --cgroup-flatten /c
result 'as a whole' "$(grep -F '/b/' "$directory/out")"
prints 'the file is left out on request' '# interval = 2' --no-config
printf 'interval = 9\n' >"$directory/other"
prints 'another file can be named' 'interval = 9' --config "$directory/other"
for command in '' 'show file' replay; do
    # shellcheck disable=SC2086 # words
    refuse "but not beside none: ctop $command" 2 '^ctop: --no-config and --config contradict each other: leave one out$' \
        $command --no-config --config "$directory/other"
done

config 'intervall = 5\n'
told 'an unknown key' ":1: unknown key 'intervall', did you mean 'interval'?"
config '\n# x\ninterval = soon\n'
told 'a bad number' ":3: interval takes a time from 0.1 to 3600 s, such as 90s, not 'soon'"
config 'ascii = maybe\n'
told 'a bad flag' ":1: ascii takes yes or no, not 'maybe'"
config 'theme = drak\n'
told 'a bad choice' ":1: unknown value for theme 'drak'; valid: default, light, mono"
config 'tab = memroy\n'
"$ctop" --print-config >"$directory/out" 2>"$directory/errors"
result 'a bad tab' "$(grep -q "ctop.conf:1: unknown tab 'memroy', did you mean 'memory'?" "$directory/errors" || cat "$directory/errors")"
config 'filter = cpu% > x\nsort-by = nothing\n'
told 'a bad filter' ":1: 'cpu% >' needs a number after it, as in cpu% > 50; in quotes it is searched for"
result 'a bad sort column beside it' "$(grep -q ":2: no column or metric 'nothing'" "$directory/errors" || cat "$directory/errors")"
config 'what is this\n'
told 'a line that is none' ':1: a line is KEY = VALUE, [tab NAME] or a comment, which begins with #'
config '[tba x]\n'
told 'an unknown section' ':1: unknown section [tba x]; valid is [tab NAME]'
for key in proc-root allow-stop pid format scx-type; do
    config "$key = x\n"
    told "$key decides what is read or printed" ":1: '$key' may stand on the command line only"
done

config '[tab mine]\ncolumns = thr, CPU% read/s\nsort = READ/s\ntitle = "My tab"\nafter = over\n[tab run]\ncolumns = THR, RUQN%, CPU%\ncolums = THR\n'
told 'an unknown column of a tab' ":7: no column or metric 'RUQN%', did you mean RUNQ% or RUN%? \`ctop help columns\` lists them"
told 'an unknown key of a tab' ":8: unknown key 'colums' of a tab, did you mean 'columns'?"
prints 'a tab is printed' '[tab mine]'
prints 'with its columns' 'columns = THR, CPU%, READ/s'
prints 'and its place' 'after = overview'
table=$("$ctop" -b -n 1 -d 0.1 -t mine 2>/dev/null | grep '^ PROCESS' | tr -s ' ')
result 'an own tab is there with -b' "$([ "$table" = ' PROCESS THR CPU% READ/s' ] || echo "$table")"
table=$("$ctop" -b -n 1 -d 0.1 -t run 2>/dev/null | grep '^ PROCESS' | tr -s ' ')
result 'but tabs of the table are as they are' "$(echo "$table" | grep -q SLICE || echo "$table")"
table=$("$ctop" -b -n 1 -d 0.1 -t run --config "$file" 2>/dev/null | grep '^ PROCESS' | tr -s ' ')
result 'unless the file is named' "$([ "$table" = ' PROCESS THR CPU%' ] || echo "$table")"
"$ctop" capture -p $$ -o "$directory/file.ctprof.zst" 2>/dev/null
table=$("$ctop" show "$directory/file.ctprof.zst" -t mine 2>/dev/null | grep '^ PROCESS' | tr -s ' ')
result 'and with a file' "$([ "$table" = ' PROCESS THR CPU READ' ] || echo "$table")"
"$ctop" show "$directory/file.ctprof.zst" -t run >"$directory/out" 2>"$directory/errors"
result 'whose other tables ask for no configuration' "$(cat "$directory/errors")"
"$ctop" show "$directory/file.ctprof.zst" -t mine --no-config >"$directory/out" 2>"$directory/errors"
result 'nor where it is refused' "$(grep -q "unknown tab 'mine'" "$directory/errors" || cat "$directory/errors" "$directory/out")"
config 'interval = 30\nfilter = nobody-has-this-name\n'
timeout 20 "$ctop" -b -n 1 -d 0.1 >"$directory/out" 2>/dev/null
result 'settings do not change what scripts get' "$([ "$(wc -l <"$directory/out")" -gt 2 ] || cat "$directory/out")"

# The printed file is read back and prints the same.
number=0
for text in '' 'interval = 0.5\nsort-by = cpu%:asc\ncolumns = CPU%,RSS\ngroup-by = cgroup\ntab=wak\n' \
    'filter = " a \\" \\\\\\\\ # b\\" "\nsave-dir = /tmp\nscx-reduce = vtime=max\nbackend = procfs\n' \
    '[tab b]\ncolumns = CPU%\n[tab a]\ncolumns=THR,RUNQ%\nthread-columns = TID RUNQ%, AGE\nafter = b\n[tab delay]\nafter = run\nsort = IRQ%\n[tab run]\ntitle = R\n'; do
    config "$text"
    "$ctop" --print-config >"$directory/one" 2>/dev/null
    "$ctop" --config "$directory/one" --print-config >"$directory/two" 2>"$directory/errors"
    number=$((number + 1))
    result "what is printed is read back, $number" "$(diff "$directory/one" "$directory/two"; cat "$directory/errors")"
done

# Files that do not count.
"$ctop" --config "$directory/none" --print-config >/dev/null 2>"$directory/errors"
result 'a named file that is missing is an error' \
    "$(grep -q 'cannot read .*/none: No such file' "$directory/errors" || cat "$directory/errors")"
config 'interval = 5\n'
chmod 666 "$file"
told 'a file that everybody may write' ': not read: everybody may write to it (chmod o-w)'
prints 'is not read' '# interval = 2'
chmod 600 "$file"
# shellcheck disable=SC2016 # the shell that has the limit expands it
sh -c 'ulimit -n 5 && exec "$0" --print-config' "$ctop" >/dev/null 2>"$directory/errors"
result 'one that no descriptor is left for is told' \
    "$(grep -qx "ctop: $file: not read: Too many open files" "$directory/errors" || cat "$directory/errors")"
rm "$file"
mkfifo "$file"
told 'a FIFO holds nothing up' ': not read: it is not a regular file'
rm "$file"
mkdir "$file"
told 'a directory' ': not read: it is not a regular file'
rmdir "$file"
head -c 300000 /dev/zero >"$file"
told 'a file without end' ': not read: it is too large'
rm "$file"
config 'interval = 5\n'
if can "somebody else's file" "needs CAP_CHOWN" chown 65534 "$file"; then
    told "somebody else's file" ': not read: it belongs to another user'
fi
rm -f "$file"
config 'interval = 5\n'
XDG_CONFIG_HOME=relative HOME=$directory/home2 prints 'a relative directory does not count' '# interval = 2'
mkdir -p "$directory/home2/.config/ctop"
cp "$file" "$directory/home2/.config/ctop/"
XDG_CONFIG_HOME='' HOME=$directory/home2 prints 'the default is below the home directory' 'interval = 5'
finish
