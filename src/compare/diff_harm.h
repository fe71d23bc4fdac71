/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_HARM_H
#define CTOP_DIFF_HARM_H

#include "diff.h"

/*
 * How much a change matters, in one unit for seconds, bytes and counts: 1 is a change that somebody should
 * look at, such as 2 % of a CPU or 64 MiB. Rows and sentences go by it. docs/reference/statistics.md has the
 * units.
 */

/* A column that sentences name. */
struct diff_harm {
	enum column column;
	double unit; /* the change that is one unit of harm */
	const char *phrase, *noun;
};

/* The columns of diff_harm.def, which explains the members. A cause comes before its effects. */
extern const struct diff_harm diff_harms[];
extern const size_t diff_harm_count;

/* Finds the entry of a column, or of the metric that the column shows. Returns NULL for a column that no
 * sentence names. */
const struct diff_harm *diff_harm_find(enum column column);

/* The change of a column in a pair that is one unit of harm, per second for a counter. 0 for ratios and
 * words, whose changes are no amounts. */
double diff_harm_unit(const struct diff_pair *pair, enum column column);

/*
 * The harm of the change of a column in a pair, at least 0. A group on one side only counts with all that it
 * has. What a group has less of, and what is gone, counts half. Counters of lives are divided by the seconds
 * between the captures, from 1 to 3,600. A column without a unit has less than 1. -INFINITY if the change is
 * not known.
 */
double diff_harm(const struct diff *diff, const struct diff_pair *pair, enum column column);

/* The order of rows in words, for readers of a report; without a period. */
extern const char diff_harm_words[];

#endif
