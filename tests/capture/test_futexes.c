/* SPDX-License-Identifier: GPL-2.0-only */
/* Futexes of this process: threads, waits and times against its own clocks. */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "base/memory.h"
#include "capture/call_text.h"
#include "live.h"
#include "tests/measure.h"

enum {
	MUTEXES = 3,
	CYCLES = 3,
	WAITERS_MOST = MUTEXES,
	HOLD_MS = 20,
	POOL = 4,
	MANY = 5000,
	TIMEOUT_NS = 200000,
	/* between a thread's own clock and its sleep, a wait */
	SLACK_NS = 1000000,
};

static pthread_mutex_t mutexes[MUTEXES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
					   PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_condition = PTHREAD_COND_INITIALIZER;
static bool pool_ends;

static struct capture *open_futexes(uint32_t process)
{
	const struct capture_options options = {
		.scope = &process,
		.scope_count = 1,
		.backend = live_backend,
		.futexes = true,
	};
	struct capture *capture;
	struct error error;

	assert_int_equal(capture_open(&options, &capture, &error), 0);
	return capture;
}

static struct snapshot *take_round(struct capture *capture)
{
	struct snapshot *snapshot = live_round_needed(capture, source_bit(SOURCE_WAIT));

	assert_true(snapshot->futexes.present);
	return snapshot;
}

/* A capture that measures this process, whose first round has been taken. */
static struct capture *open_measuring(void)
{
	struct capture *capture = open_futexes((uint32_t)getpid());
	struct snapshot *snapshot = take_round(capture);
	const struct feature_result result = snapshot->futexes.result;

	if (result.state != FEATURE_STATE_ON)
		print_message("%s\n", result.detail);
	snapshot_release(snapshot);
	if (result.state != FEATURE_STATE_ON) {
		capture_close(capture);
		skip_test("waits at futexes are not measured here");
	}
	return capture;
}

/* The futex within some memory; NULL for none. */
static const struct futex *find_futex(const struct snapshot *snapshot, const void *start, size_t size)
{
	const uint64_t address = (uint64_t)(uintptr_t)start;

	for (size_t i = 0; i < snapshot->futexes.count; i++) {
		const struct futex *futex = &snapshot->futexes.items[i];

		if (futex->address >= address && futex->address < address + size)
			return futex;
	}
	return NULL;
}

/* --- mutexes --- */

struct waiter {
	pthread_t thread;
	pthread_mutex_t *mutex;
	atomic_int tid;
	uint64_t waited_ns, delay_ns; /* by its own clock; on the run queue meanwhile */
};

static uint64_t run_delay_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	uint64_t delay = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %" SCNu64, &delay), 1);
	fclose(file);
	return delay;
}

static void *wait_for_mutex(void *argument)
{
	struct waiter *waiter = argument;
	uint64_t delay = run_delay_ns();
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	atomic_store(&waiter->tid, (int)syscall(SYS_gettid));
	pthread_mutex_lock(waiter->mutex);
	waiter->waited_ns = clock_ns(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(waiter->mutex);
	waiter->delay_ns = run_delay_ns() - delay;
	return NULL;
}

/* Sums of the threads' own clocks. */
struct contention {
	uint64_t waits, waited_ns, delay_ns, longest_ns;
};

/* Holds a mutex while some threads wait for it. */
static void contend(pthread_mutex_t *mutex, size_t count, unsigned int hold_ms, struct contention *sum)
{
	struct waiter waiters[WAITERS_MOST] = {0};

	pthread_mutex_lock(mutex);
	for (size_t i = 0; i < count; i++) {
		waiters[i].mutex = mutex;
		assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_for_mutex, &waiters[i]), 0);
		while (atomic_load(&waiters[i].tid) == 0)
			live_sleep_ms(1);
		assert_true(live_wait_for_sleep(getpid(), waiters[i].tid));
	}
	live_sleep_ms(hold_ms);
	pthread_mutex_unlock(mutex);
	for (size_t i = 0; i < count; i++) {
		pthread_join(waiters[i].thread, NULL);
		sum->waits++;
		sum->waited_ns += waiters[i].waited_ns;
		sum->delay_ns += waiters[i].delay_ns;
		if (waiters[i].waited_ns > sum->longest_ns)
			sum->longest_ns = waiters[i].waited_ns;
	}
}

