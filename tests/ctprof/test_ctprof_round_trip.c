/* SPDX-License-Identifier: GPL-2.0-only */
/* What is written satisfies a strict reader and is read back as it was. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "snapshot_compare.h"
#include "snapshot_example.h"
#include "strict_reader.h"

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
	int descriptor = example_written(snapshot);
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

/* Threads that differ in nothing but how long they have been waiting, and how well that is known. */
static void test_waits(void **state)
{
	static const uint64_t waits[] = {0, 1, 2, 2, 0, 0, 0, 2};
	static const bool at_least[] = {false, false, false, true, true, true, false, true};
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	snapshot->provenance.present = true;
	for (uint32_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		snapshot_add_thread(snapshot, 10, 10 + i);
		snapshot_column(snapshot, METRIC_STATE)[i] = 'S';
		snapshot->thread_flags[i] = at_least[i] ? THREAD_WAIT_AT_LEAST : 0;
	}
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	memcpy(snapshot->waiting_ns, waits, sizeof(waits));
	snapshot_intern_triple(snapshot, (struct triple){0});
	snapshot_finish(snapshot);
	check_round_trip(snapshot);
	snapshot_release(snapshot);
}

/* Every class, also one that is unknown; and threads whose classes are all unknown. */
static void test_wait_classes(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	snapshot->provenance.present = true;
	snapshot->default_reason[SOURCE_WAIT] = REASON_NOT_PERMITTED;
	for (uint32_t i = 0; i < WAIT_CLASS_COUNT; i++) {
		snapshot_add_thread(snapshot, 10, 10 + i);
		snapshot_column(snapshot, METRIC_STATE)[i] = 'S';
	}
	snapshot_intern_triple(snapshot, (struct triple){0});
	check_round_trip(snapshot);
	snapshot_make_wait_columns(snapshot);
	check_round_trip(snapshot);
	for (uint32_t i = 0; i < WAIT_CLASS_COUNT; i++) {
		char text[16];
		const int length = snprintf(text, sizeof(text), "object %u", i / 2);

		snapshot->wait_class[i] = (uint8_t)i;
		if (i % 3 != 0)
			snapshot->wait_object[i] = string_pool_intern(&snapshot->strings, text,
								      (size_t)length);
		snapshot_source_reasons(snapshot, SOURCE_WAIT)[i] = i == 0 ? REASON_ENDED : REASON_READ;
	}
	snapshot_finish(snapshot);
	check_round_trip(snapshot);
	snapshot_release(snapshot);
}

