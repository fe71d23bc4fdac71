/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait latency in rows, spans and texts. */
#include "session_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot/ended_set.h"
#include "table/screen_format.h"

static struct session *session;

/* The length of a name, including the mark if it is one of ctop's own, such as "(other)". */
static size_t name_length(const char *name)
{
	const struct name_text own = name_find_own(name, strlen(name));

	return own.length != 0 ? own.length : strlen(name);
}

static uint32_t intern(struct snapshot *snapshot, const char *name)
{
	return string_pool_intern(&snapshot->strings, name, name_length(name));
}

static void add_waits(struct snapshot *snapshot, const char *process, const char *thread, const char *cgroup,
		      enum latency_kind kind, uint64_t wait, uint64_t count)
{
	struct latency_histogram *waits;

	latency_add_record(snapshot, intern(snapshot, process), intern(snapshot, thread),
			   intern(snapshot, cgroup));
	waits = &latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)->of[kind];
	waits->buckets[latency_bucket(wait)] = count;
	waits->sum_ns = wait * count;
	waits->max_ns = wait;
}

/* Two web workers in one cgroup, a pool in another; `round` counts from 0. */
static struct snapshot *make_round(int round)
{
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

	fixture_cgroup(snapshot, fixture_thread(snapshot, 10, 10, "web", "web", 5), "/a");
	fixture_cgroup(snapshot, fixture_thread(snapshot, 10, 11, "web", "worker-1", 5), "/a");
	fixture_cgroup(snapshot, fixture_thread(snapshot, 10, 12, "web", "worker-2", 5), "/a");
	fixture_cgroup(snapshot, fixture_thread(snapshot, 20, 20, "pool", "pool", 5), "/b");
	return snapshot;
}

static void add_rounds(void)
{
	struct snapshot *first = make_round(0), *second = make_round(1);

	first->latency.span_ns = MS(1000);
	add_waits(first, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, 1000000, 10);
	snapshot_finish(first);
	session_add_round(session, first);
	second->latency.span_ns = MS(2000);
	add_waits(second, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, 5000, 150);
	add_waits(second, "web", "worker-2", "/a", LATENCY_RUN_QUEUE, 70000, 50);
	/* a thread that is gone */
	add_waits(second, "web", "worker-7", "/a", LATENCY_RUN_QUEUE, 70000, 2);
	add_waits(second, "pool", "pool", "/b", LATENCY_BLOCKED, 3000000, 4);
	snapshot_finish(second);
	session_add_round(session, second);
}

static int open_session(void **state)
{
	(void)state;
	session = session_create();
	return 0;
}

static int close_session(void **state)
{
	(void)state;
	session_release(session);
	return 0;
}

static double number(const struct table *table, const char *label, enum column column)
{
	const struct cell *cell = fixture_cell(table, label, column);

	assert_int_equal(cell->state, CELL_VALUE);
	return cell->form == CELL_FORM_INTEGER ? (double)cell->value.integer : cell->value.real;
}

static void test_interval(void **state)
{
	struct table *table;

	(void)state;
	add_rounds();
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	assert_true(number(table, "web", COLUMN_WAITS) == 101);
	assert_true(number(table, "web", COLUMN_RQ50) >= 4096 && number(table, "web", COLUMN_RQ50) <= 8192);
	assert_true(number(table, "web", COLUMN_RQ99) > 65536 && number(table, "web", COLUMN_RQ99) <= 70000);
	assert_true(number(table, "web", COLUMN_RQMAX) == 70000);
	assert_true(number(table, "web", COLUMN_DWAITS) == 0);
	assert_int_equal(fixture_cell(table, "web", COLUMN_D99)->state, CELL_ABSENT);
	assert_true(number(table, "pool", COLUMN_DWAITS) == 2);
	assert_true(number(table, "pool", COLUMN_DMAX) == 3000000);
	assert_int_equal(fixture_cell(table, "pool", COLUMN_RQ50)->state, CELL_ABSENT);
}

/* Since the base, and in all: the first round counts in the latter alone. */
static void test_spans(void **state)
{
	struct table *table;

	(void)state;
	add_rounds();
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_BASE);
	assert_true(number(table, "web", COLUMN_WAITS) == 202);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_TOTAL);
	assert_true(number(table, "web", COLUMN_WAITS) == 212);
	assert_true(number(table, "web", COLUMN_RQMAX) == 1000000);
	session_set_base(session);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_BASE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_WAITS)->state, CELL_UNAVAILABLE);
}

static struct table *table_of(enum axis axis, enum view_level level, const char *process)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	view_set_tab(&view, TAB_LATENCY);
	if (process != NULL)
		assert_true(view_open(&view, process, strlen(process), process, strlen(process)));
	view.grouping.axis = axis;
	view.level = level;
	view.mode = WINDOW_MODE_INTERVAL;
	table = fixture_table_of(session, &view);
	view_release(&view);
	return table;
}

