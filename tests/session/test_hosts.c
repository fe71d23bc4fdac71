/* SPDX-License-Identifier: GPL-2.0-only */
/* One table of the windows of several hosts: rows of one host, and rows merged from several. */
#include "session_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/hosts.h"
#include "snapshot/snapshot_window.h"

enum {
	THREADS = 120,
	WHOLE = 2, /* both halves */
};

static int half; /* threads that fill_half() adds: even indexes (0), odd ones (1), or WHOLE */

/* Adds half of the threads or all of them. A thread has the same numbers either way. */
static void fill_half(struct snapshot *snapshot, int round)
{
	unsigned int seed = 7;
	char process[16], name[16];

	for (uint32_t i = 0; i < THREADS; i++) {
		const bool is_there = half == WHOLE || (int)(i % 2) == half;
		size_t thread = 0;

		snprintf(process, sizeof(process), "p%c-%d", 'a' + rand_r(&seed) % 5, rand_r(&seed) % 3);
		snprintf(name, sizeof(name), "t%c-%d", 'a' + rand_r(&seed) % 7, rand_r(&seed) % 9);
		if (is_there)
			thread = fixture_thread(snapshot, 100 + i, 100 + i, process, name, 1);
		for (int m = 0; m < METRIC_COUNT; m++) {
			const uint64_t base = (uint64_t)rand_r(&seed),
				       more = (uint64_t)rand_r(&seed) % 1000000;
			const enum metric_kind kind = metric_type((enum metric)m)->kind;

			if (is_there && m != METRIC_THREAD_COUNT &&
			    (kind == METRIC_KIND_COUNTER || kind == METRIC_KIND_PEAK))
				fixture_set(snapshot, thread, (enum metric)m, base + (round != 0 ? more : 0));
		}
		if (is_there)
			fixture_set(snapshot, thread, METRIC_NICE, i % 20);
	}
}

/* Makes the window of two rounds, as read from a history. The caller owns the reference. */
static struct snapshot *window_of(void (*fill)(struct snapshot *snapshot, int round))
{
	struct session *session = fixture_two_rounds(fill);
	struct snapshot *snapshot = snapshot_with_window((struct snapshot *)(uintptr_t)session_now(session),
							 session_save_window(session, WINDOW_MODE_INTERVAL));

	session_release(session);
	return snapshot;
}

static struct snapshot *half_window(int which)
{
	half = which;
	return window_of(fill_half);
}

static struct view titled_view(enum tab tab, enum axis axis)
{
	struct view view = fixture_view(tab, WINDOW_MODE_RATE, axis);

	view.naming = VIEW_NAMING_TITLES;
	view.fold_idle = false;
	return view;
}

/* Text in the column HOST, the last of the columns that name a row. */
static const char *host_of(const struct table *table, const char *label)
{
	return fixture_row(table, label)->cells[table->name_count - 1].text;
}

static bool is_close(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void expect_same_cell(const struct cell *cell, const struct cell *wanted, const char *column)
{
	if (cell->state != wanted->state || cell->partial != wanted->partial ||
	    !is_close(cell_number(cell), cell_number(wanted)))
		fail_msg("%s is %g (state %d), not %g (state %d)", column, cell_number(cell),
			 (int)cell->state, cell_number(wanted), (int)wanted->state);
}

/* The row with the same key as `like`. */
static const struct table_row *row_of_key(const struct table *table, const struct table_row *like)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].key_length == like->key_length &&
		    memcmp(table->rows[i].key, like->key, like->key_length) == 0)
			return &table->rows[i];
	}
	fail_msg("no row %s", like->key);
	return NULL;
}

/* The table of the added hosts. Checks how many there are. */
static struct table *table_of(struct hosts *hosts, size_t expected)
{
	uint64_t interval_ns;
	size_t count;
	struct table *table = hosts_table(hosts, &count, &interval_ns);

	assert_int_equal(count, expected);
	assert_int_equal(interval_ns, 2 * NS_PER_S);
	return table;
}

/* Compares a table of hosts with a session's. Returns how many cells it compared; it skips cells that
 * cannot be merged. */
