/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of threads at their end are added to their groups, less earlier readings. */
#include "session_fixture.h"

#include <stdio.h>
#include <string.h>

#include "snapshot/ended_set.h"
#include "table/evidence.h"

/* Places in ended_metrics. */
enum {
	RUN_TIME,
};

static uint32_t triple_of(struct snapshot *snapshot, const char *process, const char *thread)
{
	if (snapshot->ended == NULL)
		snapshot->ended = ended_set_create();
	return ended_set_triple(snapshot->ended, name_text_of(process), name_text_of(thread),
				name_text_of("/"));
}

static void add_group(struct snapshot *snapshot, const char *name, uint64_t threads, uint64_t run_ms)
{
	struct ended_group *group;
	uint32_t triple = triple_of(snapshot, name, name);

	group = ended_set_group(snapshot->ended, triple, false);
	group->threads += threads;
	group->processes += threads;
	group->amounts.of[RUN_TIME] += MS(run_ms);
}

static void add_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *name,
		       double start_seconds, uint64_t run_ms)
{
	uint32_t triple = triple_of(snapshot, name, name);
	struct ended_thread *thread = ended_set_add_thread(snapshot->ended, triple, false);

	thread->tgid = tgid;
	thread->tid = tid;
	thread->start_time = (uint64_t)(start_seconds * 100);
	thread->amounts.of[RUN_TIME] = MS(run_ms);
}

static void add_living(struct snapshot *snapshot, uint32_t id, const char *name, double start_seconds,
		       uint64_t run_ms)
{
	fixture_set(snapshot, fixture_thread(snapshot, id, id, name, name, start_seconds), METRIC_RUN_TIME_NS,
		    MS(run_ms));
}

static void assert_cells(struct session *session, enum window_mode mode, const char *label, const char *cpu,
			 const char *born, const char *ended)
{
	struct table *table = fixture_table(session, TAB_RUN, mode);

	assert_string_equal(fixture_shown(table, label, COLUMN_CPU), cpu);
	assert_string_equal(fixture_shown(table, label, COLUMN_BORN), born);
	assert_string_equal(fixture_shown(table, label, COLUMN_ENDED), ended);
}

/* Threads that came and went between two rounds have a row, which goes with the next one. */
static void test_short_lives(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_RUN, WINDOW_MODE_INTERVAL, AXIS_PROCESS);
	struct table *table;

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		add_living(snapshot, 10, "sh", 1, 1000 + 100 * (uint64_t)round);
		snapshot->ended = round == 0 ? NULL : ended_set_create();
		if (round == 1) {
			add_group(snapshot, "cc1", 40, 1000);
			add_group(snapshot, "sh", 10, 50);
		}
		session_add_round(session, snapshot);
		if (round != 1)
			continue;
		assert_cells(session, WINDOW_MODE_RATE, "cc1", "50.0", "20.0", "20.0");
		assert_cells(session, WINDOW_MODE_INTERVAL, "sh", "150ms", "10", "10");
		table = fixture_table(session, TAB_RUN, WINDOW_MODE_RATE);
		assert_int_equal(fixture_row(table, "cc1")->threads, 0);
	}
	assert_cells(session, WINDOW_MODE_INTERVAL, "sh", "100ms", "0", "0");
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_INTERVAL);
	assert_false(fixture_has_row(table, "cc1"));
	assert_cells(session, WINDOW_MODE_BASE, "cc1", "1.0s", "40", "40");
	assert_cells(session, WINDOW_MODE_BASE, "sh", "250ms", "10", "10");
	/* rows kept from one span are not those of another */
	view.cells_on_demand = true;
	assert_false(fixture_has_row(fixture_table_of(session, &view), "cc1"));
	view.mode = WINDOW_MODE_BASE;
	assert_true(fixture_has_row(fixture_table_of(session, &view), "cc1"));
	session_release(session);
}

/* A filter by a rate counts over the last interval, whatever the table counts over. */
static void test_rates_since_base(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_RUN, WINDOW_MODE_BASE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		add_living(snapshot, 10, "sh", 1, 1000 + 100 * (uint64_t)round);
		snapshot->ended = ended_set_create();
		if (round == 1)
			add_group(snapshot, "as", 40, 1000);
		if (round != 0)
			add_group(snapshot, "cc1", 10, 1000);
		session_add_round(session, snapshot);
	}
	view.filter = filter_parse("ended/s > 3 or cpu% > 4", NULL);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_string_equal(fixture_shown(table, "cc1", COLUMN_ENDED), "20");
	assert_string_equal(fixture_shown(table, "sh", COLUMN_CPU), "200ms");
	/* in a list of threads, too */
	view.level = VIEW_LEVEL_THREADS;
	assert_true(fixture_has_row(fixture_table_of(session, &view), "sh"));
	view_release(&view);
	session_release(session);
}

/* Of threads that began or ended in the span whole ticks are known, of others the difference of two readings.
 */