/* A pattern of names has the waits of all its threads, also of those that are gone; so has a cgroup. */
static void test_axes(void **state)
{
	struct table *table;

	(void)state;
	add_rounds();
	table = table_of(AXIS_THREAD, VIEW_LEVEL_GROUPS, NULL);
	assert_true(number(table, "worker-{N}", COLUMN_WAITS) == 202);
	table = table_of(AXIS_CGROUP, VIEW_LEVEL_GROUPS, NULL);
	assert_true(number(table, "/a", COLUMN_WAITS) == 202);
	assert_true(number(table, "/b", COLUMN_WAITS) == 0);
	table = table_of(AXIS_THREAD, VIEW_LEVEL_GROUPS, "web");
	assert_true(number(table, "worker-{N}", COLUMN_WAITS) == 202);
	assert_true(number(table, "web", COLUMN_WAITS) == 0);
	/* of single threads it is not known */
	table = table_of(AXIS_PROCESS, VIEW_LEVEL_THREADS, NULL);
	assert_int_equal(fixture_cell(table, "worker-1", COLUMN_WAITS)->state, CELL_ABSENT);
}

/* --- processes --- */

static void expect_at_least(const struct table *table, const char *label, enum column column, double value)
{
	assert_true(number(table, label, column) == value);
	assert_true(fixture_cell(table, label, column)->partial);
}

static void expect_exact(const struct table *table, const char *label, enum column column, double value)
{
	assert_true(number(table, label, column) == value);
	assert_false(fixture_cell(table, label, column)->partial);
}

/* A share of the record that was added last. */
static void add_share(struct snapshot *snapshot, uint32_t pid, uint64_t wait, uint64_t count)
{
	struct latency *latency = &snapshot->latency;
	struct latency_share share = {.record = (uint32_t)latency->count - 1, .pid = pid};
	struct latency_histogram *histogram = &share.waits.of[LATENCY_RUN_QUEUE];

	histogram->buckets[latency_bucket(wait)] = count;
	histogram->sum_ns = wait * count;
	histogram->max_ns = wait;
	*MEMORY_APPEND(latency->shares, latency->share_count, latency->share_capacity) = share;
}

static struct snapshot *make_twins(int round)
{
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

	for (uint32_t pid = 10; pid <= 30; pid += 10) {
		const char *process = pid == 30 ? "pool" : "web";
		const size_t leader = fixture_thread(snapshot, pid, pid, process, process, 5);
		const size_t thread = fixture_thread(snapshot, pid, pid + 1, process, "worker-1", 5);

		fixture_cgroup(snapshot, leader, "/a");
		fixture_cgroup(snapshot, thread, "/a");
		snapshot->uid[leader] = snapshot->uid[thread] = pid == 10 ? 70001 : 70002;
	}
	return snapshot;
}

/* Two processes of one name, of which one had 20 ms waits, the other 5 ms; `unknown` more are of none. */
static void add_twins(uint64_t unknown)
{
	struct snapshot *first = make_twins(0), *second = make_twins(1);

	snapshot_finish(first);
	session_add_round(session, first);
	second->latency.span_ns = MS(2000);
	add_waits(second, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, MS(20), 14 + unknown);
	add_share(second, 10, MS(20), 8);
	add_share(second, 20, MS(5), 4);
	add_share(second, 0, MS(1), 2);
	/* of a thread that ended */
	add_waits(second, "web", "worker-9", "/a", LATENCY_RUN_QUEUE, MS(1), 6);
	add_share(second, 20, MS(1), 6);
	add_waits(second, "pool", "pool", "/a", LATENCY_RUN_QUEUE, MS(1), 1);
	add_share(second, 30, MS(1), 1);
	snapshot_finish(second);
	session_add_round(session, second);
}

static struct table *table_with(enum axis axis, const char *filter)
{
	struct view view = fixture_view(TAB_LATENCY, WINDOW_MODE_INTERVAL, axis);
	struct table *table;

	if (filter != NULL)
		view.filter = filter_parse(filter, NULL);
	table = fixture_table_of(session, &view);
	view_release(&view);
	return table;
}

/* Rows of processes and users have their own waits, and so have rows that a filter of processes narrows. */
static void test_processes(void **state)
{
	struct table *table;

	(void)state;
	add_twins(0);
	table = table_with(AXIS_PID, NULL);
	expect_exact(table, "10 web", COLUMN_WAITS, 8);
	expect_exact(table, "10 web", COLUMN_RQMAX, MS(20));
	expect_exact(table, "20 web", COLUMN_WAITS, 10);
	expect_exact(table, "20 web", COLUMN_RQMAX, MS(5));
	expect_exact(table, "30 pool", COLUMN_WAITS, 1);
	table = table_with(AXIS_USER, NULL);
	expect_exact(table, "70001", COLUMN_WAITS, 8);
	expect_exact(table, "70002", COLUMN_WAITS, 11);
	table = table_with(AXIS_PROCESS, "pid = 20");
	expect_exact(table, "web", COLUMN_WAITS, 10);
	assert_false(fixture_has_row(table, "pool"));
	table = table_with(AXIS_THREAD, "pid = 10");
	expect_exact(table, "worker-1", COLUMN_WAITS, 8);
	expect_exact(table, "web", COLUMN_WAITS, 0);
	table = table_with(AXIS_THREAD, "user = 70002");
	expect_exact(table, "worker-1", COLUMN_WAITS, 10);
	/* of a process some of whose threads are shown: that which ended may be none of them */
	table = table_with(AXIS_PROCESS, "tid = 21");
	expect_at_least(table, "web", COLUMN_WAITS, 4);
	/* as before */
	table = table_with(AXIS_PROCESS, NULL);
	expect_exact(table, "web", COLUMN_WAITS, 20);
}