static size_t expect_same(const struct table *table, const struct table *wanted)
{
	size_t merged = 0;

	assert_int_equal(table->row_count, wanted->row_count);
	assert_int_equal(table->column_count - table->name_count, wanted->column_count - wanted->name_count);
	assert_int_equal(table->threads, wanted->threads);
	for (size_t i = 0; i < wanted->row_count; i++) {
		const struct table_row *row = row_of_key(table, &wanted->rows[i]);

		assert_int_equal(row->threads, wanted->rows[i].threads);
		for (size_t k = wanted->name_count; k < wanted->column_count; k++) {
			const struct cell *cell = &row->cells[k - wanted->name_count + table->name_count];

			if (cell->state == CELL_UNAVAILABLE && cell->reason == REASON_SEVERAL_HOSTS)
				continue;
			merged++;
			expect_same_cell(cell, &wanted->rows[i].cells[k], wanted->columns[k].name);
		}
	}
	return merged;
}

/* With one host, every tab equals the table of a session over the same file. */
static void test_one_host(void **state)
{
	(void)state;
	for (int tab = 0; tab < TAB_COUNT; tab++) {
		struct view view = titled_view((enum tab)tab, AXIS_PROCESS);
		struct session *session = session_create_file(half_window(WHOLE));
		struct hosts *hosts = hosts_create(&view);

		hosts_add(hosts, "a", half_window(WHOLE));
		expect_same(table_of(hosts, 1), fixture_table_of(session, &view));
		hosts_release(hosts);
		session_release(session);
	}
}

/* Two halves of a host, added as two hosts, equal the whole host. */
static void test_halves(void **state)
{
	static const enum axis axes_of_names[] = {AXIS_PROCESS, AXIS_THREAD, AXIS_ALL, AXIS_CGROUP};

	(void)state;
	for (size_t axis = 0; axis < sizeof(axes_of_names) / sizeof(axes_of_names[0]); axis++) {
		for (int tab = 0; tab < TAB_COUNT; tab++) {
			struct view view = titled_view((enum tab)tab, axes_of_names[axis]);
			struct session *session = session_create_file(half_window(WHOLE));
			struct hosts *hosts = hosts_create(&view);
			size_t merged;

			for (int which = 0; which < 2; which++)
				hosts_add(hosts, which == 0 ? "a" : "b", half_window(which));
			merged = expect_same(table_of(hosts, 2), fixture_table_of(session, &view));
			assert_true(merged != 0 || tab == TAB_TASK_FIELDS);
			hosts_release(hosts);
			session_release(session);
		}
	}
}

/* --- small hosts --- */

static struct {
	const char *worker;
	uint64_t run_ms, slices;
	const char *policy;
	bool has_backup;
} small;

static void fill_small(struct snapshot *snapshot, int round)
{
	size_t thread = fixture_thread(snapshot, 10, 10, small.worker, small.worker, 1);

	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(small.run_ms * (uint64_t)round));
	fixture_set(snapshot, thread, METRIC_TIMESLICES, small.slices * (uint64_t)round);
	fixture_set_text(snapshot, thread, METRIC_POLICY, small.policy);
	if (!small.has_backup)
		return;
	thread = fixture_thread(snapshot, 20, 20, "backup", "backup", 1);
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(900 * (uint64_t)round));
	fixture_set_text(snapshot, thread, METRIC_POLICY, "SCHED_BATCH");
}

static void add_small_hosts(struct hosts *hosts)
{
	small.worker = "worker-1";
	small.run_ms = 400;
	small.slices = 40;
	small.policy = "SCHED_OTHER";
	small.has_backup = true;
	hosts_add(hosts, "web-1", window_of(fill_small));
	small.worker = "worker-2";
	small.run_ms = 1400;
	small.slices = 20;
	small.has_backup = false;
	hosts_add(hosts, "web-2", window_of(fill_small));
}

static const enum column chosen[] = {COLUMN_THR, COLUMN_CPU, COLUMN_SLICE, COLUMN_POLICY, COLUMN_PID};

static struct view small_view(enum axis axis)
{
	struct view view = titled_view(TAB_OVERVIEW, axis);

	view.columns = chosen;
	view.column_count = sizeof(chosen) / sizeof(chosen[0]);
	return view;
}

