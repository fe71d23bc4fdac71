/* SPDX-License-Identifier: GPL-2.0-only */
/* The ages of present waits, from the kernel's data about a task. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "capture/bpf/task_decode.h"
#include "live.h"
#include "tests/wait.h"

enum {
	MOVE_TRIES = 200,
	SLEEP_ROUNDS = 3,
	SLEEP_ROUND_MS = 200,
	DELAY_MS = 5, /* of CPU time, after which a thread of the lowest priority owes the others much */
};

/* --- arithmetic --- */

/* A wait for a CPU is as old as the kernel's own note of it. */
static void test_queued(void **state)
{
	struct task_record record = {.last_queued = 700, .exec_start = 300};
	struct task_wait wait = task_wait_of(&record, 1000, NULL);

	(void)state;
	assert_int_equal(wait.ns, 300);
	assert_true(wait.queued);
	assert_false(wait.at_least);
	assert_int_equal(task_wait_of(&record, 0, NULL).ns, 0);
	assert_int_equal(task_wait_of(&record, 600, NULL).ns, 0); /* queued after the clock was read */
	record.flags = TASK_RUNNING;
	wait = task_wait_of(&record, 1000, NULL);
	assert_int_equal(wait.ns, 0);
	assert_false(wait.queued);
	/* about to be queued */
	record = (struct task_record){.exec_start = 300};
	wait = task_wait_of(&record, 1000, NULL);
	assert_int_equal(wait.ns, 0);
	assert_false(wait.queued);
	/* in D, but still on a queue to which it was moved */
	record = (struct task_record){.state = 2, .exec_start = 300, .last_queued = 900};
	wait = task_wait_of(&record, 1000, NULL);
	assert_int_equal(wait.ns, 700);
	assert_false(wait.queued);
}

/* Follows a task through one pass and expects its run delay and wait without sleep, in seconds. */
static void expect_left(struct task_slept *slept, struct task_record record, uint64_t second, uint64_t delay,
			uint64_t wait)
{
	record.last_queued *= NS_PER_S;
	record.run_delay *= NS_PER_S;
	task_slept_follow(slept, &record, second * NS_PER_S);
	task_slept_leave_out(slept, &record);
	assert_int_equal(record.run_delay, delay * NS_PER_S);
	if (record.state == 0)
		assert_int_equal(task_wait_of(&record, second * NS_PER_S, NULL).ns, wait * NS_PER_S);
}

/* The kernel counts a sleep as a wait from 10 s on: the part that passes observed is subtracted. */
static void test_queued_sleep(void **state)
{
	const struct task_record asleep = {.state = 1, .last_queued = 10, .run_delay = 3};
	const struct task_record waiting = {.last_queued = 10, .run_delay = 3};
	struct task_slept slept = {0};

	(void)state;
	expect_left(&slept, (struct task_record){.last_queued = 5, .run_delay = 2}, 6, 2, 1);
	expect_left(&slept, (struct task_record){.state = 1, .run_delay = 3}, 9, 3, 0);
	expect_left(&slept, asleep, 11, 3, 0);
	expect_left(&slept, asleep, 20, 3, 0);
	/* the task woke after the previous pass and now really waits */
	expect_left(&slept, waiting, 21, 3, 1);
	expect_left(&slept, waiting, 22, 3, 2);
	/* then it ran: 13 s counted in all, 10 of them asleep */
	expect_left(&slept, (struct task_record){.flags = TASK_RUNNING, .run_delay = 16}, 23, 6, 0);
	expect_left(&slept, (struct task_record){.state = 1, .run_delay = 17}, 24, 7, 0);
	/* the same once more; it waits again by the next pass */
	expect_left(&slept, (struct task_record){.state = 2, .last_queued = 25, .run_delay = 17}, 30, 7, 0);
	expect_left(&slept, (struct task_record){.last_queued = 33, .run_delay = 23}, 34, 8, 1);
	/* the scheduler's clock is unknown */
	slept = (struct task_slept){0};
	expect_left(&slept, asleep, 0, 3, 0);
	expect_left(&slept, (struct task_record){.state = 1, .run_delay = 16}, 0, 16, 0);
}

