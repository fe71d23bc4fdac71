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

static const struct table_column columns[DIFF_FLOORS_COLUMNS] = {
	[DIFF_FLOORS_GROUP] = {NULL, .left = true}, /* named by the axis */
	[DIFF_FLOORS_METRIC] = {"metric", .left = true},
	[DIFF_FLOORS_MEAN] = {"mean", .measured = true},
	[DIFF_FLOORS_FLOOR] = {"floor", .measured = true},
};

/* A row: what a column of a pair does from run to run. */
struct noise {
	uint32_t pair;
	enum column column;
	double mean, floor;
	double times; /* the floor of the unit */
};

struct noises {
	struct noise *items;
	size_t count, capacity;
};

/* By how much two runs may differ without any change. */
static double floor_of(const double *numbers, size_t count)
{
	double least, most;

	statistics_range(numbers, count, &least, &most);
	return fmax(most - least, deviations * statistics_deviation(numbers, count, NULL, 0));
}

static void add_column(const struct diff *diff, enum column column, double numbers[], struct noises *noises)
{
	const double of_unit = column_is_ratio(column) ? DIFF_EVIDENCE_SIZE_MIN : diff_evidence_floor(column);

	for (uint32_t i = 0; i < diff->pair_count; i++) {
		const size_t count = diff_run_numbers(diff, &diff->pairs[i], DIFF_AFTER, column, numbers);
		const double floor = count >= 2 ? floor_of(numbers, count) : 0;

		if (floor <= of_unit)
			continue;
		*MEMORY_APPEND(noises->items, noises->count, noises->capacity) = (struct noise){
			.pair = i,
			.column = column,
			.mean = statistics_mean(numbers, count),
			.floor = floor,
			.times = floor / of_unit,
		};
	}
	diff_forget(diff);
}

/* Whether a column varies in its own right: it shows no metric, no name, and no time that passes anyway. */
static bool is_own_number(enum column column)
{
	const enum column_operation operation = column_entry(column)->operation;

	return column_stored_form(column) == column && !column_is_name(column) &&
	       operation != COLUMN_OPERATION_AGE && operation != COLUMN_OPERATION_WAITING;
}

static struct noises find_noises(const struct diff *diff)
{
	double *numbers = memory_allocate((diff->run_count[DIFF_AFTER] + 1) * sizeof(*numbers));
	struct noises noises = {0};

	for (enum column column = 0; column < COLUMN_TASK_FIELDS; column++) {
		if (column != COLUMN_COUNT && is_own_number(column))
			add_column(diff, column, numbers, &noises);
	}
	free(numbers);
	return noises;
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
	enum unit unit = column_report_unit(noise->column);
	struct buffer group = {0};
	struct table_row *row;
	const char *name;

	if (diff->options.rates && column_grows(noise->column))
		unit = unit_per_second(unit);
	buffer_append_text(&group, "");
	diff_floors_append_group(pair, &group);
	name = arena_duplicate(&table->arena, group.data, group.length);
	buffer_release(&group);
	row = table_add_named_row(table, name, name);
	row->is_own = pair->is_own;
	row->cells[DIFF_FLOORS_GROUP] = cell_of_text(name);
	row->cells[DIFF_FLOORS_METRIC] = cell_of_text(column_name(noise->column));
	row->cells[DIFF_FLOORS_MEAN] = cell_in_style(noise->mean, unit, CELL_STYLE_DERIVED);
	row->cells[DIFF_FLOORS_FLOOR] = cell_in_style(noise->floor, unit, CELL_STYLE_DERIVED);
}

struct table *noise_table_create(const struct diff *diff, size_t limit)
{
	struct table *table = table_create_with(DIFF_FLOORS_SECTION, columns, DIFF_FLOORS_COLUMNS);
	struct noises noises = find_noises(diff);

	table->columns[DIFF_FLOORS_GROUP].name = axes[diff->options.grouping.axis].name;
	if (limit == 0 || limit > noises.count)
		limit = noises.count;
	order_first(noises.items, noises.count, sizeof(*noises.items), limit, compare_noises, NULL);
	for (size_t i = 0; i < limit; i++)
		add_row(table, diff, &noises.items[i]);
	table->row_total = noises.count;
	free(noises.items);
	return table;
}
