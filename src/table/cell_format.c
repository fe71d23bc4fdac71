/* SPDX-License-Identifier: GPL-2.0-only */
#include "cell_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"

struct ladder_step {
	double threshold; /* in base units */
	const char *unit;
};

struct ladder_entry {
	size_t step_count;
	struct ladder_step steps[5]; /* ascending, the base step first */
};

static const struct ladder_entry ladders[] = {
	[LADDER_NONE] = {1, {{1, ""}}},
	[LADDER_UNITLESS] = {4, {{1, ""}, {1e3, "K"}, {1e6, "M"}, {1e9, "G"}}},
	[LADDER_NS] = {4, {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}},
	[LADDER_US] = {3, {{1, "µs"}, {1e3, "ms"}, {1e6, "s"}}},
	[LADDER_BYTES] = {5, {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}}},
	[LADDER_TICKS] = {3, {{1, "ticks"}, {1e3, "Kticks"}, {1e6, "Mticks"}}},
};

/* The largest step that fits; the base step for NULL. Chosen before rounding and never revised. */
static const struct ladder_step *find_step(enum ladder ladder, double magnitude)
{
	const struct ladder_entry *entry = &ladders[ladder];
	size_t i = entry->step_count - 1;

	while (i > 0 && entry->steps[i].threshold > magnitude)
		i--;
	return &entry->steps[i];
}

static bool is_base(enum ladder ladder, const struct ladder_step *step)
{
	return step == ladders[ladder].steps;
}

static void append_value(struct buffer *buffer, uint64_t value, enum ladder ladder)
{
	const struct ladder_step *step = find_step(ladder, (double)value);

	if (is_base(ladder, step)) {
		buffer_append_u64(buffer, value);
		buffer_append_text(buffer, step->unit);
	} else {
		buffer_append_format(buffer, "%.3f%s", (double)value / step->threshold, step->unit);
	}
}

static void append_derived(struct buffer *buffer, double value, enum unit unit)
{
	const enum ladder ladder = unit_ladder(unit);
	const struct ladder_step *step = find_step(ladder, fabs(value));

	/* + 0.0 turns a negative zero into zero */
	if (unit == UNIT_RATIO)
		buffer_append_format(buffer, "%.3f", value + 0.0);
	else
		buffer_append_format(buffer, "%.*f%s", is_base(ladder, step) ? 2 : 3,
				     value / step->threshold + 0.0, step->unit);
}

/* A negative number that is whole has no decimals, like one that is not negative. */
static void append_real_value(struct buffer *buffer, double number, enum unit unit)
{
	const double exact = 9007199254740992.0; /* whole numbers up to here are exact in a double */

	if (number < 0 && number >= -exact && number == trunc(number)) {
		buffer_append_char(buffer, '-');
		append_value(buffer, (uint64_t)-number, unit_ladder(unit));
	} else {
		append_derived(buffer, number, unit);
	}
}

static void append_change(struct buffer *buffer, double change, enum unit unit)
{
	const enum ladder ladder = unit_ladder(unit);
	const struct ladder_step *step = find_step(ladder, fabs(change));

	if (is_base(ladder, step) && change == trunc(change))
		buffer_append_format(buffer, "%+.0f%s", change + 0.0, step->unit);
	else
		buffer_append_format(buffer, "%+.3f%s", change / step->threshold, step->unit);
}

static void append_real(struct buffer *buffer, const struct cell *cell)
{
	static const char *const formats[CELL_STYLE_COUNT] = {
		[CELL_STYLE_PERCENT] = "%.1f%%",
		[CELL_STYLE_PERCENT_WHOLE] = "%.0f%%",
		[CELL_STYLE_PERCENT_EXACT] = "%.2f%%",
		[CELL_STYLE_PERCENT_CHANGE] = "%+.1f%%",
		[CELL_STYLE_PERCENT_EXACT_CHANGE] = "%+.2f%%",
		[CELL_STYLE_CHANCE] = "%.2g",
	};
	const double number = cell->value.real;

	switch (cell->style) {
	case CELL_STYLE_VALUE:
		append_real_value(buffer, number, cell->unit);
		break;
	case CELL_STYLE_DERIVED_CHANGE:
		buffer_append_text(buffer, number >= 0 ? "+" : "");
		append_derived(buffer, number, cell->unit);
		break;
	case CELL_STYLE_DERIVED:
		append_derived(buffer, number, cell->unit);
		break;
	case CELL_STYLE_CHANGE:
	case CELL_STYLE_CHANGE_PER_SECOND:
		append_change(buffer, number, cell->unit);
		buffer_append_text(buffer, cell->style == CELL_STYLE_CHANGE_PER_SECOND ? "/s" : "");
		break;
	default:
		if (formats[cell->style] != NULL)
			buffer_append_format(buffer, formats[cell->style], number + 0.0);
		else
			cell_format_number(buffer, cell);
		break;
	}
}

