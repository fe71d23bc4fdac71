/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "json_text.h"
#include "report_format.h"
#include "table/cell_format.h"
#include "table/screen_format.h"
#include "window/column.h"
#include "window/host_numbers.h"

enum {
	TEXT_CELLS_MAX = 60, /* that a column of texts is widened to */
};

/* The columns that name a row: one, the three parts of AXIS_ALL, or those of a thread. */
struct names {
	const char *items[3];
	size_t count;
	size_t ids; /* how many of them, from the first on, are numbers */
};

/* A round being drawn. */
struct drawing {
	struct report *report;
	struct buffer *buffer; /* of the report */
	const struct view *view;
	struct names names;
	const struct table *table;
	const struct screen_marks *marks;
	const struct round_subject *subject;
	int *widths;       /* of the columns, of text alone */
	const char *waits; /* how the waits for a CPU are counted; NULL: no column counts any */
};

/* Whether unfinished waits for a CPU count up to now, or when they end. */
static const char *waits_word(const struct snapshot *now, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (column_counts_waits((enum column)table->columns[i].column))
			return now->waiting_ns != NULL ? "under-way" : "ended";
	}
	return NULL;
}

static struct names find_names(const struct view *view)
{
	if (view->level == VIEW_LEVEL_THREADS)
		return (struct names){{"tid", "tgid", "thread"}, 3, 2};
	if (view->grouping.axis == AXIS_ALL)
		return (struct names){{"cgroup", "process", "thread"}, 3, 0};
	return (struct names){{"group"}, 1, 0};
}

/* One of the parts of a label, which are separated by NULs. */
static const char *label_part(const struct table_row *row, size_t part, size_t *ret_length)
{
	const char *text = row->label, *end = row->label + row->label_length;

	for (;;) {
		const char *nul = memchr(text, '\0', (size_t)(end - text));

		if (part == 0 || nul == NULL) {
			*ret_length = (size_t)((nul != NULL ? nul : end) - text);
			return text;
		}
		text = nul + 1;
		part--;
	}
}

/* --- text --- */

/* Appends text of the host as the terminal can show it: printable, and ASCII if that is all it knows. */
static void append_shown(const struct drawing *drawing, struct buffer *buffer, const char *text,
			 size_t length)
{
	const size_t start = buffer->length;

	unicode_append_printable(buffer, text, length, drawing->marks->replacement);
	if (drawing->marks == &screen_marks_ascii)
		unicode_reduce_to_ascii(buffer, start);
}

/* Appends the line about the host, where anything is known of it. */
static void append_host(const struct drawing *drawing)
{
	struct buffer line = {0};

	host_append_line(drawing->report->snapshot, drawing->subject->previous, &line);
	if (line.length != 0) {
		append_shown(drawing, drawing->buffer, line.data, line.length);
		buffer_append_char(drawing->buffer, '\n');
	}
	buffer_release(&line);
}

/* Appends the line above the titles: the file, the time, the counts and the span. */
static void append_heading(const struct drawing *drawing)
{
	const struct snapshot *now = drawing->report->snapshot;
	const size_t left_out = drawing->table->row_total - drawing->table->row_count;
	const char *file = drawing->subject->file;
	struct buffer *buffer = drawing->buffer;
	uint64_t interval = drawing->subject->interval_ns;
	char clock[32], digits[28];

	if (file != NULL) {
		append_shown(drawing, buffer, file, strlen(file));
		buffer_append_text(buffer, "  ");
	}
	if (clock_format_local(clock, sizeof(clock), file != NULL ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S",
			       now->captured_at_unix_ns))
		buffer_append_format(buffer, "%s  ", clock);
	humanize_counted(buffer,
			 drawing->view->level == VIEW_LEVEL_GROUPS ? drawing->table->threads
								   : drawing->table->row_total,
			 "thread");
	if (now->provenance.hidden_threads != 0)
		buffer_append_format(buffer, " (at least %s more hidden from BPF)",
				     number_group_digits(now->provenance.hidden_threads, digits));
	if (drawing->view->level == VIEW_LEVEL_GROUPS) {
		buffer_append_text(buffer, ", ");
		humanize_counted(buffer, drawing->table->row_total + drawing->table->row_idle, "group");
		buffer_append_format(buffer, " by %s", axes[drawing->view->grouping.axis].word);
	}
	if (left_out != 0) {
		buffer_append_text(buffer, ", of which ");
		humanize_counted(buffer, left_out, "row");
		buffer_append_text(buffer, " left out (--limit)");
	}
	buffer_append_format(buffer, "  %s", window_mode_names[drawing->view->mode]);
	if (interval != 0 && (file != NULL || drawing->view->mode <= WINDOW_MODE_INTERVAL) &&
	    drawing->view->mode != WINDOW_MODE_TOTAL) {
		buffer_append_text(buffer, " over ");
		humanize_compact(buffer, (double)interval, HUMANIZE_TIME, true);
	}
	if (file != NULL && interval == 0)
		buffer_append_text(buffer, " (one reading; with ctop capture --for 10 there are rates)");
	if (drawing->waits != NULL)
		buffer_append_text(buffer, now->waiting_ns != NULL ? "  includes unfinished waits"
								   : "  finished waits only");
	if (drawing->subject->missing != NULL)
		buffer_append_format(buffer, "  %s", drawing->subject->missing);
	buffer_append_char(buffer, '\n');
}

