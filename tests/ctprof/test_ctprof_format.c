/* SPDX-License-Identifier: GPL-2.0-only */
/* The rules of the format, one refusal or acceptance after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "store/load.h"
#include "json_walk.h"
#include "snapshot_compare.h"
#include "snapshot_example.h"

/* Loads the text in pieces of `step` bytes. */
static int load(const char *json, size_t length, size_t step, struct snapshot **ret_snapshot,
		struct error *error)
{
	struct json_pieces pieces = {.text = json, .length = length, .step = step};
	int result = load_snapshot(json_pieces_fetch, NULL, &pieces, ret_snapshot, error);

	free(pieces.piece);
	return result;
}

static const size_t steps[] = {1, 2, 3, 7, 65536};

enum {
	STEPS = sizeof(steps) / sizeof(steps[0]),
};

/* The text is refused, with a sentence that holds `words`, however it is cut. */
static void refuse_bytes(const char *json, size_t length, const char *words)
{
	for (size_t i = 0; i < STEPS; i++) {
		struct snapshot *snapshot = NULL;
		struct error error = {""};

		assert_int_equal(load(json, length, steps[i], &snapshot, &error), -EBADMSG);
		if (strstr(error.text, words) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", error.text, words);
		if (strncmp(error.text, "byte ", 5) != 0)
			fail_msg("\"%s\" does not name the byte", error.text);
		assert_null(snapshot);
	}
}

static void refuse(const char *json, const char *words)
{
	refuse_bytes(json, strlen(json), words);
}

/* The text is read, with these notes; the caller releases the snapshot. */
static struct snapshot *accept_with_notes(const char *json, const char *notes_wanted)
{
	struct snapshot *snapshot = NULL;

	for (size_t i = 0; i < STEPS; i++) {
		struct error error = {""};

		snapshot_release(snapshot);
		snapshot = NULL;
		load(json, strlen(json), steps[i], &snapshot, &error);
		assert_string_equal(error.text, "");
		assert_string_equal(snapshot->format_notes != NULL ? snapshot->format_notes : "",
				    notes_wanted);
	}
	return snapshot;
}

static struct snapshot *accept(const char *json)
{
	return accept_with_notes(json, "");
}

/* The complete record with one place changed. */
static char *changed(const char *old, const char *new)
{
	char *record = example_replace(example_record, old, new);
	char *json = example_with_record(record);

	free(record);
	return json;
}

static void refuse_change(const char *old, const char *new, const char *words)
{
	char *json = changed(old, new);

	refuse(json, words);
	free(json);
}

static struct snapshot *accept_change(const char *old, const char *new)
{
	char *json = changed(old, new);
	struct snapshot *snapshot = accept(json);

	free(json);
	return snapshot;
}

#define U64 "must be a whole number from 0 to 18446744073709551615"
#define U32 "must be a whole number from 0 to 4294967295"
#define I32 "must be a whole number from -2147483648 to 2147483647"

static void test_types_of_thread_members(void **state)
{
	static const struct {
		const char *old, *new, *words;
	} cases[] = {
		{"\"nice\":-5", "\"nice\":1.5", "threads[0].nice " I32 ", not 1.5"},
		{"\"nice\":-5", "\"nice\":1e3", "threads[0].nice " I32 ", not 1e3"},
		{"\"nice\":-5", "\"nice\":\"1\"", "threads[0].nice " I32 ", not \"1\""},
		{"\"nice\":-5", "\"nice\":null", "threads[0].nice " I32 ", not null"},
		{"\"nice\":-5", "\"nice\":true", "threads[0].nice " I32 ", not true"},
		{"\"nice\":-5", "\"nice\":2147483648", "threads[0].nice " I32 ", not 2147483648"},
		{"\"nice\":-5", "\"nice\":-2147483649", "threads[0].nice " I32},
		{"\"nice\":-5", "\"nice\":{}", "threads[0].nice " I32 ", not an object"},
		{"\"nice\":-5", "\"nice\":[1]", "threads[0].nice " I32 ", not an array"},
		{"\"tid\":1234", "\"tid\":-1", "threads[0].tid " U32 ", not -1"},
		{"\"tid\":1234", "\"tid\":4294967296", "threads[0].tid " U32},
		{"\"rt_priority\":0", "\"rt_priority\":4294967296", "threads[0].rt_priority " U32},
		{"\"rchar\":407", "\"rchar\":-1", "threads[0].rchar " U64 ", not -1"},
		{"\"rchar\":407", "\"rchar\":1.0", "threads[0].rchar " U64 ", not 1.0"},
		{"\"rchar\":407", "\"rchar\":\"1\"", "threads[0].rchar " U64},
		{"\"rchar\":407", "\"rchar\":null", "threads[0].rchar " U64 ", not null"},
		{"\"rchar\":407", "\"rchar\":false", "threads[0].rchar " U64 ", not false"},
		{"\"rchar\":407", "\"rchar\":18446744073709551616", "threads[0].rchar " U64},
		{"\"rchar\":407", "\"rchar\":99999999999999999999", "threads[0].rchar " U64},
		{"\"ext_enabled\":false", "\"ext_enabled\":0",
		 "threads[0].ext_enabled must be true or false"},
		{"\"xacct_active\":true", "\"xacct_active\":1",
		 "threads[0].xacct_active must be true or false"},
		{"\"xacct_active\":true", "\"xacct_active\":null", "threads[0].xacct_active must be"},
		{"\"state\":\"S\"", "\"state\":\"\"", "threads[0].state must be a string of one character"},
		{"\"state\":\"S\"", "\"state\":\"RS\"", "threads[0].state must be a string of one character"},
		{"\"state\":\"S\"", "\"state\":1", "threads[0].state must be"},
		{"\"comm\":\"worker-3\"", "\"comm\":1", "threads[0].comm must be a string, not 1"},
		{"\"comm\":\"worker-3\"", "\"comm\":null", "threads[0].comm must be a string, not null"},
		{"\"policy\":\"SCHED_OTHER\"", "\"policy\":0", "threads[0].policy must be a string"},
		{"[0,1,2,3]", "[0,-1]", "threads[0].cpu_affinity[1] " U32},
		{"[0,1,2,3]", "[4294967296]", "threads[0].cpu_affinity[0] " U32},
		{"[0,1,2,3]", "[\"0\"]", "threads[0].cpu_affinity[0] " U32},
		{"[0,1,2,3]", "[[]]", "threads[0].cpu_affinity[0] must be a CPU number, not an array"},
		{"[0,1,2,3]", "{}", "threads[0].cpu_affinity must be an array of CPU numbers"},
		{"[0,1,2,3]", "null", "threads[0].cpu_affinity must be an array of CPU numbers, not null"},
		{"kib\":{}", "kib\":{\"Rss\":-1}", "threads[0].smaps_rollup_kib[\"Rss\"] " U64},
		{"kib\":{}", "kib\":{\"Rss\":null}", "threads[0].smaps_rollup_kib[\"Rss\"] " U64},
		{"kib\":{}", "kib\":[]", "threads[0].smaps_rollup_kib must be an object, not an array"},
		{"\"tid\":1234,", "", "threads[0] lacks the member \"tid\""},
		{"\"tgid\":1200,", "", "threads[0] lacks the member \"tgid\""},
		{"\"pcomm\":\"server\",", "", "threads[0] lacks the member \"pcomm\""},
		{"\"policy\":\"SCHED_OTHER\",", "", "threads[0] lacks the member \"policy\""},
		{"\"cpu_affinity\":[0,1,2,3],", "", "threads[0] lacks the member \"cpu_affinity\""},
		{"\"rchar\":407", "\"rchar\":407,\"rchar\":407", "threads[0].rchar stands there twice"},
		{"\"tid\":1234", "\"tid\":1234,\"xacct_active\":true",
		 "threads[0].xacct_active stands there twice"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_change(cases[i].old, cases[i].new, cases[i].words);
}

static void test_values_that_are_allowed(void **state)
{
	struct snapshot *snapshot = accept_change("\"rchar\":407", "\"rchar\":18446744073709551615");

	(void)state;
	assert_true(snapshot_value(snapshot, 0, METRIC_RCHAR) == UINT64_MAX);
	snapshot_release(snapshot);
	snapshot = accept_change("\"nice\":-5", "\"nice\":-2147483648");
	assert_true((int64_t)snapshot_value(snapshot, 0, METRIC_NICE) == INT32_MIN);
	snapshot_release(snapshot);
	snapshot = accept_change("\"state\":\"S\",", "");
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_STATE), '~');
	snapshot_release(snapshot);
	snapshot = accept_change("\"state\":\"S\"", "\"state\":\"\\ud83d\\ude00\"");
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_STATE), 0x1f600);
	snapshot_release(snapshot);
	snapshot = accept_change("[0,1,2,3]", "[3,1,1]");
	assert_int_equal(cpu_set_count(&snapshot->cpu_sets,
				       (uint32_t)snapshot_value(snapshot, 0, METRIC_CPU_AFFINITY)),
			 3);
	snapshot_release(snapshot);
	snapshot = accept_change("\"comm\":\"worker-3\"", "\"comm\":\"a\\u0000b\\/\\\"\"");
	assert_memory_equal(snapshot_text(snapshot, snapshot->triples[snapshot->triple[0]].comm), "a\0b/\"",
			    6);
	snapshot_release(snapshot);
	snapshot = accept_change("kib\":{}", "kib\":{\"b\":1,\"a\":2,\"b\":3}");
	assert_int_equal(snapshot->smaps_count, 1);
	assert_int_equal(snapshot->smaps[0].kib.count, 2);
	assert_string_equal(snapshot_text(snapshot, snapshot->smaps[0].kib.items[0].key), "a");
	assert_int_equal(snapshot->smaps[0].kib.items[1].value, 3);
	snapshot_release(snapshot);
}