void cell_format_range(struct buffer *buffer, int64_t low, int64_t high)
{
	buffer_append_i64(buffer, low);
	if (low == high)
		return;
	buffer_append_text(buffer, "..");
	buffer_append_i64(buffer, high);
}

void cell_format_mode(struct buffer *buffer, const char *text, size_t length, uint64_t count, uint64_t total)
{
	buffer_append(buffer, text, length);
	if (count != total || total == 0)
		buffer_append_format(buffer, " (%" PRIu64 "/%" PRIu64 ")", count, total);
}

void cell_format_affinity(struct buffer *buffer, const struct string_pool *sets, uint32_t fewest,
			  uint32_t most, bool uniform, uint32_t set)
{
	buffer_append_u64(buffer, fewest);
	if (fewest != most) {
		buffer_append_char(buffer, '-');
		buffer_append_u64(buffer, most);
	}
	buffer_append_text(buffer, " cpus (");
	if (uniform)
		cpu_set_append_ranges(sets, set, buffer);
	else
		buffer_append_text(buffer, "mixed");
	buffer_append_char(buffer, ')');
}

void cell_format_cpu_limit(struct buffer *buffer, struct optional_u64 quota_us, uint64_t period_us)
{
	if (quota_us.present)
		append_value(buffer, quota_us.value, LADDER_US);
	else
		buffer_append_text(buffer, "max");
	buffer_append_char(buffer, '/');
	append_value(buffer, period_us, LADDER_US);
}

bool cell_format_has_partial_mark(const struct cell *cell)
{
	return cell->state == CELL_VALUE && cell->partial &&
	       (cell->form == CELL_FORM_INTEGER || cell->form == CELL_FORM_REAL);
}

/* The fewest digits that read back as the same number. */
static void append_digits(struct buffer *buffer, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	buffer_append_text(buffer, text);
}

bool cell_format_number(struct buffer *buffer, const struct cell *cell)
{
	if (cell->form == CELL_FORM_INTEGER)
		buffer_append_u64(buffer, cell->value.integer);
	else if (cell->form == CELL_FORM_REAL && isfinite(cell->value.real))
		append_digits(buffer, cell->value.real);
	else
		return false;
	return true;
}

void cell_format_once(struct buffer *buffer, size_t start, size_t middle, size_t after)
{
	if (order_bytes(buffer->data + start, middle - start, buffer->data + after, buffer->length - after) !=
	    0)
		return;
	buffer->length = middle;
	buffer->data[middle] = '\0';
}

static void append_sides(struct buffer *buffer, const struct cell *cell)
{
	const bool is_close = cell->style == CELL_STYLE_SIDES_CLOSE;
	const size_t start = buffer->length;
	size_t middle, after;
	struct cell change;

	cell_format_cell(buffer, &cell->sides[0]);
	middle = buffer->length;
	buffer_append_text(buffer, is_close ? "→" : " → ");
	after = buffer->length;
	cell_format_cell(buffer, &cell->sides[1]);
	if (is_close || cell->style == CELL_STYLE_SIDES_ONCE)
		cell_format_once(buffer, start, middle, after);
	change = cell_of_change(cell);
	if (change.state == CELL_EMPTY)
		return;
	buffer_append_text(buffer, " (");
	cell_format_cell(buffer, &change);
	buffer_append_char(buffer, ')');
}

static void append_cell_value(struct buffer *buffer, const struct cell *cell)
{
	if (cell->text != NULL)
		buffer_append_text(buffer, cell->text);
	else if (cell->sides != NULL)
		append_sides(buffer, cell);
	else if (cell->form == CELL_FORM_REAL)
		append_real(buffer, cell);
	else if (cell->form == CELL_FORM_RANGE)
		cell_format_range(buffer, cell->value.range.low, cell->value.range.high);
	else if (cell->form == CELL_FORM_INTEGER && cell->style != CELL_STYLE_DIGITS)
		append_value(buffer, cell->value.integer, unit_ladder(cell->unit));
	else
		cell_format_number(buffer, cell);
}

void cell_format_cell(struct buffer *buffer, const struct cell *cell)
{
	switch (cell->state) {
	case CELL_EMPTY:
		break;
	case CELL_ABSENT:
		buffer_append_char(buffer, '-');
		break;
	case CELL_UNAVAILABLE:
		buffer_append_text(buffer, "·");
		break;
	case CELL_VALUE:
		buffer_append_text(buffer, cell_format_has_partial_mark(cell) ? "≥"
					   : cell->sampled                    ? "~"
									      : "");
		append_cell_value(buffer, cell);
		break;
	}
}
