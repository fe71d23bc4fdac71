/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of a recording: their language, rates of groups, pressure from round to round and by the kernel,
 * rest. */
#include "tests/session/session_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cmd/record/record_rules.h"
#include "tests/diff/delay_fixture.h"
#include "tests/needs.h"

static struct record_rules *parse(const char *text, uint64_t rest_ns)
{
	struct record_rules *rules;
	struct error error;

	if (record_rules_parse(&text, 1, rest_ns, &rules, &error) != 0)
		fail_msg("%s", error.text);
	return rules;
}

/* A round of a worker with two threads, and of a process that came in the second one. */
static struct snapshot *make_round(double seconds, uint64_t run_ms)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);
	size_t thread;

	for (uint32_t i = 0; i < 2; i++) {
		thread = fixture_thread(snapshot, 100, 100 + i, "worker-1", "worker-1", 10);
		fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(run_ms));
	}
	thread = fixture_thread(snapshot, 200, 200, "idle", "idle", 10);
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(5));
	snapshot_finish(snapshot);
	return snapshot;
}

static size_t judge(struct record_rules *rules, struct snapshot *round, const struct record_hit **hits)
{
	size_t count = record_rules_judge(rules, round, hits);

	snapshot_release(round);
	return count;
}

static void test_rates(void **state)
{
	struct record_rules *rules = parse("run_time_ns(worker*) > 900ms", 0);
	const struct record_hit *hits;

	(void)state;
	/* nothing to count from, however much it is */
	assert_int_equal(judge(rules, make_round(20, 5000), &hits), 0);
	/* 2 threads, 800 ms each in 2 s: 0.8 s a second */
	assert_int_equal(judge(rules, make_round(22, 5800), &hits), 0);
	/* 1,000 ms each: 1 s a second */
	assert_int_equal(judge(rules, make_round(24, 6800), &hits), 1);
	assert_string_equal(hits[0].text, "run_time_ns(worker*) > 900ms: worker-1 has 1 s per second");
	/* none of other groups */
	record_rules_release(rules);
	rules = parse("run_time_ns(idle) > 0ns", 0);
	assert_int_equal(judge(rules, make_round(20, 5000), &hits), 0);
	assert_int_equal(judge(rules, make_round(22, 9000), &hits), 0);
	record_rules_release(rules);
	/* what is no counter */
	rules = parse("thread_count(worker*) > 1", 0);
	assert_int_equal(judge(rules, make_round(20, 1), &hits), 0);
	assert_int_equal(judge(rules, make_round(22, 1), &hits), 1);
	assert_string_equal(hits[0].text, "thread_count(worker*) > 1: worker-1 has 2");
	record_rules_release(rules);
}

/* The numbers of the screen: per second, percent, and as they are now. */
static void test_columns(void **state)
{
	struct record_rules *rules = parse("CPU%(worker*) > 90", 0);
	const struct record_hit *hits;
	struct snapshot *round;

	(void)state;
	assert_int_equal(judge(rules, make_round(20, 5000), &hits), 0);
	assert_int_equal(judge(rules, make_round(22, 5800), &hits), 0);
	assert_int_equal(judge(rules, make_round(24, 6800), &hits), 1);
	assert_string_equal(hits[0].text, "CPU%(worker*) > 90: worker-1 has 100.0%");
	record_rules_release(rules);
	rules = parse("RSS(*) > 1M", 0);
	for (uint64_t bytes = 1 << 20; bytes <= 1 << 21; bytes <<= 1) {
		round = fixture_snapshot(20 + (double)bytes / (1 << 20));
		round->resident_missing = REASON_READ;
		snapshot_add_resident(round, fixture_thread(round, 100, 100, "grows", "grows", 10), bytes,
				      20);
		snapshot_finish(round);
		assert_int_equal(judge(rules, round, &hits), bytes > 1 << 20);
	}
	assert_string_equal(hits[0].text, "RSS(*) > 1M: grows has 2 MiB");
	record_rules_release(rules);
}

