/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROW_NAMES_H
#define CTOP_ROW_NAMES_H

#include "table.h"
#include "view.h"

/* The leading columns of a view's table that name its rows, as view->naming asks for. */

enum {
	ROW_NAMES_MAX = 3
};

/* Fills in the columns, their titles in `arena`, and returns their number: 0 for VIEW_NAMING_APART. */
size_t row_names_columns(const struct view *view, struct arena *arena,
			 struct table_column columns[ROW_NAMES_MAX]);

/* Sets the cells of these columns in a row whose label and ids are set; puts texts in `arena`. */
void row_names_set(const struct view *view, struct arena *arena, struct table_row *row);

#endif
