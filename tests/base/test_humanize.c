/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers in sentences, clock times, and the compact form where cells do not have it (test_screen_format.c).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "tests/cmocka_include.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct number_case {
	double number;
	const char *text;
};

static void assert_numbers(void (*append)(struct buffer *buffer, double number),
			   const struct number_case cases[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct buffer text = {0};

		append(&text, cases[i].number);
		assert_string_equal(text.data, cases[i].text);
		buffer_release(&text);
	}
}

static void test_durations(void **state)
{
	static const struct number_case cases[] = {
		{0, "0 s"},
		{0.25, "0.3 ns"},
		{850, "850 ns"},
		{999.4, "999 ns"},
		{999.5, "1 us"},
		{1949, "1.9 us"},
		{99949, "99.9 us"},
		{99951, "100 us"},
		{36.4e6, "36.4 ms"},
		{36e6, "36 ms"},
		{999.5e6, "1 s"},
		{7.7e9, "7.7 s"},
		{59.94e9, "59.9 s"},
		{59.95e9, "1 min"},
		{725e9, "12 min 5 s"},
		{3599.4e9, "59 min 59 s"},
		{3599.5e9, "1 h"},
		{7500e9, "2 h 5 min"},
		{86369e9, "23 h 59 min"},
		{86370e9, "1 d"},
		{349200e9, "4 d 1 h"},
		{349230e9, "4 d 1 h"},
		{18446744073709551615.0, "213504 d"},
	};

	(void)state;
	assert_numbers(humanize_duration, cases, COUNT(cases));
}

static void test_bytes(void **state)
{
	static const struct number_case cases[] = {
		{0, "0 B"},         {1023, "1023 B"},          {1023.5, "1 KiB"},
		{1536, "1.5 KiB"},  {100.4 * 1024, "100 KiB"}, {1288490189, "1.2 GiB"},
		{0x1p64, "16 EiB"},
	};

	(void)state;
	assert_numbers(humanize_bytes, cases, COUNT(cases));
}

static void test_amounts(void **state)
{
	static const struct number_case cases[] = {
		{0, "0"},         {0.42, "0.4"},       {7, "7"},
		{99.96, "100"},   {1204.4, "1,204"},   {999999, "999,999"},
		{1.25e6, "1.2M"}, {999.6e6, "999.6M"}, {1e9, "1.0G"},
	};

	(void)state;
	assert_numbers(humanize_amount, cases, COUNT(cases));
}

static void test_percent(void **state)
{
	static const struct number_case cases[] = {
		{0, "0%"}, {0.04, "0.0%"}, {31, "31.0%"}, {338.2, "338.2%"}, {1204.4, "1204%"}};

	(void)state;
	assert_numbers(humanize_percent, cases, COUNT(cases));
}

static void test_digits(void **state)
{
	char text[28];

	(void)state;
	assert_string_equal(humanize_digits(0, text), "0");
	assert_string_equal(humanize_digits(999, text), "999");
	assert_string_equal(humanize_digits(1284, text), "1,284");
	assert_string_equal(humanize_digits(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void test_counts(void **state)
{
	struct buffer text = {0};

	(void)state;
	humanize_count(&text, UINT64_MAX);
	buffer_append_char(&text, ' ');
	humanize_counted(&text, 0, "row");
	buffer_append_char(&text, ' ');
	humanize_counted(&text, 1, "row");
	buffer_append_char(&text, ' ');
	humanize_counted(&text, 1204310, "more row");
	assert_string_equal(text.data, "18,446,744,073,709,551,615 0 rows 1 row 1,204,310 more rows");
	buffer_release(&text);
}

static void test_times(void **state)
{
	const uint64_t moment = UINT64_C(1795167605) * NS_PER_S + 999999999;
	char text[HUMANIZE_TIME_SIZE];
	struct buffer utc = {0};

	(void)state;
	setenv("TZ", "XXX-02:00", 1);
	tzset();
	assert_string_equal(humanize_time(text, moment, true), "2026-11-20 11:40:05");
	assert_string_equal(humanize_time(text, moment, false), "11:40:05");
	humanize_utc(&utc, 0);
	assert_int_equal(utc.length, 0);
	humanize_utc(&utc, moment);
	assert_string_equal(utc.data, "2026-11-20 09:40:05 UTC");
	buffer_release(&utc);
}

static void test_ages(void **state)
{
	static const struct number_case cases[] = {
		{0, "0"},         {119.9e9, "119s"}, {120e9, "2m"},     {530e9, "8m"},
		{7199e9, "119m"}, {7200e9, "2h"},    {172799e9, "47h"}, {8e5 * 1e9, "9d"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buffer text = {0};

		humanize_compact_truncated(&text, cases[i].number, HUMANIZE_TIME);
		assert_string_equal(text.data, cases[i].text);
		buffer_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_amounts),   cmocka_unit_test(test_percent),
		cmocka_unit_test(test_digits),    cmocka_unit_test(test_counts),
		cmocka_unit_test(test_times),     cmocka_unit_test(test_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
