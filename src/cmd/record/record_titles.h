/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORD_TITLES_H
#define CTOP_RECORD_TITLES_H

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * Titles for the rounds of a recording: of the 20 processes that used most CPU time and waited for most since
 * the round before, and of 20 that are stuck. A title is a text that a process has written over its own
 * command line (lookup.h). Other command lines hold passwords, so they are recorded only on request.
 */
struct record_titles;

enum record_titles_choice {
	RECORD_TITLES_SELF, /* titles, at most 128 bytes of each */
	RECORD_TITLES_ALL,  /* whole command lines, whether or not they are titles */
	RECORD_TITLES_NONE,
};

/*
 * Starts what reads titles. `proc_root` is a directory like /proc, NULL for /proc. `*ret_titles` is NULL for
 * RECORD_TITLES_NONE and after an error. Returns 0 or a negative errno with a sentence.
 */
int record_titles_start(enum record_titles_choice choice, const char *proc_root,
			struct record_titles **ret_titles, struct error *error);

/* NULL is allowed. */
void record_titles_end(struct record_titles *titles);

/*
 * Reads the titles for a round as they are now, and puts them into it. NULL titles do nothing. Takes at most
 * a quarter of a second; a process that has not answered by then has no title in this round. Rounds come in
 * the order in which they were taken. The titles keep a reference to the last one.
 */
void record_titles_add(struct record_titles *titles, struct snapshot *round);

#endif
