/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of a comparison by the same threads, for each second, for each thread. */
#include <math.h>
#include <stdlib.h>

#include "table/cell_format.h"
#include "tables_build.h"

const char *const tables_per_names[TABLES_PER_COUNT + 1] = {
	[TABLES_PER_SECOND] = "second",
	[TABLES_PER_THREAD] = "thread",
};

static const enum unit units_per_second[UNIT_TOTAL] = {
	[UNIT_COUNT] = UNIT_COUNT_PER_S,
	[UNIT_NS] = UNIT_NS_PER_S,
	[UNIT_BYTES] = UNIT_BYTES_PER_S,
	[UNIT_TICKS] = UNIT_TICKS_PER_S,
};

static const struct diff_match_count *find_counts(const struct tables_build *build,
						  const struct diff_pair *pair)
{
	return build->counts != NULL && pair != NULL ? &build->counts[pair - build->diff->pairs] : NULL;
}

void tables_per_set_count(const struct tables_build *build, struct cell *cell, const struct diff_pair *pair,
			  enum tables_column column)
{
	const struct diff_match_count *counts = find_counts(build, pair);
	uint32_t count;

	cell->sort = NAN;
	if (pair == NULL)
		return;
	if (counts == NULL) {
		cell->state = CELL_ABSENT;
		return;
	}
	count = column == TABLES_COLUMN_SAME   ? counts->same
		: column == TABLES_COLUMN_CAME ? counts->came
					       : counts->went;
	tables_cell_set_count(cell, count);
}

/* The number of threads changes over time as counters do. */
static bool is_counted(const struct tables_row *content)
{
	return content->column == column_of_stored(METRIC_THREAD_COUNT) || column_is_counter(content->column);
}

void tables_per_set_second(struct tables_build *build, struct table *table, struct cell *cell,
			   const struct tables_row *content)
{
	const uint64_t interval_ns = build->request->interval_ns;
	const struct diff_value *value = &content->value;

	*cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (content->pair == NULL)
		cell->state = CELL_EMPTY;
	if (!is_counted(content) || interval_ns == 0 || value->state == VALUE_ABSENT)
		return;
	cell->unit = units_per_second[content->sides[DIFF_BEFORE].unit];
	if (!tables_cell_begin_change(cell, value))
		return;
	cell->form = CELL_FORM_REAL;
	cell->value.real = value->delta / ((double)interval_ns / 1e9);
	cell->sort = cell->value.real;
	cell_format_delta(&build->text, cell->value.real, content->ladder);
	buffer_append_text(&build->text, "/s");
	tables_cell_take_text(build, table, cell);
}

/* The threads whose numbers are in a side's sum. */
static uint32_t summed_threads(const struct tables_build *build, const struct diff_pair *pair,
			       enum diff_side side)
{
	const struct diff_match_count *counts = find_counts(build, pair);

	if (build->diff->options.successor == NULL || counts == NULL)
		return pair->threads[side];
	return side == DIFF_BEFORE ? counts->same : counts->same + counts->came;
}

void tables_per_set_thread(struct tables_build *build, struct table *table, struct cell *cell,
			   const struct tables_row *content)
{
	struct cell sides[DIFF_SIDE_COUNT] = {content->sides[0], content->sides[1]};

	*cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (content->pair == NULL)
		cell->state = CELL_EMPTY;
	if (!column_is_counter(content->column))
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const uint32_t threads = summed_threads(build, content->pair, (enum diff_side)side);
		struct cell *quotient = &sides[side];

		if (quotient->state != CELL_VALUE || quotient->form != CELL_FORM_INTEGER)
			continue;
		if (threads == 0) {
			*quotient = (struct cell){.state = CELL_ABSENT, .unit = quotient->unit};
			continue;
		}
		quotient->form = CELL_FORM_REAL;
		quotient->value.real = (double)content->sides[side].value.integer / threads;
		cell_format_derived(&build->text, quotient->value.real, content->ladder, false);
		tables_cell_take_text(build, table, quotient);
	}
	tables_cell_set_both(build, table, cell, sides, " → ");
}
