/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a value of a snapshot is there, does not apply, or is unavailable. */
#include <string.h>

#include "base/order.h"
#include "snapshot.h"

/* Flags of the file format that must all be set for a family to count as measured. */
static const uint8_t family_flags[] = {
	[METRIC_FAMILY_ALWAYS] = 0,
	[METRIC_FAMILY_LEADER] = 0,
	[METRIC_FAMILY_CPU_DELAY] = THREAD_TASKSTATS_MEASURED | THREAD_CPU_DELAY_ACTIVE,
	[METRIC_FAMILY_BLOCK_DELAY] = THREAD_TASKSTATS_MEASURED | THREAD_DELAY_BLOCK_ACTIVE,
	[METRIC_FAMILY_XACCT] = THREAD_TASKSTATS_MEASURED | THREAD_XACCT_ACTIVE,
	[METRIC_FAMILY_JEMALLOC] = THREAD_JEMALLOC_MEASURED,
};

const char *const snapshot_fair_policies[FAIR_POLICY_COUNT] = {"SCHED_OTHER", "SCHED_BATCH", "SCHED_EXT"};

static bool has_other_policy(const struct snapshot *snapshot, size_t thread)
{
	uint32_t policy = (uint32_t)snapshot_value(snapshot, thread, METRIC_POLICY);

	if (policy == 0)
		return false;
	for (size_t i = 0; i < FAIR_POLICY_COUNT; i++) {
		const char *name = snapshot_fair_policies[i];

		if (order_bytes(string_pool_text(&snapshot->strings, policy),
				string_pool_length(&snapshot->strings, policy), name, strlen(name)) == 0)
			return false;
	}
	return true;
}

/* Whether a source belongs to the thread at all. */
static bool source_applies(const struct snapshot *snapshot, size_t thread, enum source source)
{
	unsigned int flags = sources[source].flags;

	if ((flags & SOURCE_USER_ONLY) != 0 && (snapshot->thread_flags[thread] & THREAD_KERNEL) != 0)
		return false;
	return (flags & SOURCE_LEADER_ONLY) == 0 || snapshot->tid[thread] == snapshot->tgid[thread];
}

/* Whether the metric has no meaning for this kind of thread, read or not. */
static bool does_not_apply(const struct snapshot *snapshot, size_t thread, enum metric metric,
			   enum source source)
{
	const struct metric_entry *entry = &metrics[metric];

	if (source != SOURCE_NONE && !source_applies(snapshot, thread, source))
		return true;
	if (entry->family == METRIC_FAMILY_LEADER && snapshot->tid[thread] != snapshot->tgid[thread])
		return true;
	return entry->tag == METRIC_TAG_FAIR_POLICY && has_other_policy(snapshot, thread);
}

void snapshot_tally(const struct snapshot *snapshot, enum source source, struct tally *ret_tally)
{
	memset(ret_tally, 0, sizeof(*ret_tally));
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		reason_id reason = snapshot_source_reason(snapshot, i, source);

		if (!source_applies(snapshot, i, source))
			continue;
		if (reason != REASON_READ)
			ret_tally->missed[reason]++;
		else if (source != SOURCE_JEMALLOC ||
			 (snapshot->thread_flags[i] & THREAD_JEMALLOC_MEASURED) != 0)
			ret_tally->read++; /* a process without jemalloc has nothing to read */
	}
}

static reason_id value_reason(const struct snapshot *snapshot, size_t thread, enum metric metric,
			      enum source source)
{
	reason_id reason;

	if (snapshot->metric_has_exceptions[metric]) {
		const struct metric_exception *exception = snapshot_find_exception(snapshot, thread, metric);

		if (exception != NULL)
			return exception->reason;
	}
	if (snapshot->metric_reason[metric] != REASON_READ)
		return snapshot->metric_reason[metric];
	if (source == SOURCE_NONE)
		return REASON_READ;
	reason = snapshot_source_reason(snapshot, thread, source);
	if (reason == REASON_READ && sources[source].part_of != SOURCE_NONE)
		reason = snapshot_source_reason(snapshot, thread, sources[source].part_of);
	return reason;
}

static enum value_state state_by_flags(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	uint8_t needed = family_flags[metrics[metric].family];

	return (snapshot->thread_flags[thread] & needed) == needed ? VALUE_READ : VALUE_ABSENT;
}

static enum value_state state_by_knowledge(const struct snapshot *snapshot, size_t thread, enum metric metric,
					   reason_id *reason)
{
	enum source source = snapshot->metric_source[metric];

	if (does_not_apply(snapshot, thread, metric, source))
		return VALUE_ABSENT;
	*reason = value_reason(snapshot, thread, metric, source);
	if (*reason != REASON_READ)
		return VALUE_UNAVAILABLE;
	/* A process without jemalloc has nothing to read, and nothing failed. */
	if (metrics[metric].family == METRIC_FAMILY_JEMALLOC &&
	    !(snapshot->thread_flags[thread] & THREAD_JEMALLOC_MEASURED))
		return VALUE_ABSENT;
	return VALUE_READ;
}

enum value_state snapshot_value_state(const struct snapshot *snapshot, size_t thread, enum metric metric,
				      bool by_flags, reason_id *ret_reason)
{
	reason_id reason = REASON_READ;
	enum value_state state = VALUE_READ;

	if (metric != METRIC_THREAD_COUNT) {
		if (by_flags || !snapshot->provenance.present)
			state = state_by_flags(snapshot, thread, metric);
		else
			state = state_by_knowledge(snapshot, thread, metric, &reason);
	}
	if (ret_reason != NULL)
		*ret_reason = reason;
	return state;
}

uint64_t snapshot_read_time(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	enum source source = snapshot->metric_source[metric];

	while (source != SOURCE_NONE) {
		if (snapshot->read_at[source] != NULL)
			return snapshot->read_at[source][thread];
		source = sources[source].part_of;
	}
	return snapshot->provenance.boottime_ns;
}
