/* SPDX-License-Identifier: GPL-2.0-only */
/* The column and tab tables, and the views over them. */
#include <errno.h>
#include "tests/cmocka_include.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/column_list.h"
#include "table/column_name.h"
#include "table/tab.h"
#include "table/view.h"
#include "window/column.h"

static void assert_listed(const enum column columns[], size_t count, const char *expected)
{
	char titles[512] = "";

	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			strcat(titles, " ");
		strcat(titles, column_title(columns[i], WINDOW_MODE_RATE));
	}
	assert_string_equal(titles, expected);
}

static void assert_titles(enum tab tab, bool threads, int width, enum column sort, const char *expected)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = column_list(tab, threads, width, sort, columns);

	assert_listed(columns, count, expected);
}

/* The tabs as the interface says them. */
static void test_tabs(void **state)
{
	const enum column none = COLUMN_COUNT;

	(void)state;
	assert_titles(TAB_OVERVIEW, false, 80, none,
		      "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s");
	assert_titles(TAB_OVERVIEW, false, 100, none,
		      "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s WAITS FOR");
	assert_titles(
		TAB_OVERVIEW, false, 120, none,
		"THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s WAITS FOR RSS WAITED% ALLOC/s");
	assert_titles(TAB_OVERVIEW, false, 140, none,
		      "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s WAITS FOR RSS WAITED% ALLOC/s "
		      "FAULT/s MIGR/s");
	assert_titles(TAB_OVERVIEW, false, 200, none,
		      "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s WAITS FOR RSS WAITED% ALLOC/s "
		      "FAULT/s MIGR/s BORN/s ENDED/s WAIT>1s");
	assert_titles(TAB_OVERVIEW, true, 120, none,
		      "CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE ONCPU POLICY WAITING AGE WAITED%");
	assert_titles(TAB_OVERVIEW, true, 200, none,
		      "CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE ONCPU POLICY WAITING AGE WAITED% "
		      "ALLOC/s");
	assert_titles(TAB_RUN, false, 80, none, "THR CPU% USER% SYS% QSHARE% SLICE DISP/s VCSW/s ICSW/s");
	assert_titles(TAB_RUN, false, 0, none,
		      "THR CPU% USER% SYS% QSHARE% SLICE DISP/s VCSW/s ICSW/s ICSW% RUNQ% STATE WAITING "
		      "MAXTHR BORN/s ENDED/s");
	assert_titles(TAB_SCHED, false, 80, none, "THR POLICY NICE PRIO CPUS ONCPU FAIRSL MIGR/s");
	assert_titles(TAB_SCHED, true, 0, none,
		      "POLICY NICE PRIO CPUS ONCPU FAIRSL MIGR/s MAXRUN RTPRIO EXT FORCE/s MAXSL");
	assert_titles(TAB_WAKEUPS, false, 80, none, "THR WAKE/s LOC/s REM/s SYNC/s XCPU/s AFF% AVGWT MAXWT");
	assert_titles(TAB_WAKEUPS, true, 0, none,
		      "WAKE/s LOC/s REM/s SYNC/s XCPU/s AFF% AVGWT MAXWT AFF/s TRY/s SSWAIT% SLEEP% MAXSLP");
	assert_titles(TAB_TIME, false, 80, none, "THR WHERE CPU% RUNQ% KEPT% DSKW% KLOCK%");
	assert_titles(
		TAB_TIME, true, 0, none,
		"WHERE CPU% RUNQ% WAITS FOR WAITED% BLKIO% MWAIT% IRQ% SWPIN% THRASH% RECLAIM% COMPACT% "
		"COW%");
	assert_titles(TAB_IO, false, 80, none, "THR READ/s WRITE/s RCHAR/s WCHAR/s SYSR/s SYSW/s BLKIO%");
	assert_titles(TAB_IO, true, 0, none,
		      "READ/s WRITE/s RCHAR/s WCHAR/s SYSR/s SYSW/s BLKIO% CANC/s DISK IOWT% AVGIO BLOCK%");
	assert_titles(TAB_MEMORY, false, 80, none, "THR RSS RSS/s PSS SWAP PEAK MINF/s MAJF/s SWPIN%");
	assert_titles(TAB_MEMORY, true, 0, none,
		      "RSS RSS/s PSS SWAP PEAK MINF/s MAJF/s SWPIN% THRASH% RECLAIM% COMPACT% COW% PEAKVM");
	assert_titles(TAB_HEAP, false, 80, none, "THR PROCS SEEN ALLOC/s FREED/s NET/s LIVE TOTAL");
	assert_titles(TAB_HEAP, true, 0, none, "ALLOC/s FREED/s NET/s LIVE TOTAL LAYOUT");
	assert_titles(TAB_CGROUP, false, 80, none, "THR CGCPU% CPULIM THROT% THROT/s MEM MEMMAX PIDS OOM");
	assert_titles(
		TAB_CGROUP, false, 0, none,
		"THR CGCPU% CPULIM THROT% THROT/s MEM MEMMAX PIDS OOM CGRD/s CGWR/s WEIGHT HIGH PSICPU% "
		"PSIMEM% PSIIO%");
}

