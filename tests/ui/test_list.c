/* SPDX-License-Identifier: GPL-2.0-only */
/* What the list shows and where the cursor is, at every size and in both character sets. */
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fake_program.h"

/* The library behind these tests does not know how a character is repeated, which is sent to xterm in the C
 * locale. */
static const struct pty_options places[] = {
	{.rows = 24, .columns = 80},  {.rows = 24, .columns = 80, .locale = "C", .term = "screen-256color"},
	{.rows = 36, .columns = 120}, {.rows = 36, .columns = 120, .locale = "C", .term = "screen-256color"},
	{.rows = 50, .columns = 200}, {.rows = 50, .columns = 200, .locale = "C", .term = "screen-256color"},
	{.rows = 12, .columns = 40},  {.rows = 12, .columns = 40, .locale = "C", .term = "screen-256color"},
};

enum {
	PLACES = sizeof(places) / sizeof(places[0]),
	ROWS = 83, /* more than any of the places shows */
};

static const char down[] = "\033[B";

static bool is_ascii(const struct pty_options *place)
{
	return place->locale != NULL;
}

/* Rows r01 … r83; the CPU% of each by its number. */
static void send_rows(struct pty_screen *pty, double (*cpu_of)(int number))
{
	char command[64];

	for (int i = 1; i <= ROWS; i++) {
		snprintf(command, sizeof(command), "row . 2 %g r%02d", cpu_of(i), i);
		pty_command(pty, command);
	}
	pty_command(pty, "round");
}

static double falling(int number)
{
	return ROWS + 1 - number;
}

/* r08 is the least, all others as before. */
static double r08_falls(int number)
{
	return number == 8 ? 0.5 : falling(number);
}

/* r08 is the second. */
static double r08_rises(int number)
{
	return number == 8 ? (double)ROWS - 0.5 : falling(number);
}

static void start(struct pty_screen *pty, const struct pty_options *place)
{
	fake_start(pty, place, NULL);
	send_rows(pty, falling);
	send_rows(pty, falling);
	pty_wait_text(pty, "r01 ");
}

static void press(struct pty_screen *pty, const char *key, int times)
{
	while (times-- > 0)
		pty_type(pty, key);
}

/* Waits for "▲ COUNT more", or in ASCII "^ COUNT more"; none for 0. */
static void wait_others(struct pty_screen *pty, const struct pty_options *place, bool above, int count)
{
	const char *sign = is_ascii(place) ? (above ? "^" : "v") : (above ? "▲" : "▼");
	char text[64];

	snprintf(text, sizeof(text), count == 0 ? "%s " : "%s %d more", sign, count);
	if (count == 0)
		pty_wait_no_text(pty, text);
	else
		pty_wait_text(pty, text);
}

/* Rows of the list in sight: those whose name is one of ours. */
static int rows_in_sight(struct pty_screen *pty)
{
	int count = 0;

	for (int row = 0; row < pty->rows; row++) {
		const char *text = pty_row(pty, row);

		count += strlen(text) > 3 && text[1] == 'r' && text[2] >= '0' && text[2] <= '9';
	}
	return count;
}

static bool shows_rows(struct pty_screen *pty, const void *context)
{
	return rows_in_sight(pty) == *(const int *)context;
}

/* After a key that sorts, the top is in sight and the cursor on its first row, wherever it was. */
static void test_sorting_shows_the_top(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;

		start(&pty, &places[i]);
		press(&pty, down, 7);
		pty_wait_selected(&pty, "r08");
		pty_type(&pty, "N");
		pty_wait_selected(&pty, "r01");
		press(&pty, down, 70);
		pty_wait_selected(&pty, "r71");
		pty_type(&pty, "P");
		pty_wait_selected(&pty, "r01");
		wait_others(&pty, &places[i], true, 0);
		press(&pty, down, 70);
		pty_type(&pty, "r");
		pty_wait_selected(&pty, "r83");
		press(&pty, down, 70);
		pty_wait_selected(&pty, "r13");
		pty_type(&pty, "\t");
		pty_wait_selected(&pty, "r83");
		pty_type(&pty, "r");
		pty_wait_selected(&pty, "r01");
		press(&pty, down, 70);
		pty_type(&pty, "gpi\r");
		pty_wait_selected(&pty, "r01");
		wait_others(&pty, &places[i], true, 0);
		pty_quit(&pty);
	}
}

