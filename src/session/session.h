/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SESSION_H
#define CTOP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "snapshot/snapshot_window.h"
#include "table/table.h"
#include "table/view.h"
#include "window/blame.h"
#include "window/grouping.h"

#include "course.h"

/*
 * The data behind a screen or `-b`: the newest round, the one before it, the base, and what ended threads
 * did; or one file. Deltas are per thread, matched by (tid, start time), then summed. Not safe for several
 * threads: it belongs to the one that draws.
 */
struct session;

struct session *session_create(void);
void session_release(struct session *session);

/*
 * A session over one file: takes over the reference. Where the file has a window, its beginning is both the
 * round before and the base; else only WINDOW_MODE_TOTAL has numbers (others: not in the file).
 */
struct session *session_create_file(struct snapshot *snapshot);

/*
 * Takes over one reference to a finished snapshot as the newest round. The first one becomes the base.
 * Threads that are gone since the last round are folded into one record per triple, with what they did since
 * the base as last read (bounded; what is beyond the bound goes into `(other)`).
 */
void session_add_round(struct session *session, struct snapshot *snapshot);

/*
 * The window that ends with the newest round and is shown in a mode, for a file: that since the base in
 * WINDOW_MODE_BASE, else the last interval. The caller owns it; NULL where there is nothing to count from.
 */
struct snapshot_window *session_save_window(const struct session *session, enum window_mode mode);

/*
 * Adds what happened since the base as the next part of a window, and makes the newest round the base. Not
 * for a session whose base somebody else sets.
 */
void session_take_part(struct session *session, struct window_parts *parts);

/* The newest round becomes the base. */
void session_set_base(struct session *session);

/*
 * NULL before the first round; session_previous() NULL before the second; session_base() NULL also where the
 * base of a moment cannot be had any more. Owned by the session until the next round. The previous one and
 * the base may be excerpts: rows of the threads that moved since, and what is counted from them.
 */
const struct snapshot *session_now(const struct session *session);
const struct snapshot *session_previous(const struct session *session);
const struct snapshot *session_base(const struct session *session);

/*
 * From now on the numbers of each round are kept for session_course(): of the rows of the views whose tables
 * are made, in their columns and some that matter anywhere; of threads, and of more than 2,000 rows, only in
 * the column that they are sorted by; of more than 2,000 rows, only of those whose course was asked for.
 * `wanted` is kept besides, if it is not COLUMN_COUNT. Nothing is kept of a file.
 */
void session_keep_courses(struct session *session, enum column wanted);

/*
 * The course of a row of a view's table in a column over the last `limit` rounds, as rates where it changes
 * over time, oldest round first, see course.h. Returns how many rounds there are, at most COURSE_ROUNDS.
 */
size_t session_course(struct session *session, const struct view *view, const char *key, size_t key_length,
		      enum column column, struct course_point points[], size_t limit);

/*
 * Adds to the courses of a view what its rows had in an earlier round, which ended at `unix_ns`: `table` is
 * that of the view then, as rates, with the column alone. What is known already stays. To be called from the
 * newest round on.
 */
void session_fill_courses(struct session *session, const struct view *view, enum column column,
			  uint64_t unix_ns, const struct table *table);

/* Rounds added so far. */
uint64_t session_round_count(const struct session *session);

/* Time between the last two rounds, ns; 0 before the second. */
uint64_t session_interval_ns(const struct session *session);

/*
 * The sched_ext scheduler that runs as of the newest round, and what it keeps for each task; NULL when none
 * runs or nothing is known of it. Owned by the session until the next round. Whether one runs at all, known
 * or not: session_scheduler_runs().
 */
const struct task_field_owner *session_scheduler(const struct session *session);
bool session_scheduler_runs(const struct session *session);

/* Threads that ended since the base. */
uint64_t session_ended_count(const struct session *session);

/* Threads of the host that started and ended per second in the last interval. */
struct session_turnover {
	bool started_known, ended_known;
	bool ended_at_least; /* of those that came and went between two rounds nobody told */
	double started_per_s, ended_per_s;
};

struct session_turnover session_turnover(const struct session *session);

