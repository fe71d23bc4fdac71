/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_WINDOW_H
#define CTOP_SNAPSHOT_WINDOW_H

#include "ended_records.h"
#include "thread_match.h"

/* Counters by names in a run of rounds within a window, of threads that live or ended. */
struct window_part {
	uint64_t length_ns;
	uint32_t *names; /* [count]: which of the names did something */
	size_t count;
	enum metric metrics[METRIC_COUNT]; /* [metric_count]: some name has an amount of each */
	size_t metric_count;
	uint64_t *amounts; /* of a metric those of all names, then of the next one; in its unit, at least */
};

/* The parts that a window is made of, in order; none where they are not known. */
struct window_parts {
	struct snapshot *names; /* no threads; their triples are the names; NULL for none */
	struct window_part *items;
	size_t count, capacity;
};

/* The time before a snapshot, since an earlier reading: all of a window but its end. */
struct snapshot_window {
	/*
	 * The beginning: a reference. It has rows of the threads that moved, with what is counted from them,
	 * and all processes whose memory was read; names of threads are those that the snapshot has.
	 */
	struct snapshot *from;
	uint32_t *from_of; /* by thread of the snapshot: index in `from`, or THREAD_… */
	size_t thread_count;
	struct ended ended; /* threads that ended since */
	/* How long waits took since then, and since measuring began, with the names of their groups; NULL:
	 * not known. A reference each. */
	struct snapshot *latency, *latency_whole;
	struct window_parts parts;
};

/* Whether threads that ended before a snapshot, since the one that it is counted from, told what they did. */
static inline bool snapshot_ends_are_told(const struct snapshot *snapshot)
{
	return snapshot->ended != NULL || (snapshot->window != NULL && snapshot->window->ended.told);
}

void window_part_clear(struct window_part *part);
void window_parts_clear(struct window_parts *parts);

/* NULL is allowed. */
void snapshot_window_release(struct snapshot_window *window);

#endif
