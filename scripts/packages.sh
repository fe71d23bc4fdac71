# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by scripts/run, scripts/test and what fetches packages for tests. packages_ensure NEED... installs what is
# missing of the lines of scripts/packages with these needs (build, test). Expects `root`, the top of the tree.
# Prints to stderr only, and nothing at all when everything is there.
: "${root:?the top of the tree}"

# packages_names COLUMN NEED...: the names of one package manager (COLUMN as in the table's heading).
packages_names()
{
    column=$1
    shift
    awk -v column="$column" -v needs=" $* " '
        $1 == "#" && $2 == "need" { for (i = 3; i <= NF; i++) if ($i == column) wanted = i - 1 }
        /^#/ || NF == 0 { next }
        index(needs, " " $1 " ") && $wanted != "-" { print $wanted }' "$root/scripts/packages"
}

# packages_manager: the package manager of this machine, or nothing.
packages_manager()
{
    for manager in apt-get dnf pacman zypper apk; do
        if command -v "$manager" >/dev/null 2>&1; then
            echo "${manager%-get}"
            return
        fi
    done
}

# packages_missing MANAGER NAME...: those of the names that are not installed; asks the local data base only.
packages_missing()
{
    manager=$1
    shift
    for name in "$@"; do
        case $manager in
        apt)
            status=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) || status=
            [ "$status" = installed ] || echo "$name"
            ;;
        dnf | zypper) rpm -q --whatprovides "$name" >/dev/null 2>&1 || echo "$name" ;;
        pacman) pacman -Qi "$name" >/dev/null 2>&1 || echo "$name" ;;
        apk) apk info -e "$name" >/dev/null 2>&1 || echo "$name" ;;
        esac
    done
}

# packages_command MANAGER: how this package manager installs.
packages_command()
{
    case $1 in
    apt) echo "apt-get install -y --no-install-recommends" ;;
    dnf) echo "dnf install -y" ;;
    pacman) echo "pacman -S --needed --noconfirm" ;;
    zypper) echo "zypper --non-interactive install" ;;
    apk) echo "apk add" ;;
    esac
}

# packages_as_root COMMAND...: runs it as root, by sudo when we are not.
packages_as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# packages_install_apt NAME...: installs with apt; fetches the package lists first where they do not know a
# name, and again where they are too old to fetch it.
packages_install_apt()
{
    for name in "$@"; do
        if [ -z "$(apt-cache madison "$name" 2>/dev/null)" ]; then
            packages_as_root apt-get update
            break
        fi
    done
    packages_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ||
        { packages_as_root apt-get update &&
            packages_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
}

# packages_debian_mirror: the Debian archive that this system's package sources name, or nothing.
packages_debian_mirror()
{
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        grep -v '^#' | sed -n 's#.*\(https\{0,1\}://[^ ]*/debian\)/\{0,1\}\([ ].*\)\{0,1\}$#\1#p' | head -n 1
}

# packages_ensure NEED...
packages_ensure()
{
    manager=$(packages_manager)
    if [ -z "$manager" ]; then
        echo "No known package manager here; the packages that are needed stand in scripts/packages." >&2
        return 0
    fi
    # shellcheck disable=SC2046 # package names hold no blanks
    missing=$(packages_missing "$manager" $(packages_names "$manager" "$@") | tr '\n' ' ')
    [ -n "$missing" ] || return 0

    command=$(packages_command "$manager")
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
        echo "Packages are missing. Install them as root and try again:" >&2
        echo "    $command $missing" >&2
        return 1
    fi
    echo "Installing: $missing" >&2
    # shellcheck disable=SC2086 # words on purpose
    if [ "$manager" = apt ]; then
        packages_install_apt $missing >&2 </dev/null && return
    else
        packages_as_root $command $missing >&2 </dev/null && return
    fi
    echo "The installation failed. The command was:" >&2
    echo "    $command $missing" >&2
    return 1
}
