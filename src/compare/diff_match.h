/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_MATCH_H
#define CTOP_DIFF_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "diff.h"

/* Which threads of two captures are the same ones, see thread_match(). */
struct diff_match {
	const struct snapshot *snapshots[DIFF_SIDE_COUNT];
	uint32_t *mate[DIFF_SIDE_COUNT]; /* of each thread its index on the other side, UINT32_MAX for none */
	/*
	 * Threads whose counters cover the interval: those with a mate, and in after those that started since
	 * before was captured, whose counters began at zero.
	 */
	bool *counted[DIFF_SIDE_COUNT];
	bool *replaced;               /* threads of after with the id of another one of before */
	size_t same;                  /* threads on both sides */
	size_t only[DIFF_SIDE_COUNT]; /* threads that went, and that came */
};

/*
 * Matches the threads of two captures, which must outlive the result. The caller releases it with
 * diff_match_release(). NULL when they are not known to be of one boot: then a sentence says why.
 */
struct diff_match *diff_match_create(const struct snapshot *before, const struct snapshot *after,
				     struct error *error);
void diff_match_release(struct diff_match *match);

/*
 * Makes a comparison with these options take the changes of counters from the same threads: a thread with
 * another name or cgroup in after counts there with all that it did, one that came counts from zero, and one
 * that went adds nothing, since what it did since before is not known. Everything else is compared as without
 * it. `match` must outlive the comparison.
 */
void diff_match_apply(const struct diff_match *match, struct diff_options *options);

/* Appends a sentence about how many threads are the same, came and went, and what becomes of their counters
 * when the comparison was made by them (`by_thread`). */
void diff_match_describe(const struct diff_match *match, bool by_thread, struct buffer *buffer);

/* How many threads of a pair are the same ones on both sides, and how many came to it and went from it: they
 * began or ended, or belong to another pair on the other side. */
struct diff_match_count {
	uint32_t same, came, went;
};

/* The counts of all pairs of a comparison of the two captures, of the threads that count in it, by index; the
 * caller frees them. */
struct diff_match_count *diff_match_count(const struct diff_match *match, const struct diff *diff);

#endif
