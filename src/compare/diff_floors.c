/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_floors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/string_pool.h"
#include "statistics.h"

struct diff_floors {
	enum axis axis;
	struct string_pool names; /* group, tab and metric; id 0 is the empty string */
	double *floors;           /* by id of such a name, [names.count] */
	size_t capacity;
};

double diff_floors_of_unit(enum column column)
{
	const bool is_counter = diff_has_amounts(column);

	switch (column_report_ladder(column)) {
	case LADDER_NS:
		return is_counter ? 10e6 : 1e6; /* 1 % of a CPU, or a wait that somebody notices */
	case LADDER_US:
		return is_counter ? 10e3 : 1e3;
	case LADDER_TICKS:
		return is_counter ? 1 : 0;
	case LADDER_BYTES:
		return is_counter ? 65536 : 1048576;
	case LADDER_UNITLESS:
		return is_counter ? 10 : 1;
	case LADDER_NONE:
		return is_counter ? 10 : 0.01; /* a share, or CPUs of a limit */
	}
	return 0;
}

double diff_floors_of(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct diff_floors *floors = diff->options.floors;
	struct buffer name = {0};
	uint32_t id;

	if (floors == NULL || floors->axis != diff->options.grouping.axis || diff->options.single)
		return diff_floors_of_unit(column);
	diff_append_parts(pair->key, pair->key_length, &name);
	buffer_append_format(&name, "\t%s", column_name(column_stored_form(column)));
	id = string_pool_find(&floors->names, name.data, name.length);
	buffer_release(&name);
	return id != UINT32_MAX ? floors->floors[id] : diff_floors_of_unit(column);
}

/* --- what varies from run to run --- */

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
static double floor_of_runs(const double *numbers, size_t count)
{
	double least, most;

	statistics_range(numbers, count, &least, &most);
	return fmax(most - least, deviations * statistics_deviation(numbers, count, NULL, 0));
}

static void add_column(const struct diff *diff, enum column column, double numbers[], struct noises *noises)
{
	const double of_unit = column_is_ratio(column) ? DIFF_FLOORS_PART : diff_floors_of_unit(column);

	for (uint32_t i = 0; i < diff->pair_count; i++) {
		const size_t count = diff_run_numbers(diff, &diff->pairs[i], DIFF_AFTER, column, numbers);
		const double floor = count >= 2 ? floor_of_runs(numbers, count) : 0;

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
	diff_append_parts(pair->key, pair->key_length, &group);
	name = arena_duplicate(&table->arena, group.data, group.length);
	buffer_release(&group);
	row = table_add_named_row(table, name, name);
	row->is_own = pair->is_own;
	row->cells[DIFF_FLOORS_GROUP] = cell_of_text(name);
	row->cells[DIFF_FLOORS_METRIC] = cell_of_text(column_name(noise->column));
	row->cells[DIFF_FLOORS_MEAN] = cell_in_style(noise->mean, unit, CELL_STYLE_DERIVED);
	row->cells[DIFF_FLOORS_FLOOR] = cell_in_style(noise->floor, unit, CELL_STYLE_DERIVED);
}

struct table *diff_floors_table(const struct diff *diff, size_t limit)
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

/* --- reading --- */

/* The rest of a text in CSV (RFC 4180), and the line that was read last. */
struct csv {
	const char *next, *end;
	struct buffer fields[DIFF_FLOORS_COLUMNS + 1]; /* the last one has what is not needed */
};

/* Appends the next field to `*field`. Returns the comma or line feed after it, NUL at the end. */
static char read_field(struct csv *csv, struct buffer *field)
{
	bool is_quoted = false;

	while (csv->next < csv->end) {
		const char character = *csv->next++;

		if (!is_quoted && (character == ',' || character == '\n'))
			return character;
		if (character != '"') {
			buffer_append_char(field, character);
		} else if (is_quoted && csv->next < csv->end && *csv->next == '"') {
			/* two of them are one that belongs to the field */
			buffer_append_char(field, *csv->next++);
		} else {
			is_quoted = !is_quoted;
		}
	}
	return '\0';
}

/* Reads the fields of a line. Those that it lacks are empty texts. */
static void read_line(struct csv *csv)
{
	char after = ',';

	for (size_t i = 0; i <= DIFF_FLOORS_COLUMNS; i++) {
		buffer_clear(&csv->fields[i]);
		buffer_append_text(&csv->fields[i], "");
	}
	for (size_t i = 0; after == ','; i += i < DIFF_FLOORS_COLUMNS)
		after = read_field(csv, &csv->fields[i]);
}

/* Reads the floor of a group and metric. Returns false for any other line. */
static bool read_floor(struct diff_floors *floors, struct csv *csv)
{
	const struct buffer *number = &csv->fields[DIFF_FLOORS_FLOOR];
	struct buffer *name = &csv->fields[DIFF_FLOORS_GROUP];
	double floor;
	uint32_t id;
	char *end;

	read_line(csv);
	floor = strtod(number->data, &end);
	if (number->length == 0 || *end != '\0' || !(floor >= 0))
		return false;
	buffer_append_format(name, "\t%s", csv->fields[DIFF_FLOORS_METRIC].data);
	id = string_pool_intern(&floors->names, name->data, name->length);
	floors->floors = memory_grow(floors->floors, &floors->capacity, (size_t)id + 1, sizeof(double));
	floors->floors[id] = floor;
	return true;
}

/* Reads the section, the names of the columns, the first of which is the axis, and the floors. Returns false
 * for any other table. */
static bool read_floors(struct diff_floors *floors, struct csv *csv)
{
	bool are_floors;

	read_line(csv);
	are_floors = strcmp(csv->fields[0].data, "# " DIFF_FLOORS_SECTION) == 0;
	read_line(csv);
	floors->axis = axis_find(csv->fields[DIFF_FLOORS_GROUP].data);
	are_floors &= floors->axis != AXIS_COUNT;
	while (are_floors && csv->next < csv->end)
		are_floors = read_floor(floors, csv);
	return are_floors;
}

int diff_floors_parse(const char *text, size_t length, const char *name, enum axis axis,
		      struct diff_floors **ret_floors, struct error *error)
{
	struct csv csv = {.next = text, .end = length != 0 ? text + length : text};
	struct diff_floors *floors = memory_allocate_zero(1, sizeof(*floors));
	int result = 0;

	if (!read_floors(floors, &csv))
		result = error_set(error, -EINVAL,
				   "%s is no table of floors in CSV: make one with 'ctop diff RUN RUN RUN "
				   "--noise --format csv -o FILE'",
				   name);
	else if (floors->axis != axis)
		result = error_set(error, -EINVAL, "%s has floors of groups by %s: compare with -g %s", name,
				   axes[floors->axis].word, axes[floors->axis].word);
	for (size_t i = 0; i <= DIFF_FLOORS_COLUMNS; i++)
		buffer_release(&csv.fields[i]);
	if (result == 0)
		*ret_floors = floors;
	else
		diff_floors_release(floors);
	return result;
}

void diff_floors_release(struct diff_floors *floors)
{
	if (floors == NULL)
		return;
	string_pool_release(&floors->names);
	free(floors->floors);
	free(floors);
}
