/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_MATCH_H
#define CTOP_THREAD_MATCH_H

#include "snapshot.h"

/* A thread that an older snapshot of the same boot does not have. */
enum {
	THREAD_BORN = UINT32_MAX,        /* it did not exist yet: its counters began at zero after that */
	THREAD_UNKNOWN = UINT32_MAX - 1, /* it existed, but was not read */
	/* as it is now, in all that is not time: its row was given up, or never kept */
	THREAD_STILL = UINT32_MAX - 2,
};

/*
 * Matches each thread of `now` with one of `before`: its index, THREAD_BORN or THREAD_UNKNOWN; the caller
 * frees the array. A thread is known by its process, its id and its start time (proc_pid_stat(5), field 22):
 * an id that is used again has another start. But a thread that calls execve(2) without being the leader
 * takes the leader's id and start time over and keeps its own counters (de_thread() in fs/exec.c). Where its
 * run time has grown by more than the time between the readings and a clock tick, it is THREAD_UNKNOWN.
 *
 * `seen[i]` becomes true for each thread of `before` that is in `now`, `replaced[i]` for each thread of `now`
 * that took the id of another; both begin as false, `replaced` may be NULL.
 */
uint32_t *thread_match(const struct snapshot *now, const struct snapshot *before, bool *seen, bool *replaced);

#endif
