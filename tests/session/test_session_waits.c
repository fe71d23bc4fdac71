/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits that have not ended: what counts of them in a span, for how long they have lasted, and what is not
 * known. */
#include "session_fixture.h"

#include <math.h>
#include <string.h>

#include "table/evidence.h"

static void expect_near(double value, double expected)
{
	if (!(fabs(value - expected) < 0.001))
		fail_msg("%g, not %g", value, expected);
}

/* A thread in a round. */
struct reading {
	char state;
	uint64_t waited_ms;  /* by its counter, which is charged when a wait ends */
	uint64_t waiting_ms; /* for how long the present wait has lasted */
};

/* Rounds 2 s apart, from 100 s after boot on. */
static const struct reading of_starved[] = {
	{'S', 1000, 60000}, /* sleep is no wait for a CPU */
	{'R', 1000, 1500},  /* one has begun */
	{'R', 1000, 3500},  /* it goes on */
	{'R', 5500, 0},     /* it ended after 4500 ms, and the thread runs */
	{'R', 5800, 200},   /* a short one, and another one has begun */
	{'R', 5950, 0},     /* which ended before the time that was read of it */
	{'D', 5950, 1900},  /* blocked */
	{'D', 5950, 3900},  {'S', 5950, 10},
};

enum {
	ROUNDS = sizeof(of_starved) / sizeof(of_starved[0])
};

static struct snapshot *make_round(size_t round, bool known)
{
	const struct reading *reading = &of_starved[round];
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * (double)round);
	size_t runs = fixture_thread(snapshot, 10, 10, "app", "runs", 1);
	size_t thread = fixture_thread(snapshot, 10, 11, "app", "starved", 1);

	fixture_set(snapshot, runs, METRIC_STATE, 'R');
	fixture_set(snapshot, runs, METRIC_RUN_TIME_NS, MS(2000 * (uint64_t)round));
	fixture_set(snapshot, thread, METRIC_STATE, (uint64_t)reading->state);
	fixture_set(snapshot, thread, METRIC_WAIT_TIME_NS, MS(reading->waited_ms));
	fixture_set(snapshot, thread, METRIC_CPU_DELAY_TOTAL_NS, MS(reading->waited_ms));
	fixture_set(snapshot, thread, METRIC_CPU_DELAY_COUNT, 10 + round);
	if (known) {
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
		snapshot->waiting_ns[thread] = MS(reading->waiting_ms);
		if (reading->state != 'S' && MS(reading->waiting_ms) >= SNAPSHOT_STUCK_AFTER_NS)
			snapshot->stuck_ns[thread] = MS(reading->waiting_ms);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static struct session *make_session(size_t rounds, bool known)
{
	struct session *session = session_create();

	for (size_t i = 0; i < rounds; i++)
		session_add_round(session, make_round(i, known));
	return session;
}

/* The wait for a CPU in a mode, percent or ms, of the newest round: of the group and of its thread. */
static void expect_waited(struct session *session, enum window_mode mode, double expected)
{
	const double unit = mode == WINDOW_MODE_RATE ? 1 : 1e6;

	for (int threads = 0; threads < 2; threads++) {
		static const enum column columns[] = {
			COLUMN_RUNQ, COLUMN_METRICS + (unsigned int)METRIC_CPU_DELAY_TOTAL_NS};
		struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
		struct table *table;

		view.mode = mode;
		view.level = threads ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
		view.columns = columns;
		view.column_count = 2;
		table = fixture_table_of(session, &view);
		for (size_t i = 0; i < 2; i++) {
			const struct cell *cell = fixture_cell(table, threads ? "starved" : "app",
							       columns[i]);

			assert_int_equal(cell->state, CELL_VALUE);
			expect_near(cell->sort / unit, expected);
		}
	}
}

/* A wait counts in the spans in which it took place, and the whole of it once. */
static void test_waits_count_as_they_go(void **state)
{
	static const double percent[ROUNDS] = {NAN, 75, 100, 50, 25, 0, 0, 0, 0};
	double sum = 0;

	(void)state;
	for (size_t i = 1; i < ROUNDS; i++) {
		struct session *session = make_session(i + 1, true);

		expect_waited(session, WINDOW_MODE_RATE, percent[i]);
		expect_waited(session, WINDOW_MODE_INTERVAL, percent[i] * 20);
		sum += percent[i] * 20;
		if (i < 5) {
			expect_waited(session, WINDOW_MODE_BASE, sum);
			expect_waited(session, WINDOW_MODE_TOTAL, 1000 + sum);
		}
		session_release(session);
	}
}

/* Waits of unknown age count whole when they end. */
static void test_waits_count_at_their_end(void **state)
{
	static const double percent[] = {NAN, 0, 0, 225, 15};

	(void)state;
	for (size_t i = 1; i < sizeof(percent) / sizeof(percent[0]); i++) {
		struct session *session = make_session(i + 1, false);

		expect_waited(session, WINDOW_MODE_RATE, percent[i]);
		session_release(session);
	}
}

/* If only one of two rounds knows the age, neither counts it; a counter that goes backwards says nothing. */
static void test_waits_of_one_side(void **state)
{
	struct session *session = make_session(2, false);
	struct snapshot *snapshot = make_round(2, true);
	struct table *table;

	(void)state;
	session_add_round(session, snapshot);
	expect_waited(session, WINDOW_MODE_RATE, 0);
	snapshot = make_round(4, true);
	fixture_set(snapshot, 1, METRIC_WAIT_TIME_NS, MS(999));
	session_add_round(session, snapshot);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	assert_true(fixture_cell(table, "app", COLUMN_RUNQ)->partial);
	session_release(session);
}

/* The mean of a wait is one of those that were counted. */
static void test_mean(void **state)
{
	struct session *session = make_session(2, true);
	struct table *table = fixture_table(session, TAB_ALL, WINDOW_MODE_RATE);

	(void)state;
	assert_string_equal(fixture_shown(table, "app", column_of_derived(DERIVED_AVG_CPU_DELAY_NS)), "0");
	assert_string_equal(fixture_shown(table, "app", column_of_derived(DERIVED_CPU_EFFICIENCY)), "0.57");
	session_release(session);
}

static void expect_shown(struct session *session, enum view_level level, enum column column,
			 const char *expected)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	view.level = level;
	view.mode = session_previous(session) != NULL ? WINDOW_MODE_RATE : WINDOW_MODE_TOTAL;
	view.columns = &column;
	view.column_count = 1;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, level == VIEW_LEVEL_GROUPS ? "app" : "starved", column),
			    expected);
}

