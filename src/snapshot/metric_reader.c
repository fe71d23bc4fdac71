/* SPDX-License-Identifier: GPL-2.0-only */
#include "metric_reader.h"

#include <string.h>

static struct metric_states states_of(const struct snapshot *snapshot, enum metric metric)
{
	const struct metric_entry *entry = &metrics[metric];
	enum source source = snapshot->metric_source[metric];
	struct metric_states states = {
		.plain = metric != METRIC_THREAD_COUNT && snapshot->provenance.present &&
			 !snapshot->metric_has_exceptions[metric],
		.leader_only = entry->family == METRIC_FAMILY_LEADER,
		.flags = entry->family == METRIC_FAMILY_JEMALLOC ? THREAD_JEMALLOC_MEASURED : 0,
		.fair_only = entry->tag == METRIC_TAG_FAIR_POLICY,
	};

	for (size_t i = 0; i < FAIR_POLICY_COUNT && states.fair_only; i++)
		states.fair_policies[i] = string_pool_find(&snapshot->strings, snapshot_fair_policies[i],
							   strlen(snapshot_fair_policies[i]));
	if (source != SOURCE_NONE) {
		states.user_only = (sources[source].flags & SOURCE_USER_ONLY) != 0;
		states.leader_only |= (sources[source].flags & SOURCE_LEADER_ONLY) != 0;
	}
	if (snapshot->metric_reason[metric] != REASON_READ) {
		states.default_reasons[0] = snapshot->metric_reason[metric];
		return states;
	}
	for (size_t i = 0; i < 2 && source != SOURCE_NONE; i++) {
		states.reasons[i] = snapshot->source_reason[source];
		states.default_reasons[i] = snapshot->default_reason[source];
		source = sources[source].part_of;
	}
	return states;
}

/* Whether a thread was read follows from its flags alone. */
static bool is_even(const struct metric_states *states)
{
	for (size_t i = 0; i < 2; i++) {
		if (states->reasons[i] != NULL || states->default_reasons[i] != REASON_READ)
			return false;
	}
	return states->plain && !states->leader_only && !states->fair_only;
}

struct metric_reader metric_reader_of(const struct snapshot *snapshot, enum metric metric)
{
	struct metric_reader reader = {
		.snapshot = snapshot,
		.metric = metric,
		.states = states_of(snapshot, metric),
		.values = snapshot->values[metric],
	};
	enum source source = snapshot->metric_source[metric];

	reader.flags_needed = reader.states.flags;
	reader.flags_refused = reader.states.user_only ? THREAD_KERNEL : 0;
	reader.bounded = snapshot->provenance.present &&
			 (metric == METRIC_BLKIO_DELAY_TOTAL_NS || metric == METRIC_BLKIO_DELAY_MAX_NS);
	reader.even = is_even(&reader.states) && !reader.bounded;
	for (size_t i = 0; i < 2 && source != SOURCE_NONE && reader.read_at == NULL; i++) {
		reader.read_at = snapshot->read_at[source];
		source = sources[source].part_of;
	}
	return reader;
}

bool metric_reader_has_other_policy(const struct metric_reader *reader, size_t thread)
{
	uint32_t policy = (uint32_t)snapshot_value(reader->snapshot, thread, METRIC_POLICY);

	for (size_t i = 0; i < FAIR_POLICY_COUNT; i++) {
		if (policy == 0 || policy == reader->states.fair_policies[i])
			return false;
	}
	return true;
}
