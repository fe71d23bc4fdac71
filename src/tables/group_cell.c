/* SPDX-License-Identifier: GPL-2.0-only */
#include "group_cell.h"

#include <math.h>
#include <string.h>

#include "table/cell_format.h"

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

void group_cell_set_metric(struct table_build *build, struct table *table, struct cell *cell,
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

enum unit group_cell_derived_unit(enum derived derived)
{
	const struct derived_entry *entry = &derived_metrics[derived];

	return entry->is_ratio ? UNIT_RATIO : cell_format_unit(entry->ladder);
}

void group_cell_set_derived(struct table_build *build, struct table *table, struct cell *cell,
			    struct aggregation *aggregation, size_t group, enum derived derived)
{
	const struct derived_entry *entry = &derived_metrics[derived];
	struct aggregate_derived result = aggregation_derive(aggregation, group, derived);

	cell->unit = group_cell_derived_unit(derived);
	if (!begin_cell(cell, result.state, result.reason))
		return;
	cell->form = CELL_FORM_REAL;
	cell->partial = result.partial;
	cell->value.real = result.value;
	cell->sort = result.value;
	cell_format_derived(&build->text, result.value, entry->ladder, entry->is_ratio);
	table_build_take_text(build, table, cell);
}

void group_cell_append_tags(struct buffer *buffer, enum metric metric)
{
	const char *gates = metrics[metric].config_gates != NULL ? metrics[metric].config_gates : "";

	if (metrics[metric].tag != METRIC_TAG_NONE)
		buffer_append_format(buffer, "[%s]", metric_tag_names[metrics[metric].tag]);
	while (*gates != '\0') {
		size_t length = strcspn(gates, " ");

		buffer_append_format(buffer, "%s[%.*s]", buffer->length != 0 ? " " : "", (int)length, gates);
		gates += length;
		gates += strspn(gates, " ");
	}
}
