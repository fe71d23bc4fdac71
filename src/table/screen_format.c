/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen_format.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/unicode.h"
#include "cell_format.h"

enum {
	OBJECT_CELLS_MIN = 6, /* in which one object can be told from another: "0x7…c0" */
};

const struct screen_marks screen_marks_utf8 = {
	.unavailable = "·",
	.resolving = "…",
	.at_least = "≥",
	.arrow = "→",
	.real = "≠",
	.burst = "≈",
	.replacement = "\xef\xbf\xbd",
	.ellipsis = "~",
	.middle = "…",
	.times = "×",
	.above = "▲",
	.below = "▼",
};
const struct screen_marks screen_marks_ascii = {
	.unavailable = "?",
	.resolving = "...",
	.at_least = ">",
	.arrow = "->",
	.real = "#",
	.burst = "%",
	.replacement = "?",
	.ellipsis = "~",
	.middle = "~",
	.times = "x",
	.above = "^",
	.below = "v",
};

const char screen_bar_signs[TIME_PART_COUNT] = {
#define TIME_PART(id, name, sign, ...) sign,
#include "metric/time_part.def"
#undef TIME_PART
};

/* How the numbers of a unit are written: as what, and by what factor to its first unit. */
struct unit_format {
	enum humanize_unit unit;
	double scale;
};

static struct unit_format format_of(enum unit unit)
{
	switch (unit) {
	case UNIT_NS:
	case UNIT_NS_PER_S:
		return (struct unit_format){HUMANIZE_TIME, 1};
	case UNIT_US:
		return (struct unit_format){HUMANIZE_TIME, NS_PER_US};
	case UNIT_TICKS:
	case UNIT_TICKS_PER_S:
		return (struct unit_format){HUMANIZE_TIME, NS_PER_TICK};
	case UNIT_BYTES:
	case UNIT_BYTES_PER_S:
		return (struct unit_format){HUMANIZE_BYTES, 1};
	case UNIT_PERCENT:
		return (struct unit_format){HUMANIZE_PERCENT, 1};
	case UNIT_RATIO:
	case UNIT_CPUS:
		return (struct unit_format){HUMANIZE_RATIO, 1};
	default:
		return (struct unit_format){HUMANIZE_COUNT, 1};
	}
}

static void append_cell_number(struct buffer *buffer, const struct cell *cell,
			       const struct screen_marks *marks)
{
	static const char *const endings[CELL_STYLE_COUNT] = {
		[CELL_STYLE_CHANGE_PER_SECOND] = "/s", [CELL_STYLE_PERCENT] = "%",
		[CELL_STYLE_PERCENT_WHOLE] = "%",      [CELL_STYLE_PERCENT_EXACT] = "%",
		[CELL_STYLE_PERCENT_CHANGE] = "%",     [CELL_STYLE_PERCENT_EXACT_CHANGE] = "%",
	};
	const struct unit_format format = format_of(cell->unit);
	const double number = cell_number(cell) * format.scale;
	const bool is_change = cell_style_is_change[cell->style];
	const bool is_whole = cell->form == CELL_FORM_INTEGER || cell->sampled ||
			      cell->style == CELL_STYLE_PERCENT_WHOLE ||
			      ((is_change || cell->style == CELL_STYLE_VALUE) && cell->unit != UNIT_PERCENT &&
			       cell->value.real == trunc(cell->value.real));

	if (cell->partial)
		buffer_append_text(buffer, marks->at_least);
	else if (cell->sampled)
		buffer_append_char(buffer, '~');
	buffer_append_text(buffer, is_change && number > 0 ? "+" : "");
	/* both marks leave five cells: no room for a fraction, but a bound stays one */
	if (cell->partial && cell->rose)
		humanize_compact_truncated(buffer, number, format.unit);
	else
		humanize_compact(buffer, number, format.unit, is_whole);
	if (cell->rose)
		buffer_append_char(buffer, '+');
	if (endings[cell->style] != NULL)
		buffer_append_text(buffer, endings[cell->style]);
}

/* Where the number of threads of a text begins, with the blank before it; its end without one. */
static const char *find_count(const struct cell *cell)
{
	const char *blank = cell->counted ? strrchr(cell->text, ' ') : NULL;

	return blank != NULL ? blank : cell->text + strlen(cell->text);
}

static void append_count(struct buffer *buffer, const char *count, const struct screen_marks *marks)
{
	if (*count != '\0')
		buffer_append_format(buffer, " %s%s", marks->times, count + 1);
}

static void append_value(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks)
{
	if (cell->counted) {
		const char *count = find_count(cell);

		buffer_append(buffer, cell->text, (size_t)(count - cell->text));
		append_count(buffer, count, marks);
		return;
	}
	if (cell->text != NULL) {
		buffer_append_text(buffer, cell->text);
		return;
	}
	switch (cell->form) {
	case CELL_FORM_TEXT:
		return;
	case CELL_FORM_INTEGER:
	case CELL_FORM_REAL:
		if (cell->style == CELL_STYLE_CHANCE)
			cell_format_cell(buffer, cell);
		else
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
	size_t start, middle, after;
	struct cell change;

	if (cell->verdict == CELL_VERDICT_REAL)
		buffer_append_text(buffer, marks->real);
	else if (cell->verdict == CELL_VERDICT_BURST)
		buffer_append_text(buffer, marks->burst);
	start = buffer->length;
	screen_format_cell(buffer, &cell->sides[0], marks);
	middle = buffer->length;
	buffer_append_text(buffer, marks->arrow);
	after = buffer->length;
	screen_format_cell(buffer, &cell->sides[1], marks);
	if (cell->style == CELL_STYLE_SIDES_ONCE || cell->style == CELL_STYLE_SIDES_CLOSE)
		cell_format_once(buffer, start, middle, after);
	change = cell_of_change(cell);
	if (change.state == CELL_EMPTY)
		return;
	buffer_append_text(buffer, " (");
	screen_format_cell(buffer, &change, marks);
	buffer_append_char(buffer, ')');
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

/* Appends an object in at most `room` cells: as a whole, its first word, or without its middle. */
static void append_object(struct buffer *buffer, const char *object, size_t length, int room,
			  const struct screen_marks *marks)
{
	const char *blank = memchr(object, ' ', length);
	const size_t word = blank != NULL ? (size_t)(blank - object) : length;

	if (unicode_width(object, length) > room && unicode_width(object, word) <= room)
		length = word;
	else if (unicode_width(object, length) > room && room < OBJECT_CELLS_MIN)
		return;
	buffer_append_char(buffer, ' ');
	unicode_append_middle(buffer, object, length, room, marks->middle);
}

void screen_format_narrow(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks,
			  int cells)
{
	const char *object = cell->text + cell->head, *count = find_count(cell);
	struct buffer end = {0};
	int room;

	buffer_append_text(&end, "");
	append_count(&end, count, marks);
	room = cells - unicode_width(cell->text, cell->head) - unicode_width(end.data, end.length) - 1;
	buffer_append(buffer, cell->text, cell->head);
	if (object < count && room > 0)
		append_object(buffer, object + 1, (size_t)(count - object - 1), room, marks);
	buffer_append(buffer, end.data, end.length);
	buffer_release(&end);
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

	for (size_t i = 0; i < TIME_PART_COUNT; i++) {
		int until;

		end += (double)cell->value.shares[i];
		/* each border is rounded by itself, so that the whole is always `cells` long */
		until = i + 1 == TIME_PART_COUNT ? cells : (int)lround(end * cells);
		for (; drawn < until && drawn < cells; drawn++)
			buffer_append_char(buffer, screen_bar_signs[i]);
	}
}
