/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_LATENCY_RECORD_H
#define CTOP_BPF_LATENCY_RECORD_H

#include "metric/wait_class.h"
#include "task_record.h"

/*
 * Shared by the programs that measure waits and their reader. Threads of one name, process name and
 * cgroup have one slot: a number for who waits and who runs. How long waits took is counted by share: the
 * threads of one process that have one slot. Waits without a share, because none was left, are counted by
 * slot. The counts of the shares that are given out first, which those have that wait most often, stand in
 * several shards, each for some of the CPUs, so that those of a large host do not wait for one another. Those
 * of the many others stand in one: shards for all would take 92 MB.
 */

enum {
	LATENCY_SLOT_OTHER = 0, /* of all that found no slot left */
	LATENCY_SLOTS = 16384,
	LATENCY_SHARE_NONE = 0,
	LATENCY_SHARES = 16384,
	LATENCY_COUNTERS = LATENCY_SHARES + LATENCY_SLOTS, /* of each share, and behind these of each slot */
	LATENCY_SHARDED = 1024,                            /* of the counters, from 0 on */
	LATENCY_SHARDS_MAX = 8,
	LATENCY_RECORD_BUCKETS = 40, /* as LATENCY_BUCKETS of snapshot/latency.h */
	LATENCY_RECORD_KINDS = 2,    /* run queue, D */
	BLAME_PAIRS = 16384,
	/* Behind these are those of each slot with all that found no room. */
	BLAME_PAIRS_ALL = BLAME_PAIRS + LATENCY_SLOTS,
	BLAME_SLICES = 512, /* of each CPU; a power of 2 */
	/* Of each CPU, powers of 2 as well: see struct blame_ring. */
	BLAME_SUMS = 1024,
	BLAME_PLACES = 1024,
	BLAME_PARTS = 32,
	BLAME_SUM_NS = 2000000, /* the past of a CPU for each sum: 2 s for all, 1 s with many long slices */
};

/* Causes of a wait that are no thread. Their numbers are above those of all slots. */
enum {
	BLAME_EARLIER = 0xfffffff0, /* before what is kept of the CPU */
	BLAME_WAKEUP,               /* the CPU was idle: it takes time to run a thread */
	BLAME_THROTTLED,            /* the bandwidth limit of its cgroup */
	BLAME_INTERRUPTS,           /* and what the hypervisor took of the CPU */
	BLAME_SEGMENT,              /* no cause: see struct blame_sum */
};

enum {
	LATENCY_THREAD_ORDINARY,
	LATENCY_THREAD_KERNEL,
	LATENCY_THREAD_OWN, /* of the ctop that measures: others of that name are not */
};

/* The names of the threads that wait. Padded by hand: it is the key of a map. */
struct latency_names {
	char process[TASK_COMM_SIZE]; /* of the leader */
	char thread[TASK_COMM_SIZE];
	__u64 cgroup; /* same encoding as in struct task_record */
	__u64 kind;   /* LATENCY_THREAD_… */
};

/* The state of a thread. */
struct latency_times {
	__u64 queued, blocked; /* since when, ns of CLOCK_MONOTONIC; 0 when it is not */
	__u64 clock;           /* of the run queue when the wait for a CPU began, ns; 0: it moved since */
	__u64 delay;     /* the kernel's run delay, ns, when it came to a CPU, its wait began or moved */
	__u64 throttled; /* how long its cgroup had been throttled on its CPU by then, ns */
	struct latency_names names;
	__u32 slot;
	__u32 version; /* of the slot; 0 with slot 0: it has none yet */
	__u32 share;   /* LATENCY_SHARE_NONE: it has none */
	__u32 slept;   /* class of its last sleep in a system call, enum wait_class */
	__u64 task;    /* its address, as a number */
	__u64 phase;   /* what it does now, and since when: latency_phase(); 0: not known yet */
	__u64 came;    /* when it came to its present CPU, ns of CLOCK_MONOTONIC; 0 when it has left it */
	__u64 woken; /* `since` of the measurement in which it was woken and has not run yet; 0: it was not */
	__u32 waker; /* by whom: slot, or BLAME_INTERRUPTS */
	__u32 waker_version;
};

/* The threads of one process that have one slot. */
struct share_names {
	__u32 slot, version; /* of the slot */
	__u32 tgid;          /* in the initial pid namespace; 0: no thread takes it any more */
};

/* The state of a share. */
struct share_state {
	struct share_names names;
	__u32 used; /* 0 while it has no names */
};

/*
 * The counts of one counter in one shard. They only grow, but for `longest` and `time`, which their reader
 * takes away. A wait is written from the last to the first of them and read from the first to the last: whose
 * count is seen is among the longest by then.
 */
