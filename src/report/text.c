/* SPDX-License-Identifier: GPL-2.0-only */
/* Aligned columns for people: a heading for each section, names made safe for a terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "report_format.h"
#include "table/cell_format.h"

enum {
	LEFT_COLUMN_MAX = 56, /* cells; a longer name shifts the cells to its right */
	LEFT_COLUMN_MIN = 12, /* cells that wrapping leaves to a column of names */
	GAP = 2,              /* blanks between columns */
	INDENT = 2,           /* blanks for each level of a tree */
};

/* Appends text as the terminal can show it. Where it knows ASCII alone, the arrow between two values takes
 * two. */
static void append_safe(const struct report *report, struct buffer *buffer, const char *text, size_t length)
{
	static const char arrow[] = "→";

	while (report->ascii && length != 0) {
		const char *next = memmem(text, length, arrow, strlen(arrow));
		const size_t part = next != NULL ? (size_t)(next - text) : length, start = buffer->length;

		unicode_append_printable(buffer, text, part, "?");
		unicode_reduce_to_ascii(buffer, start);
		if (next == NULL)
			return;
		buffer_append_text(buffer, "->");
		text = next + strlen(arrow);
		length -= part + strlen(arrow);
	}
	unicode_append_printable(buffer, text, length, "\uFFFD");
}

static void append_text(const struct report *report, struct buffer *buffer, const char *text)
{
	append_safe(report, buffer, text, strlen(text));
}

/* The printed form of a cell, into the emptied `buffer`; returns its width in cells. */
static int print_cell(const struct report *report, struct buffer *buffer, const struct cell *cell)
{
	struct buffer printed = {0};

	buffer_clear(buffer);
	cell_format_cell(&printed, cell);
	append_safe(report, buffer, printed.data, printed.length);
	buffer_release(&printed);
	return unicode_width(buffer->data, buffer->length);
}

static int *measure_columns(struct report *report, const struct table *table, struct buffer *scratch)
{
	int *widths = memory_allocate_zero(table->column_count + 1, sizeof(*widths));

	for (size_t i = 0; i < table->column_count; i++) {
		const char *name = report_word(report, table->columns[i].name);

		widths[i] = unicode_width(name, strlen(name));
	}
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < table->column_count && !table->rows[row].heading; i++) {
			int width = print_cell(report, scratch, &table->rows[row].cells[i]);

			if (i == 0)
				width += INDENT * table->rows[row].depth;
			report_note_reason(report, &table->rows[row].cells[i]);
			if (width > widths[i] && (!table->columns[i].left || width <= LEFT_COLUMN_MAX))
				widths[i] = width;
		}
	}
	return widths;
}

/* Narrows the widest columns of names until the lines fit. */
static void narrow_columns(const struct table *table, int wrap_width, int widths[])
{
	int excess = -wrap_width - GAP;

	for (size_t i = 0; i < table->column_count; i++)
		excess += widths[i] + GAP;
	while (excess > 0) {
		size_t widest = SIZE_MAX;

		for (size_t i = 0; i < table->column_count; i++) {
			if (table->columns[i].left && widths[i] > LEFT_COLUMN_MIN &&
			    (widest == SIZE_MAX || widths[i] > widths[widest]))
				widest = i;
		}
		if (widest == SIZE_MAX)
			return;
		widths[widest]--;
		excess--;
	}
}

static void draw_header(const struct report *report, const struct table *table, const int widths[])
{
	struct buffer *out = report->out;

	for (size_t i = 0; i < table->column_count; i++) {
		const char *name = report_word(report, table->columns[i].name);

		report_append_aligned(out, name, strlen(name), unicode_width(name, strlen(name)), widths[i],
				      table->columns[i].left, i + 1 == table->column_count);
		report_append_blanks(out, i + 1 == table->column_count ? 0 : GAP);
	}
	buffer_append_char(out, '\n');
}

/*
 * Draws one line of a row. Of a name it draws what fits, from byte `done` of its column on, and moves that;
 * with `done` NULL it draws all. Returns whether another line is needed.
 */
static bool draw_line(struct report *report, const struct table *table, const struct table_row *row,
		      const int widths[], size_t done[], struct buffer *scratch)
{
	int indent = INDENT * row->depth;
	size_t column_count = row->heading ? 1 : table->column_count;
	bool more = false;

	report_append_blanks(report->out, indent);
	for (size_t i = 0; i < column_count; i++) {
		int width = print_cell(report, scratch, &row->cells[i]);
		int room = (row->heading ? report->wrap_width : widths[i]) - (i == 0 ? indent : 0);
		size_t start = 0, length = scratch->length;

		if (done != NULL && table->columns[i].left && length != 0) {
			start = done[i];
			length = unicode_prefix(scratch->data + start, length - start,
						room > LEFT_COLUMN_MIN ? room : LEFT_COLUMN_MIN, &width);
			done[i] += length;
			more |= done[i] < scratch->length;
		} else if (done != NULL && done[i]++ != 0) {
			length = 0;
			width = 0;
		}
		report_append_aligned(report->out, scratch->data + start, length, width, room,
				      table->columns[i].left, i + 1 == column_count);
		report_append_blanks(report->out, i + 1 == column_count ? 0 : GAP);
	}
	while (report->out->length != 0 && report->out->data[report->out->length - 1] == ' ')
		report->out->length--;
	buffer_append_char(report->out, '\n');
	return more;
}

