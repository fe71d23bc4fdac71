#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# reproducible.sh COMPILER...: the same source and compiler give the same files, whatever the directories of source and build,
# the time, the time zone, the locale and the mode of new files.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
CCACHE_DISABLE=1
CC=$*
export CC CCACHE_DISABLE
# as /usr/bin/ctop is built, with debug data
unset CFLAGS CPPFLAGS LDFLAGS SOURCE_DATE_EPOCH

# build SOURCE BUILD INSTALLED: all below $directory.
build()
{
    mkdir -p "$directory/$1"
    (cd "$root" && source_files | grep -v '^debian/' | tar -cf - -T -) | tar -C "$directory/$1" -xmf - || return
    meson setup --prefix=/usr --buildtype=debugoptimized -Dtests=disabled "$directory/$2" "$directory/$1" &&
        ninja -C "$directory/$2" && DESTDIR="$directory/$3" meson install --no-rebuild -C "$directory/$2"
}

(umask 022 && TZ=UTC LC_ALL=C build source source/build one) >"$directory/log" 2>&1
result 'a build below its source' "$([ -x "$directory/one/usr/bin/ctop" ] || tail -n 40 "$directory/log")"
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 build elsewhere/of/another/name builds/two two) >"$directory/log" 2>&1
result 'a build beside its source' "$([ -x "$directory/two/usr/bin/ctop" ] || tail -n 40 "$directory/log")"
result 'they gave the same files' "$(diff -rq "$directory/one" "$directory/two" 2>&1 | sed "s,$directory/,,g")"
for name in one two; do
    find "$directory/$name" -mindepth 1 -printf '%m %P\n' | sort >"$directory/$name.modes"
done
result 'of the same modes' "$(diff "$directory/one.modes" "$directory/two.modes")"
finish
