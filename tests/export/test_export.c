/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds of a session as series. */
#include "session_fixture.h"

#include "base/clock.h"
#include "cmd/export/export.h"
#include "snapshot/ended_set.h"
#include "tests/diff/delay_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exporter {
	struct export *export;
	struct session *session;
	struct export_options options;
};

static void start(struct exporter *exporter, const char *by, const char *columns, size_t limit)
{
	struct error error;

	*exporter = (struct exporter){.session = session_create()};
	view_initialise(&exporter->options.view);
	exporter->options.limit = limit;
	exporter->options.keep_ns = EXPORT_KEEP_DEFAULT_NS;
	assert_int_equal(export_parse_axes(by, &exporter->options, &error), 0);
	assert_int_equal(export_family_choose(columns, false, &exporter->options.families, &error), 0);
	exporter->export = export_create(&exporter->options);
}

static void end(struct exporter *exporter)
{
	export_release(exporter->export);
	session_release(exporter->session);
	view_release(&exporter->options.view);
}

/* Takes over the snapshot, and returns whether it added something. */
static bool take(struct exporter *exporter, struct snapshot *snapshot)
{
	struct export_round *round;
	bool added;

	snapshot_finish(snapshot);
	session_add_round(exporter->session, snapshot);
	round = export_round_create(exporter->export, exporter->session);
	added = round != NULL;
	if (added)
		export_add(exporter->export, round);
	export_round_release(round);
	return added;
}

static char *page(const struct exporter *exporter)
{
	const struct export_health health = {.rounds = 3, .serves = true, .has_process = true};
	struct buffer buffer = {0};
	struct exposition exposition = {.buffer = &buffer, .format = EXPOSITION_OPENMETRICS};

	export_write_groups(exporter->export, &exposition);
	export_write_health(exporter->export, &health, &exposition);
	exposition_end(&exposition);
	exposition_release(&exposition);
	return buffer_steal(&buffer);
}

static void assert_has(const struct exporter *exporter, const char *line)
{
	char *text = page(exporter), *whole = memory_format("\n%s\n", line);

	if (strstr(text, whole) == NULL)
		fail_msg("no line %s in\n%s", line, text);
	free(whole);
	free(text);
}

static void assert_lacks(const struct exporter *exporter, const char *words)
{
	char *text = page(exporter);

	if (strstr(text, words) != NULL)
		fail_msg("%s in\n%s", words, text);
	free(text);
}

static void add(struct snapshot *snapshot, uint32_t id, const char *name, const char *cgroup, uint64_t run_ms)
{
	const size_t thread = fixture_thread(snapshot, id, id, name, name, 1);

	fixture_cgroup(snapshot, thread, cgroup);
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(run_ms));
}

/* A group keeps what its threads counted that ended, with their last moments, and what came and went. */
static void test_ends(void **state)
{
	struct exporter exporter;
	struct snapshot *snapshot;
	struct ended_group *ended;

	(void)state;
	start(&exporter, "process,cgroup", "CPU%,THR", 10);
	snapshot = fixture_snapshot(100);
	add(snapshot, 10, "worker-1", "/a", 1000);
	add(snapshot, 11, "worker-2", "/b", 5000);
	assert_false(take(&exporter, snapshot));
	assert_lacks(&exporter, "ctop_group");
	assert_has(&exporter, "ctop_rounds_total 3");

	snapshot = fixture_snapshot(105);
	add(snapshot, 10, "worker-1", "/a", 1250);
	add(snapshot, 11, "worker-2", "/b", 6000);
	assert_true(take(&exporter, snapshot));
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"process\",group=\"worker-{N}\"} 1.25");
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"cgroup\",group=\"/a\"} 0.25");
	assert_has(&exporter, "ctop_group_threads{axis=\"process\",group=\"worker-{N}\"} 2");

	/* worker-2 is gone after 0.5 s more, and another came and went; nobody else has such a name now, but
	 * the series stays the one of the pattern */
	snapshot = fixture_snapshot(110);
	add(snapshot, 10, "worker-1", "/a", 1250);
	snapshot->ended = ended_set_create();
	ended = ended_set_group(snapshot->ended,
				ended_set_triple(snapshot->ended, name_text_of("worker-3"),
						 name_text_of("worker-3"), name_text_of("/b")),
				false);
	ended->threads = ended->processes = 1;
	ended->amounts.of[0] = MS(125);
	{
		struct ended_thread *thread = ended_set_add_thread(
			snapshot->ended,
			ended_set_triple(snapshot->ended, name_text_of("worker-2"), name_text_of("worker-2"),
					 name_text_of("/b")),
			false);

		thread->tgid = thread->tid = 11;
		thread->start_time = 100;
		thread->amounts.of[0] = MS(6500);
	}
	assert_true(take(&exporter, snapshot));
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"process\",group=\"worker-{N}\"} 1.875");
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"cgroup\",group=\"/b\"} 1.625");
	assert_has(&exporter, "ctop_group_threads{axis=\"cgroup\",group=\"/b\"} 0");
	assert_has(&exporter, "ctop_groups{axis=\"cgroup\"} 1");
	end(&exporter);
}

