/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of `--fail-if`: what comes of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/diff_rule.h"
#include "delay_fixture.h"
#include "pair_fixture.h"
#include "scx_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct pair_thread before[] = {
	{"/pod", "app", "worker-1", 10, 10, 500, 1000000, 5000, 100, REASON_READ},
	{"/pod", "app", "worker-2", 10, 11, 500, 2000000, 0, 100, REASON_READ},
	{"/pod", "app", "timer", 10, 12, 500, 0, 0, 0, REASON_READ},
	{"/", "locked", "locked", 20, 20, 500, 7, 0, 0, REASON_NOT_PERMITTED},
	{"/", "gone", "gone", 30, 30, 500, 7, 0, 0, REASON_READ},
};

static const struct pair_thread after[] = {
	{"/pod", "app", "worker-1", 10, 10, 500, 11000000, 5000, 100, REASON_READ},
	{"/pod", "app", "worker-2", 10, 11, 500, 4000000, 0, 100, REASON_READ},
	{"/pod", "app", "timer", 10, 12, 500, 300, 0, 0, REASON_READ},
	{"/", "locked", "locked", 20, 20, 500, 7, 0, 0, REASON_NOT_PERMITTED},
	{"/", "fresh", "fresh", 40, 40, 500, 7, 0, 0, REASON_READ},
};

static struct snapshot *first, *second;

static int make_sides(void **state)
{
	(void)state;
	first = pair_snapshot(PAIR_BEFORE_S, before, COUNT(before));
	second = pair_snapshot(PAIR_BEFORE_S + PAIR_INTERVAL_S, after, COUNT(after));
	return 0;
}

static int release_sides(void **state)
{
	(void)state;
	snapshot_release(first);
	snapshot_release(second);
	return 0;
}

/* Judges the rule on an axis; the outcomes as lines: a broken one after a '!', one that is not judged after a
 * '?', a warning after a '~'. */
static char *judge(enum axis axis, const char *text)
{
	static char lines[8192];
	const struct diff_options options = {.grouping = {.axis = axis}};
	struct diff *diff = diff_create(first, second, &options);
	struct diff_rule_outcomes outcomes = {0};
	struct rule rule;
	struct error error;
	static const char *const marks[DIFF_RULE_RESULT_COUNT] = {"", "!", "?", "~"};
	bool broken = false, unjudged = false;

	if (rule_parse(text, true, &rule, &error) < 0)
		fail_msg("%s", error.text);
	diff_rules_judge(&rule, 1, diff, false, &outcomes);
	lines[0] = '\0';
	for (size_t i = 0; i < outcomes.count; i++) {
		const size_t length = strlen(lines);

		assert_string_equal(outcomes.items[i].rule, text);
		assert_memory_equal(outcomes.items[i].text, text, strlen(text));
		assert_memory_equal(outcomes.items[i].text + strlen(text), ": ", 2);
		broken |= outcomes.items[i].result == DIFF_RULE_BROKEN;
		unjudged |= outcomes.items[i].result == DIFF_RULE_UNJUDGED;
		snprintf(lines + length, sizeof(lines) - length, "%s%s\n", marks[outcomes.items[i].result],
			 outcomes.items[i].text + strlen(text) + 2);
	}
	assert_int_equal(broken, outcomes.broken);
	assert_int_equal(unjudged, outcomes.unjudged);
	diff_rule_outcomes_release(&outcomes);
	rule_release(&rule);
	diff_release(diff);
	return lines;
}

static void test_changes(void **state)
{
	(void)state;
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(worker-{N}) > 10ms"),
			    "!worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(worker-{N}) > 12ms"),
			    "worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(worker-{N}) >= 12ms"),
			    "!worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(worker-{N}) > 400%"),
			    "worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(worker-{N}) > 399.9%"),
			    "!worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "after:run_time_ns(worker-{N}) > 14ms"),
			    "!worker-{N} has 15.0ms\n");
	assert_string_equal(judge(AXIS_THREAD, "after:cpu_efficiency(worker-{N}) < 0.9"),
			    "worker-{N} has 1.00\n");
	/* any growth from nothing is above every percentage, nothing to nothing is 0 % */
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(timer) > 1000%"), "!timer changed by +300ns\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(timer) < -10%"), "timer changed by +300ns\n");
	assert_string_equal(judge(AXIS_THREAD, "read_bytes(timer) >= 0%"), "!timer changed by 0\n");
}

