/* SPDX-License-Identifier: GPL-2.0-only */
/* The harm of changes, and the sentences about those that do most. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/diff_harm.h"
#include "compare/diff_summary.h"
#include "delay_fixture.h"
#include "diff_sides.h"

static bool chosen[METRIC_COUNT];
static const struct diff_summary_per plain;

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

/* The sentence about a column in the group of a process; "" where there is none. */
static void expect_sentence(const char *process, enum column column, struct diff_summary_per per,
			    const char *expected)
{
	const struct pair_sides sides = {.diff = diff};
	struct buffer name = {0}, text = {0};

	buffer_append_text(&name, process);
	buffer_append_text(&text, "");
	assert_int_equal(
		diff_summary_append(&sides, diff_fixture_pair(diff, process), column, &name, &per, &text),
		*expected != '\0');
	assert_string_equal(text.length != 0 ? text.data : "", expected);
	buffer_release(&name);
	buffer_release(&text);
}

static void test_sentences_have_the_words_of_their_unit(void **state)
{
	(void)state;
	set("nginx", METRIC_WAIT_TIME_NS, 2100000000, 9800000000);
	set("less", METRIC_WAIT_TIME_NS, 2100000000, 850000);
	set("db", METRIC_READ_BYTES, 1024, 2560);
	set("disk", METRIC_MAJFLT, 21234, 20000);
	diff_fixture_compare(AXIS_PROCESS);
	expect_sentence("nginx", COLUMN_RUNQ, plain,
			"nginx waited 7.7 s longer for a CPU (2.1 s → 9.8 s, 1 thread)");
	expect_sentence("nginx", COLUMN_WAITSUM, plain, "");
	expect_sentence("less", column_of_stored(METRIC_WAIT_TIME_NS), plain,
			"less waited 2.1 s less for a CPU (2.1 s → 850 us, 1 thread)");
	expect_sentence("less", COLUMN_RUNQ, (struct diff_summary_per){.ascii = true},
			"less waited 2.1 s less for a CPU (2.1 s -> 850 us, 1 thread)");
	expect_sentence("db", COLUMN_READ, plain,
			"db read 1.5 KiB more from storage (1 KiB → 2.5 KiB, 1 thread)");
	expect_sentence("disk", COLUMN_MAJF, plain,
			"disk had 1,234 fewer page faults that needed disk (21,234 → 20,000, 1 thread)");
	expect_sentence("disk", COLUMN_READ, plain, "");
	expect_sentence("disk", COLUMN_PRIO, plain, "");
}

static void test_sentences_are_divided_as_rows_are(void **state)
{
	(void)state;
	set("web", METRIC_RUN_TIME_NS, NS_PER_S, 6 * NS_PER_S);
	diff_fixture_compare(AXIS_PROCESS);
	expect_sentence("web", COLUMN_CPU, (struct diff_summary_per){.second = true, .thread = true},
			"web ran 5 s longer on a CPU (1 s → 6 s, 500 ms per second, 1 s → 6 s per thread, 1 "
			"thread)");
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
	assert_string_equal(summary.items[0], "reader read 1 GiB more from storage (0 → 1 GiB, 1 thread)");
	assert_null(summary.nothing);
	diff_summary_release(&summary);
	memset(chosen, false, sizeof(chosen));
	chosen[METRIC_MAJFLT] = true;
	diff_summary_make(diff, chosen, &plain, true, &summary);
	assert_int_equal(summary.count, 0);
	assert_string_equal(summary.nothing, "nothing of note changed in 4 groups with 5 threads");
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

static void expect_first(const char *expected)
{
	struct diff_summary summary = {0};

	diff_fixture_compare(AXIS_PROCESS);
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_string_equal(summary.count != 0 ? summary.items[0] : summary.nothing, expected);
	diff_summary_release(&summary);
}

/* A group that waits for a CPU is told with who ran then. */
static void test_who_delays_whom(void **state)
{
	(void)state;
	set("api", METRIC_WAIT_TIME_NS, 0, 2 * NS_PER_S);
	set("batch", METRIC_RUN_TIME_NS, 0, 0);
	set("backup", METRIC_RUN_TIME_NS, 0, 0);
	add_delays(before, 100, 100, 600);
	add_delays(after, 1700, 300, 0);
	expect_first("api waited 2 s longer for a CPU (0 → 2 s, 1 thread); RUNQ% +80.0 while backup ran");
	/* less than 1 % of a CPU, or less than a tenth */
	for (size_t i = 0; i < before->latency.delay_count; i++)
		before->latency.delays[i] = after->latency.delays[i];
	before->latency.delays[0].time_ns -= 150000000;
	expect_first("api waited 2 s longer for a CPU (0 → 2 s, 1 thread)");
	/* nor where a side has not measured it */
	before->latency.delays[0].time_ns = 0;
	before->latency.present = false;
	expect_first("api waited 2 s longer for a CPU (0 → 2 s, 1 thread)");
}

static void set_waits(struct snapshot *snapshot, enum wait_class class, const char *object)
{
	if (snapshot->wait_class == NULL) {
		snapshot->wait_class = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint8_t));
		snapshot->wait_object = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint32_t));
	}
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		snapshot->tgid[i] = 1;
		snapshot->wait_class[i] = (uint8_t) class;
		snapshot->wait_object[i] = string_pool_intern(&snapshot->strings, object, strlen(object));
	}
}