/* The name of a row as text shows it. */
static void append_label(const struct drawing *drawing, const struct table_row *row, struct buffer *buffer)
{
	const struct names *names = &drawing->names;

	if (names->ids != 0)
		buffer_append_format(buffer, "%-7u ", row->tid);
	for (size_t i = 0; i + names->ids < names->count; i++) {
		size_t length;
		const char *text = label_part(row, i, &length);

		if (i > 0)
			buffer_append_text(buffer, "  ");
		append_shown(drawing, buffer, text, length);
	}
}

/* A cell of the table as text, with a blank before it. */
static void append_column(const struct drawing *drawing, size_t column, const char *text, size_t length)
{
	const struct table_column *columns = drawing->table->columns;

	buffer_append_char(drawing->buffer, ' ');
	report_append_aligned(drawing->buffer, text, length, unicode_width(text, length),
			      drawing->widths[column], columns[column].left,
			      column + 1 == drawing->table->column_count);
}

/* The width of the widest name of this round. */
static int name_width(const struct drawing *drawing, const char *heading)
{
	struct buffer text = {0};
	int width = (int)strlen(heading);

	for (size_t i = 0; i < drawing->table->row_count; i++) {
		int used;

		buffer_clear(&text);
		append_label(drawing, &drawing->table->rows[i], &text);
		used = unicode_width(text.data, text.length);
		width = used > width ? used : width;
	}
	buffer_release(&text);
	return width;
}

/* Texts of the host are as wide as they are, in this round. */
static void measure_columns(const struct drawing *drawing)
{
	const struct table *table = drawing->table;
	struct buffer text = {0};

	for (size_t i = 0; i < table->column_count; i++) {
		int title;

		buffer_clear(&text);
		screen_format_title(&text, &table->columns[i], drawing->marks);
		title = unicode_width(text.data, text.length);
		drawing->widths[i] = title > table->columns[i].width ? title : table->columns[i].width;
		for (size_t row = 0; table->columns[i].foreign && row < table->row_count; row++) {
			int used;

			buffer_clear(&text);
			screen_format_cell_in(&text, &table->columns[i], &table->rows[row].cells[i],
					      drawing->marks);
			used = unicode_width(text.data, text.length);
			/* one long command line moves only its own row */
			if (used > drawing->widths[i] && used <= TEXT_CELLS_MAX)
				drawing->widths[i] = used;
		}
	}
	buffer_release(&text);
}

static void append_titles(const struct drawing *drawing, const char *heading, int width)
{
	const struct table *table = drawing->table;
	struct buffer title = {0};

	buffer_append_format(drawing->buffer, " %-*s", width, heading);
	for (size_t i = 0; i < table->column_count; i++) {
		buffer_clear(&title);
		screen_format_title(&title, &table->columns[i], drawing->marks);
		append_column(drawing, i, title.data, title.length);
	}
	buffer_append_char(drawing->buffer, '\n');
	buffer_release(&title);
}

