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

static int order_by_size(const void *left, const void *right)
{
	const struct latency_delay *a = left, *b = right;
	/* all entries have times, or none has */
	const uint64_t of_a = a->time_ns != 0 ? a->time_ns : a->wakes;
	const uint64_t of_b = b->time_ns != 0 ? b->time_ns : b->wakes;

	if (a->victim != b->victim || of_a == of_b)
		return latency_order_delays(left, right);
	return (of_a < of_b) - (of_a > of_b);
}

static void add_entry(struct blame *blame, const struct latency_delay *delay, uint32_t victim,
		      uint32_t culprit)
{
	struct latency_delay entry = {.victim = victim, .culprit = culprit, .cause = delay->cause};
	uint64_t *whole = &blame->whole[victim];

	if (blame->relation == BLAME_DELAYED_BY) {
		entry.time_ns = delay->time_ns;
		entry.waits = delay->waits;
	} else {
		entry.wakes = delay->wakes;
	}
	*whole = number_add_saturating(*whole, blame_size(blame, &entry));
	blame->entries[blame->count++] = entry;
}

/* Whether a delay is of the relation, and if so the records of its two groups; `*ret_second`: UINT32_MAX:
 * none. */
static bool relates(const struct blame *blame, const struct latency_delay *delay, uint32_t *ret_first,
		    uint32_t *ret_second)
{
	const bool has_second = delay->cause == LATENCY_CAUSE_THREADS;
	const uint32_t second = has_second ? delay->culprit : UINT32_MAX;

	*ret_first = blame->relation == BLAME_WAKES ? second : delay->victim;
	*ret_second = blame->relation == BLAME_WAKES ? delay->victim : second;
	return *ret_first != UINT32_MAX && blame_size(blame, delay) != 0;
}

struct blame *blame_create(const struct grouping_options *options, const struct snapshot *names,
			   const struct latency *span, struct pattern_memory *patterns,
			   enum blame_relation relation)
{
	return blame_create_by_row(options, names, span, patterns, relation, NULL, 0);
}

/* By groups where `row_of` is NULL. */
struct blame *blame_create_by_row(const struct grouping_options *options, const struct snapshot *names,
				  const struct latency *span, struct pattern_memory *patterns,
				  enum blame_relation relation, const uint32_t row_of[], size_t row_count)
{
	struct blame *blame;

	if (axis_is_by_thread(options->axis))
		return NULL;
	blame = memory_allocate_zero(1, sizeof(*blame));
	blame->groups = grouping_create(options, &names, 1, patterns);
	blame->relation = relation;
	blame->span_ns = span->span_ns;
	blame->first_group = (uint32_t)row_count;
	blame->entries = memory_allocate((span->delay_count + 1) * sizeof(*blame->entries));
	if (row_of == NULL)
		row_count = grouping_count(blame->groups);
	blame->whole = memory_allocate_zero(row_count + 1, sizeof(*blame->whole));
	for (size_t i = 0; i < span->delay_count; i++) {
		uint32_t first, second, victim, culprit = BLAME_NOBODY;

		if (!relates(blame, &span->delays[i], &first, &second))
			continue;
		victim = row_of != NULL ? row_of[first] : grouping_of_triple(blame->groups, 0, first);
		if (victim == UINT32_MAX)
			continue;
		if (row_of != NULL && second != UINT32_MAX && row_of[second] == victim)
			culprit = victim;
		else if (second != UINT32_MAX)
			culprit = blame->first_group + grouping_of_triple(blame->groups, 0, second);
		add_entry(blame, &span->delays[i], victim, culprit);
	}
	blame->count = latency_join_delays(blame->entries, blame->count);
	if (blame->count != 0)
		qsort(blame->entries, blame->count, sizeof(*blame->entries), order_by_size);
	return blame;
}

void blame_release(struct blame *blame)
{
	if (blame == NULL)
		return;
	grouping_release(blame->groups);
	free(blame->entries);
	free(blame->whole);
	free(blame);
}

uint64_t blame_size(const struct blame *blame, const struct latency_delay *entry)
{
	return blame->relation == BLAME_DELAYED_BY ? entry->time_ns : entry->wakes;
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
