# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by what builds or tests ctop in a minimal Debian of its own. Expects `root`, the top of the tree, and needs root
# and debootstrap. The mirror is the one that the system uses. $CTOP_DISTRIBUTIONS names a directory that keeps the minimal
# systems as RELEASE.tar, and below work/ the systems while they run (default: a temporary one).
: "${root:?the top of the tree}"
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"

# fail SENTENCE: ends the script with it.
fail()
{
    echo "$(basename "$0"): $1" >&2
    exit 1
}

# system_isolate SCRIPT ARGUMENT...: goes on as the script in a mount namespace of its own: whatever happens, nothing stays
# mounted.
system_isolate()
{
    if [ "${CTOP_DISTRIBUTIONS_INSIDE-}" != yes ]; then
        [ "$(id -u)" = 0 ] || fail "needs root to make a system of its own"
        CTOP_DISTRIBUTIONS_INSIDE=yes exec unshare --mount --propagation private "$@"
    fi
}

# system_create RELEASE [NAME PREPARE]: makes a system that holds nothing but a minimal Debian, with the kernel's file
# systems mounted, and removes the one made before and, at the end of the script, this one. Sets `system`, its directory.
# With a NAME it is what the function PREPARE made of that, which is kept by this name until the script or the list of
# packages changes.
system_create()
{
    command -v debootstrap >/dev/null 2>&1 || fail "needs debootstrap: apt-get install debootstrap"
    if [ -z "${system-}" ]; then
        temporary=
        if [ -z "${CTOP_DISTRIBUTIONS-}" ]; then
            temporary=$(mktemp -d)
            CTOP_DISTRIBUTIONS=$temporary
        fi
        trap 'system_remove; rm -rf --one-file-system ${temporary:+"$temporary"}' EXIT
        trap 'exit 1' HUP INT TERM
    else
        system_remove
    fi
    mkdir -p "$CTOP_DISTRIBUTIONS/work"
    system=$(mktemp -d "$CTOP_DISTRIBUTIONS/work/${2-$1}-XXXXXX")
    chmod 755 "$system"
    mount --bind "$system" "$system"

    archive=$CTOP_DISTRIBUTIONS/$1.tar
    prepared=${2-}-$(cat "$0" "$root/scripts/packages" | cksum | cut -d ' ' -f 1)
    if [ $# -gt 1 ] && [ -f "$CTOP_DISTRIBUTIONS/$prepared.tar" ]; then
        tar -C "$system" -xf "$CTOP_DISTRIBUTIONS/$prepared.tar"
    elif [ -f "$archive" ]; then
        tar -C "$system" -xf "$archive"
    else
        mirror=$(packages_debian_mirror '')
        [ -n "$mirror" ] || fail "the system's package sources name no Debian archive"
        debootstrap --variant=minbase "$1" "$system" "$mirror" >"$CTOP_DISTRIBUTIONS/work/$1.log" 2>&1 ||
            fail "debootstrap: $(tail -n 1 "$CTOP_DISTRIBUTIONS/work/$1.log")"
        rm -rf "$system"/var/cache/apt/archives/*.deb "$system"/var/lib/apt/lists/*
        system_keep "$1"
    fi
    chmod 755 "$system"
    cp /etc/resolv.conf "$system/etc/resolv.conf"
    for mount in proc sys dev; do
        mount --rbind "/$mount" "$system/$mount"
    done
    if [ $# -gt 1 ] && [ ! -f "$CTOP_DISTRIBUTIONS/$prepared.tar" ]; then
        "$3"
        rm -rf "$system"/var/cache/apt/archives/*.deb "$CTOP_DISTRIBUTIONS/$2"-*.tar
        system_keep "$prepared"
    fi
}

# system_keep NAME: keeps the system as it is, without what is mounted.
system_keep()
{
    tar -C "$system" --one-file-system -cf "$CTOP_DISTRIBUTIONS/$1.tar.new" .
    mv "$CTOP_DISTRIBUTIONS/$1.tar.new" "$CTOP_DISTRIBUTIONS/$1.tar"
}

# system_remove: removes the system, and what its user put beside it as $system.NAME.
system_remove()
{
    umount --lazy "$system" 2>/dev/null || true
    rm -rf --one-file-system "$system" "$system".*
}

# system_copy DIRECTORY: a copy of the tree, without what is no source, into a directory of the system.
system_copy()
{
    mkdir -p "$system$1"
    tar -C "$root" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$system$1" --no-same-owner -xf -
}

# system_run COMMAND...: runs it there, with nothing of this shell's environment but the way to the network. Its root is
# that of a mount namespace: in a chroot the kernel would allow no namespaces to the tests.
system_run()
{
    # shellcheck disable=SC2016 # expanded by that shell
    unshare --mount sh -c 'cd "$0" && pivot_root . mnt && cd / && umount --lazy /mnt && exec "$@"' "$system" \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm HOME=/root \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} \
        ${https_proxy:+"https_proxy=$https_proxy"} "$@" </dev/null
}

# system_install PACKAGE...: installs them there with apt, and says why where that fails.
system_install()
{
    system_run apt-get -qq install -y --no-install-recommends "$@" >"$system.log" 2>&1 ||
        fail "apt-get: $(tail -n 1 "$system.log")"
}
