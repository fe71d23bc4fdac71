/* SPDX-License-Identifier: GPL-2.0-only */
/* The weights of changes, and the sentences about the largest. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/diff_blame.h"
#include "compare/diff_summary.h"
#include "delay_fixture.h"
#include "diff_sides.h"

static bool chosen[METRIC_COUNT];
static const struct diff_summary_per plain = {.interval_ns = 10 * NS_PER_S};

static void assert_sentence(struct diff_change change, struct diff_summary_per per, const char *expected)
{
	struct buffer text = {0};

	change.name_length = strlen(change.name);
	diff_summary_append(&change, &per, &text);
	assert_string_equal(text.data, expected);
	buffer_release(&text);
}

static void test_sentences_have_the_words_of_their_unit(void **state)
{
	struct diff_change change = {.metric = METRIC_WAIT_TIME_NS,
				     .name = "nginx worker-{N}",
				     .number = {2.1e9, 9.8e9},
				     .threads = {64, 96}};

	(void)state;
	assert_sentence(change, plain,
			"nginx worker-{N} waited 7.7 s longer for a CPU (2.1 s → 9.8 s, 64 → 96 threads)");
	change.number[DIFF_AFTER] = 850e3;
	change.threads[DIFF_AFTER] = 64;
	assert_sentence(change, plain,
			"nginx worker-{N} waited 2.1 s less for a CPU (2.1 s → 850 us, 64 threads)");
	assert_sentence(change, (struct diff_summary_per){.ascii = true},
			"nginx worker-{N} waited 2.1 s less for a CPU (2.1 s -> 850 us, 64 threads)");
	change = (struct diff_change){
		.metric = METRIC_READ_BYTES, .name = "db", .number = {1024, 2560}, .threads = {1, 1}};
	assert_sentence(change, plain, "db read 1.5 KiB more from storage (1 KiB → 2.5 KiB, 1 thread)");
	change = (struct diff_change){
		.metric = METRIC_MAJFLT, .name = "db", .number = {21234, 20000}, .threads = {1, 2}};
	assert_sentence(change, plain,
			"db had 1,234 fewer page faults that needed disk (21,234 → 20,000, 1 → 2 threads)");
	change = (struct diff_change){.metric = METRIC_RUN_TIME_NS,
				      .name = "backup",
				      .number = {0, 8000e9},
				      .threads = {0, 2},
				      .is_new = true};
	assert_sentence(change, plain,
			"backup, which was not there before, ran 2 h 13 min on a CPU (2 threads)");
	/* a sentence about rates has the numbers of the table: times are percent of a CPU */
	assert_sentence((struct diff_change){.metric = METRIC_RUN_TIME_NS,
					     .name = "api",
					     .number = {3.382e9, 7.322e9},
					     .threads = {12, 12}},
			(struct diff_summary_per){.rates = true},
			"api ran more on a CPU (338.2% → 732.2%, 12 threads)");
	assert_sentence(
		(struct diff_change){
			.metric = METRIC_READ_BYTES, .name = "db", .number = {2560, 1024}, .threads = {1, 1}},
		(struct diff_summary_per){.rates = true},
		"db read 1.5 KiB less from storage (2.5 KiB → 1 KiB per second, 1 thread)");
	/* rates of what began and ended within the second window */
	change.number[DIFF_AFTER] = 250e6;
	change.threads[DIFF_AFTER] = 0;
	assert_sentence(change, (struct diff_summary_per){.rates = true},
			"backup, which was not there before, ran 25.0% of the time on a CPU (ended since)");
}

static void test_sentences_are_divided_as_rows_are(void **state)
{
	struct diff_change change = {
		.metric = METRIC_RUN_TIME_NS, .name = "web", .number = {1e9, 6e9}, .threads = {1, 2}};
	struct diff_summary_per per = plain;

	(void)state;
	per.second = per.thread = true;
	assert_sentence(change, per,
			"web ran 5 s longer on a CPU (1 s → 6 s, 500 ms per second, 1 s → 3 s per thread, 1 "
			"→ 2 threads)");
	per.interval_ns = 0;
	per.thread = false;
	assert_sentence(change, per, "web ran 5 s longer on a CPU (1 s → 6 s, 1 → 2 threads)");
}

static void set(const char *process, enum metric metric, uint64_t first, uint64_t second)
{
	diff_fixture_add_both("/a", process, "t", metric, first, second);
}

