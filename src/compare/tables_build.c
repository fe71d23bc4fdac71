/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that all tables of a report are made of: rows within the limit, and cells of one side or both. */
#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "table/cell_format.h"
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

void tables_cell_set_integer(struct tables_build *build, struct cell *cell, uint64_t value,
			     enum ladder ladder)
{
	cell->form = CELL_FORM_INTEGER;
	cell->value.integer = value;
	cell->sort = (double)value;
	cell_format_value(&build->text, value, ladder);
	cell->text = tables_take_text(build);
}

struct cell tables_cell_real(struct tables_build *build, double number, enum unit unit)
{
	struct cell cell = cell_of_real(number, unit);

	cell.text = tables_take_text(build);
	return cell;
}

struct cell tables_cell_column(struct tables_build *build, const struct diff_pair *pair, enum diff_side side,
			       enum column column)
{
	struct value value;
	struct cell cell;

	diff_side(build->diff, pair, side, column, &value);
	value_report_cell(reduction_column(build->diff->reductions[side], column), &value, &build->text,
			  &build->table->arena, &cell);
	return cell;
}

struct cell tables_cell_both(struct tables_build *build, const struct cell sides[DIFF_SIDE_COUNT],
			     const char *arrow)
{
	struct cell cell = cell_of_sides(sides, &build->table->arena);

	cell_format_cell(&build->text, &sides[DIFF_BEFORE]);
	buffer_append_text(&build->text, arrow);
	cell_format_cell(&build->text, &sides[DIFF_AFTER]);
	cell.text = tables_take_text(build);
	return cell;
}

double tables_difference(uint64_t before, uint64_t after)
{
	return after >= before ? (double)(after - before) : -(double)(before - after);
}

/* Appends " (delta)" where both sides have a value, " (·)" where one of them is not the whole of it. */
static void append_delta(struct buffer *text, const struct cell sides[DIFF_SIDE_COUNT], enum ladder ladder)
{
	const struct cell *before = &sides[DIFF_BEFORE], *after = &sides[DIFF_AFTER];

	if (before->state == CELL_ABSENT || after->state == CELL_ABSENT)
		return;
	buffer_append_text(text, " (");
	if (before->state == CELL_UNAVAILABLE || after->state == CELL_UNAVAILABLE || before->partial ||
	    after->partial)
		buffer_append_text(text, "·");
	else if (before->form == CELL_FORM_REAL)
		buffer_append_format(text, "%+.2f%%", after->value.real - before->value.real);
	else
		cell_format_delta(text, tables_difference(before->value.integer, after->value.integer),
				  ladder);
	buffer_append_char(text, ')');
}

struct cell tables_cell_sides(struct tables_build *build, const struct cell sides[DIFF_SIDE_COUNT],
			      enum ladder ladder)
{
	struct cell cell;

	if (!build->is_comparison)
		return sides[DIFF_AFTER];
	cell = tables_cell_both(build, sides, " → ");
	if (sides[DIFF_BEFORE].state == CELL_ABSENT && sides[DIFF_AFTER].state == CELL_ABSENT)
		cell.state = CELL_ABSENT;
	buffer_append_text(&build->text, cell.text);
	append_delta(&build->text, sides, ladder);
	cell.text = tables_take_text(build);
	return cell;
}

struct cell tables_cell_limit(struct tables_build *build, const struct cell sides[DIFF_SIDE_COUNT])
{
	const char *texts[DIFF_SIDE_COUNT];
	struct cell cell;

	if (!build->is_comparison)
		return sides[DIFF_AFTER];
	cell = tables_cell_both(build, sides, "");
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		cell_format_cell(&build->text, &sides[side]);
		texts[side] = tables_take_text(build);
	}
	cell.text = tables_cell_texts(build, texts).text;
	return cell;
}

struct cell tables_cell_texts(struct tables_build *build, const char *const texts[DIFF_SIDE_COUNT])
{
	buffer_append_text(&build->text, texts[build->first_side]);
	if (strcmp(texts[build->first_side], texts[DIFF_AFTER]) != 0)
		buffer_append_format(&build->text, " → %s", texts[DIFF_AFTER]);
	return cell_of_text(tables_take_text(build));
}
