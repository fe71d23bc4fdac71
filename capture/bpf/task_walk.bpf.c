// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task in one run of a program, into memory that ctop has mapped: the open-coded task iterator of
 * kernel/bpf/task_iter.c, from Linux 6.7 on.
 */
#include <stdbool.h>

#include "task_fill.h"

struct bpf_iter_task {
	__u64 opaque[3];
};

enum {
	ALL_THREADS = 1, /* BPF_TASK_ITER_ALL_THREADS */
};

extern int bpf_iter_task_new(struct bpf_iter_task *iterator, struct task_struct *task,
			     unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *iterator) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *iterator) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

__u32 parts;       /* TASK_PART_…, set before each pass */
__u32 task_kernel; /* TASK_KERNEL_… */
__u32 task_count;  /* stored in the last pass */
__u32 full;        /* there were more */

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

SEC("syscall")
int walk_tasks(void *context)
{
	struct bpf_iter_task iterator;
	struct task_struct *task;

	(void)context;
	full = 0;
	task_count = 0;
	bpf_rcu_read_lock();
	/* from a thread that is no leader the walk would not end */
	bpf_iter_task_new(&iterator, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&iterator)) != NULL) {
		if (task->pid == 0) {
			task_kernel = kernel_facts(task);
			continue;
		}
		if (!store(plain_task(task))) {
			full = 1;
			break;
		}
		task_count++;
	}
	bpf_iter_task_destroy(&iterator);
	bpf_rcu_read_unlock();
	return 0;
}

const char program_license[] SEC("license") = "GPL";
