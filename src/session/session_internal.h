/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SESSION_INTERNAL_H
#define CTOP_SESSION_INTERNAL_H

#include "origin.h"
#include "row_marks.h"
#include "session.h"
#include "table/value_cell.h"
#include "window/latency_spans.h"
#include "window/wait_samples.h"

/*
 * Declarations for the files of the session only. Those without `session_` in their name know nothing
 * of a session: they take what they need as a window and the threads shown.
 */

enum {
	GROUPING_CACHE_SIZE = 8
};

/* A grouping of the newest round, kept until the next one. */
struct cached_grouping {
	struct grouping *grouping; /* NULL: unused */
	struct grouping_options options;
	const struct ended *ended; /* of the session, or NULL */
	uint64_t used;             /* clock of the last use */
};

/* The threads that a view shows, by rows, and values of these. */
struct row_values {
	struct shown shown;
	struct column_values *values; /* of columns in modes, reduced so far */
	size_t count, capacity;
	unsigned char *idle;       /* of each row, as far as it was asked for; NULL: of none */
	struct buffer signature;   /* equal where the rows are, in one round and base; empty: not kept */
	const struct table *table; /* whose cells are made of them; NULL: none */
};

/* The newest round, and where its numbers are counted from. */
struct rounds {
	struct snapshot *now; /* a reference; NULL before the first round */
	struct origin lately; /* the round before */
	struct origin base;
	struct latency_spans latency;
	struct wait_samples samples;
	bool base_is_void; /* nothing can be counted from it */
	bool base_is_lost; /* `base` is not the one that there was */
};

/* The order of thread names; of_newest: the names of the newest round. */
struct name_ranks {
	uint32_t *by_triple; /* the place of each, equal names have one */
	uint32_t *order;     /* triples by name */
	size_t count;
	bool of_newest;
};

struct session {
	struct rounds rounds;
	uint64_t round_count;
	bool is_file;
	bool is_moment; /* see session_show_moment() */
	struct pattern_memory patterns;
	struct cached_grouping groupings[GROUPING_CACHE_SIZE];
	uint64_t grouping_clock;
	struct row_marks row_marks;
	bool keeps_courses;
	enum column wanted_course; /* kept besides, or COLUMN_COUNT */
	struct courses courses;
	struct task_field_owner *scheduler; /* a reference: see session_scheduler() */
	struct row_values kept_rows;        /* see session_keep_rows() */
	struct name_ranks name_ranks;
	struct {
		struct buffer rows; /* signature of the view that they were chosen for */
		uint32_t classes;   /* bits by enum wait_class: shown as long as the view is that one */
	} chosen;
};

/* --- session.c --- */

/* Free what they own; values of rows can be used again, and are none. */
void rounds_release(struct rounds *rounds);
void row_values_release(struct row_values *rows);

/*
 * The grouping of the newest round (snapshot 0) and, where `ended` is not NULL, of the names of those threads
 * (snapshot 1). Owned by the session, valid until the next round or GROUPING_CACHE_SIZE other groupings.
 */
const struct grouping *session_grouping(struct session *session, const struct grouping_options *options,
					const struct ended *ended);

/* The threads that ended and count in a mode; NULL for none. */
const struct ended *session_ended(const struct session *session, enum window_mode mode);

/* From where the newest round counts in a mode. */
struct window session_window(const struct session *session, enum window_mode mode);

/* Takes the scheduler of the newest round, which has just been set. */
void session_keep_scheduler(struct session *session);

/* Forgets cached groupings and the order of names: they belong to another round. */
void session_forget_groupings(struct session *session);

/* --- session_shown.c --- */

/*
 * Finds the threads of a view: those of the groups that it was narrowed to. `key` (may be NULL) limits them
 * to the row of that key. The threads of `ended` (may be NULL) join groups.
 */
void session_collect(struct session *session, const struct view *view, const char *key, size_t key_length,
		     const struct ended *ended, struct shown *shown);

/*
 * The rows of a view: those kept where they are the same, with the columns reduced so far, else collected
 * anew. Another tab or order then needs its own columns alone. To be released, or kept.
 */
void session_find_rows(struct session *session, const struct view *view, struct row_values *ret_rows);

/* Takes over rows until others are kept or the next round comes; of these the cells of `table` are made. */
void session_keep_rows(struct session *session, struct row_values *rows, const struct table *table);

/* --- session_table.c --- */

/*
 * Returns the values of a column in the rows that session_keep_rows() kept, reducing them if necessary. The
 * last table must be one of `view`. Valid until the next call.
 */
const struct column_values *session_kept_values(struct session *session, const struct view *view,
						enum column column);

/* How to see numbers that are counted by name only. */
extern const char session_by_name_remedy[];

#endif
