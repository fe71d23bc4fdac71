/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of the formats of reports, and what several of them draw alike. */
#include "report_format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "snapshot/capture_facts.h"
#include "table/cell_format.h"
#include "table/screen_format.h"

const char *const report_format_names[REPORT_FORMAT_COUNT + 1] = {
#define REPORT_FORMAT(id, name, ending, rows) [REPORT_FORMAT_##id] = #name,
#include "report_format.def"
#undef REPORT_FORMAT
};

const char *const report_format_endings[REPORT_FORMAT_COUNT] = {
#define REPORT_FORMAT(id, name, ending, rows) [REPORT_FORMAT_##id] = ending,
#include "report_format.def"
#undef REPORT_FORMAT
};

const size_t report_default_limits[REPORT_FORMAT_COUNT] = {
#define REPORT_FORMAT(id, name, ending, rows) [REPORT_FORMAT_##id] = rows,
#include "report_format.def"
#undef REPORT_FORMAT
};

int report_format_of_file(const char *path, enum report_format *ret_format, struct error *error)
{
	const size_t length = strlen(path);
	struct buffer endings = {0};

	for (enum report_format i = 0; i < REPORT_FORMAT_COUNT; i++) {
		const size_t ending = strlen(report_format_endings[i]);

		if (length > ending && strcmp(path + length - ending, report_format_endings[i]) == 0) {
			*ret_format = i;
			return 0;
		}
	}
	buffer_append_list(&endings, report_format_endings, REPORT_FORMAT_COUNT, "or");
	error_set(error, -EINVAL, "%s: a report's name ends in %s", path, endings.data);
	buffer_release(&endings);
	return -EINVAL;
}

bool report_format_is_for_people(enum report_format format)
{
	return format == REPORT_FORMAT_TEXT || format == REPORT_FORMAT_MARKDOWN ||
	       format == REPORT_FORMAT_HTML;
}

static const struct dialect *dialect_of(const struct report *report)
{
	return report->dialect != NULL ? report->dialect : &dialect_ctop;
}

const char *report_word(const struct report *report, const char *name)
{
	return dialect_word(dialect_of(report), name, report_format_is_for_people(report->format));
}

const char *report_state_name(const struct cell *cell)
{
	static const char *const names[] = {
		[CELL_EMPTY] = "",
		[CELL_VALUE] = "ok",
		[CELL_ABSENT] = "absent",
		[CELL_UNAVAILABLE] = "unavailable",
	};

	if (cell->state == CELL_VALUE && cell->several)
		return "several";
	if (cell->state == CELL_VALUE && cell->sampled && !cell->partial)
		return "sampled";
	return cell->state == CELL_VALUE && cell->partial ? "partial" : names[cell->state];
}

static bool has_reason(const struct cell *cell)
{
	return cell->state == CELL_UNAVAILABLE || (cell->state == CELL_VALUE && cell->partial);
}

const char *report_reason_name(const struct cell *cell)
{
	return has_reason(cell) ? reason_name(cell->reason) : NULL;
}

const char *report_reason_words(const struct cell *cell)
{
	return has_reason(cell) ? reason_words(cell->reason) : NULL;
}

void report_note_reason(struct report *report, const struct cell *cell)
{
	/* a text with both sides has its marks within */
	bool marked = cell_format_has_partial_mark(cell) || (cell->sides != NULL && has_reason(cell));

	if (cell->state == CELL_UNAVAILABLE || (marked && cell->reason != REASON_LOWER_BOUND))
		report->reasons[cell->reason] = true;
	if (marked)
		report->partial = true;
}

void report_append_left_out(const struct report *report, const struct table *table, const char *begin,
			    const char *quote, const char *end)
{
	const size_t count = table->row_total - table->row_count;

	if (count == 0)
		return;
	buffer_append_text(report->out, begin);
	humanize_counted(report->out, count, "more row");
	buffer_append_format(report->out, " %s left out (%s--limit 0%s prints all)%s",
			     count == 1 ? "is" : "are", quote, quote, end);
}

void report_append_folded(const struct report *report, const struct table *table, const char *begin,
			  const char *quote, const char *end)
{
	char digits[28];

	if (table->row_folded == 0)
		return;
	buffer_append_format(report->out, "%s%s%s did not change measurably", begin,
			     humanize_digits(table->row_folded, digits),
			     table->row_total != 0 ? " more" : "");
	if (table->row_unknown != 0)
		buffer_append_format(report->out, "; %s of them lack%s values on one side",
				     humanize_digits(table->row_unknown, digits),
				     table->row_unknown == 1 ? "s" : "");
	buffer_append_format(report->out, " (%s--all%s prints them)%s", quote, quote, end);
}

static bool is_wanted(const struct capture_fact *fact, enum report_facts which)
{
	const bool host_differs = fact->differs && (fact->flags & CAPTURE_FACT_HOST) != 0;
	const bool is_main = host_differs || (fact->flags & CAPTURE_FACT_MAIN) != 0;

	if (which == REPORT_FACTS_HOST_DIFFERENCES)
		return host_differs;
	return is_main == (which == REPORT_FACTS_MAIN);
}

