/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Living programs that make it hard: many threads, threads that come and go, programs that become others,
 * die, fork, sit in other namespaces or belong to somebody else; redis as it is installed. `--long`: 30,000
 * threads.
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../measure.h"
#include "../wait.h"
#include "probe_run.h"

enum {
	NOBODY = 65534,
};

static const char *many_threads = "9999";

static void expect_own_counts_of(int pid, const char *option, const struct target *target)
{
	yajl_val tree = probe_process(pid, option, NULL, 0);

	expect_own_counts(probe_threads(tree, 0), target);
	yajl_tree_free(tree);
}

static void test_many_threads(void **state)
{
	struct target target;
	yajl_val snapshot;
	size_t count;

	(void)state;
	target_start_named(&target, "5.3.0", "park", many_threads);
	count = strtoul(many_threads, NULL, 10) + 1;
	assert_int_equal(target.count, count);
	expect_own_counts_of(target.child, "--no-stop", &target);
	snapshot = capture_snapshot(target.child);
	assert_int_equal(json_u64(json_member(snapshot, "probe_summary"), "probed_ok"), count);
	for (size_t i = 0; i < count; i += 97) {
		yajl_val thread = snapshot_thread(snapshot, (int)target.threads[i].tid);

		assert_int_equal(json_u64(thread, "allocated_bytes"), target.threads[i].allocated);
		assert_int_equal(json_u64(thread, "deallocated_bytes"), target.threads[i].deallocated);
	}
	yajl_tree_free(snapshot);
	target_end(&target);
}

/* Threads that vanish are entries with an error, and nothing worse. */
static void test_churn(void **state)
{
	static const char *const kinds[] = {"ptrace-seize", "ptrace-interrupt", "waitpid",
					    "get-regset",   "process-vm-readv", "needs-stop"};
	struct target target;
	size_t most = 0;

	(void)state;
	target_start_named(&target, "5.3.0", "churn", "4");
	for (int i = 0; i < 10; i++) {
		yajl_val tree = probe_process(target.child, i % 2 == 0 ? NULL : "--no-stop", NULL, 0);
		yajl_val threads = probe_threads(tree, 0);

		if (threads->u.array.len > most)
			most = threads->u.array.len;
		for (size_t k = 0; k < threads->u.array.len; k++) {
			yajl_val thread = threads->u.array.values[k];
			bool known = false;

			if (json_member(thread, "error_kind") == NULL) {
				assert_true(json_u64(thread, "allocated_bytes") < 1u << 30);
				continue;
			}
			for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
				known = known || strcmp(json_text(thread, "error_kind"), kinds[n]) == 0;
			assert_true(known);
		}
		yajl_tree_free(tree);
	}
	assert_true(most > 5);
	target_end(&target);
}

/* The same in captures: what was measured is plausible, what was not is no zero. */
static void test_churn_captured(void **state)
{
	struct target target;
	size_t measured = 0;

	(void)state;
	target_start_named(&target, "5.3.0", "churn", "4");
	for (int i = 0; i < 5; i++) {
		yajl_val snapshot = capture_snapshot(target.child);
		yajl_val threads = json_member(snapshot, "threads");

		assert_true(YAJL_IS_ARRAY(threads));
		for (size_t k = 0; k < threads->u.array.len; k++) {
			yajl_val thread = threads->u.array.values[k];

			if (!YAJL_IS_TRUE(json_member(thread, "jemalloc_measured"))) {
				assert_non_null(missing_reason(snapshot, thread, "jemalloc"));
				continue;
			}
			measured++;
			assert_true(json_u64(thread, "allocated_bytes") < 1u << 30);
			assert_true(json_u64(thread, "deallocated_bytes") < 1u << 30);
		}
		yajl_tree_free(snapshot);
	}
	assert_true(measured > 20);
	target_end(&target);
}

/* What the first thread of a target has allocated in all, in bytes. */
static uint64_t probe_allocated(const struct target *target, const char *option)
{
	yajl_val tree = probe_process(target->child, option, NULL, 0);
	const uint64_t bytes = json_u64(probe_thread(probe_threads(tree, 0), target->threads[0].tid),
					"allocated_bytes");

	yajl_tree_free(tree);
	return bytes;
}

static void test_busy(void **state)
{
	struct target target;
	uint64_t before;

	(void)state;
	target_start_named(&target, "5.3.0", "busy", "2");
	before = probe_allocated(&target, "--no-stop");
	assert_true(before >= target.threads[0].allocated);
	/* on a busy host the thread may have had no CPU between two readings */
	assert_true(wait_until(probe_allocated(&target, NULL) > before));
	target_end(&target);
}

/* Starts a run of many snapshots, `interval` ms apart. */
static void start_run(struct running *running, int pid, const char *snapshots, const char *interval)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	run_start(running, &(struct run_options){0},
		  (const char *[]){CTOP_PROGRAM, "probe", "--json", "--pid", number, "--snapshots", snapshots,
				   "--interval-ms", interval, NULL});
}

