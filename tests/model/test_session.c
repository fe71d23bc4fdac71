/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds, deltas and the rules of sums, on snapshots built in memory. */
#include "session_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS(n) ((uint64_t)(n)*1000000)

/* One worker and one more, two seconds apart; returns the session with both rounds. */
static struct session *two_rounds(void (*fill)(struct snapshot *snapshot, int round))
{
	struct session *session = session_create();

	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fill(snapshot, round);
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
	}
	return session;
}

static struct table *table_of(struct session *session, enum tab tab, enum view_mode mode)
{
	struct view view;

	view_initialise(&view);
	view.tab = tab;
	view.mode = mode;
	return session_table(session, &view);
}

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
	struct session *session = two_rounds(fill_two_workers);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);

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
	table_release(table);
	session_release(session);
}

static void test_amounts(void **state)
{
	struct session *session = two_rounds(fill_two_workers);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_INTERVAL);

	(void)state;
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->value.integer, MS(2500));
	assert_string_equal(table->columns[fixture_column(table, COLUMN_CPU)].title, "CPU");
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "2.5s");
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_TOTAL);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->value.integer, MS(1500 + 9000));
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_BASE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->value.integer, MS(2500));
	table_release(table);
	session_release(session);
}

/* Before the second round there is nothing to compare with; the lifetime is there. */
static void test_first_round(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct table *table;

	(void)state;
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	assert_int_equal(table->row_count, 0);
	assert_true(table->column_count > 5);
	table_release(table);
	fill_two_workers(snapshot, 0);
	session_add_round(session, snapshot);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->state, CELL_UNAVAILABLE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->reason, REASON_NOT_READ);
	assert_string_equal(fixture_shown(table, "web", COLUMN_THR), "2");
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_TOTAL);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "8.0s");
	table_release(table);
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
	assert_true(session_is_file(session));
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->state, CELL_UNAVAILABLE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->reason, REASON_NOT_IN_FILE);
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_TOTAL);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "10.5s");
	assert_int_equal(fixture_row(table, "web")->mark, ROW_MARK_NONE);
	table_release(table);
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
	struct session *session = two_rounds(fill_own_times);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);

	(void)state;
	/* 0.5 s / 2 s + 2 s / 4 s */
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "75.0");
	table_release(table);
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
	struct session *session = two_rounds(fill_carried_over);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);

	(void)state;
	assert_int_equal(fixture_cell(table, "web", COLUMN_READ)->state, CELL_UNAVAILABLE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_READ)->reason, REASON_NOT_READ);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "125.0");
	table_release(table);
	session_release(session);
}

static void fill_backwards(struct snapshot *snapshot, int round)
{
	fill_two_workers(snapshot, round);
	fixture_set(snapshot, 0, METRIC_RUN_TIME_NS, MS(round == 0 ? 500 : 400));
}

static void test_backwards(void **state)
{
	struct session *session = two_rounds(fill_backwards);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	struct view view;

	(void)state;
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "≥100.0");
	table_release(table);
	view_initialise(&view);
	view.level = VIEW_LEVEL_THREADS;
	table = session_table(session, &view);
	assert_int_equal(fixture_cell(table, "web", COLUMN_CPU)->reason, REASON_WENT_BACKWARDS);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "·");
	assert_string_equal(fixture_shown(table, "worker-1", COLUMN_CPU), "100.0");
	table_release(table);
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
	struct session *session = two_rounds(fill_births);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	struct snapshot *third = fixture_snapshot(104);

	(void)state;
	assert_string_equal(fixture_shown(table, "born", COLUMN_CPU), "20.0");
	assert_int_equal(fixture_cell(table, "old", COLUMN_CPU)->state, CELL_UNAVAILABLE);
	assert_int_equal(fixture_cell(table, "old", COLUMN_CPU)->reason, REASON_NOT_READ);
	table_release(table);
	fill_births(third, 1);
	fixture_set(third, 3, METRIC_RUN_TIME_NS, MS(9200));
	session_add_round(session, third);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	assert_string_equal(fixture_shown(table, "old", COLUMN_CPU), "10.0");
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "born", COLUMN_CPU), "400ms");
	assert_int_equal(fixture_cell(table, "old", COLUMN_CPU)->state, CELL_UNAVAILABLE);
	table_release(table);
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
	struct session *session = two_rounds(fill_reused);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_INTERVAL);

	(void)state;
	assert_string_equal(fixture_shown(table, "job", COLUMN_CPU), "600ms");
	assert_int_equal(session_ended_count(session), 1);
	table_release(table);
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
	struct session *session = two_rounds(fill_rename);
	struct view view;
	struct table *table;

	(void)state;
	view_initialise(&view);
	view.grouping.axis = AXIS_THREAD;
	view.mode = VIEW_MODE_BASE;
	table = session_table(session, &view);
	assert_string_equal(fixture_shown(table, "after", COLUMN_CPU), "700ms");
	assert_false(fixture_has_row(table, "before"));
	table_release(table);
	view_release(&view);
	session_release(session);
}

