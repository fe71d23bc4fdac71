/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns and cells of the tables of a comparison. */
#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "diff_build.h"
#include "group_cell.h"

const char *const diff_column_names[DIFF_COLUMN_COUNT] = {
	[DIFF_COLUMN_GROUP] = "group",
	[DIFF_COLUMN_THREADS] = "threads",
	[DIFF_COLUMN_METRIC] = "metric",
	[DIFF_COLUMN_BASELINE] = "baseline",
	[DIFF_COLUMN_CANDIDATE] = "candidate",
	[DIFF_COLUMN_DELTA] = "delta",
	[DIFF_COLUMN_PERCENT] = "%",
	[DIFF_COLUMN_ARROW] = "arrow",
	[DIFF_COLUMN_TAGS] = "tags",
	[DIFF_COLUMN_UPTIME] = "uptime",
	[DIFF_COLUMN_SAME] = "same",
	[DIFF_COLUMN_CAME] = "came",
	[DIFF_COLUMN_WENT] = "went",
	[DIFF_COLUMN_PER_SECOND] = "per-second",
	[DIFF_COLUMN_PER_THREAD] = "per-thread",
};

const char *const diff_display_names[DIFF_DISPLAY_COUNT + 1] = {
	[DIFF_DISPLAY_ARROW] = "arrow",           [DIFF_DISPLAY_FULL] = "full",
	[DIFF_DISPLAY_DELTA_ONLY] = "delta-only", [DIFF_DISPLAY_NO_PERCENT] = "no-pct",
	[DIFF_DISPLAY_PERCENT_ONLY] = "pct-only",
};

/* What follows group, threads and metric. */
static const struct {
	size_t columns[4];
	size_t count;
} displays[DIFF_DISPLAY_COUNT] = {
	[DIFF_DISPLAY_ARROW] = {{DIFF_COLUMN_ARROW, DIFF_COLUMN_DELTA, DIFF_COLUMN_PERCENT,
				 DIFF_COLUMN_UPTIME},
				4},
	[DIFF_DISPLAY_FULL] = {{DIFF_COLUMN_BASELINE, DIFF_COLUMN_CANDIDATE, DIFF_COLUMN_DELTA,
				DIFF_COLUMN_PERCENT},
			       4},
	[DIFF_DISPLAY_DELTA_ONLY] = {{DIFF_COLUMN_DELTA, DIFF_COLUMN_PERCENT}, 2},
	[DIFF_DISPLAY_NO_PERCENT] = {{DIFF_COLUMN_BASELINE, DIFF_COLUMN_CANDIDATE, DIFF_COLUMN_DELTA}, 3},
	[DIFF_DISPLAY_PERCENT_ONLY] = {{DIFF_COLUMN_PERCENT}, 1},
};

/* Appends columns that are not there yet. */
static size_t add_columns(size_t columns[TABLE_BUILD_COLUMNS_MAX], size_t count, const size_t *more,
			  size_t more_count)
{
	for (size_t i = 0; i < more_count; i++) {
		size_t j = 0;

		while (j < count && columns[j] != more[i])
			j++;
		if (j == count)
			columns[count++] = more[i];
	}
	return count;
}

static size_t list_columns(const struct diff_request *request, size_t columns[TABLE_BUILD_COLUMNS_MAX])
{
	static const size_t first[] = {DIFF_COLUMN_GROUP, DIFF_COLUMN_THREADS};
	static const size_t counts[] = {DIFF_COLUMN_SAME, DIFF_COLUMN_CAME, DIFF_COLUMN_WENT};
	static const size_t metric[] = {DIFF_COLUMN_METRIC};
	static const size_t per[DIFF_PER_COUNT] = {DIFF_COLUMN_PER_SECOND, DIFF_COLUMN_PER_THREAD};
	size_t count = 0;

	if (request->column_count != 0) {
		count = add_columns(columns, count, request->columns, request->column_count);
	} else {
		count = add_columns(columns, count, first, 2);
		if (request->match != NULL)
			count = add_columns(columns, count, counts, 3);
		count = add_columns(columns, count, metric, 1);
		count = add_columns(columns, count, displays[request->display].columns,
				    displays[request->display].count);
	}
	for (size_t i = 0; i < DIFF_PER_COUNT; i++) {
		if (request->per[i])
			count = add_columns(columns, count, &per[i], 1);
	}
	if (request->sort.count != 0 && request->sort.items[0].metric != METRIC_NONE)
		columns[count++] = DIFF_COLUMN_SORT;
	return count;
}

