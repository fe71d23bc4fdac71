/* SPDX-License-Identifier: GPL-2.0-only */
/* The parked threads of the saved hosts: what the parsers give equals what the reference captured there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "base/file.h"
#include "base/memory.h"
#include "capture/procfs/procfs.h"
#include "store/ctprof.h"
#include "trees.h"

enum {
	PARKED_THREADS = 19, /* of these processes on each host */
	FILE_SIZE_MAX = 1 << 20,
};

static const char *const parked[] = {"park", "server-0", "server-1", "zombie-lead", "cow-child"};

static bool is_parked(const struct snapshot *snapshot, size_t thread)
{
	const char *name = snapshot_text(snapshot, snapshot->triples[snapshot->triple[thread]].pcomm);

	for (size_t i = 0; i < sizeof(parked) / sizeof(parked[0]); i++) {
		if (strcmp(name, parked[i]) == 0)
			return true;
	}
	return false;
}

static struct snapshot *read_reference(const char *directory)
{
	char *path = memory_format("%s/reference.ctprof.zst", directory);
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	if (ctprof_read(path, CTPROF_DEFAULT_LIMIT, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	free(path);
	return snapshot;
}

/* One file of a thread, empty when it is not there. */
static void read_file(const char *directory, const struct snapshot *reference, size_t thread,
		      const char *name, struct buffer *buffer)
{
	char *path = memory_format("%s/tree/proc/%u/task/%u/%s", directory, reference->tgid[thread],
				   reference->tid[thread], name);

	if (file_read(AT_FDCWD, path, buffer, FILE_SIZE_MAX) < 0)
		buffer_clear(buffer);
	free(path);
}

/* The reference's value of a metric in the form that the parsers give. */
static uint64_t reference_value(const struct snapshot *reference, size_t thread, enum metric metric,
				const struct thread_reading *reading, struct string_pool *cpu_sets)
{
	uint64_t value = snapshot_value(reference, thread, metric);
	char text[PROCFS_POLICY_NAME_SIZE];
	struct buffer ranges = {0};
	uint32_t id;

	if (metric == METRIC_POLICY) {
		/* the number whose name it is */
		return strcmp(snapshot_text(reference, (uint32_t)value),
			      procfs_policy_name((int64_t)reading->value[metric], text)) == 0
			       ? reading->value[metric]
			       : UINT64_MAX;
	}
	if (metric != METRIC_CPU_AFFINITY)
		return value;
	cpu_set_append_ranges(&reference->cpu_sets, (uint32_t)value, &ranges);
	assert_true(cpu_set_parse(cpu_sets, ranges.data, ranges.length, &id));
	buffer_release(&ranges);
	return id;
}

/* Metrics that differ; `quiet` does not print them. */
static unsigned int compare_metrics(const struct snapshot *reference, size_t thread,
				    const struct thread_reading *reading, struct string_pool *cpu_sets,
				    bool quiet)
{
	const source_set files = source_bit(SOURCE_STAT) | source_bit(SOURCE_SCHEDSTAT) |
				 source_bit(SOURCE_STATUS) | source_bit(SOURCE_IO) |
				 source_bit(SOURCE_SCHED) | source_bit(SOURCE_SCHEDSTATS) |
				 source_bit(SOURCE_AFFINITY);
	unsigned int differing = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum metric metric = (enum metric)i;
		uint64_t wanted, found;

		if ((files & source_bit(metrics[i].source)) == 0)
			continue;
		wanted = reference_value(reference, thread, metric, reading, cpu_sets);
		found = metric_set_has(&reading->present, metric) ? reading->value[i] : 0;
		if (wanted == found)
			continue;
		differing++;
		if (!quiet)
			print_message("tid %u %s: %llu, the reference has %llu\n", reference->tid[thread],
				      metrics[i].name, (unsigned long long)found, (unsigned long long)wanted);
	}
	return differing;
}

static void compare_names(const struct snapshot *reference, size_t thread,
			  const struct thread_reading *reading, const char *directory)
{
	const struct triple *triple = &reference->triples[reference->triple[thread]];
	struct buffer buffer = {0};
	struct text text;

	assert_int_equal(reading->start_time, reference->start_time[thread]);
	assert_int_equal(reading->name_length, string_pool_length(&reference->strings, triple->comm));
	assert_memory_equal(reading->name, snapshot_text(reference, triple->comm), reading->name_length);
	read_file(directory, reference, thread, "comm", &buffer);
	assert_true(procfs_parse_comm(buffer.data, buffer.length, &text));
	assert_int_equal(text.length, reading->name_length);
	assert_memory_equal(text.data, reading->name, text.length);
	read_file(directory, reference, thread, "cgroup", &buffer);
	assert_true(procfs_parse_cgroup(buffer.data, buffer.length, &text));
	assert_int_equal(text.length, string_pool_length(&reference->strings, triple->cgroup));
	assert_memory_equal(text.data, snapshot_text(reference, triple->cgroup), text.length);
	buffer_release(&buffer);
}

/* smaps_rollup of a leader, by key. */
static void compare_smaps(const struct snapshot *reference, size_t thread, const char *directory)
{
	const struct smaps_record *record = snapshot_find_smaps(reference, thread);
	struct string_pool strings = {0};
	struct arena arena = {0};
	struct buffer buffer = {0};
	struct key_values kib = {NULL, 0};

	if (reference->tid[thread] == reference->tgid[thread]) {
		read_file(directory, reference, thread, "smaps_rollup", &buffer);
		procfs_parse_keys(buffer.data, buffer.length, PROCFS_KEYS_COLON, &strings, &arena, &kib);
	}
	assert_int_equal(kib.count, record != NULL ? record->kib.count : 0);
	for (uint32_t i = 0; i < kib.count; i++) {
		const char *key = string_pool_text(&strings, kib.items[i].key);
		bool found = false;

		for (uint32_t j = 0; j < record->kib.count; j++) {
			if (strcmp(snapshot_text(reference, record->kib.items[j].key), key) == 0) {
				assert_int_equal(kib.items[i].value, record->kib.items[j].value);
				found = true;
			}
		}
		assert_true(found);
	}
	buffer_release(&buffer);
	arena_release(&arena);
	string_pool_release(&strings);
}

static void parse_files(const char *directory, const struct snapshot *reference, size_t thread,
			struct thread_reading *reading, struct string_pool *cpu_sets)
{
	struct buffer buffer = {0};

