/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_TASKS_H
#define CTOP_BPF_TASKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "metric/feature.h"
#include "task_record.h"

/*
 * Every task of the host in one pass, or those of chosen processes, read by BPF: by runs of a program where
 * the kernel lets it look processes up (Linux 6.10), else by reading an iterator. Either holds a CPU for less
 * than 1 ms at a time.
 */
struct bpf_tasks;

/*
 * The tasks of one pass; valid until the next one. In no particular order, and a task may be there more than
 * once: bpf_pass_order().
 */
struct bpf_pass {
	size_t count;
	uint32_t kernel; /* TASK_KERNEL_… */
	/* The parts of a record, each with the distance from one task to the next in bytes; NULL: not read.
	 */
	const unsigned char *records, *delays, *statistics;
	size_t record_stride, delays_stride, statistics_stride;
	uint64_t begin_ns; /* CLOCK_BOOTTIME */
	uint64_t clock_ns; /* of the scheduler at the end, in its own clock; 0 when it is not known */
	bool by_runs;      /* of a program, not by the iterator */
};

static inline const struct task_record *bpf_pass_record(const struct bpf_pass *pass, size_t index)
{
	return (const void *)(pass->records + index * pass->record_stride);
}

/*
 * Loads the programs, with room for about `task_count` tasks, and for `usual_parts` (TASK_PART_…) of them
 * however many they are; parts that are wanted now and then are in a pass of many tasks at a higher price.
 * With a `scope` of process ids as in the initial pid namespace only the tasks of those are read, of the
 * processes that bear the ids during a pass; it is not copied. The capabilities that bpf_check() asks for are
 * not needed afterwards. `*ret_result` is on, or tells why passes do not work; its words are owned by
 * `arena`. Returns the reader, to be ended with bpf_tasks_close(), or NULL.
 */
struct bpf_tasks *bpf_tasks_open(const uint32_t *scope, size_t scope_count, size_t task_count,
				 uint32_t usual_parts, struct arena *arena,
				 struct feature_result *ret_result);
void bpf_tasks_close(struct bpf_tasks *tasks);

/*
 * Reads the tasks, with these parts (TASK_PART_…). `cancel` may be NULL. Returns 0 or a negative errno
 * (-ECANCELED).
 */
int bpf_tasks_read(struct bpf_tasks *tasks, uint32_t parts, const atomic_bool *cancel,
		   struct bpf_pass *ret_pass);

#endif
