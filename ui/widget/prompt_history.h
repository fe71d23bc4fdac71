/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROMPT_HISTORY_H
#define CTOP_PROMPT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

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
