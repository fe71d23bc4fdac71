/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_H
#define CTOP_ENDED_H

#include "snapshot/ended_records.h"
#include "snapshot/ended_set.h"
#include "window.h"

/* Makes records of what ended threads did within a window. */

/* A thread that is gone: its index in the last snapshot that has it, and what it told at its end, or NULL. */
struct ended_row {
	uint32_t thread;
	const struct ended_thread *last;
};

/*
 * Adds what these threads of `window->now` did within the window, which ends with that snapshot, and after it
 * until their end: what came after it is known of those that told it to `set` (NULL: nobody told), and
 * unavailable of the others if `rest_counts`.
 */
void ended_fold(struct ended *ended, const struct window *window, const struct ended_set *set,
		const struct ended_row *rows, size_t count, bool rest_counts);

/* The threads that ended between a round and the one before it. */
struct ending {
	const struct snapshot *before; /* the round before, or the rest of it: the rows that are gone */
	const struct snapshot *now;    /* tells why counters of threads that were never read are not known */
	const struct ended_set *set;   /* what they told at their end; NULL: nobody told */
	struct ended_row *rows;        /* of `before` that are gone, ascending */
	size_t count;
};

/*
 * Adds what they did within a window that ends with `ending->before` (`window->from` is where it began), and
 * after it until their end; `rest_counts` as for ended_fold().
 */
void ended_fold_ending(const struct ending *ending, const struct window *window, bool rest_counts,
		       struct ended *ended);

/*
 * CPU time of the host between a round and the one before it, each of which has all its threads, that none of
 * the threads has, in ns: less than 0 when they have more. It is the rate that the threads' rates leave, in
 * the time between the rounds. NAN where that tells nothing (ended_set_is_left()).
 */
double ended_left_between(const struct snapshot *before, const struct snapshot *now,
			  const uint32_t before_of[]);

/* Adds what was left in a round. */
void ended_add_left(struct ended *ended, double left_ns);

/*
 * Makes of all that was left in the time from `from` to `now` what a record named `(ended)` has, as long as
 * it is more than how far the host's CPU time may be off. Which rounds were between them does not matter.
 */
void ended_conclude_left(struct ended *ended, const struct snapshot *from, const struct snapshot *now);

/* The process of each record, 0 if unknown. The caller frees the array. */
uint32_t *ended_pids(const struct ended *ended);

/* A copy that changes no more: what stands for nothing is left out. Cleared by the caller. */
struct ended ended_copy(const struct ended *ended);

#endif
