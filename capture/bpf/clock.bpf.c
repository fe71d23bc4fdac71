// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the scheduler's clock stands. A run queue brings its clock up to date when a thread wakes on it, so
 * that of the caller, which has just slept, is a moment old.
 */
#include "kernel_types.h"

__u64 queue_clock;     /* of the run queue of the calling thread, ns */
__u64 monotonic_clock; /* at the same time, CLOCK_MONOTONIC ns */

SEC("syscall")
int read_clock(void *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();

	(void)context;
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	queue_clock = task->se.cfs_rq->rq->clock;
	monotonic_clock = bpf_ktime_get_ns();
	return 0;
}

const char program_license[] SEC("license") = "GPL";