/* What ended threads did since the base stays; later readings of them are gone. */
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
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "3.3s");
	assert_int_equal(fixture_row(table, "web")->threads, 1);
	assert_string_equal(fixture_shown(table, "gone", COLUMN_CPU), "70.0ms");
	assert_int_equal(fixture_row(table, "gone")->threads, 0);
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_TOTAL);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "3.0s");
	table_release(table);
	session_set_base(session);
	assert_int_equal(session_ended_count(session), 0);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), "0");
	assert_false(fixture_has_row(table, "gone"));
	table_release(table);
	session_release(session);
}

/* More names than are kept: the rest is one record, and nothing is lost. */
static void test_ended_bound(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct view view;
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
	view_initialise(&view);
	view.mode = VIEW_MODE_BASE;
	table = session_table(session, &view);
	assert_int_equal(table->row_count, 1 + 4096 + 1);
	for (size_t i = 0; i < table->row_count; i++)
		sum += table->rows[i].cells[fixture_column(table, COLUMN_CPU)].value.integer;
	assert_int_equal(sum, 5000 * 1000 + 5000 * 4999 / 2);
	assert_true(fixture_cell(table, "(other)", COLUMN_CPU)->value.integer > 900 * 5000);
	table_release(table);
	session_release(session);
}

/* Kernel threads' I/O does not apply and makes nothing partial; a failed reading does. */
static void fill_states(struct snapshot *snapshot, int round)
{
	size_t kernel = fixture_thread(snapshot, 2, 2, "mixed", "kthread", 1);
	size_t read = fixture_thread(snapshot, 10, 10, "mixed", "read", 1);
	size_t failed = fixture_thread(snapshot, 20, 20, "denied", "denied", 1);
	size_t partly = fixture_thread(snapshot, 30, 30, "partly", "partly", 1);
	size_t partly_failed = fixture_thread(snapshot, 30, 31, "partly", "partly", 1);
	reason_id *of_io;

	snapshot->thread_flags[kernel] |= THREAD_KERNEL;
	fixture_set(snapshot, read, METRIC_READ_BYTES, 2048 * (uint64_t)round);
	fixture_set(snapshot, partly, METRIC_READ_BYTES, 2048 * (uint64_t)round);
	of_io = snapshot_source_reasons(snapshot, SOURCE_IO);
	of_io[failed] = REASON_NOT_PERMITTED;
	of_io[partly_failed] = REASON_NOT_PERMITTED;
	snapshot->default_reason[SOURCE_DELAYS] = REASON_SWITCHED_OFF;
}

static void test_states(void **state)
{
	struct session *session = two_rounds(fill_states);
	struct view view;
	struct table *table;

	(void)state;
	view_initialise(&view);
	table = session_table(session, &view);
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_READ), "1.0K");
	assert_string_equal(fixture_shown(table, "denied", COLUMN_READ), "·");
	assert_int_equal(fixture_cell(table, "denied", COLUMN_READ)->reason, REASON_NOT_PERMITTED);
	assert_string_equal(fixture_shown(table, "partly", COLUMN_READ), "≥1.0K");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_BLKIO), "·");
	assert_int_equal(fixture_cell(table, "mixed", COLUMN_MEM)->reason, REASON_SWITCHED_OFF);
	/* the run queue is known, the rest is not */
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_LOST), "≥0");
	table_release(table);
	view.level = VIEW_LEVEL_THREADS;
	view.tab = TAB_IO;
	table = session_table(session, &view);
	assert_string_equal(fixture_shown(table, "kthread", COLUMN_READ), "-");
	assert_true(isnan(fixture_cell(table, "kthread", COLUMN_READ)->sort));
	table_release(table);
	view_release(&view);
	session_release(session);
}

