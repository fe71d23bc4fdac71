/* SPDX-License-Identifier: GPL-2.0-only */
/* Two windows compared: what happened each second in one and in the other, however long they are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/comparability.h"
#include "compare/diff_evidence.h"
#include "compare/diff_floors.h"
#include "compare/diff_rule.h"
#include "compare/diff_summary.h"
#include "diff_sides.h"
#include "pair_fixture.h"

#define S  NS_PER_S
#define MS NS_PER_MS

static void add_ended(struct snapshot *snapshot, const char *name, uint64_t run_time_ns)
{
	pair_window_add_ended(snapshot, "/", name, run_time_ns);
}

static void compare(const struct diff_match *match)
{
	const struct diff_options options = {.grouping.axis = AXIS_THREAD, .rates = true, .match = match};

	diff = diff_create(before, after, &options);
}

static void expect_rates(const char *label, enum metric metric, double first, double second)
{
	const struct diff_value value = diff_metric(diff, diff_fixture_pair(diff, label), metric);

	assert_int_equal(value.state, VALUE_READ);
	assert_true(value.side[DIFF_BEFORE].number == first);
	assert_true(value.side[DIFF_AFTER].number == second);
	assert_true(value.delta == second - first);
}

/* One that has run for hours and runs as before did not change; one that runs twice as much did. */
static void test_rates(void **state)
{
	static const struct pair_thread begin[] = {
		{"/", "old", "old", 10, 10, 5, 5000 * S, 900 * S, 0, REASON_READ},
		{"/", "new", "new", 20, 20, 9000, 1 * S, 0, 0, REASON_READ},
	};
	static const struct pair_thread first[] = {
		{"/", "old", "old", 10, 10, 5, 5001 * S, 900 * S, 0, REASON_READ},
		{"/", "new", "new", 20, 20, 9000, 2 * S, 0, 4096, REASON_READ},
	};
	static const struct pair_thread second[] = {
		{"/", "old", "old", 10, 10, 5, 5001500 * MS, 900 * S, 0, REASON_READ},
		{"/", "new", "new", 20, 20, 9000, 3 * S, 0, 8192, REASON_READ},
	};

	(void)state;
	/* over 10 s, and over 5 s */
	diff_fixture_replace(pair_window(1000, begin, 1010, first, 2),
			     pair_window(1010, first, 1015, second, 2));
	compare(NULL);
	expect_rates("old", METRIC_RUN_TIME_NS, 100e6, 100e6);
	expect_rates("new", METRIC_RUN_TIME_NS, 100e6, 200e6);
	expect_rates("new", METRIC_READ_BYTES, 409.6, 819.2);
}

static void expect_unit(enum column column, enum unit unit, double divisor)
{
	double own;

	assert_int_equal(diff_unit(diff, column, &own), unit);
	assert_true(own == divisor);
}

