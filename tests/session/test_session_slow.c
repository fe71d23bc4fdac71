/* SPDX-License-Identifier: GPL-2.0-only */
/* What a row waits for most, in words. */
#include "session_fixture.h"

#include <string.h>

enum {
	WEB,
	WORKER,
	POOL,
	THREADS,
};

/* What a thread gained between two rounds that are 2 s apart. */
struct gain {
	size_t thread;
	enum metric metric;
	uint64_t amount;
};

static struct snapshot *make_round(int round, const struct gain gains[], size_t count)
{
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

	fixture_cgroup(snapshot, fixture_thread(snapshot, 10, 10, "web", "web", 5), "/a");
	fixture_cgroup(snapshot, fixture_thread(snapshot, 10, 11, "web", "worker", 5), "/a");
	fixture_cgroup(snapshot, fixture_thread(snapshot, 20, 20, "pool", "pool", 5), "/b");
	for (size_t i = 0; i < THREADS; i++)
		fixture_set(snapshot, i, METRIC_STATE, 'S');
	for (size_t i = 0; round != 0 && i < count; i++)
		fixture_set(snapshot, gains[i].thread, gains[i].metric, gains[i].amount);
	return snapshot;
}

static void add(struct session *session, struct snapshot *snapshot)
{
	snapshot_finish(snapshot);
	session_add_round(session, snapshot);
}

static struct session *session_of(const struct gain gains[], size_t count)
{
	struct session *session = session_create();

	add(session, make_round(0, gains, count));
	add(session, make_round(1, gains, count));
	return session;
}

static void expect_of(struct session *session, enum axis axis, const char *label, bool offers_latency,
		      const char *words)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, axis);
	const struct table *table = fixture_table_of(session, &view);
	struct buffer text = {0};

	if (fixture_has_row(table, label)) {
		const struct table_row *row = fixture_row(table, label);

		session_append_slow(session, &view, row->key, row->key_length, offers_latency, &text);
	} else {
		session_append_slow(session, &view, label, strlen(label), offers_latency, &text);
	}
	assert_string_equal(text.length != 0 ? text.data : "", words);
	buffer_release(&text);
}

static void test_run_queue(void **state)
{
	const struct gain gains[] = {
		{WEB, METRIC_WAIT_TIME_NS, MS(1800)},
		{WORKER, METRIC_WAIT_TIME_NS, MS(600)},
		{POOL, METRIC_WAIT_TIME_NS, MS(400)},
	};
	struct session *session = session_of(gains, ARRAY_COUNT(gains));

	(void)state;
	expect_of(session, AXIS_PROCESS, "web", false, "waits for a CPU: 1.2 threads on average");
	expect_of(session, AXIS_PROCESS, "pool", false, "waits for a CPU: 20.0% of one thread's time");
	expect_of(session, AXIS_PROCESS, "web", true,
		  "waits for a CPU: 1.2 threads on average (l says who ran)");
	/* nobody would say it of processes by id, nor of a row that is gone */
	expect_of(session, AXIS_PID, "20 pool", true, "waits for a CPU: 20.0% of one thread's time");
	expect_of(session, AXIS_PROCESS, "gone", true, "");
	session_release(session);
}

static void test_nothing(void **state)
{
	const struct gain gains[] = {
		{WEB, METRIC_WAIT_TIME_NS, MS(19)},
		{WEB, METRIC_BLKIO_DELAY_TOTAL_NS, MS(19)},
	};
	struct session *session = session_create();

	(void)state;
	expect_of(session, AXIS_PROCESS, "web", true, "");
	add(session, make_round(0, gains, ARRAY_COUNT(gains)));
	expect_of(session, AXIS_PROCESS, "web", true, "");
	add(session, make_round(1, gains, ARRAY_COUNT(gains)));
	expect_of(session, AXIS_PROCESS, "web", true, "");
	session_release(session);
}

static uint32_t add_names(struct snapshot *snapshot, const char *process, const char *cgroup)
{
	latency_add_record(snapshot, string_pool_intern(&snapshot->strings, process, strlen(process)),
			   string_pool_intern(&snapshot->strings, process, strlen(process)),
			   string_pool_intern(&snapshot->strings, cgroup, strlen(cgroup)));
	return (uint32_t)snapshot->latency.count - 1;
}

