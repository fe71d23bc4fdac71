/* SPDX-License-Identifier: GPL-2.0-only */
/* Moments as people write them: forms, time zones, days on which the clocks change, sentences. */
#include "tests/cmocka_include.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "session/when.h"

/* Monday, 2026-11-23 14:20:30 UTC */
#define NOW UINT64_C(1795443630)

struct expected {
	const char *zone; /* TZ, with its own rules so that no database is needed */
	uint64_t now;
	const char *text;
	uint64_t moment;
};

#define BERLIN    "CET-1CEST,M3.5.0,M10.5.0/3"
#define NEW_YORK  "EST5EDT,M3.2.0,M11.1.0"
#define LORD_HOWE "LHST-10:30LHDT-11,M10.1.0,M4.1.0"
#define KOLKATA   "IST-5:30"
/* clocks are put forward at midnight */
#define BEIRUT "EET-2EEST,M3.5.0/0,M10.5.0/0"

static void check(const struct expected *expected)
{
	uint64_t moment = 42;
	struct error error;
	int result;

	setenv("TZ", expected->zone, 1);
	result = when_parse(expected->text, expected->now * NS_PER_S, expected->now * NS_PER_S, &moment,
			    &error);
	if (result != 0 || moment != expected->moment * NS_PER_S)
		fail_msg("%s in %s: %" PRIu64 " instead of %" PRIu64 " %s", expected->text, expected->zone,
			 moment / NS_PER_S, expected->moment, result != 0 ? error.text : "");
}

