/* SPDX-License-Identifier: GPL-2.0-only */
/* Live rounds: what they carry over, what they notice, who is stuck. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "base/memory.h"
#include "live.h"
#include "snapshot/thread_match.h"
#include "tests/cgroup.h"
#include "tests/measure.h"
#include "tests/wait.h"
#include "window/window.h"

enum {
	MIXED_THREADS = 8,
	ROTATION = 10, /* rounds after which nothing is old */
};

static pid_t test_pid;

struct name {
	char text[16];
};

/* A name that no other run of this test on the host gives to its threads. */
static struct name own_name(const char *word)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "%s-%u", word, (unsigned int)test_pid % 10000000);
	return name;
}

/* Threads of a child that bear their names. */
static atomic_uint named;

static void *mixed(void *argument)
{
	unsigned int index = (unsigned int)(uintptr_t)argument;
	char name[16], text[64] = "";
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	snprintf(name, sizeof(name), "mixed-%u", index);
	pthread_setname_np(pthread_self(), name);
	atomic_fetch_add(&named, 1);
	for (;;) {
		switch (index % 4) {
		case 0:
			pause();
			break;
		case 1:
			live_spin_ms(2);
			break;
		case 2:
			if (write(null, text, sizeof(text)) < 0)
				_exit(1);
			break;
		default:
			munmap(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0),
			       4096);
		}
		live_sleep_ms(3);
	}
	return NULL;
}

static void run_mixed(void *argument)
{
	pthread_t thread;

	(void)argument;
	prctl(PR_SET_NAME, "mixed");
	for (uintptr_t i = 0; i < MIXED_THREADS; i++) {
		if (pthread_create(&thread, NULL, mixed, (void *)i) != 0)
			_exit(1);
	}
	if (!wait_until(atomic_load(&named) == MIXED_THREADS))
		_exit(1);
}

static const enum metric counters[] = {
	METRIC_RUN_TIME_NS,
	METRIC_WAIT_TIME_NS,
	METRIC_TIMESLICES,
	METRIC_VOLUNTARY_CSW,
	METRIC_NONVOLUNTARY_CSW,
	METRIC_MINFLT,
	METRIC_MAJFLT,
	METRIC_UTIME_CLOCK_TICKS,
	METRIC_STIME_CLOCK_TICKS,
	METRIC_RCHAR,
	METRIC_WCHAR,
	METRIC_SYSCR,
	METRIC_SYSCW,
	METRIC_READ_BYTES,
	METRIC_NR_MIGRATIONS,
	METRIC_HIWATER_RSS_BYTES,
};

static const enum metric facts[] = {METRIC_POLICY, METRIC_NICE, METRIC_PRIORITY, METRIC_RT_PRIORITY,
				    METRIC_NR_THREADS};

/*
 * Returns how far a counter of a round may be from that of another capture. The kernel divides clock ticks
 * anew at each reading. Its files show run time as of the last tick. From waits each capture subtracts the
 * sleep that it saw itself (struct task_slept).
 */
static uint64_t slack_of(enum metric counter)
{
	if (live_backend != CAPTURE_BACKEND_BPF)
		return 0;
	if (counter == METRIC_RUN_TIME_NS || counter == METRIC_WAIT_TIME_NS)
		return NS_PER_TICK;
	return metric_type(counter)->ladder == LADDER_TICKS;
}

/* Every counter of the round lies between a full capture before it and one after it. */
static void compare(const struct snapshot *before, const struct snapshot *round, const struct snapshot *after)
{
	assert_int_equal(round->thread_count, after->thread_count);
	for (size_t row = 0; row < round->thread_count; row++) {
		assert_int_equal(round->tid[row], after->tid[row]);
		assert_int_equal(round->start_time[row], after->start_time[row]);
		assert_int_equal(round->uid[row], after->uid[row]);
		assert_string_equal(live_comm(round, (long)row), live_comm(after, (long)row));
		assert_string_equal(live_pcomm(round, (long)row), live_pcomm(after, (long)row));
		assert_string_equal(live_cgroup(round, (long)row), live_cgroup(after, (long)row));
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
			uint64_t value = snapshot_value(round, row, counters[i]);
			const uint64_t slack = slack_of(counters[i]);

			if (value + slack < snapshot_value(before, row, counters[i]) ||
			    value > snapshot_value(after, row, counters[i]) + slack)
				fail_msg("%s of %s: %llu is not between %llu and %llu",
					 metric_type(counters[i])->name, live_comm(round, (long)row),
					 (unsigned long long)value,
					 (unsigned long long)snapshot_value(before, row, counters[i]),
					 (unsigned long long)snapshot_value(after, row, counters[i]));
			assert_int_equal(live_reason(round, (long)row, counters[i]),
					 live_reason(after, (long)row, counters[i]));
		}
		for (size_t i = 1; i < sizeof(facts) / sizeof(facts[0]); i++)
			assert_int_equal(snapshot_value(round, row, facts[i]),
					 snapshot_value(after, row, facts[i]));
		assert_string_equal(
			snapshot_text(round, (uint32_t)snapshot_value(round, row, METRIC_POLICY)),
			snapshot_text(after, (uint32_t)snapshot_value(after, row, METRIC_POLICY)));
	}
}

