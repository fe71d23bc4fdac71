/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison: rows, order, sides, threads, what is said of them. */
#include "session/session_fixture.h"

#include <math.h>
#include <string.h>

#include "compare/compare.h"
#include "table/screen_format.h"

#include "pool_window.h"

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
	view.compares = view.sort_by_change = true;
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

static bool has_row(const char *label)
{
	return fixture_has_row(table, label);
}

/* A cell of the table drawn last, as an ASCII screen shows it. */
static const char *shown(const char *label, enum column column)
{
	static char text[64];
	struct buffer buffer = {0};

	screen_format_cell(&buffer, fixture_cell(table, label, column), &screen_marks_ascii);
	assert_true(buffer.length < sizeof(text));
	memcpy(text, buffer.data != NULL ? buffer.data : "", buffer.length);
	text[buffer.length] = '\0';
	buffer_release(&buffer);
	return text;
}

static void expect(const char *label, enum column column, const char *text)
{
	const char *found = shown(label, column);

	if (strcmp(found, text) != 0)
		fail_msg("%s of %s is %s, not %s", column_name(column), label, found, text);
}

static bool has_column(enum column column)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].column == (unsigned int)column)
			return true;
	}
	return false;
}

static void expect_told(const char *label, enum column column, const char *text)
{
	const struct table_row *row = fixture_row(table, label);
	struct buffer lines = {0};

	compare_explain(comparison, &view, row->key, row->key_length, column, &lines);
	if (strstr(lines.data, text) == NULL)
		fail_msg("no '%s' in: %s", text, lines.data);
	buffer_release(&lines);
}

/* A cell of the row of a metric on the page of all. */
static const char *shown_metric(const struct table *page, const char *metric, size_t column)
{
	static char text[64];
	struct buffer buffer = {0};

	screen_format_cell(&buffer, &fixture_row(page, metric)->cells[column], &screen_marks_ascii);
	assert_true(buffer.length < sizeof(text));
	memcpy(text, buffer.data != NULL ? buffer.data : "", buffer.length);
	text[buffer.length] = '\0';
	buffer_release(&buffer);
	return text;
}

/* The sentence about a column of a row, "" for none. */
static const char *sentence_of(const char *label, enum column column)
{
	static char text[256];
	struct buffer sentence = {0};
	const bool has_one = compare_append_sentence(comparison, fixture_row(table, label), column, true,
						     &sentence);

	assert_int_equal(has_one, sentence.length != 0);
	assert_true(sentence.length < sizeof(text));
	memcpy(text, has_one ? sentence.data : "", sentence.length);
	text[sentence.length] = '\0';
	buffer_release(&sentence);
	return text;
}

static void test_rows_of_threads(void **state)
{
	(void)state;
	assert_true(compare_by_threads(comparison));
	draw();
	/* what worker-3 had waited is not subtracted, what worker-4 waited since it started is added */
	expect("web", COLUMN_RUNQ, "2.0s->5.5s");
	expect("web", COLUMN_CPU, "20.0s");
	expect("web", COLUMN_THR, "3");
	expect("new", COLUMN_THR, "-->1");
	expect("new", COLUMN_CPU, "-->2.0s");
	expect("pool", COLUMN_CPU, "0->1.0s");
	expect("old", COLUMN_THR, "1->-");
	expect("old", COLUMN_CPU, "3.0s->-");
	assert_int_equal(table->row_count, 4);
	assert_int_equal(table->row_folded, 1);
	assert_false(has_row("idle"));
	assert_int_equal(fixture_row(table, "web")->mark, ROW_MARK_NONE);
	assert_int_equal(fixture_row(table, "new")->mark, ROW_MARK_NEW);
	assert_int_equal(fixture_row(table, "old")->mark, ROW_MARK_LEFT);
	assert_int_equal(fixture_row(table, "pool")->mark, ROW_MARK_RESTARTED);
	/* most of all waiting, but not all, came to web; all running but a second to new */
	assert_ptr_equal(&table->rows[0], fixture_row(table, "web"));
	assert_ptr_equal(&table->rows[1], fixture_row(table, "new"));
}

static void test_rows_of_groups(void **state)
{
	(void)state;
	assert_int_equal(compare_set_by_threads(comparison, false, NULL), 0);
	draw();
	expect("web", COLUMN_RUNQ, "3.0s->5.5s");
	expect("web", COLUMN_CPU, "30.0s->20.0s");
	expect("pool", COLUMN_CPU, "5.0s->1.0s");
	expect("new", COLUMN_CPU, "-->2.0s");
	expect("old", COLUMN_CPU, "3.0s->-");
	expect("old", COLUMN_RUNQ, "3.0s->-");
}

