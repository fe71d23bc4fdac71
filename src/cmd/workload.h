/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WORKLOAD_H
#define CTOP_WORKLOAD_H

#include "base/error.h"

/*
 * A command that runs while ctop captures. It is no descendant of ctop: a capture counts descendants as
 * ctop's own.
 */
struct workload {
	int start;  /* descriptor: a byte starts the command, closing it without one gives the command up */
	int status; /* descriptor: has the command's wait status once it has ended */
};

enum {
	WORKLOAD_FAILED = 125, /* exit status: ctop failed, not the command */
};

/*
 * Prepares the command `words` (with NULL at the end), with the rights and signals of this thread, which must
 * be the only one. Returns 0 or a negative errno with a sentence; then and after workload_end() nothing is
 * left of it.
 */
int workload_prepare(char *const words[], struct workload *ret_workload, struct error *error);

/* Starts the command. From here on this process ignores SIGINT and SIGQUIT, which are for the command, and
 * SIGPIPE. */
void workload_start(const struct workload *workload);

/* A descriptor that is readable once the command has ended. */
int workload_descriptor(const struct workload *workload);

/*
 * Waits until the command has ended, or gives it up if it was not started. Returns the exit status that a
 * shell has for it: 128 and the signal that ended it, 127 if there is no such command, 126 if it cannot be
 * executed. Returns WORKLOAD_FAILED, and says so on stderr, if the status is unknown.
 */
int workload_end(struct workload *workload);

#endif
