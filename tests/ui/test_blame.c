/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of who delays whom. */
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fake_program.h"

static void measure(struct pty_screen *pty)
{
	pty_command(pty, "measured 1000");
	pty_command(pty, "delay alpha beta 300");
	pty_command(pty, "delay alpha alpha 100");
	pty_command(pty, "delay beta - 20");
	pty_command(pty, "delay gamma beta 40");
	fake_round(pty, "alpha 9,beta 5,gamma 3");
}

static void test_off(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "w", "Who delays whom, by process");
	pty_wait_text(&pty, "Not measured. l starts it");
	pty_wait_text(&pty, "It costs about");
	/* the page stays, and has what comes */
	pty_type(&pty, "l");
	pty_wait_answer(&pty, "latency 1");
	pty_wait_text(&pty, "Who delays whom");
	measure(&pty);
	pty_wait_text(&pty, "VICTIM");
	pty_wait_no_text(&pty, "Not measured");
	pty_hide(&pty, "w", "Who delays whom");
	pty_quit(&pty);
}

static void expect_row(struct pty_screen *pty, int row, const char *victim, const char *culprit,
		       const char *numbers)
{
	const char *text = pty_row(pty, row);

	assert_int_equal(strncmp(text + 1, victim, strlen(victim)), 0);
	assert_non_null(strstr(text, culprit));
	assert_non_null(strstr(text, numbers));
}

/* The pairs of the row under the cursor first, and those of each round. */
static void test_pairs(void **state)
{
	struct pty_screen pty;
	int row;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	measure(&pty);
	pty_show(&pty, "w", "VICTIM");
	row = pty_find(&pty, "VICTIM", NULL);
	assert_non_null(strstr(pty_row(&pty, row), "ms/s  SHARE%  WAITS/s"));
	expect_row(&pty, row + 1, "alpha", "beta", "300    75.0      7.0");
	expect_row(&pty, row + 2, "alpha", "itself", "100    25.0      7.0");
	expect_row(&pty, row + 3, "gamma", "beta", "40.0   100.0      7.0");
	expect_row(&pty, row + 4, "beta", "(wakeup)", "20.0   100.0      7.0");
	assert_non_null(
		strstr(pty_row(&pty, row - 1), "whom, by process   100.0% of the waiting has a name"));
	pty_command(&pty, "delay alpha beta 100");
	fake_round(&pty, "alpha 9,beta 5,gamma 3");
	pty_wait_text(&pty, "50.0      7.0");
	/* of beta: what delays it, then what it delays, the largest first */
	pty_hide(&pty, "\033", "VICTIM");
	pty_type(&pty, "j");
	pty_show(&pty, "w", "VICTIM");
	expect_row(&pty, row + 1, "beta", "(wakeup)", "20.0");
	expect_row(&pty, row + 2, "alpha", "beta", "100");
	expect_row(&pty, row + 3, "gamma", "beta", "40.0");
	expect_row(&pty, row + 4, "alpha", "itself", "100");
	pty_quit(&pty);
}

/* The other relation, and another order. */
static void test_wakes_and_order(void **state)
{
	struct pty_screen pty;
	int row;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	measure(&pty);
	pty_show(&pty, "w", "VICTIM");
	pty_show(&pty, "s", "sorted by SHARE%");
	row = pty_find(&pty, "VICTIM", NULL);
	expect_row(&pty, row + 1, "alpha", "beta", "75.0");
	expect_row(&pty, row + 3, "beta", "(wakeup)", "100.0");
	expect_row(&pty, row + 4, "gamma", "beta", "100.0");
	pty_show(&pty, "\t", "Who wakes whom, by process, sorted by SHARE%");
	pty_wait_no_text(&pty, "has a name");
	pty_hide(&pty, "s", "sorted by");
	row = pty_find(&pty, "WOKEN BY", NULL);
	assert_non_null(strstr(pty_row(&pty, row), "WAKES/s  SHARE%"));
	expect_row(&pty, row + 1, "alpha", "itself", "5.0    50.0");
	expect_row(&pty, row + 2, "alpha", "beta", "5.0    50.0");
	expect_row(&pty, row + 3, "gamma", "beta", "5.0   100.0");
	assert_int_equal(pty_find(&pty, "(wakeup)", NULL), -1);
	pty_show(&pty, "\t", "Who delays whom");
	pty_quit(&pty);
}

static void test_open(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	measure(&pty);
	pty_show(&pty, "w", "VICTIM");
	pty_type(&pty, "jj");
	pty_show(&pty, "\r", "process gamma > pid process-1");
	pty_hide(&pty, "\033", "process gamma >");
	/* what has no row cannot be opened */
	fake_round(&pty, "beta 5");
	pty_show(&pty, "w", "VICTIM");
	pty_show(&pty, "G\r", "has no row in the list");
	pty_hide(&pty, "q", "VICTIM");
	pty_quit(&pty);
}

/* What the row under the cursor waits for stands above the hints, in each round, and takes no row of the
 * list. */
static void test_why_slow(void **state)
{
	struct pty_screen pty;
	int row;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	fake_round(&pty, "alpha 9,slow-one 5");
	pty_wait_no_text(&pty, "batch");
	assert_int_equal(pty_find(&pty, "waits for a CPU", NULL), -1);
	row = pty_find(&pty, "slow-one", NULL);
	pty_show(&pty, "j", " waits for a CPU in round 3 (l says who ran)");
	assert_int_equal(pty_find(&pty, "waits for a CPU", NULL), 22);
	assert_int_equal(pty_find(&pty, "slow-one", NULL), row);
	fake_round(&pty, "alpha 9,slow-one 5");
	pty_wait_text(&pty, "waits for a CPU in round 4");
	pty_hide(&pty, "k", "waits for a CPU");
	/* where who ran is measured already nobody has to be told of the key */
	pty_type(&pty, "l");
	pty_wait_answer(&pty, "latency 1");
	pty_show(&pty, "1j", "waits for a CPU in round 4");
	assert_int_equal(pty_find(&pty, "(l says", NULL), -1);
	pty_quit(&pty);
}

static void test_sizes(void **state)
{
	static const struct pty_options sizes[] = {
		{.rows = 8, .columns = 40},
		{.rows = 12, .columns = 40, .locale = "C"},
		{.rows = 50, .columns = 200},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pty_screen pty;

		fake_start_with_rows(&pty, &sizes[i]);
		pty_show(&pty, "w", "Not measured.");
		measure(&pty);
		pty_wait_text(&pty, "VICTIM");
		pty_wait_text(&pty, "300");
		pty_wait_text(&pty, "SHARE%");
		pty_show(&pty, "?", "Columns of this tab");
		pty_show(&pty, "\033", "VICTIM");
		pty_hide(&pty, "\033", "VICTIM");
		pty_quit(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_wakes_and_order),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_why_slow),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
