/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROUND_H
#define CTOP_ROUND_H

#include "report.h"
#include "table/view.h"

/* The subject of a table of the screen. */
struct round_subject {
	const char *file;                /* as the user named it; NULL: a round of a live capture */
	const struct snapshot *previous; /* the round before, NULL for none */
	uint64_t interval_ns;            /* since then, 0 for none */
	const char *missing;             /* what nobody can read, for text; NULL for nothing */
};

/*
 * Draws the table of a view as the screen has it, on its own: what `ctop -b` prints of each round and `ctop
 * show` of a file. The snapshot is that of the report. The report's format is one of
 *
 * - text: a line about the host, one about the round, the column titles and a line a row, names fit for a
 *   terminal; an empty line between rounds. What its marks mean is left to report_end().
 * - tsv, csv: in front of the first round the column names with units, then a line a row; the first column is
 *   time_unix_ns; a cell without a value is empty.
 * - json: one object in one line, with a state and, where a value is missing, the reason in every cell.
 *
 * Nothing but text depends on the locale.
 */
void report_round(struct report *report, const struct round_subject *subject, const struct view *view,
		  const struct table *table);

/* Whether a format is one of these. */
static inline bool report_round_has(enum report_format format)
{
	return format <= REPORT_FORMAT_JSON;
}

#endif
