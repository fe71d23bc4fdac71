/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_DELAY_FIXTURE_H
#define CTOP_TESTS_DELAY_FIXTURE_H

#include <string.h>

#include "base/memory.h"
#include "snapshot/snapshot.h"

/* What delayed waits, in snapshots made by hand. */

/* Begins two measured seconds. */
static inline void delay_fixture_begin(struct snapshot *snapshot)
{
	snapshot->provenance.present = true;
	snapshot->latency.present = true;
	snapshot->latency.span_ns = 2000000000;
}

/* The record of a thread in /a, which had one wait. */
static inline uint32_t delay_fixture_names(struct snapshot *snapshot, const char *process, const char *thread)
{
	struct latency_histogram *waits;

	latency_add_record(snapshot, string_pool_intern(&snapshot->strings, process, strlen(process)),
			   string_pool_intern(&snapshot->strings, thread, strlen(thread)),
			   string_pool_intern(&snapshot->strings, "/a", 2));
	waits = &latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)->of[LATENCY_RUN_QUEUE];
	waits->buckets[latency_bucket(1000000)] = 1;
	waits->max_ns = 1000000;
	return (uint32_t)snapshot->latency.count - 1;
}

/* The record of those that found no room. */
static inline uint32_t delay_fixture_other(struct snapshot *snapshot)
{
	const uint32_t name = snapshot_intern_own_name(&snapshot->strings, name_other);

	latency_add_record(snapshot, name, name, name);
	latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)
		->of[LATENCY_RUN_QUEUE]
		.buckets[latency_bucket(1000000)] = 1;
	return (uint32_t)snapshot->latency.count - 1;
}

static inline void delay_fixture_add(struct snapshot *snapshot, uint32_t victim, enum latency_cause cause,
				     uint32_t culprit, uint64_t time_ms, uint64_t waits)
{
	*MEMORY_APPEND(snapshot->latency.delays, snapshot->latency.delay_count,
		       snapshot->latency.delay_capacity) = (struct latency_delay){
		victim, culprit, cause, time_ms * 1000000, waits, 0};
}

#endif
