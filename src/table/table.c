/* SPDX-License-Identifier: GPL-2.0-only */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

const char *const table_bar_names[TIME_PART_COUNT] = {
#define TIME_PART(id, name, ...) name,
#include "metric/time_part.def"
#undef TIME_PART
};

struct table *table_create(const char *section, size_t column_count)
{
	struct table *table = memory_allocate_zero(1, sizeof(*table));

	table->section = section;
	table->column_count = column_count;
	table->columns = arena_allocate_zero(&table->arena, column_count, sizeof(*table->columns));
	table->sort_column = SIZE_MAX;
	return table;
}

struct table *table_create_with(const char *section, const struct table_column columns[], size_t column_count)
{
	struct table *table = table_create(section, column_count);

	for (size_t i = 0; i < column_count; i++) {
		table->columns[i] = columns[i];
		table->columns[i].column = UINT32_MAX;
	}
	return table;
}

struct table_row *table_add_bare_row(struct table *table)
{
	struct table_row *row = MEMORY_APPEND(table->rows, table->row_count, table->row_capacity);

	*row = (struct table_row){.thread = UINT32_MAX};
	table->row_total = table->row_count;
	return row;
}

void table_add_cells(struct table *table, struct table_row *row)
{
	row->cells = arena_allocate_zero(&table->arena, table->column_count, sizeof(*row->cells));
}

struct table_row *table_add_row(struct table *table)
{
	struct table_row *row = table_add_bare_row(table);

	table_add_cells(table, row);
	return row;
}

struct table_row *table_add_named_row(struct table *table, const char *key, const char *label)
{
	struct table_row *row = table_add_row(table);

	row->key = key;
	row->key_length = strlen(key);
	row->label = label;
	row->label_length = strlen(label);
	return row;
}

const char *const cell_verdict_names[CELL_VERDICT_COUNT] = {
	[CELL_VERDICT_NONE] = "",
	[CELL_VERDICT_NO] = "no",
	[CELL_VERDICT_NOT_TESTED] = "not tested",
	[CELL_VERDICT_BURST] = "burst",
	[CELL_VERDICT_REAL] = "real",
};

const bool cell_style_is_change[CELL_STYLE_COUNT] = {
	[CELL_STYLE_CHANGE] = true,
	[CELL_STYLE_DERIVED_CHANGE] = true,
	[CELL_STYLE_CHANGE_PER_SECOND] = true,
	[CELL_STYLE_PERCENT_CHANGE] = true,
	[CELL_STYLE_PERCENT_EXACT_CHANGE] = true,
};

struct cell cell_of_text(const char *text)
{
	return (struct cell){.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = text, .sort = NAN};
}

struct cell cell_of_integer(uint64_t number, enum unit unit)
{
	return (struct cell){.state = CELL_VALUE,
			     .form = CELL_FORM_INTEGER,
			     .unit = unit,
			     .value.integer = number,
			     .sort = (double)number};
}

struct cell cell_of_real(double number, enum unit unit)
{
	return (struct cell){.state = CELL_VALUE,
			     .form = CELL_FORM_REAL,
			     .unit = unit,
			     .value.real = number,
			     .sort = number};
}

struct cell cell_in_style(double number, enum unit unit, enum cell_style style)
{
	struct cell cell = cell_of_real(number, unit);

	cell.style = style;
	return cell;
}

void cell_set_value(struct cell *cell, uint64_t number)
{
	cell->form = CELL_FORM_INTEGER;
	cell->style = CELL_STYLE_VALUE;
	cell->value.integer = number;
	cell->sort = (double)number;
}

struct cell cell_of_state(enum value_state state, reason_id reason, enum unit unit)
{
	static const enum cell_state states[] = {
		[VALUE_READ] = CELL_VALUE,
		[VALUE_ABSENT] = CELL_ABSENT,
		[VALUE_UNAVAILABLE] = CELL_UNAVAILABLE,
	};

	return (struct cell){.state = states[state],
			     .unit = unit,
			     .reason = state == VALUE_UNAVAILABLE ? reason : REASON_READ,
			     .sort = NAN};
}

struct cell cell_of_change(const struct cell *cell)
{
	const struct cell *before, *after;

	if (cell->style != CELL_STYLE_SIDES_CHANGE)
		return (struct cell){.state = CELL_EMPTY};
	before = &cell->sides[0];
	after = &cell->sides[1];
	if (before->state == CELL_ABSENT || after->state == CELL_ABSENT)
		return (struct cell){.state = CELL_EMPTY};
	if (before->state != CELL_VALUE || after->state != CELL_VALUE || before->partial || after->partial)
		return cell_of_state(VALUE_UNAVAILABLE, cell->reason, cell->unit);
	if (before->form == CELL_FORM_REAL)
		return cell_in_style(after->value.real - before->value.real, cell->unit,
				     CELL_STYLE_PERCENT_EXACT_CHANGE);
	return cell_in_style(number_difference(before->value.integer, after->value.integer), cell->unit,
			     CELL_STYLE_CHANGE);
}

double cell_number(const struct cell *cell)
{
	if (cell->state != CELL_VALUE)
		return NAN;
	if (cell->form == CELL_FORM_INTEGER)
		return (double)cell->value.integer;
	return cell->form == CELL_FORM_REAL ? cell->value.real : NAN;
}

void table_release(struct table *table)
{
	if (table == NULL)
		return;
	free(table->rows);
	arena_release(&table->arena);
	free(table);
}
