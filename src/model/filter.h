/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILTER_H
#define CTOP_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "column.h"
#include "table.h"

/*
 * What the user typed to narrow rows: `text` (substring of the name, smart case), `/regex/` (POSIX extended),
 * either with a leading `!` to negate, or `COLUMN OP NUMBER[UNIT]` with OP one of > >= < <= = (a column title
 * of the screen or a metric name; `cpu% > 50`, `run_time_ns > 10ms`, `read_bytes >= 1M`). Several joined by `
 * and `.
 */
struct filter;

/* Parses; returns NULL with a sentence that says what is wrong and lists what is valid, nearest name first.
 */
struct filter *filter_parse(const char *text, struct error *error);

void filter_release(struct filter *filter);

/* The text it was made from. */
const char *filter_text(const struct filter *filter);

/* Columns whose cells filter_matches() will ask for: appends to `columns` (room for `capacity`), returns how
 * many. */
size_t filter_columns(const struct filter *filter, enum column columns[], size_t capacity);

/* Metrics named in it, so that their sources can be read. */
size_t filter_metrics(const struct filter *filter, enum metric metrics_named[], size_t capacity);

/*
 * Whether a row passes. `cell_of` gives the cell of a column or, for `column` COLUMN_COUNT, of `metric`. A
 * cell without a number passes no comparison.
 */
bool filter_matches(const struct filter *filter, const char *label, size_t label_length,
		    const struct cell *(*cell_of)(void *context, enum column column, enum metric metric),
		    void *context);

#endif
