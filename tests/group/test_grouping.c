/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "group/grouping.h"

static void add_thread(struct snapshot *snapshot, const char *pcomm, const char *comm, const char *cgroup)
{
	uint32_t id = (uint32_t)snapshot->thread_count + 1;
	size_t thread = snapshot_add_thread(snapshot, id, id);
	struct triple triple = {
		string_pool_intern(&snapshot->strings, pcomm, strlen(pcomm)),
		string_pool_intern(&snapshot->strings, comm, strlen(comm)),
		string_pool_intern(&snapshot->strings, cgroup, strlen(cgroup)),
	};

	snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
}

/* Threads `prefix0` … of process and cgroup "p". */
static struct snapshot *snapshot_of_pool(const char *prefix, int first, int count)
{
	struct snapshot *snapshot = snapshot_create();
	char name[64];

	for (int i = first; i < first + count; i++) {
		snprintf(name, sizeof(name), "%s%d", prefix, i);
		add_thread(snapshot, "p", name, "/");
	}
	return snapshot;
}

static void assert_group_key(const struct grouping *grouping, uint32_t group, const char *key, size_t length)
{
	size_t key_length;
	const char *text = grouping_key(grouping, group, &key_length);

	assert_int_equal(key_length, length);
	assert_memory_equal(text, key, length);
	assert_int_equal(grouping_find(grouping, key, length), group);
}

static size_t members_of(const struct grouping *grouping, const struct snapshot *snapshot, uint32_t group)
{
	size_t members = 0;

	for (size_t i = 0; i < snapshot->thread_count; i++)
		members += grouping_of_triple(grouping, 0, snapshot->triple[i]) == group;
	return members;
}

static void test_singleton_revert(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD};
	struct snapshot *snapshot = snapshot_of_pool("worker-", 0, 8);
	const struct snapshot *const list[] = {snapshot};
	struct grouping *grouping;

	(void)state;
	for (int i = 0; i < 4; i++)
		add_thread(
			snapshot, "p",
			(const char *[]){"rayon-pool-0", "rayon-pool-1", "rayon-pool-2", "rayon-pool-3"}[i],
			"/");
	add_thread(snapshot, "p", "main", "/");
	grouping = grouping_create(&options, list, 1, NULL);
	assert_int_equal(grouping_count(grouping), 3);
	assert_group_key(grouping, 0, "main", 4);
	assert_group_key(grouping, 1, "rayon-pool-{N}", 14);
	assert_group_key(grouping, 2, "worker-{N}", 10);
	assert_int_equal(members_of(grouping, snapshot, 0), 1);
	assert_int_equal(members_of(grouping, snapshot, 1), 4);
	assert_int_equal(members_of(grouping, snapshot, 2), 8);
	assert_int_equal(grouping_find(grouping, "", 0), UINT32_MAX);
	assert_int_equal(grouping_find(grouping, "worker-0", 8), UINT32_MAX);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_one_thread_keeps_its_name(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD};
	struct snapshot *snapshot = snapshot_of_pool("worker-", 0, 1);
	const struct snapshot *const list[] = {snapshot};
	struct grouping *grouping = grouping_create(&options, list, 1, NULL);

	(void)state;
	assert_group_key(grouping, 0, "worker-0", 8);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* The vote is one of threads, not of distinct names: two threads of one name are enough. */
static void test_threads_vote(void **state)
{
	struct grouping_options options = {.axis = AXIS_PROCESS};
	struct snapshot *snapshot = snapshot_create();
	const struct snapshot *const list[] = {snapshot};
	struct grouping *grouping;

	(void)state;
	add_thread(snapshot, "job-1", "a", "/");
	add_thread(snapshot, "job-1", "b", "/");
	grouping = grouping_create(&options, list, 1, NULL);
	assert_int_equal(grouping_count(grouping), 1);
	assert_group_key(grouping, 0, "job-{N}", 7);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_vote_over_both_snapshots(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD};
	struct snapshot *baseline = snapshot_of_pool("worker-", 7, 1);
	struct snapshot *candidate = snapshot_of_pool("worker-", 0, 3);
	const struct snapshot *const list[] = {baseline, candidate};
	struct grouping *grouping = grouping_create(&options, list, 2, NULL);

	(void)state;
	assert_int_equal(grouping_count(grouping), 1);
	assert_group_key(grouping, 0, "worker-{N}", 10);
	assert_int_equal(grouping_of_triple(grouping, 0, baseline->triple[0]), 0);
	assert_int_equal(grouping_of_triple(grouping, 1, candidate->triple[2]), 0);
	grouping_release(grouping);
	snapshot_release(baseline);
	snapshot_release(candidate);
}

