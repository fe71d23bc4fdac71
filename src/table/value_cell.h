/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_VALUE_CELL_H
#define CTOP_VALUE_CELL_H

#include "base/arena.h"
#include "snapshot/lookup.h"
#include "table.h"
#include "window/reduce.h"

/* From values to cells, in the two formats: that of the screen and that of reports. */

/* Makes a cell of the screen; texts are in `arena`. Numbers have no text: the screen's formatter makes it. */
void value_cell(const struct column_values *values, const struct value *value, struct arena *arena,
		struct cell *ret_cell);

/* reduce_value() and value_cell() in one. */
void column_cell(const struct shown *shown, const struct column_values *values, size_t row,
		 struct arena *arena, struct cell *ret_cell);

/* Makes a cell of a report, of a metric or derived metric reduced as stored; texts are in `arena`. */
void value_report_cell(const struct column_values *values, const struct value *value, struct arena *arena,
		       struct cell *ret_cell);

/*
 * Makes a cell show what is known of an entry: the first line of its text, in `arena`; or that it is being
 * looked up, or why it is not known. One that shows it already keeps its text.
 */
void value_set_looked_up(const struct lookup_entry *entry, struct arena *arena, struct cell *cell);

/* Appends what a report prints of a value that is there, of a word without its counts. */
void value_append_word(const struct column_values *values, const struct value *value, struct buffer *text);

/* A category's value as words of the screen: SCHED_OTHER is OTHER, a state its letter. */
const char *category_text(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			  char letter[static 5]);

/* Fills a table's column description: name with unit, title, width. */
void column_describe(enum column column, enum window_mode mode, bool by_thread, struct arena *arena,
		     struct table_column *ret_column);

#endif