/* Esc puts the cursor on the row that was opened, where it was; a sort key shows the top again. */
static void test_back_then_sort(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;
		int row;

		start(&pty, &places[i]);
		press(&pty, down, 60);
		pty_wait_selected(&pty, "r61");
		press(&pty, "\033[A", 2);
		pty_wait_selected(&pty, "r59");
		row = pty_selected_row(&pty);
		pty_show(&pty, "\r", "inner-1");
		pty_type(&pty, "\033");
		pty_wait_selected(&pty, "r59");
		assert_int_equal(pty_selected_row(&pty), row);
		pty_type(&pty, "P");
		pty_wait_selected(&pty, "r01");
		pty_quit(&pty);
	}
}

/* How many rows are not in sight is said, above and below; no row is lost. */
static void test_others_are_announced(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;
		char last[16];
		int shown, below;

		start(&pty, &places[i]);
		shown = rows_in_sight(&pty);
		assert_true(shown > 2);
		wait_others(&pty, &places[i], false, ROWS - shown);
		wait_others(&pty, &places[i], true, 0);
		pty_type(&pty, "G");
		pty_wait_selected(&pty, "r83");
		pty_wait(&pty, shows_rows, &shown, "as many rows as before");
		wait_others(&pty, &places[i], true, ROWS - shown);
		pty_type(&pty, "\033[H");
		pty_wait_selected(&pty, "r01");
		/* one row further than what is in sight */
		press(&pty, down, shown);
		snprintf(last, sizeof(last), "r%02d", shown + 1);
		pty_wait_selected(&pty, last);
		below = ROWS - (shown + 1);
		shown = rows_in_sight(&pty);
		assert_true(shown > 1);
		wait_others(&pty, &places[i], false, below);
		wait_others(&pty, &places[i], true, ROWS - below - shown);
		pty_quit(&pty);
	}
}

/* A row that falls leaves the cursor where it is and the top in sight; one that rises takes it along. */
static void test_cursor_hides_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;
		int row;

		start(&pty, &places[i]);
		/* where one page does not hold eight rows, the window goes down with the cursor */
		press(&pty, down, 3);
		pty_wait_selected(&pty, "r04");
		row = pty_selected_row(&pty);
		press(&pty, down, places[i].rows > 12 ? 4 : 0);
		pty_wait_selected(&pty, places[i].rows > 12 ? "r08" : "r04");
		if (places[i].rows > 12) {
			row = pty_selected_row(&pty);
			send_rows(&pty, r08_falls);
			pty_wait_no_text(&pty, "r08 ");
			pty_wait_selected(&pty, "r09");
			assert_int_equal(pty_selected_row(&pty), row);
			pty_wait_text(&pty, "r01 ");
			send_rows(&pty, falling);
			pty_wait_text(&pty, "r08 ");
			pty_wait_selected(&pty, "r09");
			press(&pty, "\033[A", 1);
			pty_wait_selected(&pty, "r08");
			send_rows(&pty, r08_rises);
			pty_wait_text(&pty, "82.5");
			pty_wait_selected(&pty, "r08");
			assert_true(pty_selected_row(&pty) < row);
			pty_wait_text(&pty, "r01 ");
		} else {
			assert_true(row > 0);
		}
		pty_quit(&pty);
	}
}

/* A key without a use says so; one of another program, what does the same here. */
static void test_unbound_keys(void **state)
{
	static const struct {
		const char *bytes, *sentence;
	} keys[] = {
		{"v", "nothing on 'v' (? lists the keys)"},
		{"\033[20~", "F9: ctop only observes"},
		{"\033[18~", "F7: ctop only observes"},
		{";", ";: press : to find keys and columns"},
		{"V", "V: there is no tree"},
		{"\x1d", "nothing on 'Ctrl-]'"},
	};

	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;

		start(&pty, &places[i]);
		for (size_t key = 0; key < sizeof(keys) / sizeof(keys[0]); key++) {
			pty_show(&pty, keys[key].bytes, keys[key].sentence);
		}
		pty_hide(&pty, "k", "nothing on");
		pty_quit(&pty);
	}
}

