/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Comma-separated values by RFC 4180 (but lines end in a line feed): raw numbers; behind the columns the
 * unit, the state and the reason of each measured one, their names led by the column's if they are
 * several. A column with both sides of a comparison is two, NAME_before and NAME_after. CSV knows no escapes:
 * tabs and ends of lines stay in their quotes, other control characters are written as in TSV.
 */
#include <string.h>

#include "report_format.h"
#include "table/cell_format.h"

static bool is_formula(const char *text, size_t length)
{
	return length != 0 && memchr("=+-@\t\r\n", text[0], 7) != NULL;
}

static bool needs_quotes(const char *text, size_t length)
{
	return length != 0 && (memchr(text, ',', length) != NULL || memchr(text, '"', length) != NULL ||
			       memchr(text, '\n', length) != NULL || memchr(text, '\r', length) != NULL);
}

void report_append_csv_field(const struct report *report, const char *text, size_t length, bool foreign)
{
	const char *quotes = needs_quotes(text, length) ? "\"" : "";

	buffer_append_text(report->out, quotes);
	if (foreign && report->csv_safe && is_formula(text, length))
		buffer_append_char(report->out, '\'');
	while (length != 0) {
		const char *quote = memchr(text, '"', length);
		size_t used = quote != NULL ? (size_t)(quote - text) + 1 : length;

		report_append_name(report, text, used, "\t\n\r");
		buffer_append_text(report->out, quote != NULL ? "\"" : "");
		text += used;
		length -= used;
	}
	buffer_append_text(report->out, quotes);
}

static void append_text(const struct report *report, const char *text)
{
	report_append_csv_field(report, text, strlen(text), true);
}

static size_t measured_count(const struct table *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		count += table->columns[i].measured;
	return count;
}

static void draw_header(const struct report *report, const struct table *table)
{
	static const char *const extra[] = {"unit", "state", "reason"};
	struct buffer *out = report->out;
	bool several = measured_count(table) > 1;

	for (size_t i = 0; i < table->column_count; i++) {
		for (size_t side = 0; side < (table->columns[i].sides ? 2 : 1); side++) {
			buffer_append_text(out, i + side != 0 ? "," : "");
			append_text(report, report_word(report, table->columns[i].name));
			if (table->columns[i].sides)
				buffer_append_format(out, "_%s", diff_side_names[side]);
		}
	}
	for (size_t i = 0; i < table->column_count; i++) {
		for (size_t j = 0; table->columns[i].measured && j < 3; j++) {
			buffer_append_char(out, ',');
			if (several) {
				append_text(report, report_word(report, table->columns[i].name));
				buffer_append_char(out, '_');
			}
			buffer_append_text(out, extra[j]);
		}
	}
	buffer_append_char(out, '\n');
}

static void draw_cell(const struct report *report, const struct cell *cell)
{
	if (cell->state == CELL_VALUE && !cell_format_number(report->out, cell) && cell->text != NULL)
		report_append_csv_field(report, cell->text, strlen(cell->text), cell->form == CELL_FORM_TEXT);
}

static void draw_sides(struct buffer *out, const struct cell *cell)
{
	report_append_side(out, cell, 0);
	buffer_append_char(out, ',');
	report_append_side(out, cell, 1);
}

static void draw_row(struct report *report, const struct table *table, const struct table_row *row)
{
	struct buffer *out = report->out;

	for (size_t i = 0; i < table->column_count; i++) {
		if (i != 0)
			buffer_append_char(out, ',');
		if (table->columns[i].sides)
			draw_sides(out, &row->cells[i]);
		else
			draw_cell(report, &row->cells[i]);
	}
	for (size_t i = 0; i < table->column_count; i++) {
		const struct cell *cell = &row->cells[i];
		const char *reason = report_reason_name(cell);

		if (!table->columns[i].measured)
			continue;
		buffer_append_char(out, ',');
		buffer_append_text(out, unit_names[cell->unit]);
		buffer_append_char(out, ',');
		buffer_append_text(out, report_state_name(cell));
		buffer_append_char(out, ',');
		if (reason != NULL)
			append_text(report, reason);
	}
	buffer_append_char(out, '\n');
}

static void draw_table(struct report *report, const struct table *table)
{
	if (table->section != NULL && !report->one_section && !table->continues)
		buffer_append_format(report->out, "# %s\n", report_word(report, table->section));
	if (!table->continues)
		draw_header(report, table);
	for (size_t i = 0; i < table->row_count; i++)
		draw_row(report, table, &table->rows[i]);
}

const struct report_format_entry report_csv = {.table = draw_table};
