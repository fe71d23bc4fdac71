/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FRAME_H
#define CTOP_FRAME_H

#include <curses.h>
#include <stddef.h>

/*
 * The cells of the screen. A frame is drawn into memory; cells that differ from the frame before are sent in
 * one write(2). curses could not do that: ncurses 6 writes each time it moves the cursor (lib_mvcur.c), some
 * 230 times a frame. It provides the terminal's description, modes, keys and colour pairs.
 */

/* How a cell looks, in terms of curses. */
struct frame_look {
	attr_t attributes;
	short pair;
};

/* Starts a frame of the screen's present size (LINES and COLS) with blanks of look 0, which must be plain. */
void frame_begin(void);

/*
 * Draws a character of `cells` cells (0 to 2): `length` bytes in the encoding of the locale. Without a cell
 * of its own it is added to the character before it. What does not fit on the screen is not drawn. `look` is
 * an index of frame_end()'s `looks`, below 256.
 */
void frame_put(int y, int x, unsigned int look, const char *bytes, size_t length, int cells);

/* Gives `cells` cells another look and keeps their text. */
void frame_change_look(int y, int x, int cells, unsigned int look);

/* Sends the frame, and leaves the cursor at a cell. Sends nothing if nothing changed. */
void frame_end(const struct frame_look looks[], int y, int x);

/* Frees the cells. */
void frame_release(void);

#endif
