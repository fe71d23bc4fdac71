/* SPDX-License-Identifier: GPL-2.0-only */
/* The filter's grammar, its refusals and what it lets through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/filter.h"

/* The one cell that a test's filter looks at. */
struct given {
	struct cell cell;
	enum column asked;
	bool as_rate;
};

static const struct cell *cell_of(void *context, enum column column, bool as_rate)
{
	struct given *given = context;

	given->asked = column;
	given->as_rate = as_rate;
	return &given->cell;
}

static bool matches_cell(const char *text, const char *label, struct given *given)
{
	struct error error = {{0}};
	struct filter *filter = filter_parse(text, &error);
	bool result;

	if (filter == NULL)
		fail_msg("%s: %s", text, error.text);
	assert_string_equal(filter_text(filter), text);
	result = filter_matches(filter, label, strlen(label), cell_of, given);
	filter_release(filter);
	return result;
}

static bool matches(const char *text, const char *label)
{
	struct given given = {0};

	return matches_cell(text, label, &given);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(matches("web", "my-web-1"));
	assert_true(matches("web", "My-WEB-1")); /* no capital: case does not count */
	assert_false(matches("Web", "my-web-1"));
	assert_true(matches("Web", "my-Web-1"));
	assert_false(matches("!web", "my-web-1"));
	assert_true(matches("!web", "db"));
	assert_true(matches("  web ", "web"));
	assert_true(matches("web and 1", "my-web-1"));
	assert_false(matches("web and 2", "my-web-1"));
	assert_true(matches("kworker/{N}", "kworker/{N}:{N}"));
	assert_true(matches("android", "android")); /* "and" inside a word joins nothing */
}

static void test_regexes(void **state)
{
	(void)state;
	assert_true(matches("/^w.*[0-9]$/", "Worker-7"));
	assert_false(matches("/^w.*[0-9]$/", "my-worker-7"));
	assert_false(matches("!/^w/", "web"));
	assert_true(matches("/a\\/b/", "x/a/b"));
	assert_true(matches("/one and two/", "one and two"));
	assert_true(matches("/^w/ and !/x/", "web"));
	assert_false(matches("/^w/ and !/x/", "wx"));
	assert_true(matches("/(a|b)=[0-9]+/", "b=12"));
}

static bool compares(const char *text, enum unit unit, double value)
{
	struct given given = {
		.cell = {.state = CELL_VALUE, .form = CELL_FORM_REAL, .unit = unit, .value.real = value}};

	return matches_cell(text, "x", &given);
}

static void test_comparisons(void **state)
{
	(void)state;
	assert_true(compares("cpu% > 50", UNIT_PERCENT, 50.1));
	assert_false(compares("cpu% > 50", UNIT_PERCENT, 50.0));
	assert_true(compares("cpu%>=50", UNIT_PERCENT, 50.0));
	assert_true(compares("cpu < 50%", UNIT_PERCENT, 49.0));
	assert_true(compares("cpu<=50", UNIT_PERCENT, 50.0));
	assert_true(compares("thr = 3", UNIT_COUNT, 3.0));
	assert_false(compares("thr = 3", UNIT_COUNT, 4.0));
	assert_true(compares("run_time_ns > 10ms", UNIT_NS, 1.1e7));
	assert_false(compares("run_time_ns > 10ms", UNIT_NS, 0.9e7));
	assert_true(compares("run_time_ns > 10ms", UNIT_PERCENT, 1.1)); /* a second's 10 ms */
	assert_false(compares("run_time_ns > 10ms", UNIT_PERCENT, 0.9));
	assert_true(compares("read_bytes >= 1M", UNIT_BYTES, 1048576));
	assert_false(compares("read_bytes >= 1M", UNIT_BYTES, 1048575));
	assert_true(compares("csw >= 1K", UNIT_COUNT_PER_S, 1000));
	assert_false(compares("csw >= 1K", UNIT_COUNT_PER_S, 999));
	assert_true(compares("read > 1.5MiB", UNIT_BYTES_PER_S, 1.6 * 1024 * 1024));
	assert_true(compares("age > 2d", UNIT_NS, 3 * 8.64e13));
	assert_true(compares("nice < -1", UNIT_NONE, -5));
	assert_true(compares("age > 1m", UNIT_NS, 61e9));
	assert_false(compares("age > 1m", UNIT_NS, 59e9));
	assert_true(compares("age > 1min", UNIT_NS, 61e9));
	assert_true(compares("slice <= 5 µs", UNIT_NS, 5000));
	assert_true(compares("utime_clock_ticks >= 2s", UNIT_NS, 2e9));
	assert_true(compares("stuck > 5s", UNIT_NS, 6e9));
}

