/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include "tests/cmocka_include.h"

#include <string.h>

#include "metric/nearest.h"
#include "metric/selection.h"

static size_t count_true(const bool *flags, size_t count)
{
	size_t set = 0;

	for (size_t i = 0; i < count; i++)
		set += flags[i];
	return set;
}

static void test_sections(void **state)
{
	bool selected[SECTION_COUNT];
	struct error error;

	(void)state;
	assert_int_equal(selection_parse_sections(NULL, selected, &error), 0);
	assert_int_equal(count_true(selected, SECTION_COUNT), SECTION_COUNT);
	assert_int_equal(selection_parse_sections(" Primary ,PRESSURE", selected, &error), 0);
	assert_int_equal(count_true(selected, SECTION_COUNT), 2);
	assert_true(selected[SECTION_PRIMARY] && selected[SECTION_PRESSURE]);
	assert_int_equal(selection_parse_sections("primary,primary", selected, &error), -EINVAL);
	assert_string_equal(error.text, "section 'primary' is named twice");
	assert_int_equal(selection_parse_sections("primary,", selected, &error), -EINVAL);
	assert_string_equal(error.text,
			    "unknown section ''; valid: primary, taskstats-delay, derived, cgroup-stats, "
			    "cgroup-limits, memory-stat, memory-events, pressure, host-pressure, "
			    "smaps-rollup, sched-ext, latency, blame, scx, "
			    "cgroup-io, time");
	assert_int_equal(selection_parse_sections("", selected, &error), -EINVAL);
	assert_int_equal(selection_parse_sections("derrived", selected, &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean 'derived'?"));
}

static void test_metrics(void **state)
{
	bool selected[METRIC_COUNT], derived[DERIVED_COUNT];
	struct selected_fields fields;
	struct error error;

	(void)state;
	assert_int_equal(selection_parse_metrics(NULL, selected, derived, &fields, &error), 0);
	assert_int_equal(count_true(selected, METRIC_COUNT), METRIC_COUNT);
	assert_int_equal(count_true(derived, DERIVED_COUNT), DERIVED_COUNT);
	assert_true(selected_fields_has(&fields, "scx.anything"));
	assert_int_equal(selection_parse_metrics("nice, avg_wait_ns ", selected, derived, &fields, &error),
			 0);
	assert_int_equal(count_true(selected, METRIC_COUNT), 1);
	assert_int_equal(count_true(derived, DERIVED_COUNT), 1);
	assert_true(selected[METRIC_NICE] && derived[DERIVED_AVG_WAIT_NS]);
	assert_false(selected_fields_has(&fields, "scx.weight"));
	/* which fields there are only a snapshot can say */
	assert_int_equal(selection_parse_metrics("scx.weight,nice, scx.inner.rate", selected, derived,
						 &fields, &error),
			 0);
	assert_int_equal(count_true(selected, METRIC_COUNT), 1);
	assert_true(selected_fields_has(&fields, "scx.weight"));
	assert_true(selected_fields_has(&fields, "scx.inner.rate"));
	assert_false(selected_fields_has(&fields, "scx.rate"));
	/* names are exact */
	assert_int_equal(selection_parse_metrics("Nice", selected, derived, &fields, &error), -EINVAL);
	assert_non_null(
		strstr(error.text, "unknown metric 'Nice', did you mean 'nice'? valid: thread_count, "));
	assert_non_null(strstr(error.text, ", total_offcpu_delay_ns"));
}

static void test_sort_keys(void **state)
{
	struct sort_keys keys;
	struct error error;

	(void)state;
	assert_int_equal(selection_parse_sort_keys(NULL, &keys, &error), 0);
	assert_int_equal(keys.count, 0);
	assert_int_equal(
		selection_parse_sort_keys("wait_time_ns, nice : ASC ,cpu_efficiency:Desc", &keys, &error), 0);
	assert_int_equal(keys.count, 3);
	assert_int_equal(keys.items[0].metric, METRIC_WAIT_TIME_NS);
	assert_false(keys.items[0].ascending);
	assert_int_equal(keys.items[1].metric, METRIC_NICE);
	assert_true(keys.items[1].ascending);
	assert_int_equal(keys.items[2].metric, METRIC_NONE);
	assert_int_equal(keys.items[2].derived, DERIVED_CPU_EFFICIENCY);
	assert_false(keys.items[2].ascending);
}

static void test_refused_sort_keys(void **state)
{
	static const struct {
		const char *text, *sentence;
	} refusals[] = {
		{"policy", "cannot sort by 'policy': it is a category and has no order"},
		{"state", "cannot sort by 'state': it is a category and has no order"},
		{"ext_enabled:asc", "cannot sort by 'ext_enabled': it is a category and has no order"},
		{"nice,nice:asc", "metric 'nice' is named twice"},
		{"nice:", "unknown direction ''; valid: asc, desc"},
		{"nice:dess", "unknown direction 'dess', did you mean 'desc'? valid: asc, desc"},
	};
	struct sort_keys keys;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		assert_int_equal(selection_parse_sort_keys(refusals[i].text, &keys, &error), -EINVAL);
		assert_string_equal(error.text, refusals[i].sentence);
	}
	assert_int_equal(selection_parse_sort_keys("nice,,minflt", &keys, &error), -EINVAL);
	assert_int_equal(selection_parse_sort_keys(":asc", &keys, &error), -EINVAL);
	assert_int_equal(selection_parse_sort_keys("run_time", &keys, &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean 'run_time_ns'?"));
}

static void test_columns(void **state)
{
	static const char *const names[] = {"group", "value", "tags"};
	size_t columns[3], count;
	struct error error;

	(void)state;
	assert_int_equal(selection_parse_columns("tags, group", names, 3, 3, columns, &count, &error), 0);
	assert_int_equal(count, 2);
	assert_int_equal(columns[0], 2);
	assert_int_equal(columns[1], 0);
	assert_int_equal(selection_parse_columns("tags,tags", names, 3, 3, columns, &count, &error), -EINVAL);
	assert_int_equal(selection_parse_columns("vlaue", names, 3, 3, columns, &count, &error), -EINVAL);
	assert_string_equal(error.text,
			    "unknown column 'vlaue', did you mean 'value'? valid: group, value, tags");
}

static void finds_the_nearest_name(void **state)
{
	static const char *const names[] = {"run_time_ns", "wait_time_ns", "timeslices", "primary"};

	(void)state;
	assert_string_equal(nearest_name("run_tiem_ns", names, 4), "run_time_ns");
	assert_string_equal(nearest_name("Primary", names, 4), "primary");
	assert_string_equal(nearest_name("timeslice", names, 4), "timeslices");
	assert_null(nearest_name("zzzzzzzz", names, 4));
	assert_null(nearest_name("", names, 4));
	assert_null(nearest_name("x", names, 0));
	/* two of three letters wrong is no slip */
	assert_null(nearest_name("foo", (const char *const[]){"io", "overview"}, 2));
	assert_string_equal(nearest_name("oi", (const char *const[]){"io", "overview"}, 2), "io");
}

static void chooses_by_a_beginning(void **state)
{
	static const char *const names[] = {"memory", "metrics", "mem", "all", "scx", "SCX"};
	struct error error = {""};
	size_t index = 0;

	(void)state;
	assert_int_equal(nearest_choose(&error, "tab", "MEM", names, 6, &index), 0);
	assert_int_equal(index, 2);
	assert_int_equal(nearest_choose(&error, "tab", "a", names, 6, &index), 0);
	assert_int_equal(index, 3);
	assert_int_equal(nearest_choose(&error, "tab", "sc", names, 6, &index), 0);
	assert_int_equal(index, 4);
	assert_int_equal(nearest_choose(&error, "tab", "me", names, 6, &index), -EINVAL);
	assert_string_equal(error.text, "tab 'me' may be any of memory, metrics, mem");
	assert_int_equal(nearest_choose(&error, "tab", "", names, 2, &index), -EINVAL);
	assert_string_equal(error.text, "unknown tab ''; valid: memory, metrics");
	assert_int_equal(nearest_choose(&error, "tab", "memroy", names, 2, &index), -EINVAL);
	assert_string_equal(error.text,
			    "unknown tab 'memroy', did you mean 'memory'? valid: memory, metrics");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_nearest_name), cmocka_unit_test(chooses_by_a_beginning),
		cmocka_unit_test(test_sections),          cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_sort_keys),         cmocka_unit_test(test_refused_sort_keys),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