/* Rates of times are read as percent of a CPU, as the table shows them; lives as they are stored. */
static void test_units(void **state)
{
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ}};

	(void)state;
	diff_fixture_replace(pair_window(1000, threads, 1010, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	compare(NULL);
	expect_unit(COLUMN_CPU, UNIT_PERCENT, 1e7);
	expect_unit(COLUMN_USER, UNIT_PERCENT, 1e7);
	expect_unit(column_of_stored(METRIC_RUN_TIME_NS), UNIT_PERCENT, 1e7);
	expect_unit(column_of_stored(METRIC_UTIME_CLOCK_TICKS), UNIT_PERCENT, 1);
	expect_unit(column_of_stored(METRIC_READ_BYTES), UNIT_BYTES_PER_S, 1);
	expect_unit(column_of_stored(METRIC_MINFLT), UNIT_COUNT_PER_S, 1);
	expect_unit(column_of_stored(METRIC_THREAD_COUNT), UNIT_COUNT, 1);
	expect_unit(column_of_stored(METRIC_WAIT_MAX), UNIT_NS, 1);
	diff_fixture_compare(AXIS_THREAD);
	expect_unit(COLUMN_CPU, UNIT_NS, 1);
	expect_unit(COLUMN_USER, UNIT_TICKS, 1);
	expect_unit(column_of_stored(METRIC_UTIME_CLOCK_TICKS), UNIT_TICKS, 1);
	expect_unit(column_of_stored(METRIC_MINFLT), UNIT_COUNT, 1);
}

/* Ended threads count in their group, and have a row of their own where nothing else is there. */
static void test_ended(void **state)
{
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	const struct diff_pair *pair;

	(void)state;
	diff_fixture_replace(pair_window(1000, threads, 1010, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	add_ended(before, "web", 1 * S);
	add_ended(after, "web", 3 * S);
	add_ended(after, "cc1", 5 * S);
	compare(NULL);
	assert_int_equal(diff->pair_count, 2);
	expect_rates("web", METRIC_RUN_TIME_NS, 100e6, 300e6);
	pair = diff_fixture_pair(diff, "cc1");
	assert_int_equal(pair->kind, DIFF_PAIR_ONLY_AFTER);
	assert_int_equal(pair->threads[DIFF_AFTER], 0);
	assert_true(diff_metric(diff, pair, METRIC_RUN_TIME_NS).side[DIFF_AFTER].number == 500e6);
}

/* The sentence about a storm of processes names who started them. */
static void test_parent_of_storm(void **state)
{
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	static const struct diff_summary_per plain;
	struct diff_summary summary = {0};
	bool chosen[METRIC_COUNT];
	struct ended_record *record;
	struct ended *ended;

	(void)state;
	diff_fixture_replace(pair_window(1000, threads, 1010, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	add_ended(after, "true", 5 * S);
	ended = &after->window->ended;
	ended->told = true; /* else the starts were a bound */
	record = &ended->records[0];
	record->threads = record->processes = record->born = 5000;
	record->started_by = (struct started_by){
		string_pool_intern(&ended->names->strings, "deploy-hook.sh", strlen("deploy-hook.sh")), 4990};
	compare(NULL);
	memset(chosen, true, sizeof(chosen));
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 1);
	assert_string_equal(summary.items[0],
			    "true, new: on a CPU 50.0%, starts 500 per second by deploy-hook.sh");
	diff_summary_release(&summary);
}

/* A wait that is longer than the window began before it, and the sentence says so. */
static void test_waits_of_earlier(void **state)
{
	static const struct pair_thread begin[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	static const struct pair_thread end[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 200 * S, 0, REASON_READ},
	};
	static const struct diff_summary_per plain;
	struct diff_summary summary = {0};
	bool chosen[METRIC_COUNT];

	(void)state;
	diff_fixture_replace(pair_window(1000, begin, 1010, begin, 1),
			     pair_window(1010, begin, 1020, end, 1));
	compare(NULL);
	memset(chosen, true, sizeof(chosen));
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 1);
	assert_string_equal(summary.items[0],
			    "web waited more for a CPU (0% → 2000%, in part before the window, 1 thread)");
	diff_summary_release(&summary);
}

/* CPU time counts at once: more of it than the threads known had is not from before the window. */
static void test_cpu_of_unknown_threads(void **state)
{
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	static const struct diff_summary_per plain;
	struct diff_summary summary = {0};
	bool chosen[METRIC_COUNT];

	(void)state;
	diff_fixture_replace(pair_window(1000, threads, 1010, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	add_ended(after, "cc1", 50 * S);
	compare(NULL);
	memset(chosen, true, sizeof(chosen));
	diff_summary_make(diff, chosen, &plain, false, &summary);
	assert_int_equal(summary.count, 1);
	assert_non_null(strstr(summary.items[0], "cc1, new: on a CPU "));
	assert_null(strstr(summary.items[0], "before the window"));
	diff_summary_release(&summary);
}

/* A thread that was renamed is the same one: it counts in its later group on both sides. */
static void test_renamed(void **state)
{
	static const struct pair_thread as_before[] = {
		{"/", "kworker", "kworker/0:1-events", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	static const struct pair_thread as_after[] = {
		{"/", "kworker", "kworker/0:1-mm", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	struct diff_match *match;

	(void)state;
	diff_fixture_replace(pair_window(1000, as_before, 1010, as_before, 1),
			     pair_window(1010, as_after, 1020, as_after, 1));
	match = diff_match_create(before, after, NULL);
	assert_non_null(match);
	compare(match);
	assert_int_equal(diff->pair_count, 1);
	assert_int_equal(diff->pairs[0].kind, DIFF_PAIR_MATCHED);
	expect_rates("kworker/0:1-mm", METRIC_RUN_TIME_NS, 0, 0);
	diff_match_release(match);
}

/* A cgroup under another name is one pair, with what ended under either name. */
static void test_renamed_cgroup(void **state)
{
	static const struct diff_options options = {.grouping.axis = AXIS_ALL, .rates = true};
	enum {
		TYPES = 12
	};
	static const char *const types[TYPES] = {"aa", "bb", "cc", "dd", "ee", "ff",
						 "gg", "hh", "ii", "jj", "kk", "ll"};
	struct pair_thread old[TYPES], new[TYPES];
	const struct diff_pair *pair;

	(void)state;
	for (uint32_t i = 0; i < TYPES; i++) {
		old[i] = (struct pair_thread){"/old", types[i], types[i], 10 + i, 10 + i,
					      5,      S,        0,        0,      REASON_READ};
		new[i] = (struct pair_thread){"/new", types[i], types[i], 30 + i, 30 + i,
					      5,      S,        0,        0,      REASON_READ};
	}
	diff_fixture_replace(pair_window(1000, old, 1010, old, TYPES),
			     pair_window(1010, new, 1020, new, TYPES));
	pair_window_add_ended(after, "/old", "aa", 2 * S);
	pair_window_add_ended(before, "/new", "bb", 1 * S);
	diff = diff_create(before, after, &options);
	pair = diff_fixture_pair(diff, "[renamed: old] /old | aa | aa");
	assert_int_equal(pair->candidates, 1);
	assert_int_equal(pair->threads[DIFF_AFTER], 1);
	assert_int_equal(pair->start_time[DIFF_AFTER], pair->start_time[DIFF_BEFORE]);
	assert_string_equal(grouping_key(diff->grouping, pair->group[DIFF_AFTER], &(size_t){0}), "/new");
	assert_true(diff_metric(diff, pair, METRIC_RUN_TIME_NS).side[DIFF_AFTER].number == 200e6);
	pair = diff_fixture_pair(diff, "/new | bb | bb");
	assert_int_equal(pair->kind, DIFF_PAIR_ONLY_BEFORE);
	assert_int_equal(pair->threads[DIFF_AFTER], 0);
	pair = diff_fixture_pair(diff, "[renamed: old] /old | bb | bb");
	assert_int_equal(pair->threads[DIFF_AFTER], 1);
}

enum {
	PARTS = 12,
	POOLS = 3,
};

static const char *const pools[POOLS] = {"steady", "noisy", "slower"};
static const char *const *pool_names = pools;

/* A window of 12 s in which the pools ran so many ms in each second. */
static struct snapshot *pool_window(uint64_t from_s, const uint64_t run_ms[POOLS][PARTS])
{
	struct pair_thread begin[POOLS], end[POOLS];
	struct snapshot *now;

	for (uint32_t i = 0; i < POOLS; i++) {
		begin[i] = end[i] = (struct pair_thread){
			"/", pool_names[i], pool_names[i], 10 + i, 10 + i, 5, 100 * S, 0, 0, REASON_READ};
		for (int k = 0; k < PARTS; k++)
			end[i].run_time_ns += run_ms[i][k] * MS;
	}
	/* as long as it ran, in the later window */
	if (from_s > 1000)
		end[0].wait_time_ns = end[0].run_time_ns - begin[0].run_time_ns;
	now = pair_window(from_s, begin, from_s + PARTS, end, POOLS);
	pair_window_add_parts(now, end, POOLS, *run_ms, PARTS);
	return now;
}

static struct diff_evidence_cell evidence_of(const char *pool)
{
	const struct diff_pair *pair = diff_fixture_pair(diff, pool);
	const struct diff_value value = diff_metric(diff, pair, METRIC_RUN_TIME_NS);

	return diff_evidence_of(diff, pair, column_of_stored(METRIC_RUN_TIME_NS), &value);
}

/* A change that is no more than what a pool does from second to second is none; one that is stands out. */
static void test_evidence(void **state)
{
	static const uint64_t early[POOLS][PARTS] = {
		{100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 100, 100},
		{900, 100, 500, 50, 700, 300, 20, 800, 100, 400, 600, 30},
		{200, 210, 190, 205, 195, 201, 202, 198, 207, 193, 203, 199},
	};
	static const uint64_t late[POOLS][PARTS] = {
		{101, 100, 100, 99, 98, 102, 100, 99, 101, 100, 100, 100},
		{50, 950, 300, 800, 100, 600, 700, 30, 900, 200, 500, 400},
		{400, 410, 390, 405, 395, 401, 402, 398, 407, 393, 403, 399},
	};
	struct diff_evidence_cell cell;

	(void)state;
	diff_fixture_replace(pool_window(1000, early), pool_window(1012, late));
	compare(NULL);
	cell = evidence_of("steady");
	assert_true(cell.is_tested && !cell.is_real);
	/* 20 % more */
	cell = evidence_of("noisy");
	assert_true(cell.is_tested && !cell.is_real && cell.chance > 0.2);
	cell = evidence_of("slower");
	assert_true(cell.is_tested && cell.is_real);
	/* one of two times C(24, 12), of three that were tested */
	assert_true(fabs(cell.adjusted * 2704156 / 6 - 1) < 1e-6);
	assert_true(fabs(cell.spread[DIFF_AFTER] - 3.125e6) < 1e-3);
}

/* Judges a rule: its first outcome and a part of that one's text, at whose end a | is. */
static void expect_outcome(const char *text, bool any, enum diff_rule_result result, const char *words)
{
	struct diff_rule_outcomes outcomes = {0};
	struct rule rule;
	char whole[512];

	assert_int_equal(rule_parse(text, true, &rule, NULL), 0);
	diff_rules_judge(&rule, 1, diff, any, &outcomes);
	assert_int_equal(outcomes.items[0].result, result);
	snprintf(whole, sizeof(whole), "%s|", outcomes.items[0].text);
	if (strstr(whole, words) == NULL)
		fail_msg("%s: %s", text, whole);
	diff_rule_outcomes_release(&outcomes);
	rule_release(&rule);
}

/* What a few parts hold is no change from one window to the other for a test of ranks, but it is told. */
static void test_burst(void **state)
{
	static const char *const names[POOLS] = {"burst", "three", "small"};
	static const uint64_t early[POOLS][PARTS] = {
		{0},
		{0},
		{40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40},
	};
	static const uint64_t late[POOLS][PARTS] = {
		{0, 0, 0, 6000, 0, 0, 0, 0, 0, 0, 0, 0},
		{0, 0, 0, 0, 2000, 0, 2000, 0, 2000, 0, 0, 0},
		{40, 40, 40, 1500, 40, 40, 40, 40, 40, 40, 40, 40},
	};
	const struct diff_pair *pair;

	(void)state;
	pool_names = names;
	diff_fixture_replace(pool_window(1000, early), pool_window(1012, late));
	pool_names = pools;
	compare(NULL);
	assert_null(diff_evidence_refusal(diff));
	assert_true(evidence_of("burst").is_burst && !evidence_of("burst").is_real);
	assert_true(evidence_of("three").is_burst);
	/* less than ten times what the other side has in a part */
	assert_false(evidence_of("small").is_burst);
	pair = diff_fixture_pair(diff, "burst");
	assert_int_equal(diff_verdict(diff, pair, COLUMN_CPU), CELL_VERDICT_BURST);
	assert_int_equal(evidence_of("burst").burst.side, DIFF_AFTER);
	assert_int_equal(evidence_of("burst").burst.length_ns, S);
	/* two of the three parts hold more than half */
	assert_int_equal(evidence_of("three").burst.length_ns, 3 * S);
	expect_outcome("CPU%(burst) > 20", false, DIFF_RULE_KEPT,
		       ", in a burst, which breaks rules with --any only");
	/* of several the worst one, which need not be nearest to the limit */
	expect_outcome("CPU%(*) > 20", false, DIFF_RULE_KEPT, "--any only|");
	expect_outcome("CPU%(burst) > 20", true, DIFF_RULE_BROKEN, ", in a burst");
	expect_outcome("after:CPU%(burst) > 20", false, DIFF_RULE_BROKEN, "burst has ");
}

/* A floor from a file replaces the unit's floor, even a lower one. */
static void test_floor_of_test(void **state)
{
	static const char text[] = "# noise\nthread,metric,mean,floor\nsteady,run_time_ns,0,1000000\n";
	static const uint64_t early[POOLS][PARTS] = {{4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4, 5}, {0}, {0}};
	static const uint64_t late[POOLS][PARTS] = {{8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9}, {0}, {0}};
	struct diff_options options = {.grouping.axis = AXIS_THREAD, .rates = true};
	struct diff_floors *floors = NULL;

	(void)state;
	diff_fixture_replace(pool_window(1000, early), pool_window(1012, late));
	compare(NULL);
	assert_false(evidence_of("steady").is_real);
	assert_int_equal(diff_floors_parse(text, strlen(text), "floors.csv", AXIS_THREAD, &floors, NULL), 0);
	options.floors = floors;
	diff_release(diff);
	diff = diff_create(before, after, &options);
	assert_true(evidence_of("steady").is_tested && evidence_of("steady").is_real);
	diff_release(diff);
	diff = NULL;
	diff_floors_release(floors);
}

/* Windows that say nothing about each other are not tested. */
static void test_untested_windows(void **state)
{
	static const uint64_t run[POOLS][PARTS] = {{0}, {0}, {0}};
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ}};

	(void)state;
	diff_fixture_replace(pool_window(1000, run), pair_window(1012, threads, 1016, threads, 1));
	compare(NULL);
	assert_string_equal(diff_evidence_refusal(diff), "a window has fewer than eight parts");
	diff_fixture_replace(pool_window(1000, run), pair_window(1012, threads, 1015, threads, 1));
	compare(NULL);
	assert_string_equal(diff_evidence_refusal(diff),
			    "one window is more than three times as long as the other");
}

/* Parts go by names: a pair in which a thread counts that had another name then is not tested. */
static void test_renamed_parts(void **state)
{
	static const char *const exchanged[POOLS] = {"steady", "slower", "noisy"};
	uint64_t early[POOLS][PARTS], late[POOLS][PARTS];
	struct diff_evidence_cell cell;
	struct snapshot *first, *second;
	struct diff_match *match;

	(void)state;
	for (size_t pool = 0; pool < POOLS; pool++) {
		for (size_t k = 0; k < PARTS; k++) {
			early[pool][k] = 100 * (pool + 1) + k % 3;
			late[pool][k] = early[pool][k] * 2;
		}
	}
	first = pool_window(1000, early);
	pool_names = exchanged;
	second = pool_window(1012, late);
	pool_names = pools;
	diff_fixture_replace(first, second);
	match = diff_match_create(before, after, NULL);
	assert_non_null(match);
	compare(match);
	assert_true(evidence_of("steady").is_tested);
	cell = evidence_of("slower");
	assert_true(cell.is_real && !cell.is_tested && isnan(cell.spread[DIFF_BEFORE]));
	diff_match_release(match);
}

/* Real changes break rules, with `any` all changes do, and those too small to count do not. */
static void test_rules(void **state)
{
	static const uint64_t early[POOLS][PARTS] = {
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		{900, 100, 500, 50, 700, 300, 20, 800, 100, 400, 600, 30},
		{200, 210, 190, 205, 195, 201, 202, 198, 207, 193, 203, 199},
	};
	static const uint64_t late[POOLS][PARTS] = {
		{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		{50, 950, 300, 800, 100, 600, 700, 30, 900, 400, 500, 400},
		{400, 410, 390, 405, 395, 401, 402, 398, 407, 393, 403, 399},
	};
	static const struct {
		const char *rule;
		bool any, is_broken;
	} cases[] = {
		{"run_time_ns(slower) > 20%", false, true},
		{"run_time_ns(slower) > 150%", false, false},
		{"run_time_ns(noisy) > 20%", false, false},
		{"run_time_ns(noisy) > 20%", true, true},
		{"run_time_ns(steady) > 20%", false, false},
		{"run_time_ns(steady) > 20%", true, true},
		{"after:run_time_ns(noisy) > 1ms", false, true},
		/* by the title of the screen */
		{"CPU%(slower) > 20%", false, true},
		{"cpu(noisy) > 20%", false, false},
		{"after:CPU%(slower) > 450ms", false, false},
		{"after:CPU%(slower) > 350ms", false, true},
		{"CSW/s(*) > 20%", false, false},
		/* a bare number behind the title of a share of time is a share of time */
		{"CPU%(slower) > 19", false, true},
		{"CPU%(slower) > 21", false, false},
		{"after:CPU%(slower) > 39%", false, true},
		{"after:CPU%(slower) > 41", false, false},
		{"QSHARE%(slower) > 5", false, false},
		/* no change would break it, too */
		{"CPU%(steady) <= 5", false, true},
		{"CPU%(slower) <= 5", false, false},
		/* a ratio has no floor but the limit */
		{"cpu_efficiency(steady) < -0.4", false, true},
		{"cpu_efficiency(steady) < -0.6", false, false},
	};

	(void)state;
	diff_fixture_replace(pool_window(1000, early), pool_window(1012, late));
	compare(NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diff_rule_outcomes outcomes = {0};
		struct rule rule;

		assert_int_equal(rule_parse(cases[i].rule, true, &rule, NULL), 0);
		diff_rules_judge(&rule, 1, diff, cases[i].any, &outcomes);
		if (outcomes.broken != cases[i].is_broken)
			fail_msg("%s: %s", cases[i].rule, outcomes.items[0].text);
		diff_rule_outcomes_release(&outcomes);
		rule_release(&rule);
	}
}

/* A group that came or went is judged from 0 or to 0, without parts but with a floor. */
static void test_rules_of_one_side(void **state)
{
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};
	static const struct {
		const char *rule, *expected; /* NULL: the rule is kept */
	} cases[] = {
		{"CPU%(*) > 20%", "cc1, in after only, changed from "},
		{"CPU%(cc1) > 49", "cc1, in after only, changed from "},
		{"CPU%(cc1) > 51", NULL},
		{"CPU%(brief) > 20%", NULL},
		{"CPU%(went) < -20%", "went, in before only, changed from "},
		{"after:CPU%(cc1) > 49", "cc1 has "},
	};

	(void)state;
	diff_fixture_replace(pair_window(1000, threads, 1010, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	add_ended(before, "went", 5 * S);
	add_ended(after, "cc1", 5 * S);
	add_ended(after, "brief", 50 * MS);
	compare(NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diff_rule_outcomes outcomes = {0};
		struct rule rule;

		assert_int_equal(rule_parse(cases[i].rule, true, &rule, NULL), 0);
		diff_rules_judge(&rule, 1, diff, false, &outcomes);
		if (outcomes.broken != (cases[i].expected != NULL) || outcomes.unjudged ||
		    (outcomes.broken && strstr(outcomes.items[0].text, cases[i].expected) == NULL))
			fail_msg("%s: %s", cases[i].rule, outcomes.items[0].text);
		diff_rule_outcomes_release(&outcomes);
		rule_release(&rule);
	}
}

/*
 * Changes of counters within the windows do not explain a change of a total since the start, of a wait under
 * way or of a record: its size decides, in the unit of a group's value.
 */
static void test_inputs(void **state)
{
	const struct {
		enum column column;
		size_t inputs;
		double floor;
	} cases[] = {
		{column_of_derived(DERIVED_LIVE_HEAP_ESTIMATE), 0, 1048576},
		{COLUMN_ALLOC_TOTAL, 0, 1048576},
		{COLUMN_WAITING, 0, 1e6},
		{COLUMN_LONG, 0, 1},
		{COLUMN_STUCK, 0, 1},
		{COLUMN_PEAK, 0, 1048576},
		{COLUMN_LIMIT, 0, 0.01},
		{column_of_derived(DERIVED_CPU_EFFICIENCY), 2, 0.01},
		{COLUMN_CPU, 1, 10e6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(diff_metric_inputs(cases[i].column), cases[i].inputs);
		assert_true(diff_floors_of_unit(cases[i].column) == cases[i].floor);
	}
}

/* Knows the waits under way of a window: a thread has been in D for so long at its end, nobody at its begin.
 */
static void add_waits(struct snapshot *now, size_t thread, uint64_t blocked_ns)
{
	struct snapshot *sides[] = {now, now->window->from};

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		sides[i]->waiting_ns = memory_allocate_zero(POOLS, sizeof(uint64_t));
		sides[i]->stuck_ns = memory_allocate_zero(POOLS, sizeof(uint64_t));
		for (size_t k = 0; k < POOLS; k++)
			snapshot_column(sides[i], METRIC_STATE)[k] = 'S';
	}
	if (blocked_ns == 0)
		return;
	snapshot_column(now, METRIC_STATE)[thread] = 'D';
	now->waiting_ns[thread] = now->stuck_ns[thread] = blocked_ns;
}

/* The counters differ only by chance, but one thread is in D at the end. */
static void test_waits_under_way(void **state)
{
	static const uint64_t early[POOLS][PARTS] = {{90, 10, 50, 20, 70, 30, 40, 80, 10, 40, 60, 30}};
	static const uint64_t late[POOLS][PARTS] = {{10, 90, 30, 80, 10, 60, 70, 40, 90, 40, 50, 40}};
	static const struct {
		const char *rule;
		enum metric tested;
	} cases[] = {
		{"WAIT>1s(%s) > 0", METRIC_RUN_TIME_NS},
		{"WAITING(%s) > 4s", METRIC_RUN_TIME_NS},
		{"STUCK(%s) > 10%%", METRIC_RUN_TIME_NS},
		{"WAITED%%(%s) > 30", METRIC_WAIT_TIME_NS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diff_rule_outcomes outcomes = {0};
		struct rule rule;
		char text[64];

		diff_fixture_replace(pool_window(1000, early), pool_window(1012, late));
		add_waits(before, 0, 0);
		add_waits(after, 0, 5 * S);
		for (size_t k = 0; k < PARTS; k++)
			before->window->parts.items[k].metrics[0] = after->window->parts.items[k].metrics[0] =
				cases[i].tested;
		compare(NULL);
		snprintf(text, sizeof(text), cases[i].rule, pool_names[0]);
		assert_int_equal(rule_parse(text, true, &rule, NULL), 0);
		diff_rules_judge(&rule, 1, diff, false, &outcomes);
		if (!outcomes.broken || strstr(outcomes.items[0].text, "changed") == NULL)
			fail_msg("%s: %s", text, outcomes.items[0].text);
		diff_rule_outcomes_release(&outcomes);
		rule_release(&rule);
	}
}

/* Whether a remark is made about two windows, whose rates do not depend on earlier counts. */
static bool is_said(const char *id, enum comparability_severity severity)
{
	struct comparability *comparability = comparability_create(before, after);
	bool is_said = false;

	for (size_t i = 0; i < comparability->count; i++)
		is_said |= strcmp(comparability->rows[i].id, id) == 0 &&
			   comparability->rows[i].severity == severity;
	comparability_release(comparability);
	return is_said;
}

static void test_comparability(void **state)
{
	static const struct pair_thread threads[] = {
		{"/", "web", "web", 10, 10, 5, 1 * S, 0, 0, REASON_READ},
	};

	(void)state;
	/* two windows that end at the same time */
	diff_fixture_replace(pair_window(1000, threads, 1020, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	assert_false(is_said("same-capture", COMPARABILITY_WARNING));
	diff_fixture_replace(pair_window(1010, threads, 1020, threads, 1),
			     pair_window(1010, threads, 1020, threads, 1));
	assert_true(is_said("same-capture", COMPARABILITY_WARNING));
	after->provenance.boot_id = "another";
	assert_true(is_said("other-boot", COMPARABILITY_NOTE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIFF_TEST(test_rates),
		DIFF_TEST(test_units),
		DIFF_TEST(test_ended),
		DIFF_TEST(test_parent_of_storm),
		DIFF_TEST(test_waits_of_earlier),
		DIFF_TEST(test_cpu_of_unknown_threads),
		DIFF_TEST(test_renamed),
		DIFF_TEST(test_renamed_cgroup),
		DIFF_TEST(test_evidence),
		DIFF_TEST(test_burst),
		DIFF_TEST(test_floor_of_test),
		DIFF_TEST(test_untested_windows),
		DIFF_TEST(test_renamed_parts),
		DIFF_TEST(test_rules),
		DIFF_TEST(test_comparability),
		DIFF_TEST(test_inputs),
		DIFF_TEST(test_waits_under_way),
		DIFF_TEST(test_rules_of_one_side),
	};

	return cmocka_run_group_tests_name("diff_window", tests, NULL, NULL);
}
