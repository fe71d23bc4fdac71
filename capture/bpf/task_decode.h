/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASK_DECODE_H
#define CTOP_TASK_DECODE_H

#include "bpf_tasks.h"
#include "snapshot/snapshot.h"

/*
 * From a record of a task, as the kernel keeps it, to the numbers that procfs and taskstats print of it.
 * Pure. The functions named document the meaning of each member.
 */

/* One task of a pass; all but `record` are NULL where they were not read. */
struct task_parts {
	const struct task_record *record;
	const struct task_delays *delays;
	const struct task_statistics *statistics;
	const struct task_call *call;
};

/*
 * Indices of the tasks of a pass by process and id, the rows of bpf_tasks_read(). A thread that was met twice
 * is there once, as it was met last, also if it took the id of its leader over in between. The caller frees
 * them.
 */
uint32_t *bpf_pass_order(struct bpf_pass *pass, size_t *ret_count);

struct task_parts task_parts_of(const struct bpf_pass *pass, size_t index);

/* User and system time, in ticks where nothing else is said. */
struct task_times {
	uint64_t user, system;
};

/*
 * Divides the run time of a task by the shares that the ticks saw, and lets neither part be less than it was
 * shown last: cputime_adjust() of kernel/sched/cputime.c. All ns.
 */
struct task_times task_share_times(uint64_t run, struct task_times sampled, struct task_times last);

/*
 * Stores every number of the task but those that are ids in pools (policy, affinity) into `row`: 0 where a
 * number does not apply (nr_threads of a thread that is no leader). I/O is left out without `with_io`. The
 * scaled user and system times are not less than `shown`, what was shown of the same task before (ticks).
 */
void task_decode(struct snapshot *snapshot, size_t row, const struct task_parts *parts, bool with_io,
		 struct task_times shown);

/* Whether records have the metric; others are read from their files. */
bool task_decodes(enum metric metric);

/* Whether this kernel has what fills the metric, by TASK_KERNEL_…; false for metrics that no pass fills. */
bool task_kernel_has(uint32_t kernel, enum metric metric);

/*
 * The letter of stat's field 3: task_state_index() and task_state_array of fs/proc/array.c. Exception: F for
 * a task that a freezer stops; stat shows D (cgroup v1) or S (v2).
 */
char task_state_letter(const struct task_record *record);

/* For how long a task has been waiting: for a CPU (state R and not running), else in D or asleep. */
struct task_wait {
	uint64_t ns;
	bool queued;   /* for a CPU */
	bool at_least; /* it may have lasted longer */
};

/* The same task as an earlier pass found it, in D or asleep. Times are ns. */
struct task_sleep {
	uint64_t exec_start, timeslices; /* of its record */
	uint64_t ns;                     /* how long it had lasted */
	uint64_t clock_ns;               /* when: the scheduler's clock */
};

/* Whether the task has left its CPU for D or a sleep. */
bool task_sleeps(const struct task_record *record);

/*
 * The present wait, in time of the scheduler's clock `clock_ns`: that of the wall but for a host's
 * suspension. 0 while the task runs, and where the clock is 0: not known. `before` may be NULL. The age of a
 * sleep, but for D, is up to 0.13 ms too long when it is first seen: it began at a multiple of 131,072 ns.
 */
struct task_wait task_wait_of(const struct task_record *record, uint64_t clock_ns,
			      const struct task_sleep *before);

/*
 * Sleep that the kernel counts as waiting for a CPU. A task that goes to sleep may stay on its run queue for
 * a while (sched_delayed of kernel/sched/fair.c, since Linux 6.12; proxy execution). If the task is moved
 * meanwhile, sched_info_enqueue() of kernel/sched/stats.h starts a wait, which ends when the task next runs.
 * Zeroed at first.
 */
struct task_slept {
	uint64_t queued_from; /* last_queued of such a wait while it lasts, else 0 */
	uint64_t pending;     /* ns slept during that wait, up to the last pass that found the task asleep */
	uint64_t counted;     /* ns slept during all ended waits, included in run_delay */
};

/* Records the state that a pass found at `clock_ns` of the scheduler's clock. */
void task_slept_follow(struct task_slept *slept, const struct task_record *record, uint64_t clock_ns);

/* Subtracts the sleep from the waits of a record that task_slept_follow() has seen. */
void task_slept_leave_out(const struct task_slept *slept, struct task_record *record);

/* A number that differs if the signs or numbers of a task do, from which its row is made; its call apart. */
uint64_t task_fingerprint(const struct task_parts *parts);

#endif