/* Ended threads whose user is unknown count in the series (ended) of ctop itself. */
static void test_ended_users(void **state)
{
	struct exporter exporter;
	struct snapshot *snapshot;
	struct ended_group *ended;

	(void)state;
	start(&exporter, "user", "CPU%", 10);
	snapshot = fixture_snapshot(100);
	add(snapshot, 10, "worker-1", "/a", 1000);
	assert_false(take(&exporter, snapshot));
	snapshot = fixture_snapshot(105);
	add(snapshot, 10, "worker-1", "/a", 1250);
	snapshot->ended = ended_set_create();
	ended = ended_set_group(snapshot->ended,
				ended_set_triple(snapshot->ended, name_text_of("worker-3"),
						 name_text_of("worker-3"), name_text_of("/b")),
				false);
	ended->threads = ended->processes = 1;
	ended->amounts.of[0] = MS(125);
	assert_true(take(&exporter, snapshot));
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"user\",group=\"(ended)\"} 0.125");
	end(&exporter);
}

/* A round in which `api` waits while `backup` runs, for itself, for an idle CPU and for others. */
static struct snapshot *make_delays(double seconds, uint64_t backup_ms, size_t others)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);
	uint32_t api, backup;

	add(snapshot, 10, "api", "/a", 1000);
	delay_fixture_begin(snapshot);
	for (size_t i = 0; i < others; i++) {
		char other[16];

		snprintf(other, sizeof(other), "other%c", (char)('a' + i));
		(void)delay_fixture_names(snapshot, other, other);
	}
	backup = delay_fixture_names(snapshot, "backup", "tar");
	api = delay_fixture_names(snapshot, "api", "api");
	delay_fixture_add(snapshot, api, LATENCY_CAUSE_THREADS, backup, backup_ms, 1);
	delay_fixture_add(snapshot, api, LATENCY_CAUSE_THREADS, api, 250, 1);
	delay_fixture_add(snapshot, api, LATENCY_CAUSE_WAKEUP, 0, 125, 1);
	for (uint32_t i = 0; i < others; i++)
		delay_fixture_add(snapshot, api, LATENCY_CAUSE_THREADS, i, 500, 1);
	return snapshot;
}

/* The sum of the pairs' counters on the page. */
static double sum_of_delays(const struct exporter *exporter)
{
	static const char start[] = "\nctop_delayed_seconds_total{";
	char *text = page(exporter);
	double sum = 0;

	for (const char *at = strstr(text, start); at != NULL; at = strstr(at, start)) {
		at = strstr(at, "} ") + 2;
		sum += strtod(at, NULL);
	}
	free(text);
	return sum;
}

