/* SPDX-License-Identifier: GPL-2.0-only */
/* The course of numbers over rounds: zeros, gaps, what is forgotten, and how much room it takes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session_fixture.h"

#include "session/course.h"

#define SECOND 1000000000ull

struct fixture {
	struct courses courses;
	struct view view;
};

static void begin(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	view_initialise(&fixture->view);
}

static void end(struct fixture *fixture)
{
	courses_release(&fixture->courses);
	assert_int_equal(fixture->courses.bytes, 0);
	view_release(&fixture->view);
}

static void add_round(struct fixture *fixture)
{
	const uint64_t round = fixture->courses.round + 1;

	courses_add_round(&fixture->courses, 1000 * SECOND + 2 * round * SECOND, 2 * round * SECOND);
}

static void note(struct fixture *fixture, const char *key, enum column column, double value)
{
	struct course_view *view = courses_view(&fixture->courses, &fixture->view);
	struct course_column *noted = courses_begin_column(&fixture->courses, view, column);
	size_t row = courses_row(&fixture->courses, view, key, strlen(key));

	assert_non_null(noted);
	assert_true(row != SIZE_MAX);
	courses_note(&fixture->courses, view, noted, row, value);
}

static size_t points_of(struct fixture *fixture, const char *key, enum column column,
			struct course_point points[COURSE_ROUNDS])
{
	return courses_points(&fixture->courses, &fixture->view, key, strlen(key), column, points,
			      COURSE_ROUNDS);
}

static void test_zeros_gaps_and_values(void **state)
{
	static const double values[] = {0, 0, 3.5, NAN, 0, -2};
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	assert_int_equal(points_of(&fixture, "a", COLUMN_CPU, points), 0);
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		add_round(&fixture);
		note(&fixture, "a", COLUMN_CPU, values[i]);
	}
	assert_int_equal(points_of(&fixture, "a", COLUMN_CPU, points), ARRAY_COUNT(values));
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		assert_true(isnan(values[i]) ? isnan(points[i].value) : points[i].value == values[i]);
		assert_int_equal(points[i].span_ns, i == 0 ? 0 : 2 * SECOND);
	}
	assert_int_equal(points[5].unix_ns, 1012 * SECOND);
	/* of a row or column that nobody noted all are gaps, never zeros */
	assert_int_equal(points_of(&fixture, "b", COLUMN_CPU, points), ARRAY_COUNT(values));
	assert_true(isnan(points[0].value) && isnan(points[5].value));
	points_of(&fixture, "a", COLUMN_RUNQ, points);
	assert_true(isnan(points[0].value) && isnan(points[5].value));
	end(&fixture);
}

static void test_a_column_is_noted_once_a_round(void **state)
{
	struct fixture fixture;
	struct course_view *view;

	(void)state;
	begin(&fixture);
	add_round(&fixture);
	view = courses_view(&fixture.courses, &fixture.view);
	assert_non_null(courses_begin_column(&fixture.courses, view, COLUMN_CPU));
	assert_null(courses_begin_column(&fixture.courses, view, COLUMN_CPU));
	assert_non_null(courses_begin_column(&fixture.courses, view, COLUMN_RUNQ));
	add_round(&fixture);
	assert_non_null(courses_begin_column(&fixture.courses, view, COLUMN_CPU));
	end(&fixture);
}

/* Only the last rounds are kept; a number that went back to zero long ago takes no room again. */
static void test_old_rounds_are_forgotten(void **state)
{
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;
	size_t with_values;

	(void)state;
	begin(&fixture);
	for (int i = 0; i < 3 * COURSE_ROUNDS; i++) {
		add_round(&fixture);
		note(&fixture, "a", COLUMN_CPU, i);
	}
	assert_int_equal(points_of(&fixture, "a", COLUMN_CPU, points), COURSE_ROUNDS);
	assert_true(points[0].value == 2 * COURSE_ROUNDS);
	assert_true(points[COURSE_ROUNDS - 1].value == 3 * COURSE_ROUNDS - 1);
	with_values = fixture.courses.bytes;
	for (int i = 0; i < COURSE_ROUNDS; i++) {
		add_round(&fixture);
		note(&fixture, "a", COLUMN_CPU, 0);
	}
	assert_true(fixture.courses.bytes < with_values);
	points_of(&fixture, "a", COLUMN_CPU, points);
	for (size_t i = 0; i < COURSE_ROUNDS; i++)
		assert_true(points[i].value == 0);
	/* a row that comes back after longer than that has nothing but gaps before */
	for (int i = 0; i < COURSE_ROUNDS + 5; i++)
		add_round(&fixture);
	note(&fixture, "a", COLUMN_CPU, 7);
	points_of(&fixture, "a", COLUMN_CPU, points);
	assert_true(points[COURSE_ROUNDS - 1].value == 7);
	assert_true(isnan(points[0].value) && isnan(points[COURSE_ROUNDS - 2].value));
	end(&fixture);
}

