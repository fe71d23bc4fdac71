/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_COMPARE_H
#define CTOP_SNAPSHOT_COMPARE_H

#include "snapshot/snapshot.h"

/*
 * Fails the running test unless both snapshots say the same: names by their texts, values by their meaning,
 * the state and reason of every value, and everything around the threads. The ids of strings, sets and
 * unknown reasons may differ.
 */
void assert_snapshots_equal(const struct snapshot *left, const struct snapshot *right);

/* The same of a thread of each, but for its smaps and what a scheduler keeps. */
void assert_threads_equal(const struct snapshot *left, size_t left_row, const struct snapshot *right,
			  size_t right_row);

#endif
