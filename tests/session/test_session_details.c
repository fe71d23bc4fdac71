/* SPDX-License-Identifier: GPL-2.0-only */
/* The details of a row or a number: all metrics, explanations, evidence. */
#include "session_fixture.h"
#include "snapshot/ended_set.h"
#include "table/evidence.h"

#include <string.h>

static struct session *make_session(void)
{
	struct session *session = session_create();

	for (int round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);
		size_t a = fixture_thread(snapshot, 10, 10, "web", "web", 1);
		size_t b = fixture_thread(snapshot, 10, 11, "web", "pool", 1);
		size_t c = round < 2 ? fixture_thread(snapshot, 10, 12, "web", "pool", 1) : a;
		reason_id *of_io = snapshot_source_reasons(snapshot, SOURCE_IO);

		fixture_set(snapshot, a, METRIC_RUN_TIME_NS, MS(1000 + 100 * round));
		fixture_set(snapshot, b, METRIC_RUN_TIME_NS, MS(5000 + 300 * round));
		if (c != a)
			fixture_set(snapshot, c, METRIC_RUN_TIME_NS, MS(10 + 20 * round));
		of_io[b] = REASON_NOT_PERMITTED;
		fixture_set_text(snapshot, a, METRIC_POLICY, "SCHED_OTHER");
		fixture_set_text(snapshot, b, METRIC_POLICY, "SCHED_BATCH");
		snapshot->default_reason[SOURCE_SCHEDSTATS] = REASON_NOT_IN_KERNEL;
		/* what came with messages that cannot be had is helped by what would give these */
		snapshot->default_reason[SOURCE_TASKSTATS] = REASON_NOT_PERMITTED;
		snapshot->default_reason[SOURCE_DELAYS] = REASON_NOT_PERMITTED;
		snapshot->provenance.features[FEATURE_TASKSTATS] = (struct feature_result){
			FEATURE_STATE_OFF, REASON_NOT_PERMITTED, "no", "setcap"};
		snapshot->provenance.features[FEATURE_DELAYS] = (struct feature_result){
			FEATURE_STATE_OFF, REASON_SWITCHED_OFF, "off", "sysctl"};
		snapshot->provenance.duration_ns = MS(20);
		snapshot->provenance.ended = 3;
		snapshot->provenance.hidden_threads = 13;
		snapshot->provenance.features[FEATURE_OTHERS_IO] = (struct feature_result){
			FEATURE_STATE_OFF, REASON_NOT_PERMITTED, "no", "run as root"};
		session_add_round(session, snapshot);
	}
	return session;
}

static const struct cell *metric_cell(const struct table *table, const char *label, size_t column)
{
	return &fixture_row(table, label)->cells[column];
}

static void test_metric_table(void **state)
{
	struct session *session = make_session();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	table = session_metric_table(session, &view, "web", 3);
	assert_non_null(table);
	assert_int_equal(table->row_count, METRIC_COUNT + (int)DERIVED_COUNT);
	assert_int_equal(table->column_count, 5);
	assert_int_equal(metric_cell(table, "run_time_ns", 0)->value.integer, MS(1200 + 5600));
	assert_int_equal(metric_cell(table, "run_time_ns", 1)->value.integer, MS(400));
	assert_int_equal(metric_cell(table, "run_time_ns", 2)->unit, UNIT_NS_PER_S);
	assert_float_equal((float)metric_cell(table, "run_time_ns", 2)->value.real, 2e8F, 1.0F);
	assert_int_equal(metric_cell(table, "run_time_ns", 3)->value.integer,
			 MS(800 + 20)); /* and the one ended */
	assert_string_equal(metric_cell(table, "run_time_ns", 4)->text, "schedstat");
	assert_int_equal(metric_cell(table, "nr_wakeups", 0)->state, CELL_UNAVAILABLE);
	assert_string_equal(metric_cell(table, "nr_wakeups", 4)->text, "schedstats: not in this kernel");
	assert_int_equal(metric_cell(table, "policy", 1)->state, CELL_EMPTY);
	assert_string_equal(metric_cell(table, "policy", 0)->text, "BATCH*");
	assert_true(metric_cell(table, "read_bytes", 0)->partial);
	table_release(table);
	assert_null(session_metric_table(session, &view, "nobody", 6));
	view.level = VIEW_LEVEL_THREADS;
	table = session_metric_table(session, &view, "11:100", 6);
	assert_int_equal(metric_cell(table, "run_time_ns", 1)->value.integer, MS(300));
	assert_int_equal(metric_cell(table, "thread_count", 0)->value.integer, 1);
	table_release(table);
	assert_null(session_metric_table(session, &view, "11:99", 5));
	session_release(session);
}

