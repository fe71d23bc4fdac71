/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_compare.h"

#include <string.h>

#include "cmocka_include.h"

static void assert_texts_equal(const char *left, const char *right)
{
	if (left == NULL || right == NULL)
		assert_ptr_equal(left, right);
	else
		assert_string_equal(left, right);
}

static void assert_ids_equal(const struct snapshot *left, uint32_t left_id, const struct snapshot *right,
			     uint32_t right_id)
{
	size_t length = string_pool_length(&left->strings, left_id);

	assert_int_equal(length, string_pool_length(&right->strings, right_id));
	assert_memory_equal(snapshot_text(left, left_id), snapshot_text(right, right_id), length);
}

static void assert_sets_equal(const struct snapshot *left, uint32_t left_id, const struct snapshot *right,
			      uint32_t right_id)
{
	size_t count = cpu_set_count(&left->cpu_sets, left_id);

	assert_int_equal(count, cpu_set_count(&right->cpu_sets, right_id));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(cpu_set_cpus(&left->cpu_sets, left_id)[i],
				 cpu_set_cpus(&right->cpu_sets, right_id)[i]);
}

static void assert_values_equal(const struct snapshot *left, const struct snapshot *right, size_t thread,
				enum metric metric)
{
	uint64_t left_value = snapshot_value(left, thread, metric);
	uint64_t right_value = snapshot_value(right, thread, metric);
	reason_id left_reason, right_reason;

	if (metric_type(metric)->encoding == METRIC_ENCODING_STRING)
		assert_ids_equal(left, (uint32_t)left_value, right, (uint32_t)right_value);
	else if (metric_type(metric)->encoding == METRIC_ENCODING_CPU_SET)
		assert_sets_equal(left, (uint32_t)left_value, right, (uint32_t)right_value);
	else
		assert_true(left_value == right_value);
	assert_int_equal(snapshot_value_state(left, thread, metric, true, NULL),
			 snapshot_value_state(right, thread, metric, true, NULL));
	assert_int_equal(snapshot_value_state(left, thread, metric, false, &left_reason),
			 snapshot_value_state(right, thread, metric, false, &right_reason));
	assert_string_equal(snapshot_reason_name(left, left_reason),
			    snapshot_reason_name(right, right_reason));
	assert_true(snapshot_read_time(left, thread, metric) == snapshot_read_time(right, thread, metric));
}

static void assert_key_values_equal(const struct snapshot *left, const struct key_values *left_values,
				    const struct snapshot *right, const struct key_values *right_values)
{
	assert_int_equal(left_values->count, right_values->count);
	for (size_t i = 0; i < left_values->count; i++) {
		assert_ids_equal(left, left_values->items[i].key, right, right_values->items[i].key);
		assert_true(left_values->items[i].value == right_values->items[i].value);
	}
}

static void assert_threads_equal(const struct snapshot *left, const struct snapshot *right, size_t thread)
{
	const struct triple *left_names = &left->triples[left->triple[thread]];
	const struct triple *right_names = &right->triples[right->triple[thread]];
	const struct smaps_record *left_smaps = snapshot_find_smaps(left, thread);
	const struct smaps_record *right_smaps = snapshot_find_smaps(right, thread);

	assert_int_equal(left->tid[thread], right->tid[thread]);
	assert_int_equal(left->tgid[thread], right->tgid[thread]);
	assert_int_equal(left->uid[thread], right->uid[thread]);
	assert_int_equal(left->thread_flags[thread], right->thread_flags[thread]);
	assert_true(left->start_time[thread] == right->start_time[thread]);
	assert_int_equal(left->waiting_ns != NULL, right->waiting_ns != NULL);
	if (left->waiting_ns != NULL)
		assert_true(left->waiting_ns[thread] == right->waiting_ns[thread]);
	assert_ids_equal(left, left_names->pcomm, right, right_names->pcomm);
	assert_ids_equal(left, left_names->comm, right, right_names->comm);
	assert_ids_equal(left, left_names->cgroup, right, right_names->cgroup);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_values_equal(left, right, thread, (enum metric)i);
	assert_int_equal(left_smaps == NULL, right_smaps == NULL);
	if (left_smaps != NULL)
		assert_key_values_equal(left, &left_smaps->kib, right, &right_smaps->kib);
}

