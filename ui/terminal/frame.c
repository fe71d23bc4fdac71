/* SPDX-License-Identifier: GPL-2.0-only */
#include "frame.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

#include "base/buffer.h"
#include "base/memory.h"

#include "terminal.h"

enum {
	CELL_BYTES = 14, /* a character and four marks, or fewer long ones */
	GAP_CELLS = 6,   /* unchanged cells that take fewer bytes than to move the cursor past them */
	ERASE_CELLS = 4, /* cells at the end of a row that take more bytes as blanks than to erase them */
};

/* Cells are compared as bytes: those of the text past its length are zero. */
struct frame_cell {
	char bytes[CELL_BYTES]; /* the character and the marks that combine with it */
	uint8_t length;         /* bytes of the text; 0 in the second cell of a wide character */
	uint8_t look;
};

_Static_assert(sizeof(struct frame_cell) == CELL_BYTES + 2,
	       "cells are compared as bytes, so they have no padding");

static const struct frame_cell blank = {.bytes = " ", .length = 1};
static const struct frame_look plain = {.attributes = A_NORMAL};

static struct {
	struct frame_cell *drawn; /* cells of the frame being drawn, row by row */
	struct frame_cell *shown; /* cells that the terminal shows */
	int height, width;
	bool is_resized;        /* `shown` has never been on the terminal */
	int cursor_y, cursor_x; /* position of the cursor on the terminal */
	struct frame_look look; /* of the text that is sent next */
	bool look_is_known;
	struct buffer output; /* bytes of the frame being sent */
} frame;

static struct frame_cell *row_of(struct frame_cell *cells, int y)
{
	return cells + (size_t)y * (size_t)frame.width;
}

static void fill_with_blanks(struct frame_cell *cells)
{
	const size_t count = (size_t)frame.height * (size_t)frame.width;

	for (size_t i = 0; i < count; i++)
		cells[i] = blank;
}

/* --- drawing --- */

void frame_begin(void)
{
	if (frame.height != LINES || frame.width != COLS) {
		const size_t count = (size_t)LINES * (size_t)COLS;

		frame.drawn = memory_resize(frame.drawn, count, sizeof(*frame.drawn));
		frame.shown = memory_resize(frame.shown, count, sizeof(*frame.shown));
		frame.height = LINES;
		frame.width = COLS;
		frame.is_resized = true;
	}
	fill_with_blanks(frame.drawn);
}

/* Blanks the wide character whose second cell is at `x`, if there is one: it is about to lose a cell. */
static void break_wide(struct frame_cell *row, int x)
{
	if (x == 0 || x >= frame.width || row[x].length != 0)
		return;
	for (int i = x - 1; i <= x; i++) {
		const uint8_t look = row[i].look;

		row[i] = blank;
		row[i].look = look;
	}
}

/* Adds a mark to the character before `x`. The last of very many marks are left out. */
static void combine(struct frame_cell *row, int x, const char *bytes, size_t length)
{
	do {
		if (--x < 0)
			return;
	} while (row[x].length == 0);
	if (row[x].length + length > CELL_BYTES)
		return;
	memcpy(row[x].bytes + row[x].length, bytes, length);
	row[x].length = (uint8_t)(row[x].length + length);
}

void frame_put(int y, int x, unsigned int look, const char *bytes, size_t length, int cells)
{
	struct frame_cell cell = {.look = (uint8_t)look};
	struct frame_cell *row;

	if (y < 0 || y >= frame.height || x < 0 || x + cells > frame.width || length > CELL_BYTES)
		return;
	row = row_of(frame.drawn, y);
	if (cells == 0) {
		combine(row, x, bytes, length);
		return;
	}
	break_wide(row, x);
	break_wide(row, x + cells);
	for (int i = 1; i < cells; i++)
		row[x + i] = cell;
	memcpy(cell.bytes, bytes, length);
	cell.length = (uint8_t)length;
	row[x] = cell;
}

void frame_change_look(int y, int x, int cells, unsigned int look)
{
	for (int i = x; y >= 0 && y < frame.height && i >= 0 && i < x + cells && i < frame.width; i++)
		row_of(frame.drawn, y)[i].look = (uint8_t)look;
}

/* --- sending --- */

static int put_byte(int byte)
{
	buffer_append_char(&frame.output, (char)byte);
	return byte;
}

static void put_control(const char *control)
{
	if (control != NULL)
		tputs(control, 1, put_byte);
}

/* The modes of a look, each with the bit of no_color_video that keeps it from being used with colours. */
static void put_modes(const struct frame_look *look)
{
	const struct {
		attr_t attribute;
		const char *control;
		int color_bit;
	} modes[] = {{A_UNDERLINE, enter_underline_mode, 2},
		     {A_REVERSE, enter_reverse_mode, 4},
		     {A_DIM, enter_dim_mode, 16},
		     {A_BOLD, enter_bold_mode, 32}};
	const int kept_out = look->pair != 0 && no_color_video > 0 ? no_color_video : 0;

	for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
		if ((look->attributes & modes[i].attribute) != 0 && (kept_out & modes[i].color_bit) == 0)
			put_control(modes[i].control);
	}
}