/* A column without any number is left out, but for the one that the rows are sorted by. */
static void test_columns(void **state)
{
	(void)state;
	draw();
	assert_true(has_column(COLUMN_THR) && has_column(COLUMN_CPU) && has_column(COLUMN_RUNQ));
	assert_false(has_column(COLUMN_RSS));
	assert_int_equal(table->sort_column, SIZE_MAX);
	view.sort_by_change = false;
	view.sort = COLUMN_RSS;
	draw();
	assert_int_equal(table->sort_column, fixture_column(table, COLUMN_RSS));
	expect("web", COLUMN_RSS, "-");
}

/* The number of a cell on a side as shown, also of one that reads the same on both; NAN for none. */
static double number_of(const struct cell *cell, enum diff_side side)
{
	return cell_number(cell->sides != NULL ? &cell->sides[side] : cell);
}

static void expect_exchanged(const struct cell *cell, const struct cell *swapped)
{
	struct buffer a = {0}, b = {0};

	assert_int_equal(cell->verdict, swapped->verdict);
	assert_int_equal(cell->sides != NULL, swapped->sides != NULL);
	for (size_t side = 0; side < DIFF_SIDE_COUNT && cell->sides != NULL; side++) {
		buffer_clear(&a);
		buffer_clear(&b);
		screen_format_cell(&a, &cell->sides[side], &screen_marks_ascii);
		screen_format_cell(&b, &swapped->sides[1 - side], &screen_marks_ascii);
		assert_string_equal(a.data, b.data);
	}
	if (cell->sides == NULL) {
		screen_format_cell(&a, cell, &screen_marks_ascii);
		screen_format_cell(&b, swapped, &screen_marks_ascii);
		assert_string_equal(a.data != NULL ? a.data : "", b.data != NULL ? b.data : "");
	}
	buffer_release(&a);
	buffer_release(&b);
}

/* Every row is there with its sides exchanged, in the same order. */
static void expect_negated(enum axis axis)
{
	struct table *before, *after;
	size_t two_sided = 0;

	view_of(axis);
	view.tab = TAB_ALL;
	before = compare_table(comparison, &view);
	compare_swap(comparison);
	after = compare_table(comparison, &view);
	compare_swap(comparison);
	assert_true(before->row_count >= 1);
	assert_int_equal(before->row_count, after->row_count);
	assert_int_equal(before->column_count, after->column_count);
	for (size_t i = 0; i < before->row_count; i++) {
		assert_int_equal(before->rows[i].key_length, after->rows[i].key_length);
		assert_memory_equal(before->rows[i].key, after->rows[i].key, before->rows[i].key_length);
		for (size_t k = 0; k < before->column_count; k++) {
			expect_exchanged(&before->rows[i].cells[k], &after->rows[i].cells[k]);
			two_sided += before->rows[i].cells[k].sides != NULL;
		}
	}
	assert_true(two_sided > 0);
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
	/* a new row is one that went, the other way round */
	view_of(AXIS_PROCESS);
	compare_swap(comparison);
	draw();
	assert_int_equal(fixture_row(table, "new")->mark, ROW_MARK_LEFT);
	assert_int_equal(fixture_row(table, "old")->mark, ROW_MARK_NEW);
	expect("new", COLUMN_CPU, "2.0s->-");
	expect("web", COLUMN_RUNQ, "5.5s->3.0s");
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
	assert_int_equal(table->row_folded, 4);
	view.equal_rows = true;
	draw();
	assert_int_equal(table->row_count, 4);
	assert_int_equal(table->row_folded, 0);
	expect("idle  /app", column_of_stored(METRIC_RUN_TIME_NS), "7.0s");
	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t k = 0; k < table->column_count; k++)
			assert_null(table->rows[i].cells[k].sides);
	}
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
	assert_false(has_row("web"));
	view.equal_rows = true;
	draw();
	expect("web", COLUMN_RUNQ, "2.0s->>2.5s");
	cell = fixture_cell(table, "web", COLUMN_RUNQ);
	assert_true(cell->partial);
	assert_int_equal(cell->reason, REASON_NOT_PERMITTED);
	assert_false(cell->sides[DIFF_BEFORE].partial);
	assert_true(cell->sides[DIFF_AFTER].partial);
	assert_false(table->columns[fixture_column(table, COLUMN_RUNQ)].at_least);
}