static void test_groups(void **state)
{
	(void)state;
	/* the worst first; those without a number are told of where the rule is kept */
	assert_string_equal(judge(AXIS_THREAD_EXACT, "run_time_ns(worker-*) > 1ms"),
			    "!worker-1 changed by +10.0ms (+1000%)\n"
			    "!worker-2 changed by +2.0ms (+100.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(*) > 1s"),
			    "worker-{N} changed by +12.0ms (+400.0%), the nearest of 5 groups\n");
	assert_string_equal(judge(AXIS_CGROUP, "run_time_ns(/p*) > 1ms"),
			    "!/pod changed by +12.0ms (+400.0%)\n");
	/* of all names together: the first kind of group that it matches, then the whole of a name */
	assert_string_equal(judge(AXIS_ALL, "run_time_ns(ap*) > 1ms"), "!app changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_ALL, "run_time_ns(worker-*) > 1ms"),
			    "!worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_ALL, "run_time_ns(/p*) > 1ms"),
			    "!/pod changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_ALL, "run_time_ns(thread:app) > 1ms"), "!no group matches\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(cgroup:/pod) > 1ms"),
			    "!/pod changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_ALL, "run_time_ns(/pod | app | w*) > 1ms"),
			    "!/pod | app | worker-{N} changed by +12.0ms (+400.0%)\n");
	assert_string_equal(judge(AXIS_ALL, "run_time_ns(ap) > 1ms"), "!no group matches\n");
}

static void test_no_number(void **state)
{
	(void)state;
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(nobody) > 1"), "!no group matches\n");
	assert_string_equal(judge(AXIS_THREAD, "read_bytes(locked) > 1"),
			    "?locked cannot be judged: unavailable in before (not permitted)\n");
	assert_string_equal(judge(AXIS_THREAD, "after:read_bytes(locked) > 1"),
			    "?locked cannot be judged: unavailable in after (not permitted)\n");
	assert_string_equal(judge(AXIS_THREAD, "read_bytes(lock*) > 1"),
			    "?locked cannot be judged: unavailable in before (not permitted)\n");
	/* one of several that a glob finds is a warning, whatever comes of the others */
	assert_string_equal(judge(AXIS_THREAD, "read_bytes(*) > 1"),
			    "fresh, in after only, changed by 0, the nearest of 4 groups\n"
			    "~locked cannot be judged: unavailable in before (not permitted)\n");
	assert_string_equal(judge(AXIS_THREAD, "after:read_bytes(*o*) > 1"),
			    "!worker-{N} has 200B\n"
			    "~locked cannot be judged: unavailable in after (not permitted)\n");
}

/* A group on one side only had nothing on the other, where that says something. */
static void test_one_side(void **state)
{
	(void)state;
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(gone) < 1"),
			    "!gone, in before only, changed by -7ns (-100.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(gone) < -99%"),
			    "!gone, in before only, changed by -7ns (-100.0%)\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(fresh) > 20%"),
			    "!fresh, in after only, changed by +7ns\n");
	assert_string_equal(judge(AXIS_THREAD, "run_time_ns(fresh) > 8ns"),
			    "fresh, in after only, changed by +7ns\n");
	assert_string_equal(judge(AXIS_THREAD, "thread_count(fresh) > 0"),
			    "!fresh, in after only, changed by +1\n");
	/* what there is grows from nothing by no percentage, and a ratio of nothing is none */
	assert_string_equal(judge(AXIS_THREAD, "thread_count(fresh) > 20%"),
			    "?no matching group has a value on both sides\n");
	assert_string_equal(judge(AXIS_THREAD, "cpu_efficiency(fresh) > 0.1"),
			    "?no matching group has a value on both sides\n");
	/* a value is one of the second side */
	assert_string_equal(judge(AXIS_THREAD, "after:run_time_ns(fresh) >= 7"), "!fresh has 7ns\n");
	assert_string_equal(judge(AXIS_THREAD, "after:run_time_ns(gone) < 7"),
			    "?no matching group has a value in after\n");
}