static void assert_resident_equal(const struct snapshot *left, const struct snapshot *right)
{
	/* what is in no `ctop` object comes back as unknown */
	if (!left->provenance.present || left->resident_count == 0)
		return;
	assert_int_equal(left->resident_missing, right->resident_missing);
	assert_int_equal(left->resident_count, right->resident_count);
	for (size_t i = 0; i < left->resident_count; i++) {
		assert_int_equal(left->resident[i].tgid, right->resident[i].tgid);
		assert_true(left->resident[i].start_time == right->resident[i].start_time);
		assert_true(left->resident[i].bytes == right->resident[i].bytes);
		assert_true(right->resident[i].read_at == right->provenance.boottime_ns);
	}
}

static void assert_u64_equal(const struct optional_u64 *left, const struct optional_u64 *right)
{
	assert_int_equal(left->present, right->present);
	if (left->present)
		assert_true(left->value == right->value);
}

static void assert_i32_equal(const struct optional_i32 *left, const struct optional_i32 *right)
{
	assert_int_equal(left->present, right->present);
	if (left->present)
		assert_int_equal(left->value, right->value);
}

static void assert_halves_equal(const struct pressure_half *left, const struct pressure_half *right)
{
	assert_int_equal(left->avg10, right->avg10);
	assert_int_equal(left->avg60, right->avg60);
	assert_int_equal(left->avg300, right->avg300);
	assert_true(left->total_usec == right->total_usec);
}

static void assert_pressure_equal(const struct pressure *left, const struct pressure *right)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		assert_halves_equal(&left->resource[i].some, &right->resource[i].some);
		assert_halves_equal(&left->resource[i].full, &right->resource[i].full);
	}
}

static void assert_cgroups_equal(const struct snapshot *left, const struct snapshot *right, size_t index)
{
	const struct cgroup_record *a = &left->cgroups[index], *b = &right->cgroups[index];

	assert_ids_equal(left, a->path, right, b->path);
	assert_true(a->usage_usec == b->usage_usec);
	assert_true(a->nr_throttled == b->nr_throttled);
	assert_true(a->throttled_usec == b->throttled_usec);
	assert_u64_equal(&a->max_quota_us, &b->max_quota_us);
	assert_true(a->max_period_us == b->max_period_us);
	assert_u64_equal(&a->weight, &b->weight);
	assert_i32_equal(&a->weight_nice, &b->weight_nice);
	assert_true(a->memory_current == b->memory_current);
	assert_u64_equal(&a->memory_max, &b->memory_max);
	assert_u64_equal(&a->memory_high, &b->memory_high);
	assert_u64_equal(&a->memory_low, &b->memory_low);
	assert_u64_equal(&a->memory_min, &b->memory_min);
	assert_key_values_equal(left, &a->memory_stat, right, &b->memory_stat);
	assert_key_values_equal(left, &a->memory_events, right, &b->memory_events);
	assert_u64_equal(&a->pids_current, &b->pids_current);
	assert_u64_equal(&a->pids_max, &b->pids_max);
	assert_u64_equal(&a->io_read, &b->io_read);
	assert_u64_equal(&a->io_written, &b->io_written);
	assert_pressure_equal(&a->pressure, &b->pressure);
	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++)
		assert_string_equal(snapshot_reason_name(left, a->missing[i]),
				    snapshot_reason_name(right, b->missing[i]));
}

static void assert_pairs_equal(const struct text_pairs *left, const struct text_pairs *right)
{
	assert_int_equal(left->present, right->present);
	assert_int_equal(left->count, right->count);
	for (size_t i = 0; i < left->count; i++) {
		assert_string_equal(left->items[i].key, right->items[i].key);
		assert_string_equal(left->items[i].value, right->items[i].value);
	}
}

