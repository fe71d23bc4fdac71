/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <string.h>

#include "cmocka_include.h"
#include "diff_sides.h"
#include "table/value_cell.h"

/* --- the vectors of the format's grouping rules --- */

static void test_patterns_are_counted_over_both_sides(void **state)
{
	const struct diff_pair *pair;

	(void)state;
	diff_fixture_add(before, "/a", "p", "worker-7", 1);
	for (int i = 0; i < 3; i++)
		diff_fixture_add(after, "/a", "p", (const char *[]){"worker-1", "worker-2", "worker-9"}[i],
				 1);
	diff_fixture_compare(AXIS_THREAD);
	assert_int_equal(diff->pair_count, 1);
	pair = diff_fixture_pair(diff, "worker-{N}");
	assert_int_equal(pair->kind, DIFF_PAIR_MATCHED);
	assert_int_equal(pair->threads[DIFF_BEFORE], 1);
	assert_int_equal(pair->threads[DIFF_AFTER], 3);
}

static void test_orphans(void **state)
{
	const struct diff_pair *pair;
	struct diff_value value;

	(void)state;
	diff_fixture_add(before, "/a", "gone", "t", 1);
	diff_fixture_add(before, "/a", "stays", "t", 1);
	diff_fixture_add(after, "/a", "came", "t", 1);
	diff_fixture_add(after, "/a", "stays", "t", 1);
	diff_fixture_compare(AXIS_PROCESS);
	assert_int_equal(diff_fixture_count(diff, DIFF_PAIR_MATCHED), 1);
	assert_int_equal(diff_fixture_count(diff, DIFF_PAIR_ONLY_BEFORE), 1);
	assert_int_equal(diff_fixture_count(diff, DIFF_PAIR_ONLY_AFTER), 1);
	pair = diff_fixture_pair(diff, "gone");
	assert_int_equal(pair->kind, DIFF_PAIR_ONLY_BEFORE);
	assert_false(diff_pair_is_joined(pair));
	value = diff_metric(diff, pair, METRIC_RUN_TIME_NS);
	assert_int_equal(value.side[DIFF_BEFORE].state, VALUE_READ);
	assert_int_equal(value.side[DIFF_AFTER].state, VALUE_ABSENT);
	assert_int_equal(value.state, VALUE_ABSENT);
	assert_false(value.has_delta);
	assert_int_equal(diff_find(diff, "came", 4), 0);
	assert_int_equal(diff_find(diff, "nobody", 6), SIZE_MAX);
}

static void test_uptime(void **state)
{
	static const char *const names[] = {"a", "b", "c"};
	static const uint64_t starts[] = {0, 512, 1024};
	static const double uptimes[] = {100, 50, 0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		diff_fixture_add(before, "/", "p", names[i], 7);
		diff_fixture_add(after, "/", "p", names[i], starts[i]);
	}
	diff_fixture_compare(AXIS_THREAD_EXACT);
	for (size_t i = 0; i < 3; i++) {
		assert_true(diff_pair_is_joined(&diff->pairs[i]));
		assert_true(diff->pairs[i].uptime == uptimes[i]);
	}
}

static void test_changes(void **state)
{
	const struct diff_pair *pair;
	struct diff_value value;

	(void)state;
	diff_fixture_add_both("/", "p", "t", METRIC_RUN_TIME_NS, 80, 90);
	diff_fixture_set(after, 0, METRIC_TIMESLICES, 5);
	diff_fixture_set(before, 0, METRIC_NICE, (uint64_t)-20);
	diff_fixture_set(after, 0, METRIC_NICE, (uint64_t)-20);
	diff_fixture_compare(AXIS_PROCESS);
	pair = &diff->pairs[0];

	value = diff_metric(diff, pair, METRIC_RUN_TIME_NS);
	assert_true(value.has_delta && value.delta == 10);
	assert_true(value.has_fraction && value.fraction == 0.125);
	assert_true(value.sort == 0.125);

	/* a change from zero has no percentage, and its amount leads all that have one */
	value = diff_metric(diff, pair, METRIC_TIMESLICES);
	assert_true(value.has_delta && value.delta == 5);
	assert_false(value.has_fraction);
	assert_true(value.sort == 5e9);

	/* no change of a negative number has no sign */
	value = diff_metric(diff, pair, METRIC_NICE);
	assert_true(value.has_fraction && value.fraction == 0 && !signbit(value.fraction));
	assert_false(value.differs);

	/* absent on both sides: nothing probed the allocator */
	value = diff_metric(diff, pair, METRIC_ALLOCATED_BYTES);
	assert_int_equal(value.state, VALUE_ABSENT);
	assert_true(isinf(value.sort) && value.sort < 0);
	value = diff_column(diff, pair, column_of_derived(DERIVED_LIVE_HEAP_ESTIMATE));
	assert_int_equal(value.state, VALUE_ABSENT);
}

