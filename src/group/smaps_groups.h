/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SMAPS_GROUPS_H
#define CTOP_SMAPS_GROUPS_H

#include "base/hash.h"
#include "grouping.h"
#include "snapshot/snapshot.h"

/* The smaps_rollup records of a snapshot, summed over the processes of one name. */

struct smaps_field {
	uint32_t process; /* index in processes */
	uint32_t key;     /* id in the snapshot's strings */
	uint64_t bytes;
};

struct smaps_process {
	uint64_t rss, pss;    /* bytes */
	uint32_t records;     /* leaders with a map */
	uint32_t unavailable; /* leaders whose map was not read */
	reason_id reason;     /* of the first of them */
	size_t first, end;    /* its fields */
};

struct smaps_groups {
	const struct snapshot *snapshot;
	struct string_pool names; /* in the order of the processes, from id 1 on; each with its NUL */
	struct smaps_process *processes;
	size_t process_count, process_capacity;
	struct smaps_field *fields; /* by process, then in byte order of their keys */
	size_t field_count, field_capacity;
	struct hash_map field_of; /* process << 32 | key, while they are made */
};

/* Changes the key of the cgroup of a process, on AXIS_ALL; `thread` is its leader. */
typedef void smaps_groups_rename(void *context, uint32_t thread, struct buffer *cgroup);

/*
 * Sums the records by pattern of the process name ("name[tgid]" where the options keep names); processes
 * whose map was not read count unless `by_flags`. `rename` may be NULL. The snapshot must outlive the result;
 * the caller releases it.
 */
struct smaps_groups *smaps_groups_create(const struct snapshot *snapshot,
					 const struct grouping_options *options, bool by_flags,
					 smaps_groups_rename *rename, void *context);
void smaps_groups_release(struct smaps_groups *groups);

/* The name of a process, NUL-terminated; on AXIS_ALL the key of its cgroup, NUL, the name. */
const char *smaps_groups_name(const struct smaps_groups *groups, size_t process, size_t *ret_length);

/* The process of that name, which is NUL-terminated, or SIZE_MAX. */
size_t smaps_groups_find(const struct smaps_groups *groups, const char *name, size_t length);

#endif
