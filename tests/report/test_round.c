/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of `ctop -b` for a round, in each of its formats. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/screen_table.h"
#include "session/session.h"
#include "tests/cmocka_include.h"

static size_t add_thread(struct snapshot *snapshot, uint32_t tid, const char *name)
{
	size_t thread = snapshot_add_thread(snapshot, tid, tid);
	uint32_t id = string_pool_intern(&snapshot->strings, name, strlen(name));
	uint32_t root = string_pool_intern(&snapshot->strings, "/", 1);

	snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){id, id, root});
	snapshot->start_time[thread] = 100;
	return thread;
}

static uint64_t hidden_threads; /* hidden threads that the snapshots report */

/* Whether snapshots say how long threads have been waiting. */
static bool knows_waits;

static struct session *make_session(void)
{
	struct session *session = session_create();

	for (uint64_t round = 0; round < 2; round++) {
		struct snapshot *snapshot = snapshot_create();
		size_t web = add_thread(snapshot, 10, "web"), odd;

		odd = add_thread(snapshot, 11, "a,\"b\"\x1b[1m\tcé");
		snapshot->provenance.present = true;
		for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++)
			snapshot->pressure_missing[i] = REASON_NOT_IN_KERNEL;
		snapshot->provenance.hostname = "made\x1b";
		snapshot->provenance.hidden_threads = hidden_threads;
		snapshot->provenance.procs_running = (struct optional_u64){.present = true, .value = 1234};
		snapshot->provenance.boottime_ns = (100 + 2 * round) * 1000000000;
		snapshot->captured_at_unix_ns = 1700000000000000000 + round * 2000000000;
		snapshot_column(snapshot, METRIC_RUN_TIME_NS)[web] = round * 500000000;
		snapshot_column(snapshot, METRIC_READ_BYTES)[web] = round * 8192;
		snapshot_column(snapshot, METRIC_NICE)[web] = (uint64_t)-5;
		snapshot_column(snapshot, METRIC_STATE)[web] = 'S';
		snapshot_column(snapshot, METRIC_STATE)[odd] = 'R';
		snapshot_source_reasons(snapshot, SOURCE_IO)[odd] = REASON_NOT_PERMITTED;
		if (round == 0)
			add_thread(snapshot, 12, "leaves");
		if (knows_waits) {
			snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity,
								    sizeof(*snapshot->waiting_ns));
			snapshot->waiting_ns[odd] = round * 500000000;
		}
		session_add_round(session, snapshot);
	}
	return session;
}

static const enum column columns[] = {COLUMN_THR, COLUMN_CPU, COLUMN_READ, COLUMN_NICE, COLUMN_STATE};

static struct view view;

static int start_view(void **state)
{
	(void)state;
	view_initialise(&view);
	view.columns = columns;
	view.column_count = sizeof(columns) / sizeof(columns[0]);
	view.hide_gone = true;
	return 0;
}

/* The two rounds' output, that of the first not marked as first again. */
static void assert_output(enum report_format format, bool first, const char *expected)
{
	struct session *session = make_session();
	struct buffer output = {0};
	struct report report = {
		.format = format, .out = &output, .snapshot = session_now(session), .ascii = true};
	struct table *table;

	report.table_count = first ? 0 : 1;
	view.naming = screen_table_naming(format);
	table = session_table(session, &view);
	screen_table_print(&report,
			   &(struct screen_subject){.previous = session_previous(session),
						    .interval_ns = session_interval_ns(session)},
			   &view, table);
	table_release(table);
	assert_string_equal(output.data, expected);
	buffer_release(&output);
	session_release(session);
}

static void test_text(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	assert_output(
		REPORT_FORMAT_TEXT, true,
		"made?  up 102s  runnable 1,234\n22:13:22  2 threads, 2 groups by process  rate over 2.0s\n"
		" PROCESS        THR  CPU%  READ/s    NICE STATE\n"
		" web              1  25.0    4.0K      -5 S\n"
		" a,\"b\"?[1m?c?     1     0       ?       0 R\n");
	view.limit = 1;
	assert_output(REPORT_FORMAT_TEXT, false,
		      "\nmade?  up 102s  runnable 1,234\n"
		      "22:13:22  2 threads, 2 groups by process, of which 1 row left out (--limit)  rate "
		      "over 2.0s\n"
		      " PROCESS   THR  CPU%  READ/s    NICE STATE\n"
		      " web         1  25.0    4.0K      -5 S\n");
}