/* Another program under the same process id: all that was read before is worth nothing. */
static void test_becomes_another(void **state)
{
	struct target target;
	struct running running;
	struct run run;
	char line[4200];

	(void)state;
	target_start_named(&target, "5.3.0", "park", "2");
	snprintf(line, sizeof(line), "exec %s park 2", target_path("5.2.1"));
	start_run(&running, target.child, "1000", "500");
	run_wait_for_rest(&running);
	target_command(&target, line);
	run_finish(&running, &run, &(struct run_options){0});
	run_expect(&run, 1);
	assert_non_null(strstr(run.errors, "ctop-probe-fatal: exe-identity-changed\n"));
	assert_int_equal(run.output_length, 0);
	run_release(&run);
	expect_own_counts_of(target.child, "--no-stop", &target);
	target_end(&target);
}

/* The same program anew: the same file and thread id, and thread pointers of before that lead elsewhere. */
static void test_becomes_itself(void **state)
{
	struct target target;
	struct running running;
	struct run run;
	yajl_val tree;
	char line[4200];

	(void)state;
	target_start_named(&target, "5.3.0", "park", "2");
	snprintf(line, sizeof(line), "exec %s park 3", target_path("5.3.0"));
	start_run(&running, target.child, "24", "500");
	run_wait_for_rest(&running);
	target_command(&target, line);
	run_finish(&running, &run, &(struct run_options){0});
	run_expect(&run, 0);
	tree = yajl_tree_parse(run.output, NULL, 0);
	assert_non_null(tree);
	expect_own_counts(probe_threads(tree, 23), &target);
	yajl_tree_free(tree);
	run_release(&run);
	target_end(&target);
}

static void test_dies(void **state)
{
	struct target target;
	struct running running;
	struct run run;

	(void)state;
	target_start_named(&target, "5.3.0", "park", "100");
	start_run(&running, target.child, "1000", "500");
	run_wait_for_rest(&running);
	kill(target.child, SIGKILL);
	target_end(&target);
	run_finish(&running, &run, &(struct run_options){0});
	run_expect(&run, 1);
	/* it ends between two snapshots, or while one is taken */
	assert_true(strstr(run.errors, "ctop-probe-fatal: exe-identity-changed\n") != NULL ||
		    strstr(run.errors, "ctop-probe-fatal: tid-enumeration-failure\n") != NULL);
	assert_int_equal(run.output_length, 0);
	run_release(&run);
}

static void test_without_robust_lists(void **state)
{
	struct target target;
	yajl_val tree;

	(void)state;
	target_start_named(&target, "5.3.0", "bare", "3");
	tree = probe_process(target.child, "--no-stop", NULL, 0);
	for (size_t i = 0; i < 3; i++)
		expect_error_kind(probe_thread(probe_threads(tree, 0), target.threads[i].tid), "needs-stop");
	assert_int_equal(
		json_u64(probe_thread(probe_threads(tree, 0), target.threads[3].tid), "allocated_bytes"),
		target.threads[3].allocated);
	yajl_tree_free(tree);
	expect_own_counts_of(target.child, NULL, &target);
	for (size_t i = 0; i < 4; i++)
		await("the thread goes on", target_state(target.child, target.threads[i].tid) == 'S');
	target_end(&target);
}

/* The first of two threads that is in D, or 0. */
static uint32_t thread_in_d(const struct target *target)
{
	for (size_t i = 0; i < 2; i++) {
		if (target_state(target->child, target->threads[i].tid) == 'D')
			return target->threads[i].tid;
	}
	return 0;
}

static bool is_traced(int pid, uint32_t tid)
{
	char path[64], *text;
	bool traced;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/status", pid, tid);
	text = read_file(path, NULL);
	traced = text != NULL && strstr(text, "\nTracerPid:\t0\n") == NULL;
	free(text);
	return traced;
}

static bool is_running(const struct running *running)
{
	siginfo_t end = {0};

	return waitid(P_PID, (id_t)running->child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0;
}

/*
 * A thread in D stops neither in time nor ever; when it wakes up nobody may hold it, though ctop still runs.
 */
static void test_vfork_parent(void **state)
{
	(void)state;
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		struct target target;
		struct running running;
		struct run run;
		yajl_val tree;
		uint32_t thread;
		bool runs;

		target_start_named(&target, "5.3.0", "vfork", "2");
		await("a thread waits for its vfork child", (thread = thread_in_d(&target)) != 0);
		start_run(&running, target.child, "60", "100");
		await("ctop tries to stop it", is_traced(target.child, thread) || !is_running(&running));
		await("ctop gives it up", !is_traced(target.child, thread));
		target_command(&target, "release");
		/* the command takes the place of a report: nothing was counted anew */
		await("the thread goes on", target_state(target.child, thread) == 'S');
		runs = is_running(&running);
		measure_between(&measurement, "ctop still runs", runs, true, true);
		run_finish(&running, &run, &(struct run_options){0});
		run_expect(&run, 0);
		tree = yajl_tree_parse(run.output, NULL, 0);
		assert_non_null(tree);
		expect_error_kind(probe_thread(probe_threads(tree, 0), thread), "waitpid");
		if (runs)
			assert_null(json_member(probe_thread(probe_threads(tree, 59), thread), "error"));
		assert_int_equal(target_state(target.child, thread), 'S');
		yajl_tree_free(tree);
		run_release(&run);
		target_end(&target);
	}
}