/* The memory of a process is written with its leader, also next to a process that is alike. */
static void test_resident(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	snapshot->provenance.present = true;
	snapshot->resident_missing = REASON_READ;
	for (uint32_t process = 1; process < 6; process++) {
		for (uint32_t thread = 0; thread < 3; thread++) {
			const size_t row = snapshot_add_thread(snapshot, process * 10, process * 10 + thread);

			snapshot_column(snapshot, METRIC_STATE)[row] = 'S';
			/* one has none, and two have as much */
			if (thread == 0 && process != 3)
				snapshot_add_resident(snapshot, row,
						      process == 5 ? UINT64_MAX : process / 2 * 4096, 0);
		}
	}
	snapshot_intern_triple(snapshot, (struct triple){0});
	snapshot_finish(snapshot);
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
		"\"version\":2",
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
		"\"waits\":\"under-way\"",
		"\"wait_classes\":true",
		"\"heap\":[{\"tgid\":12,\"layout\":\"known-build\",\"version\":\"5.3.0\"},"
		"{\"tgid\":10,\"tag\":\"dwarf-parse-failure\",\"text\":\"no\"}]",
		"\"titles\":[{\"tgid\":10,\"text\":\"db: shop \\\"UPDATE\\\"\"},"
		"{\"tgid\":12,\"text\":\"web: worker\"}]",
		"\"scx\":{\"scheduler\":\"rusty_1.1.4_x86_64\",\"enable_seq\":4,\"loaded_boottime_ns\":4100,"
		"\"read_monotonic_ns\":5001,\"type\":\"task_ctx\",\"storage\":\"task_data\","
		"\"layout\":\"arena, id before the context\",\"size\":48,\"mismatched\":1,"
		"\"events\":{\"SCX_EV_SELECT_CPU_FALLBACK\":0,"
		"\"SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE\":18446744073709551615},\"members\":["
		"{\"name\":\"sum_runtime\",\"type\":\"u64\",\"kind\":\"unsigned\",\"bit_offset\":0,\"bit_"
		"size\":64},"
		"{\"name\":\"inner.nice\",\"type\":\"s16\",\"kind\":\"signed\",\"bit_offset\":64,\"bit_"
		"size\":16,"
		"\"signed\":true},"
		"{\"name\":\"greedy\",\"type\":\"bool\",\"kind\":\"bool\",\"bit_offset\":80,\"bit_size\":8},"
		"{\"name\":\"bits\",\"type\":\"u32\",\"kind\":\"unsigned\",\"bit_offset\":88,\"bit_size\":3},"
		"{\"name\":\"state\",\"type\":\"enum "
		"state\",\"kind\":\"enum\",\"bit_offset\":96,\"bit_size\":32,"
		"\"signed\":true,\"values\":{\"IDLE\":0,\"LO\\\"ST\":-1}},"
		"{\"name\":\"mask\",\"type\":\"struct bpf_cpumask "
		"*\",\"kind\":\"pointer\",\"bit_offset\":128,"
		"\"bit_size\":64},"
		"{\"name\":\"load\",\"type\":\"s16[3]\",\"kind\":\"array\",\"bit_offset\":192,\"bit_size\":"
		"16,"
		"\"count\":3,\"signed\":true},"
		"{\"name\":\"odd\",\"type\":\"union\",\"kind\":\"other\",\"bit_offset\":256,\"bit_size\":32},"
		"{\"name\":\"last_run_at\",\"type\":\"u64\",\"kind\":\"unsigned\",\"bit_offset\":320,"
		"\"bit_size\":64}]}",
		"\"host\":{\"hostname\":\"host\",\"cpu_ticks\":[0,1,2,3,4,5,6,7],\"procs_running\":5,"
		"\"procs_blocked\":0,\"load_centi\":[320,0,0],\"mem_available_kib\":6,\"cpu_end\":3,"
		"\"cpus\":[{\"cpu\":0,\"idle\":5,\"all\":10},{\"cpu\":2,\"idle\":18446744073709551615,"
		"\"all\":18446744073709551615}],\"disks\":[{\"name\":\"sd\\\"a\",\"busy_ms\":1,"
		"\"read_bytes\":2,\"write_bytes\":18446744073709551615}],\"networks\":[{\"name\":\"eth0\","
		"\"received_bytes\":3,\"sent_bytes\":4}],\"devices_boottime_ns\":7}",
		/* threads: the first differs in nothing but two metrics that were read all the same, and
		   waits */
		"\"ctop\":{\"kernel\":true,\"missing\":{\"rchar\":\"read\",\"irq_delay_count\":\"read\"},"
		"\"waiting_ns\":4200000001,\"wait_class\":\"kernel idle\",\"scx\":[0,19,0,0,0,1,2,3,0]}",
		"\"ctop\":{\"uid\":1000,\"missing\":{\"wait\":\"not-permitted\"},"
		"\"age_ns\":{\"sched\":4000}}",
		"\"ctop\":{\"uid\":0,\"missing\":{\"io\":\"read\",\"sched\":\"ended\"},"
		"\"wait_class\":\"socket\",\"wait_object\":\":5432 \\\"db\\\"\","
		"\"layout\":\"known-build\",\"scx\":[18446744073709551615,-5,1,7,-1,-32768,0,32767,4900]}",
		"\"ctop\":{\"forked\":true,\"missing\":{\"io\":\"moon-phase\",\"wait_sum\":\"bad-value\","
		"\"scx\":\"other-task\"},"
		"\"age_ns\":{\"delays\":4999},\"waiting_ns\":18446744073709551615,"
		"\"waiting_at_least\":true,\"wait_class\":\"futex\","
		"\"wait_object\":\"0x7f3a12c0 lock\",\"layout\":\"known-build\"}",
		/* the cgroup that lacks something */
		"\"ctop\":{\"missing\":{\"memory.current\":\"not-in-kernel\",\"irq.pressure\":\"moon-phase\"}"
		","
		"\"io_read_bytes\":0,\"io_written_bytes\":1152921504606846976,"
		"\"id\":8589934592,\"there_since_unix_ns\":7,\"read_at_boottime_ns\":8}",
	};
	struct snapshot *snapshot = example_snapshot();
	struct buffer json = {0};
	int descriptor;

	(void)state;
	example_add_knowledge(snapshot);
	descriptor = example_written(snapshot);
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
	descriptor = example_written(snapshot);
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
	descriptor = example_written(snapshot);
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
		{"\xff", "\"\\\\xff\""},
		{"a\xc3", "\"a\\\\xc3\""},
		{"\xed\xa0\x80.", "\"\\\\xed\\\\xa0\\\\x80.\""},
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
		descriptor = example_written(snapshot);
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
	descriptor = example_written(snapshot);
	strict_decompress(descriptor, &written);
	assert_strict(written.data, written.length);
	assert_non_null(strstr(written.data, "\"stat\":{\"b\":2,\"zz\":1}"));
	buffer_release(&written);
	snapshot_release(snapshot);
	close(descriptor);
}

