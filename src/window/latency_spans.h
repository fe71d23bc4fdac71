/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LATENCY_SPANS_H
#define CTOP_LATENCY_SPANS_H

#include "snapshot/snapshot_window.h"

/*
 * Wait latency over the spans that a live session shows. All have the same records: record i of each
 * is of triple i of `whole`. A zeroed struct is empty.
 */
struct latency_spans {
	struct snapshot *whole; /* sums since measuring began (latency_sums_add()); NULL: nothing yet */
	struct latency interval, base;
	uint64_t *met; /* by record: the number of the last round in which it had a wait */
	size_t met_count, met_capacity;
	uint64_t rounds;
	uint64_t read_at_ns; /* CLOCK_BOOTTIME of the last round with threads */
};

/*
 * Adds a round, which is the new interval. A snapshot with all waits since measuring began changes nothing.
 * Records are bounded: when there is no room for another round, the waits of the names that have had none for
 * longest go under `(other)`, so that the interval is exact however many names come and go.
 */
void latency_spans_add_round(struct latency_spans *spans, const struct snapshot *snapshot);

/* The same of a round of which nothing else is known but which threads ended in it: its only rows. */
void latency_spans_add_told(struct latency_spans *spans, const struct snapshot *gone);

/* Takes the waits of a file, which are the whole, and those within its window. */
void latency_spans_set_file(struct latency_spans *spans, const struct snapshot *snapshot);

/* The waits of a span as a snapshot without threads, which the caller releases; NULL: not measured. */
struct snapshot *latency_spans_copy(const struct latency_spans *spans, const struct latency *span);

/* Starts the span since the base anew. */
void latency_spans_set_base(struct latency_spans *spans);

void latency_spans_release(struct latency_spans *spans);

#endif
