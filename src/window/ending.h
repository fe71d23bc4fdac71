/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDING_H
#define CTOP_ENDING_H

#include "ended.h"

/* What is known of the threads that ended between a round and the one before it. */
struct ending {
	const struct snapshot *before; /* the round before, or what is left of it: the rows that are gone */
	const struct snapshot *now;    /* why counters of those that were never read are not known */
	const struct ended_set *set;   /* what they told at their end; NULL: nobody told */
	struct ended_row *rows;        /* of `before` that are gone, ascending */
	size_t count;
};

/*
 * Adds what they did within a window that ends with `ending->before` (`window->from` is where it began), and
 * after it until their end; `rest_counts` as for ended_fold().
 */
void ending_fold(const struct ending *ending, const struct window *window, bool rest_counts,
		 struct ended *ended);

#endif
