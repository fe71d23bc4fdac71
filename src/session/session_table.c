/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a view: threads, columns, filter, order, marks; and the course of its numbers. */
#include "session_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "table/column_list.h"
#include "table/row_names.h"
#include "window/column.h"
#include "window/ended.h"

/* A row in the order of the table. */
struct ordered_row {
	struct marked_row is;
	uint32_t thread; /* index in the newest round, UINT32_MAX for a group or a gone row */
	uint32_t group;  /* a grouping has them in the order of their keys; UINT32_MAX for no group */
	uint32_t leader; /* of a thread's process in the newest round, or SNAPSHOT_NO_ROW */
	size_t row;      /* of `shown`, or ROW_GONE */
	bool idle;
};

#define ROW_GONE SIZE_MAX

/* The state of making the table of a view. */
struct table_work {
	struct session *session;
	const struct view *view;
	struct row_values *rows;
	struct row_values rates; /* see find_rates() */
	enum column columns[COLUMN_TOTAL];
	size_t column_count;
	enum column sort; /* COLUMN_COUNT when sorted by name */
	struct table *table;
	struct cell filter_cell;
	struct arena filter_arena;
	size_t filter_row;
	bool **filter_members; /* by term, NULL until one is asked for: whether a row has one */
	struct buffer key;
	uint32_t process, leader; /* the last that was looked for, and its row in the newest round */
};

/* The column sorted by, or the one of the table that stands for it. */
static enum column sort_column(const struct table_work *work)
{
	enum column sort = work->view->sort;

	if (work->view->sort_by_name)
		return COLUMN_COUNT;
	for (size_t i = 0; i < work->column_count; i++) {
		if (work->columns[i] == sort)
			return sort;
	}
	for (size_t i = 0; i < work->column_count; i++) {
		if (column_stands_for(work->columns[i], sort))
			return work->columns[i];
	}
	return sort;
}

/* The values of a column in a mode, reduced when they are not yet. Valid until the next call. */
static const struct column_values *values_in_mode(struct table_work *work, struct row_values *rows,
						  enum column column, enum window_mode mode)
{
	struct column_values *values;
	struct window window;

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->values[i].column == column && rows->values[i].mode == mode)
			return &rows->values[i];
	}
	values = MEMORY_APPEND(rows->values, rows->count, rows->capacity);
	window = session_window(work->session, mode);
	reduce_column(&window, &rows->shown, column, values);
	return values;
}

static const struct column_values *values_of(struct table_work *work, enum column column)
{
	return values_in_mode(work, work->rows, column, work->view->mode);
}

const struct column_values *session_kept_values(struct session *session, const struct view *view,
						enum column column)
{
	struct table_work work = {.session = session, .view = view, .rows = &session->kept_rows};

	return values_of(&work, column);
}

/*
 * The rows over the last interval, from which rates are counted: in another window other threads stood still,
 * and ended. Their columns are reduced as rates.
 */
static struct row_values *find_rates(struct table_work *work)
{
	struct view view;

	if (work->view->mode == WINDOW_MODE_RATE || work->view->mode == WINDOW_MODE_INTERVAL)
		return work->rows;
	if (work->rates.shown.now == NULL) {
		view = *work->view;
		view.mode = WINDOW_MODE_RATE;
		session_collect(work->session, &view, NULL, 0, session_ended(work->session, view.mode),
				&work->rates.shown);
	}
	return &work->rates;
}

static void make_cell(struct table_work *work, enum column column, size_t row, struct arena *arena,
		      struct cell *cell)
{
	column_cell(&work->rows->shown, values_of(work, column), row, arena, cell);
}

/* --- filter --- */

static bool has_key(const struct shown *shown, size_t row, const char *key, size_t length)
{
	size_t other_length;
	const char *other;

	if (row >= shown->row_count)
		return false;
	other = shown_row_key(shown, row, &other_length);
	return order_bytes(key, length, other, other_length) == 0;
}

/* The row of `rates` that has the key of a row of `rows`, ROW_GONE for none. */
static size_t find_rate_row(const struct shown *rows, const struct shown *rates, size_t row)
{
	size_t length;
	const char *key;

	if (rows == rates)
		return row;
	if (rows->by_thread)
		return row < rates->row_count && rates->row_group[row] == rows->row_group[row] ? row
											       : ROW_GONE;
	key = shown_row_key(rows, row, &length);
	/* Rows with threads stand in the order of these in both, before the others, unless a name has come in
	 * between that the filter asks for: there is a next round. */
	if (rows->row_threads[row] != 0)
		return has_key(rates, row, key, length) ? row : ROW_GONE;
	for (size_t i = rates->row_count; i-- > 0 && rates->row_threads[i] == 0;) {
		if (has_key(rates, i, key, length))
			return i;
	}
	return ROW_GONE;
}

