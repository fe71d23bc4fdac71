/* SPDX-License-Identifier: GPL-2.0-only */
#include "picture.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* In tenths of a pixel: a cell is 0.6 em wide, as those of nearly all fonts of fixed width are. */
enum {
	CELL_WIDTH = 84,
	LINE_HEIGHT = 170,
	BASELINE = 130,
	MARGIN = 80,
	FONT_PIXELS = 14,
	GAP = 2, /* so many blanks end a run, so that the next one starts exactly in its column */
};

#define FOREGROUND 0xd4d4d4U
#define BACKGROUND 0x1c1c1cU

/* The sixteen colours that terminals choose for themselves. */
static const uint32_t first_colors[16] = {0x1c1c1c, 0xe06c75, 0x7fbf5f, 0xd7af5f, 0x5f9fdf, 0xc678dd,
					  0x56b6c2, 0xc8c8c8, 0x6c6c6c, 0xff7b85, 0x98d878, 0xf0c674,
					  0x7fb8ff, 0xd898f0, 0x70d0dc, 0xffffff};

/* How a cell looks. */
struct look {
	uint32_t foreground, background; /* 0xRRGGBB */
	bool bold, underline, italic;
};

static uint32_t rgb_of(const VTermColor *color, bool is_default, uint32_t fallback)
{
	static const uint8_t steps[6] = {0, 95, 135, 175, 215, 255};
	uint32_t number, gray;

	if (is_default)
		return fallback;
	if (!VTERM_COLOR_IS_INDEXED(color))
		return (uint32_t)color->rgb.red << 16 | (uint32_t)color->rgb.green << 8 | color->rgb.blue;
	number = color->indexed.idx;
	if (number < 16)
		return first_colors[number];
	/* the cube of six steps and the greys of xterm */
	if (number < 232) {
		number -= 16;
		return (uint32_t)steps[number / 36] << 16 | (uint32_t)steps[number / 6 % 6] << 8 |
		       steps[number % 6];
	}
	gray = 8 + (number - 232) * 10;
	return gray << 16 | gray << 8 | gray;
}

static struct look look_of(const VTermScreenCell *cell)
{
	struct look look = {
		.foreground = rgb_of(&cell->fg, VTERM_COLOR_IS_DEFAULT_FG(&cell->fg), FOREGROUND),
		.background = rgb_of(&cell->bg, VTERM_COLOR_IS_DEFAULT_BG(&cell->bg), BACKGROUND),
		.bold = cell->attrs.bold,
		.underline = cell->attrs.underline != 0,
		.italic = cell->attrs.italic,
	};

	if (cell->attrs.reverse) {
		const uint32_t foreground = look.foreground;

		look.foreground = look.background;
		look.background = foreground;
	}
	return look;
}

static bool is_same_text(const struct look *a, const struct look *b)
{
	return a->foreground == b->foreground && a->bold == b->bold && a->underline == b->underline &&
	       a->italic == b->italic;
}

static VTermScreenCell cell_at(VTermScreen *screen, int row, int column)
{
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	vterm_screen_get_cell(screen, (VTermPos){.row = row, .col = column}, &cell);
	return cell;
}

/* The second cell of a wide character counts as blank, too. */
static bool is_blank(const VTermScreenCell *cell)
{
	return cell->chars[0] == 0 || cell->chars[0] == ' ' || cell->chars[0] == UINT32_MAX;
}

static int width_of(const VTermScreenCell *cell)
{
	return cell->width > 1 ? cell->width : 1;
}

static void write_scalar(FILE *stream, uint32_t scalar)
{
	if (scalar < 0x80) {
		fputc((int)scalar, stream);
		return;
	}
	if (scalar < 0x800) {
		fputc((int)(0xc0 | scalar >> 6), stream);
	} else {
		if (scalar < 0x10000) {
			fputc((int)(0xe0 | scalar >> 12), stream);
		} else {
			fputc((int)(0xf0 | scalar >> 18), stream);
			fputc((int)(0x80 | (scalar >> 12 & 0x3f)), stream);
		}
		fputc((int)(0x80 | (scalar >> 6 & 0x3f)), stream);
	}
	fputc((int)(0x80 | (scalar & 0x3f)), stream);
}

static void write_escaped(FILE *stream, uint32_t scalar)
{
	if (scalar == '&')
		fputs("&amp;", stream);
	else if (scalar == '<')
		fputs("&lt;", stream);
	else if (scalar == '>')
		fputs("&gt;", stream);
	else
		write_scalar(stream, scalar);
}

/* Tenths, as few digits as it takes. */
static void write_tenths(FILE *stream, const char *name, int tenths)
{
	fprintf(stream, tenths % 10 ? " %s=\"%d.%d\"" : " %s=\"%d\"", name, tenths / 10, tenths % 10);
}

