/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_METRIC_READER_H
#define CTOP_METRIC_READER_H

#include "snapshot.h"

/*
 * One metric of a snapshot, looked up once for many threads. `plain` says that the state of a thread follows
 * from its source alone, so that the general rules of snapshot_value_state() need not be asked thread by
 * thread.
 */
struct metric_reader {
	const struct snapshot *snapshot;
	enum metric metric;
	bool plain;
	bool user_only;
	/* of the source, and of the one it is part of; NULL: `default_reasons` */
	const reason_id *reasons[2];
	reason_id default_reasons[2];
	const uint64_t *values;  /* NULL: all 0 */
	const uint64_t *read_at; /* NULL: `boottime_ns` of the snapshot */
};

/* Of any metric but METRIC_THREAD_COUNT; valid as long as the snapshot. */
struct metric_reader metric_reader_of(const struct snapshot *snapshot, enum metric metric);

/* As snapshot_value_state() without `by_flags`. */
static inline enum value_state metric_reader_state(const struct metric_reader *reader, size_t thread,
						   reason_id *ret_reason)
{
	reason_id reason;

	if (!reader->plain)
		return snapshot_value_state(reader->snapshot, thread, reader->metric, false, ret_reason);
	*ret_reason = REASON_READ;
	if (reader->user_only && (reader->snapshot->thread_flags[thread] & THREAD_KERNEL) != 0)
		return VALUE_ABSENT;
	reason = reader->reasons[0] != NULL ? reader->reasons[0][thread] : reader->default_reasons[0];
	if (reason == REASON_READ)
		reason = reader->reasons[1] != NULL ? reader->reasons[1][thread] : reader->default_reasons[1];
	*ret_reason = reason;
	return reason == REASON_READ ? VALUE_READ : VALUE_UNAVAILABLE;
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

#endif
