/* SPDX-License-Identifier: GPL-2.0-only */
#include "humanize.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "memory.h"
#include "number.h"

/* --- in sentences --- */

/* One decimal below 100, unless it is 0. */
static void append_rounded(struct buffer *buffer, double number, const char *unit)
{
	const double tenths = round(number * 10);

	if (tenths < 1000 && fmod(tenths, 10) != 0)
		buffer_append_format(buffer, "%.1f %s", tenths / 10, unit);
	else
		buffer_append_format(buffer, "%.0f %s", round(number), unit);
}

/* From a minute on: the larger unit, and what is left in the smaller one. */
static void append_minutes(struct buffer *buffer, double seconds)
{
	static const char *const units[] = {"s", "min", "h", "d"};
	static const uint64_t sizes[] = {60, 60, 24};
	double amount = seconds;
	uint64_t parts;
	size_t i = 0;

	for (; i + 1 < ARRAY_COUNT(sizes) && round(amount) >= (double)(sizes[i] * sizes[i + 1]); i++)
		amount /= (double)sizes[i];
	parts = (uint64_t)round(amount);
	buffer_append_u64(buffer, parts / sizes[i]);
	buffer_append_format(buffer, " %s", units[i + 1]);
	if (parts % sizes[i] != 0)
		buffer_append_format(buffer, " %u %s", (unsigned int)(parts % sizes[i]), units[i]);
}

void humanize_duration(struct buffer *buffer, double nanoseconds)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double amount = nanoseconds;
	size_t i = 0;

	for (; i + 1 < ARRAY_COUNT(units) && amount >= 999.5; i++)
		amount /= 1000;
	if (i + 1 == ARRAY_COUNT(units) && amount >= 59.95)
		append_minutes(buffer, amount);
	else
		append_rounded(buffer, amount, amount != 0 ? units[i] : "s");
}

void humanize_bytes(struct buffer *buffer, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t i = 0;

	for (; i + 1 < ARRAY_COUNT(units) && bytes >= 1023.5; i++)
		bytes /= 1024;
	append_rounded(buffer, bytes, units[i]);
}

char *humanize_digits(uint64_t value, char text[static 28])
{
	char digits[NUMBER_DIGITS_MAX];
	const size_t count = number_write_u64(value, digits);
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		if (i != 0 && (count - i) % 3 == 0)
			text[length++] = ',';
		text[length++] = digits[i];
	}
	text[length] = '\0';
	return text;
}

void humanize_count(struct buffer *buffer, uint64_t count)
{
	char digits[28];

	buffer_append_text(buffer, humanize_digits(count, digits));
}

void humanize_counted(struct buffer *buffer, uint64_t count, const char *noun)
{
	humanize_count(buffer, count);
	buffer_append_format(buffer, " %s%s", noun, count == 1 ? "" : "s");
}

void humanize_amount(struct buffer *buffer, double amount)
{
	if (amount >= 999999.5 * 1000)
		buffer_append_format(buffer, "%.1fG", amount / 1e9);
	else if (amount >= 999999.5)
		buffer_append_format(buffer, "%.1fM", amount / 1e6);
	else if (amount < 99.95 && amount != floor(amount))
		buffer_append_format(buffer, "%.1f", amount);
	else
		humanize_count(buffer, (uint64_t)round(amount));
}

void humanize_percent(struct buffer *buffer, double percent)
{
	humanize_compact(buffer, percent, HUMANIZE_PERCENT, false);
	buffer_append_char(buffer, '%');
}

/* --- times --- */

const char *humanize_time(char text[static HUMANIZE_TIME_SIZE], uint64_t unix_ns, bool with_date)
{
	if (!clock_format_local(text, HUMANIZE_TIME_SIZE, with_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S",
				unix_ns))
		snprintf(text, HUMANIZE_TIME_SIZE, with_date ? "an unknown time" : "--:--:--");
	return text;
}

void humanize_utc(struct buffer *buffer, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	struct tm utc;
	char text[HUMANIZE_TIME_SIZE];

	if (unix_ns != 0 && gmtime_r(&seconds, &utc) != NULL &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc) != 0)
		buffer_append_text(buffer, text);
}

