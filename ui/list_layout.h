/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIST_LAYOUT_H
#define CTOP_LIST_LAYOUT_H

#include "base/buffer.h"

#include "list.h"

/* Where the parts of a list are in one frame: the inside of list_draw(). */
struct list_layout {
	struct list *list;
	const struct list_style *style;
	int name_x, name_width;
	int *column_x; /* by column, -1 where it is not shown */
	struct buffer text;
};

/*
 * Places the columns: the name keeps at least 12 cells; the first column (if it counts threads) and the sort
 * column are always shown, the others from list->first on as far as they fit. Widens list->widths by what the
 * rows on the screen need.
 */
void list_layout_make(struct list_layout *layout, struct list *list, const struct list_style *style);

void list_layout_draw_titles(struct list_layout *layout);
void list_layout_draw_row(struct list_layout *layout, int y, size_t row);
void list_layout_release(struct list_layout *layout);

#endif
