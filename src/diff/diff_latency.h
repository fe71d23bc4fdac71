/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_LATENCY_H
#define CTOP_DIFF_LATENCY_H

#include "diff.h"

/* How long waits took in a group. */
struct diff_latency {
	struct latency_histogram of[LATENCY_KIND_COUNT];
};

/*
 * How long waits took in each pair of a diff on one side, by the index of the pair, and behind the last pair
 * those of `(other)`, which may be of any group; NULL where that side has not measured it. Waits of groups
 * without threads are in none. The caller frees it.
 */
struct diff_latency *diff_latency_create(const struct diff *diff, enum diff_side side);

/* The number of that name, or LATENCY_NUMBER_NONE. */
enum latency_number diff_latency_find(const char *name, size_t length);

/* Its name, static, and whether it is a time in ns: else waits per second. */
const char *diff_latency_name(enum latency_number number);
bool diff_latency_is_time(enum latency_number number);
enum latency_kind diff_latency_kind(enum latency_number number);

/*
 * A number of a pair on one side, of `(other)` where `pair` is NULL: absent where there were no waits to take
 * it from, unavailable (not in the file) where that side has not measured it. As long as `(other)` has waits
 * it is partial, and unavailable where nothing but that is known.
 */
struct diff_side_value diff_latency_side(const struct diff *diff, const struct diff_pair *pair,
					 enum diff_side side, enum latency_number number);

#endif
