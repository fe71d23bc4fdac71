/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole captures of the saved hosts through redirected roots: every field of the parked threads, 98 in all,
 * equals ktstr's record, in memory and after a round through a file. Without the replies of taskstats
 * every metric that a file has comes from there, and equals it too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "base/memory.h"
#include "capture/capture.h"
#include "store/ctprof.h"
#include "trees.h"

enum {
	PARKED_THREADS = 19, /* of these processes on each host */
	FORMAT_FLAGS = THREAD_TASKSTATS_MEASURED | THREAD_CPU_DELAY_ACTIVE | THREAD_DELAY_BLOCK_ACTIVE |
		       THREAD_XACCT_ACTIVE | THREAD_JEMALLOC_MEASURED,
};

static const char *const parked[] = {"park", "server-0", "server-1", "zombie-lead", "cow-child"};

static const char *process_name(const struct snapshot *snapshot, size_t thread)
{
	return snapshot_text(snapshot, snapshot->triples[snapshot->triple[thread]].pcomm);
}

static bool is_parked(const struct snapshot *snapshot, size_t thread)
{
	for (size_t i = 0; i < sizeof(parked) / sizeof(parked[0]); i++) {
		if (strcmp(process_name(snapshot, thread), parked[i]) == 0)
			return true;
	}
	return false;
}

static struct snapshot *read_snapshot(const char *path)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	if (ctprof_read(path, CTPROF_DEFAULT_LIMIT, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	return snapshot;
}

/* A capture of an unpacked host, of one process or (0) of all. */
static struct capture *open_host(const char *directory, uint32_t process, bool with_taskstats)
{
	char *roots[ROOT_COUNT];
	char *replies = memory_format("%s/taskstats", directory);
	struct capture_options options = {.saved_taskstats = with_taskstats ? replies : NULL,
					  .scope = &process,
					  .scope_count = process != 0};
	struct capture *capture = NULL;
	struct error error = {""};

	for (size_t i = 0; i < ROOT_COUNT; i++) {
		roots[i] = memory_format("%s/tree/%s", directory, root_names[i]);
		options.roots[i] = roots[i];
	}
	if (capture_open(&options, &capture, &error) < 0)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		free(roots[i]);
	free(replies);
	return capture;
}

static struct snapshot *capture_host(const char *directory, bool with_taskstats)
{
	struct capture *capture = open_host(directory, 0, with_taskstats);
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	if (capture_full(capture, UINT64_MAX, NULL, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	capture_close(capture);
	return snapshot;
}

/* A stored value as text, whatever it is; owned by the caller. */
static char *value_text(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	uint64_t value = snapshot_value(snapshot, thread, metric);
	struct buffer buffer = {0};

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return memory_duplicate(snapshot_text(snapshot, (uint32_t)value));
	case METRIC_ENCODING_CPU_SET:
		cpu_set_append_ranges(&snapshot->cpu_sets, (uint32_t)value, &buffer);
		return buffer_steal(&buffer);
	case METRIC_ENCODING_I32:
		return memory_format("%lld", (long long)value);
	case METRIC_ENCODING_CHARACTER:
		return memory_format("'%c'", (int)value);
	default:
		return memory_format("%llu", (unsigned long long)value);
	}
}

static uint64_t smaps_value(const struct snapshot *snapshot, const struct smaps_record *record,
			    const char *key)
{
	for (uint32_t i = 0; record != NULL && i < record->kib.count; i++) {
		if (strcmp(snapshot_text(snapshot, record->kib.items[i].key), key) == 0)
			return record->kib.items[i].value;
	}
	return UINT64_MAX;
}

static unsigned int compare_smaps(const struct snapshot *wanted, size_t wanted_thread,
				  const struct snapshot *found, size_t found_thread)
{
	const struct smaps_record *a = snapshot_find_smaps(wanted, wanted_thread);
	const struct smaps_record *b = snapshot_find_smaps(found, found_thread);
	unsigned int differing = (a != NULL ? a->kib.count : 0) != (b != NULL ? b->kib.count : 0);

	for (uint32_t i = 0; a != NULL && i < a->kib.count; i++)
		differing += smaps_value(found, b, snapshot_text(wanted, a->kib.items[i].key)) !=
			     a->kib.items[i].value;
	return differing;
}

/* Whether a capture without the replies of taskstats reads the metric. */
static bool is_in_files(enum metric metric)
{
	return metrics[metric].source != SOURCE_NONE &&
	       !source_is_of(metrics[metric].source, SOURCE_TASKSTATS);
}

/* Fields of the record of one thread that differ, each printed. */
static unsigned int compare_threads(const struct snapshot *wanted, size_t wanted_thread,
				    const struct snapshot *found, size_t found_thread, bool with_taskstats)
{
	const struct triple *a = &wanted->triples[wanted->triple[wanted_thread]];
	const struct triple *b = &found->triples[found->triple[found_thread]];
	unsigned int differing = 0;

	differing += wanted->tgid[wanted_thread] != found->tgid[found_thread];
	differing += strcmp(snapshot_text(wanted, a->pcomm), snapshot_text(found, b->pcomm)) != 0;
	differing += strcmp(snapshot_text(wanted, a->comm), snapshot_text(found, b->comm)) != 0;
	differing += strcmp(snapshot_text(wanted, a->cgroup), snapshot_text(found, b->cgroup)) != 0;
	differing += wanted->start_time[wanted_thread] != found->start_time[found_thread];
	if (with_taskstats)
		differing += (wanted->thread_flags[wanted_thread] & FORMAT_FLAGS) !=
			     (found->thread_flags[found_thread] & FORMAT_FLAGS);
	if (differing != 0)
		print_message("tid %u: %u of names, cgroup, start time and flags differ\n",
			      wanted->tid[wanted_thread], differing);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		char *wanted_text, *found_text;

		if (!with_taskstats && !is_in_files((enum metric)i))
			continue;
		wanted_text = value_text(wanted, wanted_thread, (enum metric)i);
		found_text = value_text(found, found_thread, (enum metric)i);
		if (strcmp(wanted_text, found_text) != 0) {
			print_message("tid %u %s: %s, ktstr has %s\n", wanted->tid[wanted_thread],
				      metrics[i].name, found_text, wanted_text);
			differing++;
		}
		free(wanted_text);
		free(found_text);
	}
	return differing + compare_smaps(wanted, wanted_thread, found, found_thread);
}

static size_t find_thread(const struct snapshot *snapshot, uint32_t tid)
{
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (snapshot->tid[i] == tid)
			return i;
	}
	fail_msg("no record of tid %u", tid);
	return 0;
}