/* Where a column is a lower bound everywhere its title says so, and no cell. */
static void test_lower_bound(void **state)
{
	struct snapshot *sides[DIFF_SIDE_COUNT] = {make_before(), make_after()};
	struct buffer title = {0};

	(void)state;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const enum source source = metrics[METRIC_BLKIO_DELAY_TOTAL_NS].source;

		fixture_set(sides[side], 0, METRIC_BLKIO_DELAY_TOTAL_NS, 0);
		sides[side]->metric_source[METRIC_BLKIO_DELAY_TOTAL_NS] = source;
		for (size_t i = 0; i < sides[side]->thread_count; i++)
			snapshot_source_reasons(sides[side], source)[i] = REASON_NOT_PERMITTED;
	}
	compare(sides[DIFF_BEFORE], sides[DIFF_AFTER]);
	compare_set_by_threads(comparison, false, NULL);
	draw();
	screen_format_title(&title, &table->columns[fixture_column(table, COLUMN_LOST)], &screen_marks_ascii);
	assert_string_equal(title.data, ">WAITED");
	expect("web", COLUMN_LOST, "3.0s->5.5s");
	buffer_clear(&title);
	screen_format_title(&title, &table->columns[fixture_column(table, COLUMN_RUNQ)], &screen_marks_ascii);
	assert_string_equal(title.data, "RUNQ");
	/* rows are sorted by how far the bounds are apart */
	view.sort_by_change = false;
	view.sort = COLUMN_LOST;
	draw();
	assert_string_equal(table->rows[0].label, "pool");
	assert_string_equal(table->rows[1].label, "old");
	assert_string_equal(table->rows[2].label, "web");
	buffer_release(&title);
}

static void expect_same_order(const struct table *left, const struct table *right)
{
	assert_int_equal(left->row_count, right->row_count);
	for (size_t i = 0; i < left->row_count; i++)
		assert_int_equal(left->rows[i].subject, right->rows[i].subject);
}

/*
 * By how much a row changed in a column: one that is on one side only changed by all that it has, but nobody
 * knows what threads that went did since before.
 */
static double change_of(const struct table *sorted, const struct table_row *row)
{
	const struct table_column *column = &sorted->columns[sorted->sort_column];
	const struct cell *cell = &row->cells[sorted->sort_column];
	const double before = number_of(cell, DIFF_BEFORE), after = number_of(cell, DIFF_AFTER);

	if (row->mark == ROW_MARK_NEW)
		return after;
	if (row->mark != ROW_MARK_LEFT)
		return fabs(after - before);
	return compare_by_threads(comparison) &&
			       column_has(column_entry((enum column)column->column), COLUMN_RATES)
		       ? NAN
		       : before;
}

static void expect_sorted(const struct table *sorted, bool ascending)
{
	double last = ascending ? -INFINITY : INFINITY;
	bool ended = false;

	for (size_t i = 0; i < sorted->row_count; i++) {
		const double change = change_of(sorted, &sorted->rows[i]);

		/* what has no number comes last in both directions */
		if (isnan(change)) {
			ended = true;
			continue;
		}
		assert_false(ended);
		assert_true(ascending ? change >= last : change <= last);
		last = change;
	}
}

/* Any order is that of the changes of its column, the same each time, and groups of one side have their
 * place. */