/* A group that is slower is told with what its threads wait for now, if they waited for something else. */
static void test_other_waits(void **state)
{
	static const char slower[] = "api waited 2 s longer for a CPU (0 → 2 s, 2 threads)";
	static const struct {
		enum wait_class before;
		const char *former;
		enum wait_class after;
		const char *present, *words;
	} cases[] = {
		{WAIT_CLASS_POLL, "", WAIT_CLASS_FUTEX, "0x2 lock",
		 "; now 2 of 2 threads wait at one futex, a lock by its value"},
		{WAIT_CLASS_SOCKET, ":80", WAIT_CLASS_SOCKET, ":5432 db",
		 "; now 2 of 2 threads wait for socket :5432 db"},
		{WAIT_CLASS_POLL, "", WAIT_CLASS_DISK, "", "; now 2 of 2 threads wait for the disk"},
		{WAIT_CLASS_SOCKET, ":80", WAIT_CLASS_SOCKET, ":80", ""},
		{WAIT_CLASS_SOCKET, "", WAIT_CLASS_SOCKET, ":80", ""},
		{WAIT_CLASS_DISK, "", WAIT_CLASS_DISK, "", ""},
		{WAIT_CLASS_FUTEX, "0x1", WAIT_CLASS_FUTEX, "0x2", ""},
		{WAIT_CLASS_SOCKET, ":80", WAIT_CLASS_POLL, "", ""},
		{WAIT_CLASS_UNKNOWN, "", WAIT_CLASS_SOCKET, ":80", ""},
	};
	char expected[200];

	(void)state;
	set("api", METRIC_WAIT_TIME_NS, 0, NS_PER_S);
	set("api", METRIC_WAIT_TIME_NS, 0, NS_PER_S);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		set_waits(before, cases[i].before, cases[i].former);
		set_waits(after, cases[i].after, cases[i].present);
		snprintf(expected, sizeof(expected), "%s%s", slower, cases[i].words);
		expect_first(expected);
	}
	/* a faster one, and a new one */
	set_waits(before, WAIT_CLASS_POLL, "");
	for (size_t i = 0; i < 2; i++)
		diff_fixture_set(before, i, METRIC_WAIT_TIME_NS, 3 * NS_PER_S);
	expect_first("api waited 4 s less for a CPU (6 s → 2 s, 2 threads)");
	for (size_t i = 0; i < 2; i++)
		diff_fixture_set(after, diff_fixture_add(after, "/a", "new", "t", 1), METRIC_WAIT_TIME_NS,
				 9 * NS_PER_S);
	set_waits(after, WAIT_CLASS_SOCKET, ":80");
	expect_first("new, new: waiting for a CPU 18 s (2 threads); now 2 of 2 threads wait for socket :80");
}

/* The one who ran is named as the one who waited is. */
static void test_who_delays_whom_by_all_names(void **state)
{
	struct diff_summary summary = {0};

	(void)state;
	diff_fixture_add_both("/a", "api", "api", METRIC_WAIT_TIME_NS, 0, 2 * NS_PER_S);
	diff_fixture_add_both("/a", "backup", "backup", METRIC_RUN_TIME_NS, 0, 0);
	add_delays(before, 100, 100, 600);
	add_delays(after, 1700, 300, 0);
	diff_fixture_compare(AXIS_ALL);
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 1);
	assert_string_equal(
		summary.items[0],
		"api waited 2 s longer for a CPU (0 → 2 s, 1 thread); RUNQ% +80.0 while backup ran");
	diff_summary_release(&summary);
}

