/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_include.h"
#include "compare/tables.h"
#include "diff/delay_fixture.h"
#include "diff/diff_sides.h"
#include "diff/scx_fixture.h"
#include "table/cell_format.h"
#include "table/screen_format.h"

/* Appends a cell as a report for people or for programs has it, without its own mark of a bound. */
static void append_cell(struct buffer *out, struct cell cell, bool to_people)
{
	static const struct screen_marks marks = {
		.unavailable = "·", .at_least = "≥", .arrow = " → ", .real = "≠"};

	cell.partial = false;
	if (to_people)
		screen_format_cell(out, &cell, &marks);
	else
		cell_format_cell(out, &cell);
}

/* Draws a table into a buffer: "# SECTION", for the wide table its titles, then a line for each row. */
static void draw(void *context, const struct table *table)
{
	struct buffer *out = context;
	const bool is_wide = strcmp(table->section, "groups") == 0;

	if (!table->continues)
		buffer_append_format(out, "# %s\n", table->heading != NULL ? table->heading : table->section);
	for (size_t i = 0; is_wide && i < table->column_count; i++)
		buffer_append_format(out, "%s%s", table->columns[i].name,
				     i + 1 < table->column_count ? ", " : "\n");
	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t j = 0; j < table->column_count; j++) {
			buffer_append_text(out, j != 0 ? ", " : "");
			append_cell(out, table->rows[i].cells[j], is_wide);
		}
		buffer_append_char(out, '\n');
	}
	if (table->row_total > table->row_count + table->rows_before && !table->more)
		buffer_append_format(out, "(%zu more)\n", table->row_total - table->row_count);
	if (table->row_folded != 0)
		buffer_append_format(out, "(%zu did not change)\n", table->row_folded);
}

/* The request of a test: at first all sections and no metric, turned, in ktstr's dialect. */
static struct tables_request request;
static const struct dialect *dialect;

static int open_sides(void **state)
{
	request = (struct tables_request){.display = TABLES_DISPLAY_ARROW, .is_long = true};
	dialect = &dialect_ktstr;
	memset(request.sections, true, sizeof(request.sections));
	return diff_fixture_begin(state);
}

/* Asks for one section alone, SECTION_COUNT for none. */
static void choose(enum section section)
{
	memset(request.sections, false, sizeof(request.sections));
	if (section != SECTION_COUNT)
		request.sections[section] = true;
}

static void choose_columns(const char *names)
{
	struct error error;

	assert_int_equal(tables_parse_columns(names, before != NULL ? 2 : 1, &request, &error), 0);
}

static char *draw_all(void)
{
	struct buffer out = {0};

	diff->options.dialect = dialect;
	tables_make(diff, &request, draw, &out);
	return buffer_steal(&out);
}

static void expect(const char *expected)
{
	char *got = draw_all();

	assert_string_equal(got, expected);
	free(got);
}

struct example {
	const char *cgroup, *process, *thread;
	uint64_t before, after;
};

static const struct example examples[] = {
	{"/app/db", "db", "reader", 10, 20},   /* +100% */
	{"/app/web", "web", "worker", 10, 90}, /* +800% */
	{"/app/web", "web", "main", 0, 3},     /* from nothing */
	{"", "idle", "idle", 5, 5},
	{"/", "init", "init", 10, 15}, /* +50% */
};

static void add_examples(size_t count)
{
	for (size_t i = 0; i < count; i++)
		diff_fixture_add_both(examples[i].cgroup, examples[i].process, examples[i].thread,
				      METRIC_RUN_TIME_NS, examples[i].before, examples[i].after);
}

static void test_what_changed_most_comes_first(void **state)
{
	(void)state;
	add_examples(5);
	diff_fixture_compare(AXIS_THREAD);
	request.metrics[METRIC_RUN_TIME_NS] = true;
	expect("# primary\n"
	       "main, 1, run_time_ns, 0ns → 3ns, +3ns, -, 0%\n"
	       "worker, 1, run_time_ns, 10ns → 90ns, +80ns, +800.0%, 0%\n"
	       "reader, 1, run_time_ns, 10ns → 20ns, +10ns, +100.0%, 0%\n"
	       "init, 1, run_time_ns, 10ns → 15ns, +5ns, +50.0%, 0%\n"
	       "idle, 1, run_time_ns, 5ns → 5ns, +0ns, +0.0%, 0%\n");
	request.limit = 2;
	expect("# primary\n"
	       "main, 1, run_time_ns, 0ns → 3ns, +3ns, -, 0%\n"
	       "worker, 1, run_time_ns, 10ns → 90ns, +80ns, +800.0%, 0%\n"
	       "(3 more)\n");
}

/* ktstr lists them apart from the rows of groups that both have. */
static void test_lists_of_one_side(void **state)
{
	(void)state;
	add_examples(5);
	diff_fixture_add(after, "/app/new", "fresh", "t", 1);
	diff_fixture_add(before, "/app/old", "gone", "t", 1);
	diff_fixture_add(before, "/app/old", "gone", "u", 1);
	diff_fixture_compare(AXIS_ALL);
	request.metrics[METRIC_RUN_TIME_NS] = true;
	request.display = TABLES_DISPLAY_DELTA_ONLY;
	expect("# primary\n"
	       "/app/web | web | main, 1, run_time_ns, +3ns, -\n"
	       "/app/web | web | worker, 1, run_time_ns, +80ns, +800.0%\n"
	       "/app/db | db | reader, 1, run_time_ns, +10ns, +100.0%\n"
	       "/ | init | init, 1, run_time_ns, +5ns, +50.0%\n"
	       " | idle | idle, 1, run_time_ns, +0ns, +0.0%\n"
	       "# only-baseline\n"
	       "/app/old | gone | t\n"
	       "/app/old | gone | u\n"
	       "# only-candidate\n"
	       "/app/new | fresh | t\n");
	request.limit = 1;
	expect("# primary\n"
	       "/app/web | web | main, 1, run_time_ns, +3ns, -\n"
	       "(4 more)\n"
	       "# only-baseline\n"
	       "/app/old | gone | t\n"
	       "(1 more)\n"
	       "# only-candidate\n"
	       "/app/new | fresh | t\n");
}

/* ktstr has cgroups below their parents in sorted order, the empty cgroup apart from the root; derived rows
 * in one order. The limit counts all rows. */
