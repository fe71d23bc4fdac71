/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison: rows, order, sides, threads, what is said of them. */
#include "session/session_fixture.h"

#include <string.h>

#include "compare/compare.h"
#include "table/screen_format.h"

#define S(n) MS((n)*1000)

enum {
	BEFORE_SECONDS = 100,
	AFTER_SECONDS = 110,
};

static struct snapshot *begin(double seconds)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);

	snapshot->provenance.boot_id = "boot";
	return snapshot;
}

static size_t add(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *process,
		  const char *name, double start, uint64_t run, uint64_t wait)
{
	size_t thread = fixture_thread(snapshot, tgid, tid, process, name, start);

	fixture_cgroup(snapshot, thread, "/app");
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, run);
	fixture_set(snapshot, thread, METRIC_WAIT_TIME_NS, wait);
	return thread;
}

/*
 * web loses worker-3 and gains worker-4, whose others wait for 2 s and 1 s more; pool is restarted; old goes,
 * new comes; idle does nothing.
 */
static struct snapshot *make_before(void)
{
	struct snapshot *snapshot = begin(BEFORE_SECONDS);

	add(snapshot, 10, 11, "web", "worker-1", 1, S(10), S(1));
	add(snapshot, 10, 12, "web", "worker-2", 1, S(10), S(1));
	add(snapshot, 10, 13, "web", "worker-3", 1, S(10), S(1));
	add(snapshot, 20, 20, "idle", "idle", 1, S(7), S(7));
	add(snapshot, 30, 30, "old", "old", 1, S(3), S(3));
	add(snapshot, 50, 50, "pool", "pool", 1, S(5), S(5));
	snapshot_finish(snapshot);
	return snapshot;
}

static struct snapshot *make_after(void)
{
	struct snapshot *snapshot = begin(AFTER_SECONDS);

	add(snapshot, 10, 11, "web", "worker-1", 1, S(10), S(3));
	add(snapshot, 10, 12, "web", "worker-2", 1, S(10), S(2));
	add(snapshot, 10, 14, "web", "worker-4", 105, 0, MS(500));
	add(snapshot, 20, 20, "idle", "idle", 1, S(7), S(7));
	add(snapshot, 40, 40, "new", "new", 106, S(2), 0);
	add(snapshot, 60, 60, "pool", "pool", 107, S(1), S(1));
	snapshot_finish(snapshot);
	return snapshot;
}

/* The comparison of a test, the view of it and the table drawn last. */
static struct comparison *comparison;
static struct view view;
static struct table *table;

/* Compares two snapshots, which it takes over. */
static void compare(struct snapshot *before, struct snapshot *after)
{
	compare_release(comparison);
	comparison = compare_create(before);
	compare_set_after(comparison, after);
	snapshot_release(after);
}

static void view_of(enum axis axis)
{
	view_release(&view);
	view_initialise(&view);
	view.grouping.axis = axis;
	view.mode = WINDOW_MODE_TOTAL;
	view.compares = true;
}

static int open_example(void **state)
{
	(void)state;
	compare(make_before(), make_after());
	view_of(AXIS_PROCESS);
	return 0;
}

static int close_example(void **state)
{
	(void)state;
	table_release(table);
	view_release(&view);
	compare_release(comparison);
	table = NULL;
	comparison = NULL;
	return 0;
}

static void draw(void)
{
	table_release(table);
	table = compare_table(comparison, &view);
}

static const struct table_row *find_row(const char *label, const char *metric)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];

		if (row->label_length == strlen(label) && memcmp(row->label, label, row->label_length) == 0 &&
		    strcmp(column_name((enum column)row->metric), metric) == 0)
			return row;
	}
	return NULL;
}

/* Cells as "threads before after change percent", without a column that the table leaves out. */
static const char *shown_row(const char *label, const char *metric)
{
	const struct table_row *row = find_row(label, metric);
	static char text[256];
	struct buffer buffer = {0};

	assert_non_null(row);
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].column == COMPARE_COLUMN_ID(COMPARE_COLUMN_METRIC))
			continue;
		if (buffer.length != 0)
			buffer_append_char(&buffer, ' ');
		screen_format_cell(&buffer, &row->cells[i], &screen_marks_ascii);
	}
	assert_true(buffer.length < sizeof(text));
	memcpy(text, buffer.data, buffer.length + 1);
	buffer_release(&buffer);
	return text;
}

