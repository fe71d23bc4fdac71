/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses the columns and rows whose course over the rounds of a session is kept. */
#include "session_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
	TABLE_COLUMNS_MAX = 16, /* of a table with more of them none is kept for its own sake */
	ROWS_MAX = 2000,        /* of more, as of threads, the column sorted by is kept alone */
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
	if (work->view->level == VIEW_LEVEL_THREADS || work->shown.row_count > ROWS_MAX)
		return choice;
	for (size_t i = 0; i < ARRAY_COUNT(always); i++)
		choose(&choice, always[i]);
	for (size_t i = 0; table->column_count <= TABLE_COLUMNS_MAX && i < table->column_count; i++) {
		/* words have no course */
		if (!table->columns[i].left && table->columns[i].column < COLUMN_TOTAL)
			choose(&choice, (enum column)table->columns[i].column);
	}
	return choice;
}

/* The row of courses of each row shown; the caller frees them. */
static size_t *find_rows(struct session *session, struct course_view *courses, const struct shown *shown)
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

static void note_column(struct table_work *work, struct course_view *courses, struct course_column *column,
			const size_t *rows)
{
	const struct column_values *values = table_work_values(work, column->column, WINDOW_MODE_RATE);
	struct arena arena = {0};

	for (size_t row = 0; row < work->shown.row_count; row++) {
		struct cell cell;

		if (rows[row] == SIZE_MAX)
			continue;
		column_cell(&work->shown, values, row, &arena, &cell);
		courses_note(&work->session->courses, courses, column, rows[row], cell_number(&cell));
	}
	arena_release(&arena);
}

static bool are_noted(const struct courses *courses, const struct course_view *view,
		      const struct choice *choice)
{
	for (size_t i = 0; i < choice->count; i++) {
		if (!courses_has_noted(courses, view, choice->columns[i]))
			return false;
	}
	return true;
}

void session_note_courses(struct table_work *work)
{
	struct session *session = work->session;
	const struct choice choice = choose_columns(work);
	struct table_work rates = {.session = session};
	struct view view = *work->view;
	struct course_view *courses;
	size_t *rows;

	if (!session->keeps_courses)
		return;
	courses = courses_view(&session->courses, &view);
	if (are_noted(&session->courses, courses, &choice))
		return;
	/* rates are counted over another window: other threads stood still in it, and ended */
	if (view.mode != WINDOW_MODE_RATE && view.mode != WINDOW_MODE_INTERVAL) {
		view.mode = WINDOW_MODE_RATE;
		rates.view = &view;
		session_collect(session, &view, NULL, 0, session_ended(session, view.mode), &rates.shown);
		work = &rates;
	}
	rows = find_rows(session, courses, &work->shown);
	for (size_t i = 0; i < choice.count; i++) {
		struct course_column *column = courses_begin_column(&session->courses, courses,
								    choice.columns[i]);

		if (column != NULL)
			note_column(work, courses, column, rows);
	}
	free(rows);
	table_work_release(&rates);
}

void session_keep_courses(struct session *session, enum column wanted)
{
	session->keeps_courses = !session->is_file;
	session->wanted_course = wanted;
}

size_t session_course(const struct session *session, const struct view *view, const char *key,
		      size_t key_length, enum column column, struct course_point points[], size_t limit)
{
	return courses_points(&session->courses, view, key, key_length, column, points, limit);
}
