// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures waits of threads for a CPU, and in D (blocked): a time is noted when a wait begins and
 * counted when it ends, in a histogram of the thread's names. The events are those of kernel/sched/core.c:
 * sched_wakeup and sched_wakeup_new come when a thread has been put on a run queue, sched_switch when one
 * leaves a CPU and another takes it, with the lock of the run queue held. Nothing is allocated there: the
 * room for a thread's times is made when it is forked, and for those that are there already before it all
 * begins.
 */
#include "kernel_types.h"

#include "latency_record.h"

enum {
	STATE_UNINTERRUPTIBLE = 0x0002, /* TASK_UNINTERRUPTIBLE of include/linux/sched.h */
	STATE_NOLOAD = 0x0400,          /* with it: TASK_IDLE */
	RUN_QUEUE = 0,                  /* kinds of waits */
	BLOCKED = 1,
	COST_SAMPLE = 64,
};

const volatile __u32 shard_mask;

__u64 since;      /* CLOCK_MONOTONIC ns: times noted before are from another measurement; 0: none */
__u32 fresh_slot; /* the first that never had names, as all behind it; may be more than LATENCY_SLOTS */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct latency_times);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LATENCY_SLOTS);
	__type(key, struct latency_names);
	__type(value, __u32);
} slot_of_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, LATENCY_SLOTS);
	__type(value, __u32);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LATENCY_SLOTS);
	__type(key, __u32);
	__type(value, struct latency_slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LATENCY_SLOTS); /* those of all shards; set before loading */
	__type(key, __u32);
	__type(value, struct latency_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct latency_cost);
} costs SEC(".maps");

/* Counts the switches between this one and the last that was seen on this CPU, of which there is at least one
 * where another thread leaves than the one that came. */
static __always_inline void follow_switch(const struct task_struct *leaving, const struct task_struct *coming)
{
	__u32 zero = 0;
	struct latency_cost *own = bpf_map_lookup_elem(&costs, &zero);

	if (own == NULL)
		return;
	if (own->measurement == since && own->running != (__u32)leaving->pid + 1)
		own->unseen++;
	own->measurement = since;
	own->running = (__u32)coming->pid + 1;
}

/* Counts an event, and how long one of each COST_SAMPLE took. */
static __always_inline void count_event(__u64 begin)
{
	__u32 zero = 0;
	struct latency_cost *own = bpf_map_lookup_elem(&costs, &zero);

	if (own == NULL)
		return;
	own->events++;
	if (own->events % COST_SAMPLE != 0)
		return;
	own->samples++;
	own->sampled += bpf_ktime_get_ns() - begin;
}

/* --- slots --- */

static __always_inline void copy_name(char *to, const char *from)
{
	/* two words: the name has no more (TASK_COMM_LEN), and is always terminated */
	((__u64 *)to)[0] = ((const __u64 *)from)[0];
	((__u64 *)to)[1] = ((const __u64 *)from)[1];
}

static __always_inline bool same_name(const char *left, const char *right)
{
	return ((const __u64 *)left)[0] == ((const __u64 *)right)[0] &&
	       ((const __u64 *)left)[1] == ((const __u64 *)right)[1];
}

/* A slot that nobody has: one that was given back, else one that never had names; LATENCY_SLOT_OTHER when
 * none is left. */
static __always_inline __u32 take_slot(void)
{
	__u32 index;

	if (bpf_map_pop_elem(&free_slots, &index) == 0)
		return index;
	/* so that it does not count on for ever */
	if (*(volatile __u32 *)&fresh_slot >= LATENCY_SLOTS)
		return LATENCY_SLOT_OTHER;
	index = __sync_fetch_and_add(&fresh_slot, 1);
	return index < LATENCY_SLOTS ? index : LATENCY_SLOT_OTHER;
}

/* A slot for names that have none, LATENCY_SLOT_OTHER when none is left. */
static __noinline __u32 make_slot(struct latency_times *times, __u32 tgid, __u32 tid)
{
	__u32 index, *found;
	struct latency_slot *slot;

	if (times == NULL)
		return LATENCY_SLOT_OTHER;
	index = take_slot();
	if (index == LATENCY_SLOT_OTHER)
		return LATENCY_SLOT_OTHER;
	slot = bpf_map_lookup_elem(&slots, &index);
	if (slot == NULL)
		return LATENCY_SLOT_OTHER;
	slot->names = times->names;
	slot->tgid = tgid;
	slot->tid = tid;
	if (bpf_map_update_elem(&slot_of_names, &times->names, &index, BPF_NOEXIST) == 0) {
		slot->used = 1;
		return index;
	}
	/* another CPU was faster */
	bpf_map_push_elem(&free_slots, &index, 0);
	found = bpf_map_lookup_elem(&slot_of_names, &times->names);
	return found != NULL ? *found : LATENCY_SLOT_OTHER;
}

