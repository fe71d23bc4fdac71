/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_PAIR_FIXTURE_H
#define CTOP_TESTS_PAIR_FIXTURE_H

#include "snapshot/snapshot.h"

/* Two captures of one boot, ten seconds apart, made by hand. */

/* A thread of a made capture. */
struct pair_thread {
	const char *cgroup, *process, *name;
	uint32_t tgid, tid;
	uint64_t start_time; /* clock ticks since boot */
	uint64_t run_time_ns, wait_time_ns;
	uint64_t read_bytes;
	reason_id io; /* REASON_READ: read_bytes was read */
};

enum {
	PAIR_BEFORE_S = 1000, /* seconds since boot of the first capture */
	PAIR_INTERVAL_S = 10,
};

/* A finished capture `seconds` after boot of these threads; the caller releases it. */
struct snapshot *pair_snapshot(uint64_t seconds, const struct pair_thread *threads, size_t count);

/* The same, not yet finished, to be changed: end with snapshot_finish(). */
struct snapshot *pair_snapshot_open(uint64_t seconds, const struct pair_thread *threads, size_t count);

/* A capture with the window since an earlier one of the same threads, in the same order. */
struct snapshot *pair_window(uint64_t from_s, const struct pair_thread *from, uint64_t to_s,
			     const struct pair_thread *to, size_t count);

/* Adds what a process of some cgroup did that ended within the window. */
void pair_window_add_ended(struct snapshot *snapshot, const char *cgroup, const char *name,
			   uint64_t run_time_ns);

/* Adds parts of a second, and for each thread how many ms it ran in each of them. */
void pair_window_add_parts(struct snapshot *snapshot, const struct pair_thread *threads, size_t count,
			   const uint64_t *run_ms, size_t part_count);

#endif