/* Columns leave from the right; THR and the sort column never; one that the tab lacks joins. */
static void test_narrow(void **state)
{
	(void)state;
	assert_titles(TAB_OVERVIEW, false, 60, COLUMN_CPU, "THR CPU% RUNQ% BLKIO% MWAIT% STUCK");
	assert_titles(TAB_OVERVIEW, false, 40, COLUMN_CPU, "THR CPU% RUNQ% BLKIO%");
	assert_titles(TAB_OVERVIEW, false, 40, COLUMN_WRITE, "THR CPU% WRITE/s");
	assert_titles(TAB_OVERVIEW, false, 20, COLUMN_READ, "THR READ/s");
	assert_titles(TAB_OVERVIEW, true, 80, COLUMN_CPU, "CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE");
	assert_titles(TAB_IO, false, 80, COLUMN_CPU, "THR CPU% READ/s WRITE/s RCHAR/s WCHAR/s SYSR/s SYSW/s");
	/* the CPU time of threads is not that of cgroups */
	assert_titles(TAB_CGROUP, false, 80, COLUMN_CPU,
		      "THR CPU% CGCPU% CPULIM THROT% THROT/s MEM MEMMAX PIDS");
}

/* Every set fits with a name of 13 cells and more. */
static void test_widths(void **state)
{
	static const int screens[] = {80, 120, 140, 160};

	(void)state;
	for (int tab = 0; tab < TAB_ALL; tab++) {
		for (size_t s = 0; s < 4; s++) {
			enum column columns[COLUMN_TOTAL];
			size_t count = column_list((enum tab)tab, false, screens[s], COLUMN_COUNT, columns);
			enum column all[COLUMN_TOTAL];
			int used = 1 + 13;

			for (size_t i = 0; i < count; i++)
				used += 1 + column_width(columns[i]);
			assert_in_range(used, 14, screens[s]);
			/* of classes of time only those stand there that the host has */
			if (s == 3 && tab != TAB_TIME)
				assert_int_equal(count,
						 column_list((enum tab)tab, false, 0, COLUMN_COUNT, all));
		}
	}
	assert_int_equal(column_width(COLUMN_THR), 5);
	assert_int_equal(column_width(COLUMN_CPU), 5);
	assert_int_equal(column_width(COLUMN_BLKIO), 7);
	assert_int_equal(column_width(COLUMN_PEAK), 6);
	assert_int_equal(column_width(COLUMN_POLICY), 7);
	assert_int_equal(column_width(COLUMN_BAR), 21);
}

static void assert_view_titles(const struct view *view, const char *expected)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = view_columns(view, columns);

	assert_listed(columns, count, expected);
}

