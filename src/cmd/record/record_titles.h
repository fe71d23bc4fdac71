/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORD_TITLES_H
#define CTOP_RECORD_TITLES_H

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * Adds titles to the rounds of a recording: of the 20 processes with the most CPU time and waits since the
 * round before, and of 20 stuck ones. A title is a text that a process has written over its own command line
 * (lookup.h). Other command lines may hold passwords, so they are recorded only on request.
 */
struct record_titles;

enum record_titles_choice {
	RECORD_TITLES_SELF, /* titles, at most 128 bytes of each */
	RECORD_TITLES_ALL,  /* whole command lines, whether or not they are titles */
	RECORD_TITLES_NONE,
};

/*
 * Starts the thread that reads titles. `proc_root` is a directory like /proc, NULL for /proc. `*ret_titles`
 * is NULL for RECORD_TITLES_NONE and after an error. Returns 0 or a negative errno with a sentence.
 */
int record_titles_start(enum record_titles_choice choice, const char *proc_root,
			struct record_titles **ret_titles, struct error *error);

/* NULL is allowed. */
void record_titles_end(struct record_titles *titles);

/*
 * Reads the current titles and adds them to `round`; does nothing if `titles` is NULL. Waits at most 250 ms;
 * a process that has not answered by then has no title in this round. Rounds must be passed in the order in
 * which they were captured. `titles` keeps a reference to the last one.
 */
void record_titles_add(struct record_titles *titles, struct snapshot *round);

#endif