/* Delays: MEM is the larger of swap-in and thrashing, thread by thread, plus the others; LOST adds all. */
static void fill_delays(struct snapshot *snapshot, int round)
{
	uint64_t on = (uint64_t)round;
	size_t a = fixture_thread(snapshot, 10, 10, "app", "a", 1);
	size_t b = fixture_thread(snapshot, 10, 11, "app", "b", 1);

	fixture_set(snapshot, a, METRIC_SWAPIN_DELAY_TOTAL_NS, MS(20) * on);
	fixture_set(snapshot, a, METRIC_THRASHING_DELAY_TOTAL_NS, MS(60) * on);
	fixture_set(snapshot, b, METRIC_SWAPIN_DELAY_TOTAL_NS, MS(100) * on);
	fixture_set(snapshot, b, METRIC_FREEPAGES_DELAY_TOTAL_NS, MS(10) * on);
	fixture_set(snapshot, b, METRIC_COMPACT_DELAY_TOTAL_NS, MS(20) * on);
	fixture_set(snapshot, b, METRIC_WPCOPY_DELAY_TOTAL_NS, MS(10) * on);
	fixture_set(snapshot, b, METRIC_WAIT_TIME_NS, MS(200) * on);
	fixture_set(snapshot, a, METRIC_BLKIO_DELAY_TOTAL_NS, MS(400) * on);
	fixture_set(snapshot, a, METRIC_IRQ_DELAY_TOTAL_NS, MS(40) * on);
	fixture_set(snapshot, a, METRIC_RUN_TIME_NS, MS(1000) * on);
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->stuck_ns[b] = on * MS(2000);
}

static void test_delays(void **state)
{
	struct session *session = two_rounds(fill_delays);
	struct table *table = table_of(session, TAB_DELAY, VIEW_MODE_RATE);
	const struct cell *cell;
	struct view view;

	(void)state;
	assert_string_equal(fixture_shown(table, "app", COLUMN_MEM),
			    "10.0"); /* 60 + 100 + 10 + 20 + 10 in 2 s */
	assert_string_equal(fixture_shown(table, "app", COLUMN_LOST), "42.0");
	cell = fixture_cell(table, "app", COLUMN_LOST);
	assert_float_equal((float)cell->sort, 142.0F, 0.01F); /* one stuck thread counts as 100 */
	cell = fixture_cell(table, "app", COLUMN_BAR);
	assert_int_equal(cell->form, CELL_FORM_BAR);
	assert_float_equal(cell->value.shares[0], 0.25F, 0.001F); /* 1 s of 2 threads x 2 s */
	assert_float_equal(cell->value.shares[1], 0.05F, 0.001F);
	assert_float_equal(cell->value.shares[2], 0.10F, 0.001F);
	assert_float_equal(cell->value.shares[3], 0.05F, 0.001F);
	assert_float_equal(cell->value.shares[4], 0.01F, 0.001F);
	assert_float_equal(cell->value.shares[5], 0.54F, 0.001F);
	table_release(table);
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	assert_string_equal(fixture_shown(table, "app", COLUMN_STUCK), "1");
	table_release(table);
	view_initialise(&view);
	view.level = VIEW_LEVEL_THREADS;
	table = session_table(session, &view);
	assert_string_equal(fixture_shown(table, "b", COLUMN_STUCK), "2.0s");
	assert_string_equal(fixture_shown(table, "a", COLUMN_STUCK), "0");
	table_release(table);
	session_release(session);
}

/* Frozen delay counters show their lifetime and no delta. */
static void fill_frozen(struct snapshot *snapshot, int round)
{
	fill_delays(snapshot, 1);
	(void)round;
	snapshot->provenance.features[FEATURE_DELAYS].state = FEATURE_STATE_OFF;
	snapshot->provenance.features[FEATURE_DELAYS].reason = REASON_SWITCHED_OFF;
}

