/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CGROUP_MERGE_H
#define CTOP_CGROUP_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "grouping.h"
#include "value.h"
#include "window.h"

/* The cgroup records whose paths have one key, merged into one. */
struct merged_cgroup {
	const char *key;
	size_t key_length;
	struct cgroup_record record; /* path and missing have no meaning; keys of lists in byte order */
	uint32_t records;            /* in it */
	uint32_t unavailable[CGROUP_FILE_COUNT]; /* of them, those where the file was not read */
	reason_id reason[CGROUP_FILE_COUNT];     /* of the first such record */
};

/* All of a snapshot, ascending by the bytes of their keys. */
struct merged_cgroups {
	struct merged_cgroup *items;
	size_t count;
	struct arena arena;
};

/*
 * Merges the cgroup records at the end of a window by key: amounts are added, the largest present value is
 * kept, and one record without a limit makes the sum unlimited. Files that were not read are left out, except
 * in a window of WINDOW_FLAGGED. The window's snapshot must outlive the result, which the caller releases.
 */
struct merged_cgroups *cgroup_merge_create(const struct window *window,
					   const struct grouping_options *options);
void cgroup_merge_release(struct merged_cgroups *cgroups);

/* Whether a key of memory.stat says how much there is now; the others count from the cgroup's beginning. */
bool cgroup_merge_is_gauge(const char *key);

/* Whether the fields of a file have values, or why they have none (`*ret_reason`). */
enum value_state cgroup_merge_state(const struct merged_cgroup *cgroup, enum cgroup_file file,
				    reason_id *ret_reason);

/* Whether records are missing in those values. */
bool cgroup_merge_is_partial(const struct merged_cgroup *cgroup, enum cgroup_file file);

#endif