/* The cause leads where it has a third of the most harm; of what follows from it two numbers are named. */
static void test_causes_come_first(void **state)
{
	(void)state;
	set("api", METRIC_RUN_TIME_NS, 4 * NS_PER_S, 5 * NS_PER_S);
	diff_fixture_set(after, 0, METRIC_WAIT_TIME_NS, 2 * NS_PER_S);
	diff_fixture_set(before, 0, METRIC_WAIT_TIME_NS, 0);
	diff_fixture_set(after, 0, METRIC_MINFLT, 120000);
	diff_fixture_set(before, 0, METRIC_MINFLT, 0);
	diff_fixture_set(after, 0, METRIC_VOLUNTARY_CSW, 20000);
	diff_fixture_set(before, 0, METRIC_VOLUNTARY_CSW, 10000);
	/* harms of 5, 12 and 10 */
	expect_first("api ran 1 s longer on a CPU (4 s → 5 s, 1 thread); page faults without disk 0 → "
		     "120,000, waiting for a CPU 0 → 2 s");
	diff_fixture_set(after, 0, METRIC_WAIT_TIME_NS, 8 * NS_PER_S);
	expect_first("api waited 8 s longer for a CPU (0 → 8 s, 1 thread); page faults without disk 0 → "
		     "120,000, on a CPU 4 s → 5 s");
}

/* What is new or gone counts with all that it has. */
static void test_one_sided_groups_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++)
		diff_fixture_add(after, "/a", "idle", "worker", 1);
	expect_first("idle, new: 8 threads");
	diff_fixture_set(after, diff_fixture_add(after, "/a", "cc1", "cc1", 1), METRIC_RUN_TIME_NS,
			 4 * NS_PER_S);
	expect_first("cc1, new: on a CPU 4 s (1 thread)");
	diff_fixture_set(before, diff_fixture_add(before, "/a", "ld", "ld", 1), METRIC_RUN_TIME_NS,
			 9 * NS_PER_S);
	expect_first("ld, gone: on a CPU 9 s (1 thread)");
}

/* RSS that lacks what each CPU counts for itself is compared as it is shown. */
static void test_memory_is_told_as_shown(void **state)
{
	(void)state;
	set("cache", METRIC_RUN_TIME_NS, 0, 0);
	before->provenance.present = after->provenance.present = true;
	before->resident_missing = after->resident_missing = REASON_READ;
	before->provenance.resident_error = after->provenance.resident_error = UINT64_MAX;
	snapshot_add_resident(before, 0, UINT64_C(119) << 20, 0);
	snapshot_add_resident(after, 0, UINT64_C(432) << 20, 0);
	expect_first("cache held 313 MiB more memory (119 MiB → 432 MiB, 1 thread)");
}

/* What a new group did is a bound where not all of it is known. */
static void test_bounds_are_told(void **state)
{
	size_t thread;

	(void)state;
	before->provenance.present = after->provenance.present = true;
	set("idle", METRIC_RUN_TIME_NS, 0, 0);
	thread = diff_fixture_add(after, "/a", "tar", "tar", 1);
	diff_fixture_set(after, thread, METRIC_READ_BYTES, UINT64_C(4) << 30);
	thread = diff_fixture_add(after, "/a", "tar", "tar", 1);
	snapshot_source_reasons(after, SOURCE_IO)[thread] = REASON_NOT_PERMITTED;
	expect_first("tar, new: read at least 4 GiB (2 threads)");
}

static void test_names_are_those_of_people(void **state)
{
	struct diff_summary summary = {0};

	(void)state;
	diff_fixture_add_both("/a", "api", "worker-1", METRIC_RUN_TIME_NS, 0, 9 * NS_PER_S);
	diff_fixture_add_both("/a", "web", "worker-1", METRIC_RUN_TIME_NS, 0, 8 * NS_PER_S);
	diff_fixture_add_both("/a", "web", "reaper", METRIC_RUN_TIME_NS, 0, 7 * NS_PER_S);
	diff_fixture_compare(AXIS_ALL);
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 3);
	assert_string_equal(summary.items[0],
			    "worker-{N} of api ran 9 s longer on a CPU (0 → 9 s, 1 thread)");
	assert_string_equal(summary.items[1],
			    "worker-{N} of web ran 8 s longer on a CPU (0 → 8 s, 1 thread)");
	assert_string_equal(summary.items[2], "reaper ran 7 s longer on a CPU (0 → 7 s, 1 thread)");
	diff_summary_release(&summary);
}

