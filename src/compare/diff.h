/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_H
#define CTOP_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "comparability.h"
#include "snapshot/snapshot_window.h"
#include "table/dialect.h"
#include "window/column.h"
#include "window/grouping.h"
#include "window/reduction.h"

/*
 * Two snapshots joined: the groups of both by their keys, on AXIS_ALL also those of renamed cgroups, with
 * every metric of both sides and its change. What reports, rules and the screen of a comparison are made of.
 */

enum diff_pair_kind {
	DIFF_PAIR_MATCHED,     /* one key on both sides */
	DIFF_PAIR_FUDGED,      /* its cgroup has another name in after; key and label are those of before */
	DIFF_PAIR_ONLY_BEFORE, /* an orphan: the other side has no threads, every change is absent */
	DIFF_PAIR_ONLY_AFTER,
};

struct diff_options {
	struct grouping_options grouping; /* must outlive the diff */
	const struct dialect *dialect;    /* NULL: ctop's */
	bool rates; /* of the windows that both snapshots have, see diff_window(); not with `by_threads` */
	/*
	 * The threads of each side that count, by index; NULL for all. Names are grouped as if all counted,
	 * so that a part of the threads has the keys that it has in the whole.
	 */
	const bool *members[DIFF_SIDE_COUNT];
	const bool *ended_members[DIFF_SIDE_COUNT]; /* likewise, records of threads ended in the window */
	const struct diff_match *match;             /* threads present on both sides; NULL if unknown */
	/*
	 * Counters change by what the same threads did. A thread whose name or cgroup changed counts in its
	 * group of after with all it did; a thread that came counts from zero. A thread that went adds
	 * nothing, since nobody counted what it did after before was captured. A group that went has the
	 * counters of its threads and no change. Needs `match`.
	 */
	bool by_threads;
	bool single; /* the pairs are single threads, whatever the axis */
	/*
	 * Sets of runs: all captures of a side, the last of which is the snapshot that diff_create() is
	 * given; empty where that snapshot is all. Each outlives the diff. Not with `match`, `members` or
	 * `single`; with `rates` every run has a window.
	 */
	struct comparability_set sets[DIFF_SIDE_COUNT];
	const struct diff_floors *floors; /* replace floors of units, see diff_floors.h; NULL: none */
};

/* Threads of a pair that are the same on both sides, and those that came to it and went from it: they began
 * or ended, or belong to another pair on the other side. */
struct diff_match_count {
	uint32_t same, came, went;
	uint32_t unknown; /* of those that came: older than before, so that their counters say nothing */
};

/* A group of one or both sides. */
struct diff_pair {
	enum diff_pair_kind kind;
	const char *key; /* of the group; NUL-terminated, on AXIS_ALL three parts with a NUL between */
	size_t key_length;
	const char *label; /* what is shown of it, see grouping_label(); parts as in the key */
	size_t label_length;
	bool is_own;                          /* see struct table_row */
	uint32_t group[DIFF_SIDE_COUNT];      /* of the grouping, or the thread; UINT32_MAX: it has none */
	uint32_t threads[DIFF_SIDE_COUNT];    /* 0 where it has no group; of a set the mean, at least 1 */
	struct diff_match_count members;      /* zero without a match */
	uint32_t candidates;                  /* groups of after that were joined into this one */
	uint64_t start_time[DIFF_SIDE_COUNT]; /* mean of those known, USER_HZ ticks since boot; 0 unknown */
	double uptime; /* percent of the longest lifetime that a pair has in after, 0 to 100; not of orphans
			*/
};

/* Whether both sides have something of it. */
static inline bool diff_pair_is_joined(const struct diff_pair *pair)
{
	return pair->kind == DIFF_PAIR_MATCHED || pair->kind == DIFF_PAIR_FUDGED;
}

/* A thread type that renamed cgroups have in common or not: patterns of the names. */
struct diff_type {
	const char *process, *thread; /* NUL-terminated, owned by the diff */
};