static void test_parents(void **state)
{
	(void)state;
	add_examples(5);
	diff_fixture_compare(AXIS_CGROUP);
	request.metrics[METRIC_RUN_TIME_NS] = true;
	request.display = TABLES_DISPLAY_PERCENT_ONLY;
	expect("# primary\n"
	       ", 1, run_time_ns, +0.0%\n"
	       "/, 1, run_time_ns, +50.0%\n"
	       "/app/web, 2, run_time_ns, +830.0%\n"
	       "/app/db, 1, run_time_ns, +100.0%\n");
	request.limit = 3;
	expect("# primary\n"
	       ", 1, run_time_ns, +0.0%\n"
	       "/, 1, run_time_ns, +50.0%\n"
	       "/app/web, 2, run_time_ns, +830.0%\n"
	       "(1 more)\n");
	/* ctop's own order has no parents */
	dialect = &dialect_ctop;
	request.limit = 0;
	expect("# primary\n"
	       "/app/web, 2, run_time_ns, +830.0%\n"
	       "/app/db, 1, run_time_ns, +100.0%\n"
	       "/, 1, run_time_ns, +50.0%\n"
	       ", 1, run_time_ns, +0.0%\n");
}

/* --- groups on one side only --- */

/* Groups that stayed, came and went; the one that went had the most. */
static void add_one_sided(void)
{
	add_examples(5);
	diff_fixture_set(after, diff_fixture_add(after, "/app/new", "fresh", "t", 1), METRIC_RUN_TIME_NS, 60);
	diff_fixture_set(before, diff_fixture_add(before, "/app/old", "gone", "t", 1), METRIC_RUN_TIME_NS,
			 70);
	diff_fixture_set(before, diff_fixture_add(before, "/app/old", "gone", "t", 1), METRIC_RUN_TIME_NS,
			 30);
	diff_fixture_add(after, "/app/new", "still", "t", 1);
	dialect = &dialect_ctop;
	request.is_long = false;
	request.metrics[METRIC_RUN_TIME_NS] = true;
}

/* Their rows are sorted as if they had been zero on the other side, where they have no number. */
static void test_long_rows_of_one_side(void **state)
{
	(void)state;
	add_one_sided();
	request.is_long = true;
	diff_fixture_compare(AXIS_PROCESS);
	expect("# primary\n"
	       "web, 2, run_time_ns, 10ns → 93ns, +83ns, +830.0%, 0%\n"
	       "fresh, -→1, run_time_ns, - → 60ns, -, -, \n"
	       "gone, 2→-, run_time_ns, 100ns → -, -, -, \n"
	       "db, 1, run_time_ns, 10ns → 20ns, +10ns, +100.0%, 0%\n"
	       "init, 1, run_time_ns, 10ns → 15ns, +5ns, +50.0%, 0%\n"
	       "idle, 1, run_time_ns, 5ns → 5ns, +0ns, +0.0%, 0%\n");
	/* still did nothing: its row would say so */
	request.limit = 3;
	choose_columns("group,before,after,delta,%,uptime,per-second,per-thread,spread,p,verdict");
	expect("# primary\n"
	       "web, 10ns, 93ns, +83ns, +830.0%, 0%, -, 5.00ns → 46.50ns, -, -, -\n"
	       "fresh, -, 60ns, -, -, , -, - → 60.00ns, -, -, -\n"
	       "gone, 100ns, -, -, -, , -, 50.00ns → -, -, -, -\n"
	       "(3 more)\n");
}

/* So they are by a key, one that went as what fell. */
static void test_sort_keys_of_one_side(void **state)
{
	struct error error;

	(void)state;
	add_one_sided();
	request.is_long = true;
	/* of a group on both sides, one without a number has no change either */
	before->thread_flags[0] = after->thread_flags[0] = THREAD_JEMALLOC_MEASURED;
	after->thread_flags[5] = THREAD_JEMALLOC_MEASURED;
	diff_fixture_set(after, 5, METRIC_ALLOCATED_BYTES, 7);
	diff_fixture_compare(AXIS_PROCESS);
	choose_columns("group,arrow");
	assert_int_equal(selection_parse_sort_keys("run_time_ns", &request.sort, &error), 0);
	expect("# primary\n"
	       "web, 10ns → 93ns, 10ns→93ns (+830.0%)\n"
	       "fresh, - → 60ns, -→60ns\n"
	       "db, 10ns → 20ns, 10ns→20ns (+100.0%)\n"
	       "init, 10ns → 15ns, 10ns→15ns (+50.0%)\n"
	       "idle, 5ns → 5ns, 5ns→5ns (+0.0%)\n"
	       "gone, 100ns → -, 100ns→-\n");
	assert_int_equal(selection_parse_sort_keys("run_time_ns:asc", &request.sort, &error), 0);
	request.limit = 2;
	expect("# primary\n"
	       "gone, 100ns → -, 100ns→-\n"
	       "idle, 5ns → 5ns, 5ns→5ns (+0.0%)\n"
	       "(4 more)\n");
	assert_int_equal(selection_parse_sort_keys("allocated_bytes", &request.sort, &error), 0);
	request.limit = 3;
	expect("# primary\n"
	       "fresh, - → 60ns, -→7B\n"
	       "db, 10ns → 20ns, 0B→0B\n"
	       "gone, 100ns → -, -→-\n"
	       "(3 more)\n");
}

static void test_sort_keys(void **state)
{
	struct error error;

	(void)state;
	add_examples(3);
	/* only one has a heap at all: the others come last either way */
	before->thread_flags[0] = after->thread_flags[0] = THREAD_JEMALLOC_MEASURED;
	diff_fixture_compare(AXIS_THREAD);
	request.metrics[METRIC_RUN_TIME_NS] = true;
	request.display = TABLES_DISPLAY_DELTA_ONLY;
	assert_int_equal(selection_parse_sort_keys("allocated_bytes,run_time_ns:asc", &request.sort, &error),
			 0);
	expect("# primary\n"
	       "reader, 1, run_time_ns, +10ns, +100.0%, 0B→0B\n"
	       "main, 1, run_time_ns, +3ns, -, -→-\n"
	       "worker, 1, run_time_ns, +80ns, +800.0%, -→-\n");
	assert_int_equal(selection_parse_sort_keys("allocated_bytes:asc,run_time_ns", &request.sort, &error),
			 0);
	request.limit = 2;
	expect("# primary\n"
	       "reader, 1, run_time_ns, +10ns, +100.0%, 0B→0B\n"
	       "worker, 1, run_time_ns, +80ns, +800.0%, -→-\n"
	       "(1 more)\n");
}

