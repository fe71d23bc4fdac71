/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_KEYS_H
#define CTOP_THREAD_KEYS_H

#include "grouping.h"

/* Groups on the axes of axis_is_by_thread(). */

/* A group of an axis by thread, by the id of its key. */
struct thread_axis_group {
	uint32_t number;                 /* of the process or user; 0 of a wait */
	const struct snapshot *snapshot; /* that has the name of the process; NULL of a user or wait */
	uint32_t triple;                 /* of one of its threads there */
};

struct thread_axis_groups {
	struct thread_axis_group *items; /* owned */
	size_t count, capacity;
};

/*
 * Sets `key_of_thread` to the id in `keys` of each thread's key, and adds the keys' processes or users to
 * `groups`. The key of a process is "PID:START" with its leader's start time, or that of its first thread if
 * the leader has no row, so that a reused process id gets a new key. ctop's own processes have the key
 * name_self. The key of a user is the user id, "?" if unknown. The key of a wait is its class and object, of
 * a futex with the process: "futex 0x7f3a12c0 of 4120", "(unknown)" if unknown.
 */
void thread_keys_find(enum axis axis, const struct snapshot *snapshot, struct string_pool *keys,
		      struct thread_axis_groups *groups, uint32_t *key_of_thread);

#endif