static void test_members_in_any_order_and_unknown_ones(void **state)
{
	/* the same record with its first two members last, and members of a later version between */
	char *end = example_replace(
		example_record, "\"jemalloc_measured\":true}",
		"\"jemalloc_measured\":true,\"later\":{\"a\":[{\"tid\":[]},null,1.5e300]},"
		"\"later\":2,\"tgid\":7,\"tid\":8}");
	char *record = example_replace(end, "\"tid\":1234,\"tgid\":1200,", "\"x\":[[[]]],");
	char *json = example_with_record(record);
	struct snapshot *snapshot = accept(json);

	(void)state;
	assert_int_equal(snapshot->tid[0], 8);
	assert_int_equal(snapshot->tgid[0], 7);
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_HIWATER_VM_BYTES), 847);
	snapshot_release(snapshot);
	free(json);
	free(record);
	free(end);
}

static void test_top_level(void **state)
{
	static const struct {
		const char *old, *new, *words;
	} cases[] = {
		{"\"captured_at_unix_ns\":1,", "", "lacks the member \"captured_at_unix_ns\""},
		{"\"threads\":[],", "", "the snapshot lacks the member \"threads\""},
		{"\"cgroup_stats\":{},", "", "the snapshot lacks the member \"cgroup_stats\""},
		{"\"cgroup_stats\":{}", "\"cgroup_stats\":null", "cgroup_stats must be an object, not null"},
		{"\"cgroup_stats\":{}", "\"cgroup_stats\":{\"/\":null}",
		 "cgroup_stats[\"/\"] must be a cgroup record"},
		{"\"threads\":[]", "\"threads\":{}",
		 "threads must be an array of thread records, not an object"},
		{"\"threads\":[]", "\"threads\":[1]", "threads[0] must be a thread record, not 1"},
		{"\"threads\":[]", "\"threads\":[{}]", "threads[0] lacks the member \"tid\""},
		{"\"threads\":[]", "\"threads\":[[]]", "threads[0] must be a thread record, not an array"},
		{"\"threads\":[]", "\"threads\":[],\"threads\":[]", "threads stands there twice"},
		{"ns\":1", "ns\":-1", "captured_at_unix_ns " U64},
		{"ns\":1", "ns\":1,\"host\":[]", "host must be an object, not an array"},
		{"ns\":1", "ns\":1,\"host\":{\"kernel_name\":1}", "host.kernel_name must be a string"},
		{"ns\":1", "ns\":1,\"host\":{\"sched_tunables\":{\"a\":1}}",
		 "host.sched_tunables[\"a\"] must be a string, not 1"},
		{"ns\":1",
		 "ns\":1,\"sched_ext\":{\"switch_all\":1,\"nr_rejected\":1,\"hotplug_seq\":1,"
		 "\"enable_seq\":1}",
		 "sched_ext lacks the member \"state\""},
		{"ns\":1", "ns\":1,\"probe_summary\":{\"privilege_dominant\":0}",
		 "probe_summary.privilege_dominant must be true or false"},
		{"\"avg10\":0", "\"avg10\":65536",
		 "psi.cpu.some.avg10 must be a whole number from 0 to 65535"},
		{"\"avg10\":0", "\"avg10\":0.5", "psi.cpu.some.avg10 must be"},
		{"\"irq\":", "\"irk\":", "psi lacks the member \"irq\""},
	};
	static const char minimal[] = EXAMPLE_SNAPSHOT("", "");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *json = example_replace(minimal, cases[i].old, cases[i].new);

		refuse(json, cases[i].words);
		free(json);
	}
	refuse("[]", "the snapshot must be an object, not an array");
	refuse("1 ", "the snapshot must be an object, not 1");
	refuse("null", "the snapshot must be an object, not null");
	refuse("{}", "the snapshot lacks the member \"captured_at_unix_ns\"");
	snapshot_release(accept(minimal));
}