static unsigned int compare_parked(const struct snapshot *ktstr, const struct snapshot *snapshot,
				   bool with_taskstats)
{
	unsigned int threads = 0, differing = 0;

	for (size_t i = 0; i < ktstr->thread_count; i++) {
		if (!is_parked(ktstr, i))
			continue;
		threads++;
		differing += compare_threads(ktstr, i, snapshot, find_thread(snapshot, ktstr->tid[i]),
					     with_taskstats);
	}
	/* what makes no sense is no zero, which ktstr has in its place */
	for (size_t i = 0; i < snapshot->exception_count; i++) {
		if (is_parked(snapshot, snapshot->exceptions[i].thread))
			assert_int_not_equal(snapshot->exceptions[i].reason, REASON_BAD_VALUE);
	}
	assert_int_equal(threads, PARKED_THREADS);
	return differing;
}

static void test_captures_equal_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < SAVED_HOST_COUNT; i++) {
		char *directory = saved_host_unpack(saved_host_names[i]);
		char *ktstr_path = memory_format("%s/reference.ctprof.zst", directory);
		char *own_path = memory_format("%s/own.ctprof.zst", directory);
		struct snapshot *ktstr = read_snapshot(ktstr_path);
		struct snapshot *files = capture_host(directory, false), *reloaded;
		struct snapshot *snapshot = capture_host(directory, true);
		struct error error = {""};

		assert_int_equal(files->metric_source[METRIC_RUN_TIME_NS], SOURCE_SCHEDSTAT);
		assert_int_equal(files->metric_source[METRIC_VOLUNTARY_CSW], SOURCE_STATUS);
		assert_int_equal(compare_parked(ktstr, files, false), 0);
		assert_int_equal(compare_parked(ktstr, snapshot, true), 0);
		if (ctprof_write(snapshot, snapshot->window, own_path, false, NULL, &error) < 0)
			fail_msg("%s", error.text);
		reloaded = read_snapshot(own_path);
		assert_int_equal(compare_parked(ktstr, reloaded, true), 0);
		assert_int_equal(reloaded->thread_count, snapshot->thread_count);
		snapshot_release(reloaded);
		snapshot_release(snapshot);
		snapshot_release(files);
		snapshot_release(ktstr);
		saved_host_remove(directory);
		free(own_path);
		free(ktstr_path);
	}
}

