/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of text: what the help has and in which order, how it lines up, searching in it. */
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "ui/terminal/keys.h"

#include "fake_program.h"

static const struct pty_options sizes[] = {
	{.rows = 24, .columns = 80},
	{.rows = 36, .columns = 120},
	{.rows = 50, .columns = 200},
	{.rows = 12, .columns = 40},
	{.rows = 24, .columns = 80, .locale = "C"},
	{.rows = 12, .columns = 40, .locale = "C"},
};

enum {
	SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]),
};

static bool is_ascii(size_t size)
{
	return sizes[size].locale != NULL;
}

static void test_help_begins_with_this_tab(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		struct pty_screen pty;

		fake_start_with_rows(&pty, &sizes[i]);
		pty_show(&pty, "?", "Columns of this tab");
		pty_wait_text(&pty, "Threads in the group.");
		/* and says that there is more, in the characters of the terminal */
		pty_wait_text(&pty, is_ascii(i) ? "v " : "▼ ");
		pty_wait_text(&pty, " more");
		pty_show(&pty, "G", is_ascii(i) ? "^ " : "▲ ");
		pty_wait_no_text(&pty, "Columns of this tab");
		pty_quit(&pty);
	}
}

/* Sections in the order in which a newcomer needs them. */
static void test_help_order(void **state)
{
	static const char *const titles[] = {
		"Columns of this tab",
		"Groups and threads",
		"Pages of text",
		"Typing a text",
		"Marks",
		"Colours",
		"Tabs",
		"Columns of the tab Run",
	};
	const struct pty_options options = {.rows = 1000, .columns = 120};
	struct pty_screen pty;
	int last = -1, column;

	(void)state;
	fake_start_with_rows(&pty, &options);
	pty_show(&pty, "?", "Columns of the tab Run");
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		int row = pty_find(&pty, titles[i], NULL);

		assert_true(row > last);
		last = row;
	}
	/* Enter, Esc and q come first of the keys */
	last = pty_find(&pty, "Groups and threads", NULL);
	assert_non_null(strstr(pty_row(&pty, last + 1), "Enter"));
	/* texts of a section begin in one column, whatever the marks are made of */
	last = pty_find(&pty, "unavailable; i says why", &column);
	assert_true(last > 0);
	pty_find(&pty, "does not apply, or was", &last);
	assert_int_equal(last, column);
	pty_find(&pty, "before a number: some threads", &last);
	assert_int_equal(last, column);
	/* no key runs into what it does */
	assert_int_equal(pty_find(&pty, "Enterclose", NULL), -1);
	assert_true(pty_find(&pty, "Esc Backspace q i Enter  close the page", NULL) > 0);
	/* a colour is shown as it is */
	last = pty_find(&pty, "stuck threads and what failed", NULL);
	assert_true(last > 0 && pty_is_bold(&pty, last, 0) && pty_is_colored(&pty, last, 0));
	pty_quit(&pty);
}

static void test_every_key_is_told_once(void **state)
{
	unsigned int told[ACTION_COUNT] = {0};

	(void)state;
	for (size_t section = 0; section < KEY_SECTION_COUNT; section++) {
		enum action actions[ACTION_COUNT];
		size_t count = key_section_actions(section, actions);

		for (size_t i = 0; i < count; i++)
			told[actions[i]]++;
	}
	for (enum action action = 0; action < ACTION_COUNT; action++)
		assert_int_equal(told[action], 1);
}

static void test_search(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE_COUNT; i++) {
		struct pty_screen pty;
		int row, column;

		fake_start_with_rows(&pty, &sizes[i]);
		pty_show(&pty, "?", "Columns of this tab");
		/* found while it is typed, whatever the case, and brought in sight */
		pty_show(&pty, "/DISPATCH", "search: DISPATCH");
		row = pty_find(&pty, "ispatch", &column);
		assert_true(row > 0);
		assert_true(pty_is_reverse(&pty, row, column));
		pty_show(&pty, "\r", "1 of ");
		pty_show(&pty, "n", "2 of ");
		/* from the first one back to the last */
		pty_hide(&pty, "NN", " 2 of ");
		pty_wait_no_text(&pty, " 1 of ");
		pty_show(&pty, "n", " 1 of ");
		/* what is not there is said; Esc ends the search before the page */
		pty_show(&pty, "\033ORnowhere here\r", "not in this page: nowhere here");
		pty_hide(&pty, "/abc\033", "search:");
		pty_show(&pty, "n", "nothing is searched for");
		pty_show(&pty, "\033", "182.4");
		pty_quit(&pty);
	}
}

/* The same in the page of data quality and in an explanation. */
static void test_search_in_other_pages(void **state)
{
	struct pty_screen pty;
	int row, column;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "e", "Data quality");
	pty_show(&pty, "/smaps_rollup\r", "1 of ");
	row = pty_find(&pty, "smaps_rollup", &column);
	assert_true(pty_is_reverse(&pty, row, column));
	/* a round makes the page again; the match stays */
	fake_round(&pty, "postgres-{N} 1,nginx 2");
	pty_sync(&pty);
	row = pty_find(&pty, "smaps_rollup", &column);
	assert_true(pty_is_reverse(&pty, row, column));
	pty_show(&pty, "\033", "nginx");
	pty_show(&pty, "i", "Explanation of column");
	pty_show(&pty, "/column\r", "1 of 1");
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_begins_with_this_tab), cmocka_unit_test(test_help_order),
		cmocka_unit_test(test_every_key_is_told_once),    cmocka_unit_test(test_search),
		cmocka_unit_test(test_search_in_other_pages),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
