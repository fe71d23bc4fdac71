/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PASS_INTERNAL_H
#define CTOP_PASS_INTERNAL_H

/* Shared by the files that turn passes into rows: pass.c and pass_ids.c. */

#include "round_internal.h"

/* A round's pass while its rows are made. */
struct intake {
	struct round *round;
	struct bpf_pass pass;
	bool follows;  /* the rows of the last snapshot are from the pass before */
	bool by_marks; /* that holds, and the records of tasks that stand still are those of earlier passes */
	bool all;      /* every row is decoded */
	bool with_io;
	uint64_t stuck_after_ns;
	struct optional_u64 starts; /* of threads on the host before the pass, where threads are counted */
};

static inline const struct task_record *intake_record(const struct intake *intake, size_t row)
{
	return bpf_pass_record(&intake->pass, intake->pass.order[row]);
}

/* The mark of a row's task (TASK_STILL …). */
static inline uint32_t intake_mark(const struct intake *intake, size_t row)
{
	return bpf_pass_mark(&intake->pass, intake->pass.order[row]);
}

/* The threads of a process are among those that changed since the previous snapshot. */
static inline void round_mark_changed(struct round *round, const struct process *process)
{
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++)
		round->states[row].flags |= ROW_CHANGED;
}

/* --- pass_ids.c: the CPU sets and cgroups that ids of passes stand for --- */

/* Clears caches that have grown large: on some hosts cgroups come and go all day. */
void pass_ids_bound(struct task_passes *passes);
void pass_ids_release(struct task_passes *passes);

/*
 * Reads the CPU sets again now and then. A mask says which CPUs are allowed, and the system call which of
 * them are there: CPUs come and go (sched_getaffinity() of kernel/sched/syscalls.c). Returns whether any set
 * is another one now.
 */
bool pass_ids_recheck_cpus(struct intake *intake);

/* Stores the CPUs on which the thread of a row may run. */
void pass_ids_store_cpus(struct intake *intake, size_t row);

/*
 * Stores the cgroups of the threads of a process, which has rows. The cgroup of the leader is that of the
 * process; threads elsewhere have their own. `moved`: some of its threads do not stand still.
 */
void pass_ids_store_cgroups(struct intake *intake, struct process *process, bool moved);

/* --- waits.c: what threads wait for --- */

/* Lists the system calls whose first argument is a descriptor that a pass is to follow. */
void waits_list_calls(struct task_call_set *ret_by_file);

/*
 * Stores what the thread of a row waits for, which has its state, or the reason why that is unknown. The row
 * is marked as changed if it held something else.
 */
void waits_store(struct intake *intake, size_t row, const struct task_parts *parts);

#endif
