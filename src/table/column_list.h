/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COLUMN_LIST_H
#define CTOP_COLUMN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/task_fields.h"
#include "tab.h"
#include "window/column.h"

/* Columns on the screen: which have room beside each other, and how they stand there. */

/*
 * The columns of a tab in order (of that of task fields those before the fields, which view_columns() knows)
 * for rows that are groups or `threads`, at most COLUMN_TOTAL of them, into `columns`; returns how many.
 * `width` is that of the screen in cells (0: all): columns are dropped from the right until the name has 12
 * cells, but never THR and `sort`; `sort` (COLUMN_COUNT for none) is added if the tab has neither it nor a
 * column of its title.
 */
size_t column_list(enum tab tab, bool threads, int width, enum column sort,
		   enum column columns[COLUMN_TOTAL]);

/* Whether a column is among `count` others. */
bool column_list_has(const enum column columns[], size_t count, enum column column);

/* Further choices: which columns a table has, and how much room they have. */
struct column_choice {
	const uint16_t *fields; /* of schedulers, that the tab has behind the columns of the table */
	size_t field_count;
	const struct column_set *left_out; /* columns of the table that do not stand there; NULL for none */
	int width, reserved; /* cells of the screen (0: room for all), and those that others take of them */
	int wanted;          /* cells that texts are to have before columns of wide screens are shown */
	bool whole;          /* those too that have no room on a screen of that width */
	enum column sort;
};

/* The same by all of it. What the user made of the tab's columns stays, left out or not, and so does the
 * order. */
size_t column_list_with(enum tab tab, bool threads, const struct column_choice *choice,
			enum column columns[COLUMN_TOTAL]);

/* The fields of a scheduler in the order of their tab, into `fields`: those that are known to matter first,
 * then in the order of its type; NULL has none. Returns how many. */
size_t column_list_fields(const struct task_field_owner *scheduler, uint16_t fields[TASK_FIELD_MAX]);

/* Whether one column may stand for the other in a table: the same title or the same formula. */
bool column_stands_for(enum column column, enum column other);

/* Cells that a column takes on the screen: the same in all modes. */
int column_width(enum column column);

/* Whether its cells are words that line up on the left. */
bool column_is_text(enum column column);

/* Whether the screen shows which part of all rows, or of a thread's time, the number of a row is. */
bool column_has_shares(enum column column);

/* Whether it is looked up for visible rows only: rows cannot be sorted by it. */
bool column_is_looked_up(enum column column);

/*
 * The order in which columns of texts take the width that numbers leave, 1 for the first; 0 for a column of a
 * width of its own. Their width is the least that they are shown with.
 */
int column_fill_order(enum column column);

#endif