/* Texts that say who a row is take what numbers leave; a thread names its process on any screen. */
static void test_identity_columns(void **state)
{
	struct view view;

	(void)state;
	view_initialise(&view);
	view.tab = TAB_SCHED;
	view.sort_by_name = true;
	view.shows_identity = true;
	view.width = 80;
	assert_view_titles(&view, "THR POLICY NICE PRIO CPUS ONCPU FAIRSL MIGR/s");
	view.width = 160;
	assert_view_titles(&view,
			   "THR POLICY NICE PRIO CPUS ONCPU FAIRSL MIGR/s MAXRUN RTPRIO EXT FORCE/s MAXSL "
			   "PID USER CGROUP");
	/* command lines are there where somebody looks them up, and take the room first */
	view.looks_up = true;
	assert_view_titles(&view,
			   "THR POLICY NICE PRIO CPUS ONCPU FAIRSL MIGR/s MAXRUN RTPRIO EXT FORCE/s MAXSL "
			   "USER COMMAND");
	view.looks_up = false;
	view.grouping.axis = AXIS_CGROUP;
	assert_view_titles(&view,
			   "THR POLICY NICE PRIO CPUS ONCPU FAIRSL MIGR/s MAXRUN RTPRIO EXT FORCE/s MAXSL "
			   "PID USER");
	view.level = VIEW_LEVEL_THREADS;
	view.width = 80;
	view.tab = TAB_OVERVIEW;
	assert_view_titles(&view, "PID PROCESS CPU% RUNQ% BLKIO% STUCK WAITS FOR");
	/* what the path says needs no column, and the numbers have the room */
	view.same.process = view.same.user = view.same.cgroup = true;
	assert_view_titles(&view, "CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE");
	/* -b prints what it did */
	view.shows_identity = view.same.process = false;
	assert_view_titles(&view, "CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE");
	assert_int_equal(column_find("user"), COLUMN_USER_NAME);
	assert_int_equal(column_find("USER%"), COLUMN_USER);
	assert_int_equal(column_find("pid"), COLUMN_PID);
	assert_int_equal(column_find("cgroup_path"), COLUMN_CGROUP_PATH);
	view_release(&view);
}

/* Rows of what threads wait for say it by their names. */
static void test_rows_of_waits(void **state)
{
	struct view view;

	(void)state;
	view_initialise(&view);
	view.shows_identity = true;
	view.width = 140;
	assert_true(view_shows(&view, COLUMN_WAITS_FOR));
	view.grouping.axis = AXIS_WAIT;
	assert_false(view_shows(&view, COLUMN_WAITS_FOR));
	assert_true(view_shows(&view, COLUMN_RSS));
	view.level = VIEW_LEVEL_THREADS;
	assert_true(view_shows(&view, COLUMN_WAITS_FOR));
	view_release(&view);
}

/* Where each row is a process its command line comes first, and before columns of wide screens. */
static void test_command_first(void **state)
{
	struct view view;

	(void)state;
	view_initialise(&view);
	view.shows_identity = view.looks_up = true;
	view.grouping.axis = AXIS_PID;
	view.width = 80;
	assert_view_titles(&view, "THR CPU% RUNQ% BLKIO% COMMAND");
	view.width = 120;
	assert_view_titles(&view, "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s COMMAND");
	assert_int_equal(view_wanted_width(&view, COLUMN_COMMAND), 48);
	view.width = 200;
	assert_view_titles(&view, "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s WAITS FOR RSS "
				  "WAITED% ALLOC/s FAULT/s MIGR/s BORN/s ENDED/s COMMAND");
	/* without anybody who looks them up the columns of wide screens are there */
	view.looks_up = false;
	view.width = 120;
	assert_view_titles(&view, "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s WAITS FOR RSS "
				  "WAITED% ALLOC/s");
	/* a history has titles to show in COMMAND */
	view.has_titles = true;
	assert_view_titles(&view, "THR CPU% RUNQ% BLKIO% MWAIT% STUCK CSW/s READ/s WRITE/s COMMAND");
	view.has_titles = false;
	view.looks_up = true;
	view.level = VIEW_LEVEL_THREADS;
	assert_view_titles(
		&view, "PID PROCESS CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE ONCPU POLICY WAITING");
	view.width = 200;
	assert_view_titles(
		&view,
		"PID PROCESS CPU% RUNQ% BLKIO% STUCK WAITS FOR ST CSW/s SLICE ONCPU POLICY WAITING AGE "
		"WAITED% ALLOC/s COMMAND USER");
	view_release(&view);
}

