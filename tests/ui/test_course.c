/* SPDX-License-Identifier: GPL-2.0-only */
/* The course of the number sorted by, beside the numbers of each row, and the share under them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fake_program.h"

static void start_wide(struct pty_screen *pty, const char *locale, const char *argument)
{
	const struct pty_options options = {.rows = 50, .columns = 200, .locale = locale};

	fake_start(pty, &options, argument);
	fake_round(pty, "wave 10,gaps 40,small 0.01");
	fake_round(pty, "wave 0,small 0.5");
	fake_round(pty, "wave 20,gaps 0.01,small 0");
	fake_round(pty, "wave 40,gaps 40,small 0.4");
}

/* Heights are of the row's own largest; zero is not what is small, and a gap is blank. */
static void test_heights(void **state)
{
	struct pty_screen pty;
	int row, column, course;

	(void)state;
	start_wide(&pty, NULL, NULL);
	pty_wait_text(&pty, " ▃▁▅█");
	pty_wait_text(&pty, " █ ▂█");
	pty_wait_text(&pty, " ▂▅▁▄");
	/* a title with the time of twenty rounds at most, and texts of who it is beside */
	row = pty_find(&pty, "TREND ", &course);
	assert_true(row >= 0);
	assert_non_null(strstr(pty_row(&pty, row), "CPU%v"));
	pty_wait_text(&pty, "somebody");
	/* it goes on to the left with each round */
	fake_round(&pty, "wave 80,gaps 40,small 0.4");
	pty_wait_text(&pty, " ▂▁▃▅█");
	assert_true(pty_find(&pty, "▂▁▃▅█", &column) > row);
	assert_true(column > course);
	pty_quit(&pty);
}

static void expect_ascii(const char *locale, const char *argument)
{
	struct pty_screen pty;

	start_wide(&pty, locale, argument);
	pty_wait_text(&pty, " :_=#");
	pty_wait_text(&pty, " # .#");
	assert_true(pty_is_ascii(&pty));
	pty_quit(&pty);
}

static void test_ascii(void **state)
{
	(void)state;
	expect_ascii("C", NULL);
	expect_ascii(NULL, "--ascii");
}

/* Numbers are there first; without any that the rows are sorted by there is no course, nor in a file. */
static void test_where_it_is(void **state)
{
	const struct pty_options wide = {.rows = 50, .columns = 200};
	struct pty_screen pty;
	int row;

	(void)state;
	start_wide(&pty, NULL, NULL);
	pty_wait_text(&pty, "TREND ");
	pty_resize(&pty, 12, 40);
	pty_wait_no_text(&pty, "TREND ");
	pty_wait_text(&pty, "CPU%v");
	/* two columns that cannot be read leave room */
	pty_resize(&pty, 24, 80);
	pty_wait_text(&pty, "WRITE/s TREND ");
	/* its length is left out where it has no room */
	row = pty_find(&pty, "WRITE/s TREND ", NULL);
	assert_null(strchr(pty_row(&pty, row), '~'));
	pty_command(&pty, "on delays");
	fake_round(&pty, "wave 40,gaps 40,small 0.4");
	pty_wait_text(&pty, "MWAIT%");
	pty_wait_no_text(&pty, "TREND ");
	pty_wait_text(&pty, "CPU%v");
	pty_resize(&pty, 50, 200);
	pty_wait_text(&pty, "TREND ");
	pty_hide(&pty, "N", "TREND ");
	pty_show(&pty, "P", "TREND ");
	/* another order has a course of its own, not that of before */
	pty_wait_text(&pty, "▃▁▅██");
	pty_show(&pty, "<", "THRv");
	pty_wait_no_text(&pty, "▃▁▅██");
	/* a process id is no number that goes anywhere */
	pty_wait_text(&pty, "TREND ");
	pty_show(&pty, "s", "Sort by");
	pty_show(&pty, "PID\r", "PID^");
	pty_wait_no_text(&pty, "TREND ");
	pty_quit(&pty);
	fake_start(&pty, &wide, "--file=stored.ctprof.zst");
	pty_wait_text(&pty, "stored");
	pty_wait_text(&pty, "somebody");
	assert_int_equal(pty_find(&pty, "TREND ", NULL), -1);
	pty_quit(&pty);
}

static bool cursor_is_on(struct pty_screen *pty, const void *text)
{
	const int row = pty_find(pty, text, NULL);

	return row >= 0 && pty_is_reverse(pty, row, 1);
}

