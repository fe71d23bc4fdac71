/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_SUMMARY_H
#define CTOP_DIFF_SUMMARY_H

#include "pair_table.h"

/* What changed most in a comparison, a sentence a group, for readers without time for its rows. */

/* Further divisors of the numbers in a sentence, and the way numbers are written. */
struct diff_summary_per {
	bool second, thread;
	bool ascii; /* no other characters */
};

/*
 * Appends the change of a column in a pair in a sentence, without a period: "nginx worker-{N} waited 7.7 s
 * longer for a CPU (2.1 s → 9.8 s, 64 → 96 threads)". Returns false (nothing appended) for a column that is
 * not told (diff_harm.def), and where it did not change measurably or the change is not known. `name` is that
 * of the group; it is not sanitised.
 */
bool diff_summary_append(const struct pair_sides *sides, const struct diff_pair *pair, enum column column,
			 const struct buffer *name, const struct diff_summary_per *per,
			 struct buffer *buffer);

/* Appends when the burst was that a change is: ", most of it within 400 ms at 11:47:52"; nothing for another
 * change. */
void diff_summary_append_burst(const struct diff *diff, const struct diff_pair *pair, enum column column,
			       struct buffer *buffer);

enum {
	DIFF_SUMMARY_MAX = 3
};

/* Sentences about the groups whose changes do most harm; a zeroed struct has none. */
struct diff_summary {
	struct arena arena; /* owns the texts */
	const char *items[DIFF_SUMMARY_MAX];
	size_t count;
	const char *nothing; /* where there is none: that nothing of note changed, and what was compared */
};

/*
 * Fills a zeroed summary with a sentence for each of the groups whose largest harm (diff_harm()) is greatest
 * and at least 1. It is about the first column of diff_harm.def with a third of that harm, names up to two
 * others, and who ran where the group waited for a CPU. Only columns of chosen metrics count, and unless all
 * are chosen those alone. With `forget`, reduced columns are released one by one. Free it with
 * diff_summary_release().
 */
void diff_summary_make(const struct diff *diff, const bool chosen[METRIC_COUNT],
		       const struct diff_summary_per *per, bool forget, struct diff_summary *summary);
void diff_summary_release(struct diff_summary *summary);

#endif
