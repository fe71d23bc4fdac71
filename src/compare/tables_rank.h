/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TABLES_RANK_H
#define CTOP_TABLES_RANK_H

#include "tables_build.h"

/* Which rows a group table has, and in which order; for this room only. */

struct tables_ranked {
	double sort;
	uint32_t pair;
	uint32_t subject; /* index into the subjects */
};

struct tables_ranking {
	struct tables_ranked *rows; /* in the order of the report */
	size_t count;
	size_t total;  /* before the limit */
	size_t folded; /* beside these, whose change is not real */
};

/* Whether the columns that were reduced are released as soon as they have been used. */
bool tables_rank_forgets(const struct tables_build *build);

/* Frees the reduced columns of both sides. */
void tables_rank_forget(const struct diff *diff);

/*
 * Ranks the rows of some pairs (indices, ascending; of a comparison orphans have no rows) with each subject:
 * by the sort keys of the request, without any by how much they changed, those of one snapshot by name. Of
 * the pairs that are not of renamed cgroups the limit keeps the first rows, without ordering those that it
 * cuts. `totals` are those of tables_rank_total() for each subject, NULL where the pairs are all there are.
 * The caller frees `rows`.
 */
struct tables_ranking tables_rank(const struct tables_build *build, const uint32_t *pairs, size_t pair_count,
				  const enum column *subjects, size_t subject_count, const double *totals);

/* The sum of the amounts of all changes of a subject, of which diff_weight_in_total() takes a part. */
double tables_rank_total(const struct tables_build *build, enum column subject);

#endif
