/* SPDX-License-Identifier: GPL-2.0-only */
/* The Heap tab: what jemalloc programs allocate, and what is known of whom. */
#include <string.h>

#include "session_fixture.h"
#include "table/evidence.h"

static size_t add_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *process,
			 const char *name, uint64_t allocated, uint64_t freed)
{
	size_t thread = fixture_thread(snapshot, tgid, tid, process, name, 1);

	snapshot->thread_flags[thread] |= THREAD_JEMALLOC_MEASURED;
	fixture_set(snapshot, thread, METRIC_ALLOCATED_BYTES, allocated);
	fixture_set(snapshot, thread, METRIC_DEALLOCATED_BYTES, freed);
	return thread;
}

static void miss(struct snapshot *snapshot, size_t thread, enum reason reason)
{
	snapshot->thread_flags[thread] &= (uint8_t)~THREAD_JEMALLOC_MEASURED;
	snapshot_source_reasons(snapshot, SOURCE_JEMALLOC)[thread] = (reason_id)reason;
}

static void set_heap(struct snapshot *snapshot)
{
	static const struct heap_process heap[] = {
		{.tgid = 10, .layout = "dwarf", .version = "5.3.0"},
		{.tgid = 20, .layout = "known-build", .version = "5.2.1"},
		{.tgid = 30, .layout = "dwarf"},
		{.tgid = 40, .tag = "dwarf-parse-failure", .text = "tried its own DWARF"},
		{.tgid = 50, .tag = "not-permitted"},
		{.tgid = 60, .tag = "not-permitted"},
	};

	snapshot->provenance.heap_count = sizeof(heap) / sizeof(heap[0]);
	snapshot->provenance.heap = arena_allocate(&snapshot->arena, sizeof(heap));
	memcpy(snapshot->provenance.heap, heap, sizeof(heap));
}

/* Rounds are 2 s apart. */
static void fill(struct snapshot *snapshot, int round)
{
	uint64_t step = (uint64_t)round;

	set_heap(snapshot);
	/* two whole processes, of which one allocates and the other frees */
	add_thread(snapshot, 10, 10, "web", "web", 1000000 + 4000 * step, 200000);
	add_thread(snapshot, 10, 11, "web", "pool", 500000 + 2000 * step, 100000 + 8000 * step);
	add_thread(snapshot, 20, 20, "cache", "cache", 70000, 80000);
	/* one of its threads cannot be read */
	add_thread(snapshot, 30, 30, "db", "db", 9000 + 3000 * step, 4000);
	miss(snapshot, add_thread(snapshot, 30, 31, "db", "pool", 0, 0), REASON_NEEDS_STOP);
	/* nobody knows; not allowed; no jemalloc; a kernel thread */
	miss(snapshot, add_thread(snapshot, 40, 40, "odd", "odd", 0, 0), REASON_UNREADABLE);
	miss(snapshot, add_thread(snapshot, 50, 50, "other", "other", 0, 0), REASON_NOT_PERMITTED);
	miss(snapshot, add_thread(snapshot, 60, 60, "third", "third", 0, 0), REASON_NOT_PERMITTED);
	fixture_thread(snapshot, 70, 70, "plain", "plain", 1);
	fixture_thread(snapshot, 80, 80, "kworker", "kworker", 1);
	snapshot->thread_flags[9] |= THREAD_KERNEL;
}

#define SHOWN(label, column, text) assert_string_equal(fixture_shown(table, label, COLUMN_##column), text)

/* Two processes begin. One is only forked: its memory holds what its parent had counted. */
static void fill_forked(struct snapshot *snapshot, int round)
{
	fixture_thread(snapshot, 5, 5, "init", "init", 1);
	if (round == 0)
		return;
	fixture_thread(snapshot, 10, 10, "child", "child", 101);
	fixture_thread(snapshot, 20, 20, "program", "program", 101);
	for (size_t thread = 1; thread <= 2; thread++) {
		snapshot->thread_flags[thread] |= THREAD_JEMALLOC_MEASURED;
		fixture_set(snapshot, thread, METRIC_ALLOCATED_BYTES, 4000);
	}
	snapshot->thread_flags[1] |= THREAD_FORKED;
}

static void test_forked(void **state)
{
	struct session *session = fixture_two_rounds(fill_forked);
	struct table *table = fixture_table(session, TAB_HEAP, WINDOW_MODE_RATE);

	(void)state;
	fixture_expect_missing(table, "child", COLUMN_ALLOC, REASON_NOT_READ);
	SHOWN("program", ALLOC, "2.0K");
	session_release(session);
}

