/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_READING_H
#define CTOP_THREAD_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "metric/metric.h"
#include "metric/source.h"

enum {
	THREAD_NAME_SIZE = 64, /* proc_task_name() of fs/proc/array.c prints at most 63 bytes */
	METRIC_SET_WORDS = (METRIC_COUNT + 63) / 64,
};

/* A set of metrics, a bit each. */
struct metric_set {
	uint64_t words[METRIC_SET_WORDS];
};

static inline bool metric_set_has(const struct metric_set *set, enum metric metric)
{
	return (set->words[metric / 64] >> (metric % 64) & 1) != 0;
}

static inline void metric_set_add(struct metric_set *set, enum metric metric)
{
	set->words[metric / 64] |= (uint64_t)1 << (metric % 64);
}

static inline void metric_set_remove(struct metric_set *set, enum metric metric)
{
	set->words[metric / 64] &= ~((uint64_t)1 << (metric % 64));
}

/*
 * What was read of one thread in one round, before it becomes a row of a snapshot. The parsers of procfs.h
 * add to it, each for its source; a parser that runs again (or that of an equivalent source) overwrites.
 *
 * A metric is in `present` if its value was found and is valid, in `bad` if its text was there but is not
 * valid (REASON_BAD_VALUE), in neither if the kernel did not print it. `value` counts only where `present`
 * says so and is encoded like a snapshot column (metric_encoding), except METRIC_POLICY, which holds the
 * policy's number sign-extended: see procfs_policy_name().
 */
struct thread_reading {
	uint32_t tgid, tid;
	source_set read; /* sources whose text was there and had the expected shape */
	struct metric_set present, bad;
	uint32_t negative_values; /* dotted values below zero, for parse_summary.negative_dotted_values */

	/* stat; valid where `read` has SOURCE_STAT */
	char name[THREAD_NAME_SIZE]; /* raw bytes, blanks at both ends cut; may hold any byte; not terminated
				      */
	uint8_t name_length;
	bool start_time_known;
	uint64_t start_time; /* USER_HZ ticks since boot, 0 when unknown */
	uint64_t flags;      /* PF_… of include/linux/sched.h, 0 when unknown */
	bool has_memory;     /* it has an address space */
	bool resident_known;
	uint64_t resident_pages; /* of that address space */

	/* status */
	bool uid_known;
	uint32_t uid; /* real user id */

	uint64_t value[METRIC_COUNT];
};

/* Empties the reading for a thread. `value` is left as it is: `present` guards it. */
static inline void thread_reading_begin(struct thread_reading *reading, uint32_t tgid, uint32_t tid)
{
	memset(reading, 0, offsetof(struct thread_reading, value));
	reading->tgid = tgid;
	reading->tid = tid;
}

static inline void thread_reading_set(struct thread_reading *reading, enum metric metric, uint64_t value)
{
	reading->value[metric] = value;
	metric_set_add(&reading->present, metric);
	metric_set_remove(&reading->bad, metric);
}

/* The metric's text was there but is not valid. */
static inline void thread_reading_set_bad(struct thread_reading *reading, enum metric metric)
{
	metric_set_remove(&reading->present, metric);
	metric_set_add(&reading->bad, metric);
}

/* PF_KTHREAD of include/linux/sched.h: a kernel thread. */
static inline bool thread_reading_is_kernel(const struct thread_reading *reading)
{
	return (reading->flags & 0x00200000) != 0;
}

#endif
