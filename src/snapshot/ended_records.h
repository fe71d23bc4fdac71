/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_RECORDS_H
#define CTOP_ENDED_RECORDS_H

#include "snapshot.h"
#include "started_by.h"

/* Threads that ended within a window: one record per triple, bounded. */

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
	/* Threads, known leaders among them, and threads that started within the window. */
	uint64_t threads, processes, born;
	bool kernel; /* kernel threads only */
	/*
	 * The process that all of them were of, 0 where they were of several, or nobody knows; the earliest
	 * of their start times then (USER_HZ ticks since boot): a process with this id that started later is
	 * another one.
	 */
	uint32_t tgid;
	uint64_t earliest_start;
	struct started_by started_by; /* by id in the strings of `names` */
	bool untold; /* it says of its threads that they ended, nothing else: it needs no row of its own */
	uint64_t amounts[ENDED_SLOTS];
	uint8_t states[ENDED_SLOTS];    /* ENDED_… */
	reason_id reasons[ENDED_SLOTS]; /* why some value was unavailable */
};

struct ended {
	struct snapshot *names; /* no threads; triple i is that of record i; NULL without records */
	struct ended_record *records;
	size_t count;
	size_t capacity;
	size_t room; /* for records; 0: ENDED_RECORDS_MAX */
	uint64_t threads, processes;
	/* The record of what nobody told; `estimate_is_void`: nothing at present. */
	bool has_estimate, estimate_is_void;
	size_t estimate;
	/* CPU time that no thread has, in ns, less what they have too much, and whether it is not known of
	 * some round. */
	double left_ns;
	bool left_is_partial;
	bool told;       /* of those of a file: threads told what they did when they ended */
	bool incomplete; /* of some threads that ended nothing is known, not even whose they were */
};

/* Whether a record stands for something. */
static inline bool ended_is_void(const struct ended *ended, size_t record)
{
	return ended->estimate_is_void && ended->has_estimate && record == ended->estimate;
}

/* Whether any record does. */
static inline bool ended_has_any(const struct ended *ended)
{
	return ended->count > (ended->has_estimate && ended->estimate_is_void ? 1u : 0u);
}

void ended_clear(struct ended *ended);

#endif