static void reads_every_form(void **state)
{
	static const struct expected cases[] = {
		{"UTC", NOW, "now", NOW},
		{"UTC", NOW, " NOW ", NOW},
		{"UTC", NOW, "-15m", NOW - 900},
		{"UTC", NOW, "-1h30m", NOW - 5400},
		{"UTC", NOW, "-1h 30m", NOW - 5400},
		{"UTC", NOW, "-1.5h", NOW - 5400},
		{"UTC", NOW, "-90 seconds", NOW - 90},
		{"UTC", NOW, "-2D", NOW - 172800},
		{"UTC", NOW, "-1w", NOW - 604800},
		{"UTC", NOW, "-0s", NOW},
		{"UTC", NOW, "@1763712000", 1763712000},
		{"UTC", NOW, "@0", 0},
		/* the last one that has been */
		{"UTC", NOW, "09:40", NOW - 4 * 3600 - 40 * 60 - 30},
		{"UTC", NOW, "9:40", NOW - 4 * 3600 - 40 * 60 - 30},
		{"UTC", NOW, "09:40:30", NOW - 4 * 3600 - 40 * 60},
		{"UTC", NOW, "14:20:30", NOW},
		{"UTC", NOW, "14:20:31", NOW + 1 - 86400},
		{"UTC", NOW, "14:20", NOW - 30},
		{"UTC", NOW, "3pm", NOW + 39 * 60 + 30 - 86400},
		{"UTC", NOW, "3:30pm", NOW + 69 * 60 + 30 - 86400},
		{"UTC", NOW, "3:30 PM", NOW + 69 * 60 + 30 - 86400},
		{"UTC", NOW, "12am", 1795392000},
		{"UTC", NOW, "12pm", 1795392000 + 43200},
		{"UTC", NOW, "noon", 1795392000 + 43200},
		{"UTC", NOW, "midnight", 1795392000},
		{"UTC", NOW, "today", 1795392000},
		{"UTC", NOW, "today 23:00", 1795392000 + 23 * 3600},
		{"UTC", NOW, "yesterday", 1795392000 - 86400},
		{"UTC", NOW, "yesterday 3pm", 1795392000 - 86400 + 15 * 3600},
		{"UTC", NOW, "3pm yesterday", 1795392000 - 86400 + 15 * 3600},
		{"UTC", NOW, "Yesterday noon", 1795392000 - 86400 + 12 * 3600},
		{"UTC", NOW, "monday", 1795392000},
		{"UTC", NOW, "mon", 1795392000},
		{"UTC", NOW, "monday 09:40", 1795392000 + 9 * 3600 + 40 * 60},
		{"UTC", NOW, "monday 3pm", 1795392000 + 15 * 3600 - 7 * 86400},
		{"UTC", NOW, "tuesday", 1795392000 - 6 * 86400},
		{"UTC", NOW, "sunday", 1795392000 - 86400},
		{"UTC", NOW, "sun 10:00", 1795392000 - 86400 + 36000},
		{"UTC", NOW, "2026-11-20 09:40", 1795392000 - 3 * 86400 + 9 * 3600 + 40 * 60},
		{"UTC", NOW, "2026-11-20", 1795392000 - 3 * 86400},
		{"UTC", NOW, "2024-02-29", 1709164800},
		{"UTC", NOW, "2026-11-20T09:40", 1795392000 - 3 * 86400 + 9 * 3600 + 40 * 60},
		{KOLKATA, NOW, "2026-11-20T09:40Z", 1795392000 - 3 * 86400 + 9 * 3600 + 40 * 60},
		{KOLKATA, NOW, "2026-11-20t09:40:00z", 1795392000 - 3 * 86400 + 9 * 3600 + 40 * 60},
		{"UTC", NOW, "2026-11-20 09:40+05:30", 1795392000 - 3 * 86400 + 4 * 3600 + 10 * 60},
		{"UTC", NOW, "2026-11-20 09:40 -0800", 1795392000 - 3 * 86400 + 17 * 3600 + 40 * 60},
		{KOLKATA, NOW, "09:40 UTC", NOW - 4 * 3600 - 40 * 60 - 30},
		{KOLKATA, NOW, "09:40", NOW - (19 * 3600 + 50 * 60 + 30) + 9 * 3600 + 40 * 60},
		/* the day in the zone that is named: in Auckland it is the 24th */
		{"UTC", NOW, "today 00:30+13:00", NOW - (3 * 3600 + 20 * 60 + 30) + 30 * 60},
	};
	uint64_t moment;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		check(&cases[i]);
	assert_int_equal(when_parse("2026-11-20T09:40:30.25Z", NOW * NS_PER_S, NOW * NS_PER_S, &moment, NULL),
			 0);
	assert_int_equal(moment % NS_PER_S, 250000000);
	assert_int_equal(when_parse("@12.000000001", NOW * NS_PER_S, NOW * NS_PER_S, &moment, NULL), 0);
	assert_int_equal(moment, 12 * NS_PER_S + 1);
	assert_int_equal(when_parse("-0.5s", NOW * NS_PER_S, NOW * NS_PER_S, &moment, NULL), 0);
	assert_int_equal(moment, NOW * NS_PER_S - NS_PER_S / 2);
}

/* A time of day means its last occurrence before now; lengths and days count from the moment shown. */
static void counts_from_now(void **state)
{
	/* 2026-11-20 05:50:10 UTC is shown; now it is 06:10:00 on the next day */
	const uint64_t shown = UINT64_C(1795153810) * NS_PER_S, now = shown + (86400 + 1190) * NS_PER_S;
	uint64_t moment;

	(void)state;
	setenv("TZ", "UTC", 1);
	assert_int_equal(when_parse("05:52:00", shown, now, &moment, NULL), 0);
	assert_int_equal(moment, shown + (86400 + 110) * NS_PER_S);
	assert_int_equal(when_parse("06:11", shown, now, &moment, NULL), 0);
	assert_int_equal(moment, now + 60 * NS_PER_S - 86400 * NS_PER_S);
	assert_int_equal(when_parse("-10s", shown, now, &moment, NULL), 0);
	assert_int_equal(moment, shown - 10 * NS_PER_S);
	assert_int_equal(when_parse("today 06:11", shown, now, &moment, NULL), 0);
	assert_int_equal(moment, now + 60 * NS_PER_S - 86400 * NS_PER_S);
}

