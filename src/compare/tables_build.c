/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that all tables of a report are made of: rows within the limit, and cells of one side or both. */
#include <string.h>

#include "base/unicode.h"
#include "table/value_cell.h"
#include "pair_table.h"
#include "tables_internal.h"

/* --- tables and their rows --- */

void tables_begin(struct tables_build *build, const char *section, const struct table_column columns[],
		  size_t column_count)
{
	build->table = table_create_with(section, columns, column_count);
	for (size_t i = 0; i < column_count; i++)
		build->table->columns[i].sides = build->is_comparison && build->table->columns[i].measured;
}

struct table_row *tables_add_row(struct tables_build *build)
{
	const size_t limit = build->request->limit, total = build->table->row_total + 1;
	struct table_row *row = NULL;

	if (limit == 0 || build->table->rows_before + build->table->row_count < limit)
		row = table_add_row(build->table);
	build->table->row_total = total;
	return row;
}

struct table_row *tables_add_named_row(struct tables_build *build, const char *name, size_t length)
{
	struct table_row *row = tables_add_row(build);

	if (row == NULL)
		return NULL;
	row->cells[0] = tables_cell_text(build, name, length);
	row->key = row->label = row->cells[0].text;
	row->key_length = row->label_length = length;
	return row;
}

void tables_continue(struct tables_build *build)
{
	const size_t chunk_rows = build->request->chunk_rows;
	const struct table *table = build->table;
	struct table *next;

	if (chunk_rows == 0 || table->row_count < chunk_rows)
		return;
	next = table_create(table->section, table->column_count);
	memcpy(next->columns, table->columns, table->column_count * sizeof(*table->columns));
	next->continues = true;
	next->rows_before = table->rows_before + table->row_count;
	build->table->more = true;
	tables_finish(build);
	build->table = next;
}

void tables_finish(struct tables_build *build)
{
	if (build->table->row_count != 0 || build->table->continues || build->table->row_folded != 0)
		build->emit(build->context, build->table);
	table_release(build->table);
	build->table = NULL;
}

/* --- cells --- */

const char *tables_take_text(struct tables_build *build)
{
	const char *text = unicode_duplicate_without_nul(&build->table->arena, build->text.data,
							 build->text.length);

	buffer_clear(&build->text);
	return text;
}

struct cell tables_cell_text(struct tables_build *build, const char *text, size_t length)
{
	return cell_of_text(unicode_duplicate_without_nul(&build->table->arena, text, length));
}

struct cell tables_cell_column(struct tables_build *build, const struct diff_pair *pair, enum diff_side side,
			       enum column column)
{
	struct value value;
	struct cell cell;

	diff_side(build->diff, pair, side, column, &value);
	value_report_cell(reduction_column(build->diff->reductions[side], column), &value,
			  &build->table->arena, &cell);
	return cell;
}

struct cell tables_cell_sides(struct tables_build *build, const struct cell sides[DIFF_SIDE_COUNT],
			      enum cell_style style)
{
	struct cell cell;

	if (!build->is_comparison)
		return sides[DIFF_AFTER];
	cell = cell_of_sides(sides, &build->table->arena);
	cell.style = style;
	if (style == CELL_STYLE_SIDES_CHANGE && sides[DIFF_BEFORE].state == CELL_ABSENT &&
	    sides[DIFF_AFTER].state == CELL_ABSENT)
		cell.state = CELL_ABSENT;
	return cell;
}

struct cell tables_cell_texts(struct tables_build *build, const char *const texts[DIFF_SIDE_COUNT])
{
	buffer_append_text(&build->text, texts[build->first_side]);
	if (strcmp(texts[build->first_side], texts[DIFF_AFTER]) != 0)
		buffer_append_format(&build->text, " → %s", texts[DIFF_AFTER]);
	return cell_of_text(tables_take_text(build));
}
