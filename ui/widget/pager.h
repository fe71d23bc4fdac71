/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PAGER_H
#define CTOP_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"

#include "ui/terminal/draw.h"
#include "ui/terminal/keys.h"

/* Lines of text that scroll and wrap at blanks: help, evidence, explanations. A zeroed struct is empty. */
struct pager {
	struct arena arena;
	struct pager_line *lines;
	size_t count, capacity;
	size_t top;  /* first row shown, counted after wrapping */
	size_t page; /* rows shown by the last pager_draw() */
	size_t rows; /* rows there were then */
	int width;   /* in cells, then */

	struct buffer sought; /* what is searched for; empty: nothing */
	size_t match_line,
		match_offset; /* of the match that the user is at; match_line is SIZE_MAX for none */
};

struct pager_line {
	const char *text; /* owned by the pager */
	size_t length;
	size_t head; /* this many bytes at the start have the head's style */
	enum style head_style, style;
	int indent; /* of the rows that a long line goes on in, cells */
};

/* Forgets the lines; keeps the position, so that a text that is made again stays where it was. */
void pager_clear(struct pager *pager);

/* Adds one line. `head` bytes of it are drawn in head_style. */
void pager_add(struct pager *pager, const struct pager_line *line);

/* Adds the lines of a text, which end with a newline each (the last one may lack it). */
void pager_add_lines(struct pager *pager, enum style style, const char *text, size_t length);

/* Adds a formatted line. */
void pager_add_format(struct pager *pager, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Scrolls by one of the actions that move rows; pager_draw() keeps it inside the text. */
void pager_move(struct pager *pager, enum action action);

/* Rows the text takes when it is `width` cells wide. */
size_t pager_rows(const struct pager *pager, int width);

/* Draws what fits in `height` rows of `width` cells. */
void pager_draw(struct pager *pager, int y, int x, int height, int width);

/*
 * Says in one row of `cells` cells how many rows are above and below those that the last pager_draw() drew;
 * draws nothing where there are none.
 */
void pager_draw_more(const struct pager *pager, int y, int x, int cells);

/* Draws a text that cannot be scrolled: where it does not fit, the last row says how many rows are missing.
 */
void pager_draw_start(struct pager *pager, int y, int x, int height, int width);

/*
 * Searches for a text (small and capital letters of ASCII are alike) and goes to its first match from the
 * first row in sight on, or from the start where there is none. An empty text ends a search.
 */
void pager_search(struct pager *pager, const char *text);

/* Goes to the match after the one that the user is at, or before it; the first follows the last. */
void pager_search_next(struct pager *pager, bool backwards);

/* The number of matches, and the number of the one that the user is at, from 1; 0 for none. */
size_t pager_matches(const struct pager *pager, size_t *ret_number);

void pager_release(struct pager *pager);

#endif
