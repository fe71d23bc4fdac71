/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of how long waits took: rates, percentiles and the longest, of groups that have any. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff/diff_latency.h"
#include "tables_build.h"

/* A number of a histogram. */
enum latency_number {
	LATENCY_PER_SECOND,
	LATENCY_P50,
	LATENCY_P90,
	LATENCY_P99,
	LATENCY_LONGEST,
	LATENCY_NUMBER_COUNT,
};

static const char *const number_names[LATENCY_KIND_COUNT][LATENCY_NUMBER_COUNT] = {
	[LATENCY_RUN_QUEUE] = {"run_queue_waits_per_s", "run_queue_p50_ns", "run_queue_p90_ns",
			       "run_queue_p99_ns", "run_queue_max_ns"},
	[LATENCY_BLOCKED] = {"blocked_waits_per_s", "blocked_p50_ns", "blocked_p90_ns", "blocked_p99_ns",
			     "blocked_max_ns"},
};

struct latency_table {
	struct tables_build *build;
	struct diff_latency *sides[DIFF_SIDE_COUNT]; /* by pair */
	size_t *order;                               /* pairs */
	double *weight;                              /* of each pair */
	struct table *table;
};

static uint64_t number_of(const struct latency_table *latency, enum diff_side side,
			  const struct latency_histogram *histogram, enum latency_number number)
{
	static const double shares[] = {[LATENCY_P50] = 0.5, [LATENCY_P90] = 0.9, [LATENCY_P99] = 0.99};
	const uint64_t span_ns = latency->build->diff->snapshots[side]->latency.span_ns;

	switch (number) {
	case LATENCY_PER_SECOND:
		return span_ns != 0
			       ? (uint64_t)llround((double)latency_count(histogram) * 1e9 / (double)span_ns)
			       : 0;
	case LATENCY_LONGEST:
		return histogram->max_ns;
	default:
		return (uint64_t)llround(latency_percentile(histogram, shares[number]));
	}
}

/* By how much the 99th of a hundred of either kind differs; of one snapshot how long it is. */
static double weigh(const struct latency_table *latency, size_t pair)
{
	double weight = 0;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		double change = 0;

		for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++) {
			double time = latency_percentile(&latency->sides[side][pair].of[kind], 0.99);

			change += side == DIFF_BEFORE ? -time : time;
		}
		weight = fmax(weight, fabs(change));
	}
	return weight;
}

/* By weight; pairs stand in the order of their names. */
static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct latency_table *latency = context;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;

	if (latency->weight[left] != latency->weight[right])
		return latency->weight[left] > latency->weight[right] ? -1 : 1;
	return order_u64(left, right);
}

static void set_side(const struct latency_table *latency, enum diff_side side,
		     const struct latency_histogram *histogram, enum latency_number number,
		     struct tables_row *content)
{
	struct diff_side_value *value = &content->value.side[side];
	struct cell *cell = &content->sides[side];

	cell->unit = number == LATENCY_PER_SECOND ? UNIT_COUNT_PER_S : UNIT_NS;
	/* where there was no wait there is no percentile either */
	if (number != LATENCY_PER_SECOND && latency_count(histogram) == 0) {
		value->state = VALUE_ABSENT;
		tables_cell_begin(cell, VALUE_ABSENT, REASON_READ);
		return;
	}
	value->has_number = true;
	value->number = (double)number_of(latency, side, histogram, number);
	tables_cell_set_integer(latency->build, latency->table, cell, (uint64_t)value->number,
				content->ladder);
}

static void add_row(struct latency_table *latency, size_t pair, const struct buffer *label, size_t kind,
		    enum latency_number number)
{
	struct tables_row content = {
		.label = label->data,
		.label_length = label->length,
		.pair = &latency->build->diff->pairs[pair],
		.name = number_names[kind][number],
		.metric = METRIC_NONE,
		.ladder = number == LATENCY_PER_SECOND ? LADDER_UNITLESS : LADDER_NS,
	};

	if (tables_add_row(latency->build, latency->table) == NULL)
		return;
	for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++)
		set_side(latency, (enum diff_side)side, &latency->sides[side][pair].of[kind], number,
			 &content);
	diff_value_conclude(&content.value, false);
	tables_row_fill(latency->build, latency->table, latency->table->row_count - 1, &content);
}

static bool has_waits(const struct latency_table *latency, size_t pair, size_t kind)
{
	for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (latency_count(&latency->sides[side][pair].of[kind]) != 0)
			return true;
	}
	return false;
}

static void build_table(struct latency_table *latency)
{
	const struct diff *diff = latency->build->diff;
	struct buffer label = {0};

	latency->table = tables_row_create_table(latency->build, sections[SECTION_LATENCY].name,
						 axes[diff->options.grouping.axis].header);
	for (size_t i = 0; i < diff->pair_count; i++) {
		const size_t pair = latency->order[i];

		buffer_clear(&label);
		diff_append_label(&diff->pairs[pair], &label);
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
			for (int n = 0; has_waits(latency, pair, kind) && n < LATENCY_NUMBER_COUNT; n++)
				add_row(latency, pair, &label, kind, (enum latency_number)n);
		}
	}
	tables_finish(latency->build, latency->table);
	buffer_release(&label);
}

void tables_latency(struct tables_build *build)
{
	const struct diff *diff = build->diff;
	struct latency_table latency = {.build = build};
	bool complete = true;

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		latency.sides[side] = diff_latency_create(diff, (enum diff_side)side);
		complete &= latency.sides[side] != NULL && !build->by_flags[side];
	}
	if (complete) {
		latency.order = memory_allocate((diff->pair_count + 1) * sizeof(*latency.order));
		latency.weight = memory_allocate((diff->pair_count + 1) * sizeof(*latency.weight));
		for (size_t i = 0; i < diff->pair_count; i++) {
			latency.order[i] = i;
			latency.weight[i] = weigh(&latency, i);
		}
		qsort_r(latency.order, diff->pair_count, sizeof(*latency.order), compare_pairs, &latency);
		build_table(&latency);
	}
	free(latency.order);
	free(latency.weight);
	free(latency.sides[DIFF_BEFORE]);
	free(latency.sides[DIFF_AFTER]);
}
