#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tree.sh CTOP BUILD: packages and the program agree on the version, packages have all that ctop is built with, and the
# program holds no name of a directory in which it was built.
set -u
# shellcheck source=tests/project/sources.sh
. "$(dirname "$0")/../project/sources.sh"
ctop=$1
build=$2

version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
# same NAME FOUND: what was found is the version.
same()
{
    result "$1 has the version of meson.build" "$([ "$2" = "$version" ] || echo "'$2', not '$version'")"
}
same 'ctop --version' "$("$ctop" --version | sed -n '1s/^ctop //p')"
if [ -d "$root/debian" ]; then
    same debian/changelog "$(sed -n '1s/^ctop (\(.*\)-[0-9]*) .*/\1/p' "$root/debian/changelog")"
else
    echo 'skip - debian/changelog and debian/control: an archive of the source has none'
fi
same packaging/ctop.spec "$(sed -n 's/^Version: *//p' "$root/packaging/ctop.spec")"
same CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$root/CHANGELOG.md" | head -n 1)"
same packaging/PKGBUILD "$(sed -n 's/^pkgver=//p' "$root/packaging/PKGBUILD")"

if [ -d "$root/debian" ]; then
    # Debian has compiler, libc and kernel headers wherever something is built.
    findings=$(awk '$1 == "build" && $2 !~ /^(gcc|libc6-dev|linux-libc-dev)$/ { print $2 }' "$root/scripts/packages" |
        while read -r package; do
            sed -n '/^Build-Depends:/,/^[^ ]/p' "$root/debian/control" | grep -qE "^ ${package}[:, ]" || echo "$package"
        done)
    result 'debian/control has all that scripts/packages builds with' "$findings"
fi

# the libraries of meson.build, and those of capture
libraries=$(sed -n "s/^[a-z]* = dependency('\([a-z0-9.-]*\)'.*/\1/p" "$root/meson.build" "$root/capture/bpf/meson.build" |
    grep -vxE 'threads|cmocka|vterm|yajl')
findings=$(for library in $libraries; do
    grep -qE "^BuildRequires: *pkgconfig\($library\)" "$root/packaging/ctop.spec" || echo "packaging/ctop.spec: $library"
    "$ctop" --version | grep '^libraries: ' | grep -qE "[ ,]$library [0-9]" || echo "ctop --version: $library"
done)
[ "$(echo "$libraries" | wc -l)" -ge 10 ] || findings="only these libraries were found: $libraries"
result 'packaging/ctop.spec and ctop --version have all libraries' "$findings"

if bash=$(command -v bash); then
    result 'packaging/PKGBUILD is a shell script' "$("$bash" -n "$root/packaging/PKGBUILD" 2>&1)"
else
    echo 'skip - packaging/PKGBUILD: there is no bash'
fi

findings=$(grep -aoE "$root/(src|capture|probe|ui)/[^\"]{0,60}|$build.{0,60}|(\.\./)+(src|capture|probe|ui)/.{0,60}" "$ctop" |
    tr -cd '[:print:]\n' | head -n 20)
result 'the program holds no name of a directory in which it was built' "$findings"
result 'no source asks for the time of the build' \
    "$(cd "$root" && grep -rnE '__(DATE|TIME|TIMESTAMP)__' --include='*.[ch]' src capture probe ui man completions)"
finish