static void test_orders(void **state)
{
	struct table *first, *second;
	enum column columns[COLUMN_TOTAL];
	size_t count;

	(void)state;
	view.equal_rows = true;
	count = view_columns(&view, columns);
	view.sort_by_change = false;
	for (size_t i = 0; i < count; i++) {
		for (int ascending = 0; ascending < 2; ascending++) {
			view.sort = columns[i];
			view.sort_ascending = ascending != 0;
			first = compare_table(comparison, &view);
			second = compare_table(comparison, &view);
			assert_int_equal(first->row_count, 5);
			expect_same_order(first, second);
			if (first->sort_column != SIZE_MAX &&
			    first->columns[first->sort_column].unit != UNIT_NONE)
				expect_sorted(first, view.sort_ascending);
			table_release(first);
			table_release(second);
		}
	}
	/* by threads nobody knows what old did before it went */
	view.sort = COLUMN_CPU;
	view.sort_ascending = false;
	draw();
	assert_string_equal(table->rows[0].label, "new");
	assert_string_equal(table->rows[4].label, "old");
	expect_told("old", COLUMN_CPU, "Change: not known, since the threads ended in between.");
	/* by groups web lost 10 s, pool 4 s and old 3 s, new came with 2 s, idle has the same */
	assert_int_equal(compare_set_by_threads(comparison, false, NULL), 0);
	view.sort = COLUMN_CPU;
	view.sort_ascending = false;
	draw();
	assert_string_equal(table->rows[0].label, "web");
	assert_string_equal(table->rows[1].label, "pool");
	assert_string_equal(table->rows[2].label, "old");
	assert_string_equal(table->rows[3].label, "new");
	assert_string_equal(table->rows[4].label, "idle");
	view.sort_by_name = true;
	draw();
	assert_string_equal(table->rows[0].label, "web");
	assert_string_equal(table->rows[4].label, "idle");
	view.sort_ascending = true;
	draw();
	assert_string_equal(table->rows[0].label, "idle");
	assert_string_equal(table->rows[4].label, "web");
}

/* Each tab is sorted by what changed most until another order is chosen there. */
static void test_order_of_tabs(void **state)
{
	(void)state;
	view_set_tab(&view, TAB_RUN);
	assert_true(view.sort_by_change);
	view.sort_by_change = false;
	view.sort = COLUMN_DISP;
	view.sort_chosen = true;
	view.sort_tab = TAB_RUN;
	view_set_tab(&view, TAB_MEMORY);
	assert_true(view.sort_by_change);
	view_set_tab(&view, TAB_RUN);
	assert_false(view.sort_by_change);
	assert_int_equal(view.sort, COLUMN_DISP);
	view.sort_by_change = true;
	view_set_tab(&view, TAB_MEMORY);
	view_set_tab(&view, TAB_RUN);
	assert_true(view.sort_by_change);
}

/* Opens the row of a group as the screen does. */
static void open_row(const char *label)
{
	const struct table_row *row;

	draw();
	row = fixture_row(table, label);
	assert_true(view_open(&view, row->key, row->key_length, row->label, row->label_length));
}

static void test_opening_leads_to_threads(void **state)
{
	struct buffer note = {0};

	(void)state;
	open_row("web");
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	open_row("worker-{N}");
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	view.sort_by_change = false;
	view.sort = COLUMN_RUNQ;
	draw();
	assert_int_equal(table->row_count, 4);
	expect("worker-1", COLUMN_RUNQ, "1.0s->3.0s");
	expect("worker-2", COLUMN_RUNQ, "1.0s->2.0s");
	expect("worker-4", COLUMN_RUNQ, "-->500ms");
	expect("worker-3", COLUMN_RUNQ, "1.0s->-");
	assert_int_equal(table->rows[0].tid, 11);
	assert_int_equal(table->rows[0].tgid, 10);
	assert_int_equal(fixture_row(table, "worker-3")->mark, ROW_MARK_LEFT);
	compare_append_note(comparison, &table->rows[0], &note);
	assert_string_equal(note.data, "worker-1: the same thread");
	buffer_release(&note);
}