static void test_short_lives_in_ticks(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fixture_set(snapshot, fixture_thread(snapshot, 10, 10, "sh", "sh", 1),
			    METRIC_UTIME_CLOCK_TICKS, 100 + 4 * (uint64_t)round);
		if (round == 1) {
			fixture_set(snapshot, fixture_thread(snapshot, 20, 20, "new", "new", 101),
				    METRIC_UTIME_CLOCK_TICKS, 2);
			add_group(snapshot, "cc1", 40, 39);
			for (size_t i = 0; i < ENDED_METRICS; i++) {
				if (ended_metrics[i] == METRIC_UTIME_CLOCK_TICKS)
					snapshot->ended->groups[0].amounts.of[i] = 3;
			}
		}
		session_add_round(session, snapshot);
	}
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_RATE);
	assert_string_equal(fixture_shown(table, "sh", COLUMN_USER), "2.0");
	assert_string_equal(fixture_shown(table, "new", COLUMN_USER), "≥1.0");
	assert_int_equal(fixture_cell(table, "new", COLUMN_USER)->reason, REASON_LOWER_BOUND);
	assert_string_equal(fixture_shown(table, "cc1", COLUMN_USER), "≥1.5");
	assert_string_equal(fixture_shown(table, "cc1", COLUMN_SYS), "≥0");
	assert_string_equal(fixture_shown(table, "cc1", COLUMN_CPU), "2.0");
	session_release(session);
}

static struct table *table_on(struct session *session, struct view *view, enum axis axis)
{
	view->tab = TAB_RUN;
	view->mode = WINDOW_MODE_INTERVAL;
	view->grouping.axis = axis;
	return fixture_table_of(session, view);
}

/*
 * By process: what the threads of one did that ended is its own while it is there; of the others only names
 * are known, and they have a row together. Nothing is lost, nothing counts twice.
 */
static void test_by_process(void **state)
{
	struct session *session = session_create();
	const struct table_row *row;
	struct table *table;
	struct view view;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);
		const uint64_t more = 100 * (uint64_t)round;
		size_t thread;

		thread = fixture_thread(snapshot, 10, 10, "engine", "engine", 1);
		fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(1000 + more));
		if (round == 0)
			fixture_set(snapshot, fixture_thread(snapshot, 10, 11, "engine", "pool", 50),
				    METRIC_RUN_TIME_NS, MS(10));
		/* the id of a process that ended, and another one has now */
		thread = fixture_thread(snapshot, 20, 20, round == 0 ? "sh" : "make",
					round == 0 ? "sh" : "make", round == 0 ? 60 : 101);
		fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(round == 0 ? 500 : 40));
		snapshot->ended = ended_set_create();
		if (round == 1) {
			struct ended_thread *pool;

			add_group(snapshot, "cc1", 40, 800);
			pool = ended_set_add_thread(snapshot->ended,
						    ended_set_triple(snapshot->ended, name_text_of("engine"),
								     name_text_of("pool"), name_text_of("/")),
						    false);
			pool->tgid = 10;
			pool->tid = 11;
			pool->start_time = 5000;
			pool->amounts.of[RUN_TIME] = MS(210);
			add_thread(snapshot, 20, 20, "sh", 60, 530);
		}
		session_add_round(session, snapshot);
	}
	view_initialise(&view);
	table = table_on(session, &view, AXIS_PID);
	assert_int_equal(table->row_count, 3);
	assert_string_equal(fixture_shown(table, "10 engine", COLUMN_CPU), "300ms");
	assert_string_equal(fixture_row(table, "10 engine")->key, "10:100");
	assert_string_equal(fixture_shown(table, "20 make", COLUMN_CPU), "40.0ms");
	assert_string_equal(fixture_shown(table, "(ended)", COLUMN_CPU), "830ms");
	fixture_expect_told(session, &view, "(ended)", COLUMN_CPU, "only their names are known");
	row = fixture_row(table, "(ended)");
	/* inside it are the names that they had */
	assert_true(view_open(&view, row->key, row->key_length, row->label, row->label_length));
	table = fixture_table_of(session, &view);
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	assert_string_equal(fixture_shown(table, "cc1", COLUMN_CPU), "800ms");
	assert_string_equal(fixture_shown(table, "sh", COLUMN_CPU), "30.0ms");
	assert_false(fixture_has_row(table, "engine"));
	view_release(&view);
	/* and inside the process its own */
	view_initialise(&view);
	table = table_on(session, &view, AXIS_PID);
	row = fixture_row(table, "10 engine");
	assert_true(view_open(&view, row->key, row->key_length, row->label, row->label_length));
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "pool", COLUMN_CPU), "200ms");
	assert_string_equal(fixture_shown(table, "engine", COLUMN_CPU), "100ms");
	assert_false(fixture_has_row(table, "cc1"));
	view_release(&view);
	session_release(session);
}

/* A thread that was read adds its later work only, once, under the name that it had last. */
static void test_read_before(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		if (round < 2) {
			add_living(snapshot, 20, "worker", 1, 5000 + 300 * (uint64_t)round);
			add_living(snapshot, 30, "sh", round == 0 ? 90 : 90.0, 10);
		} else {
			add_thread(snapshot, 20, 20, "worker", 1, 5700);
			add_thread(snapshot, 30, 30, "make", 90, 210); /* it called execve(2) */
		}
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_INTERVAL, "worker", "400ms", "0", "1");
	assert_cells(session, WINDOW_MODE_BASE, "worker", "700ms", "0", "1");
	assert_cells(session, WINDOW_MODE_INTERVAL, "make", "200ms", "0", "1");
	assert_cells(session, WINDOW_MODE_BASE, "make", "200ms", "0", "1");
	assert_int_equal(session_ended_count(session), 2);
	session_release(session);
}

/* Places in ended_metrics; fails the test where a metric has none. */
static size_t place_of(enum metric metric)
{
	size_t i = 0;

	while (i < ENDED_METRICS && ended_metrics[i] != metric)
		i++;
	assert_true(i < ENDED_METRICS);
	return i;
}