static void assert_explained(struct session *session, const struct view *view, enum column column,
			     const char *const parts[])
{
	enum column columns[COLUMN_TOTAL];
	size_t count = view_columns(view, columns), place = 0;
	struct buffer lines = {0};

	while (place < count && columns[place] != column)
		place++;
	assert_true(place < count);
	session_explain(session, view, "web", 3, place, &lines);
	for (size_t i = 0; parts[i] != NULL; i++) {
		if (strstr(lines.data, parts[i]) == NULL)
			fail_msg("'%s' is not in:\n%s", parts[i], lines.data);
	}
	assert_int_equal(lines.data[lines.length - 1], '\n');
	buffer_release(&lines);
}

static void test_explain(void **state)
{
	static const char *const cpu[] = {"CPU%: Time on a CPU", "Value: at least 20.000 percent",
					  "run_time_ns: ",       "/proc/PID/task/TID/schedstat (1)",
					  "2 of 2 threads",      "read at",
					  "compared with",       NULL};
	static const char *const read[] = {"READ/s: ", "1 of 2 threads", "1 unavailable: not permitted",
					   "at least 0.000 bytes per s", NULL};
	static const char *const memory[] = {"= freepages_delay_total_ns + ",
					     "max(swapin_delay_total_ns, thrashing_delay_total_ns)",
					     "A wait is charged in full when it ends", NULL};
	static const char *const policy[] = {"1 OTHER", "1 BATCH", "2 of 2 threads", NULL};
	static const char *const base[] = {"Includes the work of 1 thread that ended since the base",
					   "Value: at least 820,000,000 ns", NULL};
	static const char *const threads[] = {"Value: 2 threads\n", NULL};
	static const char *const resident[] = {"RSS: Resident memory", "smaps_rollup of 0 processes", NULL};
	struct session *session = make_session();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct buffer lines = {0};

	(void)state;
	assert_explained(session, &view, COLUMN_CPU, cpu);
	assert_explained(session, &view, COLUMN_THR, threads);
	assert_explained(session, &view, COLUMN_READ, read);
	assert_explained(session, &view, COLUMN_MWAIT, memory);
	view.tab = TAB_SCHED;
	assert_explained(session, &view, COLUMN_POLICY, policy);
	view.tab = TAB_MEMORY;
	assert_explained(session, &view, COLUMN_RSS, resident);
	view.tab = TAB_OVERVIEW;
	view.mode = WINDOW_MODE_BASE;
	assert_explained(session, &view, COLUMN_CPU, base);
	session_explain(session, &view, "nobody", 6, 0, &lines);
	assert_non_null(strstr(lines.data, "gone"));
	buffer_release(&lines);
	/* every column of every tab explains itself */
	for (int tab = 0; tab < TAB_COUNT; tab++) {
		enum column columns[COLUMN_TOTAL];

		view.tab = (enum tab)tab;
		for (size_t i = 0; i < view_columns(&view, columns); i++) {
			session_explain(session, &view, "web", 3, i, &lines);
			assert_true(lines.length > 20);
			buffer_release(&lines);
		}
	}
	session_release(session);
}

