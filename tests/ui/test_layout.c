/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes from 1x1 to 500x200, odd names, terminals without UTF-8 or colour. */
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fake_program.h"

static void test_sizes(void **state)
{
	static const struct {
		int rows, columns;
		const char *visible;
	} sizes[] = {
		{8, 40, "postgres-{N}"},  {24, 80, "WRITE/s"},         {50, 200, "MIGR/s"},
		{200, 500, "MIGR/s"},     {7, 40, "ctop needs 40x8."}, {8, 39, "39x8"},
		{1, 40, "The screen is"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct pty_options options = {.rows = sizes[i].rows, .columns = sizes[i].columns};
		struct pty_screen pty;

		fake_start(&pty, &options, NULL);
		fake_round(&pty, "postgres-{N} 182.4,nginx 1");
		pty_wait_text(&pty, sizes[i].visible);
		pty_quit(&pty);
	}
}

/* What most threads wait for is a column where there is room, and in a line for the row elsewhere. */
static void test_waits_for(void **state)
{
	const struct pty_options narrow = {.rows = 24, .columns = 80}, wide = {.rows = 24, .columns = 100};
	const struct pty_options ascii = {
		.rows = 24, .columns = 120, .locale = "C", .term = "screen-256color"};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, &narrow, NULL);
	fake_round(&pty, "lock 182.4,nginx 1");
	pty_wait_text(&pty, "waits for: futex 0x7f3a12c0 (38 of 40 threads)");
	assert_int_equal(pty_find(&pty, "WAITS FOR", NULL), -1);
	fake_round(&pty, "lockslow 182.4,nginx 1");
	pty_wait_text(&pty, " waits for: futex 0x7f3a12c0 (38 of 40 threads)  waits for a CPU in round");
	fake_round(&pty, "lock 182.4,nginx 1");
	pty_wait_no_text(&pty, "waits for a CPU");
	/* threads always have it */
	pty_show(&pty, "ge\r", "TID");
	pty_wait_text(&pty, "WAITS FOR");
	pty_wait_text(&pty, "×38");
	assert_int_equal(pty_find(&pty, "waits for:", NULL), -1);
	pty_quit(&pty);
	fake_start(&pty, &wide, NULL);
	fake_round(&pty, "lock 182.4,nginx 1");
	pty_wait_text(&pty, "WAITS FOR");
	/* without its middle beside other texts; the number stays */
	pty_wait_text(&pty, "futex 0x7…2c0 ×38");
	assert_int_equal(pty_find(&pty, "waits for:", NULL), -1);
	pty_quit(&pty);
	fake_start(&pty, &ascii, NULL);
	fake_round(&pty, "lock 182.4,nginx 1");
	pty_wait_text(&pty, " x38");
	assert_true(pty_is_ascii(&pty));
	pty_quit(&pty);
}

/* The name keeps 12 cells, THR and the sort column stay, the rightmost leave. */
static void test_narrow_columns(void **state)
{
	const struct pty_options options = {.rows = 10, .columns = 40};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, &options);
	pty_wait_text(&pty, "THR");
	pty_wait_text(&pty, "CPU%v");
	pty_wait_text(&pty, "postgres-{N}");
	assert_int_equal(pty_find(&pty, "WRITE/s", NULL), -1);
	pty_wait_text(&pty, "rate");
	pty_quit(&pty);
}

/* Any order of sizes, each taken before the next or not: it lives, and the last one is drawn right. */
static void test_resize_storm(void **state)
{
	static const int sizes[][2] = {{1, 1},   {100, 400}, {2, 3},   {8, 40},  {7, 39}, {24, 80},
				       {1, 400}, {100, 1},   {30, 33}, {3, 500}, {1, 1},  {24, 80}};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	for (int turn = 0; turn < 4; turn++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			pty_resize(&pty, sizes[i][0], sizes[i][1]);
			if (turn % 2 == 0)
				pty_sync(&pty);
			if (turn == 3)
				pty_type(&pty, "?");
		}
	}
	pty_wait_text(&pty, "postgres-{N}");
	pty_wait_text(&pty, "WRITE/s");
	pty_quit(&pty);
}

/* Where a number stands in its row, in cells. */
static int cell_of(struct pty_screen *pty, const char *text)
{
	int column = -1;

	assert_true(pty_find(pty, text, &column) >= 0);
	return column;
}