static void test_rows_of_threads(void **state)
{
	(void)state;
	assert_true(compare_by_threads(comparison));
	draw();
	/* what worker-3 had waited is not subtracted, what worker-4 waited since it started is added */
	assert_string_equal(shown_row("web", "wait_time_ns"), "3 2.0s 5.5s +3.5s +175.0%");
	assert_string_equal(shown_row("new", "run_time_ns"), "0>1 - 2.0s +2.0s new");
	assert_string_equal(shown_row("pool", "run_time_ns"), "1 0 1.0s +1.0s ");
	assert_string_equal(shown_row("old", "thread_count"), "1>0 1 - - gone");
	assert_null(find_row("idle", "run_time_ns"));
	assert_null(find_row("web", "run_time_ns"));
	assert_int_equal(find_row("web", "wait_time_ns")->mark, ROW_MARK_NONE);
	assert_int_equal(find_row("new", "run_time_ns")->mark, ROW_MARK_NEW);
	assert_int_equal(find_row("old", "thread_count")->mark, ROW_MARK_LEFT);
	assert_int_equal(find_row("pool", "run_time_ns")->mark, ROW_MARK_RESTARTED);
	/* most of all waiting, but not all, came to web; all running but a second to new */
	assert_ptr_equal(&table->rows[0], find_row("web", "wait_time_ns"));
	assert_ptr_equal(&table->rows[1], find_row("new", "run_time_ns"));
}

static void test_rows_of_groups(void **state)
{
	(void)state;
	assert_int_equal(compare_set_by_threads(comparison, false, NULL), 0);
	draw();
	assert_string_equal(shown_row("web", "wait_time_ns"), "3 3.0s 5.5s +2.5s +83.3%");
	assert_string_equal(shown_row("pool", "run_time_ns"), "1 5.0s 1.0s -4.0s -80.0%");
	assert_string_equal(shown_row("new", "run_time_ns"), "0>1 - 2.0s - new");
	assert_string_equal(shown_row("old", "run_time_ns"), "1>0 3.0s - - gone");
}

/* Every row is there with the other sign, in the same order. */
static void expect_negated(enum axis axis)
{
	struct table *before, *after;

	view_of(axis);
	view.tab = TAB_ALL;
	before = compare_table(comparison, &view);
	compare_swap(comparison);
	after = compare_table(comparison, &view);
	compare_swap(comparison);
	assert_true(before->row_count > 1);
	assert_int_equal(before->row_count, after->row_count);
	for (size_t i = 0; i < before->row_count; i++) {
		const struct cell *cells = before->rows[i].cells, *swapped = after->rows[i].cells;
		struct buffer a = {0}, b = {0};

		assert_int_equal(before->rows[i].key_length, after->rows[i].key_length);
		assert_memory_equal(before->rows[i].key, after->rows[i].key, before->rows[i].key_length);
		screen_format_cell(&a, &cells[COMPARE_COLUMN_CHANGE], &screen_marks_ascii);
		screen_format_cell(&b, &swapped[COMPARE_COLUMN_CHANGE], &screen_marks_ascii);
		if (*a.data == '+' || (*a.data == '-' && a.length > 1)) {
			assert_int_equal(*b.data, *a.data == '+' ? '-' : '+');
			assert_string_equal(a.data + 1, b.data + 1);
		} else {
			assert_string_equal(a.data, b.data);
		}
		buffer_clear(&a);
		buffer_clear(&b);
		screen_format_cell(&a, &cells[COMPARE_COLUMN_BEFORE], &screen_marks_ascii);
		screen_format_cell(&b, &swapped[COMPARE_COLUMN_AFTER], &screen_marks_ascii);
		assert_string_equal(a.data, b.data);
		buffer_release(&a);
		buffer_release(&b);
	}
	table_release(before);
	table_release(after);
}

