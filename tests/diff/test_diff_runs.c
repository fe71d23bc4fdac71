/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of runs compared: means, what runs differ by, and floors from what varies without a change. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/diff_evidence.h"
#include "compare/diff_floors.h"
#include "compare/diff_rule.h"
#include "diff_fixture.h"
#include "pair_fixture.h"

enum {
	RUNS_MAX = 8,
	WINDOW_S = 10,
};

/* A run: for how many ms of each second two groups ran; a build that did nothing is not there. */
struct run {
	uint64_t web_ms, build_ms;
};

/* The runs of both sides, and their comparison. */
struct sets {
	struct snapshot *runs[DIFF_SIDE_COUNT][RUNS_MAX];
	size_t count[DIFF_SIDE_COUNT];
	struct diff *diff;
};

static struct snapshot *make_run(uint64_t from_s, const struct run *run)
{
	struct pair_thread begin[] = {
		{"/", "web", "web", 10, 10, 5, NS_PER_S, 0, 0, REASON_READ},
		{"/", "build", "build", 20, 20, 5, NS_PER_S, 0, 0, REASON_READ},
	};
	struct pair_thread end[ARRAY_COUNT(begin)];
	const size_t count = run->build_ms != 0 ? 2 : 1;

	memcpy(end, begin, sizeof(end));
	end[0].run_time_ns += run->web_ms * WINDOW_S * NS_PER_MS;
	end[1].run_time_ns += run->build_ms * WINDOW_S * NS_PER_MS;
	return pair_window(from_s, begin, from_s + WINDOW_S, end, count);
}

static void compare(struct sets *sets, const struct diff_floors *floors)
{
	struct diff_options options = {.grouping.axis = AXIS_THREAD, .rates = true, .floors = floors};
	const struct snapshot *last[DIFF_SIDE_COUNT] = {NULL};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (sets->count[side] == 0)
			continue;
		options.sets[side].runs = (const struct snapshot *const *)sets->runs[side];
		options.sets[side].count = sets->count[side];
		last[side] = sets->runs[side][sets->count[side] - 1];
	}
	sets->diff = diff_create(last[DIFF_BEFORE], last[DIFF_AFTER], &options);
}

/* The runs of a side end with one without any time. The comparison points into `*sets`. */
static void make_sets(struct sets *sets, const struct run *before, const struct run *after)
{
	const struct run *const sides[DIFF_SIDE_COUNT] = {before, after};
	uint64_t from_s = 1000;

	*sets = (struct sets){.diff = NULL};
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; sides[side] != NULL && sides[side][i].web_ms != 0; i++) {
			sets->runs[side][i] = make_run(from_s, &sides[side][i]);
			sets->count[side]++;
			from_s += WINDOW_S;
		}
	}
	compare(sets, NULL);
}

static void release(struct sets *sets)
{
	diff_release(sets->diff);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < sets->count[side]; i++)
			snapshot_release(sets->runs[side][i]);
	}
}

static struct diff_value value_of(const struct sets *sets, const char *group, enum metric metric)
{
	return diff_metric(sets->diff, diff_fixture_pair(sets->diff, group), metric);
}

static struct diff_evidence_cell evidence_of(const struct sets *sets, const char *group)
{
	const struct diff_value value = value_of(sets, group, METRIC_RUN_TIME_NS);

	return diff_evidence_of(sets->diff, diff_fixture_pair(sets->diff, group),
				column_of_stored(METRIC_RUN_TIME_NS), &value);
}

static enum cell_verdict verdict_of(const struct sets *sets, const char *group, enum column column)
{
	return diff_verdict(sets->diff, diff_fixture_pair(sets->diff, group), column);
}

static void expect_near(double number, double expected)
{
	if (!(fabs(number - expected) <= 1e-6 * fmax(1, fabs(expected))))
		fail_msg("%.10g is not %.10g", number, expected);
}

