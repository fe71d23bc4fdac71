/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of how long waits took: rates, percentiles and the longest, of groups that have any. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff/diff_latency.h"
#include "tables_build.h"

struct latency_table {
	struct tables_build *build;
	size_t *order;  /* pairs, and `(other)` as one more behind the last */
	double *weight; /* of each of them */
	struct table *table;
};

/* By how much the 99th of a hundred of either kind differs; of one snapshot how long it is. */
static double weigh(const struct latency_table *latency, size_t pair)
{
	double weight = 0;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		double change = 0;

		for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++) {
			double time = latency_percentile(&latency->build->diff->latency[side][pair].of[kind],
							 0.99);

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

static void set_side(const struct latency_table *latency, enum diff_side side, enum latency_number number,
		     struct tables_row *content)
{
	struct diff_side_value *value = &content->value.side[side];
	struct cell *cell = &content->sides[side];

	*value = diff_latency_side(latency->build->diff, content->pair, side, number);
	cell->unit = diff_latency_is_time(number) ? UNIT_NS : UNIT_COUNT_PER_S;
	if (value->state != VALUE_READ) {
		tables_cell_begin(cell, value->state, value->reason);
		return;
	}
	tables_cell_set_integer(latency->build, latency->table, cell, (uint64_t)value->number,
				content->ladder);
	cell->partial = value->partial;
	cell->reason = value->reason;
}

static void add_row(struct latency_table *latency, size_t pair, const struct buffer *label,
		    enum latency_number number)
{
	struct tables_row content = {
		.label = label->data,
		.label_length = label->length,
		.pair = pair < latency->build->diff->pair_count ? &latency->build->diff->pairs[pair] : NULL,
		.name = diff_latency_name(number),
		.column = COLUMN_COUNT,
		.ladder = diff_latency_is_time(number) ? LADDER_NS : LADDER_UNITLESS,
	};

	if (tables_add_row(latency->build, latency->table) == NULL)
		return;
	for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++)
		set_side(latency, (enum diff_side)side, number, &content);
	diff_value_conclude(&content.value, false);
	tables_row_fill(latency->build, latency->table, latency->table->row_count - 1, &content);
}

static bool has_waits(const struct latency_table *latency, size_t pair, size_t kind)
{
	for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (latency_count(&latency->build->diff->latency[side][pair].of[kind]) != 0)
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
	for (size_t i = 0; i < diff->pair_count + 1; i++) {
		const size_t pair = latency->order[i];

		buffer_clear(&label);
		if (pair < diff->pair_count)
			diff_append_label(&diff->pairs[pair], &label);
		else
			buffer_append_text(&label, latency_other_name);
		for (int n = LATENCY_NUMBER_NONE + 1; n < LATENCY_NUMBER_COUNT; n++) {
			const enum latency_number number = (enum latency_number)n;

			if (has_waits(latency, pair, diff_latency_kind(number)))
				add_row(latency, pair, &label, number);
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

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		complete &= diff->latency[side] != NULL && !build->by_flags[side];
	if (complete) {
		latency.order = memory_allocate((diff->pair_count + 1) * sizeof(*latency.order));
		latency.weight = memory_allocate((diff->pair_count + 1) * sizeof(*latency.weight));
		for (size_t i = 0; i < diff->pair_count + 1; i++) {
			latency.order[i] = i;
			latency.weight[i] = weigh(&latency, i);
		}
		qsort_r(latency.order, diff->pair_count + 1, sizeof(*latency.order), compare_pairs, &latency);
		build_table(&latency);
	}
	free(latency.order);
	free(latency.weight);
}
