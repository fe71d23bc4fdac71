/* SPDX-License-Identifier: GPL-2.0-only */
#include "noise_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff_evidence.h"
#include "diff_floors.h"
#include "statistics.h"

/* 1.96 standard deviations of a difference, which has the square root of 2 times that of a number. */
static const double deviations = 2.77;

enum noise_column {
	NOISE_GROUP,
	NOISE_METRIC,
	NOISE_MEAN,
	NOISE_FLOOR,
};

static const struct table_column columns[] = {
	[NOISE_GROUP] = {DIFF_FLOORS_GROUP, .left = true},
	[NOISE_METRIC] = {DIFF_FLOORS_METRIC, .left = true},
	[NOISE_MEAN] = {"mean", .measured = true},
	[NOISE_FLOOR] = {DIFF_FLOORS_FLOOR, .measured = true},
};

/* A row: what a column of a pair does from run to run. */
struct noise {
	uint32_t pair;
	enum column column;
	double mean, floor;
	double times; /* the floor of the unit */
};

struct noises {
	const struct diff *diff;
	struct noise *items;
	size_t count, capacity;
	double *numbers; /* scratch: of the runs */
};

/* The floor of the unit; a column without one has none to be compared with. */
static double default_floor(enum column column)
{
	const double floor = column_is_ratio(column) ? DIFF_EVIDENCE_SIZE_MIN : diff_evidence_floor(column);

	return floor > 0 ? floor : 1;
}

/* By how much two runs may differ without any change. */
static double floor_of(const double *numbers, size_t count)
{
	double least, most;

	statistics_range(numbers, count, &least, &most);
	return fmax(most - least, deviations * statistics_deviation(numbers, count, NULL, 0));
}

static void add_column(struct noises *noises, enum column column)
{
	const struct diff *diff = noises->diff;

	for (uint32_t i = 0; i < diff->pair_count; i++) {
		const size_t count = diff_run_numbers(diff, &diff->pairs[i], DIFF_AFTER, column,
						      noises->numbers);
		double floor;

		if (count < 2)
			continue;
		floor = floor_of(noises->numbers, count);
		if (floor <= default_floor(column))
			continue;
		*MEMORY_APPEND(noises->items, noises->count, noises->capacity) = (struct noise){
			.pair = i,
			.column = column,
			.mean = statistics_mean(noises->numbers, count),
			.floor = floor,
			.times = floor / default_floor(column),
		};
	}
	diff_forget(diff);
}

/* Whether a column of the screen varies in its own right: it shows no metric, and no time that passes anyway.
 */
static bool is_own_number(enum column column)
{
	const enum column_operation operation = column_entry(column)->operation;

	return column_stored_form(column) == column && operation != COLUMN_OPERATION_AGE &&
	       operation != COLUMN_OPERATION_WAITING;
}

static int compare_noises(const void *a, const void *b, void *context)
{
	const struct noise *left = a, *right = b;
	const int order = order_numbers(left->times, right->times, false);

	(void)context;
	if (order != 0)
		return order;
	return left->pair != right->pair ? order_u64(left->pair, right->pair)
					 : order_u64(left->column, right->column);
}

static void add_row(struct table *table, const struct diff *diff, const struct noise *noise)
{
	const struct diff_pair *pair = &diff->pairs[noise->pair];
	struct table_row *row = table_add_row(table);
	struct buffer group = {0};
	enum unit unit = column_report_unit(noise->column);

	if (diff->options.rates && column_grows(noise->column))
		unit = unit_per_second(unit);
	diff_floors_append_group(pair, &group);
	row->key = row->label = arena_duplicate(&table->arena, group.data != NULL ? group.data : "",
						group.length);
	row->key_length = row->label_length = group.length;
	row->is_own = pair->is_own;
	row->cells[NOISE_GROUP] = cell_of_text(row->key);
	row->cells[NOISE_METRIC] = cell_of_text(
		arena_format(&table->arena, "%s", column_name(noise->column)));
	row->cells[NOISE_MEAN] = cell_in_style(noise->mean, unit, CELL_STYLE_DERIVED);
	row->cells[NOISE_FLOOR] = cell_in_style(noise->floor, unit, CELL_STYLE_DERIVED);
	buffer_release(&group);
}

struct table *noise_table_create(const struct diff *diff, size_t limit)
{
	struct table *table = table_create_with(DIFF_FLOORS_SECTION, columns, ARRAY_COUNT(columns));
	struct noises noises = {.diff = diff};

	noises.numbers = memory_allocate((diff->run_count[DIFF_AFTER] + 1) * sizeof(double));
	for (int i = 0; i < METRIC_COUNT; i++)
		add_column(&noises, column_of_stored((enum metric)i));
	for (int i = 0; i < DERIVED_COUNT; i++)
		add_column(&noises, column_of_derived((enum derived)i));
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (is_own_number(column))
			add_column(&noises, column);
	}
	if (limit == 0 || limit > noises.count)
		limit = noises.count;
	order_first(noises.items, noises.count, sizeof(*noises.items), limit, compare_noises, NULL);
	for (size_t i = 0; i < limit; i++)
		add_row(table, diff, &noises.items[i]);
	table->row_total = noises.count;
	free(noises.items);
	free(noises.numbers);
	return table;
}
