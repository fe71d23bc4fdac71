/* SPDX-License-Identifier: GPL-2.0-only */
/* Tab-separated cells: the contract with ktstr's report. */
#include <string.h>

#include "base/unicode.h"
#include "report_format.h"
#include "table/cell_format.h"

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

void report_append_tsv_field(const struct report *report, const char *text, size_t length)
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

static void draw_header(const struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	if (table->section != NULL)
		buffer_append_format(out, "# %s\n", report_word(report, table->section));
	for (size_t i = 0; i < table->column_count; i++) {
		const char *name = report_word(report, table->columns[i].name);

		buffer_append_text(out, i != 0 ? "\t" : "");
		report_append_tsv_field(report, name, strlen(name));
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
			buffer_clear(&scratch);
			cell_format_cell(&scratch, &table->rows[row].cells[i]);
			report_append_tsv_field(report, scratch.data, scratch.length);
		}
		buffer_append_char(out, '\n');
	}
	buffer_release(&scratch);
}

const struct report_format_entry report_tsv = {.table = draw_table};