static void test_frozen(void **state)
{
	struct session *session = two_rounds(fill_frozen);
	struct table *table = table_of(session, TAB_DELAY, VIEW_MODE_RATE);

	(void)state;
	assert_int_equal(fixture_cell(table, "app", COLUMN_BLKIO)->reason, REASON_SWITCHED_OFF);
	assert_int_equal(fixture_cell(table, "app", COLUMN_BLKIO)->state, CELL_UNAVAILABLE);
	table_release(table);
	table = table_of(session, TAB_DELAY, VIEW_MODE_TOTAL);
	assert_string_equal(fixture_shown(table, "app", COLUMN_BLKIO), "400ms");
	table_release(table);
	session_release(session);
}

/* Ratios: unmarked when both inputs miss the same threads, else unavailable; nothing to divide by is absent.
 */
static void fill_ratios(struct snapshot *snapshot, int round)
{
	uint64_t on = (uint64_t)round;
	const char *const names[] = {"same", "same", "mixed", "mixed", "idle"};

	for (uint32_t i = 0; i < 5; i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i], 1);

		if (i < 4) {
			fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(30) * on);
			fixture_set(snapshot, thread, METRIC_WAIT_TIME_NS, MS(10) * on);
			fixture_set(snapshot, thread, METRIC_TIMESLICES, 10 * on);
		}
	}
	snapshot_add_exception(snapshot, 1, METRIC_RUN_TIME_NS, REASON_BAD_VALUE);
	snapshot_add_exception(snapshot, 1, METRIC_WAIT_TIME_NS, REASON_BAD_VALUE);
	snapshot_add_exception(snapshot, 3, METRIC_RUN_TIME_NS, REASON_BAD_VALUE);
}

static void test_ratios(void **state)
{
	struct session *session = two_rounds(fill_ratios);
	struct table *table = table_of(session, TAB_RUN, VIEW_MODE_RATE);

	(void)state;
	assert_string_equal(fixture_shown(table, "same", COLUMN_WAIT), "25.0");
	assert_string_equal(fixture_shown(table, "same", COLUMN_SLICE),
			    "·"); /* timeslices of both, run time of one */
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_WAIT), "·");
	assert_int_equal(fixture_cell(table, "mixed", COLUMN_WAIT)->reason, REASON_BAD_VALUE);
	assert_string_equal(fixture_shown(table, "idle", COLUMN_WAIT), "-");
	assert_string_equal(fixture_shown(table, "idle", COLUMN_SLICE), "-");
	table_release(table);
	session_release(session);
}

/* Gauges, ranges, categories, sets and peaks. */
static void fill_present(struct snapshot *snapshot, int round)
{
	static const uint32_t four[] = {0, 1, 2, 3}, two[] = {4, 5};
	const char *const names[] = {"mixed", "mixed", "mixed", "same", "same"};

	for (uint32_t i = 0; i < 5; i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i], 1);

		fixture_set_text(snapshot, thread, METRIC_POLICY, i == 0 ? "SCHED_FIFO" : "SCHED_OTHER");
		fixture_set(snapshot, thread, METRIC_NICE, (uint64_t)(i < 3 ? (int64_t)i * 5 - 5 : 0));
		fixture_set(snapshot, thread, METRIC_STATE, i == 1 ? 'R' : i == 2 ? 'D' : 'S');
		fixture_set(snapshot, thread, METRIC_CPU_AFFINITY,
			    i == 0 ? cpu_set_intern(&snapshot->cpu_sets, two, 2)
				   : cpu_set_intern(&snapshot->cpu_sets, four, 4));
		fixture_set(snapshot, thread, METRIC_WAIT_MAX, MS(5) + MS(1) * (uint64_t)round * (i == 1));
		fixture_set(snapshot, thread, METRIC_FAIR_SLICE_NS, MS(3));
	}
}