static void test_odd_names(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	/* with as many columns as leave names few cells */
	pty_command(&pty, "on delays");
	pty_command(&pty, "row . 2 900.1 plain");
	pty_command(&pty, "row . 2 800.2 \\xe6\\xbc\\xa2\\xe5\\xad\\x97wide");
	pty_command(&pty, "row . 2 700.3 e\\xcc\\x81combining");
	pty_command(&pty, "row . 2 600.4 bad\\xff\\xfebytes");
	pty_command(&pty, "row . 2 500.5 new\\x0aline");
	pty_command(&pty, "row . 2 400.6 esc\\x1b[2J\\x1b]0;title\\x07end");
	pty_command(&pty, "row . 2 300.7 c1\\xc2\\x9b2Jtext");
	pty_command(&pty, "row . 2 200.8 bidi\\xe2\\x80\\xaeevil");
	pty_command(&pty, "row . 2 150.1 sshd\\xe2\\x80\\x8b");
	pty_command(
		&pty,
		"row . 2 100.9 "
		"long\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\x"
		"a2"
		"\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2\\xe6\\xbc\\xa2");
	pty_command(&pty, "row . 2 90.1 \\xf0\\x9f\\x98\\x80face");
	pty_command(&pty, "round");
	pty_wait_text(&pty, "90.1");
	pty_wait_text(&pty, "漢字wide");
	pty_wait_text(&pty, "bad\xef\xbf\xbd\xef\xbf\xbd"
			    "bytes");
	pty_wait_text(&pty, "new\xef\xbf\xbdline");
	pty_wait_text(&pty, "esc\xef\xbf\xbd[2");
	pty_wait_text(&pty, "bidi\xef\xbf\xbd"
			    "evil");
	pty_wait_text(&pty, "sshd\xef\xbf\xbd");
	/* all numbers line up whatever the names are made of */
	assert_int_equal(cell_of(&pty, "800.2"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "700.3"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "600.4"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "500.5"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "400.6"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "300.7"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "200.8"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "150.1"), cell_of(&pty, "900.1"));
	assert_int_equal(cell_of(&pty, "100.9"), cell_of(&pty, "900.1"));
	/* a name is cut at characters, and keeps its beginning and its end */
	pty_wait_text(&pty, "long漢…漢漢漢");
	pty_quit(&pty);
}

static void test_ascii_locale(void **state)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .locale = "C"};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, &options, NULL);
	pty_command(&pty, "row . 2 900.1 \\xe6\\xbc\\xa2\\xe5\\xad\\x97wide");
	pty_command(&pty, "round");
	pty_wait_text(&pty, "900.1");
	pty_wait_text(&pty, "??wide");
	assert_int_equal(pty_find(&pty, "·", NULL), -1);
	pty_show(&pty, "i", "+- CPU% of");
	assert_true(pty_is_ascii(&pty));
	pty_type(&pty, "\033");
	pty_quit(&pty);
}

static void test_ascii_option(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, "--ascii");
	pty_command(&pty, "row . 2 900.1 \\xe6\\xbc\\xa2\\xe5\\xad\\x97wide");
	pty_command(&pty, "round");
	/* our marks are plain, and so are other people's names */
	pty_wait_text(&pty, "??wide");
	assert_int_equal(pty_find(&pty, "·", NULL), -1);
	assert_int_equal(pty_find(&pty, "≥", NULL), -1);
	pty_quit(&pty);
}

static bool any_color(struct pty_screen *pty)
{
	for (int row = 0; row < pty->rows; row++) {
		for (int column = 0; column < pty->columns; column++) {
			if (pty_is_colored(pty, row, column))
				return true;
		}
	}
	return false;
}

static void test_colors(void **state)
{
	const struct pty_options without = {.rows = 24, .columns = 80, .environment = {"NO_COLOR=1"}};
	const struct pty_options monochrome = {.rows = 24, .columns = 80, .term = "vt220"};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	assert_true(any_color(&pty));
	pty_quit(&pty);
	fake_start_with_rows(&pty, &without);
	assert_false(any_color(&pty));
	/* the current tab and the cursor's row show without */
	assert_true(pty_selected_row(&pty) > 0);
	assert_true(pty_is_reverse(&pty, 3, 1));
	pty_quit(&pty);
	fake_start(&pty, NULL, "--theme=mono");
	fake_round(&pty, "a 1");
	pty_wait_text(&pty, "1.0");
	assert_false(any_color(&pty));
	pty_quit(&pty);
	fake_start_with_rows(&pty, &monochrome);
	assert_false(any_color(&pty));
	assert_true(pty_selected_row(&pty) > 0);
	pty_quit(&pty);
}