static void test_rounds_agree_with_full_captures(void **state)
{
	pid_t child = live_start(run_mixed, NULL);
	uint32_t scope = (uint32_t)child;
	struct capture *rounds = live_open(&scope, 1), *full = live_open(&scope, 1);

	(void)state;
	for (int i = 0; i < 25; i++) {
		struct snapshot *before = live_full(full), *round = live_round(rounds),
				*after = live_full(full);

		assert_int_equal(round->thread_count, MIXED_THREADS + 1);
		compare(before, round, after);
		snapshot_release(before);
		snapshot_release(round);
		snapshot_release(after);
		live_sleep_ms(5);
	}
	/* a full capture in between changes nothing for the rounds after it */
	snapshot_release(live_full(rounds));
	snapshot_release(live_round(rounds));
	live_end(child);
	capture_close(rounds);
	capture_close(full);
}

/* The files of threads that stand still need not be read again; their numbers count as read just now. */
static void test_parked_threads_count_as_read(void **state)
{
	pid_t child = live_start(run_mixed, NULL);
	uint32_t scope = (uint32_t)child;
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *round;
	long row;

	(void)state;
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	for (int i = 0; i < 2 * ROTATION; i++) {
		uint64_t began;

		round = live_round(capture);
		began = round->provenance.boottime_ns;
		for (row = 0; row < (long)round->thread_count; row++) {
			assert_int_equal((char)snapshot_value(round, (size_t)row, METRIC_STATE), 'T');
			assert_true(snapshot_read_time(round, (size_t)row, METRIC_WCHAR) >= began);
			assert_true(snapshot_read_time(round, (size_t)row, METRIC_RUN_TIME_NS) >= began);
		}
		snapshot_release(round);
	}
	live_end(child);
	capture_close(capture);
}

struct controlled {
	int commands[2], answers[2];
};

/* The thread of a child that was parked last. */
static atomic_int parked_thread;

static void *park(void *argument)
{
	(void)argument;
	atomic_store(&parked_thread, gettid());
	for (;;)
		pause();
	return NULL;
}

static void obey(void *argument)
{
	struct controlled *controlled = argument;
	pthread_t parked;
	char command;

	prctl(PR_SET_NAME, "before");
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&parked, NULL, park, NULL) != 0)
		_exit(1);
	if (!wait_until(atomic_load(&parked_thread) != 0) ||
	    !live_wait_for_sleep(getpid(), atomic_load(&parked_thread)))
		_exit(1);
	while (read(controlled->commands[0], &command, 1) == 1) {
		cpu_set_t set;
		int cpus[2];

		live_find_cpus(cpus);
		CPU_ZERO(&set);
		CPU_SET((size_t)cpus[0], &set);
		if (command == 'n')
			prctl(PR_SET_NAME, "after)\n(");
		if (command == 'o')
			pthread_setname_np(parked, "renamed");
		if (command == 'a')
			sched_setaffinity(0, sizeof(set), &set);
		if (command == 'x')
			execl("/bin/sleep", "sleep", "60", (char *)NULL);
		if (write(controlled->answers[1], &(pid_t){getpid()}, sizeof(pid_t)) < 0)
			_exit(1);
	}
	_exit(0);
}

/* Has the child do something and waits until it is done; returns its process number. */
static pid_t command(const struct controlled *controlled, const char *letter)
{
	pid_t child;

	assert_int_equal(write(controlled->commands[1], letter, 1), 1);
	assert_int_equal(read(controlled->answers[0], &child, sizeof(child)), sizeof(child));
	return child;
}

static pid_t start_controlled(struct controlled *controlled, pid_t *ret_parent)
{
	assert_int_equal(pipe2(controlled->commands, O_CLOEXEC), 0);
	assert_int_equal(pipe2(controlled->answers, O_CLOEXEC), 0);
	*ret_parent = live_start(obey, controlled);
	return command(controlled, "p");
}

