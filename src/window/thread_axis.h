/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_AXIS_H
#define CTOP_THREAD_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "grouping.h"
#include "snapshot/snapshot.h"

/* The axes whose groups are not known from names: each thread has its own process and user. */

/* A group of these axes, by the id of its key. */
struct thread_axis_group {
	uint32_t number;                 /* of the process or user */
	const struct snapshot *snapshot; /* that has the name of the process; NULL of a user */
	uint32_t triple;                 /* of one of its threads there */
};

struct thread_axis_groups {
	struct thread_axis_group *items; /* owned */
	size_t count, capacity;
};

/*
 * The key of each thread of a snapshot, as an id in `keys`, into `key_of_thread`; what the keys stand for
 * goes into `groups`. The key of a process is "PID:START" with the start time of its leader, so that a
 * process that got the id of another one later has another key; where there is no row of the leader, that of
 * its first thread stands for it. The processes of ctop itself have the key SNAPSHOT_SELF. The key of a user
 * is the number, "?" where it is not known.
 */
void thread_axis_find_keys(enum axis axis, const struct snapshot *snapshot, struct string_pool *keys,
			   struct thread_axis_groups *groups, uint32_t *key_of_thread);

/* The key of the group of threads that ended: they are known by names only. */
extern const char thread_axis_ended[];

#endif