static void test_optional_objects(void **state)
{
	char *json = example_replace(EXAMPLE_SNAPSHOT("", ""), "ns\":1",
				     "ns\":1,\"host\":null,\"sched_ext\":null,\"probe_summary\":null,"
				     "\"parse_summary\":null,\"taskstats_summary\":null,\"ctop\":null");
	struct snapshot *snapshot = accept(json);

	(void)state;
	assert_false(snapshot->host.present);
	assert_false(snapshot->sched_ext.present);
	assert_false(snapshot->probe_summary.present);
	assert_false(snapshot->provenance.present);
	snapshot_release(snapshot);
	free(json);
	json = example_replace(EXAMPLE_SNAPSHOT("", ""), "ns\":1",
			       "ns\":1,\"host\":{\"arch\":\"a\\u0000b\",\"cpu_model\":null,\"heap_state\":{},"
			       "\"cpufreq_governor\":{\"10\":\"x\",\"9\":\"y\"}}");
	snapshot = accept(json);
	assert_true(snapshot->host.present);
	assert_null(snapshot->host.cpu_model);
	assert_string_equal(snapshot->host.arch, "a\xef\xbf\xbd"
						 "b");
	assert_true(snapshot->host.heap_state.present);
	assert_string_equal(snapshot->host.cpufreq_governor.items[0].key, "9");
	assert_string_equal(snapshot->host.cpufreq_governor.items[1].value, "x");
	snapshot_release(snapshot);
	free(json);
}

