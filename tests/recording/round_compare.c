/* SPDX-License-Identifier: GPL-2.0-only */
#include "round_compare.h"

#include <stdio.h>
#include <string.h>

#include "snapshot/ended_set.h"

static char answer[256];

static bool differs(const char *name, size_t index)
{
	snprintf(answer, sizeof(answer), "%s[%zu]", name, index);
	return true;
}

static bool texts_differ(const char *left, const char *right)
{
	if (left == NULL || right == NULL)
		return left != right;
	return strcmp(left, right) != 0;
}

/* Each gives the name of what differs; `a` and `b` are the two sides, `index` the record. */
#define NUMBER(member)                                                                                       \
	if (a->member != b->member)                                                                          \
	return differs(#member, index)
#define TEXT(member)                                                                                         \
	if (texts_differ(a->member, b->member))                                                              \
	return differs(#member, index)
#define OPTIONAL(member)                                                                                     \
	if (a->member.present != b->member.present || a->member.value != b->member.value)                    \
	return differs(#member, index)
#define BOOLEAN(member)        NUMBER(member)
#define NUMBERS(member, count) BYTES(member, count)
/* Arrays of numbers without padding. */
#define BYTES(member, count)                                                                                 \
	if ((count) != 0 &&                                                                                  \
	    ((a->member == NULL) != (b->member == NULL) ||                                                   \
	     (a->member != NULL && memcmp(a->member, b->member, (count) * sizeof(*a->member)) != 0)))        \
	return differs(#member, index)

static bool pools_differ(const struct string_pool *a, const struct string_pool *b, const char *name)
{
	if (a->count != b->count)
		return differs(name, SIZE_MAX);
	for (uint32_t id = 1; id < a->count; id++) {
		const size_t length = string_pool_length(a, id);

		if (length != string_pool_length(b, id) ||
		    memcmp(string_pool_text(a, id), string_pool_text(b, id), length) != 0 ||
		    string_pool_find(b, string_pool_text(b, id), length) != id)
			return differs(name, id);
	}
	return false;
}

/* Ids of texts, which may be of pools with another order. */
static bool names_differ(const struct snapshot *left, uint32_t a, const struct snapshot *right, uint32_t b)
{
	const size_t length = string_pool_length(&left->strings, a);

	return length != string_pool_length(&right->strings, b) ||
	       memcmp(snapshot_text(left, a), snapshot_text(right, b), length) != 0;
}

bool round_key_values_differ(const struct snapshot *left, const struct key_values *a,
			     const struct snapshot *right, const struct key_values *b)
{
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++) {
		if (names_differ(left, a->items[i].key, right, b->items[i].key) ||
		    a->items[i].value != b->items[i].value)
			return true;
	}
	return false;
}

static bool triples_differ(const struct snapshot *a, const struct snapshot *b)
{
	size_t index = 0;

	NUMBER(triple_count);
	for (index = 0; index < a->triple_count; index++) {
		NUMBER(triples[index].pcomm);
		NUMBER(triples[index].comm);
		NUMBER(triples[index].cgroup);
	}
	return false;
}

static bool rows_differ(const struct snapshot *a, const struct snapshot *b)
{
	const size_t count = a->thread_count;
	size_t index = 0;

	NUMBER(thread_count);
	BYTES(tid, count);
	BYTES(tgid, count);
	BYTES(triple, count);
	BYTES(uid, count);
	BYTES(thread_flags, count);
	BYTES(start_time, count);
	BYTES(stuck_ns, count);
	BYTES(waiting_ns, count);
	BYTES(wait_class, count);
	BYTES(wait_object, count);
	for (index = 0; index < METRIC_COUNT; index++) {
		BYTES(values[index], count);
		NUMBER(metric_reason[index]);
		NUMBER(metric_source[index]);
		NUMBER(metric_has_exceptions[index]);
	}
	for (index = 0; index < SOURCE_COUNT; index++) {
		BYTES(source_reason[index], count);
		BYTES(read_at[index], count);
		NUMBER(default_reason[index]);
	}
	index = 0;
	NUMBER(exception_count);
	for (index = 0; index < a->exception_count; index++) {
		NUMBER(exceptions[index].thread);
		NUMBER(exceptions[index].metric);
		NUMBER(exceptions[index].reason);
	}
	return false;
}

static bool memory_differs(const struct snapshot *a, const struct snapshot *b)
{
	size_t index = 0;

	NUMBER(smaps_count);
	for (index = 0; index < a->smaps_count; index++) {
		NUMBER(smaps[index].thread);
		if (round_key_values_differ(a, &a->smaps[index].kib, b, &b->smaps[index].kib))
			return differs("smaps", index);
	}
	index = 0;
	NUMBER(resident_missing);
	NUMBER(resident_count);
	for (index = 0; index < a->resident_count; index++) {
		NUMBER(resident[index].tgid);
		NUMBER(resident[index].start_time);
		NUMBER(resident[index].bytes);
		NUMBER(resident[index].read_at);
	}
	return false;
}

static bool pressure_differs(const struct pressure *a, const struct pressure *b, const char *name)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		const struct pressure_half *left[] = {&a->resource[i].some, &a->resource[i].full};
		const struct pressure_half *right[] = {&b->resource[i].some, &b->resource[i].full};

		for (size_t half = 0; half < 2; half++) {
			if (left[half]->avg10 != right[half]->avg10 ||
			    left[half]->avg60 != right[half]->avg60 ||
			    left[half]->avg300 != right[half]->avg300 ||
			    left[half]->total_usec != right[half]->total_usec)
				return differs(name, i);
		}
	}
	return false;
}

static bool field_differs(const struct snapshot *left, const void *a, const struct snapshot *right,
			  const void *b, enum cgroup_type type)
{
	const struct optional_u64 *u64 = a, *other_u64 = b;
	const struct optional_i32 *i32 = a, *other_i32 = b;

	switch (type) {
	case CGROUP_TYPE_U64:
		return *(const uint64_t *)a != *(const uint64_t *)b;
	case CGROUP_TYPE_OPTIONAL_U64:
		return u64->present != other_u64->present || u64->value != other_u64->value;
	case CGROUP_TYPE_OPTIONAL_I32:
		return i32->present != other_i32->present || i32->value != other_i32->value;
	default:
		return round_key_values_differ(left, a, right, b);
	}
}

static bool cgroups_differ(const struct snapshot *left, const struct snapshot *right)
{
	if (left->cgroup_count != right->cgroup_count)
		return differs("cgroup_count", right->cgroup_count);
	for (size_t index = 0; index < left->cgroup_count; index++) {
		const struct cgroup_record *a = &left->cgroups[index], *b = &right->cgroups[index];

		if (names_differ(left, a->path, right, b->path))
			return differs("path", index);
		for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
			const size_t offset = cgroup_record_fields[i].offset;

			if (field_differs(left, (const char *)a + offset, right, (const char *)b + offset,
					  cgroup_record_fields[i].type))
				return differs("cgroup field", i);
		}
		for (size_t i = 0; i < CGROUP_FILE_COUNT; i++) {
			if (a->missing[i] != b->missing[i])
				return differs("cgroup missing", i);
		}
		if (pressure_differs(&a->pressure, &b->pressure, "cgroups.pressure"))
			return true;
		if (field_differs(left, &a->id, right, &b->id, CGROUP_TYPE_OPTIONAL_U64))
			return differs("cgroup id", index);
		if (field_differs(left, &a->there_since, right, &b->there_since, CGROUP_TYPE_OPTIONAL_U64))
			return differs("cgroup there_since", index);
		if (field_differs(left, &a->read_at, right, &b->read_at, CGROUP_TYPE_OPTIONAL_U64))
			return differs("cgroup read_at", index);
	}
	return false;
}