static void test_marks_of_what_is_not_known(void **state)
{
	(void)state;
	before->provenance.present = after->provenance.present = true;
	add_examples(3);
	for (size_t i = 0; i < 3; i++) {
		diff_fixture_set(before, i, METRIC_RCHAR, 10);
		diff_fixture_set(after, i, METRIC_RCHAR, 20);
	}
	snapshot_source_reasons(after, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(before, SOURCE_IO)[0] = REASON_NOT_PERMITTED;
	diff_fixture_compare(AXIS_PROCESS);
	request.metrics[METRIC_RCHAR] = true;
	expect("# primary\n"
	       "db, 1, rchar, · → 20B, ·, ·, 0%\n"
	       "web, 2, rchar, 20B → ≥20B, ·, ·, 0%\n");
}

static void add_memory(struct snapshot *snapshot, size_t thread, uint64_t kib)
{
	struct smaps_record *record = snapshot_add_smaps(snapshot, thread);

	record->kib.items = arena_allocate_zero(&snapshot->arena, 1, sizeof(struct key_value));
	record->kib.items[0].key = string_pool_intern(&snapshot->strings, "Rss", 3);
	record->kib.items[0].value = kib;
	record->kib.count = 1;
}

/*
 * Twelve types of threads, enough for a cgroup to be known by them; the first has memory where it is not 0.
 */
static void add_types(struct snapshot *snapshot, const char *cgroup, char letter, uint64_t kib)
{
	for (int type = 0; type < 12; type++) {
		char process[16];
		size_t thread;

		snprintf(process, sizeof(process), "%c%c", letter, 'g' + type);
		thread = diff_fixture_add(snapshot, cgroup, process, "t", 1);
		if (type == 0 && kib != 0)
			add_memory(snapshot, thread, kib);
	}
}

/* Processes of two candidates of one renamed cgroup add up. */
static void test_memory_of_renamed_cgroups(void **state)
{
	(void)state;
	add_types(before, "/old", 'p', 10);
	add_types(after, "/new-x", 'p', 10);
	add_types(after, "/new-y", 'p', 10);
	diff_fixture_compare(AXIS_ALL);
	choose(SECTION_SMAPS_ROLLUP);
	expect("# smaps-rollup\n"
	       "/old | pg, , Rss, 10.000KiB → 20.000KiB, +10.000KiB, +100.0%, \n"
	       "# Fudged cgroup matches (2 pairs)\n"
	       "/old, /new-x, /old, /new-x, 12, 100.0%, 0, , \n"
	       "/old, /new-y, /old, /new-y, 12, 100.0%, 0, , \n");
}

static void add_without_path(struct snapshot *snapshot, uint64_t kib)
{
	const size_t thread = diff_fixture_add(snapshot, "/", "kid", "kid", 1);
	struct triple triple = snapshot->triples[snapshot->triple[thread]];

	triple.cgroup = snapshot_intern_own_name(&snapshot->strings, name_gone);
	snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
	add_memory(snapshot, thread, kib);
}

static void count_own(void *context, const struct table *table)
{
	size_t *count = context;

	for (size_t i = 0; i < table->row_count; i++)
		*count += table->rows[i].is_own;
}

/* Rows of ctop's own making are told by their mark alone. */
static void test_own_rows(void **state)
{
	size_t own = 0;

	(void)state;
	add_without_path(before, 10);
	add_without_path(after, 20);
	diff_fixture_add_both("(gone)", "kid", "kid", METRIC_RUN_TIME_NS, 10, 20);
	request.metrics[METRIC_THREAD_COUNT] = true;
	diff_fixture_compare(AXIS_CGROUP);
	choose(SECTION_PRIMARY);
	expect("# primary\n"
	       "(gone), 1, thread_count, 1 → 1, +0, +0.0%, 0%\n"
	       "(gone), 1, thread_count, 1 → 1, +0, +0.0%, 0%\n");
	tables_make(diff, &request, count_own, &own);
	assert_int_equal(own, 1);
}

/* The mark of a name of ctop's own making is in no label. */
static void test_memory_without_path(void **state)
{
	(void)state;
	add_without_path(before, 10);
	add_without_path(after, 20);
	diff_fixture_compare(AXIS_ALL);
	choose(SECTION_SMAPS_ROLLUP);
	expect("# smaps-rollup\n"
	       "(gone) | kid, , Rss, 10.000KiB → 20.000KiB, +10.000KiB, +100.0%, \n");
}

/* A cgroup beside a renamed one goes by another name where it was joined, and only there: only one of the two
 * candidates' trees has its side in the same place below the root. */
static void test_memory_beside_renamed_cgroups(void **state)
{
	(void)state;
	add_types(before, "/old/deep/app", 'p', 0);
	add_memory(before, diff_fixture_add(before, "/old/side", "kid", "kid", 1), 10);
	add_types(after, "/new-x/app", 'p', 0);
	add_memory(after, diff_fixture_add(after, "/new-x/side", "kid", "kid", 1), 5);
	add_types(after, "/new-y/deep/app", 'p', 0);
	add_memory(after, diff_fixture_add(after, "/new-y/side", "kid", "kid", 1), 30);
	diff_fixture_compare(AXIS_ALL);
	choose(SECTION_SMAPS_ROLLUP);
	expect("# smaps-rollup\n"
	       "/old/side | kid, , Rss, 10.000KiB → 30.000KiB, +20.000KiB, +200.0%, \n"
	       "/new-x/side | kid, , Rss, - → 5.000KiB, -, -, \n"
	       "# Fudged cgroup matches (2 pairs)\n"
	       "/old/deep/app, /new-x/app, /old/deep, /new-x, 12, 100.0%, 1, , \n"
	       "/old/deep/app, /new-y/deep/app, /old, /new-y, 12, 100.0%, 1, , \n"
	       "# only-candidate\n"
	       "/new-x/side | kid | kid\n");
}

static void test_renames_come_in_the_order_of_their_new_names(void **state)
{
	(void)state;
	add_types(before, "/alpha", 'p', 0);
	add_types(before, "/beta", 'q', 0);
	add_types(after, "/new-x", 'q', 0);
	add_types(after, "/new-y", 'p', 0);
	diff_fixture_compare(AXIS_ALL);
	choose(SECTION_COUNT);
	expect("# Fudged cgroup matches (2 pairs)\n"
	       "/beta, /new-x, /beta, /new-x, 12, 100.0%, 0, , \n"
	       "/alpha, /new-y, /alpha, /new-y, 12, 100.0%, 0, , \n");
}

/* A row for each group that changed: both sides where they differ, `-` on a side without the group. */
static void test_wide_rows(void **state)
{
	(void)state;
	add_one_sided();
	diff_fixture_set(before, 0, METRIC_WAIT_TIME_NS, 7);
	diff_fixture_set(after, 0, METRIC_WAIT_TIME_NS, 7);
	diff_fixture_compare(AXIS_PROCESS);
	request.tab = TAB_RUN;
	expect("# groups\n"
	       "pcomm, THR, CPU, UTIME, STIME, QSHARE%, DISP, VCSW, ICSW, RUNQ, MAXTHR\n"
	       "fresh, - → 1, - → 60ns, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "gone, 2 → -, 100ns → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -\n"
	       "still, - → 1, - → 0, - → 0, - → 0, -, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "db, 1, 10ns → 20ns, 0, 0, 41.2 → 25.9, 0, 0, 0, 7ns, 0\n"
	       "web, 2, 10ns → 93ns, 0, 0, 0, 0, 0, 0, 0, 0\n"
	       "init, 1, 10ns → 15ns, 0, 0, 0, 0, 0, 0, 0, 0\n"
	       "(1 did not change)\n");
	request.limit = 2;
	expect("# groups\n"
	       "pcomm, THR, CPU, UTIME, STIME, QSHARE%, DISP, VCSW, ICSW, RUNQ, MAXTHR\n"
	       "fresh, - → 1, - → 60ns, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "gone, 2 → -, 100ns → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -\n"
	       "(4 more)\n"
	       "(1 did not change)\n");
	request.all = true;
	request.limit = 0;
	expect("# groups\n"
	       "pcomm, THR, CPU, UTIME, STIME, QSHARE%, DISP, VCSW, ICSW, RUNQ, MAXTHR\n"
	       "fresh, - → 1, - → 60ns, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "gone, 2 → -, 100ns → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -\n"
	       "still, - → 1, - → 0, - → 0, - → 0, -, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "db, 1, 10ns → 20ns, 0, 0, 41.2 → 25.9, 0, 0, 0, 7ns, 0\n"
	       "web, 2, 10ns → 93ns, 0, 0, 0, 0, 0, 0, 0, 0\n"
	       "init, 1, 10ns → 15ns, 0, 0, 0, 0, 0, 0, 0, 0\n"
	       "idle, 1, 5ns, 0, 0, 0, 0, 0, 0, 0, 0\n");
	/* the name of three parts has first what tells rows apart */
	diff_fixture_compare(AXIS_ALL);
	request.limit = 3;
	expect("# groups\n"
	       "comm, THR, CPU, UTIME, STIME, QSHARE%, DISP, VCSW, ICSW, RUNQ, MAXTHR\n"
	       "fresh t  /app/new, - → 1, - → 60ns, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "gone t  /app/old, 2 → -, 100ns → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -, 0 → -\n"
	       "still t  /app/new, - → 1, - → 0, - → 0, - → 0, -, - → 0, - → 0, - → 0, - → 0, - → 0\n"
	       "(5 more)\n");
}

/* Without any group there is no table, and without a change the number of groups. */
static void test_wide_table_without_rows(void **state)
{
	(void)state;
	dialect = &dialect_ctop;
	request.is_long = false;
	diff_fixture_compare(AXIS_PROCESS);
	expect("");
	diff_fixture_add_both("/", "idle", "idle", METRIC_RUN_TIME_NS, 5, 5);
	diff_fixture_compare(AXIS_PROCESS);
	expect("# groups\n"
	       "pcomm, THR, CPU, RUNQ, CSW, READ, WRITE, WAITED, FAULT, MIGR\n"
	       "(1 did not change)\n");
}

/* A renamed cgroup has a row that begins with what was found in it, and both names. */
static void test_wide_row_of_renamed_cgroup(void **state)
{
	(void)state;
	add_types(before, "/old", 'p', 0);
	add_types(after, "/new", 'p', 0);
	diff_fixture_set(after, 3, METRIC_RUN_TIME_NS, 9);
	diff_fixture_compare(AXIS_ALL);
	dialect = &dialect_ctop;
	request.is_long = false;
	expect("# groups\n"
	       "comm, THR, CPU, RUNQ, CSW, READ, WRITE, WAITED, FAULT, MIGR\n"
	       "pj t  /old>/new, 1, 0 → 9ns, 0, 0, 0, 0, 0, 0, 0\n"
	       "(11 did not change)\n"
	       "# Renamed cgroups (1 pair)\n"
	       "/old, /new, /old, /new, 12, 100.0%, 0, , \n");
}

/* Sides that are unavailable or lack members are marked; where all numbers of a column do, its title is. */
static void test_wide_marks(void **state)
{
	(void)state;
	before->provenance.present = after->provenance.present = true;
	add_examples(3);
	for (size_t i = 0; i < 3; i++) {
		diff_fixture_set(before, i, METRIC_READ_BYTES, 10);
		diff_fixture_set(after, i, METRIC_READ_BYTES, 20);
	}
	snapshot_source_reasons(after, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(before, SOURCE_IO)[0] = REASON_NOT_PERMITTED;
	diff_fixture_compare(AXIS_PROCESS);
	dialect = &dialect_ctop;
	request.is_long = false;
	expect("# groups\n"
	       "pcomm, THR, CPU, RUNQ, BLKIO, MWAIT, CSW, READ, WRITE, WAITED, FAULT, MIGR\n"
	       "web, 2, 10ns → 93ns, 0, 0, 0, 0, 20B → ≥20B, 0 → ≥0, 0, 0, 0\n"
	       "db, 1, 10ns → 20ns, 0, 0, 0, 0, · → 20B, · → 0, 0, 0, 0\n");
	snapshot_source_reasons(after, SOURCE_IO)[0] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(before, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	diff_fixture_compare(AXIS_PROCESS);
	expect("# groups\n"
	       "pcomm, THR, CPU, RUNQ, BLKIO, MWAIT, CSW, ≥READ, ≥WRITE, WAITED, FAULT, MIGR\n"
	       "web, 2, 10ns → 93ns, 0, 0, 0, 0, 10B → 20B, 0, 0, 0, 0\n"
	       "db, 1, 10ns → 20ns, 0, 0, 0, 0, ·, ·, 0, 0, 0\n");
}

/* --- properties --- */

static void test_pieces_read_as_the_whole(void **state)
{
	(void)state;
	diff_fixture_replace(diff_fixture_random(1, 80, true), diff_fixture_random(2, 80, true));
	memset(request.metrics, true, sizeof(request.metrics));
	memset(request.derived, true, sizeof(request.derived));
	for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
		char *whole;

		diff_fixture_compare((enum axis)axis);
		whole = draw_all();
		request.chunk_rows = 7;
		expect(whole);
		request.chunk_rows = 0;
		expect(whole); /* and the order is the same each time */
		free(whole);
	}
}

/* A report with a limit has the first of all rows, also with so many groups that they are looked at metric by
 * metric. */
static void test_limit_cuts_the_end_off(void **state)
{
	static const size_t counts[] = {50, 5000};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *whole, *part;

		diff_fixture_replace(diff_fixture_open(), diff_fixture_open());
		for (size_t j = 0; j < counts[i]; j++) {
			char name[32];

			snprintf(name, sizeof(name), "t%zu", j);
			diff_fixture_add_both("/", "p", name, METRIC_RUN_TIME_NS, 10 + j % 7,
					      10 + j * 7919 % 1000);
			diff_fixture_set(before, j, METRIC_WAIT_TIME_NS, j % 3);
			diff_fixture_set(after, j, METRIC_WAIT_TIME_NS, j % 5);
		}
		diff_fixture_compare(AXIS_THREAD_EXACT);
		choose(SECTION_PRIMARY);
		request.metrics[METRIC_RUN_TIME_NS] = request.metrics[METRIC_WAIT_TIME_NS] = true;
		request.limit = 0;
		whole = draw_all();
		request.limit = 40;
		part = draw_all();
		*strrchr(part, '(') = '\0';
		assert_memory_equal(whole, part, strlen(part));
		assert_true(strlen(part) < strlen(whole));
		free(whole);
		free(part);
	}
}

static void add_waits(struct snapshot *snapshot, const char *process, const char *thread, uint64_t wait,
		      uint64_t count)
{
	struct latency_histogram *waits;

	latency_add_record(snapshot, string_pool_intern(&snapshot->strings, process, strlen(process)),
			   string_pool_intern(&snapshot->strings, thread, strlen(thread)),
			   string_pool_intern(&snapshot->strings, "/a", 2));
	waits = &latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)->of[LATENCY_RUN_QUEUE];
	snapshot->latency.present = true;
	snapshot->latency.span_ns = 2000000000;
	waits->buckets[latency_bucket(wait)] = count;
	waits->max_ns = wait;
}