static void test_rates(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct table *table = fixture_table(session, TAB_HEAP, WINDOW_MODE_RATE);

	(void)state;
	SHOWN("web", ALLOC, "2.9K"); /* 3000 bytes a second */
	SHOWN("web", FREED, "3.9K");
	SHOWN("web", NET, "-1000B");
	SHOWN("cache", NET, "0");
	SHOWN("db", ALLOC, "≥1.5K");
	/* a difference of parts is neither more nor less */
	SHOWN("db", NET, "·");
	SHOWN("odd", ALLOC, "·");
	SHOWN("plain", ALLOC, "-");
	SHOWN("plain", NET, "-");
	SHOWN("kworker", ALLOC, "-");
	assert_int_equal(table->columns[fixture_column(table, COLUMN_NET)].unit, UNIT_BYTES_PER_S);
	assert_string_equal(table->columns[fixture_column(table, COLUMN_NET)].name,
			    "net_allocated_bytes_per_s");
	table = fixture_table(session, TAB_HEAP, WINDOW_MODE_INTERVAL);
	SHOWN("web", ALLOC, "5.9K");
	SHOWN("web", NET, "-2.0K");
	session_release(session);
}

static void test_coverage(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct table *table = fixture_table(session, TAB_HEAP, WINDOW_MODE_RATE);

	(void)state;
	SHOWN("web", PROCS, "1");
	SHOWN("web", SEEN, "2");
	SHOWN("db", PROCS, "1");
	SHOWN("db", SEEN, "1");
	SHOWN("odd", PROCS, "·");
	SHOWN("odd", SEEN, "·");
	SHOWN("plain", PROCS, "-");
	SHOWN("plain", SEEN, "-");
	SHOWN("web", LAYOUT, "dwarf");
	SHOWN("cache", LAYOUT, "known-build");
	SHOWN("plain", LAYOUT, "-");
	SHOWN("odd", LAYOUT, "·");
	session_release(session);
}

/* Present values in every mode: LIVE of processes that were read whole, TOTAL of living threads. */
static void test_present_values(void **state)
{
	struct session *session = fixture_two_rounds(fill);

	(void)state;
	for (int mode = 0; mode < WINDOW_MODE_COUNT; mode++) {
		struct table *table = fixture_table(session, TAB_HEAP, (enum window_mode)mode);

		assert_true(fixture_cell(table, "web", COLUMN_LIVE)->value.real == 1506000 - 308000);
		assert_true(fixture_cell(table, "cache", COLUMN_LIVE)->value.real == -10000);
		SHOWN("cache", LIVE, "-9.8K");
		SHOWN("db", LIVE, "·");
		SHOWN("odd", LIVE, "·");
		SHOWN("plain", LIVE, "-");
		assert_int_equal(fixture_cell(table, "web", COLUMN_ALLOC_TOTAL)->value.integer, 1506000);
		assert_int_equal(table->columns[fixture_column(table, COLUMN_ALLOC_TOTAL)].unit, UNIT_BYTES);
		SHOWN("db", ALLOC_TOTAL, "≥11.7K");
	}
	session_release(session);
}

/* A part of a process has no heap of its own: by thread name, and by thread. */
static void test_parts_of_processes(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct table *table;
	struct view view = fixture_view(TAB_HEAP, WINDOW_MODE_RATE, AXIS_THREAD);

	(void)state;
	table = fixture_table_of(session, &view);
	SHOWN("pool", LIVE, "-"); /* of two processes, in part */
	SHOWN("pool", ALLOC, "≥1000B");
	SHOWN("pool", PROCS, "≥1");
	SHOWN("cache", LIVE, "-9.8K");
	SHOWN("cache", LAYOUT, "known-build");
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	SHOWN("web", LIVE, "-");
	SHOWN("web", ALLOC, "2.0K");
	SHOWN("cache", LIVE, "-9.8K"); /* all of its process */
	session_release(session);
}

/* Rows of several processes. */
static void fill_pair(struct snapshot *snapshot, int round)
{
	fill(snapshot, round);
	for (size_t i = 0; i < 3; i++)
		snapshot->triple[i] = snapshot->triple[0];
}