static const struct cell *filter_cell(void *context, enum column column, bool as_rate)
{
	struct table_work *work = context;
	struct row_values *rows = as_rate ? find_rates(work) : work->rows;
	size_t row = work->filter_row;

	if (row != ROW_GONE)
		row = find_rate_row(&work->rows->shown, &rows->shown, row);
	if (row == ROW_GONE)
		return NULL;
	column_cell(&rows->shown,
		    values_in_mode(work, rows, column, as_rate ? WINDOW_MODE_RATE : work->view->mode), row,
		    &work->filter_arena, &work->filter_cell);
	return &work->filter_cell;
}

/* Finds the rows that have a thread, living or ended, for which a term holds. */
static bool *rows_with(struct table_work *work, size_t term)
{
	const struct shown *shown = &work->rows->shown;
	const struct ended *ended = shown->ended_row_of != NULL ? shown->ended : NULL;
	struct filter_subjects subjects = {.snapshot = shown->now};
	const enum axis axis = shown->by_thread ? AXIS_THREAD : work->view->grouping.axis;
	bool *rows = memory_allocate_zero(shown->row_count + 1, sizeof(*rows));
	bool *members;
	uint32_t *pids;

	/* almost any user or cgroup has a process with some word in its command line */
	if (shown->by_thread || axis == AXIS_PROCESS || axis == AXIS_PID) {
		subjects.commands = work->view->commands;
		subjects.titles = true;
	}
	members = filter_term_members(work->view->filter, term, axis, &subjects);
	for (size_t k = 0; k < shown->count; k++)
		rows[shown->row_of[k]] |= members[shown->threads[k]];
	free(members);
	if (ended == NULL || ended->names == NULL)
		return rows;
	subjects.snapshot = ended->names;
	subjects.ended_pids = pids = ended_pids(ended);
	members = filter_term_members(work->view->filter, term, axis, &subjects);
	for (size_t i = 0; i < ended->names->triple_count; i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			rows[shown->ended_row_of[i]] |= members[i];
	}
	free(members);
	free(pids);
	return rows;
}

static bool has_member(void *context, size_t term)
{
	struct table_work *work = context;

	if (work->filter_row == ROW_GONE)
		return false;
	if (work->filter_members == NULL)
		work->filter_members = memory_allocate_zero(FILTER_TERMS_MAX, sizeof(bool *));
	if (work->filter_members[term] == NULL)
		work->filter_members[term] = rows_with(work, term);
	return work->filter_members[term][work->filter_row];
}

static bool passes(struct table_work *work, const struct ordered_row *row)
{
	bool matches;

	if (work->view->filter == NULL)
		return true;
	work->filter_row = row->row;
	matches = filter_matches(work->view->filter,
				 &(struct filter_row){.label = row->is.label,
						      .label_length = row->is.label_length,
						      .cell_of = filter_cell,
						      .has_member = has_member,
						      .context = work});
	arena_release(&work->filter_arena);
	return matches;
}

/*
 * Whether a row did nothing in the window: it is known that none of its threads had a CPU, and nothing known
 * says that one waited, switched, read or wrote. What never had a CPU cannot have begun anything.
 */
static bool find_idle(struct table_work *work, size_t row)
{
	static const enum column columns[] = {COLUMN_CPU, COLUMN_RUNQ, COLUMN_STUCK, COLUMN_CSW, COLUMN_RW};
	struct arena arena = {0};
	bool idle = true;

	for (size_t i = 0; idle && i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct cell cell = {.sort = NAN};

		make_cell(work, columns[i], row, &arena, &cell);
		if (cell.state == CELL_VALUE)
			idle = cell.sort == 0 && (!cell.partial || columns[i] != COLUMN_CPU);
		else
			idle = columns[i] != COLUMN_CPU;
	}
	arena_release(&arena);
	return idle;
}

static bool is_idle(struct table_work *work, size_t row)
{
	enum {
		UNKNOWN,
		IDLE,
		BUSY
	};
	struct row_values *rows = work->rows;

	if (rows->idle == NULL)
		rows->idle = memory_allocate_zero(rows->shown.row_count + 1, sizeof(*rows->idle));
	if (rows->idle[row] == UNKNOWN)
		rows->idle[row] = find_idle(work, row) ? IDLE : BUSY;
	return rows->idle[row] == IDLE;
}

