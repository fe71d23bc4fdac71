/* SPDX-License-Identifier: GPL-2.0-only */
#include "show_tables.h"

#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "cell_format.h"
#include "show_build.h"

struct table *show_create_table(const char *section, const struct show_column_spec *columns, size_t count)
{
	struct table *table = table_create(section, count);

	for (size_t i = 0; i < count; i++) {
		table->columns[i].name = columns[i].name;
		table->columns[i].title = columns[i].name;
		table->columns[i].left = columns[i].left;
		table->columns[i].measured = columns[i].measured;
	}
	return table;
}

struct table_row *show_add_row(struct show_build *build, struct table *table)
{
	struct table_row *row;
	size_t total = table->row_total + 1;

	if (build->request->limit != 0 && table->rows_before + table->row_count >= build->request->limit) {
		table->row_total = total;
		return NULL;
	}
	row = table_add_row(table);
	table->row_total = total;
	return row;
}

void show_finish_table(struct show_build *build, struct table *table)
{
	if (table->row_count != 0 || table->continues)
		build->emit(build->context, table);
	table_release(table);
}

const char *show_text(struct table *table, const char *text, size_t length)
{
	struct buffer whole = {0};
	const char *copy;

	if (length == 0 || memchr(text, '\0', length) == NULL)
		return arena_duplicate(&table->arena, text, length);
	unicode_append_without_nul(&whole, text, length);
	copy = arena_duplicate(&table->arena, whole.data, whole.length);
	buffer_release(&whole);
	return copy;
}

void show_set_text(struct table *table, struct cell *cell, const char *text, size_t length)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_TEXT;
	cell->text = show_text(table, text, length);
	cell->sort = NAN;
}

void show_take_text(struct show_build *build, struct table *table, struct cell *cell)
{
	cell->text = show_text(table, build->text.data != NULL ? build->text.data : "", build->text.length);
	buffer_clear(&build->text);
}

void show_set_integer(struct show_build *build, struct table *table, struct cell *cell, uint64_t value,
		      enum ladder ladder)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_INTEGER;
	cell->unit = cell_format_unit(ladder);
	cell->value.integer = value;
	cell->sort = (double)value;
	cell_format_value(&build->text, value, ladder);
	show_take_text(build, table, cell);
}

void show_set_unavailable(struct cell *cell, reason_id reason, enum unit unit)
{
	cell->state = CELL_UNAVAILABLE;
	cell->reason = reason;
	cell->unit = unit;
	cell->sort = NAN;
}

static void set_average(struct show_build *build, struct table *table, struct cell *cell, uint32_t hundredths)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_REAL;
	cell->unit = UNIT_PERCENT;
	cell->value.real = hundredths / 100.0;
	cell->sort = cell->value.real;
	cell_format_pressure(&build->text, hundredths);
	show_take_text(build, table, cell);
}

void show_set_pressure(struct show_build *build, struct table *table, struct cell *first, const char *row,
		       const struct pressure_half *half)
{
	show_set_text(table, &first[0], row, strlen(row));
	set_average(build, table, &first[1], half->avg10);
	set_average(build, table, &first[2], half->avg60);
	set_average(build, table, &first[3], half->avg300);
	show_set_integer(build, table, &first[4], half->total_usec, LADDER_US);
}

void show_set_pressure_unavailable(struct table *table, struct cell *first, const char *row, reason_id reason)
{
	show_set_text(table, &first[0], row, strlen(row));
	for (size_t i = 1; i <= 3; i++)
		show_set_unavailable(&first[i], reason, UNIT_PERCENT);
	show_set_unavailable(&first[4], reason, UNIT_US);
}

bool show_pressure_is_zero(const struct pressure *pressure, enum pressure_resource resource)
{
	const struct pressure_half *some = &pressure->resource[resource].some;
	const struct pressure_half *full = &pressure->resource[resource].full;

	return (some->avg10 | some->avg60 | some->avg300 | full->avg10 | full->avg60 | full->avg300) == 0 &&
	       (some->total_usec | full->total_usec) == 0;
}

void show_tables(const struct snapshot *snapshot, const struct show_request *request,
		 void (*emit)(void *context, const struct table *table), void *context)
{
	struct show_build build = {
		.snapshot = snapshot,
		.request = request,
		.by_flags = request->by_flags || !snapshot->provenance.present,
		.emit = emit,
		.context = context,
	};

	show_group_tables(&build);
	if (request->grouping.axis == AXIS_CGROUP)
		show_cgroup_tables(&build);
	if (request->sections[SECTION_HOST_PRESSURE])
		show_host_pressure_tables(&build);
	if (request->sections[SECTION_SMAPS_ROLLUP])
		show_smaps_table(&build);
	if (request->sections[SECTION_SCHED_EXT])
		show_sched_ext_table(&build);
	buffer_release(&build.text);
}