/* Pairs count on from round to round, and those without room are together. */
static void test_delays(void **state)
{
	struct exporter exporter;
	double sum;

	(void)state;
	start(&exporter, "process,user", "CPU%", 3);
	take(&exporter, make_delays(100, 1000, 0));
	assert_lacks(&exporter, "ctop_delayed");
	take(&exporter, make_delays(105, 1000, 0));
	take(&exporter, make_delays(110, 500, 2));
	assert_has(&exporter,
		   "ctop_delayed_seconds_total{axis=\"process\",victim=\"api\",culprit=\"backup\"} 1.5");
	assert_has(&exporter,
		   "ctop_delayed_seconds_total{axis=\"process\",victim=\"api\",culprit=\"api\"} 0.5");
	assert_has(&exporter,
		   "ctop_delayed_seconds_total{axis=\"process\",victim=\"api\",culprit=\"(wakeup)\"} 0.25");
	assert_has(&exporter,
		   "ctop_delayed_seconds_total{axis=\"process\",victim=\"(other)\",culprit=\"(other)\"} 1");
	assert_lacks(&exporter, "axis=\"user\",victim");
	sum = sum_of_delays(&exporter);
	assert_true(sum == 3.25);
	/* in half an hour others take the places; what was counted stays in the sum */
	for (int i = 1; i <= 60; i++) {
		const double before = sum;

		take(&exporter, make_delays(110 + 30 * i, 0, 4));
		sum = sum_of_delays(&exporter);
		assert_true(sum == before + 2.375);
	}
	assert_has(&exporter, "ctop_groups{axis=\"process\"} 1");
	{
		char *text = page(&exporter);

		assert_non_null(strstr(text, "victim=\"(retired)\",culprit=\"(retired)\",since=\""));
		free(text);
	}
	/* rounds that do not measure it take nothing away */
	take(&exporter, fixture_snapshot(2000));
	assert_true(sum_of_delays(&exporter) == sum);
	end(&exporter);
}

/* One name or several: the series of a pattern is the same, on each host. */
static void test_names(void **state)
{
	struct exporter exporter;

	(void)state;
	start(&exporter, "process", "CPU%", 10);
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 5 * round);

		add(snapshot, 10, "worker-1", "/", 1000);
		add(snapshot, 11, "", "/", 1000);
		add(snapshot, 12, "q\"b\\n\nx\xff", "/", 1000);
		take(&exporter, snapshot);
	}
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"process\",group=\"worker-{N}\"} 0");
	assert_has(&exporter, "ctop_group_run_seconds_total{axis=\"process\",group=\"(no name)\"} 0");
	assert_has(&exporter,
		   "ctop_group_run_seconds_total{axis=\"process\",group=\"q\\\"b\\\\n\\nx\xef\xbf\xbd\"} 0");
	end(&exporter);
}

/* Without a column of time the counters decide who gets a series. By name it would be another group. */
static void test_shares(void **state)
{
	struct exporter exporter;

	(void)state;
	start(&exporter, "process", "READ,MINF", 1);
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 5 * round);

		/* the larger amount, but the smaller share */
		add(snapshot, 10, "bytes", "/", 1000);
		fixture_set(snapshot, 0, METRIC_READ_BYTES, 600 * (uint64_t)round);
		fixture_set(snapshot, 0, METRIC_MINFLT, 0);
		add(snapshot, 11, "faults", "/", 1000);
		fixture_set(snapshot, 1, METRIC_READ_BYTES, 400 * (uint64_t)round);
		fixture_set(snapshot, 1, METRIC_MINFLT, 10 * (uint64_t)round);
		take(&exporter, snapshot);
	}
	assert_has(&exporter, "ctop_group_minor_faults_total{axis=\"process\",group=\"faults\"} 10");
	end(&exporter);
}

static void test_unread(void **state)
{
	struct exporter exporter;

	(void)state;
	start(&exporter, "process", "CPU%,READ", 10);
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 5 * round);

		add(snapshot, 10, "a", "/", 1000);
		snapshot->default_reason[SOURCE_IO] = REASON_NOT_PERMITTED;
		take(&exporter, snapshot);
	}
	assert_lacks(&exporter, "ctop_group_storage_read");
	assert_has(&exporter, "ctop_source_missed_threads{source=\"io\",reason=\"not-permitted\"} 1");
	assert_has(&exporter, "ctop_source_read_threads{source=\"schedstat\"} 1");
	end(&exporter);
}

/* A round of two pools and a kernel thread, whose threads wait for these classes. */
static struct snapshot *make_waits(double seconds, const enum wait_class classes[6])
{
	static const char *const names[6] = {"pool-1", "pool-2", "pool-3", "api", "api", "kworker/0:1"};
	struct snapshot *snapshot = fixture_snapshot(seconds);

	for (uint32_t i = 0; i < 6; i++)
		add(snapshot, 10 + i, names[i], "/", 1000);
	snapshot_make_wait_columns(snapshot);
	for (size_t i = 0; i < 6; i++) {
		snapshot->wait_class[i] = (uint8_t)classes[i];
		snapshot->wait_object[i] = string_pool_intern(&snapshot->strings, "0x7f3a12c0", 10);
	}
	return snapshot;
}