enum {
	RANDOM_THREADS = 200,
	PROCESS_THREADS = 10, /* of each process */
};

/* By xorshift, below `limit`. */
static uint64_t random_below(uint64_t limit)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % limit;
}

static uint32_t random_name(struct snapshot *snapshot)
{
	static const char *const names[] = {"", "worker", "quo\"te\\", "f\u00fcnf",
					    "a/longer name/of more words"};
	const char *name = names[random_below(ARRAY_COUNT(names))];

	return string_pool_intern(&snapshot->strings, name, strlen(name));
}

static uint64_t random_value(struct snapshot *snapshot, enum metric metric)
{
	static const uint32_t cpus[] = {0, 1, 2, 63, 64, 255};

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_U64:
		return random_below(UINT64_MAX) >> random_below(64);
	case METRIC_ENCODING_U32:
		return random_below(UINT32_MAX);
	case METRIC_ENCODING_I32:
		return (uint64_t)((int64_t)random_below(UINT32_MAX) + INT32_MIN);
	case METRIC_ENCODING_STRING:
		return random_name(snapshot);
	case METRIC_ENCODING_CHARACTER:
		return 'A' + random_below(26);
	case METRIC_ENCODING_BOOLEAN:
		return random_below(2);
	case METRIC_ENCODING_CPU_SET:
		return cpu_set_intern(&snapshot->cpu_sets, cpus, random_below(ARRAY_COUNT(cpus)));
	}
	return 0;
}

/* What of a thread only the `ctop` objects hold. */
static void add_random_knowledge(struct snapshot *snapshot, size_t thread)
{
	static const reason_id known[] = {REASON_READ, REASON_NOT_PERMITTED, REASON_ENDED};
	static const enum source sources_of_times[] = {SOURCE_SCHED, SOURCE_IO, SOURCE_STATUS};

	for (size_t i = 0; i < ARRAY_COUNT(sources_of_times); i++) {
		uint64_t *times = snapshot_read_times(snapshot, sources_of_times[i]);
		reason_id *column = snapshot_source_reasons(snapshot, sources_of_times[i]);

		if (random_below(2) == 0)
			times[thread] = random_below(snapshot->provenance.boottime_ns);
		column[thread] = known[random_below(ARRAY_COUNT(known))];
	}
	if (random_below(6) == 0)
		snapshot_add_exception(snapshot, thread, METRIC_WAIT_SUM, REASON_BAD_VALUE);
	snapshot->uid[thread] = random_below(6) == 0 ? (uint32_t)random_below(3) - 1 : snapshot->uid[thread];
}