static void test_present(void **state)
{
	struct session *session = two_rounds(fill_present);
	struct table *table = table_of(session, TAB_SCHED, VIEW_MODE_RATE);

	(void)state;
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_POLICY), "OTHER*");
	assert_string_equal(fixture_shown(table, "same", COLUMN_POLICY), "OTHER");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_NICE), "-5..5");
	assert_string_equal(fixture_shown(table, "same", COLUMN_NICE), "0");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_CPUS), "2-4*");
	assert_string_equal(fixture_shown(table, "same", COLUMN_CPUS), "4");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_FAIRSL),
			    "3.0ms"); /* not applicable to FIFO */
	table_release(table);
	table = table_of(session, TAB_WAKEUPS, VIEW_MODE_RATE);
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_MAXWT), "6.0ms+");
	assert_string_equal(fixture_shown(table, "same", COLUMN_MAXWT), "5.0ms");
	table_release(table);
	table = table_of(session, TAB_RUN, VIEW_MODE_RATE);
	/* three states, one each: the first in byte order */
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_STATE), "D*");
	assert_string_equal(fixture_shown(table, "same", COLUMN_STATE), "S");
	table_release(table);
	session_release(session);
}

/* Marks: what is new, what went, the largest rises by half or more. */
static struct snapshot *marks_round(int round)
{
	static const struct {
		const char *name;
		int from, until;
		uint64_t run[3];
	} jobs[] = {
		{"steady", 0, 3, {0, 100, 200}}, {"riser", 0, 3, {0, 10, 110}},
		{"second", 0, 3, {0, 10, 60}},   {"third", 0, 3, {0, 10, 50}},
		{"fourth", 0, 3, {0, 10, 40}},   {"little", 0, 3, {0, 100, 240}},
		{"leaves", 0, 2, {0, 77, 0}},    {"comes", 2, 3, {0, 0, 500}},
	};
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (round < jobs[i].from || round >= jobs[i].until)
			continue;
		fixture_set(snapshot,
			    fixture_thread(snapshot, 10 + i, 10 + i, jobs[i].name, jobs[i].name,
					   jobs[i].from > 0 ? 103 : 1),
			    METRIC_RUN_TIME_NS, MS(jobs[i].run[round]));
	}
	return snapshot;
}

static void test_marks(void **state)
{
	struct session *session = session_create();
	struct table *table = NULL;

	(void)state;
	for (int round = 0; round < 3; round++) {
		session_add_round(session, marks_round(round));
		table_release(table);
		table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
		/* asking again changes nothing */
		table_release(table);
		table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	}
	assert_int_equal(fixture_row(table, "comes")->mark, ROW_MARK_NEW);
	assert_int_equal(fixture_row(table, "leaves")->mark, ROW_MARK_GONE);
	assert_int_equal(fixture_row(table, "leaves")->threads, 0);
	assert_string_equal(fixture_shown(table, "leaves", COLUMN_CPU), "·");
	assert_int_equal(fixture_cell(table, "leaves", COLUMN_CPU)->reason, REASON_ENDED);
	assert_int_equal(fixture_row(table, "riser")->mark, ROW_MARK_MOVER);
	assert_int_equal(fixture_row(table, "second")->mark, ROW_MARK_MOVER);
	assert_int_equal(fixture_row(table, "third")->mark, ROW_MARK_MOVER);
	assert_int_equal(fixture_row(table, "fourth")->mark, ROW_MARK_NONE);
	assert_int_equal(fixture_row(table, "steady")->mark, ROW_MARK_NONE);
	assert_int_equal(fixture_row(table, "little")->mark, ROW_MARK_NONE);
	table_release(table);
	session_add_round(session, marks_round(2));
	table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
	assert_false(fixture_has_row(table, "leaves"));
	table_release(table);
	session_release(session);
}

/* Once a pattern has had two threads it stays one. */
static void test_sticky_pattern(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fixture_thread(snapshot, 10, 10, "worker-1", "worker-1", 1);
		if (round == 0)
			fixture_thread(snapshot, 11, 11, "worker-2", "worker-2", 1);
		fixture_thread(snapshot, 12, 12, "single-7", "single-7", 1);
		session_add_round(session, snapshot);
		table = table_of(session, TAB_OVERVIEW, VIEW_MODE_RATE);
		assert_true(fixture_has_row(table, "worker-{N}"));
		assert_true(fixture_has_row(table, "single-7"));
		table_release(table);
	}
	session_release(session);
}

