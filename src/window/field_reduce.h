/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FIELD_REDUCE_H
#define CTOP_FIELD_REDUCE_H

#include "snapshot/snapshot.h"

/*
 * A field of the contexts of several threads taken together, as its member's facts say. The one place where
 * that is done, for the screen and for reports.
 */

/* So many threads in turn that have a value. */
struct task_field_tally {
	uint64_t value; /* as task_field_read() gives it */
	uint32_t threads;
};

/* A sum of more than 64 bits: fields of no meaning known may all be near 2^64. */
struct task_field_sum {
	uint64_t high, low;
};

/* A zeroed one is empty. */
struct task_field_accumulator {
	uint32_t read;   /* threads with a value */
	uint32_t missed; /* those that should have one */
	uint32_t set;    /* threads whose value is not 0 */
	reason_id reason;
	bool differs;                       /* threads do not have one value */
	uint64_t first;                     /* what the first one has */
	uint64_t least, most;               /* by the sign of the member; of an age the least but 0 */
	struct task_field_sum above, below; /* of values above and below 0 */
	double amount;                      /* of task_field_accumulate_amount() */
	struct task_field_tally
		*runs; /* of TASK_FIELD_REDUCTION_COUNT once they differ: no more than two for each value */
	size_t run_count, run_capacity;
};

/* The value of a group. */
struct task_field_reduced {
	enum value_state state; /* absent: no thread has a context, or no time stamp was ever set */
	reason_id reason;       /* why it is unavailable or partial */
	bool partial;           /* some threads that should have a value have none */
	bool differs;           /* threads do not have one value */
	uint32_t
		threads; /* TASK_FIELD_REDUCTION_COUNT: that have `value`; of a bool those that have it set */
	uint32_t read;   /* of so many */
	uint64_t value;  /* TASK_FIELD_REDUCTION_COUNT: the commonest, the least of several that are */
	double number;   /* sum, mean, maximum, age in ns, of a bool how many have it set; else 0 */
	bool is_whole;   /* `whole` is exactly that number */
	uint64_t whole;
};

/* Adds a thread that has this value of the member (as task_field_read() gives it). */
void task_field_accumulate(struct task_field_accumulator *accumulator, const struct task_field_member *member,
			   uint64_t value);

/* Adds the increase of a thread in a span, or per second: TASK_FIELD_REDUCTION_COUNTER. */
void task_field_accumulate_amount(struct task_field_accumulator *accumulator, double amount);

/* Adds a thread that should have a value. */
void task_field_accumulate_missing(struct task_field_accumulator *accumulator, reason_id reason);

/*
 * Reduces the values of the threads. `read_at_ns` is that of the contexts, from which ages count: they are
 * unavailable where it is 0. A time stamp that is a little later is of another clock and makes 0; one that is
 * later by more is none, and the age is unavailable (REASON_BAD_STAMP).
 */
struct task_field_reduced task_field_reduce(struct task_field_accumulator *accumulator,
					    const struct task_field_member *member, uint64_t read_at_ns);

/* Frees what it holds and makes it empty. */
void task_field_accumulator_release(struct task_field_accumulator *accumulator);

#endif
