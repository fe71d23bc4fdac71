#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tarball.sh [amd64 | arm64]: makes dist/ctop-VERSION-linux-ARCHITECTURE.tar.xz (default: for this machine), whose
# bin/ctop runs on any Linux of that architecture with glibc 2.31 or newer: all other libraries are in it.
#
# The compiler, the tools and the libraries are those of Debian 12; only the C library that is linked against is that of
# Debian 11, in a sysroot. ncurses is built here, since Debian's knows no terminal by itself, and libmicrohttpd, since
# Debian's brings all of TLS. scripts/system.sh says what else this needs.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/system.sh
. "$root/scripts/system.sh"

architecture=${1-$(dpkg --print-architecture)}
case $architecture in
amd64) triplet=x86_64-linux-gnu family=x86_64 ;;
arm64) triplet=aarch64-linux-gnu family=aarch64 ;;
*) fail "usage: scripts/package tarball [amd64 | arm64]" ;;
esac
system_isolate "$0" "$architecture"

glibc=2.31
glibc_release=bullseye
# Linked in: every -dev package that ctop is built with and what those are built with.
libraries="$(packages_names apt build | grep -e '-dev$' | grep -v -e ^libc6 -e ^linux -e ^libncurses -e ^libmicrohttpd |
    tr '\n' ' ') libnl-3-dev liblzma-dev libbz2-dev libbz2-1.0 linux-libc-dev"
terminals=linux,vt100,vt220,xterm,xterm-256color,screen,screen-256color,tmux,tmux-256color,rxvt-unicode-256color
terminals=$terminals,alacritty,foot,kitty
sysroot=/sysroot
compiler="$triplet-gcc --sysroot=$sysroot -B$sysroot/usr/lib/$triplet/"

# in_sysroot SHELL-COMMANDS: in the directory where its parts are built.
in_sysroot()
{
    system_run sh -euc "mkdir -p /parts && cd /parts && $1" >"$system.log" 2>&1 || {
        tail -n 20 "$system.log" >&2
        fail "no sysroot"
    }
}

# prepare: a Debian with the compilers, and in it the sysroot.
# shellcheck disable=SC2317 # called by system_create
prepare()
{
    mirror=$(packages_debian_mirror)
    cat >"$system/etc/apt/sources.list" <<END
deb $mirror bookworm main
deb-src $mirror bookworm main
deb $mirror $glibc_release main
END
    printf 'Package: *\nPin: release n=%s\nPin-Priority: 1\n' $glibc_release >"$system/etc/apt/preferences.d/glibc"
    system_run dpkg --add-architecture "$architecture"
    system_run apt-get -qq update
    cross=
    [ "$architecture" = "$(system_run dpkg --print-architecture)" ] || cross="gcc-$(echo "$triplet" | tr _ -)"
    # shellcheck disable=SC2046,SC2086 # the packages are words
    system_install $(packages_names apt build | grep -v -e '-dev$') libc6-dev libbpf-dev $cross dpkg-dev make \
        ncurses-bin qemu-user xz-utils

    in_sysroot "apt-get download libc6:$architecture/$glibc_release libc6-dev:$architecture/$glibc_release
        for package in $libraries; do apt-get download \$package:$architecture; done
        for file in *.deb; do dpkg-deb -x \$file $sysroot; done
        # libraries are linked in, but for glibc's own
        find $sysroot -name 'lib*.so' ! -name '*-$glibc.so' ! -name 'lib[cm].so' ! -name libdl.so \
            ! -name libpthread.so ! -name librt.so -delete
        (cd $sysroot/usr/lib/$triplet && rm -f libc.a libm.a libm-*.a libmvec.a libdl.a libpthread.a librt.a)
        find $sysroot -type l -lname '/*' | while read -r link; do
            ln -sfn $sysroot\$(readlink \$link) \$link
        done"

    flags='-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2'
    common="--host=$triplet --prefix=/usr --libdir=/usr/lib/$triplet CC='$compiler' CFLAGS='$flags'"
    in_sysroot "apt-get source libmicrohttpd
        cd libmicrohttpd-*/
        ./configure $common --disable-https --disable-shared --disable-doc --disable-examples --disable-tools \
            --disable-curl
        make -C src/microhttpd install DESTDIR=$sysroot
        make -C src/include install DESTDIR=$sysroot
        make install-pkgconfigDATA DESTDIR=$sysroot"
    # as Debian configures it, with terminals
    in_sysroot "apt-get source ncurses
        cd ncurses-*/
        ./configure $common --build=\$(dpkg-architecture -qDEB_BUILD_GNU_TYPE) --with-build-cc=gcc --enable-widec \
            --without-shared --without-debug --without-cxx-binding --without-ada --without-manpages --without-progs \
            --without-tests --without-gpm --disable-db-install --disable-stripping --enable-const --enable-overwrite \
            --enable-pc-files --with-pkg-config-libdir=/usr/lib/$triplet/pkgconfig --disable-pkg-ldflags \
            --disable-termcap --disable-root-environ --disable-wattr-macros --with-xterm-kbs=del \
            --with-default-terminfo-dir=/etc/terminfo \
            --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo \
            --with-fallbacks=$terminals --with-tic-path=/usr/bin/tic --with-infocmp-path=/usr/bin/infocmp
        make libs
        make install.libs install.includes DESTDIR=$sysroot"

    # what is linked in, of which version, under which licence
    in_sysroot "for file in *_$architecture.deb; do
            package=\$(dpkg-deb -f \$file Package)
            case \$package in libc6* | linux-libc-dev) continue ;; esac
            dpkg-deb -f \$file Package Version Source
            echo
            cat $sysroot/usr/share/doc/\$package/copyright
            printf '\n%s\n\n' ========================================================================
        done >/licences
        for file in *.dsc; do
            grep -e ^Source: -e ^Version: \$file
            echo
            cat \$(basename \$file | sed 's/_/-/; s/-[^-]*[.]dsc//')/debian/copyright
            printf '\n%s\n\n' ========================================================================
        done >>/licences"
}

