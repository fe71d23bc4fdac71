/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TAB_BAR_H
#define CTOP_TAB_BAR_H

#include <stdbool.h>
#include <stddef.h>

#include "table/tab.h"

/* The line of tabs, and where they stood in the last frame. A zeroed struct has none. */
struct tab_bar {
	int y;
	size_t count;
	struct {
		enum tab tab;
		int x, end; /* cells: the first of it, and the first behind it */
	} places[TAB_TOTAL];
};

/* What a bar is drawn with. */
struct tab_bar_style {
	int y, width; /* cells */
	enum tab current;
	/* Whether a tab is on the bar. */
	bool (*has_tab)(const void *context, enum tab tab);
	const void *context;
};

/* Draws the bar; returns the first cell behind it. */
int tab_bar_draw(struct tab_bar *bar, const struct tab_bar_style *style);

/* The tab at a cell of the last frame, TAB_COUNT for none. */
enum tab tab_bar_at(const struct tab_bar *bar, int y, int x);

#endif