/* A reading includes the part of a wait for a CPU that had gone by. */
static void test_read_while_it_waited(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		add_living(snapshot, 10, "sh", 1, 10);
		if (round < 2) {
			size_t thread = fixture_thread(snapshot, 20, 20, "starved", "starved", 1);

			fixture_set(snapshot, thread, METRIC_STATE, 'R');
			fixture_set(snapshot, thread, METRIC_WAIT_TIME_NS, MS(100));
		} else {
			add_thread(snapshot, 20, 20, "starved", 1, 0);
			snapshot->ended->threads[0].amounts.of[place_of(METRIC_WAIT_TIME_NS)] = MS(1100);
		}
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
		if (round == 1)
			snapshot->waiting_ns[1] = MS(300);
		session_add_round(session, snapshot);
	}
	fixture_expect(session, TAB_RUN, WINDOW_MODE_INTERVAL, "starved", COLUMN_RUNQ, "700ms");
	fixture_expect(session, TAB_RUN, WINDOW_MODE_BASE, "starved", COLUMN_RUNQ, "1.0s");
	session_release(session);
}

/* Waits for swap and for thrashing are one wait: the larger counts, whichever it is. */
static void test_read_overlaps(void **state)
{
	(void)state;
	for (int larger = 0; larger < 2; larger++) {
		struct session *session = session_create();

		for (int round = 0; round < 2; round++) {
			struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

			add_living(snapshot, 10, "sh", 1, 10);
			if (round == 0) {
				add_living(snapshot, 20, "swaps", 1, 10);
				fixture_set(snapshot, 1, METRIC_SWAPIN_DELAY_TOTAL_NS, MS(5));
				fixture_set(snapshot, 1, METRIC_THRASHING_DELAY_TOTAL_NS, MS(5));
				snapshot->ended = ended_set_create();
			} else {
				struct ended_amounts *last;

				add_thread(snapshot, 20, 20, "swaps", 1, 10);
				last = &snapshot->ended->threads[0].amounts;
				last->delayed = 1;
				last->of[place_of(METRIC_SWAPIN_DELAY_TOTAL_NS)] = MS(larger == 0 ? 35 : 25);
				last->of[place_of(METRIC_THRASHING_DELAY_TOTAL_NS)] = MS(larger == 0 ? 25
												     : 35);
			}
			session_add_round(session, snapshot);
		}
		fixture_expect(session, TAB_OVERVIEW, WINDOW_MODE_INTERVAL, "swaps", COLUMN_MWAIT, "30.0ms");
		session_release(session);
	}
}

/* One that told no end did at least what was read of it. */
static void test_not_told(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		add_living(snapshot, 10, "sh", 1, 10);
		if (round < 2)
			add_living(snapshot, 20, "worker", 1, 5000 + 300 * (uint64_t)round);
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_BASE, "worker", "≥300ms", "0", "1");
	session_release(session);
}

/* A zombie that goes had done all that was read of it, also if nobody told its end. */
static void test_zombie_not_told(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		add_living(snapshot, 10, "sh", 1, 10);
		if (round < 2)
			add_living(snapshot, 20, "worker", 1, 5000 + 300 * (uint64_t)round);
		if (round == 1)
			fixture_set(snapshot, 1, METRIC_STATE, 'Z');
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_BASE, "worker", "300ms", "0", "1");
	assert_cells(session, WINDOW_MODE_INTERVAL, "worker", "0", "0", "1");
	session_release(session);
}

/* The last round of a thread could not read it: the base and its end tell how much it did. */
static void test_unread_at_last(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		add_living(snapshot, 10, "sh", 1, 10);
		if (round < 2)
			add_living(snapshot, 20, "worker", 1, 5000);
		else
			add_thread(snapshot, 20, 20, "worker", 1, 5700);
		if (round == 1)
			snapshot_source_reasons(
				snapshot, snapshot->metric_source[METRIC_RUN_TIME_NS])[1] = REASON_NOT_READ;
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_BASE, "worker", "700ms", "0", "1");
	/* the part since that round is unknown */
	assert_cells(session, WINDOW_MODE_INTERVAL, "worker", "·", "0", "1");
	session_release(session);
}

/* One that started since the base, and one that no round of the session has. */
static void test_born(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		if (round == 1)
			add_living(snapshot, 40, "born", 101, 100);
		if (round == 2) {
			add_thread(snapshot, 40, 40, "born", 101, 130);
			add_thread(snapshot, 50, 50, "skipped", 102.5, 60);
			add_thread(snapshot, 60, 60, "missed", 50, 9000);
		}
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_INTERVAL, "born", "30.0ms", "0", "1");
	assert_cells(session, WINDOW_MODE_BASE, "born", "130ms", "1", "1");
	assert_cells(session, WINDOW_MODE_INTERVAL, "skipped", "60.0ms", "1", "1");
	assert_cells(session, WINDOW_MODE_BASE, "skipped", "60.0ms", "1", "1");
	/* an old one that was never read: nobody knows when it did what it did */
	assert_cells(session, WINDOW_MODE_INTERVAL, "missed", "·", "0", "1");
	session_release(session);
}

/* A counter that stands below its last reading adds nothing; one that told no end leaves a lower bound. */
static void test_bounds(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		add_living(snapshot, 10, "web", 1, 1000 + 500 * (uint64_t)round);
		if (round == 0) {
			add_living(snapshot, 11, "back", 1, 800);
			add_living(snapshot, 12, "web", 1, 900);
		} else {
			add_thread(snapshot, 11, 11, "back", 1, 799);
		}
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_INTERVAL, "back", "0", "0", "1");
	assert_cells(session, WINDOW_MODE_INTERVAL, "web", "≥500ms", "0", "1");
	session_release(session);
}

