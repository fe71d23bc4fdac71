/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_SCX_CONTEXT_H
#define CTOP_TEST_SCX_CONTEXT_H

/* Shared by the programs of context.bpf.c and the tests; the compilers of both lay it out the same. */

#include <linux/types.h>
#include <stdbool.h>

enum {
	CONTEXT_LATENCIES = 3,
	/* A scheduler's choice; here a function of the thread's number, so that all differ. */
	CONTEXT_DOMAINS = 7,
	CONTEXT_SLICE_SHIFTS = 5,
	CONTEXT_CREDITS = 1000,
	CONTEXT_SPREAD_MAX = 8, /* entries of an allocator's root that are filled side by side */
};

enum context_queue {
	CONTEXT_QUEUE_NONE,
	CONTEXT_QUEUE_LOCAL,
	CONTEXT_QUEUE_SHARED = 16,
};

struct context_load {
	__u64 value;
	__s32 trend;
	struct {
		__u8 low;
		__u16 high;
	} range;
};

/* A scheduler's context of one thread, in all the shapes that a field can have. */
struct task_ctx {
	__u32 pid; /* of the thread */
	__u16 domain_id;
	__u8 slice_shift;
	__s8 nice;
	__u64 weight;      /* 100 at nice 0 */
	__u64 sum_runtime; /* ns, only grows */
	__u64 last_run_at; /* ns, bpf_ktime_get_ns() */
	__s64 lag;         /* may be negative */
	__s32 credit;
	__s16 step;
	bool interactive, all_cpus;
	enum context_queue queue;
	unsigned int level : 5;
	unsigned int : 2;
	int bias : 4; /* signed */
	unsigned int kicked : 1;
	__u64 mask : 40;
	struct context_load load;
	const volatile unsigned long turns;
	__u64 latencies[CONTEXT_LATENCIES];
	void *cpumask;
	__u64 seal; /* context_seal() of `pid`: false in a context that was read while it changed hands */
};

/* A telltale of the thread's number, far away from it in the context. */
static inline __u64 context_seal(__u32 pid)
{
	return (__u64)pid << 32 | (__u32)~pid;
}

/* The slot of an element in its allocator, and how many times that slot was freed before. */
union sdt_id {
	__s64 val;
	struct {
		__s32 idx;
		__s32 genn;
	};
};

/* A request of user space to a program, and its answer. */
struct context_request {
	__u32 tid;   /* of a thread, in the initial namespace of process ids */
	__u32 count; /* pages; whether freed slots keep what they hold */
	__u64 value; /* run time to add, ns; an address; children of the root */
	/* answers */
	union sdt_id id;         /* as the storage has it */
	union sdt_id element_id; /* as the element has it */
	__u64 element;           /* the pointer of the storage */
	struct task_ctx context;
};

#endif
