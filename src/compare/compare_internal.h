/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARE_INTERNAL_H
#define CTOP_COMPARE_INTERNAL_H

#include "diff/diff_match.h"
#include "session/session_internal.h"
#include "compare.h"

/*
 * Shared by the files of a comparing session, for no one else.
 *
 *   session_pair.c          the sides, which threads are the same, joins of groups
 *   session_pair_subject.c  the groups and threads that rows are of
 *   session_pair_value.c    a metric of both sides of a group or thread
 *   session_pair_record.c   numbers that stand in records rather than in threads
 *   session_pair_rows.c     which rows there are, and their order
 *   session_pair_table.c    the table and its cells
 *   session_pair_details.c  all metrics of a row, the explanation of a number, what is said of a row
 */

/*
 * Inside, the sides have an order of their own: the earlier capture of one boot is DIFF_BEFORE however they
 * are shown, so that swapping them changes the signs and nothing else. Where a function takes a side as it is
 * shown it says so.
 */
enum {
	PAIR_JOINS_KEPT = 4,
	PAIR_NONE = UINT32_MAX,
};

/* The groups of both sides on one axis, inside what a view was narrowed to. */
struct pair_join {
	struct diff *diff; /* NULL: unused */
	struct buffer signature;
	uint64_t used;                  /* clock of the last use */
	bool *members[DIFF_SIDE_COUNT]; /* threads that count, by index */
	uint32_t *same; /* threads of each pair that are on both sides; NULL unless of one boot */
	struct pair_label {
		const char *text;
		size_t length;
	} * labels;                                     /* of each pair, as on the screen */
	struct column_values *records[DIFF_SIDE_COUNT]; /* by column, see session_pair_record.c; NULL: none */
	struct arena arena;
};

/* A thread of either or both sides: its index there, else PAIR_NONE. */
struct pair_thread {
	uint32_t index[DIFF_SIDE_COUNT];
};

/* What rows are of: the groups of a join or threads. */
struct pair_subjects {
	struct session *session;
	struct pair_join *join;      /* NULL for threads */
	struct pair_thread *threads; /* owned */
	size_t count;
};

struct session_pair {
	struct snapshot *before; /* a reference */
	bool swapped;
	enum pair_flip {
		PAIR_FLIP_UNKNOWN,
		PAIR_NOT_FLIPPED,
		PAIR_FLIPPED,
	} flip;                   /* whether the sides as shown stand the other way round than inside */
	bool by_groups;           /* the user wants the changes of groups */
	bool matched;             /* it was tried to make `match` */
	struct diff_match *match; /* NULL unless one boot */
	struct pair_join joins[PAIR_JOINS_KEPT];
	uint64_t clock;
	struct comparability *comparability; /* made when it is asked for */
	struct pair_subjects shown;          /* of the last table */
};

/* --- session_pair.c --- */

/* Drops what was made of the sides: one of them is another now. */
void pair_forget(struct session_pair *pair);

/* A side in the order inside. */
const struct snapshot *pair_snapshot(const struct session *session, enum diff_side side);

/* The side inside of one as it is shown. */
enum diff_side pair_inside(const struct session *session, enum diff_side shown);

/* Which threads are the same; NULL unless the sides are of one boot. */
const struct diff_match *pair_match(struct session *session);

/* The join of an axis inside the first `step_count` steps of a view; valid until PAIR_JOINS_KEPT others. */
struct pair_join *pair_join_of(struct session *session, const struct view *view, enum axis axis,
			       size_t step_count);

/* Which threads of a side are inside the first `step_count` steps of a view, by index; NULL for all. The
 * caller frees it. */
bool *pair_members(struct session *session, const struct view *view, size_t step_count, enum diff_side side);

/* --- session_pair_subject.c --- */

/* What the rows of a view are of. To be released. */
void pair_subjects_collect(struct session *session, const struct view *view, struct pair_subjects *subjects);
void pair_subjects_release(struct pair_subjects *subjects);

