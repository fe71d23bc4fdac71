/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics and derived metrics of rows, as files store them. */
#include "tests/cmocka_include.h"

#include <stdio.h>
#include <string.h>

#include "table/cell_format.h"
#include "table/value_cell.h"
#include "window/reduction.h"

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

/* The settings of a test beside its rows. */
struct reduce_options {
	bool is_flagged;
	const bool *counted;
	const uint32_t *part_of; /* [thread], when flags are judged by something smaller than the rows */
	size_t part_count;
};

static struct reduction *reduce_with(const struct snapshot *snapshot, const uint32_t *row_of,
				     size_t row_count, const struct reduce_options *options)
{
	const struct window life = {
		.now = snapshot,
		.missing = REASON_NOT_IN_FILE,
		.mode = WINDOW_MODE_TOTAL,
		.basis = options->is_flagged || !snapshot->provenance.present ? WINDOW_FLAGGED
									      : WINDOW_STORED,
		.counted = options->counted,
	};
	struct shown shown = {.now = snapshot, .row_count = row_count};

	shown_reserve(&shown, snapshot->thread_count, row_count);
	for (uint32_t i = 0; i < snapshot->thread_count; i++)
		shown_add(&shown, i, row_of[i]);
	if (options->part_of != NULL) {
		shown.part_of = malloc((snapshot->thread_count + 1) * sizeof(uint32_t));
		memcpy(shown.part_of, options->part_of, snapshot->thread_count * sizeof(uint32_t));
		shown.part_count = options->part_count;
	}
	return reduction_create(&life, &shown);
}

static struct reduction *reduce(const struct snapshot *snapshot, const uint32_t *row_of, size_t row_count,
				bool is_flagged)
{
	return reduce_with(snapshot, row_of, row_count, &(struct reduce_options){.is_flagged = is_flagged});
}

static enum column column_of(enum metric metric)
{
	return (enum column)(COLUMN_METRICS + (int)metric);
}

static struct value value_of(struct reduction *reduction, size_t row, enum metric metric)
{
	struct value value;

	reduction_value(reduction, column_of(metric), row, &value);
	return value;
}

static struct value derive(struct reduction *reduction, size_t row, enum derived derived)
{
	struct value value;

	reduction_value(reduction, column_of_derived(derived), row, &value);
	return value;
}

static void expect_text(struct reduction *reduction, size_t row, enum metric metric, const char *text)
{
	const struct value value = value_of(reduction, row, metric);
	struct buffer buffer = {0};
	struct arena arena = {0};
	struct cell cell;

	assert_int_equal(value.state, VALUE_READ);
	value_report_cell(reduction_column(reduction, column_of(metric)), &value, &arena, &cell);
	cell.partial = false;
	cell_format_cell(&buffer, &cell);
	assert_string_equal(buffer.data, text);
	buffer_release(&buffer);
	arena_release(&arena);
}

static void expect_number(struct reduction *reduction, enum metric metric, double number)
{
	const struct value value = value_of(reduction, 0, metric);
	double got;

	assert_true(value_number(&value, &got));
	assert_true(got == number);
}

static void test_reductions(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	struct reduction *reduction;
	struct value value;
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
	reduction = reduce(snapshot, one_group, 1, false);
	expect_text(reduction, 0, METRIC_THREAD_COUNT, "4");
	expect_text(reduction, 0, METRIC_RUN_TIME_NS, "18446744073.710s");
	assert_true(value_of(reduction, 0, METRIC_RUN_TIME_NS).whole == UINT64_MAX);
	expect_text(reduction, 0, METRIC_WAIT_MAX, "9ns");
	expect_text(reduction, 0, METRIC_NICE, "-5..6");
	expect_number(reduction, METRIC_NICE, 0.5);
	expect_text(reduction, 0, METRIC_RT_PRIORITY, "0..4294967295");
	expect_text(reduction, 0, METRIC_POLICY, "SCHED_OTHER (3/4)");
	/* ties go to the smallest in byte order */
	expect_text(reduction, 0, METRIC_STATE, "R (2/4)");
	expect_text(reduction, 0, METRIC_EXT_ENABLED, "false (2/4)");
	value = value_of(reduction, 0, METRIC_POLICY);
	assert_false(value_number(&value, &number));
	reduction_release(reduction);
	snapshot_release(snapshot);
}

static void test_affinity(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	uint32_t two = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 2}, 2);
	uint32_t other = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){1, 3}, 2);
	uint32_t three = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1, 2}, 3);
	struct reduction *reduction;

	(void)state;
	set_values(snapshot, METRIC_CPU_AFFINITY, (uint64_t[]){two, two, two, other});
	reduction = reduce(snapshot, two_groups, 2, false);
	expect_text(reduction, 0, METRIC_CPU_AFFINITY, "2 cpus (0,2)");
	expect_text(reduction, 1, METRIC_CPU_AFFINITY, "2 cpus (mixed)");
	reduction_release(reduction);
	set_values(snapshot, METRIC_CPU_AFFINITY, (uint64_t[]){two, three, three, three});
	reduction = reduce(snapshot, one_group, 1, false);
	expect_text(reduction, 0, METRIC_CPU_AFFINITY, "2-3 cpus (mixed)");
	expect_number(reduction, METRIC_CPU_AFFINITY, 2.5);
	reduction_release(reduction);
	snapshot_release(snapshot);
}