static void put_colors(int pair)
{
	int text, background;

	if (pair == 0 || extended_pair_content(pair, &text, &background) == ERR)
		return;
	if (text >= 0 && set_a_foreground != NULL)
		put_control(tiparm(set_a_foreground, text));
	if (background >= 0 && set_a_background != NULL)
		put_control(tiparm(set_a_background, background));
}

/*
 * Gives what is sent next a look. vid_puts() would not do: it leaves the sequence for the colours of the
 * terminal in the buffer of curses (set_original_colors() of lib_color.c).
 */
static void set_look(const struct frame_look *look)
{
	if (frame.look_is_known && frame.look.attributes == look->attributes && frame.look.pair == look->pair)
		return;
	frame.look = *look;
	frame.look_is_known = true;
	/* where attributes take cells of their own, or would stay for ever, there are none */
	if (magic_cookie_glitch > 0 || exit_attribute_mode == NULL)
		return;
	put_control(exit_attribute_mode);
	put_modes(look);
	put_colors(look->pair);
}

static void move_cursor(int y, int x)
{
	if (!move_standout_mode)
		set_look(&plain);
	put_control(tiparm(cursor_address, y, x));
}

/* Makes the whole screen blank, whatever it shows. */
static void clear_all(void)
{
	frame.look_is_known = false;
	set_look(&plain);
	if (clear_screen != NULL) {
		put_control(clear_screen);
	} else {
		move_cursor(0, 0);
		put_control(clr_eos);
	}
	fill_with_blanks(frame.shown);
}

static bool is_same(const struct frame_cell *cell, const struct frame_cell *other)
{
	return memcmp(cell, other, sizeof(*cell)) == 0;
}

/* Index just past the last cell of a row that is not blank. */
static int content_end(const struct frame_cell *row)
{
	int end = frame.width;

	while (end > 0 && is_same(&row[end - 1], &blank))
		end--;
	return end;
}

/* Index just past the last changed cell that is sent together with the changed cell `x`, below `limit`. */
static int run_end(const struct frame_cell *drawn, const struct frame_cell *shown, int x, int limit)
{
	int end = x + 1;

	for (int i = end; i < limit && i - end < GAP_CELLS; i++) {
		if (!is_same(&drawn[i], &shown[i]))
			end = i + 1;
	}
	return end;
}

static void send_cells(const struct frame_cell *row, const struct frame_look looks[], int y, int x, int end)
{
	/* a wide character is sent from its first cell on */
	while (x > 0 && row[x].length == 0)
		x--;
	move_cursor(y, x);
	for (; x < end; x++) {
		if (row[x].length == 0)
			continue;
		set_look(&looks[row[x].look]);
		buffer_append(&frame.output, row[x].bytes, row[x].length);
	}
}

static void send_row(const struct frame_look looks[], int y)
{
	const struct frame_cell *drawn = row_of(frame.drawn, y);
	struct frame_cell *shown = row_of(frame.shown, y);
	const size_t size = (size_t)frame.width * sizeof(*drawn);
	int limit = frame.width, end;

	if (memcmp(drawn, shown, size) == 0)
		return;
	end = content_end(drawn);
	if (clr_eol != NULL && content_end(shown) >= end + ERASE_CELLS)
		limit = end;
	for (int x = 0, next; x < limit; x = next) {
		next = x + 1;
		if (is_same(&drawn[x], &shown[x]))
			continue;
		next = run_end(drawn, shown, x, limit);
		send_cells(drawn, looks, y, x, next);
	}
	if (limit < frame.width) {
		move_cursor(y, end);
		set_look(&plain);
		put_control(clr_eol);
	}
	memcpy(shown, drawn, size);
}

/* Brackets the changes of a frame as one update; returns whether there are any. */
static bool make_output(const struct frame_look looks[], int y, int x)
{
	const bool is_whole = terminal_take_repaint();
	size_t start;

	buffer_clear(&frame.output);
	buffer_append_text(&frame.output, terminal_update_mark(true));
	start = frame.output.length;
	if (is_whole || frame.is_resized)
		clear_all();
	frame.is_resized = false;
	for (int row = 0; row < frame.height; row++)
		send_row(looks, row);
	if (frame.output.length == start && y == frame.cursor_y && x == frame.cursor_x)
		return false;
	set_look(&plain);
	move_cursor(y, x);
	buffer_append_text(&frame.output, terminal_update_mark(false));
	return true;
}

void frame_end(const struct frame_look looks[], int y, int x)
{
	if (x >= frame.width)
		x = frame.width - 1;
	/* a character in the last cell of all would scroll the screen of such a terminal */
	if (auto_right_margin && !eat_newline_glitch)
		frame_put(frame.height - 1, frame.width - 1, 0, " ", 1, 1);
	if (!make_output(looks, y, x))
		return;
	frame.cursor_y = y;
	frame.cursor_x = x;
	terminal_send(frame.output.data, frame.output.length);
}

void frame_release(void)
{
	free(frame.drawn);
	free(frame.shown);
	buffer_release(&frame.output);
	memset(&frame, 0, sizeof(frame));
}
