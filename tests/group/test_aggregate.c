/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "group/aggregate.h"
#include "table/cell_format.h"

enum {
	THREADS = 4
};

/* A snapshot of THREADS threads of one process; with `knowledge` as ctop writes it, everything read. */
static struct snapshot *make_snapshot(bool knowledge)
{
	struct snapshot *snapshot = snapshot_create();

	for (uint32_t i = 0; i < THREADS; i++)
		snapshot_add_thread(snapshot, 100, 100 + i);
	snapshot->provenance.present = knowledge;
	return snapshot;
}

static void set_values(struct snapshot *snapshot, enum metric metric, const uint64_t values[THREADS])
{
	memcpy(snapshot_column(snapshot, metric), values, THREADS * sizeof(*values));
}

static void set_names(struct snapshot *snapshot, enum metric metric, const char *const names[THREADS])
{
	uint64_t *column = snapshot_column(snapshot, metric);

	for (size_t i = 0; i < THREADS; i++)
		column[i] = string_pool_intern(&snapshot->strings, names[i], strlen(names[i]));
}

static const uint32_t one_group[THREADS] = {0, 0, 0, 0};
static const uint32_t two_groups[THREADS] = {0, 0, 1, 1};

static void expect_text(struct aggregation *aggregation, size_t group, enum metric metric, const char *text)
{
	struct buffer buffer = {0};

	cell_format_aggregate(&buffer, aggregation, aggregation_get(aggregation, group, metric), metric);
	assert_string_equal(buffer.data, text);
	buffer_release(&buffer);
}

static void expect_number(struct aggregation *aggregation, enum metric metric, double number)
{
	double got;

	assert_true(aggregate_number(aggregation_get(aggregation, 0, metric), metric, &got));
	assert_true(got == number);
}

static void test_reductions(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	struct aggregation *aggregation;
	double number;

	(void)state;
	set_values(snapshot, METRIC_RUN_TIME_NS, (uint64_t[]){1, 2, 3, UINT64_MAX - 5});
	set_values(snapshot, METRIC_WAIT_MAX, (uint64_t[]){4, 9, 2, 9});
	set_values(snapshot, METRIC_NICE, (uint64_t[]){(uint64_t)-5, 0, 3, 6});
	set_values(snapshot, METRIC_RT_PRIORITY, (uint64_t[]){UINT32_MAX, 0, 0, 0});
	set_names(snapshot, METRIC_POLICY,
		  (const char *const[]){"SCHED_OTHER", "SCHED_FIFO", "SCHED_OTHER", "SCHED_OTHER"});
	set_values(snapshot, METRIC_STATE, (uint64_t[]){'~', 'R', 'R', '~'});
	set_values(snapshot, METRIC_EXT_ENABLED, (uint64_t[]){1, 0, 0, 1});
	aggregation = aggregation_create(snapshot, one_group, 1, false);
	expect_text(aggregation, 0, METRIC_THREAD_COUNT, "4");
	expect_text(aggregation, 0, METRIC_RUN_TIME_NS, "18446744073.710s");
	assert_true(aggregation_get(aggregation, 0, METRIC_RUN_TIME_NS)->value.number == UINT64_MAX);
	expect_text(aggregation, 0, METRIC_WAIT_MAX, "9ns");
	expect_text(aggregation, 0, METRIC_NICE, "-5..6");
	expect_number(aggregation, METRIC_NICE, 0.5);
	expect_text(aggregation, 0, METRIC_RT_PRIORITY, "0..4294967295");
	expect_text(aggregation, 0, METRIC_POLICY, "SCHED_OTHER (3/4)");
	/* ties go to the smallest in byte order */
	expect_text(aggregation, 0, METRIC_STATE, "R (2/4)");
	expect_text(aggregation, 0, METRIC_EXT_ENABLED, "false (2/4)");
	assert_false(
		aggregate_number(aggregation_get(aggregation, 0, METRIC_POLICY), METRIC_POLICY, &number));
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

static void test_affinity(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	uint32_t two = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 2}, 2);
	uint32_t other = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){1, 3}, 2);
	uint32_t three = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1, 2}, 3);
	struct aggregation *aggregation;

	(void)state;
	set_values(snapshot, METRIC_CPU_AFFINITY, (uint64_t[]){two, two, two, other});
	aggregation = aggregation_create(snapshot, two_groups, 2, false);
	expect_text(aggregation, 0, METRIC_CPU_AFFINITY, "2 cpus (0,2)");
	expect_text(aggregation, 1, METRIC_CPU_AFFINITY, "2 cpus (mixed)");
	aggregation_release(aggregation);
	set_values(snapshot, METRIC_CPU_AFFINITY, (uint64_t[]){two, three, three, three});
	aggregation = aggregation_create(snapshot, one_group, 1, false);
	expect_text(aggregation, 0, METRIC_CPU_AFFINITY, "2-3 cpus (mixed)");
	expect_number(aggregation, METRIC_CPU_AFFINITY, 2.5);
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

