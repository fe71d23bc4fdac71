/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of what a sched_ext scheduler keeps for the threads of groups. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "table/column_list.h"
#include "tables_internal.h"

struct field_table {
	struct tables_build *build;
	enum column *fields; /* that are shown */
	size_t field_count;
};

static bool has_field(const struct field_table *fields, enum column column)
{
	for (size_t i = 0; i < fields->field_count; i++) {
		if (fields->fields[i] == column)
			return true;
	}
	return false;
}

/* Adds the fields of a side's scheduler that are asked for and that the other side does not have. */
static void add_fields(struct field_table *fields, const struct task_field_owner *scheduler)
{
	uint16_t placed[TASK_FIELD_MAX];
	const size_t count = column_list_fields(scheduler, placed);

	fields->fields = memory_resize(fields->fields, fields->field_count + count + 1,
				       sizeof(*fields->fields));
	for (size_t i = 0; i < count; i++) {
		const enum column column = column_of_task_field(placed[i]);

		if (selected_fields_has(&fields->build->request->fields, column_name(column)) &&
		    !has_field(fields, column))
			fields->fields[fields->field_count++] = column;
	}
}

/* By how much the field of a group that changed most did; groups of one snapshot come by their names. */
static double weigh(const struct field_table *fields, size_t pair)
{
	const struct diff *diff = fields->build->diff;
	double weight = -INFINITY;

	for (size_t i = 0; fields->build->is_comparison && i < fields->field_count; i++)
		weight = fmax(weight, diff_column_sort(diff, &diff->pairs[pair], fields->fields[i]));
	return weight;
}

static void add_rows(void *context, size_t pair, const struct buffer *label)
{
	const struct field_table *fields = context;
	struct tables_build *build = fields->build;

	for (size_t i = 0; i < fields->field_count; i++) {
		const struct tables_row content = tables_row_of_column(build, &build->diff->pairs[pair],
								       fields->fields[i], label);

		/* such as a group none of whose threads has a context, or has ever run */
		if (content.value.side[DIFF_BEFORE].state == VALUE_ABSENT &&
		    content.value.side[DIFF_AFTER].state == VALUE_ABSENT)
			continue;
		if (tables_add_row(build) != NULL)
			tables_row_fill(build, build->table->row_count - 1, &content);
	}
}

void tables_task_fields(struct tables_build *build)
{
	const struct diff *diff = build->diff;
	struct field_table fields = {.build = build};
	double *weights = memory_allocate((diff->pair_count + 1) * sizeof(*weights));

	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		if (diff->snapshots[side] != NULL && diff->snapshots[side]->task_fields.owner != NULL)
			add_fields(&fields, diff->snapshots[side]->task_fields.owner);
	}
	for (size_t i = 0; i < diff->pair_count; i++)
		weights[i] = weigh(&fields, i);
	if (fields.field_count != 0)
		tables_row_make(build, SECTION_TASK_FIELDS, weights, diff->pair_count, add_rows, &fields);
	free(weights);
	free(fields.fields);
}