static void expect_lines(struct session *session, enum column column, const char *expected)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	view.columns = &column;
	view.column_count = 1;
	fixture_expect_told(session, &view, "app", column, expected);
}

static void expect_heading(struct session *session, const char *key, const char *expected)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	view.level = VIEW_LEVEL_THREADS;
	table = session_metric_table(session, &view, key, strlen(key));
	assert_string_equal(table->heading, expected);
	table_release(table);
}

/* A thread shows its wait whatever it waits for; a group leaves out sleep. */
static void test_ages(void **state)
{
	struct session *session = make_session(1, true);

	(void)state;
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "60.0s");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "0");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_LONG, "0");
	session_add_round(session, make_round(1, true));
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "1.5s");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "1.5s");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_LONG, "1");
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_STUCK, "1.5s");
	session_add_round(session, make_round(2, true));
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_STUCK, "3.5s");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_STUCK, "1");
	session_add_round(session, make_round(7, true));
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "3.9s");
	session_release(session);
	/* from the first look on */
	session = session_create();
	session_add_round(session, make_round(2, true));
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_STUCK, "3.5s");
	session_release(session);
}

/* Without it the time over which a thread was seen stuck is a lower bound; nothing is known of the others. */
static void test_lower_bounds(void **state)
{
	struct session *session = make_session(2, false);
	struct snapshot *snapshot = make_round(2, false);

	(void)state;
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->stuck_ns[1] = MS(500);
	session_add_round(session, snapshot);
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "≥500ms");
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_STUCK, "≥500ms");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "≥500ms");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_STUCK, "1");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_LONG, "·");
	snapshot->stuck_ns[1] = MS(2500);
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_LONG, "≥1"); /* the one that runs may wait */
	snapshot->stuck_ns[1] = 0;
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "·");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "·");
	fixture_set(snapshot, 1, METRIC_STATE, 'S');
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "·");
	fixture_set(snapshot, 0, METRIC_STATE, 'S');
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "0");
	session_release(session);
}

/* Even a known age may be a lower bound. */
static void test_marked_ages(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = make_round(6, true);

	(void)state;
	snapshot->thread_flags[1] |= THREAD_WAIT_AT_LEAST;
	session_add_round(session, snapshot);
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "≥1.9s");
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_STUCK, "≥1.9s");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "≥1.9s");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_STUCK, "1");
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_LONG, "1");
	expect_heading(session, "11:100", "in uninterruptible sleep for at least 1.9 s");
	expect_lines(session, COLUMN_WAITING,
		     "  1 in uninterruptible sleep, the longest for at least 1.9 s\nstate:");
	expect_lines(session, COLUMN_WAITING, "Value: at least 1,900,000,000 ns\n");
	snapshot->waiting_ns[1] = MS(900);
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_LONG, "·");
	snapshot->waiting_ns[1] = snapshot->stuck_ns[1] = 0;
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "·");
	expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_STUCK, "0");
	/* of a sleep nobody but the thread's own row says anything */
	fixture_set(snapshot, 1, METRIC_STATE, 'S');
	expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, "0");
	session_release(session);
}