/* A thread that came or went is a row where none of its columns says so; one that grew older is none. */
static void test_threads_without_changes(void **state)
{
	struct snapshot *before = begin(BEFORE_SECONDS), *after = begin(AFTER_SECONDS);

	(void)state;
	add(before, 1, 1, "a", "stays", 1, S(10), 0);
	add(before, 1, 2, "a", "went", 1, 0, 0);
	add(after, 1, 1, "a", "stays", 1, S(10), 0);
	add(after, 1, 3, "a", "came", 105, 0, 0);
	snapshot_finish(before);
	snapshot_finish(after);
	compare(before, after);
	view.level = VIEW_LEVEL_THREADS;
	for (enum tab tab = 0; tab < TAB_COUNT; tab++) {
		if (tab == TAB_TASK_FIELDS)
			continue;
		view_set_tab(&view, tab);
		draw();
		assert_int_equal(table->row_count, 2);
		assert_int_equal(fixture_row(table, "came")->mark, ROW_MARK_NEW);
		assert_int_equal(fixture_row(table, "went")->mark, ROW_MARK_LEFT);
	}
	view_set_tab(&view, TAB_OVERVIEW);
	view.equal_rows = true;
	draw();
	expect("stays", COLUMN_AGE, "99.0s->109s");
	assert_int_equal(fixture_cell(table, "stays", COLUMN_AGE)->verdict, CELL_VERDICT_NO);
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
	expect("kworker/0:1-mm", COLUMN_CPU, "10.0s->11.0s");
	expect("kworker/0:1-mm", COLUMN_THR, "1");
	assert_int_equal(table->rows[0].mark, ROW_MARK_NONE);
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
	open_row("web");
	open_row("worker-{N}");
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
	compare_append_note(comparison, fixture_row(table, "web"), &note);
	assert_string_equal(note.data, "web: 2 threads the same, 1 came, 1 gone");
	buffer_clear(&note);
	compare_append_note(comparison, fixture_row(table, "pool"), &note);
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
	/* a text is one of names */
	set_filter("wait_time");
	draw();
	assert_int_equal(table->row_count, 0);
	set_filter("web");
	draw();
	assert_int_equal(table->row_count, 1);
	assert_string_equal(table->rows[0].label, "web");
	/* a number is that of the change */
	set_filter("wait_time_ns > 2s");
	draw();
	assert_true(has_row("web"));
	assert_false(has_row("pool"));
	/* so it is with a column that is not shown, and a group on one side has no change */
	set_filter("timeslices > 0 or cpu > 500ms");
	draw();
	assert_true(has_row("pool"));
	assert_int_equal(table->row_count, 1);
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

/* Expects whether a filter leaves the row of web. */
static void expect_filtered(const char *text, bool left)
{
	set_filter(text);
	draw();
	if (has_row("web") != left)
		fail_msg("%s leaves %zu rows", text, table->row_count);
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
	expect_filtered("cpu% > 19", true);
	expect_filtered("cpu% > 21", false);
	expect_filtered("cpu > 19", true);
	expect_filtered("run_time_ns > 190ms and run_time_ns < 210ms", true);
	expect_filtered("user% > 19 and user% < 21", true);
	expect_filtered("runq% < -14 and runq% > -16", true);
	/* a mean is no sum of its inputs' changes */
	expect_filtered("slice > 0", false);
	expect_filtered("slice = 0", true);
	/* lives have amounts and no rates */
	compare(web_at(100, S(10), S(1)), web_at(110, S(12), S(1)));
	view_of(AXIS_PROCESS);
	expect_filtered("cpu > 1900ms and cpu < 2100ms", true);
	expect_filtered("utime_clock_ticks > 1900ms and utime_clock_ticks < 2100ms", true);
	expect_filtered("cpu% > 1", false);
	assert_int_equal(filter_rate(view.filter), COLUMN_CPU);
}

/* Lives read as times, also those in clock ticks; windows as shares of a CPU. */
static void test_ticks(void **state)
{
	const enum column stored = column_of_stored(METRIC_UTIME_CLOCK_TICKS);

	(void)state;
	compare(web_at(100, S(10), S(1)), web_at(110, S(12), S(1)));
	view_of(AXIS_PROCESS);
	view.tab = TAB_RUN;
	draw();
	assert_string_equal(table->columns[fixture_column(table, COLUMN_USER)].title, "UTIME");
	expect("web", COLUMN_USER, "10.0s->12.0s");
	view.tab = TAB_ALL;
	draw();
	expect("web", stored, "10.0s->12.0s");
	compare(since(web_at(100, S(10), S(1)), web_at(110, S(11), S(3))),
		since(web_at(110, S(11), S(3)), web_at(120, S(14), MS(3500))));
	view_of(AXIS_PROCESS);
	view.mode = WINDOW_MODE_RATE;
	view.tab = TAB_RUN;
	draw();
	assert_string_equal(table->columns[fixture_column(table, COLUMN_USER)].title, "USER%");
	expect("web", COLUMN_USER, "10.0->30.0");
	expect("web", COLUMN_CPU, "10.0->30.0");
	expect("web", COLUMN_DISP, "10.0->30.0");
	view.tab = TAB_ALL;
	draw();
	expect("web", stored, "10.0->30.0");
	expect("web", column_of_stored(METRIC_RUN_TIME_NS), "10.0->30.0");
}

/* Both sides are shown where they read differently, not where rounding hides the change. */
static void test_rounding(void **state)
{
	(void)state;
	compare(web_at(100, S(10), S(1)), web_at(110, S(10) + MS(40), S(1) + MS(60)));
	view_of(AXIS_PROCESS);
	draw();
	assert_int_equal(table->row_count, 1);
	expect("web", COLUMN_CPU, "10.0s");
	expect("web", COLUMN_RUNQ, "1.0s->1.1s");
	assert_null(fixture_cell(table, "web", COLUMN_CPU)->sides);
	assert_true(number_of(fixture_cell(table, "web", COLUMN_RUNQ), DIFF_BEFORE) == 1e9);
	expect_told("web", COLUMN_CPU, "Change: +40,000,000 ns");
}

/* A change that stands out of what a pool does from second to second is real and marked, and any other is
 * not. */
static void test_verdicts(void **state)
{
	struct table *page;

	(void)state;
	compare(pool_window(DIFF_BEFORE), pool_window(DIFF_AFTER));
	view_of(AXIS_PROCESS);
	view.mode = WINDOW_MODE_RATE;
	draw();
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->row_folded, 2);
	expect("slower", COLUMN_CPU, "#20.0->40.0");
	assert_int_equal(fixture_cell(table, "slower", COLUMN_CPU)->verdict, CELL_VERDICT_REAL);
	assert_int_equal(fixture_cell(table, "slower", COLUMN_RUNQ)->verdict, CELL_VERDICT_NO);
	/* nobody knows how the number of threads varies */
	expect("many", COLUMN_THR, "2->3");
	assert_int_equal(fixture_cell(table, "many", COLUMN_THR)->verdict, CELL_VERDICT_NOT_TESTED);
	expect_told("slower", COLUMN_CPU, "Verdict: real (p ");
	expect_told("many", COLUMN_THR, "Verdict: large enough, but not tested.");
	assert_string_equal(sentence_of("slower", COLUMN_CPU),
			    "slower ran more on a CPU (20.0% -> 40.0%, 1 thread): the same threads");
	expect_told("slower", COLUMN_CPU, "Before: 20.025 percent\n");
	expect_told("slower", COLUMN_CPU, "Change: +20 percent, +99.9% of before\n");
	expect_told("many", COLUMN_THR, "Before: 2\n");
	page = compare_metric_table(comparison, &view, "slower", strlen("slower"));
	assert_string_equal(shown_metric(page, "run_time_ns", 0), "20.0%");
	assert_string_equal(shown_metric(page, "run_time_ns", 2), "+20.0%");
	table_release(page);
	view.equal_rows = true;
	draw();
	assert_int_equal(table->row_count, 4);
	expect("steady", COLUMN_CPU, "10.0");
	expect("noisy", COLUMN_CPU, "37.5->46.1");
	assert_int_equal(fixture_cell(table, "noisy", COLUMN_CPU)->verdict, CELL_VERDICT_NO);
	expect_told("noisy", COLUMN_CPU, "Verdict: no measurable change (p ");
	assert_string_equal(sentence_of("noisy", COLUMN_CPU), "");
	compare_swap(comparison);
	draw();
	expect("slower", COLUMN_CPU, "#40.0->20.0");
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
	return has_row(label) ? shown(label, COLUMN_CPU) : "";
}

