/* SPDX-License-Identifier: GPL-2.0-only */
/* What is written satisfies a strict reader and is read back as it was. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmocka_include.h"
#include "snapshot_compare.h"
#include "snapshot_example.h"
#include "strict_reader.h"

static int write_to_memory(const struct snapshot *snapshot)
{
	int descriptor = memfd_create("written", MFD_CLOEXEC);
	struct error error = {""};

	assert_true(descriptor >= 0);
	ctprof_write_descriptor(snapshot, descriptor, NULL, &error);
	assert_string_equal(error.text, "");
	return descriptor;
}

static struct snapshot *read_back(int descriptor)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	ctprof_read_descriptor(descriptor, "written", CTPROF_DEFAULT_LIMIT, &snapshot, &error);
	assert_string_equal(error.text, "");
	assert_null(snapshot->format_notes);
	return snapshot;
}

static void assert_strict(const char *json, size_t length)
{
	char *wrong = strict_check(json, length);

	if (wrong != NULL)
		fail_msg("the snapshot%s in %.*s", wrong, length < 4000 ? (int)length : 4000, json);
}

/* Writes, checks with and without the `ctop` members, reads back and compares. */
static void check_round_trip(const struct snapshot *snapshot)
{
	int descriptor = write_to_memory(snapshot);
	struct buffer json = {0}, bare = {0};
	struct snapshot *copy;

	strict_decompress(descriptor, &json);
	assert_strict(json.data, json.length);
	strict_remove_extras(json.data, json.length, &bare);
	assert_strict(bare.data, bare.length);
	assert_null(strstr(bare.data, "\"ctop\""));
	assert_int_equal(strstr(json.data, "\"ctop\"") != NULL, snapshot->provenance.present);
	copy = read_back(descriptor);
	assert_snapshots_equal(snapshot, copy);
	snapshot_release(copy);
	buffer_release(&json);
	buffer_release(&bare);
	close(descriptor);
}

static void test_everything_of_the_format(void **state)
{
	struct snapshot *snapshot = example_snapshot();

	(void)state;
	check_round_trip(snapshot);
	snapshot_release(snapshot);
}

static void test_everything_of_ctop(void **state)
{
	struct snapshot *snapshot = example_snapshot();

	(void)state;
	example_add_knowledge(snapshot);
	check_round_trip(snapshot);
	snapshot_release(snapshot);
}

static void test_empty_snapshot(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	snapshot_finish(snapshot);
	check_round_trip(snapshot);
	snapshot->provenance.present = true;
	snapshot->host.present = true;
	snapshot->host.heap_state.present = true;
	snapshot->host.sched_tunables.present = true;
	check_round_trip(snapshot);
	snapshot_release(snapshot);
}

/* Each `ctop` member must make a difference: a reader or writer that forgot one would pass a comparison of
 * two equal gaps otherwise. */
