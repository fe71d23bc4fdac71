/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_RANK_H
#define CTOP_DIFF_RANK_H

#include "diff_build.h"

/* Which rows a group table has, and in which order; for this room only. */

/* What a row is about: a metric, or a derived metric when that is METRIC_NONE. */
struct diff_subject {
	enum metric metric;
	enum derived derived;
};

struct diff_row {
	double sort;
	uint32_t pair;
	uint32_t subject; /* index into the subjects */
};

struct diff_ranking {
	struct diff_row *rows; /* in the order of the report */
	size_t count;
	size_t total; /* before the limit */
};

/* Whether columns of aggregates are released as soon as they have been used. */
bool diff_rank_is_thrifty(const struct diff_build *build);

/* The change of a subject. */
struct diff_value diff_subject_value(const struct diff *diff, const struct diff_pair *pair,
				     struct diff_subject subject);

/* Frees the columns of aggregates of both sides. */
void diff_forget(const struct diff *diff);

/*
 * Ranks the rows of some pairs (indices, ascending; orphans have no rows) with each subject: by the sort keys
 * of the request, without any by how much they changed. Of the pairs that are not of renamed cgroups the
 * limit keeps the first rows, without ordering those that it cuts. The caller frees `rows`.
 */
struct diff_ranking diff_rank(const struct diff_build *build, const uint32_t *pairs, size_t pair_count,
			      const struct diff_subject *subjects, size_t subject_count);

#endif
