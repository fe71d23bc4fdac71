/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds and deltas, on snapshots built in memory. */
#include "session_fixture.h"

#include <stdio.h>

static void fill_two_workers(struct snapshot *snapshot, int round)
{
	size_t a = fixture_thread(snapshot, 10, 10, "web", "web", 1);
	size_t b = fixture_thread(snapshot, 10, 11, "web", "worker-1", 1);

	fixture_set(snapshot, a, METRIC_RUN_TIME_NS, MS(1000 + 500 * round));
	fixture_set(snapshot, b, METRIC_RUN_TIME_NS, MS(7000 + 2000 * round));
	fixture_set(snapshot, b, METRIC_WAIT_TIME_NS, MS(3000 * round));
	fixture_set(snapshot, b, METRIC_READ_BYTES, 4096 * (uint64_t)round);
}

static void test_rate(void **state)
{
	struct session *session = fixture_two_rounds(fill_two_workers);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);

	(void)state;
	assert_int_equal(table->row_count, 1);
	assert_string_equal(fixture_shown(table, "web", COLUMN_THR), "2");
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "125.0"); /* 2.5 s in 2 s */
	assert_string_equal(fixture_shown(table, "web", COLUMN_RUNQ), "150.0");
	assert_string_equal(fixture_shown(table, "web", COLUMN_READ), "2.0K");
	assert_string_equal(fixture_shown(table, "web", COLUMN_WRITE), "0");
	assert_string_equal(table->columns[fixture_column(table, COLUMN_READ)].name, "read_bytes_per_s");
	assert_string_equal(table->columns[fixture_column(table, COLUMN_CPU)].name, "cpu_percent");
	assert_int_equal(session_interval_ns(session), 2000000000);
	session_release(session);
}

static void test_amounts(void **state)
{
	struct session *session = fixture_two_rounds(fill_two_workers);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_INTERVAL);

	(void)state;
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->value.integer, MS(2500));
	assert_string_equal(table->columns[fixture_column(table, COLUMN_CPU)].title, "CPU");
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "2.5s");
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_TOTAL);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->value.integer, MS(1500 + 9000));
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_BASE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->value.integer, MS(2500));
	session_release(session);
}

/* Before the second round there is nothing to compare with; the lifetime is there. */
static void test_first_round(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct table *table;

	(void)state;
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	assert_int_equal(table->row_count, 0);
	assert_true(table->column_count > 5);
	fill_two_workers(snapshot, 0);
	session_add_round(session, snapshot);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	fixture_expect_missing(table, "web", COLUMN_CPU, REASON_NOT_READ);
	assert_string_equal(fixture_shown(table, "web", COLUMN_THR), "2");
	fixture_expect(session, TAB_OVERVIEW, WINDOW_MODE_TOTAL, "web", COLUMN_CPU, "8.0s");
	session_release(session);
}

static void test_file(void **state)
{
	struct snapshot *snapshot = fixture_snapshot(100);
	struct session *session;
	struct table *table;

	(void)state;
	fill_two_workers(snapshot, 1);
	session = session_create_file(snapshot);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	fixture_expect_missing(table, "web", COLUMN_CPU, REASON_NOT_IN_FILE);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_TOTAL);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "10.5s");
	assert_int_equal(fixture_row(table, "web")->mark, ROW_MARK_NONE);
	session_release(session);
}

/* Each thread's rate divides by the time between its own two readings. */
static void fill_own_times(struct snapshot *snapshot, int round)
{
	uint64_t *times;

	fill_two_workers(snapshot, round);
	times = snapshot_read_times(snapshot, SOURCE_SCHEDSTAT);
	times[0] += MS(0);
	times[1] += round == 1 ? MS(2000) : 0; /* read 4 s after its last reading */
}

static void test_own_reading_times(void **state)
{
	struct session *session = fixture_two_rounds(fill_own_times);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);

	(void)state;
	/* 0.5 s / 2 s + 2 s / 4 s */
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "75.0");
	session_release(session);
}

static void fill_carried_over(struct snapshot *snapshot, int round)
{
	fill_two_workers(snapshot, round);
	snapshot_read_times(snapshot, SOURCE_IO)[1] = 99000000000; /* an old reading in both rounds */
	snapshot_read_times(snapshot, SOURCE_IO)[0] = 99000000000;
}

static void test_not_read_again(void **state)
{
	struct session *session = fixture_two_rounds(fill_carried_over);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);

	(void)state;
	fixture_expect_missing(table, "web", COLUMN_READ, REASON_NOT_READ);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "125.0");
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_INTERVAL);
	assert_int_equal(fixture_cell(table, "web", COLUMN_READ)->state, CELL_UNAVAILABLE);
	session_release(session);
}

static void fill_backwards(struct snapshot *snapshot, int round)
{
	fill_two_workers(snapshot, round);
	fixture_set(snapshot, 0, METRIC_RUN_TIME_NS, MS(round == 0 ? 500 : 400));
}

