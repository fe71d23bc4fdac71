// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures waits of threads for a CPU, and in D (blocked): a time is noted when a wait begins and
 * counted when it ends, in a histogram of the thread's names. All that a thread does and waits for is a phase
 * of a class (wait_class.def), whose time is counted when the phase ends, and up to then when it is read.
 * Each CPU keeps who ran on it lately, and a wait
 * for it is settled among those. The events are those of kernel/sched/core.c:
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
	STATE_STOPPED = 0x000c,         /* __TASK_STOPPED, __TASK_TRACED */
	STATE_DEAD = 0x0080,            /* TASK_DEAD */
	STATE_FROZEN = 0x8000,          /* TASK_FROZEN, since Linux 6.1 */
	CALL_LIMIT_MASK = TASK_CALL_LIMIT - 1,
	RUN_QUEUE = 0, /* kinds of waits */
	BLOCKED = 1,
	COST_SAMPLE = 64,
	WHOLE = 1 << 20, /* of a segment; its product with 4 hours in ns fits into 64 bits */
};

const volatile __u32 shard_mask;
const volatile __u32 own_process; /* id of the ctop that measures; 0: it is like any other */
const volatile bool with_files;   /* this kernel lets programs read what is behind a descriptor */
const volatile struct latency_calls calls;

__u64 since;      /* CLOCK_MONOTONIC ns: times noted before are from another measurement; 0: none */
__u32 fresh_slot; /* the first that never had names, as all behind it; may be more than LATENCY_SLOTS */
__u32 fresh_share, fresh_pair; /* the same of these */
__u64 read_at;                 /* CLOCK_MONOTONIC ns: phases that go on are counted up to then */
__u32 is_reading;              /* times are read: phases change as of `read_at` */
__u32 is_full;                 /* few slots are left, so threads that only sleep get none */

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
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LATENCY_SHARES);
	__type(key, struct share_names);
	__type(value, __u32);
} share_of_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, LATENCY_SHARES);
	__type(value, __u32);
} free_shares SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LATENCY_SHARES);
	__type(key, __u32);
	__type(value, struct share_state);
} shares SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LATENCY_COUNTERS); /* those of all shards; set before loading */
	__type(key, __u32);
	__type(value, struct latency_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct latency_cost);
} costs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct blame_ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLAME_PAIRS);
	__type(key, struct blame_names);
	__type(value, __u32);
} pair_of_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, BLAME_PAIRS);
	__type(value, __u32);
} free_pairs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BLAME_PAIRS_ALL);
	__type(key, __u32);
	__type(value, struct blame_pair);
} pairs SEC(".maps");

/*
 * Compares the thread that leaves this CPU with the thread that the last event brought to it. If they differ,
 * the kernel has switched in between without an event. Counts that, and returns it.
 */
