/* SPDX-License-Identifier: GPL-2.0-only */
#include "pager.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"

enum {
	WORDS_CELLS_MIN = 24,
	SHORT_INDENT = 2,
};

void pager_clear(struct pager *pager)
{
	arena_release(&pager->arena);
	pager->count = 0;
}

void pager_release(struct pager *pager)
{
	arena_release(&pager->arena);
	free(pager->lines);
	memset(pager, 0, sizeof(*pager));
}

void pager_add(struct pager *pager, const struct pager_line *line)
{
	struct pager_line *added;

	pager->lines = memory_grow(pager->lines, &pager->capacity, pager->count + 1, sizeof(*pager->lines));
	added = &pager->lines[pager->count++];
	*added = *line;
	added->text = arena_duplicate(&pager->arena, line->text, line->length);
}

void pager_add_lines(struct pager *pager, enum style style, const char *text, size_t length)
{
	while (length != 0) {
		const char *newline = memchr(text, '\n', length);
		size_t line = newline != NULL ? (size_t)(newline - text) : length;

		pager_add(pager,
			  &(struct pager_line){.text = text, .length = line, .style = style, .indent = 2});
		line += newline != NULL;
		text += line;
		length -= line;
	}
}

void pager_add_format(struct pager *pager, enum style style, const char *format, ...)
{
	va_list arguments;
	char text[1024];
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof(text))
		length = sizeof(text) - 1;
	pager_add(pager,
		  &(struct pager_line){.text = text, .length = (size_t)length, .style = style, .indent = 2});
}

void pager_move(struct pager *pager, enum action action)
{
	/* one row stays in sight */
	size_t page = pager->page > 1 ? pager->page - 1 : 1;

	pager->top = key_moved_row(action, pager->top, pager->rows, page);
}

/* Bytes of `text` that one row of `width` cells takes; it breaks at a blank where there is one. */
static size_t row_length(const char *text, size_t length, int width)
{
	size_t fitting = unicode_prefix(text, length, width, NULL);

	if (fitting == length)
		return length;
	for (size_t i = fitting; i > 0; i--) {
		if (text[i] == ' ')
			return i;
	}
	/* at least one character, however narrow the row */
	return fitting != 0 ? fitting : unicode_prefix(text, length, 2, NULL);
}

/* Draws one row of a line that starts `offset` bytes into it. */
static void draw_row(const struct pager_line *line, size_t offset, size_t length, int y, int x, int width)
{
	size_t head = line->head > offset ? line->head - offset : 0;
	int used = 0;

	head = head < length ? head : length;
	if (head != 0)
		used = draw_text(y, x, width, line->head_style, line->text + offset, head);
	if (head < length)
		draw_text(y, x + used, width - used, line->style, line->text + offset + head, length - head);
}

/* The indent of the rows after the first; a short one where it would leave no room for words. */
static int row_indent(const struct pager_line *line, int width)
{
	int most = width - WORDS_CELLS_MIN;

	if (line->indent <= most)
		return line->indent;
	return line->indent < SHORT_INDENT ? line->indent : SHORT_INDENT;
}

/* Draws the rows of a line that are in sight, `first` being the number of its first row; returns how many it
 * has. */
static size_t draw_line(const struct pager *pager, const struct pager_line *line, size_t first, bool draw,
			int y, int x, int width)
{
	size_t offset = 0, rows = 0;

	do {
		int indent = offset != 0 ? row_indent(line, width) : 0;
		size_t length = row_length(line->text + offset, line->length - offset, width - indent);
		size_t row = first + rows;

		if (draw && row >= pager->top && row < pager->top + pager->page)
			draw_row(line, offset, length, y + (int)(row - pager->top), x + indent,
				 width - indent);
		rows++;
		offset += length;
		while (offset < line->length && line->text[offset] == ' ')
			offset++;
		if (length == 0)
			break;
	} while (offset < line->length);
	return rows;
}

size_t pager_rows(const struct pager *pager, int width)
{
	size_t rows = 0;

	for (size_t i = 0; i < pager->count; i++)
		rows += draw_line(pager, &pager->lines[i], rows, false, 0, 0, width);
	return rows;
}

void pager_draw(struct pager *pager, int y, int x, int height, int width)
{
	size_t row = 0;

	if (height <= 0 || width <= 0)
		return;
	pager->page = (size_t)height;
	pager->rows = pager_rows(pager, width);
	if (pager->top + pager->page > pager->rows)
		pager->top = pager->rows > pager->page ? pager->rows - pager->page : 0;
	for (size_t i = 0; i < pager->count; i++)
		row += draw_line(pager, &pager->lines[i], row, true, y, x, width);
}