/* A kernel may switch without an event, so that a wait is missing. */
static void expect_contention(struct measurement *measurement, const struct snapshot *snapshot,
			      const pthread_mutex_t *mutex, const struct contention *sum)
{
	const struct futex *futex = find_futex(snapshot, mutex, sizeof(*mutex));
	const double slack = (double)(sum->delay_ns + sum->waits * SLACK_NS);

	assert_non_null(futex);
	assert_int_equal(futex->threads, 0);
	measure_between(measurement, "waits", (double)futex->waits, (double)sum->waits, (double)sum->waits);
	measure_between(measurement, "time", (double)futex->time_ns, (double)sum->waited_ns - slack,
			(double)sum->waited_ns);
	measure_between(measurement, "longest wait", (double)futex->longest_ns,
			(double)sum->longest_ns - slack, (double)sum->longest_ns);
	assert_true(futex->is_lock);
	assert_non_null(futex->mapping);
	assert_non_null(strstr(futex->mapping, "test_capture_futexes ."));
}

static void measure_mutexes(struct measurement *measurement)
{
	struct capture *capture = open_measuring();
	struct contention sums[MUTEXES] = {0};
	struct snapshot *snapshot;

	for (size_t i = 0; i < MUTEXES; i++) {
		for (int cycle = 0; cycle < CYCLES; cycle++)
			contend(&mutexes[i], i + 1, HOLD_MS * (unsigned int)(i + 1), &sums[i]);
	}
	snapshot = take_round(capture);
	for (size_t i = 0; i < MUTEXES; i++)
		expect_contention(measurement, snapshot, &mutexes[i], &sums[i]);
	/* the longest first */
	assert_true(find_futex(snapshot, &mutexes[2], sizeof(mutexes[2])) <
		    find_futex(snapshot, &mutexes[0], sizeof(mutexes[0])));
	snapshot_release(snapshot);
	/* they are told once */
	snapshot = take_round(capture);
	assert_null(find_futex(snapshot, mutexes, sizeof(mutexes)));
	assert_false(snapshot->futexes.has_more);
	snapshot_release(snapshot);
	capture_close(capture);
}

static void test_mutexes(void **state)
{
	(void)state;
	for (struct measurement measurement = {0}; measure_again(&measurement);)
		measure_mutexes(&measurement);
}

/* --- a pool that is idle --- */

static void *wait_in_pool(void *tid)
{
	pthread_mutex_lock(&pool_mutex);
	atomic_store((atomic_int *)tid, (int)syscall(SYS_gettid));
	while (!pool_ends)
		pthread_cond_wait(&pool_condition, &pool_mutex);
	pthread_mutex_unlock(&pool_mutex);
	return NULL;
}

static void start_pool(pthread_t threads[static POOL])
{
	static atomic_int tids[POOL];

	pool_ends = false;
	for (size_t i = 0; i < POOL; i++) {
		atomic_store(&tids[i], 0);
		assert_int_equal(pthread_create(&threads[i], NULL, wait_in_pool, &tids[i]), 0);
		while (atomic_load(&tids[i]) == 0)
			live_sleep_ms(1);
		assert_true(live_wait_for_sleep(getpid(), tids[i]));
	}
}

static void end_pool(pthread_t threads[static POOL])
{
	pthread_mutex_lock(&pool_mutex);
	pool_ends = true;
	pthread_cond_broadcast(&pool_condition);
	pthread_mutex_unlock(&pool_mutex);
	for (size_t i = 0; i < POOL; i++)
		pthread_join(threads[i], NULL);
}