static void test_rates(void **state)
{
	struct given given = {.cell = {.state = CELL_VALUE, .form = CELL_FORM_REAL}};

	(void)state;
	matches_cell("cpu% > 5", "x", &given);
	assert_int_equal(given.asked, COLUMN_CPU);
	assert_true(given.as_rate);
	matches_cell("cpu > 5%", "x", &given);
	assert_true(given.as_rate);
	matches_cell("read/s > 5", "x", &given);
	assert_true(given.as_rate);
	matches_cell("cpu > 5", "x", &given);
	assert_false(given.as_rate);
	matches_cell("wait_sum > 5", "x", &given);
	assert_int_equal(given.asked, COLUMN_WAITSUM);
}

/* A range passes when some of it does; words go with =; what has no number passes nothing. */
static void test_other_cells(void **state)
{
	struct given given = {
		.cell = {.state = CELL_VALUE, .form = CELL_FORM_RANGE, .value.range = {-5, 10}}};

	(void)state;
	assert_true(matches_cell("nice > 9", "x", &given));
	assert_true(matches_cell("nice < 0", "x", &given));
	assert_true(matches_cell("nice = 0", "x", &given));
	assert_false(matches_cell("nice > 10", "x", &given));
	given.cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "OTHER*"};
	assert_true(matches_cell("policy = other", "x", &given));
	assert_false(matches_cell("policy = FIFO", "x", &given));
	assert_false(matches_cell("policy > 3", "x", &given));
	given.cell = (struct cell){.state = CELL_UNAVAILABLE};
	assert_false(matches_cell("cpu >= 0", "x", &given));
	assert_false(matches_cell("cpu < 5", "x", &given));
}

static void assert_refused(const char *text, const char *part)
{
	struct error error = {{0}};

	assert_null(filter_parse(text, &error));
	if (strstr(error.text, part) == NULL)
		fail_msg("%s: '%s' is not in '%s'", text, part, error.text);
}

static void test_refusals(void **state)
{
	(void)state;
	assert_refused("", "empty");
	/* the C library writes repetitions out */
	assert_refused("/^j7+++++++++++++++++++++++++/", "too much memory");
	assert_refused("/a{100}{2,100}{100,}/", "too much memory");
	assert_refused("/((((a+b{9})+c){9}+d){9}+e){9,}/", "too much memory");
	assert_refused("!", "empty");
	assert_refused("cpuu% > 5", "did you mean CPU%?");
	assert_refused("runtime_ns > 5", "did you mean run_time_ns?");
	assert_refused("zzzzzz > 5", "Columns: THR CPU%");
	assert_refused("!cpu > 5", "reverse its sign");
	assert_refused("cpu > ", "needs a number");
	assert_refused("cpu > much", "needs a number");
	assert_refused("cpu > 5 parsecs", "units are");
	assert_refused("cpu > 1e999", "not a number");
	assert_refused("minflt > 1KiB",
		       "'1KiB' is not a number with a unit of minflt; units are k, K, M, G, T");
	assert_refused("read_bytes > 10ms", "units are B, K, k, KiB, ");
	assert_refused("read_bytes > 10%", "units are B, K, k, KiB, ");
	assert_refused("run_time_ns > 1M", "units are ns, us, µs, ms, s, m, min, h, d, %");
	assert_refused("nice > 1K", "units are none");
	assert_refused("/ab", "no / at its end");
	assert_refused("/a(/", "not a regular expression");
	assert_refused("/a/b", "join with ' and '");
}

static void test_columns(void **state)
{
	struct filter *filter = filter_parse("a and cpu > 1 and /b/ and read < 2", NULL);

	(void)state;
	assert_int_equal(filter_column(filter, 0), COLUMN_CPU);
	assert_int_equal(filter_column(filter, 1), COLUMN_READ);
	assert_int_equal(filter_column(filter, 2), COLUMN_COUNT);
	filter_release(filter);
	filter_release(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),       cmocka_unit_test(test_regexes),
		cmocka_unit_test(test_comparisons), cmocka_unit_test(test_rates),
		cmocka_unit_test(test_other_cells), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