	thread_reading_begin(reading, reference->tgid[thread], reference->tid[thread]);
	read_file(directory, reference, thread, "stat", &buffer);
	assert_true(procfs_parse_stat(reading, buffer.data, buffer.length));
	read_file(directory, reference, thread, "schedstat", &buffer);
	assert_true(procfs_parse_schedstat(reading, buffer.data, buffer.length));
	read_file(directory, reference, thread, "status", &buffer);
	assert_true(procfs_parse_lines(reading, SOURCE_STATUS, cpu_sets, buffer.data, buffer.length));
	read_file(directory, reference, thread, "sched", &buffer);
	assert_true(procfs_parse_lines(reading, SOURCE_SCHED, NULL, buffer.data, buffer.length));
	read_file(directory, reference, thread, "io", &buffer);
	procfs_parse_lines(reading, SOURCE_IO, NULL, buffer.data, buffer.length);
	buffer_release(&buffer);
}

/* `stat` with one field more before the first that counts: every value then stands one field too far. */
static unsigned int compare_shifted(const char *directory, const struct snapshot *reference, size_t thread)
{
	struct string_pool cpu_sets = {0};
	struct thread_reading reading;
	struct buffer buffer = {0}, shifted = {0};
	const char *end;
	unsigned int differing;

	parse_files(directory, reference, thread, &reading, &cpu_sets);
	read_file(directory, reference, thread, "stat", &buffer);
	end = memrchr(buffer.data, ')', buffer.length);
	assert_non_null(end);
	end += strlen(") S");
	buffer_append(&shifted, buffer.data, (size_t)(end - buffer.data));
	buffer_append_text(&shifted, " 1");
	buffer_append_text(&shifted, end);
	assert_true(procfs_parse_stat(&reading, shifted.data, shifted.length));
	differing = compare_metrics(reference, thread, &reading, &cpu_sets, true);
	buffer_release(&buffer);
	buffer_release(&shifted);
	string_pool_release(&cpu_sets);
	return differing;
}

static void test_parsers_equal_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < SAVED_HOST_COUNT; i++) {
		char *directory = saved_host_unpack(saved_host_names[i]);
		struct snapshot *reference = read_reference(directory);
		struct string_pool cpu_sets = {0};
		unsigned int threads = 0, differing = 0;

		for (size_t thread = 0; thread < reference->thread_count; thread++) {
			struct thread_reading reading;

			if (!is_parked(reference, thread))
				continue;
			threads++;
			parse_files(directory, reference, thread, &reading, &cpu_sets);
			differing += compare_metrics(reference, thread, &reading, &cpu_sets, false);
			compare_names(reference, thread, &reading, directory);
			compare_smaps(reference, thread, directory);
			assert_int_equal(reading.negative_values, 0);
			assert_true(compare_shifted(directory, reference, thread) >= 2);
		}
		assert_int_equal(threads, PARKED_THREADS);
		assert_int_equal(differing, 0);
		string_pool_release(&cpu_sets);
		snapshot_release(reference);
		tree_remove_directory(directory);
		free(directory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parsers_equal_the_reference),
	};

	if (!saved_host_can_unpack()) {
		printf("SKIP: tar or zstd is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
