/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TSV and CSV: a line for each row, with a tab or a comma between the fields.
 *
 * TSV prints cells as people read them, which is the contract with ktstr's report. CSV (RFC 4180, but lines
 * end in a line feed) prints raw numbers, followed by the unit, state and reason of each measured column;
 * with several measured columns their names precede these. A column with both sides of a comparison becomes
 * two, NAME_before and NAME_after. The table of a round has raw numbers in both formats.
 */
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "report_format.h"
#include "table/cell_format.h"

static bool is_csv(const struct report *report)
{
	return report->format == REPORT_FORMAT_CSV;
}

/* Whether cells are raw numbers and texts, rather than what people read. */
static bool is_raw(const struct report *report)
{
	return is_csv(report) || report->round != NULL;
}

/* --- fields --- */

static bool is_formula(const char *text, size_t length)
{
	return length != 0 && memchr("=+-@\t\r\n", text[0], 7) != NULL;
}

static bool needs_quotes(const char *text, size_t length)
{
	return length != 0 && (memchr(text, ',', length) != NULL || memchr(text, '"', length) != NULL ||
			       memchr(text, '\n', length) != NULL || memchr(text, '\r', length) != NULL);
}

/*
 * CSV has no escapes: a field with a comma, a quote or an end of line is quoted as it is. With `csv_safe`, a
 * ' precedes `foreign` text that a spreadsheet would read as a formula.
 */
static void append_csv_field(const struct report *report, const char *text, size_t length, bool foreign)
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

/* Returns the length of a non-ASCII byte's escape at `text`, or 0; ktstr's files have none. */
static size_t escape_length(const struct report *report, const char *text, size_t length)
{
	const bool is_own = report->snapshot == NULL || report->snapshot->provenance.present;
	unsigned char byte;
	const size_t used = is_own ? unicode_decode_escape(text, length, &byte) : 0;

	return used != 0 && byte >= 0x80 ? used : 0;
}

/* Returns the length of the prefix that needs no escaping or is already escaped. */
static size_t plain_length(const struct report *report, const char *text, size_t length)
{
	size_t plain = 0;

	while (plain < length && text[plain] != '\t' && text[plain] != '\n') {
		const size_t escape = text[plain] == '\\'
					      ? escape_length(report, text + plain, length - plain)
					      : 1;

		if (escape == 0)
			break;
		plain += escape;
	}
	return plain;
}

/* Trims the field and escapes tab, newline and backslash as `\t`, `\n`, `\\`. */
static void append_tsv_field(const struct report *report, const char *text, size_t length)
{
	length = unicode_trim(&text, length);
	while (length != 0) {
		const size_t plain = plain_length(report, text, length);

		report_append_name(report, text, plain, "");
		text += plain;
		length -= plain;
		if (length == 0)
			break;
		buffer_append_text(report->out, *text == '\t' ? "\\t" : *text == '\n' ? "\\n" : "\\\\");
		text++;
		length--;
	}
}

static void append_field(const struct report *report, const char *text, size_t length, bool foreign)
{
	if (is_csv(report))
		append_csv_field(report, text, length, foreign);
	else
		append_tsv_field(report, text, length);
}

static void append_column_name(const struct report *report, const struct table_column *column)
{
	const char *name = report_word(report, column->name);

	append_field(report, name, strlen(name), true);
}

static char separator(const struct report *report)
{
	return is_csv(report) ? ',' : '\t';
}

static void append_separator(const struct report *report)
{
	buffer_append_char(report->out, separator(report));
}

/* --- header and rows --- */

static size_t measured_count(const struct table *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		count += table->columns[i].measured;
	return count;
}

/* Appends the last fields of a line of a round; `waits` only if its columns count waits. */
static void append_round_fields(const struct report *report, const char *waits, const char *bounds)
{
	if (report->round->waits != NULL)
		buffer_append_format(report->out, "%c%s", separator(report), waits);
	buffer_append_format(report->out, "%c%s", separator(report), bounds);
}