/* A cgroup of before and its new name in after. */
struct diff_rename {
	const char *path[DIFF_SIDE_COUNT]; /* keys of the cgroups, owned by the diff */
	const char *root[DIFF_SIDE_COUNT]; /* what is left of them without their equal last components */
	uint32_t overlap;                  /* types on both sides */
	double ratio;                      /* of them to the types on either side, 0 to 1 */
	uint32_t cascaded;                 /* groups below the roots that were joined with it */
	const struct diff_type *only[DIFF_SIDE_COUNT]; /* types of one side only, in byte order */
	size_t only_count[DIFF_SIDE_COUNT];
};

/* A capture of a side: the only one, or one run of a set. */
struct diff_run {
	const struct snapshot *snapshot;
	/* Indexes of the grouping's snapshots with the names of its threads, and of threads that ended. */
	size_t names, ended_names;
	uint32_t *group_of_thread;   /* UINT32_MAX for a thread that does not count */
	struct reduction *reduction; /* the values of the pairs, as rows of its window */
	bool *has; /* by pair, and of the row past the last one: whether the run has it; NULL without sets */
};

/* Read-only once created, but for the reductions, which reduce a column when it is asked for. */
struct diff {
	const struct snapshot *snapshots[DIFF_SIDE_COUNT]; /* before is NULL with only one */
	struct diff_options options;
	struct grouping *grouping;       /* of both together */
	struct pattern_memory *patterns; /* that it has */
	/* The values of the pairs on a side, of a set those of its last run; NULL for a side without a
	 * snapshot. The run owns it. diff_side() has the values of the whole set. */
	struct reduction *reductions[DIFF_SIDE_COUNT];
	/* In ascending byte order of their keys, which are distinct; behind them a zeroed one, which has what
	 * is known by names and may be of any: waits of `(other)`. */
	struct diff_pair *pairs;
	size_t pair_count;
	uint64_t interval_ns;           /* between the captures; 0 where it is not known */
	struct diff_evidence *evidence; /* whether changes are real; NULL without rates and without sets */
	struct diff_rename *renames;    /* in byte order of their paths in after */
	size_t rename_count;
	/* From here on for the files of this room. */
	struct diff_run *runs[DIFF_SIDE_COUNT];
	size_t run_count[DIFF_SIDE_COUNT]; /* 0 for a side without a snapshot */
	struct diff_threads {
		bool has_ended; /* threads that ended within the window */
		bool renamed;   /* a thread counts here that had another group's name, or the reverse */
		uint32_t count;
		uint32_t started; /* of them with a known start */
		uint64_t start_sum;
	} * threads[DIFF_SIDE_COUNT]; /* per group, the sum over all runs */
	/*
	 * The group of before that a group of after is joined with, itself where it has no other name,
	 * UINT32_MAX for an orphan; only of groups that have threads in after.
	 */
	uint32_t *partner;
	uint32_t *pair_of_group[DIFF_SIDE_COUNT];
	bool *counted[DIFF_SIDE_COUNT];     /* by thread, whether its counters count; NULL for all */
	size_t part_names[DIFF_SIDE_COUNT]; /* index of the grouping's snapshot with the names of the parts */
	struct arena arena;                 /* texts of the renames, keys of threads */
};

/* The threads of two captures that are the same, see thread_match(). */
struct diff_match {
	const struct snapshot *snapshots[DIFF_SIDE_COUNT];
	uint32_t *mate[DIFF_SIDE_COUNT]; /* of each thread its index on the other side, UINT32_MAX for none */
	/*
	 * Threads whose counters cover the interval: those with a mate, and in after those that started since
	 * before was captured, whose counters began at zero.
	 */
	bool *counted[DIFF_SIDE_COUNT];
	bool *replaced;               /* threads of after with the id of another one of before */
	size_t same;                  /* threads on both sides */
	size_t only[DIFF_SIDE_COUNT]; /* threads that went, and that came */
};

/*
 * Matches the threads of two captures, which must outlive the result. The caller releases it with
 * diff_match_release(). NULL when they are not known to be of one boot: then a sentence says why.
 */
struct diff_match *diff_match_create(const struct snapshot *before, const struct snapshot *after,
				     struct error *error);
void diff_match_release(struct diff_match *match);

/* Appends a sentence about how many threads are the same, came and went, and what becomes of their counters
 * when the comparison is made by them (`by_threads`). */
void diff_match_describe(const struct diff_match *match, bool by_threads, struct buffer *buffer);

