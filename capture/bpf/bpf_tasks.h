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
 * than 1 ms at a time. A reader keeps the records of the last pass, so that the next pass can store only
 * tasks that moved.
 */
struct bpf_tasks;

/*
 * The tasks of one pass, by index in no particular order; a task may be there more than once. Valid until the
 * next pass.
 */
struct bpf_pass {
	size_t count;
	uint32_t kernel; /* TASK_KERNEL_… */
	/* The parts of a record, each with the distance from one slot to the next in bytes; NULL: not read.
	 */
	const unsigned char *records, *delays, *statistics, *calls;
	size_t record_stride, delays_stride, statistics_stride, calls_stride;
	/* The slot and mark of each task; NULL if the slot of a task is its index. */
	const struct task_place *places;
	/* Rows: the index of each task once, ascending by process and thread. */
	const uint32_t *order;
	size_t row_count;
	bool same_rows;    /* the pass before had the same tasks in the same rows */
	bool is_whole;     /* the marks are void: every task may have moved */
	uint64_t begin_ns; /* CLOCK_BOOTTIME */
	uint64_t clock_ns; /* of the scheduler at the end, in its own clock; 0 when it is not known */
	bool by_runs;      /* of a program, not by the iterator */
	bool has_files;    /* calls have the files of their descriptors */
};

/* The slot of a task's record and of its parts. */
static inline size_t bpf_pass_slot(const struct bpf_pass *pass, size_t index)
{
	return pass->places != NULL ? pass->places[index].slot : index;
}

static inline const struct task_record *bpf_pass_record(const struct bpf_pass *pass, size_t index)
{
	return (const void *)(pass->records + bpf_pass_slot(pass, index) * pass->record_stride);
}

/* The mark of a task (TASK_STILL …). */
static inline uint32_t bpf_pass_mark(const struct bpf_pass *pass, size_t index)
{
	return pass->is_whole ? (uint32_t)TASK_NEW : pass->places[index].mark;
}

/*
 * Loads the programs, with room for about `task_count` tasks, and for `usual_parts` (TASK_PART_…) of them
 * however many they are; parts that are wanted now and then are in a pass of many tasks at a higher price.
 * Calls (TASK_PART_CALL) can be read only with `by_file`, the set of system calls whose first argument is a
 * descriptor to follow; it is copied. NULL: no pass asks for calls.
 * With a `scope` of process ids as in the initial pid namespace only the tasks of those are read, of the
 * processes that bear the ids during a pass; it is not copied. The capabilities that bpf_check() asks for are
 * not needed afterwards. `*ret_result` is on, or tells why passes do not work; its words are owned by
 * `arena`. Returns the reader, to be ended with bpf_tasks_close(), or NULL.
 */
struct bpf_tasks *bpf_tasks_open(const uint32_t *scope, size_t scope_count, size_t task_count,
				 uint32_t usual_parts, const struct task_call_set *by_file,
				 struct arena *arena, struct feature_result *ret_result);
void bpf_tasks_close(struct bpf_tasks *tasks);

/*
 * Reads the tasks, with these parts (TASK_PART_…). With `full` all records are stored anew; without, a task
 * that stands still keeps its record, except for `resident`. The pass is full anyway if the one before failed
 * or had other parts. Calls are left out where the kernel refuses them (then pass->calls is NULL), and so are
 * their files. `cancel` may be NULL. Returns 0 or a negative errno (-ECANCELED).
 */
int bpf_tasks_read(struct bpf_tasks *tasks, uint32_t parts, bool full, const atomic_bool *cancel,
		   struct bpf_pass *ret_pass);

#endif
