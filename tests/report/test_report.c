/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of a made snapshot with partial, absent and unavailable cells, compared with files in golden/. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/tables.h"
#include "golden.h"
#include "report/report.h"

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

struct thread {
	const char *pcomm, *comm, *cgroup;
	uint32_t tgid, tid;
	uint8_t flags;
	uint64_t rchar, read_bytes;
	int64_t nice;
	reason_id io;
	const char *policy;
};

static const struct thread threads[] = {
	{"pool-1", "worker-1", "/pod-1", 10, 10, 0, 1000, 500, -5, REASON_READ, "SCHED_OTHER"},
	{"pool-1", "worker-2", "/pod-1", 10, 11, 0, 500, 250, 0, REASON_READ, "SCHED_OTHER"},
	{"pool-1", "worker-3", "/pod-2", 10, 12, 0, 9, 9, 0, REASON_NOT_PERMITTED, "SCHED_FIFO"},
	{"s\x1b[1mly\t\\", "sly", "/", 20, 20, 0, 0, 0, 0, REASON_NOT_PERMITTED, "SCHED_OTHER"},
	{"kworker/0:1", "kworker/0:1", "/", 30, 30, THREAD_KERNEL, 0, 0, 0, REASON_READ, "SCHED_OTHER"},
	/* wide, combining and broken characters */
	{"\u65e5\u672c e\u0301 \xff", "n", "/", 40, 40, 0, 1500000, 3, 19, REASON_READ, "SCHED_BATCH"},
};

static void add_cgroup(struct snapshot *snapshot, const char *path, uint64_t usage, uint64_t current,
		       reason_id current_missing)
{
	struct cgroup_record *record = snapshot_add_cgroup(snapshot, intern(snapshot, path));

	record->usage_usec = usage;
	record->memory_current = current;
	record->missing[CGROUP_FILE_MEMORY_CURRENT] = current_missing;
	record->missing[CGROUP_FILE_MEMORY_EVENTS] = current_missing;
	record->missing[CGROUP_FILE_CPU_PRESSURE] = current_missing;
	record->pressure.resource[PRESSURE_CPU].some.avg10 = current_missing == REASON_READ ? 1859 : 0;
	record->weight = (struct optional_u64){100, true};
}

static struct snapshot *make_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();
	uint32_t cpus = cpu_set_intern(&snapshot->cpu_sets, (const uint32_t[]){0, 1, 3}, 3);

	snapshot->provenance.present = true;
	snapshot->captured_at_unix_ns = 1767225600000000000; /* 2026-01-01 00:00:00 UTC */
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		const struct thread *thread = &threads[i];
		size_t index = snapshot_add_thread(snapshot, thread->tgid, thread->tid);

		snapshot->triple[index] = snapshot_intern_triple(
			snapshot,
			(struct triple){intern(snapshot, thread->pcomm), intern(snapshot, thread->comm),
					intern(snapshot, thread->cgroup)});
		snapshot->thread_flags[index] = thread->flags;
		snapshot_column(snapshot, METRIC_RCHAR)[index] = thread->rchar;
		snapshot_column(snapshot, METRIC_READ_BYTES)[index] = thread->read_bytes;
		snapshot_column(snapshot, METRIC_NICE)[index] = (uint64_t)thread->nice;
		snapshot_column(snapshot, METRIC_POLICY)[index] = intern(snapshot, thread->policy);
		snapshot_column(snapshot, METRIC_CPU_AFFINITY)[index] = cpus;
		snapshot_source_reasons(snapshot, SOURCE_IO)[index] = thread->io;
		snapshot_source_reasons(snapshot, SOURCE_SMAPS_ROLLUP)[index] = REASON_OVER_BUDGET;
	}
	add_cgroup(snapshot, "/pod-1", 1000000, 1536, REASON_READ);
	add_cgroup(snapshot, "/pod-2", 500, 0, REASON_UNREADABLE);
	add_cgroup(snapshot, "/", 7, 0, REASON_NOT_IN_KERNEL);
	snapshot->pressure.resource[PRESSURE_IO].full.avg300 = 5;
	snapshot->pressure_missing[PRESSURE_CPU] = REASON_NOT_IN_KERNEL;
	snapshot->pressure_missing[PRESSURE_MEMORY] = REASON_UNREADABLE;
	snapshot_finish(snapshot);
	return snapshot;
}

