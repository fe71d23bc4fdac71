/* SPDX-License-Identifier: GPL-2.0-only */
/* The page that draws a number over time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fake_program.h"

#include "base/memory.h"
#include "ui/page/graph.h"

#define SECOND UINT64_C(1000000000)

/* --- which points it has --- */

static struct course_point point(uint64_t round)
{
	return (struct course_point){round * 2 * SECOND, 2 * SECOND, (double)round};
}

/* It goes on from what was known when it was opened, up to its own bound, whatever the store has forgotten.
 */
static void test_points(void **state)
{
	static struct graph graph;
	struct course_point points[COURSE_ROUNDS];
	const struct table_column column = {.name = "cpu_percent", .title = "CPU%", .column = COLUMN_CPU};
	const struct table_row row = {.key = "key", .key_length = 3, .label = "name", .label_length = 4};

	(void)state;
	graph_open(&graph, &column, &row, UNIT_PERCENT);
	assert_int_equal(graph.count, 0);
	assert_int_equal(graph.title_length, strlen("CPU% of name"));
	for (uint64_t newest = COURSE_ROUNDS; newest < 3 * COURSE_ROUNDS; newest += newest % 3 + 1) {
		for (size_t i = 0; i < COURSE_ROUNDS; i++)
			points[i] = point(newest - COURSE_ROUNDS + 1 + i);
		graph_take(&graph, points, COURSE_ROUNDS);
		/* nothing new */
		graph_take(&graph, points, COURSE_ROUNDS);
		assert_int_equal(graph.count, newest < GRAPH_POINTS ? newest : GRAPH_POINTS);
		for (size_t i = 0; i < graph.count; i++)
			assert_true(graph.points[i].value == (double)(newest - graph.count + 1 + i));
	}
	/* what was not known becomes known, and what was stays */
	points[COURSE_ROUNDS - 1].value = NAN;
	graph_take(&graph, points, COURSE_ROUNDS);
	assert_true(isfinite(graph.points[GRAPH_POINTS - 1].value));
	graph.points[GRAPH_POINTS - 2].value = NAN;
	graph_take(&graph, points, COURSE_ROUNDS);
	assert_true(isfinite(graph.points[GRAPH_POINTS - 2].value));
	/* of a time that it knows nothing of it takes everything */
	for (size_t i = 0; i < COURSE_ROUNDS; i++)
		points[i] = point(100000 + i);
	graph_take(&graph, points, COURSE_ROUNDS);
	assert_int_equal(graph.count, GRAPH_POINTS);
	assert_true(graph.points[GRAPH_POINTS - 1].value == 100000 + COURSE_ROUNDS - 1);
	assert_true(graph.points[GRAPH_POINTS - COURSE_ROUNDS].value == 100000);
	graph_close(&graph);
	assert_int_equal(graph.count, 0);
	assert_null(graph.title);
}

/* --- on the screen --- */

static const struct {
	int rows, columns;
} sizes[] = {{12, 40}, {24, 80}, {36, 120}, {50, 200}};

static void start_and_mark(struct pty_screen *pty, const struct pty_options *options, const char *argument)
{
	fake_start(pty, options, argument);
	fake_round(pty, "wave 10,gaps 5");
	fake_round(pty, "wave 0");
	fake_round(pty, "wave 0.001,gaps 5");
	fake_round(pty, "wave 40,gaps 5");
	pty_wait_text(pty, "40.0");
	pty_type(pty, "\033OH");
	/* threads, then CPU% */
	pty_show(pty, "\033OC\033OCc", "CPU% of wave");
}

/* The row of bars at the bottom: what stands in it behind the axis. */
static const char *lowest_bars(struct pty_screen *pty, bool ascii)
{
	const int axis = pty_find(pty, ascii ? "0+---" : "0└───", NULL);
	const char *row;

	assert_true(axis > 0);
	row = strstr(pty_row(pty, axis - 1), ascii ? "|" : "│");
	assert_non_null(row);
	row += strlen(ascii ? "|" : "│");
	return row + strspn(row, " ");
}

static bool shows_bars(struct pty_screen *pty, const void *bars)
{
	const bool ascii = *(const char *)bars == '.' || *(const char *)bars == '_';

	return pty_find(pty, ascii ? "0+---" : "0└───", NULL) > 0 &&
	       strstr(lowest_bars(pty, ascii), bars) != NULL;
}

