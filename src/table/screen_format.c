/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen_format.h"

#include <math.h>

#include "cell_format.h"

const struct screen_marks screen_marks_utf8 = {
	.unavailable = "·",
	.resolving = "…",
	.at_least = "≥",
	.arrow = "→",
	.real = "≠",
	.replacement = "\xef\xbf\xbd",
	.ellipsis = "~",
	.middle = "…",
	.above = "▲",
	.below = "▼",
};
const struct screen_marks screen_marks_ascii = {
	.unavailable = "?",
	.resolving = "...",
	.at_least = ">",
	.arrow = "->",
	.real = "#",
	.replacement = "?",
	.ellipsis = "~",
	.middle = "~",
	.above = "^",
	.below = "v",
};

const char screen_bar_signs[VALUE_SHARES] = {'#', 'r', 'i', 'm', 'q', '.'};

/* A unit of a ladder: below `limit` (after rounding) the number stands in it; `factor` leads from the unit
 * before. */
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
/* From 120 s on minutes, from 120 of these on hours, from two days on days; sums over many threads make
 * thousands of these. */
static const struct step time_steps[] = {
	{1, 1000, "ns"}, {1000, 1000, "us"}, {1000, 1000, "ms"}, {1000, 120, "s"},       {60, 120, "m"},
	{60, 48, "h"},   {24, 10000, "d"},   {1000, 1000, "Kd"}, {1000, INFINITY, "Md"},
};
static const struct step percent_steps[] = {
	{1, 100000, ""},   {1000, 1000, "K"}, {1000, 1000, "M"},
	{1000, 1000, "G"}, {1000, 1000, "T"}, {1000, INFINITY, "P"},
};

/* Digits behind the point: `digits` below `below`, none from there on. */
struct precision {
	int digits;
	double below;
};

static const struct precision one_digit = {1, 100};

static double rounded(double value, int digits)
{
	double scale = digits == 2 ? 100.0 : digits == 1 ? 10.0 : 1.0;

	return round(value * scale) / scale;
}

/* The digits that `value` gets: the bound counts after rounding. */
static int digits_of(double value, struct precision precision)
{
	return rounded(value, precision.digits) < precision.below ? precision.digits : 0;
}

static void append_scaled(struct buffer *buffer, double value, const struct step *steps,
			  struct precision precision)
{
	double magnitude = fabs(value);
	size_t i = 0;
	int digits;