/* Its waits do not end, but their time is counted. They began before measuring did. */
static void test_pool(void **state)
{
	pthread_t threads[POOL];
	struct capture *capture;
	struct snapshot *snapshot;
	const struct futex *futex;
	uint64_t began[3], time_ns = 0;

	(void)state;
	start_pool(threads);
	began[0] = clock_ns(CLOCK_MONOTONIC);
	capture = open_measuring();
	for (int i = 0; i < 2; i++) {
		began[1] = clock_ns(CLOCK_MONOTONIC);
		live_sleep_ms(100);
		began[2] = clock_ns(CLOCK_MONOTONIC);
		snapshot = take_round(capture);
		futex = find_futex(snapshot, &pool_condition, sizeof(pool_condition));
		assert_non_null(futex);
		assert_int_equal(futex->threads, POOL);
		assert_int_equal(futex->waits, 0);
		assert_true(futex->time_ns >= POOL * (began[2] - began[1]));
		assert_true(futex->longest_ns >= began[2] - began[1]);
		time_ns += futex->time_ns;
		assert_true(time_ns <= POOL * (clock_ns(CLOCK_MONOTONIC) - began[0]));
		assert_false(futex->is_lock);
		snapshot_release(snapshot);
	}
	end_pool(threads);
	snapshot = take_round(capture);
	futex = find_futex(snapshot, &pool_condition, sizeof(pool_condition));
	assert_non_null(futex);
	assert_int_equal(futex->threads, 0);
	assert_true(futex->waits >= POOL - 1); /* a kernel may switch without an event */
	time_ns += futex->time_ns;
	assert_true(time_ns <= POOL * (clock_ns(CLOCK_MONOTONIC) - began[0]));
	snapshot_release(snapshot);
	capture_close(capture);
}

/* --- many addresses --- */

/* Waits at many futexes for a moment each. */
static void *wait_at_many(void *words)
{
	const struct timespec timeout = {.tv_nsec = TIMEOUT_NS};

	for (int i = 0; i < MANY; i++) {
		assert_int_equal(syscall(SYS_futex, (uint32_t *)words + i, FUTEX_WAIT_PRIVATE, 0, &timeout),
				 -1);
		assert_int_equal(errno, ETIMEDOUT);
	}
	return NULL;
}

static void test_many(void **state)
{
	uint32_t *words = memory_allocate_zero(MANY, sizeof(*words));
	struct capture *capture = open_measuring();
	struct snapshot *snapshot;
	const struct futexes *futexes;
	pthread_t thread;
	uint64_t waits = 0, time_ns = 0, began, ended;
	size_t kept = 0;

	(void)state;
	began = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(pthread_create(&thread, NULL, wait_at_many, words), 0);
	pthread_join(thread, NULL);
	ended = clock_ns(CLOCK_MONOTONIC);
	snapshot = take_round(capture);
	futexes = &snapshot->futexes;
	assert_true(futexes->count <= FUTEXES_MAX);
	assert_true(futexes->has_more);
	for (size_t i = 0; i < futexes->count; i++) {
		const struct futex *futex = &futexes->items[i];

		if (futex->address < (uintptr_t)words || futex->address >= (uintptr_t)(words + MANY))
			continue;
		kept++;
		waits += futex->waits;
		time_ns += futex->time_ns;
		assert_false(futex->is_lock);
		assert_non_null(futex->mapping);
	}
	assert_in_range(kept, FUTEXES_MAX - 10, FUTEXES_MAX);
	/* each was waited at once */
	assert_int_equal(waits, kept);
	assert_in_range(time_ns, kept * (TIMEOUT_NS / 2), ended - began);
	snapshot_release(snapshot);
	snapshot = take_round(capture);
	assert_false(snapshot->futexes.has_more);
	snapshot_release(snapshot);
	capture_close(capture);
	free(words);
}

/* --- rights --- */

