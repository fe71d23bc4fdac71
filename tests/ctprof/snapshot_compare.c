/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_compare.h"

#include <string.h>

#include "../recording/round_compare.h"
#include "cmocka_include.h"

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

static void assert_values_equal(const struct snapshot *left, size_t left_row, const struct snapshot *right,
				size_t right_row, enum metric metric)
{
	uint64_t left_value = snapshot_value(left, left_row, metric);
	uint64_t right_value = snapshot_value(right, right_row, metric);

	if (metric_type(metric)->encoding == METRIC_ENCODING_STRING)
		assert_ids_equal(left, (uint32_t)left_value, right, (uint32_t)right_value);
	else if (metric_type(metric)->encoding == METRIC_ENCODING_CPU_SET)
		assert_sets_equal(left, (uint32_t)left_value, right, (uint32_t)right_value);
	else
		assert_true(left_value == right_value);
	assert_int_equal(snapshot_flagged_state(left, left_row, metric),
			 snapshot_flagged_state(right, right_row, metric));
	assert_int_equal(snapshot_value_state(left, left_row, metric),
			 snapshot_value_state(right, right_row, metric));
	assert_true(snapshot_read_time(left, left_row, metric) ==
		    snapshot_read_time(right, right_row, metric));
}

void assert_threads_equal(const struct snapshot *left, size_t left_row, const struct snapshot *right,
			  size_t right_row)
{
	const struct triple *left_names = &left->triples[left->triple[left_row]];
	const struct triple *right_names = &right->triples[right->triple[right_row]];

	assert_int_equal(left->tid[left_row], right->tid[right_row]);
	assert_int_equal(left->tgid[left_row], right->tgid[right_row]);
	assert_int_equal(left->uid[left_row], right->uid[right_row]);
	assert_int_equal(left->thread_flags[left_row], right->thread_flags[right_row]);
	assert_true(left->start_time[left_row] == right->start_time[right_row]);
	assert_int_equal(left->waiting_ns != NULL, right->waiting_ns != NULL);
	if (left->waiting_ns != NULL)
		assert_true(left->waiting_ns[left_row] == right->waiting_ns[right_row]);
	assert_ids_equal(left, left_names->pcomm, right, right_names->pcomm);
	assert_ids_equal(left, left_names->comm, right, right_names->comm);
	assert_ids_equal(left, left_names->cgroup, right, right_names->cgroup);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_values_equal(left, left_row, right, right_row, (enum metric)i);
}

static void assert_smaps_equal(const struct snapshot *left, const struct snapshot *right)
{
	assert_int_equal(left->smaps_count, right->smaps_count);
	for (size_t i = 0; i < left->smaps_count; i++) {
		assert_int_equal(left->smaps[i].thread, right->smaps[i].thread);
		assert_false(round_key_values_differ(left, &left->smaps[i].kib, right, &right->smaps[i].kib));
	}
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

/* What a thread waits for, and why that is unknown. */
static void assert_waits_equal(const struct snapshot *left, const struct snapshot *right, size_t thread)
{
	assert_int_equal(left->wait_class == NULL, right->wait_class == NULL);
	if (left->wait_class == NULL)
		return;
	assert_int_equal(left->wait_class[thread], right->wait_class[thread]);
	assert_ids_equal(left, left->wait_object[thread], right, right->wait_object[thread]);
	assert_int_equal(snapshot_source_reason(left, thread, SOURCE_WAIT),
			 snapshot_source_reason(right, thread, SOURCE_WAIT));
}

void assert_snapshots_equal(const struct snapshot *left, const struct snapshot *right)
{
	const char *difference = round_facts_difference(left, right);

	if (difference != NULL)
		fail_msg("%s is another one", difference);
	assert_int_equal(left->thread_count, right->thread_count);
	for (size_t i = 0; i < left->thread_count; i++) {
		assert_threads_equal(left, i, right, i);
		assert_waits_equal(left, right, i);
		if (left->task_fields.owner != NULL)
			assert_contexts_equal(&left->task_fields, &right->task_fields, i);
	}
	assert_smaps_equal(left, right);
	assert_resident_equal(left, right);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(left->metric_source[i], right->metric_source[i]);
}
