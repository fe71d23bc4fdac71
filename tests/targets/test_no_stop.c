/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nothing is stopped: no call of ptrace(2) in anything that ctop does, and no context switch in parked
 * threads that were read; and where stops are allowed, a ctop that is killed leaves nobody stopped. Each has
 * a counterpart that shows that the measure would see a stop. `--long`: more kills.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"
#include "probe_run.h"

static unsigned int kills = 40;

static void pause_us(unsigned int us)
{
	const struct timespec pause = {us / 1000000, (long)us % 1000000 * 1000};

	nanosleep(&pause, NULL);
}

static const char *number_of(int number)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", number);
	return text;
}

/*
 * Runs ctop with such arguments under strace(1); returns the ptrace calls of it and of its children, as text.
 */
static char *traced_calls(const char *const *arguments)
{
	/* stopped at each system call, ctop's readers would not answer in time */
	const char *strace[24] = {"/usr/bin/strace", "-f", "--seccomp-bpf", "-qq", "-e",
				  "trace=ptrace",    "-e", "signal=none",   "-o",  scratch_path("trace"),
				  CTOP_PROGRAM};
	size_t count = 11;
	struct run run;
	char *calls;

	if (access(strace[0], X_OK) != 0)
		skip_test("strace is not installed");
	while (*arguments != NULL && count < 23)
		strace[count++] = *arguments++;
	run_program(&run, NULL, strace);
	run_expect(&run, 0);
	run_release(&run);
	calls = read_file(scratch_path("trace"), NULL);
	assert_non_null(calls);
	return calls;
}

static void expect_no_ptrace(const char *const *arguments)
{
	char *calls = traced_calls(arguments);

	/* of a child that is killed as strace attaches to it there is a line without a call */
	if (strstr(calls, "ptrace(") != NULL)
		fail_msg("%s", calls);
	free(calls);
}

static void test_no_ptrace(void **state)
{
	struct target target;
	char *calls;

	(void)state;
	target_start_named(&target, "5.3.0", "park", "50");
	expect_no_ptrace((const char *[]){"capture", "-o", scratch_path("traced.ctprof.zst"), NULL});
	expect_no_ptrace((const char *[]){"capture", "--allow-stop", "-o", scratch_path("traced.ctprof.zst"),
					  "-p", number_of(target.child), NULL});
	expect_no_ptrace((const char *[]){"probe", "--pid", number_of(target.child), NULL});
	expect_no_ptrace((const char *[]){"-b", "-n", "2", "-d", "0.2", "-t", "heap", NULL});
	target_end(&target);

	target_start_named(&target, "5.3.0", "bare", "2");
	calls = traced_calls((const char *[]){"probe", "--pid", number_of(target.child), NULL});
	assert_non_null(strstr(calls, "ptrace(PTRACE_SEIZE"));
	free(calls);
	target_end(&target);
}

/* voluntary_ctxt_switches and nonvoluntary_ctxt_switches of a thread (proc_pid_status(5)). */
static uint64_t context_switches(int pid, uint32_t tid)
{
	char path[64], *text, *line;
	uint64_t sum = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/status", pid, tid);
	text = read_file(path, NULL);
	assert_non_null(text);
	for (line = text; (line = strstr(line, "voluntary_ctxt_switches:")) != NULL; line++)
		sum += strtoull(strchr(line, ':') + 1, NULL, 10);
	free(text);
	return sum;
}

/* Whether it sleeps and has left its CPU and run queue: "running" instead of a system call until then
 * (proc_pid_syscall(5)). */
static bool is_off_cpu(int pid, uint32_t tid)
{
	char path[64], *text;
	bool result;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/syscall", pid, tid);
	text = read_file(path, NULL);
	result = text == NULL || strncmp(text, "running", strlen("running")) != 0;
	free(text);
	return result && target_state(pid, tid) == 'S';
}

/* It reports before it parks. */
static void wait_until_parked(const struct target *target)
{
	for (size_t i = 0; i < target->count; i++)
		await("a thread is parked", is_off_cpu(target->child, target->threads[i].tid));
}

