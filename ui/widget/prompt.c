/* SPDX-License-Identifier: GPL-2.0-only */
#include "prompt.h"

#include <string.h>

#include "base/unicode.h"

#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"

enum {
	PROMPT_BYTES_MAX = 4096
};

void prompt_set(struct prompt *prompt, const char *text)
{
	buffer_clear(&prompt->text);
	buffer_append_text(&prompt->text, text);
	prompt->cursor = prompt->text.length;
	prompt->is_offered = false;
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
