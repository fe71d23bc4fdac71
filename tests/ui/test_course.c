/* SPDX-License-Identifier: GPL-2.0-only */
/* The course of the number sorted by, beside the numbers of each row. */
#include <stdio.h>
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
	row = pty_find(&pty, "LAST ", &course);
	assert_true(row >= 0);
	assert_non_null(strstr(pty_row(&pty, row), "CPU%v"));
	pty_wait_text(&pty, "somebody");
	/* it goes on to the left with each round */
	fake_round(&pty, "wave 80,gaps 40,small 0.4");
	pty_wait_text(&pty, " ▂▁▃▅█");
	assert_true(pty_find(&pty, "▂▁▃▅█", &column) > row);
	assert_true(column > course);
	fake_quit(&pty);
}

static void expect_ascii(const char *locale, const char *argument)
{
	struct pty_screen pty;

	start_wide(&pty, locale, argument);
	pty_wait_text(&pty, " :_=#");
	pty_wait_text(&pty, " # .#");
	for (int row = 0; row < 50; row++) {
		for (const char *text = pty_row(&pty, row); *text != '\0'; text++)
			assert_true((unsigned char)*text < 0x80);
	}
	fake_quit(&pty);
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
	static const int sizes[][2] = {{12, 40}, {24, 80}};
	const struct pty_options wide = {.rows = 50, .columns = 200};
	struct pty_screen pty;

	(void)state;
	start_wide(&pty, NULL, NULL);
	pty_wait_text(&pty, "LAST ");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pty_resize(&pty, sizes[i][0], sizes[i][1]);
		pty_wait_no_text(&pty, "LAST ");
		pty_wait_text(&pty, "CPU%v");
	}
	pty_resize(&pty, 50, 200);
	pty_wait_text(&pty, "LAST ");
	pty_type(&pty, "N");
	pty_wait_no_text(&pty, "LAST ");
	pty_type(&pty, "P");
	pty_wait_text(&pty, "LAST ");
	/* another order has a course of its own, not that of before */
	pty_wait_text(&pty, "▃▁▅█");
	pty_type(&pty, "<");
	pty_wait_text(&pty, "THRv");
	pty_wait_no_text(&pty, "▃▁▅█");
	fake_quit(&pty);
	fake_start(&pty, &wide, "--file=stored.ctprof.zst");
	pty_wait_text(&pty, "stored");
	pty_wait_text(&pty, "somebody");
	assert_int_equal(pty_find(&pty, "LAST ", NULL), -1);
	fake_quit(&pty);
}

static bool cursor_is_on(struct pty_screen *pty, const void *text)
{
	const int row = pty_selected_row(pty);

	return row >= 0 && strstr(pty_row(pty, row), text) != NULL;
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
		fake_quit(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_where_it_is),
		cmocka_unit_test(test_themes),
	};

	if (!pty_is_available()) {
		puts("SKIP: no pseudoterminal to be had here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
