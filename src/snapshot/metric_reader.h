/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_METRIC_READER_H
#define CTOP_METRIC_READER_H

#include "base/clock.h"
#include "snapshot.h"

enum {
	FAIR_POLICY_COUNT = 3
};

/* One metric of a snapshot, looked up once for many threads. */
struct metric_reader {
	const struct snapshot *snapshot;
	enum metric metric;
	bool even; /* every thread that it applies to by its flags was read */
	/*
	 * Waits for block I/O, which no thread can have longer than it lives. Since Linux 6.12 some have: a
	 * task whose removal from the run queue is put off does not note when its wait began (__block_task()
	 * in kernel/sched/sched.h notes it for the task that runs), so that the wait is charged from an
	 * earlier one on, or from the start of the host.
	 */
	bool bounded;
	bool has_exceptions; /* of single threads */
	bool leader_only, fair_only;
	/* flags without which a thread does not have the metric, and those that it must not have */
	uint8_t flags_needed, flags_refused;
	uint32_t fair_policies[FAIR_POLICY_COUNT]; /* ids of strings, UINT32_MAX for one that is none */
	/* of the source, and of the one it is part of; NULL: `default_reasons` */
	const reason_id *reasons[2];
	reason_id default_reasons[2];
	const uint64_t *values;  /* NULL: all 0 */
	const uint64_t *read_at; /* NULL: `boottime_ns` of the snapshot */
};

/* Makes the reader of any metric but METRIC_THREAD_COUNT; valid as long as the snapshot. */
struct metric_reader metric_reader_of(const struct snapshot *snapshot, enum metric metric);

/* Whether the thread has a policy, and none of the fair class. */
bool metric_reader_has_other_policy(const struct metric_reader *reader, size_t thread);

/* Whether a thread has the metric by its flags. */
static inline bool metric_reader_applies(const struct metric_reader *reader, size_t thread)
{
	const uint8_t asked = reader->flags_needed | reader->flags_refused;

	return asked == 0 || (reader->snapshot->thread_flags[thread] & asked) == reader->flags_needed;
}

static inline uint64_t metric_reader_value(const struct metric_reader *reader, size_t thread)
{
	return reader->values != NULL ? reader->values[thread] : 0;
}

/* When it was read, CLOCK_BOOTTIME ns. */
static inline uint64_t metric_reader_time(const struct metric_reader *reader, size_t thread)
{
	return reader->read_at != NULL ? reader->read_at[thread] : reader->snapshot->provenance.boottime_ns;
}

/* Whether a thread cannot have waited so long, ns, by the time its value was read. */
static inline bool metric_reader_outlives(const struct metric_reader *reader, size_t thread, uint64_t wait_ns)
{
	/* it may have started at the end of its first tick */
	return wait_ns > NS_PER_TICK &&
	       reader->snapshot->start_time[thread] * NS_PER_TICK + (wait_ns - NS_PER_TICK) >
		       metric_reader_time(reader, thread);
}

/* Why a thread to which it applies has no value, or REASON_READ. */
static inline reason_id metric_reader_reason(const struct metric_reader *reader, size_t thread)
{
	const struct metric_exception *exception = reader->has_exceptions
							   ? snapshot_find_exception(reader->snapshot, thread,
										     reader->metric)
							   : NULL;
	reason_id reason = REASON_READ;

	if (exception != NULL)
		return exception->reason;
	for (size_t i = 0; i < 2 && reason == REASON_READ; i++)
		reason = reader->reasons[i] != NULL ? reader->reasons[i][thread] : reader->default_reasons[i];
	return reason;
}

/* As snapshot_value_state(), whatever the value is. */
static inline uint16_t metric_reader_known_state(const struct metric_reader *reader, size_t thread)
{
	const struct snapshot *snapshot = reader->snapshot;
	const uint8_t flags = snapshot->thread_flags[thread];
	reason_id reason;

	if (reader->even)
		return metric_reader_applies(reader, thread) ? REASON_READ : STATE_ABSENT;
	if ((flags & reader->flags_refused) != 0)
		return STATE_ABSENT;
	if (reader->leader_only && snapshot->tid[thread] != snapshot->tgid[thread])
		return STATE_ABSENT;
	if (reader->fair_only && metric_reader_has_other_policy(reader, thread))
		return STATE_ABSENT;
	reason = metric_reader_reason(reader, thread);
	if (reason != REASON_READ)
		return reason;
	return (flags & reader->flags_needed) == reader->flags_needed ? REASON_READ : STATE_ABSENT;
}

/* The same; a value beyond what it is `bounded` by is unavailable, REASON_BAD_VALUE. */
static inline uint16_t metric_reader_state(const struct metric_reader *reader, size_t thread)
{
	const uint16_t state = metric_reader_known_state(reader, thread);

	return state == REASON_READ && reader->bounded &&
			       metric_reader_outlives(reader, thread, metric_reader_value(reader, thread))
		       ? REASON_BAD_VALUE
		       : state;
}

#endif