static void draw(void *context, const struct table *table)
{
	report_table(context, table);
}

/* The reports, each with the file that it is compared with. */
static const struct report_case {
	const char *golden;
	enum axis axis;
	enum report_format format;
	bool ascii, ktstr;
	const char *sections; /* NULL: all */
} cases[] = {
	{"groups.txt", AXIS_PROCESS, REPORT_FORMAT_TEXT, false, false, NULL},
	{"groups-ascii.txt", AXIS_PROCESS, REPORT_FORMAT_TEXT, true, false, NULL},
	{"cgroups.txt", AXIS_CGROUP, REPORT_FORMAT_TEXT, false, false, NULL},
	{"ktstr.txt", AXIS_PROCESS, REPORT_FORMAT_TEXT, false, true, NULL},
	{"groups.tsv", AXIS_PROCESS, REPORT_FORMAT_TSV, false, false, NULL},
	{"cgroups.tsv", AXIS_CGROUP, REPORT_FORMAT_TSV, false, false, NULL},
	{"groups.csv", AXIS_PROCESS, REPORT_FORMAT_CSV, false, false, NULL},
	{"cgroups.csv", AXIS_CGROUP, REPORT_FORMAT_CSV, false, false, NULL},
	{"groups.json", AXIS_PROCESS, REPORT_FORMAT_JSON, false, false, NULL},
	{"cgroups.json", AXIS_CGROUP, REPORT_FORMAT_JSON, false, false, "cgroup-stats,memory-events"},
};

static void compare_report(const struct report_case *report_case, size_t chunk_rows)
{
	struct snapshot *snapshot = make_snapshot();
	const struct diff_options how = {.grouping = {.axis = report_case->axis},
					 .dialect = report_case->ktstr ? &dialect_ktstr : NULL};
	struct diff *groups = diff_create(NULL, snapshot, &how);
	struct tables_request request = {.chunk_rows = chunk_rows};
	struct buffer out = {0};
	struct report report = {.format = report_case->format,
				.out = &out,
				.snapshot = snapshot,
				.ascii = report_case->ascii,
				.dialect = how.dialect};
	struct error error;

	assert_int_equal(selection_parse_sections(report_case->sections, request.sections, &error), 0);
	assert_int_equal(
		selection_parse_metrics("policy,nice,cpu_affinity,rchar,disk_io_fraction,thread_count",
					request.metrics, request.derived, &request.fields, &error),
		0);
	report_begin(&report, &(struct report_subject){.command = "show",
						       .file = "made.ctprof.zst",
						       .group_by = axes[report_case->axis].name});
	tables_make(groups, &request, draw, &report);
	report_end(&report);
	diff_release(groups);
	golden_compare(report_case->golden, &out);
	buffer_release(&out);
	snapshot_release(snapshot);
}

static void test_reports(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		compare_report(&cases[i], 0);
}

/* Text has no pieces. */
static void test_pieces_read_as_the_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t rows = 1; cases[i].format != REPORT_FORMAT_TEXT && rows < 20; rows++)
			compare_report(&cases[i], rows);
	}
}

/* A NUL in a name of a file hides nothing of what stands behind it: two groups do not look alike. */
static void test_names_with_nul(void **state)
{
	static const char *const names[] = {"a\0b", "a\0c"};
	struct snapshot *snapshot = snapshot_create();
	struct diff *groups;
	struct tables_request request = {
		.sections[SECTION_PRIMARY] = true,
		.sections[SECTION_SMAPS_ROLLUP] = true,
		.metrics[METRIC_THREAD_COUNT] = true,
	};
	struct buffer out = {0};
	struct report report = {.format = REPORT_FORMAT_TSV, .out = &out, .snapshot = snapshot};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		size_t thread = snapshot_add_thread(snapshot, 10 + i, 10 + i);
		uint32_t name = string_pool_intern(&snapshot->strings, names[i], 3);
		struct key_values *kib = &snapshot_add_smaps(snapshot, thread)->kib;

		snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){name, name, 0});
		kib->items = arena_allocate(&snapshot->arena, sizeof(*kib->items));
		kib->items[0] = (struct key_value){name, 1};
		kib->count = 1;
	}
	snapshot_finish(snapshot);
	groups = diff_create(NULL, snapshot, &(struct diff_options){.grouping = {.axis = AXIS_PROCESS}});
	tables_make(groups, &request, draw, &report);
	diff_release(groups);
	assert_string_equal(out.data, "# primary\nprocess\tthreads\tmetric\tvalue\n"
				      "a\uFFFDb\t1\tthread_count\t1\n"
				      "a\uFFFDc\t1\tthread_count\t1\n"
				      "# smaps-rollup\nprocess\tkey\tvalue\n"
				      "a\uFFFDb\ta\uFFFDb\t1.000KiB\n"
				      "a\uFFFDc\ta\uFFFDc\t1.000KiB\n");
	buffer_release(&out);
	snapshot_release(snapshot);
}