static void add_threads_that_wait(struct snapshot *snapshot, uint64_t worker_wait)
{
	snapshot->provenance.present = true;
	diff_fixture_add(snapshot, "/a", "web", "worker-1", 1);
	diff_fixture_add(snapshot, "/a", "web", "worker-2", 1);
	diff_fixture_add(snapshot, "/a", "web", "main", 1);
	add_waits(snapshot, "web", "worker-1", worker_wait, 10);
	/* a thread that is gone, and a group that has none any more */
	add_waits(snapshot, "web", "worker-3", 1000000, 2);
	add_waits(snapshot, "gone", "gone", 1000000, 2);
	add_waits(snapshot, "web", "main", 5000, 4);
}

/* Percentiles of both sides and their change, the largest of the 99th first; what has no waits has no row. */
static void test_latency(void **state)
{
	(void)state;
	add_threads_that_wait(before, 2000000);
	add_threads_that_wait(after, 8000000);
	diff_fixture_compare(AXIS_THREAD);
	choose(SECTION_LATENCY);
	choose_columns("group,metric,arrow");
	expect("# latency\n"
	       "worker-{N}, run_queue_waits_per_s, 6.00 → 6.00\n"
	       "worker-{N}, run_queue_p50_ns, 1.429ms → 5.717ms\n"
	       "worker-{N}, run_queue_p90_ns, 1.886ms → 7.543ms\n"
	       "worker-{N}, run_queue_p99_ns, 1.989ms → 7.954ms\n"
	       "worker-{N}, run_queue_max_ns, 2.000ms → 8.000ms\n"
	       "main, run_queue_waits_per_s, 2.00 → 2.00\n"
	       "main, run_queue_p50_ns, 4.548µs → 4.548µs\n"
	       "main, run_queue_p90_ns, 4.910µs → 4.910µs\n"
	       "main, run_queue_p99_ns, 4.991µs → 4.991µs\n"
	       "main, run_queue_max_ns, 5.000µs → 5.000µs\n");
	/* none where a side has not measured it */
	before->latency.present = false;
	diff_fixture_compare(AXIS_THREAD);
	expect("");
}