/* The threads of one process, on any axis. */
static void test_pools(void **state)
{
	static const enum axis all[] = {AXIS_ALL, AXIS_THREAD, AXIS_PROCESS, AXIS_CGROUP};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		assert_string_equal(judge(all[i], "run_time_ns(worker-* of app) > 1ms"),
				    "!worker-{N} of app in /pod changed by +12.0ms (+400.0%)\n");
		assert_string_equal(judge(all[i], "run_time_ns(\"timer\" of \"a?p\") > 1ms"),
				    "timer of app in /pod changed by +300ns\n");
		assert_string_equal(judge(all[i], "run_time_ns(worker-* of ap) > 1ms"),
				    "!no group matches\n");
		assert_string_equal(judge(all[i], "read_bytes(lock* of locked) > 1"),
				    "?locked of locked in / cannot be judged: unavailable in before (not "
				    "permitted)\n");
	}
}

/* Expects the rows of a comparison by all names that a rule marks, by their keys in order. */
static void expect_marked(const char *text, const char *expected)
{
	const struct diff_options options = {.grouping = {.axis = AXIS_ALL}};
	struct diff *diff = diff_create(first, second, &options);
	struct diff_rule_outcomes outcomes = {0};
	struct buffer marked = {0};
	struct rule rule;

	assert_int_equal(rule_parse(text, true, &rule, NULL), 0);
	diff_rules_judge(&rule, 1, diff, false, &outcomes);
	buffer_append_text(&marked, "");
	for (size_t i = 0; i < diff->pair_count; i++) {
		if (!outcomes.broke_rule[i])
			continue;
		diff_append_key(&diff->pairs[i], &marked);
		buffer_append_char(&marked, '\n');
	}
	assert_string_equal(marked.length != 0 ? marked.data : "", expected);
	buffer_release(&marked);
	diff_rule_outcomes_release(&outcomes);
	rule_release(&rule);
	diff_release(diff);
}

/* Every row that has threads of a group that broke a rule is marked. */
static void test_marks(void **state)
{
	(void)state;
	expect_marked("run_time_ns(app) > 1ms", "/pod | app | timer\n/pod | app | worker-{N}\n");
	expect_marked("run_time_ns(worker-*) > 1ms", "/pod | app | worker-{N}\n");
	expect_marked("run_time_ns(worker-* of app) > 1ms", "/pod | app | worker-{N}\n");
	expect_marked("run_time_ns(gone) < 0", "/ | gone | gone\n");
	expect_marked("run_time_ns(*) > 1s", "");
	expect_marked("run_time_ns(nobody) > 1s", "");
}

static const struct pair_thread quiet_threads[] = {
	{"/a", "pool", "pool", 10, 10, 500, 1, 0, 0, REASON_READ},
	{"/a", "quiet", "quiet", 20, 20, 500, 1, 0, 0, REASON_READ},
};

/* A snapshot with waits of the group `pool`, by the files' histograms. */
static struct snapshot *open_with_waits(uint64_t wait, uint64_t count)
{
	struct snapshot *snapshot = pair_snapshot_open(PAIR_BEFORE_S, quiet_threads, COUNT(quiet_threads));
	struct latency_histogram *waits;

	latency_add_record(snapshot, string_pool_intern(&snapshot->strings, "pool", 4),
			   string_pool_intern(&snapshot->strings, "pool", 4),
			   string_pool_intern(&snapshot->strings, "/a", 2));
	waits = &latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)->of[LATENCY_RUN_QUEUE];
	snapshot->latency.present = true;
	snapshot->latency.span_ns = 1000000000;
	waits->buckets[latency_bucket(wait)] = count;
	waits->max_ns = wait;
	snapshot_finish(snapshot);
	return snapshot;
}