system_create bookworm "bookworm-tarball-$architecture" prepare
system_copy /ctop

# shellcheck disable=SC2086 # the compiler is words
cat >"$system/cross.ini" <<END
[binaries]
c = [$(printf "'%s', " $compiler)]
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$family', '-L', '$sysroot']
[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$sysroot/usr/lib/$triplet/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$family'
endian = 'little'
[built-in options]
c_args = ['-D_FORTIFY_SOURCE=2']
# SQLite was built where dlopen(3) is in libc
c_link_args = ['-Wl,-z,relro,-z,now,--push-state,--no-as-needed,-ldl,--pop-state']
b_pie = true
prefer_static = true
END

system_run sh -euc "
    meson setup /build /ctop --cross-file /cross.ini --buildtype=release --prefix=/usr/local -Dstrip=true \
        -Dtests=disabled -Dbpf=enabled -Dexport=enabled -Dhistory=enabled
    ninja -C /build" >"$system.log" 2>&1 || {
    grep -E -A 5 'error: |warning: |^FAILED|ERROR' "$system.log" | head -n 100 >&2
    fail "ctop does not build"
}
version=$(sed -n 's/.*CTOP_VERSION=[^0-9]*\([0-9.]*\).*/\1/p' "$system/build/compile_commands.json" | head -n 1)
name=ctop-$version-linux-$architecture
system_run sh -euc "
    DESTDIR=/image meson install -C /build --no-rebuild --quiet
    mv /image/usr/local /$name
    install -D -m 644 -t /$name/share/doc/ctop /ctop/LICENSE /ctop/README.md /ctop/CHANGELOG.md
    install -m 644 /licences /$name/share/doc/ctop/LICENCES.libraries"

# It needs glibc and nothing else, and no newer one.
needed=$(system_run "$triplet-objdump" -p "/$name/bin/ctop" | awk '$1 == "NEEDED" { print $2 }' |
    grep -v -E '^(lib(c|m|dl|pthread|rt)[.]so[.][0-9]|ld-linux-.*)$') && fail "is not linked in: $needed"
newest=$(system_run "$triplet-objdump" -T "/$name/bin/ctop" |
    sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1)
[ "$(printf '%s\n' "$newest" $glibc | sort -V | tail -n 1)" = $glibc ] || fail "needs glibc $newest"

mkdir -p "$root/dist"
system_run tar -C / --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH-$(date +%s)}" \
    -cJf "/$name.tar.xz" "$name"
cp "$system/$name.tar.xz" "$root/dist/"
echo "dist/$name.tar.xz: $(($(stat -c %s "$root/dist/$name.tar.xz") / 1024)) KiB, bin/ctop" \
    "$(($(stat -c %s "$system/$name/bin/ctop") / 1024)) KiB, needs glibc $newest"
