/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_blame [THREADS [FILTER]]: of the tests that FILTER stands for, with THREADS threads where there are
 * many.
 *
 * Who ran while others waited, as the programs in the kernel settle it: beside what the kernel itself counts
 * as wait and as run time of the same threads.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "base/release.h"
#include "capture/bpf/bpf_latency.h"
#include "live.h"
#include "tests/cgroup.h"
#include "tests/measure.h"
#include "tests/wait.h"

static const struct latency_calls no_calls;

enum {
	WINDOW_MS = 4000,
	SETTLE_MS = 1500,    /* until waits that began before measuring did are over */
	NICE_OF_A_THIRD = 5, /* 335 of 1,024: sched_prio_to_weight of kernel/sched/core.c */
	PATIENT = 10,        /* 110 of 1,024 */
	NICEST = -20,
	QUOTA_MS = 2, /* of CPU time in each period, where it is limited */
	PERIOD_MS = 10,
	SLACK = 20,   /* sleeps and wakeups at the ends of a window */
	WAIT_MS = 25, /* the longest wait that may cross an end of a window */
};

static const char *const other_names[] = {"(earlier)", "(wakeup)", "(throttled)", "(interrupts and steal)"};

static unsigned int many_threads = 200;

/* What is known of one measurement. */
struct blame {
	const struct latency_names *names[LATENCY_SLOTS];
	const char *victim;           /* its process name */
	double total, earlier, other; /* ns of the victim's */
	double wakes, own_wakes;      /* of the victim's threads: by anyone, by one another */
	double sleeps, waits; /* their voluntary switches, and how often they got a CPU, by the kernel */
	double unseen;        /* switches that the kernel did not tell of, at least */
	struct {
		char name[32];
		double time;
	} culprits[64];
	size_t culprit_count;
};

static void take_waits(void *context, const struct bpf_waits *waits)
{
	struct blame *blame = context;

	blame->names[waits->slot] = waits->names;
}

static void add_culprit(struct blame *blame, const char *name, double time)
{
	size_t i;

	for (i = 0; i < blame->culprit_count && strcmp(blame->culprits[i].name, name) != 0; i++)
		continue;
	if (i == sizeof(blame->culprits) / sizeof(blame->culprits[0]))
		return;
	if (i == blame->culprit_count) {
		blame->culprit_count++;
		snprintf(blame->culprits[i].name, sizeof(blame->culprits[i].name), "%s", name);
	}
	blame->culprits[i].time += time;
}

static void take_blame(void *context, const struct bpf_blame *pair)
{
	struct blame *blame = context;
	const struct latency_names *victim = blame->names[pair->victim], *culprit;

	if (victim == NULL || strcmp(victim->process, blame->victim) != 0)
		return;
	blame->total += (double)pair->time;
	blame->wakes += (double)pair->wakes;
	if (pair->culprit >= BLAME_EARLIER) {
		add_culprit(blame, other_names[pair->culprit - BLAME_EARLIER], (double)pair->time);
		return;
	}
	culprit = blame->names[pair->culprit];
	add_culprit(blame, culprit != NULL ? culprit->process : "(other)", (double)pair->time);
	if (culprit != NULL && strcmp(culprit->process, blame->victim) == 0)
		blame->own_wakes += (double)pair->wakes;
}

static double culprit_time(const struct blame *blame, const char *name)
{
	for (size_t i = 0; i < blame->culprit_count; i++) {
		if (strcmp(blame->culprits[i].name, name) == 0)
			return blame->culprits[i].time;
	}
	return 0;
}

/* Sums over all threads of a process: run time and wait, ns, and timeslices (/proc/PID/task/TID/schedstat).
 */
static void read_schedstat(pid_t process, double *ret_run, double *ret_wait, double *ret_count)
{
	char path[64];
	DIR *directory;
	const struct dirent *entry;

	*ret_run = *ret_wait = *ret_count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		unsigned long long run, wait, count;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", (int)process, entry->d_name);
		file = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
		if (file == NULL)
			continue;
		if (fscanf(file, "%llu %llu %llu", &run, &wait, &count) == 3) {
			*ret_run += (double)run;
			*ret_wait += (double)wait;
			*ret_count += (double)count;
		}
		fclose(file);
	}
	closedir(directory);
}

