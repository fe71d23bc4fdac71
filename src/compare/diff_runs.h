/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_RUNS_H
#define CTOP_DIFF_RUNS_H

#include "diff_evidence.h"

/*
 * Evidence from sets of runs: each run has one number of a group, and a change is real where the runs of both
 * sides differ by more than runs of one side do. docs/comparison.md explains it.
 */

enum {
	DIFF_RUNS_TESTED =
		4 /* runs of each side for the test of Mann and Whitney; with fewer ranges decide */
};

/* The numbers of the runs of both sides in a column of a pair. */
struct diff_runs_numbers {
	double *items[DIFF_SIDE_COUNT];
	size_t count[DIFF_SIDE_COUNT];
};

/* Collects them, see diff_run_numbers(); the caller releases the result with diff_runs_release_numbers(). */
struct diff_runs_numbers diff_runs_collect(const struct diff *diff, const struct diff_pair *pair,
					   enum column column);
void diff_runs_release_numbers(struct diff_runs_numbers *numbers);

/*
 * Judges the change of a column of a pair by the numbers of its runs: sets the spread, the chance and whether
 * the change is real, which `is_real` says so far by its size. With fewer than DIFF_RUNS_TESTED runs on a
 * side the change is real if all runs of one side are beyond all of the other. Words, and numbers of which a
 * side has fewer than two, stay not tested. `value` is from diff_column().
 */
void diff_runs_judge(const struct diff *diff, const struct diff_pair *pair, enum column column,
		     const struct diff_value *value, struct diff_evidence_cell *cell);

#endif
