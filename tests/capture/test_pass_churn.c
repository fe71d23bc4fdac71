/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes beside threads and processes that come, go and call execve(2): each thread that lives through a pass
 * is in it once, although the pass is made of several runs of a program between which others run.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "capture/bpf/task_decode.h"
#include "live.h"
#include "tests/wait.h"

enum {
	CROWD = 2000, /* threads that stay in one process, more than a run stores */
	GROUPS = 40,
	GROUP = 25,    /* threads that stay in each of so many other processes */
	STARTERS = 4,  /* threads that start others, which end at once */
	FORKERS = 2,   /* processes that start others, which end soon */
	CHILDREN = 20, /* so many at a time, each with a thread */
	EXECUTERS = 3, /* processes whose second thread executes the program again */
	STAYING = CROWD + GROUPS * GROUP,
	PASSES = 40,
	FULL_EVERY = 10, /* passes; the others are of what moved */
	STACK = 65536,
	NUMBERS = 1 << 22, /* PID_MAX_LIMIT of include/linux/threads.h */
};

/* Shared with the children. */
static struct {
	atomic_uint started; /* threads that stay */
	atomic_uint moves;   /* of the others */
	struct {
		pid_t process, thread;
	} staying[STAYING];
} * world;

static pthread_t start_thread(void *(*body)(void *argument))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, body, NULL) != 0)
		_exit(1);
	return thread;
}

static void *stay(void *argument)
{
	const unsigned int number = atomic_fetch_add(&world->started, 1);

	world->staying[number].process = getpid();
	world->staying[number].thread = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return argument;
}

static void *end_soon(void *argument)
{
	live_sleep_ms(1);
	return argument;
}

static void *start_others(void *argument)
{
	for (;;) {
		pthread_t threads[8];

		for (size_t i = 0; i < 8; i++)
			threads[i] = start_thread(end_soon);
		for (size_t i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
		atomic_fetch_add(&world->moves, 1);
	}
	return argument;
}

/* Threads that stay, and between them some that do not. */
static void run_crowd(void *argument)
{
	(void)argument;
	for (int i = 0; i < CROWD; i++) {
		start_thread(stay);
		if (i % (CROWD / STARTERS) == 0)
			start_thread(start_others);
	}
}

static void run_group(void *argument)
{
	(void)argument;
	for (int i = 0; i < GROUP; i++)
		start_thread(stay);
}

static void run_forker(void *argument)
{
	(void)argument;
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN); /* they are gone when they end */
	for (;;) {
		for (int i = 0; i < CHILDREN; i++) {
			if (fork() != 0)
				continue;
			start_thread(end_soon);
			live_sleep_ms(1);
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
		atomic_fetch_add(&world->moves, 1);
	}
}

/* The process that an executer ends with; execve(2) by another thread loses PR_SET_PDEATHSIG. */
static char parent_number[16];

static void *execute(void *argument)
{
	static char program[] = "/proc/self/exe", word[] = "execute";
	char *arguments[] = {program, word, parent_number, NULL};

	execv(program, arguments);
	_exit(1);
	return argument;
}

static _Noreturn void run_executer(const char *parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != atoi(parent))
		_exit(0);
	snprintf(parent_number, sizeof(parent_number), "%s", parent);
	start_thread(execute);
	for (;;)
		pause();
}

static pid_t start_executer(void)
{
	char parent[16];
	pid_t child;

	snprintf(parent, sizeof(parent), "%d", getpid());
	child = fork();
	if (child == 0)
		run_executer(parent);
	return child;
}

/* --- the passes --- */

/* How often each task of the order is there, by the number of the thread. */
static unsigned char *times_met;

/* That a leader which executes is not met before as the thread that it was. */
static void expect_not_before(const struct bpf_pass *pass, const uint32_t *order, size_t count,
			      uint32_t leader)
{
	const struct task_record *record = bpf_pass_record(pass, leader);

	for (size_t i = 0; i < count; i++) {
		const struct task_record *other = bpf_pass_record(pass, order[i]);

		/* its number may be that of the leader before, its memory too, but then so is its start */
		if (order[i] < leader && other->tgid == record->tgid && other->task == record->task &&
		    other->start_boottime != record->start_boottime)
			fail_msg("the leader %u was met as %u, too", record->tid, other->tid);
	}
}

