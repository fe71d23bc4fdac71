/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_DIFF_FIXTURE_H
#define CTOP_TESTS_DIFF_FIXTURE_H

#include "compare/diff.h"

/* Snapshots made by hand or at random, to be compared. */

/* An empty snapshot without `ctop` objects: its flags alone say what was measured. */
struct snapshot *diff_fixture_open(void);

/* Adds a thread that started at `start` (clock ticks); returns its index. */
size_t diff_fixture_add(struct snapshot *snapshot, const char *cgroup, const char *process,
			const char *thread, uint64_t start);

/* Sets a number, or a category by its text. */
void diff_fixture_set(struct snapshot *snapshot, size_t thread, enum metric metric, uint64_t value);
void diff_fixture_set_text(struct snapshot *snapshot, size_t thread, enum metric metric, const char *text);

/* A snapshot of `threads` random threads in few groups, the same for the same seed; some of their values are
 * unavailable with `knowledge`. */
struct snapshot *diff_fixture_random(uint64_t seed, size_t threads, bool knowledge);

/* The pair of that label; fails the test without it. */
const struct diff_pair *diff_fixture_pair(const struct diff *of, const char *label);

/* Returns how many pairs are of a kind. */
size_t diff_fixture_count(const struct diff *of, enum diff_pair_kind kind);

#endif
