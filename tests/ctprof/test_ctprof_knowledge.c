/* SPDX-License-Identifier: GPL-2.0-only */
/* The `ctop` objects as they are read, and files of older generations. */
#include <stdlib.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "snapshot_example.h"

/* A file without notes. */
static struct snapshot *read_knowledge(const char *top, const char *first, const char *second)
{
	return example_accept_two_threads(top, first, second, "");
}

static void expect(const struct snapshot *snapshot, size_t thread, enum metric metric, uint16_t state)
{
	assert_int_equal(snapshot_value_state(snapshot, thread, metric), state);
}

static void test_missing_becomes_state(void **state)
{
	struct snapshot *snapshot = read_knowledge(
		"\"version\":1,\"missing\":{\"io\":\"not-permitted\",\"minflt\":\"not-in-kernel\","
		"\"sched\":\"ended\"}",
		"",
		"\"missing\":{\"io\":\"read\",\"minflt\":\"read\",\"schedstats\":\"switched-off\","
		"\"wchar\":\"bad-value\"}");

	(void)state;
	assert_true(snapshot->provenance.present);
	expect(snapshot, 0, METRIC_RCHAR, REASON_NOT_PERMITTED);
	expect(snapshot, 1, METRIC_RCHAR, REASON_READ);
	expect(snapshot, 1, METRIC_WCHAR, REASON_BAD_VALUE);
	expect(snapshot, 0, METRIC_MINFLT, REASON_NOT_IN_KERNEL);
	expect(snapshot, 1, METRIC_MINFLT, REASON_READ);
	expect(snapshot, 0, METRIC_WAIT_SUM, REASON_ENDED);
	expect(snapshot, 1, METRIC_WAIT_SUM, REASON_SWITCHED_OFF);
	expect(snapshot, 1, METRIC_NR_MIGRATIONS, REASON_ENDED);
	expect(snapshot, 0, METRIC_MAJFLT, REASON_READ);
	snapshot_release(snapshot);
}

static void test_unknown_names_are_ignored_and_reasons_kept(void **state)
{
	struct snapshot *snapshot = read_knowledge(
		"\"version\":2,\"later\":[1],\"missing\":{\"tomorrow\":\"x\",\"io\":\"too-warm\",\"psi.cpu\":"
		"\"too-warm\",\"psi.gpu\":\"x\"},\"features\":{\"teleport\":{\"state\":\"on\"},\"delays\":{"
		"\"state\":"
		"\"odd\"},\"taskstats\":{\"state\":\"off\",\"reason\":\"too-warm\"}},\"sources\":{\"rchar\":"
		"\"stat\","
		"\"nice\":\"taskstats\",\"later\":\"io\"},\"tallies\":{\"tomorrow\":{\"read\":1},\"io\":{"
		"\"read\":2,"
		"\"missed\":{\"too-warm\":3}}},\"roots\":{\"moon\":\"/m\"},\"namespaces\":{\"moon\":1},"
		"\"host\":{\"later\":1,\"load_centi\":[1],\"cpu_end\":99999,\"cpus\":[{\"cpu\":99999,"
		"\"idle\":1,\"all\":2},{\"cpu\":3,\"idle\":1,\"all\":2}],\"disks\":[{\"busy_ms\":1},{"
		"\"name\":\"sda\"}]}",
		"\"later\":{},\"missing\":{\"tomorrow\":\"x\"},\"age_ns\":{\"tomorrow\":1}", "");
	reason_id reason;

	(void)state;
	/* no CPU has such a number, and no disk no name */
	assert_int_equal(snapshot->provenance.devices.cpu_end, 0);
	assert_int_equal(snapshot->provenance.devices.cpu_count, 1);
	assert_int_equal(snapshot->provenance.devices.cpus[0].number, 3);
	assert_int_equal(snapshot->provenance.devices.disk_count, 1);
	assert_string_equal(snapshot->provenance.devices.disks[0].name, "sda");
	reason = (reason_id)snapshot_value_state(snapshot, 0, METRIC_RCHAR);
	assert_string_equal(reason_words(reason), "too-warm");
	assert_string_equal(reason_name(snapshot->pressure_missing[PRESSURE_CPU]), "too-warm");
	assert_int_equal(snapshot->provenance.features[FEATURE_DELAYS].state, FEATURE_STATE_UNKNOWN);
	assert_string_equal(reason_name(snapshot->provenance.features[FEATURE_TASKSTATS].reason), "too-warm");
	/* a source that cannot carry the metric is not believed */
	assert_int_equal(snapshot->metric_source[METRIC_RCHAR], SOURCE_IO);
	assert_int_equal(snapshot->metric_source[METRIC_NICE], SOURCE_TASKSTATS);
	assert_int_equal(snapshot->provenance.tallies[SOURCE_IO].read, 2);
	assert_int_equal(snapshot->provenance.tallies[SOURCE_IO].missed[reason], 3);
	assert_false(snapshot->provenance.load_known);
	snapshot_release(snapshot);
}