static void test_all_tab(void **state)
{
	enum column columns[COLUMN_TOTAL];
	size_t count = column_list(TAB_ALL, false, 80, COLUMN_COUNT, columns);

	(void)state;
	assert_int_equal(count, METRIC_COUNT + (int)DERIVED_COUNT);
	/* another column of the tab counts the same as the sort column: none joins */
	assert_int_equal(column_list(TAB_ALL, false, 80, COLUMN_CPU, columns), count);
	assert_int_equal(column_list(TAB_ALL, false, 80, COLUMN_LOST, columns), count + 1);
	column_list(TAB_ALL, false, 80, COLUMN_COUNT, columns);
	assert_int_equal(columns[0], COLUMN_THR);
	for (size_t i = 1; i < METRIC_COUNT; i++)
		assert_string_equal(column_name(columns[i]), metrics[i].name);
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		assert_string_equal(column_name(columns[METRIC_COUNT + i]), derived_metrics[i].name);
	assert_string_equal(column_title(column_of_metric(METRIC_RUN_TIME_NS), WINDOW_MODE_RATE), "RUN%");
	assert_string_equal(column_title(column_of_metric(METRIC_RUN_TIME_NS), WINDOW_MODE_TOTAL), "RUN");
	assert_string_equal(column_title(column_of_metric(METRIC_READ_BYTES), WINDOW_MODE_RATE), "READ/s");
	assert_string_equal(column_title(column_of_metric(METRIC_WAIT_MAX), WINDOW_MODE_RATE), "MAXWT");
}

/* The table is whole: titles, sentences, and the pair that overlaps stands last where it is used. */
static void test_table(void **state)
{
	(void)state;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		const struct column_entry *entry = column_entry((enum column)i);
		size_t length = strlen(entry->description);

		assert_in_range(strlen(entry->rate_title), 2, entry->width > 8 ? entry->width : 8);
		assert_true(length > 10 && entry->description[length - 1] == '.');
		assert_int_equal(strpbrk(entry->amount_title, "/") != NULL, 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(entry->name, column_entry((enum column)j)->name);
	}
	for (int i = 0; i < COLUMN_TASK_FIELDS; i++) {
		const struct column_entry *entry = column_entry((enum column)i);

		if (i == COLUMN_COUNT || (entry->operation != COLUMN_OPERATION_SUM_WITH_LARGEST &&
					  entry->operation != COLUMN_OPERATION_LOST))
			continue;
		assert_int_equal(entry->inputs[entry->input_count - 2], METRIC_SWAPIN_DELAY_TOTAL_NS);
		assert_int_equal(entry->inputs[entry->input_count - 1], METRIC_THRASHING_DELAY_TOTAL_NS);
	}
}

/* Whether both count the same. */
static bool is_same(const struct column_entry *left, const struct column_entry *right)
{
	return left->operation == right->operation &&
	       memcmp(left->inputs, right->inputs, sizeof(left->inputs)) == 0;
}

/* No title stands for two things, as a rate or as an amount. */
static void test_titles(void **state)
{
	(void)state;
	for (int i = 0; i < COLUMN_TASK_FIELDS; i++) {
		for (int j = 0; j < i; j++) {
			const struct column_entry *left = column_entry((enum column)i);
			const struct column_entry *right = column_entry((enum column)j);

			if (i == COLUMN_COUNT || j == COLUMN_COUNT ||
			    i == COLUMN_METRICS + (int)METRIC_THREAD_COUNT || is_same(left, right))
				continue;
			if (strcmp(left->rate_title, right->rate_title) == 0 ||
			    strcmp(left->amount_title, right->amount_title) == 0)
				print_error("%s and %s\n", left->name, right->name);
			assert_string_not_equal(left->rate_title, right->rate_title);
			assert_string_not_equal(left->amount_title, right->amount_title);
		}
	}
}

static void test_refuse(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(column_refuse("run_queu", &error), -EINVAL);
	assert_string_equal(error.text, "no column or metric 'run_queu', did you mean run_queue? "
					"`ctop help columns` lists them");
	/* each title once, though two columns of two tabs have it */
	column_refuse("ONCPV", &error);
	assert_non_null(strstr(error.text, "did you mean ONCPU"));
	assert_null(strstr(strstr(error.text, "ONCPU") + 1, "ONCPU"));
	/* what is near nothing has no neighbours */
	column_refuse("", &error);
	assert_string_equal(error.text, "no column or metric ''; `ctop help columns` lists them");
}

