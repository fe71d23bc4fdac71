/* SPDX-License-Identifier: GPL-2.0-only */
#include "metric_reader.h"

static bool is_plain(const struct snapshot *snapshot, enum metric metric)
{
	const struct metric_entry *entry = &metrics[metric];

	return metric != METRIC_THREAD_COUNT && snapshot->provenance.present &&
	       !snapshot->metric_has_exceptions[metric] && snapshot->metric_reason[metric] == REASON_READ &&
	       entry->family != METRIC_FAMILY_LEADER && entry->family != METRIC_FAMILY_JEMALLOC &&
	       entry->tag != METRIC_TAG_FAIR_POLICY && snapshot->metric_source[metric] != SOURCE_NONE;
}

struct metric_reader metric_reader_of(const struct snapshot *snapshot, enum metric metric)
{
	struct metric_reader reader = {
		.snapshot = snapshot,
		.metric = metric,
		.plain = is_plain(snapshot, metric),
		.values = snapshot->values[metric],
	};
	enum source source = snapshot->metric_source[metric];

	if (source == SOURCE_NONE)
		return reader;
	reader.user_only = (sources[source].flags & SOURCE_USER_ONLY) != 0;
	for (size_t i = 0; i < 2 && source != SOURCE_NONE; i++) {
		reader.reasons[i] = snapshot->source_reason[source];
		reader.default_reasons[i] = snapshot->default_reason[source];
		if (reader.read_at == NULL)
			reader.read_at = snapshot->read_at[source];
		source = sources[source].part_of;
	}
	return reader;
}
