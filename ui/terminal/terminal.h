/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TERMINAL_H
#define CTOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The terminal as the screen needs it: raw mode, keys, size, and its former state back on every way out.
 * There is one at a time (curses keeps it in globals). The caller has called setlocale().
 */

/* Function keys are KEY_FUNCTION + curses' KEY_ code; everything below is the Unicode scalar typed. */
enum {
	KEY_FUNCTION = 0x110000,
	KEY_ESCAPE = 27,
	KEY_POINTER = KEY_FUNCTION + 0x1000, /* the mouse: see terminal_pointer() */
};

/* An action of the mouse, and its place. */
struct pointer {
	enum pointer_event {
		POINTER_PRESS, /* of the left button */
		POINTER_WHEEL_UP,
		POINTER_WHEEL_DOWN,
		POINTER_OTHER, /* other buttons, and whatever is held besides */
	} event;
	int y, x; /* cells from 0 on */
};

/*
 * Takes over the terminal: keys from stdin or, if that is not a terminal, /dev/tty; output to stdout. A
 * process in the background is first stopped until it is in the foreground. Returns 0, the number of a signal
 * that ended the program meanwhile, -EINVAL with a sentence if TERM is unknown or cannot address the cursor,
 * or another negative errno.
 */
int terminal_open(struct error *error);

/*
 * Asks an open terminal to report the mouse's buttons and wheel, until it is closed. The terminal goes on
 * selecting text while Shift is held. One whose description knows no mouse is not asked. To be called before
 * terminal_guard().
 */
void terminal_use_mouse(void);

/* The action behind the last KEY_POINTER of terminal_read_key(). */
struct pointer terminal_pointer(void);

/*
 * Arms the crash guard for the open terminal. `standard_error` is what fd 2 was before it was captured and
 * `captured_error` what reads the capture, both -1 for none.
 */
void terminal_guard(int standard_error, int captured_error);

/*
 * Restores the terminal and disarms the guard. Does nothing if the terminal is not open, and leaves it alone
 * if another program has it.
 */
void terminal_close(void);

/*
 * Descriptors to poll: keys come from the first; the second (may be the same) reports by POLLHUP and POLLERR
 * that the screen is gone.
 */
int terminal_input(void);
int terminal_output(void);

enum terminal_key_result {
	TERMINAL_KEY,  /* a key */
	TERMINAL_TEXT, /* a character of pasted text; line ends and tabs become one blank */
	TERMINAL_NONE, /* there is no input */
	TERMINAL_GONE, /* end of file or EIO: the terminal went away */
};

/*
 * Returns the next key without waiting, except 50 ms to distinguish Esc from the start of a function key, and
 * 100 ms for each byte of other sequences that begin with Esc. When poll() reports input, call it until it
 * returns TERMINAL_NONE. Keys unknown to curses and answers of the terminal are skipped, and while text is
 * edited (`edits`) Alt with a word key, whose letter would be a command elsewhere.
 */
enum terminal_key_result terminal_read_key(bool edits, int *ret_key);

/* Takes the size the terminal has now. The next frame repaints everything. */
void terminal_take_size(void);

/* The next frame is sent whole, whatever is on the screen. */
void terminal_repaint(void);

/* Whether to send the next frame whole. Takes the request back: later calls return false until a new one. */
bool terminal_take_repaint(void);

/*
 * The control sequence that begins or ends a synchronised update: the terminal shows what comes between at
 * once. Empty unless the terminal has answered that it has these.
 */
const char *terminal_update_mark(bool begins);

/* Sends the bytes of a frame in one write(2), in several if the terminal does not take them all at once. */
void terminal_send(const char *bytes, size_t length);

/*
 * Gives up the terminal and stops the process. When it continues, calls terminal_resume() and returns its
 * result.
 */
int terminal_suspend(void);

/*
 * Takes over the terminal again after another program (a shell, after SIGSTOP) had it, and returns 0. A
 * process in the background is first stopped until it is in the foreground. If a signal that ends the program
 * arrives meanwhile, returns its number without touching the terminal; terminal_close() then does not touch
 * it either.
 */
int terminal_resume(void);

/* The cursor is hidden unless something is being typed. */
void terminal_show_cursor(bool visible);

#endif
