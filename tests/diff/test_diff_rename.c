/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>

#include "cmocka_include.h"
#include "diff_sides.h"

/* Adds threads of the types `first` … `end` - 1 to a cgroup, with a run time of 100 each. */
static void add_types(struct snapshot *snapshot, const char *cgroup, int first, int end)
{
	for (int type = first; type < end; type++) {
		char process[32];
		size_t thread;

		snprintf(process, sizeof(process), "server-%c%c", 'g' + type / 10, 'g' + type % 10);
		thread = diff_fixture_add(snapshot, cgroup, process, "loop", 10);
		diff_fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, 100);
	}
}

/*
 * Counts the pairs of cgroups that are joined; their types are those below `before_end`, and from
 * `after_first` on.
 */
static size_t count_renames(int before_end, int after_first, int after_end)
{
	diff_fixture_replace(diff_fixture_open(), diff_fixture_open());
	add_types(before, "/old", 0, before_end);
	add_types(after, "/new", after_first, after_end);
	diff_fixture_compare(AXIS_ALL);
	assert_int_equal(diff_fixture_count(diff, DIFF_PAIR_FUDGED) != 0, diff->rename_count != 0);
	return diff->rename_count;
}

static void test_thresholds(void **state)
{
	(void)state;
	assert_int_equal(count_renames(9, 0, 9), 0);
	assert_int_equal(count_renames(10, 0, 10), 1);
	assert_int_equal(count_renames(12, 2, 14), 0); /* 10 of 14: 0.714 */
	assert_int_equal(count_renames(18, 0, 20), 1); /* 18 of 20: exactly 0.90 */
	assert_int_equal(count_renames(17, 0, 19), 0); /* 17 of 19: 0.895 */
	assert_int_equal(count_renames(40, 0, 10), 0);
}

static void test_only_on_the_axis_of_all(void **state)
{
	(void)state;
	add_types(before, "/old", 0, 12);
	add_types(after, "/new", 0, 12);
	diff_fixture_compare(AXIS_CGROUP);
	assert_int_equal(diff->rename_count, 0);
	assert_int_equal(diff_fixture_count(diff, DIFF_PAIR_ONLY_BEFORE), 1);
}

/* A cgroup that kept its name on both sides was not renamed, whatever else it runs. */
static void test_kept_names(void **state)
{
	(void)state;
	add_types(before, "/old", 0, 12);
	diff_fixture_add(before, "/new", "both", "t", 1);
	add_types(after, "/new", 0, 12);
	diff_fixture_add(after, "/new", "both", "t", 1);
	diff_fixture_compare(AXIS_ALL);
	assert_int_equal(diff->rename_count, 0);
}

static void test_roots_and_children(void **state)
{
	const struct diff_rename *rename;
	const struct diff_pair *pair;

	(void)state;
	add_types(before, "/cg-alpha/worker", 0, 12);
	diff_fixture_add(before, "/cg-alpha/worker/sub", "kid", "t", 10);
	diff_fixture_add(before, "/cg-alphabet", "near", "t", 10);
	add_types(after, "/cg-beta/worker", 0, 13);
	diff_fixture_add(after, "/cg-beta/worker/sub", "kid", "t", 10);
	diff_fixture_add(after, "/cg-betabet", "near", "t", 10);
	diff_fixture_compare(AXIS_ALL);
	assert_int_equal(diff->rename_count, 1);
	rename = &diff->renames[0];
	assert_string_equal(rename->path[DIFF_BEFORE], "/cg-alpha/worker");
	assert_string_equal(rename->root[DIFF_BEFORE], "/cg-alpha");
	assert_string_equal(rename->root[DIFF_AFTER], "/cg-beta");
	assert_int_equal(rename->overlap, 12);
	assert_int_equal(rename->cascaded, 1);
	assert_int_equal(rename->only_count[DIFF_BEFORE], 0);
	assert_int_equal(rename->only_count[DIFF_AFTER], 1);
	assert_string_equal(rename->only[DIFF_AFTER][0].process, "server-hi");
	assert_string_equal(rename->only[DIFF_AFTER][0].thread, "loop");

	/* each shows its own leaf; what only begins like the root is not below it */
	pair = diff_fixture_pair(diff, "[renamed: worker] /cg-alpha/worker | server-gg | loop");
	assert_true(diff_metric(diff, pair, METRIC_RUN_TIME_NS).has_fraction);
	diff_fixture_pair(diff, "[renamed: sub] /cg-alpha/worker/sub | kid | t");
	assert_int_equal(diff_fixture_pair(diff, "/cg-alphabet | near | t")->kind, DIFF_PAIR_ONLY_BEFORE);
	assert_int_equal(diff_fixture_pair(diff, "/cg-betabet | near | t")->kind, DIFF_PAIR_ONLY_AFTER);
}

/* Two candidates of one baseline add up; the first in byte order gets the children. */
static void test_candidates_merge(void **state)
{
	const struct diff_pair *pair;
	struct diff_value value;

	(void)state;
	add_types(before, "/old", 0, 12);
	diff_fixture_add(before, "/old/sub", "kid", "t", 10);
	add_types(after, "/new-b", 0, 12);
	add_types(after, "/new-a", 0, 12);
	diff_fixture_add(after, "/new-a/sub", "kid", "t", 10);
	diff_fixture_add(after, "/new-b/sub", "kid", "t", 10);
	diff_fixture_compare(AXIS_ALL);
	assert_int_equal(diff->rename_count, 2);
	assert_string_equal(diff->renames[0].path[DIFF_AFTER], "/new-a");
	pair = diff_fixture_pair(diff, "[renamed: old] /old | server-gg | loop");
	assert_int_equal(pair->candidates, 2);
	assert_int_equal(pair->threads[DIFF_AFTER], 2);
	value = diff_metric(diff, pair, METRIC_RUN_TIME_NS);
	assert_true(value.side[DIFF_BEFORE].number == 100 && value.side[DIFF_AFTER].number == 200);
	assert_int_equal(diff_fixture_pair(diff, "[renamed: sub] /old/sub | kid | t")->candidates, 1);
	assert_int_equal(diff_fixture_pair(diff, "/new-b/sub | kid | t")->kind, DIFF_PAIR_ONLY_AFTER);
	assert_int_equal(diff_pair_of_thread(diff, DIFF_AFTER, 0), diff_pair_of_thread(diff, DIFF_BEFORE, 0));
}

/* Equally good baselines: the first in byte order. */
static void test_ties(void **state)
{
	(void)state;
	add_types(before, "/second", 0, 12);
	add_types(before, "/first", 0, 12);
	add_types(after, "/third", 0, 13); /* not the whole of either: the search goes on */
	diff_fixture_compare(AXIS_ALL);
	assert_int_equal(diff->rename_count, 1);
	assert_string_equal(diff->renames[0].path[DIFF_BEFORE], "/first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIFF_TEST(test_thresholds),       DIFF_TEST(test_only_on_the_axis_of_all),
		DIFF_TEST(test_kept_names),       DIFF_TEST(test_roots_and_children),
		DIFF_TEST(test_candidates_merge), DIFF_TEST(test_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