static void append_text_row(const struct drawing *drawing, const struct table_row *row, int width)
{
	static const char marks[] = {
		[ROW_MARK_NONE] = ' ', [ROW_MARK_NEW] = '+', [ROW_MARK_GONE] = 'x', [ROW_MARK_MOVER] = '^'};
	struct buffer text = {0}, plain = {0};

	buffer_append_char(drawing->buffer, marks[row->mark]);
	append_label(drawing, row, &text);
	report_append_aligned(drawing->buffer, text.data, text.length, unicode_width(text.data, text.length),
			      width, true, false);
	for (size_t i = 0; i < drawing->table->column_count; i++) {
		buffer_clear(&text);
		buffer_clear(&plain);
		report_note_reason(drawing->report, &row->cells[i]);
		screen_format_cell_in(&text, &drawing->table->columns[i], &row->cells[i], drawing->marks);
		append_shown(drawing, &plain, text.data, text.length);
		append_column(drawing, i, plain.data, plain.length);
	}
	buffer_append_char(drawing->buffer, '\n');
	buffer_release(&text);
	buffer_release(&plain);
}

/* "38 idle groups (--all prints them)" */
static void append_idle(const struct drawing *drawing)
{
	const size_t count = drawing->table->row_idle;

	if (count == 0)
		return;
	buffer_append_char(drawing->buffer, ' ');
	humanize_counted(drawing->buffer, count, "idle group");
	buffer_append_format(drawing->buffer, " (--all prints %s)\n", count == 1 ? "it" : "them");
}

/* Whether a row has a cell in one of these states (bits of enum cell_state), in a column of numbers about
 * what its threads did. */
static bool has_state(const struct drawing *drawing, const struct table_row *row, unsigned int states)
{
	for (size_t i = 0; i < drawing->table->column_count; i++) {
		if (drawing->table->columns[i].column != COLUMN_THR && !drawing->table->columns[i].left &&
		    (states >> row->cells[i].state & 1) != 0)
			return true;
	}
	return false;
}

static bool has_values(const struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->table->row_count; i++) {
		if (has_state(drawing, &drawing->table->rows[i], 1U << CELL_VALUE))
			return true;
	}
	return false;
}

/* Appends the rows. Of a tab those that its columns do not apply to are counted: "58 groups without ...". */
static void append_text_rows(const struct drawing *drawing, int width)
{
	const bool prints_all = !drawing->view->fold_idle || drawing->view->columns != NULL;
	const bool some = prints_all || has_values(drawing);
	size_t empty = 0;

	for (size_t i = 0; i < drawing->table->row_count; i++) {
		const struct table_row *row = &drawing->table->rows[i];

		if (prints_all ||
		    (some && has_state(drawing, row, 1U << CELL_VALUE | 1U << CELL_UNAVAILABLE)))
			append_text_row(drawing, row, width);
		else
			empty++;
	}
	if (empty == 0)
		return;
	buffer_append_char(drawing->buffer, ' ');
	humanize_counted(drawing->buffer, empty,
			 drawing->view->level == VIEW_LEVEL_THREADS ? "thread" : "group");
	buffer_append_format(drawing->buffer, " without numbers here (--all prints %s)\n",
			     empty == 1 ? "it" : "them");
}

static void draw_text(struct drawing *drawing)
{
	struct buffer heading = {0};
	int width;

	if (drawing->report->table_count != 0)
		buffer_append_char(drawing->buffer, '\n');
	append_host(drawing);
	append_heading(drawing);
	if (drawing->view->level == VIEW_LEVEL_THREADS)
		buffer_append_text(&heading, "TID     THREAD");
	else
		for (const char *c = axes[drawing->view->grouping.axis].word; *c != '\0'; c++)
			buffer_append_char(&heading, (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c));
	width = name_width(drawing, heading.data);
	drawing->widths = memory_allocate((drawing->table->column_count + 1) * sizeof(*drawing->widths));
	measure_columns(drawing);
	append_titles(drawing, heading.data, width);
	append_text_rows(drawing, width);
	append_idle(drawing);
	free(drawing->widths);
	buffer_release(&heading);
}

/* --- values without units --- */

static void append_shares(struct buffer *buffer, const struct cell *cell)
{
	for (size_t i = 0; i < VALUE_SHARES; i++)
		buffer_append_format(buffer, "%s%s=%.3f", i > 0 ? ";" : "", table_bar_names[i],
				     (double)cell->value.shares[i]);
}

/*
 * A measured number for programs: to a thousandth, and what is smaller than one with six digits, so that
 * nothing but a zero reads as zero.
 */