static void test_several_processes(void **state)
{
	struct session *session = fixture_two_rounds(fill_pair);
	struct table *table = fixture_table(session, TAB_HEAP, WINDOW_MODE_RATE);

	(void)state;
	SHOWN("web", PROCS, "2");
	SHOWN("web", SEEN, "3");
	SHOWN("web", LAYOUT, "dwarf*");
	assert_true(fixture_cell(table, "web", COLUMN_LIVE)->value.real == 1506000 - 308000 - 10000);
	session_release(session);
}

/* A counter that is less than before is unknown for that interval. */
static void fill_backwards(struct snapshot *snapshot, int round)
{
	add_thread(snapshot, 10, 10, "web", "web", round == 0 ? 5000 : 100, 0);
}

static void test_backwards(void **state)
{
	struct session *session = fixture_two_rounds(fill_backwards);
	struct table *table = fixture_table(session, TAB_HEAP, WINDOW_MODE_RATE);

	(void)state;
	assert_int_equal(fixture_cell(table, "web", COLUMN_ALLOC)->reason, REASON_WENT_BACKWARDS);
	assert_int_equal(fixture_cell(table, "web", COLUMN_NET)->reason, REASON_WENT_BACKWARDS);
	SHOWN("web", ALLOC, "·");
	session_release(session);
}

/* A process being resolved shows it, and its first reading is no rate. */
static void fill_resolving(struct snapshot *snapshot, int round)
{
	size_t thread = add_thread(snapshot, 10, 10, "web", "web", 5000, 0);

	if (round == 0)
		miss(snapshot, thread, REASON_BEING_RESOLVED);
}

static void test_resolving(void **state)
{
	struct session *session = session_create();
	struct snapshot *snapshot = fixture_snapshot(100);
	struct table *table;

	(void)state;
	fill_resolving(snapshot, 0);
	session_add_round(session, snapshot);
	table = fixture_table(session, TAB_HEAP, WINDOW_MODE_TOTAL);
	SHOWN("web", ALLOC, "…");
	SHOWN("web", SEEN, "…");
	snapshot = fixture_snapshot(102);
	fill_resolving(snapshot, 1);
	session_add_round(session, snapshot);
	table = fixture_table(session, TAB_HEAP, WINDOW_MODE_RATE);
	SHOWN("web", ALLOC, "…");
	SHOWN("web", SEEN, "1");
	SHOWN("web", ALLOC_TOTAL, "4.9K");
	session_release(session);
}

static bool has_row(const struct table *table, const char *label)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].label_length == strlen(label) &&
		    memcmp(table->rows[i].label, label, strlen(label)) == 0)
			return true;
	}
	return false;
}

/* Rows that have jemalloc alone: of those that may have it only the number is told. */
static void test_jemalloc_only(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct table *table;
	struct snapshot *snapshot;
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	view_set_tab(&view, TAB_HEAP);
	view.jemalloc_only = true;
	table = fixture_table_of(session, &view);
	assert_true(has_row(table, "web") && has_row(table, "cache") && has_row(table, "db"));
	/* it could not be read, so there is something */
	assert_true(has_row(table, "odd"));
	assert_false(has_row(table, "plain") || has_row(table, "kworker"));
	assert_false(has_row(table, "other") || has_row(table, "third"));
	assert_int_equal(table->row_count, 4);
	assert_int_equal(table->row_total, 4);
	assert_int_equal(table->jemalloc_unknown, 2);
	assert_int_equal(table->jemalloc_resolving, 0);
	/* what is gone had it, if there was a number */
	snapshot = fixture_snapshot(104);
	set_heap(snapshot);
	add_thread(snapshot, 20, 20, "cache", "cache", 70000, 80000);
	miss(snapshot, add_thread(snapshot, 90, 90, "late", "late", 0, 0), REASON_BEING_RESOLVED);
	session_add_round(session, snapshot);
	table = fixture_table_of(session, &view);
	assert_true(has_row(table, "cache") && has_row(table, "web"));
	assert_false(has_row(table, "plain") || has_row(table, "late"));
	assert_int_equal(table->jemalloc_resolving, 1);
	session_release(session);
}

