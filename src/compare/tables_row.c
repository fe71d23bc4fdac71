/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns and rows of the tables of groups. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diff_evidence.h"
#include "table/cell_format.h"
#include "tables_build.h"

enum {
	COLUMNS_MAX = TABLES_COLUMN_SORT + 1
};

/*
 * The columns of group tables: what --columns calls one, its header (NULL where the table has its own), and
 * how many snapshots a report with it has, 0 for any.
 */
static const struct {
	const char *word;
	struct table_column column;
	size_t sides;
} group_columns[] = {
	[TABLES_COLUMN_GROUP] = {"group", {NULL, .left = true}, 0},
	[TABLES_COLUMN_THREADS] = {"threads", {"threads", .sides = true}, 0},
	[TABLES_COLUMN_METRIC] = {"metric", {"metric", .left = true}, 0},
	[TABLES_COLUMN_VALUE] = {"value", {"value", .measured = true}, 1},
	[TABLES_COLUMN_BASELINE] = {"baseline", {"baseline", .measured = true}, 2},
	[TABLES_COLUMN_CANDIDATE] = {"candidate", {"candidate", .measured = true}, 2},
	[TABLES_COLUMN_DELTA] = {"delta", {"delta", .measured = true}, 2},
	[TABLES_COLUMN_PERCENT] = {"%", {"%", .measured = true}, 2},
	[TABLES_COLUMN_ARROW] = {"arrow", {"value", .measured = true}, 2},
	[TABLES_COLUMN_TAGS] = {"tags", {"tags", .left = true}, 0},
	[TABLES_COLUMN_UPTIME] = {"uptime", {.name = "%uptime"}, 0},
	[TABLES_COLUMN_SAME] = {"same", {.name = "same"}, 2},
	[TABLES_COLUMN_CAME] = {"came", {.name = "came"}, 2},
	[TABLES_COLUMN_WENT] = {"went", {.name = "went"}, 2},
	[TABLES_COLUMN_PER_SECOND] = {"per-second", {"per-second", .measured = true}, 2},
	[TABLES_COLUMN_PER_THREAD] = {"per-thread", {"per-thread", .measured = true, .sides = true}, 2},
	[TABLES_COLUMN_SPREAD] = {"spread", {"spread", .measured = true}, 2},
	[TABLES_COLUMN_CHANCE] = {"p", {"p", .measured = true}, 2},
	[TABLES_COLUMN_REAL] = {"real", {"real", .left = true}, 2},
	[TABLES_COLUMN_SORT] = {NULL, {.name = NULL}, 2},
};

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

int tables_parse_columns(const char *text, size_t side_count, struct tables_request *request,
			 struct error *error)
{
	/* the screen's words stand behind those of the reference */
	static const struct {
		const char *word;
		enum tables_column column;
	} others[] = {
		{"before", TABLES_COLUMN_BASELINE},
		{"after", TABLES_COLUMN_CANDIDATE},
		{"change", TABLES_COLUMN_DELTA},
	};
	const char *names[TABLES_COLUMN_COUNT + ARRAY_COUNT(others)];
	enum tables_column offered[TABLES_COLUMN_COUNT + ARRAY_COUNT(others)];
	size_t chosen[TABLES_COLUMN_COUNT + ARRAY_COUNT(others)], count = 0;
	bool has[TABLES_COLUMN_COUNT] = {false};
	int status;

	for (size_t i = 0; i < TABLES_COLUMN_COUNT; i++) {
		if (group_columns[i].sides != 0 && group_columns[i].sides != side_count)
			continue;
		offered[count] = (enum tables_column)i;
		names[count++] = group_columns[i].word;
	}
	for (size_t i = 0; side_count == DIFF_SIDE_COUNT && i < ARRAY_COUNT(others); i++) {
		offered[count] = others[i].column;
		names[count++] = others[i].word;
	}
	status = selection_parse_columns(text, names, count, chosen, &request->column_count, error);
	for (size_t i = 0; status == 0 && i < request->column_count; i++) {
		request->columns[i] = offered[chosen[i]];
		if (has[request->columns[i]])
			return error_set(error, -EINVAL, "column '%s' is named twice", names[chosen[i]]);
		has[request->columns[i]] = true;
	}
	/* the arrow shows both sides: beside one of them it would say the same thing twice */
	if (status == 0 && has[TABLES_COLUMN_ARROW] &&
	    (has[TABLES_COLUMN_BASELINE] || has[TABLES_COLUMN_CANDIDATE]))
		return error_set(error, -EINVAL,
				 "column arrow already shows before and after: leave one or the other out");
	return status;
}

