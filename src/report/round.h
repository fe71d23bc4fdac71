/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROUND_H
#define CTOP_ROUND_H

#include "report.h"
#include "view/view.h"

/*
 * Draws a round of a live capture, the table of a view, on its own: what `ctop -b` prints. The snapshot is
 * that of the report; `interval_ns` is the time since the round before, 0 for none. The report's format is
 * one of
 *
 * - text: a line about the round, the column titles and a line a row, names fit for a terminal; an empty line
 *   between rounds.
 * - tsv, csv: in front of the first round the column names with units, then a line a row; the first column is
 *   time_unix_ns; a cell without a value is empty.
 * - json: one object in one line, with a state and, where a value is missing, the reason in every cell.
 *
 * Nothing but text depends on the locale.
 */
void report_round(struct report *report, const struct view *view, const struct table *table,
		  uint64_t interval_ns);

#endif