/* Voluntary switches of all threads of a process: /proc/PID/task/TID/status. */
static double read_sleeps(pid_t process)
{
	char path[64], line[128];
	DIR *directory;
	const struct dirent *entry;
	double sleeps = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		unsigned long long count;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)process, entry->d_name);
		file = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
		if (file == NULL)
			continue;
		while (fgets(line, sizeof(line), file) != NULL) {
			if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1)
				sleeps += (double)count;
		}
		fclose(file);
	}
	closedir(directory);
	return sleeps;
}

/* --- loads --- */

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void start_thread(void *(*body)(void *argument), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument) != 0)
		_exit(1);
}

static void *spin(void *argument)
{
	(void)argument;
	for (;;)
		live_spin_ms(1000);
	return NULL;
}

struct hog {
	const char *name;
	int niceness;
};

static void run_victim(void *argument)
{
	(void)argument;
	pin(0);
	prctl(PR_SET_NAME, "blamed-victim");
	start_thread(spin, NULL);
}

/* Stays in the kernel for seconds at a time: one readv(2) fills many buffers, all in the same memory. */
static void *fill(void *argument)
{
	static char piece[2 << 20];
	static struct iovec pieces[IOV_MAX];
	const int random = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < IOV_MAX; i++)
		pieces[i] = (struct iovec){piece, sizeof(piece)};
	while (readv(random, pieces, IOV_MAX) > 0)
		continue;
	return argument;
}

static void run_filler(void *argument)
{
	(void)argument;
	pin(0);
	prctl(PR_SET_NAME, "blamed-filler");
	start_thread(fill, NULL);
}

static void run_hog(void *argument)
{
	const struct hog *hog = argument;

	pin(0);
	setpriority(PRIO_PROCESS, 0, hog->niceness);
	prctl(PR_SET_NAME, hog->name);
	start_thread(spin, NULL);
}

static void *run_piece(void *argument)
{
	/* runs of 0.2 to 1.2 ms and sleeps between them: it moves from CPU to CPU */
	for (;;) {
		live_spin_ms(1);
		live_sleep_ms(1 + (unsigned int)(uintptr_t)argument % 7);
	}
	return NULL;
}

static void run_many(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "blamed-many");
	for (uintptr_t i = 0; i < many_threads; i++)
		start_thread(run_piece, (void *)i);
}

/* Two threads of one CPU that wake each other. */
struct player {
	int from, to;
};

static void *play(void *argument)
{
	const struct player *player = argument;
	char byte;

	while (read(player->from, &byte, 1) == 1 && write(player->to, &byte, 1) == 1)
		continue;
	return NULL;
}

static void run_ping_pong(void *argument)
{
	static struct player players[2];
	int there[2], back[2];

	(void)argument;
	pin(0);
	prctl(PR_SET_NAME, "blamed-ping");
	if (pipe(there) != 0 || pipe(back) != 0)
		_exit(1);
	players[0] = (struct player){back[0], there[1]};
	players[1] = (struct player){there[0], back[1]};
	start_thread(play, &players[0]);
	start_thread(play, &players[1]);
	if (write(back[1], "x", 1) != 1)
		_exit(1);
}

static void *spin_idle(void *argument)
{
	const struct sched_param parameters = {0};

	atomic_store((atomic_int *)argument, (int)syscall(SYS_gettid));
	sched_setscheduler(0, SCHED_IDLE, &parameters);
	return spin(NULL);
}

static void *move(void *argument)
{
	const pid_t thread = atomic_load((atomic_int *)argument);

	for (unsigned int cpu = 0;; cpu = !cpu) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(thread, sizeof(set), &set);
		live_sleep_ms(10);
	}
	return argument;
}

/* A thread that waits for most of the time, and is moved from one CPU to another meanwhile. */
static void run_moved(void *argument)
{
	static atomic_int moved;

	(void)argument;
	prctl(PR_SET_NAME, "blamed-moved");
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		pin(cpu);
		start_thread(spin, NULL);
	}
	start_thread(spin_idle, &moved);
	if (!wait_until(atomic_load(&moved) != 0))
		_exit(1);
	start_thread(move, &moved);
}