static void add_other(struct snapshot *snapshot, uint64_t count)
{
	uint32_t name = snapshot_intern_own_name(&snapshot->strings, name_other);
	struct latency_histogram *waits;

	latency_add_record(snapshot, name, name, name);
	waits = &latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)->of[LATENCY_RUN_QUEUE];
	waits->buckets[latency_bucket(1000)] = count;
	waits->max_ns = 1000;
}

/* Expects one outcome of the threads of both. */
static void expect_outcome(const char *text, const char *expected)
{
	char *lines = judge(AXIS_THREAD, text);

	lines[strlen(lines) - 1] = '\0';
	assert_string_equal(lines, expected);
}

static void test_latency(void **state)
{
	release_sides(state);
	first = open_with_waits(2000000, 100);
	second = open_with_waits(8000000, 50);
	expect_outcome("run_queue_max_ns(pool) > 5ms", "!pool changed by +6.0ms (+300.0%)");
	expect_outcome("run_queue_max_ns(pool) > 300%", "pool changed by +6.0ms (+300.0%)");
	expect_outcome("after:run_queue_max_ns(*) >= 8ms", "!pool has 8.0ms");
	expect_outcome("run_queue_waits_per_s(pool) < 0", "!pool changed by -50 (-50.0%)");
	/* no wait, no percentile; but no wait is a number of waits */
	expect_outcome("after:run_queue_p99_ns(quiet) > 0", "?no matching group has a value in after");
	expect_outcome("after:run_queue_waits_per_s(quiet) > 0", "quiet has 0");
	/* waits may belong to any group, so that each number is a lower bound */
	add_other(second, 3);
	expect_outcome("run_queue_waits_per_s(pool) < 1000",
		       "?pool cannot be judged: at least 50 in after (may be counted under (other))");
	expect_outcome("after:run_queue_max_ns(pool) > 1s",
		       "?pool cannot be judged: at least 8.0ms in after (may be counted under (other))");
	expect_outcome("after:run_queue_waits_per_s(quiet) > 0",
		       "?quiet cannot be judged: unavailable in after (may be counted under (other))");
	expect_outcome("after:blocked_waits_per_s(quiet) > 0", "quiet has 0");
	/* and decides where more would decide alike */
	expect_outcome("after:run_queue_max_ns(pool) >= 8ms", "!pool has at least 8.0ms");
	expect_outcome("after:run_queue_max_ns(pool) < 8ms", "pool has at least 8.0ms");
	expect_outcome("run_queue_max_ns(pool) > 5ms", "!pool changed by at least +6.0ms");
	expect_outcome("run_queue_max_ns(pool) > 299%", "!pool changed by at least +6.0ms");
	expect_outcome("run_queue_max_ns(pool) < 5ms", "pool changed by at least +6.0ms");
	expect_outcome("run_queue_max_ns(pool) > 301%",
		       "?pool cannot be judged: at least 8.0ms in after (may be counted under (other))");
	/* a lower bound on the first side is an upper one of the change */
	add_other(first, 3);
	second->latency.count--;
	expect_outcome("run_queue_max_ns(pool) < 7ms", "!pool changed by at most +6.0ms");
	expect_outcome("run_queue_max_ns(pool) > 7ms", "pool changed by at most +6.0ms");
	expect_outcome("run_queue_max_ns(pool) > 5ms",
		       "?pool cannot be judged: at least 2.0ms in before (may be counted under (other))");
	first->latency.present = false;
	expect_outcome("run_queue_max_ns(pool) > 5ms",
		       "?pool cannot be judged: unavailable in before (not in the file)");
}

static struct snapshot *open_with_resident(uint64_t mebibytes)
{
	struct snapshot *snapshot = pair_snapshot_open(PAIR_BEFORE_S, quiet_threads, COUNT(quiet_threads));

	snapshot->resident_missing = REASON_READ;
	snapshot->provenance.resident_error = 1 << 20;
	snapshot_add_resident(snapshot, 0, mebibytes << 20, 0);
	snapshot_finish(snapshot);
	return snapshot;
}