/* Each view has its own, also when others are shown in between; the one not shown longest goes. */
static void test_views(void **state)
{
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	add_round(&fixture);
	note(&fixture, "a", COLUMN_CPU, 1);
	fixture.view.hide_kernel_threads = true;
	add_round(&fixture);
	points_of(&fixture, "a", COLUMN_CPU, points);
	assert_true(isnan(points[0].value));
	note(&fixture, "a", COLUMN_CPU, 2);
	fixture.view.hide_kernel_threads = false;
	points_of(&fixture, "a", COLUMN_CPU, points);
	assert_true(points[0].value == 1 && isnan(points[1].value));
	/* neither mode nor order makes another view */
	fixture.view.mode = WINDOW_MODE_BASE;
	fixture.view.sort_by_name = true;
	points_of(&fixture, "a", COLUMN_CPU, points);
	assert_true(points[0].value == 1);
	end(&fixture);
}

/* Notes a number of each of the rows `first` to before `end` in the newest round, of a view of `row_count`.
 */
static void note_rows(struct fixture *fixture, size_t row_count, uint32_t first, uint32_t end, double value)
{
	struct course_view *view = courses_view(&fixture->courses, &fixture->view);
	struct course_column *column = courses_begin_column(&fixture->courses, view, COLUMN_CPU);
	char key[32];

	if (column == NULL) /* begun in this round already */
		column = &view->columns[0];
	else
		courses_forget_rows(&fixture->courses, view, row_count);
	for (uint32_t i = first; i < end; i++) {
		snprintf(key, sizeof(key), "%u", i);
		courses_note(&fixture->courses, view, column,
			     courses_row(&fixture->courses, view, key, strlen(key)), value);
	}
	assert_true(fixture->courses.bytes <= COURSE_BYTES_MAX);
}

/* Draws a row: the last point is of the newest round. */
static double draw_row(struct fixture *fixture, uint32_t row)
{
	struct course_point points[1];
	char key[32];

	snprintf(key, sizeof(key), "%u", row);
	assert_int_equal(
		courses_points(&fixture->courses, &fixture->view, key, strlen(key), COLUMN_CPU, points, 1),
		1);
	return points[0].value;
}

static size_t kept_rows(struct fixture *fixture)
{
	return courses_view(&fixture->courses, &fixture->view)->row_count;
}

/* Rows that come and go in hundreds stay in bounds, and what is drawn keeps its course. */
static void test_bounds(void **state)
{
	enum {
		STAYS = 1000000,
		MANY = 1000,
	};
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	for (uint32_t round = 0; round < 100; round++) {
		add_round(&fixture);
		note_rows(&fixture, MANY + 1, STAYS, STAYS + 1, round);
		note_rows(&fixture, MANY + 1, round * MANY, (round + 1) * MANY, 1);
		assert_true(draw_row(&fixture, STAYS) == (double)round);
		assert_true(kept_rows(&fixture) <= 4 * (MANY + 1) + 4 * 1024 + MANY + 1);
	}
	points_of(&fixture, "1000000", COLUMN_CPU, points);
	for (size_t i = 0; i < 100; i++)
		assert_true(points[i].value == (double)i);
	end(&fixture);
}