static void test_find(void **state)
{
	(void)state;
	assert_int_equal(column_find("CPU%"), COLUMN_CPU);
	assert_int_equal(column_find("cpu"), COLUMN_CPU);
	assert_int_equal(column_find("mwait"), COLUMN_MWAIT);
	assert_int_equal(column_find("MWAIT%"), COLUMN_MWAIT);
	/* as the column was titled before */
	assert_int_equal(column_find("MEM%"), COLUMN_MWAIT);
	assert_int_equal(column_find("LOST%"), COLUMN_LOST);
	assert_int_equal(column_find("hits"), COLUMN_HITS);
	assert_int_equal(column_find("wait%"), COLUMN_WAIT);
	assert_int_equal(column_find("SWAP%"), COLUMN_SWAPIN);
	/* what is a title now is no former one */
	assert_int_equal(column_find("swap"), COLUMN_SWAPPED);
	assert_int_equal(column_find("mem"), COLUMN_CGMEM);
	/* a title without its mark is less than another column's own */
	assert_int_equal(column_find("throt/s"), COLUMN_HITS);
	assert_int_equal(column_find("throt%"), COLUMN_THROT);
	assert_int_equal(column_find("throt"), COLUMN_THROT);
	assert_int_equal(column_find("memory_current"), COLUMN_CGMEM);
	assert_int_equal(column_find("read"), COLUMN_READ);
	assert_int_equal(column_find("read/s"), COLUMN_READ);
	assert_int_equal(column_find("run_queue"), COLUMN_RUNQ);
	assert_int_equal(column_find("run_time_ns"), column_of_metric(METRIC_RUN_TIME_NS));
	assert_int_equal(column_find("avg_slice_ns"), column_of_derived(DERIVED_AVG_SLICE_NS));
	assert_int_equal(column_find("thread_count"), COLUMN_THR);
	/* as the head of a TSV table has them */
	assert_int_equal(column_find("cpu_percent"), COLUMN_CPU);
	assert_int_equal(column_find("block_io_percent"), COLUMN_BLKIO);
	assert_int_equal(column_find("read_bytes_per_s"), COLUMN_READ);
	assert_int_equal(column_find("context_switches_per_s"), COLUMN_CSW);
	assert_int_equal(column_find("_percent"), COLUMN_COUNT);
	assert_int_equal(column_find("cpu/s"), COLUMN_COUNT);
	assert_int_equal(column_find(""), COLUMN_COUNT);
	assert_int_equal(tab_find("i/o"), TAB_IO);
	assert_int_equal(tab_find("Time"), TAB_TIME);
	assert_int_equal(tab_find("Delay"), TAB_TIME);
	assert_int_equal(tab_find("nothing"), TAB_COUNT);
}

static void test_needs(void **state)
{
	struct view view;
	source_set needed;
	bool cgroup_records, smaps;

	(void)state;
	view_initialise(&view);
	view.tab = TAB_RUN;
	view.width = 80;
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_true(needed & source_bit(SOURCE_SCHEDSTAT));
	assert_false(needed & source_bit(SOURCE_IO));
	assert_false(cgroup_records || smaps);
	view.filter = filter_parse("read > 0 and pss > 1M", NULL);
	view.sort = COLUMN_CGMEM;
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_true(needed & source_bit(SOURCE_IO));
	assert_true(needed & source_bit(SOURCE_SMAPS_ROLLUP));
	assert_true(cgroup_records && smaps);
	view_release(&view);
	view_initialise(&view);
	view.tab = TAB_IO;
	view.width = 80;
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_false(needed & source_bit(SOURCE_SCHEDSTATS));
	view.width = 120;
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_true(needed & source_bit(SOURCE_SCHEDSTATS));
	view.tab = TAB_ALL;
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_true(needed & source_bit(SOURCE_HIWATER));
}

/* Columns that are left out give their room to others, but what they are read from is still asked for. */
static void test_left_out(void **state)
{
	enum column columns[COLUMN_TOTAL];
	bool cgroup_records, smaps;
	source_set needed;
	struct view view;
	size_t count;

	(void)state;
	view_initialise(&view);
	view.tab = TAB_MEMORY;
	view.sort = COLUMN_RSS;
	view.width = 60;
	assert_true(view_shows(&view, COLUMN_PSS));
	assert_false(view_shows(&view, COLUMN_MAJF));
	column_set_add(&view.left_out, COLUMN_PSS);
	column_set_add(&view.left_out, COLUMN_SWAPPED);
	assert_false(view_shows(&view, COLUMN_PSS) || view_shows(&view, COLUMN_SWAPPED));
	assert_true(view_shows(&view, COLUMN_MAJF));
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_true(smaps);
	assert_true(needed & source_bit(SOURCE_STAT));
	/* what the rows are sorted by stays, and what the user chose */
	view.sort = COLUMN_PSS;
	assert_true(view_shows(&view, COLUMN_PSS));
	assert_false(view_shows(&view, COLUMN_SWAPPED));
	view.columns = (const enum column[]){COLUMN_THR, COLUMN_SWAPPED};
	view.column_count = 2;
	assert_true(view_shows(&view, COLUMN_SWAPPED));
	count = column_list_with(TAB_MEMORY, false,
				 &(struct column_choice){.width = 60, .whole = true, .sort = COLUMN_COUNT},
				 columns);
	assert_true(count > 8);
	view_release(&view);
}