static void test_backwards(void **state)
{
	struct session *session = fixture_two_rounds(fill_backwards);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "≥100.0");
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->reason, REASON_WENT_BACKWARDS);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "·");
	assert_string_equal(fixture_shown(table, "worker-1", COLUMN_CPU), "100.0");
	view_release(&view);
	session_release(session);
}

/* A thread that started inside the interval counts from zero; one that was missed is unavailable once. */
static void fill_births(struct snapshot *snapshot, int round)
{
	fill_two_workers(snapshot, round);
	if (round == 0)
		return;
	fixture_set(snapshot, fixture_thread(snapshot, 20, 20, "born", "born", 101), METRIC_RUN_TIME_NS,
		    MS(400));
	fixture_set(snapshot, fixture_thread(snapshot, 30, 30, "old", "old", 50), METRIC_RUN_TIME_NS,
		    MS(9000));
}

static void test_births(void **state)
{
	struct session *session = fixture_two_rounds(fill_births);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	struct snapshot *third = fixture_snapshot(104);

	(void)state;
	assert_string_equal(fixture_shown(table, "born", COLUMN_CPU), "20.0");
	fixture_expect_missing(table, "old", COLUMN_CPU, REASON_NOT_READ);
	fill_births(third, 1);
	fixture_set(third, 3, METRIC_RUN_TIME_NS, MS(9200));
	session_add_round(session, third);
	fixture_expect(session, TAB_OVERVIEW, WINDOW_MODE_RATE, "old", COLUMN_CPU, "10.0");
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "born", COLUMN_CPU), "400ms");
	assert_int_equal(fixture_cell(table, "old", COLUMN_CPU)->state, CELL_UNAVAILABLE);
	session_release(session);
}

/* A thread id that was given to another thread is another thread. */
static void fill_reused(struct snapshot *snapshot, int round)
{
	size_t thread = fixture_thread(snapshot, 10, 10, "job", "job", round == 0 ? 50 : 101);

	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(round == 0 ? 100 : 600));
}

static void test_reused_id(void **state)
{
	struct session *session = fixture_two_rounds(fill_reused);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_INTERVAL);

	(void)state;
	assert_string_equal(fixture_shown(table, "job", COLUMN_CPU), "≥600ms");
	assert_int_equal(session_ended_count(session), 1);
	session_release(session);
}

/* A thread that changes name takes its whole delta along. */
static void fill_rename(struct snapshot *snapshot, int round)
{
	size_t thread = fixture_thread(snapshot, 10, 10, "p", round == 0 ? "before" : "after", 1);

	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(1000 + 700 * round));
}

static void test_rename(void **state)
{
	struct session *session = fixture_two_rounds(fill_rename);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_BASE, AXIS_THREAD);
	struct table *table;

	(void)state;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "after", COLUMN_CPU), "700ms");
	assert_false(fixture_has_row(table, "before"));
	view_release(&view);
	session_release(session);
}

/* Work of ended threads since the base stays; later readings of them are gone. */
static void test_ended(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fixture_set(snapshot, fixture_thread(snapshot, 10, 10, "web", "web", 1), METRIC_RUN_TIME_NS,
			    MS(1000 * round));
		if (round < 2)
			fixture_set(snapshot, fixture_thread(snapshot, 10, 11, "web", "web-1", 1),
				    METRIC_RUN_TIME_NS, MS(5000 + 300 * round));
		if (round == 2)
			fixture_set(snapshot, fixture_thread(snapshot, 40, 40, "gone", "gone", 103),
				    METRIC_RUN_TIME_NS, MS(70));
		session_add_round(session, snapshot);
	}
	assert_int_equal(session_ended_count(session), 2);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "≥3.3s");
	assert_int_equal(fixture_row(table, "web")->threads, 1);
	assert_string_equal(fixture_shown(table, "gone", COLUMN_CPU), "≥70.0ms");
	assert_int_equal(fixture_row(table, "gone")->threads, 0);
	fixture_expect(session, TAB_OVERVIEW, WINDOW_MODE_TOTAL, "web", COLUMN_CPU, "3.0s");
	session_set_base(session);
	assert_int_equal(session_ended_count(session), 0);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "0");
	assert_false(fixture_has_row(table, "gone"));
	session_release(session);
}

/* Present values are those of living threads, in every mode. */
static void test_ended_difference(void **state)
{
	enum column live = column_of_derived(DERIVED_LIVE_HEAP_ESTIMATE);
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (uint64_t round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * (double)round);

		for (uint32_t i = 0; i < (round < 2 ? 2 : 1); i++) {
			size_t thread = fixture_thread(snapshot, 10, 10 + i, "app", "app", 1);

			snapshot->thread_flags[thread] |= THREAD_JEMALLOC_MEASURED;
			fixture_set(snapshot, thread, METRIC_ALLOCATED_BYTES, 5000 * (round + 1));
			fixture_set(snapshot, thread, METRIC_DEALLOCATED_BYTES, 1000);
		}
		session_add_round(session, snapshot);
	}
	for (int mode = 0; mode < WINDOW_MODE_COUNT; mode++) {
		table = fixture_table(session, TAB_ALL, (enum window_mode)mode);
		assert_true(fixture_cell(table, "app", live)->value.real == 14000);
	}
	session_release(session);
}

