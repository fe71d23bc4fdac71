/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen's number formats: every rule, and properties over random numbers. */
#include <locale.h>
#include <math.h>
#include "tests/cmocka_include.h"

#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"
#include "table/screen_format.h"

static const char *shown(const struct cell *cell, const struct screen_marks *marks)
{
	static char text[64];
	struct buffer buffer = {0};

	screen_format_cell(&buffer, cell, marks);
	assert_true(buffer.length < sizeof(text));
	memcpy(text, buffer.data != NULL ? buffer.data : "", buffer.length);
	text[buffer.length] = '\0';
	buffer_release(&buffer);
	return text;
}

static const char *real(enum unit unit, double value)
{
	struct cell cell = {.state = CELL_VALUE, .form = CELL_FORM_REAL, .unit = unit, .value.real = value};

	return shown(&cell, &screen_marks_utf8);
}

static const char *integer(enum unit unit, uint64_t value)
{
	struct cell cell = {
		.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = unit, .value.integer = value};

	return shown(&cell, &screen_marks_utf8);
}

static void test_percent(void **state)
{
	(void)state;
	assert_string_equal(real(UNIT_PERCENT, 0.0), "0");
	assert_string_equal(real(UNIT_PERCENT, 0.01), "0.0"); /* small but not zero */
	assert_string_equal(real(UNIT_PERCENT, 0.05), "0.1");
	assert_string_equal(real(UNIT_PERCENT, 9.94), "9.9");
	assert_string_equal(real(UNIT_PERCENT, 247.3), "247.3");
	assert_string_equal(real(UNIT_PERCENT, 999.94), "999.9");
	assert_string_equal(real(UNIT_PERCENT, 999.95), "1000"); /* the step comes after rounding */
	assert_string_equal(real(UNIT_PERCENT, 12800.4), "12800");
	assert_string_equal(real(UNIT_PERCENT, 99999.4), "99999");
	assert_string_equal(real(UNIT_PERCENT, 99999.5), "100K");
}

static void test_count(void **state)
{
	(void)state;
	assert_string_equal(integer(UNIT_COUNT, 0), "0");
	assert_string_equal(integer(UNIT_COUNT, 7), "7"); /* what is whole has no fraction */
	assert_string_equal(integer(UNIT_COUNT, 96), "96");
	assert_string_equal(integer(UNIT_COUNT, 999), "999");
	assert_string_equal(integer(UNIT_COUNT, 1000), "1000");
	assert_string_equal(integer(UNIT_COUNT, 1969), "1969");
	assert_string_equal(integer(UNIT_COUNT, 12100), "12100");
	assert_string_equal(integer(UNIT_COUNT, 99999), "99999");
	assert_string_equal(integer(UNIT_COUNT, 100000), "100K");
	assert_string_equal(integer(UNIT_COUNT, 999499), "999K");
	assert_string_equal(integer(UNIT_COUNT, 999500), "1.0M");
	assert_string_equal(integer(UNIT_COUNT, 1234567890123), "1.2T");
	assert_string_equal(integer(UNIT_COUNT, UINT64_MAX), "18.4E");
	assert_string_equal(real(UNIT_COUNT_PER_S, 40.0), "40.0");
	assert_string_equal(real(UNIT_COUNT_PER_S, 0.04), "0.0");
	assert_string_equal(real(UNIT_COUNT_PER_S, 99.95), "100");
	assert_string_equal(real(UNIT_COUNT_PER_S, 402.4), "402");
}

static void test_bytes(void **state)
{
	(void)state;
	assert_string_equal(integer(UNIT_BYTES, 0), "0");
	assert_string_equal(integer(UNIT_BYTES, 512), "512B");
	assert_string_equal(integer(UNIT_BYTES, 1023), "1023B");
	assert_string_equal(integer(UNIT_BYTES, 1024), "1.0K");
	assert_string_equal(integer(UNIT_BYTES, 1258291), "1.2M");
	assert_string_equal(integer(UNIT_BYTES, 1023 * 1024), "1023K");
	assert_string_equal(integer(UNIT_BYTES, 1023 * 1024 + 600), "1.0M");
	assert_string_equal(integer(UNIT_BYTES, UINT64_MAX), "16.0E");
	assert_string_equal(real(UNIT_BYTES_PER_S, 12.34), "12.3B");
	assert_string_equal(real(UNIT_BYTES_PER_S, 340.0 * 1024), "340K");
}

