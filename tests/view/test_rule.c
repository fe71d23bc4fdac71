/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of comparisons and recordings: what they may say. */
#include <errno.h>
#include <math.h>
#include "tests/cmocka_include.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "table/rule.h"
#include "window/column.h"

static void test_limits(void **state)
{
	static const struct {
		const char *text;
		double limit;
		enum comparison_kind comparison;
		enum limit_kind kind;
	} cases[] = {
		{"run_time_ns(w*)>10", 10, COMPARISON_MORE, LIMIT_AMOUNT},
		{"  run_time_ns ( w* )  >=  1.5 ms  ", 1.5e6, COMPARISON_AT_LEAST, LIMIT_AMOUNT},
		{"run_time_ns(w*) < -2s", -2e9, COMPARISON_LESS, LIMIT_AMOUNT},
		{"run_time_ns(w*) <= +2us", 2e3, COMPARISON_AT_MOST, LIMIT_AMOUNT},
		{"run_time_ns(w*) = 0", 0, COMPARISON_EQUAL, LIMIT_AMOUNT},
		{"run_time_ns(w*) != .5min", 30e9, COMPARISON_DIFFERENT, LIMIT_AMOUNT},
		{"run_time_ns(w*) > 1h", 3600e9, COMPARISON_MORE, LIMIT_AMOUNT},
		{"run_time_ns(w*) > 1d", 86400e9, COMPARISON_MORE, LIMIT_AMOUNT},
		{"run_time_ns(w*) > 3µs", 3e3, COMPARISON_MORE, LIMIT_AMOUNT},
		{"run_time_ns(w*) > 12.5%", 12.5, COMPARISON_MORE, LIMIT_PERCENT},
		{"after:run_time_ns(w*) > 12.5 %", 12.5, COMPARISON_MORE, LIMIT_PERCENT},
		{"after:read_bytes(*) > 1.5GiB", 1.5 * 1073741824, COMPARISON_MORE, LIMIT_NUMBER},
		{"read_bytes(*) > 10K", 10240, COMPARISON_MORE, LIMIT_NUMBER},
		{"syscr(*) > 10K", 10000, COMPARISON_MORE, LIMIT_NUMBER},
		{"syscr(*) > 10k", 10000, COMPARISON_MORE, LIMIT_NUMBER},
		/* clock ticks by the name of the file's field, times by any */
		{"utime_clock_ticks(*) > 3", 3.0 * NS_PER_TICK, COMPARISON_MORE, LIMIT_AMOUNT},
		{"utime_clock_ticks(*) > 2s", 2e9, COMPARISON_MORE, LIMIT_AMOUNT},
		{"USER%(*) > 20ms", 20e6, COMPARISON_MORE, LIMIT_AMOUNT},
		{"USER%(*) > 20", 20, COMPARISON_MORE, LIMIT_NUMBER},
		{"nice(*) < -5", -5, COMPARISON_LESS, LIMIT_NUMBER},
		{"cpu_efficiency(*) < -0.1", -0.1, COMPARISON_LESS, LIMIT_NUMBER},
		{"avg_wait_ns(*) > 3ms", 3e6, COMPARISON_MORE, LIMIT_AMOUNT},
		{"after:run_queue_p99_ns(*) > 3ms", 3e6, COMPARISON_MORE, LIMIT_AMOUNT},
		{"blocked_waits_per_s(*) > 1K", 1000, COMPARISON_MORE, LIMIT_NUMBER},
		{"RSS(*) > 20%", 20, COMPARISON_MORE, LIMIT_PERCENT},
		{"STUCK(*) > 2", 2, COMPARISON_MORE, LIMIT_NUMBER},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct error error = {""};
		struct rule rule;

		if (rule_parse(cases[i].text, true, &rule, &error) != 0)
			fail_msg("%s", error.text);
		if (fabs(rule.limit.number - cases[i].limit) > fabs(cases[i].limit) * 1e-12 ||
		    rule.limit.comparison != cases[i].comparison || rule.limit.kind != cases[i].kind ||
		    rule.of_after != (strncmp(cases[i].text, "after:", 6) == 0))
			fail_msg("%s: %g, kind %d", cases[i].text, rule.limit.number, (int)rule.limit.kind);
		rule_release(&rule);
	}
}