/* By flags: none measured is absent; one measured makes the group so, and all add what they store. */
static void test_flags(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	struct aggregation *aggregation;

	(void)state;
	set_values(snapshot, METRIC_ALLOCATED_BYTES, (uint64_t[]){5, 7, 5, 7});
	snapshot->thread_flags[0] = THREAD_JEMALLOC_MEASURED;
	aggregation = aggregation_create(snapshot, two_groups, 2, false);
	expect_text(aggregation, 0, METRIC_ALLOCATED_BYTES, "12B");
	assert_int_equal(aggregate_state(aggregation_get(aggregation, 1, METRIC_ALLOCATED_BYTES), NULL),
			 VALUE_ABSENT);
	assert_int_equal(aggregate_state(aggregation_get(aggregation, 0, METRIC_CPU_DELAY_COUNT), NULL),
			 VALUE_ABSENT);
	assert_int_equal(aggregation_derive(aggregation, 1, DERIVED_LIVE_HEAP_ESTIMATE).state, VALUE_ABSENT);
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

static void test_unavailable_and_partial(void **state)
{
	struct snapshot *snapshot = make_snapshot(true);
	struct aggregation *aggregation;
	const struct aggregate *aggregate;
	reason_id reason;

	(void)state;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	set_values(snapshot, METRIC_RCHAR, (uint64_t[]){10, 20, 40, 80});
	set_values(snapshot, METRIC_READ_BYTES, (uint64_t[]){1, 2, 4, 8});
	snapshot_source_reasons(snapshot, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(snapshot, SOURCE_IO)[2] = REASON_ENDED;
	snapshot_source_reasons(snapshot, SOURCE_IO)[3] = REASON_ENDED;
	snapshot->thread_flags[3] = THREAD_KERNEL;
	aggregation = aggregation_create(snapshot, two_groups, 2, false);

	aggregate = aggregation_get(aggregation, 0, METRIC_RCHAR);
	assert_int_equal(aggregate_state(aggregate, &reason), VALUE_READ);
	assert_int_equal(reason, REASON_NOT_PERMITTED);
	assert_true(aggregate_is_partial(aggregate));
	expect_text(aggregation, 0, METRIC_RCHAR, "10B");
	/* inputs that miss the same threads: the ratio of the rest stands */
	assert_int_equal(aggregation_derive(aggregation, 0, DERIVED_DISK_IO_FRACTION).state, VALUE_READ);
	assert_false(aggregation_derive(aggregation, 0, DERIVED_DISK_IO_FRACTION).partial);

	/* one ended, one kernel thread to whom it does not apply */
	aggregate = aggregation_get(aggregation, 1, METRIC_RCHAR);
	assert_int_equal(aggregate_state(aggregate, &reason), VALUE_UNAVAILABLE);
	assert_int_equal(reason, REASON_ENDED);
	assert_int_equal(aggregate->read, 0);
	assert_int_equal(aggregate->unavailable, 1);
	assert_int_equal(aggregation_derive(aggregation, 1, DERIVED_DISK_IO_FRACTION).state,
			 VALUE_UNAVAILABLE);
	assert_int_equal(aggregation_derive(aggregation, 1, DERIVED_DISK_IO_FRACTION).reason, REASON_ENDED);
	aggregation_release(aggregation);

	/* by flags the same snapshot has plain zeros and sums */
	aggregation = aggregation_create(snapshot, two_groups, 2, true);
	expect_text(aggregation, 0, METRIC_RCHAR, "30B");
	expect_text(aggregation, 1, METRIC_RCHAR, "120B");
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

static void test_inputs_missing_different_threads(void **state)
{
	struct snapshot *snapshot = make_snapshot(true);
	struct aggregation *aggregation;
	struct aggregate_derived derived;

	(void)state;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	set_values(snapshot, METRIC_RCHAR, (uint64_t[]){10, 20, 40, 80});
	set_values(snapshot, METRIC_CPU_DELAY_TOTAL_NS, (uint64_t[]){1, 1, 1, 1});
	snapshot_add_exception(snapshot, 2, METRIC_READ_BYTES, REASON_BAD_VALUE);
	for (uint32_t i = 0; i < THREADS; i++)
		snapshot->thread_flags[i] = THREAD_TASKSTATS_MEASURED | THREAD_CPU_DELAY_ACTIVE |
					    THREAD_DELAY_BLOCK_ACTIVE;
	snapshot_add_exception(snapshot, 1, METRIC_IRQ_DELAY_TOTAL_NS, REASON_NOT_IN_KERNEL);
	snapshot_finish(snapshot);
	aggregation = aggregation_create(snapshot, one_group, 1, false);
	derived = aggregation_derive(aggregation, 0, DERIVED_DISK_IO_FRACTION);
	assert_int_equal(derived.state, VALUE_UNAVAILABLE);
	assert_int_equal(derived.reason, REASON_BAD_VALUE);
	/* a sum of partial sums is a lower bound */
	derived = aggregation_derive(aggregation, 0, DERIVED_TOTAL_OFFCPU_DELAY_NS);
	assert_int_equal(derived.state, VALUE_READ);
	assert_true(derived.partial);
	assert_true(derived.value == 4.0);
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

struct derived_vector {
	enum derived derived;
	uint64_t inputs[DERIVED_INPUTS_MAX];
	double value;
};

/* The vectors of spec/derived.tsv. */
static const struct derived_vector derived_vectors[] = {
	{DERIVED_AFFINE_SUCCESS_RATIO, {7, 10}, 0.7},
	{DERIVED_AVG_WAIT_NS, {1000, 4}, 250},
	{DERIVED_CPU_EFFICIENCY, {100, 100}, 0.5},
	{DERIVED_AVG_SLICE_NS, {4000, 8}, 500},
	{DERIVED_INVOLUNTARY_CSW_RATIO, {25, 75}, 0.25},
	{DERIVED_DISK_IO_FRACTION, {2500, 10000}, 0.25},
	{DERIVED_LIVE_HEAP_ESTIMATE, {1000, 1500}, -500},
	{DERIVED_AVG_IOWAIT_NS, {9000, 3}, 3000},
	{DERIVED_AVG_CPU_DELAY_NS, {9000, 3}, 3000},
	{DERIVED_AVG_BLKIO_DELAY_NS, {20000, 4}, 5000},
	{DERIVED_AVG_SWAPIN_DELAY_NS, {35000, 5}, 7000},
	{DERIVED_AVG_FREEPAGES_DELAY_NS, {54000, 6}, 9000},
	{DERIVED_AVG_THRASHING_DELAY_NS, {77000, 7}, 11000},
	{DERIVED_AVG_COMPACT_DELAY_NS, {104000, 8}, 13000},
	{DERIVED_AVG_WPCOPY_DELAY_NS, {135000, 9}, 15000},
	{DERIVED_AVG_IRQ_DELAY_NS, {170000, 10}, 17000},
	{DERIVED_TOTAL_OFFCPU_DELAY_NS, {10, 20, 30, 40, 60, 70, 200, 50}, 430},
	{DERIVED_TOTAL_OFFCPU_DELAY_NS, {10, 20, 30, 40, 60, 70, 75, 300}, 530},
	{DERIVED_LIVE_HEAP_ESTIMATE, {0, 0}, 0},
	{DERIVED_TOTAL_OFFCPU_DELAY_NS, {0}, 0},
};

static void test_derived(void **state)
{
	const uint8_t all_flags = THREAD_TASKSTATS_MEASURED | THREAD_CPU_DELAY_ACTIVE |
				  THREAD_DELAY_BLOCK_ACTIVE | THREAD_XACCT_ACTIVE | THREAD_JEMALLOC_MEASURED;

	(void)state;
	for (size_t i = 0; i < sizeof(derived_vectors) / sizeof(derived_vectors[0]); i++) {
		const struct derived_vector *vector = &derived_vectors[i];
		const struct derived_entry *entry = &derived_metrics[vector->derived];
		struct snapshot *snapshot = make_snapshot(false);
		struct aggregation *aggregation;
		struct aggregate_derived derived;

		snapshot->thread_flags[0] = all_flags;
		for (size_t j = 0; j < entry->input_count; j++)
			snapshot_column(snapshot, entry->inputs[j])[0] = vector->inputs[j];
		aggregation = aggregation_create(snapshot, one_group, 1, false);
		derived = aggregation_derive(aggregation, 0, vector->derived);
		assert_int_equal(derived.state, VALUE_READ);
		assert_true(derived.value == vector->value);
		aggregation_release(aggregation);
		snapshot_release(snapshot);
	}
}

static void test_divisor_zero_is_absent(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	struct aggregation *aggregation = aggregation_create(snapshot, one_group, 1, false);

	(void)state;
	assert_int_equal(aggregation_derive(aggregation, 0, DERIVED_AVG_SLICE_NS).state, VALUE_ABSENT);
	assert_int_equal(aggregation_derive(aggregation, 0, DERIVED_CPU_EFFICIENCY).state, VALUE_ABSENT);
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

static void test_merge(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	uint32_t sets[3];
	struct aggregation *aggregation;

	(void)state;
	sets[0] = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1}, 2);
	sets[1] = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1, 2, 3}, 4);
	sets[2] = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1, 2, 3, 4, 5}, 6);
	set_values(snapshot, METRIC_RUN_TIME_NS, (uint64_t[]){30, 20, 50, 0});
	set_values(snapshot, METRIC_WAIT_MAX, (uint64_t[]){80, 1, 50, 2});
	set_values(snapshot, METRIC_NICE, (uint64_t[]){(uint64_t)-5, 0, 0, 5});
	set_values(snapshot, METRIC_CPU_AFFINITY, (uint64_t[]){sets[0], sets[1], sets[1], sets[2]});
	set_values(snapshot, METRIC_ALLOCATED_BYTES, (uint64_t[]){3, 3, 4, 5});
	set_names(snapshot, METRIC_POLICY, (const char *const[]){"A", "B", "B", "C"});
	snapshot->thread_flags[2] = THREAD_JEMALLOC_MEASURED;
	aggregation = aggregation_create(snapshot, two_groups, 2, false);
	expect_text(aggregation, 0, METRIC_POLICY, "A (1/2)");
	aggregation_merge(aggregation, 0, 1);
	expect_text(aggregation, 0, METRIC_THREAD_COUNT, "4");
	expect_text(aggregation, 0, METRIC_RUN_TIME_NS, "100ns");
	expect_text(aggregation, 0, METRIC_WAIT_MAX, "80ns");
	expect_text(aggregation, 0, METRIC_NICE, "-5..5");
	expect_text(aggregation, 0, METRIC_CPU_AFFINITY, "2-6 cpus (mixed)");
	expect_text(aggregation, 0, METRIC_POLICY, "B (2/4)");
	/* absent yields to the measured side */
	expect_text(aggregation, 0, METRIC_ALLOCATED_BYTES, "9B");
	assert_int_equal(aggregation_get(aggregation, 0, METRIC_NICE)->read, 4);
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

