/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_H
#define CTOP_ENDED_H

#include "span.h"

/* What threads that are gone did since the base: one record per triple, bounded. */

enum {
	ENDED_COUNTED = 1 << 0, /* some thread had a value */
	ENDED_MISSED = 1 << 1,  /* some thread's value was unavailable */
	ENDED_RECORDS_MAX = 4096,
	/* Slots of a record: a counter's is its metric, behind them is max(swap-in, thrashing) of each
	 * thread. */
	ENDED_SLOT_OVERLAP = METRIC_COUNT,
	ENDED_SLOTS,
};

struct ended_record {
	uint64_t threads;
	uint64_t amounts[ENDED_SLOTS];
	uint8_t states[ENDED_SLOTS]; /* ENDED_… */
};

struct ended {
	struct snapshot *names; /* no threads; triple i is that of record i; NULL while there is none */
	struct ended_record *records;
	size_t count;
	size_t capacity;
	uint64_t threads;
};

/* Adds what these threads of `span->now` did since the base. */
void ended_fold(struct ended *ended, const struct span *span, const uint32_t *threads, size_t count);

void ended_clear(struct ended *ended);

#endif