/* Index of the subject of a key (session_row_subject()), SIZE_MAX for none. */
size_t pair_subjects_find(const struct pair_subjects *subjects, const char *key, size_t key_length);

/* Key of a subject; a thread's is made in `buffer`, which is cleared. */
const char *pair_subject_key(const struct pair_subjects *subjects, size_t subject, struct buffer *buffer,
			     size_t *ret_length);

/* Name of a subject as on the screen. */
struct pair_label pair_subject_label(const struct pair_subjects *subjects, size_t subject);

/* Threads of a subject on a side as shown. */
uint32_t pair_subject_threads(const struct pair_subjects *subjects, size_t subject, enum diff_side side);

/* Whether a thread of a side as shown belongs to a subject. */
bool pair_subject_has(const struct pair_subjects *subjects, size_t subject, enum diff_side side,
		      size_t thread);

/* How many threads of a group are the same ones; false where that cannot be said. */
bool pair_subject_same(const struct pair_subjects *subjects, size_t subject,
		       struct pair_threads *ret_threads);

/* The mark of its rows. */
enum row_mark pair_subject_mark(const struct pair_subjects *subjects, size_t subject);

/* The name that the cgroup of a renamed group has on a side as shown; NULL where it was not renamed. */
const char *pair_subject_cgroup(const struct pair_subjects *subjects, size_t subject, enum diff_side side);

/* --- session_pair_value.c --- */

/* The metric as a column of its own: column_of_metric() has COLUMN_THR for the number of threads. */
static inline enum column pair_column_of(enum metric metric)
{
	return (enum column)(COLUMN_METRICS + (int)metric);
}

/* The sides are those shown. */
struct diff_value pair_value(const struct pair_subjects *subjects, size_t subject, enum column metric);

/* The unit of a metric column, and its ladder. */
enum unit pair_unit(enum column metric);
enum ladder pair_ladder(enum column metric);

/* A cell of one side; texts are in `arena`. */
void pair_side_cell(const struct pair_subjects *subjects, size_t subject, enum column metric,
		    const struct diff_value *value, enum diff_side side, struct arena *arena,
		    struct cell *ret_cell);
void pair_change_cell(const struct diff_value *value, enum column metric, struct arena *arena,
		      struct cell *ret_cell);
void pair_percent_cell(const struct diff_value *value, enum row_mark mark, struct arena *arena,
		       struct cell *ret_cell);

/* --- session_pair_record.c --- */

/* Whether a column is one of records. */
bool pair_is_record(enum column column);

/* Whether it says something of the rows of a view: groups, and of cgroups on their axis. */
bool pair_record_applies(const struct view *view, enum column column);

/* Its value on a side in the order inside. */
struct diff_side_value pair_record_side(const struct pair_subjects *subjects, size_t subject,
					enum column column, enum diff_side side);

void pair_records_release(struct pair_join *join);

/* --- session_pair_rows.c --- */

/* A metric of a subject that may be a row, with what it is sorted by. */
struct pair_row {
	uint32_t subject, metric;
	double score;
	double key; /* of the order, NAN: last */
};

/*
 * The first rows of a view in their order, at most `limit`; the caller frees them. `*ret_total` gets how many
 * there are in all.
 */
struct pair_row *pair_rows_make(const struct pair_subjects *subjects, const struct view *view, size_t limit,
				size_t *ret_count, size_t *ret_total);

/* --- in place of those of session.h --- */

struct table *pair_table(struct session *session, const struct view *view);
void pair_table_fill(struct session *session, const struct view *view, struct table *table, size_t first,
		     size_t end);
struct table *pair_metric_table(struct session *session, const struct view *view, const char *key,
				size_t key_length);
void pair_explain(struct session *session, const struct view *view, const char *key, size_t key_length,
		  size_t column, struct buffer *lines);

/* The metric and the subject that a row's key is made of; false when it is none. */
bool pair_split_key(const char *key, size_t key_length, enum column *ret_metric, const char **ret_subject,
		    size_t *ret_subject_length);

#endif