static void test_swap_negates(void **state)
{
	(void)state;
	for (enum axis axis = 0; axis < AXIS_COUNT; axis++) {
		compare_set_by_threads(comparison, true, NULL);
		expect_negated(axis);
		compare_set_by_threads(comparison, false, NULL);
		expect_negated(axis);
	}
}

static void test_same_file_has_no_rows(void **state)
{
	struct snapshot *snapshot = make_before();

	(void)state;
	compare(snapshot_reference(snapshot), snapshot);
	view_of(AXIS_ALL);
	view.tab = TAB_ALL;
	draw();
	assert_int_equal(table->row_count, 0);
	view.equal_rows = true;
	draw();
	assert_true(table->row_count > 100);
	assert_string_equal(shown_row("idle  /app", "run_time_ns"), "1 7.0s 7.0s 0 0%");
}

/* Without a word on why, a change to or from what was not read is no change. */
static void test_unavailable_side(void **state)
{
	struct snapshot *before = make_before(), *after = make_after();
	const struct cell *cell;

	(void)state;
	snapshot_source_reasons(after, metrics[METRIC_WAIT_TIME_NS].source)[0] = REASON_NOT_PERMITTED;
	after->metric_source[METRIC_WAIT_TIME_NS] = metrics[METRIC_WAIT_TIME_NS].source;
	compare(before, after);
	draw();
	assert_null(find_row("web", "wait_time_ns"));
	view.equal_rows = true;
	draw();
	assert_string_equal(shown_row("web", "wait_time_ns"), "3 2.0s >2.5s ? ?");
	cell = &find_row("web", "wait_time_ns")->cells[COMPARE_COLUMN_CHANGE];
	assert_int_equal(cell->state, CELL_UNAVAILABLE);
	assert_int_equal(cell->reason, REASON_NOT_PERMITTED);
}

static void expect_same_order(const struct table *left, const struct table *right)
{
	assert_int_equal(left->row_count, right->row_count);
	for (size_t i = 0; i < left->row_count; i++) {
		assert_int_equal(left->rows[i].subject, right->rows[i].subject);
		assert_int_equal(left->rows[i].metric, right->rows[i].metric);
	}
}

static double sorted_number(const struct table_row *row, enum compare_column column)
{
	const struct cell *cell = &row->cells[column];

	if (cell->state != CELL_VALUE || cell->form == CELL_FORM_TEXT)
		return -1;
	return cell->form == CELL_FORM_INTEGER ? (double)cell->value.integer : cell->value.real;
}

static void test_order_is_stable(void **state)
{
	struct table *first, *second;

	(void)state;
	view_of(AXIS_THREAD);
	view.tab = TAB_ALL;
	view.equal_rows = true;
	for (enum compare_column column = 0; column <= COMPARE_COLUMN_COUNT; column++) {
		for (int ascending = 0; ascending < 2; ascending++) {
			view.sort_by_name = column == COMPARE_COLUMN_COUNT;
			view.compare_sort = view.sort_by_name ? COMPARE_COLUMN_CHANGE : column;
			view.sort_ascending = ascending != 0;
			first = compare_table(comparison, &view);
			second = compare_table(comparison, &view);
			expect_same_order(first, second);
			table_release(first);
			table_release(second);
		}
	}
	view.sort_by_name = view.sort_ascending = false;
	view.compare_sort = COMPARE_COLUMN_AFTER;
	view.focus = column_of_metric(METRIC_WAIT_TIME_NS);
	first = compare_table(comparison, &view);
	/* one metric: its column is left out */
	assert_int_equal(first->column_count, COMPARE_COLUMN_COUNT - 1);
	for (size_t i = 1; i < first->row_count; i++)
		assert_true(sorted_number(&first->rows[i - 1], 2) >= sorted_number(&first->rows[i], 2));
	table_release(first);
}

/* Opens the row of a metric as the screen does. */
static void open_row(const char *label, const char *metric)
{
	const struct table_row *row;

	draw();
	row = find_row(label, metric);
	assert_non_null(row);
	assert_string_equal(row->key, metric);
	assert_true(view_open(&view, row->key + row->key_name, row->key_length - row->key_name, row->label,
			      row->label_length));
	view.focus = (enum column)row->metric;
}

