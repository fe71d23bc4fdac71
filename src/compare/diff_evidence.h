/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_EVIDENCE_H
#define CTOP_DIFF_EVIDENCE_H

#include "diff.h"
#include "table/table.h"

/*
 * Whether a change between two windows, or two sets of runs, is real: by how much a group's number varies
 * from part to part of each window, or from run to run, by the size of the change, and by a floor of its
 * unit. docs/reference/statistics.md explains it.
 */

enum {
	/* runs of each side for the test of Mann and Whitney; with fewer a change is real if all runs of one
	 * side are beyond all of the other */
	DIFF_EVIDENCE_RUNS = 4
};

/* At most so likely by chance is a change that counts. */
#define DIFF_EVIDENCE_CHANCE_MAX 0.05

/*
 * A short time in which a side did most of what it did more than the other one: at most a quarter of its
 * parts hold most of that, the change is ten times what any part of the other side has, and its harm is at
 * least 10.
 */
struct diff_burst {
	enum diff_side side;
	uint64_t length_ns;
	uint64_t begin_unix_ns; /* by the wall clock; 0 where the file does not have it */
};

struct diff_evidence_cell {
	bool is_tested;  /* `chance` says something; else size and floor decide alone */
	bool is_certain; /* a setting, or a number of threads: nothing to test, since no part of it is by
			    chance */
	bool is_real;    /* large enough, and where it is tested not by chance */
	bool is_burst;   /* by chance as far as the test goes, since few parts hold most of it: see `burst` */
	bool stands_out; /* where it is tested: the change is several times the spread */
	double spread[DIFF_SIDE_COUNT]; /* half the range of the middle half of the parts; NAN: not known */
	double chance;                  /* that such a change is there by chance, by itself; 1 */
	/* The same for one of all that the comparison tests; of sets of runs that of the change by itself,
	 * NAN where their ranges decide. */
	double adjusted;
	struct diff_burst burst;
};

/* Tests all counters of a comparison of rates; for diff_create(), which keeps it. */
struct diff_evidence *diff_evidence_create(const struct diff *diff);
void diff_evidence_release(struct diff_evidence *evidence); /* NULL is allowed */

/* Why the changes between two windows are not tested, as a clause: "a window is shorter than 1 s"; NULL where
 * they are. */
const char *diff_evidence_refusal(const struct diff *diff);

/* Whether the change of a column of a pair is worth a row: real, a burst or not tested; always of what is no
 * comparison of rates. */
bool diff_is_real(const struct diff *diff, const struct diff_pair *pair, enum column column);

/*
 * Returns the verdict on the change of a column of a pair, for a cell of a table. A sum of counters gets the
 * best verdict among its counters. Without rates the verdict is CELL_VERDICT_NONE. Ages and unfinished waits
 * grow while nothing happens, so their verdict is always CELL_VERDICT_NO.
 */
enum cell_verdict diff_verdict(const struct diff *diff, const struct diff_pair *pair, enum column column);

/*
 * Whether a change of time lost to waits is larger than what its counters explain: threads in D lose time
 * before it is counted. `value` is from diff_column().
 */
bool diff_evidence_is_unexplained(const struct diff *diff, const struct diff_pair *pair, enum column column,
				  const struct diff_value *value);

/* The evidence for the change of a column of a pair, in a comparison of rates; `value` is from diff_column().
 */
struct diff_evidence_cell diff_evidence_of(const struct diff *diff, const struct diff_pair *pair,
					   enum column column, const struct diff_value *value);

/*
 * Finds how many runs each side needs to show a change of `change`, above 0 and in the unit of the column: at
 * least as many as are tested. Returns 0 where neither side has two numbers.
 */
size_t diff_evidence_runs_needed(const struct diff *diff, const struct diff_pair *pair, enum column column,
				 double change);

/* The verdict that evidence comes to. */
enum cell_verdict diff_evidence_verdict(const struct diff_evidence_cell *cell);

#endif