static void test_together(void **state)
{
	const struct view view = small_view(AXIS_PROCESS);
	struct hosts *hosts = hosts_create(&view);
	struct table *table;

	(void)state;
	add_small_hosts(hosts);
	table = table_of(hosts, 2);
	/* worker-{N} merges one name of each host; the row with most CPU time is first */
	assert_int_equal(table->row_count, 2);
	assert_string_equal(table->rows[0].label, "worker-{N}");
	assert_string_equal(host_of(table, "worker-{N}"), "2 hosts");
	assert_string_equal(host_of(table, "backup"), "web-1");
	assert_string_equal(table->columns[1].title, "HOST");
	assert_string_equal(fixture_shown(table, "worker-{N}", COLUMN_THR), "2");
	assert_string_equal(fixture_shown(table, "worker-{N}", COLUMN_CPU), "90.0");
	/* 1,800 ms in 60 slices, not the mean of 10 and 70 ms */
	assert_true(cell_number(fixture_cell(table, "worker-{N}", COLUMN_SLICE)) == 30e6);
	/* pid 10 is another process on each host, and texts are not merged */
	assert_int_equal(fixture_cell(table, "worker-{N}", COLUMN_PID)->reason, REASON_SEVERAL_HOSTS);
	assert_int_equal(fixture_cell(table, "worker-{N}", COLUMN_POLICY)->reason, REASON_SEVERAL_HOSTS);
	assert_string_equal(fixture_shown(table, "backup", COLUMN_PID), "20");
	assert_string_equal(fixture_shown(table, "backup", COLUMN_POLICY), "BATCH");
	hosts_release(hosts);
}

/* Processes of different hosts are never merged. A limit applies to the rows of all hosts together. */
static void test_processes(void **state)
{
	struct view view = small_view(AXIS_PID);
	struct hosts *hosts = hosts_create(&view);
	struct table *table;

	(void)state;
	view.limit = 2;
	add_small_hosts(hosts);
	table = table_of(hosts, 2);
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->row_total, 3);
	assert_string_equal(table->rows[0].label, "10 worker-2");
	assert_string_equal(table->rows[1].label, "20 backup");
	hosts_release(hosts);
}

static void test_rows_are_hosts(void **state)
{
	struct view view = small_view(AXIS_HOST);
	struct hosts *hosts = hosts_create(&view);
	struct table *table;

	(void)state;
	add_small_hosts(hosts);
	table = table_of(hosts, 2);
	assert_int_equal(table->name_count, 1);
	assert_int_equal(table->row_count, 2);
	assert_string_equal(table->rows[0].label, "web-2");
	assert_string_equal(fixture_shown(table, "web-1", COLUMN_THR), "2");
	assert_string_equal(fixture_shown(table, "web-1", COLUMN_CPU), "65.0");
	hosts_release(hosts);
	/* sorted by name: the table lacks the sort column */
	view.sort = COLUMN_CSW;
	hosts = hosts_create(&view);
	add_small_hosts(hosts);
	table = table_of(hosts, 2);
	assert_string_equal(table->rows[0].label, "web-1");
	hosts_release(hosts);
}

/* A row is idle if it is idle on all its hosts. */
static void test_idle(void **state)
{
	struct view view = small_view(AXIS_PROCESS);
	struct hosts *hosts;
	struct table *table;

	(void)state;
	view.fold_idle = true;
	hosts = hosts_create(&view);
	add_small_hosts(hosts);
	small.run_ms = 0;
	small.slices = 0;
	hosts_add(hosts, "web-3", window_of(fill_small));
	small.worker = "sleeper";
	hosts_add(hosts, "web-4", window_of(fill_small));
	table = table_of(hosts, 4);
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->row_idle, 1);
	assert_string_equal(host_of(table, "worker-{N}"), "3 hosts");
	assert_int_equal(table->threads, 5);
	hosts_release(hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_host),       cmocka_unit_test(test_halves),
		cmocka_unit_test(test_together),       cmocka_unit_test(test_processes),
		cmocka_unit_test(test_rows_are_hosts), cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests_name("hosts", tests, NULL, NULL);
}
