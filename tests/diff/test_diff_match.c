/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that are the same on both sides of a comparison, and what they did in between. */
#include <string.h>

#include "cmocka_include.h"
#include "compare/diff.h"
#include "pair_fixture.h"
#include "scx_fixture.h"
#include "table/column_name.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	EARLY = 500,                       /* ticks, long before the first capture */
	SINCE = (PAIR_BEFORE_S + 5) * 100, /* between the captures */
};

/* "pool" is restarted and grows, "stay" stays, of "mixed" one thread goes, one comes, one was overlooked. */
static const struct pair_thread before[] = {
	{"/a", "app", "pool-1", 10, 11, EARLY, 9000, 0, 0, REASON_READ},
	{"/a", "app", "pool-2", 10, 12, EARLY, 9000, 0, 0, REASON_NOT_PERMITTED},
	{"/a", "app", "stay-1", 10, 13, EARLY, 100, 0, 7, REASON_READ},
	{"/a", "app", "stay-2", 10, 14, EARLY, 200, 0, 7, REASON_READ},
	{"/a", "app", "mixed-1", 10, 15, EARLY, 1000, 0, 0, REASON_READ},
	{"/a", "app", "mixed-2", 10, 16, EARLY, 5000, 0, 0, REASON_READ},
	{"/a", "app", "nameless", 10, 18, EARLY, 60, 0, 0, REASON_READ},
	{"/a", "app", "lost", 10, 19, EARLY, 60, 0, 0, REASON_READ},
};

static const struct pair_thread after[] = {
	{"/a", "app", "stay-1", 10, 13, EARLY, 150, 0, 7, REASON_READ},
	{"/a", "app", "stay-2", 10, 14, EARLY, 275, 0, 9, REASON_READ},
	{"/a", "app", "pool-1", 10, 12, SINCE, 40, 0, 0, REASON_READ}, /* the id of another */
	{"/a", "app", "pool-2", 10, 21, SINCE, 30, 0, 0, REASON_READ},
	{"/a", "app", "pool-3", 10, 22, SINCE, 30, 0, 0, REASON_READ},
	{"/a", "app", "mixed-1", 10, 15, EARLY, 1300, 0, 0, REASON_READ},
	{"/a", "app", "mixed-3", 10, 23, SINCE, 11, 0, 0, REASON_READ},
	{"/a", "app", "mixed-4", 10, 24, EARLY, 70000, 0, 0, REASON_READ},
	{"/b", "app", "named", 10, 18, EARLY, 90, 0, 0, REASON_READ},
};

static struct snapshot *side[DIFF_SIDE_COUNT];
static struct diff_match *match;
static struct diff *diff;

static void release_comparison(void)
{
	diff_release(diff);
	diff_match_release(match);
	diff = NULL;
	match = NULL;
}

/* Compares by threads or by groups. */
static void compare_on(enum axis axis, bool by_thread)
{
	struct diff_options options = {.grouping = {.axis = axis}, .by_threads = by_thread};

	release_comparison();
	options.match = match = diff_match_create(side[DIFF_BEFORE], side[DIFF_AFTER], NULL);
	assert_non_null(match);
	diff = diff_create(side[DIFF_BEFORE], side[DIFF_AFTER], &options);
}

static void compare(bool by_thread)
{
	compare_on(AXIS_THREAD, by_thread);
}

static int make_sides(void **state)
{
	(void)state;
	side[DIFF_BEFORE] = pair_snapshot(PAIR_BEFORE_S, before, COUNT(before));
	side[DIFF_AFTER] = pair_snapshot(PAIR_BEFORE_S + PAIR_INTERVAL_S, after, COUNT(after));
	return 0;
}

static int release_sides(void **state)
{
	(void)state;
	release_comparison();
	snapshot_release(side[DIFF_BEFORE]);
	snapshot_release(side[DIFF_AFTER]);
	return 0;
}

static size_t find(const char *key)
{
	size_t pair = diff_find(diff, key, strlen(key));

	if (pair == SIZE_MAX)
		fail_msg("no group '%s'", key);
	return pair;
}

static void expect_counts(const char *key, uint32_t same, uint32_t came, uint32_t went)
{
	const struct diff_match_count *count = &diff->pairs[find(key)].members;

	assert_int_equal(count->same, same);
	assert_int_equal(count->came, came);
	assert_int_equal(count->went, went);
}

static void expect_column(const char *key, enum column column, double from, double to)
{
	const struct diff_value value = diff_column(diff, &diff->pairs[find(key)], column);

	assert_int_equal(value.state, VALUE_READ);
	assert_true(value.has_delta);
	assert_true(value.side[DIFF_BEFORE].number == from);
	assert_true(value.side[DIFF_AFTER].number == to);
	assert_true(value.delta == to - from);
}

static void expect_change(const char *key, enum metric metric, double from, double to)
{
	expect_column(key, column_of_stored(metric), from, to);
}

