/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CGROUP_H
#define CTOP_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/string_pool.h"
#include "snapshot/snapshot.h"
#include "capture/procfs/root.h"

/* Called before each cgroup: true once the time for them is used up. */
typedef bool cgroup_over_budget(void *context);

/*
 * One record for each distinct non-empty cgroup path of the snapshot's threads (cgroup v2 interface files,
 * Documentation/admin-guide/cgroup-v2.rst). A file that is not there leaves the format's absent value and a
 * reason: switched-off when the controller is not enabled for that cgroup, not-in-kernel when the hierarchy
 * does not have it or the root cgroup does not print it, other-namespace for a cgroup that the mount cannot
 * show, unreadable for one that was removed, over-budget for what was not tried. Read host pressure first:
 * its reasons explain missing pressure files. `over_budget` may be NULL.
 */
void cgroup_read_records(const struct roots *roots, cgroup_over_budget *over_budget, void *context,
			 struct snapshot *snapshot);

enum {
	CGROUP_LIMITS_MAX = 4
};

/*
 * Like cgroup_read_records(), but only for these cgroups, and only cpu.stat and cpu.max: all other files are
 * not-read. Cgroups are ids of their paths in the snapshot; ids of no cgroup, such as 0, are skipped.
 */
void cgroup_read_limits(const struct roots *roots, const uint32_t cgroups[static CGROUP_LIMITS_MAX],
			struct snapshot *snapshot);

/*
 * Locates a cgroup path of /proc/PID/cgroup below a mount with that root field in mountinfo: the part of
 * `path` to append to the mount point. False when the mount does not show it (it lies outside, or names are
 * unknown because either goes up out of our cgroup namespace).
 */
bool cgroup_path_below_mount(const char *path, size_t length, const char *mount_root, const char **ret_rest,
			     size_t *ret_length);

/*
 * Opens the directory of such a path, whose bytes may be escaped as by snapshot_intern_name(). Returns a
 * descriptor or a negative errno: -EXDEV if the path is outside the mount, -EBADF without a cgroup root.
 */
int cgroup_open(const struct roots *roots, const char *path, size_t length, int flags);

/* Like cgroup_open(), in a v1 hierarchy; -EBADF if it is not mounted. */
int cgroup_open_v1(const struct roots *roots, enum cgroup_v1 hierarchy, const char *path, size_t length,
		   int flags);

/* Whether every task in a cgroup and below it is frozen: cgroup.events of cgroup-v2.rst. */
bool cgroup_is_frozen(const struct roots *roots, const char *path, size_t length);

/* Whether the v1 freezer has frozen a cgroup: freezer.state of freezer-subsystem.rst. */
bool cgroup_freezer_is_frozen(const struct roots *roots, const char *path);

/* Paths of cgroups by the kernel's ids, which are looked up once; all zero is an empty one. */
struct cgroup_paths {
	struct string_pool paths;
	struct hash_map of; /* id: that of the path in `paths` */
};

enum {
	/* With more, all are forgotten and found anew: on some hosts cgroups come and go all day. */
	CGROUP_PATHS_MAX = 65536,
};

/* A path that is known, or NULL. Valid until the next one is added. */
const char *cgroup_paths_find(const struct cgroup_paths *known, uint64_t id);

/* Adds the path of an id that is not known; returns it as cgroup_paths_find() would. */
const char *cgroup_paths_add(struct cgroup_paths *known, uint64_t id, const char *path, size_t length);

void cgroup_paths_release(struct cgroup_paths *known);

#endif