/* By flags: none measured is absent; one measured makes the group so, and all add what they store. */
static void test_flags(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	struct reduction *reduction;

	(void)state;
	set_values(snapshot, METRIC_ALLOCATED_BYTES, (uint64_t[]){5, 7, 5, 7});
	snapshot->thread_flags[0] = THREAD_JEMALLOC_MEASURED;
	reduction = reduce(snapshot, two_groups, 2, false);
	expect_text(reduction, 0, METRIC_ALLOCATED_BYTES, "12B");
	assert_int_equal(value_of(reduction, 1, METRIC_ALLOCATED_BYTES).state, VALUE_ABSENT);
	assert_int_equal(value_of(reduction, 0, METRIC_CPU_DELAY_COUNT).state, VALUE_ABSENT);
	assert_int_equal(derive(reduction, 1, DERIVED_LIVE_HEAP_ESTIMATE).state, VALUE_ABSENT);
	reduction_release(reduction);
	snapshot_release(snapshot);
}

static void test_unavailable_and_partial(void **state)
{
	struct snapshot *snapshot = make_snapshot(true);
	struct reduction *reduction;
	struct value value;

	(void)state;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	set_values(snapshot, METRIC_RCHAR, (uint64_t[]){10, 20, 40, 80});
	set_values(snapshot, METRIC_READ_BYTES, (uint64_t[]){1, 2, 4, 8});
	snapshot_source_reasons(snapshot, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(snapshot, SOURCE_IO)[2] = REASON_ENDED;
	snapshot_source_reasons(snapshot, SOURCE_IO)[3] = REASON_ENDED;
	snapshot->thread_flags[3] = THREAD_KERNEL;
	reduction = reduce(snapshot, two_groups, 2, false);

	value = value_of(reduction, 0, METRIC_RCHAR);
	assert_int_equal(value.state, VALUE_READ);
	assert_int_equal(value.reason, REASON_NOT_PERMITTED);
	assert_true(value.partial);
	expect_text(reduction, 0, METRIC_RCHAR, "10B");
	/* inputs that miss the same threads: the ratio of the rest stands */
	assert_int_equal(derive(reduction, 0, DERIVED_DISK_IO_FRACTION).state, VALUE_READ);
	assert_false(derive(reduction, 0, DERIVED_DISK_IO_FRACTION).partial);

	/* one ended, one kernel thread to whom it does not apply */
	value = value_of(reduction, 1, METRIC_RCHAR);
	assert_int_equal(value.state, VALUE_UNAVAILABLE);
	assert_int_equal(value.reason, REASON_ENDED);
	assert_int_equal(derive(reduction, 1, DERIVED_DISK_IO_FRACTION).state, VALUE_UNAVAILABLE);
	assert_int_equal(derive(reduction, 1, DERIVED_DISK_IO_FRACTION).reason, REASON_ENDED);
	reduction_release(reduction);

	/* by flags the same snapshot has plain zeros and sums */
	reduction = reduce(snapshot, two_groups, 2, true);
	expect_text(reduction, 0, METRIC_RCHAR, "30B");
	expect_text(reduction, 1, METRIC_RCHAR, "120B");
	reduction_release(reduction);
	snapshot_release(snapshot);
}

static void test_inputs_missing_different_threads(void **state)
{
	struct snapshot *snapshot = make_snapshot(true);
	struct reduction *reduction;
	struct value derived;

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
	reduction = reduce(snapshot, one_group, 1, false);
	derived = derive(reduction, 0, DERIVED_DISK_IO_FRACTION);
	assert_int_equal(derived.state, VALUE_UNAVAILABLE);
	assert_int_equal(derived.reason, REASON_BAD_VALUE);
	/* a sum of partial sums is a lower bound */
	derived = derive(reduction, 0, DERIVED_TOTAL_OFFCPU_DELAY_NS);
	assert_int_equal(derived.state, VALUE_READ);
	assert_true(derived.partial);
	assert_true(derived.real == 4.0);
	reduction_release(reduction);
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
		struct reduction *reduction;
		struct value derived;

		snapshot->thread_flags[0] = all_flags;
		for (size_t j = 0; j < entry->input_count; j++)
			snapshot_column(snapshot, entry->inputs[j])[0] = vector->inputs[j];
		reduction = reduce(snapshot, one_group, 1, false);
		derived = derive(reduction, 0, vector->derived);
		assert_int_equal(derived.state, VALUE_READ);
		assert_true(derived.real == vector->value);
		reduction_release(reduction);
		snapshot_release(snapshot);
	}
}