/* A number unknown for all ended threads says why; the delays of some are a lower bound. */
static void test_reasons(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct table *table;

	(void)state;
	add_living(snapshot, 10, "sh", 1, 10);
	session_add_round(session, snapshot);
	snapshot = fixture_snapshot(102);
	add_living(snapshot, 10, "sh", 1, 10);
	add_group(snapshot, "cc1", 3, 10);
	for (size_t i = 0; i < ENDED_METRICS; i++) {
		struct ended_group *group = ended_set_group(snapshot->ended,
							    triple_of(snapshot, "cc1", "cc1"), false);

		if (ended_metrics[i] == METRIC_READ_BYTES)
			snapshot->ended->reasons[i] = REASON_NOT_PERMITTED;
		if (ended_metrics[i] == METRIC_BLKIO_DELAY_TOTAL_NS)
			group->amounts.of[i] = MS(20);
		group->amounts.delayed = 2;
	}
	session_add_round(session, snapshot);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_INTERVAL);
	fixture_expect_missing(table, "cc1", COLUMN_READ, REASON_NOT_PERMITTED);
	assert_string_equal(fixture_shown(table, "cc1", COLUMN_BLKIO), "≥20.0ms");
	session_release(session);
}

/* Expects numbers in the row of ended processes under a filter; NULL: no such row. */
static void expect_pooled(struct session *session, enum axis axis, const char *filter, const char *cpu,
			  const char *ended)
{
	struct view view = fixture_view(TAB_RUN, WINDOW_MODE_RATE, axis);
	struct table *table;

	view.filter = filter_parse(filter, NULL);
	assert_non_null(view.filter);
	table = fixture_table_of(session, &view);
	if (cpu == NULL) {
		assert_false(fixture_has_row(table, "(ended)"));
	} else {
		assert_string_equal(fixture_shown(table, "(ended)", COLUMN_CPU), cpu);
		assert_string_equal(fixture_shown(table, "(ended)", COLUMN_ENDED), ended);
	}
	view_release(&view);
}

/* Ended threads of dead processes share a row, but a filter matches each separately. */
static void test_filtered_pool(void **state)
{
	static const struct {
		const char *filter, *cpu, *ended;
	} cases[] = {
		{"postgres", "1.0", "0.5"},
		{"/^post/", "1.0", "0.5"},
		{"name = postgres", "1.0", "0.5"},
		{"process = postgres", "1.0", "0.5"},
		{"not postgres", "95.0", "500"},
		{"name != postgres", "95.0", "500"},
		{"process != postgres", "95.0", "500"},
		{"postgres or true", "96.0", "501"},
		{"postgres or cpu > 99", "1.0", "0.5"},
		{"postgres and cpu > 2", NULL, NULL},
		{"cpu > 2", "96.0", "501"},
		{"ended", "96.0", "501"},
		{"redis", NULL, NULL},
		{"not ended", NULL, NULL},
		{"user = 70", NULL, NULL},
	};
	struct session *session = session_create();
	struct view view = fixture_view(TAB_RUN, WINDOW_MODE_RATE, AXIS_PID);
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		add_living(snapshot, 10, "postgres", 1, 1000 + 6 * (uint64_t)round);
		if (round == 1) {
			add_group(snapshot, "postgres", 1, 20);
			add_group(snapshot, "true", 1000, 1900);
		}
		session_add_round(session, snapshot);
	}
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		expect_pooled(session, AXIS_PID, cases[i].filter, cases[i].cpu, cases[i].ended);
	/* grouped by user, where the users of these threads are unknown */
	expect_pooled(session, AXIS_USER, "ended", "96.0", "501");
	expect_pooled(session, AXIS_USER, "process = postgres", "1.0", "0.5");
	/* the same inside the opened row */
	view.filter = filter_parse("postgres", NULL);
	fixture_expect_told(session, &view, "(ended)", COLUMN_CPU,
			    "Includes the work of 1 thread that ended");
	assert_true(view_open(&view, name_ended.text, name_ended.length, "(ended)", 7));
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "postgres", COLUMN_CPU), "1.0");
	assert_false(fixture_has_row(table, "true"));
	view_release(&view);
	session_release(session);
}

/* Values that do not apply to kernel threads are not missing for ended ones either. */
static void test_kernel_threads(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct table *table;

	(void)state;
	add_living(snapshot, 10, "sh", 1, 10);
	session_add_round(session, snapshot);
	snapshot = fixture_snapshot(102);
	add_living(snapshot, 10, "sh", 1, 10);
	add_group(snapshot, "cc1", 1, 10);
	ended_set_group(snapshot->ended, triple_of(snapshot, "kworker", "kworker"), true)->threads = 1;
	session_add_round(session, snapshot);
	table = fixture_table(session, TAB_IO, WINDOW_MODE_RATE);
	assert_string_equal(fixture_shown(table, "kworker", COLUMN_READ), "-");
	assert_string_equal(fixture_shown(table, "kworker", COLUMN_BLOCK), "-");
	fixture_expect_missing(table, "cc1", COLUMN_BLOCK, REASON_ENDED);
	session_release(session);
}

