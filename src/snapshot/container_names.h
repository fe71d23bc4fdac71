/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONTAINER_NAMES_H
#define CTOP_CONTAINER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "snapshot.h"

/*
 * Names of containers and units by cgroup path. Container runtimes name cgroups by the id of the container,
 * 64 hexadecimal digits, and no other container ever has the same id. So the names are kept by id for all
 * rooms, wherever they came from: read on this host, or from a file. Safe from any thread.
 */

enum {
	CONTAINER_ID_LENGTH = 64,
	CONTAINER_SHORT_ID_LENGTH = 12, /* as the runtimes print it */
	CONTAINER_NAMES_MAX = 16384,    /* beyond that those that were not used for longest are forgotten */
	CONTAINER_NAME_MAX = 1024,      /* bytes */
};

/*
 * Finds the id of the outermost container in a cgroup path: `docker-ID.scope`, `cri-containerd-ID.scope`,
 * `crio-ID.scope`, `libpod-ID.scope`, or a component ID. Programs that monitor a container from outside
 * (`libpod-conmon-ID.scope`) are in none. Returns the CONTAINER_ID_LENGTH bytes of the id within `path`, or
 * NULL if there is no container.
 */
const char *container_find_id(const char *path, size_t length);

/* Finds the id in the same way, but only of containers of this host's runtimes: returns NULL inside a
 * container that runs its own system. */
const char *container_find_own_id(const char *path, size_t length);

/* Whether a cgroup path leads into a container. */
bool container_has(const char *path, size_t length);

/*
 * Stores the name of a container, which may be foreign text. An empty name, or one of CONTAINER_NAME_MAX
 * bytes or more, records that the container has no name or still has its old one.
 */
void container_names_set(const char *id, const char *name);

/* Whether that was done within five minutes, and the name was not forgotten since. */
bool container_names_know(const char *id);

/*
 * A user who owns a cgroup can create a child named after somebody else's container id. So an id gets a name
 * only if root owns all directories above its cgroup.
 */
enum container_owner {
	CONTAINER_OWNER_UNKNOWN, /* not checked within five minutes */
	CONTAINER_OWNER_ROOT,
	CONTAINER_OWNER_USER,
};

/* Returns who owns the directories above an id found in a path. */
enum container_owner container_owner(const char *path, const char *id);

/* Records that a user owns a directory, or that root owns it and all its parents. */
void container_directory_set(const char *path, size_t length, bool is_users);

/* Stores the names and directories of a snapshot. Containers that already have a name keep it. */
void container_names_take(const struct snapshot *snapshot);

/*
 * Gives a snapshot the names of all containers in its threads' cgroups and, with an empty name, the
 * user-owned directories whose ids have no names.
 */
void container_names_give(struct snapshot *snapshot);

/*
 * Appends a readable name of a cgroup. In a container, this is the container's name (`shop/cart-7d9f/app`,
 * `web`), or the first 12 digits of its id, or all digits if another id with these 12 was shown before.
 * Elsewhere it is the systemd unit (`nginx.service`), or the last component of the path. Units and containers
 * inside an LXC or systemd-nspawn container, which runs a whole system, follow its name
 * (`web/nginx.service`). An empty path is "/".
 */
void container_append_name(const char *path, size_t length, struct buffer *buffer);

#endif
