/* SPDX-License-Identifier: GPL-2.0-only */
#include "batch_output.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "report/json_text.h"
#include "base/number.h"
#include "base/unicode.h"
#include "view/column.h"
#include "table/screen_format.h"
#include "report/report.h"

const char *const batch_format_names[BATCH_FORMAT_COUNT + 1] = {
	[BATCH_FORMAT_TEXT] = "text",
	[BATCH_FORMAT_TSV] = "tsv",
	[BATCH_FORMAT_CSV] = "csv",
	[BATCH_FORMAT_JSON] = "json",
};

/* A round being printed. */
struct round_output {
	struct session *session;
	const struct view *view;
	const struct table *table;
	enum batch_format format;
	const struct screen_marks *marks;
	bool to_terminal; /* tsv and csv: no control characters */
	struct buffer *buffer;
};

enum {
	NAME_PARTS_MAX = 3
};

/* The columns that name a row: one, or the three parts of AXIS_ALL, or the ids and name of a thread. */
struct name_columns {
	const char *names[NAME_PARTS_MAX];
	size_t count;
};

static struct name_columns name_columns(const struct view *view)
{
	if (view->level == VIEW_LEVEL_THREADS)
		return (struct name_columns){{"tid", "tgid", "thread"}, 3};
	if (view->grouping.axis == AXIS_ALL)
		return (struct name_columns){{"cgroup", "process", "thread"}, 3};
	return (struct name_columns){{"group"}, 1};
}

/* The `part`-th piece of a label whose pieces stand with NULs between. */
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

/* When, how much, over which span. */
static void append_heading(const struct round_output *output)
{
	const struct snapshot *now = session_now(output->session);
	time_t seconds = (time_t)(now->captured_at_unix_ns / NS_PER_S);
	struct buffer *buffer = output->buffer;
	uint64_t interval = session_interval_ns(output->session);
	char clock[16], threads[28];
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	buffer_append_format(buffer, "%s  %s thread%s", clock,
			     number_group_digits(now->thread_count, threads),
			     now->thread_count == 1 ? "" : "s");
	if (output->view->level == VIEW_LEVEL_GROUPS)
		buffer_append_format(buffer, ", %zu group%s by %s", output->table->row_total,
				     output->table->row_total == 1 ? "" : "s",
				     axes[output->view->grouping.axis].word);
	buffer_append_format(buffer, "  %s", view_mode_names[output->view->mode]);
	if (interval != 0 && output->view->mode <= VIEW_MODE_INTERVAL) {
		buffer_append_text(buffer, " over ");
		screen_format_duration(buffer, (double)interval);
	}
	buffer_append_char(buffer, '\n');
}

/* Text of the host as the terminal of this locale shows it: all printable, all ASCII where it knows no more.
 */
static void append_shown(const struct round_output *output, struct buffer *buffer, const char *text,
			 size_t length)
{
	size_t start = buffer->length, to = start;

	unicode_append_printable(buffer, text, length, output->marks->replacement);
	if (output->marks != &screen_marks_ascii)
		return;
	for (size_t from = start; from < buffer->length; from++) {
		if ((buffer->data[from] & 0x80) == 0)
			buffer->data[to++] = buffer->data[from];
		else if ((buffer->data[from] & 0xc0) != 0x80) /* the first byte of a character */
			buffer->data[to++] = '?';
	}
	buffer->length = to;
}

/* The name of a row as text shows it. */
static void append_label(const struct round_output *output, const struct table_row *row,
			 struct buffer *buffer)
{
	size_t parts = output->view->level == VIEW_LEVEL_GROUPS ? name_columns(output->view).count : 1;

	if (output->view->level == VIEW_LEVEL_THREADS)
		buffer_append_format(buffer, "%-7u ", row->tid);
	for (size_t i = 0; i < parts; i++) {
		size_t length;
		const char *text = label_part(row, i, &length);

		if (i > 0)
			buffer_append_text(buffer, "  ");
		append_shown(output, buffer, text, length);
	}
}

static void append_blanks(struct buffer *buffer, int count)
{
	while (count-- > 0)
		buffer_append_char(buffer, ' ');
}

/* A text in `width` cells, on the left or the right, with a blank before. */
static void append_aligned(struct buffer *buffer, const struct buffer *text, int width, bool left, bool last)
{
	int used = unicode_width(text->data != NULL ? text->data : "", text->length);

	buffer_append_char(buffer, ' ');
	if (!left)
		append_blanks(buffer, width - used);
	buffer_append(buffer, text->data != NULL ? text->data : "", text->length);
	if (left && !last)
		append_blanks(buffer, width - used);
}

/* How wide the names and each column are in this round; the caller frees nothing. */
static int name_width(const struct round_output *output, const char *heading)
{
	struct buffer text = {0};
	int width = (int)strlen(heading);

	for (size_t i = 0; i < output->table->row_count; i++) {
		int used;

		buffer_clear(&text);
		append_label(output, &output->table->rows[i], &text);
		used = unicode_width(text.data, text.length);
		width = used > width ? used : width;
	}
	buffer_release(&text);
	return width;
}

