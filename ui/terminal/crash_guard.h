/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CRASH_GUARD_H
#define CTOP_CRASH_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/*
 * Restores the terminal when the program dies while the screen is up: by a fault, by any other signal that
 * ends a process (except those of signal_pipe.h), abort(), exit() from elsewhere, or for lack of memory. The
 * signal then ends the process as if there had been no guard. One guard at a time, as there is one terminal.
 */
struct crash_guard_state {
	int terminal;         /* descriptor the reset bytes go to */
	struct termios modes; /* as they were before the screen came up */
	const char *reset;    /* bytes that end the screen; must stay valid while the guard is set */
	size_t reset_length;
	int standard_error; /* what fd 2 was before it was captured, -1 when it was not */
	int captured_error; /* reading end of what was written to fd 2 meanwhile, -1 for none */
};

/* Arms the guard; `state` is copied. */
void crash_guard_set(const struct crash_guard_state *state);

/* Disarms it while the terminal is another's, or arms it again. */
void crash_guard_pause(bool paused);

/* Disarms it and gives the signals back their former actions. */
void crash_guard_clear(void);

/*
 * Restores the terminal, at most once per crash_guard_set(), unless another program has it: tcsetattr(3)
 * would stop the dying process in the background. Async-signal-safe (signal-safety(7)).
 */
void crash_guard_restore(void);

/* Whether another process group owns the terminal open as `terminal`. Async-signal-safe. */
bool crash_guard_is_in_background(int terminal);

#endif