/* Whether it is the row that its user looks at. */
static bool is_kept(struct table_work *work, const struct marked_row *row)
{
	const struct view *view = work->view;
	const char *key = row->key;
	size_t length = row->key_length;

	if (view->kept_key == NULL)
		return false;
	if (row->is_thread) {
		buffer_clear(&work->key);
		shown_append_thread_key(&work->key, row->tid, row->start_time);
		key = work->key.data;
		length = work->key.length;
	}
	return length == view->kept_key_length && memcmp(key, view->kept_key, length) == 0;
}

/* --- rows with jemalloc --- */

/*
 * Whether a row has a process with jemalloc, read or not; counts those of which that is not known. Without a
 * jemalloc there is nothing to read, and nothing missed.
 */
static bool has_jemalloc(struct table_work *work, size_t row)
{
	const struct accumulator *processes = reduce_accumulator(values_of(work, COLUMN_PROCS), row);

	if (processes->missed != 0 && processes->read == 0) {
		switch (processes->reason) {
		case REASON_NEEDS_STOP:
		case REASON_UNREADABLE:
			return true;
		case REASON_BEING_RESOLVED:
			work->table->jemalloc_resolving += processes->missed;
			return false;
		default:
			work->table->jemalloc_unknown += processes->missed;
			return false;
		}
	}
	return processes->read != 0;
}

/* For gone rows this is known only if they are sorted by a number that jemalloc alone gives. */
static bool had_jemalloc(const struct table_work *work, const struct marked_row *gone)
{
	return work->sort != COLUMN_COUNT && column_sources(work->sort) == source_bit(SOURCE_JEMALLOC) &&
	       !isnan(gone->sort);
}

/* --- order --- */

/* By name, then by thread id: a total order, whatever the values. */
static int compare_names(const struct ordered_row *left, const struct ordered_row *right)
{
	const struct marked_row *a = &left->is, *b = &right->is;
	int order;

	/* processes by their ids: as text 99 would come after 4120 */
	if (!a->is_thread && a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (left->group != UINT32_MAX && right->group != UINT32_MAX && a->label == a->key &&
	    b->label == b->key)
		return order_u64(left->group, right->group);
	/* names of a snapshot are stored once: threads of one name share it */
	order = a->label == b->label ? 0 : order_bytes(a->label, a->label_length, b->label, b->label_length);
	if (order != 0)
		return order;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (!a->is_thread && a->key != b->key)
		order = order_bytes(a->key, a->key_length, b->key, b->key_length);
	return order != 0 ? order : (left->row == ROW_GONE) - (right->row == ROW_GONE);
}

struct name {
	const char *text;
	size_t length;
	uint32_t triple;
};

static int compare_texts(const void *a, const void *b)
{
	const struct name *left = a, *right = b;

	return left->text == right->text ? 0
					 : order_bytes(left->text, left->length, right->text, right->length);
}

static bool is_sorted(const struct name *names, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (compare_texts(&names[i - 1], &names[i]) > 0)
			return false;
	}
	return true;
}

/* The places of thread names in their order, by triple; equal names have one. Owned by the session. */
static const uint32_t *rank_names(struct session *session)
{
	const struct snapshot *now = session->rounds.now;
	const size_t count = now->triple_count;
	struct name_ranks *ranks = &session->name_ranks;
	/* most rounds have the names of the one before */
	const bool in_order = ranks->count == count;
	struct name *names;

	if (ranks->of_newest)
		return ranks->by_triple;
	names = memory_allocate((count + 1) * sizeof(*names));
	for (uint32_t i = 0; i < count; i++) {
		names[i].triple = in_order ? ranks->order[i] : i;
		names[i].text = shown_triple_name(now, names[i].triple, &names[i].length);
	}
	if (!is_sorted(names, count))
		qsort(names, count, sizeof(*names), compare_texts);
	ranks->order = memory_resize(ranks->order, count + 1, sizeof(*ranks->order));
	ranks->by_triple = memory_resize(ranks->by_triple, count + 1, sizeof(*ranks->by_triple));
	for (uint32_t i = 0, rank = 0; i < count; i++) {
		rank += i > 0 && compare_texts(&names[i - 1], &names[i]) != 0;
		ranks->order[i] = names[i].triple;
		ranks->by_triple[names[i].triple] = rank;
	}
	ranks->count = count;
	ranks->of_newest = true;
	free(names);
	return ranks->by_triple;
}