static void draw_row(struct report *report, const struct table *table, const struct table_row *row,
		     const int widths[], struct buffer *scratch)
{
	size_t *done = report->wrap_width != 0 ? memory_allocate_zero(table->column_count + 1, sizeof(*done))
					       : NULL;

	while (draw_line(report, table, row, widths, done, scratch))
		;
	free(done);
}

static void draw_table(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;
	struct buffer scratch = {0};
	int *widths = measure_columns(report, table, &scratch);

	if (report->wrap_width != 0)
		narrow_columns(table, report->wrap_width, widths);
	if (report->table_count != 0 || report->snapshot != NULL)
		buffer_append_char(out, '\n');
	buffer_append_text(out, "## ");
	append_text(report, out,
		    table->heading != NULL ? table->heading : report_word(report, table->section));
	buffer_append_char(out, '\n');
	draw_header(report, table, widths);
	for (size_t row = 0; row < table->row_count; row++)
		draw_row(report, table, &table->rows[row], widths, &scratch);
	if (table->row_total > table->row_count)
		buffer_append_format(out, "... %zu more lines truncated (use --limit 0 for unlimited)\n",
				     table->row_total - table->row_count);
	report_append_folded(report, table, "", "", "\n");
	free(widths);
	buffer_release(&scratch);
}

/* One line about a file. */
static void append_file(const struct report *report, const char *file, const struct snapshot *snapshot)
{
	append_text(report, report->out, file);
	buffer_append_text(report->out, ": ");
	humanize_counted(report->out, snapshot->thread_count, "thread");
}

static void append_when(const struct report *report, const struct snapshot *snapshot)
{
	struct buffer when = {0};

	humanize_utc(&when, snapshot->captured_at_unix_ns);
	if (when.length != 0)
		buffer_append_format(report->out, ", captured %s", when.data);
	buffer_release(&when);
}

static void append_side(const struct report *report, const char *side, const char *file,
			const struct snapshot *snapshot)
{
	const struct host *host = &snapshot->host;

	buffer_append_format(report->out, "%-6s  ", side);
	append_file(report, file, snapshot);
	append_when(report, snapshot);
	if (snapshot->provenance.hostname != NULL) {
		buffer_append_text(report->out, ", ");
		append_text(report, report->out, snapshot->provenance.hostname);
	}
	if (host->kernel_release != NULL) {
		buffer_append_text(report->out, ", ");
		append_text(report, report->out, host->kernel_name != NULL ? host->kernel_name : "kernel");
		buffer_append_char(report->out, ' ');
		append_text(report, report->out, host->kernel_release);
	}
	buffer_append_char(report->out, '\n');
}

static void append_banner(const struct report *report, const struct report_subject *subject)
{
	const struct comparability *comparability = subject->comparability;
	struct buffer *out = report->out;

	for (size_t i = 0; comparability != NULL && i < comparability->count; i++) {
		buffer_append_format(out,
				     "%s: ", comparability_severity_names[comparability->rows[i].severity]);
		append_text(report, out, comparability->rows[i].text);
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < subject->rule_count; i++) {
		buffer_append_text(out, subject->rules[i].broken ? "rule broken: " : "rule kept: ");
		append_text(report, out, subject->rules[i].text);
		buffer_append_char(out, '\n');
	}
}

static void draw_paragraph(const struct report *report, const char *text)
{
	buffer_append_char(report->out, '\n');
	append_text(report, report->out, text);
	buffer_append_char(report->out, '\n');
}

static void append_changes(const struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	if (subject->changes != NULL && subject->changes->count != 0)
		buffer_append_text(out, "\nlargest changes:\n");
	for (size_t i = 0; subject->changes != NULL && i < subject->changes->count; i++) {
		buffer_append_format(out, "%3zu. ", i + 1);
		append_text(report, out, subject->changes->items[i]);
		buffer_append_char(out, '\n');
	}
	if (subject->order != NULL)
		draw_paragraph(report, subject->order);
}

static void begin_comparison(struct report *report, const struct report_subject *subject)
{
	struct table *table = report_create_facts(report, REPORT_FACTS_HOST_DIFFERENCES);

	append_side(report, "before", subject->before_file, report->before);
	append_side(report, "after", subject->file, report->snapshot);
	append_banner(report, subject);
	append_changes(report, subject);
	if (table->row_count != 0)
		draw_table(report, table);
	table_release(table);
}

static void begin(struct report *report, const struct report_subject *subject)
{
	if (report->snapshot == NULL)
		return;
	if (report->before != NULL) {
		begin_comparison(report, subject);
		return;
	}
	append_file(report, subject->file, report->snapshot);
	buffer_append_format(report->out, " by %s", report_word(report, subject->group_by));
	append_when(report, report->snapshot);
	buffer_append_char(report->out, '\n');
}

const struct report_format_entry report_text = {begin, draw_table, draw_paragraph, NULL};