/* Two captures, ten seconds apart, of which all metrics are told. */
static int open_sides(void **state)
{
	diff_fixture_begin(state);
	before->captured_at_unix_ns = NS_PER_S;
	after->captured_at_unix_ns = 11 * NS_PER_S;
	memset(chosen, true, sizeof(chosen));
	return 0;
}

static void test_the_largest_are_those_that_matter(void **state)
{
	struct diff_summary summary = {0};

	(void)state;
	/* a factor of 18,000 that nobody feels; a CPU that is another one; one wait counted in two ways */
	set("tiny", METRIC_RUN_TIME_NS, 2000, 36000000);
	set("moved", METRIC_PROCESSOR, 0, 1);
	set("pool", METRIC_WAIT_TIME_NS, 2100000000, 9800000000);
	set("pool", METRIC_WAIT_SUM, 2100000000, 9800000000);
	set("reader", METRIC_READ_BYTES, 0, UINT64_C(1) << 30);
	diff_fixture_compare(AXIS_PROCESS);
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 2);
	assert_string_equal(summary.items[0],
			    "pool waited 7.7 s longer for a CPU (2.1 s → 9.8 s, 2 threads)");
	assert_string_equal(summary.items[1], "reader read 1 GiB more from storage (0 → 1 GiB, 1 thread)");
	diff_summary_release(&summary);
	chosen[METRIC_WAIT_TIME_NS] = chosen[METRIC_WAIT_SUM] = false;
	diff_summary_make(diff, chosen, &plain, true, &summary);
	assert_int_equal(summary.count, 1);
	diff_summary_release(&summary);
}

/* A kernel thread's idle time is not reported as a change of its waits. */
static void test_idle_kernel_threads_are_not_told(void **state)
{
	struct diff_summary summary = {0};

	(void)state;
	before->provenance.present = after->provenance.present = true;
	set("rcu_tasks_trace_kthread", METRIC_BLOCK_SUM, 0, 12800000000);
	before->thread_flags[0] = after->thread_flags[0] = THREAD_KERNEL;
	set("reader", METRIC_BLOCK_SUM, 0, 2000000000);
	diff_fixture_compare(AXIS_PROCESS);
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 1);
	assert_string_equal(summary.items[0],
			    "reader was blocked 2 s longer in uninterruptible sleep (0 → 2 s, 1 thread)");
	diff_summary_release(&summary);
}

static void test_only_three_are_told(void **state)
{
	const char *const names[] = {"a", "b", "c", "d", "e"};
	struct diff_summary summary = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		set(names[i], METRIC_RUN_TIME_NS, 0, (i * 2 % 5 + 1) * NS_PER_S);
	diff_fixture_compare(AXIS_PROCESS);
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, DIFF_SUMMARY_MAX);
	assert_string_equal(summary.items[0], "c ran 5 s longer on a CPU (0 → 5 s, 1 thread)");
	assert_string_equal(summary.items[1], "e ran 4 s longer on a CPU (0 → 4 s, 1 thread)");
	assert_string_equal(summary.items[2], "b ran 3 s longer on a CPU (0 → 3 s, 1 thread)");
	diff_summary_release(&summary);
}

/* `api` waits, on both sides, while `backup` runs and for an idle CPU. */
static void add_delays(struct snapshot *snapshot, uint64_t backup_ms, uint64_t wakeup_ms, uint64_t batch_ms)
{
	uint32_t api, backup, batch;

	delay_fixture_begin(snapshot);
	api = delay_fixture_names(snapshot, "api", "api");
	backup = delay_fixture_names(snapshot, "backup", "backup");
	batch = delay_fixture_names(snapshot, "batch", "batch");
	delay_fixture_add(snapshot, api, LATENCY_CAUSE_THREADS, backup, backup_ms, 1);
	delay_fixture_add(snapshot, api, LATENCY_CAUSE_WAKEUP, 0, wakeup_ms, 1);
	delay_fixture_add(snapshot, batch, LATENCY_CAUSE_THREADS, batch, batch_ms, 1);
	delay_fixture_add(snapshot, delay_fixture_names(snapshot, "gone", "gone"), LATENCY_CAUSE_WAKEUP, 0,
			  10 * backup_ms, 1);
	delay_fixture_add(snapshot, backup, LATENCY_CAUSE_INTERRUPTS, 0, batch_ms / 2, 1);
}