/* A filter may have more comparisons than a table has columns. */
static void test_needs_of_long_filter(void **state)
{
	struct buffer text = {0};
	struct view view;
	source_set needed;
	bool cgroup_records, smaps;

	(void)state;
	view_initialise(&view);
	for (int i = 0; i < 2 * COLUMN_TOTAL; i++)
		buffer_append_text(&text, "cpu > 0 and ");
	buffer_append_text(&text, "pss > 1M");
	view.filter = filter_parse(text.data, NULL);
	view_needs(&view, &needed, &cgroup_records, &smaps);
	assert_true(smaps);
	assert_false(cgroup_records);
	view_release(&view);
	buffer_release(&text);
}

static struct task_field_owner *make_scheduler(const char *name, const char *const fields[], size_t count)
{
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, name, "task_ctx",
								     "map", "task storage", 64);

	for (uint32_t i = 0; i < count; i++)
		assert_true(task_field_owner_add_member(scheduler,
							&(struct task_field_member){.name = fields[i],
										    .type = "u64",
										    .bit_offset = 64 * i,
										    .bit_size = 64,
										    .count = 1}));
	return scheduler;
}

/* The names of fields are columns, whether anybody has met them or not. */
static void test_fields(void **state)
{
	enum column weight = column_find("scx.weight"), runtime;
	struct error error;

	(void)state;
	assert_true(column_is_task_field(weight));
	assert_string_equal(column_name(weight), "scx.weight");
	assert_int_equal(column_find("scx.Weight"), weight);
	/* another column has the bare name, and does not stand for the field */
	assert_int_equal(column_find("weight"), COLUMN_WEIGHT);
	assert_false(column_stands_for(weight, COLUMN_WEIGHT));
	assert_false(column_stands_for(weight, column_find("scx.load_weight")));
	assert_true(column_stands_for(weight, weight));
	/* what the name tells is known before the scheduler is */
	runtime = column_find("scx.sum_runtime");
	assert_string_equal(column_title(runtime, WINDOW_MODE_RATE), "SUM_RUNTIME%");
	assert_string_equal(column_title(runtime, WINDOW_MODE_BASE), "SUM_RUNTIME");
	assert_int_equal(column_entry(runtime)->unit, UNIT_NS);
	assert_int_equal(column_find("scx.sum_runtime%"), runtime);
	assert_int_equal(column_find("scx.sum_runtime_percent"), runtime);
	assert_int_equal(column_find("sum_runtime"), runtime);
	assert_int_equal(column_find("SUM_RUNTIME%"), runtime);
	assert_false(column_is_text(runtime) || column_has_metrics(runtime));
	assert_int_equal(column_find("scx."), COLUMN_COUNT);
	assert_int_equal(column_find("scx.a b"), COLUMN_COUNT);
	assert_int_equal(column_find("nobody_has_met_this"), COLUMN_COUNT);
	assert_int_equal(column_refuse("scx.sum_runtme!", &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean scx.sum_runtime"));
}

/* The tab of a scheduler has its fields, those that matter first, and forgets those of the one before. */
static void test_scheduler(void **state)
{
	static const char *const rusty_fields[] = {"dom_mask", "sum_runtime", "weight"};
	static const char *const lavd_fields[] = {"flags", "lat_cri"};
	struct task_field_owner *rusty = make_scheduler("rusty_1.1.4", rusty_fields, 3);
	struct task_field_owner *lavd = make_scheduler("lavd_1.1.4", lavd_fields, 2);
	enum column columns[COLUMN_TOTAL];
	struct view view;

	(void)state;
	view_initialise(&view);
	assert_false(view_needs_task_fields(&view));
	assert_false(view_set_scheduler(&view, NULL));
	assert_true(view_set_scheduler(&view, rusty));
	assert_false(view_set_scheduler(&view, rusty));
	assert_int_equal(view.sort, COLUMN_CPU);
	view_set_tab(&view, TAB_TASK_FIELDS);
	assert_true(view_needs_task_fields(&view));
	assert_int_equal(view_columns(&view, columns), 5);
	assert_int_equal(columns[0], COLUMN_THR);
	assert_int_equal(columns[1], COLUMN_EXT);
	assert_string_equal(column_name(columns[2]), "scx.sum_runtime");
	assert_string_equal(column_name(columns[3]), "scx.weight");
	assert_string_equal(column_name(columns[4]), "scx.dom_mask");
	assert_int_equal(view.sort, columns[2]);
	/* as many as fit, and the one that the table is sorted by */
	view.width = 40;
	view.sort = columns[4];
	assert_int_equal(view_columns(&view, columns), 3);
	assert_string_equal(column_name(columns[2]), "scx.dom_mask");
	view.width = 0;
	view.sort_chosen = true;
	assert_true(view_set_scheduler(&view, lavd));
	assert_int_equal(view_columns(&view, columns), 4);
	assert_string_equal(column_name(columns[2]), "scx.lat_cri");
	assert_int_equal(view.sort, columns[2]);
	assert_true(view_set_scheduler(&view, NULL));
	assert_int_equal(view_columns(&view, columns), 2);
	assert_int_equal(view.sort, COLUMN_EXT);
	view_set_tab(&view, TAB_OVERVIEW);
	assert_false(view_needs_task_fields(&view));
	view.sort = column_find("scx.weight");
	assert_true(view_needs_task_fields(&view));
	view_release(&view);
	task_field_owner_release(rusty);
	task_field_owner_release(lavd);
}

/* Opening goes cgroup, process, process id, thread pattern, threads, and never to an axis twice. */
static void test_open(void **state)
{
	struct view view, copy;

	(void)state;
	view_initialise(&view);
	view.grouping.axis = AXIS_CGROUP;
	assert_true(view_open(&view, "/a", 2, "/a", 2));
	assert_int_equal(view.grouping.axis, AXIS_PROCESS);
	assert_true(view_open(&view, "p", 1, "p", 1));
	assert_int_equal(view.grouping.axis, AXIS_PID);
	assert_true(view_open(&view, "7:1", 3, "7 p", 3));
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	view.filter = filter_parse("x", NULL);
	view_copy(&copy, &view);
	assert_true(view_open(&view, "t", 1, "t", 1));
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	assert_false(view_open(&view, "1:2", 3, "1:2", 3));
	assert_int_equal(copy.step_count, 3);
	assert_string_equal(copy.steps[1].key, "p");
	assert_string_equal(copy.steps[2].label, "7 p");
	assert_string_equal(filter_text(copy.filter), "x");
	view_release(&view);
	assert_string_equal(copy.steps[0].key, "/a");
	view_release(&copy);
	view_initialise(&view);
	view.grouping.axis = AXIS_THREAD;
	assert_true(view_open(&view, "t", 1, "t", 1));
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	view_release(&view);
	/* a user has processes, and a process only one name */
	view_initialise(&view);
	view.grouping.axis = AXIS_USER;
	assert_true(view_open(&view, "0", 1, "root", 4));
	assert_int_equal(view.grouping.axis, AXIS_PROCESS);
	view.grouping.axis = AXIS_PID;
	assert_true(view_open(&view, "7:1", 3, "7 p", 3));
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	view_release(&view);
	/* nobody knows which process of after one of before is */
	view_initialise(&view);
	view.compares = true;
	assert_true(view_open(&view, "p", 1, "p", 1));
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	view_release(&view);
}

/* A step that was taken because there was no choice is left together with the one before. */
static void test_close(void **state)
{
	struct view view;
	size_t length;
	char *key;

	(void)state;
	view_initialise(&view);
	assert_true(view_open(&view, "p", 1, "p", 1));
	assert_true(view_open(&view, "1:1", 3, "1 p", 3));
	assert_true(view_open(&view, "only", 4, "only", 4));
	view.steps[1].automatic = view.steps[2].automatic = true;
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	key = view_close(&view, &length);
	assert_string_equal(key, "p");
	assert_int_equal(length, 1);
	free(key);
	assert_int_equal(view.step_count, 0);
	assert_int_equal(view.level, VIEW_LEVEL_GROUPS);
	assert_int_equal(view.grouping.axis, AXIS_PROCESS);
	assert_null(view_close(&view, &length));
	view_release(&view);
}

/* An order comes along to tabs that have its column; each keeps what was chosen on it. */
static void test_sort_of_tabs(void **state)
{
	struct view view;

	(void)state;
	view_initialise(&view);
	view.sort = COLUMN_ALLOC;
	view.sort_chosen = true;
	view.sort_tab = view.tab;
	/* Memory has no allocations: not an order of rows without a number */
	view_set_tab(&view, TAB_MEMORY);
	assert_int_equal(view.sort, COLUMN_RSS);
	assert_false(view.sort_chosen);
	view.sort = COLUMN_PSS;
	view.sort_ascending = view.sort_chosen = true;
	view.sort_tab = view.tab;
	view_set_tab(&view, TAB_HEAP);
	assert_int_equal(view.sort, COLUMN_ALLOC);
	assert_false(view.sort_ascending);
	view_set_tab(&view, TAB_OVERVIEW);
	assert_int_equal(view.sort, COLUMN_ALLOC);
	assert_true(view.sort_chosen);
	/* what came along was not chosen there */
	view_set_tab(&view, TAB_HEAP);
	assert_int_equal(view.sort, COLUMN_ALLOC);
	assert_true(view.sort_chosen);
	view_set_tab(&view, TAB_IO);
	assert_int_equal(view.sort, COLUMN_RW);
	view_set_tab(&view, TAB_MEMORY);
	assert_int_equal(view.sort, COLUMN_PSS);
	assert_true(view.sort_ascending);
	/* every tab has names */
	view.sort_by_name = true;
	view_set_tab(&view, TAB_TIME);
	assert_true(view.sort_by_name);
	view_forget_sort(&view);
	assert_int_equal(view.sort, COLUMN_LOST);
	view_set_tab(&view, TAB_MEMORY);
	assert_true(view.sort_by_name);
	/* until it is known that the column cannot be read */
	view_forget_sort(&view);
	view_set_tab(&view, TAB_TIME);
	view_set_tab(&view, TAB_MEMORY);
	assert_int_equal(view.sort, COLUMN_RSS);
	assert_false(view.sort_by_name);
	view_release(&view);
}

/* Columns that add up, have lower bounds, or may be negative. */
static void test_sums_and_bounds(void **state)
{
	static const struct {
		const char *name;
		bool adds_up, has_lower_bounds, may_be_negative;
	} cases[] = {
		{"cpu", true, true, false},
		{"run_time_ns", true, true, false},
		{"thread_count", true, true, false},
		{"THR", true, true, false},
		{"lost", true, true, false},
		{"resident", true, true, false},
		{"stuck", true, true, false},
		{"born", true, true, false},
		{"run_queue_waits", true, true, false},
		{"run_queue_p99", false, true, false},
		{"cgroup_cpu", true, true, false},
		{"memory_current", true, true, false},
		{"oom_kills", true, true, false},
		{"memory_max", false, true, false},
		{"peak_resident", false, true, false},
		{"wait_max", false, true, false},
		{"waiting", false, true, false},
		{"wait_share", false, false, false},
		{"mean_slice", false, false, false},
		{"cpu_efficiency", false, false, false},
		{"net_allocated", true, false, true},
		{"live_heap_estimate", true, false, true},
		{"live", true, false, true},
		{"resident_growth", true, false, true},
		{"nice", false, false, true},
		{"rt_priority", false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum column column = column_find(cases[i].name);

		if (column == COLUMN_COUNT || column_adds_up(column) != cases[i].adds_up ||
		    column_has_lower_bounds(column) != cases[i].has_lower_bounds ||
		    column_may_be_negative(column) != cases[i].may_be_negative)
			fail_msg("%s", cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort_of_tabs),
		cmocka_unit_test(test_tabs),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_identity_columns),
		cmocka_unit_test(test_rows_of_waits),
		cmocka_unit_test(test_command_first),
		cmocka_unit_test(test_all_tab),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_needs_of_long_filter),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_scheduler),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_sums_and_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
