/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PREVIEW_H
#define CTOP_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * What can be told of a host before its threads have been read: at once what concerns all of it, and after
 * one file for each process who is there and with how many threads. Reads what every user may read of a
 * process and takes no lock of an address space, so that no process can hold it up. An object belongs to one
 * thread.
 */
struct preview;

/*
 * Opens the roots (NULL: as roots_open() does). `scope` are the ids of the processes to look at, which the
 * caller keeps; NULL for all. Returns 0 or a negative errno with a sentence.
 */
int preview_open(const char *const roots[static ROOT_COUNT], const uint32_t *scope, size_t scope_count,
		 struct preview **ret_preview, struct error *error);
void preview_close(struct preview *preview);

/*
 * A finished snapshot without threads, the caller's: host name, times, load, CPU ticks, memory, pressure.
 * Nothing is an error.
 */
struct snapshot *preview_host(const struct preview *preview);

/*
 * Reads on where the last call ended, until all processes were read or `deadline_ns` (CLOCK_MONOTONIC) has
 * come, or `cancel` (may be NULL) is set. Returns 1 when some are left, 0 when none is, or a negative errno
 * when the proc root cannot be listed. Processes that end meanwhile are left out.
 */
int preview_read(struct preview *preview, uint64_t deadline_ns, const atomic_bool *cancel);

/* Of the processes read so far. */
size_t preview_process_count(const struct preview *preview);
uint64_t preview_thread_count(const struct preview *preview);

/*
 * A finished snapshot of those, the caller's: a row for each thread, all under the name of their process,
 * since only that is known; nothing else of them was read (not-read). Ids of threads other than the leader
 * are not known and only number the rows. Without facts of the host.
 */
struct snapshot *preview_threads(const struct preview *preview);

#endif
