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

static bool key_values_differ(const struct key_values *a, const struct key_values *b, const char *name,
			      size_t index)
{
	if (a->count != b->count)
		return differs(name, index);
	for (uint32_t i = 0; i < a->count; i++) {
		if (a->items[i].key != b->items[i].key || a->items[i].value != b->items[i].value)
			return differs(name, index);
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
		if (key_values_differ(&a->smaps[index].kib, &b->smaps[index].kib, "smaps", index))
			return true;
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

static bool cgroups_differ(const struct snapshot *left, const struct snapshot *right)
{
	if (left->cgroup_count != right->cgroup_count)
		return differs("cgroup_count", right->cgroup_count);
	for (size_t index = 0; index < left->cgroup_count; index++) {
		const struct cgroup_record *a = &left->cgroups[index], *b = &right->cgroups[index];

		NUMBER(path);
		NUMBER(usage_usec);
		NUMBER(nr_throttled);
		NUMBER(throttled_usec);
		OPTIONAL(max_quota_us);
		NUMBER(max_period_us);
		OPTIONAL(weight);
		OPTIONAL(weight_nice);
		NUMBER(memory_current);
		OPTIONAL(memory_max);
		OPTIONAL(memory_high);
		OPTIONAL(memory_low);
		OPTIONAL(memory_min);
		OPTIONAL(pids_current);
		OPTIONAL(pids_max);
		OPTIONAL(io_read);
		OPTIONAL(io_written);
		BYTES(missing, CGROUP_FILE_COUNT);
		if (key_values_differ(&a->memory_stat, &b->memory_stat, "memory_stat", index) ||
		    key_values_differ(&a->memory_events, &b->memory_events, "memory_events", index) ||
		    pressure_differs(&a->pressure, &b->pressure, "cgroups.pressure"))
			return true;
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

	NUMBER(latency.present);
	NUMBER(latency.span_ns);
	NUMBER(latency.events);
	NUMBER(latency.cost_ns);
	NUMBER(latency.is_whole);
	NUMBER(latency.count);
	for (index = 0; index < a->latency.count; index++) {
		NUMBER(latency.records[index].pcomm);
		NUMBER(latency.records[index].comm);
		NUMBER(latency.records[index].cgroup);
		NUMBER(latency.records[index].is_kernel);
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
			if (histograms_differ(&a->latency.records[index].of[kind],
					      &b->latency.records[index].of[kind], index))
				return true;
		}
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

static bool task_fields_differ(const struct task_fields *a, const struct task_fields *b)
{
	size_t index = 0;

	if (schedulers_differ(a->owner, b->owner))
		return true;
	NUMBER(context_of_count);
	NUMBER(context_count);
	BYTES(context_of, a->context_of_count);
	BYTES(contexts, a->owner != NULL ? a->context_count * a->owner->size : 0);
	NUMBER(read_at_ns);
	NUMBER(mismatched);
	NUMBER(only_numbers);
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

static bool hosts_differ(const struct host *a, const struct host *b)
{
	const size_t index = 0;

	NUMBER(present);
	TEXT(cpu_model);
	TEXT(cpu_vendor);
	OPTIONAL(total_memory_kib);
	OPTIONAL(hugepages_total);
	OPTIONAL(hugepages_free);
	OPTIONAL(hugepages_size_kib);
	TEXT(thp_enabled);
	TEXT(thp_defrag);
	OPTIONAL(online_cpus);
	OPTIONAL(numa_nodes);
	TEXT(kernel_name);
	TEXT(kernel_release);
	TEXT(arch);
	TEXT(kernel_cmdline);
	TEXT(task_delayacct);
	TEXT(config_task_xacct);
	NUMBER(heap_state.present);
	OPTIONAL(heap_state.active_bytes);
	OPTIONAL(heap_state.allocated_bytes);
	OPTIONAL(heap_state.resident_bytes);
	OPTIONAL(heap_state.mapped_bytes);
	OPTIONAL(heap_state.narenas);
	return pairs_differ(&a->sched_tunables, &b->sched_tunables) ||
	       pairs_differ(&a->cpufreq_governor, &b->cpufreq_governor);
}

static bool summaries_differ(const struct snapshot *a, const struct snapshot *b)
{
	const size_t index = 0;

	NUMBER(sched_ext.present);
	TEXT(sched_ext.state);
	NUMBER(sched_ext.switch_all);
	NUMBER(sched_ext.nr_rejected);
	NUMBER(sched_ext.hotplug_seq);
	NUMBER(sched_ext.enable_seq);
	NUMBER(probe_summary.present);
	NUMBER(probe_summary.tgids_walked);
	NUMBER(probe_summary.jemalloc_detected);
	NUMBER(probe_summary.probed_ok);
	NUMBER(probe_summary.failed);
	TEXT(probe_summary.dominant_failure);
	NUMBER(probe_summary.privilege_dominant);
	NUMBER(probe_summary.stopped_known);
	NUMBER(probe_summary.stopped);
	NUMBER(parse_summary.present);
	NUMBER(parse_summary.tids_walked);
	NUMBER(parse_summary.read_failures);
	BYTES(parse_summary.read_failures_by_file, PARSE_FILE_COUNT);
	TEXT(parse_summary.dominant_read_failure);
	NUMBER(parse_summary.kernel_config_dominant);
	NUMBER(parse_summary.negative_dotted_values);
	NUMBER(taskstats_summary.present);
	NUMBER(taskstats_summary.ok_count);
	NUMBER(taskstats_summary.eperm_count);
	NUMBER(taskstats_summary.esrch_count);
	NUMBER(taskstats_summary.other_err_count);
	TEXT(format_notes);
	BYTES(pressure_missing, PRESSURE_RESOURCE_COUNT);
	return pressure_differs(&a->pressure, &b->pressure, "pressure");
}

static bool capture_facts_differ(const struct provenance *a, const struct provenance *b)
{
	size_t index = 0;

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
	return false;
}

static bool provenances_differ(const struct provenance *a, const struct provenance *b)
{
	const size_t index = 0;

	NUMBER(present);
	TEXT(program);
	TEXT(boot_id);
	NUMBER(boottime_ns);
	NUMBER(duration_ns);
	OPTIONAL(uid);
	BYTES(namespaces, NAMESPACE_COUNT);
	NUMBER(ended);
	TEXT(hostname);
	BYTES(cpu_ticks, CPU_TICK_KINDS);
	NUMBER(cpu_ticks_known);
	NUMBER(cpu_ticks_at_ns);
	OPTIONAL(procs_running);
	OPTIONAL(procs_blocked);
	OPTIONAL(mem_available_kib);
	OPTIONAL(forks);
	BYTES(load_centi, 3);
	NUMBER(load_known);
	return capture_facts_differ(a, b);
}

static bool live_rounds_differ(const struct snapshot *a, const struct snapshot *b)
{
	size_t index = 0;

	NUMBER(captured_at_unix_ns);
	NUMBER(unknown_reason_count);
	for (index = 0; index < a->unknown_reason_count; index++)
		TEXT(unknown_reasons[index]);
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
	const bool differ = provenances_differ(&left->provenance, &right->provenance) ||
			    hosts_differ(&left->host, &right->host) || summaries_differ(left, right) ||
			    pools_differ(&left->strings, &right->strings, "strings") ||
			    pools_differ(&left->cpu_sets, &right->cpu_sets, "cpu_sets") ||
			    triples_differ(left, right) || rows_differ(left, right) ||
			    memory_differs(left, right) || cgroups_differ(left, right) ||
			    latency_differs(left, right) || ended_differs(left->ended, right->ended) ||
			    task_fields_differ(&left->task_fields, &right->task_fields) ||
			    live_rounds_differ(left, right);

	return differ ? answer : NULL;
}