/* A side has the mean of its runs; with three runs a change is real where their ranges are apart. */
static void test_ranges(void **state)
{
	static const struct run before[] = {{100, 0}, {102, 0}, {98, 0}, {0, 0}};
	static const struct run apart[] = {{150, 0}, {149, 0}, {151, 0}, {0, 0}};
	static const struct run overlapping[] = {{150, 0}, {149, 0}, {101, 0}, {0, 0}};
	struct sets sets;
	struct diff_evidence_cell cell;

	(void)state;
	make_sets(&sets, before, apart);
	expect_near(value_of(&sets, "web", METRIC_RUN_TIME_NS).side[DIFF_BEFORE].number, 100e6);
	expect_near(value_of(&sets, "web", METRIC_RUN_TIME_NS).delta, 50e6);
	cell = evidence_of(&sets, "web");
	assert_true(cell.is_tested && cell.is_real && isnan(cell.adjusted));
	expect_near(cell.spread[DIFF_BEFORE], 1e6);
	expect_near(cell.spread[DIFF_AFTER], 0.5e6);
	assert_int_equal(verdict_of(&sets, "web", COLUMN_CPU), CELL_VERDICT_REAL);
	release(&sets);
	make_sets(&sets, before, overlapping);
	assert_int_equal(verdict_of(&sets, "web", COLUMN_CPU), CELL_VERDICT_NO);
	release(&sets);
}

/* From four runs a side on the test of Mann and Whitney decides, by itself. */
static void test_ranks(void **state)
{
	static const struct run before[] = {{100, 0}, {101, 0}, {99, 0}, {102, 0}, {0, 0}};
	static const struct run apart[] = {{150, 0}, {151, 0}, {149, 0}, {152, 0}, {0, 0}};
	static const struct run mixed[] = {{150, 0}, {98, 0}, {149, 0}, {97, 0}, {0, 0}};
	struct sets sets;

	(void)state;
	make_sets(&sets, before, apart);
	/* two of the C(8, 4) ways to draw four of eight */
	expect_near(evidence_of(&sets, "web").adjusted, 2.0 / 70);
	assert_true(evidence_of(&sets, "web").is_real);
	release(&sets);
	make_sets(&sets, before, mixed);
	assert_true(evidence_of(&sets, "web").adjusted > DIFF_EVIDENCE_CHANCE_MAX);
	assert_false(evidence_of(&sets, "web").is_real);
	release(&sets);
}

/* A run that is disturbed on each side tells nothing: a run without the disturbance counts as 0 of it. */
static void test_disturbed(void **state)
{
	static const struct run before[] = {{100, 0}, {180, 300}, {98, 0}, {0, 0}};
	static const struct run after[] = {{101, 0}, {99, 0}, {230, 120}, {0, 0}};
	struct sets sets;
	const struct diff_pair *build;

	(void)state;
	make_sets(&sets, before, after);
	build = diff_fixture_pair(sets.diff, "build");
	expect_near(value_of(&sets, "build", METRIC_RUN_TIME_NS).side[DIFF_BEFORE].number, 100e6);
	expect_near(value_of(&sets, "build", METRIC_RUN_TIME_NS).side[DIFF_AFTER].number, 40e6);
	expect_near(value_of(&sets, "build", METRIC_THREAD_COUNT).side[DIFF_BEFORE].number, 1.0 / 3);
	assert_int_equal(build->threads[DIFF_BEFORE], 1);
	assert_int_equal(build->kind, DIFF_PAIR_MATCHED);
	assert_int_equal(verdict_of(&sets, "build", COLUMN_CPU), CELL_VERDICT_NO);
	assert_int_equal(verdict_of(&sets, "web", COLUMN_CPU), CELL_VERDICT_NO);
	release(&sets);
}

/* A group on one side only is real where each of its runs has it. */
static void test_one_sided(void **state)
{
	static const struct run none[] = {{100, 0}, {102, 0}, {98, 0}, {0, 0}};
	static const struct run all[] = {{100, 90}, {102, 95}, {98, 99}, {0, 0}};
	static const struct run one[] = {{100, 0}, {102, 95}, {98, 0}, {0, 0}};
	struct sets sets;

	(void)state;
	make_sets(&sets, none, all);
	assert_int_equal(diff_fixture_pair(sets.diff, "build")->kind, DIFF_PAIR_ONLY_AFTER);
	assert_int_equal(verdict_of(&sets, "build", COLUMN_CPU), CELL_VERDICT_REAL);
	release(&sets);
	make_sets(&sets, none, one);
	assert_int_equal(verdict_of(&sets, "build", COLUMN_CPU), CELL_VERDICT_NO);
	release(&sets);
}