static void expect_whole_pass(const struct bpf_pass *pass, const pid_t executers[static EXECUTERS])
{
	memset(times_met, 0, NUMBERS);
	for (size_t i = 0; i < pass->row_count; i++) {
		const struct task_record *record = bpf_pass_record(pass, pass->order[i]);

		assert_int_equal(times_met[record->tid]++, 0);
		if (record->tid == record->tgid)
			expect_not_before(pass, pass->order, pass->row_count, pass->order[i]);
	}
	for (size_t i = 0; i < STAYING; i++) {
		if (times_met[world->staying[i].thread] != 1)
			fail_msg("thread %d of %d is not met, the %zuth of those that stay",
				 world->staying[i].thread, world->staying[i].process, i);
	}
	for (size_t i = 0; i < EXECUTERS; i++) {
		if (times_met[executers[i]] != 1)
			fail_msg("process %d that executes is not met", executers[i]);
	}
}

static void take_passes(const pid_t executers[static EXECUTERS])
{
	struct arena arena = {0};
	struct feature_result result;
	struct bpf_tasks *tasks = bpf_tasks_open(NULL, 0, 4 * STAYING, 0, NULL, &arena, &result);
	unsigned int walked = 0;
	struct bpf_pass pass;

	assert_non_null(tasks);
	for (int i = 0; i < PASSES; i++) {
		assert_int_equal(bpf_tasks_read(tasks, 0, i % FULL_EVERY == 0, NULL, &pass), 0);
		walked += pass.by_runs;
		expect_whole_pass(&pass, executers);
	}
	printf("%u of %d passes by runs\n", walked, PASSES);
	bpf_tasks_close(tasks);
	arena_release(&arena);
}