static void test_threads(void **state)
{
	(void)state;
	compare(true);
	assert_int_equal(match->same, 4);
	assert_int_equal(match->only[DIFF_BEFORE], 4);
	assert_int_equal(match->only[DIFF_AFTER], 5);
	expect_change("stay-{N}", METRIC_RUN_TIME_NS, 300, 425);
	/* a restarted pool did what its new threads did, and no less than nothing */
	expect_counts("pool-{N}", 0, 3, 2);
	expect_change("pool-{N}", METRIC_RUN_TIME_NS, 0, 100);
	expect_change("pool-{N}", METRIC_THREAD_COUNT, 2, 3);
	/* one that was unreadable and went makes nothing unavailable */
	expect_change("pool-{N}", METRIC_READ_BYTES, 0, 0);
	/* the one that was there before but not seen does not count from zero */
	expect_counts("mixed-{N}", 1, 2, 1);
	assert_int_equal(diff->pairs[find("mixed-{N}")].members.unknown, 1);
	expect_change("mixed-{N}", METRIC_RUN_TIME_NS, 1000, 1311);
	expect_change("mixed-{N}", METRIC_THREAD_COUNT, 2, 3);
	/* what the thread did goes with it */
	expect_counts("named", 1, 0, 0);
	expect_change("named", METRIC_RUN_TIME_NS, 60, 90);
	assert_int_equal(diff_find(diff, "nameless", 8), SIZE_MAX);
	expect_counts("lost", 0, 0, 1);
}

static void test_groups(void **state)
{
	(void)state;
	compare(false);
	expect_counts("pool-{N}", 0, 3, 2);
	expect_counts("stay-{N}", 2, 0, 0);
	expect_counts("mixed-{N}", 1, 2, 1);
	expect_counts("nameless", 0, 0, 1);
	expect_counts("named", 0, 1, 0);
	expect_change("pool-{N}", METRIC_RUN_TIME_NS, 18000, 100);
}

/* Whatever the axis, exact changes of all groups add up to those of all threads. */
static void test_sums(void **state)
{
	(void)state;
	for (enum axis axis = AXIS_PROCESS; axis < AXIS_COUNT; axis++) {
		double sum = 0;

		compare_on(axis, true);
		for (size_t i = 0; i < diff->pair_count; i++) {
			const struct diff_value value = diff_metric(diff, &diff->pairs[i],
								    METRIC_RUN_TIME_NS);

			/* groups of one side have no change: what came is their own value */
			if (value.has_delta)
				sum += value.delta;
			else if (value.side[DIFF_AFTER].has_number)
				sum += value.side[DIFF_AFTER].number;
		}
		assert_true(sum == 50 + 75 + 100 + 311 + 30);
	}
}

static void test_itself(void **state)
{
	(void)state;
	snapshot_release(side[DIFF_AFTER]);
	side[DIFF_AFTER] = snapshot_reference(side[DIFF_BEFORE]);
	compare_on(AXIS_ALL, true);
	assert_int_equal(match->same, COUNT(before));
	for (size_t i = 0; i < diff->pair_count; i++)
		assert_false(diff_metric(diff, &diff->pairs[i], METRIC_RUN_TIME_NS).differs);
}

static void expect_refusal(const char *complaint)
{
	struct error error = {""};

	assert_null(diff_match_create(side[DIFF_BEFORE], side[DIFF_AFTER], &error));
	if (strstr(error.text, complaint) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, complaint);
}

static void test_refusals(void **state)
{
	(void)state;
	side[DIFF_AFTER]->provenance.boottime_ns = 1;
	expect_refusal("the second capture is the older one");
	side[DIFF_AFTER]->provenance.boot_id = "other";
	expect_refusal("different boots");
	side[DIFF_AFTER]->provenance.boot_id = NULL;
	expect_refusal("the file of after does not tell the boot");
	side[DIFF_BEFORE]->provenance.boot_id = NULL;
	expect_refusal("the file of before does not tell the boot");
}

/* Gives each thread a weight of 100 and a runtime that is a part of its run time. */
static void add_contexts(struct snapshot *snapshot)
{
	scx_fixture_begin(snapshot, "made_1.2", 1, NULL);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		scx_fixture_add(
			snapshot, i,
			(uint64_t[SCX_FIXTURE_FIELDS]){
				[SCX_FIXTURE_WEIGHT] = 100,
				[SCX_FIXTURE_SUM_RUNTIME] = snapshot->values[METRIC_RUN_TIME_NS][i] / 10,
			});
}

/* Counters of a scheduler follow the threads, what it has of them now does not. */
static void test_contexts(void **state)
{
	(void)state;
	add_contexts(side[DIFF_BEFORE]);
	add_contexts(side[DIFF_AFTER]);
	compare(false);
	expect_column("mixed-{N}", column_find("scx.sum_runtime"), 600, 7131);
	expect_column("mixed-{N}", column_find("scx.weight"), 200, 300);
	compare(true);
	expect_column("mixed-{N}", column_find("scx.sum_runtime"), 100, 131);
	expect_column("pool-{N}", column_find("scx.sum_runtime"), 0, 10);
	expect_column("named", column_find("scx.sum_runtime"), 6, 9);
	expect_column("mixed-{N}", column_find("scx.weight"), 200, 300);
	/* a field that neither side has */
	assert_int_equal(diff_column(diff, &diff->pairs[0], column_find("scx.nothing")).state, VALUE_ABSENT);
}

#define MATCH_TEST(test) cmocka_unit_test_setup_teardown(test, make_sides, release_sides)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MATCH_TEST(test_threads),  MATCH_TEST(test_groups), MATCH_TEST(test_sums),
		MATCH_TEST(test_contexts), MATCH_TEST(test_itself), MATCH_TEST(test_refusals),
	};

	return cmocka_run_group_tests_name("diff_match", tests, NULL, NULL);
}