static void test_groups(void **state)
{
	static const struct {
		const char *text;
		enum axis axis;
		const char *match, *other;
	} cases[] = {
		{"CPU%(worker-*) > 1", AXIS_COUNT, "worker-{N}", "server"},
		{"CPU%(process:web) > 1", AXIS_PROCESS, "web", "webs"},
		{"CPU%(thread:w[ab]) > 1", AXIS_THREAD, "wa", "wc"},
		{"CPU%(cgroup:/system.slice/*) > 1", AXIS_CGROUP, "/system.slice/a.service", "/user.slice"},
		/* a name may have a colon of its own, and parentheses */
		{"CPU%(kworker/0:*) > 1", AXIS_COUNT, "kworker/0:1", "thread"},
		{"CPU%((sd-pam)) > 1", AXIS_COUNT, "(sd-pam)", "sd-pam"},
		/* in quotation marks words mean nothing; wildcards do */
		{"CPU%(\"Isle of Man\") > 1", AXIS_COUNT, "Isle of Man", "Isle"},
		{"CPU%( thread: \"a by b\" ) > 1", AXIS_THREAD, "a by b", "a"},
		{"read_bytes(cgroup:\"/system.slice/*\") > 1", AXIS_CGROUP, "/system.slice/a.service",
		 "/user"},
		{"CPU%(\" a\") > 1", AXIS_COUNT, " a", "a"},
		{"CPU%(offof) > 1", AXIS_COUNT, "offof", "off"},
		/* numbers of cgroups are of no other groups */
		{"CGCPU%(/web*) > 1", AXIS_CGROUP, "/web.slice", "/db.slice"},
		{"CPULIM(cgroup:/web) < 1", AXIS_CGROUP, "/web", "/db"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rule rule;

		assert_int_equal(rule_parse(cases[i].text, false, &rule, NULL), 0);
		assert_int_equal(rule.axis, cases[i].axis);
		assert_true(rule_matches(&rule, "x", 1, cases[i].match, strlen(cases[i].match)));
		assert_true(rule_matches(&rule, cases[i].match, strlen(cases[i].match), "x", 1));
		assert_false(rule_matches(&rule, "x", 1, cases[i].other, strlen(cases[i].other)));
		rule_release(&rule);
	}
}

/* Whether a rule is about threads of a process, by names whose parts have a NUL between. */
static bool matches_pool(const struct rule *rule, const char *process, const char *thread)
{
	char name[100];
	const int length = snprintf(name, sizeof(name), "/pod%c%s%c%s", '\0', process, '\0', thread);
	const bool by_key = rule_matches(rule, name, (size_t)length, "x", 1);

	assert_int_equal(rule_matches(rule, "x", 1, name, (size_t)length), by_key);
	return by_key;
}

/* Threads of a process, whatever their cgroup. */
static void test_pools(void **state)
{
	static const char *const same[] = {
		"CPU%(worker-* of api) > 20",
		"CPU%( worker-*  of  api ) > 20",
		"CPU%(thread:worker-* of process:api) > 20",
		"CPU%(\"worker-*\" of \"api\") > 20",
	};
	struct buffer text = {0};
	struct rule rule;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(same); i++) {
		assert_int_equal(rule_parse(same[i], i % 2 == 0, &rule, NULL), 0);
		assert_int_equal(rule.axis, AXIS_ALL);
		assert_true(matches_pool(&rule, "api", "worker-{N}"));
		assert_false(matches_pool(&rule, "web", "worker-{N}"));
		assert_false(matches_pool(&rule, "api", "timer"));
		/* a made-up name has its mark behind the last part */
		assert_true(rule_matches(&rule, "/\0api\0worker-1\0a", 16, "x", 1));
		assert_false(rule_matches(&rule, "worker-1", 8, "api", 3));
		assert_false(rule_names_one(&rule));
		rule_release(&rule);
	}
	assert_int_equal(rule_parse("CPU%(\"a of b\" of \"c of d\") > 20", true, &rule, NULL), 0);
	assert_true(matches_pool(&rule, "c of d", "a of b"));
	assert_true(rule_names_one(&rule));
	rule_append_group(&rule, "/pod\0c of d\0a of b", 18, &text);
	assert_string_equal(text.data, "a of b of c of d in /pod");
	rule_release(&rule);
	assert_int_equal(rule_parse("CPU%(api) > 20", true, &rule, NULL), 0);
	assert_true(rule_names_one(&rule));
	buffer_clear(&text);
	rule_append_group(&rule, "api", 3, &text);
	assert_string_equal(text.data, "api");
	rule_release(&rule);
	assert_int_equal(rule_parse("CPU%(w of a?i) > 20", true, &rule, NULL), 0);
	assert_false(rule_names_one(&rule));
	rule_release(&rule);
	buffer_release(&text);
}