static void test_every_member_of_ctop_is_written(void **state)
{
	static const char *const members[] = {
		"\"version\":1",
		"\"program\":\"ctop 0.1.0\"",
		"\"boot_id\":\"4e2f\"",
		"\"boottime_ns\":5000",
		"\"duration_ns\":70",
		"\"uid\":0",
		"\"capabilities\":[\"net_admin\",\"sys_ptrace\"]",
		"\"namespaces\":{\"pid\":4026531836,\"user\":4026531837,\"net\":4026531838,\"mnt\":"
		"4026531839,"
		"\"cgroup\":4026531840,\"time\":4026531841}",
		"\"roots\":{\"proc\":\"/proc\",\"sys\":\"/sys\",\"cgroup\":\"/sys/fs/cgroup/unified\"}",
		"\"scope\":[10,12]",
		"\"taskstats\":{\"state\":\"on\"}",
		"\"delays\":{\"state\":\"off\",\"reason\":\"switched-off\",\"detail\":\"task_delayacct reads "
		"0\","
		"\"remedy\":\"sysctl kernel.task_delayacct=1\"}",
		"\"others_io\":{\"state\":\"partial\",\"reason\":\"not-permitted\"}",
		"\"sources\":{\"run_time_ns\":\"taskstats\"}",
		"\"missing\":{\"io\":\"not-permitted\",\"schedstats\":\"switched-off\","
		"\"smaps_rollup\":\"over-budget\",\"irq_delay_count\":\"not-in-kernel\","
		"\"psi.irq\":\"not-in-kernel\"}",
		"\"io\":{\"read\":1,\"missed\":{\"not-permitted\":2,\"ended\":1}}",
		"\"jemalloc\":{\"read\":0,\"missed\":{\"needs-stop\":9}}",
		"\"ended\":3",
		"\"heap\":[{\"tgid\":12,\"layout\":\"known-build\",\"version\":\"5.3.0\"},"
		"{\"tgid\":10,\"tag\":\"dwarf-parse-failure\",\"text\":\"no\"}]",
		"\"host\":{\"hostname\":\"host\",\"cpu_ticks\":[0,1,2,3,4,5,6,7],\"procs_running\":5,"
		"\"procs_blocked\":0,\"load_centi\":[320,0,0],\"mem_available_kib\":6}",
		/* threads: the first differs in nothing but two metrics that were read all the same */
		"\"ctop\":{\"kernel\":true,\"missing\":{\"rchar\":\"read\",\"irq_delay_count\":\"read\"}}",
		"\"ctop\":{\"uid\":1000,\"age_ns\":{\"sched\":4000}}",
		"\"ctop\":{\"uid\":0,\"missing\":{\"io\":\"read\",\"sched\":\"ended\"},\"layout\":\"known-"
		"build\"}",
		"\"ctop\":{\"missing\":{\"io\":\"moon-phase\",\"wait_sum\":\"bad-value\"},"
		"\"age_ns\":{\"delays\":4999},\"layout\":\"known-build\"}",
		/* the cgroup that lacks something */
		"\"ctop\":{\"missing\":{\"memory.current\":\"not-in-kernel\",\"irq.pressure\":\"moon-phase\"}"
		"}",
	};
	struct snapshot *snapshot = example_snapshot();
	struct buffer json = {0};
	int descriptor;

	(void)state;
	example_add_knowledge(snapshot);
	descriptor = write_to_memory(snapshot);
	strict_decompress(descriptor, &json);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strstr(json.data, members[i]) == NULL)
			fail_msg("%s is not in %s", members[i], json.data);
	}
	assert_non_null(strstr(json.data, "{\"captured_at_unix_ns\":1700000000123456789,\"ctop\":{"));
	buffer_release(&json);
	close(descriptor);
	snapshot_release(snapshot);
}

/* A snapshot that is rewritten keeps what its first writer knew. */
static void test_second_round_trip(void **state)
{
	struct snapshot *snapshot = example_snapshot(), *copy;
	int descriptor;

	(void)state;
	example_add_knowledge(snapshot);
	descriptor = write_to_memory(snapshot);
	copy = read_back(descriptor);
	check_round_trip(copy);
	snapshot_release(copy);
	snapshot_release(snapshot);
	close(descriptor);
}

static void test_complete_record(void **state)
{
	char *json = example_with_record(example_record), *wrong;
	struct snapshot *snapshot = NULL;
	struct buffer written = {0};
	int descriptor;

	(void)state;
	assert_int_equal(example_read(json, strlen(json), &snapshot, NULL), 0);
	check_round_trip(snapshot);
	descriptor = write_to_memory(snapshot);
	strict_decompress(descriptor, &written);
	assert_non_null(strstr(written.data, example_record));
	wrong = strict_check(json, strlen(json));
	assert_null(wrong);
	close(descriptor);
	buffer_release(&written);
	snapshot_release(snapshot);
	free(json);
}