static struct cell copy_text(struct table *table, const char *text)
{
	return text != NULL ? cell_of_text(arena_duplicate(&table->arena, text, strlen(text)))
			    : (struct cell){.state = CELL_ABSENT};
}

struct table *report_create_facts(const struct report *report, enum report_facts which)
{
	static const char *const names[] = {"fact", "before", "after"};
	struct capture_facts *facts = report->before != NULL
					      ? capture_facts_create(report->before, report->snapshot)
					      : capture_facts_create(report->snapshot, NULL);
	struct table *table = table_create("host-context", 1 + facts->sides);

	for (size_t i = 0; i <= facts->sides; i++) {
		table->columns[i].name = i == 1 && facts->sides == 1 ? "capture" : names[i];
		table->columns[i].left = true;
	}
	for (size_t i = 0; i < facts->count; i++) {
		const struct capture_fact *fact = &facts->items[i];
		struct table_row *row;

		if (!is_wanted(fact, which))
			continue;
		row = table_add_row(table);
		row->mark = fact->differs ? ROW_MARK_MOVER : ROW_MARK_NONE;
		row->cells[0] = copy_text(table, fact->name);
		for (size_t side = 0; side < facts->sides; side++)
			row->cells[1 + side] = copy_text(table, fact->value[side]);
	}
	capture_facts_release(facts);
	return table;
}

static const struct screen_marks *marks_of(const struct report *report)
{
	return report->ascii ? &screen_marks_ascii : &screen_marks_utf8;
}

void report_append_title(const struct report *report, const struct table_column *column,
			 struct buffer *buffer)
{
	if (report->round != NULL)
		screen_format_title(buffer, column, marks_of(report));
	else
		buffer_append_text(buffer, report_word(report, column->name));
}

void report_append_shown(const struct report *report, const struct table_column *column,
			 const struct cell *cell, struct buffer *buffer)
{
	/* a report's columns are as wide as their cells; text.c makes it ASCII where that is asked for */
	static const struct screen_marks marks = {.unavailable = "·",
						  .resolving = "…",
						  .at_least = "≥",
						  .arrow = " → ",
						  .real = "≠",
						  .burst = "≈",
						  .times = "×"};
	const bool for_people = report_format_is_for_people(report->format);

	/* programs read the numbers of a round, and its texts as they are */
	if (report->round != NULL && for_people)
		screen_format_cell_in(buffer, column, cell, marks_of(report));
	else if (for_people && dialect_of(report)->has_own_words)
		screen_format_cell_in(buffer, column, cell, &marks);
	else
		cell_format_cell(buffer, cell);
}

bool report_append_number(const struct report *report, const struct cell *cell)
{
	const double real = cell->value.real;

	if (report->round == NULL || cell->form == CELL_FORM_INTEGER)
		return cell_format_number(report->out, cell);
	switch (cell->form) {
	case CELL_FORM_REAL:
		if (real == 0.0)
			buffer_append_char(report->out, '0');
		else
			buffer_append_format(report->out, fabs(real) < 1.0 ? "%.6g" : "%.3f", real);
		return true;
	case CELL_FORM_RANGE:
		cell_format_range(report->out, cell->value.range.low, cell->value.range.high);
		return true;
	case CELL_FORM_BAR:
		for (size_t i = 0; i < TIME_PART_COUNT; i++)
			buffer_append_format(report->out, "%s%s=%.3f", i > 0 ? ";" : "", table_bar_names[i],
					     (double)cell->value.shares[i]);
		return true;
	default:
		return false;
	}
}

bool report_append_side(struct buffer *buffer, const struct cell *cell, size_t side)
{
	const struct cell *shown = cell->sides != NULL ? &cell->sides[side] : NULL;

	if (shown == NULL || cell->state != CELL_VALUE || shown->state != CELL_VALUE)
		return false;
	if (!cell_format_number(buffer, shown))
		cell_format_cell(buffer, shown);
	return true;
}

void report_append_name(const struct report *report, const char *text, size_t length, const char *kept)
{
	if (report->to_terminal) {
		unicode_append_printable(report->out, text, length, "\uFFFD");
		return;
	}
	while (length != 0) {
		uint32_t character = 0xfffd;
		size_t used = 0;

		/* what most names consist of goes there at once */
		while (used < length && text[used] >= ' ' && text[used] <= '~')
			used++;
		if (used != 0) {
			buffer_append(report->out, text, used);
			text += used;
			length -= used;
			continue;
		}
		used = unicode_decode(text, length, &character);
		if (unicode_is_printable(character) ||
		    (character != 0 && character < 0x80 && strchr(kept, (int)character) != NULL))
			unicode_append(report->out, character);
		else
			buffer_append_format(report->out,
					     character < 0x80      ? "\\x%02" PRIx32
					     : character < 0x10000 ? "\\u%04" PRIx32
								   : "\\U%08" PRIx32,
					     character);
		used = used != 0 ? used : 1;
		text += used;
		length -= used;
	}
}
