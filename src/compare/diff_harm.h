/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_HARM_H
#define CTOP_DIFF_HARM_H

#include "diff.h"

/*
 * How much a change matters, in one unit for seconds, bytes and counts: 1 is a change that somebody should
 * look at, such as 2 % of a CPU or 64 MiB. Rows and sentences go by it. docs/comparison.md has the units.
 */

/* A column whose changes are told. */
struct diff_harm {
	enum column column;
	double unit;        /* of harm, see diff_harm.def */
	const char *phrase; /* with a `*` for the change */
	const char *noun;
};

/* All of them, causes before what follows from them. */
extern const struct diff_harm diff_harms[];
extern const size_t diff_harm_count;

/* The one of a column, also where it is a metric as stored; NULL for a column that is not told. */
const struct diff_harm *diff_harm_find(enum column column);

/* The change of a column in a pair that is one unit of harm, of a counter in each second; 0 where an amount
 * says nothing: of ratios and words. */
double diff_harm_unit(const struct diff_pair *pair, enum column column);

/*
 * The harm of the change of a column in a pair, at least 0. A group on one side only counts with all that it
 * has; counters of lives count by the seconds between the captures, from 1 to 3,600. What has no unit has
 * less than 1. -INFINITY where the change is not known.
 */
double diff_harm(const struct diff *diff, const struct diff_pair *pair, enum column column);

/* The order of rows as the reader of a report is told it, without a period. */
extern const char diff_harm_words[];

#endif
