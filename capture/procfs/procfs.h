/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROCFS_H
#define CTOP_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/string_pool.h"
#include "metric/metric.h"
#include "metric/source.h"
#include "snapshot/cpu_set.h"
#include "snapshot/snapshot.h"
#include "text_scan.h"

enum {
	THREAD_NAME_SIZE = 64, /* proc_task_name() of fs/proc/array.c prints at most 63 bytes */
	METRIC_SET_WORDS = (METRIC_COUNT + 63) / 64,
};

/* A set of metrics, a bit each. */
struct metric_set {
	uint64_t words[METRIC_SET_WORDS];
};

static inline bool metric_set_has(const struct metric_set *set, enum metric metric)
{
	return (set->words[metric / 64] >> (metric % 64) & 1) != 0;
}

static inline void metric_set_add(struct metric_set *set, enum metric metric)
{
	set->words[metric / 64] |= (uint64_t)1 << (metric % 64);
}

static inline void metric_set_remove(struct metric_set *set, enum metric metric)
{
	set->words[metric / 64] &= ~((uint64_t)1 << (metric % 64));
}

/*
 * The readings of one thread in one round, before they become a row of a snapshot. The parsers of procfs.h
 * add to it, each for its source; a parser that runs again (or that of an equivalent source) overwrites.
 *
 * A metric is in `present` if its value was found and is valid, in `bad` if its text was there but is not
 * valid (REASON_BAD_VALUE), in neither if the kernel did not print it. `value` counts only where `present`
 * says so and is encoded like a snapshot column (metric_encoding), except METRIC_POLICY, which holds the
 * policy's number sign-extended: see procfs_policy_name().
 */
struct thread_reading {
	uint32_t tgid, tid;
	source_set read; /* sources whose text was there and had the expected shape */
	struct metric_set present, bad;
	uint32_t negative_values; /* dotted values below zero, for parse_summary.negative_dotted_values */

	/* stat; valid where `read` has SOURCE_STAT */
	char name[THREAD_NAME_SIZE]; /* raw bytes, blanks at both ends cut; may hold any byte; not terminated
				      */
	uint8_t name_length;
	bool start_time_known;
	uint64_t start_time; /* USER_HZ ticks since boot, 0 when unknown */
	uint64_t flags;      /* PF_… of include/linux/sched.h, 0 when unknown */
	bool has_memory;     /* it has an address space */
	bool resident_known;
	uint64_t resident_pages; /* of that address space */

	/* status */
	bool uid_known;
	uint32_t uid; /* real user id */

	uint64_t value[METRIC_COUNT];
};

/* Empties the reading for a thread. `value` is left as it is: `present` guards it. */
static inline void thread_reading_begin(struct thread_reading *reading, uint32_t tgid, uint32_t tid)
{
	memset(reading, 0, offsetof(struct thread_reading, value));
	reading->tgid = tgid;
	reading->tid = tid;
}

static inline void thread_reading_set(struct thread_reading *reading, enum metric metric, uint64_t value)
{
	reading->value[metric] = value;
	metric_set_add(&reading->present, metric);
	metric_set_remove(&reading->bad, metric);
}

/* The metric's text was there but is not valid. */
static inline void thread_reading_set_bad(struct thread_reading *reading, enum metric metric)
{
	metric_set_remove(&reading->present, metric);
	metric_set_add(&reading->bad, metric);
}

/*
 * Task flags, as include/linux/sched.h has them: a kernel thread; forked, and no execve(2) since; a worker of
 * io_uring (Linux 5.12; until then the flag of a virtual CPU that runs, which no sleeping thread has).
 */
#define PROCFS_PF_KTHREAD    UINT64_C(0x00200000)
#define PROCFS_PF_FORKNOEXEC UINT64_C(0x00000040)
#define PROCFS_PF_IO_WORKER  UINT64_C(0x00000010)

static inline bool thread_reading_is_kernel(const struct thread_reading *reading)
{
	return (reading->flags & PROCFS_PF_KTHREAD) != 0;
}

/*
 * Parsers of the files below /proc/PID/task/TID (fs/proc/array.c, fs/proc/base.c, kernel/sched/debug.c of the
 * kernel tree; proc_pid_stat(5) and the like). Pure: the caller reads the file. Which metric stands where
 * comes from metrics.def. Texts are bytes and need not be UTF-8 nor end in a NUL. Each returns false if the
 * text does not look like that file at all (then the reading is unchanged); a single bad value only leaves
 * that metric out. Safe from several threads.
 */

