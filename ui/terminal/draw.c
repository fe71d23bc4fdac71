/* SPDX-License-Identifier: GPL-2.0-only */
#include "draw.h"

#include <curses.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/unicode.h"

enum {
	COLOR_NONE = -1,
	TEXT_CELLS_MAX = 1024
};

static const struct {
	attr_t plain, colored;
	short color;
} styles[STYLE_COUNT] = {
#define STYLE(id, plain_attributes, color_name, colored_attributes)                                          \
	[STYLE_##id] = {plain_attributes, colored_attributes, COLOR_##color_name},
#include "styles.def"
#undef STYLE
};

static bool use_colors;
static bool utf8_frames;
static const struct screen_marks *marks = &screen_marks_ascii;
static struct buffer printable; /* reused for every text */

void draw_initialise(bool no_color, bool ascii)
{
	const char *variable = getenv("NO_COLOR");

	use_colors = !no_color && (variable == NULL || *variable == '\0') && has_colors() &&
		     start_color() == OK && use_default_colors() == OK;
	for (short color = COLOR_BLACK; use_colors && color <= COLOR_WHITE; color++)
		init_pair((short)(color + 1), color, -1);
	utf8_frames = unicode_in_locale() && !ascii;
	marks = utf8_frames ? &screen_marks_utf8 : &screen_marks_ascii;
}

void draw_release(void)
{
	buffer_release(&printable);
}

const struct screen_marks *draw_marks(void)
{
	return marks;
}

int draw_screen_width(void)
{
	return COLS;
}

int draw_screen_height(void)
{
	return LINES;
}

void draw_begin(void)
{
	erase();
}

void draw_end(int y, int x)
{
	move(y, x);
	wnoutrefresh(stdscr);
	doupdate();
}

static void set_style(enum style style)
{
	bool colored = use_colors && styles[style].color != COLOR_NONE;

	attr_set(use_colors ? styles[style].colored : styles[style].plain,
		 colored ? (short)(styles[style].color + 1) : 0, NULL);
}

/* A character that this locale can send and this terminal shows in a known width, else the replacement. */
static wchar_t drawable(uint32_t scalar)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};

	if (wcwidth((wchar_t)scalar) < 0 || wcrtomb(bytes, (wchar_t)scalar, &state) == (size_t)-1)
		return unicode_in_locale() ? L'\ufffd' : L'?';
	return (wchar_t)scalar;
}

static void put(int y, int x, const char *text, size_t length)
{
	wchar_t characters[TEXT_CELLS_MAX];
	int count = 0;

	while (length != 0 && count < TEXT_CELLS_MAX) {
		uint32_t scalar = '?';
		size_t used = unicode_decode(text, length, &scalar);

		used = used != 0 ? used : 1;
		characters[count++] = drawable(scalar);
		text += used;
		length -= used;
	}
	mvaddnwstr(y, x, characters, count);
}

static void make_printable(const char *text, size_t length)
{
	buffer_clear(&printable);
	unicode_append_printable(&printable, text, length, unicode_in_locale() ? "\xef\xbf\xbd" : "?");
}

int draw_width(const char *text, size_t length)
{
	make_printable(text, length);
	return unicode_width(printable.data, printable.length);
}

/* Whether anything of the cells is on the screen; shortens `*cells` to what fits. */
static bool clip(int y, int x, int *cells)
{
	if (*cells > draw_screen_width() - x)
		*cells = draw_screen_width() - x;
	return y >= 0 && y < draw_screen_height() && x >= 0 && *cells > 0;
}

int draw_text(int y, int x, int cells, enum style style, const char *text, size_t length)
{
	size_t fitting;
	int used;

	if (!clip(y, x, &cells))
		return 0;
	make_printable(text, length);
	set_style(style);
	fitting = unicode_prefix(printable.data, printable.length, cells, &used);
	if (fitting == printable.length) {
		put(y, x, printable.data, fitting);
		return used;
	}
	fitting = unicode_prefix(printable.data, printable.length, cells - 1, &used);
	put(y, x, printable.data, fitting);
	put(y, x + used, marks->ellipsis, strlen(marks->ellipsis));
	return used + 1;
}

int draw_string(int y, int x, int cells, enum style style, const char *text)
{
	return draw_text(y, x, cells, style, text, strlen(text));
}

int draw_tail(int y, int x, int cells, enum style style, const char *text, size_t length)
{
	int width, used;
	size_t skipped;

	if (!clip(y, x, &cells))
		return 0;
	width = draw_width(text, length);
	if (width <= cells)
		return draw_text(y, x, cells, style, text, length);
	/* where a wide character is cut, one cell stays unused */
	skipped = unicode_prefix(printable.data, printable.length, width - cells + 1, &used);
	while (skipped < printable.length && width - used > cells - 1) {
		uint32_t scalar = 0;
		size_t step = unicode_decode(printable.data + skipped, printable.length - skipped, &scalar);

		step = step != 0 ? step : 1;
		used += unicode_width(printable.data + skipped, step);
		skipped += step;
	}
	set_style(style);
	put(y, x, marks->ellipsis, strlen(marks->ellipsis));
	put(y, x + 1, printable.data + skipped, printable.length - skipped);
	return 1 + width - used;
}

void draw_right(int y, int x, int cells, enum style style, const char *text)
{
	int width = draw_width(text, strlen(text));

	if (width < cells)
		x += cells - width;
	draw_text(y, x, cells, style, text, strlen(text));
}

void draw_fill(int y, int x, int cells, enum style style)
{
	if (!clip(y, x, &cells))
		return;
	set_style(style);
	for (int i = 0; i < cells; i++)
		mvaddch(y, x + i, ' ');
}

static void draw_rule(int y, int x, int width, const char *left, const char *middle, const char *right)
{
	draw_string(y, x, 1, STYLE_FRAME, left);
	for (int i = 1; i < width - 1; i++)
		draw_string(y, x + i, 1, STYLE_FRAME, middle);
	draw_string(y, x + width - 1, 1, STYLE_FRAME, right);
}

void draw_box(int y, int x, int height, int width, const char *title)
{
	const char *bar = utf8_frames ? "│" : "|";

	draw_rule(y, x, width, utf8_frames ? "┌" : "+", utf8_frames ? "─" : "-", utf8_frames ? "┐" : "+");
	for (int row = 1; row < height - 1; row++) {
		draw_string(y + row, x, 1, STYLE_FRAME, bar);
		draw_fill(y + row, x + 1, width - 2, STYLE_NORMAL);
		draw_string(y + row, x + width - 1, 1, STYLE_FRAME, bar);
	}
	draw_rule(y + height - 1, x, width, utf8_frames ? "└" : "+", utf8_frames ? "─" : "-",
		  utf8_frames ? "┘" : "+");
	if (width > 6) {
		int used = draw_string(y, x + 3, width - 6, STYLE_STRONG, title);

		draw_string(y, x + 2, 1, STYLE_FRAME, " ");
		draw_string(y, x + 3 + used, 1, STYLE_FRAME, " ");
	}
}
