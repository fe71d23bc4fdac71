/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of comparisons in every format, compared with files in golden/: two real captures written by
 * another program, two made ones of one boot with everything that ctop adds, and two windows. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_include.h"
#include "compare/comparability.h"
#include "compare/diff_harm.h"
#include "compare/diff_rule.h"
#include "compare/tables.h"
#include "diff/pair_fixture.h"
#include "golden.h"
#include "html_check.h"
#include "report/report.h"
#include "store/ctprof.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A comparison to be drawn in every format, or as text alone. */
struct drawing {
	const char *golden; /* its name without the ending */
	const char *ascii;  /* else a text that it has where a terminal knows ASCII alone */
	struct snapshot *snapshots[DIFF_SIDE_COUNT];
	enum axis axis;
	struct tables_request request;
	bool by_thread, rates, as_text, for_ktstr;
	int width; /* of the terminal that is drawn to; 0 for a file */
	const char *const *rules;
	size_t rule_count;
};

static void draw(void *context, const struct table *table)
{
	report_table(context, table);
}

static void compare_format(const struct drawing *drawing, enum report_format format, const struct diff *diff,
			   const struct report_subject *subject)
{
	struct tables_request request = drawing->request;
	struct buffer out = {0};
	struct report report = {
		.format = format,
		.out = &out,
		.snapshot = drawing->snapshots[DIFF_AFTER],
		.before = drawing->snapshots[DIFF_BEFORE],
		.dialect = diff->options.dialect,
		.ascii = drawing->ascii != NULL,
		.to_terminal = drawing->width != 0,
		.width = drawing->width,
	};
	char name[64];

	/* as `ctop diff` does */
	if (!drawing->for_ktstr && !report_format_is_for_people(format))
		request.is_long = request.all = true;
	report_begin(&report, subject);
	tables_make(diff, &request, draw, &report);
	report_end(&report);
	if (report.format == REPORT_FORMAT_HTML && html_check(out.data, out.length) != NULL)
		fail_msg("%s", html_check(out.data, out.length));
	if (drawing->ascii != NULL) {
		assert_non_null(strstr(out.data, drawing->ascii));
	} else {
		snprintf(name, sizeof(name), "%s%s", drawing->golden, report_format_endings[format]);
		golden_compare(name, &out);
	}
	buffer_release(&out);
}

static void judge(const struct drawing *drawing, const struct diff *diff, struct diff_rule_outcomes *outcomes)
{
	for (size_t i = 0; i < drawing->rule_count; i++) {
		struct rule rule;
		struct error error;

		assert_int_equal(rule_parse(drawing->rules[i], true, &rule, &error), 0);
		diff_rules_judge(&rule, 1, diff, false, outcomes);
		rule_release(&rule);
	}
}

static void compare_all_formats(struct drawing *drawing)
{
	struct diff_options options = {.grouping = {.axis = drawing->axis},
				       .dialect = drawing->for_ktstr ? &dialect_ktstr : NULL,
				       .rates = drawing->rates};

	struct comparability *comparability = comparability_create(drawing->snapshots[DIFF_BEFORE],
								   drawing->snapshots[DIFF_AFTER]);
	const struct diff_summary changes = {.items = {"slower ran longer"}, .count = 1};
	struct diff_rule_outcomes outcomes = {0};
	struct diff_match *match = NULL;
	struct diff *diff;

	if (drawing->by_thread) {
		match = diff_match_create(drawing->snapshots[DIFF_BEFORE], drawing->snapshots[DIFF_AFTER],
					  NULL);
		assert_non_null(match);
		options.match = match;
		options.by_threads = true;
	}
	diff = diff_create(drawing->snapshots[DIFF_BEFORE], drawing->snapshots[DIFF_AFTER], &options);
	judge(drawing, diff, &outcomes);
	for (enum report_format format = 0; format < REPORT_FORMAT_COUNT; format++) {
		if (drawing->as_text && format != REPORT_FORMAT_TEXT)
			continue;
		compare_format(drawing, format, diff,
			       &(struct report_subject){
				       .command = "diff",
				       .before_file = "first.ctprof.zst",
				       .file = "second.ctprof.zst",
				       .group_by = axes[drawing->axis].name,
				       .comparability = comparability,
				       .changes = drawing->width != 0 ? &changes : NULL,
				       .order = drawing->width != 0 ? diff_harm_words : NULL,
				       .rules = outcomes.items,
				       .rule_count = outcomes.count,
			       });
	}
	diff_rule_outcomes_release(&outcomes);
	comparability_release(comparability);
	diff_release(diff);
	diff_match_release(match);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		snapshot_release(drawing->snapshots[side]);
}