/* Waits that may be of any group have rows of their own, and the other groups show at least the known ones.
 */
static void test_latency_of_others(void **state)
{
	struct latency_histogram *waits;
	uint32_t name;

	(void)state;
	add_threads_that_wait(before, 2000000);
	add_threads_that_wait(after, 8000000);
	name = snapshot_intern_own_name(&after->strings, name_other);
	latency_add_record(after, name, name, name);
	waits = &latency_own_waits(&after->latency, after->latency.count - 1)->of[LATENCY_RUN_QUEUE];
	waits->buckets[latency_bucket(1000)] = 6;
	waits->max_ns = 1000;
	diff_fixture_compare(AXIS_THREAD);
	choose(SECTION_LATENCY);
	choose_columns("group,metric,arrow,delta");
	expect("# latency\n"
	       "worker-{N}, run_queue_waits_per_s, 6.00 → ≥6.00, ·\n"
	       "worker-{N}, run_queue_p50_ns, 1.429ms → ≥4.194ms, ·\n"
	       "worker-{N}, run_queue_p90_ns, 1.886ms → ≥4.194ms, ·\n"
	       "worker-{N}, run_queue_p99_ns, 1.989ms → ≥4.194ms, ·\n"
	       "worker-{N}, run_queue_max_ns, 2.000ms → ≥8.000ms, ·\n"
	       "(other), run_queue_waits_per_s, 0.00 → 3.00, +3\n"
	       "(other), run_queue_p50_ns, - → 756ns, -\n"
	       "(other), run_queue_p90_ns, - → 951ns, -\n"
	       "(other), run_queue_p99_ns, - → 995ns, -\n"
	       "(other), run_queue_max_ns, - → 1.000µs, -\n"
	       "main, run_queue_waits_per_s, 2.00 → ≥2.00, ·\n"
	       "main, run_queue_p50_ns, 4.548µs → ·, ·\n"
	       "main, run_queue_p90_ns, 4.910µs → ≥4.096µs, ·\n"
	       "main, run_queue_p99_ns, 4.991µs → ≥4.096µs, ·\n"
	       "main, run_queue_max_ns, 5.000µs → ≥5.000µs, ·\n");
}

