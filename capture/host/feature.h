/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CAPTURE_FEATURE_H
#define CTOP_CAPTURE_FEATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "capture/procfs/root.h"
#include "metric/feature.h"

enum kernel_option {
	KERNEL_OPTION_UNKNOWN,
	KERNEL_OPTION_OFF,
	KERNEL_OPTION_ON,
};

/*
 * The kernel's configuration, PROC/config.gz unpacked (CONFIG_IKCONFIG_PROC; the first gzip member), into
 * `buffer`. Returns 0, or a negative errno: -ENOENT where the kernel does not carry it, -EBADMSG for a
 * damaged or cut stream or text that is not UTF-8. The buffer is empty on failure.
 */
int kernel_config_read(const struct roots *roots, struct buffer *buffer);

/* Whether such a text has `option`=y (wherever it stands), says that it is not set, or neither. */
enum kernel_option kernel_config_find(const char *text, size_t length, const char *option);

/* The switch of delay accounting, as the file's host object names it. */
enum task_delayacct {
	TASK_DELAYACCT_CONFIG_OFF,
	TASK_DELAYACCT_RUNTIME_OFF,
	TASK_DELAYACCT_ON,
	TASK_DELAYACCT_UNKNOWN, /* the switch cannot be read, although the kernel may have it */
};

/* Findings about the host and the privilege; feature_check_all() fills a zeroed struct. */
struct feature_checks {
	struct feature_result results[FEATURE_COUNT]; /* texts are static or owned by the arenas */
	struct arena arena, switched_arena; /* the latter: texts of the newest feature_recheck_switches() */
	int taskstats_result;               /* argument of feature_check_all(), like `passes` */
	struct feature_result passes;       /* whether BPF reads the threads */

	enum task_delayacct task_delayacct; /* kernel.task_delayacct, as last read */
	int delayacct_result;               /* negative errno if the first reading failed */
	/*
	 * When a delay of zero is real: the switch reads 1 and the thread started after this moment, since
	 * when every check found it on. CLOCK_BOOTTIME ns; 0 from the start of the host (`delayacct` on the
	 * command line, and never seen off); UINT64_MAX while it is off.
	 */
	uint64_t delayacct_on_since_ns;
	enum kernel_option task_xacct; /* CONFIG_TASK_XACCT */
	uint64_t capabilities;         /* the effective ones of the thread that checked, one bit each
					  (linux/capability.h) */
	bool initial_user_namespace;
	struct buffer switches; /* what feature_recheck_switches() read last; empty before */
};

/* Whether the kernel counts delays, or will once they are switched on. */
static inline bool feature_knows_delays(const struct feature_checks *checks)
{
	return checks->task_delayacct == TASK_DELAYACCT_RUNTIME_OFF ||
	       checks->task_delayacct == TASK_DELAYACCT_ON;
}

/* Why the kernel does not count delays. */
static inline enum reason feature_delays_reason(const struct feature_checks *checks)
{
	if (checks->task_delayacct == TASK_DELAYACCT_UNKNOWN)
		return checks->results[FEATURE_DELAYS].reason;
	return checks->task_delayacct == TASK_DELAYACCT_CONFIG_OFF ? REASON_NOT_IN_KERNEL
								   : REASON_SWITCHED_OFF;
}

/*
 * Checks every feature; writes nothing anywhere and asks nothing of other processes. `taskstats_result` is
 * what taskstats_open() said: 0, -EPERM, -ENOENT, or -EXDEV when it was not asked because the proc root is
 * not ours (other-namespace). `passes` says whether threads are read by BPF, which brings what taskstats
 * would; NULL when it was not tried. Its texts live at least as long as the checks. The caller releases with
 * feature_release().
 */
void feature_check_all(struct feature_checks *checks, const struct roots *roots, int taskstats_result,
		       const struct feature_result *passes);

/*
 * Reads the switches that may change while we run (kernel.task_delayacct, kernel.sched_schedstats, Yama's
 * ptrace_scope) and updates the results that depend on them if one was turned. Three small files, for each
 * round.
 */
void feature_recheck_switches(struct feature_checks *checks, const struct roots *roots);

void feature_release(struct feature_checks *checks);

/*
 * Returns off because BPF reports ids of the initial pid namespace, but the procfs belongs to another one or
 * is a saved tree. `arena` owns the remedy.
 */
struct feature_result feature_of_other_pids(const struct roots *roots, struct arena *arena);

/* A result with texts that `arena` owns. */
struct feature_result feature_copy(struct arena *arena, const struct feature_result *result);

#endif