static void test_real(void **state)
{
	struct drawing drawing = {
		.golden = "real", .axis = AXIS_ALL, .request.is_long = true, .for_ktstr = true};
	struct error error;

	(void)state;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/real.%c.ctprof.zst", KTSTR_DATA, side == 0 ? 'a' : 'b');
		if (ctprof_read(path, CTPROF_DEFAULT_LIMIT, &drawing.snapshots[side], &error) < 0)
			fail_msg("%s", error.text);
	}
	memset(drawing.request.sections, true, sizeof(drawing.request.sections));
	memset(drawing.request.metrics, true, sizeof(drawing.request.metrics));
	memset(drawing.request.derived, true, sizeof(drawing.request.derived));
	drawing.request.limit = 6;
	compare_all_formats(&drawing);
}

enum {
	EARLY = 500,
	SINCE = (PAIR_BEFORE_S + 5) * 100,
};

/*
 * A pool restarted and grown, one that has begun to wait, a name that is markup, a thread that is unreadable.
 */
static const struct pair_thread before[] = {
	{"/a.slice", "app", "pool-1", 10, 11, EARLY, 900000000, 1000, 0, REASON_READ},
	{"/a.slice", "app", "pool-2", 10, 12, EARLY, 900000000, 1000, 0, REASON_READ},
	{"/a.slice", "app", "reader-1", 10, 13, EARLY, 100000, 2000, 4096, REASON_READ},
	{"/a.slice", "app", "reader-2", 10, 14, EARLY, 100000, 2000, 4096, REASON_READ},
	{"/", "<b>|`sly`", "<b>|`sly`", 20, 20, EARLY, 100, 0, 0, REASON_NOT_PERMITTED},
	{"/", "gone", "gone", 30, 30, EARLY, 7, 0, 0, REASON_READ},
};

static const struct pair_thread after[] = {
	{"/a.slice", "app", "reader-1", 10, 13, EARLY, 150000, 90002000, 1052672, REASON_READ},
	{"/a.slice", "app", "reader-2", 10, 14, EARLY, 150000, 90002000, 1052672, REASON_READ},
	{"/a.slice", "app", "pool-1", 10, 21, SINCE, 40000000, 0, 0, REASON_READ},
	{"/a.slice", "app", "pool-2", 10, 22, SINCE, 30000000, 0, 0, REASON_READ},
	{"/a.slice", "app", "pool-3", 10, 23, SINCE, 30000000, 0, 0, REASON_READ},
	{"/", "<b>|`sly`", "<b>|`sly`", 20, 20, EARLY, 90, 0, 0, REASON_NOT_PERMITTED},
	{"/", "fresh", "fresh", 40, 40, SINCE, 9, 0, 0, REASON_READ},
};

static void test_made(void **state)
{
	static const char *const rules[] = {
		"wait_time_ns(reader-*) > 10ms",
		"run_time_ns(pool-*) < 0",
		"read_bytes(<b>*) > 1K",
		"majflt(nobody) > 0",
	};
	struct drawing drawing = {
		.golden = "made",
		.snapshots = {pair_snapshot_open(PAIR_BEFORE_S, before, COUNT(before)),
			      pair_snapshot_open(PAIR_BEFORE_S + PAIR_INTERVAL_S, after, COUNT(after))},
		.axis = AXIS_ALL,
		.request =
			{
				.sections = {[SECTION_PRIMARY] = true, [SECTION_DERIVED] = true},
				.metrics = {[METRIC_RUN_TIME_NS] = true,
					    [METRIC_WAIT_TIME_NS] = true,
					    [METRIC_READ_BYTES] = true,
					    [METRIC_POLICY] = true},
				.derived = {[DERIVED_CPU_EFFICIENCY] = true},
				.display = TABLES_DISPLAY_FULL,
				.per = {true, true},
				.is_long = true,
			},
		.by_thread = true,
		.rules = rules,
		.rule_count = COUNT(rules),
	};
	struct snapshot *changed = drawing.snapshots[DIFF_AFTER];

	(void)state;
	changed->host.kernel_release = "6.12.1<i>";
	changed->provenance.features[FEATURE_DELAYS] = (struct feature_result){.state = FEATURE_STATE_OFF,
									       .reason = REASON_SWITCHED_OFF};
	snapshot_finish(drawing.snapshots[DIFF_BEFORE]);
	snapshot_finish(changed);
	compare_all_formats(&drawing);
}

