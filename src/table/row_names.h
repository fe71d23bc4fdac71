/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROW_NAMES_H
#define CTOP_ROW_NAMES_H

#include "table.h"
#include "view.h"

/* The names of a view's rows as the first columns of its table, for view->naming. */

enum {
	ROW_NAMES_MAX = 3
};

/* Fills in the columns; titles are in `arena`. Returns how many there are. */
size_t row_names_columns(const struct view *view, struct arena *arena,
			 struct table_column columns[ROW_NAMES_MAX]);

/* Sets the cells of these columns in a row that has its label and ids; texts are in `arena`. */
void row_names_set(const struct view *view, struct arena *arena, struct table_row *row);

#endif