static void test_threads_and_cgroups(void **state)
{
	struct snapshot *snapshot = read_knowledge(
		"\"boottime_ns\":5000000000,\"heap\":[{\"tgid\":9,\"tag\":\"t\"}]",
		"\"kernel\":true,\"uid\":0,\"age_ns\":{\"sched\":4000000000,\"io\":18446744073709551615}",
		"\"uid\":1000,\"kernel\":false,\"layout\":\"known-build\"");

	(void)state;
	assert_true(snapshot->thread_flags[0] & THREAD_KERNEL);
	assert_false(snapshot->thread_flags[1] & THREAD_KERNEL);
	assert_int_equal(snapshot->uid[0], 0);
	assert_int_equal(snapshot->uid[1], 1000);
	assert_int_equal(snapshot_read_time(snapshot, 0, METRIC_WAIT_SUM), 1000000000);
	assert_int_equal(snapshot_read_time(snapshot, 1, METRIC_WAIT_SUM), 5000000000);
	assert_int_equal(snapshot_read_time(snapshot, 0, METRIC_RCHAR), 0);
	assert_int_equal(snapshot->provenance.heap_count, 2);
	assert_int_equal(snapshot->provenance.heap[1].tgid, 1);
	assert_string_equal(snapshot->provenance.heap[1].layout, "known-build");
	expect(snapshot, 0, METRIC_RCHAR, STATE_ABSENT);
	snapshot_release(snapshot);
}

/* Titles may be in any order in the file. The last title of a process counts; a title without text is
 * ignored. */
static void test_titles(void **state)
{
	struct snapshot *snapshot = read_knowledge(
		"\"titles\":[{\"tgid\":9,\"text\":\"old\"},{\"text\":\"of nobody\"},{\"tgid\":7},"
		"{\"tgid\":2,\"text\":\"two\"},{\"tgid\":9,\"text\":\"new\"}]",
		"", "");

	(void)state;
	assert_string_equal(snapshot_find_title(snapshot, 9), "new");
	assert_string_equal(snapshot_find_title(snapshot, 2), "two");
	assert_null(snapshot_find_title(snapshot, 7));
	assert_null(snapshot_find_title(snapshot, 8));
	snapshot_release(snapshot);
}

/* Waits are known where the file says so at its top; those for a CPU and in D count as stuck. */
static void test_waits(void **state)
{
	/* the words that we know are all of it, no part and no beginning */
	static const char *const others[] = {"\"waits\":\"otherwise\"", "\"waits\":\"\"",
					     "\"waits\":\"under\"", "\"waits\":\"under-way and more\""};
	struct snapshot *snapshot = read_knowledge("\"waits\":\"under-way\"", "\"waiting_ns\":7",
						   "\"waiting_ns\":500000000,\"waiting_at_least\":true");

	(void)state;
	assert_int_equal(snapshot->thread_flags[0] & THREAD_WAIT_AT_LEAST, 0);
	assert_int_equal(snapshot->thread_flags[1] & THREAD_WAIT_AT_LEAST, THREAD_WAIT_AT_LEAST);
	assert_true(snapshot->waiting_ns[0] == 7 && snapshot->stuck_ns[0] == 0);
	assert_int_equal(snapshot_wait_under_way(snapshot, 0), 0);
	assert_true(snapshot->waiting_ns[1] == 500000000 && snapshot->stuck_ns[1] == 500000000);
	assert_int_equal(snapshot_wait_under_way(snapshot, 1), 500000000);
	snapshot_release(snapshot);
	snapshot = read_knowledge("\"waits\":\"under-way\"", "", "");
	assert_non_null(snapshot->waiting_ns);
	snapshot_release(snapshot);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snapshot = read_knowledge(others[i], "\"waiting_ns\":7", "");
		assert_null(snapshot->waiting_ns);
		assert_null(snapshot->stuck_ns);
		snapshot_release(snapshot);
	}
}

