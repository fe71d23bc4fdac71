/* SPDX-License-Identifier: GPL-2.0-only */
#include "prompt_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	TEXTS_MAX = 100
};

void prompt_history_begin(struct prompt_history *history)
{
	history->at = history->count;
	free(history->draft);
	history->draft = NULL;
}

static void remove_text(struct prompt_history *history, size_t index)
{
	free(history->texts[index]);
	history->count--;
	memmove(history->texts + index, history->texts + index + 1,
		(history->count - index) * sizeof(*history->texts));
}

void prompt_history_add(struct prompt_history *history, const char *text)
{
	for (size_t i = 0; i < history->count; i++) {
		if (strcmp(history->texts[i], text) == 0) {
			remove_text(history, i);
			break;
		}
	}
	if (history->count == TEXTS_MAX)
		remove_text(history, 0);
	*MEMORY_APPEND(history->texts, history->count, history->capacity) = memory_duplicate(text);
	prompt_history_begin(history);
}

const char *prompt_history_step(struct prompt_history *history, const char *present, bool back)
{
	if (back ? history->at == 0 : history->at == history->count)
		return NULL;
	if (history->at == history->count) {
		free(history->draft);
		history->draft = memory_duplicate(present);
	}
	history->at = back ? history->at - 1 : history->at + 1;
	/* the text that the line began with is often the newest */
	if (back && history->at + 1 == history->count && history->at != 0 &&
	    strcmp(history->texts[history->at], present) == 0)
		history->at--;
	return history->at == history->count ? history->draft : history->texts[history->at];
}

void prompt_history_release(struct prompt_history *history)
{
	while (history->count != 0)
		remove_text(history, history->count - 1);
	free(history->texts);
	free(history->draft);
	*history = (struct prompt_history){0};
}