static void test_explain(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct view view = fixture_view(TAB_HEAP, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	fixture_expect_told(session, &view, "cache", COLUMN_LAYOUT,
			    "process 20: jemalloc 5.2.1, known-build");
	fixture_expect_told(session, &view, "web", COLUMN_LIVE, "whole processes");
	fixture_expect_told(session, &view, "web", COLUMN_LIVE, "from jemalloc (thread_deallocated)");
	fixture_expect_told(session, &view, "db", COLUMN_SEEN, "1 unavailable: would need a stop");
	fixture_expect_told(session, &view, "web", COLUMN_NET, "= allocated_bytes - deallocated_bytes");
	fixture_expect_told(session, &view, "web", COLUMN_ALLOC, "process 10: jemalloc 5.3.0, dwarf");
	session_release(session);
}

static void expect_row(const struct table *table, const char *label, uint64_t read, uint64_t missed,
		       const char *why, const char *remedy)
{
	const struct table_row *row = fixture_row(table, label);

	assert_int_equal(row->cells[0].value.integer, read);
	assert_int_equal(row->cells[1].value.integer, missed);
	assert_string_equal(row->cells[2].text, why);
	assert_string_equal(row->cells[3].text, remedy);
	assert_int_not_equal(row->tgid, 0);
}

static void test_evidence(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct table *table = evidence_table(session_now(session));
	struct snapshot *snapshot;
	struct buffer lines = {0};

	(void)state;
	/* without jemalloc there was nothing to read */
	assert_int_equal(fixture_row(table, "jemalloc")->cells[0].value.integer, 4);
	assert_int_equal(fixture_row(table, "jemalloc")->cells[1].value.integer, 4);
	expect_row(table, "web 10", 2, 0, "jemalloc 5.3.0, by debug data", "-");
	expect_row(table, "cache 20", 1, 0, "jemalloc 5.2.1, known build, no debug data", "-");
	expect_row(table, "db 30", 1, 1, "jemalloc, by debug data; would need a stop", "--allow-stop");
	expect_row(table, "odd 40", 0, 1,
		   "dwarf-parse-failure: no debug data, and no known build; tried its own DWARF",
		   "install its debug symbols (-dbgsym, -debuginfo)");
	expect_row(table, "2 processes", 0, 2, "not permitted", "run as root, or give ctop CAP_SYS_PTRACE");
	table_release(table);
	session_release(session);

	snapshot = fixture_snapshot(100);
	snapshot->probe_summary = (struct probe_summary){.present = true,
							 .tgids_walked = 9,
							 .jemalloc_detected = 3,
							 .probed_ok = 4,
							 .failed = 4,
							 .dominant_failure = "not-permitted",
							 .privilege_dominant = true,
							 .stopped_known = true};
	snapshot_finish(snapshot);
	evidence_append_lines(snapshot, 0, 0, &lines);
	assert_non_null(strstr(lines.data, "PROBE  9 processes, 3 with jemalloc, 4 threads read, 0 stopped, "
					   "4 failed, mostly not-permitted\n"));
	assert_non_null(strstr(lines.data, "CAP_SYS_PTRACE"));
	buffer_release(&lines);
	snapshot_release(snapshot);
}

static void expect_hint(struct feature_result feature, bool root, const char *hint)
{
	struct buffer text = {0};

	evidence_append_privilege_hint(&feature, root, &text);
	assert_string_equal(text.data, hint);
	buffer_release(&text);
}

/* Nobody is told to get what he has. */
static void test_privilege_hint(void **state)
{
	const struct feature_result unknown = {0};
	const struct feature_result on = {.state = FEATURE_STATE_ON, .reason = REASON_READ};
	const struct feature_result others = {FEATURE_STATE_PARTIAL, REASON_NOT_PERMITTED, "only ours",
					      "setcap x"};
	const struct feature_result yama = {FEATURE_STATE_OFF, REASON_NOT_PERMITTED, "yama", "setcap x"};
	const struct feature_result hopeless = {FEATURE_STATE_PARTIAL, REASON_NOT_PERMITTED,
						"only processes of our user namespace", NULL};

	(void)state;
	expect_hint(unknown, false,
		    "run as root, or give ctop CAP_SYS_PTRACE, or set kernel.yama.ptrace_scope to 0");
	expect_hint(on, true, "no privilege is missing; a security module or a user namespace forbids it");
	expect_hint(others, false, "run as root, or setcap x");
	expect_hint(others, true, "start ctop with CAP_SYS_PTRACE, which this root lacks");
	expect_hint(yama, false, "run as root, or setcap x, or set kernel.yama.ptrace_scope to 0");
	expect_hint(hopeless, true, "only processes of our user namespace");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_present_values),
		cmocka_unit_test(test_parts_of_processes),
		cmocka_unit_test(test_several_processes),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_jemalloc_only),
		cmocka_unit_test(test_resolving),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_privilege_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