/* Many processes that end each second: how many, and the names that most of them had. */
struct session_storm {
	double processes_per_s;
	const char *names[2]; /* foreign text, owned by the session until the next round; [1] may be NULL */
	const char *parent;   /* of most of those of names[0], the same; NULL where it is not known */
};

/* Whether there is a storm of processes in the last interval: more than 100 ended in a second. */
bool session_find_storm(const struct session *session, struct session_storm *ret_storm);

/* Properties that all threads of a view share. Texts are foreign and belong to the session, until the next
 * round. */
struct session_identity {
	uint32_t threads;    /* how many there are */
	uint32_t tgid;       /* 0: they are of several processes */
	const char *process; /* its name, NULL for several */
	const char *cgroup;  /* NULL for several */
	uint32_t uid;
	bool has_user; /* they have the user `uid` */
};

/* Looks at the groups that the view was narrowed to, without its filter. */
struct session_identity session_identify(struct session *session, const struct view *view);

/* A user with how many threads. */
struct session_user {
	uint32_t uid;
	uint32_t threads;
};

/*
 * The users of the threads that a view would show without its filter, those with most threads first, then by
 * number; the caller frees them. Threads whose user is not known are left out.
 */
struct session_user *session_users(struct session *session, const struct view *view, size_t *ret_count);

/*
 * The table of a view: one row per group or thread, columns of the view's tab. Sorted, filtered, marked. The
 * caller releases it. Never NULL; no rows before the first round. Numbers of a live session need two rounds:
 * until then rates and interval cells are unavailable (not-read).
 */
struct table *session_table(struct session *session, const struct view *view);

/*
 * Makes the cells of `count` rows from `first` where they are not made yet: of the table of a view with
 * cells_on_demand. To be called with the same view, before the next round. A screen shows few of the threads
 * that it sorts.
 */
void session_table_fill(struct session *session, const struct view *view, struct table *table, size_t first,
			size_t count);

/*
 * Adds to view->left_out the columns of time in classes in which the threads of the view have spent less than
 * 1 % of one thread's time since measuring began, or in the samples; all of them where neither is known. A
 * class that was not left out stays until the view shows other threads.
 */
void session_leave_out_classes(struct session *session, struct view *view);

/* A group by classes of waits. */
struct session_classes {
	uint64_t threads[WAIT_CLASS_COUNT]; /* living ones, by what they wait for now, where that is known */
	uint64_t time_ns[WAIT_CLASS_COUNT]; /* in the last interval; 0 where it was not measured */
};

/*
 * Counts each row of groups by classes of waits. The table has to be the last that session_table() made, by a
 * view with cells_on_demand; times need one that shows latency. The caller frees the array, which has an
 * element for each row; NULL for another table.
 */
struct session_classes *session_count_classes(const struct session *session, const struct table *table);

/*
 * All metrics and derived metrics of one row of a session_table() (by its key): columns now, in interval, per
 * s, since base, source; and what a sched_ext scheduler keeps ("SOURCE.NAME"): of a thread its whole context,
 * of a group the fields. On the tab of task fields that comes first. Its heading says what a thread does at
 * present, NULL where that is not known. NULL when the row is gone.
 */
struct table *session_metric_table(struct session *session, const struct view *view, const char *key,
				   size_t key_length);

/* The order of pairs, each the largest first; SESSION_PAIRS_WAITS of delays only. */
enum session_pairs {
	SESSION_PAIRS_SIZE,
	SESSION_PAIRS_SHARE, /* of what the victim has in all */
	SESSION_PAIRS_WAITS,
	SESSION_PAIRS_COUNT,
};

/*
 * The pairs of groups that delayed or woke each other, in the mode of a view, by its axis
 * (session_blame_axis()), over all threads of the host: a row for each pair, whose key has that of the victim
 * behind `key_name`, with what delayed (or woke) it and how much, in that order; before them the pairs of the
 * group `key` (may be NULL), what delays it, then what it delays. No more than 1,000 rows; row_total is how
 * many there are. NULL where that is not known, for *ret_missing. The caller releases the table.
 */
struct table *session_blame_table(struct session *session, const struct view *view,
				  enum blame_relation relation, enum session_pairs order, const char *key,
				  size_t key_length, reason_id *ret_missing);

