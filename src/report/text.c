/* SPDX-License-Identifier: GPL-2.0-only */
/* Aligned columns for people: a heading for each section, names made safe for a terminal. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "report_format.h"
#include "table/screen_format.h"

enum {
	NAME_MOST = 56,    /* widest column of names, in cells; a longer name shifts the cells to its right */
	FOREIGN_MOST = 60, /* widest column of other texts of the host in the table of a round */
	NAME_WANTED = 32,  /* cells that a name gets before other columns get room in a narrow terminal */
	NAME_LEAST = 12,   /* narrowest column of names */
	GAP = 2,           /* blanks between columns */
	MARK_ROOM = 2,     /* cells of the mark of groups that broke a rule */
	NO_ROOM = -1,      /* width of a column that is left out */
};

/* Appends text made safe for the terminal. In ASCII the arrow between two values has two characters. */
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

static void append_text(const struct report *report, const char *text)
{
	append_safe(report, report->out, text, strlen(text));
}

static void append_line(const struct report *report, const char *line)
{
	append_text(report, line);
	buffer_append_char(report->out, '\n');
}

/*
 * Replaces the content of `buffer` by a printed cell, or by its column's title for NULL, and returns its
 * width. A bounded line cuts what is wider than `room`.
 */
static int print_cell(const struct report *report, const struct table_column *column, const struct cell *cell,
		      int room, struct buffer *buffer)
{
	const char *mark = report->ascii ? screen_marks_ascii.middle : screen_marks_utf8.middle;
	struct buffer printed = {0}, safe = {0};

	if (cell != NULL)
		report_append_shown(report, column, cell, &printed);
	else
		report_append_title(report, column, &printed);
	append_safe(report, &safe, printed.data, printed.length);
	buffer_clear(buffer);
	unicode_append_middle(buffer, safe.data, safe.length, report->width != 0 ? room : INT_MAX, mark);
	buffer_release(&printed);
	buffer_release(&safe);
	return unicode_width(buffer->data, buffer->length);
}

/* The width up to which a column grows with its cells; a wider cell shifts those to its right. */
static int widest(const struct report *report, const struct table *table, size_t index)
{
	const struct table_column *column = &table->columns[index];

	if (report->round == NULL)
		return column->left && report->width == 0 ? NAME_MOST : INT_MAX;
	if (index < table->name_count)
		return INT_MAX;
	return column->foreign ? FOREIGN_MOST : 0;
}

static int measure_column(const struct report *report, const struct table *table, size_t index,
			  struct buffer *scratch)
{
	const struct table_column *column = &table->columns[index];
	const int most = widest(report, table, index);
	int width = print_cell(report, column, NULL, INT_MAX, scratch);

	if (report->round != NULL && width < column->width)
		width = column->width;
	for (size_t i = 0; i < table->row_count && width < most; i++) {
		const int used = print_cell(report, column, &table->rows[i].cells[index], INT_MAX, scratch);

		if (used > width && used <= most)
			width = used;
	}
	return width;
}

struct drawing {
	struct report *report;
	const struct table *table;
	bool has_marks;     /* lines begin with room for the mark of groups that broke a rule */
	int *widths;        /* by column, in cells, or NO_ROOM */
	struct buffer text; /* scratch: the cell being drawn */
};

/* The width of a line whose names have at most `name_most` cells. */
static int line_width(const struct drawing *drawing, int name_most)
{
	const struct table *table = drawing->table;
	int line = -GAP;

	for (size_t i = 0; i < table->column_count; i++) {
		const int width = drawing->widths[i];

		if (width != NO_ROOM)
			line += GAP + (table->columns[i].left && width > name_most ? name_most : width);
	}
	return line;
}

/* Rates what a column says about changes: 0 nothing, 1 that sides differ, 2 that a change is real or a burst.
 * Both sides of a column that has them in any case say nothing. */
static int importance(const struct table *table, size_t column)
{
	int most = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cell = &table->rows[i].cells[column];
		const int own = cell->verdict >= CELL_VERDICT_BURST ? 2 : 1;

		if (cell->sides != NULL && !table->columns[column].sides && own > most)
			most = own;
	}
	return most;
}

