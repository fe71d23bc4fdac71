/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_SUMMARY_H
#define CTOP_DIFF_SUMMARY_H

#include "diff.h"

/* The largest changes of a comparison in sentences, for readers without time for its rows. */

/* A change of a counter of a group: both numbers are known. */
struct diff_change {
	enum metric metric; /* one that has a phrase, see diff_summary_has() */
	const char *name;   /* of the group, as people read it, not sanitised */
	size_t name_length;
	double number[DIFF_SIDE_COUNT];
	uint32_t threads[DIFF_SIDE_COUNT];
	bool is_new; /* the group is in after only */
};

/* Further divisors of the numbers in a sentence, and the way numbers are written. */
struct diff_summary_per {
	bool second, thread;
	bool rates;           /* the numbers are those of a second */
	bool ascii;           /* no other characters */
	uint64_t interval_ns; /* between the captures */
};

/* Whether changes of a metric are told in sentences. */
bool diff_summary_has(enum metric metric);

/*
 * Appends the sentence, without a period: "nginx worker-{N} waited 7.7 s longer for a CPU (2.1 s → 9.8 s, 64
 * → 96 threads)". Names in it are as they are given.
 */
void diff_summary_append(const struct diff_change *change, const struct diff_summary_per *per,
			 struct buffer *buffer);

enum {
	DIFF_SUMMARY_MAX = 3,
	DIFF_SUMMARY_BLAMES = 3, /* beside them, of diff_blame_tell() */
};

/* Sentences about the largest changes; a zeroed struct has none. */
struct diff_summary {
	struct arena arena; /* owns the texts */
	const char *items[DIFF_SUMMARY_MAX + DIFF_SUMMARY_BLAMES];
	size_t count;
};

/*
 * Finds the heaviest changes (diff_weigh()) of the metrics chosen that have a phrase and are more than a
 * quiet host makes, and fills a zeroed summary. Calls diff_forget() after each metric where `forget` is set.
 * Free it with diff_summary_release().
 */
void diff_summary_make(const struct diff *diff, const bool chosen[METRIC_COUNT],
		       const struct diff_summary_per *per, bool forget, struct diff_summary *summary);
void diff_summary_release(struct diff_summary *summary);

#endif