static void add_delay(struct snapshot *snapshot, uint32_t victim, enum latency_cause cause, uint32_t culprit,
		      uint64_t time_ns)
{
	*MEMORY_APPEND(snapshot->latency.delays, snapshot->latency.delay_count,
		       snapshot->latency.delay_capacity) = (struct latency_delay){victim,  culprit, cause,
										  time_ns, 1,       0};
}

/* On a tab without latency too. */
static void test_culprits(void **state)
{
	const struct gain gains[] = {
		{WEB, METRIC_WAIT_TIME_NS, MS(1000)},
		{POOL, METRIC_WAIT_TIME_NS, MS(1000)},
	};
	struct session *session = session_create();
	struct snapshot *second = make_round(1, gains, ARRAY_COUNT(gains));
	const uint32_t web = add_names(second, "web", "/a"), pool = add_names(second, "pool", "/b");

	(void)state;
	second->latency.span_ns = MS(2000);
	add_delay(second, web, LATENCY_CAUSE_THREADS, pool, MS(920));
	add_delay(second, web, LATENCY_CAUSE_THREADS, web, MS(80));
	add_delay(second, pool, LATENCY_CAUSE_WAKEUP, 0, MS(1000));
	add(session, make_round(0, gains, ARRAY_COUNT(gains)));
	add(session, second);
	expect_of(session, AXIS_PROCESS, "web", true,
		  "waits for a CPU: 50.0% of one thread's time, 92% of it while pool ran");
	expect_of(session, AXIS_CGROUP, "/a", true,
		  "waits for a CPU: 50.0% of one thread's time, 92% of it while /b ran");
	expect_of(
		session, AXIS_PROCESS, "pool", true,
		"waits for a CPU: 50.0% of one thread's time, 100% of it: the CPU was idle and had to start");
	session_release(session);
}

static void test_memory_and_disks(void **state)
{
	const struct gain gains[] = {
		{WEB, METRIC_WAIT_TIME_NS, MS(100)},          {WEB, METRIC_FREEPAGES_DELAY_TOTAL_NS, MS(300)},
		{WEB, METRIC_SWAPIN_DELAY_TOTAL_NS, MS(500)}, {POOL, METRIC_BLKIO_DELAY_TOTAL_NS, MS(1720)},
		{POOL, METRIC_WAIT_TIME_NS, MS(100)},
	};
	struct session *session = session_of(gains, ARRAY_COUNT(gains));

	(void)state;
	expect_of(session, AXIS_PROCESS, "web", true,
		  "waits for memory: 40.0% of one thread's time, mostly swap-in");
	expect_of(session, AXIS_PROCESS, "pool", true, "waits for block I/O: 86.0% of one thread's time");
	session_release(session);
}

static void test_in_d(void **state)
{
	const struct gain gains[] = {{WEB, METRIC_WAIT_TIME_NS, MS(100)}};
	struct session *session = session_create();
	struct snapshot *second = make_round(1, gains, ARRAY_COUNT(gains));

	(void)state;
	second->waiting_ns = memory_allocate_zero(second->thread_capacity, sizeof(uint64_t));
	for (size_t i = 0; i < THREADS; i++) {
		fixture_set(second, i, METRIC_STATE, 'D');
		second->waiting_ns[i] = i == WEB ? MS(12000) : MS(1500);
	}
	add(session, make_round(0, gains, ARRAY_COUNT(gains)));
	add(session, second);
	expect_of(session, AXIS_PROCESS, "web", true, "2 threads in D, the longest for 12 s");
	expect_of(session, AXIS_PROCESS, "pool", true, "in D for 1.5 s");
	session_release(session);
}