static void knows_times_of_day(void **state)
{
	static const struct {
		const char *text;
		bool is_time_of_day;
	} cases[] = {
		{"09:40", true},
		{" 9:40:30.5 ", true},
		{"3pm", true},
		{"noon", true},
		{"09:40 UTC", true},
		{"09:40+05:30", true},
		{"now", false},
		{"-15m", false},
		{"today", false},
		{"yesterday 09:40", false},
		{"monday", false},
		{"@1763712000", false},
		{"2026-11-20 9:40", false},
		{"", false},
		{"9.40", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		assert_int_equal(when_is_time_of_day(cases[i].text), cases[i].is_time_of_day);
}

static void follows_the_clocks(void **state)
{
	static const struct expected cases[] = {
		/* Berlin, 2026-10-25: 03:00 summer time is 02:00; 01:00 UTC = 1792890000 */
		{BERLIN, 1792890000 + 86400, "2026-10-25 01:59", 1792890000 - 3600 - 60},
		{BERLIN, 1792890000 + 86400, "2026-10-25 02:30", 1792890000 + 1800},
		{BERLIN, 1792890000 + 86400, "2026-10-25 02:30+02:00", 1792890000 - 1800},
		{BERLIN, 1792890000 + 86400, "2026-10-25 03:00", 1792890000 + 3600},
		{BERLIN, 1792890000 + 1799, "02:30", 1792890000 - 1800},
		{BERLIN, 1792890000 + 1800, "02:30", 1792890000 + 1800},
		{BERLIN, 1792890000 - 1801, "02:30", 1792890000 - 1800 - 86400},
		/* a day of 25 hours: yesterday is the day before, -1d are 24 hours */
		{BERLIN, 1792890000 + 11 * 3600, "yesterday 13:00", 1792890000 + 11 * 3600 - 25 * 3600},
		{BERLIN, 1792890000 + 12 * 3600, "-1d", 1792890000 + 12 * 3600 - 24 * 3600},
		{BERLIN, 1792890000 + 12 * 3600, "today", 1792890000 - 3 * 3600},
		{BERLIN, 1792890000 + 12 * 3600, "monday", 1792890000 - 3 * 3600 - 6 * 86400},
		/* Berlin, 2026-03-29: 02:00 is 03:00; 01:00 UTC = 1774746000 */
		{BERLIN, 1774746000 + 86400, "2026-03-29 01:59", 1774746000 - 60},
		{BERLIN, 1774746000 + 86400, "2026-03-29 02:30", 1774746000 + 1800},
		{BERLIN, 1774746000 + 86400, "2026-03-29 03:30", 1774746000 + 1800},
		{BERLIN, 1774746000 + 86400, "2026-03-29 03:00", 1774746000},
		{BERLIN, 1774746000 + 11 * 3600, "yesterday 13:00", 1774746000 + 11 * 3600 - 24 * 3600},
		{BERLIN, 1774746000 + 10 * 3600, "yesterday 12:00", 1774746000 + 10 * 3600 - 24 * 3600},
		/* New York, 2026-11-01: 06:00 UTC = 1793512800 */
		{NEW_YORK, 1793512800 + 86400, "2026-11-01 01:30", 1793512800 + 1800},
		{NEW_YORK, 1793512800, "1:30am", 1793512800 - 1800},
		/* half an hour: Lord Howe, 2026-04-05 02:00 is 01:30; 15:00 UTC of the 4th = 1775314800 */
		{LORD_HOWE, 1775314800 + 86400, "2026-04-05 01:45", 1775314800 + 900},
		{LORD_HOWE, 1775314800, "01:45", 1775314800 - 900},
		/* no midnight: Beirut, 2026-03-29 begins at 01:00; 22:00 UTC of the 28th = 1774735200 */
		{BEIRUT, 1774735200 + 86400, "2026-03-29", 1774735200},
		{BEIRUT, 1774735200 + 3600, "today", 1774735200},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		check(&cases[i]);
}

/* Every quarter of an hour of the days around the changes comes back from its text. */
static void formats_what_it_reads(void **state)
{
	static const char *const zones[] = {"UTC", BERLIN, NEW_YORK, LORD_HOWE, KOLKATA, BEIRUT};
	static const uint64_t around[] = {1792890000, 1774746000, 1793512800, 1775314800, 1774735200, NOW};
	char text[WHEN_TEXT_SIZE];

	(void)state;
	for (size_t zone = 0; zone < ARRAY_COUNT(zones); zone++) {
		setenv("TZ", zones[zone], 1);
		tzset();
		for (size_t i = 0; i < ARRAY_COUNT(around); i++) {
			for (uint64_t time = around[i] - 2 * 86400; time < around[i] + 2 * 86400;
			     time += 900) {
				uint64_t moment;
				struct error error;

				when_format(text, time * NS_PER_S + 7);
				if (when_parse(text, UINT64_C(2000000000) * NS_PER_S,
					       UINT64_C(2000000000) * NS_PER_S, &moment, &error) != 0)
					fail_msg("%s", error.text);
				if (moment != time * NS_PER_S)
					fail_msg("%s in %s: %" PRIu64 " is not %" PRIu64, text, zones[zone],
						 moment / NS_PER_S, time);
			}
		}
	}
	setenv("TZ", BERLIN, 1);
	tzset();
	assert_string_equal(when_format(text, (1792890000 + 1800) * NS_PER_S), "2026-10-25 02:30:00");
	assert_string_equal(when_format(text, (1792890000 - 1800) * NS_PER_S), "2026-10-25 02:30:00+02:00");
}

static void names_the_nearest_form(void **state)
{
	static const struct {
		const char *text, *meant; /* NULL: none is named */
	} cases[] = {
		{"", NULL},
		{"-", NULL},
		{"@", NULL},
		{"@now", NULL},
		{"-15", "-15m"},
		{"15m", "-15m"},
		{"+15m", "-15m"},
		{"15 minutes ago", "-15 minutes"},
		{"9.40", "09:40"},
		{"9", "09:00"},
		{"0940", "09:40"},
		{"13pm", "13:00"},
		{"25:00", NULL},
		{"12:60", NULL},
		{"2026/11/20", "2026-11-20"},
		{"2026/11/20 09:40", "2026-11-20 09:40"},
		{"20.11.2026", "2026-11-20"},
		{"2026-13-01", NULL},
		{"2025-02-29", NULL},
		{"1763712000", "@1763712000"},
		{"yesterdy 3pm", "yesterday 3pm"},
		{"mondy", "monday"},
		{"mondey 9:40", "monday 9:40"},
		{"nwo", "now"},
		{"09:40 09:50", NULL},
		{"today yesterday", NULL},
		{"09:4", NULL},
		{"-15q", NULL},
		{"-99999999999d", NULL},
		{"-60y", NULL},
		{"-600000h", NULL},
		{"@99999999999999999999", NULL},
		{"09:40+5", NULL},
		{"09:40+02:", NULL},
		{"monday3pm", NULL},
		{"monday x", NULL},
		{"3pm x", NULL},
		{"2026-11-20Tx", NULL},
	};
	char longest[5000];
	uint64_t moment = 42;
	struct error error;

	(void)state;
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const char *meant;

		error.text[0] = '\0';
		assert_int_equal(when_parse(cases[i].text, NOW * NS_PER_S, NOW * NS_PER_S, &moment, &error),
				 -EINVAL);
		assert_int_equal(moment, 42);
		meant = strstr(error.text, "did you mean '");
		if (cases[i].meant == NULL) {
			if (meant != NULL)
				fail_msg("%s", error.text);
		} else {
			if (meant == NULL ||
			    strncmp(meant + 14, cases[i].meant, strlen(cases[i].meant)) != 0 ||
			    meant[14 + strlen(cases[i].meant)] != '\'')
				fail_msg("%s", error.text);
			assert_int_equal(when_parse(cases[i].meant, NOW * NS_PER_S, NOW * NS_PER_S,
						    &(uint64_t){0}, NULL),
					 0);
		}
		assert_non_null(strstr(error.text, "valid: "));
	}
	/* however many digits say it */
	assert_int_equal(when_parse("-99999999999999w", NOW * NS_PER_S, NOW * NS_PER_S, &moment, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "is before 1970"));
	assert_int_equal(
		when_parse("-99999999999999999999999s", NOW * NS_PER_S, NOW * NS_PER_S, &moment, &error),
		-EINVAL);
	assert_non_null(strstr(error.text, "is before 1970"));
	memset(longest, '1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(when_parse(longest, NOW * NS_PER_S, NOW * NS_PER_S, &moment, &error), -EINVAL);
}

/* Whatever is written: no harm, and what is suggested is valid. */
static void takes_any_text(void **state)
{
	static const char *const parts[] = {"1",     "09",  "40",   "2026",      "11",  "31",  ":",    "-",
					    "T",     "@",   " ",    ".",         "+",   "am",  "pm",   "Z",
					    "m",     "h",   "d",    "s",         "w",   "/",   "99",   "mon",
					    "today", "now", "noon", "yesterday", "utc", "ago", "\xff", ","};
	unsigned int random = 1;

	(void)state;
	setenv("TZ", BERLIN, 1);
	for (int i = 0; i < 200000; i++) {
		char text[64] = "", *meant, *end;
		uint64_t moment = 0;
		struct error error;

		for (int count = 1 + (int)(random >> 20) % 6; count > 0; count--) {
			random = random * 1664525 + 1013904223;
			strcat(text, parts[(random >> 16) % ARRAY_COUNT(parts)]);
		}
		if (when_parse(text, NOW * NS_PER_S, NOW * NS_PER_S, &moment, &error) == 0)
			continue;
		meant = strstr(error.text, "did you mean '");
		if (meant == NULL)
			continue;
		meant += strlen("did you mean '");
		end = strchr(meant, '\'');
		assert_non_null(end);
		*end = '\0';
		if (when_parse(meant, NOW * NS_PER_S, NOW * NS_PER_S, &moment, NULL) != 0)
			fail_msg("'%s' for '%s'", meant, text);
	}
}

static void reads_lengths(void **state)
{
	uint64_t length = 0;
	struct error error;

	(void)state;
	assert_int_equal(when_parse_length("14d", &length, NULL), 0);
	assert_int_equal(length, UINT64_C(14) * 86400 * NS_PER_S);
	assert_int_equal(when_parse_length("1h30m", &length, NULL), 0);
	assert_int_equal(length, 5400 * NS_PER_S);
	assert_int_equal(when_parse_length("14", &length, &error), -EINVAL);
	assert_int_equal(when_parse_length("-1m", &length, &error), -EINVAL);
	assert_int_equal(when_parse_length("0s", &length, &error), -EINVAL);
	assert_int_equal(when_parse_length("999999999999w", &length, &error), -EINVAL);
	assert_int_equal(when_parse_length("99999999999999999999999s", &length, &error), -EINVAL);
	assert_int_equal(when_parse_length("", &length, &error), -EINVAL);
	assert_int_equal(length, 5400 * NS_PER_S);
	assert_non_null(strstr(error.text, "valid: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_form),       cmocka_unit_test(counts_from_now),
		cmocka_unit_test(follows_the_clocks),     cmocka_unit_test(formats_what_it_reads),
		cmocka_unit_test(names_the_nearest_form), cmocka_unit_test(reads_lengths),
		cmocka_unit_test(takes_any_text),         cmocka_unit_test(knows_times_of_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
