#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The build can be configured where cmocka and libvterm are not installed, and then has no tests unless they are
# demanded.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/sources.sh"
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

cat >"$directory/pkg-config" <<'END'
#!/bin/sh
for word; do
    case $word in
    cmocka | vterm) exit 1 ;;
    esac
done
exec pkg-config "$@"
END
chmod +x "$directory/pkg-config"
# they may bring files for cmake too
printf "[binaries]\ncmake = '%s/none'\n" "$directory" >"$directory/native"

# configure NAME OPTION...: leaves the log in $directory/NAME.log.
configure()
{
    build=$directory/$1
    shift
    PKG_CONFIG=$directory/pkg-config meson setup --native-file "$directory/native" "$@" "$build" "$root" \
        >"$build.log" 2>&1
}

configure auto
result "no cmocka, no libvterm: configured without tests" \
    "$(meson introspect --tests "$directory/auto" 2>&1 | grep -vx '\[\]')"
result "demanded tests say what is missing" \
    "$(configure enabled -Dtests=enabled; grep -q 'ERROR.*cmocka' "$directory/enabled.log" || cat "$directory/enabled.log")"
finish
