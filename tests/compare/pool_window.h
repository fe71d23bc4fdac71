/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_POOL_WINDOW_H
#define CTOP_TEST_POOL_WINDOW_H

#include "compare/diff.h"

/*
 * Two windows of 12 s, one after the other, with a part for each second, in which four processes of the
 *cgroup /app run:
 *
 *	slower  twice as long in the second window: a real change
 *	noisy   9 % of a CPU more, but less than it varies from second to second
 *	steady  the same
 *	many    not at all, with 2 threads in the first window and 3 in the second
 */
struct snapshot *pool_window(enum diff_side side);

#endif
