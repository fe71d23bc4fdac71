/* SPDX-License-Identifier: GPL-2.0-only */
#include "prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"

#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"

enum {
	PROMPT_BYTES_MAX = 4096,
	HISTORY_TEXTS_MAX = 100,
};

void prompt_set(struct prompt *prompt, const char *text)
{
	buffer_clear(&prompt->text);
	buffer_append_text(&prompt->text, text);
	prompt->cursor = prompt->text.length;
	prompt->is_offered = false;
}

const char *prompt_text(struct prompt *prompt)
{
	buffer_append_text(&prompt->text, "");
	return prompt->text.data;
}

/* Start of the character before `position`, its combining marks included. */
static size_t previous_position(const struct buffer *text, size_t position)
{
	while (position != 0) {
		size_t end = position--;

		while (position != 0 && ((unsigned char)text->data[position] & 0xc0) == 0x80)
			position--;
		if (unicode_width(text->data + position, end - position) > 0)
			break;
	}
	return position;
}

/* End of the character at `position`, its combining marks included. */
static size_t next_position(const struct buffer *text, size_t position)
{
	uint32_t scalar;
	size_t used;

	if (position >= text->length)
		return text->length;
	used = unicode_decode(text->data + position, text->length - position, &scalar);
	position += used != 0 ? used : 1;
	if (position < text->length)
		position += unicode_prefix(text->data + position, text->length - position, 0, NULL);
	return position;
}

static void delete_range(struct prompt *prompt, size_t start, size_t end)
{
	struct buffer *text = &prompt->text;

	if (start >= end)
		return;
	memmove(text->data + start, text->data + end, text->length - end + 1);
	text->length -= end - start;
	prompt->cursor = start;
}

void prompt_insert(struct prompt *prompt, int key)
{
	struct buffer typed = {0};
	struct buffer *text = &prompt->text;

	if (key < ' ' || (key >= 0x7f && key < 0xa0) || key >= KEY_FUNCTION ||
	    text->length > PROMPT_BYTES_MAX)
		return;
	if (prompt->is_offered)
		prompt_set(prompt, "");
	unicode_append(&typed, (uint32_t)key);
	buffer_reserve(text, typed.length);
	memmove(text->data + prompt->cursor + typed.length, text->data + prompt->cursor,
		text->length - prompt->cursor);
	memcpy(text->data + prompt->cursor, typed.data, typed.length);
	text->length += typed.length;
	text->data[text->length] = '\0';
	prompt->cursor += typed.length;
	buffer_release(&typed);
}

static size_t word_start(const struct prompt *prompt)
{
	const char *text = prompt->text.data;
	size_t start = prompt->cursor;

	while (start != 0 && text[start - 1] == ' ')
		start--;
	while (start != 0 && text[start - 1] != ' ')
		start--;
	return start;
}

void prompt_edit(struct prompt *prompt, enum action action)
{
	struct buffer *text = &prompt->text;

	prompt->is_offered = false;
	switch (action) {
	case ACTION_CURSOR_LEFT:
		prompt->cursor = previous_position(text, prompt->cursor);
		break;
	case ACTION_CURSOR_RIGHT:
		prompt->cursor = next_position(text, prompt->cursor);
		break;
	case ACTION_CURSOR_START:
		prompt->cursor = 0;
		break;
	case ACTION_CURSOR_END:
		prompt->cursor = text->length;
		break;
	case ACTION_DELETE_BEFORE:
		delete_range(prompt, previous_position(text, prompt->cursor), prompt->cursor);
		break;
	case ACTION_DELETE_AT:
		delete_range(prompt, prompt->cursor, next_position(text, prompt->cursor));
		break;
	case ACTION_DELETE_WORD:
		delete_range(prompt, word_start(prompt), prompt->cursor);
		break;
	case ACTION_DELETE_LINE:
		delete_range(prompt, 0, text->length);
		break;
	case ACTION_DELETE_REST:
		delete_range(prompt, prompt->cursor, text->length);
		break;
	default:
		break;
	}
}

int prompt_draw(const struct prompt *prompt, int y, int x, int cells, const char *label)
{
	int used = draw_string(y, x, cells, STYLE_STRONG, label);
	int room = cells - used - 1;
	size_t start = 0;

	x += used;
	while (room > 0 && start < prompt->cursor &&
	       draw_width(prompt->text.data + start, prompt->cursor - start) > room)
		start = next_position(&prompt->text, start);
	if (prompt->text.length > start)
		draw_text(y, x, room, prompt->is_offered ? STYLE_DIM : STYLE_NORMAL,
			  prompt->text.data + start, prompt->text.length - start);
	if (prompt->cursor > start)
		x += draw_width(prompt->text.data + start, prompt->cursor - start);
	return x;
}

/* --- history --- */

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
	if (history->count == HISTORY_TEXTS_MAX)
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