/* What is known of time in D counts as far as it is in the span, and when it has ended no more than it was.
 */
static void test_lost(void **state)
{
	static const struct {
		size_t rounds;
		uint64_t charged_ms; /* by a delay, in the last round */
		double lost;
	} cases[] = {{3, 0, 100},   {7, 0, 95}, {8, 0, 100}, {9, 0, 0}, /* nothing counted that time in D */
		     {9, 4300, 20}, /* it ended after 4300 ms, 3900 of which counted before */
		     {9, 300, 15}}; /* too short to have been it */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session *session = make_session(cases[i].rounds - 1, true);
		struct snapshot *last = make_round(cases[i].rounds - 1, true);
		struct table *table;
		const struct cell *cell;

		fixture_set(last, 1, METRIC_BLKIO_DELAY_TOTAL_NS, MS(cases[i].charged_ms));
		session_add_round(session, last);
		table = fixture_table(session, TAB_TIME, WINDOW_MODE_RATE);
		cell = fixture_cell(table, "app", COLUMN_LOST);
		expect_near(cell->value.real, cases[i].lost);
		expect_near(cell->sort, cases[i].lost);
		assert_false(cell->partial);
		table = fixture_table(session, TAB_TIME, WINDOW_MODE_INTERVAL);
		expect_near(fixture_cell(table, "app", COLUMN_LOST)->sort / 1e6, cases[i].lost * 20);
		session_release(session);
	}
}

/* Over two rounds of a thread that waits in a state, what is shown by the time over which it was seen so. */
static void expect_stuck(char wait, uint64_t first_ms, uint64_t second_ms, uint64_t charged_ms,
			 enum column column, const char *expected)
{
	struct session *session = session_create();

	for (size_t i = 0; i < 2; i++) {
		struct snapshot *snapshot = make_round(i, false);

		fixture_set(snapshot, 0, METRIC_STATE, 'S');
		fixture_set(snapshot, 1, METRIC_STATE, (uint64_t)wait);
		fixture_set(snapshot, 1, METRIC_WAIT_TIME_NS, MS(i * charged_ms));
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
		snapshot->stuck_ns[1] = MS(i == 0 ? first_ms : second_ms);
		session_add_round(session, snapshot);
	}
	expect_shown(session, VIEW_LEVEL_GROUPS, column, expected);
	session_release(session);
}

/* Where ages are not known: who was stuck for the whole span waited for it, for part of it at least that. */
static void test_stuck_threads_wait(void **state)
{
	(void)state;
	expect_stuck('R', 0, 2000, 0, COLUMN_RUNQ, "100.0");
	expect_stuck('R', 8000, 10000, 0, COLUMN_RUNQ, "100.0");
	expect_stuck('R', 0, 500, 0, COLUMN_RUNQ, "≥25.0");
	/* 8 s of the wait that ended had been counted */
	expect_stuck('R', 8000, 0, 9000, COLUMN_RUNQ, "50.0");
	expect_stuck('D', 8000, 10000, 0, COLUMN_RUNQ, "0");
	expect_stuck('D', 8000, 10000, 0, COLUMN_LOST, "100.0");
	expect_stuck('D', 0, 500, 0, COLUMN_LOST, "≥25.0");
	expect_stuck('R', 0, 500, 0, COLUMN_LOST, "≥25.0");
}

static void expect_evidence(struct session *session, const char *expected)
{
	struct buffer lines = {0};

	evidence_append_lines(session_now(session), 0, 0, &lines);
	assert_non_null(strstr(lines.data, expected));
	buffer_release(&lines);
}

