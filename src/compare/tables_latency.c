/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of how long waits took: rates, percentiles and the longest, of groups that have any. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "table/value_cell.h"
#include "tables_internal.h"

/* The columns that are its rows, those of one kind of waits after those of the other; the first counts. */
static const enum column numbers[LATENCY_KIND_COUNT][5] = {
	[LATENCY_RUN_QUEUE] = {COLUMN_WAITS, COLUMN_RQ50, COLUMN_RQ90, COLUMN_RQ99, COLUMN_RQMAX},
	[LATENCY_BLOCKED] = {COLUMN_DWAITS, COLUMN_D50, COLUMN_D90, COLUMN_D99, COLUMN_DMAX},
};

/* The number of a side; 0 without one. */
static double number_of(const struct tables_build *build, size_t pair, size_t side, enum column column)
{
	struct value value;
	double number;

	diff_side(build->diff, &build->diff->pairs[pair], (enum diff_side)side, column, &value);
	return value.state == VALUE_READ && value_number(&value, &number) ? number : 0;
}

/* By how much the 99th percentile of either kind differs; of one snapshot how long it is. */
static double weigh(const struct tables_build *build, size_t pair)
{
	double weight = 0;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		const enum column column = kind == LATENCY_RUN_QUEUE ? COLUMN_RQ99 : COLUMN_D99;
		double change = number_of(build, pair, DIFF_AFTER, column);

		if (build->is_comparison)
			change -= number_of(build, pair, DIFF_BEFORE, column);
		weight = fmax(weight, fabs(change));
	}
	return weight;
}

static void add_row(struct tables_build *build, size_t index, const struct buffer *label, enum column column)
{
	struct tables_row content;
	struct table_column described;

	if (tables_add_row(build) == NULL)
		return;
	content = tables_row_of_column(build, &build->diff->pairs[index], column, label);
	if (index == build->diff->pair_count)
		content.pair = NULL;
	column_describe(column, WINDOW_MODE_RATE, false, &build->table->arena, &described);
	content.name = described.name;
	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		content.sides[side].unit = described.unit;
	tables_row_fill(build, build->table->row_count - 1, &content);
}

static void add_rows(void *context, size_t pair, const struct buffer *label)
{
	struct tables_build *build = context;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		const enum column waits = numbers[kind][0];

		if (number_of(build, pair, DIFF_AFTER, waits) == 0 &&
		    (!build->is_comparison || number_of(build, pair, DIFF_BEFORE, waits) == 0))
			continue;
		for (size_t i = 0; i < ARRAY_COUNT(numbers[kind]); i++)
			add_row(build, pair, label, numbers[kind][i]);
	}
}

void tables_latency(struct tables_build *build)
{
	const size_t count = build->diff->pair_count + 1;
	double *weights;

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (build->diff->reductions[side]->shown.latency_row_of == NULL || build->by_flags[side])
			return;
	}
	weights = memory_allocate(count * sizeof(*weights));
	for (size_t i = 0; i < count; i++)
		weights[i] = weigh(build, i);
	tables_row_make(build, SECTION_LATENCY, weights, count, add_rows, build);
	free(weights);
}