/* A sleep in steps: never shorter than it is, and not much longer; two of one moment differ by steps. */
static void test_sleep_steps(void **state)
{
	const uint64_t step = 131072, clock_ns = 10 * step + 1000;
	struct task_record record = {.state = 1, .exec_start = 3 * step + 300, .clock_lag = step + 200};
	struct task_sleep before = {.exec_start = record.exec_start};

	(void)state;
	before.ns = task_wait_of(&record, clock_ns, NULL).ns;
	before.clock_ns = clock_ns;
	assert_int_equal(before.ns, 6 * step + 1000);
	/* also of two moments */
	assert_int_equal(task_wait_of(&record, clock_ns + 7, &before).ns, 6 * step + 1007);
	record.exec_start = 9 * step + 300;
	assert_int_equal(task_wait_of(&record, clock_ns, NULL).ns, 1000); /* of 500 */
	record.exec_start = 9 * step - 300;
	assert_int_equal(task_wait_of(&record, clock_ns, NULL).ns, step + 1000);
}

#define MS(count) ((uint64_t)(count)*NS_PER_MS)

/* By how much the task clocks of two CPUs were seen to be apart. */
enum {
	LAG_MS = 200,
	OTHER_LAG_MS = LAG_MS + 1345,
};

/* A thread in D since 10,005 ms, having run for 5 ms on a CPU whose task clock was LAG_MS behind. */
static struct task_record blocked_record(void)
{
	return (struct task_record){
		.state = 2,
		.timeslices = 7,
		.last_arrival = MS(10000),
		.run_time = MS(60),
		.arrival_run_time = MS(55),
		.exec_start = MS(10005 - LAG_MS),
		.clock_lag = MS(LAG_MS),
	};
}

static void expect_wait(const struct task_record *record, uint64_t clock_ms, const struct task_sleep *before,
			uint64_t wait_ms, bool at_least)
{
	const struct task_wait wait = task_wait_of(record, MS(clock_ms), before);

	assert_int_equal(wait.ns, MS(wait_ms));
	assert_int_equal(wait.at_least, at_least);
	assert_false(wait.queued);
}

/* The state that a pass at that time remembers of the record. */
static struct task_sleep seen_at(const struct task_record *record, uint64_t clock_ms)
{
	return (struct task_sleep){
		.exec_start = record->exec_start,
		.timeslices = record->timeslices,
		.ns = task_wait_of(record, MS(clock_ms), NULL).ns,
		.clock_ns = MS(clock_ms),
	};
}

/* When a sleep is first seen. */
static void test_first_look(void **state)
{
	struct task_record record = blocked_record();

	(void)state;
	expect_wait(&record, 12005, NULL, 2000, false);
	expect_wait(&record, 0, NULL, 0, false);
	/* what a cell does not show, or a pass does not tell, is no difference */
	record.clock_lag = MS(LAG_MS + 20);
	expect_wait(&record, 12005, NULL, 1980, false);
	/* stolen since it left the CPU, or before: which is not known */
	record.clock_lag = MS(LAG_MS + 60);
	expect_wait(&record, 12005, NULL, 1940, true);
	expect_wait(&record, 20005, NULL, 9940, false);
	/* a lag that was read while it was being changed says nothing, and no more than since it had a CPU */
	record.clock_lag = MS(5000);
	expect_wait(&record, 12005, NULL, 0, true);
	record.clock_lag = 0;
	expect_wait(&record, 12005, NULL, 2005, false);
	/* how long it had the CPU is known of the fair class only */
	record = blocked_record();
	record.last_arrival = MS(5005);
	record.run_time = MS(5055);
	expect_wait(&record, 12005, NULL, 2000, false);
	record.flags = TASK_EXT;
	expect_wait(&record, 12005, NULL, 2000, true);
	record.flags = 0;
	record.priority = -51;
	expect_wait(&record, 12005, NULL, 2000, true);
	/* moved while it was still on its queue, which forgets when it left the CPU */
	record = blocked_record();
	record.exec_start = 0;
	expect_wait(&record, 12005, NULL, 0, true);
}