static void assert_hosts_equal(const struct host *left, const struct host *right)
{
	assert_int_equal(left->present, right->present);
	assert_texts_equal(left->cpu_model, right->cpu_model);
	assert_texts_equal(left->cpu_vendor, right->cpu_vendor);
	assert_u64_equal(&left->total_memory_kib, &right->total_memory_kib);
	assert_u64_equal(&left->hugepages_total, &right->hugepages_total);
	assert_u64_equal(&left->hugepages_free, &right->hugepages_free);
	assert_u64_equal(&left->hugepages_size_kib, &right->hugepages_size_kib);
	assert_texts_equal(left->thp_enabled, right->thp_enabled);
	assert_texts_equal(left->thp_defrag, right->thp_defrag);
	assert_pairs_equal(&left->sched_tunables, &right->sched_tunables);
	assert_u64_equal(&left->online_cpus, &right->online_cpus);
	assert_u64_equal(&left->numa_nodes, &right->numa_nodes);
	assert_pairs_equal(&left->cpufreq_governor, &right->cpufreq_governor);
	assert_texts_equal(left->kernel_name, right->kernel_name);
	assert_texts_equal(left->kernel_release, right->kernel_release);
	assert_texts_equal(left->arch, right->arch);
	assert_texts_equal(left->kernel_cmdline, right->kernel_cmdline);
	assert_texts_equal(left->task_delayacct, right->task_delayacct);
	assert_texts_equal(left->config_task_xacct, right->config_task_xacct);
	assert_int_equal(left->heap_state.present, right->heap_state.present);
	assert_u64_equal(&left->heap_state.active_bytes, &right->heap_state.active_bytes);
	assert_u64_equal(&left->heap_state.allocated_bytes, &right->heap_state.allocated_bytes);
	assert_u64_equal(&left->heap_state.resident_bytes, &right->heap_state.resident_bytes);
	assert_u64_equal(&left->heap_state.mapped_bytes, &right->heap_state.mapped_bytes);
	assert_u64_equal(&left->heap_state.narenas, &right->heap_state.narenas);
}

static void assert_summaries_equal(const struct snapshot *left, const struct snapshot *right)
{
	const struct probe_summary *a = &left->probe_summary, *b = &right->probe_summary;
	const struct parse_summary *c = &left->parse_summary, *d = &right->parse_summary;
	const struct taskstats_summary *e = &left->taskstats_summary, *f = &right->taskstats_summary;
	const struct sched_ext *g = &left->sched_ext, *h = &right->sched_ext;

	assert_int_equal(a->present, b->present);
	assert_int_equal(a->tgids_walked, b->tgids_walked);
	assert_int_equal(a->jemalloc_detected, b->jemalloc_detected);
	assert_int_equal(a->probed_ok, b->probed_ok);
	assert_int_equal(a->failed, b->failed);
	assert_texts_equal(a->dominant_failure, b->dominant_failure);
	assert_int_equal(a->privilege_dominant, b->privilege_dominant);
	assert_int_equal(c->present, d->present);
	assert_int_equal(c->tids_walked, d->tids_walked);
	assert_int_equal(c->read_failures, d->read_failures);
	for (size_t i = 0; i < PARSE_FILE_COUNT; i++)
		assert_int_equal(c->read_failures_by_file[i], d->read_failures_by_file[i]);
	assert_texts_equal(c->dominant_read_failure, d->dominant_read_failure);
	assert_int_equal(c->kernel_config_dominant, d->kernel_config_dominant);
	assert_int_equal(c->negative_dotted_values, d->negative_dotted_values);
	assert_int_equal(e->present, f->present);
	assert_int_equal(e->ok_count, f->ok_count);
	assert_int_equal(e->eperm_count, f->eperm_count);
	assert_int_equal(e->esrch_count, f->esrch_count);
	assert_int_equal(e->other_err_count, f->other_err_count);
	assert_int_equal(g->present, h->present);
	assert_texts_equal(g->state, h->state);
	assert_int_equal(g->switch_all, h->switch_all);
	assert_int_equal(g->nr_rejected, h->nr_rejected);
	assert_int_equal(g->hotplug_seq, h->hotplug_seq);
	assert_int_equal(g->enable_seq, h->enable_seq);
}