static void test_opening_leads_to_threads(void **state)
{
	struct buffer note = {0};

	(void)state;
	open_row("web", "wait_time_ns");
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	open_row("worker-{N}", "wait_time_ns");
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	draw();
	assert_int_equal(table->row_count, 4);
	assert_string_equal(shown_row("worker-1", "wait_time_ns"), "1.0s 3.0s +2.0s +200.0%");
	assert_string_equal(shown_row("worker-2", "wait_time_ns"), "1.0s 2.0s +1.0s +100.0%");
	assert_string_equal(shown_row("worker-4", "wait_time_ns"), "- 500ms +500ms new");
	assert_string_equal(shown_row("worker-3", "wait_time_ns"), "1.0s - - gone");
	assert_int_equal(table->rows[0].tid, 11);
	assert_int_equal(find_row("worker-3", "wait_time_ns")->mark, ROW_MARK_LEFT);
	compare_append_note(comparison, &table->rows[0], &note);
	assert_string_equal(note.data, "worker-1: the same thread");
	buffer_release(&note);
}

/* A thread with another name or cgroup is still itself. */
static void test_renamed_thread(void **state)
{
	struct snapshot *before = begin(BEFORE_SECONDS), *after = begin(AFTER_SECONDS);

	(void)state;
	add(before, 1, 1, "kworker", "kworker/0:1-events", 1, S(10), 0);
	add(after, 1, 1, "kworker", "kworker/0:1-mm", 1, S(11), 0);
	snapshot_finish(before);
	snapshot_finish(after);
	compare(before, after);
	view_of(AXIS_THREAD_EXACT);
	draw();
	assert_int_equal(table->row_count, 1);
	assert_string_equal(shown_row("kworker/0:1-mm", "run_time_ns"), "1 10.0s 11.0s +1.0s +10.0%");
}

static void test_other_boot(void **state)
{
	struct snapshot *before = make_before();
	struct diff_match_count threads;
	struct error error;

	(void)state;
	before->provenance.boot_id = "other";
	compare(before, make_after());
	assert_int_equal(compare_boot(comparison), COMPARE_BOOT_OTHER);
	assert_false(compare_by_threads(comparison));
	assert_true(compare_set_by_threads(comparison, true, &error) < 0);
	assert_non_null(strstr(error.text, "one boot"));
	assert_false(compare_count_threads(comparison, &threads));
	expect_negated(AXIS_PROCESS);
	/* no thread is taken for another with its numbers */
	view_of(AXIS_PROCESS);
	open_row("web", "wait_time_ns");
	open_row("worker-{N}", "wait_time_ns");
	draw();
	assert_int_equal(table->row_count, 6);
	for (size_t i = 0; i < table->row_count; i++)
		assert_true(table->rows[i].mark == ROW_MARK_NEW || table->rows[i].mark == ROW_MARK_LEFT);
}

static void test_counts(void **state)
{
	struct diff_match_count threads;
	struct buffer note = {0};

	(void)state;
	assert_true(compare_count_threads(comparison, &threads));
	assert_int_equal(threads.same, 3);
	assert_int_equal(threads.came, 3);
	assert_int_equal(threads.went, 3);
	assert_int_equal(compare_distance_ns(comparison), S(10));
	draw();
	assert_int_equal(table->row_total, table->row_count);
	compare_append_note(comparison, find_row("web", "wait_time_ns"), &note);
	assert_string_equal(note.data, "web: 2 threads the same, 1 came, 1 gone");
	buffer_clear(&note);
	compare_append_note(comparison, find_row("pool", "run_time_ns"), &note);
	assert_string_equal(note.data, "pool: restarted, none of its threads is the same");
	buffer_release(&note);
}

static void set_filter(const char *text)
{
	struct error error;

	filter_release(view.filter);
	view.filter = filter_parse(text, &error);
	if (view.filter == NULL)
		fail_msg("%s: %s", text, error.text);
}

static void test_filter(void **state)
{
	(void)state;
	set_filter("wait_time");
	draw();
	assert_true(table->row_count == 2);
	set_filter("web");
	draw();
	assert_true(table->row_count >= 1);
	for (size_t i = 0; i < table->row_count; i++)
		assert_string_equal(table->rows[i].label, "web");
	/* a number is that of the change */
	set_filter("wait_time_ns > 2s");
	draw();
	assert_non_null(find_row("web", "wait_time_ns"));
	assert_null(find_row("pool", "wait_time_ns"));
}