/* Narrowing: process, then its thread patterns, then its threads; kernel threads can be hidden. */
static void fill_tree(struct snapshot *snapshot, int round)
{
	size_t thread;

	for (uint32_t i = 0; i < 4; i++) {
		thread = fixture_thread(snapshot, 10, 10 + i, "engine", i < 2 ? "io-1" : "cpu-1", 1);
		fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(100) * (i + 1) * (uint64_t)round);
	}
	thread = fixture_thread(snapshot, 30, 30, "other", "io-1", 1);
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(50) * (uint64_t)round);
	thread = fixture_thread(snapshot, 40, 40, "kworker", "kworker", 1);
	snapshot->thread_flags[thread] |= THREAD_KERNEL;
}

static void test_narrowing(void **state)
{
	struct session *session = two_rounds(fill_tree);
	struct view view;
	struct table *table;
	char *key;
	size_t length;

	(void)state;
	view_initialise(&view);
	view.hide_kernel_threads = true;
	table = session_table(session, &view);
	assert_int_equal(table->row_count, 2);
	table_release(table);
	assert_true(view_open(&view, "engine", 6));
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	table = session_table(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_string_equal(fixture_shown(table, "io-{N}", COLUMN_THR),
			    "2"); /* not that of the other process */
	assert_string_equal(fixture_shown(table, "cpu-{N}", COLUMN_CPU), "35.0");
	table_release(table);
	assert_true(view_open(&view, "cpu-{N}", 7));
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	table = session_table(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->rows[0].tid, 13);
	assert_int_equal(table->rows[0].tgid, 10);
	assert_string_equal(table->rows[0].key, "13:100");
	assert_int_equal(table->rows[1].tid, 12);
	table_release(table);
	assert_true(view_close(&view, &key, &length));
	assert_string_equal(key, "cpu-{N}");
	free(key);
	assert_int_equal(view.step_count, 1);
	assert_true(view_close(&view, NULL, NULL));
	assert_false(view_close(&view, NULL, NULL));
	view_release(&view);
	session_release(session);
}

/* Order is total: ties by name, what has no value last in either direction; limit keeps the total. */
static void fill_order(struct snapshot *snapshot, int round)
{
	const char *const names[] = {"d", "b", "a", "c"};

	for (uint32_t i = 0; i < 4; i++)
		fixture_set(snapshot, fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i], 1),
			    METRIC_RUN_TIME_NS, MS(round * (i == 0 ? 20 : 10)));
	snapshot_add_exception(snapshot, 2, METRIC_RUN_TIME_NS, REASON_BAD_VALUE);
}

static void assert_order(struct session *session, const struct view *view, const char *expected)
{
	struct table *table = session_table(session, view);

	for (size_t i = 0; i < table->row_count; i++)
		assert_int_equal(table->rows[i].label[0], expected[i]);
	assert_int_equal(table->row_count, strlen(expected));
	assert_int_equal(table->row_total, 4);
	table_release(table);
}

static void test_order(void **state)
{
	struct session *session = two_rounds(fill_order);
	struct view view;

	(void)state;
	view_initialise(&view);
	assert_order(session, &view, "dbca");
	view.sort_ascending = true;
	assert_order(session, &view, "bcda");
	view.sort_by_name = true;
	assert_order(session, &view, "abcd");
	view.sort_ascending = false;
	assert_order(session, &view, "dcba");
	view.sort_by_name = false;
	view.limit = 2;
	assert_order(session, &view, "db");
	session_release(session);
}

