/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables_build.h"

#include <string.h>

struct table_row *tables_add_row(struct tables_build *build, struct table *table)
{
	const size_t limit = build->request->limit, total = table->row_total + 1;
	struct table_row *row = NULL;

	if (limit == 0 || table->rows_before + table->row_count < limit)
		row = table_add_row(table);
	table->row_total = total;
	return row;
}

struct table *tables_continue(struct tables_build *build, struct table *table)
{
	const size_t chunk_rows = build->request->chunk_rows;
	struct table *next;

	if (chunk_rows == 0 || table->row_count < chunk_rows)
		return table;
	next = table_create(table->section, table->column_count);
	memcpy(next->columns, table->columns, table->column_count * sizeof(*table->columns));
	next->continues = true;
	next->rows_before = table->rows_before + table->row_count;
	table->more = true;
	tables_finish(build, table);
	return next;
}

void tables_finish(struct tables_build *build, struct table *table)
{
	if (table->row_count != 0 || table->continues)
		build->emit(build->context, table);
	table_release(table);
}