/* `web` waits for `backup`, which is gone by the end, for its own threads and for an idle CPU. */
static void add_delays(struct snapshot *snapshot, uint64_t backup_ms)
{
	uint32_t workers[2], backup;

	delay_fixture_begin(snapshot);
	diff_fixture_add(snapshot, "/a", "web", "worker-1", 1);
	diff_fixture_add(snapshot, "/a", "web", "worker-2", 1);
	backup = delay_fixture_names(snapshot, "backup", "tar");
	workers[0] = delay_fixture_names(snapshot, "web", "worker-1");
	workers[1] = delay_fixture_names(snapshot, "web", "worker-2");
	delay_fixture_add(snapshot, workers[0], LATENCY_CAUSE_THREADS, backup, backup_ms / 2, 3);
	delay_fixture_add(snapshot, workers[1], LATENCY_CAUSE_THREADS, backup, backup_ms / 2, 3);
	delay_fixture_add(snapshot, workers[0], LATENCY_CAUSE_THREADS, workers[1], 200, 8);
	delay_fixture_add(snapshot, workers[1], LATENCY_CAUSE_WAKEUP, 0, 100, 2);
	delay_fixture_add(snapshot, backup, LATENCY_CAUSE_THREADS, workers[0], 30, 1);
}

/* A row for each victim and culprit, per second of the two that were measured. */
static void test_blame_of_one(void **state)
{
	(void)state;
	diff_fixture_replace(NULL, diff_fixture_open());
	add_delays(after, 700);
	diff_fixture_compare(AXIS_PROCESS);
	choose(SECTION_BLAME);
	expect("# blame\n"
	       "web, backup, threads, 350.000ms, 3.00, 70.0%\n"
	       "web, web, threads, 100.000ms, 4.00, 20.0%\n"
	       "web, (wakeup), wakeup, 50.000ms, 1.00, 10.0%\n"
	       "backup, web, threads, 15.000ms, 0.50, 100.0%\n");
	request.limit = 2;
	expect("# blame\n"
	       "web, backup, threads, 350.000ms, 3.00, 70.0%\n"
	       "web, web, threads, 100.000ms, 4.00, 20.0%\n"
	       "(2 more)\n");
	/* patterns of threads, and names that are shown with their cgroup */
	diff_fixture_compare(AXIS_THREAD);
	request.limit = 1;
	expect("# blame\n"
	       "worker-{N}, tar, threads, 350.000ms, 3.00, 70.0%\n"
	       "(3 more)\n");
	diff_fixture_compare(AXIS_ALL);
	expect("# blame\n"
	       "/a | web | worker-{N}, /a | backup | tar, threads, 350.000ms, 3.00, 70.0%\n"
	       "(3 more)\n");
	/* nobody knows it of processes by their ids */
	diff_fixture_compare(AXIS_PID);
	expect("");
}

/* The largest change first, of names that only one side has waits of, too. */
static void test_blame_of_two(void **state)
{
	uint32_t fresh;

	(void)state;
	add_delays(before, 700);
	add_delays(after, 100);
	diff_fixture_add(before, "/a", "fresh", "fresh", 1);
	diff_fixture_add(after, "/a", "fresh", "fresh", 1);
	fresh = delay_fixture_names(after, "fresh", "fresh");
	delay_fixture_add(after, fresh, LATENCY_CAUSE_THROTTLED, 0, 20, 1);
	diff_fixture_compare(AXIS_PROCESS);
	choose(SECTION_BLAME);
	expect("# blame\n"
	       "web, backup, threads, 350.000ms → 50.000ms, -300.000ms, 3.00 → 3.00, 70.0% → 25.0%\n"
	       "fresh, (throttled), throttled, 0ns → 10.000ms, +10.000ms, 0.00 → 0.50, - → 100.0%\n"
	       "web, web, threads, 100.000ms → 100.000ms, +0ns, 4.00 → 4.00, 20.0% → 50.0%\n"
	       "web, (wakeup), wakeup, 50.000ms → 50.000ms, +0ns, 1.00 → 1.00, 10.0% → 25.0%\n"
	       "backup, web, threads, 15.000ms → 15.000ms, +0ns, 0.50 → 0.50, 100.0% → 100.0%\n");
	/* waits that may be of any group make all others lower bounds */
	delay_fixture_add(after, delay_fixture_other(after), LATENCY_CAUSE_EARLIER, 0, 900, 1);
	diff_fixture_compare(AXIS_PROCESS);
	request.limit = 2;
	expect("# blame\n"
	       "(other), (earlier), earlier, 0ns → 450.000ms, +450.000ms, 0.00 → 0.50, - → 100.0%\n"
	       "web, backup, threads, 350.000ms → ≥50.000ms, ·, 3.00 → ≥3.00, 70.0% → 25.0%\n"
	       "(4 more)\n");
	/* of a file without them: older programs measured waits, but not what delayed them */
	before->latency.delay_count = 0;
	diff_fixture_compare(AXIS_PROCESS);
	expect("");
}