static void test_merge_of_equal_affinities(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	uint32_t set = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1}, 2);
	struct aggregation *aggregation;

	(void)state;
	set_values(snapshot, METRIC_CPU_AFFINITY, (uint64_t[]){set, set, set, set});
	aggregation = aggregation_create(snapshot, two_groups, 2, false);
	aggregation_merge(aggregation, 0, 1);
	expect_text(aggregation, 0, METRIC_CPU_AFFINITY, "2 cpus (0-1)");
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

/* More categories than are looked through one by one: every thread of a group has its own, but for two. */
static void test_many_categories(void **state)
{
	enum {
		MANY = 1000
	};
	struct snapshot *snapshot = snapshot_create();
	struct aggregation *aggregation;
	uint32_t groups[MANY];
	uint64_t *column;
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		snapshot_add_thread(snapshot, 100, 100 + i);
	column = snapshot_column(snapshot, METRIC_POLICY);
	for (uint32_t i = 0; i < MANY; i++) {
		size_t length = (size_t)snprintf(name, sizeof(name), "P%u", i == MANY - 1 ? 777 : i);

		groups[i] = i < MANY / 2 ? 0 : 1;
		column[i] = string_pool_intern(&snapshot->strings, name, length);
	}
	aggregation = aggregation_create(snapshot, groups, 2, false);
	expect_text(aggregation, 0, METRIC_POLICY, "P0 (1/500)");
	expect_text(aggregation, 1, METRIC_POLICY, "P777 (2/500)");
	aggregation_merge(aggregation, 0, 1);
	expect_text(aggregation, 0, METRIC_POLICY, "P777 (2/1000)");
	assert_int_equal(aggregation_get(aggregation, 0, METRIC_POLICY)->value.tally.count, MANY - 1);
	aggregation_release(aggregation);
	snapshot_release(snapshot);
}

