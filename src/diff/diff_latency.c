/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_latency.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "metric/name.h"

/* In place of a share. */
#define WAITS_PER_SECOND (-1.0)
#define MAXIMUM          2.0 /* of all waits */

static const struct number_entry {
	const char *name;
	enum latency_kind kind;
	double share;
} numbers[LATENCY_NUMBER_COUNT] = {
	[LATENCY_NUMBER_NONE] = {"", LATENCY_RUN_QUEUE, 0},
	[LATENCY_NUMBER_RUN_QUEUE_WAITS] = {"run_queue_waits_per_s", LATENCY_RUN_QUEUE, WAITS_PER_SECOND},
	[LATENCY_NUMBER_RUN_QUEUE_P50] = {"run_queue_p50_ns", LATENCY_RUN_QUEUE, 0.5},
	[LATENCY_NUMBER_RUN_QUEUE_P90] = {"run_queue_p90_ns", LATENCY_RUN_QUEUE, 0.9},
	[LATENCY_NUMBER_RUN_QUEUE_P99] = {"run_queue_p99_ns", LATENCY_RUN_QUEUE, 0.99},
	[LATENCY_NUMBER_RUN_QUEUE_MAX] = {"run_queue_max_ns", LATENCY_RUN_QUEUE, MAXIMUM},
	[LATENCY_NUMBER_BLOCKED_WAITS] = {"blocked_waits_per_s", LATENCY_BLOCKED, WAITS_PER_SECOND},
	[LATENCY_NUMBER_BLOCKED_P50] = {"blocked_p50_ns", LATENCY_BLOCKED, 0.5},
	[LATENCY_NUMBER_BLOCKED_P90] = {"blocked_p90_ns", LATENCY_BLOCKED, 0.9},
	[LATENCY_NUMBER_BLOCKED_P99] = {"blocked_p99_ns", LATENCY_BLOCKED, 0.99},
	[LATENCY_NUMBER_BLOCKED_MAX] = {"blocked_max_ns", LATENCY_BLOCKED, MAXIMUM},
};

/* Index of the pair of a group of that key, SIZE_MAX where no thread of the side is in it. */
static size_t find_pair(const struct diff *diff, enum diff_side side, const char *key, size_t length)
{
	uint32_t group = grouping_find(diff->grouping, key, length);

	if (group == UINT32_MAX || !diff_has_group(diff, side, group))
		return SIZE_MAX;
	return diff->pair_of_group[side][group];
}

/* The snapshot that has the waits that are compared; NULL for none. */
static const struct snapshot *waits_of(const struct diff *diff, enum diff_side side)
{
	const struct snapshot *snapshot = diff->snapshots[side];

	return snapshot != NULL && diff->options.rates ? snapshot->window->latency : snapshot;
}

struct diff_latency *diff_latency_create(const struct diff *diff, enum diff_side side)
{
	const struct snapshot *snapshot = waits_of(diff, side), *names;
	struct grouping_options options = diff->options.grouping;
	struct diff_latency *result;
	struct grouping *grouping;
	struct snapshot *sums;
	uint32_t other;

	/* they are counted by name and cgroup: whose they were is not known */
	if (snapshot == NULL || !snapshot->latency.present || axis_is_by_thread(options.axis))
		return NULL;
	names = sums = snapshot_create();
	free(latency_sums_add(sums, snapshot));
	/* what stands for several threads in the diff is a pattern here too */
	options.reference = grouping_is_reference(diff->grouping);
	grouping = grouping_create(&options, &names, 1, diff->patterns);
	result = memory_allocate_zero(diff->pair_count + 1, sizeof(*result));
	other = latency_sums_other(sums);
	for (uint32_t i = 0; i < sums->latency.count; i++) {
		size_t length, pair;
		const char *key = grouping_key(grouping, grouping_of_triple(grouping, 0, i), &length);

		pair = i == other ? diff->pair_count : find_pair(diff, side, key, length);
		for (size_t kind = 0; pair != SIZE_MAX && kind < LATENCY_KIND_COUNT; kind++)
			latency_merge(&result[pair].of[kind], &sums->latency.records[i].of[kind]);
	}
	grouping_release(grouping);
	snapshot_release(sums);
	return result;
}

enum latency_number diff_latency_find(const char *name, size_t length)
{
	/* the first has no name */
	size_t index = name_find(numbers + 1, LATENCY_NUMBER_COUNT - 1, sizeof(numbers[0]), name, length);

	return index == LATENCY_NUMBER_COUNT - 1 ? LATENCY_NUMBER_NONE : (enum latency_number)(index + 1);
}

const char *diff_latency_name(enum latency_number number)
{
	return numbers[number].name;
}

bool diff_latency_is_time(enum latency_number number)
{
	return numbers[number].share != WAITS_PER_SECOND;
}

enum latency_kind diff_latency_kind(enum latency_number number)
{
	return numbers[number].kind;
}

/* `unknown` more waits may be of the group. */
static double number_of(const struct latency_histogram *histogram, uint64_t span_ns, double share,
			uint64_t unknown)
{
	if (share == WAITS_PER_SECOND)
		return span_ns != 0 ? round((double)latency_count(histogram) * 1e9 / (double)span_ns) : 0;
	return share == MAXIMUM ? (double)histogram->max_ns
				: round(latency_percentile_at_least(histogram, share, unknown));
}

struct diff_side_value diff_latency_side(const struct diff *diff, const struct diff_pair *pair,
					 enum diff_side side, enum latency_number number)
{
	const struct diff_latency *latency = diff->latency[side];
	const struct number_entry *entry = &numbers[number];
	const struct latency_histogram *histogram;
	struct diff_side_value value = {.state = VALUE_ABSENT};
	uint64_t unknown;

	if (pair != NULL && pair->group[side] == UINT32_MAX)
		return value;
	if (latency == NULL)
		return (struct diff_side_value){.state = VALUE_UNAVAILABLE, .reason = REASON_NOT_IN_FILE};
	histogram = &latency[pair != NULL ? (size_t)(pair - diff->pairs) : diff->pair_count].of[entry->kind];
	unknown = pair != NULL ? latency_count(&latency[diff->pair_count].of[entry->kind]) : 0;
	if (unknown == 0 && diff_latency_is_time(number) && latency_count(histogram) == 0)
		return value;
	value.number = number_of(histogram, waits_of(diff, side)->latency.span_ns, entry->share, unknown);
	value.partial = unknown != 0;
	value.reason = value.partial ? REASON_UNDER_OTHER : REASON_READ;
	/* at least nothing is no more than nothing known */
	value.has_number = !value.partial || value.number > 0;
	value.state = value.has_number ? VALUE_READ : VALUE_UNAVAILABLE;
	value.partial &= value.has_number;
	return value;
}