static void add_workers(struct snapshot *snapshot)
{
	snapshot->provenance.present = true;
	diff_fixture_add(snapshot, "/a", "web", "worker-1", 1);
	diff_fixture_add(snapshot, "/a", "web", "worker-2", 1);
	diff_fixture_add(snapshot, "/a", "web", "main", 1);
	diff_fixture_add(snapshot, "/a", "old", "old", 1);
	diff_fixture_add(snapshot, "/a", "odd", "odd", 1);
}

/* Workers with counters multiplied by `times`, a thread with a context of its own, one without, and one for
 * which the context of another thread was read. */
static void add_contexts(struct snapshot *snapshot, const char *scheduler, uint64_t times, const char *extra)
{
	const uint64_t first[] = {100, 1000000 * times, 1000, SCX_FIXTURE_NOW - 5000, (uint64_t)-3, 1, 3, 7},
		       second[] = {305, 2000000 * times, 2001, SCX_FIXTURE_NOW - 9000, (uint64_t)-2, 0, 0, 8},
		       third[] = {11, 0, 7, 0, 4, 1, times == 1 ? 0 : 9, 9};

	add_workers(snapshot);
	scx_fixture_begin(snapshot, scheduler, 2, extra);
	scx_fixture_add(snapshot, 1, second);
	scx_fixture_add(snapshot, 0, first);
	scx_fixture_add(snapshot, 2, third);
	snapshot->task_fields.context_of[4] = TASK_FIELDS_OTHER_TASK;
	snapshot->task_fields.mismatched = 1;
	snapshot->provenance.boottime_ns = SCX_FIXTURE_NOW;
	scx_fixture_add_event(snapshot, times == 1 ? "SCX_EV_OLD" : "SCX_EV_NEW", 5);
	scx_fixture_add_event(snapshot, "SCX_EV_SELECT_CPU_FALLBACK", 100 * times);
}

static void test_scx(void **state)
{
	(void)state;
	diff_fixture_replace(NULL, diff_fixture_open());
	add_contexts(after, "made_1.2", 1, NULL);
	diff_fixture_compare(AXIS_THREAD);
	choose(SECTION_TASK_FIELDS);
	request.fields.all = true;
	expect("# scx scheduler\n"
	       "scheduler, made_1.2\n"
	       "type, task_ctx\n"
	       "storage, task_data\n"
	       "layout, task storage\n"
	       "size, 64B\n"
	       "running_for, 8.000s\n"
	       "enable_seq, 2\n"
	       "nr_rejected, 0\n"
	       "contexts, 3\n"
	       "mismatched, 1\n"
	       "SCX_EV_OLD, 5\n"
	       "SCX_EV_SELECT_CPU_FALLBACK, 100\n"
	       "# scx\n"
	       "main, 1, scx.weight, 11\n"
	       "main, 1, scx.sum_runtime, 0ns\n"
	       "main, 1, scx.avg_runtime, 7ns\n"
	       "main, 1, scx.max_slots, 4\n"
	       "main, 1, scx.greedy, 1\n"
	       "main, 1, scx.state, IDLE\n"
	       "odd, 1, scx.weight, ·\n"
	       "odd, 1, scx.sum_runtime, ·\n"
	       "odd, 1, scx.avg_runtime, ·\n"
	       "odd, 1, scx.last_run_at, ·\n"
	       "odd, 1, scx.max_slots, ·\n"
	       "odd, 1, scx.greedy, ·\n"
	       "odd, 1, scx.state, ·\n"
	       "worker-{N}, 2, scx.weight, 405\n"
	       "worker-{N}, 2, scx.sum_runtime, 3.000ms\n"
	       "worker-{N}, 2, scx.avg_runtime, 1.500µs\n"
	       "worker-{N}, 2, scx.last_run_at, 9.000µs\n"
	       "worker-{N}, 2, scx.max_slots, -2\n"
	       "worker-{N}, 2, scx.greedy, 1\n"
	       "worker-{N}, 2, scx.state, IDLE (1/2)\n");
	/* fields by name; the limit counts their rows */
	request.fields.all = false;
	request.fields.count = 2;
	snprintf(request.fields.names[0], SELECTED_FIELD_MAX, "scx.weight");
	snprintf(request.fields.names[1], SELECTED_FIELD_MAX, "scx.nothing");
	choose_columns("group,value");
	request.limit = 1;
	expect("# scx scheduler\nscheduler, made_1.2\n(11 more)\n# scx\nmain, 11\n(2 more)\n");
}

/* Both sides, the group that changed most first; a field that only one has, and events. */
static void test_scx_of_two(void **state)
{
	(void)state;
	dialect = &dialect_ctop;
	add_contexts(before, "made_1.2", 1, "past");
	add_contexts(after, "made_1.3", 3, "fresh");
	choose(SECTION_TASK_FIELDS);
	request.fields.all = true;
	before->captured_at_unix_ns = 1000000000;
	after->captured_at_unix_ns = 3000000000;
	diff_fixture_compare(AXIS_THREAD);
	request.per[TABLES_PER_SECOND] = true;
	choose_columns("group,metric,arrow,delta,%");
	expect("# scx scheduler\n"
	       "scheduler, made_1.2 → made_1.3\n"
	       "type, task_ctx\n"
	       "storage, task_data\n"
	       "layout, task storage\n"
	       "size, 64B → 64B (+0B)\n"
	       "running_for, 8.000s → 8.000s (+0ns)\n"
	       "enable_seq, 2 → 2 (+0)\n"
	       "nr_rejected, 0 → 0 (+0)\n"
	       "contexts, 3 → 3 (+0)\n"
	       "mismatched, 1 → 1 (+0)\n"
	       "SCX_EV_NEW, - → 5\n"
	       "SCX_EV_SELECT_CPU_FALLBACK, 100 → 300 (+200)\n"
	       "SCX_EV_OLD, 5 → -\n"
	       "# scx\n"
	       "worker-{N}, scx.weight, 405 → 405, +0, +0.0%, -\n"
	       "worker-{N}, scx.sum_runtime, 3.000ms → 9.000ms, +6.000ms, +200.0%, +3.000ms/s\n"
	       "worker-{N}, scx.avg_runtime, 1.500µs → 1.500µs, +0ns, +0.0%, -\n"
	       "worker-{N}, scx.last_run_at, 9.000µs → 9.000µs, +0ns, +0.0%, -\n"
	       "worker-{N}, scx.max_slots, -2 → -2, +0, +0.0%, -\n"
	       "worker-{N}, scx.greedy, 1 → 1, +0, +0.0%, -\n"
	       "worker-{N}, scx.state, IDLE (1/2) → IDLE (1/2), same, -, -\n"
	       "worker-{N}, scx.fresh, - → 7.50, -, -, -\n"
	       "worker-{N}, scx.past, 7.50 → -, -, -, -\n"
	       "main, scx.weight, 11 → 11, +0, +0.0%, -\n"
	       "main, scx.sum_runtime, 0ns → 0ns, +0ns, -, +0ns/s\n"
	       "main, scx.avg_runtime, 7ns → 7ns, +0ns, +0.0%, -\n"
	       "main, scx.max_slots, 4 → 4, +0, +0.0%, -\n"
	       "main, scx.greedy, 1 → 1, +0, +0.0%, -\n"
	       "main, scx.state, IDLE → 9, differs, -, -\n"
	       "main, scx.fresh, - → 9, -, -, -\n"
	       "main, scx.past, 9 → -, -, -, -\n"
	       "odd, scx.weight, · → ·, ·, ·, -\n"
	       "odd, scx.sum_runtime, · → ·, ·, ·, ·\n"
	       "odd, scx.avg_runtime, · → ·, ·, ·, -\n"
	       "odd, scx.last_run_at, · → ·, ·, ·, -\n"
	       "odd, scx.max_slots, · → ·, ·, ·, -\n"
	       "odd, scx.greedy, · → ·, ·, ·, -\n"
	       "odd, scx.state, · → ·, ·, ·, -\n"
	       "odd, scx.fresh, - → ·, -, -, -\n"
	       "odd, scx.past, · → -, -, -, -\n");
}