static void assert_tallies_equal(const struct snapshot *left, const struct snapshot *right)
{
	const struct tally *a = left->provenance.tallies, *b = right->provenance.tallies;

	assert_int_equal(a == NULL, b == NULL);
	for (size_t i = 0; a != NULL && i < SOURCE_COUNT; i++) {
		assert_int_equal(a[i].read, b[i].read);
		for (size_t j = 0; j < REASON_COUNT; j++)
			assert_int_equal(a[i].missed[j], b[i].missed[j]);
	}
}

static void assert_heaps_equal(const struct provenance *left, const struct provenance *right)
{
	assert_int_equal(left->heap_count, right->heap_count);
	for (size_t i = 0; i < left->heap_count; i++) {
		assert_int_equal(left->heap[i].tgid, right->heap[i].tgid);
		assert_texts_equal(left->heap[i].layout, right->heap[i].layout);
		assert_texts_equal(left->heap[i].version, right->heap[i].version);
		assert_texts_equal(left->heap[i].tag, right->heap[i].tag);
		assert_texts_equal(left->heap[i].text, right->heap[i].text);
	}
}

static void assert_histograms_equal(const struct latency_histogram *left,
				    const struct latency_histogram *right)
{
	assert_int_equal(left->sum_ns, right->sum_ns);
	assert_int_equal(left->max_ns, right->max_ns);
	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		assert_int_equal(left->buckets[i], right->buckets[i]);
}

static void assert_latencies_equal(const struct snapshot *left, const struct snapshot *right)
{
	const struct latency *a = &left->latency, *b = &right->latency;

	assert_int_equal(a->present, b->present);
	assert_int_equal(a->span_ns, b->span_ns);
	assert_int_equal(a->events, b->events);
	assert_int_equal(a->cost_ns, b->cost_ns);
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct latency_record *c = &a->records[i], *d = &b->records[i];

		assert_string_equal(snapshot_text(left, c->pcomm), snapshot_text(right, d->pcomm));
		assert_string_equal(snapshot_text(left, c->comm), snapshot_text(right, d->comm));
		assert_string_equal(snapshot_text(left, c->cgroup), snapshot_text(right, d->cgroup));
		assert_int_equal(c->is_kernel, d->is_kernel);
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++)
			assert_histograms_equal(&c->of[kind], &d->of[kind]);
	}
}

static void assert_features_equal(const struct provenance *left, const struct provenance *right)
{
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		assert_int_equal(left->features[i].state, right->features[i].state);
		assert_int_equal(left->features[i].reason, right->features[i].reason);
		assert_texts_equal(left->features[i].detail, right->features[i].detail);
		assert_texts_equal(left->features[i].remedy, right->features[i].remedy);
	}
}

static void assert_provenances_equal(const struct provenance *left, const struct provenance *right)
{
	assert_int_equal(left->present, right->present);
	assert_texts_equal(left->program, right->program);
	assert_texts_equal(left->boot_id, right->boot_id);
	assert_true(left->boottime_ns == right->boottime_ns);
	assert_true(left->duration_ns == right->duration_ns);
	assert_int_equal(left->uid.present, right->uid.present);
	assert_int_equal(left->uid.value, right->uid.value);
	assert_int_equal(left->capability_count, right->capability_count);
	for (size_t i = 0; i < left->capability_count; i++)
		assert_string_equal(left->capabilities[i], right->capabilities[i]);
	for (size_t i = 0; i < NAMESPACE_COUNT; i++)
		assert_int_equal(left->namespaces[i], right->namespaces[i]);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		assert_texts_equal(left->roots[i], right->roots[i]);
	assert_int_equal(left->scope_count, right->scope_count);
	for (size_t i = 0; i < left->scope_count; i++)
		assert_int_equal(left->scope[i], right->scope[i]);
	assert_int_equal(left->ended, right->ended);
	assert_texts_equal(left->hostname, right->hostname);
	assert_int_equal(left->cpu_ticks_known, right->cpu_ticks_known);
	for (size_t i = 0; left->cpu_ticks_known && i < CPU_TICK_KINDS; i++)
		assert_int_equal(left->cpu_ticks[i], right->cpu_ticks[i]);
	assert_u64_equal(&left->procs_running, &right->procs_running);
	assert_u64_equal(&left->procs_blocked, &right->procs_blocked);
	assert_u64_equal(&left->mem_available_kib, &right->mem_available_kib);
	assert_int_equal(left->load_known, right->load_known);
	for (size_t i = 0; left->load_known && i < 3; i++)
		assert_int_equal(left->load_centi[i], right->load_centi[i]);
	assert_features_equal(left, right);
	assert_heaps_equal(left, right);
}