/* A capture of web at `seconds` that has run so long in 100 slices for each s and waited. */
static struct snapshot *web_at(double seconds, uint64_t run, uint64_t wait)
{
	struct snapshot *snapshot = begin(seconds);
	const size_t thread = add(snapshot, 10, 11, "web", "worker-1", 1, run, wait);

	fixture_set(snapshot, thread, METRIC_TIMESLICES, run / MS(10));
	fixture_set(snapshot, thread, METRIC_UTIME_CLOCK_TICKS, run / NS_PER_TICK);
	snapshot_finish(snapshot);
	return snapshot;
}

/* The later of two captures with the window since the other, which it takes over. */
static struct snapshot *since(struct snapshot *from, struct snapshot *now)
{
	now->window = memory_allocate_zero(1, sizeof(*now->window));
	now->window->from = from;
	now->window->from_of = memory_allocate_zero(1, sizeof(*now->window->from_of));
	now->window->thread_count = 1;
	return now;
}

/* Expects that a filter leaves these metrics of web, with blanks between. */
static void expect_filtered(const char *text, const char *left)
{
	struct buffer found = {0};

	set_filter(text);
	draw();
	for (size_t i = 0; i < table->row_count; i++)
		buffer_append_format(&found, "%s%s", i > 0 ? " " : "",
				     column_name((enum column)table->rows[i].metric));
	buffer_append_char(&found, 0);
	assert_string_equal(found.data, left);
	buffer_release(&found);
}

/* Numbers of a filter are those of the change as rules take them: of two windows, shares of time and rates.
 */
static void test_filter_numbers(void **state)
{
	(void)state;
	/* from 10 % of a CPU to 30 %, in slices of 10 ms; waits from 20 % to 5 % */
	compare(since(web_at(100, S(10), S(1)), web_at(110, S(11), S(3))),
		since(web_at(110, S(11), S(3)), web_at(120, S(14), MS(3500))));
	view_of(AXIS_PROCESS);
	view.focus = column_of_stored(METRIC_RUN_TIME_NS);
	expect_filtered("cpu% > 19", "run_time_ns");
	expect_filtered("cpu% > 21", "");
	expect_filtered("cpu > 19", "run_time_ns");
	expect_filtered("run_time_ns > 190ms and run_time_ns < 210ms", "run_time_ns");
	expect_filtered("user% > 19 and user% < 21", "run_time_ns");
	expect_filtered("runq% < -14 and runq% > -16", "run_time_ns");
	/* a mean is no sum of its inputs' changes */
	expect_filtered("slice > 0", "");
	expect_filtered("slice = 0", "run_time_ns");
	/* lives have amounts and no rates */
	compare(web_at(100, S(10), S(1)), web_at(110, S(12), S(1)));
	view_of(AXIS_PROCESS);
	view.focus = column_of_stored(METRIC_RUN_TIME_NS);
	expect_filtered("cpu > 1900ms and cpu < 2100ms", "run_time_ns");
	expect_filtered("utime_clock_ticks > 1900ms and utime_clock_ticks < 2100ms", "run_time_ns");
	expect_filtered("cpu% > 1", "");
	assert_int_equal(filter_rate(view.filter), COLUMN_CPU);
}

/* Adds a process that ended within the window of a snapshot after `run` ns of CPU time. */
static void add_ended(struct snapshot *snapshot, const char *process, const char *name, bool kernel,
		      uint64_t run)
{
	struct ended *ended = &snapshot->window->ended;
	struct ended_record record = {.threads = 1, .kernel = kernel};
	struct triple names;

	if (ended->names == NULL)
		ended->names = snapshot_create();
	names.pcomm = string_pool_intern(&ended->names->strings, process, strlen(process));
	names.comm = string_pool_intern(&ended->names->strings, name, strlen(name));
	names.cgroup = string_pool_intern(&ended->names->strings, "/app", strlen("/app"));
	snapshot_intern_triple(ended->names, names);
	record.states[METRIC_RUN_TIME_NS] = ENDED_COUNTED;
	record.amounts[METRIC_RUN_TIME_NS] = run;
	*MEMORY_APPEND(ended->records, ended->count, ended->capacity) = record;
}