/* If nothing watches ends, no number is made up. */
static void test_not_watched(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->provenance.features[FEATURE_EXITS] = (struct feature_result){
			FEATURE_STATE_OFF, REASON_NOT_PERMITTED, NULL, NULL};
		add_living(snapshot, 10, "sh", 1, 10);
		if (round == 0)
			add_living(snapshot, 11, "sh", 1, 10);
		session_add_round(session, snapshot);
	}
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_RATE);
	fixture_expect_missing(table, "sh", COLUMN_ENDED, REASON_NOT_PERMITTED);
	assert_string_equal(fixture_shown(table, "sh", COLUMN_BORN), "≥0");
	fixture_expect(session, TAB_RUN, WINDOW_MODE_BASE, "sh", COLUMN_ENDED, "≥1");
	session_release(session);
}

/* There a group whose threads ended did at least what the others did, and none has a row for that alone. */
static void test_not_told_by_anyone(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_RUN, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->provenance.features[FEATURE_EXITS] = (struct feature_result){
			FEATURE_STATE_OFF, REASON_NOT_PERMITTED, NULL, NULL};
		add_living(snapshot, 10, "pool", 1, 1000 + 100 * (uint64_t)round);
		add_living(snapshot, 20, "sh", 1, 1000 + 100 * (uint64_t)round);
		if (round < 2) {
			add_living(snapshot, 11, "pool", 1, 1000 + 300 * (uint64_t)round);
			add_living(snapshot, 30, "gone", 1, 1000 + 300 * (uint64_t)round);
		}
		session_add_round(session, snapshot);
		if (round == 1)
			assert_cells(session, WINDOW_MODE_RATE, "pool", "20.0", "≥0", "·");
	}
	view.hide_gone = true;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "pool", COLUMN_CPU), "≥5.0");
	assert_string_equal(fixture_shown(table, "sh", COLUMN_CPU), "5.0");
	assert_false(fixture_has_row(table, "gone"));
	fixture_expect_told(session, &view, "pool", COLUMN_CPU,
			    "Lacks the work of 1 thread that ended since the round before");
	view_release(&view);
	/* as they were last read */
	assert_cells(session, WINDOW_MODE_BASE, "pool", "≥500ms", "≥0", "≥1");
	assert_cells(session, WINDOW_MODE_BASE, "gone", "≥300ms", "≥0", "≥1");
	assert_cells(session, WINDOW_MODE_BASE, "sh", "200ms", "≥0", "≥0");
	session_release(session);
}

/* A lower bound makes every amount of ended threads one, and no others. */
static void test_lower_bound(void **state)
{
	static const enum column amounts[] = {COLUMN_CPU,  COLUMN_USER, COLUMN_SYS,  COLUMN_MINF,
					      COLUMN_MAJF, COLUMN_READ, COLUMN_WRITE};
	size_t checked = 0;
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;
	const struct table_row *row;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		snapshot->ended->lower_bound = true;
		add_living(snapshot, 10, "sh", 1, 1000 + 100 * (uint64_t)round);
		add_living(snapshot, 20, "make", 1, 1000 + 100 * (uint64_t)round);
		if (round == 0) {
			add_living(snapshot, 11, "sh", 1, 500);
		} else {
			add_thread(snapshot, 11, 11, "sh", 1, 600);
			add_group(snapshot, "cc1", 40, 1000);
		}
		session_add_round(session, snapshot);
	}
	assert_cells(session, WINDOW_MODE_RATE, "sh", "≥10.0", "0", "0.5");
	assert_cells(session, WINDOW_MODE_RATE, "cc1", "≥50.0", "20.0", "20.0");
	assert_cells(session, WINDOW_MODE_BASE, "cc1", "≥1.0s", "40", "40");
	assert_cells(session, WINDOW_MODE_RATE, "make", "5.0", "0", "0");
	for (view.tab = TAB_RUN; view.tab <= TAB_MEMORY; view.tab++) {
		view.mode = WINDOW_MODE_INTERVAL;
		table = fixture_table_of(session, &view);
		row = fixture_row(table, "cc1");
		for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
			for (size_t column = 0; column < table->column_count; column++) {
				if (table->columns[column].column != (unsigned int)amounts[i])
					continue;
				assert_true(row->cells[column].partial);
				checked++;
			}
		}
	}
	assert_true(checked >= sizeof(amounts) / sizeof(amounts[0]));
	view.tab = TAB_RUN;
	fixture_expect_told(session, &view, "cc1", COLUMN_CPU, "Value: at least 1,000,000,000 ns");
	fixture_expect_told(session, &view, "cc1", COLUMN_CPU, "without the last moments.");
	view_release(&view);
	session_release(session);
}

/* A host of two CPUs that were busy for so long since its start, of a capture that sees all threads. */
static struct snapshot *unwatched_snapshot(int seconds, uint64_t user_ms)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);
	struct provenance *provenance = &snapshot->provenance;

	provenance->features[FEATURE_EXITS].state = FEATURE_STATE_OFF;
	provenance->features[FEATURE_EXITS].reason = REASON_NOT_PERMITTED;
	provenance->features[FEATURE_ALL_PROCESSES].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_PID_NAMESPACE].state = FEATURE_STATE_ON;
	provenance->cpu_ticks_known = true;
	provenance->cpu_ticks_at_ns = provenance->boottime_ns;
	provenance->forks = (struct optional_u64){(uint64_t)seconds, true};
	provenance->cpu_ticks[0] = user_ms / 20;
	provenance->cpu_ticks[2] = user_ms / 20;
	provenance->cpu_ticks[3] = (uint64_t)seconds * 200 - user_ms / 10;
	return snapshot;
}

/* Two rounds, 2 s apart, between which one thread ran for 500 ms and the host for so long. */
static struct session *unwatched_session(uint64_t host_ms, void (*change)(struct snapshot *snapshot))
{
	struct session *session = session_create();

	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = unwatched_snapshot(100 + 2 * round,
							       5000 + (uint64_t)round * host_ms);