#define ASSERT_WAITS(exporter, group, class, count)                                                          \
	assert_has(exporter, "ctop_group_waiting_threads{axis=\"process\",group=\"" group                    \
			     "\",class=\"" class "\"} " count)

/* Threads by class, of each group: none that are zero or unknown, and no objects. */
static void test_waits(void **state)
{
	static const enum wait_class at_first[6] = {WAIT_CLASS_FUTEX,   WAIT_CLASS_FUTEX,
						    WAIT_CLASS_CPU,     WAIT_CLASS_SOCKET,
						    WAIT_CLASS_UNKNOWN, WAIT_CLASS_KERNEL_IDLE};
	static const enum wait_class later[6] = {WAIT_CLASS_FUTEX,  WAIT_CLASS_RUN_QUEUE,
						 WAIT_CLASS_SOCKET, WAIT_CLASS_SOCKET,
						 WAIT_CLASS_SOCKET, WAIT_CLASS_KERNEL_IDLE};
	struct exporter exporter;

	(void)state;
	start(&exporter, "process,host", "WAITS FOR,CPU%,THR", 10);
	take(&exporter, make_waits(100, at_first));
	take(&exporter, make_waits(105, at_first));
	assert_has(&exporter, "# TYPE ctop_group_waiting_threads gauge");
	ASSERT_WAITS(&exporter, "pool-{N}", "futex", "2");
	ASSERT_WAITS(&exporter, "pool-{N}", "cpu", "1");
	ASSERT_WAITS(&exporter, "api", "socket", "1");
	ASSERT_WAITS(&exporter, "kworker/{N}:{N}", "kernel idle", "1");
	assert_has(&exporter, "ctop_group_threads{axis=\"process\",group=\"api\"} 2");
	assert_lacks(&exporter, "class=\"\"");
	assert_lacks(&exporter, "class=\"disk\"");
	assert_lacks(&exporter, "0x7f3a12c0");
	take(&exporter, make_waits(110, later));
	ASSERT_WAITS(&exporter, "pool-{N}", "futex", "1");
	ASSERT_WAITS(&exporter, "pool-{N}", "run queue", "1");
	ASSERT_WAITS(&exporter, "api", "socket", "2");
	assert_lacks(&exporter, "class=\"cpu\"");
	end(&exporter);

	/* groups without a series are one together */
	start(&exporter, "process", "WAITS FOR,CPU%", 0);
	take(&exporter, make_waits(100, at_first));
	take(&exporter, make_waits(105, later));
	ASSERT_WAITS(&exporter, "(other)", "socket", "3");
	assert_lacks(&exporter, "group=\"pool");
	/* where nothing is known of waits there is nothing */
	take(&exporter, make_waits(110, later));
	{
		struct snapshot *snapshot = make_waits(115, later);

		free(snapshot->wait_class);
		free(snapshot->wait_object);
		snapshot->wait_class = NULL;
		snapshot->wait_object = NULL;
		take(&exporter, snapshot);
	}
	assert_lacks(&exporter, "ctop_group_waiting_threads");
	end(&exporter);
}

static void test_axes(void **state)
{
	struct export_options options;
	struct error error;

	(void)state;
	assert_int_equal(export_parse_axes("thread,user", &options, &error), 0);
	assert_int_equal(options.axis_count, 2);
	assert_int_equal(options.axes[1], AXIS_USER);
	assert_true(export_parse_axes("process,pid", &options, &error) < 0);
	assert_non_null(strstr(error.text, "without end"));
	assert_true(export_parse_axes("process,cgruop", &options, &error) < 0);
	assert_non_null(strstr(error.text, "cgruop"));
	assert_true(export_parse_axes("process,pcomm", &options, &error) < 0);
	assert_non_null(strstr(error.text, "twice"));
	assert_true(export_parse_axes("", &options, &error) < 0);
	assert_true(export_parse_axes("process,", &options, &error) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),   cmocka_unit_test(test_ended_users),
		cmocka_unit_test(test_delays), cmocka_unit_test(test_names),
		cmocka_unit_test(test_shares), cmocka_unit_test(test_unread),
		cmocka_unit_test(test_waits),  cmocka_unit_test(test_axes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