static void test_names_that_are_no_utf8(void **state)
{
	static const struct {
		const char *name, *json;
	} names[] = {
		{"\xff", "\"\xef\xbf\xbd\""},
		{"a\xc3", "\"a\xef\xbf\xbd\""},
		{"\xed\xa0\x80.", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.\""},
		{"\x7f\x1b[m", "\"\x7f\\u001b[m\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct snapshot *snapshot = snapshot_create();
		uint32_t name = string_pool_intern(&snapshot->strings, names[i].name, strlen(names[i].name));
		struct buffer json = {0};
		int descriptor;

		snapshot_add_thread(snapshot, 1, 1);
		snapshot->triple[0] = snapshot_intern_triple(snapshot, (struct triple){name, name, name});
		snapshot_add_cgroup(snapshot, name);
		snapshot_finish(snapshot);
		descriptor = write_to_memory(snapshot);
		strict_decompress(descriptor, &json);
		assert_strict(json.data, json.length);
		assert_non_null(strstr(json.data, names[i].json));
		buffer_release(&json);
		snapshot_release(snapshot);
		close(descriptor);
	}
}

/* Map keys go out in order whatever the order in memory is. */
static void test_maps_are_written_sorted(void **state)
{
	static const char json[] = EXAMPLE_SNAPSHOT("", "\"/b\":" EXAMPLE_CGROUP ",\"/a\":" EXAMPLE_CGROUP);
	struct snapshot *snapshot = NULL;
	struct key_values *values;
	struct buffer written = {0};
	int descriptor;

	(void)state;
	assert_int_equal(example_read(json, strlen(json), &snapshot, NULL), 0);
	values = &snapshot->cgroups[0].memory_stat;
	values->items = arena_allocate(&snapshot->arena, 2 * sizeof(*values->items));
	values->count = 2;
	values->items[0] = (struct key_value){string_pool_intern(&snapshot->strings, "zz", 2), 1};
	values->items[1] = (struct key_value){string_pool_intern(&snapshot->strings, "b", 1), 2};
	descriptor = write_to_memory(snapshot);
	strict_decompress(descriptor, &written);
	assert_strict(written.data, written.length);
	assert_non_null(strstr(written.data, "\"stat\":{\"b\":2,\"zz\":1}"));
	buffer_release(&written);
	snapshot_release(snapshot);
	close(descriptor);
}

static void test_reference_snapshots(void **state)
{
	glob_t files;

	(void)state;
	assert_int_equal(glob(TEST_DATA "/reference/snapshots/*.ctprof.zst", 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, 54);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct snapshot *snapshot = NULL;
		struct error error = {""};

		ctprof_read(files.gl_pathv[i], CTPROF_DEFAULT_LIMIT, &snapshot, &error);
		assert_string_equal(error.text, "");
		assert_null(snapshot->format_notes);
		check_round_trip(snapshot);
		snapshot_release(snapshot);
	}
	globfree(&files);
}

/* The strict reader itself: it must see what it is there for. */
static void test_strict_reader_refuses(void **state)
{
	static const struct {
		const char *old, *new, *complaint;
	} cases[] = {
		{"\"tid\":1234,", "", ".threads[0].tid is missing"},
		{"\"xacct_active\":true,", "", ".threads[0].xacct_active is missing"},
		{"\"nice\":-5", "\"nice\":null", ".threads[0].nice is no i32"},
		{"\"nice\":-5", "\"nice\":-2147483649", ".threads[0].nice is no i32"},
		{"\"rchar\":407", "\"rchar\":18446744073709551616", ".threads[0].rchar is no u64"},
		{"\"rchar\":407", "\"rchar\":4e2", ".threads[0].rchar is no u64"},
		{"\"rchar\":407", "\"rchar\":407,\"rchar\":1", ".threads[0].rchar stands there twice"},
		{"\"rchar\":407,\"wchar\":418", "\"wchar\":418,\"rchar\":407",
		 ".threads[0].wchar is out of order"},
		{"[0,1,2,3]", "[0,-1]", ".threads[0].cpu_affinity[1] is no u32"},
		{"\"state\":\"S\"", "\"state\":\"SR\"", ".threads[0].state is no char"},
		{"\"ext_enabled\":false", "\"ext_enabled\":0", ".threads[0].ext_enabled is no bool"},
		{"kib\":{}", "kib\":{\"b\":1,\"a\":2}",
		 ".threads[0].smaps_rollup_kib[\"a\"] stands behind a larger key"},
	};
	char *json = example_with_record(example_record);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *broken = example_replace(json, cases[i].old, cases[i].new);
		char *wrong = strict_check(broken, strlen(broken));

		assert_non_null(wrong);
		assert_string_equal(wrong, cases[i].complaint);
		free(wrong);
		free(broken);
	}
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strict_reader_refuses),
		cmocka_unit_test(test_everything_of_the_format),
		cmocka_unit_test(test_everything_of_ctop),
		cmocka_unit_test(test_empty_snapshot),
		cmocka_unit_test(test_every_member_of_ctop_is_written),
		cmocka_unit_test(test_second_round_trip),
		cmocka_unit_test(test_complete_record),
		cmocka_unit_test(test_names_that_are_no_utf8),
		cmocka_unit_test(test_maps_are_written_sorted),
		cmocka_unit_test(test_reference_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