/* The window that is compared: with `rates` that of the snapshot, each second of it, else the lives of its
 * threads as they are stored. */
struct window diff_window(const struct snapshot *snapshot, bool rates);

/*
 * Joins the groups of two snapshots (the same one twice is allowed), both of which must outlive the result.
 * Names are grouped over both together. `before` may be NULL: then these are the groups of one snapshot,
 * pairs of DIFF_PAIR_ONLY_AFTER. The caller releases it with diff_release().
 */
struct diff *diff_create(const struct snapshot *before, const struct snapshot *after,
			 const struct diff_options *options);
void diff_release(struct diff *diff);

/* Whether its sides are sets of runs: then evidence is how runs differ. */
static inline bool diff_has_sets(const struct diff *diff)
{
	return diff->options.sets[DIFF_AFTER].count != 0;
}

/* The pair that a thread of a side (index in its snapshot) belongs to; SIZE_MAX for one that does not count.
 */
size_t diff_pair_of_thread(const struct diff *diff, enum diff_side side, size_t thread);

/* Returns the pair of a record of diff_ended(), likewise. */
size_t diff_pair_of_ended(const struct diff *diff, enum diff_side side, uint32_t record);

/* The pair whose key is these bytes, SIZE_MAX for none. A fudged pair is found by its key in before, a thread
 * by "TID:START", with a '-' behind where it is in before only. */
size_t diff_find(const struct diff *diff, const char *key, size_t length);

/* Appends a key or label as people read it: on AXIS_ALL "cgroup | process | thread". Not sanitised. */
static inline void diff_append_parts(const char *text, size_t length, struct buffer *buffer)
{
	const char *part = text, *end = text + length, *nul;

	while ((nul = memchr(part, '\0', (size_t)(end - part))) != NULL) {
		buffer_append(buffer, part, (size_t)(nul - part));
		buffer_append_text(buffer, " | ");
		part = nul + 1;
	}
	buffer_append(buffer, part, (size_t)(end - part));
}

/* Appends the label of a pair so. */
void diff_append_key(const struct diff_pair *pair, struct buffer *buffer);

/*
 * Appends the name as people say it: "api", "worker-{N}"; of one of several such pools "worker-{N} of api",
 * in one of several cgroups "api in /a.slice". Not sanitised.
 */
void diff_append_name(const struct diff *diff, const struct diff_pair *pair, struct buffer *text);

/* Appends the key, after "[renamed: LEAF] " for a pair of a renamed cgroup ("[renamed] " without a leaf). */
void diff_append_label(const struct diff *diff, const struct diff_pair *pair, struct buffer *buffer);

/* A part of a key or label on AXIS_ALL: 0 the cgroup, 1 the process, 2 the threads, which may hold a NUL. */
static inline const char *diff_part(const char *text, size_t part)
{
	while (part-- > 0)
		text += strlen(text) + 1;
	return text;
}

/* The value of one side. */
struct diff_side_value {
	enum value_state state; /* absent where the side has no group */
	reason_id reason;       /* set if unavailable or partial */
	bool partial;           /* a lower bound by which no change is known, or made without some members */
	bool has_number;        /* false for categories and without a value */
	double number;          /* sum, maximum, middle of a range or of CPU counts, derived value */
};

/* A metric of a pair and how it changed. Never a NaN or an infinity but for `sort`. */
struct diff_value {
	struct diff_side_value side[DIFF_SIDE_COUNT];
	/*
	 * The state of the change: absent when a side is absent, else unavailable when a side is unavailable
	 * or partial (`reason` of `reason_side`).
	 */
	enum value_state state;
	reason_id reason;
	enum diff_side reason_side;
	bool is_category;  /* compared by its commonest value: only `differs` is set */
	bool differs;      /* the change is not zero; never where it has no value */
	bool has_delta;    /* state is VALUE_READ and no category */
	double delta;      /* after - before */
	bool has_fraction; /* never where before is zero, nor for ratios */
	double fraction;   /* delta / before */
	double sort;       /* |fraction|, else |delta| * 1e9, else -INFINITY: the larger, the further up */
};

struct diff_value diff_column(const struct diff *diff, const struct diff_pair *pair, enum column column);

