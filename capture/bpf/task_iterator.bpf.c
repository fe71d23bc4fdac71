// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task, one after the other, as the reader of an iterator asks for them (Documentation/bpf/
 * bpf_iterators.rst). A read returns whole records, at most 32 KiB of them.
 */
#include <stdbool.h>

#include "task_fill.h"

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

const volatile bool scoped; /* only the processes in `scope` */

__u32 parts;       /* TASK_PART_…, set before each pass */
__u32 task_kernel; /* TASK_KERNEL_… */

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

const char program_license[] SEC("license") = "GPL";