enum {
	PARTS = 12, /* of a second each */
	WINDOW_THREADS = 6,
};

/* How many ms a thread ran in each part: about the same, `spread` off by turns. */
static void fill_parts(uint64_t parts[PARTS], uint64_t run_ms, uint64_t spread)
{
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = run_ms + (i % 3) * spread;
}

/* A window in which threads ran so long in each part. */
static struct snapshot *make_window(uint64_t from_s, const struct pair_thread threads[WINDOW_THREADS],
				    const uint64_t run_ms[WINDOW_THREADS],
				    const uint64_t read_bytes[WINDOW_THREADS])
{
	uint64_t parts[WINDOW_THREADS][PARTS];
	struct pair_thread end[WINDOW_THREADS];
	struct snapshot *now;

	for (size_t i = 0; i < WINDOW_THREADS; i++) {
		fill_parts(parts[i], run_ms[i], 1 + run_ms[i] / 50);
		end[i] = threads[i];
		for (size_t k = 0; k < PARTS; k++)
			end[i].run_time_ns += parts[i][k] * 1000000;
		end[i].read_bytes += read_bytes[i];
	}
	now = pair_window(from_s, threads, from_s + PARTS, end, WINDOW_THREADS);
	pair_window_add_parts(now, end, WINDOW_THREADS, *parts, PARTS);
	return now;
}

/*
 * Two windows: `steady` goes on as before, `slower` runs twice as long, `reader` reads more, of which the
 * parts know nothing, and `<i>|` is unreadable; `gone` and `ended` are in the first window only, `fresh` and
 * `brief` in the second. What `ended` and `brief` ran is below the floor.
 */
static void compare_windows(const char *golden, const char *ascii, bool is_long, int width)
{
	static const struct pair_thread first[WINDOW_THREADS] = {
		{"/", "steady", "steady", 10, 10, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "slower", "slower", 11, 11, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "reader", "reader", 12, 12, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "<i>|", "<i>|", 13, 13, EARLY, 900000000, 0, 0, REASON_NOT_PERMITTED},
		{"/", "gone", "gone", 14, 14, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "gone", "gone", 15, 15, EARLY, 900000000, 0, 0, REASON_READ},
	};
	static const struct pair_thread second[WINDOW_THREADS] = {
		{"/", "steady", "steady", 10, 10, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "slower", "slower", 11, 11, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "reader", "reader", 12, 12, EARLY, 900000000, 0, 0, REASON_READ},
		{"/", "<i>|", "<i>|", 13, 13, EARLY, 900000000, 0, 0, REASON_NOT_PERMITTED},
		{"/", "fresh", "fresh", 16, 16, SINCE, 0, 0, 0, REASON_READ},
		{"/", "brief", "brief", 17, 17, SINCE, 0, 0, 0, REASON_READ},
	};
	struct drawing drawing = {
		.golden = golden,
		.ascii = ascii,
		.snapshots = {make_window(PAIR_BEFORE_S, first, (const uint64_t[]){100, 200, 50, 20, 300, 30},
					  (const uint64_t[]){0, 0, 1 << 20, 0, 0, 4096}),
			      make_window(PAIR_BEFORE_S + PARTS, second,
					  (const uint64_t[]){101, 400, 51, 20, 250, 1},
					  (const uint64_t[]){0, 0, 12 << 20, 0, 4096, 0})},
		.axis = AXIS_PROCESS,
		.request =
			{
				.sections = {[SECTION_PRIMARY] = true, [SECTION_DERIVED] = true},
				.metrics = {[METRIC_RUN_TIME_NS] = true,
					    [METRIC_READ_BYTES] = true,
					    [METRIC_POLICY] = true},
				.derived = {[DERIVED_CPU_EFFICIENCY] = true},
				.display = TABLES_DISPLAY_FULL,
				.is_long = is_long,
			},
		.rates = true,
		.as_text = is_long || ascii != NULL || width != 0,
		.width = width,
	};

	pair_window_add_ended(drawing.snapshots[DIFF_BEFORE], "/", "ended", 1000000);
	compare_all_formats(&drawing);
}

static void test_windows(void **state)
{
	(void)state;
	compare_windows("windows", NULL, false, 0);
}