/* Filters apply to ended threads, too, by their known properties. */
static void test_narrowed_ended(void **state)
{
	static const char whole[] = "10.0->80.0", workers[] = "10.0->70.0", came[] = "-->20.0";
	struct snapshot *after = since(web_at(110, S(11), S(3)), web_at(120, S(14), MS(3500)));

	(void)state;
	add_ended(after, "web", "worker-7", false, S(4));
	add_ended(after, "web", "helper", false, S(1));
	add_ended(after, "make", "make", false, S(2));
	add_ended(after, "kworker", "kworker", true, S(2));
	compare(since(web_at(100, S(10), S(1)), web_at(110, S(11), S(3))), after);
	view_of(AXIS_PROCESS);
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
	assert_string_equal(run_of("helper"), "-->10.0");
	assert_string_equal(run_of("worker-{N}"), workers);
	assert_string_equal(run_of("make"), "");
}

/* Conditions on threads narrow both sides, and the joins that are kept tell them apart. */
static void test_filter_threads(void **state)
{
	(void)state;
	draw();
	expect("web", COLUMN_RUNQ, "2.0s->5.5s");
	expect("web", COLUMN_THR, "3");
	set_filter("tid = 11");
	draw();
	expect("web", COLUMN_RUNQ, "1.0s->3.0s");
	expect("web", COLUMN_THR, "1");
	assert_false(has_row("new"));
	assert_true(view_open(&view, "web", 3, "web", 3));
	view.level = VIEW_LEVEL_THREADS;
	draw();
	assert_int_equal(table->row_count, 1);
	assert_int_equal(table->rows[0].tid, 11);
	view_of(AXIS_PROCESS);
	/* a row that has such a thread, on either side */
	set_filter("tid = 13 or wait_time_ns > 100s");
	draw();
	expect("web", COLUMN_RUNQ, "2.0s->5.5s");
	assert_false(has_row("new"));
	/* a name of a member */
	view.grouping.axis = AXIS_THREAD;
	set_filter("worker-4");
	draw();
	assert_true(has_row("worker-{N}"));
	assert_false(has_row("new"));
}

