/* SPDX-License-Identifier: GPL-2.0-only */
/* Clicks and the wheel, as terminals report them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fake_program.h"

enum {
	WHEEL_UP = 64,
	WHEEL_DOWN = 65,
	ROWS = 40, /* more than the screen has */
};

/* A press and release in the SGR form; cells count from 0. */
static void report(struct pty_screen *pty, int button, int row, int column)
{
	char text[64];

	snprintf(text, sizeof(text), "\033[<%d;%d;%dM\033[<%d;%d;%dm", button, column + 1, row + 1, button,
		 column + 1, row + 1);
	pty_type(pty, text);
}

/* Clicks on the last character of a text of the screen, which stands below the header. */
static void click(struct pty_screen *pty, const char *text)
{
	int column, row;

	pty_wait_text(pty, text);
	row = pty_find(pty, text, &column);
	report(pty, 0, row, column + (int)strlen(text) - 1);
}

static bool reports_mouse(struct pty_screen *pty, const void *context)
{
	return pty->mouse == (context != NULL);
}

static void expect_mouse(struct pty_screen *pty, bool wanted)
{
	pty_wait(pty, reports_mouse, wanted ? "" : NULL, wanted ? "the mouse is reported" : "it is not");
}

static void test_clicks(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	expect_mouse(&pty, true);
	/* a row */
	click(&pty, "batch-{N}");
	pty_wait_selected(&pty, "batch-{N}");
	/* a title sorts, once more reverses, another one sorts by that; the name too */
	click(&pty, "CPU%");
	pty_wait_text(&pty, "CPU%^");
	click(&pty, "CPU%");
	pty_wait_text(&pty, "CPU%v");
	click(&pty, "WRITE/s");
	pty_wait_text(&pty, "WRITE/sv");
	click(&pty, "PROCESS");
	pty_wait_text(&pty, "PROCESS^");
	/* a tab */
	click(&pty, " Sched");
	pty_wait_text(&pty, "POLICY");
	click(&pty, " Overview");
	pty_wait_text(&pty, "STUCK");
	/* elsewhere nothing happens, nor with other buttons, nor when a button is let go */
	report(&pty, 0, 0, 3);
	report(&pty, 0, 20, 70);
	report(&pty, 2, 7, 3);
	pty_type(&pty, "\033[<0;4;8m");
	pty_type(&pty, "G");
	pty_wait_selected(&pty, "worker-{N}");
	pty_quit(&pty);
}

static bool shows_first(struct pty_screen *pty, const void *context)
{
	return strstr(pty_row(pty, 5), context) != NULL;
}

static bool shows_cursor(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty_selected_row(pty) > 0;
}

static void test_wheel(void **state)
{
	struct pty_screen pty;
	char command[64];

	(void)state;
	fake_start(&pty, NULL, NULL);
	for (int i = 1; i <= ROWS; i++) {
		snprintf(command, sizeof(command), "row . 2 %d r%02d", 100 - i, i);
		pty_command(&pty, command);
	}
	pty_command(&pty, "round");
	pty_wait_text(&pty, "r01");
	pty_wait(&pty, shows_first, "r01", "the first row");
	for (int i = 0; i < 3; i++)
		report(&pty, WHEEL_DOWN, 10, 10);
	pty_wait(&pty, shows_first, " 9 more", "nine rows further down");
	pty_wait(&pty, shows_cursor, NULL, "the cursor in sight");
	report(&pty, WHEEL_UP, 10, 10);
	pty_wait(&pty, shows_first, " 6 more", "three rows up");
	/* the lines that say how many others there are lead to them */
	click(&pty, " 6 more");
	pty_wait(&pty, shows_first, "r01", "a page up");
	/* pages and menus */
	pty_show(&pty, "?", "Columns of this tab");
	for (int i = 0; i < 9; i++)
		report(&pty, WHEEL_DOWN, 10, 10);
	pty_wait_no_text(&pty, "Columns of this tab");
	pty_show(&pty, "\033", "PROCESS");
	pty_show(&pty, "s", "Sort by");
	report(&pty, WHEEL_UP, 10, 10);
	pty_show(&pty, "\r", "THRv");
	pty_quit(&pty);
}

/* A report in parts, broken ones, the plain form: nothing of them is taken for keys. */
static void test_odd_reports(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "\033[<0;");
	pty_sync(&pty);
	pty_type(&pty, "4;8M");
	pty_wait_selected(&pty, "nginx");
	pty_type(&pty, "\033[<0;4x\033[<;;M\033[<0;4;99999999999M\033[<0;4;6;9M\033[<35;4;6M");
	pty_type(&pty, "\033[M $&");
	pty_wait_selected(&pty, "postgres-{N}");
	/* while something is typed it is no text either */
	pty_type(&pty, "/ngi");
	report(&pty, 0, 8, 3);
	pty_show(&pty, "nx\r", "filter: nginx");
	pty_quit(&pty);
}

/* It is given back with the terminal, and taken again with it. */
static void test_given_back(void **state)
{
	const struct pty_options job = {.rows = 24, .columns = 80, .job = true};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, &job);
	expect_mouse(&pty, true);
	pty_type(&pty, "\x1a");
	pty_wait(&pty, pty_is_stopped, NULL, "Ctrl-Z stops it");
	pty_expect_restored(&pty);
	kill(pty.child, SIGCONT);
	pty_wait(&pty, pty_is_on_screen, NULL, "the screen is back");
	expect_mouse(&pty, true);
	click(&pty, "nginx");
	pty_wait_selected(&pty, "nginx");
	pty_quit(&pty);
}

/* Mouse reports that another program left enabled are ignored and never act as keys. */
static void expect_unused_reports(struct pty_screen *pty)
{
	uint64_t before;

	pty_sync(pty);
	before = pty->bytes;
	pty_type(pty, "\033[<0;4;7M\033[M qS\033[<0;4;7m");
	pty_sync(pty);
	assert_int_equal(pty->bytes, before);
}

/* Nothing is asked of the terminal where it is to keep the mouse, or has none. */
static void test_without(void **state)
{
	const struct pty_options plain = {.rows = 24, .columns = 80, .term = "vt220"};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, "--no-mouse");
	fake_round(&pty, "alpha 2,beta 1");
	pty_wait_text(&pty, "alpha");
	expect_mouse(&pty, false);
	expect_unused_reports(&pty);
	pty_quit(&pty);
	fake_start_with_rows(&pty, &plain);
	expect_mouse(&pty, false);
	expect_unused_reports(&pty);
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clicks),      cmocka_unit_test(test_wheel),
		cmocka_unit_test(test_odd_reports), cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_without),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
