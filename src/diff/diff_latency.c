/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_latency.h"

#include <stdlib.h>

#include "base/memory.h"

/* Index of the pair of a group of that key, SIZE_MAX where no thread of the side is in it. */
static size_t find_pair(const struct diff *diff, enum diff_side side, const char *key, size_t length)
{
	uint32_t group = grouping_find(diff->grouping, key, length);

	if (group == UINT32_MAX || diff->threads[side][group].count == 0)
		return SIZE_MAX;
	return diff->pair_of_group[side][group];
}

struct diff_latency *diff_latency_create(const struct diff *diff, enum diff_side side)
{
	const struct snapshot *snapshot = diff->snapshots[side], *names;
	struct diff_latency *result;
	struct grouping *grouping;
	struct snapshot *sums;

	if (snapshot == NULL || !snapshot->latency.present)
		return NULL;
	names = sums = snapshot_create();
	free(latency_sums_add(sums, snapshot));
	/* what stands for several threads in the diff is a pattern here too */
	grouping = grouping_create(&diff->options.grouping, &names, 1, diff->patterns);
	result = memory_allocate_zero(diff->pair_count + 1, sizeof(*result));
	for (uint32_t i = 0; i < sums->latency.count; i++) {
		size_t length, pair;
		const char *key = grouping_key(grouping, grouping_of_triple(grouping, 0, i), &length);

		pair = find_pair(diff, side, key, length);
		for (size_t kind = 0; pair != SIZE_MAX && kind < LATENCY_KIND_COUNT; kind++)
			latency_merge(&result[pair].of[kind], &sums->latency.records[i].of[kind]);
	}
	grouping_release(grouping);
	snapshot_release(sums);
	return result;
}