/* Values that ktstr could not read are no zeros here: unavailable or not applicable. */
static void test_states_of_the_saved_hosts(void **state)
{
	char *directory = saved_host_unpack("6.1");
	struct snapshot *snapshot = capture_host(directory, true);

	(void)state;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		/* max and min came with version 16, `slice` with 6.12, sched_ext with its configuration */
		assert_int_equal(snapshot_value_state(snapshot, i, METRIC_CPU_DELAY_MAX_NS),
				 REASON_NOT_IN_KERNEL);
		assert_int_equal(snapshot_value_state(snapshot, i, METRIC_EXT_ENABLED), REASON_NOT_IN_KERNEL);
		assert_int_equal(snapshot_value_state(snapshot, i, METRIC_IRQ_DELAY_TOTAL_NS),
				 REASON_NOT_IN_KERNEL);
		assert_int_not_equal(snapshot_value_state(snapshot, i, METRIC_ALLOCATED_BYTES), REASON_READ);
		if (is_parked(snapshot, i)) {
			assert_int_equal(snapshot_value_state(snapshot, i, METRIC_RUN_TIME_NS), REASON_READ);
			assert_int_equal(snapshot_value_state(snapshot, i, METRIC_WAIT_SUM), REASON_READ);
			assert_int_equal(snapshot_value_state(snapshot, i, METRIC_BLKIO_DELAY_COUNT),
					 REASON_READ); /* delayacct stood on the command line */
		}
	}
	snapshot_release(snapshot);
	saved_host_remove(directory);
}

/* A stat with one field more in front: the comparison must see it. */
static void test_an_offset_error_is_seen(void **state)
{
	char *directory = saved_host_unpack("7.2");
	char *ktstr_path = memory_format("%s/reference.ctprof.zst", directory);
	struct snapshot *ktstr = read_snapshot(ktstr_path), *snapshot;
	const char *const shift[] = {"sh", "-c",
				     "for f in \"$0\"/tree/proc/*/task/*/stat; do sed 's/) \\([A-Z]\\) /) "
				     "\\1 1 /' $f >$f.new && mv $f.new $f; done",
				     directory, NULL};

	(void)state;
	assert_true(run_program(shift));
	snapshot = capture_host(directory, true);
	print_message("the next lines are meant to differ\n");
	assert_true(compare_parked(ktstr, snapshot, true) >= PARKED_THREADS);
	snapshot_release(snapshot);
	snapshot_release(ktstr);
	saved_host_remove(directory);
	free(ktstr_path);
}

static uint64_t run_time_of_round(struct capture *capture, reason_id *ret_reason)
{
	struct capture_round_options options = {.needed = source_bit(SOURCE_TASKSTATS)};
	struct snapshot *round;
	uint64_t value;

	assert_int_equal(capture_round(capture, &options, NULL, &round, NULL), 0);
	assert_int_not_equal(round->thread_count, 0);
	*ret_reason = (reason_id)snapshot_value_state(round, 0, METRIC_RUN_TIME_NS);
	value = snapshot_value(round, 0, METRIC_RUN_TIME_NS);
	snapshot_release(round);
	return value;
}

/* A query that fails once leaves no zeros behind for a thread that does not move. */
static void test_a_query_that_failed_once(void **state)
{
	char *directory = saved_host_unpack(saved_host_names[SAVED_HOST_COUNT - 1]);
	struct snapshot *all = capture_host(directory, true);
	struct capture *capture;
	char *reply, *hidden;
	uint64_t before;
	reason_id reason;
	size_t thread = 0;

	(void)state;
	while (!is_parked(all, thread) || snapshot_value(all, thread, METRIC_RUN_TIME_NS) == 0 ||
	       all->tid[thread] != all->tgid[thread])
		assert_true(++thread < all->thread_count);
	capture = open_host(directory, all->tgid[thread], true);
	reply = memory_format("%s/taskstats/%u.bin", directory, all->tid[thread]);
	hidden = memory_format("%s.hidden", reply);
	before = run_time_of_round(capture, &reason);
	assert_int_equal(rename(reply, hidden), 0);
	assert_int_equal(run_time_of_round(capture, &reason), 0);
	assert_int_not_equal(reason, REASON_READ);
	assert_int_equal(rename(hidden, reply), 0);
	assert_int_equal(run_time_of_round(capture, &reason), before);
	assert_int_equal(reason, REASON_READ);
	capture_close(capture);
	snapshot_release(all);
	saved_host_remove(directory);
	free(reply);
	free(hidden);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures_equal_the_reference),
		cmocka_unit_test(test_states_of_the_saved_hosts),
		cmocka_unit_test(test_an_offset_error_is_seen),
		cmocka_unit_test(test_a_query_that_failed_once),
	};

	if (!saved_host_can_unpack()) {
		printf("SKIP: tar or zstd is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
