/* SPDX-License-Identifier: GPL-2.0-only */
#include "pager.h"

#include <stdarg.h>
#include <stdint.h>
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
	buffer_release(&pager->sought);
	free(pager->lines);
	memset(pager, 0, sizeof(*pager));
}

void pager_add(struct pager *pager, const struct pager_line *line)
{
	struct pager_line *added = MEMORY_APPEND(pager->lines, pager->count, pager->capacity);

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

/* --- matches --- */

/* First match at or after an offset of a line, or SIZE_MAX. */
static size_t find_match(const struct pager *pager, const struct pager_line *line, size_t offset)
{
	const size_t length = pager->sought.length;

	for (; length != 0 && offset + length <= line->length; offset++) {
		if (unicode_is_alike(line->text + offset, pager->sought.data, length))
			return offset;
	}
	return SIZE_MAX;
}

/* --- rows --- */

/* The indent of the rows after the first; a short one where it would leave no room for words. */
static int row_indent(const struct pager_line *line, int width)
{
	int most = width - WORDS_CELLS_MIN;

	if (line->indent <= most)
		return line->indent;
	return line->indent < SHORT_INDENT ? line->indent : SHORT_INDENT;
}

/* A row that a line takes on the screen. */
struct text_row {
	size_t offset, length; /* of its text in the line */
	int indent;
};

/* The row of a line that starts at `*offset`, which becomes that of the next; false behind the last. */
static bool take_row(const struct pager_line *line, int width, size_t *offset, struct text_row *ret_row)
{
	const size_t start = *offset;
	const int indent = start != 0 ? row_indent(line, width) : 0;
	size_t length;

	if (start != 0 && start >= line->length)
		return false;
	length = row_length(line->text + start, line->length - start, width - indent);
	*ret_row = (struct text_row){start, length, indent};
	*offset = start + length;
	while (*offset < line->length && line->text[*offset] == ' ')
		(*offset)++;
	/* one row at least, also of an empty line and where no character fits */
	if (length == 0)
		*offset = line->length != 0 ? line->length : 1;
	return true;
}

static size_t line_rows(const struct pager_line *line, int width)
{
	struct text_row row;
	size_t offset = 0, rows = 0;

	while (take_row(line, width, &offset, &row))
		rows++;
	return rows;
}

/* The end of the stretch of one style that starts at `offset`, and that style. */
static size_t stretch_end(const struct pager *pager, const struct pager_line *line, size_t offset, size_t end,
			  enum style *ret_style)
{
	size_t length = pager->sought.length, from = offset >= length ? offset - length + 1 : 0;
	size_t match = find_match(pager, line, from);

	/* matches do not overlap: each begins where the one before has ended */
	while (match != SIZE_MAX && match + length <= offset)
		match = find_match(pager, line, match + 1);
	*ret_style = offset < line->head ? line->head_style : line->style;
	if (match <= offset) {
		const bool current = (size_t)(line - pager->lines) == pager->match_line &&
				     match == pager->match_offset;

		*ret_style = current ? STYLE_MATCH_CURRENT : STYLE_MATCH;
		return match + length < end ? match + length : end;
	}
	if (offset < line->head && line->head < end)
		end = line->head;
	return match < end ? match : end;
}

static void draw_row(const struct pager *pager, const struct pager_line *line, const struct text_row *row,
		     int y, int x, int width)
{
	const size_t end = row->offset + row->length;
	int used = 0;

	for (size_t offset = row->offset; offset < end;) {
		enum style style;
		size_t next = stretch_end(pager, line, offset, end, &style);

		used += draw_text(y, x + used, width - used, style, line->text + offset, next - offset);
		offset = next;
	}
}

size_t pager_rows(const struct pager *pager, int width)
{
	size_t rows = 0;

	for (size_t i = 0; i < pager->count; i++)
		rows += line_rows(&pager->lines[i], width);
	return rows;
}

void pager_draw(struct pager *pager, int y, int x, int height, int width)
{
	size_t number = 0;

	if (height <= 0 || width <= 0)
		return;
	pager->page = (size_t)height;
	pager->rows = pager_rows(pager, width);
	pager->width = width;
	if (pager->top + pager->page > pager->rows)
		pager->top = pager->rows > pager->page ? pager->rows - pager->page : 0;
	for (size_t i = 0; i < pager->count; i++) {
		const struct pager_line *line = &pager->lines[i];
		struct text_row row;
		size_t offset = 0;

		for (; take_row(line, width, &offset, &row); number++) {
			if (number >= pager->top && number < pager->top + pager->page)
				draw_row(pager, line, &row, y + (int)(number - pager->top), x + row.indent,
					 width - row.indent);
		}
	}
}

void pager_draw_more(const struct pager *pager, int y, int x, int cells)
{
	const size_t end = pager->top + pager->page;
	struct buffer text = {0};

	draw_append_others(&text, pager->top, end < pager->rows ? pager->rows - end : 0);
	draw_text(y, x, cells, STYLE_STRONG, text.data, text.length);
	buffer_release(&text);
}

void pager_draw_start(struct pager *pager, int y, int x, int height, int width)
{
	const bool is_cut = height > 1 && pager_rows(pager, width) > (size_t)height;

	pager_draw(pager, y, x, is_cut ? height - 1 : height, width);
	if (is_cut)
		pager_draw_more(pager, y + height - 1, x, width);
}

/* --- search --- */

/* Brings the row of the match in sight, in the middle where it was not. */
static void show_match(struct pager *pager)
{
	size_t number = 0, offset = 0;
	struct text_row row;

	if (pager->width == 0)
		return;
	for (size_t i = 0; i < pager->match_line; i++)
		number += line_rows(&pager->lines[i], pager->width);
	while (take_row(&pager->lines[pager->match_line], pager->width, &offset, &row) &&
	       pager->match_offset >= row.offset + row.length)
		number++;
	if (number < pager->top || number >= pager->top + pager->page)
		pager->top = number > pager->page / 2 ? number - pager->page / 2 : 0;
}

/* The first match from a place on, going on at the start. */
static bool find_from(struct pager *pager, size_t line, size_t offset)
{
	for (size_t i = 0; i <= pager->count && pager->count != 0; i++) {
		const size_t at = (line + i) % pager->count;
		const size_t match = find_match(pager, &pager->lines[at], i == 0 ? offset : 0);

		if (match == SIZE_MAX)
			continue;
		pager->match_line = at;
		pager->match_offset = match;
		return true;
	}
	pager->match_line = SIZE_MAX;
	return false;
}

/* The last match of a line before an offset, or SIZE_MAX. */
static size_t find_before(const struct pager *pager, const struct pager_line *line, size_t offset)
{
	size_t found = SIZE_MAX;

	for (size_t match = find_match(pager, line, 0); match < offset;
	     match = find_match(pager, line, match + pager->sought.length))
		found = match;
	return found;
}

static bool find_back(struct pager *pager)
{
	for (size_t i = 0; i <= pager->count; i++) {
		const size_t at = (pager->match_line + pager->count - i) % pager->count;
		const size_t match = find_before(pager, &pager->lines[at],
						 i == 0 ? pager->match_offset : SIZE_MAX);

		if (match == SIZE_MAX)
			continue;
		pager->match_line = at;
		pager->match_offset = match;
		return true;
	}
	return false;
}

/* The line that the first row in sight is of. */
static size_t first_line(const struct pager *pager)
{
	size_t line = 0, number = 0;

	while (pager->width != 0 && line < pager->count) {
		number += line_rows(&pager->lines[line], pager->width);
		if (number > pager->top)
			return line;
		line++;
	}
	return 0;
}

void pager_search(struct pager *pager, const char *text)
{
	buffer_clear(&pager->sought);
	buffer_append_text(&pager->sought, text);
	pager->match_line = SIZE_MAX;
	if (*text != '\0' && find_from(pager, first_line(pager), 0))
		show_match(pager);
}

void pager_search_next(struct pager *pager, bool backwards)
{
	bool found;

	/* the text may have been made again, shorter */
	if (pager->match_line >= pager->count)
		found = pager->sought.length != 0 && find_from(pager, first_line(pager), 0);
	else if (backwards)
		found = find_back(pager);
	else
		found = find_from(pager, pager->match_line, pager->match_offset + pager->sought.length);
	if (found)
		show_match(pager);
}

size_t pager_matches(const struct pager *pager, size_t *ret_number)
{
	size_t count = 0;

	*ret_number = 0;
	for (size_t i = 0; i < pager->count; i++) {
		for (size_t match = find_match(pager, &pager->lines[i], 0); match != SIZE_MAX;
		     match = find_match(pager, &pager->lines[i], match + pager->sought.length)) {
			count++;
			if (i == pager->match_line && match == pager->match_offset)
				*ret_number = count;
		}
	}
	return count;
}
