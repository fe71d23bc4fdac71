/* SPDX-License-Identifier: GPL-2.0-only */
#include "report.h"

#include <string.h>

#include "report_format.h"

static const struct report_format_entry *const formats[REPORT_FORMAT_COUNT] = {
#define REPORT_FORMAT(id, name, ending, rows) [REPORT_FORMAT_##id] = &report_##name,
#include "report_format.def"
#undef REPORT_FORMAT
};

void report_begin(struct report *report, const struct report_subject *subject)
{
	if (formats[report->format]->begin != NULL)
		formats[report->format]->begin(report, subject);
}

/* Whether some cells of a column show both sides with an arrow and some do not; adds the verdicts of changes.
 */
static bool mixes_sides(const struct table *table, size_t column, bool has_verdict[CELL_VERDICT_COUNT])
{
	bool both = false, one = false;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cell = &table->rows[i].cells[column];

		both |= cell->sides != NULL;
		one |= cell->state == CELL_VALUE && cell->sides == NULL;
		has_verdict[cell->verdict] |= cell->sides != NULL;
	}
	return both && one;
}

static void explain_sides(struct report *report, const struct table *table)
{
	/* by whether there are real changes, and bursts */
	static const char *const marks[2][2] = {
		{"", "≈ marks bursts"},
		{"≠ marks real changes", "≠ marks real changes, ≈ bursts"},
	};
	bool mixed = false, has_verdict[CELL_VERDICT_COUNT] = {false};
	struct buffer text = {0};
	const char *mark;

	for (size_t i = 0; i < table->column_count; i++) {
		if (!table->columns[i].sides)
			mixed |= mixes_sides(table, i, has_verdict);
	}
	mark = marks[has_verdict[CELL_VERDICT_REAL]][has_verdict[CELL_VERDICT_BURST]];
	if (mixed)
		buffer_append_text(&text, "cells without an arrow read the same before and after");
	if (mixed && *mark != '\0')
		buffer_append_text(&text, "; ");
	buffer_append_text(&text, mark);
	if (text.length != 0)
		formats[report->format]->paragraph(report, text.data);
	buffer_release(&text);
}

void report_table(struct report *report, const struct table *table)
{
	formats[report->format]->table(report, table);
	if (table->more)
		return;
	report->table_count++;
	if (report->round == NULL && formats[report->format]->paragraph != NULL)
		explain_sides(report, table);
}

/* Appends what the marks of the cells drawn mean, and why they are there; nothing when there were none. */
static void append_legend(const struct report *report, struct buffer *buffer)
{
	const char *separator = ": ";
	bool has_remedy = false;

	for (size_t i = REASON_READ + 1; i <= UINT8_MAX; i++) {
		if (!report->reasons[i])
			continue;
		has_remedy |= i == REASON_NOT_PERMITTED || i == REASON_SWITCHED_OFF ||
			      i == REASON_OFF_AT_FORK;
		if (buffer->length == 0) {
			buffer_append_text(buffer, "· is unavailable");
			if (report->partial)
				buffer_append_text(buffer, ", ≥ lacks members that are");
		}
		buffer_append_text(buffer, separator);
		buffer_append_text(buffer, reason_words(i));
		separator = ", ";
	}
	if (has_remedy)
		buffer_append_text(buffer, " (what helps: ctop doctor)");
}

void report_end(struct report *report)
{
	const struct report_format_entry *format = formats[report->format];
	struct buffer legend = {0};

	append_legend(report, &legend);
	if (legend.length != 0 && format->paragraph != NULL)
		format->paragraph(report, legend.data);
	buffer_release(&legend);
	if (format->end != NULL)
		format->end(report);
}