static void test_time(void **state)
{
	(void)state;
	assert_string_equal(integer(UNIT_NS, 0), "0");
	assert_string_equal(integer(UNIT_NS, 7), "7ns");
	assert_string_equal(integer(UNIT_NS, 999), "999ns");
	assert_string_equal(integer(UNIT_NS, 1100), "1.1us");
	assert_string_equal(integer(UNIT_NS, 999499), "999us");
	assert_string_equal(integer(UNIT_NS, 999500), "1.0ms");
	assert_string_equal(integer(UNIT_NS, 999949999), "1.0s");
	assert_string_equal(integer(UNIT_NS, 3600000000), "3.6s");
	assert_string_equal(integer(UNIT_NS, 119400000000), "119s");
	assert_string_equal(integer(UNIT_NS, 120000000000), "2.0m");
	assert_string_equal(integer(UNIT_NS, 2546000000000), "42.4m");
	assert_string_equal(integer(UNIT_NS, 7140000000000), "119m");
	assert_string_equal(integer(UNIT_NS, 7200000000000), "2.0h");
	assert_string_equal(integer(UNIT_NS, 172600000000000), "47.9h");
	assert_string_equal(integer(UNIT_NS, 172800000000000), "2.0d");
	assert_string_equal(integer(UNIT_NS, 31536000000000000), "365d");
	assert_string_equal(integer(UNIT_NS, UINT64_MAX), "214Kd");
	assert_string_equal(integer(UNIT_US, 1500), "1.5ms");
	assert_string_equal(integer(UNIT_TICKS, 150), "1.5s");
	assert_string_equal(real(UNIT_NS_PER_S, 310e6), "310ms");
}

static void test_small_numbers(void **state)
{
	(void)state;
	assert_string_equal(real(UNIT_CPUS, 1.82), "1.82");
	assert_string_equal(real(UNIT_CPUS, 0.25), "0.25");
	assert_string_equal(real(UNIT_CPUS, 12.34), "12.3");
	assert_string_equal(real(UNIT_CPUS, 9.996), "10.0");
	assert_string_equal(real(UNIT_CPUS, 128.0), "128");
	assert_string_equal(real(UNIT_RATIO, 0.5), "0.50");
	assert_string_equal(real(UNIT_BYTES, -2048.0), "-2.0K");
	assert_string_equal(real(UNIT_BYTES, -12.0), "-12.0B");
}

static void test_states(void **state)
{
	struct cell cell = {.state = CELL_EMPTY};

	(void)state;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "");
	cell.state = CELL_ABSENT;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "-");
	cell.state = CELL_UNAVAILABLE;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "·");
	assert_string_equal(shown(&cell, &screen_marks_ascii), "?");
	cell.reason = REASON_BEING_RESOLVED;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "…");
	assert_string_equal(shown(&cell, &screen_marks_ascii), "...");
	cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_RANGE, .value.range = {-5, 19}};
	assert_string_equal(shown(&cell, &screen_marks_utf8), "-5..19");
	cell.value.range.low = 19;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "19");
	cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "OTHER*"};
	assert_string_equal(shown(&cell, &screen_marks_utf8), "OTHER*");
	cell = (struct cell){.state = CELL_VALUE,
			     .form = CELL_FORM_INTEGER,
			     .unit = UNIT_BYTES,
			     .partial = true,
			     .value.integer = 1258291};
	assert_string_equal(shown(&cell, &screen_marks_utf8), "≥1.2M");
	assert_string_equal(shown(&cell, &screen_marks_ascii), ">1.2M");
	cell = (struct cell){.state = CELL_VALUE,
			     .form = CELL_FORM_INTEGER,
			     .unit = UNIT_NS,
			     .rose = true,
			     .value.integer = 99900};
	assert_string_equal(shown(&cell, &screen_marks_utf8), "99.9us+");
	cell.partial = true;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "≥99us+");
}

static const char *bar(const float shares[TIME_PART_COUNT], int cells)
{
	static char text[256];
	struct cell cell = {.state = CELL_VALUE, .form = CELL_FORM_BAR};
	struct buffer buffer = {0};

	memcpy(cell.value.shares, shares, sizeof(cell.value.shares));
	screen_format_bar(&buffer, &cell, cells);
	memcpy(text, buffer.data, buffer.length + 1);
	buffer_release(&buffer);
	return text;
}

static void test_bar(void **state)
{
	(void)state;
	assert_string_equal(bar((float[]){0.4F, 0.2F, 0.1F, 0, 0, 0, 0, 0, 0, 0, 0.3F}, 10), "####rri...");
	assert_string_equal(bar((float[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0F}, 5), ".....");
	assert_string_equal(bar((float[]){0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0}, 10),
			    "#rimqkfspd");
	assert_string_equal(bar((float[]){1.0F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 4), "####");
}

/* A number of any size: uniform in its logarithm. */
static double random_number(unsigned int *seed, double decades)
{
	return pow(10.0, (double)rand_r(seed) / RAND_MAX * decades) * ((double)rand_r(seed) / RAND_MAX);
}

/* The value that a text stands for, in the unit of the cell. */
static double read_back(const char *text, enum unit unit)
{
	static const struct {
		const char *suffix;
		double time, bytes, count;
	} units[] = {
		{"ns", 1, 0, 0},        {"us", 1e3, 0, 0},      {"ms", 1e6, 0, 0},      {"s", 1e9, 0, 0},
		{"m", 6e10, 0, 0},      {"h", 3.6e12, 0, 0},    {"d", 8.64e13, 0, 0},   {"Kd", 8.64e16, 0, 0},
		{"B", 0, 1, 0},         {"K", 0, 0x1p10, 1e3},  {"M", 0, 0x1p20, 1e6},  {"G", 0, 0x1p30, 1e9},
		{"T", 0, 0x1p40, 1e12}, {"P", 0, 0x1p50, 1e15}, {"E", 0, 0x1p60, 1e18}, {"", 1, 1, 1}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) == 0)
			return value * (unit == UNIT_NS      ? units[i].time
					: unit == UNIT_BYTES ? units[i].bytes
							     : units[i].count);
	}
	fail_msg("no unit in %s", text);
	return 0;
}