/* Waits of dead processes share a row, but a filter finds them by name. */
static void test_filtered_pool(void **state)
{
	static const struct {
		const char *filter;
		double waits;
	} cases[] = {{NULL, 5},      {"cron", 3}, {"ended", 5},          {"web or cron", 5},
		     {"not web", 3}, {"web", 2},  {"process = cron", 3}, {"thr < 9", 5}};
	struct snapshot *first = make_twins(0), *second = make_twins(1);

	(void)state;
	snapshot_finish(first);
	session_add_round(session, first);
	second->latency.span_ns = MS(2000);
	second->ended = ended_set_create();
	add_waits(second, "web", "web", "/a", LATENCY_RUN_QUEUE, MS(1), 2);
	add_share(second, 98, MS(1), 2);
	add_waits(second, "cron", "cron", "/a", LATENCY_RUN_QUEUE, MS(9), 3);
	add_share(second, 99, MS(9), 3);
	ended_set_group(
		second->ended,
		ended_set_triple(second->ended, name_text_of("web"), name_text_of("web"), name_text_of("/a")),
		false)
		->threads = 1;
	ended_set_group(second->ended,
			ended_set_triple(second->ended, name_text_of("cron"), name_text_of("cron"),
					 name_text_of("/a")),
			false)
		->threads = 1;
	snapshot_finish(second);
	session_add_round(session, second);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		expect_exact(table_with(AXIS_PID, cases[i].filter), "(ended)", COLUMN_WAITS, cases[i].waits);
	/* rows of names show the waits that match the filter */
	expect_exact(table_with(AXIS_PROCESS, "process = cron"), "cron", COLUMN_WAITS, 3);
	expect_exact(table_with(AXIS_PROCESS, "process = web"), "web", COLUMN_WAITS, 2);
	expect_exact(table_with(AXIS_PROCESS, "pid = 10"), "web", COLUMN_WAITS, 0);
	expect_exact(table_with(AXIS_PROCESS, "user = 70001"), "web", COLUMN_WAITS, 0);
}

/* Waits of which nobody knows whose they are may be of any process with threads of these names. */
static void test_processes_unknown(void **state)
{
	struct table *table;

	(void)state;
	add_twins(3);
	table = table_with(AXIS_PID, NULL);
	expect_at_least(table, "10 web", COLUMN_WAITS, 8);
	expect_at_least(table, "20 web", COLUMN_WAITS, 10);
	expect_exact(table, "30 pool", COLUMN_WAITS, 1);
	table = table_with(AXIS_PROCESS, NULL);
	expect_exact(table, "web", COLUMN_WAITS, 23);
}

/* Rows of processes have their own times; time of unknown processes may be of any that has the names. */
static void test_times(void **state)
{
	const enum column futex = column_of_wait_class(WAIT_CLASS_FUTEX);
	struct snapshot *first = make_twins(0), *second = make_twins(1);
	struct view view = fixture_view(TAB_TIME, WINDOW_MODE_INTERVAL, AXIS_PID);
	struct table *table;

	(void)state;
	snapshot_finish(first);
	session_add_round(session, first);
	second->latency.span_ns = MS(2000);
	latency_add_record(second, intern(second, "web"), intern(second, "worker-1"), intern(second, "/a"));
	latency_add_record(second, intern(second, "pool"), intern(second, "pool"), intern(second, "/a"));
	latency_add_time(&second->latency, &(struct latency_time){0, 10, WAIT_CLASS_FUTEX, MS(1500)});
	latency_add_time(&second->latency, &(struct latency_time){0, 20, WAIT_CLASS_FUTEX, MS(400)});
	latency_add_time(&second->latency, &(struct latency_time){0, 20, WAIT_CLASS_POLL, MS(1600)});
	latency_add_time(&second->latency, &(struct latency_time){1, 30, WAIT_CLASS_FUTEX, MS(2000)});
	latency_add_time(&second->latency,
			 &(struct latency_time){0, LATENCY_PROCESS_UNKNOWN, WAIT_CLASS_FUTEX, MS(500)});
	snapshot_finish(second);
	session_add_round(session, second);
	table = fixture_table_of(session, &view);
	expect_at_least(table, "10 web", futex, MS(1500));
	expect_at_least(table, "20 web", futex, MS(400));
	expect_exact(table, "30 pool", futex, MS(2000));
	view_release(&view);
	view = fixture_view(TAB_TIME, WINDOW_MODE_INTERVAL, AXIS_PROCESS);
	table = fixture_table_of(session, &view);
	expect_exact(table, "web", futex, MS(2400));
	expect_exact(table, "pool", futex, MS(2000));
	expect_exact(table, "web", column_of_wait_class(WAIT_CLASS_POLL), MS(1600));
	view_release(&view);
}

