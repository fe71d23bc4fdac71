/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SIGNALS_H
#define CTOP_SIGNALS_H

#include <signal.h>

#include "base/error.h"

/* The signals that end a command which runs until it is told to end: SIGINT, SIGTERM and SIGHUP. */
struct signals {
	int descriptor; /* readable when one has come; -1: they are not caught */
	sigset_t former_mask;
	struct sigaction former_pipe_action;
};

/*
 * Opens the descriptor for signals_catch(), while descriptors are free; the signals still act as before, so
 * that Ctrl-C ends a start that hangs. `signals->descriptor` is -1 before. Returns 0 or a negative errno with
 * a sentence.
 */
int signals_reserve(struct signals *signals, struct error *error);

/*
 * Catches them, in this thread and in those that it creates later; ignored ones stay so: nohup(1). SIGPIPE is
 * ignored from now on, since a reader that goes away is no reason to end. `signals->descriptor` is -1, or
 * that of signals_reserve(). Returns 0 or a negative errno with a sentence.
 */
int signals_catch(struct signals *signals, struct error *error);

/* Takes all signals that have come; returns the first of them, 0 for none. */
int signals_take(const struct signals *signals);

/* Undoes signals_catch(); a signal that has come and was not taken acts then. */
void signals_restore(struct signals *signals);

/*
 * Exit status for `result`: 0, a negative errno whose sentence is reported, or the number of the signal that
 * ended the command, which is raised again.
 */
int signals_end(int result, const struct error *error);

#endif
