/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_RECORDS_H
#define CTOP_ENDED_RECORDS_H

#include "capture/bpf/exit_record.h"
#include "capture/host/feature.h"
#include "capture/procfs/taskstats.h"
#include "snapshot/ended_set.h"
#include "snapshot/snapshot.h"

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

enum {
	ENDED_NAME_SIZE = 16, /* TASK_COMM_LEN of include/linux/sched.h */
	ENDED_NAME_ROOM = ENDED_NAME_SIZE + 1,
};

/* What each amount of a set is for the kernel; user and system time are shared out anew. */
struct ended_source {
	enum exit_amount amount;
	uint32_t needs;               /* TASK_KERNEL_… */
	enum taskstats_member member; /* of a record, TASKSTATS_MEMBER_NONE where it has none */
	uint64_t unit;                /* of that member, ns for times */
};

extern const struct ended_source ended_sources[ENDED_METRICS];

/*
 * What the kernel counted of threads, as amounts of a set: `delayed` of them had a record of delays; the two
 * times are at least what was told before, ns. For both ways in which the kernel tells.
 */
struct ended_amounts ended_amounts_of(const __u64 amounts[static EXIT_AMOUNTS], uint64_t delayed,
				      uint64_t least_user, uint64_t least_system);

/* A name of the kernel's structure as /proc has it, without blanks around it. Returns `text`. */
const char *ended_name(char text[static ENDED_NAME_ROOM], const char name[static ENDED_NAME_SIZE]);

/* The name of what nobody tells the name of. */
extern const char ended_unknown_name[];

/* Adds threads to a set of which nothing but their end is known. */
void ended_add_unknown(struct ended_set *set, uint64_t threads);

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

/*
 * Adds what ended between two rounds to `set`: those that have no row in `now`. `previous` is NULL in the
 * first round, before which nothing counts.
 */
void ended_records_read(struct ended_records *records, const struct snapshot *now,
			const struct snapshot *previous, const struct feature_checks *checks,
			struct ended_set *set);

#endif