/* Bounds decide where every number between them would decide alike. */
static void test_bounds(void **state)
{
	static const struct {
		enum comparison_kind comparison;
		double low, high;
		int holds; /* -1: not decided */
	} cases[] = {
		/* of 10 */
		{COMPARISON_MORE, 11, INFINITY, 1},
		{COMPARISON_MORE, 10, INFINITY, -1},
		{COMPARISON_MORE, -INFINITY, 10, 0},
		{COMPARISON_MORE, 9, 11, -1},
		{COMPARISON_AT_LEAST, 10, INFINITY, 1},
		{COMPARISON_AT_LEAST, 9, INFINITY, -1},
		{COMPARISON_AT_LEAST, -INFINITY, 9, 0},
		{COMPARISON_LESS, 10, INFINITY, 0},
		{COMPARISON_LESS, 9, INFINITY, -1},
		{COMPARISON_LESS, -INFINITY, 9, 1},
		{COMPARISON_AT_MOST, 11, INFINITY, 0},
		{COMPARISON_AT_MOST, 10, INFINITY, -1},
		{COMPARISON_AT_MOST, -INFINITY, 10, 1},
		{COMPARISON_EQUAL, 11, INFINITY, 0},
		{COMPARISON_EQUAL, 10, INFINITY, -1},
		{COMPARISON_EQUAL, 9, 11, -1},
		{COMPARISON_EQUAL, 10, 10, 1},
		{COMPARISON_DIFFERENT, 11, INFINITY, 1},
		{COMPARISON_DIFFERENT, 9, 11, -1},
		{COMPARISON_DIFFERENT, 10, 10, 0},
		{COMPARISON_MORE, -INFINITY, INFINITY, -1},
		{COMPARISON_EQUAL, -INFINITY, INFINITY, -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		bool holds;
		const bool decides = comparison_decides(cases[i].comparison, cases[i].low, cases[i].high, 10,
							&holds);

		if (decides != (cases[i].holds >= 0) || (decides && holds != (cases[i].holds == 1)))
			fail_msg("%zu: %s %g to %g", i, comparison_sign(cases[i].comparison), cases[i].low,
				 cases[i].high);
	}
}

static void test_pressure(void **state)
{
	struct rule rule;

	(void)state;
	assert_int_equal(rule_parse(" psi.memory>=0.5%", false, &rule, NULL), 0);
	assert_true(rule.is_pressure);
	assert_int_equal(rule.resource, PRESSURE_MEMORY);
	assert_int_equal(rule.limit.comparison, COMPARISON_AT_LEAST);
	assert_true(rule.limit.number == 0.5);
	rule_release(&rule);
	assert_int_equal(rule_parse("psi.io < 3 % ", false, &rule, NULL), 0);
	assert_int_equal(rule.resource, PRESSURE_IO);
	rule_release(&rule);
}

static void test_delayed(void **state)
{
	static const struct {
		const char *text;
		double limit;
		enum limit_kind kind;
		const char *victim, *culprit, *other;
	} cases[] = {
		{"delayed(api by backup) > 0.2", 2e8, LIMIT_AMOUNT, "api", "backup", "backups"},
		{"delayed( api-* by back* ) >= 1.5", 15e8, LIMIT_AMOUNT, "api-{N}", "backup", "batch"},
		{"delayed(api by itself) > 200ms", 2e8, LIMIT_AMOUNT, "api", "itself", "api"},
		{"delayed(process:api by b) > 20%", 20, LIMIT_PERCENT, "api", "b", "itself"},
		{"delayed(api by process:b) > 20%", 20, LIMIT_PERCENT, "api", "b", "process:b"},
		{"after:delayed(api by b) > 20 %", 2e8, LIMIT_AMOUNT, "api", "b", "itself"},
		{"delayed(api by (*)) > 0", 0, LIMIT_AMOUNT, "api", "(throttled)", "throttled"},
		{"delayed(stand by me by you) > 1", 1e9, LIMIT_AMOUNT, "stand", "me by you", "you"},
	};
	struct rule rule;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const char *culprit = cases[i].culprit, *other = cases[i].other;

		assert_int_equal(rule_parse(cases[i].text, true, &rule, NULL), 0);
		assert_true(rule.is_delayed);
		if (fabs(rule.limit.number - cases[i].limit) > 1e-3 || rule.limit.kind != cases[i].kind)
			fail_msg("%s: %g, kind %d", cases[i].text, rule.limit.number, (int)rule.limit.kind);
		assert_true(rule_matches(&rule, "x", 1, cases[i].victim, strlen(cases[i].victim)));
		assert_true(rule_counts_culprit(&rule, false, "x", 1, culprit, strlen(culprit)));
		assert_true(rule_counts_culprit(&rule, false, culprit, strlen(culprit), "x", 1));
		assert_false(rule_counts_culprit(&rule, false, "x", 1, other, strlen(other)));
		rule_release(&rule);
	}
	assert_int_equal(rule_parse("delayed(api by itself) > 0", false, &rule, NULL), 0);
	assert_true(rule_counts_culprit(&rule, true, "api", 3, "api", 3));
	assert_false(rule_counts_cause(&rule, LATENCY_CAUSE_WAKEUP));
	assert_true(rule_has_any_culprit(&rule));
	rule_release(&rule);
	assert_int_equal(rule_parse("delayed(api by (wakeup)) > 20%", false, &rule, NULL), 0);
	assert_true(rule.limit.kind == LIMIT_AMOUNT && rule.limit.number == 2e8);
	assert_false(rule_counts_culprit(&rule, true, "api", 3, "api", 3));
	assert_true(rule_counts_cause(&rule, LATENCY_CAUSE_WAKEUP));
	assert_false(rule_counts_cause(&rule, LATENCY_CAUSE_INTERRUPTS));
	rule_release(&rule);
	/* without `by` whoever did */
	assert_int_equal(rule_parse("delayed(api) > 1", false, &rule, NULL), 0);
	assert_true(rule_counts_cause(&rule, LATENCY_CAUSE_INTERRUPTS));
	assert_true(rule_counts_culprit(&rule, false, "x", 1, "x", 1));
	rule_release(&rule);
	assert_int_equal(rule_parse("delayed(api by backup) > 1", false, &rule, NULL), 0);
	assert_false(rule_has_any_culprit(&rule));
	rule_release(&rule);
}