static void end_controlled(struct controlled *controlled, pid_t parent)
{
	live_end(parent);
	for (int i = 0; i < 2; i++) {
		close(controlled->commands[i]);
		close(controlled->answers[i]);
	}
}

/* Rounds until `test` holds, at most as many as the rotation takes. */
static bool becomes_true(struct capture *capture, uint32_t pid,
			 bool (*test)(const struct snapshot *round, long row))
{
	bool result = false;

	for (int i = 0; i <= ROTATION && !result; i++) {
		struct snapshot *round = live_round(capture);

		result = test(round, live_row(round, pid, pid));
		snapshot_release(round);
	}
	return result;
}

static bool is_renamed(const struct snapshot *round, long row)
{
	return strcmp(live_comm(round, row), "after)\n(") == 0 &&
	       strcmp(live_pcomm(round, row), "after)\n(") == 0;
}

static bool has_renamed(const struct snapshot *round, long row)
{
	(void)row;
	return live_count_named(round, "renamed", NULL) == 1;
}

static bool is_executed(const struct snapshot *round, long row)
{
	return strcmp(live_comm(round, row), "sleep") == 0;
}

static bool is_pinned(const struct snapshot *round, long row)
{
	uint32_t id = (uint32_t)snapshot_value(round, (size_t)row, METRIC_CPU_AFFINITY);

	return cpu_set_count(&round->cpu_sets, id) == 1;
}

static bool is_nicer(const struct snapshot *round, long row)
{
	return snapshot_value(round, (size_t)row, METRIC_NICE) == 11;
}

static bool is_batch(const struct snapshot *round, long row)
{
	return strcmp(snapshot_text(round, (uint32_t)snapshot_value(round, (size_t)row, METRIC_POLICY)),
		      "SCHED_BATCH") == 0;
}

static void test_changes_are_noticed(void **state)
{
	const struct sched_param parameters = {0};
	struct controlled controlled;
	pid_t parent, child = start_controlled(&controlled, &parent);
	struct capture *capture = live_open((uint32_t[]){(uint32_t)child}, 1);
	struct snapshot *round;

	(void)state;
	for (int i = 0; i < 3; i++)
		snapshot_release(live_round(capture));
	/* done to it while it sleeps: nothing of its own counts */
	setpriority(PRIO_PROCESS, (id_t)child, 11);
	assert_true(becomes_true(capture, (uint32_t)child, is_nicer));
	sched_setscheduler(child, SCHED_BATCH, &parameters);
	assert_true(becomes_true(capture, (uint32_t)child, is_batch));
	command(&controlled, "a");
	assert_true(becomes_true(capture, (uint32_t)child, is_pinned));
	command(&controlled, "n");
	round = live_round(capture);
	assert_true(is_renamed(round, 0));
	snapshot_release(round);
	/* a thread that sleeps is renamed by another one */
	command(&controlled, "o");
	round = live_round(capture);
	assert_int_equal(live_count_named(round, "renamed", NULL), live_has_taskstats() ? 1 : 0);
	snapshot_release(round);
	assert_true(becomes_true(capture, (uint32_t)child, has_renamed));
	assert_int_equal(write(controlled.commands[1], "x", 1), 1);
	assert_true(live_wait_for_name(child, "sleep"));
	round = live_round(capture);
	assert_true(is_executed(round, 0));
	snapshot_release(round);
	end_controlled(&controlled, parent);
	capture_close(capture);
}

static bool is_moved(const struct snapshot *round, long row)
{
	return strncmp(live_cgroup(round, row), "/ctop-test-round-", strlen("/ctop-test-round-")) == 0;
}

static bool write_text(const char *path, const char *text)
{
	int descriptor = open(path, O_WRONLY | O_CLOEXEC);
	bool good = descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text);

	if (descriptor >= 0)
		close(descriptor);
	return good;
}

static void test_cgroup_moves_are_noticed(void **state)
{
	static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char directory[64] = "", path[128], number[16];
	struct controlled controlled;
	pid_t parent, child;
	struct capture *capture;
	bool moved = false;

	(void)state;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]) && !moved; i++) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", roots[i]);
		snprintf(directory, sizeof(directory), "%s/ctop-test-round-%d", roots[i], (int)getpid());
		moved = access(path, W_OK) == 0 && test_cgroup_make(directory) == 0;
	}
	if (!moved)
		skip_test("cannot make a cgroup here");
	child = start_controlled(&controlled, &parent);
	capture = live_open((uint32_t[]){(uint32_t)child}, 1);
	snapshot_release(live_round(capture));
	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	snprintf(number, sizeof(number), "%d", child);
	moved = write_text(path, number) && becomes_true(capture, (uint32_t)child, is_moved);
	end_controlled(&controlled, parent);
	capture_close(capture);
	test_cgroup_remove(directory);
	assert_true(moved);
}