/* A view of many rows keeps those that were drawn, however many there are, and others as they are drawn. */
static void test_only_what_is_drawn(void **state)
{
	enum {
		MANY = 30000,
		SIGHT = 50,
	};
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;
	size_t bytes;

	(void)state;
	begin(&fixture);
	for (uint32_t round = 1; round <= 3; round++) {
		add_round(&fixture);
		note_rows(&fixture, MANY, 0, MANY, round);
		/* those that are drawn for the first time are noted from the next round on */
		for (uint32_t row = 0; row < SIGHT; row++)
			assert_true(round == 1 ? isnan(draw_row(&fixture, row))
					       : draw_row(&fixture, row) == (double)round);
	}
	assert_int_equal(kept_rows(&fixture), SIGHT);
	bytes = fixture.courses.bytes;
	assert_true(bytes < SIGHT * (COURSE_ROUNDS * sizeof(float) + 512));
	/* out of sight and back */
	for (uint32_t round = 4; round <= 6; round++) {
		add_round(&fixture);
		note_rows(&fixture, MANY, 0, MANY, round);
		for (uint32_t row = SIGHT; row < 2 * SIGHT; row++)
			draw_row(&fixture, row);
	}
	points_of(&fixture, "0", COLUMN_CPU, points);
	assert_true(isnan(points[0].value) && points[1].value == 2 && points[5].value == 6);
	points_of(&fixture, "50", COLUMN_CPU, points);
	assert_true(isnan(points[2].value) && isnan(points[3].value) && points[4].value == 5);
	/* scrolling through all of them, with numbers that take room */
	for (uint32_t row = 0; row < MANY; row++) {
		if (row % 1000 == 0) {
			add_round(&fixture);
			note_rows(&fixture, MANY, 0, MANY, 7);
		}
		draw_row(&fixture, row);
		assert_true(fixture.courses.bytes <= COURSE_BYTES_MAX);
	}
	add_round(&fixture);
	note_rows(&fixture, MANY, 0, MANY, 8);
	for (uint32_t row = MANY - SIGHT; row < MANY; row++)
		assert_true(draw_row(&fixture, row) == 8);
	end(&fixture);
}

/* A row that is drawn for the first time gets its numbers from the rounds that are kept, the newest too. */
static void test_drawn_and_filled(void **state)
{
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	for (uint32_t round = 1; round <= 5; round++) {
		add_round(&fixture);
		note_rows(&fixture, COURSE_ROWS_ALL + 1, 0, 10, round);
	}
	for (uint32_t row = 0; row < 2; row++)
		assert_true(isnan(draw_row(&fixture, row)));
	for (uint32_t round = 6; round-- > 2;) {
		for (uint32_t row = 0; row < 3; row++) {
			char key[32];

			snprintf(key, sizeof(key), "%u", row);
			courses_note_earlier(&fixture.courses, &fixture.view, key, strlen(key), COLUMN_CPU,
					     1000 * SECOND + 2 * (uint64_t)round * SECOND,
					     row == 0 ? round : 0);
		}
	}
	add_round(&fixture);
	note_rows(&fixture, COURSE_ROWS_ALL + 1, 0, 10, 6);
	for (uint32_t row = 0; row < 2; row++) {
		points_of(&fixture, row == 0 ? "0" : "1", COLUMN_CPU, points);
		assert_true(isnan(points[0].value));
		for (uint32_t round = 2; round <= 5; round++)
			assert_true(points[round - 1].value == (row == 0 ? (double)round : 0));
		assert_true(points[5].value == 6);
	}
	/* nobody asked for the course of this one */
	points_of(&fixture, "2", COLUMN_CPU, points);
	assert_true(isnan(points[4].value) && isnan(points[5].value));
	end(&fixture);
}

/* If room is short, rows out of sight go first. */
static void test_hidden_rows_go_first(void **state)
{
	enum {
		FULL = 6000, /* more than there is room for */
	};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	/* by their number all rows may be kept */
	for (uint32_t round = 1; round <= 10; round++) {
		add_round(&fixture);
		note_rows(&fixture, COURSE_ROWS_ALL, 0, round < 8 ? 100 : FULL, round);
		for (uint32_t row = 90; row < 100; row++)
			assert_true(draw_row(&fixture, row) == (double)round);
	}
	for (uint32_t row = 90; row < 100; row++) {
		struct course_point points[COURSE_ROUNDS];
		char key[32];

		snprintf(key, sizeof(key), "%u", row);
		points_of(&fixture, key, COLUMN_CPU, points);
		for (uint32_t round = 1; round <= 10; round++)
			assert_true(points[round - 1].value == (double)round);
	}
	assert_true(isnan(draw_row(&fixture, 0)));
	end(&fixture);
}