static bool histograms_differ(const struct latency_histogram *a, const struct latency_histogram *b,
			      size_t index)
{
	BYTES(buckets, LATENCY_BUCKETS);
	NUMBER(sum_ns);
	NUMBER(max_ns);
	return false;
}

static bool latency_differs(const struct snapshot *a, const struct snapshot *b)
{
	size_t index = 0;

	NUMBER(latency.count);
	for (index = 0; index < a->latency.count; index++) {
		const struct latency_record *left = &a->latency.records[index],
					    *right = &b->latency.records[index];

		if (names_differ(a, left->pcomm, b, right->pcomm) ||
		    names_differ(a, left->comm, b, right->comm) ||
		    names_differ(a, left->cgroup, b, right->cgroup))
			return differs("latency name", index);
		NUMBER(latency.records[index].is_kernel);
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
			if (histograms_differ(&latency_waits_of(&a->latency, index)->of[kind],
					      &latency_waits_of(&b->latency, index)->of[kind], index))
				return true;
		}
	}
	NUMBER(latency.share_count);
	for (index = 0; index < a->latency.share_count; index++) {
		NUMBER(latency.shares[index].record);
		NUMBER(latency.shares[index].pid);
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
			if (histograms_differ(&a->latency.shares[index].waits.of[kind],
					      &b->latency.shares[index].waits.of[kind], index))
				return true;
		}
	}
	NUMBER(latency.delay_count);
	for (index = 0; index < a->latency.delay_count; index++) {
		NUMBER(latency.delays[index].victim);
		NUMBER(latency.delays[index].culprit);
		NUMBER(latency.delays[index].cause);
		NUMBER(latency.delays[index].time_ns);
		NUMBER(latency.delays[index].waits);
		NUMBER(latency.delays[index].wakes);
	}
	NUMBER(latency.time_count);
	for (index = 0; index < a->latency.time_count; index++) {
		NUMBER(latency.times[index].record);
		NUMBER(latency.times[index].pid);
		NUMBER(latency.times[index].class);
		NUMBER(latency.times[index].time_ns);
	}
	return false;
}

