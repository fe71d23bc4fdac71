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

enum {
	NARROW = 80 /* cells; the list has no WAITS FOR */
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

/* Finds why the row with a label is slow, or a row with this key if no row has the label. */
static struct session_slow slow_of(struct session *session, const struct view *view, const char *label,
				   bool offers_latency)
{
	const struct table *table = fixture_table_of(session, view);
	struct session_slow slow = {0};

	if (fixture_has_row(table, label)) {
		const struct table_row *row = fixture_row(table, label);

		session_find_slow(session, view, row->key, row->key_length, offers_latency, &slow);
	} else {
		session_find_slow(session, view, label, strlen(label), offers_latency, &slow);
	}
	return slow;
}

static void release(struct session_slow *slow)
{
	buffer_release(&slow->loss);
	buffer_release(&slow->waits_for);
}

static void expect_of(struct session *session, enum axis axis, const char *label, bool offers_latency,
		      const char *words)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, axis);
	struct session_slow slow = slow_of(session, &view, label, offers_latency);

	assert_string_equal(slow.loss.length != 0 ? slow.loss.data : "", words);
	release(&slow);
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
	expect_of(session, AXIS_PROCESS, "web", true, "waits for a CPU: 1.2 threads on average");
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

static struct cgroup_record *add_limit(struct snapshot *snapshot, size_t thread, uint64_t throttled_usec)
{
	struct cgroup_record *record = snapshot_add_cgroup(
		snapshot, snapshot->triples[snapshot->triple[thread]].cgroup);

	record->throttled_usec = throttled_usec;
	record->max_quota_us = (struct optional_u64){200000, true};
	record->max_period_us = 100000;
	return record;
}

/* A limit holds back whatever waits for a CPU in its cgroup, and nothing that does not wait. */
static void test_throttled(void **state)
{
	const struct gain gains[] = {{POOL, METRIC_WAIT_TIME_NS, MS(1000)}};
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = make_round(round, gains, ARRAY_COUNT(gains));

		add_limit(snapshot, WEB, 620000 * (uint64_t)round);
		add_limit(snapshot, POOL, 620000 * (uint64_t)round);
		add(session, snapshot);
	}
	expect_of(session, AXIS_CGROUP, "/a", true, "kept back by cpu.max of a (2 CPUs), throttled 31.0%");
	expect_of(session, AXIS_CGROUP, "/b", true,
		  "waits for a CPU: 50.0% of one thread's time, kept back by cpu.max of b (2 CPUs), "
		  "throttled 31.0%");
	expect_of(session, AXIS_PROCESS, "pool", true,
		  "waits for a CPU: 50.0% of one thread's time, kept back by cpu.max of b (2 CPUs), "
		  "throttled 31.0%");
	expect_of(session, AXIS_PROCESS, "web", true, "");
	session_release(session);
}

/* The largest of several limits is named, and the latency watch does not name it again. */
static void test_limits(void **state)
{
	const struct gain gains[] = {
		{WEB, METRIC_WAIT_TIME_NS, MS(1000)},
		{WORKER, METRIC_WAIT_TIME_NS, MS(1000)},
	};
	struct session *session = session_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = make_round(round, gains, ARRAY_COUNT(gains));

		fixture_cgroup(snapshot, WORKER, "/system.slice/api@1.service");
		add_limit(snapshot, WEB, 20000 * (uint64_t)round);
		add_limit(snapshot, WORKER, 100000 * (uint64_t)round)->max_quota_us.value = 100000;
		if (round == 1) {
			const uint32_t web = add_names(snapshot, "web", "/a");

			snapshot->latency.span_ns = MS(2000);
			add_delay(snapshot, web, LATENCY_CAUSE_THROTTLED, 0, MS(1000));
		}
		add(session, snapshot);
	}
	expect_of(session, AXIS_PROCESS, "web", true,
		  "waits for a CPU: 1 threads on average, kept back by cpu.max of api@1.service (1 CPU), "
		  "throttled 5.0%");
	session_release(session);
}