/* In every theme the row of the cursor is one stretch, and the course of others is there. */
static void test_themes(void **state)
{
	static const char *const arguments[] = {"--theme=default", "--theme=light", "--theme=mono"};

	(void)state;
	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		struct pty_screen pty;
		int row, column;

		start_wide(&pty, NULL, arguments[i]);
		pty_wait_text(&pty, "▃▁▅█");
		pty_wait_text(&pty, "█ ▂█");
		pty_type(&pty, "\033OH");
		pty_wait(&pty, cursor_is_on, "█ ▂█", "the cursor on the first row");
		row = pty_selected_row(&pty);
		for (int cell = 1; cell < 200; cell++)
			assert_true(pty_is_reverse(&pty, row, cell));
		row = pty_find(&pty, "▃▁▅█", &column);
		assert_true(row >= 0);
		assert_false(pty_is_reverse(&pty, row, column));
		assert_int_equal(pty_is_colored(&pty, row, column), i != 2);
		pty_quit(&pty);
	}
}

/* Cells of a number's column that have a colour under them, `width` of them up to where it ends. */
static int shaded(struct pty_screen *pty, int row, int end, int width)
{
	int cells = 0;

	for (int cell = end - width; cell < end; cell++)
		cells += pty_background(pty, row, cell) != PTY_COLOR_DEFAULT;
	/* from the left on, and nothing beside it */
	for (int cell = end - width; cell < end - width + cells; cell++)
		assert_int_not_equal(pty_background(pty, row, cell), PTY_COLOR_DEFAULT);
	assert_int_equal(pty_background(pty, row, end - width - 1), PTY_COLOR_DEFAULT);
	assert_int_equal(pty_background(pty, row, end), PTY_COLOR_DEFAULT);
	return cells;
}

static void expect_shares(struct pty_screen *pty, bool are_there)
{
	static const struct {
		const char *number;
		int cells; /* of the five of CPU%v */
	} rows[] = {{"100.0", -1}, {" 60.0", 2}, {" 36.0", 1}, {"  4.0", 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int column = 0, row;

		pty_wait_text(pty, rows[i].number);
		row = pty_find(pty, rows[i].number, &column);
		assert_int_equal(pty_foreground(pty, row, column + 4) != PTY_COLOR_DEFAULT,
				 are_there && rows[i].cells == 5);
		if (rows[i].cells >= 0)
			assert_int_equal(shaded(pty, row, column + 5, 5), are_there ? rows[i].cells : 0);
		else
			assert_true(pty_is_reverse(pty, row, column) && pty_is_reverse(pty, row, 1));
	}
}

/* The part of all rows lies under CPU%, but for the row of the cursor, where the terminal can show it. */
static void test_shares(void **state)
{
	static const struct {
		const char *argument;
		struct pty_options options;
		bool are_there;
	} cases[] = {
		{"--theme=default", {.rows = 24, .columns = 80}, true},
		{"--theme=light", {.rows = 12, .columns = 40}, true},
		{"--theme=default", {.rows = 36, .columns = 120, .term = "xterm-direct2"}, true},
		{"--theme=default", {.rows = 50, .columns = 200, .locale = "C"}, true},
		{"--theme=mono", {.rows = 24, .columns = 80}, false},
		{"--theme=default", {.rows = 24, .columns = 80, .term = "xterm"}, false},
		{"--theme=default", {.rows = 24, .columns = 80, .environment = {"NO_COLOR=1"}}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pty_screen pty;

		if (cases[i].options.term != NULL && !pty_describes(cases[i].options.term))
			continue;
		fake_start(&pty, &cases[i].options, cases[i].argument);
		fake_round(&pty, "first 100,second 60,third 36,last 4");
		fake_round(&pty, "first 100,second 60,third 36,last 4");
		pty_wait_text(&pty, "100.0");
		pty_type(&pty, "\033OH");
		pty_wait(&pty, cursor_is_on, "first", "the cursor on the first row");
		expect_shares(&pty, cases[i].are_there);
		pty_show(&pty, "?", "Columns of this tab");
		pty_show(&pty, "/shade\r", cases[i].are_there ? "1 of " : "not in this page");
		pty_quit(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights),     cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_where_it_is), cmocka_unit_test(test_themes),
		cmocka_unit_test(test_shares),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