/*
 * Never wider than seven cells with any marks; what is read back is the number within half of the last digit
 * shown, so no digit left of the point is lost.
 */
static void test_random(void **state)
{
	static const enum unit units[] = {UNIT_COUNT,       UNIT_BYTES,       UNIT_NS,  UNIT_PERCENT,
					  UNIT_BYTES_PER_S, UNIT_COUNT_PER_S, UNIT_CPUS};
	unsigned int seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct cell cell = {
			.state = CELL_VALUE,
			.form = i % 2 ? CELL_FORM_REAL : CELL_FORM_INTEGER,
			.unit = units[i % 7],
			.partial = i % 3 == 0,
			.rose = i % 5 == 0,
		};
		double number = random_number(&seed, 18.0), back;
		const char *text;

		if (cell.form == CELL_FORM_REAL)
			cell.value.real = number;
		else
			cell.value.integer = (uint64_t)number;
		text = shown(&cell, &screen_marks_utf8);
		assert_in_range(unicode_width(text, strlen(text)), 1, 7);
		if (cell.partial || cell.rose)
			continue;
		number = cell.form == CELL_FORM_REAL ? number : (double)cell.value.integer;
		back = read_back(text, cell.unit == UNIT_BYTES_PER_S ? UNIT_BYTES : cell.unit);
		assert_true(fabs(back - number) <= 0.051 * fmax(number, 1.0));
		if (number >= 100)
			assert_true(fabs(back - number) <= 0.0501 * number);
		assert_true(number == 0 ? strcmp(text, "0") == 0 : strcmp(text, "0") != 0);
	}
}

/* A larger number never reads as a smaller one. */
static void test_monotonous(void **state)
{
	double last = 0;

	(void)state;
	for (double value = 1; value < 1e18; value *= 1.0007) {
		double back = read_back(real(UNIT_BYTES, value), UNIT_BYTES);

		assert_true(back >= last);
		last = back;
	}
}

/* A cell of a comparison shows both sides, and a mark before what is real or a burst. */
static void test_sides(void **state)
{
	struct cell sides[2] = {cell_of_real(12.3, UNIT_PERCENT), cell_of_real(1234, UNIT_PERCENT)};
	struct cell cell = {.state = CELL_VALUE, .unit = UNIT_PERCENT, .sides = sides};

	(void)state;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "12.3→1234");
	assert_string_equal(shown(&cell, &screen_marks_ascii), "12.3->1234");
	cell.verdict = CELL_VERDICT_REAL;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "≠12.3→1234");
	assert_string_equal(shown(&cell, &screen_marks_ascii), "#12.3->1234");
	cell.verdict = CELL_VERDICT_BURST;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "≈12.3→1234");
	assert_string_equal(shown(&cell, &screen_marks_ascii), "%12.3->1234");
	for (cell.verdict = 0; cell.verdict < CELL_VERDICT_COUNT; cell.verdict++) {
		if (cell.verdict != CELL_VERDICT_REAL && cell.verdict != CELL_VERDICT_BURST)
			assert_string_equal(shown(&cell, &screen_marks_utf8), "12.3→1234");
	}
	cell.verdict = CELL_VERDICT_NONE;
	sides[0] = cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NONE);
	sides[1].partial = true;
	assert_string_equal(shown(&cell, &screen_marks_utf8), "-→≥1234");
	sides[0] = cell_of_state(VALUE_UNAVAILABLE, REASON_NOT_PERMITTED, UNIT_NONE);
	sides[1] = cell_of_text("S*");
	assert_string_equal(shown(&cell, &screen_marks_utf8), "·→S*");
	assert_string_equal(shown(&cell, &screen_marks_ascii), "?->S*");
	/* a cell that reads the same on both sides is not marked */
	assert_string_equal(shown(&(struct cell){.state = CELL_VALUE,
						 .form = CELL_FORM_INTEGER,
						 .unit = UNIT_COUNT,
						 .verdict = CELL_VERDICT_REAL,
						 .value.integer = 7},
				  &screen_marks_utf8),
			    "7");
	/* the text of a report */
	cell.text = "x";
	assert_string_equal(shown(&cell, &screen_marks_utf8), "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percent),       cmocka_unit_test(test_count),
		cmocka_unit_test(test_bytes),         cmocka_unit_test(test_time),
		cmocka_unit_test(test_small_numbers), cmocka_unit_test(test_states),
		cmocka_unit_test(test_bar),           cmocka_unit_test(test_random),
		cmocka_unit_test(test_monotonous),    cmocka_unit_test(test_sides),
	};

	/* wcwidth() knows the marks in a UTF-8 locale only */
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		setlocale(LC_CTYPE, "C.utf8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
