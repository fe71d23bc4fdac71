/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a view: members, columns, filter, order, marks. */
#include "compare/compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "view/column_table.h"

/* A column that was reduced, as the view's mode or as a rate (filters). */
struct build {
	struct session *session;
	const struct view *view;
	struct members members;
	struct column_values *values; /* reduced so far */
	size_t value_count;
	size_t value_capacity;
	enum column columns[COLUMN_TOTAL];
	size_t column_count;
	struct table *table;
	struct cell filter_cell;
	struct arena filter_arena;
	size_t filter_row;
	struct buffer key;
};

/* A row in the order of the table, with what it is compared by. */
struct ordered_row {
	double sort;
	const char *label;
	size_t label_length;
	uint32_t tid;                   /* 0 for a group */
	size_t row;                     /* of members; SIZE_MAX when gone */
	const struct history_row *gone; /* NULL unless gone */
	unsigned char mark;
};

/* The column sorted by, or the one of the table that stands for it. */
static enum column sort_column(const struct build *build)
{
	enum column sort = build->view->sort;

	for (size_t i = 0; i < build->column_count; i++) {
		if (build->columns[i] == sort)
			return sort;
	}
	for (size_t i = 0; i < build->column_count; i++) {
		if (column_stands_for(build->columns[i], sort))
			return build->columns[i];
	}
	return sort;
}

/* The values of a column in a mode, reduced when they are not yet. Valid until the next call. */
static const struct column_values *values_of(struct build *build, enum column column, enum view_mode mode)
{
	for (size_t i = 0; i < build->value_count; i++) {
		if (build->values[i].column == column && build->values[i].mode == mode)
			return &build->values[i];
	}
	build->values = memory_grow(build->values, &build->value_capacity, build->value_count + 1,
				    sizeof(*build->values));
	column_reduce(build->session, &build->members, column, mode, &build->values[build->value_count]);
	return &build->values[build->value_count++];
}

static const struct cell *filter_cell(void *context, enum column column, bool as_rate)
{
	struct build *build = context;
	enum view_mode mode = as_rate ? VIEW_MODE_RATE : build->view->mode;
	const struct column_values *values = values_of(build, column, mode);

	column_cell(build->session, &build->members, values, build->filter_row, &build->filter_arena,
		    &build->filter_cell);
	return &build->filter_cell;
}

/* The name of a row as read. */
static const char *row_label(const struct build *build, size_t row, size_t *ret_length)
{
	const struct snapshot *now = build->session->now;
	uint32_t group = build->members.row_group[row], comm;

	if (!build->members.by_thread)
		return grouping_key(build->members.grouping, group, ret_length);
	comm = now->triples[now->triple[group]].comm;
	*ret_length = string_pool_length(&now->strings, comm);
	return snapshot_text(now, comm);
}

static bool passes(struct build *build, size_t row)
{
	const char *label;
	size_t length;
	bool matches;

	if (build->view->filter == NULL)
		return true;
	label = row_label(build, row, &length);
	build->filter_row = row;
	matches = filter_matches(build->view->filter, label, length, filter_cell, build);
	arena_release(&build->filter_arena);
	return matches;
}

/* --- order --- */

/* Sets label and identity of any row, gone ones too. */
static void identify(const struct build *build, struct ordered_row *row)
{
	const struct snapshot *snapshot = build->session->now;
	uint32_t thread, comm;

	if (row->gone == NULL && !build->members.by_thread) {
		row->label = row_label(build, row->row, &row->label_length);
		return;
	}
	if (row->gone != NULL && row->gone->thread == UINT32_MAX) {
		row->label = row->gone->key;
		row->label_length = row->gone->key_length;
		return;
	}
	if (row->gone != NULL)
		snapshot = build->session->previous;
	thread = row->gone != NULL ? row->gone->thread : build->members.row_group[row->row];
	comm = snapshot->triples[snapshot->triple[thread]].comm;
	row->label = snapshot_text(snapshot, comm);
	row->label_length = string_pool_length(&snapshot->strings, comm);
	row->tid = snapshot->tid[thread];
}