static pid_t fork_as(pid_t number)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "again");
		live_spin_ms(1);
		for (;;)
			pause();
	}
	return child;
}

/* The thread at its number in `before` has its index there where it is the same one, else none. */
static void expect_carried(const struct snapshot *before, const struct snapshot *round)
{
	assert_int_equal(round->carried_serial, before->serial);
	for (size_t row = 0; row < round->thread_count; row++) {
		long old = live_row(before, round->tgid[row], round->tid[row]);
		bool same = old >= 0 && before->start_time[old] == round->start_time[row];

		assert_int_equal(round->carried_row[row], same ? (uint32_t)old : UINT32_MAX);
	}
}

/* Another process under the number of one that was seen: nothing of the first one stays. */
static void test_reused_number(void **state)
{
	pid_t first = live_start(run_mixed, NULL);
	uint32_t scope = (uint32_t)first;
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *before, *bare, *after;
	pid_t second;
	long row;

	(void)state;
	live_sleep_ms(100);
	snapshot_release(live_round(capture));
	before = live_round(capture);
	live_end(first);
	second = fork_as(first);
	if (second < 0) {
		print_message("SKIP: cannot choose a process number (%s)\n", strerror(errno));
		snapshot_release(before);
		capture_close(capture);
		skip();
	}
	assert_true(live_wait_for_name(second, "again"));
	bare = live_round_needed(capture, source_bit(SOURCE_STAT));
	assert_int_equal(live_reason(bare, 0, METRIC_MINFLT), REASON_READ);
	if (live_backend == CAPTURE_BACKEND_PROCFS)
		assert_int_equal(live_reason(bare, 0, METRIC_WCHAR), REASON_NOT_READ);
	expect_carried(before, bare);
	snapshot_release(bare);
	after = live_round(capture);
	row = live_row(after, scope, scope);
	assert_int_equal(after->thread_count, 1);
	assert_string_equal(live_comm(after, row), "again");
	assert_true(after->start_time[row] > before->start_time[live_row(before, scope, scope)]);
	assert_int_equal(snapshot_value(after, (size_t)row, METRIC_NR_THREADS), 1);
	assert_true(snapshot_value(after, (size_t)row, METRIC_WCHAR) <=
		    snapshot_value(before, (size_t)live_row(before, scope, scope), METRIC_WCHAR));
	snapshot_release(before);
	snapshot_release(after);
	live_end(second);
	capture_close(capture);
}

static bool use_cpu(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) == 0;
}

/* The two that the starved thread and this test have. */
static int cpus[2];

static pid_t spin_as_fifo(const char *name, int priority)
{
	const struct sched_param parameters = {.sched_priority = priority};
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		for (;;)
			;
	}
	if (child < 0 || !live_wait_for_name(child, name) || !use_cpu(child, cpus[0]) ||
	    sched_setscheduler(child, SCHED_FIFO, &parameters) != 0)
		_exit(1);
	return child;
}

/* Two real-time threads on one CPU: the lower one never runs again. */
static void starve(void *argument)
{
	(void)argument;
	if (!use_cpu(0, cpus[1]))
		_exit(1);
	spin_as_fifo(own_name("hog").text, 2);
	spin_as_fifo(own_name("starved").text, 1);
}

static void wait_in_vfork(void *argument)
{
	(void)argument;
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, own_name("vforker").text);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, own_name("vforked").text);
		sleep(600);
		_exit(0);
	}
	for (;;)
		pause();
}

static void expect_stuck(const struct snapshot *round, const char *name, char state, uint64_t least_ns)
{
	long row = LIVE_NO_ROW;

	assert_int_equal(live_count_named(round, name, &row), 1);
	assert_int_equal((char)snapshot_value(round, (size_t)row, METRIC_STATE), state);
	assert_in_range(round->stuck_ns[row], least_ns, 60000000000);
}

/* A round and when it was taken, CLOCK_MONOTONIC ns. */
struct timed_round {
	struct snapshot *snapshot;
	uint64_t begin_ns, end_ns;
};

static struct timed_round take_timed(struct capture *capture)
{
	struct timed_round round = {.begin_ns = clock_ns(CLOCK_MONOTONIC)};