static const char *run_of(const char *label)
{
	draw();
	return find_row(label, "run_time_ns") != NULL ? shown_row(label, "run_time_ns") : "";
}

/* Filters apply to ended threads, too, by their known properties. */
static void test_narrowed_ended(void **state)
{
	static const char whole[] = "1 100ms 800ms +700ms +700.0%",
			  workers[] = "1 100ms 700ms +600ms +600.0%", came[] = "0 - 200ms - new";
	struct snapshot *after = since(web_at(110, S(11), S(3)), web_at(120, S(14), MS(3500)));

	(void)state;
	add_ended(after, "web", "worker-7", false, S(4));
	add_ended(after, "web", "helper", false, S(1));
	add_ended(after, "make", "make", false, S(2));
	add_ended(after, "kworker", "kworker", true, S(2));
	compare(since(web_at(100, S(10), S(1)), web_at(110, S(11), S(3))), after);
	view_of(AXIS_PROCESS);
	view.tab = TAB_ALL;
	assert_string_equal(run_of("web"), whole);
	assert_string_equal(run_of("kworker"), came);
	view.hide_kernel_threads = true;
	assert_string_equal(run_of("web"), whole);
	assert_string_equal(run_of("make"), came);
	assert_string_equal(run_of("kworker"), "");
	set_filter("process = web");
	assert_string_equal(run_of("web"), whole);
	assert_string_equal(run_of("make"), "");
	set_filter("thread = worker-*");
	assert_string_equal(run_of("web"), workers);
	/* a name that only an ended thread had */
	set_filter("process = make or helper");
	assert_string_equal(run_of("make"), came);
	set_filter("user = root");
	assert_string_equal(run_of("make"), "");
	filter_release(view.filter);
	view.filter = NULL;
	assert_true(view_open(&view, "web", 3, "web", 3));
	view.grouping.axis = AXIS_THREAD;
	assert_string_equal(run_of("helper"), "0 - 100ms - new");
	assert_string_equal(run_of("worker-{N}"), workers);
	assert_string_equal(run_of("make"), "");
}

/* Conditions on threads narrow both sides, and the joins that are kept tell them apart. */
static void test_filter_threads(void **state)
{
	(void)state;
	draw();
	assert_string_equal(shown_row("web", "wait_time_ns"), "3 2.0s 5.5s +3.5s +175.0%");
	set_filter("tid = 11");
	draw();
	assert_string_equal(shown_row("web", "wait_time_ns"), "1 1.0s 3.0s +2.0s +200.0%");
	assert_null(find_row("new", "run_time_ns"));
	assert_true(view_open(&view, "web", 3, "web", 3));
	view.level = VIEW_LEVEL_THREADS;
	draw();
	for (size_t i = 0; i < table->row_count; i++)
		assert_int_equal(table->rows[i].tid, 11);
	assert_true(table->row_count > 0);
	view_of(AXIS_PROCESS);
	/* a row that has such a thread, on either side */
	set_filter("tid = 13 or wait_time_ns > 100s");
	draw();
	assert_string_equal(shown_row("web", "wait_time_ns"), "3 2.0s 5.5s +3.5s +175.0%");
	assert_null(find_row("new", "run_time_ns"));
	/* a name of a member */
	view.grouping.axis = AXIS_THREAD;
	set_filter("worker-4");
	draw();
	assert_non_null(find_row("worker-{N}", "wait_time_ns"));
	assert_null(find_row("new", "run_time_ns"));
}