/* The row of the screen that a name stands on; fails when it is on none. */
static int row_of(struct pty_screen *pty, const char *name)
{
	int row = pty_find(pty, name, NULL);

	assert_true(row >= 0);
	return row;
}

/* An order that is kept: numbers change, rows do not move; new ones come last, gone ones stay. */
static void test_freeze(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;

		fake_start(&pty, &places[i], NULL);
		fake_round(&pty, "one 30,two 20,three 10");
		pty_wait_text(&pty, "30.0");
		pty_show(&pty, "f", "order kept (f)");
		fake_round(&pty, "one 1,three 31,four 99");
		pty_wait_text(&pty, "99.0");
		pty_wait_text(&pty, "31.0");
		pty_wait_text(&pty, "xtwo");
		assert_true(row_of(&pty, " one ") < row_of(&pty, "xtwo"));
		assert_true(row_of(&pty, "xtwo") < row_of(&pty, " three "));
		assert_true(row_of(&pty, " three ") < row_of(&pty, " four "));
		/* it comes back into its place */
		fake_round(&pty, "one 1,two 55,three 31,four 99");
		pty_wait_text(&pty, "55.0");
		assert_true(row_of(&pty, " one ") < row_of(&pty, " two "));
		assert_true(row_of(&pty, " two ") < row_of(&pty, " three "));
		pty_hide(&pty, "f", "order kept");
		assert_true(row_of(&pty, " four ") < row_of(&pty, " two "));
		assert_true(row_of(&pty, " three ") < row_of(&pty, " one "));
		pty_quit(&pty);
	}
}

/* Rows that did nothing are hidden and counted; in an order that is kept they keep their places. */
static void test_idle(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;

		fake_start(&pty, &places[i], NULL);
		fake_round(&pty, "busy 30,calm 0,quick 20,still 0");
		pty_wait_text(&pty, "30.0");
		/* from the beginning, and after a all are there */
		pty_wait_text(&pty, " 2 idle groups (a shows them)");
		assert_int_equal(pty_find(&pty, " calm ", NULL), -1);
		pty_show(&pty, "a", " calm ");
		pty_hide(&pty, "a", " calm ");
		pty_show(&pty, "f", "order kept (f)");
		fake_round(&pty, "busy 0,calm 0,quick 21,still 7");
		pty_wait_text(&pty, "21.0");
		pty_wait_text(&pty, " still ");
		assert_true(row_of(&pty, " busy ") < row_of(&pty, " quick "));
		assert_true(row_of(&pty, " quick ") < row_of(&pty, " still "));
		assert_int_equal(pty_find(&pty, " calm ", NULL), -1);
		/* busy has its place */
		pty_wait_text(&pty, " 1 idle group (a shows it)");
		pty_show(&pty, "f", " 2 idle groups (a shows them)");
		pty_show(&pty, "a", " calm ");
		pty_quit(&pty);
	}
}

/* Wherever they lead somewhere, Enter, Esc, q and help are on the line of hints; at 80 columns also what else
 * helps. */
static void test_hints(void **state)
{
	struct pty_screen wide;

	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;

		start(&pty, &places[i]);
		pty_wait_text(&pty, "Enter open  ? help  q quit");
		pty_show(&pty, "\r", "inner-1");
		pty_wait_text(&pty, "Enter open  Esc back  ? help");
		pty_hide(&pty, "\033", "Esc back");
		pty_quit(&pty);
	}
	start(&wide, &(const struct pty_options){.rows = 24, .columns = 80});
	pty_wait_text(&wide,
		      " Tab tabs  L waits  a idle  K kernel  i why  e data  Enter open  ? help  q quit");
	pty_show(&wide, "\r",
		 " Tab tabs  L waits  a idle  i why  e data  s sort  Enter open  Esc back  ? help");
	pty_type(&wide, "L");
	pty_wait_no_text(&wide, "L waits");
	pty_hide(&wide, "\033", "Esc back");
	pty_show(&wide, " ", " Space resume  Tab tabs");
	pty_quit(&wide);
}

