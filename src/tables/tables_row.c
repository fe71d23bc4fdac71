/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns and rows of the tables of groups. */
#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "tables_build.h"

const char *const tables_display_names[TABLES_DISPLAY_COUNT + 1] = {
	[TABLES_DISPLAY_ARROW] = "arrow",           [TABLES_DISPLAY_FULL] = "full",
	[TABLES_DISPLAY_DELTA_ONLY] = "delta-only", [TABLES_DISPLAY_NO_PERCENT] = "no-pct",
	[TABLES_DISPLAY_PERCENT_ONLY] = "pct-only",
};

/* What follows group, threads and metric. */
static const struct {
	enum tables_column columns[4];
	size_t count;
} displays[TABLES_DISPLAY_COUNT] = {
	[TABLES_DISPLAY_ARROW] = {{TABLES_COLUMN_ARROW, TABLES_COLUMN_DELTA, TABLES_COLUMN_PERCENT,
				   TABLES_COLUMN_UPTIME},
				  4},
	[TABLES_DISPLAY_FULL] = {{TABLES_COLUMN_BASELINE, TABLES_COLUMN_CANDIDATE, TABLES_COLUMN_DELTA,
				  TABLES_COLUMN_PERCENT},
				 4},
	[TABLES_DISPLAY_DELTA_ONLY] = {{TABLES_COLUMN_DELTA, TABLES_COLUMN_PERCENT}, 2},
	[TABLES_DISPLAY_NO_PERCENT] = {{TABLES_COLUMN_BASELINE, TABLES_COLUMN_CANDIDATE, TABLES_COLUMN_DELTA},
				       3},
	[TABLES_DISPLAY_PERCENT_ONLY] = {{TABLES_COLUMN_PERCENT}, 1},
};

/* Appends columns that are not there yet. */
static size_t add_columns(enum tables_column columns[TABLE_BUILD_COLUMNS_MAX], size_t count,
			  const enum tables_column *more, size_t more_count)
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

static size_t list_columns(const struct tables_build *build,
			   enum tables_column columns[TABLE_BUILD_COLUMNS_MAX])
{
	static const enum tables_column first[] = {TABLES_COLUMN_GROUP, TABLES_COLUMN_THREADS};
	static const enum tables_column counts[] = {TABLES_COLUMN_SAME, TABLES_COLUMN_CAME,
						    TABLES_COLUMN_WENT};
	static const enum tables_column alone[] = {TABLES_COLUMN_METRIC, TABLES_COLUMN_VALUE};
	static const enum tables_column per[TABLES_PER_COUNT] = {TABLES_COLUMN_PER_SECOND,
								 TABLES_COLUMN_PER_THREAD};
	const struct tables_request *request = build->request;
	size_t count = 0;

	if (request->column_count != 0) {
		count = add_columns(columns, count, request->columns, request->column_count);
	} else {
		count = add_columns(columns, count, first, 2);
		if (request->match != NULL)
			count = add_columns(columns, count, counts, 3);
		count = add_columns(columns, count, alone, build->is_comparison ? 1 : 2);
		if (build->is_comparison)
			count = add_columns(columns, count, displays[request->display].columns,
					    displays[request->display].count);
	}
	for (size_t i = 0; i < TABLES_PER_COUNT; i++) {
		if (request->per[i])
			count = add_columns(columns, count, &per[i], 1);
	}
	if (build->is_comparison && request->sort.count != 0 && request->sort.items[0].metric != METRIC_NONE)
		columns[count++] = TABLES_COLUMN_SORT;
	return count;
}

struct table *tables_row_create_table(const struct tables_build *build, const char *section,
				      const char *group)
{
	const struct sort_key *sort = &build->request->sort.items[0];
	const struct table_build_column specs[] = {
		[TABLES_COLUMN_GROUP] = {group, .left = true},
		[TABLES_COLUMN_THREADS] = {"threads", .left = false},
		[TABLES_COLUMN_METRIC] = {"metric", .left = true},
		[TABLES_COLUMN_VALUE] = {"value", .measured = true},
		[TABLES_COLUMN_BASELINE] = {"baseline", .measured = true},
		[TABLES_COLUMN_CANDIDATE] = {"candidate", .measured = true},
		[TABLES_COLUMN_DELTA] = {"delta", .measured = true},
		[TABLES_COLUMN_PERCENT] = {"%", .measured = true},
		[TABLES_COLUMN_ARROW] = {"value", .measured = true},
		[TABLES_COLUMN_TAGS] = {"tags", .left = true},
		[TABLES_COLUMN_UPTIME] = {"%uptime", .left = false},
		[TABLES_COLUMN_SAME] = {"same", .left = false},
		[TABLES_COLUMN_CAME] = {"came", .left = false},
		[TABLES_COLUMN_WENT] = {"went", .left = false},
		[TABLES_COLUMN_PER_SECOND] = {"per-second", .measured = true},
		[TABLES_COLUMN_PER_THREAD] = {"per-thread", .measured = true},
		[TABLES_COLUMN_SORT] = {sort->metric != METRIC_NONE ? metrics[sort->metric].name : "",
					.left = false},
	};
	enum tables_column columns[TABLE_BUILD_COLUMNS_MAX];
	struct table_build_columns chosen = {.count = list_columns(build, columns)};
	struct table *table;

	for (size_t i = 0; i < chosen.count; i++)
		chosen.items[i] = specs[columns[i]];
	table = table_build_create(section, &chosen);
	for (size_t i = 0; i < chosen.count; i++) {
		table->columns[i].column = (unsigned int)columns[i];
		table->columns[i].sides = build->is_comparison && (columns[i] == TABLES_COLUMN_THREADS ||
								   columns[i] == TABLES_COLUMN_PER_THREAD);
	}
	return table;
}