/* The last of the least important columns, names aside; SIZE_MAX if only one is left. */
static size_t least_important(const struct drawing *drawing)
{
	size_t found = SIZE_MAX, count = 0;
	int least = INT_MAX;

	for (size_t i = 0; i < drawing->table->column_count; i++) {
		if (drawing->table->columns[i].left || drawing->table->columns[i].stays ||
		    drawing->widths[i] == NO_ROOM)
			continue;
		count++;
		if (importance(drawing->table, i) <= least) {
			least = importance(drawing->table, i);
			found = i;
		}
	}
	return count > 1 ? found : SIZE_MAX;
}

static size_t widest_name(const struct drawing *drawing)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < drawing->table->column_count; i++) {
		if (drawing->table->columns[i].left && drawing->widths[i] > NAME_LEAST &&
		    (found == SIZE_MAX || drawing->widths[i] > drawing->widths[found]))
			found = i;
	}
	return found;
}

/* Makes lines fit into `room` cells: leaves out columns, then narrows names. */
static void fit_columns(const struct drawing *drawing, int room)
{
	size_t index;

	while (line_width(drawing, NAME_WANTED) > room && (index = least_important(drawing)) != SIZE_MAX)
		drawing->widths[index] = NO_ROOM;
	while (line_width(drawing, INT_MAX) > room && (index = widest_name(drawing)) != SIZE_MAX)
		drawing->widths[index]--;
}

static void append_blanks(struct buffer *buffer, int count)
{
	if (count > 0)
		buffer_append_format(buffer, "%*s", count, "");
}

/* Draws a row, or the titles for NULL. */
static void draw_row(struct drawing *drawing, const struct table_row *row)
{
	static const char marks[] = {
		[ROW_MARK_NONE] = ' ', [ROW_MARK_NEW] = '+', [ROW_MARK_GONE] = 'x', [ROW_MARK_MOVER] = '^'};
	struct report *report = drawing->report;
	struct buffer *out = report->out, *text = &drawing->text;

	if (report->round != NULL)
		buffer_append_char(out, row != NULL ? marks[row->mark] : ' ');
	if (drawing->has_marks)
		buffer_append_text(out, row != NULL && row->broke_rule ? "! " : "  ");
	for (size_t i = 0; i < drawing->table->column_count; i++) {
		const struct table_column *column = &drawing->table->columns[i];
		const int room = drawing->widths[i];
		int width;

		if (room == NO_ROOM)
			continue;
		if (row != NULL)
			report_note_reason(report, &row->cells[i]);
		width = print_cell(report, column, row != NULL ? &row->cells[i] : NULL, room, text);
		append_blanks(out, i == 0 ? 0 : report->round != NULL ? 1 : GAP);
		append_blanks(out, column->left ? 0 : room - width);
		buffer_append(out, text->data, text->length);
		append_blanks(out, column->left ? room - width : 0);
	}
	while (out->length != 0 && out->data[out->length - 1] == ' ')
		out->length--;
	buffer_append_char(out, '\n');
}

static void draw_heading(const struct report *report, const struct table *table)
{
	const struct report_round *round = report->round;

	if (report->table_count != 0 || (round == NULL && report->snapshot != NULL))
		buffer_append_char(report->out, '\n');
	if (round != NULL) {
		if (round->host != NULL)
			append_line(report, round->host);
		append_line(report, round->heading);
	} else {
		buffer_append_text(report->out, "## ");
		append_line(report,
			    table->heading != NULL ? table->heading : report_word(report, table->section));
	}
}

/* Names the columns that the terminal is too narrow for. */
static void draw_left_out(const struct drawing *drawing)
{
	const struct report *report = drawing->report;
	const char *before = "no room for ";

	for (size_t i = 0; i < drawing->table->column_count; i++) {
		if (drawing->widths[i] != NO_ROOM)
			continue;
		buffer_append_text(report->out, before);
		append_text(report, report_word(report, drawing->table->columns[i].name));
		before = ", ";
	}
	if (before[0] == ',')
		buffer_append_text(report->out, " (a pipe or a file has all columns)\n");
}