/* Filters look at the cells of the view or at rates. */
static void test_filter_rows(void **state)
{
	struct session *session = two_rounds(fill_tree);
	struct view view;
	struct table *table;

	(void)state;
	view_initialise(&view);
	view.filter = filter_parse("cpu% > 20 and !other", NULL);
	assert_non_null(view.filter);
	view.mode = VIEW_MODE_TOTAL; /* a rate is a rate in every mode */
	table = session_table(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_true(fixture_has_row(table, "engine"));
	assert_int_equal(table->row_total, 1);
	table_release(table);
	view_release(&view);
	view_initialise(&view);
	view.filter = filter_parse("run_time_ns < 60ms and thr = 1", NULL);
	view.mode = VIEW_MODE_INTERVAL;
	table = session_table(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_true(fixture_has_row(table, "other"));
	table_release(table);
	view_release(&view);
	session_release(session);
}

/* The sum over groups is the sum over threads, whatever the axis, for random threads. */
static void fill_random(struct snapshot *snapshot, int round)
{
	unsigned int seed = 7;
	char process[16], name[16];

	for (uint32_t i = 0; i < 300; i++) {
		size_t thread;

		snprintf(process, sizeof(process), "p%c-%d", 'a' + rand_r(&seed) % 5, rand_r(&seed) % 3);
		snprintf(name, sizeof(name), "t%c-%d", 'a' + rand_r(&seed) % 7, rand_r(&seed) % 9);
		thread = fixture_thread(snapshot, 100 + i, 100 + i, process, name, 1);
		fixture_cgroup(snapshot, thread, rand_r(&seed) % 2 ? "/a/x-1.service" : "/b");
		for (int m = 0; m < METRIC_COUNT; m++) {
			uint64_t base = (uint64_t)rand_r(&seed), more = (uint64_t)rand_r(&seed) % 1000000;

			if (metric_type((enum metric)m)->kind == METRIC_KIND_COUNTER &&
			    m != METRIC_THREAD_COUNT)
				fixture_set(snapshot, thread, (enum metric)m, base + (round != 0 ? more : 0));
		}
	}
}

static void column_sums(const struct table *table, double sums[])
{
	for (size_t c = 0; c < table->column_count; c++) {
		sums[c] = 0;
		for (size_t r = 0; r < table->row_count; r++) {
			const struct cell *cell = &table->rows[r].cells[c];

			if (cell->state == CELL_VALUE && cell->form == CELL_FORM_INTEGER)
				sums[c] += (double)cell->value.integer;
			else if (cell->state == CELL_VALUE && cell->form == CELL_FORM_REAL)
				sums[c] += cell->value.real;
		}
	}
}

static void test_sums(void **state)
{
	struct session *session = two_rounds(fill_random);
	static const enum column summed[] = {COLUMN_CPU,  COLUMN_RUNQ, COLUMN_MEM,   COLUMN_LOST, COLUMN_CSW,
					     COLUMN_READ, COLUMN_USER, COLUMN_FAULT, COLUMN_MIGR};
	double expected[16], sums[16];
	struct view view;
	struct table *table;

	(void)state;
	view_initialise(&view);
	view.columns = summed;
	view.column_count = sizeof(summed) / sizeof(summed[0]);
	for (int mode = 0; mode < VIEW_MODE_COUNT; mode++) {
		view.mode = (enum view_mode)mode;
		view.level = VIEW_LEVEL_THREADS;
		table = session_table(session, &view);
		assert_int_equal(table->row_count, 300);
		column_sums(table, expected);
		table_release(table);
		view.level = VIEW_LEVEL_GROUPS;
		for (int axis = 0; axis < AXIS_COUNT; axis++) {
			view.grouping.axis = (enum axis)axis;
			table = session_table(session, &view);
			assert_in_range(table->row_count, 2, 299);
			column_sums(table, sums);
			for (size_t c = 0; c < view.column_count; c++) {
				assert_true(expected[c] > 0);
				assert_true(fabs(sums[c] - expected[c]) <= 1e-9 * expected[c]);
			}
			table_release(table);
		}
	}
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
	struct session *session = two_rounds(fill_unordered);
	struct table *table = table_of(session, TAB_OVERVIEW, VIEW_MODE_INTERVAL);

	(void)state;
	assert_int_equal(fixture_cell(table, "job", COLUMN_CPU)->value.integer,
			 MS(155)); /* 11 + 12 + ... + 20 */
	assert_int_equal(session_ended_count(session), 0);
	table_release(table);
	session_release(session);
}

/* Columns of cgroup records: deltas on the cgroup axis, `-` elsewhere. */
static void fill_cgroups(struct snapshot *snapshot, int round)
{
	static const char *const paths[] = {"/web-1.service", "/web-2.service", "/db.service"};

	for (uint32_t i = 0; i < 3; i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, "p", "p", 1);
		struct cgroup_record *record;

		fixture_cgroup(snapshot, thread, paths[i]);
		record = snapshot_add_cgroup(snapshot, snapshot->triples[snapshot->triple[thread]].cgroup);
		record->usage_usec = 1000000 + (uint64_t)round * 500000 * (i + 1);
		record->memory_current = 1024 * 1024 * (i + 1);
		record->max_quota_us = (struct optional_u64){50000 * (i + 1), i != 2};
		record->pids_current = (struct optional_u64){i + 1, true};
		if (i == 2)
			record->missing[CGROUP_MEMBER_MEMORY_CURRENT] = REASON_NOT_IN_KERNEL;
	}
}

static void test_cgroups(void **state)
{
	struct session *session = two_rounds(fill_cgroups);
	struct view view;
	struct table *table;

	(void)state;
	view_initialise(&view);
	view.tab = TAB_CGROUP;
	view.grouping.axis = AXIS_CGROUP;
	table = session_table(session, &view);
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_CGCPU), "75.0");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_LIMIT), "1.00");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_CGMEM), "2.0M");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_PIDS), "3");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_LIMIT), "-");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_CGMEM), "·");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_OOM), "0");
	/* sorted by CPU% of the view: the tab's own column of that title */
	assert_int_equal(table->sort_column, fixture_column(table, COLUMN_CGCPU));
	assert_string_equal(table->rows[0].label, "/db.service");
	table_release(table);
	view.grouping.axis = AXIS_PROCESS;
	table = session_table(session, &view);
	assert_string_equal(fixture_shown(table, "p", COLUMN_CGCPU), "-");
	table_release(table);
	session_release(session);
}

