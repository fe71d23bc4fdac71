/* SPDX-License-Identifier: GPL-2.0-only */
#include "table_build.h"

#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "cell_format.h"

const struct table_build_columns cgroup_stats_columns = {
	{
		{"cgroup", .left = true},
		{"cpu_usage_usec", .measured = true},
		{"nr_throttled", .measured = true},
		{"throttled_usec", .measured = true},
		{"memory_current", .measured = true},
	},
	5,
};

const struct table_build_columns cgroup_limits_columns = {
	{
		{"cgroup", .left = true},
		{"cpu.max", .measured = true},
		{"cpu.weight", .measured = true},
		{"memory.max", .measured = true},
		{"memory.high", .measured = true},
		{"pids.current", .measured = true},
		{"pids.max", .measured = true},
	},
	7,
};

const struct table_build_columns memory_stat_columns = {
	{{"cgroup", .left = true}, {"key", .left = true}, {"value", .measured = true}},
	3,
};

const struct table_build_columns memory_events_columns = {
	{{"cgroup", .left = true}, {"event", .left = true}, {"count", .measured = true}},
	3,
};

const struct table_build_columns cgroup_pressure_columns = {
	{
		{"cgroup", .left = true},
		{"row", .left = true},
		{"avg10", .measured = true},
		{"avg60", .measured = true},
		{"avg300", .measured = true},
		{"total", .measured = true},
	},
	6,
};

const struct table_build_columns host_pressure_columns = {
	{
		{"row", .left = true},
		{"avg10", .measured = true},
		{"avg60", .measured = true},
		{"avg300", .measured = true},
		{"total", .measured = true},
	},
	5,
};

const struct table_build_columns sched_ext_columns = {
	{{"attr", .left = true}, {"value", .measured = true}},
	2,
};

struct table *table_build_create(const char *section, const struct table_build_columns *columns)
{
	struct table *table = table_create(section, columns->count);

	for (size_t i = 0; i < columns->count; i++) {
		table->columns[i].name = columns->items[i].name;
		table->columns[i].title = columns->items[i].name;
		table->columns[i].left = columns->items[i].left;
		table->columns[i].measured = columns->items[i].measured;
	}
	return table;
}

struct table *table_build_continue(struct table_build *build, struct table *table)
{
	struct table *next;

	if (build->chunk_rows == 0 || table->row_count < build->chunk_rows)
		return table;
	next = table_create(table->section, table->column_count);
	memcpy(next->columns, table->columns, table->column_count * sizeof(*table->columns));
	next->continues = true;
	next->rows_before = table->rows_before + table->row_count;
	table->more = true;
	table_build_finish(build, table);
	return next;
}

struct table_row *table_build_add_row(struct table_build *build, struct table *table)
{
	struct table_row *row;
	size_t total = table->row_total + 1;

	if (build->limit != 0 && table->rows_before + table->row_count >= build->limit) {
		table->row_total = total;
		return NULL;
	}
	row = table_add_row(table);
	table->row_total = total;
	return row;
}

void table_build_finish(struct table_build *build, struct table *table)
{
	if (table->row_count != 0 || table->continues)
		build->emit(build->context, table);
	table_release(table);
}

const char *table_build_text(struct table *table, const char *text, size_t length)
{
	return unicode_duplicate_without_nul(&table->arena, text, length);
}

void table_build_set_text(struct table *table, struct cell *cell, const char *text, size_t length)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_TEXT;
	cell->text = table_build_text(table, text, length);
	cell->sort = NAN;
}

void table_build_take_text(struct table_build *build, struct table *table, struct cell *cell)
{
	cell->text = table_build_text(table, build->text.data != NULL ? build->text.data : "",
				      build->text.length);
	buffer_clear(&build->text);
}

void table_build_set_integer(struct table_build *build, struct table *table, struct cell *cell,
			     uint64_t value, enum ladder ladder)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_INTEGER;
	cell->unit = cell_format_unit(ladder);
	cell->value.integer = value;
	cell->sort = (double)value;
	cell_format_value(&build->text, value, ladder);
	table_build_take_text(build, table, cell);
}

void table_build_set_unavailable(struct cell *cell, reason_id reason, enum unit unit)
{
	cell->state = CELL_UNAVAILABLE;
	cell->reason = reason;
	cell->unit = unit;
	cell->sort = NAN;
}

bool table_build_pressure_is_zero(const struct pressure *pressure, enum pressure_resource resource)
{
	const struct pressure_half *some = &pressure->resource[resource].some;
	const struct pressure_half *full = &pressure->resource[resource].full;

	return (some->avg10 | some->avg60 | some->avg300 | full->avg10 | full->avg60 | full->avg300) == 0 &&
	       (some->total_usec | full->total_usec) == 0;
}