/* A cell as the screen shows it. */
static void expect_shown(const struct table *table, const char *label, enum column column,
			 const char *expected)
{
	struct buffer text = {0};

	screen_format_cell(&text, fixture_cell(table, label, column), &screen_marks_utf8);
	assert_string_equal(text.data, expected);
	buffer_release(&text);
}

/*
 * Without latency the time off CPUs divides by what threads waited for at each of the last readings, once
 * there are five; a thread that stood still needs no samples.
 */
static void test_sampled_times(void **state)
{
	static const enum wait_class classes[] = {WAIT_CLASS_POLL, WAIT_CLASS_FUTEX, WAIT_CLASS_POLL,
						  WAIT_CLASS_POLL, WAIT_CLASS_FUTEX};
	const enum column poll = column_of_wait_class(WAIT_CLASS_POLL),
			  futex = column_of_wait_class(WAIT_CLASS_FUTEX);
	struct view view = fixture_view(TAB_TIME, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(classes); i++) {
		struct snapshot *round = fixture_snapshot(100 + 2 * (double)i);

		fixture_thread(round, 10, 10, "web", "web", 5);
		fixture_thread(round, 20, 20, "pool", "pool", 5);
		/* half of its time */
		fixture_set(round, 0, METRIC_RUN_TIME_NS, i * MS(1000));
		fixture_set(round, 0, METRIC_WAIT_TIME_NS, 0);
		fixture_set(round, 1, METRIC_RUN_TIME_NS, 7);
		fixture_set(round, 1, METRIC_WAIT_TIME_NS, 7);
		round->wait_class = memory_allocate_zero(round->thread_capacity + 1, sizeof(uint8_t));
		round->wait_class[0] = (uint8_t)classes[i];
		round->wait_class[1] = WAIT_CLASS_FUTEX;
		snapshot_finish(round);
		session_add_round(session, round);
		table = fixture_table_of(session, &view);
		if (i + 1 < ARRAY_COUNT(classes))
			expect_shown(table, "web", poll, "·");
	}
	expect_shown(table, "web", poll, "~30");
	expect_shown(table, "web", futex, "~20");
	expect_shown(table, "pool", futex, "~100");
	expect_shown(table, "pool", poll, "0");
	view_release(&view);
}

/* Older files have no shares. */
static void test_processes_of_old_files(void **state)
{
	struct table *table;

	(void)state;
	add_rounds();
	table = table_with(AXIS_PID, NULL);
	fixture_expect_missing(table, "10 web", COLUMN_WAITS, REASON_BY_NAME);
	fixture_expect_missing(table, "10 web", COLUMN_RQ99, REASON_BY_NAME);
	table = table_with(AXIS_PROCESS, NULL);
	expect_exact(table, "web", COLUMN_WAITS, 202);
}

/* What is known by names only says which rows have it. */
static void test_way_back(void **state)
{
	struct view view = fixture_view(TAB_LATENCY, WINDOW_MODE_INTERVAL, AXIS_PID);
	struct buffer words = {0};

	(void)state;
	add_twins(0);
	assert_false(session_why_unavailable(session, &view, COLUMN_WAITS, NULL));
	assert_true(session_why_unavailable(session, &view, COLUMN_DELAYED_BY, &words));
	assert_string_equal(words.data, "counted by name and cgroup only; group by process, cgroup or thread "
					"(g), without a filter of threads");
	view.grouping.axis = AXIS_PROCESS;
	assert_false(session_why_unavailable(session, &view, COLUMN_DELAYED_BY, NULL));
	buffer_release(&words);
}

/* Two rounds, of which the second has waits of names that found no room. */
static void add_rounds_with_other(void)
{
	struct snapshot *first = make_round(0), *second = make_round(1);

	first->latency.span_ns = MS(2000);
	add_waits(first, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, 1000000, 10);
	snapshot_finish(first);
	session_add_round(session, first);
	second->latency.span_ns = MS(2000);
	add_waits(second, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, 70000, 200);
	add_waits(second, "pool", "pool", "/b", LATENCY_BLOCKED, 3000000, 4);
	add_waits(second, "(other)", "(other)", "(other)", LATENCY_RUN_QUEUE, 900000, 4);
	snapshot_finish(second);
	session_add_round(session, second);
}

static void expect_unknown(const struct table *table, const char *label, enum column column)
{
	fixture_expect_missing(table, label, column, REASON_UNDER_OTHER);
}