/* A search goes to the match while it is typed; n and N go on, over the end too; Esc goes back. */
static void test_search(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct pty_screen pty;

		start(&pty, &places[i]);
		press(&pty, down, 2);
		pty_wait_selected(&pty, "r03");
		pty_type(&pty, "\033OR7");
		pty_wait_selected(&pty, "r07");
		pty_type(&pty, "2");
		pty_wait_selected(&pty, "r72");
		pty_type(&pty, "\177");
		pty_wait_selected(&pty, "r07");
		pty_type(&pty, "\033");
		pty_wait_selected(&pty, "r03");
		pty_show(&pty, "n", "n goes to the next match");
		pty_type(&pty, "\033OR5\r");
		pty_wait_selected(&pty, "r05");
		pty_wait_text(&pty, "search: 5 (n N)");
		pty_type(&pty, "nn");
		pty_wait_selected(&pty, "r25");
		pty_type(&pty, "NNN");
		pty_wait_selected(&pty, "r75");
		pty_hide(&pty, "\033", "search:");
		pty_type(&pty, "N");
		pty_wait_selected(&pty, "r01");
		pty_show(&pty, "\033ORnowhere\r", "no row has 'nowhere'");
		pty_quit(&pty);
	}
}

/* A search ignores case beyond ASCII, too, in names and in pages of text. */
static void test_search_beyond_ascii(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	fake_round(&pty, "first 9,ЙЦУКЕН 5,last 1");
	pty_wait_text(&pty, "ЙЦУКЕН");
	pty_type(&pty, "\033ORйцу\r");
	pty_wait_selected(&pty, "ЙЦУКЕН");
	pty_hide(&pty, "\033", "search:");
	pty_show(&pty, "i", "of ЙЦУКЕН");
	pty_show(&pty, "/йцук\r", "1 of 1");
	pty_quit(&pty);
}

static int column_of(struct pty_screen *pty, const char *title)
{
	int column = -1;

	pty_find(pty, title, &column);
	return column;
}

/* A long name that went away gives its cells back, but not at once: columns do not move to and fro. */
static void test_names_get_narrower(void **state)
{
	static const char *const long_name = "a-name-that-is-long-and-goes-away 9";
	const struct pty_options options = {.rows = 24, .columns = 120};
	struct pty_screen pty;
	int wide;

	(void)state;
	fake_start(&pty, &options, NULL);
	fake_round(&pty, long_name);
	fake_round(&pty, long_name);
	pty_wait_text(&pty, "goes-away");
	wide = column_of(&pty, "THR");
	fake_round(&pty, "short 8");
	pty_wait_text(&pty, "short");
	assert_int_equal(column_of(&pty, "THR"), wide);
	for (int round = 1; round <= 8; round++) {
		char row[32];

		snprintf(row, sizeof(row), "short-%d 8", round);
		fake_round(&pty, row);
		pty_wait_text(&pty, (row[7] = '\0', row));
	}
	assert_true(column_of(&pty, "THR") < wide);
	pty_quit(&pty);
}

/* Rows that are gone are no groups. */
static void test_gone_rows_do_not_count(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_command(&pty, "row . 3 10 here");
	pty_command(&pty, "row x 0 90 gone-1");
	pty_command(&pty, "row x 0 90 gone-2");
	pty_command(&pty, "round");
	pty_wait_text(&pty, "3 threads in 1 group by process");
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorting_shows_the_top),
		cmocka_unit_test(test_back_then_sort),
		cmocka_unit_test(test_others_are_announced),
		cmocka_unit_test(test_cursor_hides_nothing),
		cmocka_unit_test(test_unbound_keys),
		cmocka_unit_test(test_gone_rows_do_not_count),
		cmocka_unit_test(test_freeze),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_search_beyond_ascii),
		cmocka_unit_test(test_names_get_narrower),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