static void test_cgroup_records(void **state)
{
	static const struct {
		const char *old, *new, *words;
	} cases[] = {
		{"\"current\":4", "\"current\":null",
		 "cgroup_stats[\"/a\"].memory.current " U64 ", not null"},
		{"\"max\":null", "\"max\":-1", "cgroup_stats[\"/a\"].memory.max " U64 " or null, not -1"},
		{"\"weight_nice\":-3", "\"weight_nice\":\"x\"",
		 "cgroup_stats[\"/a\"].cpu.weight_nice " I32 " or null"},
		{"\"stat\":{\"anon\":1},", "", "cgroup_stats[\"/a\"].memory lacks the member \"stat\""},
		{"\"pids\":{\"current\":5,\"max\":null},", "",
		 "cgroup_stats[\"/a\"] lacks the member \"pids\""},
		{"\"anon\":1", "\"anon\":1.5", "cgroup_stats[\"/a\"].memory.stat[\"anon\"] " U64 ", not 1.5"},
	};
	static const char json[] = EXAMPLE_SNAPSHOT("", "\"/a\":" EXAMPLE_CGROUP);
	struct snapshot *snapshot = accept(json);
	const struct cgroup_record *record = &snapshot->cgroups[0];
	char *twice;

	(void)state;
	assert_true(record->memory_low.present && record->memory_low.value == UINT64_MAX);
	assert_false(record->memory_max.present);
	assert_int_equal(record->weight_nice.value, -3);
	assert_int_equal(record->pids_current.value, 5);
	snapshot_release(snapshot);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *broken = example_replace(json, cases[i].old, cases[i].new);

		refuse(broken, cases[i].words);
		free(broken);
	}
	/* a map's repeated key keeps the last value */
	twice = example_replace(EXAMPLE_SNAPSHOT("", "\"/a\":" EXAMPLE_CGROUP ",\"/a\":" EXAMPLE_CGROUP),
				"\"usage_usec\":1", "\"usage_usec\":77");
	snapshot = accept(twice);
	assert_int_equal(snapshot->cgroup_count, 1);
	assert_int_equal(snapshot->cgroups[0].usage_usec, 1);
	snapshot_release(snapshot);
	free(twice);
}

/* A snapshot with one unknown member of this value. */
static char *with_unknown(const char *value)
{
	char *member = memory_format("ns\":1,\"later\":%s", value);
	char *json = example_replace(EXAMPLE_SNAPSHOT("", ""), "ns\":1", member);

	free(member);
	return json;
}

static void test_text_that_is_no_utf8(void **state)
{
	static const char *const bad[] = {"\xff",
					  "\x80",
					  "\xc0\x80",
					  "\xc1\xbf",
					  "\xe0\x9f\xbf",
					  "\xed\xa0\x80",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xc3",
					  "\xe2\x82",
					  "\xe2\x28\xa1"};
	static const char *const good[] = {"\xc2\x80",        "\xdf\xbf",     "\xe0\xa0\x80",
					   "\xed\x9f\xbf",    "\xee\x80\x80", "\xf0\x90\x80\x80",
					   "\xf4\x8f\xbf\xbf"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = memory_format("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%s\"", bad[i]);
		char *json = with_unknown(text);

		refuse(json, "the text is not valid UTF-8");
		free(json);
		free(text);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char *text = memory_format("\"%s\"", good[i]);
		char *json = with_unknown(text);

		snapshot_release(accept(json));
		free(json);
		free(text);
	}
}