static void test_rest(void **state)
{
	struct record_rules *rules = parse("run_time_ns(worker*) > 1ms", 3600 * NS_PER_S);
	const struct record_hit *hits;

	(void)state;
	assert_int_equal(judge(rules, make_round(20, 1000), &hits), 0);
	assert_int_equal(judge(rules, make_round(22, 2000), &hits), 1);
	assert_int_equal(judge(rules, make_round(24, 3000), &hits), 0);
	record_rules_release(rules);
}

/* A process of two pools in a cgroup. */
static struct snapshot *make_pools(double seconds, uint64_t run_ms)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);

	for (uint32_t i = 0; i < 4; i++) {
		char name[16];
		size_t thread;

		snprintf(name, sizeof(name), "%s-%u", i < 2 ? "reader" : "writer", i);
		thread = fixture_thread(snapshot, 100, 100 + i, "server", name, 10);
		fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(i < 2 ? run_ms : 1));
	}
	snapshot_finish(snapshot);
	return snapshot;
}

/* Groups are those of processes; where none matches those of threads, then of cgroups; or what the rule says.
 */
static void test_axes(void **state)
{
	static const struct {
		const char *text, *hit;
	} cases[] = {
		{"CPU%(server) > 90", "CPU%(server) > 90: server has 100.0%"},
		{"CPU%(reader-*) > 90", "CPU%(reader-*) > 90: reader-{N} has 100.0%"},
		{"CPU%(thread:*) > 90", "CPU%(thread:*) > 90: reader-{N} has 100.0%"},
		{"CPU%(reader-* of server) > 90",
		 "CPU%(reader-* of server) > 90: reader-{N} of server in / has 100.0%"},
		{"CPU%(reader-* of client) > 90", NULL},
		{"CPU%(/*) > 90", "CPU%(/*) > 90: / has 100.0%"},
		{"CPU%(process:reader-*) > 90", NULL},
		{"CPU%(writer-*) > 90", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_rules *rules = parse(cases[i].text, 0);
		const struct record_hit *hits;

		assert_int_equal(judge(rules, make_pools(20, 1000), &hits), 0);
		assert_int_equal(judge(rules, make_pools(22, 2000), &hits), cases[i].hit != NULL);
		if (cases[i].hit != NULL)
			assert_string_equal(hits[0].text, cases[i].hit);
		record_rules_release(rules);
	}
}

/* A rule that no group matches is told of at once, one that matches never. */
static void test_unmatched(void **state)
{
	struct record_rules *rules = parse("CPU%(redaer-*) > 90", 0);
	const struct record_hit *hits;

	(void)state;
	assert_null(record_rules_take_notice(rules));
	judge(rules, make_pools(20, 1000), &hits);
	assert_string_equal(record_rules_take_notice(rules),
			    "rule 'CPU%(redaer-*) > 90': no process, thread or cgroup matches so far");
	assert_null(record_rules_take_notice(rules));
	judge(rules, make_pools(22, 1000), &hits);
	assert_null(record_rules_take_notice(rules));
	record_rules_release(rules);
	rules = parse("CPU%(reader-*) > 90", 0);
	judge(rules, make_pools(20, 1000), &hits);
	assert_null(record_rules_take_notice(rules));
	judge(rules, make_pools(22, 1000), &hits);
	assert_null(record_rules_take_notice(rules));
	record_rules_release(rules);
	/* nor is one of which no number is known */
	rules = parse("P99(server) > 5ms", 0);
	judge(rules, make_pools(20, 1000), &hits);
	assert_null(record_rules_take_notice(rules));
	judge(rules, make_pools(22, 1000), &hits);
	assert_non_null(strstr(record_rules_take_notice(rules), "P99 is not known here ("));
	assert_null(record_rules_take_notice(rules));
	record_rules_release(rules);
}

/* A round of a server whose readers wait while a backup runs, which has no thread any more. */
static struct snapshot *make_delays(double seconds, uint64_t backup_ms)
{
	struct snapshot *snapshot = make_pools(seconds, 1000);
	uint32_t readers[2], backup;

	if (backup_ms == 0)
		return snapshot;
	delay_fixture_begin(snapshot);
	backup = delay_fixture_names(snapshot, "backup", "tar");
	readers[0] = delay_fixture_names(snapshot, "server", "reader-0");
	readers[1] = delay_fixture_names(snapshot, "server", "reader-1");
	for (size_t i = 0; i < 2; i++)
		delay_fixture_add(snapshot, readers[i], LATENCY_CAUSE_THREADS, backup, backup_ms, 1);
	delay_fixture_add(snapshot, readers[0], LATENCY_CAUSE_THREADS, readers[1], 100, 1);
	delay_fixture_add(snapshot, readers[0], LATENCY_CAUSE_THROTTLED, 0, 300, 1);
	return snapshot;
}

/* Seconds of waiting per second, while some other group ran. */
static void test_delayed(void **state)
{
	static const struct {
		const char *text, *hit;
	} cases[] = {
		{"delayed(server by backup) > 0.7", "server was delayed 800 ms per second"},
		{"delayed(server by backup) > 0.8", NULL},
		{"delayed(server by backup) < 900ms", "server was delayed 800 ms per second"},
		{"delayed(server) > 90%", "server was delayed 1 s per second"},
		{"delayed(reader-* by tar) > 0.7", "reader-{N} was delayed 800 ms per second"},
		{"delayed(thread:reader-* by itself) > 0", "reader-{N} was delayed 50 ms per second"},
		{"delayed(server by (throttled)) > 10%", "server was delayed 150 ms per second"},
		{"delayed(writer-* by tar) > 0", NULL},
		{"delayed(writer-* by tar) < 0.1", "writer-{N} was delayed 0 s per second"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_rules *rules = parse(cases[i].text, 0);
		const struct record_hit *hits;

		judge(rules, make_delays(20, 800), &hits);
		assert_int_equal(judge(rules, make_delays(22, 800), &hits), cases[i].hit != NULL);
		if (cases[i].hit != NULL)
			assert_string_equal(hits[0].text + strlen(cases[i].text) + 2, cases[i].hit);
		assert_null(record_rules_take_notice(rules));
		record_rules_release(rules);
	}
}

/* A culprit that is nowhere is told of, and that nothing is measured. */
static void test_delayed_by_nobody(void **state)
{
	struct record_rules *rules = parse("delayed(server by bakcup) > 1", 0);
	const struct record_hit *hits;

	(void)state;
	judge(rules, make_delays(20, 800), &hits);
	judge(rules, make_delays(22, 800), &hits);
	assert_non_null(
		strstr(record_rules_take_notice(rules), "no process, thread or cgroup matches so far"));
	record_rules_release(rules);
	rules = parse("delayed(server by itself) < 1", 0);
	judge(rules, make_delays(20, 0), &hits);
	assert_int_equal(judge(rules, make_delays(22, 0), &hits), 0);
	assert_non_null(strstr(record_rules_take_notice(rules), "WAITS/s is not known here ("));
	record_rules_release(rules);
}

static struct snapshot *make_pressure(double seconds, uint64_t total_usec, bool known)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);

	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++)
		snapshot->pressure_missing[i] = known ? REASON_READ : REASON_NOT_IN_KERNEL;
	snapshot->pressure.resource[PRESSURE_MEMORY].some.total_usec = total_usec;
	snapshot_finish(snapshot);
	return snapshot;
}