		add_living(snapshot, 10, "sh", 1, 1000 + 500 * (uint64_t)round);
		if (change != NULL)
			change(snapshot);
		session_add_round(session, snapshot);
	}
	return session;
}

/* CPU time of the host that no thread has belongs to unreported threads: an estimate. */
static void test_left(void **state)
{
	struct session *session = unwatched_session(900, NULL);
	struct buffer lines = {0};
	struct view view = fixture_view(TAB_RUN, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "(ended)", COLUMN_CPU), "20.0");
	assert_string_equal(fixture_shown(table, "sh", COLUMN_CPU), "25.0");
	assert_int_equal(fixture_cell(table, "(ended)", COLUMN_VCSW)->state, CELL_UNAVAILABLE);
	assert_int_equal(fixture_cell(table, "(ended)", COLUMN_ENDED)->state, CELL_UNAVAILABLE);
	assert_int_equal(fixture_row(table, "(ended)")->threads, 0);
	fixture_expect_told(session, &view, "(ended)", COLUMN_CPU,
			    "Its CPU time is an estimate: the host's, less that of all threads");
	evidence_append_lines(session_now(session), session_interval_ns(session), 0, &lines);
	assert_non_null(strstr(lines.data, "the row (ended) is an estimate"));
	/* whose threads these were is unknown, so even a negated filter does not match */
	view.filter = filter_parse("process != postgres", NULL);
	table = fixture_table_of(session, &view);
	assert_true(fixture_has_row(table, "sh"));
	assert_false(fixture_has_row(table, "(ended)"));
	buffer_release(&lines);
	view_release(&view);
	session_release(session);
}

/* It adds up since the base, where what is too much in one round is made up for in another. */
static void test_left_since_base(void **state)
{
	static const uint64_t host_ms[] = {0, 900, 1300, 2200};
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct snapshot *snapshot = unwatched_snapshot(100 + 2 * round, 5000 + host_ms[round]);

		add_living(snapshot, 10, "sh", 1, 1000 + 500 * (uint64_t)round);
		session_add_round(session, snapshot);
		if (round == 2) {
			table = fixture_table(session, TAB_RUN, WINDOW_MODE_INTERVAL);
			assert_false(fixture_has_row(table, "(ended)"));
		}
	}
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "(ended)", COLUMN_CPU), "700ms");
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_INTERVAL);
	assert_string_equal(fixture_shown(table, "(ended)", COLUMN_CPU), "400ms");
	session_release(session);
}

/*
 * The time of the host is counted between two moments of its own, and so differs from that of the threads:
 * two CPUs that never rest run for no more than there is time.
 */
static void test_left_of_unlike_rounds(void **state)
{
	static const uint64_t duration_ms[] = {100, 900};
	struct session *session = session_create();
	double sum = 0;
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = unwatched_snapshot(100 + 2 * round, 5000);
		struct provenance *provenance = &snapshot->provenance;
		const uint64_t late_ms = duration_ms[round];

		/* 2.8 s of 2 CPUs and some ticks, one CPU of a thread that was read when the round was over
		 */
		provenance->duration_ns = MS(late_ms);
		provenance->cpu_ticks_at_ns += MS(late_ms);
		provenance->cpu_ticks[0] += (2000 * (uint64_t)round + late_ms) / 5 + 4 * (uint64_t)round;
		provenance->cpu_ticks[3] = 1000;
		snapshot->host.online_cpus = (struct optional_u64){2, true};
		add_living(snapshot, 10, "sh", 1, 1000 + 2000 * (uint64_t)round + late_ms);
		snapshot_read_times(
			snapshot, snapshot->metric_source[METRIC_RUN_TIME_NS])[0] = provenance->boottime_ns +
										    MS(late_ms);
		session_add_round(session, snapshot);
	}
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_RATE);
	for (size_t i = 0; i < table->row_count; i++)
		sum += fixture_cell(table, table->rows[i].label, COLUMN_CPU)->value.real;
	assert_string_equal(fixture_shown(table, "sh", COLUMN_CPU), "100.0");
	assert_string_equal(fixture_shown(table, "(ended)", COLUMN_CPU), "100.0");
	assert_true(sum < 200.01);
	session_release(session);
}

/* When a host loses a CPU, work that ended on it before still counts. */
static void test_left_by_lost_cpu(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = unwatched_snapshot(100 + 2 * round,
							       5000 + 3000 * (uint64_t)round);

		snapshot->host.online_cpus = (struct optional_u64){round == 0 ? 2 : 1, true};
		add_living(snapshot, 10, "sh", 1, 1000 + 500 * (uint64_t)round);
		session_add_round(session, snapshot);
	}
	assert_string_equal(
		fixture_shown(fixture_table(session, TAB_RUN, WINDOW_MODE_RATE), "(ended)", COLUMN_CPU),
		"125.0");
	session_release(session);
}

/* Once a round did not tell it, it is not known since the base, nor 0. */
static void test_left_not_known(void **state)
{
	struct session *session = session_create();
	const struct cell *cell;
	struct table *table;

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct snapshot *snapshot = unwatched_snapshot(100 + 2 * round, 5000 + 900 * (uint64_t)round);

		add_living(snapshot, 10, "sh", 1, 1000 + 500 * (uint64_t)round);
		if (round == 2)
			snapshot->provenance.cpu_ticks_known = false;
		session_add_round(session, snapshot);
		if (round == 1)
			assert_cells(session, WINDOW_MODE_BASE, "(ended)", "400ms", "≥0", "≥0");
	}
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_BASE);
	cell = fixture_cell(table, "(ended)", COLUMN_CPU);
	assert_int_equal(cell->state, CELL_UNAVAILABLE);
	session_set_base(session);
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_BASE);
	assert_false(fixture_has_row(table, "(ended)"));
	session_release(session);
}

