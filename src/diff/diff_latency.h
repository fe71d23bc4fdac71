/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_LATENCY_H
#define CTOP_DIFF_LATENCY_H

#include "diff.h"

/* How long waits took in a group. */
struct diff_latency {
	struct latency_histogram of[LATENCY_KIND_COUNT];
};

/*
 * How long waits took in each pair of a diff on one side, by the index of the pair; NULL where that side has
 * not measured it. Waits of groups without threads are in none. The caller frees it.
 */
struct diff_latency *diff_latency_create(const struct diff *diff, enum diff_side side);

#endif