static void expect_wait(const struct snapshot *snapshot, size_t thread, enum wait_class class,
			const char *object)
{
	assert_int_equal(snapshot->wait_class[thread], class);
	assert_string_equal(snapshot_text(snapshot, snapshot->wait_object[thread]), object);
}

#define CLASSES "'wait_classes':true"

/* What threads wait for is known where the file says so at its top. */
static void test_wait_classes(void **state)
{
	struct snapshot *snapshot = read_knowledge(
		CLASSES ",'missing':{'wait':'not-permitted'}",
		"'wait_class':'socket','wait_object':':22','missing':{'wait':'read'}", "");

	(void)state;
	expect_wait(snapshot, 0, WAIT_CLASS_SOCKET, ":22");
	expect_wait(snapshot, 1, WAIT_CLASS_UNKNOWN, "");
	assert_int_equal(snapshot_source_reason(snapshot, 0, SOURCE_WAIT), REASON_READ);
	assert_int_equal(snapshot_source_reason(snapshot, 1, SOURCE_WAIT), REASON_NOT_PERMITTED);
	snapshot_release(snapshot);
	/* a class of a later version, and an object of no class */
	snapshot = read_knowledge(CLASSES, "'wait_class':'moon','wait_object':'full'",
				  "'wait_object':'nothing'");
	expect_wait(snapshot, 0, WAIT_CLASS_OTHER, "full");
	expect_wait(snapshot, 1, WAIT_CLASS_UNKNOWN, "");
	snapshot_release(snapshot);
	/* without threads that have any */
	snapshot = read_knowledge(CLASSES, "", "");
	expect_wait(snapshot, 0, WAIT_CLASS_UNKNOWN, "");
	assert_int_equal(snapshot->default_reason[SOURCE_WAIT], REASON_READ);
	snapshot_release(snapshot);
}

/* Files of earlier versions have no classes; a file may also say why it has none. */
static void test_no_wait_classes(void **state)
{
	static const char *const tops[] = {"", "'wait_classes':false", "'missing':{'wait':'not-read'}"};
	char *foreign = example_with_record(example_record);
	struct snapshot *snapshot = example_accept(foreign, "");

	(void)state;
	assert_null(snapshot->wait_class);
	assert_int_equal(snapshot->default_reason[SOURCE_WAIT], REASON_NOT_IN_FILE);
	snapshot_release(snapshot);
	free(foreign);
	for (size_t i = 0; i < ARRAY_COUNT(tops); i++) {
		snapshot = read_knowledge(tops[i], "'wait_class':'futex','wait_object':'0x1'",
					  "'missing':{'wait':'ended'}");
		assert_null(snapshot->wait_class);
		assert_null(snapshot->wait_object);
		assert_int_equal(snapshot_source_reason(snapshot, 0, SOURCE_WAIT),
				 i == 2 ? REASON_NOT_READ : REASON_NOT_IN_FILE);
		assert_int_equal(snapshot_source_reason(snapshot, 1, SOURCE_WAIT), REASON_ENDED);
		snapshot_release(snapshot);
	}
	/* what is not there was not read */
	snapshot = read_knowledge("'missing':{'wait':'ended'}", "'missing':{'wait':'read'}", "");
	assert_int_equal(snapshot_source_reason(snapshot, 0, SOURCE_WAIT), REASON_NOT_IN_FILE);
	assert_int_equal(snapshot_source_reason(snapshot, 1, SOURCE_WAIT), REASON_ENDED);
	snapshot_release(snapshot);
}