/* No control or invisible character of a name reaches a format, nor with csv_safe the beginning of a formula.
 */
static void test_hostile_names(void **state)
{
	static const char *const names[] = {("\x1b]0;t\a \x7f\xc2\x9b"
					     "1m\xff\\x1b"),
					    "=1+1",
					    "a,=b",
					    "-5",
					    "sshd\u200b\u202e\U000e0041é",
					    "\t@x\r\n",
					    "@,\"q\""};
	static const struct {
		enum report_format format;
		bool csv_safe;
		const char *output;
	} outputs[] = {
		{REPORT_FORMAT_TSV, true,
		 "# s\nname\tvalue\n\\x1b]0;t\\x07 "
		 "\\x7f\\u009b1m\uFFFD\\\\x1b\t-3..0\n=1+1\t-3..0\na,=b\t-3..0\n-5\t-3..0\n"
		 "sshd\\u200b\\u202e\\U000e0041é\t-3..0\n"
		 "@x\t-3..0\n@,\"q\"\t-3..0\n"},
		{REPORT_FORMAT_CSV, false,
		 "# s\nname,value\n\\x1b]0;t\\x07 "
		 "\\x7f\\u009b1m\uFFFD\\x1b,-3..0\n=1+1,-3..0\n\"a,=b\",-3..0\n-5,-3..0\n"
		 "sshd\\u200b\\u202e\\U000e0041é,-3..0\n"
		 "\"\t@x\r\n\",-3..0\n\"@,\"\"q\"\"\",-3..0\n"},
		{REPORT_FORMAT_CSV, true,
		 "# s\nname,value\n\\x1b]0;t\\x07 "
		 "\\x7f\\u009b1m\uFFFD\\x1b,-3..0\n'=1+1,-3..0\n\"a,=b\",-3..0\n'-5,-3..0\n"
		 "sshd\\u200b\\u202e\\U000e0041é,-3..0\n"
		 "\"'\t@x\r\n\",-3..0\n\"'@,\"\"q\"\"\",-3..0\n"},
	};
	struct table *table = table_create("s", 2);

	(void)state;
	table->columns[0] = (struct table_column){.name = "name", .left = true};
	table->columns[1] = (struct table_column){.name = "value"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct table_row *row = table_add_row(table);

		row->cells[0] = (struct cell){.state = CELL_VALUE, .text = names[i]};
		row->cells[1] = (struct cell){.state = CELL_VALUE,
					      .form = CELL_FORM_RANGE,
					      .value.range = {-3, 0},
					      .text = "-3..0"};
	}
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		struct buffer out = {0};
		struct report report = {
			.format = outputs[i].format, .out = &out, .csv_safe = outputs[i].csv_safe};

		report_table(&report, table);
		assert_string_equal(out.data, outputs[i].output);
		buffer_release(&out);
	}
	table_release(table);
}

/* JSON says of which rows the name is of ctop's own making. */
static void test_own_rows(void **state)
{
	struct buffer out = {0};
	struct report report = {.format = REPORT_FORMAT_JSON, .out = &out};
	struct table *table = table_create("s", 1);

	(void)state;
	table->columns[0] = (struct table_column){.name = "name", .left = true};
	for (int i = 0; i < 2; i++) {
		struct table_row *row = table_add_row(table);

		row->cells[0] = (struct cell){.state = CELL_VALUE, .text = "(ended)"};
		row->is_own = i == 0;
	}
	report_table(&report, table);
	assert_non_null(strstr(out.data, "{\"name\":\"(ended)\",\"own\":true},\n{\"name\":\"(ended)\"}"));
	table_release(table);
	buffer_release(&out);
}