struct table *diff_create_group_table(const struct diff_build *build, const char *section, const char *group)
{
	const struct sort_key *sort = &build->request->sort.items[0];
	const struct table_build_column specs[] = {
		[DIFF_COLUMN_GROUP] = {group, .left = true},
		[DIFF_COLUMN_THREADS] = {"threads", .left = false},
		[DIFF_COLUMN_METRIC] = {"metric", .left = true},
		[DIFF_COLUMN_BASELINE] = {"baseline", .measured = true},
		[DIFF_COLUMN_CANDIDATE] = {"candidate", .measured = true},
		[DIFF_COLUMN_DELTA] = {"delta", .measured = true},
		[DIFF_COLUMN_PERCENT] = {"%", .measured = true},
		[DIFF_COLUMN_ARROW] = {"value", .measured = true},
		[DIFF_COLUMN_TAGS] = {"tags", .left = true},
		[DIFF_COLUMN_UPTIME] = {"%uptime", .left = false},
		[DIFF_COLUMN_SAME] = {"same", .left = false},
		[DIFF_COLUMN_CAME] = {"came", .left = false},
		[DIFF_COLUMN_WENT] = {"went", .left = false},
		[DIFF_COLUMN_PER_SECOND] = {"per-second", .measured = true},
		[DIFF_COLUMN_PER_THREAD] = {"per-thread", .measured = true},
		[DIFF_COLUMN_SORT] = {sort->metric != METRIC_NONE ? metrics[sort->metric].name : "",
				      .left = false},
	};
	size_t columns[TABLE_BUILD_COLUMNS_MAX];
	struct table_build_columns chosen = {.count = list_columns(build->request, columns)};
	struct table *table;