static void *storm(void *argument)
{
	for (;;) {
		const pid_t child = fork();

		if (child == 0) {
			live_spin_ms(1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return argument;
}

static void run_storm(void *argument)
{
	pin(0);
	prctl(PR_SET_NAME, "storm");
	start_thread(storm, argument);
}

/* --- measuring --- */

/* The waits of a process for some seconds: by blame, and by the kernel. NULL where it cannot be measured. */
static struct blame *measure(pid_t process, const char *victim, const pid_t hogs[], size_t hog_count,
			     double *ret_wait, double hog_runs[])
{
	struct feature_result result;
	struct arena arena = {0};
	struct bpf_latency *latency = bpf_latency_open(NULL, 0, &no_calls, &arena, &result);
	struct bpf_latency_cost cost;
	struct blame *blame;
	double run, before, count, runs_before[4];

	if (latency == NULL) {
		print_message("SKIP: %s\n", result.detail);
		arena_release(&arena);
		return NULL;
	}
	/* the two are read one after the other, without waiting in between */
	setpriority(PRIO_PROCESS, 0, NICEST);
	assert_int_equal(bpf_latency_switch(latency, true), 0);
	live_sleep_ms(SETTLE_MS);
	blame = calloc(1, sizeof(*blame));
	assert_non_null(blame);
	blame->victim = victim;
	for (size_t i = 0; i < hog_count; i++)
		read_schedstat(hogs[i], &runs_before[i], &run, &count);
	read_schedstat(process, &run, &before, &count);
	bpf_latency_read(latency, NULL, &cost);
	blame->sleeps = -read_sleeps(process);
	live_sleep_ms(WINDOW_MS);
	read_schedstat(process, &run, ret_wait, &blame->waits);
	bpf_latency_read(latency, &(struct bpf_latency_taker){take_waits, NULL, take_blame, blame}, &cost);
	blame->sleeps += read_sleeps(process);
	blame->unseen = (double)cost.unseen;
	*ret_wait -= before;
	blame->waits -= count;
	for (size_t i = 0; i < hog_count; i++) {
		read_schedstat(hogs[i], &hog_runs[i], &run, &count);
		hog_runs[i] -= runs_before[i];
	}
	setpriority(PRIO_PROCESS, 0, 0);
	bpf_latency_close(latency);
	arena_release(&arena);
	return blame;
}

static void print_blame(const struct blame *blame, double wait)
{
	print_message("%s: %.1f ms by schedstat, %.1f by blame (%.4f)\n", blame->victim, wait / 1e6,
		      blame->total / 1e6, blame->total / wait);
	print_message("  woken %.0f times, %.0f of them by itself; %.0f voluntary switches; %.0f not told\n",
		      blame->wakes, blame->own_wakes, blame->sleeps, blame->unseen);
	for (size_t i = 0; i < blame->culprit_count; i++)
		if (blame->culprits[i].time > 0.01 * wait)
			print_message("  %8.1f ms %s\n", blame->culprits[i].time / 1e6,
				      blame->culprits[i].name);
}

/*
 * The sum is what the kernel counts, within 2 in 100 and `slack` ns, and 95 of 100 of it have a name; and
 * each sleep ended with a wakeup.
 */
static bool is_whole(const struct blame *blame, double wait, double slack)
{
	print_blame(blame, wait);
	return blame->total > 0.98 * wait - slack && blame->total < 1.02 * wait + slack &&
	       culprit_time(blame, "(earlier)") < 0.05 * wait &&
	       blame->wakes > 0.98 * blame->sleeps - (double)SLACK &&
	       blame->wakes < 1.02 * blame->sleeps + (double)SLACK;
}

static void check_load(void (*body)(void *argument), const char *name, double own_wakes)
{
	const pid_t child = live_start(body, NULL);
	bool able = true, whole = false;

	assert_true(live_wait_for_name(child, name));
	for (int attempt = 0; attempt < 3 && able && !whole; attempt++) {
		double wait;
		struct blame *blame = measure(child, name, NULL, 0, &wait, NULL);

		able = blame != NULL;
		whole = able && is_whole(blame, wait, 0) && blame->own_wakes >= own_wakes * blame->wakes;
		free(blame);
	}
	live_end(child);
	if (!able)
		skip();
	assert_true(whole);
}

/* A thread's waits on every CPU count, not only those on the first and the last. */
static void test_moves(void **state)
{
	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_test("there is one CPU");
	check_load(run_moved, "blamed-moved", 0);
}

/* Of two that take a CPU 3 to 1, each has delayed the third for as long as it ran. */
static void test_hogs(void **state)
{
	static struct hog victim = {"blamed-victim", 0}, one = {"blamed-one", 0},
			  three = {"blamed-third", NICE_OF_A_THIRD};
	const pid_t child = live_start(run_hog, &victim);
	const pid_t hogs[2] = {live_start(run_hog, &one), live_start(run_hog, &three)};
	bool able = true, right = false;

	(void)state;
	assert_true(live_wait_for_name(child, victim.name) && live_wait_for_name(hogs[0], one.name) &&
		    live_wait_for_name(hogs[1], three.name));
	for (int attempt = 0; attempt < 3 && able && !right; attempt++) {
		double wait, runs[2], first, second;
		struct blame *blame = measure(child, victim.name, hogs, 2, &wait, runs);

		able = blame != NULL;
		if (!able)
			break;
		right = is_whole(blame, wait, 0);
		first = culprit_time(blame, one.name);
		second = culprit_time(blame, three.name);
		print_message("ran %.1f and %.1f ms: %.2f to 1; blamed %.2f to 1\n", runs[0] / 1e6,
			      runs[1] / 1e6, runs[0] / runs[1], first / second);
		right = right && first > 0.95 * runs[0] && first < 1.05 * runs[0] &&
			second > 0.95 * runs[1] && second < 1.05 * runs[1];
		free(blame);
	}
	live_end(child);
	live_end(hogs[0]);
	live_end(hogs[1]);
	if (!able)
		skip();
	assert_true(right);
}

/* The time in which a limit keeps threads from running is nobody else's fault. */
static void test_throttled(void **state)
{
	char group[TEST_CGROUP_PATH_SIZE], id[16];
	struct utsname kernel;
	bool able, right = false;
	pid_t child;

	(void)state;
	assert_int_equal(uname(&kernel), 0);
	if (release_is_older(kernel.release, 6, 6))
		skip_test("the kernel tells this since Linux 6.6");
	if (!test_cgroup_make_limited(group, QUOTA_MS, PERIOD_MS))
		skip_test("no cgroup with a limit of CPU time can be made here");
	child = live_start(run_victim, NULL);
	snprintf(id, sizeof(id), "%d", (int)child);
	able = test_cgroup_write(group, "cgroup.procs", id);
	for (int attempt = 0; attempt < 3 && able && !right; attempt++) {
		const double began = (double)clock_ns(CLOCK_MONOTONIC), before = test_cgroup_throttled(group);
		double wait, throttled;
		struct blame *blame = measure(child, "blamed-victim", NULL, 0, &wait, NULL);

		able = blame != NULL;
		if (!able)
			break;
		/* the kernel's number is of the time before the window too, in which programs were loaded */
		throttled = (test_cgroup_throttled(group) - before) * (double)WINDOW_MS * (double)NS_PER_MS /
			    ((double)clock_ns(CLOCK_MONOTONIC) - began);
		print_message("throttled: %.1f ms by the kernel\n", throttled / 1e6);
		right = is_whole(blame, wait, 0) && culprit_time(blame, "(throttled)") > 0.8 * throttled &&
			culprit_time(blame, "(throttled)") < 1.2 * throttled;
		free(blame);
	}
	live_end(child);
	test_cgroup_remove(group);
	if (!able)
		skip_test("waits cannot be measured here");
	assert_true(right);
}

/*
 * Measures the waits of a thread that stays in the kernel while its cgroup is throttled and threads of other
 * cgroups compete for the CPU. Returns NULL if that cannot be measured.
 */
static struct blame *measure_in_kernel(const char *group, double *ret_wait)
{
	struct hog hog = {"blamed-one", 0};
	/* with this many competitors, the filler never leaves the kernel */
	const pid_t children[] = {live_start(run_filler, NULL), live_start(run_victim, NULL),
				  live_start(run_hog, &hog), live_start(run_hog, &hog),
				  live_start(run_hog, &hog)};
	struct blame *blame = NULL;
	bool limited = true;
	char id[16];

	for (size_t i = 0; i < 2; i++) {
		snprintf(id, sizeof(id), "%d", (int)children[i]);
		limited = limited && test_cgroup_write(group, "cgroup.procs", id);
	}
	if (limited && test_cgroup_limit(group, QUOTA_MS, PERIOD_MS))
		blame = measure(children[0], "blamed-filler", NULL, 0, ret_wait, NULL);
	/* a throttled process cannot die: lift the limit first */
	(void)test_cgroup_limit(group, 0, PERIOD_MS);
	for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		live_end(children[i]);
	return blame;
}

/*
 * Since Linux 6.18 a limit stops a thread only on its return to user space (struct task_struct.throttled).
 * Until then it waits for the CPU like any other, even if a thread of its cgroup is already throttled.
 */
static void test_in_kernel_while_throttled(void **state)
{
	struct utsname kernel;
	char group[TEST_CGROUP_PATH_SIZE];
	bool able = true, right = false;

	(void)state;
	assert_int_equal(uname(&kernel), 0);
	if (release_is_older(kernel.release, 6, 18))
		skip_test("a limit of this kernel keeps threads in the kernel, too");
	if (!test_cgroup_make_limited(group, QUOTA_MS, PERIOD_MS))
		skip_test("no cgroup with a limit of CPU time can be made here");
	for (int attempt = 0; attempt < 3 && able && !right; attempt++) {
		double wait;
		struct blame *blame = measure_in_kernel(group, &wait);

		able = blame != NULL;
		right = able && is_whole(blame, wait, (double)WAIT_MS * 1e6) &&
			culprit_time(blame, "(throttled)") < 0.05 * wait;
		free(blame);
	}
	test_cgroup_remove(group);
	if (!able)
		skip_test("waits cannot be measured here");
	assert_true(right);
}

static void test_many_threads(void **state)
{
	(void)state;
	check_load(run_many, "blamed-many", 0);
}

static void test_ping_pong(void **state)
{
	(void)state;
	/* its threads wake one another */
	check_load(run_ping_pong, "blamed-ping", 0.99);
}

/* A wait over many more switches than a CPU keeps is charged to those that ran. */
static void test_long_wait(void **state)
{
	static struct hog patient = {"blamed-patient", PATIENT};
	const pid_t players = live_start(run_ping_pong, NULL), child = live_start(run_hog, &patient);
	bool able = true, right = false;

	(void)state;
	assert_true(live_wait_for_name(players, "blamed-ping") && live_wait_for_name(child, patient.name));
	for (int attempt = 0; attempt < 3 && able && !right; attempt++) {
		double wait, run, blamed, slack;
		struct blame *blame = measure(child, patient.name, &players, 1, &wait, &run);

		able = blame != NULL;
		if (!able)
			break;
		blamed = culprit_time(blame, "blamed-ping");
		/* a wait may cross each end of the window */
		slack = 2 * wait / blame->waits;
		right = is_whole(blame, wait, slack) && blamed > 0.9 * run - slack &&
			blamed < 1.1 * run + slack;
		print_message("%.1f ms a wait; the others ran for %.1f ms, %.1f by blame; %.1f%% earlier\n",
			      wait / blame->waits / 1e6, run / 1e6, blamed / 1e6,
			      culprit_time(blame, "(earlier)") * 100 / wait);
		free(blame);
	}
	/* Linux 6.18 waits for a kworker of that CPU when a process has ended, and the players can starve it
	 */
	live_end(players);
	live_end(child);
	if (!able)
		skip();
	assert_true(right);
}

static void test_fork_storm(void **state)
{
	const pid_t child = live_start(run_storm, NULL);

	(void)state;
	check_load(run_victim, "blamed-victim", 0);
	live_end(child);
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hogs),         cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_many_threads), cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_long_wait),    cmocka_unit_test(test_fork_storm),
		cmocka_unit_test(test_moves),        cmocka_unit_test(test_in_kernel_while_throttled),
	};

	if (argument_count > 1)
		many_threads = (unsigned int)strtoul(arguments[1], NULL, 10);
	if (argument_count > 2)
		cmocka_set_test_filter(arguments[2]);
	measure_waits_beside_others();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
