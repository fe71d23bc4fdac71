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
 * Finds the id of a container in a cgroup path: the outermost one, in the forms `docker-ID.scope`,
 * `cri-containerd-ID.scope`, `crio-ID.scope`, `libpod-ID.scope`, and a component ID. A program that watches a
 * container from outside (`libpod-conmon-ID.scope`) is in none. NULL for no container; else the
 * CONTAINER_ID_LENGTH bytes of the id, within `path`.
 */
const char *container_find_id(const char *path, size_t length);

/* The same where it is a container of this host's runtimes: NULL within a container that runs a system of its
 * own. */
const char *container_find_own_id(const char *path, size_t length);

/* Whether a cgroup path leads into a container. */
bool container_has(const char *path, size_t length);

/*
 * Keeps the name of a container; an empty one says that it has none, or still the same, and so does one of
 * CONTAINER_NAME_MAX bytes or more. It may be foreign text.
 */
void container_names_set(const char *id, const char *name);

/* Whether that was done within five minutes, and the name was not forgotten since. */
bool container_names_know(const char *id);

/*
 * A user who was given a cgroup may make one there that is called by the id of somebody else's container. So
 * an id has a name only where all directories above its cgroup are root's.
 */
enum container_owner {
	CONTAINER_OWNER_UNKNOWN, /* nobody looked within five minutes */
	CONTAINER_OWNER_ROOT,
	CONTAINER_OWNER_USER,
};

/* Whose the directories are above an id that was found in a path. */
enum container_owner container_owner(const char *path, const char *id);

/* Says that a directory, by its path, is a user's; or that it and all above it are root's. */
void container_directory_set(const char *path, size_t length, bool is_users);

/* Keeps the names and directories that a snapshot has; of a container that has one already only where there
 * was none. */
void container_names_take(const struct snapshot *snapshot);

/*
 * Gives a snapshot the names of all containers in the cgroups of its threads, and, with an empty name, the
 * directories because of which ids have none.
 */
void container_names_give(struct snapshot *snapshot);

/*
 * Appends what people call a cgroup: the name of its container (`shop/cart-7d9f/app`, `web`), else the first
 * 12 digits of the id, or all where an id that begins with these was shown before; outside containers its
 * systemd unit (`nginx.service`), else the last component of the path. Units and containers within a
 * container of LXC or systemd-nspawn, which runs a whole system, have its name before theirs
 * (`web/nginx.service`). An empty path is "/".
 */
void container_append_name(const char *path, size_t length, struct buffer *buffer);

#endif