static void look_without_bpf(void)
{
	pthread_t threads[POOL];
	struct capture *capture;
	struct snapshot *snapshot;
	const struct futex *futex;

	if (!live_refuse_bpf())
		return;
	live_backend = CAPTURE_BACKEND_PROCFS;
	start_pool(threads);
	capture = open_futexes((uint32_t)getpid());
	snapshot = take_round(capture);
	assert_int_not_equal(snapshot->futexes.result.state, FEATURE_STATE_ON);
	assert_non_null(snapshot->futexes.result.detail);
	futex = find_futex(snapshot, &pool_condition, sizeof(pool_condition));
	assert_non_null(futex);
	assert_int_equal(futex->threads, POOL);
	assert_int_equal(futex->time_ns, 0);
	assert_non_null(futex->mapping);
	snapshot_release(snapshot);
	capture_close(capture);
	end_pool(threads);
}

static void test_without_bpf(void **state)
{
	(void)state;
	assert_int_equal(live_run(look_without_bpf), 0);
}

static void look_as_stranger(void)
{
	struct capture *capture;
	struct snapshot *snapshot;

	assert_int_equal(setgroups(0, NULL), 0);
	assert_int_equal(setgid(65534), 0);
	assert_int_equal(setuid(65534), 0);
	live_backend = CAPTURE_BACKEND_AUTOMATIC;
	capture = open_futexes((uint32_t)getppid());
	snapshot = take_round(capture);
	assert_int_equal(snapshot->futexes.count, 0);
	assert_false(snapshot->futexes.has_more);
	assert_int_equal(snapshot->futexes.result.reason, REASON_NOT_PERMITTED);
	assert_non_null(strstr(snapshot->futexes.result.detail, "may trace the process"));
	snapshot_release(snapshot);
	capture_close(capture);
}

/* A pool of the parent waits meanwhile. */
static void test_stranger(void **state)
{
	pthread_t threads[POOL];

	(void)state;
	need_to_become_nobody();
	start_pool(threads);
	assert_int_equal(live_run(look_as_stranger), 0);
	end_pool(threads);
}

/* --- names of mappings --- */

static void test_mappings(void **state)
{
	static const char maps[] = "1000-2000 r-xp 00000000 08:01 7    /usr/lib/lib one.so\n"
				   "2000-3000 rw-p 00001000 08:01 7    /usr/lib/lib one.so\n"
				   "3000-4000 rw-p 00000000 00:00 0 \n"
				   "4000-5000 rw-p 00000000 00:00 0    [heap]\n"
				   "7000-8000 rw-p 00000000 00:00 0 \n"
				   "8000-9000 rw-s 00000000 00:01 9    /dev/shm/x (deleted)\n"
				   "9000-a000 rw-p 00000000 00:00 0 \n";
	static const uint64_t addresses[] = {0,      0xfff,  0x1000, 0x2000, 0x2fff, 0x3004,
					     0x4004, 0x6004, 0x7004, 0x8004, 0x9004, 0xa000};
	struct buffer lines = {0};

	(void)state;
	call_text_append_mappings(&lines, (struct text){maps, sizeof(maps) - 1}, addresses,
				  ARRAY_COUNT(addresses));
	assert_string_equal(lines.data, "\n\nlib one.so\nlib one.so .data\nlib one.so .data\n"
					"lib one.so .bss\n[heap]\n\nanonymous\nx (deleted)\nanonymous\n\n");
	buffer_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),    cmocka_unit_test(test_mutexes),
		cmocka_unit_test(test_pool),        cmocka_unit_test(test_many),
		cmocka_unit_test(test_without_bpf), cmocka_unit_test(test_stranger),
	};
	const int status = cmocka_run_group_tests_name("procfs", tests, NULL, NULL);

	if (!live_choose_bpf())
		return status;
	return cmocka_run_group_tests_name("BPF", tests, NULL, NULL) + status;
}
