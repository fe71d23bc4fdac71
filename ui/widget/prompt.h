/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROMPT_H
#define CTOP_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#include "ui/terminal/keys.h"

/* One line being typed: UTF-8 text and a cursor in it. A zeroed struct is an empty line. */
struct prompt {
	struct buffer text;
	size_t cursor;   /* bytes before it */
	bool is_offered; /* what is typed takes the place of the text, unless the cursor was moved before */
};

/* Starts with `text`, the cursor at its end. */
void prompt_set(struct prompt *prompt, const char *text);

/* Inserts a typed character at the cursor; ignores control characters. */
void prompt_insert(struct prompt *prompt, int key);

/* Moves or deletes; ignores actions that a prompt does not have. */
void prompt_edit(struct prompt *prompt, enum action action);

/*
 * Draws `label` and the line in one row of `cells` cells, scrolled so that the cursor is visible. Returns the
 * cell of the cursor.
 */
int prompt_draw(const struct prompt *prompt, int y, int x, int cells, const char *label);

#endif