/* While it lasts a sleep ages as the wall does, whatever the task clocks say. */
static void test_sleep_goes_on(void **state)
{
	struct task_record record = blocked_record();
	struct task_sleep before;

	(void)state;
	record.clock_lag = MS(LAG_MS + 60);
	before = seen_at(&record, 12005);
	record.clock_lag = MS(LAG_MS + 120); /* stolen */
	expect_wait(&record, 13005, &before, 2940, true);
	record.clock_lag = MS(OTHER_LAG_MS); /* of another CPU */
	expect_wait(&record, 13005, &before, 2940, true);
	record.exec_start = 0; /* moved */
	expect_wait(&record, 13005, &before, 2940, true);
	before = (struct task_sleep){.timeslices = 7, .ns = MS(2940), .clock_ns = MS(13005)};
	expect_wait(&record, 14005, &before, 3940, true);
	/* once it has lasted for long, what was stolen at its beginning is nothing */
	expect_wait(&record, 19005, &before, 8940, false);
	/* one that was seen moved has a beginning that is not known, but goes on */
	before = seen_at(&record, 12005);
	assert_int_equal(before.ns, 0);
	expect_wait(&record, 13005, &before, 1000, true);
	/* a clock that is not known tells nothing */
	expect_wait(&record, 0, &before, 0, false);
}

/* Another one: the thread had a CPU in between. */
static void test_sleep_begins_anew(void **state)
{
	struct task_record record = blocked_record();
	const struct task_sleep before = seen_at(&record, 12005);

	(void)state;
	record.exec_start = MS(12805 - LAG_MS);
	record.last_arrival = MS(12800);
	record.timeslices++;
	expect_wait(&record, 13005, &before, 200, false);
	record.exec_start = 0;
	expect_wait(&record, 13005, &before, 0, true);
	/* its record was read while it went to sleep */
	record = blocked_record();
	record.exec_start = MS(10006 - LAG_MS);
	expect_wait(&record, 13005, &before, 2999, false);
}

static void test_sleeps(void **state)
{
	struct task_record record = {.state = 2};

	(void)state;
	assert_true(task_sleeps(&record));
	record.flags = TASK_RUNNING; /* about to */
	assert_false(task_sleeps(&record));
	record = (struct task_record){.state = 1, .exit_state = 0x20};
	assert_false(task_sleeps(&record));
	record = (struct task_record){.state = 0x200}; /* TASK_WAKING */
	assert_false(task_sleeps(&record));
	record = (struct task_record){.state = 0};
	assert_false(task_sleeps(&record));
}

/* --- live --- */

/* A thread of this process that sleeps, once it has used a CPU at the lowest priority. */
struct sleeper {
	pthread_t thread;
	atomic_int tid;
	int cpu;           /* CPU that the thread is bound to, or -1 */
	int wake[2];       /* a pipe */
	atomic_bool stays; /* after a wakeup, sleep again until the next one */
};

static void pin(pid_t tid, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	assert_int_equal(sched_setaffinity(tid, sizeof(cpus), &cpus), 0);
}

static void *sleep_after_work(void *argument)
{
	struct sleeper *sleeper = argument;
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	if (sleeper->cpu >= 0)
		pin(0, sleeper->cpu);
	setpriority(PRIO_PROCESS, (id_t)tid, 19);
	live_spin_ms(DELAY_MS);
	atomic_store(&sleeper->tid, tid);
	if (read(sleeper->wake[0], &byte, 1) != 1)
		return sleeper;
	return !atomic_load(&sleeper->stays) || read(sleeper->wake[0], &byte, 1) == 1 ? NULL : sleeper;
}

static void start_sleeper(struct sleeper *sleeper, int cpu)
{
	*sleeper = (struct sleeper){.cpu = cpu};
	assert_int_equal(pipe(sleeper->wake), 0);
	assert_int_equal(pthread_create(&sleeper->thread, NULL, sleep_after_work, sleeper), 0);
	while (atomic_load(&sleeper->tid) == 0)
		live_sleep_ms(1);
	assert_true(live_wait_for_sleep(getpid(), sleeper->tid));
}

