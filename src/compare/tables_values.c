/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables in which a group has a row for each number of one kind: how long waits took, and what a
 * sched_ext scheduler keeps for threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/column_list.h"
#include "table/value_cell.h"
#include "tables_internal.h"

/*
 * Makes the table of a section, to which `add_rows` adds the rows of each pair in the order of `weights`.
 * Index diff->pair_count stands for the waits that may be of any group.
 */
static void make_table(struct tables_build *build, enum section section, const double *weights, size_t count,
		       void (*add_rows)(void *context, size_t pair), void *context)
{
	const struct diff *diff = build->diff;
	size_t *order = tables_order(weights, count);

	tables_row_begin(build, sections[section].name, axes[diff->options.grouping.axis].header);
	for (size_t i = 0; i < count; i++) {
		add_rows(context, order[i]);
		tables_continue(build);
	}
	tables_finish(build);
	free(order);
}

/* --- how long waits took: rates, percentiles and the longest, of groups that have any --- */

/* The columns that are rows, those of one kind of waits after those of the other; the first counts. */
static const enum column wait_columns[LATENCY_KIND_COUNT][5] = {
	[LATENCY_RUN_QUEUE] = {COLUMN_WAITS, COLUMN_RQ50, COLUMN_RQ90, COLUMN_RQ99, COLUMN_RQMAX},
	[LATENCY_BLOCKED] = {COLUMN_DWAITS, COLUMN_D50, COLUMN_D90, COLUMN_D99, COLUMN_DMAX},
};

/* The number of a side; 0 without one, also of a side that is not there. */
static double number_of(const struct tables_build *build, size_t pair, size_t side, enum column column)
{
	struct value value;
	double number;

	diff_side(build->diff, &build->diff->pairs[pair], (enum diff_side)side, column, &value);
	return value.state == VALUE_READ && value_number(&value, &number) ? number : 0;
}

/* By how much the 99th percentile of either kind differs; of one snapshot how long it is. */
static double weigh_waits(const struct tables_build *build, size_t pair)
{
	double weight = 0;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		const enum column column = kind == LATENCY_RUN_QUEUE ? COLUMN_RQ99 : COLUMN_D99;

		weight = fmax(weight, fabs(number_of(build, pair, DIFF_AFTER, column) -
					   number_of(build, pair, DIFF_BEFORE, column)));
	}
	return weight;
}

static void add_wait_row(struct tables_build *build, size_t index, enum column column)
{
	struct tables_row content;
	struct table_column described;

	if (tables_add_row(build) == NULL)
		return;
	content = tables_row_of_column(build, &build->diff->pairs[index], column);
	if (index == build->diff->pair_count) {
		content.pair = NULL;
		content.label = name_other.text;
		content.label_length = strlen(name_other.text); /* without its mark */
	}
	column_describe(column, WINDOW_MODE_RATE, false, &build->table->arena, &described);
	content.name = described.name;
	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		content.sides[side].unit = described.unit;
	tables_row_fill(build, build->table->row_count - 1, &content);
	build->table->rows[build->table->row_count - 1].is_own |= index == build->diff->pair_count;
}

static void add_waits(void *context, size_t pair)
{
	struct tables_build *build = context;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		const enum column waits = wait_columns[kind][0];

		if (number_of(build, pair, DIFF_AFTER, waits) == 0 &&
		    number_of(build, pair, DIFF_BEFORE, waits) == 0)
			continue;
		for (size_t i = 0; i < ARRAY_COUNT(wait_columns[kind]); i++)
			add_wait_row(build, pair, wait_columns[kind][i]);
	}
}

void tables_latency(struct tables_build *build)
{
	const size_t count = build->diff->pair_count + 1;
	double *weights;

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (build->diff->reductions[side]->shown.latency_row_of == NULL)
			return;
	}
	weights = memory_allocate(count * sizeof(*weights));
	for (size_t i = 0; i < count; i++)
		weights[i] = weigh_waits(build, i);
	make_table(build, SECTION_LATENCY, weights, count, add_waits, build);
	free(weights);
}

/* --- what a sched_ext scheduler keeps for the threads of groups --- */

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
static double weigh_fields(const struct field_table *fields, size_t pair)
{
	const struct diff *diff = fields->build->diff;
	double weight = -INFINITY;

	for (size_t i = 0; fields->build->is_comparison && i < fields->field_count; i++)
		weight = fmax(weight, diff_column_sort(diff, &diff->pairs[pair], fields->fields[i]));
	return weight;
}

static void add_field_rows(void *context, size_t pair)
{
	const struct field_table *fields = context;
	struct tables_build *build = fields->build;

	for (size_t i = 0; i < fields->field_count; i++) {
		const struct tables_row content = tables_row_of_column(build, &build->diff->pairs[pair],
								       fields->fields[i]);

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
		weights[i] = weigh_fields(&fields, i);
	if (fields.field_count != 0)
		make_table(build, SECTION_TASK_FIELDS, weights, diff->pair_count, add_field_rows, &fields);
	free(weights);
	free(fields.fields);
}
