# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by scripts/run, scripts/test and what fetches packages for tests. packages_ensure NEED... installs what is
# missing of the lines of scripts/packages with these needs (build, test, load, package). Expects `root`, the top of the tree.
# Prints to stderr only: how many packages it installs, which are not to be had and what is skipped without them, what
# the package manager printed where it failed; and nothing at all when everything is there.
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

# packages_skipped COLUMN NAME...: a line for each of the names without which only some tests are skipped, and which.
packages_skipped()
{
    column=$1
    shift
    awk -v column="$column" -v names=" $* " '
        $1 == "#" && $2 == "need" { for (i = 3; i <= NF; i++) if ($i == column) wanted = i - 1 }
        /^#/ || NF <= 6 || !index(names, " " $wanted " ") { next }
        {
            name = $wanted
            for (i = 1; i <= 6; i++) $i = ""
            sub(/^ +/, "")
            print "    " name ": " $0
        }' "$root/scripts/packages"
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
            # a line for each architecture
            dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
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

# packages_unknown_apt NAME...: those of the names that the package lists of apt do not have.
packages_unknown_apt()
{
    known=$(apt-cache madison "$@" 2>/dev/null | awk '/ Packages$/ { print $1 }')
    for name in "$@"; do
        printf '%s\n' "$known" | grep -qxF -e "$name" || echo "$name"
    done
}

# packages_update_apt NAME...: fetches the package lists where they do not have a name and are older than a day: a
# name that is not in this distribution costs no more than that.
packages_update_apt()
{
    [ -n "$(packages_unknown_apt "$@")" ] || return 0
    [ -z "$(find /var/lib/apt/lists/partial -prune -mtime -1 2>/dev/null)" ] || return 0
    packages_as_root apt-get update
}

# packages_install_apt NAME...: installs with apt; fetches the package lists first where they are too old for that. No
# service is started where the runlevel decides that (invoke-rc.d(8)), as in a chroot.
packages_install_apt()
{
    packages_as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends "$@" ||
        { packages_as_root apt-get update &&
            packages_as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends "$@"; }
}

# packages_install MANAGER NAME...: installs them.
packages_install()
{
    manager=$1
    shift
    # shellcheck disable=SC2046 # the command is words
    case $manager in
    apt) packages_install_apt "$@" ;;
    *)
        # a new container has no package lists
        [ "$manager" != pacman ] || ls /var/lib/pacman/sync/*.db >/dev/null 2>&1 || packages_as_root pacman -Sy
        packages_as_root $(packages_command "$manager") "$@"
        ;;
    esac
}

# packages_debian_mirror [-security]: the Debian archive, or that of security, that this system's package sources name, or nothing.
packages_debian_mirror()
{
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        grep -v '^#' | sed -n "s#.*\\(https\\{0,1\\}://[^ ]*/debian${1-}\\)/\\{0,1\\}\\([ ].*\\)\\{0,1\\}\$#\\1#p" | head -n 1
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

    # What only some tests need and this distribution lacks is named now, and the rest installed.
    # shellcheck disable=SC2046,SC2086 # words on purpose
    if [ "$manager" = apt ]; then
        packages_update_apt $missing >/dev/null 2>&1 </dev/null || true
        skipped=$(packages_skipped apt $(packages_unknown_apt $missing))
        if [ -n "$skipped" ]; then
            printf 'Not in this distribution, and what is skipped without:\n%s\n' "$skipped" >&2
            missing=$(for name in $missing; do
                printf '%s\n' "$skipped" | grep -q "^ *$name: " || printf '%s ' "$name"
            done)
            [ -n "$missing" ] || return 0
        fi
    fi

    command=$(packages_command "$manager")
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
        echo "Packages are missing. To install them as root:" >&2
    else
        case $* in
        build) purpose="to build ctop" ;;
        load) purpose="to load this machine" ;;
        package) purpose="to package ctop" ;;
        *) purpose="to build and test ctop" ;;
        esac
        echo "Installing what is missing $purpose, packages: $(echo "$missing" | wc -w)" >&2
        # shellcheck disable=SC2086
        log=$(packages_install "$manager" $missing 2>&1 </dev/null) && return
        # The others install all or nothing, so what only some tests need is tried one by one; apt named it above.
        # shellcheck disable=SC2086
        optional=$([ "$manager" = apt ] || packages_skipped "$manager" $missing | sed 's/^ *\([^:]*\):.*/\1/')
        needed=$(for name in $missing; do
            printf '%s\n' "$optional" | grep -qxF -e "$name" || printf '%s ' "$name"
        done)
        # shellcheck disable=SC2086
        if [ -n "$optional" ] && { [ -z "$needed" ] || log=$(packages_install "$manager" $needed 2>&1 </dev/null); }; then
            for name in $optional; do
                packages_install "$manager" "$name" >/dev/null 2>&1 </dev/null || true
            done
            missing=$(packages_missing "$manager" $missing | tr '\n' ' ')
            [ -n "$missing" ] || return 0
            printf 'Not to be had here, and what is skipped without:\n%s\n' "$(packages_skipped "$manager" $missing)" >&2
            return 0
        fi
        printf '%s\n' "$log" >&2
        echo "The installation failed. The command was:" >&2
    fi
    echo "    $command $missing" >&2
    # shellcheck disable=SC2086
    skipped=$(packages_skipped "$manager" $missing)
    [ "$(printf '%s\n' "$skipped" | grep -c .)" = "$(echo "$missing" | wc -w)" ] || return 1
    printf 'What is skipped without:\n%s\n' "$skipped" >&2
}
