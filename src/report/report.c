/* SPDX-License-Identifier: GPL-2.0-only */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/unicode.h"
#include "report_format.h"

const char *const report_format_names[REPORT_FORMAT_COUNT + 1] = {
	[REPORT_FORMAT_TEXT] = "text",
	[REPORT_FORMAT_TSV] = "tsv",
	[REPORT_FORMAT_CSV] = "csv",
	[REPORT_FORMAT_JSON] = "json",
};

static const struct report_format_entry *const formats[REPORT_FORMAT_COUNT] = {
	[REPORT_FORMAT_TEXT] = &report_text,
	[REPORT_FORMAT_TSV] = &report_tsv,
	[REPORT_FORMAT_CSV] = &report_csv,
	[REPORT_FORMAT_JSON] = &report_json,
};

void report_begin(struct report *report, const struct report_subject *subject)
{
	if (formats[report->format]->begin != NULL)
		formats[report->format]->begin(report, subject);
}

void report_table(struct report *report, const struct table *table)
{
	formats[report->format]->table(report, table);
	if (!table->more)
		report->table_count++;
}

void report_end(struct report *report)
{
	if (formats[report->format]->end != NULL)
		formats[report->format]->end(report);
}

const char *report_state_name(const struct cell *cell)
{
	switch (cell->state) {
	case CELL_VALUE:
		return cell->partial ? "partial" : "ok";
	case CELL_ABSENT:
		return "absent";
	case CELL_UNAVAILABLE:
		return "unavailable";
	case CELL_EMPTY:
		break;
	}
	return "";
}

const char *report_reason_name(const struct report *report, const struct cell *cell)
{
	if (cell->state == CELL_UNAVAILABLE || (cell->state == CELL_VALUE && cell->partial))
		return snapshot_reason_name(report->snapshot, cell->reason);
	return NULL;
}

bool report_has_partial_mark(const struct cell *cell)
{
	return cell->state == CELL_VALUE && cell->partial &&
	       (cell->form == CELL_FORM_INTEGER || cell->form == CELL_FORM_REAL);
}

static void append_real(struct buffer *buffer, double value)
{
	char text[40];

	/* the fewest digits that read back as the same number */
	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	buffer_append_text(buffer, text);
}

bool report_append_number(struct buffer *buffer, const struct cell *cell)
{
	if (cell->form == CELL_FORM_INTEGER) {
		buffer_append_u64(buffer, cell->value.integer);
		return true;
	}
	if (cell->form == CELL_FORM_REAL && isfinite(cell->value.real)) {
		append_real(buffer, cell->value.real);
		return true;
	}
	return false;
}

void report_append_name(struct buffer *buffer, const char *text, size_t length, bool to_terminal)
{
	if (to_terminal)
		unicode_append_printable(buffer, text, length, "\uFFFD");
	else
		unicode_append_valid(buffer, text, length);
}

void report_append_value(struct buffer *buffer, const struct cell *cell)
{
	if (cell->text != NULL)
		buffer_append_text(buffer, cell->text);
	else
		report_append_number(buffer, cell);
}