/* A sentence for each victim whose time changed measurably. */
static void test_who_delays_whom(void **state)
{
	struct diff_summary summary = {0};

	(void)state;
	set("api", METRIC_RUN_TIME_NS, 0, 0);
	set("batch", METRIC_RUN_TIME_NS, 0, 0);
	set("backup", METRIC_RUN_TIME_NS, 0, 0);
	add_delays(before, 100, 100, 600);
	add_delays(after, 1700, 300, 0);
	diff_fixture_compare(AXIS_PROCESS);
	diff_blame_tell(diff, &summary);
	assert_int_equal(summary.count, 3);
	assert_string_equal(summary.items[0], "RUNQ% of api +90.0, of which +80.0 while backup ran");
	assert_string_equal(summary.items[1],
			    "RUNQ% of batch -30.0, of which -30.0 while its own threads ran");
	assert_string_equal(summary.items[2], "RUNQ% of backup -15.0, of which -15.0 (interrupts)");
	diff_summary_release(&summary);
	/* less than 1 % of a CPU, or less than a tenth */
	for (size_t i = 0; i < before->latency.delay_count; i++)
		before->latency.delays[i] = after->latency.delays[i];
	before->latency.delays[0].time_ns -= 150000000;
	before->latency.delays[2].time_ns += 19000000;
	diff_fixture_compare(AXIS_PROCESS);
	diff_blame_tell(diff, &summary);
	assert_int_equal(summary.count, 0);
	/* nor where a side has not measured it */
	before->latency.delays[0].time_ns = 0;
	before->latency.present = false;
	diff_fixture_compare(AXIS_PROCESS);
	diff_blame_tell(diff, &summary);
	assert_int_equal(summary.count, 0);
}

static void test_every_phrase_has_one_place_for_the_change(void **state)
{
	(void)state;
	for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
		struct diff_change change = {.metric = metric, .name = "x", .number = {0, 1}};
		struct buffer text = {0};

		if (!diff_summary_has(metric))
			continue;
		assert_int_equal(metric_type(metric)->kind, METRIC_KIND_COUNTER);
		diff_summary_append(&change, &plain, &text);
		assert_null(strchr(text.data, '*'));
		buffer_release(&text);
	}
}

/* The weight of the change of a metric in the group of a process. */
static double weight_of(const char *process, enum metric metric)
{
	struct diff_weight *weights = diff_weigh(diff, column_of_stored(metric));
	const double weight = weights[diff_fixture_pair(diff, process) - diff->pairs].weight;

	free(weights);
	return weight;
}

static void test_weights(void **state)
{
	(void)state;
	set("most", METRIC_WAIT_TIME_NS, 0, 7700000000);
	set("some", METRIC_WAIT_TIME_NS, 0, 300000000);
	set("little", METRIC_RUN_TIME_NS, 0, 36000000);
	set("one", METRIC_MAJFLT, 0, 1);
	set("many", METRIC_MINFLT, 0, 1000);
	set("peak", METRIC_WAIT_MAX, 0, 5000000000);
	set("elsewhere", METRIC_PROCESSOR, 0, 1);
	diff_fixture_compare(AXIS_PROCESS);
	assert_true(weight_of("most", METRIC_WAIT_TIME_NS) > weight_of("some", METRIC_WAIT_TIME_NS));
	assert_true(weight_of("most", METRIC_WAIT_TIME_NS) > weight_of("little", METRIC_RUN_TIME_NS));
	assert_true(weight_of("little", METRIC_RUN_TIME_NS) > weight_of("one", METRIC_MAJFLT));
	assert_true(weight_of("many", METRIC_MINFLT) > weight_of("peak", METRIC_WAIT_MAX));
	assert_true(weight_of("peak", METRIC_WAIT_MAX) > weight_of("elsewhere", METRIC_PROCESSOR));
}

#define SUMMARY_TEST(test) cmocka_unit_test_setup_teardown(test, open_sides, diff_fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUMMARY_TEST(test_sentences_have_the_words_of_their_unit),
		SUMMARY_TEST(test_sentences_are_divided_as_rows_are),
		SUMMARY_TEST(test_the_largest_are_those_that_matter),
		SUMMARY_TEST(test_idle_kernel_threads_are_not_told),
		SUMMARY_TEST(test_only_three_are_told),
		SUMMARY_TEST(test_who_delays_whom),
		SUMMARY_TEST(test_every_phrase_has_one_place_for_the_change),
		SUMMARY_TEST(test_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