	round.snapshot = live_round(capture);
	round.end_ns = clock_ns(CLOCK_MONOTONIC);
	return round;
}

/* No counter says so, but between the rounds the thread did nothing but wait for a CPU. */
static void expect_waited(const struct timed_round *before, const struct timed_round *after, const char *name)
{
	bool *seen = memory_allocate_zero(before->snapshot->thread_count + 1, sizeof(*seen));
	uint32_t *from_of = thread_match(after->snapshot, before->snapshot, seen, NULL);
	const struct window window = {.now = after->snapshot,
				      .from = before->snapshot,
				      .from_of = from_of,
				      .mode = WINDOW_MODE_INTERVAL};
	const struct window_counter counter = window_counter_of(&window, METRIC_WAIT_TIME_NS);
	uint64_t waited = 0, elapsed = 0;
	long row = LIVE_NO_ROW;

	assert_int_equal(live_count_named(after->snapshot, name, &row), 1);
	assert_int_equal(window_change(&counter, (uint32_t)row, &waited, &elapsed), REASON_READ);
	assert_in_range(waited, after->begin_ns - before->end_ns, after->end_ns - before->begin_ns);
	free(from_of);
	free(seen);
}

/* On its way to another CPU, where this test runs before it, its wait so far is counted although it never
 * runs. */
static void expect_wait_is_counted(struct capture *capture)
{
	struct sched_param parameters = {.sched_priority = 3};
	struct snapshot *round;
	uint64_t waited;
	long row = LIVE_NO_ROW;

	assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &parameters), 0);
	round = live_round(capture);
	assert_int_equal(live_count_named(round, own_name("starved").text, &row), 1);
	waited = snapshot_value(round, (size_t)row, METRIC_WAIT_TIME_NS);
	assert_true(use_cpu((pid_t)round->tid[row], cpus[1]));
	snapshot_release(round);
	round = live_round(capture);
	parameters.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &parameters);
	assert_int_equal(live_count_named(round, own_name("starved").text, &row), 1);
	assert_true(snapshot_value(round, (size_t)row, METRIC_WAIT_TIME_NS) >= waited + 100000000);
	snapshot_release(round);
}

static void test_starved_thread_is_stuck(void **state)
{
	cpu_set_t before;
	struct capture *capture;
	struct timed_round last, next;
	long row;
	pid_t child;

	(void)state;
	need_capability(CAP_SYS_NICE, "keep a thread from its CPU by a realtime policy");
	if (!live_find_cpus(cpus))
		skip_test("needs two CPUs");
	measure_starved_begin();
	sched_getaffinity(0, sizeof(before), &before);
	use_cpu(0, cpus[1]);
	child = live_start(starve, NULL);
	capture = live_open(NULL, 0);
	live_sleep_ms(200);
	last = take_timed(capture);
	for (int i = 0; i < 2; i++) {
		live_sleep_ms(150);
		next = take_timed(capture);
		expect_stuck(next.snapshot, own_name("starved").text, 'R', 100000000 * (uint64_t)(i + 1));
		expect_waited(&last, &next, own_name("starved").text);
		assert_int_equal(live_count_named(next.snapshot, own_name("hog").text, &row), 1);
		assert_int_equal(next.snapshot->stuck_ns[row], 0);
		snapshot_release(last.snapshot);
		last = next;
	}
	snapshot_release(last.snapshot);
	expect_wait_is_counted(capture);
	live_end(child);
	capture_close(capture);
	sched_setaffinity(0, sizeof(before), &before);
	measure_starved_end();
}

/* The parent may need a CPU until it waits, and what it counts then shows one round later. */
static bool is_vfork_under_way(struct capture *capture)
{
	struct snapshot *round = live_round(capture);
	long row;
	bool result = live_count_named(round, own_name("vforked").text, &row) == 1 &&
		      (char)snapshot_value(round, (size_t)row, METRIC_STATE) == 'S' &&
		      live_count_named(round, own_name("vforker").text, &row) == 1 &&
		      (char)snapshot_value(round, (size_t)row, METRIC_STATE) == 'D' &&
		      round->stuck_ns[row] != 0;

	snapshot_release(round);
	return result;
}