static void append_titles(const struct round_output *output, const char *heading, int width)
{
	struct buffer *buffer = output->buffer;
	struct buffer text = {0};

	buffer_append_char(buffer, ' ');
	buffer_append_text(buffer, heading);
	append_blanks(buffer, width - (int)strlen(heading));
	for (size_t c = 0; c < output->table->column_count; c++) {
		const struct table_column *column = &output->table->columns[c];

		buffer_clear(&text);
		buffer_append_text(&text, column->title);
		append_aligned(buffer, &text, column->width, column->left,
			       c + 1 == output->table->column_count);
	}
	buffer_append_char(buffer, '\n');
	buffer_release(&text);
}

static void append_text_row(const struct round_output *output, const struct table_row *row, int width)
{
	static const char marks[] = {
		[ROW_MARK_NONE] = ' ', [ROW_MARK_NEW] = '+', [ROW_MARK_GONE] = 'x', [ROW_MARK_MOVER] = '^'};
	struct buffer *buffer = output->buffer;
	struct buffer text = {0}, plain = {0};

	buffer_append_char(buffer, marks[row->mark]);
	append_label(output, row, &text);
	buffer_append(buffer, text.data != NULL ? text.data : "", text.length);
	append_blanks(buffer, width - unicode_width(text.data != NULL ? text.data : "", text.length));
	for (size_t c = 0; c < output->table->column_count; c++) {
		const struct table_column *column = &output->table->columns[c];

		buffer_clear(&text);
		buffer_clear(&plain);
		screen_format_cell(&text, &row->cells[c], output->marks);
		append_shown(output, &plain, text.data != NULL ? text.data : "", text.length);
		append_aligned(buffer, &plain, column->width, column->left,
			       c + 1 == output->table->column_count);
	}
	buffer_append_char(buffer, '\n');
	buffer_release(&text);
	buffer_release(&plain);
}

static void append_text(const struct round_output *output, bool first)
{
	bool by_thread = output->view->level == VIEW_LEVEL_THREADS;
	struct buffer heading = {0};
	int width;

	if (!first)
		buffer_append_char(output->buffer, '\n');
	append_heading(output);
	if (by_thread)
		buffer_append_text(&heading, "TID     THREAD");
	else
		for (const char *c = axes[output->view->grouping.axis].word; *c != '\0'; c++)
			buffer_append_char(&heading, (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c));
	width = name_width(output, heading.data);
	append_titles(output, heading.data, width);
	for (size_t i = 0; i < output->table->row_count; i++)
		append_text_row(output, &output->table->rows[i], width);
	buffer_release(&heading);
}

/* --- values without units --- */

static void append_shares(struct buffer *buffer, const struct cell *cell)
{
	for (size_t i = 0; i < CELL_BAR_SHARES; i++)
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
		buffer_append_i64(buffer, cell->value.range.low);
		if (cell->value.range.high == cell->value.range.low)
			return;
		buffer_append_text(buffer, "..");
		buffer_append_i64(buffer, cell->value.range.high);
		return;
	case CELL_FORM_BAR:
		append_shares(buffer, cell);
		return;
	case CELL_FORM_TEXT:
	case CELL_FORM_SIDES:
		buffer_append_text(buffer, cell->text != NULL ? cell->text : "");
		return;
	}
}

/* --- tsv and csv --- */

static void append_field(const struct round_output *output, const char *text, size_t length)
{
	if (output->format == BATCH_FORMAT_CSV) {
		buffer_append_char(output->buffer, ',');
		report_append_csv_field(output->buffer, text, length, output->to_terminal);
	} else {
		buffer_append_char(output->buffer, '\t');
		report_append_tsv_field(output->buffer, text, length, output->to_terminal);
	}
}

static void append_header(const struct round_output *output)
{
	struct name_columns names = name_columns(output->view);

	buffer_append_text(output->buffer, "time_unix_ns");
	for (size_t i = 0; i < names.count; i++)
		append_field(output, names.names[i], strlen(names.names[i]));
	for (size_t c = 0; c < output->table->column_count; c++)
		append_field(output, output->table->columns[c].name, strlen(output->table->columns[c].name));
	buffer_append_char(output->buffer, '\n');
}

static void append_separated_row(const struct round_output *output, const struct table_row *row)
{
	struct name_columns names = name_columns(output->view);
	struct buffer text = {0};

	buffer_append_u64(output->buffer, session_now(output->session)->captured_at_unix_ns);
	for (size_t i = 0; i < names.count; i++) {
		bool is_thread = output->view->level == VIEW_LEVEL_THREADS;
		size_t length;
		const char *part = label_part(row, is_thread ? 0 : i, &length);

		buffer_clear(&text);
		if (is_thread && i < 2)
			buffer_append_u64(&text, i == 0 ? row->tid : row->tgid);
		else
			buffer_append(&text, part, length);
		append_field(output, text.data != NULL ? text.data : "", text.length);
	}
	for (size_t c = 0; c < output->table->column_count; c++) {
		buffer_clear(&text);
		if (row->cells[c].state == CELL_VALUE)
			append_raw(&text, &row->cells[c]);
		append_field(output, text.data != NULL ? text.data : "", text.length);
	}
	buffer_append_char(output->buffer, '\n');
	buffer_release(&text);
}