/* Memory by smaps_rollup: leaders only. */
static void fill_smaps(struct snapshot *snapshot, int round)
{
	(void)round;
	for (uint32_t i = 0; i < 3; i++)
		fixture_thread(snapshot, i < 2 ? 10 : 20, 10 + i * 5, "p", "p", 1);
	snapshot->tid[2] = 20;
	snapshot->smaps = memory_allocate_zero(1, sizeof(*snapshot->smaps));
	snapshot->smaps_capacity = snapshot->smaps_count = 1;
	snapshot->smaps[0].thread = 0;
	snapshot->smaps[0].kib.items = arena_allocate_zero(&snapshot->arena, 1, sizeof(struct key_value));
	snapshot->smaps[0].kib.items[0] = (struct key_value){string_pool_intern(&snapshot->strings, "Rss", 3),
							     2048};
	snapshot->smaps[0].kib.count = 1;
	snapshot_source_reasons(snapshot, SOURCE_SMAPS_ROLLUP)[2] = REASON_OVER_BUDGET;
}

static void test_smaps(void **state)
{
	struct session *session = two_rounds(fill_smaps);
	struct table *table = table_of(session, TAB_MEMORY, VIEW_MODE_RATE);

	(void)state;
	assert_string_equal(fixture_shown(table, "p", COLUMN_RSS), "≥2.0M");
	table_release(table);
	session_release(session);
}

/* Every tab builds on every axis and level with cells of the unit its column says. */
static void test_every_tab(void **state)
{
	struct session *session = two_rounds(fill_random);
	struct view view;

	(void)state;
	view_initialise(&view);
	for (int tab = 0; tab < TAB_COUNT; tab++) {
		for (int mode = 0; mode < VIEW_MODE_COUNT * 2; mode++) {
			struct table *table;

			view.tab = (enum tab)tab;
			view.mode = (enum view_mode)(mode / 2);
			view.level = mode % 2 ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
			table = session_table(session, &view);
			assert_true(table->row_count > 0);
			for (size_t c = 0; c < table->column_count; c++) {
				assert_true(table->columns[c].width >= (int)strlen(table->columns[c].title));
				assert_int_equal(table->rows[0].cells[c].unit, table->columns[c].unit);
				assert_int_not_equal(table->rows[0].cells[c].state, CELL_EMPTY);
				for (size_t d = 0; d < c; d++)
					assert_string_not_equal(table->columns[c].name,
								table->columns[d].name);
			}
			table_release(table);
		}
	}
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
		cmocka_unit_test(test_ended_bound),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_present),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_sticky_pattern),
		cmocka_unit_test(test_narrowing),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_filter_rows),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_unordered),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_every_tab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
