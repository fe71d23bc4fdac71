/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_PTY_SCREEN_H
#define CTOP_TESTS_UI_PTY_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/*
 * A program in a real pseudoterminal and what a person would see of it: what it sends goes through libvterm.
 * Tests wait for conditions with a deadline and never sleep. Every helper fails the test, with the screen
 * printed, when the test cannot go on.
 */
struct pty_screen {
	pid_t child;
	int child_descriptor; /* pidfd */
	int master, slave;    /* the slave side stays open so that its modes can be read afterwards */
	int rows, columns;
	int terminal_rows;     /* that libvterm has, of which those of above are the first */
	struct termios modes;  /* of the terminal before the program started */
	uint64_t bytes;        /* received in all */
	bool alternate_screen; /* as the program asked for it last */
	bool cursor_visible;
	bool mouse;           /* its buttons are reported */
	bool is_updating;     /* the last synchronised update has not ended */
	unsigned int updates; /* synchronised updates that began */
	size_t update_bytes;  /* bytes of the mark of an update that came last */
	bool hung_up;         /* nobody has the terminal open any more */
	bool ended;
	int status; /* of waitpid() once ended */
	struct VTerm *terminal;
	struct VTermScreen *screen;
	int control, answers; /* pipes to and from the program as descriptors 3 and 4, -1 for none */
	char pending[4096];   /* answers received and not taken yet */
	size_t pending_length;
};

struct pty_options {
	int rows, columns;
	const char *term;           /* NULL: xterm-256color; "" for unset */
	const char *locale;         /* NULL: C.UTF-8 */
	const char *environment[4]; /* NAME=VALUE */
	bool keep_slave_closed;     /* the program is the only one with the terminal open */
	bool pipes;                 /* give it descriptors 3 and 4; it is one of driven.h */
	bool job;                   /* under a parent with job control, which stops when the program does */
	bool background;            /* starts the job without the terminal, like "&" */
	bool stop_ignored;          /* SIGTSTP is ignored when the program starts */
};

/* Ends the test as skipped where this host gives no pseudoterminals. */
void pty_need(void);

/* Whether this host describes such a terminal; xterm-direct2 comes with the larger set of descriptions. */
bool pty_describes(const char *term);

void pty_start(struct pty_screen *pty, const struct pty_options *options, const char *const *arguments);

/*
 * Runs a program to its end outside the terminal; returns its status of waitpid(), or -1. What it prints is
 * shown on stderr where that is not 0.
 */
int pty_run_quietly(const char *const *arguments);

/* Ends what is left of it. */
void pty_release(struct pty_screen *pty);

/*
 * Waits until the program ended by a signal, or where that is 0 with a status, and left the terminal as it
 * was; releases it. pty_quit(): by Ctrl-C, with status 0.
 */
void pty_expect_end(struct pty_screen *pty, int signal, int status);
void pty_quit(struct pty_screen *pty);

/* Takes the terminal away, of which the program ends by SIGHUP, and releases it. */
void pty_take_away(struct pty_screen *pty);

/*
 * Waits until `condition` holds; takes in whatever the program sends meanwhile. With a program of
 * driven.h it is looked at only between frames, and not before all that was typed and told is taken in.
 */
void pty_wait(struct pty_screen *pty, bool (*condition)(struct pty_screen *pty, const void *context),
	      const void *context, const char *what);

/*
 * Types the keys again and again until `condition` holds: for what is refused while it comes too early.
 */
void pty_type_until(struct pty_screen *pty, const char *keys,
		    bool (*condition)(struct pty_screen *pty, const void *context), const void *context);

/* Whether a row of the screen contains the text `context`, or none does: conditions. */
bool pty_has_text(struct pty_screen *pty, const void *context);
bool pty_has_no_text(struct pty_screen *pty, const void *context);

/* For a program of driven.h: waits until it has nothing left to do, and its last frame is here. */
void pty_sync(struct pty_screen *pty);

/* Whether the child is stopped, or has its screen up: conditions for pty_wait(). */
bool pty_is_stopped(struct pty_screen *pty, const void *context);
bool pty_is_on_screen(struct pty_screen *pty, const void *context);

/* Continues a stopped job and leaves the terminal to its parent, like the shell's `bg`. */
void pty_continue_in_background(struct pty_screen *pty);

/* Waits until a row of the screen contains the text, or none does. */
void pty_wait_text(struct pty_screen *pty, const char *text);
void pty_wait_no_text(struct pty_screen *pty, const char *text);

/* Waits until the row of the cursor contains the text. */
void pty_wait_selected(struct pty_screen *pty, const char *text);

/* Finds a text in the page of text that is open: how many lines stand above it depends on what this user may
 * read. */
void pty_search(struct pty_screen *pty, const char *text);

/* Waits until the program ended; returns the status of waitpid(). */
int pty_wait_end(struct pty_screen *pty);

/* Takes in what arrives within `milliseconds`. Returns the bytes. */
uint64_t pty_drain(struct pty_screen *pty, int milliseconds);

/* Types. */
void pty_type(struct pty_screen *pty, const char *bytes);

/* Pastes text like a terminal: between marks if the program requested them. */
void pty_paste(struct pty_screen *pty, const char *text);

/* Types, and waits until a row of the screen contains the text, or none does. */
void pty_show(struct pty_screen *pty, const char *keys, const char *text);
void pty_hide(struct pty_screen *pty, const char *keys, const char *text);

/* Sends a line down the control pipe, and waits for an answer line that begins with `text`. */
void pty_command(struct pty_screen *pty, const char *line);
void pty_wait_answer(struct pty_screen *pty, const char *text);

void pty_resize(struct pty_screen *pty, int rows, int columns);

/* Whether nothing on the screen is beyond ASCII. */
bool pty_is_ascii(struct pty_screen *pty);

/* Text of a row, without blanks at its end; in one of four static buffers. */
const char *pty_row(struct pty_screen *pty, int row);

/*
 * First row that contains the text, -1 for none; `*ret_column` (may be NULL) gets the cell where it starts.
 */
int pty_find(struct pty_screen *pty, const char *text, int *ret_column);

/* Attributes of a cell. */
bool pty_is_reverse(struct pty_screen *pty, int row, int column);
bool pty_is_bold(struct pty_screen *pty, int row, int column);
bool pty_is_colored(struct pty_screen *pty, int row, int column);

/*
 * What a cell's text or background is coloured with: PTY_COLOR_DEFAULT for the terminal's own, 0 to 255 of
 * its palette, or PTY_COLOR_RGB + 0xRRGGBB.
 */
enum {
	PTY_COLOR_DEFAULT = -1,
	PTY_COLOR_RGB = 1 << 24,
};
int pty_foreground(struct pty_screen *pty, int row, int column);
int pty_background(struct pty_screen *pty, int row, int column);

/* The row whose name cell is reversed: the cursor's; -1 for none. */
int pty_selected_row(struct pty_screen *pty);

/*
 * Fails unless the terminal has its original modes, the ordinary screen and a visible cursor, reports neither
 * mouse nor pastes, and waits for the end of no update.
 */
void pty_expect_restored(struct pty_screen *pty);

/* The screen as text on stderr, and what each thread of the program waits in. */
void pty_print(struct pty_screen *pty);

#endif
