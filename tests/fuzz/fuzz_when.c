/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moments and lengths of time that the user types. The first byte chooses the time that they are typed at:
 * hours around the changes of the clocks among them. What is printed of a moment must be read as the same.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "session/when.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 2026-11-20, the hours of 2026-03-29 and 2026-10-25 in which clocks are changed, the beginning, the end. */
static const uint64_t seconds[] = {
	1795161600, 1774746000, 1792890000, 1792893600, 0, 86400, UINT64_MAX / NS_PER_S,
};

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	(void)count, (void)arguments;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return 0;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* All that is printed has four digits for the year. */
static void require_same(uint64_t unix_ns)
{
	char text[WHEN_TEXT_SIZE];
	uint64_t again;

	if (unix_ns < NS_PER_S * 86400 || unix_ns > UINT64_C(9000000000) * NS_PER_S)
		return;
	require(when_parse(when_format(text, unix_ns), unix_ns, unix_ns, &again, NULL) == 0);
	require(again / NS_PER_S == unix_ns / NS_PER_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {""};
	uint64_t now, length, moment;
	char *text;

	if (size == 0)
		return 0;
	now = seconds[data[0] % ARRAY_COUNT(seconds)] * NS_PER_S;
	text = memory_duplicate_bytes((const char *)data + 1, size - 1);
	if (when_parse(text, now, now / 2, &moment, &error) == 0)
		require_same(moment);
	else
		require(error.text[0] != '\0');
	/* a time of day has no date that could lie outside the calendar */
	if (when_is_time_of_day(text))
		require(when_parse(text, now, UINT64_C(1795161600) * NS_PER_S, &moment, NULL) == 0);
	error.text[0] = '\0';
	if (when_parse_length(text, &length, &error) == 0)
		require(length >= NS_PER_S);
	else
		require(error.text[0] != '\0');
	free(text);
	return 0;
}