static inline struct diff_value diff_metric(const struct diff *diff, const struct diff_pair *pair,
					    enum metric metric)
{
	return diff_column(diff, pair, column_of_stored(metric));
}

/* Whether one side has a value and the other one none that is known. */
bool diff_is_unknown(const struct diff *diff, const struct diff_pair *pair, enum column column);

/* Whether there are so many pairs and runs that all reduced columns at once would take tens of megabytes. */
bool diff_forgets(const struct diff *diff);

/* Releases the reduced columns of such a comparison. */
void diff_forget(const struct diff *diff);

/* Whether a pair went, and a column is made of counters that count by threads: what they counted since before
 * is not known. */
bool diff_is_lost(const struct diff *diff, const struct diff_pair *pair, enum column column);

/*
 * The value of one side of a pair, absent if the side has no threads. The value of a set is the mean of its
 * runs. A run without the pair counts as 0 for amounts and threads, and is left out of other means. Words and
 * ranges come from the last run.
 */
void diff_side(const struct diff *diff, const struct diff_pair *pair, enum diff_side side, enum column column,
	       struct value *ret_value);

/*
 * Fills `ret_numbers`, which has room for run_count[side], with a number for each run of a set, and returns
 * how many. A run without the pair has 0; a run in which the number is not known, or does not apply, has
 * none. Returns 0 for words, ranges and sets of CPUs.
 */
size_t diff_run_numbers(const struct diff *diff, const struct diff_pair *pair, enum diff_side side,
			enum column column, double ret_numbers[]);

/* The sort key of rows: `sort` of diff_column(); words have no change to sort by. */
double diff_column_sort(const struct diff *diff, const struct diff_pair *pair, enum column column);

/* Sets all that follows from the two sides: state, change, fraction and sort key. `differs` of a category is
 * the caller's. */
void diff_value_conclude(struct diff_value *value, bool is_ratio);

/* Whether numbers of a column are places on a scale, as those of CPUs: a change of one is no amount. */
bool diff_is_ordinal(enum column column);

/* Whether a column has amounts of a second, not how much there is, how long something took, or a ratio. */
bool diff_has_amounts(enum column column);

/* The mode in which columns of a comparison are titled: rates of windows, or the lives of threads. */
enum window_mode diff_mode(const struct diff *diff);

/* One percent of a CPU in a column of times, where rates are compared: ns or clock ticks of a second. */
double diff_percent(enum column column);

/* The unit in which people read numbers of a column of a diff, and what to divide a number by for it. */
enum unit diff_unit(const struct diff *diff, enum column column, double *ret_divisor);

/*
 * How many inputs of a column are metrics whose changes make its change: 0 where it is made of waits under
 * way, of all that counters counted before, or of records.
 */
size_t diff_metric_inputs(enum column column);

/* --- for the files of this room --- */

/* Whether a side has threads of a group, also such as ended within its window. */
static inline bool diff_has_group(const struct diff *diff, enum diff_side side, uint32_t group)
{
	return diff->threads[side][group].count != 0 || diff->threads[side][group].has_ended;
}

/* Finds the orphans' cgroups that have a new name, sets the partners of their groups; for diff_create(). */
void diff_find_renames(struct diff *diff);

/* The last run of a side, of which the other sections of a report are; NULL without a snapshot. */
static inline const struct diff_run *diff_last_run(const struct diff *diff, enum diff_side side)
{
	return diff->run_count[side] != 0 ? &diff->runs[side][diff->run_count[side] - 1] : NULL;
}

/* The threads that ended within the window of a run, or of the last one of a side, and count; NULL for none.
 */
const struct ended *diff_run_ended(const struct diff *diff, const struct diff_run *run);
const struct ended *diff_ended(const struct diff *diff, enum diff_side side);

/* Shows records of ended threads in the pairs of their names. `names` is the index of their snapshot in the
 * grouping; `members` marks the records to show, NULL for all. */
void diff_show_ended(const struct diff *diff, enum diff_side side, size_t names, const struct ended *ended,
		     const bool members[], struct shown *shown);

/* The pairs as rows of the window of a run; for diff_create(). */
struct reduction *diff_reduce(struct diff *diff, enum diff_side side, const struct diff_run *run);

#endif