static void end_sleeper(struct sleeper *sleeper)
{
	void *failed;

	assert_int_equal(write(sleeper->wake[1], "", 1), 1);
	pthread_join(sleeper->thread, &failed);
	assert_null(failed);
	close(sleeper->wake[0]);
	close(sleeper->wake[1]);
}

static uint64_t age_of(const struct snapshot *snapshot, const struct sleeper *sleeper, bool *ret_at_least)
{
	const long row = live_row(snapshot, (uint32_t)getpid(), (uint32_t)sleeper->tid);

	assert_true(row >= 0);
	assert_int_equal(snapshot_value(snapshot, (size_t)row, METRIC_STATE), 'S');
	*ret_at_least = (snapshot->thread_flags[row] & THREAD_WAIT_AT_LEAST) != 0;
	return snapshot->waiting_ns[row];
}

/*
 * The age of a sleep in two rounds is at most what the wall says, and in the second one older by the time
 * between the two. Returns whether the first one was marked. The clock of the scheduler is not made slower or
 * faster with the system's, by 1/2000 at most (adjtimex(2)).
 */
static bool expect_age(const struct sleeper *sleeper, uint64_t began_ns)
{
	const uint32_t own = (uint32_t)getpid();
	struct capture *capture = live_open(&own, 1);
	struct snapshot *first, *second;
	uint64_t clocks_ns[4], ages_ns[2], slack_ns;
	bool at_least[2];

	clocks_ns[0] = clock_ns(CLOCK_MONOTONIC);
	first = live_round(capture);
	clocks_ns[1] = clock_ns(CLOCK_MONOTONIC);
	live_sleep_ms(100);
	clocks_ns[2] = clock_ns(CLOCK_MONOTONIC);
	second = live_round(capture);
	clocks_ns[3] = clock_ns(CLOCK_MONOTONIC);
	ages_ns[0] = age_of(first, sleeper, &at_least[0]);
	ages_ns[1] = age_of(second, sleeper, &at_least[1]);
	slack_ns = (clocks_ns[3] - began_ns) / 2000 + NS_PER_US;
	assert_in_range(ages_ns[0], 0, clocks_ns[1] - began_ns + slack_ns);
	assert_in_range(ages_ns[1] - ages_ns[0], clocks_ns[2] - clocks_ns[1] - slack_ns,
			clocks_ns[3] - clocks_ns[0] + slack_ns);
	snapshot_release(first);
	snapshot_release(second);
	capture_close(capture);
	return at_least[0];
}

static void test_sleeper(void **state)
{
	const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	struct sleeper sleeper;

	(void)state;
	start_sleeper(&sleeper, -1);
	expect_age(&sleeper, began_ns);
	end_sleeper(&sleeper);
}

static atomic_bool burns;

static void *burn(void *argument)
{
	pin(0, *(const int *)argument);
	while (atomic_load(&burns))
		continue;
	return NULL;
}

/* Whether the kernel has forgotten when the thread left its CPU, as it shows in its file `sched`. */
static bool is_forgotten(pid_t tid)
{
	char path[64], line[256];
	double exec_start_ms = 1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/sched", (int)tid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "se.exec_start : %lf", &exec_start_ms) == 1)
			break;
	}
	if (file != NULL)
		fclose(file);
	return exec_start_ms == 0;
}

/*
 * A thread that goes to sleep while it owes others of its CPU time stays on the queue for a while, and is
 * moved with it: enqueue_entity() of kernel/sched/fair.c, since Linux 6.12.
 */
static bool move_sleeper(struct sleeper *sleeper, const int cpus[static 2])
{
	for (int i = 0; i < MOVE_TRIES; i++) {
		start_sleeper(sleeper, cpus[0]);
		live_sleep_ms(1);
		pin(sleeper->tid, cpus[1]);
		if (is_forgotten(sleeper->tid))
			return true;
		end_sleeper(sleeper);
	}
	return false;
}

