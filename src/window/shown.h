/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SHOWN_H
#define CTOP_SHOWN_H

#include <stdlib.h>

#include "base/buffer.h"
#include "blame.h"
#include "column.h"
#include "grouping.h"
#include "latency_rows.h"

/* The threads that a table is of, each with its row, and what a column comes to in each row. */
struct shown {
	const struct snapshot *now;
	uint32_t *threads; /* indices in `now` */
	uint32_t *row_of;  /* of each of `threads` */
	size_t count;
	const struct ended *ended; /* threads that ended and count; NULL: none do */
	uint32_t *ended_row_of;    /* the row of each of its records, UINT32_MAX for none */
	size_t row_count;
	/* The row of each record of how long waits took, UINT32_MAX for none; NULL: nobody asked for it, or
	 * names do not tell it. */
	uint32_t *latency_row_of;
	struct latency_rows *latency_rows; /* then those of shares; NULL: nobody asked */
	/* The names of these records, and how those that have no row are grouped; no snapshot: nobody asked.
	 */
	struct {
		const struct snapshot *snapshot;
		struct grouping_options options;
		struct pattern_memory *patterns;
	} latency_names;
	bool behind_names; /* names do not tell which threads the rows have: what is known by name only is of
			      none */
	/* The part of each of `threads` that the format's flags judge together (WINDOW_FLAGGED): groups
	 * that a row was joined from. NULL: its row. */
	uint32_t *part_of;
	size_t part_count;
	uint32_t latency_other;     /* the record whose waits may be of any row; UINT32_MAX for none */
	uint32_t latency_other_row; /* its own; UINT32_MAX for none */
	uint32_t *row_threads;      /* living threads of each row */
	/* Group of each row, UINT32_MAX for that of `latency_other`; its thread index when `by_thread`. */
	uint32_t *row_group;
	bool by_thread;
	const struct grouping *grouping; /* of the rows; NULL when `by_thread` */
	bool by_cgroup;                  /* rows are cgroups */
	/* Set by shown_gather_still(): */
	const bool *still; /* of the span; NULL: nothing was gathered */
	uint32_t *movers;  /* indices in `threads`, ascending, of those that do not stand still */
	size_t mover_count;
	struct still_group *still_groups; /* ascending by their first threads */
	size_t still_count;
};

/* Threads of one row that stand still and are alike in all that decides whether a counter was read. */
struct still_group {
	uint32_t first; /* index in `threads` of the first of them */
	uint32_t count;
	uint32_t next; /* another group of the row, UINT32_MAX for none */
};

/* Makes room for so many threads and rows; to be released. */
void shown_reserve(struct shown *shown, size_t threads, size_t rows);
void shown_release(struct shown *shown);

/* Adds a thread to a row. */
static inline void shown_add(struct shown *shown, uint32_t thread, uint32_t row)
{
	shown->threads[shown->count] = thread;
	shown->row_of[shown->count++] = row;
	shown->row_threads[row]++;
}

/*
 * Parts the threads into those that moved and groups of those that did not, by `still` of a span over the
 * same threads. What stands still adds nothing to the sum of a counter and only has to be counted: so the
 * columns of a table touch a row as often as it has movers.
 */
void shown_gather_still(struct shown *shown, const bool *still);

/*
 * The threads of some rows only: those whose flag in `rows` is true. Rows keep their numbers. Everything else
 * still belongs to `shown`, which has to outlive the result. Release it with shown_release_narrowed().
 */
struct shown shown_narrow(const struct shown *shown, const bool *rows);
void shown_release_narrowed(struct shown *narrowed);

/* Appends the key of a thread, "TID:START". */
void shown_append_thread_key(struct buffer *buffer, uint32_t tid, uint64_t start_time);

/* The key of a row that is no thread. */
const char *shown_row_key(const struct shown *shown, size_t row, size_t *ret_length);

/* The text shown for such a row, see grouping_label(). */
const char *shown_row_label(const struct shown *shown, size_t row, size_t *ret_length);

/* Whether ctop made a row's name up: see struct name_text. */
bool shown_row_is_own(const struct shown *shown, size_t row);

/* The id of the process that a row is; 0 for others, and for threads. */
uint32_t shown_row_pid(const struct shown *shown, size_t row);

/* Name of a thread as read, or the text shown for an invisible name; the same of the threads of a triple. */
const char *shown_triple_name(const struct snapshot *snapshot, uint32_t triple, size_t *ret_length);
const char *shown_thread_name(const struct snapshot *snapshot, uint32_t thread, size_t *ret_length);

/* An amount of a counter, or a number per second. */
union accumulated {
	uint64_t whole;
	double real;
};

/* The parts of the value of a row. */
struct accumulator {
	union {
		union accumulated sum[2];
		struct {
			int64_t low, high;
		} range;
		struct {
			uint64_t value;   /* the largest; of a category the commonest */
			uint32_t threads; /* of a category: that have it */
		} present;
		struct {
			uint32_t fewest, most; /* CPUs in a set */
			uint32_t set;          /* of the first thread */
		} cpus;
		struct {
			uint32_t value;    /* of the first thread: process, user, id of a text */
			uint32_t last;     /* that was seen */
			uint32_t distinct; /* how many there are */
			uint32_t rank;     /* of `value` among those of all rows */
		} identity;
		struct {
			uint32_t class;   /* enum wait_class */
			uint32_t threads; /* in that class */
			uint32_t waiter;  /* index + 1 of a thread that waits for what most of these do */
			uint32_t votes;   /* for the object; at the end threads that wait for it */
		} wait;
		struct {
			uint64_t low; /* of 128 bits, signed */
			int64_t high;
		} wide;
	};
	uint32_t read, missed;
	uint16_t reason; /* of a missed one */
	bool partial;    /* an input of a thread that was read is missing */
	bool differs;    /* threads do not agree; of a ratio: inputs miss different threads */
	bool rose;
};

/* Counts a thread, process or record whose value is not known. */
static inline void accumulator_miss(struct accumulator *accumulator, uint16_t reason)
{
	accumulator->missed++;
	if (accumulator->reason == REASON_READ)
		accumulator->reason = reason;
}

/* Notes that the value is a lower bound. */
static inline void accumulator_note_bound(struct accumulator *accumulator)
{
	accumulator->partial = true;
	accumulator->reason = REASON_LOWER_BOUND;
}

/* A column's accumulators, `stride` for each row. */
struct column_values {
	enum column column;
	enum window_mode mode;
	const struct column_entry *entry;
	const struct column_kind *kind;
	const struct snapshot *now;
	enum unit unit;                   /* of its values */
	enum window_basis basis;          /* of the window; clock ticks are ns in WINDOW_MEASURED alone */
	bool in_ticks;                    /* rates of clock ticks are ticks a second, no ns */
	bool is_real;                     /* sums are real numbers */
	uint64_t scale;                   /* of whole sums to `unit` */
	struct accumulator *accumulators; /* owned */
	size_t stride;
	struct blame *blame; /* for DELAYED BY and the like, by row; owned; NULL for none */
	/* For CONTAINER: names, and of each string of the newest snapshot that is a cgroup's path the id of
	 * its. */
	struct string_pool containers;
	uint32_t *container_of_path; /* owned; NULL for none, UINT32_MAX where it is not known yet */
	/* For a field of a scheduler: the same in the newest snapshot; NULL: its scheduler has none. */
	const struct task_field_member *member;
};

/* Frees what they own. */
static inline void column_values_release(struct column_values *values)
{
	free(values->accumulators);
	blame_release(values->blame);
	string_pool_release(&values->containers);
	free(values->container_of_path);
}

#endif