static void assert_schedulers_equal(const struct task_field_owner *left, const struct task_field_owner *right)
{
	assert_string_equal(left->name, right->name);
	assert_string_equal(left->family, right->family);
	assert_string_equal(left->storage, right->storage);
	assert_string_equal(left->layout, right->layout);
	assert_true(task_field_owner_is_same_run(left, right));
	for (size_t i = 0; i < left->member_count; i++) {
		const struct task_field_member *a = &left->members[i], *b = &right->members[i];

		assert_int_equal(a->is_signed, b->is_signed);
		assert_int_equal(a->field, b->field);
		assert_int_equal(a->enumerator_count, b->enumerator_count);
		for (size_t j = 0; j < a->enumerator_count; j++) {
			assert_string_equal(a->enumerators[j].name, b->enumerators[j].name);
			assert_true(a->enumerators[j].value == b->enumerators[j].value);
		}
	}
}

static void assert_contexts_equal(const struct task_fields *left, const struct task_fields *right,
				  size_t thread)
{
	reason_id left_reason, right_reason;
	const uint8_t *a = task_fields_context(left, thread, &left_reason),
		      *b = task_fields_context(right, thread, &right_reason);

	assert_int_equal(a == NULL, b == NULL);
	assert_int_equal(left_reason, right_reason);
	for (size_t i = 0; a != NULL && i < left->owner->member_count; i++) {
		const struct task_field_member *member = &left->owner->members[i];

		for (size_t j = 0; j < task_field_elements(member); j++)
			assert_true(task_field_read(member, a, j) == task_field_read(member, b, j));
	}
}

/* Only what has a `ctop` object can say what a scheduler keeps. */
static void assert_scx_equal(const struct snapshot *left, const struct snapshot *right)
{
	const struct task_fields *a = &left->task_fields, *b = &right->task_fields;

	assert_int_equal(a->owner == NULL, b->owner == NULL);
	assert_int_equal(a->read_at_ns, b->read_at_ns);
	assert_int_equal(a->mismatched, b->mismatched);
	assert_int_equal(a->event_count, b->event_count);
	for (size_t i = 0; i < a->event_count; i++) {
		assert_string_equal(a->events[i].name, b->events[i].name);
		assert_true(a->events[i].value == b->events[i].value);
	}
	if (a->owner == NULL)
		return;
	assert_schedulers_equal(a->owner, b->owner);
	for (size_t i = 0; i < left->thread_count; i++)
		assert_contexts_equal(a, b, i);
}

void assert_snapshots_equal(const struct snapshot *left, const struct snapshot *right)
{
	assert_true(left->captured_at_unix_ns == right->captured_at_unix_ns);
	assert_latencies_equal(left, right);
	assert_scx_equal(left, right);
	assert_int_equal(left->thread_count, right->thread_count);
	for (size_t i = 0; i < left->thread_count; i++)
		assert_threads_equal(left, right, i);
	assert_int_equal(left->smaps_count, right->smaps_count);
	assert_resident_equal(left, right);
	assert_int_equal(left->cgroup_count, right->cgroup_count);
	for (size_t i = 0; i < left->cgroup_count; i++)
		assert_cgroups_equal(left, right, i);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(left->metric_source[i], right->metric_source[i]);
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++)
		assert_string_equal(snapshot_reason_name(left, left->pressure_missing[i]),
				    snapshot_reason_name(right, right->pressure_missing[i]));
	assert_pressure_equal(&left->pressure, &right->pressure);
	assert_hosts_equal(&left->host, &right->host);
	assert_summaries_equal(left, right);
	assert_provenances_equal(&left->provenance, &right->provenance);
	assert_tallies_equal(left, right);
}