	if (value == 0.0) {
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
	buffer_append_format(buffer, "%s%.*f%s", value < 0 ? "-" : "", digits, rounded(magnitude, digits),
			     steps[i].suffix);
}

/* The number without what a whole one of its unit does not show. */
static double floor_scaled(double value, const struct step *steps)
{
	double unit = 1;

	for (size_t i = 0;; i++) {
		unit *= steps[i].factor;
		if (fabs(value) / unit < steps[i].limit)
			return trunc(value / unit) * unit;
	}
}

/* Whole numbers of the first unit have no fraction. */
static void append_number(struct buffer *buffer, double value, const struct step *steps, bool whole)
{
	bool first = fabs(value) < steps[0].limit;

	append_scaled(buffer, value, steps, whole && first ? (struct precision){0, 0} : one_digit);
}

void screen_format_duration(struct buffer *buffer, double nanoseconds)
{
	append_number(buffer, nanoseconds, time_steps, nanoseconds == floor(nanoseconds));
}

void screen_format_percent(struct buffer *buffer, double percent)
{
	append_scaled(buffer, percent, percent_steps, (struct precision){1, 1000});
}

/* The format of the numbers of a unit. */
struct unit_format {
	const struct step *steps;
	struct precision precision;
	double scale; /* to the first step */
};

static struct unit_format format_of(enum unit unit)
{
	switch (unit) {
	case UNIT_NS:
	case UNIT_NS_PER_S:
		return (struct unit_format){time_steps, one_digit, 1};
	case UNIT_US:
		return (struct unit_format){time_steps, one_digit, 1000};
	case UNIT_TICKS:
	case UNIT_TICKS_PER_S:
		return (struct unit_format){time_steps, one_digit, 1e7};
	case UNIT_BYTES:
	case UNIT_BYTES_PER_S:
		return (struct unit_format){byte_steps, one_digit, 1};
	case UNIT_PERCENT:
		return (struct unit_format){percent_steps, {1, 1000}, 1};
	case UNIT_RATIO:
	case UNIT_CPUS:
		return (struct unit_format){count_steps, {2, 10}, 1};
	default:
		return (struct unit_format){count_steps, one_digit, 1};
	}
}

/* A ratio between 10 and 100 keeps one digit. */
static struct precision narrow(struct precision precision, double value)
{
	if (precision.digits == 2 && digits_of(fabs(value), precision) == 0)
		return one_digit;
	return precision;
}

static void append_cell_number(struct buffer *buffer, const struct cell *cell,
			       const struct screen_marks *marks)
{
	struct unit_format format = format_of(cell->unit);
	bool integer = cell->form == CELL_FORM_INTEGER;
	double value = (integer ? (double)cell->value.integer : cell->value.real) * format.scale;
	bool whole = integer && fabs(value) < format.steps[0].limit;

	if (cell->partial)
		buffer_append_text(buffer, marks->at_least);
	/* both marks leave five cells: no room for a fraction, but a bound stays one */
	if (whole || (cell->partial && cell->rose))
		format.precision = (struct precision){0, 0};
	if (cell->partial && cell->rose)
		value = floor_scaled(value, format.steps);
	append_scaled(buffer, value, format.steps, narrow(format.precision, value));
	if (cell->rose)
		buffer_append_char(buffer, '+');
}

static void append_value(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks)
{
	if (cell->text != NULL) {
		buffer_append_text(buffer, cell->text);
		return;
	}
	switch (cell->form) {
	case CELL_FORM_TEXT:
		return;
	case CELL_FORM_INTEGER:
	case CELL_FORM_REAL:
		append_cell_number(buffer, cell, marks);
		return;
	case CELL_FORM_RANGE:
		cell_format_range(buffer, cell->value.range.low, cell->value.range.high);
		return;
	case CELL_FORM_BAR:
		screen_format_bar(buffer, cell, SCREEN_BAR_CELLS);
		return;
	}
}

static void append_sides(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks)
{
	if (cell->verdict == CELL_VERDICT_REAL)
		buffer_append_text(buffer, marks->real);
	screen_format_cell(buffer, &cell->sides[0], marks);
	buffer_append_text(buffer, marks->arrow);
	screen_format_cell(buffer, &cell->sides[1], marks);
}

void screen_format_cell(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks)
{
	if (cell->sides != NULL && cell->text == NULL) {
		append_sides(buffer, cell, marks);
		return;
	}
	switch (cell->state) {
	case CELL_EMPTY:
		return;
	case CELL_ABSENT:
		buffer_append_char(buffer, '-');
		return;
	case CELL_UNAVAILABLE:
		buffer_append_text(buffer, cell->reason == REASON_BEING_RESOLVED ? marks->resolving
										 : marks->unavailable);
		return;
	case CELL_VALUE:
		append_value(buffer, cell, marks);
		return;
	}
}

void screen_format_cell_in(struct buffer *buffer, const struct table_column *column, const struct cell *cell,
			   const struct screen_marks *marks)
{
	struct cell plain = *cell;

	plain.partial = plain.partial && !column->at_least;
	screen_format_cell(buffer, &plain, marks);
}

void screen_format_title(struct buffer *buffer, const struct table_column *column,
			 const struct screen_marks *marks)
{
	buffer_append_format(buffer, "%s%s", column->at_least ? marks->at_least : "", column->title);
}

void screen_format_bar(struct buffer *buffer, const struct cell *cell, int cells)
{
	double end = 0.0;
	int drawn = 0;

	for (size_t i = 0; i < VALUE_SHARES; i++) {
		int until;

		end += (double)cell->value.shares[i];
		/* each border is rounded by itself, so that the whole is always `cells` long */
		until = i + 1 == VALUE_SHARES ? cells : (int)lround(end * cells);
		for (; drawn < until && drawn < cells; drawn++)
			buffer_append_char(buffer, screen_bar_signs[i]);
	}
}