static void test_ratios_have_no_percent(void **state)
{
	struct diff_value value;

	(void)state;
	diff_fixture_add_both("/", "p", "t", METRIC_VOLUNTARY_CSW, 75, 50);
	diff_fixture_set(before, 0, METRIC_NONVOLUNTARY_CSW, 25);
	diff_fixture_set(after, 0, METRIC_NONVOLUNTARY_CSW, 50);
	diff_fixture_compare(AXIS_PROCESS);
	value = diff_column(diff, &diff->pairs[0], column_of_derived(DERIVED_INVOLUNTARY_CSW_RATIO));
	assert_true(value.side[DIFF_BEFORE].number == 0.25 && value.side[DIFF_AFTER].number == 0.5);
	assert_true(value.has_delta && value.delta == 0.25);
	assert_false(value.has_fraction);
	assert_true(value.sort == 0.25e9);
}

/* SCHED_OTHER (6/8) and SCHED_OTHER (7/10) are the same. */
static void test_categories_compare_by_winner(void **state)
{
	struct value after_value;
	struct diff_value value;
	struct arena arena = {0};
	struct cell cell;

	(void)state;
	/* another order of the strings: ids of one side say nothing about the other */
	string_pool_intern(&after->strings, "SCHED_BATCH", 11);
	for (size_t i = 0; i < 10; i++) {
		if (i < 8) {
			diff_fixture_add(before, "/", "p", "t", 1);
			diff_fixture_set_text(before, i, METRIC_POLICY,
					      i < 6 ? "SCHED_OTHER" : "SCHED_BATCH");
		}
		diff_fixture_add(after, "/", "p", "t", 1);
		diff_fixture_set_text(after, i, METRIC_POLICY, i < 7 ? "SCHED_OTHER" : "SCHED_BATCH");
	}
	diff_fixture_compare(AXIS_PROCESS);
	value = diff_metric(diff, &diff->pairs[0], METRIC_POLICY);
	assert_true(value.is_category);
	assert_int_equal(value.state, VALUE_READ);
	assert_false(value.differs);
	assert_false(value.has_delta);
	diff_side(diff, &diff->pairs[0], DIFF_AFTER, column_of_metric(METRIC_POLICY), &after_value);
	value_report_cell(reduction_column(diff->reductions[DIFF_AFTER], column_of_metric(METRIC_POLICY)),
			  &after_value, &arena, &cell);
	assert_string_equal(cell.text, "SCHED_OTHER (7/10)");
	for (size_t i = 0; i < 4; i++)
		diff_fixture_set_text(after, i, METRIC_POLICY, "SCHED_BATCH");
	diff_fixture_compare(AXIS_PROCESS);
	assert_true(diff_metric(diff, &diff->pairs[0], METRIC_POLICY).differs);
	arena_release(&arena);
}

/* --- what is known of the values --- */

static void test_incomplete_sides_have_no_change(void **state)
{
	struct diff_options ktstr = {.grouping = {.axis = AXIS_PROCESS}, .dialect = &dialect_ktstr};
	struct diff_value value;

	(void)state;
	before->provenance.present = after->provenance.present = true;
	for (size_t i = 0; i < 2; i++)
		diff_fixture_add_both("/", "p", "t", METRIC_RCHAR, 10, 30);
	snapshot_source_reasons(after, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	diff_fixture_compare(AXIS_PROCESS);
	value = diff_metric(diff, &diff->pairs[0], METRIC_RCHAR);
	assert_int_equal(value.side[DIFF_BEFORE].state, VALUE_READ);
	assert_true(value.side[DIFF_AFTER].partial);
	assert_true(value.side[DIFF_AFTER].has_number && value.side[DIFF_AFTER].number == 30);
	assert_int_equal(value.state, VALUE_UNAVAILABLE);
	assert_int_equal(value.reason, REASON_NOT_PERMITTED);
	assert_int_equal(value.reason_side, DIFF_AFTER);
	assert_false(value.has_delta);

	/* ktstr's cells: what is stored counts */
	diff_release(diff);
	diff = diff_create(before, after, &ktstr);
	value = diff_metric(diff, &diff->pairs[0], METRIC_RCHAR);
	assert_int_equal(value.state, VALUE_READ);
	assert_true(value.delta == 40);

	snapshot_source_reasons(after, SOURCE_IO)[0] = REASON_NOT_PERMITTED;
	diff_fixture_compare(AXIS_PROCESS);
	value = diff_metric(diff, &diff->pairs[0], METRIC_RCHAR);
	assert_int_equal(value.side[DIFF_AFTER].state, VALUE_UNAVAILABLE);
	assert_int_equal(value.state, VALUE_UNAVAILABLE);
}

/* --- properties --- */

enum {
	SEEDS = 12,
	THREADS = 60,
};

static void test_compared_with_itself_nothing_changed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct snapshot *snapshot = diff_fixture_random(seed, THREADS, seed % 2 == 0);

		diff_fixture_replace(snapshot, snapshot_reference(snapshot));
		for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
			diff_fixture_compare((enum axis)axis);
			assert_int_equal(diff_fixture_count(diff, DIFF_PAIR_MATCHED), diff->pair_count);
			assert_int_equal(diff->rename_count, 0);
			for (size_t i = 0; i < diff->pair_count; i++) {
				for (size_t j = 0; j < METRIC_COUNT; j++) {
					struct diff_value value = diff_metric(diff, &diff->pairs[i],
									      (enum metric)j);

					assert_false(value.differs);
					assert_true(value.delta == 0 && value.fraction == 0);
				}
				for (size_t j = 0; j < DERIVED_COUNT; j++)
					assert_false(diff_column(diff, &diff->pairs[i],
								 column_of_derived((enum derived)j))
							     .differs);
			}
		}
	}
}