/* Objects that ctop would not write: long ones are cut after a whole character, and none has the mark of
 * names that ctop made up. */
static void test_odd_wait_objects(void **state)
{
	struct buffer first = {0}, second = {0};
	struct snapshot *snapshot;

	(void)state;
	buffer_append_text(&first, "'wait_class':'file','wait_object':'");
	buffer_append_text(&second, "'wait_class':'pipe','wait_object':'");
	for (int i = 0; i < 10000; i++) {
		buffer_append_text(&first, "x");
		buffer_append_text(&second, "\u20ac"); /* three bytes */
	}
	buffer_append_text(&first, "'");
	buffer_append_text(&second, "'");
	snapshot = read_knowledge(CLASSES, first.data, second.data);
	assert_int_equal(string_pool_length(&snapshot->strings, snapshot->wait_object[0]), 64);
	assert_int_equal(string_pool_length(&snapshot->strings, snapshot->wait_object[1]), 63);
	snapshot_release(snapshot);
	buffer_release(&first);
	buffer_release(&second);
	snapshot = read_knowledge(CLASSES, "'wait_class':'file','wait_object':'a\\u0000'",
				  "'wait_class':'file','wait_object':'b\\u0000c\\u001b[m'");
	expect_wait(snapshot, 0, WAIT_CLASS_FILE, "a\uFFFD");
	assert_int_equal(string_pool_length(&snapshot->strings, snapshot->wait_object[1]), 6);
	snapshot_release(snapshot);
}

/* What is unknown is skipped, what lacks is 0, and more buckets or groups than there are make no harm. */
static void test_latency(void **state)
{
	struct buffer text = {0};
	struct snapshot *snapshot;

	(void)state;
	buffer_append_text(
		&text, "\"latency\":{\"span_ns\":5,\"what\":[{}],\"groups\":[{\"comm\":\"a\",\"kernel\":true,"
		       "\"blocked\":{\"buckets\":[0,2");
	for (int i = 0; i < 100; i++)
		buffer_append_text(&text, ",3");
	buffer_append_text(&text, "]}}");
	for (int i = 0; i < LATENCY_RECORDS_MAX + 50; i++)
		buffer_append_text(&text, ",{}");
	/* so is what processes have of groups that are not there */
	buffer_append_text(&text, "],\"processes\":[{\"group\":99999,\"pid\":3},{\"group\":1,\"pid\":4,"
				  "\"run_queue\":{\"buckets\":[0,5]}}");
	/* what delayed groups that are not there is left out */
	buffer_append_text(&text, "],\"delays\":[{\"victim\":1,\"culprit\":2,\"time_ns\":7,\"waits\":3},"
				  "{\"victim\":99999},{\"victim\":0,\"culprit\":99999},"
				  "{\"victim\":0,\"cause\":\"wakeup\"},{\"victim\":0,\"cause\":\"what\"}]");
	/* and times of such groups, or of no class; a class of a later version is another one */
	buffer_append_text(&text, ",\"times\":[{\"group\":99999,\"class\":\"futex\",\"time_ns\":3},"
				  "{\"group\":1,\"time_ns\":4},{\"group\":1,\"pid\":4294967295,"
				  "\"class\":\"futex\",\"time_ns\":5},{\"group\":0,\"class\":\"what\"}]}");
	snapshot = read_knowledge(text.data, "", "");
	assert_true(snapshot->latency.present);
	assert_int_equal(snapshot->latency.share_count, 1);
	assert_int_equal(snapshot->latency.shares[0].pid, 4);
	assert_int_equal(snapshot->latency.shares[0].waits.of[LATENCY_RUN_QUEUE].buckets[1], 5);
	assert_int_equal(snapshot->latency.delay_count, 3);
	assert_int_equal(snapshot->latency.delays[0].culprit, 2);
	assert_int_equal(snapshot->latency.delays[0].time_ns, 7);
	assert_int_equal(snapshot->latency.delays[1].cause, LATENCY_CAUSE_WAKEUP);
	assert_int_equal(snapshot->latency.delays[2].cause, LATENCY_CAUSE_OTHER);
	assert_int_equal(snapshot->latency.time_count, 2);
	assert_int_equal(snapshot->latency.times[0].record, 1);
	assert_int_equal(snapshot->latency.times[0].pid, LATENCY_PROCESS_UNKNOWN);
	assert_int_equal(snapshot->latency.times[0].class, WAIT_CLASS_FUTEX);
	assert_int_equal(snapshot->latency.times[0].time_ns, 5);
	assert_int_equal(snapshot->latency.times[1].class, WAIT_CLASS_OTHER);
	assert_int_equal(snapshot->latency.span_ns, 5);
	assert_int_equal(snapshot->latency.count, LATENCY_RECORDS_MAX + 1);
	assert_string_equal(snapshot_text(snapshot, snapshot->latency.records[0].comm), "a");
	assert_true(snapshot->latency.records[0].is_kernel);
	assert_int_equal(latency_waits_of(&snapshot->latency, 0)->of[LATENCY_BLOCKED].buckets[1], 2);
	assert_int_equal(latency_count(&latency_waits_of(&snapshot->latency, 0)->of[LATENCY_BLOCKED]),
			 2 + 3 * (LATENCY_BUCKETS - 2));
	assert_int_equal(latency_count(&latency_waits_of(&snapshot->latency, 0)->of[LATENCY_RUN_QUEUE]), 0);
	assert_int_equal(latency_count(&latency_waits_of(&snapshot->latency, 1)->of[LATENCY_BLOCKED]), 0);
	snapshot_release(snapshot);
	buffer_release(&text);
	snapshot = read_knowledge("", "", "");
	assert_false(snapshot->latency.present);
	snapshot_release(snapshot);
}