/* Threads that the kernel hides from BPF have no row. */
static void test_hidden(void **state)
{
	(void)state;
	hidden_threads = 1013;
	view.limit = 1;
	assert_output(
		REPORT_FORMAT_TEXT, true,
		"made?  up 102s  runnable 1,234\n"
		"22:13:22  2 threads (at least 1,013 more hidden from BPF), 2 groups by process, of which 1 "
		"row left out (--limit)  rate over 2.0s\n"
		" PROCESS   THR  CPU%  READ/s    NICE STATE\n"
		" web         1  25.0    4.0K      -5 S\n");
	hidden_threads = 0;
}

/* Rows that did nothing are one line where the view folds them; they count as before. */
static void test_idle(void **state)
{
	(void)state;
	view.fold_idle = true;
	assert_output(
		REPORT_FORMAT_TEXT, true,
		"made?  up 102s  runnable 1,234\n22:13:22  2 threads, 2 groups by process  rate over 2.0s\n"
		" PROCESS   THR  CPU%  READ/s    NICE STATE\n"
		" web         1  25.0    4.0K      -5 S\n"
		" 1 idle group (--all prints it)\n");
}

static void test_separated(void **state)
{
	(void)state;
	assert_output(REPORT_FORMAT_TSV, true,
		      "time_unix_ns\tgroup\tthreads\tcpu_percent\tread_bytes_per_s\tnice\tstate\tat_least\n"
		      "1700000002000000000\tweb\t1\t25.000\t4096.000\t-5\tS\t\n"
		      "1700000002000000000\ta,\"b\"\\x1b[1m\\tcé\t1\t0\t\t0\tR\t\n");
	view.mode = WINDOW_MODE_INTERVAL;
	assert_output(REPORT_FORMAT_CSV, true,
		      "time_unix_ns,group,threads,cpu_ns,read_bytes,nice,state,at_least\n"
		      "1700000002000000000,web,1,500000000,8192,-5,S,\n"
		      "1700000002000000000,\"a,\"\"b\"\"\\x1b[1m\tcé\",1,0,,0,R,\n");
	view.limit = 1;
	assert_output(REPORT_FORMAT_CSV, false, "1700000002000000000,web,1,500000000,8192,-5,S,\n");
}

static void test_threads(void **state)
{
	(void)state;
	view.limit = 1;
	view.level = VIEW_LEVEL_THREADS;
	assert_output(REPORT_FORMAT_TSV, true,
		      "time_unix_ns\ttid\ttgid\tthread\tthreads\tcpu_percent\tread_bytes_per_"
		      "s\tnice\tstate\tat_least\n"
		      "1700000002000000000\t10\t10\tweb\t1\t25.000\t4096.000\t-5\tS\t\n");
	view.column_count = 2;
	assert_output(REPORT_FORMAT_JSON, true,
		      "{\"time_unix_ns\":1700000002000000000,\"interval_ns\":2000000000,\"mode\":\"rate\","
		      "\"rows\":[{\"tid\":10,\"tgid\":10,\"thread\":\"web\","
		      "\"cpu_percent\":{\"value\":25.000,\"unit\":\"percent\",\"state\":\"ok\"}}]}\n");
	assert_output(REPORT_FORMAT_TEXT, true,
		      "made?  up 102s  runnable 1,234\n"
		      "22:13:22  2 threads, of which 1 row left out (--limit)  rate over 2.0s\n"
		      " TID     THREAD   THR  CPU%\n"
		      " 10      web        1  25.0\n");
	view.level = VIEW_LEVEL_GROUPS;
	view.grouping.axis = AXIS_ALL;
	assert_output(
		REPORT_FORMAT_TEXT, true,
		"made?  up 102s  runnable 1,234\n"
		"22:13:22  2 threads, 2 groups by all, of which 1 row left out (--limit)  rate over 2.0s\n"
		" ALL           THR  CPU%\n"
		" /  web  web     1  25.0\n");
	view.column_count = ARRAY_COUNT(columns);
	assert_output(REPORT_FORMAT_CSV, true,
		      "time_unix_ns,cgroup,process,thread,threads,cpu_percent,read_bytes_per_s,nice,state,at_"
		      "least\n"
		      "1700000002000000000,/,web,web,1,25.000,4096.000,-5,S,\n");
}