/* How much of all delays in the mode of a view has a name, percent: what is left is (earlier) or (other). */
double session_blame_named(struct session *session, const struct view *view);

/* The axis of these pairs: that of the view, or by processes where its groups are not known by names. */
enum axis session_blame_axis(const struct view *view);

/* Why a row is slow, in words; its buffers are the caller's. */
struct session_slow {
	/* What it waited for most in the last interval, and what made it wait: "waits for a CPU: 1.2 threads
	 * on average, 92% of it while backup ran". Empty if it lost less than 1 % of a CPU. */
	struct buffer loss;
	/* What most of its threads wait for now: "38 of 40 threads wait at one futex, a lock by its value".
	 * If they do not agree, the cell of WAITS FOR where the view lacks it: "waits for: poll (3 of 5
	 * threads)". Empty if unknown. */
	struct buffer waits_for;
	bool waits_first; /* `waits_for` holds up more threads than `loss` */
	/* The cgroup with most threads of a row that waits for a CPU, as an id in the newest snapshot; 0 for
	 * others. The limits of the cgroup, if the next rounds read them, say whether cpu.max is the cause.
	 */
	uint32_t cgroup;
};

/*
 * Finds why a row of a view is slow, as far as the rounds have read it. Adds to the buffers of `*slow`, which
 * is empty. `offers_latency`: the key l would tell who ran.
 */
void session_find_slow(struct session *session, const struct view *view, const char *key, size_t key_length,
		       bool offers_latency, struct session_slow *slow);

/* A thread that is in D, or has slept for half a second or longer. */
struct session_sleeper {
	uint32_t tgid, tid;
	uint64_t start_time; /* USER_HZ ticks since boot */
	uint64_t wait_ns;    /* how long, at least; 0 where it is not known */
	bool in_d;
};

/*
 * The first `limit` such threads of a row: those in D first, then those that have slept for longest. Returns
 * how many; `*ret_count` there are in all. By procfs only those in D are known.
 */
size_t session_find_sleepers(struct session *session, const struct view *view, const char *key,
			     size_t key_length, struct session_sleeper sleepers[], size_t limit,
			     size_t *ret_count);

/*
 * The definition of one cell: lines of text (what it counts, file or message it came from, when the two
 * readings were taken, how many threads contributed and how many could not and why, the tally of a category,
 * caveats). `column` is an index into table.columns of the view's table. The caller frees the buffer.
 */
void session_explain(struct session *session, const struct view *view, const char *key, size_t key_length,
		     size_t column, struct buffer *ret_lines);

/*
 * The same of a row of session_metric_table() that is a member of what a scheduler keeps: `name` is that of
 * the row, "SOURCE.NAME". The lines say what type it has, where it stands and, of a thread, all of its value.
 */
void session_explain_member(struct session *session, const struct view *view, const char *key,
			    size_t key_length, const char *name, struct buffer *ret_lines);

/*
 * Whether a column can have no number in any row for as long as nothing changes on the host: what it is made
 * of is not in this kernel, switched off, not permitted, not in the file. Then why, and what would help, is
 * appended to `words` (may be NULL): "delay accounting: switched off; sysctl kernel.task_delayacct=1". What a
 * round merely did not read, or a key of the screen switches on, is not unavailable. False before the first
 * round.
 */
bool session_why_unavailable(const struct session *session, const struct view *view, enum column column,
			     struct buffer *words);

/*
 * Whether all numbers of a column are lower bounds for as long as nothing changes on the host: a part of the
 * sum that it is cannot be read of any thread. False before the first round.
 */
bool session_is_lower_bound(const struct session *session, const struct view *view, enum column column);

/* The same as session_why_unavailable() in a word or two, where the header says it: "delays off", "not
 * permitted". */
void session_append_cause(const struct session *session, const struct view *view, enum column column,
			  struct buffer *words);

/*
 * The same as a sentence for who asks for an order or a filter by the column: "MWAIT% cannot be read: delay
 * accounting: switched off; sysctl kernel.task_delayacct=1".
 */
bool session_refuse_column(const struct session *session, const struct view *view, enum column column,
			   struct buffer *words);

#endif