static void test_surrogate_escapes(void **state)
{
	static const char *const bad[] = {"\\ud800",  "\\udc00",    "\\ud800\\u0041",
					  "\\ud800x", "\\ud800\\n", "\\ud800\\ud800",
					  "\\uDFFF",  "a\\udbff",   "\\ud83d\\ude00\\ude00"};
	static const char *const good[] = {"\\ud800\\udc00", "\\uDBFF\\uDFFF", "\\\\ud800", "\\ud7ff\\ue000",
					   "\\\\\\\\"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = memory_format("\"%s\"", bad[i]);
		char *json = with_unknown(text);

		refuse(json, "half of a surrogate pair stands alone");
		free(json);
		free(text);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char *text = memory_format("\"%s\"", good[i]);
		char *json = with_unknown(text);

		snapshot_release(accept(json));
		free(json);
		free(text);
	}
}

static void test_text_that_is_no_json(void **state)
{
	static const struct {
		const char *old, *new, *words;
	} cases[] = {
		{"\"nice\":-5", "\"nice\":01", "in threads[0].nice: "},
		{"\"nice\":-5", "\"nice\":+1", "in threads[0].nice: "},
		{"\"nice\":-5", "\"nice\":NaN", "in threads[0].nice: "},
		{"\"nice\":-5", "\"nice\":", "in threads[0].nice: "},
		{"\"nice\":-5", "nice:-5", "in threads[0]"},
		{"\"nice\":-5", "\"nice\":-5,", "in threads[0].nice: "},
		{"worker-3", "worker\n3", "in threads[0].comm: "},
		{"worker-3", "worker\\x3", "in threads[0].comm: "},
		{"worker-3", "worker\\u12g4", "in threads[0].comm: "},
		{"\"nice\":-5", "/* no */\"nice\":-5", "in threads[0]"},
	};
	char *json = example_with_record(example_record);
	char *garbage = memory_format("%s x", json), *two = memory_format("%s{}", json);
	char *blank = memory_format("\n\t %s \r\n", json);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_change(cases[i].old, cases[i].new, cases[i].words);
	refuse(garbage, "");
	refuse(two, "");
	snapshot_release(accept(blank));
	for (size_t length = 0; length < strlen(json); length += 13)
		refuse_bytes(json, length, "");
	free(json);
	free(garbage);
	free(two);
	free(blank);
}

static char *nested(size_t depth)
{
	char *text = memory_allocate(2 * depth + 1);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
	return text;
}