/* The slot of a thread: the one it had, unless it goes by other names now. */
static __always_inline __u32 slot_of(struct task_struct *trusted, struct latency_times *times)
{
	const struct task_struct *task = plain_task(trusted), *leader = task->group_leader;
	__u64 cgroup = task->cgroups->dfl_cgrp->kn->id;
	__u32 index = times->slot, *found;
	struct latency_slot *slot;

	slot = bpf_map_lookup_elem(&slots, &index);
	if (slot != NULL && times->version == slot->version && times->names.cgroup == cgroup &&
	    same_name(times->names.thread, task->comm) && same_name(times->names.process, leader->comm))
		return index;
	copy_name(times->names.thread, task->comm);
	copy_name(times->names.process, leader->comm);
	times->names.cgroup = cgroup;
	times->names.kernel = (task->flags & TASK_KERNEL_THREAD) != 0;
	found = bpf_map_lookup_elem(&slot_of_names, &times->names);
	index = found != NULL ? *found : make_slot(times, task->tgid, task->pid);
	times->slot = index;
	slot = bpf_map_lookup_elem(&slots, &index);
	times->version = slot != NULL ? slot->version : 0;
	return index;
}

/* --- waits --- */

/* Counts a wait that has ended, `from` ns to `now`. */
static __always_inline void count_wait(struct task_struct *task, struct latency_times *times, __u32 kind,
				       __u64 from, __u64 now)
{
	__u32 slot = slot_of(task, times);
	__u32 shard = slot < LATENCY_SHARDED_SLOTS ? bpf_get_smp_processor_id() & shard_mask : 0;
	__u32 index = latency_record_counts(slot, shard_mask + 1) + shard;
	struct latency_counts *own = bpf_map_lookup_elem(&counts, &index);
	/* the clock may go back a little between two CPUs: ktime_get_mono_fast_ns() */
	__u64 wait = now > from ? now - from : 0;
	__u32 bucket = latency_record_bucket(wait);
	__u64 *longest;

	if (own == NULL || bucket >= LATENCY_RECORD_BUCKETS)
		return;
	longest = &own->longest[kind];
	/* another CPU may store a shorter one at the same time: the loop is bounded, so it may lose against
	 * longer ones only */
	for (int i = 0; i < 4; i++) {
		__u64 before = *(volatile __u64 *)longest;

		if (before >= wait || __sync_val_compare_and_swap(longest, before, wait) == before)
			break;
	}
	__sync_fetch_and_add(&own->sum[kind], wait);
	__sync_fetch_and_add(&own->buckets[kind][bucket], 1);
}

static __always_inline void note_wakeup(struct task_struct *task, __u64 now)
{
	struct latency_times *times;

	if (!is_in_scope(task))
		return;
	times = bpf_task_storage_get(&threads, task, NULL, 0);
	if (times == NULL)
		return;
	if (times->blocked >= since && times->blocked != 0)
		count_wait(task, times, BLOCKED, times->blocked, now);
	times->blocked = 0;
	/* one that has waited since it was preempted is woken as well, when it was about to sleep */
	if (times->queued < since || times->queued == 0)
		times->queued = now;
}

SEC("tp_btf/sched_wakeup")
int count_wakeup(__u64 *arguments)
{
	__u64 now = bpf_ktime_get_ns();

	note_wakeup((struct task_struct *)arguments[0], now);
	count_event(now);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int count_new(__u64 *arguments)
{
	__u64 now = bpf_ktime_get_ns();

	note_wakeup((struct task_struct *)arguments[0], now);
	count_event(now);
	return 0;
}

/* It leaves its CPU, and waits for the next turn or sleeps. */
static __always_inline void note_leaving(struct task_struct *task, bool preempted, __u64 now)
{
	struct latency_times *times;
	__u32 state;

	if (task->pid == 0 || !is_in_scope(task))
		return;
	times = bpf_task_storage_get(&threads, task, NULL, 0);
	if (times == NULL)
		return;
	/* what the event carries is stale where a signal kept the thread running; and a preempted thread
	 * stays on the run queue, whatever it was about to do: __schedule() */
	state = task->__state;
	times->queued = preempted || state == 0 ? now : 0;
	times->blocked = !preempted && (state & STATE_UNINTERRUPTIBLE) != 0 && (state & STATE_NOLOAD) == 0
				 ? now
				 : 0;
}

static __always_inline void note_arrival(struct task_struct *task, __u64 now)
{
	struct latency_times *times;

	if (task->pid == 0)
		return;
	times = bpf_task_storage_get(&threads, task, NULL, 0);
	if (times == NULL || times->queued == 0)
		return;
	if (times->queued >= since)
		count_wait(task, times, RUN_QUEUE, times->queued, now);
	times->queued = 0;
}

/* Its first three arguments are the same since Linux 5.19 and before 5.18. */
SEC("tp_btf/sched_switch")
int count_switch(__u64 *arguments)
{
	__u64 now = bpf_ktime_get_ns();

	follow_switch((struct task_struct *)arguments[1], (struct task_struct *)arguments[2]);
	note_leaving((struct task_struct *)arguments[1], arguments[0] != 0, now);
	note_arrival((struct task_struct *)arguments[2], now);
	count_event(now);
	return 0;
}

/* --- room for a thread --- */

SEC("tp_btf/task_newtask")
int make_room(__u64 *arguments)
{
	bpf_task_storage_get(&threads, (struct task_struct *)arguments[0], NULL,
			     BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

SEC("iter/task")
int make_room_for_all(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (task != NULL)
		bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

const char program_license[] SEC("license") = "GPL";