/* What the kernel counts per CPU, and leaves out of RSS, decides no rule. */
static void test_resident(void **state)
{
	release_sides(state);
	first = open_with_resident(10);
	second = open_with_resident(40);
	expect_outcome("RSS(pool) > 20M", "!pool changed by +30.0M (+300.0%)");
	expect_outcome("RSS(pool) > 40M", "pool changed by +30.0M (+300.0%)");
	expect_outcome("after:RSS(pool) < 50M", "!pool has 40.0M");
}

/* `pool` waits for `backup`, which has no thread any more, for itself and for the idle CPU. If it is `gone`,
 * `pool` has no thread either. */
static struct snapshot *open_with_delays(uint64_t backup_ms, bool gone)
{
	struct snapshot *snapshot = pair_snapshot_open(PAIR_BEFORE_S, quiet_threads + gone,
						       COUNT(quiet_threads) - gone);
	uint32_t pool, backup;

	delay_fixture_begin(snapshot);
	backup = delay_fixture_names(snapshot, "backup", "tar");
	pool = delay_fixture_names(snapshot, "pool", "pool");
	delay_fixture_add(snapshot, pool, LATENCY_CAUSE_THREADS, backup, backup_ms, 5);
	delay_fixture_add(snapshot, pool, LATENCY_CAUSE_THREADS, pool, 100, 5);
	delay_fixture_add(snapshot, pool, LATENCY_CAUSE_WAKEUP, 0, 20, 5);
	snapshot_finish(snapshot);
	return snapshot;
}

static void test_delayed(void **state)
{
	release_sides(state);
	first = open_with_delays(200, true);
	second = open_with_delays(1000, false);
	/* waits of threads that are gone count */
	expect_outcome("delayed(pool by tar) > 0.2",
		       "!pool, in after only, changed from 100 ms to 500 ms per second (+400.0%)");
	release_sides(state);
	first = open_with_delays(200, false);
	second = open_with_delays(1000, false);
	assert_string_equal(judge(AXIS_ALL, "delayed(pool by backup) > 0.2"),
			    "!pool changed from 100 ms to 500 ms per second (+400.0%)\n");
	assert_string_equal(judge(AXIS_ALL, "delayed(pool by backup) > 0.4"),
			    "pool changed from 100 ms to 500 ms per second (+400.0%)\n");
	assert_string_equal(judge(AXIS_PID, "delayed(po* by back*) > 399%"),
			    "!pool changed from 100 ms to 500 ms per second (+400.0%)\n");
	expect_outcome("after:delayed(pool by tar) >= 500ms", "!pool was delayed 500 ms per second");
	expect_outcome("after:delayed(pool) > 56%", "pool was delayed 560 ms per second");
	expect_outcome("after:delayed(pool by *) >= 56%", "!pool was delayed 560 ms per second");
	expect_outcome("after:delayed(pool by itself) >= 0.05", "!pool was delayed 50 ms per second");
	expect_outcome("after:delayed(pool by (wakeup)) >= 0.01", "!pool was delayed 10 ms per second");
	expect_outcome("after:delayed(pool by (throttled)) > 0", "pool was delayed 0 s per second");
	assert_string_equal(judge(AXIS_ALL, "after:delayed(cgroup:/a by /a) >= 0.55"),
			    "!/a was delayed 550 ms per second\n");
	/* no wait is no delay; what is not there may be a name mistyped */
	expect_outcome("after:delayed(quiet) > 0", "quiet was delayed 0 s per second");
	expect_outcome("after:delayed(pool by quiet) > 0", "pool was delayed 0 s per second");
	expect_outcome("after:delayed(pool by nobody) > 0", "!no group matches the name after 'by'");
	expect_outcome("after:delayed(nobody by tar) > 0", "!no group matches");
	/* files of older programs; and what may be of any group is a lower bound */
	add_other(second, 3);
	expect_outcome(
		"delayed(pool) > 1",
		"?pool cannot be judged: at least 560 ms per second in after (may be counted under (other))");
	expect_outcome("delayed(pool) > 0.3", "!pool changed from 160 ms to at least 560 ms per second");
	first->latency.delay_count = 0;
	second->latency.count--;
	expect_outcome("delayed(pool) > 1",
		       "?pool cannot be judged: unavailable in before (not in the file)");
	first->latency.present = false;
	expect_outcome("delayed(pool) > 1",
		       "?pool cannot be judged: unavailable in before (not in the file)");
	expect_outcome("after:delayed(pool) > 1", "pool was delayed 560 ms per second");
}