static void set_scope(struct snapshot *snapshot)
{
	static uint32_t scope[] = {10};

	snapshot->provenance.scope = scope;
	snapshot->provenance.scope_count = 1;
}

static void hide_processes(struct snapshot *snapshot)
{
	snapshot->provenance.features[FEATURE_ALL_PROCESSES].state = FEATURE_STATE_PARTIAL;
}

static void choose_other_namespace(struct snapshot *snapshot)
{
	snapshot->provenance.features[FEATURE_PID_NAMESPACE].state = FEATURE_STATE_OFF;
}

static void watch(struct snapshot *snapshot)
{
	snapshot->provenance.features[FEATURE_EXITS].state = FEATURE_STATE_PARTIAL;
	snapshot->ended = ended_set_create();
}

static void forget_run_time(struct snapshot *snapshot)
{
	snapshot_source_reasons(snapshot, snapshot->metric_source[METRIC_RUN_TIME_NS])[0] = REASON_NOT_READ;
}

static void keep_forks(struct snapshot *snapshot)
{
	snapshot->provenance.forks.value = 100;
}

static void forget_host(struct snapshot *snapshot)
{
	snapshot->provenance.cpu_ticks_known = false;
}

/* The row is left out where it tells nothing or may be chance. */
static void test_nothing_left(void **state)
{
	static const struct {
		uint64_t host_ms;
		void (*change)(struct snapshot *snapshot);
	} rows[] = {
		{500, NULL},
		{300, NULL},
		{600, NULL}, /* the tick might have met it */
		{750, NULL}, /* also one of 10 ms */
		{900, set_scope},
		{900, hide_processes},
		{900, choose_other_namespace},
		{900, watch},
		{900, forget_run_time},
		{900, forget_host},
		{900, keep_forks}, /* nothing came, nothing went */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct session *session = unwatched_session(rows[i].host_ms, rows[i].change);

		for (enum window_mode mode = WINDOW_MODE_RATE; mode <= WINDOW_MODE_TOTAL; mode++) {
			struct table *table = fixture_table(session, TAB_RUN, mode);

			assert_false(fixture_has_row(table, "(ended)"));
		}
		session_release(session);
	}
}

/* A round that nobody looked at hands on what it told. */
static void test_absorbed(void **state)
{
	struct session *session = session_create();
	struct snapshot *first = fixture_snapshot(100), *skipped = fixture_snapshot(102),
			*second = fixture_snapshot(104);

	(void)state;
	add_living(first, 10, "job", 1, 1000);
	session_add_round(session, first);
	add_living(skipped, 10, "job", 1, 1200);
	add_living(skipped, 11, "late", 101, 5);
	add_group(skipped, "cc1", 4, 100);
	add_group(second, "cc1", 6, 50);
	add_thread(second, 10, 10, "job", 1, 1500);
	add_thread(second, 11, 11, "late", 101, 25);
	ended_set_absorb(second->ended, skipped->ended);
	snapshot_release(skipped);
	session_add_round(session, second);
	assert_cells(session, WINDOW_MODE_INTERVAL, "cc1", "150ms", "10", "10");
	assert_cells(session, WINDOW_MODE_INTERVAL, "job", "500ms", "0", "1");
	assert_cells(session, WINDOW_MODE_INTERVAL, "late", "25.0ms", "1", "1");
	session_release(session);
}

/* Says which process started those of a group that was added. */
static void start_group(struct snapshot *snapshot, const char *name, const char *parent, uint64_t processes)
{
	struct ended_set *set = snapshot->ended;

	ended_set_group(set, triple_of(snapshot, name, name), false)->started_by = (struct started_by){
		string_pool_intern(&set->names->strings, parent, strlen(parent)), processes};
}

/* BORN/s of a row says who started its processes. */
static void expect_parent(struct session *session, const char *name, const char *parent)
{
	static const enum column born = COLUMN_BORN;
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct buffer lines = {0};
	char expected[100];

	view.columns = &born;
	view.column_count = 1;
	session_explain(session, &view, name, strlen(name), 0, &lines);
	snprintf(expected, sizeof(expected), "came and went were started by %s.\n", parent);
	assert_non_null(strstr(lines.data, expected));
	buffer_release(&lines);
}

/* More than a hundred processes a second are named, by those that take part. */
static void test_storm(void **state)
{
	struct session *session = session_create();
	struct session_storm storm;

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		add_living(snapshot, 10, "init", 1, 10);
		add_group(snapshot, "make", 15, 1);
		add_group(snapshot, "cc1", 60, 1);
		add_group(snapshot, "sh", round == 2 ? 726 : 125, 1);
		start_group(snapshot, "cc1", "make", 60);
		start_group(snapshot, "sh", "configure", round == 2 ? 726 : 125);
		session_add_round(session, snapshot);
		if (round < 2)
			assert_false(session_find_storm(session, &storm));
	}
	assert_true(session_find_storm(session, &storm));
	assert_int_equal(storm.processes_per_s, 400);
	assert_string_equal(storm.names[0], "sh");
	assert_string_equal(storm.parent, "configure");
	expect_parent(session, "cc1", "make");
	assert_null(storm.names[1]);
	session_release(session);
}

