/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PAGER_H
#define CTOP_PAGER_H

#include <stddef.h>

#include "base/arena.h"

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

void pager_release(struct pager *pager);

#endif