/* The columns are those of the tab, in its order, without names and fields of schedulers. */
static void test_columns_of_tabs(void **state)
{
	enum column wanted[COLUMN_TOTAL];

	(void)state;
	for (enum tab tab = 0; tab < TAB_COUNT; tab++) {
		size_t count, next = 0;

		view.tab = tab;
		count = view_columns(&view, wanted);
		draw();
		assert_true(table->column_count >= 1);
		assert_int_equal(table->columns[0].column, COLUMN_THR);
		for (size_t i = 0; i < table->column_count; i++) {
			while (next < count && wanted[next] != (enum column)table->columns[i].column)
				next++;
			assert_true(next++ < count);
		}
	}
	/* a bar of shares has no number */
	view.tab = TAB_TIME;
	draw();
	assert_true(has_column(COLUMN_RUNQ) && !has_column(COLUMN_BAR));
	view.tab = TAB_ALL;
	draw();
	assert_true(has_column(column_of_stored(METRIC_RUN_TIME_NS)));
	assert_true(has_column(column_of_stored(METRIC_WAIT_TIME_NS)));
	/* chosen columns are all there, in their order */
	view.columns = (const enum column[]){COLUMN_WRITE, COLUMN_BAR, COLUMN_CPU};
	view.column_count = 3;
	draw();
	assert_int_equal(table->column_count, 2);
	assert_int_equal(table->columns[0].column, COLUMN_WRITE);
	expect("new", COLUMN_CPU, "-->2.0s");
	assert_false(has_row("web"));
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
	row = fixture_row(table, "web");
	first = table;
	table = NULL;
	draw();
	expect("web", COLUMN_RUNQ, "1.0s->9.0s");
	expect("web", COLUMN_THR, "3->1");
	assert_int_equal(row->key_length, fixture_row(table, "web")->key_length);
	assert_memory_equal(row->key, fixture_row(table, "web")->key, row->key_length);
	table_release(first);
}

static void test_metric_page(void **state)
{
	struct table *page;

	(void)state;
	draw();
	page = compare_metric_table(comparison, &view, "web", 3);
	/* and resident, proportional and swapped memory, and what it was at most */
	assert_int_equal(page->row_count, METRIC_COUNT + (int)DERIVED_COUNT + 4);
	assert_string_equal(shown_metric(page, "wait_time_ns", 0), "2.0s");
	assert_string_equal(shown_metric(page, "wait_time_ns", 1), "5.5s");
	assert_string_equal(shown_metric(page, "wait_time_ns", 2), "+3.5s");
	assert_string_equal(shown_metric(page, "wait_time_ns", 3), "+175.0%");
	assert_string_equal(shown_metric(page, "run_time_ns", 2), "0");
	assert_string_equal(shown_metric(page, "run_time_ns", 3), "0%");
	table_release(page);
	page = compare_metric_table(comparison, &view, "new", 3);
	assert_string_equal(shown_metric(page, "run_time_ns", 0), "-");
	assert_string_equal(shown_metric(page, "run_time_ns", 1), "2.0s");
	assert_string_equal(shown_metric(page, "run_time_ns", 2), "-");
	assert_string_equal(shown_metric(page, "run_time_ns", 3), "");
	table_release(page);
	assert_null(compare_metric_table(comparison, &view, "wait_time_ns", 12));
}

