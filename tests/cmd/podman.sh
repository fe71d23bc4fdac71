#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# podman.sh CTOP: both backends show the name of a real Podman container with an unusual storage driver, and with state in
# a directory set by storage.conf. All files are in this test's own mounts.
# shellcheck disable=SC2317 # what `can` calls
set -u
# shellcheck source=tests/cmd/commands.sh
. "$(dirname "$0")/commands.sh"
if [ "${2-}" != inside ]; then
    need "needs podman, and runc, which takes cgroups of both versions" command -v podman runc
    need "needs CAP_SYS_ADMIN to mount" unshare --mount true
    rm -rf "$directory"
    exec unshare --mount --propagation private "$0" "$ctop" inside
fi
name=ctop-test-$$
mkdir -p "$directory/image/usr" "$directory/etc"
for path in /var/lib /run; do
    need "nothing can be mounted on $path" mount -t tmpfs none $path
done
need "there is no configuration of Podman" cp -R /etc/containers/. "$directory/etc"
rm -f "$directory/etc/storage.conf"
mount --bind "$directory/etc" /etc/containers
# the host's programs are the container's only files
for path in bin lib lib64; do
    if [ -L /$path ]; then
        ln -s "$(readlink /$path)" "$directory/image/$path"
    else
        mkdir "$directory/image/$path"
    fi
done
tar -C "$directory/image" -cf "$directory/image.tar" .

# pod ARGUMENT...: runs podman without systemd as its cgroup manager.
pod()
{
    # shellcheck disable=SC2086 # words on purpose
    podman $driver --runtime=runc --cgroup-manager=cgroupfs --events-backend=none "$@"
}

start()
{
    pod import -q "$directory/image.tar" ctop-test >"$directory/import" 2>&1 &&
        pod run -d --name "$name" --network=none --log-driver=none --pids-limit=-1 --ulimit nofile=1024:1024 \
            --ulimit nproc=1024:1024 -v /usr:/usr:ro ctop-test /usr/bin/sleep 600 >"$directory/run" 2>&1
}

# rows WORD...: prints ctop's rows of the container's processes.
rows()
{
    "$ctop" -b -n 1 -d 0.3 -g process -f "container = $name" --columns thr --format tsv --limit 0 "$@" 2>&1
}

check()
{
    if ! can "a container with $1" "podman cannot run one here: $(cat "$directory/import" "$directory/run" | tail -n 1)" start
    then
        pod rm -f -t 0 "$name" >/dev/null 2>&1
        return
    fi
    for backend in auto procfs; do
        expect "$1, $backend: it has its name" '	sleep	1' "$(rows --backend $backend)"
    done
    pod rm -f -t 0 "$name" >"$directory/rm" 2>&1
}

: >"$directory/import" && : >"$directory/run"
driver=--storage-driver=vfs
check "the driver vfs"
driver=
mkdir -p "$directory/pods"
mount -t tmpfs none "$directory/pods"
printf '[storage]\ndriver = "vfs"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$directory/pods" "$directory/pods" \
    >"$directory/etc/storage.conf"
check "another graphroot"
umount -R "$directory/pods"
finish