/* Waits without room have a row and may belong to any other row, whose numbers are lower bounds. */
static void test_other(void **state)
{
	struct table *table;

	(void)state;
	add_rounds_with_other();
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	expect_exact(table, "(other)", COLUMN_WAITS, 2);
	expect_exact(table, "(other)", COLUMN_RQMAX, 900000);
	assert_false(fixture_cell(table, "(other)", COLUMN_RQ99)->partial);
	assert_true(number(table, "(other)", COLUMN_THR) == 0);
	expect_at_least(table, "web", COLUMN_WAITS, 100);
	expect_at_least(table, "web", COLUMN_RQMAX, 70000);
	expect_at_least(table, "web", COLUMN_RQ99, 65536);
	expect_unknown(table, "pool", COLUMN_WAITS);
	expect_unknown(table, "pool", COLUMN_RQMAX);
	expect_unknown(table, "pool", COLUMN_RQ50);
	/* none of these found no room */
	expect_exact(table, "pool", COLUMN_DWAITS, 2);
	expect_exact(table, "web", COLUMN_DWAITS, 0);
	expect_exact(table, "(other)", COLUMN_DWAITS, 0);
	table = table_of(AXIS_CGROUP, VIEW_LEVEL_GROUPS, NULL);
	expect_exact(table, "(other)", COLUMN_WAITS, 4);
	expect_at_least(table, "/a", COLUMN_WAITS, 200);
	/* of the threads of one process they may be too, but not all of them are */
	table = table_of(AXIS_THREAD, VIEW_LEVEL_GROUPS, "web");
	expect_at_least(table, "worker-{N}", COLUMN_WAITS, 200);
	expect_unknown(table, "web", COLUMN_WAITS);
	for (size_t i = 0; i < table->row_count; i++)
		assert_string_not_equal(table->rows[i].label, "(other)");
}

/* An interval without such waits is known. */
static void test_other_is_over(void **state)
{
	struct snapshot *third = make_round(2);
	struct table *table;

	(void)state;
	add_rounds_with_other();
	third->latency.span_ns = MS(2000);
	add_waits(third, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, 70000, 8);
	snapshot_finish(third);
	session_add_round(session, third);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	expect_exact(table, "web", COLUMN_WAITS, 4);
	expect_exact(table, "pool", COLUMN_WAITS, 0);
	expect_exact(table, "(other)", COLUMN_WAITS, 0);
	assert_int_equal(fixture_cell(table, "(other)", COLUMN_RQ99)->state, CELL_ABSENT);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_TOTAL);
	expect_at_least(table, "web", COLUMN_WAITS, 218);
}

/* An interval is exact however many names come and go; longer spans have merged ones. */
static void test_names_come_and_go(void **state)
{
	enum {
		ROUNDS = 4,
		NAMES = LATENCY_RECORDS_MAX / 8 * 3
	};
	struct table *table;
	char name[16];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct snapshot *snapshot = make_round(round);

		snapshot->latency.span_ns = MS(2000);
		add_waits(snapshot, "web", "worker-1", "/a", LATENCY_RUN_QUEUE, 70000, 8);
		for (int i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "n%d-%d", round, i);
			add_waits(snapshot, "batch", name, "/b", LATENCY_RUN_QUEUE, 5000, 1);
		}
		if (round == 0)
			add_waits(snapshot, "pool", "pool", "/b", LATENCY_RUN_QUEUE, 900000, 2);
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
	}
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_INTERVAL);
	expect_exact(table, "web", COLUMN_WAITS, 8);
	expect_exact(table, "pool", COLUMN_WAITS, 0);
	expect_exact(table, "(other)", COLUMN_WAITS, 0);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_TOTAL);
	expect_at_least(table, "web", COLUMN_WAITS, 8 * ROUNDS);
	expect_unknown(table, "pool", COLUMN_WAITS);
	/* the first round's names, and no more than half of what there is room for */
	assert_true(number(table, "(other)", COLUMN_WAITS) >= NAMES + 2);
	assert_true(number(table, "(other)", COLUMN_RQMAX) == 900000);
	/* the base was the first round: what it had itself is not since */
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_BASE);
	expect_at_least(table, "web", COLUMN_WAITS, 8 * (ROUNDS - 1));
}

static void explain(const char *key, enum column wanted, struct buffer *lines)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	size_t column = 0;
	enum column columns[COLUMN_TOTAL];

	view_set_tab(&view, TAB_LATENCY);
	view.mode = WINDOW_MODE_INTERVAL;
	for (size_t count = view_columns(&view, columns); column < count; column++) {
		if (columns[column] == wanted)
			break;
	}
	buffer_clear(lines);
	session_explain(session, &view, key, name_length(key), column, lines);
	view_release(&view);
}