	for (size_t i = 0; i < chosen.count; i++)
		chosen.items[i] = specs[columns[i]];
	table = table_build_create(section, &chosen);
	for (size_t i = 0; i < chosen.count; i++) {
		table->columns[i].column = (unsigned int)columns[i];
		table->columns[i].sides = columns[i] == DIFF_COLUMN_THREADS ||
					  columns[i] == DIFF_COLUMN_PER_THREAD;
	}
	return table;
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

void diff_set_both(struct diff_build *build, struct table *table, struct cell *cell,
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

/* Marks a cell of the change by its state; true when there is a change to print. */
static bool begin_change(struct cell *cell, const struct diff_value *value)
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

static void set_delta(struct diff_build *build, struct table *table, struct cell *cell,
		      const struct diff_row_content *content)
{
	const struct diff_value *value = &content->value;
	struct buffer *text = &build->base.text;

	cell->unit = content->sides[DIFF_BEFORE].unit;
	if (!begin_change(cell, value))
		return;
	if (value->is_category) {
		cell->form = CELL_FORM_TEXT;
		cell->text = value->differs ? "differs" : "same";
		return;
	}
	cell->form = CELL_FORM_REAL;
	cell->value.real = value->delta;
	cell->sort = value->delta;
	if (content->is_derived)
		cell_format_derived_delta(text, value->delta, content->ladder, content->is_ratio);
	else
		cell_format_delta(text, value->delta, content->ladder);
	table_build_take_text(&build->base, table, cell);
}

/*
 * The reference prints no change of a negative number as "-0.0%": so do we where its cells are wanted, that
 * is where the flags of the format decide on both sides, and nowhere else.
 */
static void append_percent(struct diff_build *build, const struct diff_value *value)
{
	if (build->by_flags[DIFF_BEFORE] && build->by_flags[DIFF_AFTER] && value->fraction == 0 &&
	    value->side[DIFF_BEFORE].number < 0)
		buffer_append_text(&build->base.text, "-0.0%");
	else
		cell_format_percent(&build->base.text, value->fraction);
}

static void set_percent(struct diff_build *build, struct table *table, struct cell *cell,
			const struct diff_row_content *content)
{
	const struct diff_value *value = &content->value;

	cell->unit = UNIT_PERCENT;
	if (!begin_change(cell, value))
		return;
	if (!value->has_fraction) {
		cell->state = CELL_ABSENT;
		return;
	}
	cell->form = CELL_FORM_REAL;
	cell->value.real = value->fraction * 100.0;
	cell->sort = cell->value.real;
	append_percent(build, value);
	table_build_take_text(&build->base, table, cell);
}

static void set_threads(struct diff_build *build, struct table *table, struct cell *cell,
			const struct diff_pair *pair)
{
	struct buffer *text = &build->base.text;

	if (pair == NULL)
		return;
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_SIDES;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		cell->value.sides.kind[side] = CELL_SIDE_INTEGER;
		cell->value.sides.number[side].integer = pair->threads[side];
	}
	buffer_append_u64(text, pair->threads[DIFF_BEFORE]);
	if (pair->threads[DIFF_BEFORE] != pair->threads[DIFF_AFTER]) {
		buffer_append_text(text, "→");
		buffer_append_u64(text, pair->threads[DIFF_AFTER]);
	}
	table_build_take_text(&build->base, table, cell);
}

static void set_uptime(struct diff_build *build, struct table *table, struct cell *cell,
		       const struct diff_pair *pair)
{
	if (pair == NULL || !pair->has_uptime)
		return;
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_REAL;
	cell->unit = UNIT_PERCENT;
	cell->value.real = pair->uptime;
	buffer_append_format(&build->base.text, "%.0f%%", pair->uptime);
	table_build_take_text(&build->base, table, cell);
}

/* "b→c (+x.x%)" of the metric by which the groups are sorted. */
static void set_sort(struct diff_build *build, struct table *table, struct cell *cell,
		     const struct diff_pair *pair)
{
	enum metric metric = build->request->sort.items[0].metric;
	struct cell sides[DIFF_SIDE_COUNT] = {0};
	struct diff_value value;

	if (pair == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		group_cell_set_metric(&build->base, table, &sides[side],
				      diff_aggregation(build->diff, (enum diff_side)side), pair->group[side],
				      metric);
	value = diff_metric(build->diff, pair, metric);
	diff_set_both(build, table, cell, sides, "→");
	if (!value.has_fraction)
		return;
	buffer_append_text(&build->base.text, cell->text);
	buffer_append_text(&build->base.text, " (");
	append_percent(build, &value);
	buffer_append_char(&build->base.text, ')');
	table_build_take_text(&build->base, table, cell);
}

static void set_tags(struct diff_build *build, struct table *table, struct cell *cell, enum metric metric)
{
	cell->state = CELL_VALUE;
	if (metric != METRIC_NONE)
		group_cell_append_tags(&build->base.text, metric);
	table_build_take_text(&build->base, table, cell);
}

static void fill_cell(struct diff_build *build, struct table *table, struct cell *cell, unsigned int column,
		      const struct diff_row_content *content)
{
	switch (column) {
	case DIFF_COLUMN_GROUP:
		table_build_set_text(table, cell, content->label, content->label_length);
		break;
	case DIFF_COLUMN_THREADS:
		set_threads(build, table, cell, content->pair);
		break;
	case DIFF_COLUMN_METRIC:
		cell->state = CELL_VALUE;
		cell->text = content->name;
		break;
	case DIFF_COLUMN_BASELINE:
	case DIFF_COLUMN_CANDIDATE:
		*cell = content->sides[column == DIFF_COLUMN_BASELINE ? DIFF_BEFORE : DIFF_AFTER];
		cell->reason_of_before = column == DIFF_COLUMN_BASELINE;
		break;
	case DIFF_COLUMN_DELTA:
		set_delta(build, table, cell, content);
		break;
	case DIFF_COLUMN_PERCENT:
		set_percent(build, table, cell, content);
		break;
	case DIFF_COLUMN_ARROW:
		diff_set_both(build, table, cell, content->sides, " → ");
		break;
	case DIFF_COLUMN_TAGS:
		set_tags(build, table, cell, content->metric);
		break;
	case DIFF_COLUMN_UPTIME:
		set_uptime(build, table, cell, content->pair);
		break;
	case DIFF_COLUMN_SAME:
	case DIFF_COLUMN_CAME:
	case DIFF_COLUMN_WENT:
		diff_set_count(build, cell, content->pair, (enum diff_column)column);
		break;
	case DIFF_COLUMN_PER_SECOND:
		diff_set_per_second(build, table, cell, content);
		break;
	case DIFF_COLUMN_PER_THREAD:
		diff_set_per_thread(build, table, cell, content);
		break;
	case DIFF_COLUMN_SORT:
		set_sort(build, table, cell, content->pair);
		break;
	}
}

void diff_fill_row(struct diff_build *build, struct table *table, size_t row,
		   const struct diff_row_content *content)
{
	for (size_t i = 0; i < table->column_count; i++)
		fill_cell(build, table, &table->rows[row].cells[i], table->columns[i].column, content);
}
