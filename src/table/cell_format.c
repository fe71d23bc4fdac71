/* SPDX-License-Identifier: GPL-2.0-only */
#include "cell_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

void cell_format_value(struct buffer *buffer, uint64_t value, enum ladder ladder)
{
	const struct ladder_step *step = find_step(ladder, (double)value);

	if (is_base(ladder, step)) {
		buffer_append_u64(buffer, value);
		buffer_append_text(buffer, step->unit);
	} else {
		buffer_append_format(buffer, "%.3f%s", (double)value / step->threshold, step->unit);
	}
}

void cell_format_delta(struct buffer *buffer, double delta, enum ladder ladder)
{
	const struct ladder_step *step = find_step(ladder, fabs(delta));

	/* + 0.0 turns a negative zero into zero */
	if (is_base(ladder, step) && delta == trunc(delta))
		buffer_append_format(buffer, "%+.0f%s", delta + 0.0, step->unit);
	else
		buffer_append_format(buffer, "%+.3f%s", delta / step->threshold, step->unit);
}

void cell_format_derived(struct buffer *buffer, double value, enum ladder ladder, bool is_ratio)
{
	const struct ladder_step *step = find_step(ladder, fabs(value));

	if (is_ratio)
		buffer_append_format(buffer, "%.3f", value + 0.0);
	else
		buffer_append_format(buffer, "%.*f%s", is_base(ladder, step) ? 2 : 3,
				     value / step->threshold + 0.0, step->unit);
}

void cell_format_derived_delta(struct buffer *buffer, double delta, enum ladder ladder, bool is_ratio)
{
	buffer_append_text(buffer, delta >= 0 ? "+" : "");
	cell_format_derived(buffer, delta, ladder, is_ratio);
}

void cell_format_percent(struct buffer *buffer, double fraction)
{
	buffer_append_format(buffer, "%+.1f%%", fraction * 100.0 + 0.0);
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

void cell_format_pressure(struct buffer *buffer, uint32_t hundredths)
{
	buffer_append_format(buffer, "%" PRIu32 ".%02" PRIu32 "%%", hundredths / 100, hundredths % 100);
}

void cell_format_cpu_limit(struct buffer *buffer, struct optional_u64 quota_us, uint64_t period_us)
{
	if (quota_us.present)
		cell_format_value(buffer, quota_us.value, LADDER_US);
	else
		buffer_append_text(buffer, "max");
	buffer_append_char(buffer, '/');
	cell_format_value(buffer, period_us, LADDER_US);
}

bool cell_format_has_partial_mark(const struct cell *cell)
{
	return cell->state == CELL_VALUE && cell->partial &&
	       (cell->form == CELL_FORM_INTEGER || cell->form == CELL_FORM_REAL);
}

/* The fewest digits that read back as the same number. */
static void append_real(struct buffer *buffer, double value)
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
		append_real(buffer, cell->value.real);
	else
		return false;
	return true;
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
		buffer_append_text(buffer, cell_format_has_partial_mark(cell) ? "≥" : "");
		if (cell->text != NULL)
			buffer_append_text(buffer, cell->text);
		else
			cell_format_number(buffer, cell);
		break;
	}
}