static void test_wrong_types_are_refused(void **state)
{
	static const char *const bad[] = {
		"\"boottime_ns\":\"1\"",
		"\"capabilities\":[1]",
		"\"scope\":[-1]",
		"\"missing\":{\"io\":1}",
		"\"missing\":[]",
		"\"sources\":{\"nice\":null}",
		"\"features\":{\"delays\":1}",
		"\"tallies\":{\"io\":{\"read\":-1}}",
		"\"heap\":{}",
		"\"latency\":[]",
		"\"latency\":{\"span_ns\":-1}",
		"\"latency\":{\"groups\":[{\"pcomm\":1}]}",
		"\"latency\":{\"groups\":[{\"run_queue\":{\"buckets\":[\"1\"]}}]}",
		"\"heap\":[1]",
		"\"titles\":{}",
		"\"titles\":[{\"tgid\":-1}]",
		"\"titles\":[{\"tgid\":1,\"text\":2}]",
		"\"host\":{\"cpu_ticks\":[0.5]}",
		"\"version\":\"1\"",
		"\"wait_classes\":\"true\"",
		"\"wait_classes\":{}",
		"\"uid\":-1",
		"\"roots\":{\"proc\":1}",
		"\"namespaces\":{\"pid\":\"1\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *member = memory_format("ns\":1,\"ctop\":{%s}", bad[i]);
		char *json = example_replace(EXAMPLE_SNAPSHOT("", ""), "ns\":1", member);

		example_refuse(json, "ctop.");
		example_refuse(json, " must be ");
		free(json);
		free(member);
	}
}

/* Without a top-level object a file is a foreign one, whatever its threads say. */
static void test_foreign_files_go_by_flags(void **state)
{
	char *json = example_with_record(example_record);
	char *unmeasured = example_replace(json, "\"xacct_active\":true", "\"xacct_active\":false");
	struct snapshot *snapshot = example_accept(unmeasured, "");

	(void)state;
	assert_false(snapshot->provenance.present);
	expect(snapshot, 0, METRIC_HIWATER_RSS_BYTES, STATE_ABSENT);
	expect(snapshot, 0, METRIC_IRQ_DELAY_COUNT, REASON_READ);
	snapshot_release(snapshot);
	free(unmeasured);
	free(json);
}