/* A row for each metric for people, who get those whose change is not real as a number of them. */
static void test_long_windows(void **state)
{
	(void)state;
	compare_windows("windows-long", NULL, true, 0);
}

static void test_ascii_windows(void **state)
{
	(void)state;
	compare_windows(NULL, "  #20.5 -> 40.9  ", false, 0);
}

/* Lines that fit, and the largest changes last. */
static void test_terminal(void **state)
{
	(void)state;
	compare_windows("windows-terminal", NULL, false, 60);
}

/* Expects two texts in what is drawn, the one before the other. */
static void expect_order(const struct buffer *out, const char *first, const char *second)
{
	const char *at = strstr(out->data, first), *other = strstr(out->data, second);

	if (at == NULL || other == NULL || at > other)
		fail_msg("no '%s' before '%s' in: %s", first, second, out->data);
}

/* The row of a group that broke a rule comes first and is marked, even if nothing changed in it. */
static void test_marked_rows(void **state)
{
	static const struct pair_thread first[] = {
		{"/", "bigger", "bigger", 10, 10, EARLY, 1000000000, 0, 0, REASON_READ},
		{"/", "steady", "steady", 20, 20, EARLY, 5000000, 0, 0, REASON_READ},
	};
	static const struct pair_thread second[] = {
		{"/", "bigger", "bigger", 10, 10, EARLY, 9000000000, 0, 0, REASON_READ},
		{"/", "steady", "steady", 20, 20, EARLY, 5000000, 0, 0, REASON_READ},
	};
	static const char *const marked[REPORT_FORMAT_COUNT] = {
		[REPORT_FORMAT_TEXT] = "\n! steady ",
		[REPORT_FORMAT_MARKDOWN] = "\n| **!** `steady` |",
		[REPORT_FORMAT_HTML] = "<strong title=\"broke a rule\">!</strong> steady</td>",
		[REPORT_FORMAT_JSON] = "\"broke_rule\":true}",
	};
	static const char *const others[REPORT_FORMAT_COUNT] = {
		[REPORT_FORMAT_TEXT] = "\n  bigger ",
		[REPORT_FORMAT_MARKDOWN] = "\n| `bigger` |",
		[REPORT_FORMAT_HTML] = ">bigger</td>",
		[REPORT_FORMAT_JSON] = "\"bigger\"",
	};
	struct snapshot *before_window = pair_snapshot(PAIR_BEFORE_S, first, COUNT(first));
	struct snapshot *after_window = pair_snapshot(PAIR_BEFORE_S + PAIR_INTERVAL_S, second, COUNT(second));
	const struct diff_options options = {.grouping = {.axis = AXIS_PROCESS}};
	struct diff *diff = diff_create(before_window, after_window, &options);
	const char *const rules[] = {"after:run_time_ns(steady) > 1ms"};
	struct drawing drawing = {
		.request = {.sections = {[SECTION_PRIMARY] = true}, .metrics = {[METRIC_RUN_TIME_NS] = true}},
		.rules = rules,
		.rule_count = COUNT(rules),
	};
	struct diff_rule_outcomes outcomes = {0};

	(void)state;
	judge(&drawing, diff, &outcomes);
	assert_true(outcomes.broken);
	for (enum report_format format = 0; format < REPORT_FORMAT_COUNT; format++) {
		struct tables_request request = drawing.request;
		struct buffer out = {0};
		struct report report = {
			.format = format,
			.out = &out,
			.snapshot = after_window,
			.before = before_window,
			.dialect = diff->options.dialect,
		};

		if (marked[format] == NULL)
			continue;
		request.broke_rule = outcomes.broke_rule;
		request.is_long = request.all = !report_format_is_for_people(format);
		report_begin(&report, &(struct report_subject){.command = "diff",
							       .before_file = "first",
							       .file = "second",
							       .group_by = axes[AXIS_PROCESS].name});
		tables_make(diff, &request, draw, &report);
		report_end(&report);
		expect_order(&out, marked[format], others[format]);
		buffer_release(&out);
	}
	diff_rule_outcomes_release(&outcomes);
	diff_release(diff);
	snapshot_release(before_window);
	snapshot_release(after_window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),          cmocka_unit_test(test_made),
		cmocka_unit_test(test_windows),       cmocka_unit_test(test_long_windows),
		cmocka_unit_test(test_ascii_windows), cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_marked_rows),
	};

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
		printf("SKIP: no locale C.UTF-8\n");
		return 77;
	}
	return cmocka_run_group_tests_name("comparison", tests, NULL, NULL);
}
