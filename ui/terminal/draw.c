/* SPDX-License-Identifier: GPL-2.0-only */
#include "draw.h"

#include <curses.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/humanize.h"
#include "base/unicode.h"

#include "frame.h"

static const struct {
	attr_t plain, colored;
	enum hue hue;
	const char *legend;
} styles[STYLE_COUNT] = {
#define STYLE(id, plain_attributes, hue_name, colored_attributes, legend_text)                               \
	[STYLE_##id] = {plain_attributes, colored_attributes, HUE_##hue_name, legend_text},
#include "styles.def"
#undef STYLE
};

enum {
	/* pairs of curses: 0 is the terminal's own, those of hues follow */
	PAIR_OF_HUES = 1,
	PAIR_SHADE = PAIR_OF_HUES + HUE_COUNT,
	/* looks of cells: those of the styles come first */
	LOOK_SHADE = STYLE_COUNT,
	LOOK_SHADE_BOLD,
	LOOK_COUNT,
};

static struct frame_look looks[LOOK_COUNT];
static bool has_shade;
static bool utf8_frames;
static const struct screen_marks *marks = &screen_marks_ascii;
static struct buffer printable, shortened; /* reused for every text */

/* Starts colours, where the user wants any, on the terminal's own background. */
static enum theme_depth start_colors(enum theme theme)
{
	const char *variable = getenv("NO_COLOR"); /* no-color.org */

	if (theme == THEME_MONO || (variable != NULL && *variable != '\0') || !has_colors() ||
	    start_color() != OK || use_default_colors() != OK || COLOR_PAIRS <= PAIR_SHADE)
		return THEME_DEPTH_NONE;
	/* user_caps(5): with RGB the number of a colour is what it looks like */
	if (tigetflag("RGB") > 0 && COLORS >= 1 << 24)
		return THEME_DEPTH_DIRECT;
	return COLORS >= 256 ? THEME_DEPTH_INDEXED : THEME_DEPTH_BASIC;
}

static void set_look(enum theme theme, enum theme_depth depth, enum style style)
{
	const enum hue hue = styles[style].hue;

	looks[style].pair = 0;
	looks[style].attributes = depth == THEME_DEPTH_NONE ? styles[style].plain : styles[style].colored;
	if (theme_hue(theme, depth, hue) == THEME_NO_COLOR)
		return;
	looks[style].pair = (short)(PAIR_OF_HUES + (int)hue);
	/* a colour that is dim already */
	looks[style].attributes &= ~A_DIM;
}

void draw_initialise(enum theme theme, bool ascii)
{
	const enum theme_depth depth = start_colors(theme);
	int text, background;

	for (enum hue hue = 0; hue < HUE_COUNT; hue++) {
		if (theme_hue(theme, depth, hue) != THEME_NO_COLOR)
			init_extended_pair(PAIR_OF_HUES + (int)hue, theme_hue(theme, depth, hue), -1);
	}
	has_shade = theme_shade(theme, depth, &text, &background);
	if (has_shade)
		init_extended_pair(PAIR_SHADE, text, background);
	for (enum style style = 0; style < STYLE_COUNT; style++)
		set_look(theme, depth, style);
	looks[LOOK_SHADE] = (struct frame_look){.attributes = A_NORMAL, .pair = PAIR_SHADE};
	looks[LOOK_SHADE_BOLD] = (struct frame_look){.attributes = A_BOLD, .pair = PAIR_SHADE};
	utf8_frames = unicode_in_locale() && !ascii;
	marks = utf8_frames ? &screen_marks_utf8 : &screen_marks_ascii;
	/* else what start_color() left in the buffer of curses would be sent when ctop ends */
	refresh();
}

const char *draw_legend(enum style style)
{
	return styles[style].legend;
}

bool draw_is_utf8(void)
{
	return utf8_frames;
}

bool draw_has_shade(void)
{
	return has_shade;
}

void draw_release(void)
{
	buffer_release(&printable);
	buffer_release(&shortened);
	frame_release();
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
	frame_begin();
}

void draw_end(int y, int x)
{
	frame_end(looks, y, x);
}

/*
 * Draws a character, or the replacement for one that this locale cannot send or whose width is not known.
 * Returns the cells used.
 */
static int put_character(int y, int x, enum style style, uint32_t scalar)
{
	const int cells = wcwidth((wchar_t)scalar);
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	const size_t length = wcrtomb(bytes, (wchar_t)scalar, &state);

	if (cells < 0 || length == (size_t)-1) {
		frame_put(y, x, style, marks->replacement, strlen(marks->replacement), 1);
		return 1;
	}
	frame_put(y, x, style, bytes, length, cells);
	return cells;
}

static void put(int y, int x, enum style style, const char *text, size_t length)
{
	while (length != 0) {
		const bool is_plain = *text >= ' ' && *text <= '~';
		uint32_t scalar = '?';
		size_t used = is_plain ? 1 : unicode_decode(text, length, &scalar);

		used = used != 0 ? used : 1;
		if (is_plain)
			frame_put(y, x++, style, text, 1, 1);
		else
			x += put_character(y, x, style, scalar);
		text += used;
		length -= used;
	}
}

/* Makes the text one that this terminal can show, and in ASCII where that was asked for. */
static void make_printable(const char *text, size_t length)
{
	buffer_clear(&printable);
	/* keys of several names have a NUL between them */
	for (const char *end; length != 0 && (end = memchr(text, '\0', length)) != NULL; text = end + 1) {
		unicode_append_printable(&printable, text, (size_t)(end - text), marks->replacement);
		buffer_append_text(&printable, "  ");
		length -= (size_t)(end - text) + 1;
	}
	unicode_append_printable(&printable, text, length, marks->replacement);
	if (!utf8_frames)
		unicode_reduce_to_ascii(&printable, 0);
}

void draw_append_others(struct buffer *buffer, size_t above, size_t below)
{
	char number[28];

	if (above != 0)
		buffer_append_format(buffer, "%s %s more%s", marks->above, humanize_digits(above, number),
				     below != 0 ? "  " : "");
	if (below != 0)
		buffer_append_format(buffer, "%s %s more", marks->below, humanize_digits(below, number));
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
	fitting = unicode_prefix(printable.data, printable.length, cells, &used);
	if (fitting == printable.length) {
		put(y, x, style, printable.data, fitting);
		return used;
	}
	fitting = unicode_prefix(printable.data, printable.length, cells - 1, &used);
	put(y, x, style, printable.data, fitting);
	put(y, x + used, style, marks->ellipsis, strlen(marks->ellipsis));
	return used + 1;
}

int draw_string(int y, int x, int cells, enum style style, const char *text)
{
	return draw_text(y, x, cells, style, text, strlen(text));
}

void draw_append_middle(struct buffer *buffer, int cells, const char *text, size_t length)
{
	make_printable(text, length);
	unicode_append_middle(buffer, printable.data, printable.length, cells, marks->middle);
}

int draw_middle(int y, int x, int cells, enum style style, const char *text, size_t length)
{
	if (!clip(y, x, &cells))
		return 0;
	buffer_clear(&shortened);
	draw_append_middle(&shortened, cells, text, length);
	return draw_text(y, x, cells, style, shortened.data, shortened.length);
}

/* The part of a text that fits, to the end of a clause, else of a word. */
static size_t clause_length(const char *text, int cells)
{
	size_t end = 0, word = 0;

	for (size_t i = 0; text[i] != '\0'; i++) {
		if (draw_width(text, i + 1) > cells)
			return 2 * draw_width(text, end) >= cells ? end : word;
		if (text[i + 1] == ' ' && strchr(".,:;", text[i]) != NULL)
			end = i + (text[i] == '.');
		if (text[i + 1] == ' ')
			word = i + 1;
	}
	return strlen(text);
}

void draw_clauses(int y, int x, int cells, enum style style, const char *text)
{
	draw_text(y, x, cells, style, text, clause_length(text, cells));
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
	for (int i = 0; i < cells; i++)
		frame_put(y, x + i, style, " ", 1, 1);
}

void draw_shade(int y, int x, int cells, enum style style)
{
	if (has_shade && clip(y, x, &cells))
		frame_change_look(y, x, cells,
				  (looks[style].attributes & A_BOLD) != 0 ? LOOK_SHADE_BOLD : LOOK_SHADE);
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
