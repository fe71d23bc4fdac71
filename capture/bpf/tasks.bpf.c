// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task of the host, in two ways, and the clock that their times are in. The programs are in one object
 * because libbpf goes through the types of the kernel for each object anew, which takes longer than all else
 * that loading does.
 */
#include <stdbool.h>

#include "task_fill.h"

__u32 parts;       /* TASK_PART_…, set before each pass */
__u32 task_kernel; /* TASK_KERNEL_… */

/*
 * --- in one run of a program ---
 *
 * Or those of one process in each run, into memory that ctop has mapped: the open-coded task iterator of
 * kernel/bpf/task_iter.c, from Linux 6.7 on. Looking a process up is open to programs of this type from Linux
 * 6.10 on. At most one of the two programs is loaded.
 */

struct bpf_iter_task {
	__u64 opaque[3];
};

enum {
	ALL_THREADS = 1,     /* BPF_TASK_ITER_ALL_THREADS */
	PROCESS_THREADS = 2, /* BPF_TASK_ITER_PROC_THREADS */
};

/* Weak: a kernel that lacks them is to take the other programs all the same. */
extern int bpf_iter_task_new(struct bpf_iter_task *iterator, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *iterator) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *iterator) __ksym __weak;
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

__u32 process;    /* whose threads walk_process() stores */
__u32 task_count; /* stored; set to 0 before each pass */
__u32 full;       /* set when there were more; the same */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set before loading */
	__type(key, __u32);
	__type(value, struct task_record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_delays);
} delays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_statistics);
} statistics SEC(".maps");

/*
 * False when there is no room for it. The index is kept in memory because the verifier would follow each
 * value of a variable.
 */
static __always_inline bool store(struct task_struct *task)
{
	__u32 index = *(volatile __u32 *)&task_count;
	struct task_record *record = bpf_map_lookup_elem(&records, &index);

	if (record == NULL)
		return false;
	fill_record(task, record);
	if ((parts & TASK_PART_DELAYS) != 0) {
		struct task_delays *part = bpf_map_lookup_elem(&delays, &index);

		if (part == NULL)
			return false;
		fill_delays(task, part);
	}
	if ((parts & TASK_PART_STATISTICS) != 0) {
		struct task_statistics *part = bpf_map_lookup_elem(&statistics, &index);

		if (part == NULL)
			return false;
		fill_statistics(task, part);
	}
	return true;
}

static __always_inline void store_rest(struct bpf_iter_task *iterator)
{
	struct task_struct *task;

	task_kernel = kernel_facts(NULL);
	while ((task = bpf_iter_task_next(iterator)) != NULL) {
		if (task->pid == 0)
			continue;
		/* not plain_task(): at each reading of such a pointer its address is looked at, a fifth of
		 * the time of a pass, each round */
		if (!store(task)) {
			full = 1;
			break;
		}
		task_count++;
	}
}

SEC("syscall")
int walk_tasks(void *context)
{
	struct bpf_iter_task iterator;

	(void)context;
	bpf_rcu_read_lock();
	/* from a thread that is no leader the walk would not end */
	bpf_iter_task_new(&iterator, NULL, ALL_THREADS);
	store_rest(&iterator);
	bpf_iter_task_destroy(&iterator);
	bpf_rcu_read_unlock();
	return 0;
}

SEC("syscall")
int walk_process(void *context)
{
	struct bpf_iter_task iterator;
	struct task_struct *leader = bpf_task_from_pid((__s32)process);

	(void)context;
	if (leader == NULL)
		return 0;
	/* the number of a process that ended may be that of a thread of another one */
	if (leader->pid == leader->tgid) {
		bpf_rcu_read_lock();
		bpf_iter_task_new(&iterator, leader, PROCESS_THREADS);
		store_rest(&iterator);
		bpf_iter_task_destroy(&iterator);
		bpf_rcu_read_unlock();
	}
	bpf_task_release(leader);
	return 0;
}

/*
 * --- one after the other ---
 *
 * As the reader of an iterator asks for them (Documentation/bpf/bpf_iterators.rst). A read returns whole
 * records, at most 32 KiB of them.
 */

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

const volatile bool scoped; /* only the processes in `scope` */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, __u32);     /* process id in the initial pid namespace */
	__type(value, __u8);
} scope SEC(".maps");

/* The record being made: too large for the stack, and there is one reader. */
static struct task_whole whole;

static __always_inline bool is_in_scope(const struct task_struct *task)
{
	__u32 process = task->tgid;

	return !scoped || bpf_map_lookup_elem(&scope, &process) != NULL;
}

SEC("iter/task")
int dump_task(struct bpf_iter__task *context)
{
	struct seq_file *file = context->meta->seq;
	struct task_struct *task = context->task;

	task_kernel = kernel_facts(NULL);
	if (task == NULL || !is_in_scope(task))
		return 0;
	task = plain_task(task);
	fill_record(task, &whole.record);
	bpf_seq_write(file, &whole.record, sizeof(whole.record));
	/* what does not fit is undone with the record, which then begins the next read */
	if ((parts & TASK_PART_DELAYS) != 0) {
		fill_delays(task, &whole.delays);
		bpf_seq_write(file, &whole.delays, sizeof(whole.delays));
	}
	if ((parts & TASK_PART_STATISTICS) != 0) {
		fill_statistics(task, &whole.statistics);
		bpf_seq_write(file, &whole.statistics, sizeof(whole.statistics));
	}
	return 0;
}

/*
 * --- the clock ---
 *
 * Where the scheduler's clock stands. A run queue brings its clock up to date when a thread wakes on it, so
 * that of the caller, which has just slept, is a moment old.
 */

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
