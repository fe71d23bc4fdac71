/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_PROBE_RUN_H
#define CTOP_TEST_PROBE_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

#include "../system/harness.h"
#include "target_process.h"

/* Targets of tests/targets/build with real jemallocs, and what `ctop probe` says of them. */

/*
 * The path of a target of tests/targets/build, in a buffer that the next but seven calls use again. Skips the
 * test with the reason when it cannot be had. Building may take minutes, once.
 */
const char *target_path(const char *name);

/* target_start() of a target by name, in `mode` with that many threads besides the main one. */
void target_start_named(struct target *target, const char *name, const char *mode, const char *threads);

/*
 * The tree of `ctop probe --json --pid PID`, with one more option unless NULL; ctop must end with `status`.
 * `options` (harness.h) may be NULL.
 */
yajl_val probe_process(int pid, const char *option, const struct run_options *options, int status);

/* Threads of snapshot `index` in such a tree, and the entry of one of them (NULL: none). */
yajl_val probe_threads(yajl_val tree, size_t index);
yajl_val probe_thread(yajl_val threads, uint32_t tid);

/* Asserts that `threads` are those of the target, each with the counts that it reported itself. */
void expect_own_counts(yajl_val threads, const struct target *target);

/* Asserts that an entry has an error of that kind and no counters. */
void expect_error_kind(yajl_val thread, const char *kind);

#endif