static void test_thread_in_d_is_stuck(void **state)
{
	pid_t child = live_start(wait_in_vfork, NULL);
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *round;
	long row;

	(void)state;
	await("the parent is in D", is_vfork_under_way(capture));
	for (int i = 0; i < 2; i++) {
		live_sleep_ms(100);
		round = live_round(capture);
		expect_stuck(round, own_name("vforker").text, 'D', 80000000 * (uint64_t)(i + 1));
		assert_int_equal(live_count_named(round, own_name("vforked").text, &row), 1);
		assert_int_equal(round->stuck_ns[row], 0);
		snapshot_release(round);
	}
	live_end(child);
	capture_close(capture);
}

/* --- frozen threads --- */

/* A freezer: the directory of its cgroups, its control file, and the texts that freeze and thaw a cgroup. */
struct freezer {
	const char *root, *file, *frozen, *thawed;
};

/* The state of a thread in a new round, 0 if it has none. `*ret_stuck`: how long it has been stuck. */
static char state_now(struct capture *capture, uint32_t pid, uint64_t *ret_stuck)
{
	struct snapshot *round = live_round(capture);
	const long row = live_row(round, pid, pid);
	const char state = row >= 0 ? (char)snapshot_value(round, (size_t)row, METRIC_STATE) : '\0';

	if (ret_stuck != NULL)
		*ret_stuck = row >= 0 && round->stuck_ns != NULL ? round->stuck_ns[row] : 0;
	snapshot_release(round);
	return state;
}

static void expect_held(struct capture *capture, pid_t pid, char state)
{
	uint64_t stuck;

	await("it is held", state_now(capture, (uint32_t)pid, NULL) == state);
	live_sleep_ms(50);
	assert_int_equal(state_now(capture, (uint32_t)pid, &stuck), state);
	assert_int_equal(stuck, 0);
}

static pid_t find_named(struct capture *capture, const char *name)
{
	struct snapshot *round = live_round(capture);
	long row = LIVE_NO_ROW;
	const size_t count = live_count_named(round, name, &row);
	const pid_t found = count == 1 ? (pid_t)round->tid[row] : 0;

	snapshot_release(round);
	return found;
}

static void write_in(const char *directory, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (!write_text(path, text))
		fail_msg("cannot write %s to %s", text, path);
}

/* Whether a write took effect: the v1 freezer may need several (freezer-subsystem.rst). */
static bool is_written(const char *directory, const char *name, const char *text)
{
	char path[256], found[16] = "";
	FILE *file;

	write_in(directory, name, text);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	if (file != NULL && fgets(found, sizeof(found), file) != NULL)
		found[strcspn(found, "\n")] = '\0';
	if (file != NULL)
		fclose(file);
	return strcmp(found, text) == 0;
}

static void do_nothing(void *argument)
{
	(void)argument;
}

/*
 * Freezes a sleeping thread, a stopped one and one in vfork(2): none is stuck. The stopped one shows T, or F
 * with the v1 freezer since Linux 6.1.
 */
static void freeze(const struct freezer *freezer)
{
	struct capture *capture;
	pid_t children[3], members[4];
	char directory[128], number[16], held;

	snprintf(directory, sizeof(directory), "%s/ctop-test-frozen-%d", freezer->root, (int)test_pid);
	if (test_cgroup_make(directory) != 0)
		skip_test("cannot make a cgroup in that hierarchy");
	children[0] = live_start(do_nothing, NULL);
	children[1] = live_start(do_nothing, NULL);
	children[2] = live_start(wait_in_vfork, NULL);
	kill(children[1], SIGSTOP);
	capture = live_open(NULL, 0);
	await("the parent is in D", is_vfork_under_way(capture));
	members[0] = children[0];
	members[1] = children[1];
	members[2] = find_named(capture, own_name("vforker").text);
	members[3] = find_named(capture, own_name("vforked").text);
	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		snprintf(number, sizeof(number), "%d", (int)members[i]);
		write_in(directory, "cgroup.procs", number);
	}
	await("they are frozen", is_written(directory, freezer->file, freezer->frozen));
	expect_held(capture, members[0], 'F');
	expect_held(capture, members[2], 'F');
	held = state_now(capture, (uint32_t)members[1], NULL);
	assert_true(held == 'T' || (held == 'F' && freezer->thawed[0] == 'T'));
	write_in(directory, freezer->file, freezer->thawed);
	await("it sleeps again", state_now(capture, (uint32_t)members[0], NULL) == 'S');
	expect_held(capture, members[1], 'T');
	await("the parent is in D", is_vfork_under_way(capture));
	for (size_t i = 0; i < ARRAY_COUNT(children); i++)
		live_end(children[i]);
	capture_close(capture);
	test_cgroup_remove(directory);
}

static void test_frozen_by_v1(void **state)
{
	static const struct freezer freezer = {"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"};

	(void)state;
	freeze(&freezer);
}