/* Words have no mean: they are those of the last run, and absent where it lacks the group. */
static void test_words(void **state)
{
	static const struct run before[] = {{100, 90}, {102, 90}, {0, 0}};
	static const struct run after[] = {{100, 90}, {102, 0}, {0, 0}};
	struct sets sets;

	(void)state;
	make_sets(&sets, before, after);
	assert_int_equal(value_of(&sets, "web", METRIC_POLICY).state, VALUE_READ);
	assert_false(value_of(&sets, "web", METRIC_POLICY).differs);
	assert_int_equal(value_of(&sets, "build", METRIC_POLICY).side[DIFF_BEFORE].state, VALUE_READ);
	assert_int_equal(value_of(&sets, "build", METRIC_POLICY).side[DIFF_AFTER].state, VALUE_ABSENT);
	release(&sets);
}

static bool breaks(const struct sets *sets, const char *text)
{
	struct diff_rule_outcomes outcomes = {0};
	struct rule rule;
	bool broken;

	assert_int_equal(rule_parse(text, true, &rule, NULL), 0);
	diff_rules_judge(&rule, 1, sets->diff, false, &outcomes);
	broken = outcomes.broken;
	diff_rule_outcomes_release(&outcomes);
	rule_release(&rule);
	return broken;
}

/* Few runs have no likelihood that is small enough for many groups: there, too, ranges decide. */
static void test_rules(void **state)
{
	static const struct run before[] = {{100, 50}, {101, 50}, {99, 50}, {102, 50}, {0, 0}};
	static const struct run apart[] = {{150, 50}, {151, 50}, {149, 50}, {152, 50}, {0, 0}};
	static const struct run overlapping[] = {{150, 50}, {151, 50}, {149, 50}, {100, 50}, {0, 0}};
	struct sets sets;
	struct rule rule;

	(void)state;
	make_sets(&sets, before, apart);
	assert_true(breaks(&sets, "CPU%(web) > 20%"));
	assert_true(breaks(&sets, "CPU%(*) > 20%"));
	assert_false(breaks(&sets, "CPU%(web) > 60%"));
	assert_false(breaks(&sets, "CPU%(build) > 1%"));
	release(&sets);
	make_sets(&sets, before, overlapping);
	assert_false(breaks(&sets, "CPU%(*) > 20%"));
	assert_int_equal(rule_parse("delayed(web) > 0.2", true, &rule, NULL), 0);
	assert_true(diff_rule_check(&rule, sets.diff, NULL) < 0);
	rule_release(&rule);
	assert_int_equal(rule_parse("CPU%(web) > 20%", true, &rule, NULL), 0);
	assert_int_equal(diff_rule_check(&rule, sets.diff, NULL), 0);
	rule_release(&rule);
	release(&sets);
}

/* A rule about all groups is not broken by one that is in one run only. */
static void test_rules_of_one_side(void **state)
{
	static const struct run none[] = {{100, 0}, {102, 0}, {98, 0}, {0, 0}};
	static const struct run one[] = {{100, 0}, {102, 900}, {98, 0}, {0, 0}};
	static const struct run all[] = {{100, 90}, {102, 95}, {98, 99}, {0, 0}};
	struct sets sets;

	(void)state;
	make_sets(&sets, none, one);
	assert_false(breaks(&sets, "CPU%(*) > 20%"));
	release(&sets);
	make_sets(&sets, one, none);
	assert_false(breaks(&sets, "CPU%(*) < -20%"));
	release(&sets);
	make_sets(&sets, none, all);
	assert_true(breaks(&sets, "CPU%(*) > 20%"));
	release(&sets);
}

/* Lets `web` read so many MiB in each second of a run; 0: that cannot be read. */
static void set_read(struct snapshot *run, uint64_t mib)
{
	snapshot_column(run, METRIC_READ_BYTES)[0] = mib * WINDOW_S << 20;
	if (mib == 0)
		snapshot_source_reasons(run, SOURCE_IO)[0] = REASON_NOT_PERMITTED;
}

/* A number that one run alone has breaks no rule. */
static void test_rules_of_one_number(void **state)
{
	static const struct run runs[] = {{100, 0}, {102, 0}, {98, 0}, {0, 0}};
	const enum column column = column_of_stored(METRIC_READ_BYTES);
	struct sets sets;

	(void)state;
	make_sets(&sets, runs, runs);
	diff_release(sets.diff);
	for (size_t i = 0; i < sets.count[DIFF_BEFORE]; i++) {
		set_read(sets.runs[DIFF_BEFORE][i], 1);
		set_read(sets.runs[DIFF_AFTER][i], i == 1 ? 99 : 0);
	}
	compare(&sets, NULL);
	assert_int_equal(verdict_of(&sets, "web", column), CELL_VERDICT_NO);
	assert_false(breaks(&sets, "read_bytes(web) > 20%"));
	release(&sets);
}