/* The place that compare_names() gives a living row among such rows; false where no number says it. */
static bool rank_row(struct table_work *work, const struct ordered_row *row, uint64_t *ret_rank)
{
	const struct snapshot *now = work->rows->shown.now;

	if (row->is.is_thread)
		*ret_rank = ((uint64_t)rank_names(work->session)[now->triple[row->thread]] << 32) |
			    row->is.tid;
	else if (work->view->grouping.axis == AXIS_PID)
		*ret_rank = row->is.tgid;
	else
		*ret_rank = row->group;
	return row->is.is_thread || row->is.tgid != 0 ||
	       (row->group != UINT32_MAX && row->is.label == row->is.key);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct view *view = ((const struct table_work *)context)->view;
	const struct ordered_row *left = a, *right = b;
	int order = 0;

	if (!view->sort_by_name)
		order = order_numbers(left->is.sort, right->is.sort, view->sort_ascending);
	if (order != 0)
		return order;
	order = compare_names(left, right);
	return view->sort_by_name && !view->sort_ascending ? -order : order;
}

/* --- rows --- */

static double *sort_values(struct table_work *work)
{
	double *sorts = memory_allocate((work->rows->shown.row_count + 1) * sizeof(*sorts));
	struct arena arena = {0};

	for (size_t row = 0; row < work->rows->shown.row_count; row++) {
		struct cell cell = {.sort = NAN};

		if (work->sort != COLUMN_COUNT)
			make_cell(work, work->sort, row, &arena, &cell);
		sorts[row] = cell.sort;
	}
	arena_release(&arena);
	return sorts;
}

/* A filter on the momentary state of threads makes rows come and go that always exist. */
static bool is_fleeting(const struct view *view)
{
	for (size_t i = 0; i <= view->step_count; i++) {
		if (filter_is_fleeting(view_filter_at(view, i)))
			return true;
	}
	return false;
}

static bool hides_gone(const struct view *view)
{
	return view->hide_gone || is_fleeting(view);
}

/* Sorts the living rows by numbers alone: comparing names takes longest in a large table. False where a row
 * has no rank. */
static bool sort_by_ranks(struct table_work *work, struct ordered_row *rows, size_t count)
{
	const struct view *view = work->view;
	struct order_item *items = memory_allocate((count + 1) * sizeof(*items));
	struct ordered_row *unsorted;
	bool all = true;

	for (uint32_t i = 0; i < count && all; i++) {
		items[i] = (struct order_item){.index = i};
		all = rank_row(work, &rows[i], &items[i].second);
		if (!view->sort_by_name)
			items[i].first = order_key(rows[i].is.sort, view->sort_ascending);
		else if (!view->sort_ascending)
			items[i].second = ~items[i].second;
	}
	if (all) {
		order_items(items, count);
		unsorted = memory_allocate((count + 1) * sizeof(*rows));
		memcpy(unsorted, rows, count * sizeof(*rows));
		for (size_t i = 0; i < count; i++)
			rows[i] = unsorted[items[i].index];
		free(unsorted);
	}
	free(items);
	return all;
}

/* Joins the living rows and those that are gone, each in their order. */
static void merge_rows(struct table_work *work, struct ordered_row *rows, size_t living, size_t count)
{
	const size_t gone_count = count - living;
	struct ordered_row *gone = memory_allocate((gone_count + 1) * sizeof(*gone));
	size_t left = gone_count;

	memcpy(gone, &rows[living], gone_count * sizeof(*gone));
	for (size_t end = count; left != 0; end--) {
		if (living != 0 && compare_rows(&rows[living - 1], &gone[left - 1], work) > 0)
			rows[end - 1] = rows[--living];
		else
			rows[end - 1] = gone[--left];
	}
	free(gone);
}

/* Sorts rows, of which the first `living` are not gone, so far that the first `wanted` are in their order. */
static void sort_rows(struct table_work *work, struct ordered_row *rows, size_t living, size_t count,
		      size_t wanted)
{
	struct ordered_row *const gone = &rows[living];
	const size_t gone_count = count - living;

	/* gone rows have no number to be sorted by: they come last, but have their places among names */
	const bool is_mixed = work->view->sort_by_name && gone_count != 0;

	if (is_mixed && wanted < count) {
		order_first(rows, count, sizeof(*rows), wanted, compare_rows, work);
		return;
	}
	/* a few of many are found faster than all names are ranked */
	if (wanted < living || !sort_by_ranks(work, rows, living))
		order_first(rows, living, sizeof(*rows), wanted, compare_rows, work);
	if (wanted > living)
		order_first(gone, gone_count, sizeof(*gone), wanted - living, compare_rows, work);
	if (is_mixed)
		merge_rows(work, rows, living, count);
}

/* The leader of a process; threads of one come after one another. */
static uint32_t find_leader(struct table_work *work, uint32_t tgid)
{
	if (tgid != work->process || tgid == 0) {
		work->process = tgid;
		work->leader = snapshot_find_row(work->rows->shown.now, tgid, tgid);
	}
	return work->leader;
}