/* Every tab has metrics, but for those of cgroup records and of latency. */
static void test_metrics_of_tabs(void **state)
{
	enum column wanted[COLUMN_TOTAL];

	(void)state;
	for (enum tab tab = 0; tab < TAB_COUNT; tab++) {
		size_t count;

		view.tab = tab;
		count = compare_metrics(&view, wanted);
		assert_true(count > 1 || tab == TAB_CGROUP || tab == TAB_LATENCY);
		for (size_t i = 0; i < count; i++) {
			assert_true(wanted[i] != COLUMN_COUNT && wanted[i] < COLUMN_TOTAL);
			for (size_t k = 0; k < i; k++)
				assert_true(wanted[k] != wanted[i]);
		}
	}
	view.tab = TAB_ALL;
	assert_int_equal(compare_metrics(&view, wanted), METRIC_COUNT + (int)DERIVED_COUNT);
	view.focus = COLUMN_CPU;
	assert_int_equal(compare_metrics(&view, wanted), 1);
	assert_int_equal(wanted[0], COLUMN_METRICS + (int)METRIC_RUN_TIME_NS);
}

/* A newer round becomes after; rows keep their keys. */
static void test_live(void **state)
{
	struct snapshot *now = make_after(), *later = begin(AFTER_SECONDS + 2);
	const struct table_row *row;
	struct diff_match_count threads;
	struct table *first;

	(void)state;
	compare_release(comparison);
	comparison = compare_create(make_before());
	draw();
	assert_int_equal(table->row_count, 0);
	/* before the first round there is nothing to ask */
	assert_false(compare_by_threads(comparison));
	assert_true(compare_set_by_threads(comparison, true, NULL) < 0);
	assert_null(compare_doubts(comparison));
	assert_false(compare_count_threads(comparison, &threads));
	compare_swap(comparison);
	compare_swap(comparison);
	compare_set_after(comparison, NULL);
	assert_null(compare_side(comparison, DIFF_AFTER));
	assert_null(compare_metric_table(comparison, &view, "", 0));
	compare_set_after(comparison, now);
	snapshot_release(now);
	draw();
	add(later, 10, 11, "web", "worker-1", 1, S(10), S(9));
	snapshot_finish(later);
	compare_set_after(comparison, later);
	snapshot_release(later);
	row = find_row("web", "wait_time_ns");
	first = table;
	table = NULL;
	draw();
	assert_string_equal(shown_row("web", "wait_time_ns"), "3>1 1.0s 9.0s +8.0s +800.0%");
	assert_int_equal(row->key_length, find_row("web", "wait_time_ns")->key_length);
	assert_memory_equal(row->key, find_row("web", "wait_time_ns")->key, row->key_length);
	table_release(first);
}

static void test_details(void **state)
{
	struct buffer lines = {0};
	struct table *all;
	const struct table_row *row;

	(void)state;
	draw();
	row = find_row("web", "wait_time_ns");
	all = compare_metric_table(comparison, &view, row->key, row->key_length);
	/* and resident, proportional and swapped memory, and what it was at most */
	assert_int_equal(all->row_count, METRIC_COUNT + (int)DERIVED_COUNT + 4);
	table_release(all);
	assert_null(compare_metric_table(comparison, &view, "wait_time_ns", 12));
	compare_explain(comparison, &view, row->key, row->key_length, &lines);
	assert_non_null(strstr(lines.data, "Before: 2,000,000,000 ns"));
	assert_non_null(strstr(lines.data, "After: 5,500,000,000 ns"));
	assert_non_null(strstr(lines.data, "Change: +3,500,000,000 ns, +175.0 percent"));
	assert_non_null(strstr(lines.data, "Threads: 2 the same, 1 came, 1 gone."));
	buffer_release(&lines);
}

static void add_memory(struct snapshot *snapshot, size_t thread, uint64_t rss_kib)
{
	struct smaps_record *record = snapshot_add_smaps(snapshot, thread);

	record->kib.items = arena_allocate_zero(&snapshot->arena, 1, sizeof(*record->kib.items));
	record->kib.items[0].key = string_pool_intern(&snapshot->strings, "Rss", 3);
	record->kib.items[0].value = rss_kib;
	record->kib.count = 1;
}

static void add_cgroup(struct snapshot *snapshot, const char *path, uint64_t usage_us, uint64_t quota_us)
{
	struct cgroup_record *record = snapshot_add_cgroup(
		snapshot, string_pool_intern(&snapshot->strings, path, strlen(path)));

	record->usage_usec = usage_us;
	record->max_quota_us.present = quota_us != 0;
	record->max_quota_us.value = quota_us;
}