static void test_frozen_by_v2(void **state)
{
	struct freezer freezer = {"/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0"};

	(void)state;
	if (access(freezer.root, F_OK) != 0)
		freezer.root = "/sys/fs/cgroup";
	freeze(&freezer);
}

/* Every round has the host's facts, like a full capture. Rounds in quick succession share them. */
static void test_host_facts(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct capture *capture = live_open(&self, 1);
	struct snapshot *first = live_round(capture), *second = live_round(capture),
			*full = live_full(capture);
	struct utsname name;

	(void)state;
	capture_close(capture);
	assert_int_equal(uname(&name), 0);
	for (size_t i = 0; i < 3; i++) {
		const struct host *host = &(i == 0 ? first : i == 1 ? second : full)->host;

		assert_true(host->present && host->online_cpus.present && host->numa_nodes.present);
		assert_string_equal(host->kernel_release, name.release);
		assert_true(host->total_memory_kib.value == full->host.total_memory_kib.value);
		assert_string_equal(host->kernel_cmdline, full->host.kernel_cmdline);
		assert_string_equal(host->task_delayacct, full->host.task_delayacct);
		assert_int_equal(host->sched_tunables.count, full->host.sched_tunables.count);
	}
	assert_ptr_equal(first->host.kernel_release, second->host.kernel_release);
	assert_ptr_not_equal(second->host.kernel_release, full->host.kernel_release);
	snapshot_release(first);
	snapshot_release(second);
	snapshot_release(full);
}

/* `-b` with one column reads nothing else; the other values are marked as not read. */
static void test_only_what_is_needed(void **state)
{
	pid_t child = live_start(run_mixed, NULL);
	uint32_t scope = (uint32_t)child;
	struct capture *capture = live_open(&scope, 1);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct snapshot *round = live_round_needed(capture, source_bit(SOURCE_SCHEDSTAT));

		assert_int_equal(live_reason(round, 0, METRIC_RUN_TIME_NS), REASON_READ);
		assert_true(snapshot_value(round, 0, METRIC_RUN_TIME_NS) != 0);
		assert_int_equal(live_reason(round, 0, METRIC_RCHAR), REASON_NOT_READ);
		assert_int_equal(live_reason(round, 0, METRIC_NR_MIGRATIONS), REASON_NOT_READ);
		assert_int_equal(round->provenance.tallies[SOURCE_IO].read, 0);
		/* without taskstats the names come from stat, which tells this too */
		if (live_has_taskstats())
			assert_null(round->stuck_ns);
		assert_string_equal(live_pcomm(round, 0), "mixed");
		snapshot_release(round);
	}
	live_end(child);
	capture_close(capture);
}

static size_t count_old(const struct snapshot *round, enum metric metric)
{
	size_t old = 0;

	for (size_t row = 0; row < round->thread_count; row++)
		old += snapshot_read_time(round, row, metric) < round->provenance.boottime_ns;
	return old;
}

/* Whether half of the threads or more kept the old time of what was not needed. */
static bool has_old(struct capture *capture)
{
	const struct capture_round_options nothing = {0};
	struct snapshot *round;
	size_t old;

	assert_int_equal(capture_round(capture, &nothing, NULL, &round, NULL), 0);
	assert_int_equal(count_old(round, METRIC_RUN_TIME_NS), 0);
	assert_int_equal(count_old(round, METRIC_MINFLT), 0);
	assert_int_equal(live_reason(round, 0, METRIC_NR_MIGRATIONS), REASON_READ);
	old = count_old(round, METRIC_NR_MIGRATIONS);
	assert_in_range(old, 0, MIXED_THREADS);
	snapshot_release(round);
	return old >= MIXED_THREADS / 2;
}

/* Sources that nobody needs keep their old time over the budget, and are read once they are needed. */
static void test_budget(void **state)
{
	pid_t child = live_start(run_mixed, NULL);
	uint32_t scope = (uint32_t)child;
	struct capture_options options = {
		.scope = &scope, .scope_count = 1, .backend = CAPTURE_BACKEND_PROCFS, .budget_percent = 1e-6};
	struct capture_round_options sched = {.needed = source_bit(SOURCE_SCHED)};
	struct capture *capture;
	struct snapshot *round;

	(void)state;
	assert_int_equal(capture_open(&options, &capture, NULL), 0);
	/* three of four threads move all the time, as soon as they get a CPU */
	await("half of the threads keep their old time", has_old(capture));
	assert_int_equal(capture_round(capture, &sched, NULL, &round, NULL), 0);
	assert_int_equal(count_old(round, METRIC_NR_MIGRATIONS), 0);
	snapshot_release(round);
	live_end(child);
	capture_close(capture);
}