/*
 * `stat`: name, start time, flags, and the metrics of SOURCE_STAT, and those that have stat as their
 * equivalent source (state, nr_threads). nr_threads is kept for leaders only, since it belongs to the
 * process.
 */
bool procfs_parse_stat(struct thread_reading *reading, const char *text, size_t length);

/* `schedstat`: run time, run-queue wait (ns), timeslices. */
bool procfs_parse_schedstat(struct thread_reading *reading, const char *text, size_t length);

/*
 * `status`, `io`, `sched` and any other file of `key: value` lines: the metrics of `source` and its parts by
 * their keys, those of the process for leaders only; a CPU list, with `cpu_sets` (may be NULL), as an id of
 * that pool. Of `status` the real user id too.
 *
 * `sched` adds SOURCE_SCHEDSTATS to `read` only when it has at least one line of the scheduler's statistics:
 * the kernel prints them while kernel.sched_schedstats is on. Only what follows the kernel's line of dashes
 * counts, since the name before it is printed raw and may contain newlines.
 */
bool procfs_parse_lines(struct thread_reading *reading, enum source source, struct string_pool *cpu_sets,
			const char *text, size_t length);

/* What `syscall` says of a thread that does not run. */
struct procfs_syscall {
	bool is_running; /* the thread ran, or was about to: the rest is 0 */
	int32_t number;  /* -1: it entered the kernel by an exception; then the arguments are 0 */
	uint64_t arguments[6];
	uint64_t stack, instruction; /* user-space pointers; both 0 of threads that never run in user space */
};

/* Whether a call was made by the 32-bit ABI. The file leaves that open, but 64-bit programs have higher
 * stacks. */
static inline bool procfs_syscall_is_compat(const struct procfs_syscall *call)
{
	return sizeof(long) > 4 && call->stack <= UINT32_MAX && call->instruction <= UINT32_MAX;
}

/*
 * Whether the thread is a worker in the kernel, such as vhost's: its registers are a copy of another thread's
 * (copy_thread() of arch/x86/kernel/process.c).
 */
static inline bool procfs_syscall_is_copy(const struct procfs_syscall *call)
{
	return call->stack == 0 && call->instruction == 0;
}

/* `syscall` (proc_pid_syscall() of fs/proc/base.c). Returns false if the text does not look like that. */
bool procfs_parse_syscall(const char *text, size_t length, struct procfs_syscall *ret_call);

/*
 * `cgroup`: the path of the unified hierarchy (line `0::`), pointing into `text`, white space at both ends
 * cut; empty and false without such a line.
 */
bool procfs_parse_cgroup(const char *text, size_t length, struct text *ret_path);

/*
 * Consumes lines of a `cgroup` text up to and including the next v1 hierarchy: gives its controllers,
 * separated by commas (or `name=systemd`), and the path there. Returns false at the end of the text.
 */
bool procfs_next_cgroup(struct text *rest, struct text *ret_controllers, struct text *ret_path);

enum {
	PROCFS_POLICY_NAME_SIZE = 32
};

/*
 * The name of a scheduling policy (include/uapi/linux/sched.h), "SCHED_OTHER" … or "SCHED_UNKNOWN(n)"; static
 * or written into `text`.
 */
const char *procfs_policy_name(int64_t policy, char text[static PROCFS_POLICY_NAME_SIZE]);

/* The two forms of lines in such files. */
enum procfs_keys_form {
	PROCFS_KEYS_COLON, /* smaps_rollup: `Key: 123 kB`; keys with white space or '-' (the address line) are
			     no keys */
	PROCFS_KEYS_FLAT,  /* flat keyed cgroup files: `key 123`; further words ignored */
};

/*
 * Every key with a decimal value of a text, in its order; a line without one is left out, a repeated key
 * keeps its last good value. Keys are interned into `strings`; the items are owned by `arena`.
 * Returns false if the text has none.
 */
bool procfs_parse_keys(const char *text, size_t length, enum procfs_keys_form form,
		       struct string_pool *strings, struct arena *arena, struct key_values *ret_values);

#endif