static void draw_state_names(const struct report *report, const struct table *table)
{
	static const char *const names[] = {"unit", "state", "reason"};
	const bool several = measured_count(table) > 1;

	for (size_t i = 0; i < table->column_count; i++) {
		for (size_t j = 0; table->columns[i].measured && j < ARRAY_COUNT(names); j++) {
			append_separator(report);
			if (several) {
				append_column_name(report, &table->columns[i]);
				buffer_append_char(report->out, '_');
			}
			buffer_append_text(report->out, names[j]);
		}
	}
}

/* The number of fields of a column: CSV has one for each side. */
static size_t field_count(const struct report *report, const struct table_column *column)
{
	return is_csv(report) && column->sides ? DIFF_SIDE_COUNT : 1;
}

static void draw_header(const struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	if (table->section != NULL && !(is_csv(report) && report->one_section))
		buffer_append_format(out, "# %s\n", report_word(report, table->section));
	if (report->round != NULL)
		buffer_append_format(out, "time_unix_ns%c", separator(report));
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		for (size_t side = 0; side < field_count(report, column); side++) {
			if (i + side != 0)
				append_separator(report);
			append_column_name(report, column);
			if (field_count(report, column) > 1)
				buffer_append_format(out, "_%s", diff_side_names[side]);
		}
	}
	if (report->round != NULL)
		append_round_fields(report, "waits", "at_least");
	else if (is_csv(report))
		draw_state_names(report, table);
	buffer_append_char(out, '\n');
}

static void draw_cell(const struct report *report, const struct table_column *column, const struct cell *cell,
		      struct buffer *scratch)
{
	if (field_count(report, column) > 1) {
		report_append_side(report->out, cell, DIFF_BEFORE);
		append_separator(report);
		report_append_side(report->out, cell, DIFF_AFTER);
	} else if (!is_raw(report) || (cell->state == CELL_VALUE && !report_append_number(report, cell))) {
		buffer_clear(scratch);
		report_append_shown(report, column, cell, scratch);
		append_field(report, scratch->data, scratch->length, cell->form == CELL_FORM_TEXT);
	}
}

static void draw_states(const struct report *report, const struct table *table, const struct table_row *row)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct cell *cell = &row->cells[i];
		const char *reason = report_reason_name(cell);

		if (table->columns[i].measured) {
			buffer_append_format(report->out, ",%s,%s,", unit_names[cell->unit],
					     report_state_name(cell));
			append_field(report, reason, reason != NULL ? strlen(reason) : 0, true);
		}
	}
}

/* Names the columns that are lower bounds in a row. */
static void draw_bounds(const struct report *report, const struct table *table, const struct table_row *row,
			struct buffer *scratch)
{
	buffer_clear(scratch);
	for (size_t i = 0; i < table->column_count; i++) {
		if (cell_format_has_partial_mark(&row->cells[i]))
			buffer_append_format(scratch, "%s%s", scratch->length != 0 ? " " : "",
					     table->columns[i].name);
	}
	append_round_fields(report, report->round->waits, scratch->length != 0 ? scratch->data : "");
}

static void draw_row(const struct report *report, const struct table *table, const struct table_row *row,
		     struct buffer *scratch)
{
	if (report->round != NULL) {
		buffer_append_u64(report->out, report->snapshot->captured_at_unix_ns);
		append_separator(report);
	}
	for (size_t i = 0; i < table->column_count; i++) {
		if (i != 0)
			append_separator(report);
		draw_cell(report, &table->columns[i], &row->cells[i], scratch);
	}
	if (report->round != NULL)
		draw_bounds(report, table, row, scratch);
	else if (is_csv(report))
		draw_states(report, table, row);
	buffer_append_char(report->out, '\n');
}

static void draw_table(struct report *report, const struct table *table)
{
	struct buffer scratch = {0};

	if (!table->continues)
		draw_header(report, table);
	for (size_t i = 0; i < table->row_count; i++)
		draw_row(report, table, &table->rows[i], &scratch);
	buffer_release(&scratch);
}

const struct report_format_entry report_tsv = {.table = draw_table}, report_csv = {.table = draw_table};