static void append_real(struct buffer *buffer, double value)
{
	if (value == 0.0)
		buffer_append_char(buffer, '0');
	else
		buffer_append_format(buffer, value > -1.0 && value < 1.0 ? "%.6g" : "%.3f", value);
}

/* The value of a cell with all that is known of it, for programs. */
static void append_raw(struct buffer *buffer, const struct cell *cell)
{
	switch (cell->form) {
	case CELL_FORM_INTEGER:
		buffer_append_u64(buffer, cell->value.integer);
		return;
	case CELL_FORM_REAL:
		append_real(buffer, cell->value.real);
		return;
	case CELL_FORM_RANGE:
		cell_format_range(buffer, cell->value.range.low, cell->value.range.high);
		return;
	case CELL_FORM_BAR:
		append_shares(buffer, cell);
		return;
	case CELL_FORM_TEXT:
		buffer_append_text(buffer, cell->text != NULL ? cell->text : "");
		return;
	}
}

/* --- tsv and csv --- */

static void append_field(const struct drawing *drawing, const char *text, size_t length, bool foreign)
{
	if (drawing->report->format == REPORT_FORMAT_CSV) {
		buffer_append_char(drawing->buffer, ',');
		report_append_csv_field(drawing->report, text, length, foreign);
	} else {
		buffer_append_char(drawing->buffer, '\t');
		report_append_tsv_field(drawing->report, text, length);
	}
}

static void append_header(const struct drawing *drawing)
{
	const struct names *names = &drawing->names;

	buffer_append_text(drawing->buffer, "time_unix_ns");
	for (size_t i = 0; i < names->count; i++)
		append_field(drawing, names->items[i], strlen(names->items[i]), false);
	for (size_t c = 0; c < drawing->table->column_count; c++)
		append_field(drawing, drawing->table->columns[c].name,
			     strlen(drawing->table->columns[c].name), false);
	if (drawing->waits != NULL)
		append_field(drawing, "waits", strlen("waits"), false);
	append_field(drawing, "at_least", strlen("at_least"), false);
	buffer_append_char(drawing->buffer, '\n');
}

/* Appends the names of the columns that are lower bounds in this row, with blanks between them. */
static void append_bounds(const struct drawing *drawing, const struct table_row *row)
{
	struct buffer names = {0};

	for (size_t c = 0; c < drawing->table->column_count; c++) {
		if (cell_format_has_partial_mark(&row->cells[c]))
			buffer_append_format(&names, "%s%s", names.length != 0 ? " " : "",
					     drawing->table->columns[c].name);
	}
	append_field(drawing, names.data != NULL ? names.data : "", names.length, false);
	buffer_release(&names);
}

static void append_separated_row(const struct drawing *drawing, const struct table_row *row)
{
	const struct names *names = &drawing->names;
	struct buffer text = {0};

	buffer_append_u64(drawing->buffer, drawing->report->snapshot->captured_at_unix_ns);
	for (size_t i = 0; i < names->count; i++) {
		if (i < names->ids) {
			buffer_append_format(drawing->buffer, "%c%" PRIu32,
					     drawing->report->format == REPORT_FORMAT_CSV ? ',' : '\t',
					     i == 0 ? row->tid : row->tgid);
		} else {
			size_t length;
			const char *part = label_part(row, i - names->ids, &length);

			append_field(drawing, part, length, true);
		}
	}
	for (size_t c = 0; c < drawing->table->column_count; c++) {
		buffer_clear(&text);
		if (row->cells[c].state == CELL_VALUE)
			append_raw(&text, &row->cells[c]);
		append_field(drawing, text.data, text.length, row->cells[c].form == CELL_FORM_TEXT);
	}
	if (drawing->waits != NULL)
		append_field(drawing, drawing->waits, strlen(drawing->waits), false);
	append_bounds(drawing, row);
	buffer_append_char(drawing->buffer, '\n');
	buffer_release(&text);
}

static void draw_separated(const struct drawing *drawing)
{
	if (drawing->report->table_count == 0)
		append_header(drawing);
	for (size_t i = 0; i < drawing->table->row_count; i++)
		append_separated_row(drawing, &drawing->table->rows[i]);
}

/* --- json --- */