#define OLDER "the file is of an older generation: "

/* One change of the complete record, as an older generation has it. */
static struct snapshot *read_older(const char *old, const char *new, const char *notes)
{
	char *record = example_replace(example_record, old, new);
	char *json = example_with_record(record);
	struct snapshot *snapshot = example_accept(json, notes);

	free(json);
	free(record);
	return snapshot;
}

static void test_older_threads(void **state)
{
	struct snapshot *snapshot = read_older(
		",\"cpu_delay_active\":true,\"delay_block_active\":true,\"xacct_active\":true,"
		"\"jemalloc_measured\":true",
		"", OLDER "measured flags that it lacks are read as false");

	(void)state;
	assert_int_equal(snapshot->thread_flags[0], THREAD_TASKSTATS_MEASURED);
	snapshot_release(snapshot);
	snapshot = read_older("\"smaps_rollup_kib\":{}", "\"smaps_rollup_kb\":{\"Rss\":12}",
			      OLDER "older names of members are understood (smaps_rollup_kb)");
	assert_int_equal(snapshot_find_smaps(snapshot, 0)->kib.items[0].value, 12);
	snapshot_release(snapshot);
	snapshot = read_older("\"state\":\"S\"", "\"state\":\"?\"", OLDER "state \"?\" is read as unknown");
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_STATE), '~');
	snapshot_release(snapshot);
	snapshot = read_older("\"irq_delay_count\":792,\"irq_delay_total_ns\":803,", "",
			      OLDER "missing numbers are read as 0 (irq_delay_count and 1 more)");
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_IRQ_DELAY_COUNT), 0);
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_IRQ_DELAY_MAX_NS), 814);
	assert_int_equal(snapshot->metric_reason[METRIC_IRQ_DELAY_COUNT], REASON_NOT_IN_FILE);
	assert_int_equal(snapshot->metric_reason[METRIC_IRQ_DELAY_MAX_NS], REASON_READ);
	snapshot_release(snapshot);
}

static void test_older_cgroups_and_host(void **state)
{
	struct snapshot *snapshot = example_accept(
		EXAMPLE_SNAPSHOT("", "\"/a\":{\"cpu_usage_usec\":1,\"nr_throttled\":2,"
				     "\"throttled_usec\":3,\"memory_current\":4}"),
		OLDER "cgroup records hold CPU and memory use only");
	char *json;

	(void)state;
	assert_int_equal(snapshot->cgroups[0].usage_usec, 1);
	assert_int_equal(snapshot->cgroups[0].throttled_usec, 3);
	assert_int_equal(snapshot->cgroups[0].memory_current, 4);
	assert_int_equal(snapshot->cgroups[0].max_period_us, 100000);
	assert_int_equal(snapshot->cgroups[0].missing[CGROUP_FILE_CPU_STAT], REASON_READ);
	assert_int_equal(snapshot->cgroups[0].missing[CGROUP_FILE_PIDS_MAX], REASON_NOT_IN_FILE);
	snapshot_release(snapshot);
	json = example_replace(EXAMPLE_SNAPSHOT("", ""), "ns\":1",
			       "ns\":1,\"host\":{\"total_memory_kb\":5,\"hugepages_size_kb\":6}");
	snapshot = example_accept(json, OLDER "older names of members are understood (hugepages_size_kb)");
	assert_int_equal(snapshot->host.total_memory_kib.value, 5);
	assert_int_equal(snapshot->host.hugepages_size_kib.value, 6);
	snapshot_release(snapshot);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_becomes_state),
		cmocka_unit_test(test_unknown_names_are_ignored_and_reasons_kept),
		cmocka_unit_test(test_threads_and_cgroups),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_wait_classes),
		cmocka_unit_test(test_no_wait_classes),
		cmocka_unit_test(test_odd_wait_objects),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_wrong_types_are_refused),
		cmocka_unit_test(test_foreign_files_go_by_flags),
		cmocka_unit_test(test_older_threads),
		cmocka_unit_test(test_older_cgroups_and_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