/* Long names lose their middle, of a path the last name stays; numbers stay whole. */
static void test_long_names(void **state)
{
	struct buffer out = {0};
	struct report report = {.out = &out, .width = 30};
	struct table *table = table_create("primary", 2);
	struct table_row *row;

	(void)state;
	table->columns[0] = (struct table_column){.name = "group", .left = true};
	table->columns[1] = (struct table_column){.name = "threads"};
	row = table_add_row(table);
	row->cells[0] = cell_of_text("/system.slice/a-rather-long-name-of.service");
	row->cells[1] = cell_of_integer(12, UNIT_COUNT);
	row = table_add_row(table);
	row->cells[0] = cell_of_text("/system.slice/short.service");
	row->cells[1] = cell_of_integer(3, UNIT_COUNT);
	report_table(&report, table);
	assert_string_equal(out.data, "## primary\n"
				      "group                  threads\n"
				      "/system.sl…of.service       12\n"
				      "/syste…/short.service        3\n");
	table_release(table);
	buffer_release(&out);
}

static struct cell sides_cell(const struct cell sides[2], enum cell_verdict verdict, const char *text)
{
	return (struct cell){.state = CELL_VALUE, .sides = sides, .verdict = verdict, .text = text};
}

/* Columns leave a terminal that is too narrow, those that say least of what changed first. */
static void test_narrow_terminal(void **state)
{
	static const char *const names[] = {"group", "THR", "CPU%", "RUNQ%", "CSW/s", "STUCK"};
	const struct cell sides[] = {cell_of_integer(1, UNIT_COUNT), cell_of_integer(2, UNIT_COUNT)};
	static const char words[] =
		"\ncells without an arrow read the same before and after; # marks real changes\n";
	static const struct {
		int width;
		const char *output;
	} outputs[] = {
		{0, "## groups\n"
		    "group                   THR      CPU%   RUNQ%    CSW/s  STUCK\n"
		    "web-with-a-longer-name    1  #1 -> 20  1 -> 2  10 -> 2      0\n"
		    "db                        1         5       5        5      5\n"},
		{44, "## groups\n"
		     "group                       CPU%   RUNQ%\n"
		     "web-with-a-longer-name  #1 -> 20  1 -> 2\n"
		     "db                             5       5\n"
		     "no room for THR, CSW/s, STUCK (a pipe or a file has all columns)\n"},
		{20, "## groups\n"
		     "group             CPU%\n"
		     "web-wi~-name  #1 -> 20\n"
		     "db                   5\n"
		     "no room for THR, RUNQ%, CSW/s, STUCK (a pipe or a file has all columns)\n"},
	};
	struct table *table = table_create("groups", ARRAY_COUNT(names));
	struct cell *cells = table_add_row(table)->cells;
	struct cell *others = table_add_row(table)->cells;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		table->columns[i].name = names[i];
		others[i] = cell_of_integer(5, UNIT_COUNT);
	}
	table->columns[0].left = true;
	others[0] = cell_of_text("db");
	others[1] = cell_of_integer(1, UNIT_COUNT);
	cells[0] = cell_of_text("web-with-a-longer-name");
	cells[1] = cell_of_integer(1, UNIT_COUNT);
	cells[2] = sides_cell(sides, CELL_VERDICT_REAL, "≠1 → 20");
	cells[3] = sides_cell(sides, CELL_VERDICT_NO, "1 → 2");
	cells[4] = sides_cell(sides, CELL_VERDICT_NOT_TESTED, "10 → 2");
	cells[5] = cell_of_integer(0, UNIT_COUNT);
	for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) {
		struct buffer out = {0};
		struct report report = {.out = &out, .ascii = true, .width = outputs[i].width};

		report_table(&report, table);
		assert_memory_equal(out.data, outputs[i].output, strlen(outputs[i].output));
		assert_string_equal(out.data + strlen(outputs[i].output), words);
		buffer_release(&out);
	}
	table_release(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_rows),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_pieces_read_as_the_whole),
		cmocka_unit_test(test_names_with_nul),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_narrow_terminal),
	};

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
		printf("SKIP: no locale C.UTF-8\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
