/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TERMINAL_H
#define CTOP_TERMINAL_H

#include <stdbool.h>

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
 * Takes the terminal over: keys from stdin or, when that is no terminal, /dev/tty; output to stdout. In the
 * background the process is stopped first, until it has the terminal. Returns 0, the number of a signal that
 * ended the program meanwhile, -EINVAL with a sentence for a TERM that is unknown or cannot address its
 * cursor, or another negative errno.
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
 * Restores everything and disarms the guard. A terminal that another program has is left alone. Does nothing
 * when not open.
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
	TERMINAL_TEXT, /* a character of a pasted text, in which a blank stands for line ends and tabs */
	TERMINAL_NONE, /* there is no input */
	TERMINAL_GONE, /* end of file or EIO: the terminal went away */
};

/*
 * Takes the next key without waiting, except for the 50 ms that distinguish Esc from the start of a function
 * key, and 100 ms for each byte of what else begins like one. Whenever poll() reports input it is to be
 * called until it returns TERMINAL_NONE. Left out are keys that curses does not know, answers of the
 * terminal, and while a text is edited (`edits`) keys of words with Alt, whose letters are commands
 * elsewhere.
 */
enum terminal_key_result terminal_read_key(bool edits, int *ret_key);

/* Takes the size the terminal has now. The next frame repaints everything. */
void terminal_take_size(void);

/* The next frame is sent whole, whatever curses believes is on the screen. */
void terminal_repaint(void);

/*
 * Gives the terminal back and stops the process. Once it is continued, does what terminal_resume() does and
 * returns the same.
 */
int terminal_suspend(void);

/*
 * Takes the terminal over again after another program (a shell, after SIGSTOP) had it, and returns 0. In the
 * background the process is stopped again until it has the terminal. If a signal arrives meanwhile that ends
 * the program, returns its number without touching the terminal, and so does terminal_close() then.
 */
int terminal_resume(void);

/* The cursor is hidden unless something is being typed. */
void terminal_show_cursor(bool visible);

#endif