/* A thread and its metrics that differ from those beside it. */
static void add_mixed_thread(struct snapshot *snapshot, uint32_t number)
{
	size_t thread = snapshot_add_thread(snapshot, number / 3, number);

	snapshot->thread_flags[thread] = (uint8_t)(number * 37 % 64);
	snapshot_source_reasons(snapshot, SOURCE_IO)[thread] = number % 7 == 0 ? REASON_ENDED : REASON_READ;
	if (number % 11 == 0)
		snapshot_add_exception(snapshot, thread, METRIC_MINFLT, REASON_BAD_VALUE);
	for (size_t metric = METRIC_THREAD_COUNT + 1; metric < METRIC_COUNT; metric++) {
		if (metric_type((enum metric)metric)->encoding == METRIC_ENCODING_U64 && metric % 5 != 0)
			snapshot_column(snapshot, (enum metric)metric)[thread] = number * metric % 4;
	}
}

/* What one metric leaves behind for the next, and a column for another, changes nothing. */
static void test_metrics_one_after_the_other(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	uint32_t group_of_thread[200];
	bool counted[200];

	(void)state;
	snapshot->provenance.present = true;
	snapshot->default_reason[SOURCE_TASKSTATS] = REASON_NOT_PERMITTED;
	for (uint32_t i = 0; i < 200; i++) {
		add_mixed_thread(snapshot, i);
		group_of_thread[i] = i * i % 17;
		counted[i] = true;
	}
	snapshot_finish(snapshot);
	for (int by_flags = 0; by_flags < 2; by_flags++) {
		struct aggregation *many = aggregation_create(snapshot, group_of_thread, 17, by_flags);

		for (size_t i = 0; i < METRIC_COUNT; i++) {
			enum metric metric = (enum metric)i;
			struct aggregation *one = aggregation_create(snapshot, group_of_thread, 17, by_flags);

			one->counted = counted; /* all, thread by thread */
			for (size_t group = 0; group < 17; group++) {
				const struct aggregate *left = aggregation_get(many, group, metric);
				const struct aggregate *right = aggregation_get(one, group, metric);

				assert_int_equal(left->read, right->read);
				assert_int_equal(left->unavailable, right->unavailable);
				assert_int_equal(left->reason, right->reason);
				assert_true(left->missing == right->missing);
				if (metric_type(metric)->encoding == METRIC_ENCODING_U64)
					assert_true(left->value.number == right->value.number);
			}
			if (i % 3 == 0)
				aggregation_forget(many, metric);
			aggregation_release(one);
		}
		aggregation_release(many);
	}
	snapshot_release(snapshot);
}

