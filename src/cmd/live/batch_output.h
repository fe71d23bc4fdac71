/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BATCH_OUTPUT_H
#define CTOP_BATCH_OUTPUT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "session/session.h"

/* The formats of `ctop -b`. */
enum batch_format {
	BATCH_FORMAT_TEXT,
	BATCH_FORMAT_TSV,
	BATCH_FORMAT_CSV,
	BATCH_FORMAT_JSON,
	BATCH_FORMAT_COUNT,
};

extern const char *const batch_format_names[BATCH_FORMAT_COUNT + 1]; /* "text" … , NULL at the end */

/* How rounds are printed. */
struct batch_style {
	enum batch_format format;
	bool ascii;       /* text: plain marks */
	bool to_terminal; /* tsv and csv: control characters in names become U+FFFD */
};

/*
 * Appends the table of a view as one round of the output:
 *
 * - text: a line about the round, the column titles and a line a row, names fit for a terminal; an empty line
 *   between rounds.
 * - tsv, csv: in front of the first round (`first`) the column names with units, then a line a row; the first
 * column is time_unix_ns; a cell without a value is empty.
 * - json: one object in one line, with a state and, where a value is missing, the reason in every cell.
 *
 * Rows that are gone are left out. Nothing but text depends on the locale.
 */
void batch_append(struct session *session, const struct view *view, const struct batch_style *style,
		  bool first, struct buffer *output);

#endif