static void expect_needed(const struct comparability *comparability, const char *sentence)
{
	for (size_t i = 0; i < comparability->count; i++) {
		if (strcmp(comparability->rows[i].id, "runs-needed") == 0) {
			assert_string_equal(comparability->rows[i].text, sentence);
			return;
		}
	}
	fail_msg("no row about runs that are needed");
}

/* How many runs a change needs: by how much runs differ, but never fewer than the test. */
static void test_needed(void **state)
{
	static const struct run before[] = {{100, 0}, {102, 0}, {98, 0}, {0, 0}};
	static const struct run after[] = {{150, 0}, {149, 0}, {151, 0}, {0, 0}};
	static const char *const names[] = {"a", "b", "c"}, *const others[] = {"d", "e", "f"};
	const enum column column = column_of_stored(METRIC_RUN_TIME_NS);
	struct sets sets;
	const struct comparability_set both[DIFF_SIDE_COUNT] = {
		{(const struct snapshot *const *)sets.runs[DIFF_BEFORE], names, 3},
		{(const struct snapshot *const *)sets.runs[DIFF_AFTER], others, 3},
	};
	const struct diff_pair *web;
	struct diff_rule_outcomes outcomes = {0};
	struct rule rule;

	(void)state;
	make_sets(&sets, before, after);
	web = diff_fixture_pair(sets.diff, "web");
	/* a standard deviation of 1.58 ms, from 2.5 square ms */
	assert_int_equal(diff_evidence_runs_needed(sets.diff, web, column, 10e6), DIFF_EVIDENCE_RUNS);
	assert_int_equal(diff_evidence_runs_needed(sets.diff, web, column, 1e6), 42);
	outcomes.notes = comparability_create_of_sets(both);
	/* 1 % of the 100 ms before is 1 ms, but a change of less than 10 ms breaks no rule */
	assert_int_equal(rule_parse("CPU%(w*) > 1%", true, &rule, NULL), 0);
	diff_rules_judge(&rule, 1, sets.diff, false, &outcomes);
	expect_needed(
		outcomes.notes,
		"CPU%(w*) > 1%, of web: 4 runs a side are needed to find it four times in five, and there "
		"are 3 and 3");
	rule_release(&rule);
	comparability_release(outcomes.notes);
	diff_rule_outcomes_release(&outcomes);
	release(&sets);
}

/* --- floors --- */

static const struct cell *find_floor(const struct table *table, const char *group, const char *metric)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cells = table->rows[i].cells;

		if (strcmp(cells[0].text, group) == 0 && strcmp(cells[1].text, metric) == 0)
			return cells;
	}
	return NULL;
}

/* What varies in one set without any change: only what does so by more than the floor of its unit. */
static void test_noise(void **state)
{
	static const struct run runs[] = {{100, 50}, {160, 51}, {130, 50}, {0, 0}};
	struct sets sets;
	struct table *table;
	const struct cell *cells;

	(void)state;
	make_sets(&sets, NULL, runs);
	table = diff_floors_table(sets.diff, 0);
	cells = find_floor(table, "web", "run_time_ns");
	assert_non_null(cells);
	assert_string_equal(table->section, DIFF_FLOORS_SECTION);
	assert_int_equal(cells[3].unit, UNIT_NS_PER_S);
	expect_near(cells[2].value.real, 130e6);
	/* 2.77 times the standard deviation is more than the range */
	expect_near(cells[3].value.real, 2.77 * 30e6);
	assert_null(find_floor(table, "build", "run_time_ns"));
	table_release(table);
	table = diff_floors_table(sets.diff, 1);
	assert_int_equal(table->row_count, 1);
	assert_true(table->row_total >= 1);
	table_release(table);
	release(&sets);
}

static struct diff_floors *parse_floors(const char *group, enum axis axis)
{
	struct diff_floors *floors = NULL;
	struct error error = {""};
	char text[512];

	snprintf(text, sizeof(text),
		 "# noise\n%s,metric,mean,floor,mean_unit,mean_state,mean_reason\n"
		 "\"a, \"\"b\"\"\",run_time_ns,3,2\n%s,run_time_ns,100000000,60000000.5,ns_per_s,ok,\n",
		 axes[axis].name, group);
	if (diff_floors_parse(text, strlen(text), "file", axis, &floors, &error) < 0)
		fail_msg("%s", error.text);
	return floors;
}