static bool amounts_differ(const struct ended_amounts *a, const struct ended_amounts *b, size_t index)
{
	NUMBER(delayed);
	BYTES(of, ENDED_METRICS);
	return false;
}

static bool ended_differs(const struct ended_set *a, const struct ended_set *b)
{
	size_t index = 0;

	if (a == NULL || b == NULL)
		return a != b ? differs("ended", 0) : false;
	if (pools_differ(&a->names->strings, &b->names->strings, "ended.names") ||
	    triples_differ(a->names, b->names))
		return true;
	NUMBER(group_count);
	NUMBER(thread_count);
	BYTES(reasons, ENDED_METRICS);
	NUMBER(lower_bound);
	NUMBER(lost);
	NUMBER(unread);
	for (index = 0; index < a->group_count; index++) {
		uint32_t place = UINT32_MAX;

		NUMBER(groups[index].triple);
		NUMBER(groups[index].kernel);
		NUMBER(groups[index].threads);
		NUMBER(groups[index].processes);
		NUMBER(groups[index].unknown);
		NUMBER(groups[index].started_by.name);
		NUMBER(groups[index].started_by.processes);
		if (amounts_differ(&a->groups[index].amounts, &b->groups[index].amounts, index))
			return true;
		if (!hash_map_get(&b->group_index,
				  (uint64_t)b->groups[index].triple << 1 | b->groups[index].kernel, &place) ||
		    place != index)
			return differs("group_index", index);
	}
	for (index = 0; index < a->thread_count; index++) {
		NUMBER(threads[index].triple);
		NUMBER(threads[index].tgid);
		NUMBER(threads[index].tid);
		NUMBER(threads[index].start_time);
		NUMBER(threads[index].kernel);
		if (amounts_differ(&a->threads[index].amounts, &b->threads[index].amounts, index))
			return true;
	}
	return false;
}

static bool members_differ(const struct task_field_owner *left, const struct task_field_owner *right)
{
	for (size_t index = 0; index < left->member_count; index++) {
		const struct task_field_member *a = &left->members[index], *b = &right->members[index];

		TEXT(name);
		TEXT(type);
		NUMBER(kind);
		NUMBER(bit_offset);
		NUMBER(bit_size);
		NUMBER(count);
		NUMBER(is_signed);
		NUMBER(enumerator_count);
		NUMBER(field);
		NUMBER(facts.reduction);
		NUMBER(facts.ladder);
		for (size_t i = 0; i < a->enumerator_count; i++) {
			TEXT(enumerators[i].name);
			NUMBER(enumerators[i].value);
		}
	}
	return false;
}

static bool schedulers_differ(const struct task_field_owner *a, const struct task_field_owner *b)
{
	const size_t index = 0;

	if (a == NULL || b == NULL)
		return a != b ? differs("scx.scheduler", 0) : false;
	TEXT(name);
	TEXT(family);
	NUMBER(enable_seq);
	NUMBER(loaded_at_ns);
	TEXT(type);
	TEXT(storage);
	TEXT(layout);
	NUMBER(size);
	NUMBER(member_count);
	NUMBER(field_count);
	return members_differ(a, b);
}

static bool contexts_differ(const struct task_fields *a, const struct task_fields *b)
{
	const size_t index = 0;

	NUMBER(context_of_count);
	NUMBER(context_count);
	BYTES(context_of, a->context_of_count);
	BYTES(contexts, a->owner != NULL ? a->context_count * a->owner->size : 0);
	NUMBER(only_numbers);
	return false;
}

static bool events_differ(const struct task_fields *a, const struct task_fields *b)
{
	size_t index = 0;

	NUMBER(event_count);
	for (index = 0; index < a->event_count; index++) {
		TEXT(events[index].name);
		NUMBER(events[index].value);
	}
	return false;
}

static bool pairs_differ(const struct text_pairs *a, const struct text_pairs *b)
{
	size_t index = 0;

	NUMBER(present);
	NUMBER(count);
	for (index = 0; index < a->count; index++) {
		TEXT(items[index].key);
		TEXT(items[index].value);
	}
	return false;
}