/* Of a cgroup, and of nothing else that is in it. */
static void test_throttled(void **state)
{
	const struct gain gains[] = {{POOL, METRIC_WAIT_TIME_NS, MS(1000)}};
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = make_round(round, gains, ARRAY_COUNT(gains));

		for (size_t i = 0; i < THREADS; i += POOL) {
			struct cgroup_record *record = snapshot_add_cgroup(
				snapshot, snapshot->triples[snapshot->triple[i]].cgroup);

			record->throttled_usec = 620000 * (uint64_t)round;
			record->max_quota_us = (struct optional_u64){200000, true};
			record->max_period_us = 100000;
		}
		add(session, snapshot);
	}
	expect_of(session, AXIS_CGROUP, "/a", true, "throttled 31.0% (cpu.max 2)");
	expect_of(session, AXIS_CGROUP, "/b", false,
		  "waits for a CPU: 50.0% of one thread's time, throttled 31.0% (cpu.max 2)");
	expect_of(session, AXIS_PROCESS, "web", true, "");
	session_release(session);
}

static void set_wait(struct snapshot *snapshot, size_t thread, enum wait_class class, const char *object)
{
	snapshot->wait_class[thread] = (uint8_t) class;
	snapshot->wait_object[thread] = string_pool_intern(&snapshot->strings, object, strlen(object));
}

static void expect_waits_for(struct session *session, const struct view *view, const char *label,
			     const char *words)
{
	const struct table_row *row = fixture_row(fixture_table_of(session, view), label);
	struct buffer text = {0};

	session_append_waits_for(session, view, row->key, row->key_length, &text);
	assert_string_equal(text.length != 0 ? text.data : "", words);
	buffer_release(&text);
}

/* What threads wait for now, in words and in full. */
static void test_waits_for(void **state)
{
	struct session *session = session_create();
	struct snapshot *round = make_round(0, NULL, 0);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	add(session, make_round(0, NULL, 0));
	expect_waits_for(session, &view, "web", "");
	fixture_expect_missing(fixture_table_of(session, &view), "web", COLUMN_WAITS_FOR, REASON_NOT_IN_FILE);
	assert_true(session_why_unavailable(session, &view, COLUMN_WAITS_FOR, NULL));
	round->wait_class = memory_allocate_zero(round->thread_capacity, sizeof(uint8_t));
	round->wait_object = memory_allocate_zero(round->thread_capacity, sizeof(uint32_t));
	set_wait(round, WEB, WAIT_CLASS_FUTEX, "0x7f3a12c0");
	set_wait(round, WORKER, WAIT_CLASS_POLL, "");
	snapshot_source_reasons(round, SOURCE_WAIT)[POOL] = REASON_NOT_PERMITTED;
	add(session, round);
	assert_false(session_why_unavailable(session, &view, COLUMN_WAITS_FOR, NULL));
	expect_waits_for(session, &view, "web", "waits for: futex 0x7f3a12c0 (1 of 2 threads)");
	expect_waits_for(session, &view, "pool", "");
	fixture_expect(session, TAB_OVERVIEW, WINDOW_MODE_RATE, "web", COLUMN_WAITS_FOR,
		       "futex 0x7f3a12c0 ×1");
	fixture_expect_told(session, &view, "web", COLUMN_WAITS_FOR,
			    "  2 of 2 threads\n"
			    "  1 futex (1 0x7f3a12c0)\n"
			    "  1 poll\n");
	fixture_expect_told(session, &view, "web", COLUMN_WAITS_FOR,
			    "poll: poll(2), select(2) or epoll_wait(2): any of several files.\n");
	fixture_expect_told(session, &view, "pool", COLUMN_WAITS_FOR, "Unavailable: not permitted.\n");
	fixture_expect_told(session, &view, "pool", COLUMN_WAITS_FOR, "1 unavailable: not permitted\n");
	/* one address in two processes is two futexes */
	set_wait(round, WORKER, WAIT_CLASS_FUTEX, "0x7f3a12c0");
	set_wait(round, POOL, WAIT_CLASS_FUTEX, "0x7f3a12c0");
	snapshot_source_reasons(round, SOURCE_WAIT)[POOL] = REASON_READ;
	view.grouping.axis = AXIS_HOST;
	fixture_expect_told(session, &view, "host", COLUMN_WAITS_FOR,
			    "  3 futex (2 0x7f3a12c0 of pid 10, 1 0x7f3a12c0 of pid 20)\n");
	snapshot_source_reasons(round, SOURCE_WAIT)[POOL] = REASON_NOT_PERMITTED;
	set_wait(round, POOL, WAIT_CLASS_UNKNOWN, "");
	set_wait(round, WORKER, WAIT_CLASS_POLL, "");
	view.grouping.axis = AXIS_THREAD;
	expect_waits_for(session, &view, "worker", "waits for: poll");
	fixture_expect_missing(fixture_table_of(session, &view), "pool", COLUMN_WAITS_FOR,
			       REASON_NOT_PERMITTED);
	session_release(session);
}