static void test_other_in_words(void **state)
{
	struct buffer lines = {0};

	(void)state;
	add_rounds_with_other();
	explain("web", COLUMN_WAITS, &lines);
	assert_non_null(strstr(lines.data, "Value: at least 200"));
	assert_non_null(strstr(lines.data, "4 more are counted only under (other), for lack of room"));
	assert_non_null(strstr(lines.data, "any that belong to this row are missing below.\n"));
	explain("pool", COLUMN_WAITS, &lines);
	assert_non_null(strstr(lines.data, "Unavailable: may be counted under (other)."));
	explain("(other)", COLUMN_WAITS, &lines);
	assert_non_null(strstr(lines.data, "Value: 4\n"));
	assert_non_null(strstr(lines.data, "4 waits, mean "));
	assert_null(strstr(lines.data, "found no room"));
	buffer_release(&lines);
}

/* A record of waits, for what delayed them. */
static uint32_t add_names(struct snapshot *snapshot, const char *process, const char *thread,
			  const char *cgroup)
{
	add_waits(snapshot, process, thread, cgroup, LATENCY_RUN_QUEUE, 70000, 1);
	return (uint32_t)snapshot->latency.count - 1;
}

static void add_delay(struct snapshot *snapshot, uint32_t victim, enum latency_cause cause, uint32_t culprit,
		      uint64_t time_ns)
{
	*MEMORY_APPEND(snapshot->latency.delays, snapshot->latency.delay_count,
		       snapshot->latency.delay_capacity) = (struct latency_delay){victim,  culprit, cause,
										  time_ns, 10,      0};
}

static void add_wakes(struct snapshot *snapshot, uint32_t woken, enum latency_cause cause, uint32_t waker,
		      uint64_t wakes)
{
	add_delay(snapshot, woken, cause, waker, 0);
	snapshot->latency.delays[snapshot->latency.delay_count - 1] = (struct latency_delay){
		.victim = woken, .culprit = waker, .cause = cause, .wakes = wakes};
}

/*
 * Workers of `web` wait for `pool`, for one another and for what has no row; `pool` for the idle CPU. `pool`
 * is woken by interrupts and by `web`, and wakes what has no row and `web`, whose workers wake one another.
 */
static void add_rounds_with_delays(void)
{
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = make_round(round);
		const uint32_t first = add_names(snapshot, "web", "worker-1", "/a");
		const uint32_t second = add_names(snapshot, "web", "worker-2", "/a");
		const uint32_t pool = add_names(snapshot, "pool", "pool", "/b");
		const uint32_t gone = add_names(snapshot, "gone", "worker-9", "/c");

		snapshot->latency.span_ns = MS(2000);
		add_delay(snapshot, first, LATENCY_CAUSE_THREADS, pool, MS(500));
		add_delay(snapshot, second, LATENCY_CAUSE_THREADS, pool, MS(120));
		add_delay(snapshot, second, LATENCY_CAUSE_THREADS, first, MS(round == 0 ? 900 : 280));
		add_delay(snapshot, second, LATENCY_CAUSE_THREADS, gone, MS(100));
		add_delay(snapshot, pool, LATENCY_CAUSE_WAKEUP, 0, MS(4));
		add_delay(snapshot, gone, LATENCY_CAUSE_THREADS, pool, MS(30));
		add_wakes(snapshot, pool, LATENCY_CAUSE_INTERRUPTS, 0, 30);
		add_wakes(snapshot, pool, LATENCY_CAUSE_THREADS, second, 10);
		add_wakes(snapshot, first, LATENCY_CAUSE_THREADS, pool, 6);
		add_wakes(snapshot, second, LATENCY_CAUSE_THREADS, first, 18);
		add_wakes(snapshot, gone, LATENCY_CAUSE_THREADS, pool, 24);
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
	}
}

static void expect_text(const struct table *table, const char *label, const char *text)
{
	assert_string_equal(fixture_shown(table, label, COLUMN_DELAYED_BY), text);
}

/* The culprit of the largest part of the time, over the span of the mode. */
static void test_delayed_by(void **state)
{
	struct table *table;

	(void)state;
	add_rounds_with_delays();
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	expect_text(table, "web", "pool 62%");
	expect_text(table, "pool", "(wakeup) 100%");
	assert_true(fixture_cell(table, "web", COLUMN_DELAYED_BY)->sort == (double)MS(1000));
	assert_true(table->columns[fixture_column(table, COLUMN_DELAYED_BY)].foreign);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_BASE);
	expect_text(table, "web", "pool 62%");
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_TOTAL);
	expect_text(table, "web", "pool 47%");
	assert_true(fixture_cell(table, "web", COLUMN_DELAYED_BY)->sort == (double)MS(2620));
}

