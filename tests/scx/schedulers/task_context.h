/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_TASK_CONTEXT_H
#define CTOP_SCX_TASK_CONTEXT_H

/*
 * The context of one task in the schedulers of the tests. The name of the type is the one that most released
 * schedulers give theirs, and some members have names that ctop knows how to add up
 * (src/metric/task_field.c).
 */

enum task_class {
	TASK_CLASS_NORMAL,
	TASK_CLASS_INTERACTIVE, /* weight above that of nice 0 */
	TASK_CLASS_BATCH,       /* weight below it */
};

struct task_burst {
	__u64 avg_runtime; /* ns at a time on a CPU, the last counting a quarter */
	__u64 max_runtime; /* ns */
};

struct task_ctx {
	__s32 pid;         /* thread id in the initial pid namespace */
	__u32 weight;      /* as sched_ext computes it: 100 at nice 0, sched_weight_to_cgroup() */
	__u64 sum_runtime; /* ns on a CPU in the life of this context, without the present stretch */
	__u64 exec_before; /* what the kernel had counted when it last began to run, ns */
	__u64 last_run_at; /* when it last began to run, CLOCK_MONOTONIC ns */
	struct task_burst burst;
	__u64 run_count; /* how often it began to run */
	_Bool is_kthread;
	enum task_class class;
	__u32 on_cpu : 1;
	__u32 last_cpu : 12;
#ifdef SCHEDULER_DIRECT
	__u64 sleep_count; /* how often it left a CPU to sleep; only here, so that fields of two schedulers
			      differ */
#endif
	__u32 recent[3]; /* us at a time on a CPU: arrays are no fields */
};

#endif
