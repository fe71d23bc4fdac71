/* SPDX-License-Identifier: GPL-2.0-only */
#include "blame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

const char blame_itself[] = "itself";

const char *const blame_cause_labels[LATENCY_CAUSE_COUNT] = {
#define LATENCY_CAUSE(id, name, meaning) [LATENCY_CAUSE_##id] = "(" name ")",
#include "snapshot/latency_cause.def"
#undef LATENCY_CAUSE
};

static int order_pairs(const void *left, const void *right)
{
	const struct blame_entry *a = left, *b = right;

	if (a->victim != b->victim)
		return (a->victim > b->victim) - (a->victim < b->victim);
	if (a->cause != b->cause)
		return (a->cause > b->cause) - (a->cause < b->cause);
	return (a->culprit > b->culprit) - (a->culprit < b->culprit);
}

static int order_by_time(const void *left, const void *right)
{
	const struct blame_entry *a = left, *b = right;

	if (a->victim != b->victim || a->time_ns == b->time_ns)
		return order_pairs(left, right);
	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

/* Makes one of all with the same victim and culprit. */
static void join(struct blame *blame)
{
	size_t count = 0;

	qsort(blame->entries, blame->count, sizeof(*blame->entries), order_pairs);
	for (size_t i = 0; i < blame->count; i++) {
		struct blame_entry *last = count != 0 ? &blame->entries[count - 1] : NULL;

		if (last == NULL || order_pairs(last, &blame->entries[i]) != 0) {
			blame->entries[count++] = blame->entries[i];
			continue;
		}
		last->time_ns = number_add_saturating(last->time_ns, blame->entries[i].time_ns);
		last->waits = number_add_saturating(last->waits, blame->entries[i].waits);
	}
	blame->count = count;
	qsort(blame->entries, count, sizeof(*blame->entries), order_by_time);
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
	blame->entries[blame->count++] = (struct blame_entry){
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

const struct blame_entry *blame_of(const struct blame *blame, uint32_t victim, size_t *ret_count)
{
	size_t first = 0, end = blame->count, after;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (blame->entries[middle].victim < victim)
			first = middle + 1;
		else
			end = middle;
	}
	for (after = first; after < blame->count && blame->entries[after].victim == victim; after++)
		continue;
	*ret_count = after - first;
	return &blame->entries[first];
}

const char *blame_culprit_label(const struct blame *blame, const struct blame_entry *entry,
				size_t *ret_length)
{
	const char *label = entry->cause != LATENCY_CAUSE_THREADS ? blame_cause_labels[entry->cause]
								  : blame_itself;

	if (entry->culprit != BLAME_NOBODY && entry->culprit != entry->victim)
		return grouping_label(blame->groups, entry->culprit - blame->first_group, ret_length);
	*ret_length = strlen(label);
	return label;
}
