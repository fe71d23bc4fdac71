/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REDUCE_H
#define CTOP_REDUCE_H

#include "column.h"
#include "ended.h"
#include "shown.h"
#include "value.h"
#include "window.h"

/* The one way from the threads of a window to the values of rows. */

/*
 * Reduces a column over a window whose `now` is that of the threads shown, to accumulators for each row. What
 * ret_values owns is freed by column_values_release().
 */
void reduce_column(const struct window *window, const struct shown *shown, enum column column,
		   struct column_values *ret_values);

/* The value of a row. Its texts are those of the window's snapshots. */
void reduce_value(const struct shown *shown, const struct column_values *values, size_t row,
		  struct value *ret_value);

/* The accumulator of a row, or the first of them. */
static inline const struct accumulator *reduce_accumulator(const struct column_values *values, size_t row)
{
	return &values->accumulators[row * values->stride];
}

/*
 * Adds a row of one host's `values` to the values->stride accumulators at `into`, which the caller zeroes
 * before the first host. If the column's kind cannot merge hosts (kind.h), the first accumulator gets the
 * reason REASON_SEVERAL_HOSTS.
 */
void reduce_merge(const struct column_values *values, size_t row, struct accumulator *into);

/* Whether values of a column are words, which either differ or not. */
static inline bool column_values_are_words(const struct column_values *values)
{
	const struct task_field_member *member = values->member;

	return (column_is_metric(values->column) &&
		metric_type(column_metric(values->column))->reduction == METRIC_REDUCTION_MODE) ||
	       (member != NULL && member->facts.reduction == TASK_FIELD_REDUCTION_COUNT &&
		member->kind != TASK_FIELD_KIND_BOOLEAN);
}

/* Columns of fields are from now on as this scheduler's are; NULL changes nothing. */
void window_describe_fields(const struct task_field_owner *scheduler);

/* --- what explains a number --- */

/* The waits of a row. */
struct row_waits {
	struct latency_histogram known; /* of the row's own threads */
	uint64_t unknown; /* number of further waits that may be the row's: their group is not known */
	reason_id reason; /* why their group is not known */
};

/* The time of a row in a class. */
struct row_time {
	uint64_t known, unknown; /* ns, in the same way */
	reason_id reason;
};

/* The waits of a kind, of each row; NULL where they are not known. The caller frees it. */
struct row_waits *reduce_waits(const struct window *window, const struct shown *shown,
			       enum latency_kind kind);

/* The time of each row in a class, in the same way. */
struct row_time *reduce_times(const struct window *window, const struct shown *shown, enum wait_class class);

/* Why no time is known (`shown` may be NULL: at all); REASON_READ if it is. */
reason_id reduce_times_missing(const struct window *window, const struct shown *shown);

/*
 * What delayed the waits of rows for a CPU, or who woke whom; NULL where that is not known, for the reason
 * that reduce_blame_missing() gives (else REASON_READ); `shown` may be NULL there, for the host as a whole.
 * The caller releases what is returned.
 */
struct blame *reduce_blame(const struct window *window, const struct shown *shown,
			   enum blame_relation relation);
reason_id reduce_blame_missing(const struct window *window, const struct shown *shown);

/* Why a snapshot says of no thread what it waits for; REASON_READ where it may. */
reason_id reduce_waits_for_missing(const struct snapshot *now);

/*
 * Sets *ret_class to what a thread waits for, in a snapshot that has wait_class. Returns REASON_READ, or why
 * that is not known.
 */
uint16_t reduce_wait_class(const struct snapshot *now, uint32_t thread, enum wait_class *ret_class);

/* The way the counters of a process were found and the result of the search; NULL when it is not known. */
const struct heap_process *reduce_find_heap(const struct snapshot *snapshot, uint32_t tgid);

/* Why no cgroup record of a snapshot has the number that is the input of a column; REASON_READ where one has,
 * or there is no record. */
reason_id reduce_cgroup_missing(const struct snapshot *snapshot, int field);

/* A field of the contexts that schedulers keep, over a window: looked up once for many threads. */
struct window_field {
	const struct window *window;
	const struct task_field_member
		*member;        /* NULL: the scheduler of the newest snapshot has no such field */
	reason_id missing;      /* why no thread has a value; REASON_READ where they may */
	bool is_change;         /* a counter in another mode than WINDOW_MODE_TOTAL */
	reason_id from_missing; /* for a change: why it has no beginning */
	double scale;           /* of a change: to one per second where it is a rate, else 1 */
};

struct window_field window_field_of(const struct window *window, uint16_t field);

/*
 * Sets *ret_value to the value of a thread, or for a change to its increase, as task_field_read() gives it.
 * Returns REASON_READ, STATE_ABSENT (no context, or no such field) or why it is not known.
 */
uint16_t window_field_value(const struct window_field *field, uint32_t thread, uint64_t *ret_value);

#endif