/* The rows that the table shows, in their order; the caller frees them. */
static struct ordered_row *order_rows(struct table_work *work, size_t *ret_count, size_t *ret_total)
{
	const struct row_generation *before = &work->session->row_marks.before;
	const bool hides_new = is_fleeting(work->view), hides_idle = view_hides_idle(work->view);
	const bool by_thread = work->rows->shown.by_thread;
	double *sorts = sort_values(work);
	struct marked_row *described = row_marks_update(&work->session->row_marks, work->session->round_count,
							work->view, &work->rows->shown, sorts);
	struct ordered_row *rows = memory_allocate((work->rows->shown.row_count + before->count + 1) *
						   sizeof(*rows));
	size_t count = 0, limit = work->view->limit, living;

	for (size_t i = 0; i < work->rows->shown.row_count; i++) {
		if (described[i].mark == ROW_MARK_NEW && hides_new)
			described[i].mark = ROW_MARK_NONE;
		rows[count] = (struct ordered_row){
			.is = described[i],
			.thread = by_thread ? work->rows->shown.row_group[i] : UINT32_MAX,
			.group = by_thread ? UINT32_MAX : work->rows->shown.row_group[i],
			.leader = by_thread ? find_leader(work, described[i].tgid) : SNAPSHOT_NO_ROW,
			.row = i,
		};
		if (!passes(work, &rows[count]) || (work->view->jemalloc_only && !has_jemalloc(work, i)))
			continue;
		rows[count].idle = hides_idle && is_idle(work, i) && !is_kept(work, &described[i]);
		work->table->threads += work->rows->shown.row_threads[i];
		if (rows[count].idle && !work->view->mark_idle)
			work->table->row_idle++;
		else
			count++;
	}
	living = count;
	for (size_t i = 0; before->round != 0 && !hides_gone(work->view) && i < before->count; i++) {
		if (before->rows[i].seen ||
		    (work->view->jemalloc_only && !had_jemalloc(work, &before->rows[i])))
			continue;
		rows[count] = (struct ordered_row){.is = before->rows[i],
						   .thread = UINT32_MAX,
						   .group = UINT32_MAX,
						   .leader = SNAPSHOT_NO_ROW,
						   .row = ROW_GONE};
		rows[count].is.mark = ROW_MARK_GONE;
		if (passes(work, &rows[count])) {
			work->table->row_gone++;
			count++;
		}
	}
	free(sorts);
	free(described);
	*ret_total = count;
	*ret_count = limit != 0 && limit < count ? limit : count;
	sort_rows(work, rows, living, count, *ret_count);
	return rows;
}

static void add_cells(struct table_work *work, size_t shown_row, struct table_row *row)
{
	table_add_cells(work->table, row);
	for (size_t i = work->table->name_count; i < work->table->column_count; i++) {
		make_cell(work, (enum column)work->table->columns[i].column, shown_row, &work->table->arena,
			  &row->cells[i]);
	}
}

static struct cell gone_cell(enum column column)
{
	if (column == COLUMN_THR)
		return (struct cell){.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = UNIT_COUNT};
	return (struct cell){.state = CELL_UNAVAILABLE, .reason = REASON_ENDED, .sort = NAN};
}

/* Says which process the members of a living row are of. */
static void set_process(struct table_work *work, const struct ordered_row *ordered, struct table_row *row)
{
	const struct snapshot *now = work->rows->shown.now;
	const struct accumulator *processes;
	uint32_t leader = ordered->leader;

	if (work->session->is_file)
		return;
	if (ordered->is.is_thread) {
		row->process = ordered->is.tgid;
		row->start_time = ordered->is.start_time;
	} else {
		processes = reduce_accumulator(values_of(work, COLUMN_PID), ordered->row);
		row->process = processes->identity.distinct == 1 ? processes->identity.value : 0;
		if (row->process != 0)
			leader = snapshot_find_row(now, row->process, row->process);
	}
	if (leader == SNAPSHOT_NO_ROW)
		row->process = 0;
	else
		row->process_start = now->start_time[leader];
}