/* While the limit is about to be read, nothing else is offered; where it cannot be, it is. */
static void test_limits_to_be_read(void **state)
{
	static const struct {
		reason_id now, before;
		uint64_t throttled_usec;
		const char *words;
	} cases[] = {
		{REASON_NOT_READ, REASON_NOT_READ, 0, ""},
		{REASON_READ, REASON_NOT_READ, 0, ""},
		{REASON_READ, REASON_READ, 0, " (l says who ran)"},
		{REASON_READ, REASON_READ, 19000, " (l says who ran)"},
		{REASON_SWITCHED_OFF, REASON_NOT_READ, 0, " (l says who ran)"},
		{REASON_OVER_BUDGET, REASON_NOT_READ, 0, " (l says who ran)"},
	};
	const struct gain gains[] = {{POOL, METRIC_WAIT_TIME_NS, MS(1000)}};
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct session *session = session_create();
		struct session_slow slow;

		for (int round = 0; round < 2; round++) {
			struct snapshot *snapshot = make_round(round, gains, ARRAY_COUNT(gains));
			const reason_id reason = round == 0 ? cases[i].before : cases[i].now;

			if (reason != REASON_NOT_READ)
				add_limit(snapshot, POOL, cases[i].throttled_usec * (uint64_t)round)
					->missing[CGROUP_FILE_CPU_THROTTLING] = reason;
			add(session, snapshot);
		}
		slow = slow_of(session, &view, "pool", true);
		assert_string_equal(slow.loss.data + strlen("waits for a CPU: 50.0% of one thread's time"),
				    cases[i].words);
		assert_string_equal(snapshot_text(session_now(session), slow.cgroup), "/b");
		release(&slow);
		slow = slow_of(session, &view, "web", true);
		assert_int_equal(slow.cgroup, 0);
		release(&slow);
		session_release(session);
	}
}

static void set_wait(struct snapshot *snapshot, size_t thread, enum wait_class class, const char *object)
{
	snapshot->wait_class[thread] = (uint8_t) class;
	snapshot->wait_object[thread] = string_pool_intern(&snapshot->strings, object, strlen(object));
}

static void expect_waits_for(struct session *session, const struct view *view, const char *label,
			     const char *words)
{
	struct session_slow slow;
	struct view narrow = *view;

	narrow.width = NARROW;
	slow = slow_of(session, &narrow, label, false);
	assert_string_equal(slow.waits_for.length != 0 ? slow.waits_for.data : "", words);
	release(&slow);
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

enum {
	MANY = 40
};

/* What 40 threads of a process do: `count` of them wait, the others sleep. */
struct crowd {
	uint32_t count;
	enum wait_class class;
	const char *object;
	uint64_t run_queue_ns; /* of the first thread in the interval */
	const char *loss, *waits_for;
	bool waits_first;
};

static struct snapshot *make_crowd(int round, const struct crowd *crowd, uint32_t processes)
{
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

	for (uint32_t i = 0; i < MANY; i++) {
		const uint32_t process = 10 + i % processes * 100;

		fixture_thread(snapshot, process, process + i / processes, "api", "api", 5);
		fixture_set(snapshot, i, METRIC_STATE, 'S');
	}
	fixture_set(snapshot, 0, METRIC_WAIT_TIME_NS, crowd->run_queue_ns * (uint64_t)round);
	snapshot->wait_class = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint8_t));
	snapshot->wait_object = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint32_t));
	for (uint32_t i = 0; i < MANY; i++)
		set_wait(snapshot, i, i < crowd->count ? crowd->class : WAIT_CLASS_TIMER,
			 i < crowd->count ? crowd->object : "");
	return snapshot;
}

static void expect_crowd(const struct crowd *crowd, uint32_t processes)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct session *session = session_create();
	struct session_slow slow;

	view.width = NARROW;
	add(session, make_crowd(0, crowd, processes));
	add(session, make_crowd(1, crowd, processes));
	slow = slow_of(session, &view, "api", false);
	assert_string_equal(slow.waits_for.length != 0 ? slow.waits_for.data : "", crowd->waits_for);
	assert_string_equal(slow.loss.length != 0 ? slow.loss.data : "",
			    crowd->loss != NULL ? crowd->loss : "");
	assert_int_equal(slow.waits_first, crowd->waits_first);
	release(&slow);
	session_release(session);
}

