/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PAIR_TABLE_H
#define CTOP_PAIR_TABLE_H

#include "diff.h"
#include "table/table.h"
#include "table/view.h"

/*
 * The table of a comparison for people, on the screen and in reports: a row for each group or thread, with
 * the columns of a view. A cell shows both sides where they differ.
 */

/* A comparison as it is shown. */
struct pair_sides {
	const struct diff *diff;
	bool swapped;           /* the user exchanged the sides: `after` of the diff is shown as before */
	const bool *broke_rule; /* by pair: its row comes first, marked; NULL: no group broke a rule */
};

/* The side of the diff that is shown as `shown`. */
static inline enum diff_side pair_side(const struct pair_sides *sides, enum diff_side shown)
{
	return (enum diff_side)((shown == DIFF_AFTER) != sides->swapped);
}

/*
 * Makes the table, without pairs in which no column changed unless view->equal_rows; the caller releases it.
 * A table's `subject` of a row is the index of its pair. With view->cells_on_demand the cells are made by
 * pair_table_fill(). With a `name_title` (static) the names of the rows are the first column, under that
 * title, and every cell has its text: for reports.
 */
struct table *pair_table_create(const struct pair_sides *sides, const struct view *view,
				const char *name_title);

/* Fills rows of such a table that have no cells yet. */
void pair_table_fill(const struct pair_sides *sides, struct table *table, size_t first, size_t count);

/* A column of a pair and its change, by the sides as shown. */
struct diff_value pair_value(const struct pair_sides *sides, const struct diff_pair *pair,
			     enum column column);

/* The cell of one side as shown, its number in the unit of diff_unit(); texts are in `arena`. */
struct cell pair_side_cell(const struct pair_sides *sides, const struct diff_pair *pair, enum diff_side shown,
			   enum column column, struct arena *arena);

/* A cell that shows both sides, and is partial where one of them is not known in full. */
struct cell cell_of_sides(const struct cell sides[DIFF_SIDE_COUNT], struct arena *arena);

/* How a row is marked: in one side only, or none of its threads is the same. */
enum row_mark pair_mark(const struct pair_sides *sides, const struct diff_pair *pair);

#endif