/* How many threads of the target had a context switch while ctop ran. */
static size_t count_moved(const struct target *target, const char *const *arguments, unsigned int runs)
{
	uint64_t *before = calloc(target->count, sizeof(*before));
	size_t moved = 0;
	struct run run;

	assert_non_null(before);
	for (size_t i = 0; i < target->count; i++)
		before[i] = context_switches(target->child, target->threads[i].tid);
	for (unsigned int i = 0; i < runs; i++) {
		run_ctop(&run, NULL, arguments);
		run_expect(&run, 0);
		run_release(&run);
	}
	for (size_t i = 0; i < target->count; i++)
		moved += context_switches(target->child, target->threads[i].tid) != before[i];
	free(before);
	return moved;
}

static void test_no_context_switch(void **state)
{
	struct target target;
	char pid[16];

	(void)state;
	target_start_named(&target, "5.3.0", "park", "50");
	snprintf(pid, sizeof(pid), "%d", target.child);
	wait_until_parked(&target);
	/* stops are allowed: they are not needed */
	assert_int_equal(count_moved(&target,
				     (const char *[]){"probe", "--pid", pid, "--snapshots", "50",
						      "--interval-ms", "5", NULL},
				     1),
			 0);
	assert_int_equal(
		count_moved(&target,
			    (const char *[]){"capture", "-o", scratch_path("c.ctprof.zst"), "-p", pid, NULL},
			    10),
		0);
	target_end(&target);

	target_start_named(&target, "5.3.0", "bare", "50");
	snprintf(pid, sizeof(pid), "%d", target.child);
	wait_until_parked(&target);
	/* a thread that gets no CPU is not stopped in time, or has not gone on when it is looked at */
	await("a stop of each thread is seen",
	      count_moved(&target, (const char *[]){"probe", "--pid", pid, NULL}, 1) >= 50);
	target_end(&target);
}

static bool is_stopped(const struct target *target, size_t thread)
{
	const char state = target_state(target->child, target->threads[thread].tid);

	return state == 't' || state == 'T';
}

/* Whoever was being stopped when ctop died has to run on at once. */
static void expect_running_on(const struct target *target)
{
	for (size_t i = 0; i < target->count; i++)
		await("a thread that was stopped runs on", !is_stopped(target, i));
}

/* Starts a ctop that stops the threads of the target one by one. */
static pid_t start_stopping(const char *pid, bool captures)
{
	const char *path = scratch_path("killed.ctprof.zst");
	pid_t ctop = fork();

	if (ctop != 0)
		return ctop;
	if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
		_exit(126);
	if (captures)
		execl(CTOP_PROGRAM, CTOP_PROGRAM, "capture", "--allow-stop", "-o", path, "-p", pid,
		      (char *)NULL);
	execl(CTOP_PROGRAM, CTOP_PROGRAM, "probe", "--pid", pid, (char *)NULL);
	_exit(127);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void test_killed(void **state)
{
	struct target target;
	uint64_t duration;
	unsigned int seed = 1;
	char pid[16];
	yajl_val tree;

	(void)state;
	target_start_named(&target, "5.3.0", "bare", "1000");
	snprintf(pid, sizeof(pid), "%d", target.child);
	duration = now_us();
	waitpid(start_stopping(pid, true), NULL, 0);
	duration = now_us() - duration;
	for (unsigned int i = 0; i < kills; i++) {
		pid_t ctop = start_stopping(pid, i % 2 == 0);

		seed = seed * 1103515245 + 12345;
		pause_us((unsigned int)(seed / 65536 % duration)); /* any moment is right */
		assert_int_equal(kill(ctop, SIGKILL), 0);
		assert_int_equal(waitpid(ctop, NULL, 0), ctop);
		expect_running_on(&target);
	}
	/* they all answer, and nothing they count was touched */
	target_command(&target, "go");
	tree = probe_process(target.child, NULL, NULL, 0);
	expect_own_counts(probe_threads(tree, 0), &target);
	yajl_tree_free(tree);
	target_end(&target);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_ptrace),
		cmocka_unit_test(test_no_context_switch),
		cmocka_unit_test(test_killed),
	};
	const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_killed)};

	if (argc > 1 && strcmp(argv[1], "--long") == 0) {
		kills = 300;
		return cmocka_run_group_tests_name("no stop", long_tests, NULL, NULL);
	}
	return cmocka_run_group_tests_name("no stop", tests, NULL, NULL);
}