static void expect_refusal(const char *text, bool of_change, const char *complaint)
{
	struct error error = {""};
	struct rule rule;

	assert_int_equal(rule_parse(text, of_change, &rule, &error), -EINVAL);
	if (strstr(error.text, complaint) == NULL || strstr(error.text, text) == NULL)
		fail_msg("'%s' does not say '%s' of '%s'", error.text, complaint, text);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text, *complaint;
	} cases[] = {
		{"", "no groups in parentheses"},
		{"run_time_ns", "no groups in parentheses"},
		{")run_time_ns(", "no groups in parentheses"},
		{"run_queue_p98_ns(w) > 1", "did you mean "},
		{"run_queue_waits_per_s(w) > 1ms", "not a number with a unit of run_queue_waits_per_s"},
		{"run_time_n(w) > 1", "did you mean run_time_ns, "},
		{"(w) > 1", "no column or metric ''"},
		{"policy(w) > 1", "policy has no number"},
		{"COMMAND(w) > 1", "COMMAND has no number"},
		{"WHERE(w) > 1", "WHERE has no number"},
		{"run_time_ns([w) > 1", "'[w' is not a valid glob"},
		{"run_time_ns(w)", "no comparison (> >= < <= = !=)"},
		{"run_time_ns(w) => 1", "no comparison"},
		{"run_time_ns(w) >", "no number"},
		{"run_time_ns(w) > ms", "no number"},
		{"run_time_ns(w) > .", "no number"},
		{"run_time_ns(w) > nan", "no number"},
		{"run_time_ns(w) > inf", "no number"},
		{"run_time_ns(w) > 0x10", "'0x10' is not a number"},
		{"run_time_ns(w) > 1e3", "'1e3' is not a number"},
		{"run_time_ns(w) > 10MiB",
		 "'10MiB' is not a number with a unit of run_time_ns; units are ns, us, "},
		{"run_time_ns(w) > 10 ms 3", "'10 ms 3'"},
		{"read_bytes(w) > 10ms", "units are B, K, k, KiB,"},
		{"minflt(w) > 1KiB", "units are k, K, M, G, T"},
		{"run_time_ns(w) > 1ticks", "'1ticks'"},
		{"cpu_efficiency(w) > 10%", "is a ratio"},
		{"QSHARE%(w) > 10%", "is a ratio"},
		{"cpu_efficiency(w) > 10ms", "units are %"},
		{"after:P99(w) > 20%", "not a number with a unit of P99"},
		{"before:run_time_ns(w) > 10", "no column or metric 'before:run_time_ns'"},
		{"STUCK(*) > 2s", "STUCK counts threads and takes no unit"},
		{"long_waits(*) > 2s", "units are k, K, M, G, T"},
		{"psi.cpu > 20", "ctop record --when"},
		{"delayed(a by b)", "no comparison (> >= < <= = !=)"},
		{"delayed(a by b) > x", "no number"},
		{"delayed(a by b) > 2 MiB", "write 0.2, 200ms or 20%"},
		{"delayed(a by [b) > 2", "'[b' is not a valid glob"},
		{"delayed(process:a by cgroup:b) > 2", "groups of one kind"},
		{"delayed > 2", "no groups in parentheses"},
		/* groups that cannot be read */
		{"CPU%() > 1", "a name is missing; * stands for all"},
		{"CPU%(process:) > 1", "a name is missing"},
		{"CPU%(\"\") > 1", "a name is missing"},
		{"CPU%(\"api) > 1", "one \" before it and one after it"},
		{"CPU%(api\") > 1", "one \" before it and one after it"},
		{"CPU%(\"a\"b\") > 1", "one \" before it and one after it"},
		{"CPU%(a of b of c) > 1", "'of' joins threads and their process"},
		{"CPU%(process:w of api) > 1", "'of' joins threads and their process"},
		{"CPU%(w of thread:api) > 1", "'of' joins threads and their process"},
		{"CPU%(w of [api) > 1", "'[api' is not a valid glob"},
		{"delayed(w of api by b) > 1", "leave out 'of'"},
		{"delayed(api by w of b) > 1", "leave out 'of'"},
		{"delayed(api by \"b) > 1", "one \" before it"},
		/* a number of another kind */
		{"CGCPU%(process:web) > 1", "CGCPU% is a number of cgroups"},
		{"MEMMAX(thread:w*) > 1G", "MEMMAX is a number of cgroups"},
		{"cgroup_cpu(w of web) > 1", "is a number of cgroups"},
		/* limits that no number can pass */
		{"after:RSS(w) < 0", "can never hold: RSS is never below 0"},
		{"after:CPU%(w) <= -1ms", "is never below 0"},
		{"after:minflt(w) = -1", "is never below 0"},
		{"after:delayed(a by b) < 0", "can never hold: delayed is never below 0"},
		{"CPU%(w) < -100%", "the change of CPU% is never below -100%"},
		{"RSS(w) <= -100.5%", "is never below -100%"},
		{"delayed(a by b) < -120%", "is never below -100%"},
		{"after:QSHARE%(w) > 100", "is never above 100"},
		{"after:cpu_efficiency(w) > 100%", "is never above 1"},
		{"QSHARE%(w) > 100", "the change of QSHARE% is never above 100"},
		{"cpu_efficiency(w) < -1", "the change of cpu_efficiency is never below -1"},
	};
	/* and limits that some can pass */
	static const char *const possible[] = {
		"after:RSS(w) <= 0",     "after:RSS(w) != -1",
		"RSS(w) < -1G",          "CPU%(w) <= -100%",
		"after:nice(w) < 0",     "after:live_heap_estimate(w) < 0",
		"after:QSHARE%(w) > 99", "after:cpu_efficiency(w) >= 1",
		"after:NET/s(w) < 0",    "after:LIVE(w) < 0",
	};
	static const struct {
		const char *text, *complaint;
	} of_recordings[] = {
		{"RSS(*) > 8 apples", "units are B, K,"},
		{"RSS(*) > 8%", "units are B, K,"},
		{"WAITING(*) > 8%", "not a number with a unit of WAITING"},
		{"after:CPU%(*) > 2h", "after: is of comparisons"},
		{"psi.cpu", "there is no >"},
		{"psi.cpu = 1", "there is no >"},
		{"psi.cpus > 1", "no such pressure"},
		{"psi.irq > 1", "no such pressure"},
		{"psi.cpu > x", "not a number"},
		{"psi.cpu > 20 ms", "not a number"},
		{"psi.cpu > 101", "0 to 100"},
		{"psi.cpu > 100", "can never hold"},
		{"psi.memory < 0", "can never hold"},
		{"RSS(*) < 0", "can never hold: RSS is never below 0"},
		{"CGCPU%(process:web) > 1", "is a number of cgroups"},
		{"CPU%(a of b of c) > 1", "'of' joins threads and their process"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		expect_refusal(cases[i].text, true, cases[i].complaint);
	for (size_t i = 0; i < ARRAY_COUNT(of_recordings); i++)
		expect_refusal(of_recordings[i].text, false, of_recordings[i].complaint);
	for (size_t i = 0; i < ARRAY_COUNT(possible); i++) {
		struct error error = {""};
		struct rule rule;

		if (rule_parse(possible[i], true, &rule, &error) != 0)
			fail_msg("%s", error.text);
		rule_release(&rule);
	}
}

/* Digits that a double still holds, until the unit comes. */
static void test_large_limit(void **state)
{
	char text[400] = "run_time_ns(w) > 1";
	struct rule rule;

	(void)state;
	memset(text + strlen(text), '0', 307);
	assert_int_equal(rule_parse(text, true, &rule, NULL), 0);
	rule_release(&rule);
	strcat(text, "s");
	assert_int_equal(rule_parse(text, true, &rule, NULL), -EINVAL);
}

/* The grammar that is printed: every example is a rule, of a comparison or of a recording. */
static void test_help(void **state)
{
	(void)state;
	assert_non_null(rule_words[0].word);
	for (const struct rule_help *example = rule_examples; example->word != NULL; example++) {
		const bool of_change = strstr(example->description, "--fail-if") != NULL;
		const bool of_value = strstr(example->description, "--when") != NULL;
		struct error error = {""};
		struct rule rule;

		if ((of_change || !of_value) && rule_parse(example->word, true, &rule, &error) == 0)
			rule_release(&rule);
		else if (of_change || !of_value)
			fail_msg("%s", error.text);
		if (of_value && rule_parse(example->word, false, &rule, &error) == 0)
			rule_release(&rule);
		else if (of_value)
			fail_msg("%s", error.text);
	}
}

/* Every column that has a number can be named by its title, its name and, where it is one, its field. */
static void test_names(void **state)
{
	size_t count = 0;

	(void)state;
	for (enum column column = 0; column < COLUMN_TASK_FIELDS; column++) {
		const struct column_entry *entry = column != COLUMN_COUNT &&
								   column != column_of_stored(
										     METRIC_THREAD_COUNT)
							   ? column_entry(column)
							   : NULL;
		const char *names[] = {entry != NULL ? entry->name : NULL,
				       entry != NULL ? entry->rate_title : NULL};

		for (size_t i = 0; entry != NULL && i < ARRAY_COUNT(names); i++) {
			struct error error = {""};
			char text[200];
			struct rule rule;

			snprintf(text, sizeof(text), "%s(*) > 0", names[i]);
			if (rule_parse(text, true, &rule, &error) == 0) {
				count++;
				rule_release(&rule);
			} else if (strstr(error.text, "has no number") == NULL) {
				fail_msg("%s", error.text);
			}
		}
	}
	assert_true(count > 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),      cmocka_unit_test(test_groups),
		cmocka_unit_test(test_pressure),    cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_large_limit), cmocka_unit_test(test_names),
		cmocka_unit_test(test_delayed),     cmocka_unit_test(test_pools),
		cmocka_unit_test(test_bounds),      cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