static void test_pattern_stays_in_a_session(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD};
	struct pattern_memory memory = {0};
	struct snapshot *two = snapshot_of_pool("worker-", 0, 2);
	struct snapshot *one = snapshot_of_pool("worker-", 1, 1);
	const struct snapshot *list[] = {one};
	struct grouping *grouping = grouping_create(&options, list, 1, &memory);

	(void)state;
	assert_group_key(grouping, 0, "worker-1", 8);
	grouping_release(grouping);
	list[0] = two;
	grouping_release(grouping_create(&options, list, 1, &memory));
	list[0] = one;
	grouping = grouping_create(&options, list, 1, &memory);
	assert_group_key(grouping, 0, "worker-{N}", 10);
	grouping_release(grouping);
	options.axis = AXIS_PROCESS;
	grouping = grouping_create(&options, list, 1, &memory);
	assert_group_key(grouping, 0, "p", 1);
	grouping_release(grouping);
	pattern_memory_release(&memory);
	snapshot_release(one);
	snapshot_release(two);
}

static void test_axes(void **state)
{
	struct grouping_options options = {0};
	struct snapshot *snapshot = snapshot_create();
	const struct snapshot *const list[] = {snapshot};
	struct grouping *grouping;

	(void)state;
	add_thread(snapshot, "proc-1", "t-1", "/s@4.service/x1");
	add_thread(snapshot, "", "", "");
	options.axis = AXIS_ALL;
	grouping = grouping_create(&options, list, 1, NULL);
	assert_int_equal(grouping_count(grouping), 2);
	assert_group_key(grouping, 0, "\0", 2);
	assert_group_key(grouping, 1, "/s@{I}.service/x{N}\0proc-{N}\0t-{N}", 34);
	grouping_release(grouping);

	options.keep_thread_names = true;
	grouping = grouping_create(&options, list, 1, NULL);
	assert_group_key(grouping, 1, "/s@{I}.service/x{N}\0proc-1\0t-1", 30);
	grouping_release(grouping);

	options = (struct grouping_options){.axis = AXIS_CGROUP};
	grouping = grouping_create(&options, list, 1, NULL);
	assert_group_key(grouping, 0, "", 0);
	assert_group_key(grouping, 1, "/s@{I}.service/x{N}", 19);
	grouping_release(grouping);

	options = (struct grouping_options){.axis = AXIS_THREAD_EXACT};
	grouping = grouping_create(&options, list, 1, NULL);
	assert_group_key(grouping, 1, "t-1", 3);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_names_kept(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD, .keep_thread_names = true};
	struct snapshot *snapshot = snapshot_of_pool("worker-", 0, 3);
	const struct snapshot *const list[] = {snapshot};
	struct grouping *grouping = grouping_create(&options, list, 1, NULL);

	(void)state;
	assert_int_equal(grouping_count(grouping), 3);
	assert_group_key(grouping, 1, "worker-1", 8);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_axis_names(void **state)
{
	(void)state;
	assert_int_equal(axis_find("pcomm"), AXIS_PROCESS);
	assert_int_equal(axis_find("process"), AXIS_PROCESS);
	assert_int_equal(axis_find("comm"), AXIS_THREAD);
	assert_int_equal(axis_find("thread"), AXIS_THREAD);
	assert_int_equal(axis_find("thread-exact"), AXIS_THREAD_EXACT);
	assert_int_equal(axis_find("comm-exact"), AXIS_THREAD_EXACT);
	assert_int_equal(axis_find("cgroup"), AXIS_CGROUP);
	assert_int_equal(axis_find("all"), AXIS_ALL);
	assert_int_equal(axis_find("threads"), AXIS_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_singleton_revert),
		cmocka_unit_test(test_one_thread_keeps_its_name),
		cmocka_unit_test(test_threads_vote),
		cmocka_unit_test(test_vote_over_both_snapshots),
		cmocka_unit_test(test_pattern_stays_in_a_session),
		cmocka_unit_test(test_axes),
		cmocka_unit_test(test_names_kept),
		cmocka_unit_test(test_axis_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