/* Beyond the bounds names are put together, and threads are counted. */
static void test_bounded(void **state)
{
	struct ended_set *set = ended_set_create();
	const struct ended_group *other;
	char name[16];

	(void)state;
	for (int i = 0; i < ENDED_GROUPS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "job-%d", i);
		ended_set_group(
			set, ended_set_triple(set, name_text_of(name), name_text_of(name), name_text_of("/")),
			false)
			->threads++;
	}
	assert_int_equal(set->group_count, ENDED_GROUPS_MAX + 1);
	other = &set->groups[ENDED_GROUPS_MAX];
	assert_string_equal(snapshot_text(set->names, set->names->triples[other->triple].pcomm), "(other)");
	assert_int_equal(other->threads, 100);
	for (int i = 0; i < ENDED_THREADS_MAX; i++)
		assert_non_null(ended_set_add_thread(set, 0, false));
	assert_null(ended_set_add_thread(set, 0, false));
	assert_int_equal(set->groups[0].threads, 2);
	assert_int_equal(set->groups[0].unknown, 1);
	ended_set_release(set);
}

/* Threads of which nothing is known may have been anyone's: no sum of their interval is whole. */
static void test_incomplete(void **state)
{
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		snapshot->ended = ended_set_create();
		add_living(snapshot, 10, "sh", 1, 1000 + 100 * (uint64_t)round);
		if (round == 1) {
			struct ended_group *group;

			add_group(snapshot, "cc1", 40, 1000);
			snapshot->ended->lost = 7;
			group = ended_set_group(snapshot->ended, triple_of(snapshot, "(ended)", "(ended)"),
						false);
			group->threads = group->unknown = 7;
		}
		if (round == 3) {
			add_group(snapshot, "(ended)", 0, 0);
			snapshot->ended->unread = true;
		}
		session_add_round(session, snapshot);
		if (round == 1) {
			assert_cells(session, WINDOW_MODE_INTERVAL, "sh", "≥100ms", "≥0", "≥0");
			assert_cells(session, WINDOW_MODE_RATE, "cc1", "≥50.0", "≥20.0", "≥20.0");
			assert_cells(session, WINDOW_MODE_INTERVAL, "(ended)", "·", "≥0", "≥7");
		}
		if (round == 2)
			assert_cells(session, WINDOW_MODE_INTERVAL, "sh", "100ms", "0", "0");
	}
	assert_cells(session, WINDOW_MODE_INTERVAL, "sh", "≥100ms", "≥0", "≥0");
	assert_cells(session, WINDOW_MODE_BASE, "cc1", "≥1.0s", "≥40", "≥40");
	session_set_base(session);
	assert_cells(session, WINDOW_MODE_BASE, "sh", "0", "0", "0");
	session_release(session);
}

/* --- how many start and end --- */

static struct session *session_of_turnover(enum feature_state sees_all, bool told)
{
	struct session *session = session_create();

	for (uint32_t round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);
		struct feature_result *results = snapshot->provenance.features;

		results[FEATURE_ALL_PROCESSES].state = results[FEATURE_PID_NAMESPACE].state = sees_all;
		snapshot->provenance.forks = (struct optional_u64){5000 + 60 * round, true};
		add_living(snapshot, 10, "sh", 1, 1000);
		add_living(snapshot, 20 + round, "job", 1 + 100 * round, 1000);
		if (told && round == 1) {
			snapshot->ended = ended_set_create();
			add_group(snapshot, "true", 49, 100);
		}
		session_add_round(session, snapshot);
	}
	return session;
}

static void assert_turnover(enum feature_state sees_all, bool told, double ended_per_s, bool at_least)
{
	struct session *session = session_of_turnover(sees_all, told);
	const struct session_turnover turnover = session_turnover(session);

	assert_true(turnover.started_known && turnover.ended_known);
	assert_true(turnover.started_per_s == 30);
	assert_true(turnover.ended_per_s == ended_per_s);
	assert_int_equal(turnover.ended_at_least, at_least);
	session_release(session);
}

static void test_turnover(void **state)
{
	struct session *session = session_create();

	(void)state;
	assert_false(session_turnover(session).started_known);
	session_add_round(session, fixture_snapshot(100));
	assert_false(session_turnover(session).ended_known);
	session_release(session);
	/* 49 that came and went and one that was there, in 2 s */
	assert_turnover(FEATURE_STATE_ON, true, 25, false);
	/* two there, 60 that came, two there now */
	assert_turnover(FEATURE_STATE_ON, false, 30, false);
	assert_turnover(FEATURE_STATE_OFF, false, 0.5, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_lives),
		cmocka_unit_test(test_rates_since_base),
		cmocka_unit_test(test_by_process),
		cmocka_unit_test(test_read_before),
		cmocka_unit_test(test_born),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_filtered_pool),
		cmocka_unit_test(test_kernel_threads),
		cmocka_unit_test(test_not_watched),
		cmocka_unit_test(test_absorbed),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_left_since_base),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_read_while_it_waited),
		cmocka_unit_test(test_read_overlaps),
		cmocka_unit_test(test_not_told),
		cmocka_unit_test(test_zombie_not_told),
		cmocka_unit_test(test_unread_at_last),
		cmocka_unit_test(test_not_told_by_anyone),
		cmocka_unit_test(test_lower_bound),
		cmocka_unit_test(test_short_lives_in_ticks),
		cmocka_unit_test(test_left_of_unlike_rounds),
		cmocka_unit_test(test_left_by_lost_cpu),
		cmocka_unit_test(test_left_not_known),
		cmocka_unit_test(test_turnover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