/* A sentence where most threads wait for one thing, which comes first if it holds up more of them. */
static void test_most_threads(void **state)
{
	static const struct crowd crowds[] = {
		{.count = 38,
		 .class = WAIT_CLASS_FUTEX,
		 .object = "0x7f3a12c0 lock",
		 .waits_for = "38 of 40 threads wait at one futex, a lock by its value",
		 .waits_first = true},
		{.count = 38,
		 .class = WAIT_CLASS_FUTEX,
		 .object = "0x7f3a12c0",
		 .waits_for = "38 of 40 threads wait at one futex, a lock or idle: the kernel cannot tell"},
		{.count = 21,
		 .class = WAIT_CLASS_SOCKET,
		 .object = ":5432 postgres",
		 .waits_for = "21 of 40 threads wait for socket :5432 postgres"},
		{.count = 40,
		 .class = WAIT_CLASS_DISK,
		 .object = "",
		 .waits_for = "40 of 40 threads wait for the disk",
		 .waits_first = true},
		{.count = 40,
		 .class = WAIT_CLASS_FILE_LOCK,
		 .object = "db.lock",
		 .waits_for = "40 of 40 threads wait for file lock db.lock"},
		/* neither a half, nor a class without an object, is one thing; poll is never idle */
		{.count = 20,
		 .class = WAIT_CLASS_FUTEX,
		 .object = "0x7f3a12c0 lock",
		 .waits_for = "waits for: futex 0x7f3a12c0 lock (20 of 40 threads)"},
		{.count = 40,
		 .class = WAIT_CLASS_POLL,
		 .object = "",
		 .waits_for = "waits for: poll (40 of 40 threads)"},
		{.count = 40, .class = WAIT_CLASS_RUN_QUEUE, .object = "", .waits_for = ""},
		{.count = 40, .class = WAIT_CLASS_CPU, .object = "", .waits_for = ""},
		/* 60 threads waited for a CPU on average, then 40 at a lock */
		{.count = 40,
		 .class = WAIT_CLASS_FUTEX,
		 .object = "0x7f3a12c0 lock",
		 .run_queue_ns = MS(120000),
		 .loss = "waits for a CPU: 60 threads on average",
		 .waits_for = "40 of 40 threads wait at one futex, a lock by its value"},
		{.count = 40,
		 .class = WAIT_CLASS_FUTEX,
		 .object = "0x7f3a12c0 lock",
		 .run_queue_ns = MS(1000),
		 .loss = "waits for a CPU: 50.0% of one thread's time",
		 .waits_for = "40 of 40 threads wait at one futex, a lock by its value",
		 .waits_first = true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(crowds); i++)
		expect_crowd(&crowds[i], 1);
	/* one address in four processes is four futexes */
	expect_crowd(&(struct crowd){.count = 40,
				     .class = WAIT_CLASS_FUTEX,
				     .object = "0x7f3a12c0 lock",
				     .waits_for = "waits for: futex (40 of 40 threads)"},
		     4);
}

/* Where the list has the cell, only the sentence adds to it; what cannot be read is not counted. */
static void test_cell_is_not_repeated(void **state)
{
	const struct crowd lock = {.count = 40, .class = WAIT_CLASS_FUTEX, .object = "0x7f3a12c0 lock"};
	const struct crowd poll = {.count = 40, .class = WAIT_CLASS_POLL, .object = ""};
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	static const enum column columns[] = {COLUMN_CPU, COLUMN_WAITS_FOR};
	struct session *session = session_create();
	struct snapshot *round = make_crowd(0, &lock, 1);

	(void)state;
	view.columns = columns;
	view.column_count = ARRAY_COUNT(columns);
	round->wait_class[0] = WAIT_CLASS_UNKNOWN;
	snapshot_source_reasons(round, SOURCE_WAIT)[0] = REASON_NOT_PERMITTED;
	add(session, round);
	expect_waits_for(session, &view, "api",
			 "39 of 39 readable threads wait at one futex, a lock by its value");
	fixture_expect_told(session, &view, "api", COLUMN_WAITS_FOR,
			    "Each futex with its threads, waits and times: ctop -b --futex -p 10\n");
	add(session, make_crowd(1, &poll, 1));
	expect_waits_for(session, &view, "api", "");
	session_release(session);
}

/* The age of the oldest wait belongs to the sentence. */
static void test_disk_with_ages(void **state)
{
	const struct crowd crowd = {.count = 40, .class = WAIT_CLASS_DISK, .object = ""};
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct session *session = session_create();
	struct snapshot *second = make_crowd(1, &crowd, 1);

	(void)state;
	second->waiting_ns = memory_allocate_zero(second->thread_capacity, sizeof(uint64_t));
	for (size_t i = 0; i < MANY; i++) {
		fixture_set(second, i, METRIC_STATE, 'D');
		second->waiting_ns[i] = MS(1500);
	}
	add(session, make_crowd(0, &crowd, 1));
	add(session, second);
	expect_of(session, AXIS_PROCESS, "api", false,
		  "40 of 40 threads wait for the disk, the longest for 1.5 s");
	expect_waits_for(session, &view, "api", "");
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
	/* the time asleep is that of both classes, which are one part */
	assert_float_equal(fixture_cell(table, "web", COLUMN_BAR)->value.shares[TIME_PART_SLEEP], 0.0F,
			   1e-6F);
	assert_true(fixture_cell(table, "web", COLUMN_BAR)->value.shares[TIME_PART_DATA] > 0.8F);
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
		cmocka_unit_test(test_waits_for),      cmocka_unit_test(test_io_uring),
		cmocka_unit_test(test_run_queue),      cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_culprits),       cmocka_unit_test(test_memory_and_disks),
		cmocka_unit_test(test_in_d),           cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_limits),         cmocka_unit_test(test_limits_to_be_read),
		cmocka_unit_test(test_most_threads),   cmocka_unit_test(test_cell_is_not_repeated),
		cmocka_unit_test(test_disk_with_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
