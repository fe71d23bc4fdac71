/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_INTERNAL_H
#define CTOP_DIFF_INTERNAL_H

#include <string.h>

#include "diff.h"

/* What the files of the comparison share; for this room only. */

enum {
	DIFF_PAIR_KINDS = DIFF_PAIR_ONLY_AFTER + 1
};

struct diff {
	const struct snapshot *snapshots[DIFF_SIDE_COUNT];
	struct diff_options options;
	struct grouping *grouping; /* of both together */
	struct aggregation *aggregations[DIFF_SIDE_COUNT];
	struct diff_threads {
		uint32_t count;
		uint32_t started; /* of them with a known start */
		uint64_t start_sum;
	} * threads[DIFF_SIDE_COUNT]; /* per group */
	/*
	 * The group of before that a group of after is joined with, itself where it has no other name,
	 * UINT32_MAX for an orphan; only of groups that have threads in after.
	 */
	uint32_t *partner;
	struct diff_pair *pairs;
	size_t pair_count;
	size_t kind_count[DIFF_PAIR_KINDS];
	uint32_t *pair_of_group[DIFF_SIDE_COUNT];
	struct diff_rename *renames;
	size_t rename_count;
	struct arena arena; /* texts of the renames */
};

/* Finds cgroups of the orphans that have a new name and sets the partners of their groups. */
void diff_find_renames(struct diff *diff);

/* The name of the threads in the key of a pair on AXIS_ALL, up to its end. */
static inline const char *diff_thread_part(const struct diff_pair *pair)
{
	const char *process = pair->key + strlen(pair->key) + 1;

	return process + strlen(process) + 1;
}

/* Sets all that follows from the two sides: state, change, fraction and sort key. `differs` of a category is
 * the caller's. */
void diff_value_conclude(struct diff_value *value, bool is_ratio);

#endif