static void expect_negated(struct diff_value forth, struct diff_value back)
{
	assert_int_equal(forth.state, back.state);
	assert_int_equal(forth.has_delta, back.has_delta);
	assert_int_equal(forth.differs, back.differs);
	assert_true(forth.delta == -back.delta);
	assert_false(isnan(forth.delta) || isinf(forth.delta));
	assert_false(isnan(forth.fraction) || isinf(forth.fraction));
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		assert_int_equal(forth.side[side].state, back.side[1 - side].state);
		assert_true(forth.side[side].number == back.side[1 - side].number);
	}
}

static void test_swapped_sides_negate_changes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		diff_fixture_replace(diff_fixture_random(seed, THREADS, seed % 2 == 0),
				     diff_fixture_random(seed + 1000, THREADS + 7, seed % 3 == 0));
		for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
			const struct diff_options options = {.grouping.axis = (enum axis)axis};
			struct diff *back = diff_create(after, before, &options);
			const struct diff *forth;

			diff_fixture_compare((enum axis)axis);
			forth = diff;
			assert_int_equal(forth->pair_count, back->pair_count);
			for (size_t i = 0; i < forth->pair_count; i++) {
				const struct diff_pair *pair = &forth->pairs[i], *swapped = &back->pairs[i];

				assert_int_equal(pair->threads[DIFF_BEFORE], swapped->threads[DIFF_AFTER]);
				for (size_t j = 0; j < METRIC_COUNT; j++)
					expect_negated(diff_metric(forth, pair, (enum metric)j),
						       diff_metric(back, swapped, (enum metric)j));
				for (size_t j = 0; j < DERIVED_COUNT; j++)
					expect_negated(
						diff_column(forth, pair, column_of_derived((enum derived)j)),
						diff_column(back, swapped,
							    column_of_derived((enum derived)j)));
			}
			diff_release(back);
		}
	}
}

/* Whatever the axis, the groups of a side add up to its threads. */
static void test_groups_add_up_to_threads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		diff_fixture_replace(diff_fixture_random(seed, THREADS, false),
				     diff_fixture_random(seed + 500, THREADS, false));
		for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
			diff_fixture_compare((enum axis)axis);
			for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
				double groups = 0, single = 0;
				size_t threads = 0;

				for (size_t i = 0; i < diff->pair_count; i++) {
					const struct diff_pair *pair = &diff->pairs[i];

					groups +=
						diff_metric(diff, pair, METRIC_RUN_TIME_NS).side[side].number;
					threads += pair->threads[side];
				}
				for (size_t i = 0; i < THREADS; i++) {
					const struct diff_pair *pair = &diff->pairs[diff_pair_of_thread(
						diff, (enum diff_side)side, i)];

					assert_true(pair->threads[side] > 0);
					single += (double)snapshot_value(diff->snapshots[side], i,
									 METRIC_RUN_TIME_NS);
				}
				assert_int_equal(threads, THREADS);
				assert_true(groups == single);
			}
		}
	}
}

static void test_keys_are_distinct_and_ascend(void **state)
{
	(void)state;
	diff_fixture_replace(diff_fixture_random(3, THREADS, false), diff_fixture_random(4, THREADS, false));
	for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
		diff_fixture_compare((enum axis)axis);
		for (size_t i = 0; i < diff->pair_count; i++) {
			const struct diff_pair *pair = &diff->pairs[i];

			assert_int_equal(diff_find(diff, pair->key, pair->key_length), i);
			if (i != 0)
				assert_true(memcmp(diff->pairs[i - 1].key, pair->key, pair->key_length + 1) <
					    0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIFF_TEST(test_patterns_are_counted_over_both_sides),
		DIFF_TEST(test_orphans),
		DIFF_TEST(test_uptime),
		DIFF_TEST(test_changes),
		DIFF_TEST(test_ratios_have_no_percent),
		DIFF_TEST(test_categories_compare_by_winner),
		DIFF_TEST(test_incomplete_sides_have_no_change),
		DIFF_TEST(test_compared_with_itself_nothing_changed),
		DIFF_TEST(test_swapped_sides_negate_changes),
		DIFF_TEST(test_groups_add_up_to_threads),
		DIFF_TEST(test_keys_are_distinct_and_ascend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