/* --- compact --- */

/* A unit of a ladder, for numbers that are below `limit` after rounding; `factor` leads from the unit before.
 */
struct step {
	double factor;
	double limit;
	const char *suffix;
};

/* Counts stay exact as long as they fit. */
static const struct step count_steps[] = {
	{1, 100000, ""},   {1000, 1000, "K"}, {1000, 1000, "M"},     {1000, 1000, "G"},
	{1000, 1000, "T"}, {1000, 1000, "P"}, {1000, INFINITY, "E"},
};
static const struct step byte_steps[] = {
	{1, 1024, "B"},    {1024, 1024, "K"}, {1024, 1024, "M"},     {1024, 1024, "G"},
	{1024, 1024, "T"}, {1024, 1024, "P"}, {1024, INFINITY, "E"},
};
/* Sums over many threads make thousands of days. */
static const struct step time_steps[] = {
	{1, 1000, "ns"}, {1000, 1000, "us"}, {1000, 1000, "ms"}, {1000, 120, "s"},       {60, 120, "m"},
	{60, 48, "h"},   {24, 10000, "d"},   {1000, 1000, "Kd"}, {1000, INFINITY, "Md"},
};
static const struct step percent_steps[] = {
	{1, 100000, ""},   {1000, 1000, "K"}, {1000, 1000, "M"},
	{1000, 1000, "G"}, {1000, 1000, "T"}, {1000, INFINITY, "P"},
};

/* Decimals to print for numbers under `below`; larger ones get none. */
struct precision {
	int digits;
	double below;
};

static const struct precision no_digit = {0, 0}, one_digit = {1, 100};

static const struct {
	const struct step *steps;
	struct precision precision;
} formats[] = {
	[HUMANIZE_COUNT] = {count_steps, {1, 100}},      [HUMANIZE_RATIO] = {count_steps, {2, 10}},
	[HUMANIZE_BYTES] = {byte_steps, {1, 100}},       [HUMANIZE_TIME] = {time_steps, {1, 100}},
	[HUMANIZE_PERCENT] = {percent_steps, {1, 1000}},
};

static double rounded(double number, int digits)
{
	double scale = digits == 2 ? 100.0 : digits == 1 ? 10.0 : 1.0;

	return round(number * scale) / scale;
}

/* The decimals of `number`: the bound counts after rounding. */
static int digits_of(double number, struct precision precision)
{
	return rounded(number, precision.digits) < precision.below ? precision.digits : 0;
}

static void append_scaled(struct buffer *buffer, double number, const struct step *steps,
			  struct precision precision)
{
	double magnitude = fabs(number);
	size_t i = 0;
	int digits;

	if (number == 0.0) {
		buffer_append_char(buffer, '0');
		return;
	}
	for (;; i++) {
		magnitude /= steps[i].factor;
		if (i > 0 && precision.digits > 0)
			precision = one_digit;
		digits = digits_of(magnitude, precision);
		if (rounded(magnitude, digits) < steps[i].limit)
			break;
	}
	buffer_append_format(buffer, "%s%.*f%s", number < 0 ? "-" : "", digits, rounded(magnitude, digits),
			     steps[i].suffix);
}

void humanize_compact(struct buffer *buffer, double number, enum humanize_unit unit, bool is_whole)
{
	const struct step *steps = formats[unit].steps;
	struct precision precision = formats[unit].precision;

	if (is_whole && fabs(number) < steps[0].limit)
		precision = no_digit;
	/* a ratio between 10 and 100 keeps one decimal */
	if (precision.digits == 2 && digits_of(fabs(number), precision) == 0)
		precision = one_digit;
	append_scaled(buffer, number, steps, precision);
}

void humanize_compact_truncated(struct buffer *buffer, double number, enum humanize_unit unit)
{
	const struct step *steps = formats[unit].steps;
	double size = 1;
	size_t i = 0;

	for (; size *= steps[i].factor, fabs(number) / size >= steps[i].limit; i++)
		;
	append_scaled(buffer, trunc(number / size) * size, steps, no_digit);
}
