/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_TARGET_PROCESS_H
#define CTOP_TEST_TARGET_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <yajl/yajl_tree.h>

#include "../system/harness.h"

/* Running programs with real jemallocs (tests/targets), and what `ctop probe` says of them. */

/* What a thread said that its own mallctl(3) counts. */
struct target_thread {
	int tid;
	uint64_t allocated, deallocated;
};

struct target {
	pid_t child;
	FILE *commands, *answers;
	struct target_thread *threads; /* of the last report, in the order of their lines */
	size_t count;
};

/*
 * The path of a target of tests/targets/build, in a buffer that the next but seven calls use again. Skips the
 * test with the reason when it cannot be had. Building may take minutes, once.
 */
const char *target_path(const char *name);

/*
 * Starts a program (`arguments[0]` is its path; a wrapper such as chroot(8) may come first) and waits for its
 * report. `environment`: NAME=VALUE more, or NULL. It ends with the test.
 */
void target_start(struct target *target, const char *environment, const char *const *arguments);

/* The same for a target by name, in `mode` with that many threads besides the main one. */
void target_start_named(struct target *target, const char *name, const char *mode, const char *threads);

/* Sends a command line ("go\n", "exec …\n") and reads the report that follows. */
void target_command(struct target *target, const char *line);

/* Asks a target in mode latency how late its latest wake-up was since the last call, in ns. */
int64_t target_gap(struct target *target);

/* Ends it by the end of its input, and waits. */
void target_end(struct target *target);

/*
 * The tree of `ctop probe --json --pid PID`, with one more option unless NULL; ctop must end with `status`.
 * `options` (harness.h) may be NULL.
 */
yajl_val probe_process(int pid, const char *option, const struct run_options *options, int status);

/* Threads of snapshot `index` in such a tree, and the entry of one of them (NULL: none). */
yajl_val probe_threads(yajl_val tree, size_t index);
yajl_val probe_thread(yajl_val threads, int tid);

/* Asserts that `threads` are those of the target, each with the counts that it reported itself. */
void expect_own_counts(yajl_val threads, const struct target *target);

/* Asserts that an entry has an error of that kind and no counters. */
void expect_error_kind(yajl_val thread, const char *kind);

#endif