static void *multiply(void *argument)
{
	pthread_t thread;

	for (;;) {
		live_sleep_ms(40);
		if (pthread_create(&thread, NULL, park, NULL) != 0)
			return argument;
	}
}

static void run_multiplying(void *argument)
{
	pthread_t thread;

	(void)argument;
	if (pthread_create(&thread, NULL, multiply, NULL) != 0)
		_exit(1);
}

/* The number of threads is that of now although the leader, in whose stat it is, stands still. */
static void test_thread_count_of_a_still_leader(void **state)
{
	pid_t child = live_start(run_multiplying, NULL);
	uint32_t scope = (uint32_t)child;
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *before = live_full(capture);

	(void)state;
	for (int i = 0; i < ROTATION; i++) {
		struct snapshot *round = live_round(capture);
		long row = live_row(round, scope, scope);

		/* by BPF it is that of the moment at which the pass met the leader, before it met the others
		 */
		assert_true(snapshot_value(round, (size_t)row, METRIC_NR_THREADS) >=
			    (live_backend == CAPTURE_BACKEND_BPF ? before : round)->thread_count);
		expect_carried(before, round);
		snapshot_release(before);
		before = round;
		live_sleep_ms(50);
	}
	snapshot_release(before);
	live_end(child);
	capture_close(capture);
}

/* No budget at all is not the default one. */
static void test_no_budget(void **state)
{
	uint32_t scope = (uint32_t)getpid();
	struct capture_options options = {
		.scope = &scope, .scope_count = 1, .backend = CAPTURE_BACKEND_PROCFS, .budget_percent = -1};
	struct capture_round_options nothing = {0};
	struct capture *capture;
	struct snapshot *round;

	(void)state;
	assert_int_equal(capture_open(&options, &capture, NULL), 0);
	assert_int_equal(capture_round(capture, &nothing, NULL, &round, NULL), 0);
	assert_int_equal(live_reason(round, 0, METRIC_MINFLT), REASON_READ);
	assert_int_equal(live_reason(round, 0, METRIC_NR_MIGRATIONS), REASON_NOT_READ);
	snapshot_release(round);
	capture_close(capture);
}

/* Rounds that do not show memory maps do not pass the readings of a full capture off as theirs. */
static void test_memory_maps_are_not_carried(void **state)
{
	uint32_t scope = (uint32_t)getpid();
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *full = live_full(capture), *round = live_round(capture);

	(void)state;
	assert_int_equal(full->provenance.tallies[SOURCE_SMAPS_ROLLUP].read, 1);
	assert_int_equal(round->smaps_count, 0);
	assert_int_equal(round->provenance.tallies[SOURCE_SMAPS_ROLLUP].read, 0);
	assert_int_equal(round->provenance.tallies[SOURCE_SMAPS_ROLLUP].missed[REASON_NOT_READ], 1);
	snapshot_release(full);
	snapshot_release(round);
	capture_close(capture);
}

int main(void)
{
	const struct CMUnitTest by_any[] = {
		cmocka_unit_test(test_rounds_agree_with_full_captures),
		cmocka_unit_test(test_parked_threads_count_as_read),
		cmocka_unit_test(test_changes_are_noticed),
		cmocka_unit_test(test_cgroup_moves_are_noticed),
		cmocka_unit_test(test_reused_number),
		cmocka_unit_test(test_starved_thread_is_stuck),
		cmocka_unit_test(test_thread_in_d_is_stuck),
		cmocka_unit_test(test_frozen_by_v1),
		cmocka_unit_test(test_frozen_by_v2),
		cmocka_unit_test(test_thread_count_of_a_still_leader),
		cmocka_unit_test(test_memory_maps_are_not_carried),
		cmocka_unit_test(test_host_facts),
	};
	/* what is read by BPF is read always */
	const struct CMUnitTest by_procfs[] = {
		cmocka_unit_test(test_only_what_is_needed),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_no_budget),
	};
	int failures;

	test_pid = getpid();
	failures = cmocka_run_group_tests_name("procfs", by_procfs, NULL, NULL) +
		   cmocka_run_group_tests_name("rounds from procfs", by_any, NULL, NULL);
	if (live_choose_bpf())
		failures += cmocka_run_group_tests_name("rounds by BPF", by_any, NULL, NULL);
	return failures;
}
