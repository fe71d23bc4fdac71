#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# completions.sh CTOP BASH ZSH FISH: what shells complete after `ctop`, asked of the shells themselves.
# shellcheck disable=SC2317,SC2016 # functions are called by name, and what is quoted is for other shells
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
bash_file=$(realpath "$2")
zsh_file=$(realpath "$3")
fish_file=$(realpath "$4")
cd "$directory" || exit 1
touch here.ctprof.zst
mkdir folder

# in_bash WORD...: the completions of the last word, a line each.
in_bash()
{
    bash --norc -c '
        . "$1"
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _ctop
        printf "%s\\n" "${COMPREPLY[@]}"
    ' - "$bash_file" "$@" 2>&1
}

# offers NAME WANTED FUNCTION WORD...: among the completions is this line.
offers()
{
    name=$1
    wanted=$2
    shift 2
    found=$("$@")
    result "$name" "$(printf '%s\n' "$found" | grep -qxF -- "$wanted" || printf '%s\n' "$found" | head -n 20)"
}

# lacks NAME UNWANTED FUNCTION WORD...
lacks()
{
    name=$1
    unwanted=$2
    shift 2
    result "$name" "$("$@" | grep -xF -- "$unwanted")"
}

offers 'bash: a command' capture in_bash ctop cap
offers 'bash: a file beside commands' here.ctprof.zst in_bash ctop h
offers 'bash: an option' --interval in_bash ctop --int
lacks 'bash: options of the command alone' --interval in_bash ctop show --
offers 'bash: options of a command' --sections in_bash ctop show x --sec
lacks 'bash: an old name of an option' --reference in_bash ctop show x --ref
offers 'bash: options of an alias' --fail-if in_bash ctop compare a b --fail
offers 'bash: a tab' memory in_bash ctop -t me
offers 'bash: a tab of the long option' memory in_bash ctop --tab me
offers 'bash: behind a =' memory in_bash ctop --tab = me
offers 'bash: an axis' cgroup in_bash ctop show x -g cg
offers 'bash: a choice' json in_bash ctop doctor --format ''
offers 'bash: a column of a list' 'CPU%,RUNQ%' in_bash ctop --columns CPU%,RU
offers 'bash: a metric of a list' 'run_time_ns,wait_time_ns' in_bash ctop show x --metrics run_time_ns,wait_t
offers 'bash: a file for a command' here.ctprof.zst in_bash ctop show ''
offers 'bash: a time to replay' yesterday in_bash ctop replay ''
lacks 'bash: and no file' here.ctprof.zst in_bash ctop replay ''
offers 'bash: a directory' folder in_bash ctop --save-dir ''
lacks 'bash: directories only' here.ctprof.zst in_bash ctop --save-dir ''
lacks 'bash: nothing for a number' here.ctprof.zst in_bash ctop -d ''
offers 'bash: a metric to describe' run_time_ns in_bash ctop metrics run_t
offers 'bash: a command to have help about' doctor in_bash ctop help d

# All options that help prints are offered, in every shell's file.
for command in '' $("$ctop" help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do
    # shellcheck disable=SC2086
    for option in $("$ctop" help $command | sed -n 's/^ .*\(--[a-z-]*\).*/\1/p'); do
        found=$(in_bash ctop $command "$option" | grep -xF -- "$option")
        [ -n "$found" ] || echo "$command $option"
    done
done >missing
result 'bash: every option of the help' "$(cat missing)"

if command -v fish >/dev/null 2>&1; then
    in_fish()
    {
        HOME=$directory fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$fish_file" "$1" 2>&1 | cut -f 1
    }
    offers 'fish: a command' capture in_fish 'ctop cap'
    offers 'fish: an option' --interval in_fish 'ctop --int'
    lacks 'fish: options of the command alone' --interval in_fish 'ctop show --'
    offers 'fish: a tab' memory in_fish 'ctop -t me'
    offers 'fish: a choice' json in_fish 'ctop doctor --format '
    offers 'fish: a column of a list' 'CPU%,RUNQ%' in_fish 'ctop --columns CPU%,RU'
    offers 'fish: a name with a character of shells' 'WAIT>1s' in_fish 'ctop metrics WAIT'
    offers 'fish: a file' here.ctprof.zst in_fish 'ctop show h'
    offers 'fish: a directory' folder/ in_fish 'ctop --save-dir fo'
else
    echo 'skip - fish: not installed'
fi

if command -v zsh >/dev/null 2>&1; then
    mkdir functions
    cp "$zsh_file" functions/_ctop
    # What the shell's own function is asked to offer for the words, a line each.
    in_zsh()
    {
        timeout 60 zsh -f -c '
            fpath=($1 $fpath)
            shift
            autoload -Uz compinit
            compinit -D -u
            print -r -- completes $_comps[ctop]
            function _arguments { print -rl -- "$@" }
            words=("$@")
            CURRENT=$#
            $_comps[ctop]
        ' - "$directory/functions" "$@" 2>&1
    }
    offers 'zsh: the function is found' 'completes _ctop' in_zsh ctop ''
    offers 'zsh: commands and files' '1: :_ctop_first' in_zsh ctop ''
    offers 'zsh: a choice of a command' '--format=[text (default), tsv or json]:FORMAT:(text tsv json)' in_zsh ctop metrics ''
    offers 'zsh: a directory' '--proc-root=[read this instead of /proc\: a saved tree, or the host'\''s from inside a container]:DIR:_files -/' in_zsh ctop doctor ''
    offers 'zsh: files of a command' '*:file:_files' in_zsh ctop compare ''
else
    echo 'skip - zsh: not installed'
fi
finish