static void test_pressure(void **state)
{
	struct record_rules *rules = parse("psi.memory > 20", 0);
	const struct record_hit *hits;

	(void)state;
	assert_int_equal(judge(rules, make_pressure(20, 1000000, true), &hits), 0);
	assert_int_equal(judge(rules, make_pressure(22, 1400000, true), &hits), 0);
	assert_int_equal(judge(rules, make_pressure(24, 1900000, true), &hits), 1);
	assert_string_equal(hits[0].text, "psi.memory > 20: some thread waited for memory in 25.0% of 2 s");
	/* not known: no zero that would be below a limit */
	record_rules_release(rules);
	rules = parse("psi.memory < 20", 0);
	assert_int_equal(judge(rules, make_pressure(20, 0, false), &hits), 0);
	assert_int_equal(judge(rules, make_pressure(22, 0, false), &hits), 0);
	/* nor between an unknown number and a known one */
	assert_int_equal(judge(rules, make_pressure(24, 900000, true), &hits), 0);
	assert_int_equal(judge(rules, make_pressure(26, 900000, true), &hits), 1);
	record_rules_release(rules);
}

/* A saved tree is not written to: its rules are judged from rounds. */
static void test_saved_tree(void **state)
{
	static const char average[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n";
	struct record_rules *rules = parse("psi.memory > 20", 0);
	char tree[] = "/tmp/ctop-pressure-XXXXXX", directory[64], path[80];
	const struct record_hit *hits;
	struct buffer text = {0};
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(tree));
	snprintf(directory, sizeof(directory), "%s/pressure", tree);
	snprintf(path, sizeof(path), "%s/memory", directory);
	assert_int_equal(mkdir(directory, 0755), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(average, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(record_rules_watch(rules, tree, 2 * NS_PER_S), 0);
	assert_int_equal(file_read(AT_FDCWD, path, &text, 1000), 0);
	assert_string_equal(text.data, average);
	assert_int_equal(judge(rules, make_pressure(20, 1000000, true), &hits), 0);
	assert_int_equal(judge(rules, make_pressure(22, 1900000, true), &hits), 1);
	buffer_release(&text);
	record_rules_release(rules);
	unlink(path);
	rmdir(directory);
	rmdir(tree);
}

/* The kernel tells; where it cannot be asked, rounds do. */
static void test_kernel(void **state)
{
	struct record_rules *rules = parse("psi.cpu > 0.001", 0);
	const struct record_hit *hits;
	char text[] = "/tmp/ctop-pressure-XXXXXX";
	struct pollfd polled[1];
	pid_t busy[64];
	size_t count = (size_t)sysconf(_SC_NPROCESSORS_ONLN) * 2, watched;

	(void)state;
	/* nobody has pressure files there */
	assert_non_null(mkdtemp(text));
	assert_int_equal(record_rules_watch(rules, text, 2 * NS_PER_S), 0);
	assert_int_equal(record_rules_descriptors(rules, polled), 0);
	rmdir(text);
	watched = record_rules_watch(rules, NULL, 2 * NS_PER_S);
	if (watched == 0) {
		record_rules_release(rules);
		skip_test("the kernel lets nobody wait for pressure here (CONFIG_PSI, CAP_SYS_RESOURCE "
			  "before Linux 6.5)");
	}
	assert_int_equal(record_rules_descriptors(rules, polled), 1);
	count = count > 64 ? 64 : count;
	for (size_t i = 0; i < count; i++) {
		busy[i] = fork();
		if (busy[i] == 0) {
			alarm(120);
			for (;;)
				;
		}
	}
	assert_int_equal(poll(polled, 1, 60000), 1);
	for (size_t i = 0; i < count; i++)
		kill(busy[i], SIGKILL);
	for (size_t i = 0; i < count; i++)
		waitpid(busy[i], NULL, 0);
	assert_int_equal(record_rules_told(rules, polled, 1, &hits), 1);
	assert_string_equal(hits[0].text,
			    "psi.cpu > 0.001: some thread waited for cpu in more than 0.001% of 2 s");
	/* then rounds do not tell of it too */
	assert_int_equal(judge(rules, make_pressure(20, 0, true), &hits), 0);
	record_rules_release(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_axes),       cmocka_unit_test(test_unmatched),
		cmocka_unit_test(test_rates),      cmocka_unit_test(test_columns),
		cmocka_unit_test(test_rest),       cmocka_unit_test(test_pressure),
		cmocka_unit_test(test_saved_tree), cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_delayed),    cmocka_unit_test(test_delayed_by_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
