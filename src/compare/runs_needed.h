/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RUNS_NEEDED_H
#define CTOP_RUNS_NEEDED_H

#include "diff.h"

/* How many runs a comparison of sets would need, by how much runs of one set differ. */

/* The id of rows about it. */
extern const char runs_needed_id[];

/*
 * Finds how many runs each side needs to show a change of `change`, above 0 and in the unit of the column: at
 * least as many as are tested. Returns 0 where neither side has two numbers.
 */
size_t runs_needed(const struct diff *diff, const struct diff_pair *pair, enum column column, double change);

/*
 * Appends how many runs are needed, and how many there are: "7 runs a side are needed to be sure of it, and
 * there are 3 and 4", or "these runs are enough to be sure of it".
 */
void runs_needed_append(const struct diff *diff, size_t needed, struct buffer *buffer);

/* Adds a row about the change that is asked for without rules: a tenth of the CPU time of the group that ran
 * most. Nothing where that is not known. */
void runs_needed_tell(const struct diff *diff, struct comparability *comparability);

#endif