static void fill_row(struct table_work *work, const struct ordered_row *ordered, struct table_row *row)
{
	const bool gone = ordered->row == ROW_GONE;
	struct arena *arena = &work->table->arena;

	row->mark = (enum row_mark)ordered->is.mark;
	row->idle = ordered->idle;
	row->label = row->key = arena_duplicate(arena, ordered->is.label, ordered->is.label_length);
	row->label_length = row->key_length = ordered->is.label_length;
	row->tgid = ordered->is.tgid;
	row->is_own = ordered->is.is_own;
	if (!ordered->is.is_thread &&
	    (ordered->is.key != ordered->is.label || ordered->is.key_length != ordered->is.label_length)) {
		row->key = arena_duplicate(arena, ordered->is.key, ordered->is.key_length);
		row->key_length = ordered->is.key_length;
	}
	row->threads = gone ? 0 : work->rows->shown.row_threads[ordered->row];
	if (ordered->is.is_thread) {
		buffer_clear(&work->key);
		shown_append_thread_key(&work->key, ordered->is.tid, ordered->is.start_time);
		row->key = arena_duplicate(arena, work->key.data, work->key.length);
		row->key_length = work->key.length;
		row->tid = ordered->is.tid;
		row->thread = ordered->thread;
	}
	if (!gone) {
		set_process(work, ordered, row);
		row->subject = (uint32_t)ordered->row;
		if (work->view->cells_on_demand)
			return;
		add_cells(work, ordered->row, row);
	} else {
		table_add_cells(work->table, row);
		for (size_t i = 0; i < work->column_count; i++)
			row->cells[work->table->name_count + i] = gone_cell(work->columns[i]);
	}
	row_names_set(work->view, arena, row);
}

/* Sets the whole for shares: for groups the sum of all rows, for a thread the time it lived. */
static void measure_wholes(struct table_work *work, const struct ordered_row *rows, size_t count)
{
	struct cell cell;

	for (size_t i = 0; i < work->column_count; i++) {
		struct table_column *column = &work->table->columns[work->table->name_count + i];
		const struct column_values *values;

		if (!column_has_shares(work->columns[i]))
			continue;
		if (work->rows->shown.by_thread) {
			column->whole = column->unit == UNIT_PERCENT ? 100 : 0;
			continue;
		}
		values = values_of(work, work->columns[i]);
		for (size_t row = 0; row < count; row++) {
			if (rows[row].row == ROW_GONE)
				continue;
			column_cell(&work->rows->shown, values, rows[row].row, &work->table->arena, &cell);
			if (!isnan(cell_number(&cell)))
				column->whole += cell_number(&cell);
		}
	}
}

static void fill_table(struct table_work *work)
{
	struct ordered_row *rows;
	size_t count, total;

	work->sort = sort_column(work);
	for (size_t i = work->column_count; i-- > 0;) {
		if (work->columns[i] == work->sort)
			work->table->sort_column = work->table->name_count + i;
	}
	rows = order_rows(work, &count, &total);
	for (size_t i = 0; i < count; i++)
		fill_row(work, &rows[i], table_add_bare_row(work->table));
	work->table->row_total = total;
	measure_wholes(work, rows, total);
	free(rows);
}

/* --- courses of the numbers --- */

enum {
	COURSE_TABLE_COLUMNS_MAX = 16, /* of a table with more of them none is kept for its own sake */
	COURSE_ROWS_MAX = 2000,        /* of more, as of threads, the column sorted by is kept alone */
};

/* Kept of groups whatever the tab: what a person goes back to. */
static const enum column always[] = {COLUMN_CPU, COLUMN_RUNQ, COLUMN_LOST, COLUMN_RW, COLUMN_ALLOC};

/* Columns to keep, each once. */
struct choice {
	enum column columns[COURSE_COLUMNS];
	size_t count;
};

static void choose(struct choice *choice, enum column column)
{
	if (column == COLUMN_COUNT || choice->count == COURSE_COLUMNS)
		return;
	for (size_t i = 0; i < choice->count; i++) {
		if (choice->columns[i] == column)
			return;
	}
	choice->columns[choice->count++] = column;
}

static struct choice choose_columns(const struct table_work *work)
{
	const struct table *table = work->table;
	struct choice choice = {.count = 0};

	choose(&choice, work->sort);
	choose(&choice, work->session->wanted_course);
	if (work->view->level == VIEW_LEVEL_THREADS || work->rows->shown.row_count > COURSE_ROWS_MAX)
		return choice;
	for (size_t i = 0; i < ARRAY_COUNT(always); i++)
		choose(&choice, always[i]);
	for (size_t i = 0; table->column_count <= COURSE_TABLE_COLUMNS_MAX && i < table->column_count; i++) {
		/* words have no course */
		if (!table->columns[i].left && table->columns[i].column < COLUMN_TOTAL)
			choose(&choice, (enum column)table->columns[i].column);
	}
	return choice;
}