static void draw_footing(const struct drawing *drawing)
{
	const struct report *report = drawing->report;
	const struct table *table = drawing->table;

	if (report->round != NULL) {
		buffer_append_text(report->out, report->round->footing != NULL ? report->round->footing : "");
		return;
	}
	if (table->row_total > table->row_count)
		buffer_append_format(report->out,
				     "... %zu more lines truncated (use --limit 0 for unlimited)\n",
				     table->row_total - table->row_count);
	if (drawing->has_marks)
		buffer_append_text(report->out, "! broke a rule\n");
	report_append_folded(report, table, "", "", "\n");
	draw_left_out(drawing);
}

static bool has_marks(const struct table *table)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].broke_rule)
			return true;
	}
	return false;
}

static void draw_table(struct report *report, const struct table *table)
{
	struct drawing drawing = {
		.report = report,
		.table = table,
		.has_marks = has_marks(table),
		.widths = memory_allocate_zero(table->column_count + 1, sizeof(*drawing.widths)),
	};

	for (size_t i = 0; i < table->column_count; i++)
		drawing.widths[i] = measure_column(report, table, i, &drawing.text);
	if (report->width != 0)
		fit_columns(&drawing, report->width - (drawing.has_marks ? MARK_ROOM : 0));
	draw_heading(report, table);
	draw_row(&drawing, NULL);
	for (size_t i = 0; i < table->row_count; i++) {
		if (!table->rows[i].empty)
			draw_row(&drawing, &table->rows[i]);
	}
	draw_footing(&drawing);
	free(drawing.widths);
	buffer_release(&drawing.text);
}

static void append_file(const struct report *report, const char *file, const struct snapshot *snapshot)
{
	append_text(report, file);
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
		append_text(report, snapshot->provenance.hostname);
	}
	if (host->kernel_release != NULL) {
		buffer_append_text(report->out, ", ");
		append_text(report, host->kernel_name != NULL ? host->kernel_name : "kernel");
		buffer_append_char(report->out, ' ');
		append_text(report, host->kernel_release);
	}
	buffer_append_char(report->out, '\n');
}

static void append_banner(const struct report *report, const struct report_subject *subject)
{
	const struct comparability *comparability = subject->comparability;

	for (size_t i = 0; comparability != NULL && i < comparability->count; i++) {
		append_text(report, comparability_severity_names[comparability->rows[i].severity]);
		buffer_append_text(report->out, ": ");
		append_line(report, comparability->rows[i].text);
	}
	for (size_t i = 0; i < subject->rule_count; i++) {
		buffer_append_format(report->out, "rule %s: ", diff_rule_results[subject->rules[i].result]);
		append_line(report, subject->rules[i].text);
	}
}

static void draw_paragraph(const struct report *report, const char *text)
{
	buffer_append_char(report->out, '\n');
	append_line(report, text);
}

static void draw_changes(const struct report *report, const struct diff_summary *changes)
{
	if (changes == NULL)
		return;
	if (changes->nothing != NULL) {
		draw_paragraph(report, changes->nothing);
		return;
	}
	buffer_append_text(report->out, "\nlargest changes:\n");
	for (size_t i = 0; i < changes->count; i++) {
		buffer_append_format(report->out, "%3zu. ", i + 1);
		append_line(report, changes->items[i]);
	}
}

static void begin_comparison(struct report *report, const struct report_subject *subject)
{
	struct table *table = report_create_facts(report, REPORT_FACTS_HOST_DIFFERENCES);

	append_side(report, "before", subject->before_file, report->before);
	append_side(report, "after", subject->file, report->snapshot);
	append_banner(report, subject);
	if (report->to_terminal)
		report->changes = subject->changes;
	else
		draw_changes(report, subject->changes);
	if (subject->order != NULL)
		draw_paragraph(report, subject->order);
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

/* On a terminal the largest changes come last, since the beginning soon scrolls away. */
static void end(struct report *report)
{
	draw_changes(report, report->changes);
}

const struct report_format_entry report_text = {begin, draw_table, draw_paragraph, end};
