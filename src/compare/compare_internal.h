/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARE_INTERNAL_H
#define CTOP_COMPARE_INTERNAL_H

#include "compare.h"

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
	struct compare_label {
		const char *text;
		size_t length;
	} * labels; /* of each pair, as on the screen */
	struct arena arena;
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

/* A group or thread that rows are of. */
struct compare_subject {
	const struct comparison *comparison;
	const struct compare_join *join;
	const struct diff_pair *pair;
};

static inline struct compare_subject compare_subject(const struct comparison *comparison,
						     const struct compare_join *join, size_t pair)
{
	return (struct compare_subject){comparison, join, &join->diff->pairs[pair]};
}

/* --- compare.c --- */

/* The side inside of one as it is shown. */
static inline enum diff_side compare_inside(const struct comparison *comparison, enum diff_side shown)
{
	bool flipped = comparison->swapped != comparison->after_is_earlier;

	return (enum diff_side)((shown == DIFF_AFTER) != flipped);
}

/* The groups or threads that the rows of a view are of; valid until COMPARE_JOINS_KEPT others were made. */
struct compare_join *compare_join_of_view(struct comparison *comparison, const struct view *view);

/* Threads of a subject on a side as shown. */
uint32_t compare_threads(const struct compare_subject *subject, enum diff_side side);

/* Whether a side as shown has something of a subject: a group may have ended threads alone. */
bool compare_is_on(const struct compare_subject *subject, enum diff_side side);

/* Counts the threads of a group that are the same; false where that is not known, and for threads. */
bool compare_same(const struct compare_subject *subject, struct diff_match_count *ret_threads);

/* The mark of its rows. */
enum row_mark compare_mark(const struct compare_subject *subject);

/* The name that the cgroup of a renamed group has on a side as shown; NULL where it was not renamed. */
const char *compare_cgroup(const struct compare_subject *subject, enum diff_side side);

/* The sides are those shown. */
struct diff_value compare_value(const struct compare_subject *subject, enum column column);

/* --- compare_table.c --- */

/* Whether it says something of the rows of a view: groups, and of cgroups on their axis. */
bool compare_record_applies(const struct view *view, enum column column);

/* Makes a cell of a subject in a column of the table; texts are in `arena`. `value` is that of the metric. */
struct cell compare_cell(const struct compare_subject *subject, enum column metric,
			 const struct diff_value *value, enum compare_column column, struct arena *arena);

#endif
