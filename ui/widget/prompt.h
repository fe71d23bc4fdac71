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

/* The text, ended by NUL; valid until it changes. */
const char *prompt_text(struct prompt *prompt);

/* Inserts a typed character at the cursor; ignores control characters. */
void prompt_insert(struct prompt *prompt, int key);

/* Moves or deletes; ignores actions that a prompt does not have. */
void prompt_edit(struct prompt *prompt, enum action action);

/*
 * Draws `label` and the line in one row of `cells` cells, scrolled so that the cursor is visible. Returns the
 * cell of the cursor.
 */
int prompt_draw(const struct prompt *prompt, int y, int x, int cells, const char *label);

/* Texts that were typed before, the newest last. A zeroed struct has none. */
struct prompt_history {
	char **texts; /* owned */
	size_t count, capacity;
	size_t at;   /* of the one on the line; `count`: what is being typed */
	char *draft; /* that was being typed before an earlier one was looked at, owned */
};

/* A new line begins, behind all that was typed before. */
void prompt_history_begin(struct prompt_history *history);

/* Adds a text that was accepted as the newest; one that is there already moves. Of many the oldest are
 * forgotten. */
void prompt_history_add(struct prompt_history *history, const char *text);

/*
 * The text before the one on the line, which is `present`, or the one after it; what was being typed is
 * behind the newest. NULL: there is none. Valid until the next call.
 */
const char *prompt_history_step(struct prompt_history *history, const char *present, bool back);

void prompt_history_release(struct prompt_history *history);

#endif
