/* SPDX-License-Identifier: GPL-2.0-only */
#include "blame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"

const char blame_itself[] = "itself";

const char *const blame_cause_labels[LATENCY_CAUSE_COUNT] = {
#define LATENCY_CAUSE(id, name, meaning) [LATENCY_CAUSE_##id] = "(" name ")",
#include "snapshot/latency_cause.def"
#undef LATENCY_CAUSE
};

static int order_by_time(const void *left, const void *right)
{
	const struct latency_delay *a = left, *b = right;

	if (a->victim != b->victim || a->time_ns == b->time_ns)
		return latency_order_delays(left, right);
	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

static void join(struct blame *blame)
{
	blame->count = latency_join_delays(blame->entries, blame->count);
	if (blame->count != 0)
		qsort(blame->entries, blame->count, sizeof(*blame->entries), order_by_time);
}

static void add_to(uint64_t *sum, uint64_t time_ns)
{
	*sum = number_add_saturating(*sum, time_ns);
}

/* An empty one, with room for an entry of each delay. */
static struct blame *create(const struct grouping_options *options, const struct snapshot *names,
			    const struct latency *span, struct pattern_memory *patterns)
{
	struct blame *blame = memory_allocate_zero(1, sizeof(*blame));

	blame->groups = grouping_create(options, &names, 1, patterns);
	blame->span_ns = span->span_ns;
	blame->entries = memory_allocate((span->delay_count + 1) * sizeof(*blame->entries));
	return blame;
}

static void add_entry(struct blame *blame, const struct latency_delay *delay, uint32_t victim,
		      uint32_t culprit)
{
	blame->entries[blame->count++] = (struct latency_delay){
		.victim = victim,
		.culprit = culprit,
		.cause = delay->cause,
		.time_ns = delay->time_ns,
		.waits = delay->waits,
	};
	add_to(&blame->delayed_ns[victim], delay->time_ns);
}

struct blame *blame_create(const struct grouping_options *options, const struct snapshot *names,
			   const struct latency *span, struct pattern_memory *patterns)
{
	struct blame *blame;

	if (axis_is_by_thread(options->axis))
		return NULL;
	blame = create(options, names, span, patterns);
	blame->delayed_ns = memory_allocate_zero(grouping_count(blame->groups) + 1,
						 sizeof(*blame->delayed_ns));
	for (size_t i = 0; i < span->delay_count; i++) {
		const struct latency_delay *delay = &span->delays[i];

		add_entry(blame, delay, grouping_of_triple(blame->groups, 0, delay->victim),
			  delay->cause == LATENCY_CAUSE_THREADS
				  ? grouping_of_triple(blame->groups, 0, delay->culprit)
				  : BLAME_NOBODY);
	}
	join(blame);
	return blame;
}

struct blame *blame_create_by_row(const struct grouping_options *options, const struct snapshot *names,
				  const struct latency *span, struct pattern_memory *patterns,
				  const uint32_t row_of[], size_t row_count)
{
	struct blame *blame;

	if (axis_is_by_thread(options->axis))
		return NULL;
	blame = create(options, names, span, patterns);
	blame->first_group = (uint32_t)row_count;
	blame->delayed_ns = memory_allocate_zero(row_count + 1, sizeof(*blame->delayed_ns));
	for (size_t i = 0; i < span->delay_count; i++) {
		const struct latency_delay *delay = &span->delays[i];
		const uint32_t row = row_of[delay->victim];

		if (row == UINT32_MAX)
			continue;
		add_entry(blame, delay, row,
			  delay->cause != LATENCY_CAUSE_THREADS ? BLAME_NOBODY
			  : row_of[delay->culprit] == row
				  ? row
				  : blame->first_group +
					    grouping_of_triple(blame->groups, 0, delay->culprit));
	}
	join(blame);
	return blame;
}

void blame_release(struct blame *blame)
{
	if (blame == NULL)
		return;
	grouping_release(blame->groups);
	free(blame->entries);
	free(blame->delayed_ns);
	free(blame);
}

uint32_t blame_find(const struct blame *blame, const char *key, size_t length)
{
	return grouping_find(blame->groups, key, length);
}

const struct latency_delay *blame_of(const struct blame *blame, uint32_t victim, size_t *ret_count)
{
	return &blame->entries[order_find_run(blame->entries, blame->count, sizeof(*blame->entries), victim,
					      ret_count)];
}

const char *blame_culprit_label(const struct blame *blame, const struct latency_delay *entry,
				size_t *ret_length)
{
	const char *label = entry->cause != LATENCY_CAUSE_THREADS ? blame_cause_labels[entry->cause]
								  : blame_itself;

	if (entry->culprit != BLAME_NOBODY && entry->culprit != entry->victim)
		return grouping_label(blame->groups, entry->culprit - blame->first_group, ret_length);
	*ret_length = strlen(label);
	return label;
}