static void test_depth(void **state)
{
	static const struct {
		size_t depth;
		bool allowed;
	} cases[] = {{16, true}, {127, true}, {128, false}, {1 << 20, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *value = nested(cases[i].depth);
		char *member = memory_format("\"nice\":-5,\"later\":{\"a\":1,\"b\":%s}", value);
		char *json[] = {with_unknown(value), changed("\"nice\":-5", member)};

		/* in the record one level is the object's */
		for (size_t j = 0; j < 2; j++) {
			if (cases[i].allowed && (j == 0 || cases[i].depth < 127))
				snapshot_release(accept(json[j]));
			else
				refuse(json[j], "more than 127 objects and arrays lie in each other");
			free(json[j]);
		}
		free(member);
		free(value);
	}
}

static void test_long_tokens(void **state)
{
	static const struct {
		const char *old, *new; /* in the complete record, "%s" for the long text */
		size_t length;
		char character;
		bool allowed;
	} cases[] = {
		{"\"nice\":-5", "\"nice\":-5,\"later\":\"%s\"", 3 << 20, 'x', true},
		{"\"nice\":-5", "\"nice\":-5,\"later\":[\"\\u00e4%s\\n\",1]", 3 << 20, 'x', true},
		{"\"nice\":-5", "\"nice\":-5,\"%s\":1", 3 << 20, 'x', true},
		{"\"nice\":-5", "\"nice\":-5,\"later\":%s", 3 << 20, '1', true},
		{"\"nice\":-5", "\"nice\":-5,\"later\":%s1", 3 << 20, ' ', true},
		{"\"nice\":-5", "\"nice\":%s-5", 3 << 20, ' ', true},
		{"worker-3", "%s", 1 << 20, 'x', true},
		{"worker-3", "%s", (1 << 20) + 1, 'x', false},
		{"worker-3", "%s\\n", 1 << 20, 'x', false},
		{"worker-3", "%s\xc3\xbc", (1 << 20) - 1, 'x', false},
		{"\"nice\":-5", "\"nice\":%s", (1 << 20) + 1, '1', false},
		{"kib\":{}", "kib\":{\"%s\":1}", 1 << 20, 'x', true},
		{"kib\":{}", "kib\":{\"%s\":1}", (1 << 20) + 1, 'x', false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *long_text = memory_allocate(cases[i].length + 1);
		char *value, *json;

		memset(long_text, cases[i].character, cases[i].length);
		long_text[cases[i].length] = '\0';
		value = memory_format(cases[i].new, long_text);
		json = changed(cases[i].old, value);
		/* in large pieces and in one: too much for every cut */
		for (size_t step = 65536; step <= 1 << 26; step <<= 10) {
			struct snapshot *snapshot = NULL;
			struct error error = {""};

			assert_int_equal(load(json, strlen(json), step, &snapshot, &error),
					 cases[i].allowed ? 0 : -EBADMSG);
			assert_int_equal(strstr(error.text, "is longer than 1048576 bytes") == NULL,
					 cases[i].allowed);
			snapshot_release(snapshot);
		}
		free(json);
		free(value);
		free(long_text);
	}
}

static void test_error_names_the_byte(void **state)
{
	char *json = changed("\"nice\":-5", "\"nice\":null");
	struct error error = {""};
	struct snapshot *snapshot = NULL;
	unsigned long byte;

	(void)state;
	assert_int_equal(load(json, strlen(json), 65536, &snapshot, &error), -EBADMSG);
	byte = strtoul(error.text + strlen("byte "), NULL, 10);
	assert_in_range(byte, (size_t)(strstr(json, "null") - json),
			(size_t)(strstr(json, "null") - json) + strlen("null"));
	free(json);
}

/* The short cuts for what all writers write must say what the ways around them say: pieces of one byte leave
 * no room for them. */
static void test_short_cuts(void **state)
{
	static const char *const changes[][2] = {
		{"\"nice\":-5", "\"nice\":19"},
		{"kib\":{}", "kib\":{\"Rss\":1,\"Pss\":2}"},
		{"[0,1,2,3]", "[]"},
		{"[0,1,2,3]", "[9]"},
		{"[0,1,2,3]", "[0,1,2,3,4]"},
		{"[0,1,2,3]", "[ 0,1,2,3]"},
		{"[0,1,2,3]", "[0,1,2,3],"},
		{"[0,1,2,3]", "[0,1,2,3]1"},
		{"\"policy\":\"SCHED_OTHER\"", "\"policy\":[0,1,2,3]"},
		{"_measured\":true}", "_measured\":true,\"ctop\":{\"kernel\":true,\"uid\":7}}"},
		{"\"nice\":-5", "\"nice\": -5"},
		{"\"nice\":-5", "\"nice\":-05"},
		{"\"rchar\":407", "\"rchar\":0"},
		{"\"rchar\":407", "\"rchar\":9999999999999999999"},
		{"\"rchar\":407", "\"rchar\":18446744073709551615"},
		{"\"rchar\":407", "\"rchar\":18446744073709551616"},
		{"\"rchar\":407", "\"rchar\":99999999999999999999"},
		{"\"rchar\":407", "\"rchar\":0407"},
		{"\"rchar\":407", "\"rchar\":00"},
		{"\"rchar\":407", "\"rchar\":407e1"},
		{"\"rchar\":407", "\"rchar\":407.5"},
		{"\"rchar\":407", "\"rchar\":407."},
		{"\"rchar\":407", "\"rchar\":"},
		{"\"rchar\":407", "\"rchar\":407]"},
		{"\"rchar\":407", "\"rchar\":407,"},
		{"\"rchar\":407", "\"rchar\":407 "},
		{"\"rchar\":407", " \"rchar\":407"},
		{"\"rchar\":407", ",\"rchar\":407"},
		{"\"rchar\":407,", ""},
		{"\"rchar\":407", "\"rchar\":407,\"rchar\":407"},
		{"\"nr_threads\":0", "\"rchar\":7,\"nr_threads\":0"},
		{"\"tid\":1234,\"tgid\":1200", "\"tgid\":1200,\"tid\":1234"},
		{"{\"tid\":1234,", "{,\"tid\":1234,"},
		{"{\"tid\":1234,", "{\"rchar\":1,\"tid\":1234,"},
		{"\"comm\":\"worker-3\"", "\"comm\":3"},
		{"[0,1,2,3]", "[0,,1]"},
		{"[0,1,2,3]", "[0,1,]"},
		{"[0,1,2,3]", "[4294967296]"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":0,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":00,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":01,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":0.5,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":0],\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":-0,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":12345678,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":123456789,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429",
		 "\"rchar\":0,\"wchar\":1234567890123456789,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":12345678:,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429",
		 "\"rchar\":0,\"wchar\":0,\"wchar\":0,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"wchar\":0 ,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"rchar\":0,\"syscr\":0"},
		{"\"rchar\":407,\"wchar\":418,\"syscr\":429", "\"wchar\":0,\"rchar\":0,\"syscr\":0"},
		{"\"rt_priority\":0", "\"rt_priority\":00"},
		{"\"rt_priority\":0", "\"rt_priority\":0}"},
		{"\"rt_priority\":0", "\"rt_priority\":4294967295"},
		{"\"rt_priority\":0", "\"rt_priority\":4294967296"},
		{"\"rt_priority\":0", "\"rt_priority\":0,\"core_forceidle_sum\":0"},
		{"\"processor\":2", "\"processor\":2147483648"},
		{"\"tgid\":1200", "\"tgid\":4294967296"},
		{"\"state\":\"S\"", "\"state\":\"R\""},
		{"\"state\":\"S\"", "\"state\":\"?\""},
		{"\"state\":\"S\",", ""},
		{"\"policy\":\"SCHED_OTHER\"", "\"policy\":\"SCHED_OTHER\\u0041\""},
		{"_measured\":true}",
		 "_measured\":true,\"ctop\":{\"uid\":7,\"missing\":{\"io\":\"ended\"}}}"},
		{"_measured\":true}", "_measured\":true,\"ctop\":{\"layout\":\"dwarf\"}}"},
		{"_measured\":true}", "_measured\":true,\"smaps_rollup_kb\":{}}"},
		{"_measured\":true}", "_measured\":true,\"later\":7}"},
		{"_measured\":true}", "_measured\":true"},
		{"_measured\":true}", "_measured\":1}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char *record = example_replace(example_record, changes[i][0], changes[i][1]);
		/* twice, since what a record has may be kept for those behind it */
		char *records = memory_format("%s,%s,%s,%s", example_record, record, record, example_record);
		char *known = example_with_record(records);
		char *json = example_replace(known, "\"threads\":", "\"ctop\":{\"version\":1},\"threads\":");
		struct snapshot *snapshots[2] = {0};
		struct error errors[2] = {{""}, {""}};

		load(json, strlen(json), 1, &snapshots[0], &errors[0]);
		load(json, strlen(json), strlen(json), &snapshots[1], &errors[1]);
		assert_string_equal(errors[0].text, errors[1].text);
		assert_true((snapshots[0] == NULL) == (errors[0].text[0] != '\0'));
		if (snapshots[0] != NULL)
			assert_snapshots_equal(snapshots[0], snapshots[1]);
		snapshot_release(snapshots[0]);
		snapshot_release(snapshots[1]);
		free(json);
		free(known);
		free(records);
		free(record);
	}
}

/* Records of all kinds in turn, in one large piece and in small ones: the same threads in the same order. */
static void test_records_of_all_kinds_in_turn(void **state)
{
	static const char *const changes[][2] = {
		{"\"nice\":-5", "\"nice\":-5"},
		{"\"comm\":\"worker-3\"", "\"comm\":\"\xc3\xbc\""},
		{"\"rchar\":407", "\"rchar\": 408"},
		{"_measured\":true}", "_measured\":true,\"later\":[{\"a\":1},{\"tid\":1}]}"},
	};
	struct buffer text = {0};
	struct snapshot *snapshots[2] = {0};

	(void)state;
	buffer_append_text(&text, "{\"captured_at_unix_ns\":1,\"threads\":[");
	for (size_t i = 0; i < 100; i++) {
		char *record = example_replace(example_record, changes[i * 7 % 4][0], changes[i * 7 % 4][1]);
		char *number = memory_format("\"tid\":%zu", i);
		char *numbered = example_replace(record, "\"tid\":1234", number);

		buffer_append_text(&text, i == 0 ? "" : ",");
		buffer_append_text(&text, numbered);
		free(numbered);
		free(number);
		free(record);
	}
	buffer_append_text(&text, "],\"cgroup_stats\":{},\"psi\":" EXAMPLE_PSI "}");
	for (size_t i = 0; i < 2; i++) {
		struct error error = {""};

		load(text.data, text.length, i == 0 ? 100 : 50000, &snapshots[i], &error);
		assert_string_equal(error.text, "");
		assert_int_equal(snapshots[i]->thread_count, 100);
		for (size_t j = 0; j < 100; j++)
			assert_int_equal(snapshots[i]->tid[j], j);
	}
	assert_snapshots_equal(snapshots[0], snapshots[1]);
	snapshot_release(snapshots[0]);
	snapshot_release(snapshots[1]);
	for (size_t i = 0; i < 2; i++) {
		char *bad = example_replace(text.data, "\"tid\":77,", "\"tid\":-77,");
		struct error error = {""};

		assert_int_equal(load(bad, strlen(bad), i == 0 ? 100 : 50000, &snapshots[i], &error),
				 -EBADMSG);
		assert_non_null(strstr(error.text, "threads[77].tid must be"));
		free(bad);
	}
	buffer_release(&text);
}

/* How far the text has been read, as it is, and as one says who is wrong by far. */
static double true_progress(void *pieces_pointer)
{
	const struct json_pieces *pieces = pieces_pointer;

	return (double)pieces->offset / (double)pieces->length;
}

static double hardly_any_progress(void *pieces_pointer)
{
	return true_progress(pieces_pointer) / 1e9;
}

static double no_progress(void *pieces_pointer)
{
	(void)pieces_pointer;
	return 0;
}

/* For how many threads there is room when a text of `count` has been read which says that it has `tallied`.
 */
static size_t room_for(size_t count, size_t tallied, double (*progress)(void *context))
{
	struct json_pieces pieces = {.step = 4096};
	struct snapshot *snapshot = NULL;
	struct error error = {""};
	struct buffer text = {0};
	size_t room;

	buffer_append_text(&text,
			   "{\"captured_at_unix_ns\":1,\"ctop\":{\"version\":2,\"tallies\":{\"stat\":{");
	buffer_append_format(&text, "\"read\":%zu}}},\"threads\":[", tallied);
	for (size_t i = 0; i < count; i++)
		buffer_append_format(
			&text,
			"%s{\"tid\":%zu,\"tgid\":1,\"pcomm\":\"a\",\"comm\":\"b\",\"cgroup\":\"/\","
			"\"policy\":\"SCHED_OTHER\",\"cpu_affinity\":[0],\"state\":\"S\","
			"\"smaps_rollup_kib\":{}}",
			i != 0 ? "," : "", i + 1);
	buffer_append_text(&text, "],\"cgroup_stats\":{},\"psi\":" EXAMPLE_PSI "}");
	pieces.text = text.data;
	pieces.length = text.length;
	load_snapshot(json_pieces_fetch, progress, &pieces, &snapshot, &error);
	assert_string_equal(error.text, "");
	assert_int_equal(snapshot->thread_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(snapshot->tid[i], i + 1);
	room = snapshot->thread_capacity;
	snapshot_release(snapshot);
	free(pieces.piece);
	buffer_release(&text);
	return room;
}

/* Room is made once for as many threads as there will be, by the file's word if that may be; nobody who is
 * wrong about it makes much of it. */
static void test_room_for_threads(void **state)
{
	(void)state;
	assert_in_range(room_for(9000, 0, true_progress), 9000, 9000 * 1.2);
	assert_int_equal(room_for(9000, 9000, true_progress), 9000);
	assert_in_range(room_for(9000, 9000000, true_progress), 9000, 9000 * 1.2);
	assert_in_range(room_for(9000, 1025, true_progress), 9000, 9000 * 1.2);
	assert_in_range(room_for(9000, 0, no_progress), 9000, 16384);
	assert_in_range(room_for(1100, 0, hardly_any_progress), 1100, 8192);
	assert_in_range(room_for(9000, 9000000000, hardly_any_progress), 9000, 64 * 9000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types_of_thread_members),
		cmocka_unit_test(test_values_that_are_allowed),
		cmocka_unit_test(test_members_in_any_order_and_unknown_ones),
		cmocka_unit_test(test_top_level),
		cmocka_unit_test(test_optional_objects),
		cmocka_unit_test(test_cgroup_records),
		cmocka_unit_test(test_text_that_is_no_utf8),
		cmocka_unit_test(test_surrogate_escapes),
		cmocka_unit_test(test_text_that_is_no_json),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_long_tokens),
		cmocka_unit_test(test_error_names_the_byte),
		cmocka_unit_test(test_short_cuts),
		cmocka_unit_test(test_records_of_all_kinds_in_turn),
		cmocka_unit_test(test_room_for_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