/* Amounts up to the largest of the format, and sums beyond it. */
static void test_largest_amounts(void **state)
{
	struct snapshot *snapshot = fixture_snapshot(100);
	struct session *session;
	struct table *table;

	(void)state;
	fixture_set(snapshot, fixture_thread(snapshot, 10, 10, "one", "one", 1), METRIC_READ_BYTES,
		    UINT64_C(3) << 62);
	fixture_set(snapshot, fixture_thread(snapshot, 20, 20, "two", "two", 1), METRIC_READ_BYTES,
		    UINT64_MAX);
	fixture_set(snapshot, fixture_thread(snapshot, 20, 21, "two", "two", 1), METRIC_READ_BYTES,
		    UINT64_MAX);
	session = session_create_file(snapshot);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_TOTAL);
	assert_int_equal(fixture_cell(table, "one", COLUMN_READ)->value.integer, UINT64_C(3) << 62);
	assert_string_equal(fixture_shown(table, "one", COLUMN_READ), "12.0E");
	assert_int_equal(fixture_cell(table, "two", COLUMN_READ)->value.integer, UINT64_MAX);
	session_release(session);
}

/* Swap-in and thrashing of ended threads overlap as those of living ones do. */
static void test_ended_overlap(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (uint64_t round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * (double)round);

		fixture_thread(snapshot, 1, 1, "app", "app", 1);
		for (uint32_t i = 0; round < 2 && i < 2; i++) {
			size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, "app", "app", 1);

			fixture_set(snapshot, thread, METRIC_SWAPIN_DELAY_TOTAL_NS,
				    MS(i == 0 ? 20 : 100) * round);
			fixture_set(snapshot, thread, METRIC_THRASHING_DELAY_TOTAL_NS, MS(60) * round);
			fixture_set(snapshot, thread, METRIC_COMPACT_DELAY_TOTAL_NS, MS(5) * round);
		}
		session_add_round(session, snapshot);
	}
	table = fixture_table(session, TAB_TIME, WINDOW_MODE_BASE);
	assert_int_equal(fixture_cell(table, "app", COLUMN_MWAIT)->value.integer, MS(60 + 100 + 2 * 5));
	session_release(session);
}

/* More names than are kept: the rest is one record, and nothing is lost. */
static void test_ended_bound(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_BASE, AXIS_PROCESS);
	struct table *table;
	uint64_t sum = 0;
	char name[16];

	(void)state;
	fixture_thread(snapshot, 1, 1, "init", "init", 1);
	session_add_round(session, snapshot);
	for (int round = 0; round < 2; round++) {
		snapshot = fixture_snapshot(102 + 2 * round);
		fixture_thread(snapshot, 1, 1, "init", "init", 1);
		for (uint32_t i = 0; round == 0 && i < 5000; i++) {
			snprintf(name, sizeof(name), "job%c%c%c", 'a' + i % 20, 'a' + i / 20 % 20,
				 'a' + i / 400);
			fixture_set(snapshot, fixture_thread(snapshot, 100 + i, 100 + i, name, name, 101),
				    METRIC_RUN_TIME_NS, 1000 + i);
		}
		session_add_round(session, snapshot);
	}
	assert_int_equal(session_ended_count(session), 5000);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1 + 4096 + 1);
	for (size_t i = 0; i < table->row_count; i++)
		sum += table->rows[i].cells[fixture_column(table, COLUMN_CPU)].value.integer;
	assert_int_equal(sum, 5000 * 1000 + 5000 * 4999 / 2);
	assert_true(fixture_cell(table, "(other)", COLUMN_CPU)->value.integer > 900 * 5000);
	session_release(session);
}

/* Threads in any order are matched as well: files keep theirs. */
static void fill_unordered(struct snapshot *snapshot, int round)
{
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t tid = round == 0 ? 20 - i : 11 + (i * 7) % 10;

		fixture_set(snapshot, fixture_thread(snapshot, tid, tid, "job", "job", tid),
			    METRIC_RUN_TIME_NS, MS(tid * 100 + (round ? tid : 0)));
	}
}

static void test_unordered(void **state)
{
	struct session *session = fixture_two_rounds(fill_unordered);
	struct table *table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_INTERVAL);

	(void)state;
	assert_int_equal(fixture_cell(table, "job", COLUMN_CPU)->value.integer,
			 MS(155)); /* 11 + 12 + ... + 20 */
	assert_int_equal(session_ended_count(session), 0);
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_first_round),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_own_reading_times),
		cmocka_unit_test(test_not_read_again),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_births),
		cmocka_unit_test(test_reused_id),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_ended_difference),
		cmocka_unit_test(test_largest_amounts),
		cmocka_unit_test(test_ended_overlap),
		cmocka_unit_test(test_ended_bound),
		cmocka_unit_test(test_unordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
