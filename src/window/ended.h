/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_H
#define CTOP_ENDED_H

#include "snapshot/ended_set.h"
#include "window.h"

/* What threads that are gone did within a window: one record per triple, bounded. */

enum {
	ENDED_COUNTED = 1 << 0,  /* some thread had a value */
	ENDED_MISSED = 1 << 1,   /* some thread's value was unavailable */
	ENDED_AT_LEAST = 1 << 2, /* some thread's value is less than what it did */
	ENDED_RECORDS_MAX = 4096,
	/* Slots of a record: a counter's is its metric, behind them is max(swap-in, thrashing) of each
	 * thread, and the resident memory of processes at the beginning of the window, bytes. */
	ENDED_SLOT_OVERLAP = METRIC_COUNT,
	ENDED_SLOT_RESIDENT,
	ENDED_SLOTS,
};

struct ended_record {
	/* Threads, leaders among them (as far as it is known), and threads that started within the window. */
	uint64_t threads, processes, born;
	bool kernel; /* kernel threads only */
	/*
	 * The process that all of them were of, 0 where they were of several, or nobody knows; the earliest
	 * of their start times then (USER_HZ ticks since boot): a process with this id that started later is
	 * another one.
	 */
	uint32_t tgid;
	uint64_t earliest_start;
	bool untold; /* it says of its threads that they ended, nothing else: it needs no row of its own */
	uint64_t amounts[ENDED_SLOTS];
	uint8_t states[ENDED_SLOTS];    /* ENDED_… */
	reason_id reasons[ENDED_SLOTS]; /* why some value was unavailable */
};

struct ended {
	struct snapshot *names; /* no threads; triple i is that of record i; NULL while there is none */
	struct ended_record *records;
	size_t count;
	size_t capacity;
	uint64_t threads, processes;
	/* The record of what nobody told; `estimate_is_void`: nothing at present. */
	bool has_estimate, estimate_is_void;
	size_t estimate;
	/* CPU time that no thread has, in ns, less what they have too much, and whether it is not known of
	 * some round. */
	double left_ns;
	bool left_is_partial;
	bool incomplete; /* of some threads that ended nothing is known, not even whose they were */
};

/* A thread that is gone: its index in the last snapshot that has it, and what it told at its end, or NULL. */
struct ended_row {
	uint32_t thread;
	const struct ended_thread *last;
};

/*
 * Adds what these threads of `window->now` did within the window, which ends with that snapshot, and after it
 * until their end: what came after it is known of those that told it to `set` (NULL: nobody told), and
 * unavailable of the others if `rest_counts`.
 */
void ended_fold(struct ended *ended, const struct window *window, const struct ended_set *set,
		const struct ended_row *rows, size_t count, bool rest_counts);

/* Adds a group of threads that started and ended within the window. `now` says why other counters are not
 * known. */
void ended_add_group(struct ended *ended, const struct ended_set *set, const struct ended_group *group,
		     const struct snapshot *now);

/* The same for one thread that told its end, and which `is_young`, or nothing of it is known. */
void ended_add_thread(struct ended *ended, const struct ended_set *set, const struct ended_thread *thread,
		      bool is_young, const struct snapshot *now);

/*
 * CPU time of the host in a window, whose two ends are rounds, that none of the threads has, in ns: less than
 * 0 when they have more. It is the rate that the threads' rates leave, in the time of the window. NAN where
 * that tells nothing (ended_set_is_left()).
 */
double ended_left(const struct window *window);

/* The same between a round and the one before it, each of which has all its threads. */
double ended_left_between(const struct snapshot *before, const struct snapshot *now,
			  const uint32_t before_of[]);

/* Adds what was left in a round. */
void ended_add_left(struct ended *ended, double left_ns);

/*
 * Makes of all that was left in the time from `from` to `now` what a record named `(ended)` has, as long as
 * it is more than how far the host's CPU time may be off. Which rounds were between them does not matter.
 */
void ended_conclude_left(struct ended *ended, const struct snapshot *from, const struct snapshot *now);

/* Whether a record stands for something. */
static inline bool ended_is_void(const struct ended *ended, size_t record)
{
	return ended->estimate_is_void && ended->has_estimate && record == ended->estimate;
}

/* Whether there is any that does. */
static inline bool ended_has_any(const struct ended *ended)
{
	return ended->count > (ended->has_estimate && ended->estimate_is_void ? 1u : 0u);
}

void ended_clear(struct ended *ended);

#endif
