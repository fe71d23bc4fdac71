/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_TASK_FILL_H
#define CTOP_BPF_TASK_FILL_H

/* Filling records, for every BPF program that walks over tasks. */

#include "kernel_types.h"

#include "task_record.h"

enum {
	MASK_WORDS_MAX = 128,
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD */
	NICE_0_PRIORITY = 120,      /* DEFAULT_PRIO of include/linux/sched/prio.h */
	FIRST_FAIR_PRIORITY = 100,  /* MAX_RT_PRIO */
};

const volatile __u32 mask_words;                        /* of a CPU mask that may hold CPUs */
const volatile __u32 ext_state_mask, ext_state_enabled; /* bits of scx.flags */

/* FNV-1a by words. */
static __always_inline __u64 hash_cpus(const struct task_struct *task)
{
	/* libbpf refuses a member whose size differs, so only the place of the mask is asked for */
	const __u64 *words = (const void *)task + bpf_core_field_offset(task->cpus_mask);
	__u64 hash = 0xcbf29ce484222325;

	barrier_var(words); /* or the compiler joins the place and the first load again */
			    /* every offset has to be a constant */
#pragma unroll
	for (int i = 0; i < MASK_WORDS_MAX; i++) {
		if ((__u32)i < mask_words)
			hash = (hash ^ words[i]) * 0x100000001b3;
	}
	return hash;
}

static __always_inline __u64 positive(__s64 value)
{
	return value > 0 ? (__u64)value : 0;
}

/*
 * File, anonymous and shared pages, not swap: get_mm_rss() of include/linux/mm.h, which does not add up what
 * each CPU still has for itself either.
 */
static __always_inline __u64 resident_pages(const struct mm_struct *mm)
{
	const struct mm_struct___atomic *old = (const void *)mm;
	__s64 counts[4];

	if (bpf_core_field_exists(mm->rss_stat[0].count))
		return positive(mm->rss_stat[0].count) + positive(mm->rss_stat[1].count) +
		       positive(mm->rss_stat[3].count);
	/* the verifier of 6.1 knows no way into an array of atomic_long_t */
	if (!bpf_core_field_exists(old->rss_stat.count) ||
	    bpf_probe_read_kernel(counts, sizeof(counts), &old->rss_stat) != 0)
		return 0;
	return positive(counts[0]) + positive(counts[1]) + positive(counts[3]);
}

/* As xacct_add_tsk() of kernel/tsacct.c sees it: a kernel thread only borrows an address space. */
static __always_inline void fill_memory(const struct task_struct *task, struct task_record *record)
{
	const struct mm_struct *mm = task->mm;
	__u64 resident, size;

	record->resident = record->hiwater_rss = record->hiwater_vm = 0;
	if (mm == NULL || (record->task_flags & KERNEL_THREAD) != 0)
		return;
	record->flags |= TASK_HAS_MEMORY;
	record->resident = resident = resident_pages(mm);
	record->hiwater_rss = mm->hiwater_rss;
	if (resident > record->hiwater_rss)
		record->hiwater_rss = resident;
	size = mm->total_vm;
	record->hiwater_vm = mm->hiwater_vm;
	if (size > record->hiwater_vm)
		record->hiwater_vm = size;
}

static __always_inline void fill_io(const struct task_struct *task, struct task_record *record)
{
	__builtin_memset(record->io, 0, sizeof(record->io));
	if (bpf_core_field_exists(task->ioac.rchar)) {
		record->io[0] = task->ioac.rchar;
		record->io[1] = task->ioac.wchar;
		record->io[2] = task->ioac.syscr;
		record->io[3] = task->ioac.syscw;
	}
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		record->io[4] = task->ioac.read_bytes;
		record->io[5] = task->ioac.write_bytes;
		record->io[6] = task->ioac.cancelled_write_bytes;
	}
}

/*
 * update_rq_clock() of kernel/sched/core.c adds to the clock first, and a CPU that has been idle for long
 * adds much at once. Read in this order the two never give a lag that is too small.
 */
static __always_inline __u64 clock_lag(const struct rq *queue)
{
	const __u64 task_clock = queue->clock_task;
	__u64 clock;

	barrier();
	clock = queue->clock;
	return clock > task_clock ? clock - task_clock : 0;
}

