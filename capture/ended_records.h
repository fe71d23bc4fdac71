/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_RECORDS_H
#define CTOP_ENDED_RECORDS_H

#include "capture/procfs/taskstats_layout.h"
#include "ended_watch.h"

/*
 * What threads did that ended, as the records of taskstats have it, which come without the thread's cgroup
 * and, before version 12, without its process. A record waits for the next round, which tells whether a row
 * shows the thread; of those that no round shows there are sums in the end.
 *
 * What the scheduler has charged (cpu_run_virtual_total) leaves out the last stretch on the CPU: all of a
 * short life. Of threads that no row shows and that never slept the run time is therefore the time since they
 * started less their wait for a CPU; of those that slept it is what the clock's tick saw of them (ac_utime
 * and ac_stime), added up, if that is more than what was charged. A tick counts in full for whoever it meets,
 * so that it is right for many threads together. Source: bacct_add_tsk() of kernel/tsacct.c,
 * delayacct_add_tsk() of kernel/delayacct.c.
 */
struct ended_records;

/* When a record came, CLOCK_BOOTTIME: after `from_ns`, not after `to_ns`. */
struct ended_record_span {
	uint64_t from_ns, to_ns;
	uint64_t suspended_ns; /* for how long the host was suspended in all: no record counts it */
};

/* Of the processes of a `scope`, whose list the caller keeps, or of all when it has none. */
struct ended_records *ended_records_create(const uint32_t *scope, size_t scope_count);

/* NULL is allowed. */
void ended_records_release(struct ended_records *records);

/* Takes the record of a thread: `layout->size` bytes. */
void ended_records_add(struct ended_records *records, const struct ended_record_span *span, uint32_t tid,
		       const unsigned char *stats, const struct taskstats_layout *layout);

/* Counts threads of which nothing came. */
void ended_records_lose(struct ended_records *records, uint64_t threads);

/* How many records wait for a round one by one. */
size_t ended_records_waiting(const struct ended_records *records);

/*
 * Adds up, between two rounds, what need not wait: threads that have no row in `previous` (the last round, or
 * NULL) and are gone, so that no round can show them any more.
 */
void ended_records_add_up(struct ended_records *records, const struct snapshot *previous,
			  const struct feature_checks *checks);

/* What ended since the round before; owned by the caller. NULL for the first round. */
struct ended_set *ended_records_read(struct ended_records *records, const struct ended_round *round);

#endif