/* In words: of a number, of a thread, of the data. */
static void test_words(void **state)
{
	struct session *session = make_session(3, true);

	(void)state;
	expect_lines(session, COLUMN_RUNQ,
		     "Waiting at present\n  1 for a CPU, the longest for 3.5 s\n"
		     "  the waits for a CPU, 3.5 s so far, count for their part in the span\n");
	expect_lines(session, COLUMN_WAITING, "  1 for a CPU, the longest for 3.5 s\nstate:");
	expect_heading(session, "10:100", "running");
	expect_heading(session, "11:100", "waits for a CPU for 3.5 s");
	expect_evidence(session, "WAITS  for a CPU count up to now\n");
	session_add_round(session, make_round(7, true));
	expect_heading(session, "11:100", "in uninterruptible sleep for 3.9 s");
	expect_lines(session, COLUMN_LONG, "Value: 1 thread\n");
	session_release(session);
	session = make_session(3, false);
	expect_lines(session, COLUMN_RUNQ,
		     "Unfinished waits count only for stuck threads: not with this backend.\n");
	expect_lines(session, COLUMN_WAITING, "Unavailable: not with this backend.\n");
	expect_heading(session, "11:100", "running or waits for a CPU");
	expect_evidence(session, "WAITS  count when they end");
	session_release(session);
}

/* A stopped or frozen thread waits for nothing, as a row and in its group, even if its age is unknown. */
static void test_held_threads_wait_for_nothing(void **state)
{
	static const char states[] = {'T', 't', 'F'};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(states); i++) {
		struct session *session = session_create();
		struct snapshot *snapshot = make_round(0, i % 2 == 0);

		fixture_set(snapshot, 1, METRIC_STATE, (uint64_t)states[i / 2]);
		if (snapshot->stuck_ns == NULL)
			snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity,
								  sizeof(uint64_t));
		session_add_round(session, snapshot);
		expect_shown(session, VIEW_LEVEL_THREADS, COLUMN_WAITING, "0");
		/* procfs does not show how long the other, running thread has waited */
		expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_WAITING, i % 2 == 0 ? "0" : "·");
		expect_shown(session, VIEW_LEVEL_GROUPS, COLUMN_STUCK, "0");
		session_release(session);
	}
}

/* Threads in D, and those that have slept for long, in the order in which they say most; no others. */
static void test_sleepers(void **state)
{
	static const struct {
		char state;
		uint64_t waiting_ms;
	} threads[] = {{'S', 100}, {'S', 900}, {'R', 3000}, {'D', 20}, {'S', 60000}, {'D', 700}};
	static const uint32_t expected[] = {15, 13, 14, 11};
	const struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct session_sleeper sleepers[8];
	size_t count;

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		fixture_set(snapshot, fixture_thread(snapshot, 10, 10 + i, "app", "worker", 1), METRIC_STATE,
			    (uint64_t)threads[i].state);
	fixture_set(snapshot, fixture_thread(snapshot, 20, 20, "other", "other", 1), METRIC_STATE, 'D');
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	for (uint32_t i = 0; i < 6; i++)
		snapshot->waiting_ns[i] = MS(threads[i].waiting_ms);
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
	assert_int_equal(session_find_sleepers(session, &view, "app", 3, sleepers, 8, &count), 4);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(sleepers[i].tid, expected[i]);
	assert_true(sleepers[0].in_d && sleepers[0].wait_ns == MS(700) && !sleepers[2].in_d);
	assert_int_equal(session_find_sleepers(session, &view, "app", 3, sleepers, 2, &count), 2);
	assert_int_equal(count, 4);
	assert_int_equal(sleepers[1].tid, 13);
	session_release(session);
}

/* Lists of threads have WAITING only with BPF: procfs does not say how long a thread has slept. */
static void test_ages_by_files(void **state)
{
	static const enum view_level levels[] = {VIEW_LEVEL_GROUPS, VIEW_LEVEL_THREADS};

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct session *session = session_create();

		for (size_t round = 0; round < 2; round++) {
			struct snapshot *snapshot = make_round(round, known);
			struct feature_result *passes = &snapshot->provenance.features[FEATURE_PASSES];

			snapshot->provenance.present = true;
			passes->state = known ? FEATURE_STATE_ON : FEATURE_STATE_OFF;
			passes->reason = known ? REASON_READ : REASON_NOT_PERMITTED;
			session_add_round(session, snapshot);
		}
		for (size_t i = 0; i < 2; i++) {
			struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

			view.level = levels[i];
			assert_int_equal(session_why_unavailable(session, &view, COLUMN_WAITING, NULL),
					 !known && levels[i] == VIEW_LEVEL_THREADS);
		}
		session_release(session);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_count_as_they_go),
		cmocka_unit_test(test_waits_count_at_their_end),
		cmocka_unit_test(test_waits_of_one_side),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_lower_bounds),
		cmocka_unit_test(test_marked_ages),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_stuck_threads_wait),
		cmocka_unit_test(test_held_threads_wait_for_nothing),
		cmocka_unit_test(test_sleepers),
		cmocka_unit_test(test_ages_by_files),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
