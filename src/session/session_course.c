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

static struct choice choose_columns(const struct session *session, const struct view *view,
				    const struct course_source *source)
{
	const struct table *table = source->table;
	struct choice choice = {.count = 0};

	choose(&choice, source->sort);
	choose(&choice, session->wanted_course);
	if (view->level == VIEW_LEVEL_THREADS || source->shown->row_count > ROWS_MAX)
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

static void note_column(struct session *session, struct course_view *courses, struct course_column *column,
			const struct course_source *source, const size_t *rows)
{
	const struct column_values *values = source->values_of(source->context, column->column);
	struct arena arena = {0};

	for (size_t row = 0; row < source->shown->row_count; row++) {
		struct cell cell;

		if (rows[row] == SIZE_MAX)
			continue;
		column_cell(source->shown, values, row, &arena, &cell);
		courses_note(&session->courses, courses, column, rows[row], cell_number(&cell));
	}
	arena_release(&arena);
}

bool session_lacks_courses(struct session *session, const struct view *view,
			   const struct course_source *source)
{
	const struct choice choice = choose_columns(session, view, source);
	const struct course_view *courses = courses_view(&session->courses, view);

	for (size_t i = 0; i < choice.count; i++) {
		if (!courses_has_noted(&session->courses, courses, choice.columns[i]))
			return true;
	}
	return false;
}

void session_note_courses(struct session *session, const struct view *view,
			  const struct course_source *source)
{
	const struct choice choice = choose_columns(session, view, source);
	struct course_view *courses = courses_view(&session->courses, view);
	size_t *rows = find_rows(session, courses, source->shown);

	for (size_t i = 0; i < choice.count; i++) {
		struct course_column *column = courses_begin_column(&session->courses, courses,
								    choice.columns[i]);

		if (column != NULL)
			note_column(session, courses, column, source, rows);
	}
	free(rows);
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