/* Names upwards, then thread ids: total, whatever the values. */
static int compare_names(const struct ordered_row *a, const struct ordered_row *b)
{
	/* names of a snapshot are stored once: threads of one name share it */
	int order = a->label == b->label ? 0
					 : order_bytes(a->label, a->label_length, b->label, b->label_length);

	if (order != 0)
		return order;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->gone != NULL) - (b->gone != NULL);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	const struct ordered_row *left = a, *right = b;
	bool ascending = build->view->sort_ascending;
	int order;

	if (build->view->sort_by_name) {
		order = compare_names(left, right);
		return ascending ? order : -order;
	}
	order = order_numbers(left->sort, right->sort, ascending);
	return order != 0 ? order : compare_names(left, right);
}

/* --- rows --- */

static double *sort_values(struct build *build)
{
	double *sorts = memory_allocate((build->members.row_count + 1) * sizeof(*sorts));
	enum column sort = build->view->sort_by_name ? COLUMN_COUNT : sort_column(build);
	struct arena arena = {0};

	for (size_t row = 0; row < build->members.row_count; row++) {
		struct cell cell;

		sorts[row] = NAN;
		if (sort == COLUMN_COUNT)
			continue;
		column_cell(build->session, &build->members, values_of(build, sort, build->view->mode), row,
			    &arena, &cell);
		sorts[row] = cell.sort;
	}
	arena_release(&arena);
	return sorts;
}

static bool gone_passes(const struct build *build, const struct ordered_row *row)
{
	const struct filter *filter = build->view->filter;

	if (filter == NULL)
		return true;
	if (filter_columns(filter, NULL, 0) > 0)
		return false;
	return filter_matches(filter, row->label, row->label_length, NULL, NULL);
}

/* The rows that the table shows, in their order; the caller frees them. */
static struct ordered_row *order_rows(struct build *build, size_t *ret_count, size_t *ret_total)
{
	const struct history_generation *before = &build->session->history.before;
	double *sorts = sort_values(build);
	struct ordered_row *rows;
	unsigned char *marks;
	size_t count = 0, shown;

	history_begin(build->session, build->view);
	marks = history_update(build->session, &build->members, sorts);
	rows = memory_allocate((build->members.row_count + before->count + 1) * sizeof(*rows));
	for (size_t row = 0; row < build->members.row_count; row++) {
		if (!passes(build, row))
			continue;
		rows[count] = (struct ordered_row){.sort = sorts[row], .row = row, .mark = marks[row]};
		identify(build, &rows[count++]);
	}
	for (size_t i = 0; before->round != 0 && !build->view->hide_gone && i < before->count; i++) {
		struct ordered_row gone = {.sort = before->rows[i].sort,
					   .row = SIZE_MAX,
					   .gone = &before->rows[i],
					   .mark = ROW_MARK_GONE};

		if (before->rows[i].seen)
			continue;
		identify(build, &gone);
		if (gone_passes(build, &gone))
			rows[count++] = gone;
	}
	free(sorts);
	free(marks);
	shown = build->view->limit != 0 && build->view->limit < count ? build->view->limit : count;
	order_first(rows, count, sizeof(*rows), shown, compare_rows, build);
	*ret_total = count;
	*ret_count = shown;
	return rows;
}

static void fill_gone(struct build *build, const struct ordered_row *ordered, struct table_row *row)
{
	struct arena *arena = &build->table->arena;

	row->tid = ordered->tid;
	row->label = arena_duplicate(arena, ordered->label, ordered->label_length);
	row->label_length = ordered->label_length;
	row->key = row->label;
	row->key_length = row->label_length;
	if (ordered->gone->thread != UINT32_MAX) {
		buffer_clear(&build->key);
		append_thread_key(&build->key, build->session->previous, ordered->gone->thread);
		row->key = arena_duplicate(arena, build->key.data, build->key.length);
		row->key_length = build->key.length;
		row->tgid = build->session->previous->tgid[ordered->gone->thread];
	}
	table_add_cells(build->table, row);
	for (size_t i = 0; i < build->column_count; i++) {
		if (build->columns[i] == COLUMN_THR)
			row->cells[i] = (struct cell){
				.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = UNIT_COUNT};
		else
			row->cells[i] = (struct cell){
				.state = CELL_UNAVAILABLE, .reason = REASON_ENDED, .sort = NAN};
	}
}

