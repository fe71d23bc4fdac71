/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a view: members, columns, filter, order, marks. */
#include "session_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "column_table.h"

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

/* A row in the order of the table. */
struct ordered_row {
	double sort;
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

static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

/* The label and identity of any row, gone ones too. */
static void identify(const struct build *build, const struct ordered_row *row, const char **label,
		     size_t *length, uint32_t *tid)
{
	const struct snapshot *snapshot = build->session->now;
	uint32_t thread, comm;

	*tid = 0;
	if (row->gone == NULL && !build->members.by_thread) {
		*label = row_label(build, row->row, length);
		return;
	}
	if (row->gone != NULL && row->gone->thread == UINT32_MAX) {
		*label = row->gone->key;
		*length = row->gone->key_length;
		return;
	}
	if (row->gone != NULL)
		snapshot = build->session->previous;
	thread = row->gone != NULL ? row->gone->thread : build->members.row_group[row->row];
	comm = snapshot->triples[snapshot->triple[thread]].comm;
	*label = snapshot_text(snapshot, comm);
	*length = string_pool_length(&snapshot->strings, comm);
	*tid = snapshot->tid[thread];
}

/* Names upwards, then thread ids: total, whatever the values. */
static int compare_names(const struct build *build, const struct ordered_row *a, const struct ordered_row *b)
{
	const char *left, *right;
	size_t left_length, right_length;
	uint32_t left_tid, right_tid;
	int order;

	identify(build, a, &left, &left_length, &left_tid);
	identify(build, b, &right, &right_length, &right_tid);
	order = compare_bytes(left, left_length, right, right_length);
	if (order != 0)
		return order;
	if (left_tid != right_tid)
		return left_tid < right_tid ? -1 : 1;
	return (a->gone != NULL) - (b->gone != NULL);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	const struct ordered_row *left = a, *right = b;

	if (build->view->sort_by_name) {
		int order = compare_names(build, left, right);

		return build->view->sort_ascending ? order : -order;
	}
	if (isnan(left->sort) != isnan(right->sort))
		return isnan(left->sort) ? 1 : -1;
	if (left->sort < right->sort)
		return build->view->sort_ascending ? -1 : 1;
	if (left->sort > right->sort)
		return build->view->sort_ascending ? 1 : -1;
	return compare_names(build, left, right);
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
	const char *label;
	size_t length;
	uint32_t tid;

	if (filter == NULL)
		return true;
	if (filter_columns(filter, NULL, 0) > 0)
		return false;
	identify(build, row, &label, &length, &tid);
	return filter_matches(filter, label, length, NULL, NULL);
}

/* All rows that the table shows, sorted; the caller frees them. */
static struct ordered_row *order_rows(struct build *build, size_t *ret_count)
{
	const struct history_generation *before = &build->session->history.before;
	double *sorts = sort_values(build);
	struct ordered_row *rows;
	unsigned char *marks;
	size_t count = 0;

	history_begin(build->session, build->view);
	marks = history_update(build->session, &build->members, sorts);
	rows = memory_allocate((build->members.row_count + before->count + 1) * sizeof(*rows));
	for (size_t row = 0; row < build->members.row_count; row++) {
		if (passes(build, row))
			rows[count++] = (struct ordered_row){sorts[row], row, NULL, marks[row]};
	}
	for (size_t i = 0; before->round != 0 && !build->view->hide_gone && i < before->count; i++) {
		struct ordered_row gone = {before->rows[i].sort, SIZE_MAX, &before->rows[i], ROW_MARK_GONE};

		if (!before->rows[i].seen && gone_passes(build, &gone))
			rows[count++] = gone;
	}
	free(sorts);
	free(marks);
	qsort_r(rows, count, sizeof(*rows), compare_rows, build);
	*ret_count = count;
	return rows;
}

static void fill_gone(struct build *build, const struct ordered_row *ordered, struct table_row *row)
{
	struct arena *arena = &build->table->arena;
	const char *label;
	size_t length;

	identify(build, ordered, &label, &length, &row->tid);
	row->label = arena_duplicate(arena, label, length);
	row->label_length = length;
	row->key = row->label;
	row->key_length = length;
	if (ordered->gone->thread != UINT32_MAX) {
		buffer_clear(&build->key);
		append_thread_key(&build->key, build->session->previous, ordered->gone->thread);
		row->key = arena_duplicate(arena, build->key.data, build->key.length);
		row->key_length = build->key.length;
		row->tgid = build->session->previous->tgid[ordered->gone->thread];
	}
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
	const char *label, *key;
	size_t length;

	label = row_label(build, ordered->row, &length);
	row->label = arena_duplicate(arena, label, length);
	row->label_length = length;
	key = members_row_key(build->session, &build->members, ordered->row, &build->key, &length);
	row->key = arena_duplicate(arena, key, length);
	row->key_length = length;
	row->threads = build->members.row_threads[ordered->row];
	if (build->members.by_thread) {
		row->thread = build->members.row_group[ordered->row];
		row->tid = now->tid[row->thread];
		row->tgid = now->tgid[row->thread];
	}
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
	size_t count, shown;

	for (size_t i = 0; i < build->column_count; i++) {
		column_describe(build->columns[i], build->view->mode, build->members.by_thread, &table->arena,
				&table->columns[i]);
		if (!build->view->sort_by_name && build->columns[i] == sort && table->sort_column == SIZE_MAX)
			table->sort_column = i;
	}
	rows = order_rows(build, &count);
	shown = build->view->limit != 0 && build->view->limit < count ? build->view->limit : count;
	for (size_t i = 0; i < shown; i++) {
		struct table_row *row = table_add_row(table);

		row->mark = (enum row_mark)rows[i].mark;
		if (rows[i].gone != NULL)
			fill_gone(build, &rows[i], row);
		else
			fill_row(build, &rows[i], row);
	}
	table->row_total = count;
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
