/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SETUP_H
#define CTOP_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "table/tab.h"
#include "ui/terminal/keys.h"
#include "window/column.h"

/*
 * The page on which the columns of a tab are chosen and put in order: those of the tab come first, in their
 * order and with a check mark, below them all others. It changes nothing but itself until setup_apply().
 * A zeroed struct is a page that is not open.
 */
struct setup {
	bool open;
	enum tab tab;
	bool threads; /* for rows that are single threads */
	enum column columns[COLUMN_TOTAL];
	size_t count, chosen; /* the first `chosen` of them are those of the tab */
	enum column sort;     /* on entry; COLUMN_COUNT for that of the table */
	size_t selected, top; /* rows */
	size_t page;          /* rows shown by the last setup_draw() */
};

/* Opens the page with these columns of a tab chosen. */
void setup_open(struct setup *setup, enum tab tab, bool threads, const enum column *columns, size_t count);

/* Moves the cursor by an action that moves rows. */
void setup_move(struct setup *setup, enum action action);

/* Takes the marked column into the tab, behind the others, or out of it. */
void setup_toggle(struct setup *setup);

/* Moves the marked column of the tab one place to the left on the screen, or to the right. */
void setup_shift(struct setup *setup, bool left);

/* The tab is sorted by the marked column on entry; by that of the table again if it was. */
void setup_sort(struct setup *setup);

/* Back to the columns and the order of the table. */
void setup_reset(struct setup *setup);

/*
 * Puts the cursor on the first column whose title or name begins with the text, else
 * one that has it in title, name or description; case does not count. Returns whether there is one.
 */
bool setup_find(struct setup *setup, const char *text);

/*
 * Gives a tab what is chosen. Returns 0, or a negative errno with a sentence where nothing is chosen, or too
 * much.
 */
int setup_apply(const struct setup *setup, enum tab tab, struct error *error);

/* Draws the page into `height` rows of `width` cells from row `y` on; returns the row of the cursor. */
int setup_draw(struct setup *setup, int y, int height, int width);

#endif
