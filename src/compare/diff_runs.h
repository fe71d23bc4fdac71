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

/*
 * Judges the change of a column of a pair by the numbers of its runs: sets the spread, the chance and whether
 * the change is real, which `is_real` says so far by its size. With fewer than DIFF_RUNS_TESTED runs on a
 * side the change is real if all runs of one side are beyond all of the other, and with a single number it is
 * not. A change of what has no numbers (words, ranges, sets of CPUs) is not tested.
 */
void diff_runs_judge(const struct diff *diff, const struct diff_pair *pair, enum column column,
		     struct diff_evidence_cell *cell);

/*
 * Finds how many runs each side needs to show a change of `change`, above 0 and in the unit of the column: at
 * least as many as are tested. Returns 0 where neither side has two numbers.
 */
size_t diff_runs_needed(const struct diff *diff, const struct diff_pair *pair, enum column column,
			double change);

#endif
