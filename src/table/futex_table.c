/* SPDX-License-Identifier: GPL-2.0-only */
#include "futex_table.h"

#include <inttypes.h>

#include "window/column.h"

enum {
	CELL_ADDRESS,
	CELL_THREADS,
	CELL_WAITS,
	CELL_TIME,
	CELL_LONGEST,
	CELL_HINT,
	CELL_MAPPING,
	CELL_COUNT,
};

static const struct table_column futex_columns[CELL_COUNT] = {
	[CELL_ADDRESS] = {.name = "address", .title = "FUTEX", .left = true, .width = 14},
	[CELL_THREADS] = {.name = "threads", .title = "THR", .width = 6},
	[CELL_WAITS] = {.name = "waits", .title = "WAITS", .measured = true, .width = 7},
	[CELL_TIME] = {.name = "time_ns", .title = "TIME", .measured = true, .width = 7},
	[CELL_LONGEST] = {.name = "longest_ns", .title = "LONGEST", .measured = true, .width = 7},
	[CELL_HINT] = {.name = "hint", .title = "HINT", .measured = true, .left = true, .width = 4},
	[CELL_MAPPING] = {.name = "mapping",
			  .title = "MAPPING",
			  .measured = true,
			  .left = true,
			  .foreign = true,
			  .width = 9},
};

static struct cell measured_cell(const struct feature_result *result, uint64_t number, enum unit unit)
{
	struct cell cell = cell_of_state(result->state == FEATURE_STATE_ON ? VALUE_READ : VALUE_UNAVAILABLE,
					 result->reason, unit);

	if (cell.state == CELL_VALUE)
		cell_set_value(&cell, number);
	return cell;
}

static void add_row(struct table *table, const struct feature_result *result, const struct futex *futex)
{
	const char *name = futex->address != 0 ? arena_format(&table->arena, "0x%" PRIx64, futex->address)
					       : "(several)";
	struct table_row *row = table_add_named_row(table, name, name);

	row->threads = futex->threads;
	row->cells[CELL_ADDRESS] = cell_of_text(name);
	row->cells[CELL_THREADS] = cell_of_integer(futex->threads, UNIT_COUNT);
	row->cells[CELL_WAITS] = measured_cell(result, futex->waits, UNIT_COUNT);
	row->cells[CELL_TIME] = measured_cell(result, futex->time_ns, UNIT_NS);
	row->cells[CELL_LONGEST] = measured_cell(result, futex->longest_ns, UNIT_NS);
	row->cells[CELL_HINT] = futex->is_lock ? cell_of_text("lock")
					       : cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NONE);
	row->cells[CELL_MAPPING] = futex->mapping != NULL
					   ? cell_of_text(futex->mapping)
					   : cell_of_state(VALUE_UNAVAILABLE, REASON_UNREADABLE, UNIT_NONE);
}

struct table *futex_table(const struct snapshot *snapshot, size_t limit)
{
	const struct futexes *futexes = &snapshot->futexes;
	struct table *table = table_create_with(NULL, futex_columns, CELL_COUNT);

	table->name_count = 1;
	table->columns[CELL_THREADS].column = COLUMN_THR;
	for (size_t i = 0; i < futexes->count && (limit == 0 || i < limit); i++)
		add_row(table, &futexes->result, &futexes->items[i]);
	for (size_t i = 0; i < futexes->count; i++)
		table->threads += futexes->items[i].threads;
	table->row_total = futexes->count;
	return table;
}