/* Columns whose sums lack a thread, as one that may not be read or has ended, are named in the last field. */
static void test_bounds(void **state)
{
	static const enum column sums[] = {COLUMN_CPU, COLUMN_READ};

	(void)state;
	view.grouping.axis = AXIS_CGROUP;
	view.columns = sums;
	view.column_count = sizeof(sums) / sizeof(sums[0]);
	assert_output(REPORT_FORMAT_TSV, true,
		      "time_unix_ns\tgroup\tcpu_percent\tread_bytes_per_s\tat_least\n"
		      "1700000002000000000\t/\t25.000\t4096.000\tcpu_percent read_bytes_per_s\n");
	assert_output(REPORT_FORMAT_CSV, false,
		      "1700000002000000000,/,25.000,4096.000,cpu_percent read_bytes_per_s\n");
}

/* With waits for a CPU among the numbers, the report says how they are counted. */
static void test_waits(void **state)
{
	static const enum column with_waits[] = {COLUMN_RUNQ};

	(void)state;
	view.limit = 1;
	view.columns = with_waits;
	view.sort = COLUMN_RUNQ;
	view.column_count = 1;
	assert_output(REPORT_FORMAT_TEXT, true,
		      "made?  up 102s  runnable 1,234\n22:13:22  2 threads, 2 groups by process, of which 1 "
		      "row left out (--limit)  rate over 2.0s  finished waits only\n"
		      " PROCESS       RUNQ%\n"
		      " a,\"b\"?[1m?c?      0\n");
	assert_output(REPORT_FORMAT_CSV, true,
		      "time_unix_ns,group,run_queue_percent,waits,at_least\n"
		      "1700000002000000000,\"a,\"\"b\"\"\\x1b[1m\tcé\",0,ended,\n");
	knows_waits = true;
	assert_output(REPORT_FORMAT_TEXT, true,
		      "made?  up 102s  runnable 1,234\n22:13:22  2 threads, 2 groups by process, of which 1 "
		      "row left out (--limit)  rate over 2.0s  includes unfinished waits\n"
		      " PROCESS       RUNQ%\n"
		      " a,\"b\"?[1m?c?   25.0\n");
	assert_output(REPORT_FORMAT_TSV, true,
		      "time_unix_ns\tgroup\trun_queue_percent\twaits\tat_least\n"
		      "1700000002000000000\ta,\"b\"\\x1b[1m\\tcé\t25.000\tunder-way\t\n");
	assert_output(
		REPORT_FORMAT_JSON, true,
		"{\"time_unix_ns\":1700000002000000000,\"interval_ns\":2000000000,\"mode\":\"rate\","
		"\"waits\":\"under-way\",\"rows\":[{\"group\":\"a,\\\"b\\\"\\u001b[1m\\tcé\",\"threads\":1,"
		"\"run_queue_percent\":{\"value\":25.000,\"unit\":\"percent\",\"state\":\"ok\"}}]}\n");
	knows_waits = false;
}

static void test_json(void **state)
{
	(void)state;
	assert_output(
		REPORT_FORMAT_JSON, true,
		"{\"time_unix_ns\":1700000002000000000,\"interval_ns\":2000000000,\"mode\":\"rate\",\"rows\":"
		"["
		"{\"group\":\"web\",\"threads\":1,"
		"\"cpu_percent\":{\"value\":25.000,\"unit\":\"percent\",\"state\":\"ok\"},"
		"\"read_bytes_per_s\":{\"value\":4096.000,\"unit\":\"bytes_per_s\",\"state\":\"ok\"},"
		"\"nice\":{\"value\":[-5,-5],\"unit\":\"\",\"state\":\"ok\"},"
		"\"state\":{\"value\":\"S\",\"unit\":\"\",\"state\":\"ok\"}},"
		"{\"group\":\"a,\\\"b\\\"\\u001b[1m\\tcé\",\"threads\":1,"
		"\"cpu_percent\":{\"value\":0,\"unit\":\"percent\",\"state\":\"ok\"},"
		"\"read_bytes_per_s\":{\"value\":null,\"unit\":\"bytes_per_s\",\"state\":\"unavailable\","
		"\"reason\":\"not-permitted\"},"
		"\"nice\":{\"value\":[0,0],\"unit\":\"\",\"state\":\"ok\"},"
		"\"state\":{\"value\":\"R\",\"unit\":\"\",\"state\":\"ok\"}}]}\n");
}

#define ROUND_TEST(test) cmocka_unit_test_setup(test, start_view)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROUND_TEST(test_text),      ROUND_TEST(test_hidden),  ROUND_TEST(test_idle),
		ROUND_TEST(test_separated), ROUND_TEST(test_threads), ROUND_TEST(test_bounds),
		ROUND_TEST(test_waits),     ROUND_TEST(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
