/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARE_INTERNAL_H
#define CTOP_COMPARE_INTERNAL_H

#include "compare.h"
#include "table/value_cell.h"
#include "window/column.h"

/*
 * What the files of the comparison share, for no one else.
 *
 * Inside, the sides have an order of their own: the earlier capture of one boot is DIFF_BEFORE however they
 * are shown, so that swapping them changes the signs and nothing else. Where a function takes a side as it is
 * shown it says so.
 */
enum {
	COMPARE_JOINS_KEPT = 4,
	COMPARE_NONE = UINT32_MAX,
};

/* The groups of both sides on one axis, inside what a view was narrowed to. */
struct compare_join {
	struct diff *diff; /* NULL: unused */
	struct buffer signature;
	uint64_t used;                   /* clock of the last use */
	bool *inside[DIFF_SIDE_COUNT];   /* which threads count, by index; NULL for all */
	struct diff_match_count *counts; /* of each pair; NULL unless of one boot */
	struct compare_label {
		const char *text;
		size_t length;
	} * labels; /* of each pair, as on the screen */
	struct arena arena;
};

/* A thread of either or both sides: its index there, else COMPARE_NONE. */
struct compare_thread {
	uint32_t index[DIFF_SIDE_COUNT];
};

/* What rows are of: the groups of a join or threads. */
struct compare_subjects {
	struct comparison *comparison;
	struct compare_join *join;      /* NULL for threads */
	struct compare_thread *threads; /* owned, as is what they have on each side, each a row */
	struct reduction *reductions[DIFF_SIDE_COUNT];
	size_t count;
};

struct comparison {
	struct snapshot *sides[DIFF_SIDE_COUNT]; /* a reference each; AFTER is NULL at first */
	bool swapped;                            /* the first snapshot is shown as after */
	bool after_is_earlier;                   /* the snapshot that came second is DIFF_BEFORE of `sides` */
	bool by_groups;                          /* the user wants the changes of groups */
	struct diff_match *match;                /* which threads are the same; NULL unless of one boot */
	struct compare_join joins[COMPARE_JOINS_KEPT];
	uint64_t clock;
	struct comparability *doubts;  /* made when it is asked for */
	struct compare_subjects shown; /* of the last table */
};

/* --- compare.c --- */

/* The side inside of one as it is shown. */
static inline enum diff_side compare_inside(const struct comparison *comparison, enum diff_side shown)
{
	bool flipped = comparison->swapped != comparison->after_is_earlier;

	return (enum diff_side)((shown == DIFF_AFTER) != flipped);
}

/* Free what these own; all of it is zero then. */
void compare_join_release(struct compare_join *join);
void compare_subjects_release(struct compare_subjects *subjects);

/* --- compare_metric.c --- */

/* Whether a side, as it is shown, has something of a subject: a group may have ended threads alone. */
bool compare_subject_is_on(const struct compare_subjects *subjects, size_t subject, enum diff_side side);

/* Whether it says something of the rows of a view: groups, and of cgroups on their axis. */
bool compare_record_applies(const struct view *view, enum column column);

/* The subject that the key of a row names, and its metric; SIZE_MAX when it is gone. */
size_t compare_find_row(const struct compare_subjects *subjects, const char *key, size_t key_length,
			enum column *ret_metric);

/* --- compare_join.c --- */

/* The join of an axis in the first `step_count` steps of a view; valid until COMPARE_JOINS_KEPT others. */
struct compare_join *compare_join_of(struct comparison *comparison, const struct view *view, enum axis axis,
				     size_t step_count);

/* Whether a thread of a side belongs to a pair. */
bool compare_join_has(const struct compare_join *join, size_t pair, enum diff_side side, size_t thread);

/* Which threads of a side are inside the first `step_count` steps of a view, by index; NULL for all. The
 * caller frees it. */
bool *compare_threads_inside(struct comparison *comparison, const struct view *view, size_t step_count,
			     enum diff_side side);

/* --- compare_subject.c --- */

/* What the rows of a view are of. To be released. */
void compare_subjects_collect(struct comparison *comparison, const struct view *view,
			      struct compare_subjects *subjects);

/* Index of the subject of a key as in a row's, SIZE_MAX for none. */
size_t compare_subjects_find(const struct compare_subjects *subjects, const char *key, size_t key_length);

/* Key of a subject; a thread's is made in `buffer`, which is cleared. */
const char *compare_subject_key(const struct compare_subjects *subjects, size_t subject,
				struct buffer *buffer, size_t *ret_length);

/* A thread that is a subject, of after where it is there: its index in the snapshot that is returned. */
const struct snapshot *compare_subject_thread(const struct compare_subjects *subjects, size_t subject,
					      uint32_t *ret_thread);

/* Name of a subject as on the screen. */
struct compare_label compare_subject_label(const struct compare_subjects *subjects, size_t subject);

/* Threads of a subject on a side as shown. */
uint32_t compare_subject_threads(const struct compare_subjects *subjects, size_t subject,
				 enum diff_side side);

/* Whether a thread of a side as shown belongs to a subject. */
bool compare_subject_has(const struct compare_subjects *subjects, size_t subject, enum diff_side side,
			 size_t thread);

/* How many threads of a group are the same ones; false where that cannot be said. */
bool compare_subject_same(const struct compare_subjects *subjects, size_t subject,
			  struct diff_match_count *ret_threads);

/* The mark of its rows. */
enum row_mark compare_subject_mark(const struct compare_subjects *subjects, size_t subject);

/* The name that the cgroup of a renamed group has on a side as shown; NULL where it was not renamed. */
const char *compare_subject_cgroup(const struct compare_subjects *subjects, size_t subject,
				   enum diff_side side);

/* --- compare_value.c --- */

/* The sides are those shown. */
struct diff_value compare_value(const struct compare_subjects *subjects, size_t subject, enum column column);

/* A cell of one side; texts are in `arena`. */
void compare_side_cell(const struct compare_subjects *subjects, size_t subject, enum column column,
		       const struct diff_value *value, enum diff_side side, struct arena *arena,
		       struct cell *ret_cell);
void compare_change_cell(const struct diff_value *value, enum column metric, struct arena *arena,
			 struct cell *ret_cell);
void compare_percent_cell(const struct diff_value *value, enum row_mark mark, struct arena *arena,
			  struct cell *ret_cell);

/* --- compare_rows.c --- */

/* A metric of a subject that may be a row, with what it is sorted by. */
struct compare_row {
	uint32_t subject, metric;
	double score;
	double key; /* of the order, NAN: last */
};

/*
 * The first rows of a view in their order, at most `limit`; the caller frees them. `*ret_total` gets how many
 * there are in all.
 */
struct compare_row *compare_rows_make(const struct compare_subjects *subjects, const struct view *view,
				      size_t limit, size_t *ret_count, size_t *ret_total);

#endif