static void append_json_value(struct buffer *buffer, const struct cell *cell)
{
	switch (cell->form) {
	case CELL_FORM_INTEGER:
	case CELL_FORM_REAL:
		append_raw(buffer, cell);
		return;
	case CELL_FORM_RANGE:
		buffer_append_format(buffer, "[%" PRId64 ",%" PRId64 "]", cell->value.range.low,
				     cell->value.range.high);
		return;
	case CELL_FORM_BAR:
		for (size_t i = 0; i < VALUE_SHARES; i++)
			buffer_append_format(buffer, "%s\"%s\":%.3f", i > 0 ? "," : "{", table_bar_names[i],
					     (double)cell->value.shares[i]);
		buffer_append_char(buffer, '}');
		return;
	case CELL_FORM_TEXT:
		if (cell->several)
			buffer_append_u64(buffer, cell->value.integer);
		else
			json_append_text(buffer, cell->text);
		return;
	}
}

static void append_json_cell(const struct drawing *drawing, const struct table_column *column,
			     const struct cell *cell)
{
	struct buffer *buffer = drawing->buffer;

	json_append_name(buffer, column->name);
	buffer_append_text(buffer, "{\"value\":");
	if (cell->state == CELL_VALUE)
		append_json_value(buffer, cell);
	else
		buffer_append_text(buffer, "null");
	buffer_append_format(buffer, ",\"unit\":\"%s\",\"state\":\"%s\"", unit_names[cell->unit],
			     cell->state == CELL_EMPTY ? "absent" : report_state_name(cell));
	if (cell->reason != REASON_READ)
		json_append_member(buffer, "reason", report_reason_name(cell));
	buffer_append_char(buffer, '}');
}

static void append_json_row(const struct drawing *drawing, const struct table_row *row)
{
	const struct names *names = &drawing->names;
	struct buffer *buffer = drawing->buffer;

	for (size_t i = 0; i < names->count; i++) {
		buffer_append_format(buffer, "%c\"%s\":", i > 0 ? ',' : '{', names->items[i]);
		if (i < names->ids) {
			buffer_append_u64(buffer, i == 0 ? row->tid : row->tgid);
		} else {
			size_t length;
			const char *part = label_part(row, i - names->ids, &length);

			json_append_string(buffer, part, length);
		}
	}
	if (row->is_own)
		buffer_append_text(buffer, ",\"own\":true");
	if (drawing->view->level == VIEW_LEVEL_GROUPS)
		buffer_append_format(buffer, ",\"threads\":%" PRIu32, row->threads);
	for (size_t c = 0; c < drawing->table->column_count; c++) {
		if (drawing->table->columns[c].column != COLUMN_THR)
			append_json_cell(drawing, &drawing->table->columns[c], &row->cells[c]);
	}
	buffer_append_char(buffer, '}');
}

static void draw_json(const struct drawing *drawing)
{
	struct buffer *buffer = drawing->buffer;

	buffer_append_format(buffer,
			     "{\"time_unix_ns\":%" PRIu64 ",\"interval_ns\":%" PRIu64 ",\"mode\":\"%s\"",
			     drawing->report->snapshot->captured_at_unix_ns, drawing->subject->interval_ns,
			     window_mode_names[drawing->view->mode]);
	if (drawing->waits != NULL)
		buffer_append_format(buffer, ",\"waits\":\"%s\"", drawing->waits);
	buffer_append_text(buffer, ",\"rows\":[");
	for (size_t i = 0; i < drawing->table->row_count; i++) {
		if (i > 0)
			buffer_append_char(buffer, ',');
		append_json_row(drawing, &drawing->table->rows[i]);
	}
	buffer_append_text(buffer, "]}\n");
}

void report_round(struct report *report, const struct round_subject *subject, const struct view *view,
		  const struct table *table)
{
	struct drawing drawing = {
		.report = report,
		.buffer = report->out,
		.view = view,
		.names = find_names(view),
		.table = table,
		.marks = report->ascii ? &screen_marks_ascii : &screen_marks_utf8,
		.subject = subject,
		.waits = waits_word(report->snapshot, table),
	};

	if (report->format == REPORT_FORMAT_JSON)
		draw_json(&drawing);
	else if (report->format == REPORT_FORMAT_TEXT)
		draw_text(&drawing);
	else
		draw_separated(&drawing);
	report->table_count++;
}
