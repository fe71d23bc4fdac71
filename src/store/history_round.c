/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes a live round, for the ring and for histories. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "history.h"
#include "snapshot/ended_set.h"
#include "snapshot/thread_match.h"
#include "window/ended.h"

/* Part of the time in which some thread waited, hundredths of a percent. */
static uint16_t pressure_between(const struct snapshot *before, const struct snapshot *now,
				 enum pressure_resource resource)
{
	const uint64_t elapsed_ns = now->provenance.boottime_ns - before->provenance.boottime_ns;
	const uint64_t from = before->pressure.resource[resource].some.total_usec,
		       to = now->pressure.resource[resource].some.total_usec;

	if (before->pressure_missing[resource] != REASON_READ ||
	    now->pressure_missing[resource] != REASON_READ || to < from || elapsed_ns == 0)
		return HISTORY_PSI_UNKNOWN;
	return (uint16_t)lround(10000 * fmin((double)(to - from) * NS_PER_US / (double)elapsed_ns, 1));
}

struct history_round history_round_of(const struct snapshot *before, const struct snapshot *now)
{
	struct history_round round = {
		.unix_ns = now->captured_at_unix_ns,
		.boottime_ns = now->provenance.boottime_ns,
		.threads = (uint32_t)now->thread_count,
		.after_gap = before == NULL,
		.load_centi = now->provenance.load_known ? (uint32_t)now->provenance.load_centi[0]
							 : UINT32_MAX,
	};

	if (before != NULL && now->provenance.boottime_ns > before->provenance.boottime_ns)
		round.span_ns = now->provenance.boottime_ns - before->provenance.boottime_ns;
	for (size_t i = 0; i < ARRAY_COUNT(round.psi); i++)
		round.psi[i] = before != NULL ? pressure_between(before, now, (enum pressure_resource)i)
					      : HISTORY_PSI_UNKNOWN;
	return round;
}

double history_left_between(const struct snapshot *before, const struct snapshot *now)
{
	uint32_t *before_of;
	double left_ns;
	bool *seen;

	if (before == NULL || !ended_set_is_left(before) || !ended_set_is_left(now))
		return NAN;
	seen = memory_allocate_zero(before->thread_count + 1, sizeof(*seen));
	before_of = thread_match(now, before, seen, NULL);
	left_ns = ended_left_between(before, now, before_of);
	free(before_of);
	free(seen);
	return left_ns;
}
