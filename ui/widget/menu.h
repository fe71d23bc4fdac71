/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MENU_H
#define CTOP_MENU_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/terminal/keys.h"

/* Lines to choose from; those around the choice are in sight. A zeroed struct is a menu at its top. */
struct menu {
	size_t choice, top; /* lines */
	size_t page;        /* lines in sight at the last menu_draw() */
	bool unmarked;      /* no line is the choice until the user moves */
};

/* The layout of a menu. Positions and sizes in cells. */
struct menu_style {
	int y, height, width;
	const char *title; /* of a box at the bottom of the area; NULL: no box */
	size_t room;       /* lines that the box has at most */
	int foot;          /* rows below the lines, for the caller */
	/* Draws a line; the menu has filled its row with STYLE_SELECTED where it is the choice. */
	void (*draw_line)(const void *context, size_t line, int y, int width, bool chosen);
	const void *context;
};

/* Moves the choice by one of the actions that move rows; the first move of an unmarked menu marks its choice.
 */
void menu_move(struct menu *menu, enum action action, size_t count);

/* Draws the lines around the choice. Returns the row of the choice. */
int menu_draw(struct menu *menu, size_t count, const struct menu_style *style);

#endif
