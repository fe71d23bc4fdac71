/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STOP_H
#define CTOP_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach.h"
#include "base/heap_tag.h"

/*
 * Reading threads that have no other way by stopping each for a moment (ptrace(2)). Only a short-lived helper
 * process, which the supervisor forks, ever traces: whatever happens to it or to ctop, everything it held is
 * released when it ends. That matters for a thread in an uninterruptible sleep, which can neither stop in
 * time nor be released before it does. It traces with the rights of the user alone: a thread that the user
 * could not trace without file capabilities is not permitted.
 */

/* A thread to be stopped and read. */
struct stop_thread {
	uint32_t tid;
	bool done; /* the results hold */
	bool was_stopped;
	enum heap_tag tag; /* HEAP_TAG_NONE: both counters were read while it was stopped */
	int error_number;  /* errno of a failed call, 0 for none */
	bool has_address;  /* `address` of its counters is known */
	uint64_t address;
	uint64_t allocated, deallocated;
};

/*
 * Stops and reads `count` threads, one after the other, each for at most 250 ms. Gives up on the remaining
 * ones (tag waitpid) once several have not stopped in time. Returns 0, or -EINTR when `stop_flag` (may be
 * NULL) became non-zero: threads that were not reached are not `done`. While a helper that was killed has not
 * ended, because it waits in the kernel, nothing is stopped.
 */
int stop_read(const struct attachment *attachment, struct stop_thread *threads, size_t count,
	      const volatile int *stop_flag);

#endif
