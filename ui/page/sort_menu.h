/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SORT_MENU_H
#define CTOP_SORT_MENU_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

#include "ui/terminal/keys.h"

enum {
	SORT_TYPED_MAX = 31, /* characters: more than any title or name has */
};

/* The menu of what rows can be sorted by. What is typed narrows it. A zeroed struct is a menu at its start.
 */
struct sort_menu {
	size_t choice; /* of those that match */
	size_t top;    /* the first of them that is in sight */
	char typed[SORT_TYPED_MAX + 1];
};

struct sort_item {
	unsigned int column;     /* id of a column of the table, COLUMN_COUNT for the name */
	const char *title;       /* as it is above the table */
	const char *name;        /* that options know it by */
	const char *description; /* all there is to say of it */
	bool unavailable;        /* nothing can be sorted by it here, which the description says */
};

/* What there is to choose from; the texts may be in the arena. Release it with sort_items_release(). */
struct sort_items {
	struct sort_item *items;
	size_t count, capacity;
	struct arena arena;
};

void sort_items_add(struct sort_items *items, const struct sort_item *item);
void sort_items_release(struct sort_items *items);

/* Begins with all items, and with the one of that column as choice. */
void sort_menu_open(struct sort_menu *menu, const struct sort_items *items, unsigned int column);

/* Moves the choice by one of the actions that move rows. */
void sort_menu_move(struct sort_menu *menu, const struct sort_items *items, enum action action);

/*
 * Takes a character that was typed: items whose title or name has the text stay, or else those whose
 * description has it, and the first whose title begins with it is chosen. Returns false, and leaves the text
 * as it was, when there is none, or for a key that is no character.
 */
bool sort_menu_type(struct sort_menu *menu, const struct sort_items *items, int key);

/* Takes the last character back; false when nothing was typed. */
bool sort_menu_erase(struct sort_menu *menu, const struct sort_items *items);

/* The chosen item; NULL for none. */
const struct sort_item *sort_menu_choice(const struct sort_menu *menu, const struct sort_items *items);

/* Draws it into the lowest of `height` rows from `y` on; returns the row of the choice. */
int sort_menu_draw(struct sort_menu *menu, const struct sort_items *items, int y, int height, int width);

#endif
