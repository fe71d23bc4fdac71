// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how long threads of the process in scope wait at each futex. A wait begins when a thread leaves
 * its CPU asleep in a futex call, and ends when it is woken (kernel/sched/core.c). Nothing is allocated
 * there, with the lock of the run queue held: a thread gets room when it is forked or when measuring begins.
 */
#include "kernel_types.h"

#include <linux/errno.h>

#include "futex_record.h"

enum {
	STATE_INTERRUPTIBLE = 0x01, /* TASK_INTERRUPTIBLE of include/linux/sched.h */
};

/* The wait of a thread. */
struct futex_wait {
	__u64 begin;   /* CLOCK_MONOTONIC ns */
	__u64 counted; /* the sums have its time up to then, ns; 0: the thread does not wait at a futex */
	__u64 address;
	__u32 is_lock;
	__u32 call; /* enum futex_call of the last sleep */
};

const volatile struct futex_calls calls;

__u32 overflowed; /* a wait found no room in `sums` */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct futex_wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FUTEX_RECORDS);
	__type(key, __u64); /* address */
	__type(value, struct futex_sums);
} sums SEC(".maps");

/* Counts what is not counted of the wait of a thread. It has ended if `ended` is 1, not if it is 0. Of an end
 * and a reading at the same moment, one counts it. */
static __always_inline void count_wait(struct futex_wait *wait, __u64 ended)
{
	const __u64 now = bpf_ktime_get_ns(), counted = *(volatile __u64 *)&wait->counted;
	const __u64 address = wait->address, length = now - wait->begin;
	const struct futex_sums none = {0};
	struct futex_sums *of;

	if (counted == 0 ||
	    __sync_val_compare_and_swap(&wait->counted, counted, ended != 0 ? 0 : now) != counted)
		return;
	of = bpf_map_lookup_elem(&sums, &address);
	if (of == NULL) {
		if (bpf_map_update_elem(&sums, &address, &none, BPF_NOEXIST) == -E2BIG)
			overflowed = 1;
		of = bpf_map_lookup_elem(&sums, &address);
	}
	if (of == NULL)
		return;
	__sync_fetch_and_add(&of->waits, ended);
	/* the clock may go back a little between two CPUs: ktime_get_mono_fast_ns() */
	if ((__s64)(now - counted) > 0)
		__sync_fetch_and_add(&of->time, now - counted);
	of->is_lock = wait->is_lock;
	/* bounded: it may lose against longer ones that other CPUs store at the same time */
	for (int i = 0; i < 4; i++) {
		const __u64 before = *(volatile __u64 *)&of->longest;

		if ((__s64)(length - before) <= 0 ||
		    __sync_val_compare_and_swap(&of->longest, before, length) == before)
			break;
	}
}

/* Notes the wait of a thread that is asleep, if it waits at a futex. */
static __always_inline void note_wait(struct task_struct *task, struct futex_wait *wait)
{
	struct task_call call;
	__u32 kind = FUTEX_CALL_NONE;

	if ((task->__state & STATE_INTERRUPTIBLE) == 0 ||
	    (task->flags & (TASK_KERNEL_THREAD | TASK_IO_WORKER)) != 0)
		return;
	call.flags = 0;
	call.number = -1;
	fill_registers(task, &call);
	if ((__u32)call.number < TASK_CALL_LIMIT)
		kind = calls.of[(call.flags & TASK_CALL_COMPAT) != 0][call.number & (TASK_CALL_LIMIT - 1)];
	if (kind == FUTEX_CALL_RESUMED)
		kind = wait->call;
	wait->call = kind;
	if (kind == FUTEX_CALL_NONE)
		return;
	wait->address = call.arguments[0];
	wait->is_lock = kind == FUTEX_CALL_OPERATION &&
			futex_record_is_lock(call.arguments[1], (__u32)call.arguments[2]);
	wait->begin = wait->counted = bpf_ktime_get_ns();
}

/* The wait of a thread in scope; NULL for others. */
static __always_inline struct futex_wait *find_wait(struct task_struct *task, __u64 flags)
{
	return is_in_scope(task) ? bpf_task_storage_get(&waits, task, NULL, flags) : NULL;
}

SEC("tp_btf/sched_switch")
int begin_wait(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[1];
	struct futex_wait *wait = find_wait(task, 0);

	/* a thread that is preempted stays on the run queue, whatever it was about to do: __schedule() */
	if (wait != NULL && arguments[0] == 0)
		note_wait(task, wait);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int end_wait(__u64 *arguments)
{
	struct futex_wait *wait = find_wait((struct task_struct *)arguments[0], 0);

	if (wait != NULL)
		count_wait(wait, 1);
	return 0;
}

SEC("tp_btf/task_newtask")
int make_room(__u64 *arguments)
{
	find_wait((struct task_struct *)arguments[0], BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* Counts unfinished waits up to now. A wait whose beginning nobody saw begins now. */
SEC("iter/task")
int count_unfinished(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct futex_wait *wait = task != NULL ? find_wait(task, BPF_LOCAL_STORAGE_GET_F_CREATE) : NULL;

	if (wait == NULL)
		return 0;
	if (wait->counted != 0) {
		count_wait(wait, 0);
	} else if (task->on_cpu == 0 && task->on_rq == 0) {
		note_wait(task, wait);
		barrier();
		/* it may have been woken before its wait was noted */
		if ((task->__state & STATE_INTERRUPTIBLE) == 0 || task->on_rq != 0)
			wait->counted = 0;
	}
	return 0;
}

const char program_license[] SEC("license") = "GPL";