/* Nobody waited longer for a device than he lives; by the rules of the reference he did. */
static void test_impossible_wait(void **state)
{
	const uint64_t waits[THREADS] = {1000000, 2000000, UINT64_C(58000000000000), 3000000};

	(void)state;
	for (int by_flags = 0; by_flags < 2; by_flags++) {
		struct snapshot *snapshot = make_snapshot(true);
		struct aggregation *aggregation;

		snapshot->provenance.boottime_ns = UINT64_C(57000000000000);
		for (size_t i = 0; i < THREADS; i++)
			snapshot->thread_flags[i] |= THREAD_TASKSTATS_MEASURED | THREAD_DELAY_BLOCK_ACTIVE;
		set_values(snapshot, METRIC_BLKIO_DELAY_TOTAL_NS, waits);
		aggregation = aggregation_create(snapshot, one_group, 1, by_flags != 0);
		expect_number(aggregation, METRIC_BLKIO_DELAY_TOTAL_NS, by_flags != 0 ? 58000006e6 : 6e6);
		assert_int_equal(aggregation_get(aggregation, 0, METRIC_BLKIO_DELAY_TOTAL_NS)->unavailable,
				 1 - by_flags);
		aggregation_release(aggregation);
		snapshot_release(snapshot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_impossible_wait),
		cmocka_unit_test(test_unavailable_and_partial),
		cmocka_unit_test(test_inputs_missing_different_threads),
		cmocka_unit_test(test_derived),
		cmocka_unit_test(test_divisor_zero_is_absent),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_of_equal_affinities),
		cmocka_unit_test(test_many_categories),
		cmocka_unit_test(test_metrics_one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
