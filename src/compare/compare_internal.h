/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARE_INTERNAL_H
#define CTOP_COMPARE_INTERNAL_H

#include "compare.h"
#include "pair_table.h"

/*
 * Shared by the files of the screen's comparison.
 *
 * Inside, the sides have an order of their own: the earlier capture of one boot is DIFF_BEFORE however they
 * are shown, so that swapping them changes the signs and nothing else. Where a function takes a side as it is
 * shown it says so.
 */
enum {
	COMPARE_JOINS_KEPT = 4
};

/* The groups or threads of both sides on one axis, inside what a view was narrowed to. */
struct compare_join {
	struct diff *diff; /* NULL: unused */
	struct buffer signature;
	uint64_t used;                       /* clock of the last use */
	bool *inside[DIFF_SIDE_COUNT];       /* by thread: whether it counts; NULL for all */
	bool *ended_inside[DIFF_SIDE_COUNT]; /* by record of ended threads, likewise */
};

struct comparison {
	struct snapshot *sides[DIFF_SIDE_COUNT]; /* a reference each; AFTER is NULL at first */
	bool swapped;                            /* the first snapshot is shown as after */
	bool after_is_earlier;                   /* the snapshot that came second is DIFF_BEFORE of `sides` */
	bool by_groups;                          /* the user wants the changes of groups */
	struct diff_match *match;                /* which threads are the same; NULL unless of one boot */
	struct compare_join joins[COMPARE_JOINS_KEPT];
	uint64_t clock;
	struct comparability *doubts;     /* made when it is asked for */
	const struct compare_join *shown; /* of the last table; NULL for none */
};

/* The side inside of one as it is shown. */
static inline enum diff_side compare_inside(const struct comparison *comparison, enum diff_side shown)
{
	bool flipped = comparison->swapped != comparison->after_is_earlier;

	return (enum diff_side)((shown == DIFF_AFTER) != flipped);
}

/* The groups or threads that the rows of a view are of; valid until COMPARE_JOINS_KEPT others were made. */
struct compare_join *compare_join_of_view(struct comparison *comparison, const struct view *view);

/* The pairs of a join as they are shown. */
struct pair_sides compare_sides(const struct comparison *comparison, const struct compare_join *join);

#endif