/* Each column of a row has its own explanation. */
static void test_explanation(void **state)
{
	struct buffer lines = {0};

	(void)state;
	draw();
	expect_told("web", COLUMN_RUNQ, "Before: 2,000,000,000 ns");
	expect_told("web", COLUMN_RUNQ, "After: 5,500,000,000 ns");
	expect_told("web", COLUMN_RUNQ, "Change: +3,500,000,000 ns, +175.0% of before");
	expect_told("web", COLUMN_RUNQ, "wait_time_ns: read of 3 of 3 threads");
	expect_told("web", COLUMN_RUNQ, "Threads: 2 the same, 1 came, 1 gone.");
	expect_told("web", COLUMN_THR, "Before: 3\n");
	expect_told("web", COLUMN_THR, "Change: 0, +0.0% of before");
	expect_told("web", COLUMN_LOST, "WAITED: All waits");
	expect_told("new", COLUMN_CPU, "Before: not there");
	expect_told("new", COLUMN_CPU, "After: 2,000,000,000 ns");
	expect_told("new", COLUMN_CPU, "it is on one side only");
	compare_explain(comparison, &view, "nobody", 6, COLUMN_CPU, &lines);
	assert_string_equal(lines.data, "This row is gone.\n");
	buffer_release(&lines);
}

static void test_sentences(void **state)
{
	(void)state;
	draw();
	assert_string_equal(sentence_of("web", COLUMN_RUNQ),
			    "web waited 3.5 s longer for a CPU (2 s -> 5.5 s, 3 threads): "
			    "2 threads the same, 1 came, 1 gone");
	assert_string_equal(sentence_of("pool", COLUMN_CPU),
			    "pool ran 1 s longer on a CPU (0 -> 1 s, 1 thread): "
			    "restarted, none of its threads is the same");
	assert_string_equal(sentence_of("web", COLUMN_LOST),
			    "web waited 3.5 s longer (2 s -> 5.5 s, 3 threads): "
			    "2 threads the same, 1 came, 1 gone");
	/* what did not change, what has no words and what is on one side only */
	assert_string_equal(sentence_of("web", COLUMN_CPU), "");
	assert_string_equal(sentence_of("web", COLUMN_THR), "");
	assert_string_equal(sentence_of("new", COLUMN_CPU), "");
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
	expect("db", COLUMN_RSS, "1.0M->4.0M");
	assert_false(has_column(COLUMN_PSS));
	view.grouping.axis = AXIS_CGROUP;
	view.tab = TAB_CGROUP;
	view.equal_rows = true;
	draw();
	expect("/app", COLUMN_THR, "1->2");
	expect("/app", COLUMN_CGCPU, "1.0s->3.0s");
	/* there was no limit */
	expect("/app", COLUMN_LIMIT, "-->0.50");
	compare_swap(comparison);
	draw();
	expect("/app", COLUMN_THR, "2->1");
	expect("/app", COLUMN_CGCPU, "3.0s->1.0s");
	/* of threads they say nothing */
	view.level = VIEW_LEVEL_THREADS;
	draw();
	assert_int_equal(table->row_count, 2);
	for (size_t i = 0; i < table->column_count; i++)
		assert_false(column_is_record((enum column)table->columns[i].column));
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
	assert_true(whole->row_count > 6);
	for (view.limit = 1; view.limit < whole->row_count; view.limit++) {
		part = compare_table(comparison, &view);
		assert_int_equal(part->row_count, view.limit);
		assert_int_equal(part->row_total, whole->row_count);
		for (size_t i = 0; i < part->row_count; i++)
			assert_int_equal(part->rows[i].subject, whole->rows[i].subject);
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
		EXAMPLE(test_columns),
		EXAMPLE(test_swap_negates),
		EXAMPLE(test_same_file_has_no_rows),
		EXAMPLE(test_unavailable_side),
		EXAMPLE(test_lower_bound),
		EXAMPLE(test_orders),
		EXAMPLE(test_order_of_tabs),
		EXAMPLE(test_opening_leads_to_threads),
		EXAMPLE(test_threads_without_changes),
		EXAMPLE(test_renamed_thread),
		EXAMPLE(test_other_boot),
		EXAMPLE(test_counts),
		EXAMPLE(test_filter),
		EXAMPLE(test_filter_numbers),
		EXAMPLE(test_ticks),
		EXAMPLE(test_rounding),
		EXAMPLE(test_verdicts),
		EXAMPLE(test_narrowed_ended),
		EXAMPLE(test_filter_threads),
		EXAMPLE(test_columns_of_tabs),
		EXAMPLE(test_live),
		EXAMPLE(test_metric_page),
		EXAMPLE(test_explanation),
		EXAMPLE(test_sentences),
		EXAMPLE(test_records),
		EXAMPLE(test_limit),
		EXAMPLE(test_cells_on_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