static void fill_row(struct build *build, const struct ordered_row *ordered, struct table_row *row)
{
	const struct snapshot *now = build->session->now;
	struct arena *arena = &build->table->arena;
	const char *key;
	size_t length;

	row->label = arena_duplicate(arena, ordered->label, ordered->label_length);
	row->label_length = ordered->label_length;
	key = members_row_key(build->session, &build->members, ordered->row, &build->key, &length);
	row->key = arena_duplicate(arena, key, length);
	row->key_length = length;
	row->threads = build->members.row_threads[ordered->row];
	if (build->members.by_thread) {
		row->thread = build->members.row_group[ordered->row];
		row->tid = now->tid[row->thread];
		row->tgid = now->tgid[row->thread];
		if (build->view->cells_on_demand)
			return;
	}
	table_add_cells(build->table, row);
	for (size_t i = 0; i < build->column_count; i++)
		column_cell(build->session, &build->members,
			    values_of(build, build->columns[i], build->view->mode), ordered->row, arena,
			    &row->cells[i]);
}

static void fill_table(struct build *build)
{
	struct table *table = build->table;
	enum column sort = sort_column(build);
	struct ordered_row *rows;
	size_t count, total;

	for (size_t i = 0; i < build->column_count; i++) {
		column_describe(build->columns[i], build->view->mode, build->members.by_thread, &table->arena,
				&table->columns[i]);
		if (!build->view->sort_by_name && build->columns[i] == sort && table->sort_column == SIZE_MAX)
			table->sort_column = i;
	}
	rows = order_rows(build, &count, &total);
	for (size_t i = 0; i < count; i++) {
		struct table_row *row = table_add_bare_row(table);

		row->mark = (enum row_mark)rows[i].mark;
		if (rows[i].gone != NULL)
			fill_gone(build, &rows[i], row);
		else
			fill_row(build, &rows[i], row);
	}
	table->row_total = total;
	free(rows);
}

static void describe_empty(struct build *build)
{
	for (size_t i = 0; i < build->column_count; i++)
		column_describe(build->columns[i], build->view->mode,
				build->view->level == VIEW_LEVEL_THREADS, &build->table->arena,
				&build->table->columns[i]);
}

struct table *session_table(struct session *session, const struct view *view)
{
	struct build build = {.session = session, .view = view};

	if (session->pair != NULL)
		return pair_table(session, view);
	build.column_count = view_columns(view, build.columns);
	build.table = table_create(NULL, build.column_count);
	if (session->now == NULL) {
		describe_empty(&build);
		return build.table;
	}
	members_collect(session, view, NULL, 0, false, &build.members);
	fill_table(&build);
	for (size_t i = 0; i < build.value_count; i++)
		free(build.values[i].accumulators);
	free(build.values);
	buffer_release(&build.key);
	members_release(&build.members);
	return build.table;
}

/* The threads of the rows of a range that have no cells, as members with a row each. */
static void collect_unmade(const struct table *table, size_t first, size_t end, struct members *members)
{
	size_t room = end - first + 1;

	*members = (struct members){
		.threads = memory_allocate(room * sizeof(uint32_t)),
		.rows = memory_allocate(room * sizeof(uint32_t)),
		.row_threads = memory_allocate(room * sizeof(uint32_t)),
		.row_group = memory_allocate(room * sizeof(uint32_t)),
		.by_thread = true,
	};
	for (size_t i = first; i < end; i++) {
		uint32_t row = (uint32_t)members->row_count;

		if (table->rows[i].cells != NULL)
			continue;
		members->threads[row] = members->row_group[row] = table->rows[i].thread;
		members->rows[row] = row;
		members->row_threads[row] = 1;
		members->count = ++members->row_count;
	}
}

void session_table_fill(struct session *session, const struct view *view, struct table *table, size_t first,
			size_t count)
{
	size_t end = count < table->row_count - first ? first + count : table->row_count, row = 0;
	struct column_values *values;
	struct members members;

	if (first >= table->row_count)
		return;
	if (session->pair != NULL) {
		pair_table_fill(session, view, table, first, end);
		return;
	}
	collect_unmade(table, first, end, &members);
	values = memory_allocate_zero(table->column_count + 1, sizeof(*values));
	for (size_t i = 0; members.row_count != 0 && i < table->column_count; i++)
		column_reduce(session, &members, (enum column)table->columns[i].column, view->mode,
			      &values[i]);
	for (size_t i = first; i < end; i++) {
		if (table->rows[i].cells != NULL)
			continue;
		table_add_cells(table, &table->rows[i]);
		for (size_t k = 0; k < table->column_count; k++)
			column_cell(session, &members, &values[k], row, &table->arena,
				    &table->rows[i].cells[k]);
		row++;
	}
	for (size_t i = 0; i < table->column_count; i++)
		free(values[i].accumulators);
	free(values);
	members_release(&members);
}