/* If room is short for what is drawn, values before a number became zero go; the rest stays true. */
static void test_short_of_room(void **state)
{
	enum {
		EARLY = 3000,
		LATE = 1000,
		LAST = 39, /* round */
	};
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	for (uint32_t round = 0; round <= LAST; round++) {
		add_round(&fixture);
		for (uint32_t row = EARLY; round == LAST && row < EARLY + LATE; row++)
			draw_row(&fixture, row);
		/* each has a number in the first round alone, but for those that come late */
		note_rows(&fixture, COURSE_ROWS_ALL, 0, EARLY, round == 0 ? 5 : 0);
		if (round == LAST)
			note_rows(&fixture, COURSE_ROWS_ALL, EARLY, EARLY + LATE, 5);
		for (uint32_t row = 0; row < EARLY; row++)
			draw_row(&fixture, row);
	}
	points_of(&fixture, "3999", COLUMN_CPU, points);
	assert_true(points[LAST].value == 5);
	points_of(&fixture, "0", COLUMN_CPU, points);
	assert_true(isnan(points[0].value));
	assert_true(points[1].value == 0 && points[LAST].value == 0);
	end(&fixture);
}

/* Fields of another scheduler are not what they were. */
static void test_forgotten_columns(void **state)
{
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	add_round(&fixture);
	note(&fixture, "a", COLUMN_TASK_FIELDS, 3);
	note(&fixture, "a", COLUMN_CPU, 4);
	note(&fixture, "a", (enum column)(COLUMN_TASK_FIELDS + 1), 5);
	courses_forget_columns(&fixture.courses, COLUMN_TASK_FIELDS, COLUMN_TOTAL);
	points_of(&fixture, "a", COLUMN_TASK_FIELDS, points);
	assert_true(isnan(points[0].value));
	points_of(&fixture, "a", COLUMN_CPU, points);
	assert_true(points[0].value == 4);
	end(&fixture);
}

/* --- of a session --- */

/* Each round the first worker runs 10 % more than the round before, the other one not at all. */
static struct snapshot *session_round(int round)
{
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);
	const size_t first = fixture_thread(snapshot, 10, 10, "web", "web", 1);
	const size_t second = fixture_thread(snapshot, 10, 11, "web", "worker", 1);

	fixture_set(snapshot, first, METRIC_RUN_TIME_NS, MS(1000 + 100 * round * (round + 1)));
	fixture_set(snapshot, first, METRIC_WAIT_TIME_NS, MS(20 * round));
	fixture_set(snapshot, second, METRIC_RUN_TIME_NS, MS(1000));
	return snapshot;
}

static void look(struct session *session, const struct view *view)
{
	table_release(session_table(session, view));
}

static size_t course_of(struct session *session, const struct view *view, const char *key, enum column column,
			struct course_point points[COURSE_ROUNDS])
{
	return session_course(session, view, key, strlen(key), column, points, COURSE_ROUNDS);
}

/* Rates are kept for the groups shown, in any mode, also in columns that are on no screen. */
static void test_groups_of_a_session(void **state)
{
	static const enum window_mode modes[] = {WINDOW_MODE_RATE, WINDOW_MODE_BASE, WINDOW_MODE_INTERVAL,
						 WINDOW_MODE_TOTAL, WINDOW_MODE_RATE};
	struct course_point points[COURSE_ROUNDS];
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	view_set_tab(&view, TAB_SCHED);
	for (int round = 0; round < 5; round++) {
		if (round == 1)
			session_keep_courses(session, COLUMN_COUNT);
		session_add_round(session, session_round(round));
		view.mode = modes[round];
		look(session, &view);
		look(session, &view);
	}
	assert_int_equal(course_of(session, &view, "web", COLUMN_CPU, points), 5);
	assert_true(isnan(points[0].value)); /* kept from the second one on */
	for (int round = 1; round < 5; round++) {
		assert_true(fabs(points[round].value - 10.0 * round) < 1e-4);
		assert_int_equal(points[round].span_ns, 2 * SECOND);
	}
	course_of(session, &view, "web", COLUMN_RUNQ, points);
	assert_true(fabs(points[4].value - 1.0) < 1e-4);
	/* only as many as are asked for, the newest */
	assert_int_equal(session_course(session, &view, "web", 3, COLUMN_CPU, points, 2), 2);
	assert_true(fabs(points[1].value - 40.0) < 1e-4);
	view_release(&view);
	session_release(session);
}