/* The row of courses of each row shown; the caller frees them. */
static size_t *course_rows(struct session *session, struct course_view *courses, const struct shown *shown)
{
	size_t *rows = memory_allocate((shown->row_count + 1) * sizeof(*rows));
	struct buffer thread_key = {0};

	courses_forget_rows(&session->courses, courses, shown->row_count);
	for (size_t row = 0; row < shown->row_count; row++) {
		const char *key;
		size_t length;

		if (shown->by_thread) {
			const uint32_t thread = shown->row_group[row];

			buffer_clear(&thread_key);
			shown_append_thread_key(&thread_key, shown->now->tid[thread],
						shown->now->start_time[thread]);
			key = thread_key.data;
			length = thread_key.length;
		} else {
			key = shown_row_key(shown, row, &length);
		}
		rows[row] = courses_row(&session->courses, courses, key, length);
	}
	buffer_release(&thread_key);
	return rows;
}

static void note_course(struct table_work *work, struct course_view *courses, struct course_column *column,
			struct row_values *rates, const size_t *rows)
{
	const struct column_values *values = values_in_mode(work, rates, column->column, WINDOW_MODE_RATE);
	struct arena arena = {0};

	for (size_t row = 0; row < rates->shown.row_count; row++) {
		struct cell cell;

		if (rows[row] == SIZE_MAX)
			continue;
		column_cell(&rates->shown, values, row, &arena, &cell);
		courses_note(&work->session->courses, courses, column, rows[row], cell_number(&cell));
	}
	arena_release(&arena);
}

/* Notes the newest round in the courses of the rows of a table, in the columns in which it is not yet. */
static void note_courses(struct table_work *work)
{
	struct session *session = work->session;
	const struct choice choice = choose_columns(work);
	struct course_view *courses;
	size_t *rows = NULL;

	if (!session->keeps_courses)
		return;
	courses = courses_view(&session->courses, work->view);
	for (size_t i = 0; i < choice.count; i++) {
		struct course_column *column = courses_begin_column(&session->courses, courses,
								    choice.columns[i]);

		if (column == NULL)
			continue;
		if (rows == NULL)
			rows = course_rows(session, courses, &find_rates(work)->shown);
		note_course(work, courses, column, find_rates(work), rows);
	}
	free(rows);
}

/* --- the table --- */

static void release_work(struct table_work *work)
{
	for (size_t i = 0; work->filter_members != NULL && i < FILTER_TERMS_MAX; i++)
		free(work->filter_members[i]);
	free(work->filter_members);
	row_values_release(&work->rates);
	buffer_release(&work->key);
}

struct table *session_table(struct session *session, const struct view *view)
{
	struct row_values rows = {0};
	struct table_work work = {.session = session, .view = view, .rows = &rows};
	struct table_column *column;

	window_describe_fields(session->scheduler);
	work.column_count = view_columns(view, work.columns);
	work.table = table_create(NULL, ROW_NAMES_MAX + work.column_count);
	work.table->name_count = row_names_columns(view, &work.table->arena, work.table->columns);
	work.table->column_count = work.table->name_count + work.column_count;
	column = &work.table->columns[work.table->name_count];
	for (size_t i = 0; i < work.column_count; i++, column++) {
		column_describe(work.columns[i], view->mode, view->level == VIEW_LEVEL_THREADS,
				&work.table->arena, column);
		column->at_least = session_is_lower_bound(session, view, work.columns[i]);
		column->wanted = view_wanted_width(view, work.columns[i]);
	}
	if (session->rounds.now == NULL)
		return work.table;
	session_find_rows(session, view, &rows);
	fill_table(&work);
	note_courses(&work);
	release_work(&work);
	if (view->cells_on_demand)
		session_keep_rows(session, &rows, work.table);
	row_values_release(&rows);
	return work.table;
}

/* The threads of the rows of a range that have no cells, with a row each. */
static void collect_unmade(const struct snapshot *now, const struct table *table, size_t first, size_t end,
			   struct shown *shown)
{
	*shown = (struct shown){.now = now, .by_thread = true};
	shown_reserve(shown, end - first, end - first);
	for (size_t i = first; i < end; i++) {
		if (table->rows[i].cells == NULL)
			shown_add(shown, table->rows[i].thread, (uint32_t)shown->row_count++);
	}
}

enum {
	FEW_ROWS_RATIO = 8 /* of all rows, that make it worth while to count some for themselves */
};

static void fill_threads(struct session *session, const struct view *view, struct table *table, size_t first,
			 size_t end)
{
	struct row_values rows = {0};
	struct table_work work = {.session = session, .view = view, .rows = &rows, .table = table};
	size_t row = 0;

	collect_unmade(session->rounds.now, table, first, end, &rows.shown);
	for (size_t i = first; i < end; i++) {
		if (table->rows[i].cells == NULL)
			add_cells(&work, row++, &table->rows[i]);
	}
	row_values_release(&rows);
}