static __always_inline void fill_record(struct task_struct *task, struct task_record *record)
{
	const struct rq *queue = NULL;

	record->task = (__u64)task;
	record->start_boottime = task->start_boottime;
	record->tgid = task->tgid;
	record->tid = task->pid;
	__builtin_memcpy(record->comm, task->comm, sizeof(record->comm));
	record->cgroup = task->cgroups->dfl_cgrp->kn->id;
	record->cpus = hash_cpus(task);
	record->thread_pointer = 0;
	if (bpf_core_field_exists(task->thread.fsbase))
		record->thread_pointer = task->thread.fsbase;
	else if (bpf_core_field_exists(task->thread.uw.tp_value))
		record->thread_pointer = task->thread.uw.tp_value;
	record->run_time = task->se.sum_exec_runtime;
	record->run_delay = task->sched_info.run_delay;
	record->timeslices = task->sched_info.pcount;
	record->voluntary = task->nvcsw;
	record->nonvoluntary = task->nivcsw;
	record->migrations = task->se.nr_migrations;
	record->slice = 0;
	if (bpf_core_field_exists(task->se.slice))
		record->slice = task->se.slice;
	record->minor_faults = task->min_flt;
	record->major_faults = task->maj_flt;
	record->user_time = task->utime;
	record->system_time = task->stime;
	record->previous_user_time = task->prev_cputime.utime;
	record->previous_system_time = task->prev_cputime.stime;
	record->last_queued = task->sched_info.last_queued;
	record->last_arrival = task->sched_info.last_arrival;
	record->arrival_run_time = task->se.prev_sum_exec_runtime;
	record->exec_start = task->se.exec_start;
	record->task_flags = task->flags;
	record->state = task->__state;
	record->exit_state = task->exit_state;
	record->uid = task->real_cred->uid.val;
	record->cpu = task->thread_info.cpu;
	record->thread_count = task->signal->nr_threads;
	record->policy = task->policy;
	record->rt_priority = task->rt_priority;
	record->priority = (__s32)task->prio - FIRST_FAIR_PRIORITY;
	record->nice = (__s32)task->static_prio - NICE_0_PRIORITY;
	record->flags = task->on_cpu != 0 ? TASK_RUNNING : 0;
	record->reserved = 0;
	if (bpf_core_field_exists(task->scx.flags) && (task->scx.flags & ext_state_mask) == ext_state_enabled)
		record->flags |= TASK_EXT;
	if (bpf_core_field_exists(task->delays) && task->delays != NULL)
		record->flags |= TASK_HAS_DELAYS;
	fill_io(task, record);
	fill_memory(task, record);
	record->clock_lag = 0;
	if (bpf_core_field_exists(task->se.cfs_rq)) {
		queue = task->se.cfs_rq->rq;
		record->clock_lag = clock_lag(queue);
	}
}