static void pin_to_this_cpu(cpu_set_t *ret_before)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned int)sched_getcpu(), &one);
	assert_int_equal(sched_getaffinity(0, sizeof(*ret_before), ret_before), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* All on one CPU: whatever happens while a pass is under way happens between two of its runs. */
static void test_each_thread_once(void **state)
{
	pid_t crowd, groups[GROUPS], forkers[FORKERS], executers[EXECUTERS];
	unsigned int moves;
	cpu_set_t cpus;

	(void)state;
	pin_to_this_cpu(&cpus);
	for (size_t i = 0; i < GROUPS; i++) {
		groups[i] = live_start(run_group, NULL);
		if (i < FORKERS)
			forkers[i] = live_start(run_forker, NULL);
		if (i < EXECUTERS)
			executers[i] = start_executer();
	}
	crowd = live_start(run_crowd, NULL);
	await("the threads that stay", atomic_load(&world->started) == STAYING);
	moves = atomic_load(&world->moves);
	take_passes(executers);
	await("threads and processes that come and go", atomic_load(&world->moves) > moves);
	live_end(crowd);
	for (size_t i = 0; i < GROUPS; i++)
		live_end(groups[i]);
	for (size_t i = 0; i < FORKERS; i++)
		live_end(forkers[i]);
	for (size_t i = 0; i < EXECUTERS; i++)
		live_end(executers[i]);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* --- what is not met --- */

/* Marks the threads in /proc: `times_met` becomes what it was and one more. */
static void mark_listed(void)
{
	DIR *processes = opendir("/proc"), *threads;
	struct dirent *process, *thread;

	assert_non_null(processes);
	while ((process = readdir(processes)) != NULL) {
		char path[300];

		snprintf(path, sizeof(path), "/proc/%s/task", process->d_name);
		threads = atoi(process->d_name) > 0 ? opendir(path) : NULL;
		while (threads != NULL && (thread = readdir(threads)) != NULL)
			times_met[atoi(thread->d_name)]++;
		if (threads != NULL)
			closedir(threads);
	}
	closedir(processes);
}

/* Takes a round. Returns how many threads procfs listed before and after it that it does not have. */
static size_t count_unseen(struct capture *capture, struct snapshot **ret_round)
{
	size_t count = 0;

	memset(times_met, 0, NUMBERS);
	mark_listed();
	*ret_round = live_full(capture);
	mark_listed();
	for (size_t i = 0; i < (*ret_round)->thread_count; i++)
		times_met[(*ret_round)->tid[i]] = 0;
	for (size_t i = 1; i < NUMBERS; i++)
		count += times_met[i] == 2;
	return count;
}

/* Whether a round says how many threads it lacks just if it does; it must not say so wrongly. */
static bool tells_unseen(struct capture *capture)
{
	struct snapshot *round;
	const size_t unseen = count_unseen(capture, &round);
	const struct feature_result *passes = &round->provenance.features[FEATURE_PASSES];
	bool tells = passes->state == FEATURE_STATE_PARTIAL;

	if (tells && unseen == 0)
		fail_msg("no thread is missing, but: %s", passes->detail);
	if (tells)
		assert_non_null(strstr(passes->detail, "are hidden from BPF"));
	snapshot_release(round);
	return tells == (unseen != 0);
}

/* By a second path: procfs. Some kernels keep processes from BPF, most do not. */
static void test_what_is_not_met(void **state)
{
	struct capture *capture = live_open(NULL, 0);

	(void)state;
	/* where few are missing and many start meanwhile, it is not known at once */
	await("what is missing to be told", tells_unseen(capture));
	for (int i = 0; i < 3; i++)
		tells_unseen(capture);
	capture_close(capture);
}

/* --- what is met twice --- */

/* The order of a pass of such records, as text: the index of each that is kept. */
static void expect_order(const struct task_record *records, size_t count, const char *expected)
{
	struct bpf_pass pass = {
		.count = count, .records = (const void *)records, .record_stride = sizeof(*records)};
	char text[64] = "";
	size_t kept;
	uint32_t *order = bpf_pass_order(&pass, &kept);

	for (size_t i = 0; i < kept; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i != 0 ? " " : "",
			 order[i]);
	assert_string_equal(text, expected);
	free(order);
}

#define TASK(process, thread, address)                                                                       \
	{                                                                                                    \
		.tgid = (process), .tid = (thread), .task = (address)                                        \
	}

static void test_what_is_met_twice(void **state)
{
	const struct task_record once[] = {TASK(9, 9, 1), TASK(9, 12, 2), TASK(4, 4, 3), TASK(9, 10, 4)};
	/* a process that was stored from its leader on again */
	const struct task_record again[] = {TASK(4, 4, 1), TASK(4, 5, 2), TASK(4, 6, 3), TASK(4, 4, 1),
					    TASK(4, 6, 3), TASK(4, 7, 4), TASK(8, 8, 5)};
	/* thread 6 has become the leader since it was met; and before it was met */
	const struct task_record after[] = {TASK(4, 4, 1), TASK(4, 5, 2), TASK(4, 6, 3), TASK(4, 4, 3)};
	const struct task_record before[] = {TASK(4, 4, 1), TASK(4, 5, 2), TASK(4, 4, 3)};
	/* a leader that ended had the memory that thread 6 has */
	const struct task_record reused[] = {TASK(4, 4, 1), TASK(4, 4, 2), TASK(4, 6, 2)};
	/* the leader's number is not the lowest one of its process */
	const struct task_record wrapped[] = {TASK(9, 9, 1), TASK(9, 2, 2), TASK(9, 9, 2), TASK(7, 7, 3)};

	(void)state;
	expect_order(once, 4, "2 0 3 1");
	expect_order(again, 7, "3 1 4 5 6");
	expect_order(after, 4, "3 1");
	expect_order(before, 3, "2 1");
	expect_order(reused, 3, "1 2");
	expect_order(wrapped, 4, "3 2");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest by_bpf[] = {
		cmocka_unit_test(test_each_thread_once),
		cmocka_unit_test(test_what_is_not_met),
	};
	const struct CMUnitTest pure[] = {cmocka_unit_test(test_what_is_met_twice)};
	int failures;

	if (argc == 3 && strcmp(argv[1], "execute") == 0)
		run_executer(argv[2]);
	failures = cmocka_run_group_tests_name("order", pure, NULL, NULL);
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	times_met = calloc(NUMBERS, 1);
	if (world == MAP_FAILED || times_met == NULL)
		return 1;
	if (live_choose_bpf())
		failures += cmocka_run_group_tests_name("churn", by_bpf, NULL, NULL);
	free(times_met);
	return failures;
}