/* Cells from `from` to before `to` have one look. */
static void write_run(FILE *stream, VTermScreen *screen, int row, int from, int to, const struct look *look)
{
	fputs("<tspan", stream);
	write_tenths(stream, "x", MARGIN + from * CELL_WIDTH);
	/* whatever font is there, its characters fill their cells */
	if (to - from > 1)
		write_tenths(stream, "textLength", (to - from) * CELL_WIDTH);
	if (look->foreground != FOREGROUND)
		fprintf(stream, " fill=\"#%06" PRIx32 "\"", look->foreground);
	if (look->bold)
		fputs(" font-weight=\"bold\"", stream);
	if (look->italic)
		fputs(" font-style=\"italic\"", stream);
	if (look->underline)
		fputs(" text-decoration=\"underline\"", stream);
	fputc('>', stream);
	for (int column = from; column < to;) {
		const VTermScreenCell cell = cell_at(screen, row, column);

		if (is_blank(&cell))
			fputc(' ', stream);
		else
			for (size_t i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i] != 0; i++)
				write_escaped(stream, cell.chars[i]);
		column += width_of(&cell);
	}
	fputs("</tspan>", stream);
}

/* One behind the last cell of the run that begins at `from`: it ends where the look changes, or before a gap.
 */
static int end_of_run(VTermScreen *screen, int row, int from, int columns, const struct look *look)
{
	int end = from, blanks = 0;

	for (int column = from; column < columns;) {
		const VTermScreenCell cell = cell_at(screen, row, column);
		const struct look other = look_of(&cell);

		if (is_blank(&cell) && !other.underline) {
			if (++blanks == GAP)
				return end;
		} else {
			if (!is_same_text(look, &other))
				return end;
			blanks = 0;
			end = column + width_of(&cell);
		}
		column += width_of(&cell);
	}
	return end < columns ? end : columns;
}

static void write_backgrounds(FILE *stream, VTermScreen *screen, int row, int columns)
{
	for (int column = 0, end; column < columns; column = end) {
		const VTermScreenCell cell = cell_at(screen, row, column);
		const struct look look = look_of(&cell);

		for (end = column + 1; end < columns; end++) {
			const VTermScreenCell next = cell_at(screen, row, end);

			/* what libvterm says of the second cell of a wide character is nothing */
			if (next.chars[0] != UINT32_MAX && look_of(&next).background != look.background)
				break;
		}
		if (look.background == BACKGROUND)
			continue;
		fputs("<rect", stream);
		write_tenths(stream, "x", MARGIN + column * CELL_WIDTH);
		write_tenths(stream, "y", MARGIN + row * LINE_HEIGHT);
		write_tenths(stream, "width", (end - column) * CELL_WIDTH);
		write_tenths(stream, "height", LINE_HEIGHT);
		fprintf(stream, " fill=\"#%06" PRIx32 "\"/>\n", look.background);
	}
}

static void write_row(FILE *stream, VTermScreen *screen, int row, int columns)
{
	bool is_open = false;

	for (int column = 0; column < columns;) {
		const VTermScreenCell cell = cell_at(screen, row, column);
		const struct look look = look_of(&cell);
		int end;

		if (is_blank(&cell) && !look.underline) {
			column++;
			continue;
		}
		if (!is_open) {
			fputs("<text", stream);
			write_tenths(stream, "y", MARGIN + row * LINE_HEIGHT + BASELINE);
			fputc('>', stream);
		}
		is_open = true;
		end = end_of_run(screen, row, column, columns, &look);
		write_run(stream, screen, row, column, end, &look);
		column = end;
	}
	if (is_open)
		fputs("</text>\n", stream);
}

void picture_write_svg(FILE *stream, VTermScreen *screen, int columns, int rows, const char *title)
{
	const int width = 2 * MARGIN + columns * CELL_WIDTH, height = 2 * MARGIN + rows * LINE_HEIGHT;

	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", stream);
	write_tenths(stream, "width", width);
	write_tenths(stream, "height", height);
	fprintf(stream, " viewBox=\"0 0 %d.%d %d.%d\" role=\"img\"", width / 10, width % 10, height / 10,
		height % 10);
	fprintf(stream,
		" font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"%d\""
		" fill=\"#%06x\" xml:space=\"preserve\">\n<title>",
		FONT_PIXELS, FOREGROUND);
	for (const char *byte = title; *byte != '\0'; byte++) {
		/* bytes of UTF-8 stand for themselves */
		if ((unsigned char)*byte < 0x80)
			write_escaped(stream, (uint32_t)*byte);
		else
			fputc(*byte, stream);
	}
	fprintf(stream, "</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#%06x\"/>\n",
		BACKGROUND);
	for (int row = 0; row < rows; row++)
		write_backgrounds(stream, screen, row, columns);
	for (int row = 0; row < rows; row++)
		write_row(stream, screen, row, columns);
	fputs("</svg>\n", stream);
}

/* One behind the last cell of a row that is not blank. */
static int end_of_row(VTermScreen *screen, int row, int columns)
{
	int end = 0;

	for (int column = 0; column < columns; column++) {
		const VTermScreenCell cell = cell_at(screen, row, column);

		if (!is_blank(&cell))
			end = column + 1;
	}
	return end;
}

void picture_write_text(FILE *stream, VTermScreen *screen, int columns, int rows)
{
	int empty = 0;

	for (int row = 0; row < rows; row++) {
		const int end = end_of_row(screen, row, columns);

		if (end == 0) {
			empty++;
			continue;
		}
		for (; empty > 0; empty--)
			fputc('\n', stream);
		for (int column = 0; column < end;) {
			const VTermScreenCell cell = cell_at(screen, row, column);

			if (is_blank(&cell))
				fputc(' ', stream);
			else
				for (size_t i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i] != 0; i++)
					write_scalar(stream, cell.chars[i]);
			column += width_of(&cell);
		}
		fputc('\n', stream);
	}
}
