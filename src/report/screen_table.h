/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_TABLE_H
#define CTOP_SCREEN_TABLE_H

#include "report.h"
#include "table/view.h"

/* What a table of the screen is of. */
struct screen_subject {
	const char *file;                /* as the user named it; NULL: a round of a live capture */
	const struct snapshot *previous; /* the round before, NULL for none */
	uint64_t interval_ns;            /* since then, 0 for none */
	const char *missing;             /* what nobody can read, for text; NULL for nothing */
};

/*
 * Prints the table of a view: a round of `ctop -b` and `ctop dump`, the file of `ctop show`. The view's
 * naming is screen_table_naming(). Of the rows that none of its columns applies to text has the number only.
 * `report->snapshot` is what the table is of; the format is one of
 *
 * - text: a line about the host and one about the round precede the titles, an empty line each further round.
 *   What the marks mean is left to report_end().
 * - tsv, csv: the first round has a header with the columns' names and units; the first column is
 *   time_unix_ns, the last one names the columns that are lower bounds; a cell without a value is empty.
 * - json: one object in one line; every cell has a state and, if its value is missing, the reason.
 *
 * Nothing but text depends on the locale.
 */
void screen_table_print(struct report *report, const struct screen_subject *subject, const struct view *view,
			struct table *table);

static inline enum view_naming screen_table_naming(enum report_format format)
{
	return format == REPORT_FORMAT_TEXT ? VIEW_NAMING_TITLES : VIEW_NAMING_FIELDS;
}

/* Whether a format is one of these. */
static inline bool screen_table_has(enum report_format format)
{
	return format <= REPORT_FORMAT_JSON;
}

#endif