static void copy_program(const char *from, const char *to)
{
	size_t length;
	char *bytes = read_file(from, &length);

	assert_non_null(bytes);
	write_file(to, bytes, length);
	assert_int_equal(chmod(to, 0755), 0);
	free(bytes);
}

/* An ordinary user reads his own programs, without any privilege, and is told why not those of others. */
static void test_nobody(void **state)
{
	const struct run_options options = {.user = NOBODY};
	const char *program = scratch_path("target");
	struct target others, own;
	struct run run;
	char number[16];
	yajl_val tree;

	(void)state;
	need_to_become_nobody();
	copy_program(target_path("5.3.0"), program);
	target_start(&own, NULL,
		     (const char *[]){"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program,
				      "park", "2", NULL});
	tree = probe_process(own.child, "--no-stop", &options, 0);
	expect_own_counts(probe_threads(tree, 0), &own);
	yajl_tree_free(tree);
	target_end(&own);

	target_start(&others, NULL, (const char *[]){program, "park", "2", NULL});
	snprintf(number, sizeof(number), "%d", others.child);
	run_ctop(&run, &options, (const char *[]){"probe", "--json", "--pid", number, NULL});
	run_expect(&run, 1);
	assert_int_equal(run.output_length, 0);
	assert_non_null(strstr(run.errors, "ctop-probe-fatal: "));
	assert_non_null(strcasestr(run.errors, "cap_sys_ptrace"));
	run_release(&run);
	target_end(&others);
}

static size_t count_threads(int pid)
{
	char path[64];
	struct dirent *entry;
	size_t count = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	assert_non_null(tasks);
	while ((entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

/* Debian's, with its jemalloc in a stripped shared library, and threads of its own for input and output. */
static void test_redis(void **state)
{
	const char *socket = scratch_path("redis.socket");
	struct running server;
	struct run run;
	struct stat status;
	yajl_val tree, threads, snapshot;
	uint64_t before;
	int moved = 0;

	(void)state;
	if (access("/usr/bin/redis-check-rdb", X_OK) != 0 || access("/usr/bin/redis-cli", X_OK) != 0)
		skip_test("there is no redis");
	/* the server is the same program under another name, and the package of the tools has it too */
	assert_int_equal(symlink("/usr/bin/redis-check-rdb", scratch_path("redis-server")), 0);
	run_start(&server, &(struct run_options){0},
		  (const char *[]){"/usr/bin/setpriv", "--pdeathsig", "KILL", scratch_path("redis-server"),
				   "--port", "0", "--unixsocket", socket, "--io-threads", "4", "--save", "",
				   "--dir", scratch_directory(), NULL});
	await("redis has its socket", stat(socket, &status) == 0);
	await("redis has its threads", count_threads(server.child) >= 7);
	tree = probe_process(server.child, "--no-stop", NULL, 0);
	threads = probe_threads(tree, 0);
	assert_int_equal(threads->u.array.len, count_threads(server.child));
	assert_true(threads->u.array.len >= 7);
	before = json_u64(probe_thread(threads, (uint32_t)server.child), "allocated_bytes");

	run_program(&run, NULL,
		    (const char *[]){"/usr/bin/redis-cli", "-s", socket, "setrange", "key", "16777215", "x",
				     NULL});
	run_expect(&run, 0);
	run_release(&run);
	snapshot = capture_snapshot(server.child);
	for (size_t i = 0; i < threads->u.array.len; i++) {
		yajl_val first = threads->u.array.values[i];
		int tid = (int)json_u64(first, "tid");
		yajl_val second = snapshot_thread(snapshot, tid);

		assert_non_null(second);
		assert_int_equal(json_member(first, "error") == NULL, 1);
		if (tid != server.child) {
			if (json_u64(second, "allocated_bytes") != json_u64(first, "allocated_bytes") ||
			    json_u64(second, "deallocated_bytes") != json_u64(first, "deallocated_bytes"))
				moved++;
			continue;
		}
		assert_between("allocated by the server", json_u64(second, "allocated_bytes") - before,
			       16 << 20, 64 << 20);
	}
	/* from redis 8 on, one of the others talks with the client */
	assert_true(moved <= 1);
	yajl_tree_free(tree);
	yajl_tree_free(snapshot);
	kill(server.child, SIGTERM);
	run_finish(&server, &run, &(struct run_options){0});
	run_release(&run);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_churn_captured),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_becomes_another),
		cmocka_unit_test(test_becomes_itself),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_without_robust_lists),
		cmocka_unit_test(test_vfork_parent),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_redis),
		cmocka_unit_test(test_many_threads),
	};
	const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_many_threads)};

	if (argc > 1 && strcmp(argv[1], "--long") == 0) {
		many_threads = "29999";
		return cmocka_run_group_tests_name("target cases", long_tests, NULL, NULL);
	}
	return cmocka_run_group_tests_name("target cases", tests, NULL, NULL);
}