struct latency_counts {
	__u32 buckets[LATENCY_RECORD_KINDS][LATENCY_RECORD_BUCKETS]; /* [i]: from 2^i ns on; may wrap */
	__u64 sum[LATENCY_RECORD_KINDS];                             /* ns */
	__u64 longest[LATENCY_RECORD_KINDS];                         /* ns, since it was read */
	__u64 time[WAIT_CLASS_COUNT]; /* ns that threads spent in each class, since it was read */
};

/* Phases of threads: a class in the lower bits, and above them since when, ns of CLOCK_MONOTONIC. */
enum {
	LATENCY_CLASS_BITS = 5,
	LATENCY_CLASS_MASK = (1 << LATENCY_CLASS_BITS) - 1,
};

static __always_inline __u64 latency_phase(__u32 class, __u64 from)
{
	return from << LATENCY_CLASS_BITS | class;
}

/* How a sleep in a system call gets its class: an entry is a class of enum wait_class and these flags. */
enum {
	LATENCY_CALL_CLASS = 0x3f,
	LATENCY_CALL_POLLS = 0x40,   /* poll(2): if of one descriptor, by the file of that */
	LATENCY_CALL_RESUMES = 0x80, /* restart_syscall(2): the sleep before goes on */
};

/* What sleeps in system calls are, and of which threads that may be told. */
struct latency_calls {
	/* by number, of the kernel's own ABI [0] and of its 32-bit one [1]; 0: by the file of the first
	 * argument */
	__u8 entries[2][TASK_CALL_LIMIT];
	__u32 is_limited; /* to threads of `uid`; sleeps of others are WAIT_CLASS_OTHER */
	__u32 uid;
};

/* The state of a slot. */
struct latency_slot {
	struct latency_names names;
	__u32 version; /* changes when the slot is given to other names; never 0 of slot 0 */
	__u32 tgid;    /* of the thread that it was made for, in the initial pid namespace */
	__u32 tid;
	__u32 used; /* 0 while it has no names */
};

/*
 * A thread of slot `victim` waited on the run queue of a CPU while one of slot `culprit` ran on it, or was
 * woken by it.
 */
struct blame_names {
	__u32 victim, culprit; /* slot, or BLAME_… */
};

/* The state of a pair. The numbers only grow. */
struct blame_pair {
	struct blame_names names;
	__u64 time;  /* ns that the culprit ran while the victim waited */
	__u64 waits; /* of the victim in which it did */
	__u64 wakes; /* of the victim by the culprit */
	__u32 used;  /* 0 while it has no names */
};

/* A slice of a CPU: it goes from `begin` until the next one begins. */
struct blame_slice {
	__u64 begin;   /* ns of the run queue's clock, in which the kernel counts waits: struct rq */
	__u64 lag;     /* time of interrupts and of the hypervisor until then: clock - clock_task */
	__u32 culprit; /* slot, or BLAME_WAKEUP */
	__u32 version; /* of the slot */
};

/* How long one culprit ran in a segment. The end of a segment is marked by a sum of BLAME_SEGMENT. */
struct blame_sum {
	__u64 time;    /* ns; of a mark: when the segment began, as of a slice */
	__u32 culprit; /* slot, or BLAME_… */
	__u32 version; /* of the slot; of a mark: how many sums the segment has */
};

/*
 * What a CPU ran: its last slices, and before these segments of many slices, of which only the sums by
 * culprit are kept. A slice that makes room for a new one is added to the segment that grows. Slice i is at
 * i % BLAME_SLICES, sum i at i % BLAME_SUMS. The kernel allows a per-CPU value 32 KiB.
 */
struct blame_ring {
	__u64 last;        /* slice: the one that goes on */
	__u64 measurement; /* `since` when it was begun */
	__u64 begin;       /* of the segment that grows, as of a slice */
	__u64 first;       /* sum of this measurement */
	__u64 segment;     /* the first sum of the segment that grows */
	__u64 next;        /* sum: the one that is written next */
	struct blame_slice slices[BLAME_SLICES];
	struct blame_sum sums[BLAME_SUMS];
	__u16 places[BLAME_PLACES]; /* of culprits' sums in the segment that grows, if they have any */
	struct blame_sum parts[BLAME_PARTS]; /* of the wait that this CPU is settling; else without time */
};

/* The index of a counter's first counts; each shard of `shard_count` has its own. */
static __always_inline __u32 latency_record_counts(__u32 counter, __u32 shard_count)
{
	return counter < LATENCY_SHARDED ? counter * shard_count
					 : LATENCY_SHARDED * shard_count + (counter - LATENCY_SHARDED);
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