static bool device_lists_differ(const struct device left[], const struct device right[], size_t count)
{
	for (size_t index = 0; index < count; index++) {
		const struct device *a = &left[index], *b = &right[index];

		TEXT(name);
		NUMBER(busy_ms);
		NUMBER(read_bytes);
		NUMBER(write_bytes);
	}
	return false;
}

static bool devices_differ(const struct devices *a, const struct devices *b)
{
	size_t index = 0;

	NUMBER(read_at_ns);
	NUMBER(cpu_end);
	NUMBER(cpu_count);
	NUMBER(disk_count);
	NUMBER(network_count);
	for (index = 0; index < a->cpu_count; index++) {
		NUMBER(cpus[index].number);
		NUMBER(cpus[index].idle);
		NUMBER(cpus[index].all);
	}
	return device_lists_differ(a->disks, b->disks, a->disk_count) ||
	       device_lists_differ(a->networks, b->networks, a->network_count);
}

static bool capture_facts_differ(const struct provenance *a, const struct provenance *b)
{
	size_t index = 0;

	if (devices_differ(&a->devices, &b->devices))
		return true;
	NUMBER(capability_count);
	for (index = 0; index < a->capability_count; index++)
		TEXT(capabilities[index]);
	for (index = 0; index < ROOT_COUNT; index++)
		TEXT(roots[index]);
	index = 0;
	NUMBER(scope_count);
	BYTES(scope, a->scope_count);
	for (index = 0; index < FEATURE_COUNT; index++) {
		NUMBER(features[index].state);
		NUMBER(features[index].reason);
		TEXT(features[index].detail);
		TEXT(features[index].remedy);
	}
	index = 0;
	if ((a->tallies == NULL) != (b->tallies == NULL))
		return differs("tallies", 0);
	for (index = 0; a->tallies != NULL && index < SOURCE_COUNT; index++) {
		NUMBER(tallies[index].read);
		BYTES(tallies[index].missed, UINT8_MAX + 1);
	}
	index = 0;
	NUMBER(heap_count);
	for (index = 0; index < a->heap_count; index++) {
		NUMBER(heap[index].tgid);
		TEXT(heap[index].layout);
		TEXT(heap[index].version);
		TEXT(heap[index].tag);
		TEXT(heap[index].text);
	}
	index = 0;
	NUMBER(title_count);
	for (index = 0; index < a->title_count; index++) {
		NUMBER(titles[index].tgid);
		TEXT(titles[index].text);
	}
	return false;
}

static bool plain_facts_differ(const struct snapshot *a, const struct snapshot *b)
{
	const size_t index = 0;

	NUMBER(provenance.present);
	NUMBER(provenance.boottime_ns);
#include "facts.def"
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		if (a->pressure_missing[i] != b->pressure_missing[i])
			return differs("pressure_missing", i);
	}
	return pressure_differs(&a->pressure, &b->pressure, "pressure");
}

static bool facts_differ(const struct snapshot *a, const struct snapshot *b)
{
	return plain_facts_differ(a, b) || capture_facts_differ(&a->provenance, &b->provenance) ||
	       pairs_differ(&a->host.sched_tunables, &b->host.sched_tunables) ||
	       pairs_differ(&a->host.cpufreq_governor, &b->host.cpufreq_governor) || cgroups_differ(a, b) ||
	       latency_differs(a, b) || schedulers_differ(a->task_fields.owner, b->task_fields.owner) ||
	       events_differ(&a->task_fields, &b->task_fields);
}

const char *round_facts_difference(const struct snapshot *left, const struct snapshot *right)
{
	return facts_differ(left, right) ? answer : NULL;
}

static bool live_rounds_differ(const struct snapshot *a, const struct snapshot *b)
{
	size_t index = 0;

	TEXT(format_notes);
	NUMBER(latency.is_whole);
	NUMBER(probe_summary.stopped_known);
	NUMBER(probe_summary.stopped);
	if (b->carried_serial == 0)
		return false;
	index = 0;
	BYTES(carried_row, a->thread_count);
	NUMBER(moved_known);
	NUMBER(moved_count);
	BYTES(moved, a->moved_count);
	return false;
}

const char *round_difference(const struct snapshot *left, const struct snapshot *right)
{
	const bool differ = facts_differ(left, right) ||
			    pools_differ(&left->strings, &right->strings, "strings") ||
			    pools_differ(&left->cpu_sets, &right->cpu_sets, "cpu_sets") ||
			    triples_differ(left, right) || rows_differ(left, right) ||
			    memory_differs(left, right) || ended_differs(left->ended, right->ended) ||
			    contexts_differ(&left->task_fields, &right->task_fields) ||
			    live_rounds_differ(left, right);

	return differ ? answer : NULL;
}