/* Memory of processes and numbers of cgroups stand in records. */
static void test_records(void **state)
{
	struct snapshot *before = begin(BEFORE_SECONDS), *after = begin(AFTER_SECONDS);

	(void)state;
	add_memory(before, add(before, 1, 1, "db", "db", 1, 0, 0), 1024);
	add(after, 9, 9, "other", "other", 105, 0, 0);
	add_memory(after, add(after, 1, 1, "db", "db", 1, 0, 0), 4096);
	add_cgroup(before, "/app", 1000000, 0);
	add_cgroup(after, "/app", 3000000, 50000);
	snapshot_finish(before);
	snapshot_finish(after);
	compare(before, after);
	view.tab = TAB_MEMORY;
	draw();
	assert_string_equal(shown_row("db", "resident"), "1 1.0M 4.0M +3.0M +300.0%");
	assert_null(find_row("db", "proportional"));
	view.grouping.axis = AXIS_CGROUP;
	view.tab = TAB_CGROUP;
	view.equal_rows = true;
	draw();
	assert_string_equal(shown_row("/app", "cgroup_cpu"), "1>2 1.0s 3.0s +2.0s +200.0%");
	/* there was no limit: no number to take a change from */
	assert_string_equal(shown_row("/app", "cpu_limit"), "1>2 - 0.50 - -");
	compare_swap(comparison);
	draw();
	assert_string_equal(shown_row("/app", "cgroup_cpu"), "2>1 3.0s 1.0s -2.0s -66.7%");
	/* of threads they say nothing */
	view.level = VIEW_LEVEL_THREADS;
	draw();
	for (size_t i = 0; i < table->row_count; i++)
		assert_true(table->rows[i].metric > COLUMN_COUNT);
}

/* A limit takes the first rows of the same order. */
static void test_limit(void **state)
{
	struct table *whole, *part;

	(void)state;
	view_of(AXIS_THREAD_EXACT);
	view.tab = TAB_ALL;
	view.equal_rows = true;
	whole = compare_table(comparison, &view);
	assert_true(whole->row_count > 300);
	for (view.limit = 1; view.limit < whole->row_count; view.limit += 37) {
		part = compare_table(comparison, &view);
		assert_int_equal(part->row_count, view.limit);
		assert_int_equal(part->row_total, whole->row_count);
		for (size_t i = 0; i < part->row_count; i++) {
			assert_int_equal(part->rows[i].subject, whole->rows[i].subject);
			assert_int_equal(part->rows[i].metric, whole->rows[i].metric);
		}
		table_release(part);
	}
	table_release(whole);
}

/* The cells of rows that are looked at are made then. */
static void test_cells_on_demand(void **state)
{
	(void)state;
	view_of(AXIS_ALL);
	view.cells_on_demand = true;
	draw();
	assert_true(table->row_count > 3);
	assert_null(table->rows[1].cells);
	compare_table_fill(comparison, table, 1, 2);
	assert_null(table->rows[0].cells);
	assert_non_null(table->rows[1].cells);
	assert_non_null(table->rows[2].cells);
	compare_table_fill(comparison, table, 0, 1000);
	assert_non_null(table->rows[table->row_count - 1].cells);
}

#define EXAMPLE(test) cmocka_unit_test_setup_teardown(test, open_example, close_example)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EXAMPLE(test_rows_of_threads),
		EXAMPLE(test_rows_of_groups),
		EXAMPLE(test_swap_negates),
		EXAMPLE(test_same_file_has_no_rows),
		EXAMPLE(test_unavailable_side),
		EXAMPLE(test_order_is_stable),
		EXAMPLE(test_opening_leads_to_threads),
		EXAMPLE(test_renamed_thread),
		EXAMPLE(test_other_boot),
		EXAMPLE(test_counts),
		EXAMPLE(test_filter_threads),
		EXAMPLE(test_narrowed_ended),
		EXAMPLE(test_filter),
		EXAMPLE(test_filter_numbers),
		EXAMPLE(test_metrics_of_tabs),
		EXAMPLE(test_live),
		EXAMPLE(test_details),
		EXAMPLE(test_records),
		EXAMPLE(test_limit),
		EXAMPLE(test_cells_on_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