/* What delayed a group most is a text, which has no change; who it was is no group of a comparison. */
static void test_delayed_by(void **state)
{
	const struct diff_options options = {.grouping = {.axis = AXIS_THREAD}};
	struct diff *diff;

	release_sides(state);
	first = open_with_waits(2000000, 100);
	second = open_with_waits(8000000, 50);
	*MEMORY_APPEND(second->latency.delays, second->latency.delay_count,
		       second->latency.delay_capacity) = (struct latency_delay){
		0, 0, LATENCY_CAUSE_WAKEUP, 1000000, 50, 0};
	diff = diff_create(first, second, &options);
	assert_true(diff->pair_count != 0);
	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_value value = diff_column(diff, &diff->pairs[i], COLUMN_DELAYED_BY);

		assert_false(value.side[DIFF_BEFORE].has_number || value.side[DIFF_AFTER].has_number);
		assert_false(value.has_delta);
	}
	diff_release(diff);
}

static struct snapshot *open_with_contexts(uint64_t runtime)
{
	struct snapshot *snapshot = pair_snapshot_open(PAIR_BEFORE_S, quiet_threads, COUNT(quiet_threads));

	scx_fixture_begin(snapshot, "made_1.2", 1, NULL);
	scx_fixture_add(snapshot, 0,
			(uint64_t[SCX_FIXTURE_FIELDS]){[SCX_FIXTURE_WEIGHT] = 305,
						       [SCX_FIXTURE_SUM_RUNTIME] = runtime,
						       [SCX_FIXTURE_STATE] = 3});
	snapshot_finish(snapshot);
	return snapshot;
}

/* Fields of a scheduler, by the names that it gave. */
static void test_fields(void **state)
{
	struct error error;
	struct rule rule;

	release_sides(state);
	first = open_with_contexts(2000000);
	second = open_with_contexts(8000000);
	/* words have no number */
	window_describe_fields(second->task_fields.owner);
	assert_int_equal(rule_parse("scx.state(pool) > 0", true, &rule, &error), -EINVAL);
	assert_non_null(strstr(error.text, "has no number"));
	expect_outcome("scx.sum_runtime(pool) > 5ms", "!pool changed by +6.0ms (+300.0%)");
	expect_outcome("scx.sum_runtime(*) > 300%",
		       "pool changed by +6.0ms (+300.0%); 1 more match without a number");
	expect_outcome("after:scx.weight(pool) < 100", "pool has 305");
	expect_outcome("after:scx.weight(quiet) > 0", "?no matching group has a value in after");
	/* a name that no scheduler has is absent */
	expect_outcome("scx.waight(pool) > 0", "?no matching group has a value on both sides");
	second->task_fields.context_of[0] = TASK_FIELDS_OTHER_TASK;
	expect_outcome("scx.weight(pool) > 0",
		       "?pool cannot be judged: unavailable in after (belongs to another task)");
}

#define RULE_TEST(test) cmocka_unit_test_setup_teardown(test, make_sides, release_sides)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE_TEST(test_changes), RULE_TEST(test_groups),   RULE_TEST(test_no_number),
		RULE_TEST(test_latency), RULE_TEST(test_delayed),  RULE_TEST(test_delayed_by),
		RULE_TEST(test_fields),  RULE_TEST(test_one_side), RULE_TEST(test_pools),
		RULE_TEST(test_marks),   RULE_TEST(test_resident),
	};

	return cmocka_run_group_tests_name("diff_rule", tests, NULL, NULL);
}