/* Columns that the width leaves out are reached with Right. */
static void test_scroll_right(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	assert_int_equal(pty_find(&pty, "MIGR/s", NULL), -1);
	for (int i = 0; i < 14; i++)
		pty_type(&pty, "\033OC");
	pty_wait_text(&pty, "MIGR/s");
	pty_wait_text(&pty, "CPU%v");
	pty_quit(&pty);
}

/* Keys that are none here do nothing: neither their letters nor, within a prompt, those of Alt. */
static void test_unknown_keys(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	/* Ctrl-Tab and Alt-Up of some terminals */
	pty_type(&pty, "\x1b[27;5;9~\x1b[1;9A\x1bOz");
	pty_show(&pty, "/post", "filter: post");
	pty_show(&pty,
		 "\x1b"
		 "bg\x1b\x7fres",
		 "filter: postgres");
	pty_show(&pty, "\x1b\x1b[D", "filter: postgres");
	pty_show(&pty, "\r", "rate");
	assert_true(pty_find(&pty, "by process", NULL) >= 0);
	pty_quit(&pty);
}

static void test_row_marks(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_command(&pty, "row + 2 3 fresh");
	pty_command(&pty, "row x 2 2 ended");
	pty_command(&pty, "row ^ 2 1 rising");
	pty_command(&pty, "round");
	pty_wait_text(&pty, "+fresh");
	pty_wait_text(&pty, "xended");
	pty_wait_text(&pty, "^rising");
	pty_quit(&pty);
}

/* Any keys in any order, with rounds and sizes in between: it lives, and draws what it should afterwards. */
static void test_any_keys(void **state)
{
	static const char *const keys[] = {
		"\033OA",  "\033OB",  "\033OC", "\033OC", "\033OD",
		"\033[5~", "\033[6~", "\033OH", "\033OF", "\r",
		"\r",      "\033",    "\177",   "\t",     "\033[Z",
		"1",       "2",       "3",      "4",      "5",
		"6",       "7",       "9",      "0",      "g",
		"n",       "/",       "a",      "\r",     "s",
		"<",       ">",       "r",      "P",      "L",
		"M",       "O",       "N",      "d",      "b",
		" ",       "+",       "-",      "i",      "m",
		"e",       "K",       "S",      "#",      "?",
		"\014",    "\025",    "\001",   "x",      "\xe6\xbc\xa2",
	};
	static const int sizes[][2] = {{24, 80}, {8, 40}, {50, 200}, {3, 3}, {12, 61}};
	uint32_t random = 12345;
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	for (int i = 0; i < 3000; i++) {
		random = random * 1664525 + 1013904223;
		pty_type(&pty, keys[(random >> 8) % (sizeof(keys) / sizeof(keys[0]))]);
		if (i % 7 == 0) {
			char rows[128];

			snprintf(rows, sizeof(rows), "alpha %u,beta %u,solo %u", random >> 20,
				 random >> 24 & 7, i);
			fake_round(&pty, rows);
			pty_sync(&pty);
		}
		if (i % 97 == 0)
			pty_resize(&pty, sizes[i / 97 % 5][0], sizes[i / 97 % 5][1]);
	}
	pty_resize(&pty, 24, 80);
	/* out of whatever is open, to the list at the top */
	for (int i = 0; i < 8; i++) {
		pty_type(&pty, "\033");
		pty_sync(&pty);
	}
	pty_command(&pty, "row . 1 1 calm");
	pty_command(&pty, "base");
	pty_wait_text(&pty, "numbers count from this round on");
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),          cmocka_unit_test(test_waits_for),
		cmocka_unit_test(test_narrow_columns), cmocka_unit_test(test_resize_storm),
		cmocka_unit_test(test_odd_names),      cmocka_unit_test(test_ascii_locale),
		cmocka_unit_test(test_ascii_option),   cmocka_unit_test(test_colors),
		cmocka_unit_test(test_scroll_right),   cmocka_unit_test(test_unknown_keys),
		cmocka_unit_test(test_row_marks),      cmocka_unit_test(test_any_keys),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
