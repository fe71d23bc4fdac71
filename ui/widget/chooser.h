/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CHOOSER_H
#define CTOP_CHOOSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

#include "menu.h"

/*
 * A menu that typing narrows. The caller makes the choices anew for each call, so that they may change while
 * the menu is open; the chooser keeps what was typed and the line that is marked.
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

/* A zeroed struct has nothing typed and marks the first line. */
struct chooser {
	struct menu menu;
	char typed[CHOOSER_TYPED_MAX + 1];
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

/* Adds a choice, which the caller fills. Valid until the next one. */
struct choice *choices_add(struct choices *choices);

/* Puts those that match what was typed first. To be called when all are there. */
void choices_narrow(struct choices *choices, const struct chooser *chooser,
		    const struct chooser_words *words);

void choices_release(struct choices *choices);

/* Opens a chooser with the choice of that id marked; the first one where none has it. */
void chooser_open(struct chooser *chooser, const struct choices *choices, unsigned int id);

/*
 * Adds a character to what was typed, or takes one back; false where there is no room, or nothing to take
 * back. The caller then makes the choices again and calls chooser_mark().
 */
bool chooser_type(struct chooser *chooser, char character);
bool chooser_untype(struct chooser *chooser);

/* Marks the choice that fits best, after something was typed. */
void chooser_mark(struct chooser *chooser, const struct choices *choices, const struct chooser_words *words);

/* Moves the mark by one of the actions that move rows. */
void chooser_move(struct chooser *chooser, enum action action, const struct choices *choices);

/* The marked choice, NULL where none is. Owned by the choices. */
const struct choice *chooser_marked(const struct chooser *chooser, const struct choices *choices);

/* Draws it at the bottom of an area, in cells; returns the row of the mark. */
int chooser_draw(struct chooser *chooser, const struct choices *choices, const struct chooser_words *words,
		 int y, int height, int width);

#endif