static void test_wakes(void **state)
{
	struct buffer lines = {0};
	struct table *table;

	(void)state;
	add_rounds_with_delays();
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	assert_string_equal(fixture_shown(table, "web", COLUMN_WOKEN_BY), "itself 75%");
	assert_string_equal(fixture_shown(table, "pool", COLUMN_WOKEN_BY), "(interrupts) 75%");
	assert_string_equal(fixture_shown(table, "web", COLUMN_WAKES), "itself 64%");
	assert_string_equal(fixture_shown(table, "pool", COLUMN_WAKES), "gone 80%");
	assert_true(fixture_cell(table, "pool", COLUMN_WOKEN_BY)->sort == 40);
	explain("pool", COLUMN_WOKEN_BY, &lines);
	assert_non_null(strstr(lines.data, "Woken: 20.0 wakes/s, measured for 2 s:\n"
					   "      15.0 wakes/s  75.0%  (interrupts)\n"
					   "       5.0 wakes/s  25.0%  web\n"));
	explain("pool", COLUMN_WAKES, &lines);
	assert_non_null(strstr(lines.data, "Wakes others: 15.0 wakes/s, measured for 2 s:\n"
					   "      12.0 wakes/s  80.0%  gone\n"
					   "       3.0 wakes/s  20.0%  web\n"));
	buffer_release(&lines);
}

/* Groups of a name elsewhere are culprits like any other: only threads of the row are itself. */
static void test_delayed_by_on_axes(void **state)
{
	struct table *table;

	(void)state;
	add_rounds_with_delays();
	table = table_of(AXIS_CGROUP, VIEW_LEVEL_GROUPS, NULL);
	expect_text(table, "/a", "/b 62%");
	table = table_of(AXIS_THREAD, VIEW_LEVEL_GROUPS, NULL);
	expect_text(table, "worker-{N}", "pool 63%");
	table = table_of(AXIS_THREAD, VIEW_LEVEL_GROUPS, "web");
	expect_text(table, "worker-{N}", "pool 62%");
	expect_text(table, "web", "-");
	table = table_of(AXIS_PID, VIEW_LEVEL_GROUPS, NULL);
	fixture_expect_missing(table, "10 web", COLUMN_DELAYED_BY, REASON_BY_NAME);
}

static void test_delayed_by_sorts(void **state)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	add_rounds_with_delays();
	/* also where the tab has no other column of latency */
	view.sort = COLUMN_DELAYED_BY;
	assert_true(view_needs_latency(&view));
	table = fixture_table_of(session, &view);
	assert_string_equal(table->rows[0].label, "web");
	assert_string_equal(table->rows[1].label, "pool");
	view.sort_ascending = true;
	table = fixture_table_of(session, &view);
	assert_string_equal(table->rows[0].label, "pool");
}

/* Kernels before 5.19 measure waits and do not tell what delayed them. */
static void test_delayed_by_nobody_knows(void **state)
{
	struct table *table;

	(void)state;
	add_rounds();
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	fixture_expect_missing(table, "web", COLUMN_DELAYED_BY, REASON_NOT_IN_KERNEL);
	session_add_round(session, make_round(2));
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	fixture_expect_missing(table, "web", COLUMN_DELAYED_BY, REASON_SWITCHED_OFF);
}

static void test_delayed_by_in_words(void **state)
{
	struct buffer lines = {0};

	(void)state;
	add_rounds_with_delays();
	explain("web", COLUMN_DELAYED_BY, &lines);
	assert_non_null(strstr(lines.data, "Delayed: 500.0 ms/s, measured for 2 s:\n"
					   "     310.0 ms/s  62.0%  pool\n"
					   "     140.0 ms/s  28.0%  itself\n"
					   "      50.0 ms/s  10.0%  gone\n"
					   "itself: threads of this row ran\n"));
	assert_null(strstr(lines.data, "(wakeup)"));
	explain("pool", COLUMN_DELAYED_BY, &lines);
	assert_non_null(strstr(lines.data, "       2.0 ms/s 100.0%  (wakeup)\n"
					   "(wakeup): the CPU was idle and had to start\n"));
	buffer_release(&lines);
}

static void expect_pair(const struct table *table, size_t row, const char *victim, const char *culprit,
			double ms_per_s, double percent)
{
	assert_true(row < table->row_count);
	assert_string_equal(table->rows[row].label, victim);
	assert_string_equal(table->rows[row].key + table->rows[row].key_name, victim);
	assert_string_equal(table->rows[row].cells[0].text, culprit);
	assert_float_equal(table->rows[row].cells[1].value.real, ms_per_s, 1e-9);
	assert_float_equal(table->rows[row].cells[2].value.real, percent, 1e-9);
}