/* For threads only the column sorted by is kept, and the one wanted besides. */
static void test_threads_of_a_session(void **state)
{
	struct course_point points[COURSE_ROUNDS];
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;
	char key[64];

	(void)state;
	view.level = VIEW_LEVEL_THREADS;
	session_keep_courses(session, COLUMN_COUNT);
	for (int round = 0; round < 4; round++) {
		if (round == 3)
			session_keep_courses(session, COLUMN_RUNQ);
		session_add_round(session, session_round(round));
		look(session, &view);
	}
	table = fixture_table_of(session, &view);
	assert_int_equal(table->rows[0].tid, 10);
	snprintf(key, sizeof(key), "%s", table->rows[0].key);
	course_of(session, &view, key, COLUMN_CPU, points);
	assert_true(fabs(points[3].value - 30.0) < 1e-4);
	assert_true(fabs(points[1].value - 10.0) < 1e-4);
	course_of(session, &view, key, COLUMN_RUNQ, points);
	assert_true(isnan(points[2].value));
	assert_true(fabs(points[3].value - 1.0) < 1e-4);
	course_of(session, &view, table->rows[1].key, COLUMN_CPU, points);
	assert_true(isnan(points[0].value) && points[3].value == 0);
	view_release(&view);
	session_release(session);
}

static void note_earlier(struct fixture *fixture, uint32_t round, double value)
{
	courses_note_earlier(&fixture->courses, &fixture->view, "a", 1, COLUMN_CPU,
			     1000 * SECOND + 2 * (uint64_t)round * SECOND, value);
}

/* Numbers of rounds that had gone by when the row was shown for the first time come before those noted. */
static void test_filled_from_earlier_rounds(void **state)
{
	/* of rounds 1 to 7 */
	static const double values[] = {1.5, NAN, 2.5, 0, 0, 0, 4};
	struct course_point points[COURSE_ROUNDS];
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	for (int i = 0; i < 6; i++)
		add_round(&fixture);
	/* nothing is known of the row yet, so there is no place for it */
	note_earlier(&fixture, 5, 9);
	note(&fixture, "a", COLUMN_CPU, 0);
	for (uint32_t round = 6; round-- > 1;)
		note_earlier(&fixture, round, values[round - 1]);
	/* what is known stays, and rounds that never were are none */
	note_earlier(&fixture, 6, 9);
	note_earlier(&fixture, 3, 9);
	note_earlier(&fixture, 100, 9);
	add_round(&fixture);
	note(&fixture, "a", COLUMN_CPU, values[6]);
	assert_int_equal(points_of(&fixture, "a", COLUMN_CPU, points), ARRAY_COUNT(values));
	for (size_t i = 0; i < ARRAY_COUNT(values); i++)
		assert_true(isnan(values[i]) ? isnan(points[i].value) : points[i].value == values[i]);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeros_gaps_and_values),
		cmocka_unit_test(test_a_column_is_noted_once_a_round),
		cmocka_unit_test(test_old_rounds_are_forgotten),
		cmocka_unit_test(test_filled_from_earlier_rounds),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_only_what_is_drawn),
		cmocka_unit_test(test_drawn_and_filled),
		cmocka_unit_test(test_hidden_rows_go_first),
		cmocka_unit_test(test_short_of_room),
		cmocka_unit_test(test_forgotten_columns),
		cmocka_unit_test(test_groups_of_a_session),
		cmocka_unit_test(test_threads_of_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