static __always_inline bool follow_switch(const struct task_struct *leaving, const struct task_struct *coming)
{
	__u32 zero = 0;
	struct latency_cost *own = bpf_map_lookup_elem(&costs, &zero);
	bool unseen;

	if (own == NULL)
		return false;
	unseen = own->measurement == since && own->running != (__u32)leaving->pid + 1;
	own->unseen += unseen;
	own->measurement = since;
	own->running = (__u32)coming->pid + 1;
	return unseen;
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

/* A number that nobody has: one that was given back, else `*fresh`, the first that was never given out. 0
 * when none below `end` is left. */
static __always_inline __u32 take_number(void *free_numbers, __u32 *fresh, __u32 end)
{
	__u32 number;

	if (bpf_map_pop_elem(free_numbers, &number) == 0)
		return number;
	/* so that it does not count on for ever */
	if (*(volatile __u32 *)fresh >= end)
		return 0;
	number = __sync_fetch_and_add(fresh, 1);
	return number < end ? number : 0;
}

/* A slot for names that have none, LATENCY_SLOT_OTHER when none is left. */
static __noinline __u32 make_slot(struct latency_times *times, __u32 tgid, __u32 tid)
{
	__u32 index, *found;
	struct latency_slot *slot;

	if (times == NULL)
		return LATENCY_SLOT_OTHER;
	index = take_number(&free_slots, &fresh_slot, LATENCY_SLOTS);
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

/* Processes of ctop's own are its children, and theirs. */
static __always_inline __u64 kind_of(const struct task_struct *task)
{
	const struct task_struct *parent = task->real_parent;

	if ((task->flags & TASK_KERNEL_THREAD) != 0)
		return LATENCY_THREAD_KERNEL;
	return own_process != 0 && (task->tgid == own_process || parent->tgid == own_process ||
				    parent->real_parent->tgid == own_process)
		       ? LATENCY_THREAD_OWN
		       : LATENCY_THREAD_ORDINARY;
}

/* The version of a slot; 0 for a number that is no slot. */
static __always_inline __u32 version_of(__u32 index)
{
	const struct latency_slot *slot = bpf_map_lookup_elem(&slots, &index);

	return slot != NULL ? slot->version : 0;
}

/* The slot of a thread: the one it had, unless it goes by other names now. */
static __always_inline __u32 slot_of(struct task_struct *trusted, struct latency_times *times)
{
	const struct task_struct *task = plain_task(trusted), *leader = task->group_leader;
	__u64 cgroup = cgroup_of(task);
	__u32 index = times->slot, *found;
	struct latency_slot *slot;

	slot = bpf_map_lookup_elem(&slots, &index);
	if (slot != NULL && times->version == slot->version && times->names.cgroup == cgroup &&
	    same_name(times->names.thread, task->comm) && same_name(times->names.process, leader->comm))
		return index;
	copy_name(times->names.thread, task->comm);
	copy_name(times->names.process, leader->comm);
	times->names.cgroup = cgroup;
	times->names.kind = kind_of(task);
	found = bpf_map_lookup_elem(&slot_of_names, &times->names);
	index = found != NULL ? *found : make_slot(times, task->tgid, task->pid);
	times->slot = index;
	times->version = version_of(index);
	return index;
}

/* --- shares --- */

/* A share for names that have none, LATENCY_SHARE_NONE when none is left. */
static __noinline __u32 make_share(__u32 slot, __u32 version, __u32 tgid)
{
	struct share_names names = {slot, version, tgid};
	__u32 index = take_number(&free_shares, &fresh_share, LATENCY_SHARES), *found;
	struct share_state *share = bpf_map_lookup_elem(&shares, &index);

	if (index == LATENCY_SHARE_NONE || share == NULL)
		return LATENCY_SHARE_NONE;
	share->names = names;
	if (bpf_map_update_elem(&share_of_names, &names, &index, BPF_NOEXIST) == 0) {
		share->used = 1;
		return index;
	}
	/* another CPU was faster */
	bpf_map_push_elem(&free_shares, &index, 0);
	found = bpf_map_lookup_elem(&share_of_names, &names);
	return found != NULL ? *found : LATENCY_SHARE_NONE;
}

/*
 * Returns the share of a thread whose slot is up to date: the one it had, unless that is of others now. Makes
 * one if `makes_share` is set and there is none.
 */
static __always_inline __u32 share_of(const struct task_struct *task, struct latency_times *times,
				      bool makes_share)
{
	struct share_names names = {times->slot, times->version, task->tgid};
	__u32 index = times->share, *found;
	const struct share_state *share = bpf_map_lookup_elem(&shares, &index);

	if (share != NULL && share->names.slot == names.slot && share->names.version == names.version &&
	    share->names.tgid == names.tgid)
		return index;
	if (names.slot == LATENCY_SLOT_OTHER)
		return LATENCY_SHARE_NONE;
	found = bpf_map_lookup_elem(&share_of_names, &names);
	if (found != NULL)
		index = *found;
	else
		index = makes_share ? make_share(names.slot, names.version, names.tgid) : LATENCY_SHARE_NONE;
	times->share = index;
	return index;
}

/* --- waits --- */

/* The counts of a thread by the names that it had when it came to a CPU. */
static __always_inline struct latency_counts *counts_of(const struct task_struct *task,
							struct latency_times *times, bool makes_share)
{
	__u32 share = share_of(task, times, makes_share);
	__u32 counter = share != LATENCY_SHARE_NONE ? share : LATENCY_SHARES + times->slot;
	__u32 shard = counter < LATENCY_SHARDED ? bpf_get_smp_processor_id() & shard_mask : 0;
	__u32 index = latency_record_counts(counter, shard_mask + 1) + shard;

	return bpf_map_lookup_elem(&counts, &index);
}

/* Counts a wait that has ended, `from` ns to `now`. */
static __always_inline void count_wait(struct latency_counts *own, __u32 kind, __u64 from, __u64 now)
{
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

/* --- phases --- */

/* Counts a phase until `now`; one of an earlier measurement does not count. */
static __always_inline void count_phase(struct latency_counts *own, __u64 phase, __u64 now)
{
	const __u64 from = phase >> LATENCY_CLASS_BITS;
	__u32 class = phase & LATENCY_CLASS_MASK;

	if (own == NULL || from < since || now <= from || class == WAIT_CLASS_UNKNOWN)
		return;
	barrier_var(class); /* or the compiler joins both comparisons, which Linux 6.1 does not follow */
	if (class < WAIT_CLASS_COUNT)
		__sync_fetch_and_add(&own->time[class], now - from);
}

/*
 * The time as of which a phase ends now. While times are read it stands still, so that what is read of each
 * thread adds up to its life: phases within the few ms of a reading count as the last of them.
 */
static __always_inline __u64 phase_time(__u64 now)
{
	return is_reading != 0 && read_at < now ? read_at : now;
}

/*
 * Begins another phase of a thread at `now`, and returns the one before. count_present() may have counted
 * that beyond `now` meanwhile; then the new one begins where it was counted up to.
 */
static __always_inline __u64 change_phase(struct latency_times *times, __u32 class, __u64 now)
{
	const __u64 phase = latency_phase(class, now);
	const __u64 before = __sync_lock_test_and_set(&times->phase, phase);

	if (before >> LATENCY_CLASS_BITS > now)
		__sync_val_compare_and_swap(&times->phase, phase,
					    latency_phase(class, before >> LATENCY_CLASS_BITS));
	return before;
}

/* Counts the phase of a thread, and begins another one. */
static __always_inline void begin_phase(struct latency_counts *own, struct latency_times *times, __u32 class,
					__u64 now)
{
	now = phase_time(now);
	count_phase(own, change_phase(times, class, now), now);
}

/*
 * Returns the class of the file that a descriptor of the task at address `task` stands for. The verifier
 * checks a global function once, not again for each call.
 */
__noinline int class_of_file(__u64 task, __u32 descriptor)
{
	__u64 files, table, slot, file, inode, superblock, dentry, name, word = 0, number;
	__u32 limit, device;
	__u16 mode;

	FETCH(files, task_struct, task, files);
	if (files == 0)
		return WAIT_CLASS_OTHER;
	FETCH(table, files_struct, files, fdt);
	FETCH(limit, fdtable, table, max_fds);
	if (descriptor >= limit)
		return WAIT_CLASS_OTHER;
	FETCH(slot, fdtable, table, fd);
	FETCH_WORD(file, slot + descriptor * sizeof(__u64));
	if (file == 0)
		return WAIT_CLASS_OTHER;
	FETCH(inode, file, file, f_inode);
	FETCH(superblock, inode, inode, i_sb);
	FETCH(number, super_block, superblock, s_magic);
	if (number == MAGIC_ANONYMOUS) {
		FETCH(dentry, file, file, f_path.dentry);
		FETCH(name, dentry, dentry, d_name.name);
		FETCH_WORD(word, name);
	}
	FETCH(mode, inode, inode, i_mode);
	FETCH(device, inode, inode, i_rdev);
	return file_class(number, mode, device, word);
}

static __always_inline __u32 class_of_descriptor(struct task_struct *trusted, struct latency_times *times,
						 __u32 descriptor)
{
	/* the verifier takes a pointer for a number only from memory */
	times->task = (__u64)trusted;
	return with_files ? class_of_file(*(volatile __u64 *)&times->task, descriptor) : WAIT_CLASS_OTHER;
}

/*
 * The class of the system call, or of the fault, that a user thread sleeps in. `is_current`: its memory can
 * be read, so poll(2) of one descriptor becomes what that stands for.
 */
static __always_inline __u32 class_of_call(struct task_struct *trusted, struct latency_times *times,
					   bool is_current)
{
	struct task_call call = {};
	__u32 descriptor, entry, class;

	if (calls.is_limited != 0 && plain_task(trusted)->real_cred->uid.val != calls.uid)
		return WAIT_CLASS_OTHER;
	fill_registers(trusted, &call);
	if ((call.flags & TASK_CALL_READ) == 0)
		return WAIT_CLASS_OTHER;
	if (call.number < 0)
		return WAIT_CLASS_FAULT;
	if ((__u32)call.number >= TASK_CALL_LIMIT)
		return WAIT_CLASS_OTHER;
	entry = calls.entries[(call.flags & TASK_CALL_COMPAT) != 0][call.number & CALL_LIMIT_MASK];
	class = entry & LATENCY_CALL_CLASS;
	if ((entry & LATENCY_CALL_RESUMES) != 0 && times->slept != WAIT_CLASS_UNKNOWN)
		return times->slept;
	if (class == WAIT_CLASS_UNKNOWN)
		class = class_of_descriptor(trusted, times, (__u32)call.arguments[0]);
	else if ((entry & LATENCY_CALL_POLLS) != 0 && is_current && call.arguments[1] == 1 &&
		 bpf_probe_read_user(&descriptor, sizeof(descriptor), (const void *)call.arguments[0]) == 0)
		class = class_of_descriptor(trusted, times, descriptor);
	times->slept = class;
	return class;
}

/* The class of a sleep, in the order of class_of_state() and judge_call() of capture/waits.c. */
static __always_inline __u32 class_of_sleep(struct task_struct *trusted, struct latency_times *times,
					    __u32 state, bool is_current)
{
	const struct task_struct *task = plain_task(trusted);
	const bool is_kernel_thread = (task->flags & TASK_KERNEL_THREAD) != 0;
	const bool is_blocked = (state & STATE_UNINTERRUPTIBLE) != 0 && (state & STATE_NOLOAD) == 0;
	__u32 class;

	if ((state & STATE_DEAD) != 0)
		return WAIT_CLASS_UNKNOWN;
	if (is_kernel_thread && !is_blocked)
		return WAIT_CLASS_KERNEL_IDLE;
	if (!is_kernel_thread && (task->flags & TASK_IO_WORKER) != 0)
		return WAIT_CLASS_IO_URING;
	if ((state & STATE_STOPPED) != 0)
		return WAIT_CLASS_STOPPED;
	if ((state & STATE_FROZEN) != 0 || is_frozen(task) || (task->flags & TASK_FROZEN_BEFORE) != 0)
		return WAIT_CLASS_FROZEN;
	class = is_kernel_thread ? WAIT_CLASS_OTHER : class_of_call(trusted, times, is_current);
	if (is_blocked && class != WAIT_CLASS_CHILD && class != WAIT_CLASS_FAULT)
		return BPF_CORE_READ_BITFIELD(task, in_iowait) != 0 ? WAIT_CLASS_DISK
								    : WAIT_CLASS_KERNEL_LOCK;
	return class;
}

/* --- who ran meanwhile --- */

/* The number of a pair that has none: that of the victim with all others when none is left. */
static __noinline __u32 make_pair(__u32 victim, __u32 culprit)
{
	struct blame_names names = {victim, culprit};
	const __u32 other = BLAME_PAIRS + victim;
	__u32 index = take_number(&free_pairs, &fresh_pair, BLAME_PAIRS), *found;
	struct blame_pair *pair = bpf_map_lookup_elem(&pairs, &index);

	if (index == 0 || pair == NULL)
		return other;
	pair->names = names;
	if (bpf_map_update_elem(&pair_of_names, &names, &index, BPF_NOEXIST) == 0) {
		pair->used = 1;
		return index;
	}
	/* another CPU was faster */
	bpf_map_push_elem(&free_pairs, &index, 0);
	found = bpf_map_lookup_elem(&pair_of_names, &names);
	return found != NULL ? *found : other;
}

/* Adds a time in ns, or wakes, to a pair. A global function is verified once, and not on each way to it. */
__noinline int count_pair(__u32 victim, __u32 culprit, __u64 time, __u64 wakes)
{
	struct blame_names names = {victim, culprit};
	__u32 *found = bpf_map_lookup_elem(&pair_of_names, &names);
	__u32 index = found != NULL ? *found : make_pair(victim, culprit);
	struct blame_pair *pair = bpf_map_lookup_elem(&pairs, &index);

	if (pair == NULL)
		return 0;
	if (wakes != 0) {
		__sync_fetch_and_add(&pair->wakes, wakes);
		return 0;
	}
	__sync_fetch_and_add(&pair->time, time);
	__sync_fetch_and_add(&pair->waits, 1);
	return 0;
}

/* A slot that was noted before: its names may have gone, and others have it. */
static __always_inline __u32 noted_slot(__u32 index, __u32 version)
{
	const struct latency_slot *slot = bpf_map_lookup_elem(&slots, &index);

	return slot != NULL && slot->version != version ? LATENCY_SLOT_OTHER : index;
}

/* The clock of a thread's run queue, which is up to date at the scheduler's events. */
struct queue_clock {
	__u64 now, lag; /* ns */
};

static __always_inline struct queue_clock clock_of(const struct task_struct *task)
{
	const struct rq *queue;

	/* CONFIG_FAIR_GROUP_SCHED */
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return (struct queue_clock){0};
	queue = plain_task((struct task_struct *)task)->se.cfs_rq->rq;
	return (struct queue_clock){queue->clock, clock_lag(queue)};
}

/*
 * A wait that is being settled with what a CPU ran, the last slice first. On a long run queue there are many
 * slices, and interrupts are off: so each is added to a part, and parts to pairs.
 */
struct settling {
	const struct blame_ring *ring;
	struct blame_sum *parts;
	__u64 from, end; /* what is left of it, ns */
	__u64 lag;       /* at its end */
	__u64 share;     /* of WHOLE: how much of the segment at hand lies within it */
	__u32 sum_count; /* that are kept of the CPU */
	__u32 victim;
};

/* Time of interrupts in `time` of a slice that had `lag` of them in `length`, all ns. */
static __always_inline __u64 interrupts_within(__u64 time, __u64 lag, __u64 length)
{
	if (lag == 0 || time >= length)
		return lag < time ? lag : time;
	/* so that no product is above 2^64 within some hours */
	lag = (time >> 10) * (lag >> 10) / ((length >> 20) + 1);
	return lag < time ? lag : time;
}

static __always_inline void add_part(__u32 victim, const struct blame_sum *part)
{
	if (part->time != 0)
		count_pair(victim, noted_slot(part->culprit, part->version), part->time, 0);
}

static __always_inline void add_time(struct settling *of, __u32 culprit, __u32 version, __u64 time)
{
	struct blame_sum *part = &of->parts[culprit % BLAME_PARTS];

	if (part->culprit != culprit || part->version != version) {
		add_part(of->victim, part);
		*part = (struct blame_sum){0, culprit, version};
	}
	part->time += time;
}

/* Takes the part of the wait that lies within a slice. Returns 1 when nothing is left. */
static long settle_slice(__u32 index, void *context)
{
	struct settling *of = context;
	const struct blame_slice *slice = &of->ring->slices[(of->ring->last - index) % BLAME_SLICES];
	const __u64 begin = slice->begin > of->from ? slice->begin : of->from;

	if (of->end > begin) {
		const __u64 time = of->end - begin;
		const __u64 lag = of->lag > slice->lag ? of->lag - slice->lag : 0;
		const __u64 interrupts = interrupts_within(time, lag, of->end - slice->begin);

		add_time(of, slice->culprit, slice->version, time - interrupts);
		if (interrupts != 0)
			add_time(of, BLAME_INTERRUPTS, 0, interrupts);
		of->end = begin;
	}
	of->lag = slice->lag;
	return slice->begin <= of->from;
}

/*
 * Goes back to the segment that began at `begin`. If the wait began later, each sum counts in proportion.
 * Returns 1 when nothing is left.
 */
static __always_inline long enter_segment(struct settling *of, __u64 begin)
{
	if (of->end <= of->from)
		return 1;
	of->share = begin >= of->from ? WHOLE : (of->end - of->from) * WHOLE / (of->end - begin);
	of->end = begin >= of->from ? begin : of->from;
	return 0;
}

/* Takes a sum's part of the wait. Returns 1 when nothing is left. */
static long settle_sum(__u32 index, void *context)
{
	struct settling *of = context;
	const struct blame_sum *sum = &of->ring->sums[(of->ring->next - 1 - index) % BLAME_SUMS];

	if (sum->culprit == BLAME_SEGMENT)
		/* the first sums of the oldest segment may be overwritten */
		return index + sum->version >= of->sum_count || enter_segment(of, sum->time);
	add_time(of, sum->culprit, sum->version, sum->time * of->share / WHOLE);
	return 0;
}

/*
 * Whether the kernel throttles threads one by one, each on its way back to user space: since Linux 6.18
 * (throttle_cfs_rq_work() of kernel/sched/fair.c). Until a thread gets there it waits for the CPU as usual,
 * although the throttle clock of its cgroup already runs.
 */
static __always_inline bool throttles_threads(const struct task_struct *task)
{
	return bpf_core_field_exists(task->throttled);
}

/*
 * How long the thread's cgroup has been throttled on the thread's CPU, in ns; 0 before Linux 6.6. Ongoing
 * throttling is included unless the kernel throttles threads one by one and has not throttled this one.
 */
static __always_inline __u64 throttled_time(const struct task_struct *task)
{
	const struct cfs_rq *queue = NULL;
	__u64 since_clock, clock;

	if (!bpf_core_field_exists(queue->throttled_clock_self_time))
		return 0;
	queue = plain_task((struct task_struct *)task)->se.cfs_rq;
	since_clock = queue->throttled_clock_self;
	if (since_clock == 0 || (throttles_threads(task) && !task->throttled))
		return queue->throttled_clock_self_time;
	clock = queue->rq->clock;
	return queue->throttled_clock_self_time + (clock > since_clock ? clock - since_clock : 0);
}

/* A wait begins at `now`. */
static __always_inline void begin_wait(const struct task_struct *task, struct latency_times *times, __u64 now)
{
	times->queued = now;
	times->clock = clock_of(task).now;
	times->delay = task->sched_info.run_delay;
	/* a thread that is not throttled when its wait begins waits only for the CPU */
	times->throttled = throttles_threads(task) && !task->throttled ? ~0ULL : throttled_time(task);
}

/*
 * Settles a wait, or the rest of it, `from` ns to `now`, with the slices of a CPU, at whose clock `lag` is
 * missing now.
 */
__noinline int settle_with(__u32 victim, __u32 of_cpu, __u64 from, __u64 now, __u64 lag)
{
	struct blame_ring *own, *ring;
	struct settling of;
	const struct blame_slice *last;
	const __u32 zero = 0;

	/* since Linux 5.19 */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_map_lookup_percpu_elem))
		return 0;
	own = ring = bpf_map_lookup_elem(&rings, &zero);
	if (of_cpu != bpf_get_smp_processor_id())
		ring = bpf_map_lookup_percpu_elem(&rings, &zero, of_cpu);
	if (own == NULL || ring == NULL)
		return 0;
	last = &ring->slices[ring->last % BLAME_SLICES];
	/* most waits are within one slice */
	if (ring->measurement == since && last->begin <= from && last->lag == lag) {
		const struct blame_sum part = {now - from, last->culprit, last->version};

		add_part(victim, &part);
		return 0;
	}
	of = (struct settling){
		.ring = ring, .parts = own->parts, .from = from, .end = now, .lag = lag, .victim = victim};
	if (ring->measurement == since) {
		bpf_loop(BLAME_SLICES, settle_slice, &of, 0);
		of.sum_count = ring->next - ring->first < BLAME_SUMS ? ring->next - ring->first : BLAME_SUMS;
		if (enter_segment(&of, ring->begin) == 0)
			bpf_loop(of.sum_count, settle_sum, &of, 0);
	}
	for (int i = 0; i < BLAME_PARTS; i++) {
		add_part(victim, &own->parts[i]);
		own->parts[i].time = 0;
	}
	if (of.end > of.from)
		count_pair(victim, BLAME_EARLIER, of.end - of.from, 0);
	return 0;
}

/*
 * Settles what is not settled of a wait on the run queue of a CPU. A limit of its cgroup keeps a thread from
 * there when its turn has come: that is the first part of its wait. A thread that sleeps may be on a run
 * queue still, and when it is moved there the kernel notes it as waiting (sched_delayed of
 * kernel/sched/fair.c, from 6.12 on): its wait begins when it is woken. Returns how long the limit kept it,
 * ns.
 */
static __always_inline __u64 settle(struct task_struct *task, struct latency_times *times, __u32 victim,
				    __u32 of_cpu, __u64 from, struct queue_clock clock)
{
	const __u64 whole = throttled_time(task);
	__u64 throttled = whole > times->throttled ? whole - times->throttled : 0;

	if (from != 0 && from < times->clock)
		from = times->clock;
	if (from == 0 || from >= clock.now)
		return 0;
	if (throttled != 0) {
		throttled = throttled < clock.now - from ? throttled : clock.now - from;
		count_pair(victim, BLAME_THROTTLED, throttled, 0);
		from += throttled;
	}
	settle_with(victim, of_cpu, from, clock.now, clock.lag);
	return throttled;
}

static __always_inline void add_to_sum(struct blame_ring *ring, __u32 culprit, __u32 version, __u64 time)
{
	__u16 *place = &ring->places[culprit % BLAME_PLACES];
	struct blame_sum *sum = &ring->sums[*place % BLAME_SUMS];
	const __u64 age = (ring->next - *place) % BLAME_SUMS;

	if (age == 0 || age > ring->next - ring->segment || sum->culprit != culprit ||
	    sum->version != version) {
		*place = ring->next % BLAME_SUMS;
		sum = &ring->sums[ring->next++ % BLAME_SUMS];
		*sum = (struct blame_sum){0, culprit, version};
	}
	sum->time += time;
}

/*
 * Adds the oldest slice, which is about to be overwritten, to the segment that grows. The more culprits a
 * segment has, the longer it lasts, so that the sums always reach equally far back. Global as count_pair().
 */
__noinline int add_to_segment(struct blame_ring *ring)
{
	const struct blame_slice *slice, *next;
	__u64 length, lag, count, enough = BLAME_SUM_NS;

	if (ring == NULL)
		return 0;
	slice = &ring->slices[(ring->last + 1) % BLAME_SLICES];
	next = &ring->slices[(ring->last + 2) % BLAME_SLICES];
	if (slice->begin == 0) {
		/* the first slice of this measurement; the sums are of another one */
		ring->first = ring->segment = ring->next;
		ring->begin = next->begin;
		return 0;
	}
	length = next->begin > slice->begin ? next->begin - slice->begin : 0;
	lag = next->lag > slice->lag ? next->lag - slice->lag : 0;
	lag = lag < length ? lag : length;
	add_to_sum(ring, slice->culprit, slice->version, length - lag);
	if (lag != 0)
		add_to_sum(ring, BLAME_INTERRUPTS, 0, lag);
	count = ring->next - ring->segment;
	/* the thread of a long slice may wait from its end on: then no proportion is needed */
	if (length >= BLAME_SUM_NS / 4)
		enough = BLAME_SUM_NS / 2;
	if (next->begin - ring->begin < (count + 1) * enough && count < BLAME_SUMS / 4)
		return 0;
	ring->sums[ring->next++ % BLAME_SUMS] = (struct blame_sum){ring->begin, BLAME_SEGMENT, count};
	ring->segment = ring->next;
	ring->begin = next->begin;
	return 0;
}

/* From now on the CPU runs what has just come to it. */
static __always_inline void begin_slice(struct blame_ring *ring, __u32 culprit, struct queue_clock clock)
{
	struct blame_slice *slice;

	add_to_segment(ring);
	slice = &ring->slices[++ring->last % BLAME_SLICES];
	slice->begin = clock.now;
	slice->lag = clock.lag;
	slice->culprit = culprit;
	slice->version = version_of(culprit);
}

/* The slot of a thread, BLAME_WAKEUP of an idle one. */
static __always_inline __u32 culprit_of(struct task_struct *task, struct latency_times *times)
{
	if (task->pid == 0)
		return BLAME_WAKEUP;
	return times != NULL ? slot_of(task, times) : LATENCY_SLOT_OTHER;
}

/* --- events --- */

/*
 * Notes the waker of a thread. sched_waking runs on the waker's CPU; sched_wakeup may run on the thread's. An
 * interrupt counts as the thread it interrupted: the preempt count would tell them apart, but resolving that
 * kernel variable takes CAP_SYS_ADMIN.
 */
static __always_inline void note_waker(struct task_struct *task)
{
	struct latency_times *times = bpf_task_storage_get(&threads, task, NULL, 0);
	struct task_struct *waker = bpf_get_current_task_btf();
	__u32 slot = BLAME_INTERRUPTS;

	if (times == NULL || !is_in_scope(task))
		return;
	/* an idle CPU wakes nobody but in an interrupt */
	if (waker->pid != 0)
		slot = culprit_of(waker, bpf_task_storage_get(&threads, waker, NULL, 0));
	times->waker = slot;
	times->waker_version = version_of(slot);
	times->woken = since;
}

SEC("tp_btf/sched_waking")
int note_waking(__u64 *arguments)
{
	__u64 now = bpf_ktime_get_ns();

	note_waker((struct task_struct *)arguments[0]);
	count_event(now);
	return 0;
}

static __always_inline void note_wakeup(struct task_struct *task, __u64 now)
{
	struct latency_times *times;
	struct latency_counts *own;
	__u32 class;

	if (!is_in_scope(task))
		return;
	times = bpf_task_storage_get(&threads, task, NULL, 0);
	if (times == NULL)
		return;
	class = times->phase & LATENCY_CLASS_MASK;
	/* one that was about to sleep, and runs or waits for a CPU, is woken as well */
	if (class != WAIT_CLASS_CPU && class != WAIT_CLASS_RUN_QUEUE) {
		own = counts_of(task, times, true);
		if (times->blocked >= since && times->blocked != 0)
			count_wait(own, BLOCKED, times->blocked, now);
		begin_phase(own, times, WAIT_CLASS_RUN_QUEUE, now);
	}
	times->blocked = 0;
	/* one that has waited since it was preempted is woken as well, when it was about to sleep */
	if (times->queued < since || times->queued == 0)
		begin_wait(task, times, now);
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

/*
 * Whether a thread that waits for a mutex stays on the run queue so that the mutex owner runs in its place.
 * With this proxy execution (CONFIG_SCHED_PROXY_EXEC), a run queue has a `donor` besides `curr`. Without it,
 * a thread that is preempted just before it blocks runs once more first.
 */
static __always_inline bool is_kept_by_mutex(const struct task_struct *task)
{
	const struct rq *queue = NULL;

	return bpf_core_field_exists(task->blocked_on) && bpf_core_field_exists(queue->donor) &&
	       bpf_core_field_offset(queue->donor) != bpf_core_field_offset(queue->curr) &&
	       task->blocked_on != NULL;
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
	if (is_kept_by_mutex(task))
		preempted = false;
	begin_phase(counts_of(task, times, true), times,
		    preempted || state == 0 ? WAIT_CLASS_RUN_QUEUE : class_of_sleep(task, times, state, true),
		    now);
	times->queued = times->came = 0;
	if (preempted || state == 0)
		begin_wait(task, times, now);
	times->blocked = !preempted && (state & STATE_UNINTERRUPTIBLE) != 0 && (state & STATE_NOLOAD) == 0 &&
					 (task->flags & (TASK_FROZEN_BEFORE | TASK_KERNEL_THREAD)) !=
						 TASK_FROZEN_BEFORE
				 ? now
				 : 0;
}

/* Whether a thread that waits for a CPU left its last one without an event, and no event has woken it since.
 */
static __always_inline bool has_left_unseen(const struct latency_times *times)
{
	return times->queued == 0 && times->came != 0 && times->came >= since;
}

/* Notes that the wait of such a thread began at `begin`, ns of CLOCK_MONOTONIC. */
static __always_inline void begin_unseen_wait(struct latency_times *times, __u64 begin)
{
	times->queued = begin;
	times->clock = times->came = 0;
	times->throttled = ~0ULL;
}

/* Counts the wait for a CPU that ends now, of which a limit took `throttled` ns. */
static __always_inline void begin_run(struct latency_counts *own, struct latency_times *times,
				      __u64 throttled, __u64 now)
{
	__u64 phase, from, until;

	now = phase_time(now);
	phase = change_phase(times, WAIT_CLASS_CPU, now);
	from = phase >> LATENCY_CLASS_BITS;
	until = from + throttled;
	if (throttled != 0 && (phase & LATENCY_CLASS_MASK) == WAIT_CLASS_RUN_QUEUE) {
		/* the wait was counted up to `from` when it was read */
		if (until > now)
			until = now;
		count_phase(own, latency_phase(WAIT_CLASS_THROTTLED, from), until);
		phase = latency_phase(WAIT_CLASS_RUN_QUEUE, until);
	}
	count_phase(own, phase, now);
}

/* `task`, perhaps the idle task, comes to this CPU and `leaving` leaves it. `queued` is the beginning of its
 * wait by the clock of the run queue, ns; 0: it did not wait. */
static __always_inline void note_arrival(struct task_struct *leaving, struct task_struct *task, __u64 queued,
					 __u64 now, struct queue_clock clock)
{
	struct latency_times *times = bpf_task_storage_get(&threads, task, NULL, 0);
	const __u32 slot = culprit_of(task, times), zero = 0;
	struct blame_ring *ring = bpf_map_lookup_elem(&rings, &zero);

	if (ring == NULL)
		return;
	if (ring->measurement != since) {
		/* no wait that is settled here began before it */
		begin_slice(ring, culprit_of(leaving, bpf_task_storage_get(&threads, leaving, NULL, 0)),
			    (struct queue_clock){0, clock.lag});
		ring->measurement = since;
	}
	if (times != NULL) {
		struct latency_counts *own = counts_of(task, times, true);
		__u64 throttled = 0;

		if (has_left_unseen(times) && queued != 0 && queued < clock.now)
			begin_unseen_wait(times, now - (clock.now - queued));
		if (times->queued != 0 && times->queued >= since) {
			count_wait(own, RUN_QUEUE, times->queued, now);
			throttled = settle(task, times, slot, bpf_get_smp_processor_id(), queued, clock);
		}
		if (is_in_scope(task))
			begin_run(own, times, throttled, now);
		times->queued = 0;
		times->came = is_in_scope(task) ? now : 0;
		times->delay = task->sched_info.run_delay;
		/* the kernel adds this wait to the run delay after the event */
		if (task->sched_info.last_queued != 0 && task->sched_info.last_queued < clock.now)
			times->delay += clock.now - task->sched_info.last_queued;
	}
	if (times != NULL && times->woken != 0) {
		if (times->woken == since)
			count_pair(slot, noted_slot(times->waker, times->waker_version), 0, 1);
		times->woken = 0;
	}
	begin_slice(ring, slot, clock);
}

/*
 * Makes up for the arrival of a thread that came to this CPU without an event and leaves it now. The kernel
 * has noted when it came, and how long it had waited: sched_info_arrive() of kernel/sched/stats.h.
 */
static __always_inline void note_unseen_arrival(struct task_struct *task, __u64 now, struct queue_clock clock)
{
	const struct latency_times *times = bpf_task_storage_get(&threads, task, NULL, 0);
	const __u64 arrival = task->sched_info.last_arrival;
	__u64 waited;

	if (times == NULL || arrival == 0 || arrival > clock.now)
		return;
	waited = task->sched_info.run_delay - times->delay;
	note_arrival(task, task, waited < arrival ? arrival - waited : 0, now - (clock.now - arrival),
		     (struct queue_clock){arrival, clock.lag});
}

/* Its first three arguments are the same since Linux 5.19 and before 5.18. */
SEC("tp_btf/sched_switch")
int count_switch(__u64 *arguments)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *leaving = (struct task_struct *)arguments[1],
			   *coming = (struct task_struct *)arguments[2];
	const struct queue_clock clock = clock_of(coming);

	if (follow_switch(leaving, coming))
		note_unseen_arrival(leaving, now, clock);
	note_leaving(leaving, arguments[0] != 0, now);
	note_arrival(leaving, coming, coming->sched_info.last_queued, now, clock);
	count_event(now);
	return 0;
}

/*
 * It goes on waiting on another CPU. It has left the run queue of this one, and its CPU changes afterwards:
 * set_task_cpu(). Only the kernel knows when it comes to the other one, but it has added what the thread
 * waited here to its run delay: sched_info_dequeue() of kernel/sched/stats.h.
 */
SEC("tp_btf/sched_migrate_task")
int settle_move(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	struct latency_times *times = bpf_task_storage_get(&threads, task, NULL, 0);
	struct queue_clock clock;
	__u64 waited;

	if (times == NULL)
		return 0;
	waited = task->sched_info.run_delay - times->delay;
	if (has_left_unseen(times) && waited != 0)
		begin_unseen_wait(times, bpf_ktime_get_ns() - waited);
	if (times->queued == 0 || times->queued < since)
		return 0;
	clock = clock_of(task);
	if (waited < clock.now)
		settle(task, times, slot_of(task, times), task->thread_info.cpu, clock.now - waited, clock);
	times->clock = 0;
	times->delay = task->sched_info.run_delay;
	times->throttled = ~0ULL; /* of a cgroup on another CPU, from here on */
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

/* --- what goes on --- */

/*
 * Counts the phase of each thread up to `read_at`, where it goes on. The first time in a measurement it
 * begins one: no event has told of threads that sleep since before.
 */
SEC("iter/task")
int count_present(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct latency_times *times;
	__u64 phase, from;
	__u32 class;

	if (task == NULL || !is_in_scope(task))
		return 0;
	times = bpf_task_storage_get(&threads, task, NULL, 0);
	if (times == NULL)
		return 0;
	phase = *(volatile __u64 *)&times->phase;
	from = phase >> LATENCY_CLASS_BITS;
	class = phase & LATENCY_CLASS_MASK;
	if (from >= read_at && from >= since)
		return 0;
	if (from < since)
		class = task->on_cpu != 0    ? WAIT_CLASS_CPU
			: task->__state == 0 ? WAIT_CLASS_RUN_QUEUE
					     : class_of_sleep(task, times, task->__state, false);
	if (class == WAIT_CLASS_UNKNOWN ||
	    __sync_val_compare_and_swap(&times->phase, phase, latency_phase(class, read_at)) != phase)
		return 0;
	if (!is_full) {
		slot_of(task, times);
	} else if (version_of(times->slot) != times->version) {
		times->slot = LATENCY_SLOT_OTHER;
		times->version = version_of(LATENCY_SLOT_OTHER);
	}
	/* a thread that never moves has no share: with many processes all would be read each time */
	count_phase(counts_of(task, times, false), phase, read_at);
	return 0;
}

const char program_license[] SEC("license") = "GPL";
