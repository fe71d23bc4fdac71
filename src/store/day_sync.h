/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_SYNC_H
#define CTOP_DAY_SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define DAY_SYNC_NO_DEADLINE ((uint64_t)INT64_MAX)

/*
 * Syncs files (fdatasync(2)) in a separate thread, since a busy disk can take seconds. A zeroed struct is
 * idle.
 */
struct day_sync {
	pthread_t thread;
	bool is_running;
	int descriptor, directory; /* owned by the thread; `directory` may be -1 */
	int result;                /* outcome of the sync: 0 or a negative errno */
};

/* Starts syncing a file and its directory and returns at once; the caller may then close `descriptor`. No
 * other sync may be running. */
void day_sync_begin(struct day_sync *sync, int descriptor, const char *directory);

/*
 * Waits for a running sync until `deadline_ns` (CLOCK_MONOTONIC). Returns 0 if it succeeded or none was
 * running, -EINPROGRESS if it is still running, or another negative errno if written data may not be on the
 * disk.
 */
int day_sync_end(struct day_sync *sync, uint64_t deadline_ns);

#endif
