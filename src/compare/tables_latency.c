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

struct latency_table {
	struct tables_build *build;
	size_t *order; /* pairs, and `(other)` as one more behind the last */
	struct table *table;
};

/* The number of a side; 0 where there is none. */
static double number_of(const struct latency_table *latency, size_t pair, size_t side, enum column column)
{
	const struct diff *diff = latency->build->diff;
	struct value value;
	double number;

	diff_side(diff, &diff->pairs[pair], (enum diff_side)side, column, &value);
	return value.state == VALUE_READ && value_number(&value, &number) ? number : 0;
}

/* By how much the 99th of a hundred of either kind differs; of one snapshot how long it is. */
static double weigh(const struct latency_table *latency, size_t pair)
{
	double weight = 0;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		const enum column column = kind == LATENCY_RUN_QUEUE ? COLUMN_RQ99 : COLUMN_D99;
		double change = 0;

		for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++) {
			const double time = number_of(latency, pair, side, column);

			change += side == DIFF_BEFORE ? -time : time;
		}
		weight = fmax(weight, fabs(change));
	}
	return weight;
}

static void add_row(struct latency_table *latency, size_t index, const struct buffer *label,
		    enum column column)
{
	struct tables_build *build = latency->build;
	struct tables_row content;
	struct table_column described;

	if (tables_add_row(build, latency->table) == NULL)
		return;
	content = tables_row_of_column(build, latency->table, &build->diff->pairs[index], column, label);
	if (index == build->diff->pair_count)
		content.pair = NULL;
	column_describe(column, WINDOW_MODE_RATE, false, &latency->table->arena, &described);
	content.name = described.name;
	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		content.sides[side].unit = described.unit;
	tables_row_fill(build, latency->table, latency->table->row_count - 1, &content);
}

static bool has_waits(const struct latency_table *latency, size_t pair, size_t kind)
{
	for (size_t side = latency->build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (number_of(latency, pair, side, numbers[kind][0]) != 0)
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
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
			for (size_t n = 0; has_waits(latency, pair, kind) && n < ARRAY_COUNT(numbers[kind]);
			     n++)
				add_row(latency, pair, &label, numbers[kind][n]);
		}
	}
	tables_finish(latency->build, latency->table);
	buffer_release(&label);
}

void tables_latency(struct tables_build *build)
{
	const struct diff *diff = build->diff;
	struct latency_table latency = {.build = build};
	double *weights;

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (diff->reductions[side]->shown.latency_row_of == NULL || build->by_flags[side])
			return;
	}
	weights = memory_allocate((diff->pair_count + 1) * sizeof(*weights));
	for (size_t i = 0; i < diff->pair_count + 1; i++)
		weights[i] = weigh(&latency, i);
	latency.order = tables_order(weights, diff->pair_count + 1);
	build_table(&latency);
	free(latency.order);
	free(weights);
}