#define FILL_DELAY(delays, info, index, name)                                                                \
	do {                                                                                                 \
		if (bpf_core_field_exists((info)->name##_delay)) {                                           \
			(delays)->of[index].count = (info)->name##_count;                                    \
			(delays)->of[index].total = (info)->name##_delay;                                    \
		}                                                                                            \
		if (bpf_core_field_exists((info)->name##_delay_max)) {                                       \
			(delays)->of[index].max = (info)->name##_delay_max;                                  \
			(delays)->of[index].min = (info)->name##_delay_min;                                  \
		}                                                                                            \
	} while (0)

static __always_inline void fill_delays(const struct task_struct *task, struct task_delays *delays)
{
	const struct task_delay_info *info;

	__builtin_memset(delays, 0, sizeof(*delays));
	if (bpf_core_field_exists(task->sched_info.max_run_delay)) {
		delays->run_delay_max = task->sched_info.max_run_delay;
		delays->run_delay_min = task->sched_info.min_run_delay;
	}
	if (!bpf_core_field_exists(task->delays))
		return;
	info = task->delays;
	if (info == NULL)
		return;
	FILL_DELAY(delays, info, TASK_DELAY_BLKIO, blkio);
	FILL_DELAY(delays, info, TASK_DELAY_SWAPIN, swapin);
	FILL_DELAY(delays, info, TASK_DELAY_FREEPAGES, freepages);
	FILL_DELAY(delays, info, TASK_DELAY_THRASHING, thrashing);
	FILL_DELAY(delays, info, TASK_DELAY_COMPACT, compact);
	FILL_DELAY(delays, info, TASK_DELAY_WPCOPY, wpcopy);
	FILL_DELAY(delays, info, TASK_DELAY_IRQ, irq);
}

static __always_inline void fill_statistics(const struct task_struct *task,
					    struct task_statistics *statistics)
{
	__builtin_memset(statistics, 0, sizeof(*statistics));
	if (!bpf_core_field_exists(task->stats.wait_max))
		return;
	statistics->wait_max = task->stats.wait_max;
	statistics->wait_count = task->stats.wait_count;
	statistics->wait_sum = task->stats.wait_sum;
	statistics->iowait_count = task->stats.iowait_count;
	statistics->iowait_sum = task->stats.iowait_sum;
	statistics->sleep_max = task->stats.sleep_max;
	statistics->sum_sleep_runtime = (__u64)task->stats.sum_sleep_runtime;
	statistics->block_max = task->stats.block_max;
	statistics->sum_block_runtime = (__u64)task->stats.sum_block_runtime;
	statistics->exec_max = (__u64)task->stats.exec_max;
	statistics->slice_max = task->stats.slice_max;
	statistics->nr_failed_migrations_affine = task->stats.nr_failed_migrations_affine;
	statistics->nr_failed_migrations_running = task->stats.nr_failed_migrations_running;
	statistics->nr_failed_migrations_hot = task->stats.nr_failed_migrations_hot;
	statistics->nr_forced_migrations = task->stats.nr_forced_migrations;
	statistics->nr_wakeups = task->stats.nr_wakeups;
	statistics->nr_wakeups_sync = task->stats.nr_wakeups_sync;
	statistics->nr_wakeups_migrate = task->stats.nr_wakeups_migrate;
	statistics->nr_wakeups_local = task->stats.nr_wakeups_local;
	statistics->nr_wakeups_remote = task->stats.nr_wakeups_remote;
	statistics->nr_wakeups_affine = task->stats.nr_wakeups_affine;
	statistics->nr_wakeups_affine_attempts = task->stats.nr_wakeups_affine_attempts;
	if (bpf_core_field_exists(task->stats.core_forceidle_sum))
		statistics->core_forceidle_sum = task->stats.core_forceidle_sum;
}

/* Facts about the running kernel; the loader turns the tests into constants. */
static __always_inline __u32 kernel_facts(const struct task_struct *task)
{
	const struct task_delay_info *delays = NULL;
	const struct mm_struct *mm = NULL;
	const struct mm_struct___atomic *old = NULL;
	__u32 facts = 0;

	if (bpf_core_field_exists(task->se.slice))
		facts |= TASK_KERNEL_SLICE;
	if (bpf_core_field_exists(task->scx.flags))
		facts |= TASK_KERNEL_EXT;
	if (bpf_core_field_exists(task->ioac.read_bytes))
		facts |= TASK_KERNEL_IO;
	if (bpf_core_field_exists(task->ioac.rchar))
		facts |= TASK_KERNEL_CHARS;
	if (bpf_core_field_exists(task->delays))
		facts |= TASK_KERNEL_DELAYS;
	if (bpf_core_field_exists(task->stats.wait_max))
		facts |= TASK_KERNEL_STATISTICS;
	if (bpf_core_field_exists(task->sched_info.max_run_delay))
		facts |= TASK_KERNEL_RUN_DELAY_RANGE;
	if (bpf_core_field_exists(delays->blkio_delay_max))
		facts |= TASK_KERNEL_DELAY_RANGES;
	if (bpf_core_field_exists(delays->irq_delay))
		facts |= TASK_KERNEL_IRQ_DELAY;
	if (bpf_core_field_exists(delays->wpcopy_delay))
		facts |= TASK_KERNEL_WPCOPY_DELAY;
	if (bpf_core_field_exists(task->stats.core_forceidle_sum))
		facts |= TASK_KERNEL_FORCE_IDLE;
	if (bpf_core_field_exists(mm->rss_stat[0].count) || bpf_core_field_exists(old->rss_stat.count))
		facts |= TASK_KERNEL_RESIDENT;
	return facts;
}

#endif
