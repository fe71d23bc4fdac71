/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_CGROUPS_H
#define CTOP_ENDED_CGROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Paths of cgroups by the kernel's ids, which are looked up once; all zero is an empty one. */
struct ended_cgroups {
	struct ended_cgroup *items;
	size_t count, capacity;
	struct hash_map index; /* id: place in `items` */
};

enum {
	/* When there are more, all are forgotten and found anew: on some hosts cgroups come and go all day.
	 */
	ENDED_CGROUPS_MAX = 65536,
};

/* Finds the path of a cgroup, which the caller owns then; NULL where there is none. */
typedef char *ended_cgroup_finder(const void *context, uint64_t id);

/*
 * The path of a cgroup, found by `find` where it is not known yet; NULL where that finds none. Valid until
 * the next call.
 */
const char *ended_cgroups_path(struct ended_cgroups *cgroups, uint64_t id, ended_cgroup_finder *find,
			       const void *context);

void ended_cgroups_release(struct ended_cgroups *cgroups);

#endif
