/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells of groups: a metric, a derived metric, both sides of one, how it changed. */

#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "tables_build.h"

/* Marks a cell by the state of its value; true when there is one to print. */
static bool begin_cell(struct cell *cell, enum value_state state, reason_id reason)
{
	cell->sort = NAN;
	cell->state = CELL_VALUE;
	if (state == VALUE_UNAVAILABLE)
		table_build_set_unavailable(cell, reason, cell->unit);
	else if (state == VALUE_ABSENT)
		cell->state = CELL_ABSENT;
	return state == VALUE_READ;
}

void tables_cell_set_metric(struct table_build *build, struct table *table, struct cell *cell,
			    struct aggregation *aggregation, size_t group, enum metric metric)
{
	const struct aggregate *aggregate = aggregation_get(aggregation, group, metric);
	const struct metric_type_entry *type = metric_type(metric);
	reason_id reason;
	enum value_state state = aggregate_state(aggregate, &reason);

	cell->unit = cell_format_unit(type->ladder);
	if (!begin_cell(cell, state, reason))
		return;
	cell->partial = aggregate_is_partial(aggregate);
	cell->reason = cell->partial ? reason : REASON_READ;
	aggregate_number(aggregate, metric, &cell->sort);
	if (type->reduction == METRIC_REDUCTION_SUM || type->reduction == METRIC_REDUCTION_MAXIMUM) {
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = aggregate->value.number;
	} else if (type->reduction == METRIC_REDUCTION_RANGE) {
		cell->form = CELL_FORM_RANGE;
		cell->value.range.low = aggregate->value.range.low;
		cell->value.range.high = aggregate->value.range.high;
	}
	cell_format_aggregate(&build->text, aggregation, aggregate, metric);
	table_build_take_text(build, table, cell);
}

static enum unit derived_unit(enum derived derived)
{
	const struct derived_entry *entry = &derived_metrics[derived];

	return entry->is_ratio ? UNIT_RATIO : cell_format_unit(entry->ladder);
}

void tables_cell_set_derived(struct table_build *build, struct table *table, struct cell *cell,
			     struct aggregation *aggregation, size_t group, enum derived derived)
{
	const struct derived_entry *entry = &derived_metrics[derived];
	struct aggregate_derived result = aggregation_derive(aggregation, group, derived);

	cell->unit = derived_unit(derived);
	if (!begin_cell(cell, result.state, result.reason))
		return;
	cell->form = CELL_FORM_REAL;
	cell->partial = result.partial;
	cell->value.real = result.value;
	cell->sort = result.value;
	cell_format_derived(&build->text, result.value, entry->ladder, entry->is_ratio);
	table_build_take_text(build, table, cell);
}

/* Appends what a cell prints. */
static void append_cell(struct buffer *text, const struct cell *cell)
{
	switch (cell->state) {
	case CELL_EMPTY:
		break;
	case CELL_ABSENT:
		buffer_append_char(text, '-');
		break;
	case CELL_UNAVAILABLE:
		buffer_append_text(text, "·");
		break;
	case CELL_VALUE:
		if (cell->partial && (cell->form == CELL_FORM_INTEGER || cell->form == CELL_FORM_REAL))
			buffer_append_text(text, "≥");
		buffer_append_text(text, cell->text);
		break;
	}
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
	append_cell(&build->base.text, &sides[DIFF_BEFORE]);
	buffer_append_text(&build->base.text, arrow);
	append_cell(&build->base.text, &sides[DIFF_AFTER]);
	table_build_take_text(&build->base, table, cell);
}

bool tables_cell_begin_change(struct cell *cell, const struct diff_value *value)
{
	cell->sort = NAN;
	cell->reason_of_before = value->reason_side == DIFF_BEFORE;
	switch (value->state) {
	case VALUE_UNAVAILABLE:
		table_build_set_unavailable(cell, value->reason, cell->unit);
		return false;
	case VALUE_ABSENT:
		cell->state = CELL_ABSENT;
		return false;
	case VALUE_READ:
		break;
	}
	cell->state = CELL_VALUE;
	return true;
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
