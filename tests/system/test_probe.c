/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop probe` against a living jemalloc program (allocator.c). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "harness.h"

#define MIB (UINT64_C(1) << 20)

static const char test_result[] =
	"{\n  \"name\" : \"a test\",\n  \"ratio\": 1.50e0,\n  \"big\":18446744073709551616,\n"
	"  \"nested\": {\"metrics\": [1, [2]]},\n  \"metrics\": [\n    {\"exit_code\": 0}\n  ],\n"
	"  \"unknown\": [null, true, \"\\ud83d\\ude00 \\/\"]\n}\n";

static const struct run_options ordinary;

/* The program that is probed. */
struct target {
	pid_t pid;
	int input, output;
};

static void start_target(struct target *target, const char *mode)
{
	int input[2], output[2];
	char ready[6];

	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	target->pid = fork();
	assert_true(target->pid >= 0);
	if (target->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl(ALLOCATOR_PROGRAM, ALLOCATOR_PROGRAM, mode, (char *)NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	target->input = input[1];
	target->output = output[0];
	assert_int_equal(read(target->output, ready, sizeof(ready)), sizeof(ready));
}

static void end_target(struct target *target)
{
	close(target->input);
	close(target->output);
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
}

static const char *number(char *text, size_t size, long value)
{
	snprintf(text, size, "%ld", value);
	return text;
}

static bool says(const struct run *run, const char *line)
{
	return strstr(run->errors, line) != NULL;
}

/*
 * Runs `ctop probe --pid PID` with up to eight more arguments: at most three times where a file could not be
 * opened in time, as no file system hangs here.
 */
static void probe(struct run *run, pid_t pid, const char *const *more)
{
	char digits[24];
	const char *arguments[12] = {"probe", "--pid", number(digits, sizeof(digits), pid)};

	for (size_t i = 0; more != NULL && more[i] != NULL; i++)
		arguments[3 + i] = more[i];
	run_ctop(run, NULL, arguments);
	for (int i = 0; i < 2 && says(run, "ctop-probe-fatal: file-system-hangs\n"); i++) {
		run_release(run);
		run_ctop(run, NULL, arguments);
	}
}

static yajl_val parse(const struct run *run)
{
	char message[200];
	yajl_val tree = yajl_tree_parse(run->output, message, sizeof(message));

	if (tree == NULL)
		fail_msg("no JSON: %s\n%s", message, run->output);
	return tree;
}

static yajl_val element(yajl_val object, const char *name, size_t index)
{
	yajl_val array = json_member(object, name);

	assert_non_null(array);
	assert_true(YAJL_IS_ARRAY(array));
	assert_true(index < YAJL_GET_ARRAY(array)->len);
	return YAJL_GET_ARRAY(array)->values[index];
}

static size_t length_of(yajl_val object, const char *name)
{
	yajl_val array = json_member(object, name);

	assert_non_null(array);
	assert_true(YAJL_IS_ARRAY(array));
	return YAJL_GET_ARRAY(array)->len;
}

static void test_held(void **state)
{
	static const char *const as_json[] = {"--json", NULL};
	struct target target;
	char line[80];
	struct run run;
	yajl_val tree, thread;

	(void)state;
	start_target(&target, "hold");
	probe(&run, target.pid, as_json);
	run_expect(&run, 0);
	assert_string_equal(run.errors, "");
	tree = parse(&run);
	assert_int_equal(json_u64(tree, "schema_version"), 3);
	assert_int_equal(json_u64(tree, "pid"), target.pid);
	assert_null(json_member(tree, "interval_ms"));
	assert_true(YAJL_IS_FALSE(json_member(tree, "interrupted")));
	assert_int_equal(length_of(tree, "snapshots"), 1);
	assert_int_equal(length_of(element(tree, "snapshots", 0), "threads"), 1);
	thread = element(element(tree, "snapshots", 0), "threads", 0);
	assert_int_equal(json_u64(thread, "tid"), target.pid);
	assert_string_equal(json_text(thread, "comm"), "allocator");
	assert_true(json_u64(thread, "start_time_jiffies") > 0);
	assert_between("allocated", json_u64(thread, "allocated_bytes"), 16 * MIB, 20 * MIB);
	assert_between("deallocated", json_u64(thread, "deallocated_bytes"), 0, MIB);
	assert_null(json_member(thread, "error"));
	yajl_tree_free(tree);
	run_release(&run);

	probe(&run, target.pid, NULL);
	run_expect(&run, 0);
	snprintf(line, sizeof(line), "pid=%d tool_version=", (int)target.pid);
	assert_int_equal(strncmp(run.output, line, strlen(line)), 0);
	assert_non_null(strstr(run.output, "\n--- snapshot 1/1 @ "));
	snprintf(line, sizeof(line), "\ntid=%d comm=allocator allocated_bytes=1", (int)target.pid);
	assert_non_null(strstr(run.output, line));
	run_release(&run);
	end_target(&target);
}

static void test_snapshots(void **state)
{
	static const char *const three[] = {"--json", "--snapshots", "3", "--interval-ms", "50", NULL};
	uint64_t first = 0, time = 0, allocated = 0;
	struct target target;
	struct run run;
	yajl_val tree;

	(void)state;
	start_target(&target, "hold");
	probe(&run, target.pid, three);
	run_expect(&run, 0);
	tree = parse(&run);
	assert_int_equal(json_u64(tree, "interval_ms"), 50);
	assert_int_equal(length_of(tree, "snapshots"), 3);
	for (size_t i = 0; i < 3; i++) {
		yajl_val snapshot = element(tree, "snapshots", i);
		yajl_val thread = element(snapshot, "threads", 0);
		const uint64_t elapsed = json_u64(snapshot, "elapsed_since_start_ns");

		if (i == 0)
			first = elapsed;
		/* from the first: behind one that is late, the next comes sooner */
		assert_true(elapsed + 10000000 >= first + i * 50000000);
		assert_true(json_u64(snapshot, "timestamp_unix_sec") >= time);
		assert_true(json_u64(thread, "allocated_bytes") >= allocated);
		assert_between("allocated", json_u64(thread, "allocated_bytes"), 16 * MIB, 20 * MIB);
		time = json_u64(snapshot, "timestamp_unix_sec");
		allocated = json_u64(thread, "allocated_bytes");
	}
	yajl_tree_free(tree);
	run_release(&run);
	end_target(&target);
}

static void test_churn(void **state)
{
	static const char *const as_json[] = {"--json", NULL};
	struct target target;
	bool several = false;

	(void)state;
	start_target(&target, "churn");
	for (int i = 0; i < 10; i++) {
		struct run run;
		yajl_val tree, snapshot;

		probe(&run, target.pid, as_json);
		run_expect(&run, 0);
		tree = parse(&run);
		snapshot = element(tree, "snapshots", 0);
		several = several || length_of(snapshot, "threads") > 1;
		for (size_t thread = 0; thread < length_of(snapshot, "threads"); thread++) {
			yajl_val entry = element(snapshot, "threads", thread);

			assert_true((json_member(entry, "allocated_bytes") != NULL) !=
				    (json_member(entry, "error_kind") != NULL));
		}
		yajl_tree_free(tree);
		run_release(&run);
	}
	assert_true(several);
	assert_int_equal(kill(target.pid, 0), 0);
	end_target(&target);
}

/* A thread that can be read only by stopping it. */
static void test_bare(void **state)
{
	static const char *const no_stop[] = {"--json", "--no-stop", "--sidecar", NULL, NULL};
	static const char *const as_json[] = {"--json", NULL};
	const char *sidecar = scratch_path("bare.json");
	const char *arguments[5];
	struct target target;
	yajl_val tree, thread;
	struct run run;
	char *after;
	size_t length;

	(void)state;
	write_file(sidecar, "{\"metrics\":[]}", 14);
	memcpy(arguments, no_stop, sizeof(arguments));
	arguments[3] = sidecar;
	start_target(&target, "bare");
	probe(&run, target.pid, arguments);
	run_expect(&run, 1);
	assert_true(says(&run, "ctop-probe-all-failed: single\n"));
	tree = parse(&run);
	thread = element(element(tree, "snapshots", 0), "threads", 0);
	assert_string_equal(json_text(thread, "error_kind"), "needs-stop");
	assert_int_equal(strncmp(json_text(thread, "error"), "[needs-stop] ", 13), 0);
	assert_null(json_member(thread, "allocated_bytes"));
	yajl_tree_free(tree);
	run_release(&run);
	after = read_file(sidecar, &length);
	assert_non_null(strstr(after, "\"exit_code\":1}"));
	free(after);

	probe(&run, target.pid, as_json);
	if (says(&run, "all-failed")) {
		run_release(&run);
		end_target(&target);
		skip_test("ptrace is not permitted here");
	}
	run_expect(&run, 0);
	tree = parse(&run);
	thread = element(element(tree, "snapshots", 0), "threads", 0);
	assert_between("allocated", json_u64(thread, "allocated_bytes"), 16 * MIB, 20 * MIB);
	yajl_tree_free(tree);
	run_release(&run);
	end_target(&target);
}

/* A fatal run: the marker with the tag, a sentence, no output. */
static void assert_fatal(struct run *run, const char *tag)
{
	char marker[80];

	run_expect(run, 1);
	assert_string_equal(run->output, "");
	snprintf(marker, sizeof(marker), "ctop-probe-fatal: %s\nerror: ", tag);
	if (!says(run, marker))
		fail_msg("no '%s' in: %s", marker, run->errors);
	run_release(run);
}

static sem_t thread_runs;

static void *wait_for_end(void *argument)
{
	*(pid_t *)argument = (pid_t)syscall(SYS_gettid);
	sem_post(&thread_runs);
	pause();
	return NULL;
}

/* procfs opens a directory under each thread id, but lists only process ids. */
static void test_thread_number(void **state)
{
	pthread_t thread;
	char words[64];
	struct run run;
	pid_t tid;

	(void)state;
	assert_int_equal(sem_init(&thread_runs, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &tid), 0);
	assert_int_equal(sem_wait(&thread_runs), 0);
	snprintf(words, sizeof(words), "%d is a thread of process %d; name that", tid, getpid());
	probe(&run, tid, NULL);
	assert_non_null(strstr(run.errors, words));
	assert_fatal(&run, "pid-missing");
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void test_fatal(void **state)
{
	static const char *const many[] = {"--json", "--snapshots", "1000", "--interval-ms", "100", NULL};
	static const char *const self[] = {"/bin/sh", "-c", "exec \"$0\" probe --json --pid $$", CTOP_PROGRAM,
					   NULL};
	char digits[24];
	const char *arguments[] = {CTOP_PROGRAM, "probe", "--pid", NULL,    many[0],
				   many[1],      many[2], many[3], many[4], NULL};
	struct running running;
	struct target target;
	struct run run;

	(void)state;
	probe(&run, 999999999, many);
	assert_fatal(&run, "pid-missing");
	run_program(&run, &ordinary, self);
	assert_fatal(&run, "self-probe-rejected");
	probe(&run, getpid(), NULL);
	assert_fatal(&run, "jemalloc-not-found");

	/* another program in the middle of the run */
	start_target(&target, "hold");
	arguments[3] = number(digits, sizeof(digits), target.pid);
	run_start(&running, &ordinary, arguments);
	/* between two snapshots */
	run_wait_for_rest(&running);
	assert_int_equal(write(target.input, "go\n", 3), 3);
	run_finish(&running, &run, &ordinary);
	assert_fatal(&run, "exe-identity-changed");
	end_target(&target);
}

static void test_usage(void **state)
{
	static const char *const bad[][8] = {
		{"probe"},
		{"probe", "--pid", "0"},
		{"probe", "--pid", "2147483648"},
		{"probe", "--pid", "1", "--snapshots", "0"},
		{"probe", "--pid", "1", "--snapshots", "100001", "--interval-ms", "1"},
		{"probe", "--pid", "1", "--snapshots", "2"},
		{"probe", "--pid", "1", "--interval-ms", "5"},
		{"probe", "--pid", "1", "--snapshots", "2", "--interval-ms", "3600001"},
		{"probe", "--pid", "1", "--abort-after-ms", "0"},
		{"probe", "--pid", "1", "--sidecar", "/nonexistent/result.json"},
		{"probe", "--pid", "1", "more"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *arguments[9] = {NULL};
		struct run run;

		memcpy(arguments, bad[i], sizeof(bad[i]));
		run_ctop(&run, NULL, arguments);
		run_expect(&run, 2);
		assert_string_equal(run.output, "");
		run_release(&run);
	}
}

/* Stopped by a signal, by the deadline, and before anything was read. */
static void test_stopped(void **state)
{
	char bound[24];
	const char *const deadline[] = {"--json", "--snapshots",      "100000", "--interval-ms",
					"20",     "--abort-after-ms", bound,    NULL};
	char digits[24], line[80];
	const char *arguments[] = {CTOP_PROGRAM,    "probe",   "--json", "--snapshots", "1000",
				   "--interval-ms", "3600000", "--pid",  NULL,          NULL};
	struct running running;
	struct target target;
	struct run run;
	size_t count = 0;
	yajl_val tree;

	(void)state;
	start_target(&target, "hold");
	/* the first snapshot may be late on a busy host; run_ctop() waits no longer than a minute */
	for (unsigned int bound_ms = 2000; count == 0 && bound_ms <= 32000; bound_ms *= 2) {
		number(bound, sizeof(bound), bound_ms);
		probe(&run, target.pid, deadline);
		run_expect(&run, 0);
		snprintf(line, sizeof(line), "ctop-probe-deadline: abort after %ums\n", bound_ms);
		assert_string_equal(run.errors, line);
		tree = parse(&run);
		assert_true(YAJL_IS_TRUE(json_member(tree, "interrupted")));
		count = length_of(tree, "snapshots");
		yajl_tree_free(tree);
		run_release(&run);
	}
	assert_true(count >= 1);

	arguments[8] = number(digits, sizeof(digits), target.pid);
	run_start(&running, &ordinary, arguments);
	run_wait_for_rest(&running);
	assert_int_equal(kill(running.child, SIGINT), 0);
	run_finish(&running, &run, &ordinary);
	run_expect(&run, 0);
	tree = parse(&run);
	assert_true(YAJL_IS_TRUE(json_member(tree, "interrupted")));
	assert_int_equal(length_of(tree, "snapshots"), 1);
	yajl_tree_free(tree);
	run_release(&run);
	end_target(&target);
}

/* A signal ends it while nobody reads what it prints; one that the caller has ignored stays ignored. */
static void test_unread(void **state)
{
	char digits[24], copy[64];
	const char *const arguments[] = {CTOP_PROGRAM,    "probe", "--json", "--snapshots", "1000",
					 "--interval-ms", "1",     "--pid",  digits,        NULL};
	struct target target;
	int output[2], status;
	pid_t child;

	(void)state;
	start_target(&target, "hold");
	number(digits, sizeof(digits), target.pid);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_IGN);
		dup2(output[1], STDOUT_FILENO);
		execv(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close(output[1]);
	/* its first bytes are there, and the rest does not fit into the pipe */
	assert_int_equal(read(output[0], copy, 1), 1);
	wait_for_state(child, child, 'S');
	assert_int_equal(kill(child, SIGINT), 0);
	assert_int_equal(kill(child, SIGTERM), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	close(output[0]);
	end_target(&target);
}

/* The text in front of and behind the new record is the old one. */
static void assert_appended(const char *path, const char *before, size_t insert_offset, size_t index,
			    const char *exit_code)
{
	size_t length;
	char *after = read_file(path, &length);
	const size_t rest = strlen(before) - insert_offset;
	yajl_val tree, record;

	assert_true(length > strlen(before));
	assert_memory_equal(after, before, insert_offset);
	assert_memory_equal(after + length - rest, before + insert_offset, rest);
	tree = yajl_tree_parse(after, NULL, 0);
	assert_non_null(tree);
	record = element(tree, "metrics", index);
	assert_int_equal(json_u64(record, "payload_index"), index);
	assert_string_equal(YAJL_GET_NUMBER(json_member(record, "exit_code")), exit_code);
	for (size_t i = 0; i < length_of(record, "metrics"); i++) {
		yajl_val metric = element(record, "metrics", i);
		const bool is_bytes = strcmp(json_text(metric, "unit"), "bytes") == 0;

		assert_int_equal(strncmp(json_text(metric, "name"), "jemalloc_probe.", 15), 0);
		assert_true(is_bytes == (strstr(json_text(metric, "name"), "allocated_bytes") != NULL));
		if (strcmp(json_text(metric, "name"),
			   "jemalloc_probe.snapshots.0.threads.0.allocated_bytes") == 0)
			assert_between("value", json_u64(metric, "value"), 16 * MIB, 20 * MIB);
	}
	yajl_tree_free(tree);
	free(after);
}

static void test_sidecar(void **state)
{
	const char *sidecar = scratch_path("t.ktstr.json");
	const char *lock = scratch_path("t.ktstr.json.lock");
	const char *link = scratch_path("link.json");
	const char *const arguments[] = {"--sidecar", sidecar, NULL};
	const size_t insert_offset = (size_t)(strstr(test_result, "\n  ],\n  \"unknown\"") - test_result) + 3;
	struct stat status;
	struct target target;
	struct run run;
	char *first;
	size_t length;

	(void)state;
	start_target(&target, "hold");
	write_file(sidecar, test_result, strlen(test_result));
	assert_int_equal(chmod(sidecar, 0640), 0);
	probe(&run, target.pid, arguments);
	run_expect(&run, 0);
	run_release(&run);
	assert_appended(sidecar, test_result, insert_offset, 1, "0");
	assert_int_equal(stat(sidecar, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_int_equal(stat(lock, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	/* another record behind the first, through a link: file and lock are those of its target */
	first = read_file(sidecar, &length);
	assert_int_equal(symlink("t.ktstr.json", link), 0);
	probe(&run, target.pid, (const char *[]){"--sidecar", link, NULL});
	run_expect(&run, 0);
	run_release(&run);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(access(scratch_path("link.json.lock"), F_OK), -1);
	assert_appended(sidecar, first, length - (strlen(test_result) - insert_offset), 2, "0");
	free(first);
	end_target(&target);
}

static void test_sidecar_refused(void **state)
{
	static const char *const contents[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"metrics\":{}}",
		"{\"metrics\":[],\"metrics\":[]}",
		"{\"metrics\":[]} x",
		"{\"metrics\":[],}",
	};
	const char *sidecar = scratch_path("bad.json");
	const char *const arguments[] = {"--sidecar", sidecar, "--json", NULL};
	char digits[24];
	const char *whole[] = {CTOP_PROGRAM, "probe", "--sidecar", sidecar, "--pid", NULL, NULL};
	struct running running;
	struct target target;
	struct run run;
	int lock;

	(void)state;
	start_target(&target, "hold");
	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		char *after;
		size_t length;

		write_file(sidecar, contents[i], strlen(contents[i]));
		probe(&run, target.pid, arguments);
		run_expect(&run, 3);
		assert_non_null(strstr(run.output, "\"allocated_bytes\""));
		assert_true(says(&run, "run the test again"));
		run_release(&run);
		after = read_file(sidecar, &length);
		assert_string_equal(after, contents[i]);
		free(after);
	}
	/* somebody else holds the lock until the user has enough */
	write_file(sidecar, test_result, strlen(test_result));
	lock = open(scratch_path("bad.json.lock"), O_RDWR | O_CLOEXEC);
	assert_true(lock >= 0);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	whole[5] = number(digits, sizeof(digits), target.pid);
	run_start(&running, &ordinary, whole);
	run_wait_for_rest(&running);
	assert_int_equal(kill(running.child, SIGTERM), 0);
	run_finish(&running, &run, &ordinary);
	run_expect(&run, 3);
	assert_true(says(&run, "stopped while waiting"));
	run_release(&run);
	close(lock);
	/* one that was stopped before has not waited */
	run_start(&running, &ordinary,
		  (const char *[]){CTOP_PROGRAM, "probe", "--sidecar", sidecar, "--pid", digits,
				   "--snapshots", "2", "--interval-ms", "3600000", NULL});
	run_wait_for_rest(&running);
	assert_int_equal(kill(running.child, SIGTERM), 0);
	run_finish(&running, &run, &ordinary);
	run_expect(&run, 3);
	assert_true(says(&run, "bad.json: the run was stopped\n"));
	run_release(&run);
	end_target(&target);
}

static void test_full_output(void **state)
{
	static const char *const command[] = {"/bin/sh",    "-c", "exec \"$0\" probe --pid \"$1\" >/dev/full",
					      CTOP_PROGRAM, NULL, NULL};
	const char *arguments[6];
	char digits[24];
	struct target target;
	struct run run;

	(void)state;
	start_target(&target, "hold");
	memcpy(arguments, command, sizeof(arguments));
	arguments[4] = number(digits, sizeof(digits), target.pid);
	run_program(&run, &ordinary, arguments);
	run_expect(&run, 1);
	run_release(&run);
	end_target(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_fatal),
		cmocka_unit_test(test_thread_number),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_sidecar),
		cmocka_unit_test(test_sidecar_refused),
		cmocka_unit_test(test_full_output),
	};

	if (ALLOCATOR_PROGRAM[0] == '\0') {
		print_message("SKIP: jemalloc is not installed (libjemalloc-dev)\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
