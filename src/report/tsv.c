/* SPDX-License-Identifier: GPL-2.0-only */
/* Tab-separated cells: the contract with the reference's report. */
#include <string.h>

#include "base/unicode.h"
#include "report_format.h"

void report_append_tsv_field(const struct report *report, const char *text, size_t length)
{
	length = unicode_trim(&text, length);
	while (length != 0) {
		size_t plain = 0;

		while (plain < length && text[plain] != '\t' && text[plain] != '\n' && text[plain] != '\\')
			plain++;
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

static void append_cell(const struct report *report, const struct cell *cell, struct buffer *scratch)
{
	struct buffer *out = report->out;

	switch (cell->state) {
	case CELL_EMPTY:
		break;
	case CELL_ABSENT:
		buffer_append_char(out, '-');
		break;
	case CELL_UNAVAILABLE:
		buffer_append_text(out, "·");
		break;
	case CELL_VALUE:
		if (report_has_partial_mark(cell))
			buffer_append_text(out, "≥");
		buffer_clear(scratch);
		report_append_value(scratch, cell);
		if (scratch->length != 0)
			report_append_tsv_field(report, scratch->data, scratch->length);
		break;
	}
}

static void draw_header(const struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	if (table->section != NULL)
		buffer_append_format(out, "# %s\n", table->section);
	for (size_t i = 0; i < table->column_count; i++) {
		buffer_append_text(out, i != 0 ? "\t" : "");
		report_append_tsv_field(report, table->columns[i].name, strlen(table->columns[i].name));
	}
	buffer_append_char(out, '\n');
}

static void draw_table(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;
	struct buffer scratch = {0};

	if (!table->continues)
		draw_header(report, table);
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			if (i != 0)
				buffer_append_char(out, '\t');
			append_cell(report, &table->rows[row].cells[i], &scratch);
		}
		buffer_append_char(out, '\n');
	}
	buffer_release(&scratch);
}

const struct report_format_entry report_tsv = {.table = draw_table};
