/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILTER_H
#define CTOP_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "column.h"
#include "table/table.h"

/*
 * What the user typed to narrow rows: `text` (substring of the name, case ignored unless it has a capital),
 * `/regex/` (POSIX extended, the same case rule), either with a leading `!` to negate, or `COLUMN OP
 * NUMBER[UNIT]` with OP one of > >= < <= = (a column title of the screen or a metric name; `cpu% > 50`,
 * `run_time_ns > 10ms`, `read_bytes >= 1M`); words take only = (`state = D`, `policy = FIFO`). Several are
 * joined by ` and `.
 *
 * A title with % or /s, or a number with %, means the rate in every mode. A time compared with a share of
 * time means that time per second: 10ms is 1 %. Units are those of quantity.h that fit the column.
 */
struct filter;

/* Parses; NULL with a sentence that says what is wrong and lists what is valid, nearest name first. */
struct filter *filter_parse(const char *text, struct error *error);

void filter_release(struct filter *filter);

/* The text it was made from. */
const char *filter_text(const struct filter *filter);

/* The column of the `index`-th comparison, whose cell filter_matches() asks for; COLUMN_COUNT behind the
 * last. */
enum column filter_column(const struct filter *filter, size_t index);

/* The cell of a column, as a rate or in the view's mode, valid until the next one; NULL for none. */
typedef const struct cell *filter_cell_of(void *context, enum column column, bool as_rate);

/* Whether a row matches. A cell without a number satisfies no comparison. */
bool filter_matches(const struct filter *filter, const char *label, size_t label_length,
		    filter_cell_of *cell_of, void *context);

#endif