/* Threads with values of all kinds, and with the knowledge of the `ctop` objects or without. */
static struct snapshot *random_threads(bool knowledge)
{
	static const char *const keys[] = {"Pss", "Rss"};
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = knowledge;
	snapshot->provenance.boottime_ns = knowledge ? 1000000 : 0;
	for (uint32_t i = 0; i < RANDOM_THREADS; i++) {
		size_t thread = snapshot_add_thread(snapshot, i / PROCESS_THREADS, i);

		snapshot->triple[thread] = snapshot_intern_triple(
			snapshot,
			(struct triple){random_name(snapshot), random_name(snapshot), random_name(snapshot)});
		snapshot->uid[thread] = UINT32_MAX;
		snapshot->thread_flags[thread] = (uint8_t)(random_below(64) &
							   ~(uint64_t)(knowledge ? 0 : THREAD_KERNEL));
		snapshot->start_time[thread] = random_below(UINT64_MAX);
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++)
			snapshot_column(snapshot, (enum metric)j)[thread] = random_value(snapshot,
											 (enum metric)j);
		if (random_below(3) == 0) {
			struct key_value *items = arena_allocate(&snapshot->arena, 2 * sizeof(*items));

			for (size_t j = 0; j < 2; j++)
				items[j] = (struct key_value){
					string_pool_intern(&snapshot->strings, keys[j], strlen(keys[j])),
					random_below(1000)};
			snapshot_add_smaps(snapshot, thread)->kib = (struct key_values){items, 2};
		}
		if (knowledge)
			add_random_knowledge(snapshot, thread);
	}
	return snapshot;
}

/* What was read after the capture began counts as read then, at whatever time. */
static void check_later_times(struct snapshot *snapshot)
{
	uint64_t *times = snapshot_read_times(snapshot, SOURCE_SCHED);
	struct buffer json = {0}, json_later = {0};
	int descriptor = example_written(snapshot);

	strict_decompress(descriptor, &json);
	close(descriptor);
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (times[i] == snapshot->provenance.boottime_ns)
			times[i] += i;
	}
	descriptor = example_written(snapshot);
	strict_decompress(descriptor, &json_later);
	assert_string_equal(json.data, json_later.data);
	close(descriptor);
	buffer_release(&json);
	buffer_release(&json_later);
}

/* Many threads, across pieces of output. */
static void test_random_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct snapshot *snapshot = random_threads(i % 2 != 0);

		snapshot_finish(snapshot);
		check_round_trip(snapshot);
		check_later_times(snapshot);
		snapshot_release(snapshot);
	}
}

/* Threads whose `ctop` objects differ in nothing but how their allocator was found. */
static void test_layouts(void **state)
{
	static const char with_layout[] = "\"ctop\":{\"layout\":\"known-build\"}";
	struct heap_process heap = {.tgid = 8, .layout = "known-build"};
	struct snapshot *snapshot = snapshot_create();
	struct buffer json = {0};
	size_t found = 0;
	int descriptor;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		size_t thread = snapshot_add_thread(snapshot, 7 + i / 2, i);

		snapshot->thread_flags[thread] = THREAD_JEMALLOC_MEASURED;
		snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){0, 0, 0});
	}
	snapshot->provenance.present = true;
	snapshot->provenance.heap = &heap;
	snapshot->provenance.heap_count = 1;
	snapshot_finish(snapshot);
	descriptor = example_written(snapshot);
	strict_decompress(descriptor, &json);
	assert_strict(json.data, json.length);
	for (const char *at = json.data; (at = strstr(at, with_layout)) != NULL; at++)
		found++;
	assert_int_equal(found, 2);
	buffer_release(&json);
	snapshot_release(snapshot);
	close(descriptor);
}

/* A record that is longer than the writer's buffer, and the ones beside it. */
static void test_long_record(void **state)
{
	struct snapshot *snapshot = random_threads(true);
	char *name = memory_allocate(200000);
	uint32_t id;

	(void)state;
	memset(name, 'n', 200000);
	id = string_pool_intern(&snapshot->strings, name, 200000);
	snapshot->triple[100] = snapshot_intern_triple(snapshot, (struct triple){0, id, 0});
	snapshot->triple[101] = snapshot->triple[100];
	snapshot_finish(snapshot);
	check_round_trip(snapshot);
	snapshot_release(snapshot);
	free(name);
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
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_wait_classes),
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_empty_snapshot),
		cmocka_unit_test(test_every_member_of_ctop_is_written),
		cmocka_unit_test(test_second_round_trip),
		cmocka_unit_test(test_complete_record),
		cmocka_unit_test(test_names_that_are_no_utf8),
		cmocka_unit_test(test_maps_are_written_sorted),
		cmocka_unit_test(test_random_threads),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_long_record),
		cmocka_unit_test(test_reference_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