/* Block I/O of a thread that waits for an io_uring is unknown: the kernel counts these waits with it. */
static void test_io_uring(void **state)
{
	static const enum column columns[] = {COLUMN_BLKIO, COLUMN_LOST, COLUMN_BAR,
					      COLUMN_METRICS + (unsigned int)METRIC_BLKIO_DELAY_TOTAL_NS};
	const struct gain gains[] = {{WEB, METRIC_BLKIO_DELAY_TOTAL_NS, MS(1900)},
				     {WEB, METRIC_WAIT_TIME_NS, MS(10)},
				     {WORKER, METRIC_BLKIO_DELAY_TOTAL_NS, MS(400)},
				     {POOL, METRIC_BLKIO_DELAY_TOTAL_NS, MS(300)}};
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct snapshot *round = make_round(1, gains, ARRAY_COUNT(gains));
	struct table *table;

	(void)state;
	view.columns = columns;
	view.column_count = ARRAY_COUNT(columns);
	snapshot_make_wait_columns(round);
	set_wait(round, WEB, WAIT_CLASS_IO_URING, "");
	set_wait(round, WORKER, WAIT_CLASS_FILE, "/var/lib/x.log");
	set_wait(round, POOL, WAIT_CLASS_IO_URING, "");
	add(session, make_round(0, NULL, 0));
	add(session, round);

	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "web", COLUMN_BLKIO), "≥20.0");
	assert_string_equal(fixture_shown(table, "web", COLUMN_LOST), "≥20.5");
	assert_true(fixture_cell(table, "web", COLUMN_BAR)->partial);
	assert_string_equal(fixture_shown(table, "web", columns[3]), "115.0");
	fixture_expect_missing(table, "pool", COLUMN_BLKIO, REASON_WITH_IO_URING);
	fixture_expect_told(session, &view, "web", COLUMN_BLKIO,
			    "  1 of 2 threads\n"
			    "  1 unavailable: the kernel counts waits for an io_uring with it\n");
	fixture_expect_told(session, &view, "web", columns[3], "  2 of 2 threads\n");
	expect_of(session, AXIS_PROCESS, "pool", false, "");
	expect_of(session, AXIS_PROCESS, "web", false, "waits for block I/O: 20.0% of one thread's time");

	/* one that did not end is not counted yet; in D it is block I/O; and so it is of a worker of the ring
	 */
	fixture_set(round, POOL, METRIC_BLKIO_DELAY_TOTAL_NS, 0);
	assert_string_equal(fixture_shown(fixture_table_of(session, &view), "pool", COLUMN_BLKIO), "0");
	fixture_set(round, POOL, METRIC_BLKIO_DELAY_TOTAL_NS, MS(300));
	fixture_set(round, POOL, METRIC_STATE, 'D');
	assert_string_equal(fixture_shown(fixture_table_of(session, &view), "pool", COLUMN_BLKIO), "15.0");
	fixture_set(round, POOL, METRIC_STATE, 'S');
	round->triples[round->triple[POOL]].comm = string_pool_intern(&round->strings, "iou-wrk-20", 10);
	assert_string_equal(fixture_shown(fixture_table_of(session, &view), "pool", COLUMN_BLKIO), "15.0");
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for), cmocka_unit_test(test_io_uring),
		cmocka_unit_test(test_run_queue), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_culprits),  cmocka_unit_test(test_memory_and_disks),
		cmocka_unit_test(test_in_d),      cmocka_unit_test(test_throttled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
