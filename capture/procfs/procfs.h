/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROCFS_H
#define CTOP_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/string_pool.h"
#include "snapshot/cpu_set.h"
#include "snapshot/snapshot.h"
#include "text_scan.h"
#include "thread_reading.h"

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
 * Of `sched`, `read` gets SOURCE_SCHEDSTATS only when at least one line of the scheduler's statistics is
 * there: they are printed while kernel.sched_schedstats is on. Only what follows the kernel's line of dashes
 * counts, since the name before it is printed raw and may contain newlines.
 */
bool procfs_parse_lines(struct thread_reading *reading, enum source source, struct string_pool *cpu_sets,
			const char *text, size_t length);

/*
 * `cgroup`: the path of the unified hierarchy (line `0::`), pointing into `text`, white space at both ends
 * cut; empty and false when there is none.
 */
bool procfs_parse_cgroup(const char *text, size_t length, struct text *ret_path);

/* `comm`: the name, pointing into `text`, white space at both ends cut; false when it is empty. */
bool procfs_parse_comm(const char *text, size_t length, struct text *ret_name);

enum {
	PROCFS_POLICY_NAME_SIZE = 32
};

/*
 * The name of a scheduling policy (include/uapi/linux/sched.h), "SCHED_OTHER" … or "SCHED_UNKNOWN(n)"; static
 * or written into `text`.
 */
const char *procfs_policy_name(int64_t policy, char text[static PROCFS_POLICY_NAME_SIZE]);

#endif
