/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PASS_H
#define CTOP_PASS_H

#include "capture/bpf/task_decode.h"
#include "round.h"

/*
 * What the files that read all threads in one pass share (pass*.c).
 */

/* A round's pass while its rows are made. */
struct intake {
	struct round *round;
	struct bpf_pass pass;
	uint32_t *order; /* index in the pass by row */
	bool all;        /* every row is decoded */
	bool with_io;
	uint64_t stuck_after_ns;
	struct task_columns columns;
};

static inline const struct task_record *intake_record(const struct intake *intake, size_t row)
{
	return bpf_pass_record(&intake->pass, intake->order[row]);
}

/* pass_rows.c: the rows of the snapshot, ascending by process and thread, and what they take over. */

/* Makes the rows of the tasks of the pass, and the processes that they belong to. */
void intake_make_rows(struct intake *intake);

/* pass_names.c: ids in the pools of the snapshot: CPU sets, policies, names, cgroups. */

/*
 * Reads the CPU sets again now and then. A mask says which CPUs are allowed, and the system call which of
 * them are there: CPUs come and go (sched_getaffinity() of kernel/sched/syscalls.c). Returns whether any set
 * is another one now.
 */
bool intake_recheck_cpus(struct intake *intake);

/* The CPUs and the policy of a row. */
void intake_store_cpus(struct intake *intake, size_t row);
void intake_store_policy(struct intake *intake, size_t row);

/* The name of a row; `changed`: anything of the task did. */
void intake_store_name(struct intake *intake, struct process *process, size_t row, bool changed);

/* The cgroups of all rows of a process. */
void intake_store_cgroups(struct intake *intake, struct process *process);

#endif
