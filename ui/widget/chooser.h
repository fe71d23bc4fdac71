/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CHOOSER_H
#define CTOP_CHOOSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

#include "menu.h"

/*
 * A menu that typing narrows: its choices, what was typed, and the line that is marked. The caller may make
 * the choices anew while the menu is open.
 */

enum {
	CHOOSER_TYPED_MAX = 31, /* characters */
};

struct choice {
	unsigned int id;         /* the caller's */
	const char *title;       /* in the first column */
	const char *name;        /* a second spelling that is found like the title; NULL for none */
	const char *description; /* sentences */
	bool unavailable;        /* drawn dim */
};

struct choices {
	struct choice *items; /* those that match first; owned, like the arena */
	size_t count, capacity, matching;
	struct arena arena; /* for texts of the choices */
};

/* What is said of a chooser, and how it finds. */
struct chooser_words {
	const char *title; /* of the box: "Sort by" */
	const char *noun;  /* of a choice: "column" */
	/*
	 * Descriptions are searched too, for each word by itself, and the best match is marked. Else they are
	 * searched only where no title or name has the text, and no line is marked until the user moves to
	 * it.
	 */
	bool by_words;
};

/* A zeroed struct has no choices, nothing typed, and marks the first line. */
struct chooser {
	struct menu menu;
	char typed[CHOOSER_TYPED_MAX + 1];
	const struct chooser_words *words; /* not owned */
	struct choices choices;
};

/* Adds a choice, which the caller fills. Valid until the next one. */
struct choice *choices_add(struct choices *choices);

/* Forgets the choices and their texts. */
void choices_clear(struct choices *choices);

/* Puts the choices that match what was typed first. To be called when all are there. */
void chooser_narrow(struct chooser *chooser);

/* Marks the choice of that id; the first one where none has it. */
void chooser_select(struct chooser *chooser, unsigned int id);

/*
 * Adds a character to what was typed, or takes one back; false where there is no room, or nothing to take
 * back. The caller then makes the choices again and calls chooser_mark().
 */
bool chooser_type(struct chooser *chooser, char character);
bool chooser_untype(struct chooser *chooser);

/* Marks the choice that fits best, after something was typed. */
void chooser_mark(struct chooser *chooser);

/* The marked choice, NULL where none is. Owned by the chooser. */
const struct choice *chooser_marked(const struct chooser *chooser);

/* Draws it at the bottom of an area, in cells; returns the row of the mark. */
int chooser_draw(struct chooser *chooser, int y, int height, int width);

void chooser_release(struct chooser *chooser);

#endif