/* Nothing tells when it went to sleep, but that it goes on sleeping is known. */
static void test_moved_sleeper(void **state)
{
	const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	struct sleeper sleeper;
	pthread_t burner;
	int cpus[2];
	bool moved;

	(void)state;
	if (!live_find_cpus(cpus))
		skip_test("needs two CPUs");
	atomic_store(&burns, true);
	assert_int_equal(pthread_create(&burner, NULL, burn, &cpus[0]), 0);
	moved = move_sleeper(&sleeper, cpus);
	atomic_store(&burns, false);
	pthread_join(burner, NULL);
	if (!moved)
		skip_test("the kernel moves no thread that sleeps (Linux 6.12 does), or does not tell");
	assert_true(expect_age(&sleeper, began_ns));
	end_sleeper(&sleeper);
}

/* The thread's waits for a CPU as counted by the kernel, ns. */
static uint64_t read_delay(pid_t tid)
{
	unsigned long long run, delay;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu %llu", &run, &delay), 2);
	fclose(file);
	return delay;
}

static uint64_t shown_delay(struct capture *capture, pid_t tid)
{
	struct snapshot *round = live_round(capture);
	const long row = live_row(round, (uint32_t)getpid(), (uint32_t)tid);
	uint64_t delay;

	assert_true(row >= 0);
	delay = snapshot_value(round, (size_t)row, METRIC_WAIT_TIME_NS);
	snapshot_release(round);
	return delay;
}

/* The kernel counts the sleep of a migrated thread as a wait for a CPU, although it waited for none. */
static void test_moved_sleep_is_no_wait(void **state)
{
	const uint32_t own = (uint32_t)getpid();
	uint64_t counted, shown, began_ns, seen = 0;
	struct sleeper sleeper;
	struct capture *capture;
	pthread_t burner;
	int cpus[2];
	bool moved;

	(void)state;
	if (!live_find_cpus(cpus))
		skip_test("needs two CPUs");
	capture = live_open(&own, 1);
	atomic_store(&burns, true);
	assert_int_equal(pthread_create(&burner, NULL, burn, &cpus[0]), 0);
	moved = move_sleeper(&sleeper, cpus);
	atomic_store(&burns, false);
	pthread_join(burner, NULL);
	if (!moved) {
		capture_close(capture);
		skip_test("the kernel moves no thread that sleeps (Linux 6.12 does), or does not tell");
	}
	counted = read_delay(sleeper.tid);
	shown = shown_delay(capture, sleeper.tid);
	began_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < SLEEP_ROUNDS; i++) {
		live_sleep_ms(SLEEP_ROUND_MS);
		/* the round sees it asleep later than this */
		seen = clock_ns(CLOCK_MONOTONIC) - began_ns;
		assert_int_equal(shown_delay(capture, sleeper.tid), shown);
	}
	atomic_store(&sleeper.stays, true);
	assert_int_equal(write(sleeper.wake[1], "", 1), 1);
	assert_true(wait_until(read_delay(sleeper.tid) != counted));
	counted = read_delay(sleeper.tid) - counted;
	shown = shown_delay(capture, sleeper.tid) - shown;
	print_message("%.1f ms counted by the kernel, %.1f shown, %.1f seen asleep\n", (double)counted / 1e6,
		      (double)shown / 1e6, (double)seen / 1e6);
	end_sleeper(&sleeper);
	capture_close(capture);
	if (counted < seen)
		skip_test("this kernel does not count the sleep");
	assert_in_range(shown, 0, counted - seen + NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(test_queued),       cmocka_unit_test(test_sleep_steps),
		cmocka_unit_test(test_first_look),   cmocka_unit_test(test_sleep_goes_on),
		cmocka_unit_test(test_sleeps),       cmocka_unit_test(test_sleep_begins_anew),
		cmocka_unit_test(test_queued_sleep),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_moved_sleeper),
		cmocka_unit_test(test_moved_sleep_is_no_wait),
	};
	int failures = cmocka_run_group_tests_name("arithmetic", pure, NULL, NULL);

	if (live_choose_bpf())
		failures += cmocka_run_group_tests_name("live", live, NULL, NULL);
	return failures;
}