/* Appends columns that are not there yet. */
static size_t add_columns(enum tables_column columns[COLUMNS_MAX], size_t count,
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

static size_t list_columns(const struct tables_build *build, enum tables_column columns[COLUMNS_MAX])
{
	static const enum tables_column first[] = {TABLES_COLUMN_GROUP, TABLES_COLUMN_THREADS};
	static const enum tables_column counts[] = {TABLES_COLUMN_SAME, TABLES_COLUMN_CAME,
						    TABLES_COLUMN_WENT};
	static const enum tables_column evidence[] = {TABLES_COLUMN_SPREAD, TABLES_COLUMN_CHANCE,
						      TABLES_COLUMN_REAL};
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
		if (build->diff->evidence != NULL)
			count = add_columns(columns, count, evidence, 3);
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
	enum tables_column columns[COLUMNS_MAX];
	const size_t count = list_columns(build, columns);
	struct table *table = table_create(section, count);

	for (size_t i = 0; i < count; i++) {
		struct table_column *column = &table->columns[i];

		*column = group_columns[columns[i]].column;
		column->column = (unsigned int)columns[i];
		column->sides = column->sides && build->is_comparison;
		if (columns[i] == TABLES_COLUMN_GROUP)
			column->name = group;
		if (columns[i] == TABLES_COLUMN_SORT)
			column->name = metrics[build->request->sort.items[0].metric].name;
	}
	return table;
}

void tables_row_append_label(const struct tables_build *build, const struct diff_pair *pair, bool in_tree,
			     struct buffer *label)
{
	const char *thread;

	if (!build->is_comparison) {
		buffer_append(label, pair->label, pair->label_length);
	} else if (!in_tree) {
		diff_append_label(pair, label);
	} else {
		thread = diff_thread_part(pair);
		diff_append_mark(pair, label);
		buffer_append(label, thread, (size_t)(pair->label + pair->label_length - thread));
	}
}

void tables_row_add_tree(struct table *table, const struct diff_tree *tree, size_t ret_rows[])
{
	size_t count;
	struct diff_tree_line *lines = diff_tree_lines(tree, &count);

	for (size_t i = 0; i < count; i++) {
		struct table_row *row = table_add_row(table);

		row->depth = lines[i].depth;
		row->heading = lines[i].heading != NULL;
		if (row->heading)
			tables_cell_set_text(table, &row->cells[0], lines[i].heading,
					     lines[i].heading_length);
		else
			ret_rows[lines[i].id] = table->row_count - 1;
	}
	free(lines);
}

static void set_delta(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct tables_row *content)
{
	const struct diff_value *value = &content->value;
	struct buffer *text = &build->text;

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
	if (column_is_derived(content->column))
		cell_format_derived_delta(text, value->delta, content->ladder,
					  column_is_ratio(content->column));
	else
		cell_format_delta(text, value->delta, content->ladder);
	tables_cell_take_text(build, table, cell);
}

/*
 * The reference prints "-0.0%" for a negative number that did not change. So do we, but only where its cells
 * are printed: where the flags of the format decide on both sides.
 */
static void append_percent(struct tables_build *build, const struct diff_value *value)
{
	if (build->by_flags[DIFF_BEFORE] && build->by_flags[DIFF_AFTER] && value->fraction == 0 &&
	    value->side[DIFF_BEFORE].number < 0)
		buffer_append_text(&build->text, "-0.0%");
	else
		cell_format_percent(&build->text, value->fraction);
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
	tables_cell_take_text(build, table, cell);
}

static void set_threads(struct tables_build *build, struct table *table, struct cell *cell,
			const struct diff_pair *pair)
{
	struct buffer *text = &build->text;

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
	tables_cell_take_text(build, table, cell);
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
	buffer_append_format(&build->text, "%.0f%%", pair->uptime);
	tables_cell_take_text(build, table, cell);
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
		tables_cell_set_column(build, table, &sides[side], pair, (enum diff_side)side,
				       column_of_stored(metric));
	value = diff_metric(build->diff, pair, metric);
	tables_cell_set_both(build, table, cell, sides, "→");
	if (!value.has_fraction)
		return;
	buffer_append_text(&build->text, cell->text);
	buffer_append_text(&build->text, " (");
	append_percent(build, &value);
	buffer_append_char(&build->text, ')');
	tables_cell_take_text(build, table, cell);
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

/* What the parts of both windows say of a row. */
static void set_evidence(struct tables_build *build, struct table *table, struct cell *cell,
			 enum tables_column column, const struct tables_row *content)
{
	struct cell sides[DIFF_SIDE_COUNT] = {{.state = CELL_ABSENT}, {.state = CELL_ABSENT}};
	struct diff_evidence_cell evidence;

	cell->state = CELL_ABSENT;
	if (build->diff->evidence == NULL || content->pair == NULL)
		return;
	evidence = diff_evidence_of(build->diff, content->pair, content->column, &content->value);
	if (column == TABLES_COLUMN_REAL) {
		*cell = cell_of_text(evidence.is_real ? "yes" : "no");
	} else if (column == TABLES_COLUMN_CHANCE && !evidence.is_tested) {
		*cell = cell_of_text("not tested");
	} else if (column == TABLES_COLUMN_CHANCE) {
		cell->state = CELL_VALUE;
		cell->form = CELL_FORM_REAL;
		cell->value.real = cell->sort = evidence.adjusted;
		buffer_append_format(&build->text, "%.2g", evidence.adjusted);
		tables_cell_take_text(build, table, cell);
	} else {
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			if (isnan(evidence.spread[side]))
				continue;
			sides[side] = (struct cell){.state = CELL_VALUE,
						    .form = CELL_FORM_REAL,
						    .unit = content->sides[side].unit,
						    .value.real = evidence.spread[side]};
			cell_format_derived(&build->text, evidence.spread[side], content->ladder, false);
			tables_cell_take_text(build, table, &sides[side]);
		}
		tables_cell_set_both(build, table, cell, sides, " → ");
	}
}

static void fill_cell(struct tables_build *build, struct table *table, struct cell *cell,
		      enum tables_column column, const struct tables_row *content)
{
	switch (column) {
	case TABLES_COLUMN_GROUP:
		tables_cell_set_text(table, cell, content->label, content->label_length);
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
		cell->state = CELL_VALUE;
		if (column_is_metric(content->column))
			append_tags(&build->text, column_metric(content->column));
		tables_cell_take_text(build, table, cell);
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
	case TABLES_COLUMN_SPREAD:
	case TABLES_COLUMN_CHANCE:
	case TABLES_COLUMN_REAL:
		set_evidence(build, table, cell, column, content);
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