static void test_divisor_zero_is_absent(void **state)
{
	struct snapshot *snapshot = make_snapshot(false);
	struct reduction *reduction = reduce(snapshot, one_group, 1, false);

	(void)state;
	assert_int_equal(derive(reduction, 0, DERIVED_AVG_SLICE_NS).state, VALUE_ABSENT);
	assert_int_equal(derive(reduction, 0, DERIVED_CPU_EFFICIENCY).state, VALUE_ABSENT);
	reduction_release(reduction);
	snapshot_release(snapshot);
}

/* Rows joined of two groups: by flags each group is judged by itself, all else is that of all threads. */
static void test_joined_groups(void **state)
{
	const struct reduce_options options = {.part_of = two_groups, .part_count = 2};
	struct snapshot *snapshot = make_snapshot(false);
	struct reduction *reduction;
	uint32_t sets[3];

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
	reduction = reduce_with(snapshot, one_group, 1, &options);
	expect_text(reduction, 0, METRIC_THREAD_COUNT, "4");
	expect_text(reduction, 0, METRIC_RUN_TIME_NS, "100ns");
	expect_text(reduction, 0, METRIC_WAIT_MAX, "80ns");
	expect_text(reduction, 0, METRIC_NICE, "-5..5");
	expect_text(reduction, 0, METRIC_CPU_AFFINITY, "2-6 cpus (mixed)");
	expect_text(reduction, 0, METRIC_POLICY, "B (2/4)");
	expect_text(reduction, 0, METRIC_ALLOCATED_BYTES, "9B");
	reduction_release(reduction);
	snapshot_release(snapshot);
}

/* Every thread of a group has a category of its own, but for two. */
static void test_many_categories(void **state)
{
	enum {
		MANY = 1000
	};
	struct snapshot *snapshot = snapshot_create();
	struct reduction *reduction;
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
	reduction = reduce(snapshot, groups, 2, false);
	expect_text(reduction, 0, METRIC_POLICY, "P0 (1/500)");
	expect_text(reduction, 1, METRIC_POLICY, "P777 (2/500)");
	reduction_release(reduction);
	memset(groups, 0, sizeof(groups));
	reduction = reduce(snapshot, groups, 1, false);
	expect_text(reduction, 0, METRIC_POLICY, "P777 (2/1000)");
	reduction_release(reduction);
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

/* Whether the reduction takes a short cut or asks thread by thread (`counted`), it comes to the same. */
static void test_short_cuts(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	uint32_t row_of_thread[200];
	bool counted[200];

	(void)state;
	snapshot->provenance.present = true;
	snapshot->default_reason[SOURCE_TASKSTATS] = REASON_NOT_PERMITTED;
	for (uint32_t i = 0; i < 200; i++) {
		add_mixed_thread(snapshot, i);
		row_of_thread[i] = i * i % 17;
		counted[i] = true;
	}
	snapshot_finish(snapshot);
	for (int is_flagged = 0; is_flagged < 2; is_flagged++) {
		const struct reduce_options options = {.is_flagged = is_flagged != 0, .counted = counted};
		struct reduction *one = reduce(snapshot, row_of_thread, 17, is_flagged);
		struct reduction *other = reduce_with(snapshot, row_of_thread, 17, &options);

		for (size_t i = 0; i < METRIC_COUNT; i++) {
			const enum metric metric = (enum metric)i;

			for (size_t row = 0; row < 17; row++) {
				const struct value left = value_of(one, row, metric);
				const struct value right = value_of(other, row, metric);

				assert_int_equal(left.state, right.state);
				assert_int_equal(left.reason, right.reason);
				assert_int_equal(left.partial, right.partial);
				if (left.form == VALUE_FORM_WHOLE)
					assert_true(left.whole == right.whole);
			}
			if (i % 3 == 0)
				reduction_forget(one, column_of(metric));
		}
		reduction_release(one);
		reduction_release(other);
	}
	snapshot_release(snapshot);
}

/* Nobody waited longer for a device than he lives; by the rules of ktstr he did. */
static void test_impossible_wait(void **state)
{
	const uint64_t waits[THREADS] = {1000000, 2000000, UINT64_C(58000000000000), 3000000};

	(void)state;
	for (int is_flagged = 0; is_flagged < 2; is_flagged++) {
		struct snapshot *snapshot = make_snapshot(true);
		struct reduction *reduction;

		snapshot->provenance.boottime_ns = UINT64_C(57000000000000);
		for (size_t i = 0; i < THREADS; i++)
			snapshot->thread_flags[i] |= THREAD_TASKSTATS_MEASURED | THREAD_DELAY_BLOCK_ACTIVE;
		set_values(snapshot, METRIC_BLKIO_DELAY_TOTAL_NS, waits);
		reduction = reduce(snapshot, one_group, 1, is_flagged != 0);
		expect_number(reduction, METRIC_BLKIO_DELAY_TOTAL_NS, is_flagged != 0 ? 58000006e6 : 6e6);
		assert_int_equal(value_of(reduction, 0, METRIC_BLKIO_DELAY_TOTAL_NS).partial, 1 - is_flagged);
		reduction_release(reduction);
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
		cmocka_unit_test(test_joined_groups),
		cmocka_unit_test(test_many_categories),
		cmocka_unit_test(test_short_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