static void set_delta(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct tables_row *content)
{
	const struct diff_value *value = &content->value;
	struct buffer *text = &build->base.text;

	cell->unit = content->sides[DIFF_BEFORE].unit;
	if (!tables_cell_begin_change(cell, value))
		return;
	if (value->is_category) {
		*cell = cell_of_text(value->differs ? "differs" : "same");
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
static void append_percent(struct tables_build *build, const struct diff_value *value)
{
	if (build->by_flags[DIFF_BEFORE] && build->by_flags[DIFF_AFTER] && value->fraction == 0 &&
	    value->side[DIFF_BEFORE].number < 0)
		buffer_append_text(&build->base.text, "-0.0%");
	else
		cell_format_percent(&build->base.text, value->fraction);
}

static void set_percent(struct tables_build *build, struct table *table, struct cell *cell,
			const struct tables_row *content)
{
	const struct diff_value *value = &content->value;

	cell->unit = UNIT_PERCENT;
	if (!tables_cell_begin_change(cell, value))
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

static void set_threads(struct tables_build *build, struct table *table, struct cell *cell,
			const struct diff_pair *pair)
{
	struct buffer *text = &build->base.text;

	if (pair == NULL)
		return;
	if (!build->is_comparison) {
		tables_cell_set_count(cell, pair->threads[DIFF_AFTER]);
		return;
	}
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

static void set_uptime(struct tables_build *build, struct table *table, struct cell *cell,
		       const struct diff_pair *pair)
{
	if (!build->is_comparison)
		cell->state = CELL_ABSENT;
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
static void set_sort(struct tables_build *build, struct table *table, struct cell *cell,
		     const struct diff_pair *pair)
{
	enum metric metric = build->request->sort.items[0].metric;
	struct cell sides[DIFF_SIDE_COUNT] = {0};
	struct diff_value value;

	if (pair == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		tables_cell_set_metric(&build->base, table, &sides[side],
				       diff_aggregation(build->diff, (enum diff_side)side), pair->group[side],
				       metric);
	value = diff_metric(build->diff, pair, metric);
	tables_cell_set_both(build, table, cell, sides, "→");
	if (!value.has_fraction)
		return;
	buffer_append_text(&build->base.text, cell->text);
	buffer_append_text(&build->base.text, " (");
	append_percent(build, &value);
	buffer_append_char(&build->base.text, ')');
	table_build_take_text(&build->base, table, cell);
}

/* Appends "[cfs-only] [SCHEDSTATS]": the scheduler class, then the kernel options. */
static void append_tags(struct buffer *buffer, enum metric metric)
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

static void set_tags(struct tables_build *build, struct table *table, struct cell *cell, enum metric metric)
{
	cell->state = CELL_VALUE;
	if (metric != METRIC_NONE)
		append_tags(&build->base.text, metric);
	table_build_take_text(&build->base, table, cell);
}

static void fill_cell(struct tables_build *build, struct table *table, struct cell *cell,
		      enum tables_column column, const struct tables_row *content)
{
	switch (column) {
	case TABLES_COLUMN_GROUP:
		table_build_set_text(table, cell, content->label, content->label_length);
		break;
	case TABLES_COLUMN_THREADS:
		set_threads(build, table, cell, content->pair);
		break;
	case TABLES_COLUMN_METRIC:
		*cell = cell_of_text(content->name);
		break;
	case TABLES_COLUMN_VALUE:
		*cell = content->sides[DIFF_AFTER];
		break;
	case TABLES_COLUMN_BASELINE:
	case TABLES_COLUMN_CANDIDATE:
		*cell = content->sides[column == TABLES_COLUMN_BASELINE ? DIFF_BEFORE : DIFF_AFTER];
		cell->reason_of_before = column == TABLES_COLUMN_BASELINE;
		break;
	case TABLES_COLUMN_DELTA:
		set_delta(build, table, cell, content);
		break;
	case TABLES_COLUMN_PERCENT:
		set_percent(build, table, cell, content);
		break;
	case TABLES_COLUMN_ARROW:
		tables_cell_set_both(build, table, cell, content->sides, " → ");
		break;
	case TABLES_COLUMN_TAGS:
		set_tags(build, table, cell, content->metric);
		break;
	case TABLES_COLUMN_UPTIME:
		set_uptime(build, table, cell, content->pair);
		break;
	case TABLES_COLUMN_SAME:
	case TABLES_COLUMN_CAME:
	case TABLES_COLUMN_WENT:
		tables_per_set_count(build, cell, content->pair, column);
		break;
	case TABLES_COLUMN_PER_SECOND:
		tables_per_set_second(build, table, cell, content);
		break;
	case TABLES_COLUMN_PER_THREAD:
		tables_per_set_thread(build, table, cell, content);
		break;
	case TABLES_COLUMN_SORT:
		set_sort(build, table, cell, content->pair);
		break;
	}
}

void tables_row_fill(struct tables_build *build, struct table *table, size_t row,
		     const struct tables_row *content)
{
	for (size_t i = 0; i < table->column_count; i++)
		fill_cell(build, table, &table->rows[row].cells[i],
			  (enum tables_column)table->columns[i].column, content);
}