/* A metric that is switched off says how to switch it on. */
static void test_explain_says_what_helps(void **state)
{
	static const char *const wakeups[] = {"Unavailable: not in this kernel.\n",
					      "What would help: sysctl kernel.sched_schedstats=1\n", NULL};
	struct session *session = make_session();
	struct snapshot *now = (struct snapshot *)(uintptr_t)session_now(session);
	struct view view = fixture_view(TAB_WAKEUPS, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	now->provenance.features[sources[SOURCE_SCHEDSTATS].needs] = (struct feature_result){
		.state = FEATURE_STATE_OFF,
		.reason = REASON_SWITCHED_OFF,
		.remedy = "sysctl kernel.sched_schedstats=1",
	};
	assert_explained(session, &view, COLUMN_WAKE, wakeups);
	session_release(session);
}

static void test_evidence(void **state)
{
	struct session *session = make_session();
	struct table *table = evidence_table(session_now(session));
	struct buffer lines = {0};
	const struct table_row *row;

	(void)state;
	row = fixture_row(table, "io");
	assert_int_equal(row->cells[0].value.integer, 1);
	assert_int_equal(row->cells[1].value.integer, 1);
	assert_string_equal(row->cells[2].text, "not permitted");
	assert_string_equal(row->cells[3].text, "run as root");
	row = fixture_row(table, "  schedstats");
	assert_int_equal(row->cells[1].value.integer, 2);
	assert_string_equal(row->cells[2].text, "not in this kernel");
	assert_string_equal(row->cells[3].text, "-");
	assert_string_equal(fixture_row(table, "taskstats")->cells[3].text, "setcap");
	assert_string_equal(fixture_row(table, "  delays")->cells[3].text, "setcap; sysctl");
	assert_int_equal(fixture_row(table, "stat")->cells[2].state, CELL_EMPTY);
	assert_string_equal(fixture_row(table, "I/O of other users' processes")->cells[0].text, "off");
	assert_int_equal(table->row_count, SOURCE_COUNT + (int)FEATURE_COUNT);
	table_release(table);
	evidence_append_lines(session_now(session), session_interval_ns(session),
			      session_ended_count(session), &lines);
	assert_non_null(strstr(
		lines.data,
		"2 threads seen, at least 13 hidden from BPF, 3 ended meanwhile, read in 20 ms (1.0% of"));
	assert_non_null(strstr(lines.data, "1 thread ended since the base"));
	buffer_release(&lines);
	session_release(session);
}

/* The page of sources says when data of ended threads is missing. */
static void test_lower_bound(void **state)
{
	struct snapshot *snapshot = fixture_snapshot(100);
	struct buffer lines = {0};

	(void)state;
	snapshot->ended = ended_set_create();
	evidence_append_lines(snapshot, 0, 0, &lines);
	assert_null(strstr(lines.data, "ENDED"));
	buffer_clear(&lines);
	snapshot->ended->lower_bound = true;
	evidence_append_lines(snapshot, 0, 0, &lines);
	assert_non_null(strstr(lines.data, "ENDED  what ended threads did is a lower bound: without their "
					   "last moments\n"));
	buffer_clear(&lines);
	snapshot->ended->lost = 1200;
	evidence_append_lines(snapshot, 0, 0, &lines);
	assert_non_null(strstr(lines.data, "; 1,200 ended threads not accounted for\n"));
	buffer_clear(&lines);
	snapshot->ended->lower_bound = false;
	snapshot->ended->lost = 1;
	snapshot->ended->unread = true;
	evidence_append_lines(snapshot, 0, 0, &lines);
	assert_non_null(strstr(lines.data, "ENDED  1 ended thread not accounted for; some could not "
					   "be read, and count later\n"));
	buffer_release(&lines);
	snapshot_release(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metric_table), cmocka_unit_test(test_lower_bound),
		cmocka_unit_test(test_explain),      cmocka_unit_test(test_explain_says_what_helps),
		cmocka_unit_test(test_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
