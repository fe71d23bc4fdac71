/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SIGNAL_PIPE_H
#define CTOP_SIGNAL_PIPE_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Signals as readable bytes for a poll() loop. A pipe rather than signalfd(2): it does not depend on which
 * threads have the signals blocked.
 */

/* The signals since the last signal_pipe_take(). */
struct signal_news {
	bool resized;   /* SIGWINCH */
	bool suspend;   /* SIGTSTP from outside */
	bool continued; /* SIGCONT */
	int deadly;     /* SIGHUP, SIGINT, SIGTERM or SIGQUIT, 0 for none */
};

/*
 * Installs the handlers, and ignores SIGPIPE. Returns the descriptor to poll, or a negative errno with a
 * sentence. A second deadly signal that arrives before the first was handled ends the process at once (after
 * crash_guard_restore()).
 */
int signal_pipe_open(struct error *error);

/* Collects what arrived; never blocks. */
struct signal_news signal_pipe_take(void);

/* The first signal that ends the program, or 0. */
int signal_pipe_deadly(void);

/* Stops the process group as an unhandled SIGTSTP would; returns when it is continued. */
void signal_pipe_stop_process(void);

/* Puts the former actions back. */
void signal_pipe_close(void);

#endif
