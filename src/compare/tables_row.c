/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells of reports, and the columns and rows of the tables of groups. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/unicode.h"
#include "diff_evidence.h"
#include "table/cell_format.h"
#include "table/value_cell.h"
#include "tables_internal.h"

/* --- cells --- */

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

/* The same as tables_cell_begin() for the change. */
static bool begin_change(struct cell *cell, const struct diff_value *value)
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

/* --- columns --- */

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

const char *const tables_per_names[TABLES_PER_COUNT + 1] = {
	[TABLES_PER_SECOND] = "second",
	[TABLES_PER_THREAD] = "thread",
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
		if (build->diff->options.match != NULL && !build->diff->options.rates)
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

/* --- trees of cgroups, processes in them, and pairs --- */

/* A process may be called like the cgroup beside it. */
enum child_kind {
	CHILD_PROCESS,
	CHILD_CGROUP,
	CHILD_KINDS,
};

/* A heading: a component of a cgroup's path or a process. */
struct node {
	uint32_t parent; /* 0 is the root, which is none */
	uint32_t text;   /* id in texts */
	int depth;
	bool printed;
};

struct tree {
	struct string_pool texts;
	struct node *nodes; /* in the order in which the first pair below each came */
	size_t node_count, node_capacity;
	struct hash_map children[CHILD_KINDS]; /* parent << 32 | text */
	uint32_t *node_of;                     /* of each pair */
};

static uint32_t find_child(struct tree *tree, uint32_t parent, enum child_kind kind, const char *text,
			   size_t length)
{
	const uint32_t id = string_pool_intern(&tree->texts, text, length);
	const uint64_t key = (uint64_t)parent << 32 | id;
	uint32_t child;

	if (hash_map_get(&tree->children[kind], key, &child))
		return child;
	child = (uint32_t)tree->node_count;
	hash_map_set(&tree->children[kind], key, child);
	*MEMORY_APPEND(tree->nodes, tree->node_count, tree->node_capacity) = (struct node){
		.parent = parent, .text = id, .depth = tree->nodes[parent].depth + 1};
	return child;
}

static uint32_t find_node(struct tree *tree, const struct diff_pair *pair)
{
	const char *path = pair->key, *process = path + strlen(path) + 1;
	uint32_t node = 0;

	while (*path != '\0') {
		const size_t length = 1 + strcspn(path + 1, "/");

		node = find_child(tree, node, CHILD_CGROUP, path, length);
		path += length;
	}
	return find_child(tree, node, CHILD_PROCESS, process, strlen(process));
}

/* By the first headings that differ; a process has none below it. */
static int compare_places(const void *a, const void *b, void *context)
{
	const struct tree *tree = context;
	const size_t left = *(const size_t *)a, right = *(const size_t *)b;
	const struct node *nodes = tree->nodes;
	uint32_t x = tree->node_of[left], y = tree->node_of[right];

	if (x == y)
		return order_u64(left, right);
	while (nodes[x].depth > nodes[y].depth)
		x = nodes[x].parent;
	while (nodes[y].depth > nodes[x].depth)
		y = nodes[y].parent;
	while (nodes[x].parent != nodes[y].parent) {
		x = nodes[x].parent;
		y = nodes[y].parent;
	}
	return order_u64(x, y);
}

static void add_headings(struct tree *tree, uint32_t index, struct table *table)
{
	struct node *node = &tree->nodes[index];
	struct table_row *row;

	if (index == 0 || node->printed)
		return;
	add_headings(tree, node->parent, table);
	node->printed = true;
	row = table_add_row(table);
	row->depth = node->depth;
	row->heading = true;
	tables_cell_set_text(table, &row->cells[0], string_pool_text(&tree->texts, node->text),
			     string_pool_length(&tree->texts, node->text));
}

void tables_row_add_tree(struct table *table, const struct diff_pair *const pairs[], size_t count,
			 size_t ret_rows[])
{
	struct tree tree = {.node_of = memory_allocate((count + 1) * sizeof(uint32_t))};
	size_t *order = memory_allocate((count + 1) * sizeof(*order));

	*MEMORY_APPEND(tree.nodes, tree.node_count, tree.node_capacity) = (struct node){.depth = -1};
	for (size_t i = 0; i < count; i++) {
		order[i] = i;
		tree.node_of[i] = find_node(&tree, pairs[i]);
	}
	qsort_r(order, count, sizeof(*order), compare_places, &tree);
	for (size_t i = 0; i < count; i++) {
		const uint32_t node = tree.node_of[order[i]];

		add_headings(&tree, node, table);
		table_add_row(table)->depth = tree.nodes[node].depth + 1;
		ret_rows[order[i]] = table->row_count - 1;
	}
	string_pool_release(&tree.texts);
	for (size_t kind = 0; kind < CHILD_KINDS; kind++)
		hash_map_release(&tree.children[kind]);
	free(tree.nodes);
	free(tree.node_of);
	free(order);
}

/* --- rows --- */

static void set_delta(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct tables_row *content)
{
	const struct diff_value *value = &content->value;
	struct buffer *text = &build->text;

	cell->unit = content->sides[DIFF_BEFORE].unit;
	if (!begin_change(cell, value))
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

static const enum unit units_per_second[UNIT_TOTAL] = {
	[UNIT_COUNT] = UNIT_COUNT_PER_S,
	[UNIT_NS] = UNIT_NS_PER_S,
	[UNIT_BYTES] = UNIT_BYTES_PER_S,
	[UNIT_TICKS] = UNIT_TICKS_PER_S,
};

/* The threads of a pair that are the same, came and went; NULL where rates are compared, and without a match.
 */
static const struct diff_match_count *find_counts(const struct tables_build *build,
						  const struct diff_pair *pair)
{
	const struct diff_options *options = &build->diff->options;

	return options->match != NULL && !options->rates && pair != NULL ? &pair->members : NULL;
}

static void set_members(const struct tables_build *build, struct cell *cell, const struct diff_pair *pair,
			enum tables_column column)
{
	const struct diff_match_count *counts = find_counts(build, pair);

	cell->sort = NAN;
	if (counts == NULL)
		cell->state = pair != NULL ? CELL_ABSENT : CELL_EMPTY;
	else
		tables_cell_set_count(cell, column == TABLES_COLUMN_SAME   ? counts->same
					    : column == TABLES_COLUMN_CAME ? counts->came
									   : counts->went);
}

/* The number of threads changes over time as counters do. */
static bool is_counted(const struct tables_row *content)
{
	return content->column == column_of_stored(METRIC_THREAD_COUNT) || column_is_counter(content->column);
}

/* The change of a counter for each second between the captures. */
static void set_per_second(struct tables_build *build, struct table *table, struct cell *cell,
			   const struct tables_row *content)
{
	const uint64_t interval_ns = build->diff->interval_ns;
	const struct diff_value *value = &content->value;

	*cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (content->pair == NULL)
		cell->state = CELL_EMPTY;
	if (!is_counted(content) || interval_ns == 0 || value->state == VALUE_ABSENT)
		return;
	cell->unit = units_per_second[content->sides[DIFF_BEFORE].unit];
	if (!begin_change(cell, value))
		return;
	cell->form = CELL_FORM_REAL;
	cell->value.real = value->delta / ((double)interval_ns / 1e9);
	cell->sort = cell->value.real;
	cell_format_delta(&build->text, cell->value.real, content->ladder);
	buffer_append_text(&build->text, "/s");
	tables_cell_take_text(build, table, cell);
}

/* The threads whose numbers are in a side's sum. */
static uint32_t summed_threads(const struct tables_build *build, const struct diff_pair *pair,
			       enum diff_side side)
{
	const struct diff_match_count *counts = find_counts(build, pair);

	if (!build->diff->options.by_threads || counts == NULL)
		return pair->threads[side];
	return side == DIFF_BEFORE ? counts->same : counts->same + counts->came;
}

/* What each thread of a side has of a sum. */
static void set_per_thread(struct tables_build *build, struct table *table, struct cell *cell,
			   const struct tables_row *content)
{
	struct cell sides[DIFF_SIDE_COUNT] = {content->sides[0], content->sides[1]};

	*cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (content->pair == NULL)
		cell->state = CELL_EMPTY;
	if (!column_is_counter(content->column))
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const uint32_t threads = summed_threads(build, content->pair, (enum diff_side)side);
		struct cell *quotient = &sides[side];

		if (quotient->state != CELL_VALUE || quotient->form != CELL_FORM_INTEGER)
			continue;
		if (threads == 0) {
			*quotient = (struct cell){.state = CELL_ABSENT, .unit = quotient->unit};
			continue;
		}
		quotient->form = CELL_FORM_REAL;
		quotient->value.real = (double)content->sides[side].value.integer / threads;
		cell_format_derived(&build->text, quotient->value.real, content->ladder, false);
		tables_cell_take_text(build, table, quotient);
	}
	tables_cell_set_both(build, table, cell, sides, " → ");
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
		set_members(build, cell, content->pair, column);
		break;
	case TABLES_COLUMN_PER_SECOND:
		set_per_second(build, table, cell, content);
		break;
	case TABLES_COLUMN_PER_THREAD:
		set_per_thread(build, table, cell, content);
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

struct tables_row tables_row_of_column(struct tables_build *build, struct table *table,
				       const struct diff_pair *pair, enum column column,
				       const struct buffer *label)
{
	struct tables_row content = {
		.label = label->data,
		.label_length = label->length,
		.pair = pair,
		.name = column_name(column),
		.column = column,
		.value = diff_column(build->diff, pair, column),
		.ladder = column_report_ladder(column),
	};

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		tables_cell_set_column(build, table, &content.sides[side], pair, (enum diff_side)side,
				       column);
	return content;
}

static int compare_weights(const void *a, const void *b, void *context)
{
	const double *weights = context;
	const size_t left = *(const size_t *)a, right = *(const size_t *)b;

	if (weights[left] != weights[right])
		return weights[left] > weights[right] ? -1 : 1;
	return order_u64(left, right);
}

size_t *tables_order(const double *weights, size_t count)
{
	size_t *order = memory_allocate((count + 1) * sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_weights, (void *)(uintptr_t)weights);
	return order;
}