/* Axes, what the numbers are between, bars: zero is the lowest one, small is more, and what was more is
 * higher. */
static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
		const bool ascii = i % 2 != 0;
		const struct pty_options options = {.rows = sizes[i / 2].rows,
						    .columns = sizes[i / 2].columns,
						    .locale = ascii ? "C" : NULL};
		struct pty_screen pty;

		start_and_mark(&pty, &options, NULL);
		pty_wait_text(&pty, "now 40.0");
		pty_wait_text(&pty, "max 40.0");
		pty_wait_text(&pty, "avg 12.5");
		pty_wait_text(&pty, "min 0");
		pty_wait_text(&pty, ascii ? "40.0|" : "40.0│");
		pty_wait_text(&pty, "s ");
		pty_wait_text(&pty, " now");
		pty_wait(&pty, shows_bars, ascii ? "_.#" : "▁▂█", "zero, small and large");
		/* it follows, and a round without the row is a gap */
		fake_round(&pty, "gaps 5");
		fake_round(&pty, "wave 80");
		pty_wait_text(&pty, "now 80.0");
		pty_wait_text(&pty, ascii ? "80.0|" : "80.0│");
		pty_wait(&pty, shows_bars, ascii ? "_.# #" : "▁▂█ █", "a gap");
		assert_true(!ascii || pty_is_ascii(&pty));
		pty_hide(&pty, "\033", "CPU% of wave");
		pty_wait_text(&pty, "CPU%");
		pty_quit(&pty);
	}
}

/* Every key that closes it, and the help over it; Enter opens the row whatever is marked, and words have no
 * graph. */
static void test_keys(void **state)
{
	static const char *const keys[] = {"\033", "\177", "q", "c", "\r"};
	const struct pty_options options = {.rows = 24, .columns = 80};
	struct pty_screen pty;

	(void)state;
	start_and_mark(&pty, &options, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		pty_wait_text(&pty, "CPU% of wave");
		pty_show(&pty, "?", "Columns of this tab");
		pty_show(&pty, "q", "CPU% of wave");
		pty_hide(&pty, keys[i], "CPU% of wave");
		pty_wait_text(&pty, "gaps");
		pty_type(&pty, "c");
	}
	pty_wait_text(&pty, "CPU% of wave");
	pty_resize(&pty, 8, 40);
	pty_wait_text(&pty, "now 40.0");
	pty_resize(&pty, 24, 80);
	pty_wait_text(&pty, "Esc close");
	/* of a row that goes away it is said */
	fake_round(&pty, "gaps 5");
	pty_wait_text(&pty, "the row is gone");
	pty_hide(&pty, "\033", "CPU% of wave");
	/* the number that the rows are sorted by, where none is marked */
	pty_show(&pty, "^c", "CPU% of gaps");
	pty_hide(&pty, "c", "CPU% of gaps");
	pty_show(&pty, "\033OC\r", "process gaps");
	pty_hide(&pty, "\033", "process gaps");
	/* USER, the last column there is */
	pty_resize(&pty, 50, 200);
	pty_wait_text(&pty, "somebody");
	pty_show(&pty, "$c", "no number to draw: Right marks one");
	pty_show(&pty, "\r", "process gaps");
	pty_quit(&pty);
}

/* Themes change no more than the colour; a file has no graph. */
static void test_themes_and_files(void **state)
{
	static const char *const arguments[] = {"--theme=default", "--theme=light", "--theme=mono"};
	const struct pty_options options = {.rows = 24, .columns = 80};
	struct pty_screen pty;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(arguments); i++) {
		int column, row;

		start_and_mark(&pty, &options, arguments[i]);
		pty_wait(&pty, shows_bars, "▁▂█", "bars");
		row = pty_find(&pty, "▁▂█", &column);
		assert_int_equal(pty_is_colored(&pty, row, column), i != 2);
		pty_quit(&pty);
	}
	fake_start(&pty, &options, "--file=stored.ctprof.zst");
	pty_wait_text(&pty, "stored");
	pty_show(&pty, "\033OC\033OCc", "a file is of one moment");
	pty_show(&pty, "\r", "process stored");
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_themes_and_files),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