/* One side was written by another program, or read no contexts. */
static void test_scx_of_one_side(void **state)
{
	(void)state;
	add_workers(before);
	add_contexts(after, "made_1.2", 1, NULL);
	choose(SECTION_TASK_FIELDS);
	request.fields.count = 1;
	snprintf(request.fields.names[0], SELECTED_FIELD_MAX, "scx.weight");
	choose_columns("group,arrow");
	request.limit = 2;
	/* it knows of no scheduler */
	diff_fixture_compare(AXIS_THREAD);
	expect("# scx scheduler\nscheduler, - → made_1.2\ntype, - → task_ctx\n(10 more)\n"
	       "# scx\nmain, - → 11\nodd, - → ·\n(1 more)\n");
	/* nor can it know of one */
	before->provenance.present = false;
	diff_fixture_compare(AXIS_THREAD);
	expect("# scx scheduler\nscheduler, - → made_1.2\ntype, - → task_ctx\n(10 more)\n"
	       "# scx\nmain, · → 11\nodd, · → ·\n(2 more)\n");
	diff_fixture_replace(diff_fixture_open(), diff_fixture_open());
	add_contexts(before, "made_1.2", 1, NULL);
	add_contexts(after, "made_1.2", 1, NULL);
	free(before->task_fields.context_of);
	before->task_fields.context_of = NULL;
	diff_fixture_compare(AXIS_THREAD);
	expect("# scx scheduler\nscheduler, made_1.2\ntype, task_ctx\n(10 more)\n"
	       "# scx\nmain, · → 11\nodd, · → ·\n(2 more)\n");
}

/* Sums of those that were read are lower bounds, means are of them; a change is of neither. */
static void test_scx_of_some(void **state)
{
	(void)state;
	add_contexts(before, "made_1.2", 1, NULL);
	add_contexts(after, "made_1.2", 1, NULL);
	choose(SECTION_TASK_FIELDS);
	after->task_fields.context_of[0] = TASK_FIELDS_OTHER_TASK;
	choose_columns("metric,arrow,delta");
	diff_fixture_compare(AXIS_PROCESS);
	request.fields.count = 3;
	snprintf(request.fields.names[0], SELECTED_FIELD_MAX, "scx.weight");
	snprintf(request.fields.names[1], SELECTED_FIELD_MAX, "scx.avg_runtime");
	snprintf(request.fields.names[2], SELECTED_FIELD_MAX, "scx.state");
	request.limit = 6;
	expect("# scx scheduler\n"
	       "scheduler, made_1.2\ntype, task_ctx\nstorage, task_data\nlayout, task storage\n"
	       "size, 64B → 64B (+0B)\nrunning_for, 8.000s → 8.000s (+0ns)\n(6 more)\n"
	       "# scx\n"
	       "scx.weight, · → ·, ·\n"
	       "scx.avg_runtime, · → ·, ·\n"
	       "scx.state, · → ·, ·\n"
	       "scx.weight, 416 → ≥316, ·\n"
	       "scx.avg_runtime, 1.003µs → 1.004µs, ·\n"
	       "scx.state, IDLE (2/3) → IDLE, ·\n");
}

#define TABLES_TEST(test) cmocka_unit_test_setup_teardown(test, open_sides, diff_fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLES_TEST(test_what_changed_most_comes_first),
		TABLES_TEST(test_lists_of_one_side),
		TABLES_TEST(test_long_rows_of_one_side),
		TABLES_TEST(test_sort_keys_of_one_side),
		TABLES_TEST(test_wide_rows),
		TABLES_TEST(test_wide_table_without_rows),
		TABLES_TEST(test_wide_row_of_renamed_cgroup),
		TABLES_TEST(test_wide_marks),
		TABLES_TEST(test_blame_of_one),
		TABLES_TEST(test_blame_of_two),
		TABLES_TEST(test_latency),
		TABLES_TEST(test_latency_of_others),
		TABLES_TEST(test_scx),
		TABLES_TEST(test_scx_of_two),
		TABLES_TEST(test_scx_of_one_side),
		TABLES_TEST(test_scx_of_some),
		TABLES_TEST(test_parents),
		TABLES_TEST(test_sort_keys),
		TABLES_TEST(test_marks_of_what_is_not_known),
		TABLES_TEST(test_memory_of_renamed_cgroups),
		TABLES_TEST(test_memory_without_path),
		TABLES_TEST(test_own_rows),
		TABLES_TEST(test_memory_beside_renamed_cgroups),
		TABLES_TEST(test_renames_come_in_the_order_of_their_new_names),
		TABLES_TEST(test_pieces_read_as_the_whole),
		TABLES_TEST(test_limit_cuts_the_end_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
