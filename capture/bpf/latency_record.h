/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_LATENCY_RECORD_H
#define CTOP_BPF_LATENCY_RECORD_H

#include "task_record.h"

/*
 * Shared by the programs that measure waits and their reader. Threads of one name, process name and
 * cgroup share a slot: a number under which their waits are counted. The counts of the slots that are given
 * out first, which those have that wait most often, stand in several shards, each for some of the CPUs, so
 * that those of a large host do not wait for one another. Those of the many others stand in one: shards for
 * all would take 92 MB.
 */

enum {
	LATENCY_SLOT_OTHER = 0, /* of all that found no slot left */
	LATENCY_SLOTS = 32768,
	LATENCY_SHARDED_SLOTS = 4096, /* from 0 on */
	LATENCY_SHARDS_MAX = 8,
	LATENCY_RECORD_BUCKETS = 40, /* as LATENCY_BUCKETS of snapshot/latency.h */
	LATENCY_RECORD_KINDS = 2,    /* run queue, D */
};

/* The names of the threads that wait. Padded by hand: it is the key of a map. */
struct latency_names {
	char process[TASK_COMM_SIZE]; /* of the leader */
	char thread[TASK_COMM_SIZE];
	__u64 cgroup; /* id of the cgroup of the default hierarchy (v2) */
	__u64 kernel; /* 1 for kernel threads */
};

/* The state of a thread. */
struct latency_times {
	__u64 queued, blocked; /* since when, ns of CLOCK_MONOTONIC; 0 when it is not */
	struct latency_names names;
	__u32 slot;
	__u32 version; /* of the slot; 0 with slot 0: it has none yet */
};

/*
 * The counts of one slot in one shard. They only grow, but for `longest`, which its reader takes
 * away. A wait is written from the last to the first of them and read from the first to the last: whose count
 * is seen is among the longest by then.
 */
struct latency_counts {
	__u32 buckets[LATENCY_RECORD_KINDS][LATENCY_RECORD_BUCKETS]; /* [i]: from 2^i ns on; may wrap */
	__u64 sum[LATENCY_RECORD_KINDS];                             /* ns */
	__u64 longest[LATENCY_RECORD_KINDS];                         /* ns, since it was read */
};

/* The state of a slot. */
struct latency_slot {
	struct latency_names names;
	__u32 version; /* changes when the slot is given to other names; never 0 of slot 0 */
	__u32 tgid;    /* of the thread that it was made for, in the initial pid namespace */
	__u32 tid;
	__u32 used; /* 0 while it has no names */
};

/* The index of a slot's first counts; each shard of `shard_count` has its own. */
static __always_inline __u32 latency_record_counts(__u32 slot, __u32 shard_count)
{
	return slot < LATENCY_SHARDED_SLOTS
		       ? slot * shard_count
		       : LATENCY_SHARDED_SLOTS * shard_count + (slot - LATENCY_SHARDED_SLOTS);
}

/* The cost of measuring, on one CPU. */
struct latency_cost {
	__u64 events;
	__u64 samples; /* of them, those that were timed */
	__u64 sampled; /* ns in all of these */
	/*
	 * Switches that the kernel did not tell of: a thread left the CPU that had not come to it. `running`
	 * is the id of the one that came last and 1, 0 before the first of this measurement.
	 */
	__u64 unseen, measurement;
	__u32 running;
};

/* The bucket of a wait, ns: the place of its highest bit, at most LATENCY_RECORD_BUCKETS - 1. */
static __always_inline __u32 latency_record_bucket(__u64 wait)
{
	__u32 bucket = 0;

	if (wait >> 32 != 0) {
		wait >>= 32;
		bucket = 32;
	}
	if (wait >> 16 != 0) {
		wait >>= 16;
		bucket += 16;
	}
	if (wait >> 8 != 0) {
		wait >>= 8;
		bucket += 8;
	}
	if (wait >> 4 != 0) {
		wait >>= 4;
		bucket += 4;
	}
	if (wait >> 2 != 0) {
		wait >>= 2;
		bucket += 2;
	}
	if (wait >> 1 != 0)
		bucket++;
	return bucket < LATENCY_RECORD_BUCKETS ? bucket : LATENCY_RECORD_BUCKETS - 1;
}

#endif
