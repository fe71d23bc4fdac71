/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a value of a snapshot is there, does not apply, or is unavailable, and when it was read. */
#include "metric_reader.h"

#include <string.h>

/* Flags of the file format that must all be set for a family to count as measured. */
static const uint8_t family_flags[] = {
	[METRIC_FAMILY_ALWAYS] = 0,
	[METRIC_FAMILY_LEADER] = 0,
	[METRIC_FAMILY_USER] = 0,
	[METRIC_FAMILY_CPU_DELAY] = THREAD_TASKSTATS_MEASURED | THREAD_CPU_DELAY_ACTIVE,
	[METRIC_FAMILY_BLOCK_DELAY] = THREAD_TASKSTATS_MEASURED | THREAD_DELAY_BLOCK_ACTIVE,
	[METRIC_FAMILY_XACCT] = THREAD_TASKSTATS_MEASURED | THREAD_XACCT_ACTIVE,
	[METRIC_FAMILY_JEMALLOC] = THREAD_JEMALLOC_MEASURED,
};

/* Policies whose threads the fair class or a sched_ext scheduler gives a slice (kernel/sched/debug.c). */
static const char *const fair_policies[FAIR_POLICY_COUNT] = {"SCHED_OTHER", "SCHED_BATCH", "SCHED_EXT"};

/* Sets why threads have no value: a reason of the metric, or those of its source and what that is part of. */
static void set_reasons(struct metric_reader *reader)
{
	const struct snapshot *snapshot = reader->snapshot;
	enum source source = snapshot->metric_source[reader->metric];

	if (snapshot->metric_reason[reader->metric] != REASON_READ) {
		reader->default_reasons[0] = snapshot->metric_reason[reader->metric];
		return;
	}
	for (size_t i = 0; i < 2 && source != SOURCE_NONE; i++) {
		reader->reasons[i] = snapshot->source_reason[source];
		reader->default_reasons[i] = snapshot->default_reason[source];
		source = sources[source].part_of;
	}
}

/* The rules for a snapshot's own record. */
static void set_rules(struct metric_reader *reader)
{
	const struct snapshot *snapshot = reader->snapshot;
	const enum metric metric = reader->metric;
	const struct metric_entry *entry = &metrics[metric];
	const enum source source = snapshot->metric_source[metric];
	const unsigned int flags = source != SOURCE_NONE ? sources[source].flags : 0;

	reader->has_exceptions = snapshot->metric_has_exceptions[metric];
	/* a process without jemalloc has nothing to read, and nothing failed */
	reader->flags_needed = entry->family == METRIC_FAMILY_JEMALLOC ? THREAD_JEMALLOC_MEASURED : 0;
	reader->flags_refused = entry->family == METRIC_FAMILY_USER || (flags & SOURCE_USER_ONLY) != 0
					? THREAD_KERNEL
					: 0;
	reader->leader_only = entry->family == METRIC_FAMILY_LEADER || (flags & SOURCE_LEADER_ONLY) != 0;
	reader->fair_only = entry->tag == METRIC_TAG_FAIR_POLICY;
	for (size_t i = 0; i < FAIR_POLICY_COUNT && reader->fair_only; i++)
		reader->fair_policies[i] = string_pool_find(&snapshot->strings, fair_policies[i],
							    strlen(fair_policies[i]));
	reader->bounded = metric == METRIC_BLKIO_DELAY_TOTAL_NS || metric == METRIC_BLKIO_DELAY_MAX_NS;
	set_reasons(reader);
}

/* Whether a thread was read follows from its flags alone. */
static bool is_even(const struct metric_reader *reader)
{
	for (size_t i = 0; i < 2; i++) {
		if (reader->reasons[i] != NULL || reader->default_reasons[i] != REASON_READ)
			return false;
	}
	return !reader->has_exceptions && !reader->leader_only && !reader->fair_only && !reader->bounded;
}

static struct metric_reader make_reader(const struct snapshot *snapshot, enum metric metric, bool only_flags)
{
	struct metric_reader reader = {
		.snapshot = snapshot,
		.metric = metric,
		.values = snapshot->values[metric],
	};
	enum source source = snapshot->metric_source[metric];

	if (only_flags || !snapshot->provenance.present)
		reader.flags_needed = family_flags[metrics[metric].family];
	else
		set_rules(&reader);
	reader.even = is_even(&reader);
	while (source != SOURCE_NONE && reader.read_at == NULL) {
		reader.read_at = snapshot->read_at[source];
		source = sources[source].part_of;
	}
	return reader;
}

struct metric_reader metric_reader_of(const struct snapshot *snapshot, enum metric metric)
{
	return make_reader(snapshot, metric, false);
}

bool metric_reader_has_other_policy(const struct metric_reader *reader, size_t thread)
{
	const uint32_t policy = (uint32_t)snapshot_value(reader->snapshot, thread, METRIC_POLICY);

	for (size_t i = 0; i < FAIR_POLICY_COUNT; i++) {
		if (policy == 0 || policy == reader->fair_policies[i])
			return false;
	}
	return true;
}

uint16_t snapshot_value_state(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	const struct metric_reader reader = metric_reader_of(snapshot, metric);

	return metric_reader_known_state(&reader, thread);
}

uint16_t snapshot_flagged_state(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	const struct metric_reader reader = make_reader(snapshot, metric, true);

	return metric_reader_applies(&reader, thread) ? REASON_READ : STATE_ABSENT;
}

uint64_t snapshot_read_time(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	const struct metric_reader reader = make_reader(snapshot, metric, true);

	return metric_reader_time(&reader, thread);
}

/* Counts thread by thread, of the threads to which the source applies by these flags. */
static void tally_threads(const struct snapshot *snapshot, enum source source, unsigned int flags,
			  struct tally *tally)
{
	const reason_id *reasons = snapshot->source_reason[source];
	const uint8_t refused = (flags & SOURCE_USER_ONLY) != 0 ? THREAD_KERNEL : 0;
	/* a process without jemalloc has nothing to read */
	const uint8_t needed = source == SOURCE_JEMALLOC ? THREAD_JEMALLOC_MEASURED : 0;
	const bool leaders = (flags & SOURCE_LEADER_ONLY) != 0;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint8_t own = snapshot->thread_flags[i];
		const reason_id reason = reasons != NULL ? reasons[i] : snapshot->default_reason[source];

		if ((own & refused) != 0 || (leaders && snapshot->tid[i] != snapshot->tgid[i]))
			continue;
		if (reason != REASON_READ)
			tally->missed[reason]++;
		else if ((own & needed) == needed)
			tally->read++;
	}
}

void snapshot_tally(const struct snapshot *snapshot, enum source source, struct tally *ret_tally)
{
	const unsigned int flags = sources[source].flags & (SOURCE_USER_ONLY | SOURCE_LEADER_ONLY);
	const reason_id reason = snapshot->default_reason[source];

	memset(ret_tally, 0, sizeof(*ret_tally));
	if (flags != 0 || source == SOURCE_JEMALLOC || snapshot->source_reason[source] != NULL)
		tally_threads(snapshot, source, flags, ret_tally);
	else if (reason != REASON_READ)
		ret_tally->missed[reason] = snapshot->thread_count;
	else
		ret_tally->read = snapshot->thread_count;
}
