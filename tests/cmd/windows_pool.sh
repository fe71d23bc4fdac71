# shellcheck shell=sh disable=SC2154 # set by who includes it
# SPDX-License-Identifier: GPL-2.0-only
#
# A pool that does the same all the time, and windows of the host, for the scripts that compare them; they have set $ctop
# and $load. Gives $directory, $cpu on which the pool runs, and ends what is in $hogs.
directory=$(mktemp -d) || exit 1
pool=
hogs=
# shellcheck disable=SC2317 # by the trap
clean()
{
    for process in $pool $hogs; do
        kill "$process" 2>/dev/null
    done
    rm -rf "$directory"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
export XDG_CONFIG_HOME="$directory" TZ=UTC

# six threads that run 1 ms of each 100 ms on one CPU, as long as somebody holds their standard input
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
mkfifo "$directory/input"
taskset -c "$cpu" "$load" 2 4 --busy 6 <"$directory/input" >"$directory/ready" &
pool=$!
exec 3>"$directory/input"
result "the pool runs" "$(until_true 20 grep -q ready "$directory/ready" || echo "it does not")"

# window NAME: what happens in three seconds
window()
{
    if ! "$ctop" capture --no-heap --for 3 -o "$directory/$1" 2>"$directory/said"; then
        result "a window is captured" "$(cat "$directory/said")"
    fi
}

# hogged_window COUNT NAME: the same with that many beside the pool that never sleep on its CPU
hogged_window()
{
    [ -e "$directory/hog" ] || cp /bin/sh "$directory/hog"
    for _ in $(seq "$1"); do
        taskset -c "$cpu" "$directory/hog" -c 'while :; do :; done' &
        hogs="$hogs $!"
    done
    window "$2"
    for process in $hogs; do
        kill "$process"
    done
    hogs=
}
