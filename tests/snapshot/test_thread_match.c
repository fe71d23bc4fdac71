/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "snapshot/thread_match.h"

enum {
	BEFORE_S = 1000, /* seconds since boot */
	INTERVAL_S = 2,
	EARLY = 500,                  /* ticks: long before the first snapshot */
	SINCE = (BEFORE_S + 1) * 100, /* between the two */
};

static struct snapshot *open_snapshot(uint64_t seconds)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = seconds * NS_PER_S;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	return snapshot;
}

static uint32_t add(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, uint64_t start, uint64_t run_ms)
{
	size_t thread = snapshot_add_thread(snapshot, tgid, tid);

	snapshot->start_time[thread] = start;
	snapshot_column(snapshot, METRIC_RUN_TIME_NS)[thread] = run_ms * NS_PER_MS;
	return (uint32_t)thread;
}

static struct snapshot *before, *now;
static bool seen[16], replaced[16];
static uint32_t *match;

static int open_both(void **state)
{
	(void)state;
	before = open_snapshot(BEFORE_S);
	now = open_snapshot(BEFORE_S + INTERVAL_S);
	memset(seen, 0, sizeof(seen));
	memset(replaced, 0, sizeof(replaced));
	match = NULL;
	return 0;
}

static int close_both(void **state)
{
	(void)state;
	free(match);
	snapshot_release(before);
	snapshot_release(now);
	return 0;
}

static void find(void)
{
	free(match);
	match = thread_match(now, before, seen, replaced);
}

/* Also where the threads of a file stand in no order, and one is in it twice. */
static void test_by_id_and_start(void **state)
{
	(void)state;
	add(before, 20, 21, EARLY, 5);
	add(before, 10, 10, EARLY, 5);
	add(before, 10, 11, EARLY, 5);
	add(before, 10, 12, EARLY, 5);
	add(before, 20, 21, EARLY + 1, 5);
	add(now, 20, 21, EARLY + 1, 5);
	add(now, 10, 12, SINCE, 5);
	add(now, 10, 11, EARLY, 6);
	add(now, 20, 21, EARLY, 5);
	add(now, 30, 30, EARLY, 5);
	add(now, 10, 11, EARLY, 6);
	find();
	assert_int_equal(match[0], 4);
	assert_int_equal(match[1], THREAD_BORN);
	assert_int_equal(match[2], 2);
	assert_int_equal(match[3], 0);
	assert_int_equal(match[4], THREAD_UNKNOWN);
	assert_int_equal(match[5], THREAD_UNKNOWN);
	assert_true(seen[0] && !seen[1] && seen[2] && !seen[3] && seen[4]);
	for (size_t i = 0; i < now->thread_count; i++)
		assert_false(replaced[i]);
}

/* Runs a thread for `ms` between readings that are two seconds apart; says whether it is still itself. */
static bool is_itself(uint64_t ms)
{
	uint32_t thread = add(now, 10, 10, EARLY, 700 + ms);
	bool itself;

	find();
	itself = match[thread] != THREAD_UNKNOWN;
	assert_int_equal(replaced[thread], !itself);
	assert_int_equal(seen[0], itself);
	snapshot_release(now);
	now = open_snapshot(BEFORE_S + INTERVAL_S);
	memset(seen, 0, sizeof(seen));
	memset(replaced, 0, sizeof(replaced));
	return itself;
}

static void test_more_than_it_can_have_run(void **state)
{
	(void)state;
	add(before, 10, 10, EARLY, 700);
	assert_true(is_itself(0));
	assert_true(is_itself(2000));
	assert_true(is_itself(2010)); /* the older reading lacked the tick that was running */
	assert_false(is_itself(2013));
	assert_false(is_itself(24000));
	/* what was not read says nothing */
	snapshot_source_reasons(before, SOURCE_SCHEDSTAT)[0] = REASON_NOT_READ;
	assert_true(is_itself(24000));
}

/* Readings have times of their own, or the time that the whole capture took is theirs, too. */
static void test_the_time_is_that_between_the_readings(void **state)
{
	(void)state;
	add(before, 10, 10, EARLY, 700);
	now->provenance.duration_ns = 3 * NS_PER_S;
	assert_true(is_itself(5000));
	now->provenance.duration_ns = 3 * NS_PER_S;
	assert_false(is_itself(5100));
	snapshot_read_times(before, SOURCE_SCHEDSTAT)[0] -= NS_PER_S;
	assert_true(is_itself(3000));
	assert_false(is_itself(3100));
}

/* What a capture says of its rows is taken up, and the clock decides about those that moved all the same. */
static void test_carried_rows(void **state)
{
	static const uint32_t rows[] = {0, UINT32_MAX, 2, 3, UINT32_MAX}, moved[] = {1, 3, 4};

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(before, 10, 10 + i, EARLY, 5);
	add(now, 10, 10, EARLY, 5);
	add(now, 10, 11, SINCE, 5); /* its number was used again */
	add(now, 10, 12, EARLY, 5);
	add(now, 10, 13, EARLY, 24000);
	add(now, 10, 14, EARLY, 5);
	now->carried_serial = before->serial;
	now->carried_row = memory_allocate(sizeof(rows));
	memcpy(now->carried_row, rows, sizeof(rows));
	now->moved = memory_allocate(sizeof(moved));
	memcpy(now->moved, moved, sizeof(moved));
	now->moved_count = sizeof(moved) / sizeof(moved[0]);
	for (int known = 0; known < 2; known++) {
		memset(seen, 0, sizeof(seen));
		find();
		assert_int_equal(match[0], 0);
		assert_int_equal(match[1], THREAD_BORN);
		assert_int_equal(match[2], 2);
		assert_int_equal(match[3], THREAD_UNKNOWN);
		assert_int_equal(match[4], THREAD_UNKNOWN);
		assert_true(seen[0] && !seen[1] && seen[2] && !seen[3]);
		assert_true(replaced[3] && !replaced[1]);
		now->moved_known = true;
	}
	/* of another snapshot than the one that was carried they say nothing */
	now->carried_serial = now->serial + 1;
	now->carried_row[0] = UINT32_MAX;
	memset(seen, 0, sizeof(seen));
	find();
	assert_int_equal(match[0], 0);
	assert_int_equal(match[3], THREAD_UNKNOWN);
	assert_true(seen[0] && seen[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_id_and_start, open_both, close_both),
		cmocka_unit_test_setup_teardown(test_more_than_it_can_have_run, open_both, close_both),
		cmocka_unit_test_setup_teardown(test_the_time_is_that_between_the_readings, open_both,
						close_both),
		cmocka_unit_test_setup_teardown(test_carried_rows, open_both, close_both),
	};

	return cmocka_run_group_tests_name("thread_match", tests, NULL, NULL);
}
