/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_RECORDS_H
#define CTOP_ENDED_RECORDS_H

#include "capture/bpf/exit_record.h"
#include "capture/host/feature.h"
#include "capture/procfs/taskstats.h"
#include "snapshot/ended_set.h"
#include "snapshot/snapshot.h"

/*
 * Counts the work of ended threads from taskstats records, which lack the thread's cgroup and, before
 * version 12, its process. A record waits for the next round, which tells whether a row shows the thread;
 * threads that no round shows are summed up.
 *
 * The scheduler's charge (cpu_run_virtual_total) leaves out the last stretch on the CPU, which may be a whole
 * short life. So the run time of a thread without a row that never slept is its age less its wait for a CPU.
 * Threads that slept get the sum of what the tick saw (ac_utime and ac_stime) if that exceeds the charge. A
 * tick counts in full for the thread it meets, so the sum over many threads is right. Source:
 * bacct_add_tsk() of kernel/tsacct.c, delayacct_add_tsk() of kernel/delayacct.c.
 */
struct ended_records;

enum {
	ENDED_NAME_ROOM = sizeof("\\xhh") * TASK_COMM_SIZE, /* every byte may need an escape */
};

/* The kernel's counter behind each amount of a set; user and system time are shared out anew. */
struct ended_source {
	enum exit_amount amount;
	uint32_t needs;               /* TASK_KERNEL_… */
	enum taskstats_member member; /* of a record, TASKSTATS_MEMBER_NONE where it has none */
	uint64_t unit;                /* of that member, ns for times */
};

extern const struct ended_source ended_sources[ENDED_METRICS];

/*
 * Turns the kernel's counters into amounts of a set, for records of both kinds: `delayed` threads had a
 * record of delays; the two times are not less than what was reported before, ns.
 */
struct ended_amounts ended_amounts_of(const __u64 amounts[static EXIT_AMOUNTS], uint64_t delayed,
				      uint64_t least_user, uint64_t least_system);

/* Writes a name from the kernel's structure as in snapshots, without surrounding blanks, to `text`. */
struct name_text ended_name(char text[static ENDED_NAME_ROOM], const char name[static TASK_COMM_SIZE]);

/* Adds threads to a set of whom only the end is known. */
void ended_add_unknown(struct ended_set *set, uint64_t threads);

/* When a record came, CLOCK_BOOTTIME: after `from_ns`, not after `to_ns`. */
struct ended_record_span {
	uint64_t from_ns, to_ns;
	uint64_t suspended_ns; /* for how long the host was suspended in all: no record counts it */
};

/* For the processes of `scope`, whose list the caller keeps; for all when it is empty. */
struct ended_records *ended_records_create(const uint32_t *scope, size_t scope_count);

/* NULL is allowed. */
void ended_records_release(struct ended_records *records);

/* Takes the record of a thread: `layout->size` bytes. */
void ended_records_add(struct ended_records *records, const struct ended_record_span *span, uint32_t tid,
		       const unsigned char *stats, const struct taskstats_layout *layout);

/* Counts threads whose records were lost. */
void ended_records_lose(struct ended_records *records, uint64_t threads);

/* The number of single records that wait for a round. */
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