/* All pairs of the host, whatever has a row; those of one group first, in both directions. */
static void test_pairs(void **state)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;
	reason_id missing;

	(void)state;
	add_rounds_with_delays();
	table = session_blame_table(session, &view, BLAME_DELAYED_BY, SESSION_PAIRS_SIZE, NULL, 0, &missing);
	assert_int_equal(missing, REASON_READ);
	assert_int_equal(table->row_count, 5);
	expect_pair(table, 0, "web", "pool", 310, 62);
	expect_pair(table, 1, "web", "itself", 140, 28);
	expect_pair(table, 2, "web", "gone", 50, 10);
	expect_pair(table, 3, "gone", "pool", 15, 100);
	expect_pair(table, 4, "pool", "(wakeup)", 2, 100);
	assert_float_equal(table->rows[0].cells[3].value.real, 10, 1e-9);
	table_release(table);
	table = session_blame_table(session, &view, BLAME_DELAYED_BY, SESSION_PAIRS_SIZE, "pool", 4,
				    &missing);
	expect_pair(table, 0, "pool", "(wakeup)", 2, 100);
	expect_pair(table, 1, "web", "pool", 310, 62);
	expect_pair(table, 2, "gone", "pool", 15, 100);
	expect_pair(table, 3, "web", "itself", 140, 28);
	table_release(table);
	table = session_blame_table(session, &view, BLAME_DELAYED_BY, SESSION_PAIRS_SHARE, NULL, 0, &missing);
	expect_pair(table, 0, "gone", "pool", 15, 100);
	expect_pair(table, 2, "web", "pool", 310, 62);
	table_release(table);
	table = session_blame_table(session, &view, BLAME_WOKEN_BY, SESSION_PAIRS_SIZE, NULL, 0, &missing);
	assert_int_equal(table->row_count, 5);
	assert_int_equal(table->column_count, 3);
	expect_pair(table, 0, "pool", "(interrupts)", 15, 75);
	expect_pair(table, 1, "gone", "pool", 12, 100);
	expect_pair(table, 2, "web", "itself", 9, 75);
	expect_pair(table, 4, "web", "pool", 3, 25);
	table_release(table);
	/* processes have names where users have none */
	view.grouping.axis = AXIS_USER;
	assert_int_equal(session_blame_axis(&view), AXIS_PROCESS);
	table = session_blame_table(session, &view, BLAME_DELAYED_BY, SESSION_PAIRS_SIZE, "0", 1, &missing);
	expect_pair(table, 0, "web", "pool", 310, 62);
	table_release(table);
	session_add_round(session, make_round(2));
	assert_null(
		session_blame_table(session, &view, BLAME_DELAYED_BY, SESSION_PAIRS_SIZE, NULL, 0, &missing));
	assert_int_equal(missing, REASON_SWITCHED_OFF);
}

/* What ran too long ago, or had no room, has no name. */
static void test_named(void **state)
{
	const struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = make_round(round);
		const uint32_t web = add_names(snapshot, "web", "web", "/a");

		snapshot->latency.span_ns = MS(2000);
		if (round == 1) {
			add_delay(snapshot, web, LATENCY_CAUSE_THREADS, web, MS(40));
			add_delay(snapshot, web, LATENCY_CAUSE_THROTTLED, 0, MS(20));
			add_delay(snapshot, web, LATENCY_CAUSE_EARLIER, 0, MS(15));
			add_delay(snapshot, web, LATENCY_CAUSE_OTHER, 0, MS(5));
		}
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
	}
	assert_float_equal(session_blame_named(session, &view), 75, 1e-9);
}

static void test_not_measured(void **state)
{
	struct table *table;

	(void)state;
	session_add_round(session, make_round(0));
	session_add_round(session, make_round(1));
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	fixture_expect_missing(table, "web", COLUMN_RQ99, REASON_SWITCHED_OFF);
}

/* Once switched off, earlier waits are no interval any more. */
static void test_switched_off(void **state)
{
	struct table *table;

	(void)state;
	add_rounds();
	session_add_round(session, make_round(2));
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_RATE);
	assert_int_equal(fixture_cell(table, "web", COLUMN_WAITS)->state, CELL_UNAVAILABLE);
	table = fixture_table(session, TAB_LATENCY, WINDOW_MODE_TOTAL);
	assert_true(number(table, "web", COLUMN_WAITS) == 212);
}

static void test_text(void **state)
{
	struct buffer lines = {0};

	(void)state;
	add_rounds();
	explain("web", COLUMN_RQ99, &lines);
	assert_non_null(strstr(lines.data, "measured for 2 s"));
	assert_non_null(strstr(lines.data, "202 waits, mean "));
	assert_non_null(strstr(lines.data, "longest 70 us"));
	assert_non_null(strstr(lines.data, " 4.1us to  8.2us |####################################|"
					   "         150  74.3%"));
	for (const char *line = lines.data; *line != '\0'; line += strcspn(line, "\n") + 1) {
		if (strstr(line, "|#") == line + 17)
			assert_true(strcspn(line, "\n") <= 76);
	}
	buffer_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_interval, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_spans, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_axes, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_processes, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_filtered_pool, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_processes_unknown, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_times, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_sampled_times, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_processes_of_old_files, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_way_back, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_other, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_names_come_and_go, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_other_is_over, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_other_in_words, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_delayed_by, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_wakes, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_delayed_by_on_axes, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_delayed_by_sorts, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_delayed_by_nobody_knows, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_delayed_by_in_words, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_pairs, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_named, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_not_measured, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_switched_off, open_session, close_session),
		cmocka_unit_test_setup_teardown(test_text, open_session, close_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
