/* SPDX-License-Identifier: GPL-2.0-only */
/* One JSON object: what the report is about, then its tables, a row an object keyed by column names. */
#include <inttypes.h>

#include "base/json_text.h"
#include "report_format.h"

static void append_member(struct buffer *out, const char *name, const char *text)
{
	json_append_text(out, name);
	buffer_append_char(out, ':');
	json_append_text(out, text);
}

static void begin(struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	buffer_append_char(out, '{');
	append_member(out, "program", "ctop " CTOP_VERSION);
	buffer_append_char(out, ',');
	append_member(out, "command", subject->command);
	if (report->snapshot != NULL) {
		buffer_append_char(out, ',');
		append_member(out, "file", subject->file);
		buffer_append_format(out, ",\"captured_at_unix_ns\":%" PRIu64 ",\"threads\":%zu,",
				     report->snapshot->captured_at_unix_ns, report->snapshot->thread_count);
		append_member(out, "group_by", subject->group_by);
	}
	buffer_append_text(out, ",\"tables\":[");
}

/* A bare value: a number where the cell holds one, else a text, null where there is none. */
static void append_value(struct buffer *out, const struct cell *cell)
{
	if (cell->state != CELL_VALUE)
		buffer_append_text(out, "null");
	else if (cell->form == CELL_FORM_RANGE)
		buffer_append_format(out, "{\"low\":%" PRId64 ",\"high\":%" PRId64 "}", cell->value.range.low,
				     cell->value.range.high);
	else if (!report_append_number(out, cell))
		json_append_text(out, cell->text != NULL ? cell->text : "");
}

static void append_measured(struct report *report, const struct cell *cell)
{
	struct buffer *out = report->out;
	const char *reason = report_reason_name(report, cell);

	buffer_append_text(out, "{\"value\":");
	append_value(out, cell);
	buffer_append_char(out, ',');
	append_member(out, "unit", unit_names[cell->unit]);
	buffer_append_char(out, ',');
	append_member(out, "state", report_state_name(cell));
	if (reason != NULL) {
		buffer_append_char(out, ',');
		append_member(out, "reason", reason);
	}
	if (cell->state == CELL_VALUE && cell->text != NULL) {
		buffer_append_char(out, ',');
		append_member(out, "text", cell->text);
	}
	buffer_append_char(out, '}');
}

static void draw_row(struct report *report, const struct table *table, const struct table_row *row)
{
	struct buffer *out = report->out;

	buffer_append_char(out, '{');
	for (size_t i = 0; i < table->column_count; i++) {
		buffer_append_text(out, i != 0 ? "," : "");
		json_append_text(out, table->columns[i].name);
		buffer_append_char(out, ':');
		if (table->columns[i].measured)
			append_measured(report, &row->cells[i]);
		else
			append_value(out, &row->cells[i]);
	}
	buffer_append_char(out, '}');
}

static void draw_header(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	buffer_append_text(out, report->table_count != 0 ? ",\n{" : "\n{");
	append_member(out, "section", table->section);
	buffer_append_text(out, ",\"columns\":[");
	for (size_t i = 0; i < table->column_count; i++) {
		buffer_append_text(out, i != 0 ? "," : "");
		json_append_text(out, table->columns[i].name);
	}
	buffer_append_text(out, "],\"rows\":[");
}

static void draw_table(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	if (!table->continues)
		draw_header(report, table);
	for (size_t i = 0; i < table->row_count; i++) {
		buffer_append_text(out, table->continues || i != 0 ? ",\n" : "\n");
		draw_row(report, table, &table->rows[i]);
	}
	if (!table->more)
		buffer_append_format(out, "],\"rows_left_out\":%zu}", table->row_total - table->row_count);
}

static void end(struct report *report)
{
	buffer_append_text(report->out, "]}\n");
}

const struct report_format_entry report_json = {begin, draw_table, end};