static void test_threads_are_counted_by_their_number(void **state)
{
	(void)state;
	for (size_t i = 0; i < 40; i++)
		diff_fixture_add(before, "/a", "pool", "worker", 1);
	for (size_t i = 0; i < 60; i++)
		diff_fixture_add(after, "/a", "pool", "worker", 1);
	expect_first("pool had 20 more threads (40 → 60)");
	/* less than a fifth */
	for (size_t i = 0; i < 13; i++)
		diff_fixture_add(before, "/a", "pool", "worker", 1);
	expect_first("nothing of note changed in 1 group with 60 threads");
}

static void test_every_phrase_has_one_place_for_the_change(void **state)
{
	(void)state;
	for (size_t i = 0; i < diff_harm_count; i++) {
		const char *star = strchr(diff_harms[i].phrase, '*');

		assert_non_null(star);
		assert_null(strchr(star + 1, '*'));
		assert_true(diff_harms[i].unit > 0);
		assert_ptr_equal(diff_harm_find(diff_harms[i].column), &diff_harms[i]);
	}
	assert_null(diff_harm_find(COLUMN_PRIO));
}

static double harm_of(const char *process, enum metric metric)
{
	return diff_harm(diff, diff_fixture_pair(diff, process), column_of_stored(metric));
}

static void test_harm(void **state)
{
	static const uint32_t cpus[] = {0, 1, 2};

	(void)state;
	set("wait", METRIC_WAIT_TIME_NS, 0, 7700000000);
	set("little", METRIC_RUN_TIME_NS, 0, 36000000);
	set("faults", METRIC_MINFLT, 0, 1000);
	set("peak", METRIC_WAIT_MAX, 0, 40000000);
	set("idle", METRIC_VOLUNTARY_SLEEP_NS, 0, 10 * NS_PER_S);
	set("elsewhere", METRIC_PROCESSOR, 0, 1);
	set("pinned", METRIC_CPU_AFFINITY, cpu_set_intern(&before->cpu_sets, cpus, 2),
	    cpu_set_intern(&after->cpu_sets, cpus + 1, 2));
	diff_fixture_set(after, diff_fixture_add(after, "/a", "new", "new", 1), METRIC_RUN_TIME_NS,
			 2 * NS_PER_S);
	diff_fixture_compare(AXIS_PROCESS);
	/* over ten seconds */
	assert_true(fabs(harm_of("wait", METRIC_WAIT_TIME_NS) - 38.5) < 1e-9);
	assert_true(fabs(harm_of("little", METRIC_RUN_TIME_NS) - 0.18) < 1e-9);
	assert_true(fabs(harm_of("faults", METRIC_MINFLT) - 0.1) < 1e-9);
	assert_true(fabs(harm_of("new", METRIC_RUN_TIME_NS) - 10) < 1e-9);
	assert_true(fabs(harm_of("idle", METRIC_VOLUNTARY_SLEEP_NS) - 0.05) < 1e-9);
	/* no rate */
	assert_true(fabs(harm_of("peak", METRIC_WAIT_MAX) - 2) < 1e-9);
	assert_true(harm_of("elsewhere", METRIC_PROCESSOR) == 0.001);
	/* other CPUs, as many as before */
	assert_true(harm_of("pinned", METRIC_CPU_AFFINITY) == 0.001);
	assert_true(harm_of("wait", METRIC_MINFLT) == 0);
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
		SUMMARY_TEST(test_who_delays_whom_by_all_names),
		SUMMARY_TEST(test_other_waits),
		SUMMARY_TEST(test_every_phrase_has_one_place_for_the_change),
		SUMMARY_TEST(test_causes_come_first),
		SUMMARY_TEST(test_one_sided_groups_are_told),
		SUMMARY_TEST(test_memory_is_told_as_shown),
		SUMMARY_TEST(test_bounds_are_told),
		SUMMARY_TEST(test_names_are_those_of_people),
		SUMMARY_TEST(test_threads_are_counted_by_their_number),
		SUMMARY_TEST(test_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