static size_t count_unmade(const struct table *table, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += table->rows[i].cells == NULL;
	return count;
}

/* A flag for each row shown: true where a row of this range of the table lacks cells. The caller frees them.
 */
static bool *find_unmade(const struct table *table, size_t first, size_t end, size_t shown_rows)
{
	bool *rows = memory_allocate_zero(shown_rows + 1, sizeof(*rows));

	for (size_t i = first; i < end; i++) {
		if (table->rows[i].cells == NULL)
			rows[table->rows[i].subject] = true;
	}
	return rows;
}

/*
 * Finds the rows of a table among those that were collected anew: names and command lines that a filter asks
 * for may have come since it was made. Of one that is gone all cells are empty.
 */
static void find_subjects(const struct shown *shown, struct table *table, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct table_row *row = &table->rows[i];
		size_t found = row->subject;

		if (row->cells != NULL || has_key(shown, found, row->key, row->key_length))
			continue;
		for (found = 0; found < shown->row_count; found++) {
			if (has_key(shown, found, row->key, row->key_length))
				break;
		}
		row->subject = (uint32_t)found;
		if (found == shown->row_count)
			table_add_cells(table, row);
	}
}

/*
 * Tables or groupings made since then may have replaced the kept one. The few rows of a screen are counted
 * from their own threads: a column of all would take as long as the rest of the table.
 */
static void fill_groups(struct session *session, const struct view *view, struct table *table, size_t first,
			size_t end)
{
	struct row_values rows = {0};
	struct table_work work = {
		.session = session, .view = view, .rows = &session->kept_rows, .table = table};
	size_t count = count_unmade(table, first, end);
	bool is_few;

	if (count == 0)
		return;
	if (session->kept_rows.table != table) {
		session_find_rows(session, view, &rows);
		session_keep_rows(session, &rows, table);
	}
	find_subjects(&session->kept_rows.shown, table, first, end);
	count = count_unmade(table, first, end);
	is_few = count * FEW_ROWS_RATIO < session->kept_rows.shown.row_count;
	if (is_few) {
		bool *unmade = find_unmade(table, first, end, session->kept_rows.shown.row_count);

		rows.shown = shown_narrow(&session->kept_rows.shown, unmade);
		work.rows = &rows;
		free(unmade);
	}
	for (size_t i = first; i < end; i++) {
		if (table->rows[i].cells == NULL)
			add_cells(&work, table->rows[i].subject, &table->rows[i]);
	}
	if (is_few)
		shown_release_narrowed(&rows.shown);
	row_values_release(&rows);
}

void session_table_fill(struct session *session, const struct view *view, struct table *table, size_t first,
			size_t count)
{
	size_t end = count < table->row_count - first ? first + count : table->row_count;

	if (first >= table->row_count)
		return;
	if (view->level == VIEW_LEVEL_THREADS)
		fill_threads(session, view, table, first, end);
	else
		fill_groups(session, view, table, first, end);
}

/* Adds the times of the last interval to classes by row of `shown`. */
static void add_times(const struct session *session, const struct shown *shown,
		      struct session_classes of_shown[])
{
	const struct window window = session_window(session, WINDOW_MODE_INTERVAL);

	for (enum wait_class class = WAIT_CLASS_UNKNOWN + 1; class < WAIT_CLASS_COUNT; class ++) {
		struct row_time *rows = reduce_times_missing(&window, shown) == REASON_READ
						? reduce_times(&window, shown, class)
						: NULL;

		for (size_t row = 0; rows != NULL && row < shown->row_count; row++)
			of_shown[row].time_ns[class] = rows[row].known;
		free(rows);
	}
}

struct session_classes *session_count_classes(const struct session *session, const struct table *table)
{
	const struct shown *shown = &session->kept_rows.shown;
	struct session_classes *of_shown, *classes;

	if (session->kept_rows.table != table)
		return NULL;
	of_shown = memory_allocate_zero(shown->row_count + 1, sizeof(*of_shown));
	classes = memory_allocate_zero(table->row_count + 1, sizeof(*classes));
	for (size_t k = 0; k < shown->count && shown->now->wait_class != NULL; k++) {
		enum wait_class class;

		if (reduce_wait_class(shown->now, shown->threads[k], &class) == REASON_READ)
			of_shown[shown->row_of[k]].threads[class]++;
	}
	add_times(session, shown, of_shown);
	for (size_t i = 0; i < table->row_count; i++)
		classes[i] = of_shown[table->rows[i].subject];
	free(of_shown);
	return classes;
}