static void append_separated(const struct round_output *output, bool first)
{
	if (first)
		append_header(output);
	for (size_t i = 0; i < output->table->row_count; i++)
		append_separated_row(output, &output->table->rows[i]);
}

/* --- json --- */

static const char *state_name(const struct cell *cell)
{
	switch (cell->state) {
	case CELL_VALUE:
		return cell->partial ? "partial" : "ok";
	case CELL_UNAVAILABLE:
		return "unavailable";
	default:
		return "absent";
	}
}

static void append_json_value(struct buffer *buffer, const struct cell *cell)
{
	switch (cell->form) {
	case CELL_FORM_INTEGER:
	case CELL_FORM_REAL:
		append_raw(buffer, cell);
		return;
	case CELL_FORM_RANGE:
		buffer_append_format(buffer, "[%lld,%lld]", (long long)cell->value.range.low,
				     (long long)cell->value.range.high);
		return;
	case CELL_FORM_BAR:
		for (size_t i = 0; i < CELL_BAR_SHARES; i++)
			buffer_append_format(buffer, "%s\"%s\":%.3f", i > 0 ? "," : "{", table_bar_names[i],
					     (double)cell->value.shares[i]);
		buffer_append_char(buffer, '}');
		return;
	case CELL_FORM_TEXT:
	case CELL_FORM_SIDES:
		json_append_text(buffer, cell->text);
		return;
	}
}

static void append_json_cell(const struct round_output *output, const struct table_column *column,
			     const struct cell *cell)
{
	struct buffer *buffer = output->buffer;

	buffer_append_char(buffer, ',');
	json_append_text(buffer, column->name);
	buffer_append_text(buffer, ":{\"value\":");
	if (cell->state == CELL_VALUE)
		append_json_value(buffer, cell);
	else
		buffer_append_text(buffer, "null");
	buffer_append_format(buffer, ",\"unit\":\"%s\",\"state\":\"%s\"", unit_names[cell->unit],
			     state_name(cell));
	if (cell->state == CELL_UNAVAILABLE) {
		buffer_append_text(buffer, ",\"reason\":");
		json_append_text(buffer, snapshot_reason_name(session_now(output->session), cell->reason));
	}
	buffer_append_char(buffer, '}');
}

static void append_json_row(const struct round_output *output, const struct table_row *row)
{
	struct name_columns names = name_columns(output->view);
	struct buffer *buffer = output->buffer;

	for (size_t i = 0; i < names.count; i++) {
		bool is_thread = output->view->level == VIEW_LEVEL_THREADS;
		size_t length;
		const char *part = label_part(row, is_thread ? 0 : i, &length);

		buffer_append_format(buffer, "%c\"%s\":", i > 0 ? ',' : '{', names.names[i]);
		if (is_thread && i < 2)
			buffer_append_u64(buffer, i == 0 ? row->tid : row->tgid);
		else
			json_append_string(buffer, part, length);
	}
	if (output->view->level == VIEW_LEVEL_GROUPS)
		buffer_append_format(buffer, ",\"threads\":%u", row->threads);
	for (size_t c = 0; c < output->table->column_count; c++) {
		if (output->table->columns[c].column != COLUMN_THR)
			append_json_cell(output, &output->table->columns[c], &row->cells[c]);
	}
	buffer_append_char(buffer, '}');
}

static void append_json(const struct round_output *output)
{
	struct buffer *buffer = output->buffer;

	buffer_append_format(buffer, "{\"time_unix_ns\":%llu,\"interval_ns\":%llu,\"mode\":\"%s\",\"rows\":[",
			     (unsigned long long)session_now(output->session)->captured_at_unix_ns,
			     (unsigned long long)session_interval_ns(output->session),
			     view_mode_names[output->view->mode]);
	for (size_t i = 0; i < output->table->row_count; i++) {
		if (i > 0)
			buffer_append_char(buffer, ',');
		append_json_row(output, &output->table->rows[i]);
	}
	buffer_append_text(buffer, "]}\n");
}

void batch_append(struct session *session, const struct view *view, const struct batch_style *style,
		  bool first, struct buffer *output)
{
	struct view living = *view; /* shares what the view owns */
	struct table *table;
	struct round_output round = {
		.session = session,
		.view = &living,
		.format = style->format,
		.to_terminal = style->to_terminal,
		.marks = style->ascii ? &screen_marks_ascii : &screen_marks_utf8,
		.buffer = output,
	};

	living.hide_gone = true;
	round.table = table = session_table(session, &living);
	if (style->format == BATCH_FORMAT_JSON)
		append_json(&round);
	else if (style->format == BATCH_FORMAT_TEXT)
		append_text(&round, first);
	else
		append_separated(&round, first);
	table_release(table);
}