/* Judges a rule about processes by floors of threads. */
static void expect_floors_warning(const struct sets *sets)
{
	struct diff_rule_outcomes outcomes = {0};
	struct rule rule;

	assert_int_equal(rule_parse("CPU%(process:web) > 20%", true, &rule, NULL), 0);
	diff_rules_judge(&rule, 1, sets->diff, false, &outcomes);
	assert_true(outcomes.broken);
	assert_int_equal(outcomes.count, 2);
	assert_int_equal(outcomes.items[1].result, DIFF_RULE_WARNING);
	assert_string_equal(outcomes.items[1].text, "CPU%(process:web) > 20%: its groups are by process, and "
						    "the floors by thread do not count");
	diff_rule_outcomes_release(&outcomes);
	rule_release(&rule);
}

/* A floor takes the place of that of the unit, for its group alone. */
static void test_floors(void **state)
{
	static const struct run before[] = {{100, 50}, {102, 50}, {98, 50}, {0, 0}};
	static const struct run after[] = {{150, 90}, {149, 91}, {151, 92}, {0, 0}};
	const enum column column = column_of_stored(METRIC_RUN_TIME_NS);
	struct diff_floors *floors = parse_floors("web", AXIS_THREAD);
	struct sets sets;

	(void)state;
	make_sets(&sets, before, after);
	assert_int_equal(verdict_of(&sets, "web", COLUMN_CPU), CELL_VERDICT_REAL);
	diff_release(sets.diff);
	compare(&sets, floors);
	assert_true(diff_floors_of(sets.diff, diff_fixture_pair(sets.diff, "web"), column) == 60000000.5);
	assert_true(diff_floors_of(sets.diff, diff_fixture_pair(sets.diff, "build"), column) ==
		    diff_floors_of_unit(column));
	assert_int_equal(verdict_of(&sets, "web", COLUMN_CPU), CELL_VERDICT_NO);
	assert_int_equal(verdict_of(&sets, "build", COLUMN_CPU), CELL_VERDICT_REAL);
	assert_false(breaks(&sets, "CPU%(web) > 20%"));
	expect_floors_warning(&sets);
	diff_release(sets.diff);
	diff_floors_release(floors);
	/* groups of another axis may have the same names */
	floors = parse_floors("web", AXIS_PROCESS);
	compare(&sets, floors);
	assert_int_equal(verdict_of(&sets, "web", COLUMN_CPU), CELL_VERDICT_REAL);
	release(&sets);
	diff_floors_release(floors);
}

static void test_bad_floors(void **state)
{
	static const char *const texts[] = {
		"",
		"# noise\n",
		"{\"group_by\":\"thread\",\"tables\":[]}",
		"# primary\nthread,metric,mean,floor\n",
		"# noise\nnothing,metric,mean,floor\nweb,run_time_ns,3,2\n",
		"# noise\nthread\tmetric\tmean\tfloor\nweb\trun_time_ns\t100.000ms\t60.000ms\n",
		"# noise\nthread,metric,mean,floor\nweb,run_time_ns,3\n",
		"# noise\nthread,metric,mean,floor\nweb,run_time_ns,3,60ms\n",
		"# noise\nthread,metric,mean,floor\nweb,run_time_ns,3,-2\n",
		"# noise\nthread,metric,mean,floor\nweb,run_time_ns,3,nan\n",
		"# noise\nthread,metric,mean,floor\n\"web,run_time_ns,3,2\n",
	};
	static const char good[] = "# noise\nthread,metric,mean,floor\nweb,run_time_ns,3,2\n";
	struct diff_floors *floors = NULL;
	struct error error = {""};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		assert_true(diff_floors_parse(texts[i], strlen(texts[i]), "some.csv", AXIS_THREAD, &floors,
					      &error) < 0);
		assert_null(floors);
		assert_non_null(strstr(error.text, "some.csv is no table of floors in CSV: make one with "));
	}
	assert_true(diff_floors_parse(good, strlen(good), "some.csv", AXIS_PROCESS, &floors, &error) < 0);
	assert_string_equal(error.text, "some.csv has floors of groups by thread: compare with -g thread");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_needed),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_floors),
		cmocka_unit_test(test_bad_floors),
		cmocka_unit_test(test_rules_of_one_side),
		cmocka_unit_test(test_rules_of_one_number),
	};

	return cmocka_run_group_tests_name("diff_runs", tests, NULL, NULL);
}
