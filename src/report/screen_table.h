/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_TABLE_H
#define CTOP_SCREEN_TABLE_H

#include "report.h"
#include "table/view.h"

/* The source of a table of the screen. */
struct screen_subject {
	const char *file;                /* as the user named it; NULL for a live round */
	const struct snapshot *previous; /* the round before, NULL for none */
	uint64_t interval_ns;            /* time since the round before, 0 for none */
	bool of_hosts;                   /* a table of several hosts: omit the facts of a single capture */
	const char *missing; /* for text: the columns that nobody can read, in words; NULL for none */
};

/*
 * Prints the table of a view: a round of `ctop -b` and `ctop dump`, or the file of `ctop show`. The caller
 * has set `view->naming` to screen_table_naming(), and `report->snapshot` to the snapshot of the table. Text
 * only counts the rows that no column applies to, and marks them `empty`. Formats:
 *
 * - text: a line about the host and one about the round precede the titles; an empty line separates rounds.
 *   report_end() explains the marks.
 * - tsv, csv: only the first round has a header, of column names with units; the first column is
 *   time_unix_ns, the last one names the columns that are lower bounds; a cell without a value is empty.
 * - json: one object in one line; every cell has a state and, if its value is missing, the reason.
 *
 * Only text depends on the locale.
 */
void screen_table_print(struct report *report, const struct screen_subject *subject, const struct view *view,
			struct table *table);

static inline enum view_naming screen_table_naming(enum report_format format)
{
	return format == REPORT_FORMAT_TEXT ? VIEW_NAMING_TITLES : VIEW_NAMING_FIELDS;
}

/* Whether screen_table_print() knows a format. */
static inline bool screen_table_has(enum report_format format)
{
	return format <= REPORT_FORMAT_JSON;
}

#endif
