/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells: a text, a number, a metric, a derived metric, both sides of one, how it changed. */
#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "table/cell_format.h"
#include "table/value_cell.h"
#include "tables_build.h"

void tables_cell_take_text(struct tables_build *build, struct table *table, struct cell *cell)
{
	cell->text = unicode_duplicate_without_nul(&table->arena, build->text.data, build->text.length);
	buffer_clear(&build->text);
}

void tables_cell_set_text(struct table *table, struct cell *cell, const char *text, size_t length)
{
	*cell = cell_of_text(unicode_duplicate_without_nul(&table->arena, text, length));
}

void tables_cell_set_integer(struct tables_build *build, struct table *table, struct cell *cell,
			     uint64_t value, enum ladder ladder)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_INTEGER;
	cell->unit = unit_of_ladder(ladder);
	cell->value.integer = value;
	cell->sort = (double)value;
	cell_format_value(&build->text, value, ladder);
	tables_cell_take_text(build, table, cell);
}

bool tables_cell_begin(struct cell *cell, enum value_state state, reason_id reason)
{
	static const enum cell_state states[] = {
		[VALUE_READ] = CELL_VALUE,
		[VALUE_ABSENT] = CELL_ABSENT,
		[VALUE_UNAVAILABLE] = CELL_UNAVAILABLE,
	};

	cell->sort = NAN;
	cell->state = states[state];
	if (state == VALUE_UNAVAILABLE)
		cell->reason = reason;
	return state == VALUE_READ;
}

void tables_cell_set_column(struct tables_build *build, struct table *table, struct cell *cell,
			    const struct diff_pair *pair, enum diff_side side, enum column column)
{
	struct value value;

	diff_side(build->diff, pair, side, column, &value);
	value_report_cell(reduction_column(build->diff->reductions[side], column), &value, &build->text,
			  &table->arena, cell);
}

void tables_cell_set_both(struct tables_build *build, struct table *table, struct cell *cell,
			  const struct cell sides[DIFF_SIDE_COUNT], const char *arrow)
{
	*cell = (struct cell){
		.state = CELL_VALUE, .form = CELL_FORM_SIDES, .unit = sides[0].unit, .sort = NAN};
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		const struct cell *from = &sides[side];

		if (from->state == CELL_UNAVAILABLE || (from->state == CELL_VALUE && from->partial)) {
			cell->partial = true;
			cell->reason = from->reason;
			cell->reason_of_before = side == DIFF_BEFORE;
		}
		if (from->state != CELL_VALUE)
			continue;
		if (from->form == CELL_FORM_INTEGER) {
			cell->value.sides.kind[side] = CELL_SIDE_INTEGER;
			cell->value.sides.number[side].integer = from->value.integer;
		} else if (from->form == CELL_FORM_REAL) {
			cell->value.sides.kind[side] = CELL_SIDE_REAL;
			cell->value.sides.number[side].real = from->value.real;
		}
	}
	cell_format_cell(&build->text, &sides[DIFF_BEFORE]);
	buffer_append_text(&build->text, arrow);
	cell_format_cell(&build->text, &sides[DIFF_AFTER]);
	tables_cell_take_text(build, table, cell);
}

bool tables_cell_begin_change(struct cell *cell, const struct diff_value *value)
{
	cell->reason_of_before = value->reason_side == DIFF_BEFORE;
	return tables_cell_begin(cell, value->state, value->reason);
}

void tables_cell_set_count(struct cell *cell, uint64_t count)
{
	*cell = (struct cell){
		.state = CELL_VALUE,
		.form = CELL_FORM_INTEGER,
		.value.integer = count,
		.sort = (double)count,
	};
}
