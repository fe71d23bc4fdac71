/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe on living programs with real jemallocs: what it reads is what each parked thread counts itself,
 * and it stops nobody who did not allow it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../measure.h"
#include "../wait.h"
#include "base/memory.h"
#include "base/supervisor.h"
#include "probe/probe.h"
#include "probe/thread_reader.h"
#include "nobody.h"
#include "tests/targets/target_process.h"

#define SECOND UINT64_C(1000000000)

#if defined(__aarch64__)
#define DYNAMIC_LINKER "/lib/ld-linux-aarch64.so.1"
#else
#define DYNAMIC_LINKER "/lib64/ld-linux-x86-64.so.2"
#endif

enum {
	THREADS_MAX = 4096,
};

static struct probe_thread threads[THREADS_MAX];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static struct probe *create(bool allow_stop)
{
	return probe_create(&(struct probe_options){.allow_stop = allow_stop});
}

/* Looks until it is known what the process is. */
static const struct probe_process *look(struct probe *probe, const struct target *target)
{
	const uint64_t deadline = now_ns() + WAIT_AT_MOST_S * SECOND;
	const struct probe_process *process;

	process = probe_look(probe, (uint32_t)target->child, target->directory, PROBE_RAN);
	while (process->state == PROBE_STATE_RESOLVING && now_ns() < deadline) {
		probe_serve(probe, deadline);
		process = probe_look(probe, (uint32_t)target->child, target->directory, PROBE_RAN);
	}
	return process;
}

static const struct probe_process *look_ready(struct probe *probe, const struct target *target)
{
	const struct probe_process *process = look(probe, target);

	if (process->state != PROBE_STATE_READY)
		fail_msg("state %d tag %s: %s", (int)process->state,
			 process->tag < HEAP_TAG_COUNT ? heap_tags[process->tag].name : "-", process->text);
	return process;
}

/*
 * A probe that knows the program of the target: another one where a file could not be opened in time, as no
 * file system hangs here.
 */
static struct probe *create_for(const struct target *target, bool allow_stop)
{
	struct probe *probe = create(allow_stop);

	for (int i = 0; i < 2 && look(probe, target)->tag == HEAP_TAG_FILE_SYSTEM_HANGS; i++) {
		probe_release(probe);
		probe = create(allow_stop);
	}
	return probe;
}

/* The threads that the process has now. */
static size_t list_threads(const struct target *target)
{
	char path[64];
	size_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", target->child);
	directory = opendir(path);
	assert_non_null(directory);
	for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
		const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid == 0 || count == THREADS_MAX)
			continue;
		threads[count++] = (struct probe_thread){
			.tid = tid,
			.start_time = target_stat_field(target->child, tid, 22),
			.allocated = 12345,
		};
	}
	closedir(directory);
	return count;
}

/* Ends the children of one thread. */
static void kill_children(pid_t pid, uint32_t tid)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/children", pid, tid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fscanf(file, "%d", &child) == 1)
		kill(child, SIGKILL);
	fclose(file);
}

/* A thread that is still held would never come to that state. */
static void wait_state(const struct target *target, uint32_t tid, char state)
{
	await("the thread goes on", target_state(target->child, tid) == state);
}

static void assert_equal_to_own_counts(const struct target *target, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct target_thread *own = target_find(target, threads[i].tid);

		if (own == NULL)
			fail_msg("thread %u did not report", threads[i].tid);
		if (threads[i].tag != HEAP_TAG_NONE)
			fail_msg("thread %u: %s (%s)", threads[i].tid, heap_tags[threads[i].tag].name,
				 strerror(threads[i].error_number));
		assert_int_equal(threads[i].allocated, own->allocated);
		assert_int_equal(threads[i].deallocated, own->deallocated);
	}
}

/* A program, a probe that knows it, and its threads. */
struct scene {
	struct target target;
	struct probe *probe;
	const struct probe_process *process;
	size_t count; /* of `threads` */
};

#define ARGUMENTS(...)        ((const char *const[]){__VA_ARGS__, NULL})
#define PROGRAM(mode, number) ARGUMENTS(PROGRAM_STATIC, mode, number)

static void begin_with(struct scene *scene, bool allow_stop, const char *environment,
		       const char *const *arguments)
{
	target_start(&scene->target, environment, arguments);
	scene->probe = create_for(&scene->target, allow_stop);
	scene->process = look_ready(scene->probe, &scene->target);
	scene->count = list_threads(&scene->target);
}

static void begin(struct scene *scene, bool allow_stop, const char *const *arguments)
{
	begin_with(scene, allow_stop, NULL, arguments);
}

static void end(struct scene *scene)
{
	probe_release(scene->probe);
	target_end(&scene->target);
}

static void read_threads(const struct scene *scene)
{
	assert_int_equal(probe_read(scene->probe, scene->process, threads, scene->count, NULL), 0);
}

static void read_own_counts(const struct scene *scene)
{
	read_threads(scene);
	assert_equal_to_own_counts(&scene->target, scene->count);
}

static uint64_t stops(const struct scene *scene)
{
	return probe_counts(scene->probe).stops;
}

/* Reads everything twice, then once more after another round of allocations, without stopping anybody. */
static void check_program(const char *environment, const char *const *arguments)
{
	struct scene scene;
	struct probe_counts cold, warm;

	begin_with(&scene, false, environment, arguments);
	read_own_counts(&scene);
	cold = probe_counts(scene.probe);
	assert_int_equal(cold.cached_reads, 0);
	assert_int_equal(cold.robust_list_calls, scene.count);
	target_command(&scene.target, "go");
	scene.count = list_threads(&scene.target);
	assert_ptr_equal(look_ready(scene.probe, &scene.target), scene.process);
	read_own_counts(&scene);
	warm = probe_counts(scene.probe);
	assert_int_equal(warm.cached_reads, scene.count);
	assert_int_equal(warm.robust_list_calls, scene.count);
	assert_int_equal(warm.transfers - cold.transfers, (scene.count + PROBE_BATCH - 1) / PROBE_BATCH);
	assert_int_equal(warm.stops, 0);
	end(&scene);
}

static void test_executable(void **state)
{
	(void)state;
	check_program(NULL, PROGRAM("park", "20"));
	check_program(NULL, ARGUMENTS(PROGRAM_OWN_TLS, "park", "20"));
}

static void test_library(void **state)
{
	(void)state;
	check_program(NULL, ARGUMENTS(PROGRAM_SHARED, "park", "20"));
	check_program("LD_PRELOAD=libjemalloc.so.2", ARGUMENTS(PROGRAM_PRELOAD, "park", "20"));
}

/* Ends the target's main thread, lets another thread take over its work, and lists the remaining threads. */
static void retire_leader(struct scene *scene)
{
	const uint32_t leader = (uint32_t)scene->target.child;
	size_t kept = 0;

	target_command(&scene->target, "retire");
	await("the leader has ended", target_state(scene->target.child, leader) == 'Z');
	target_command(&scene->target, "go");
	scene->count = list_threads(&scene->target);
	for (size_t i = 0; i < scene->count; i++) {
		if (threads[i].tid != leader)
			threads[kept++] = threads[i];
	}
	assert_int_equal(kept, scene->count - 1);
	scene->count = kept;
}

/* An ended main thread has no counters left; the other threads are read as before. */
static void test_ended_leader(void **state)
{
	const char *const *const programs[] = {PROGRAM("park", "20"),
					       ARGUMENTS(PROGRAM_SHARED, "park", "20")};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(programs); i++) {
		struct scene scene;

		begin(&scene, false, programs[i]);
		read_own_counts(&scene);
		retire_leader(&scene);
		assert_ptr_equal(look_ready(scene.probe, &scene.target), scene.process);
		read_own_counts(&scene);
		probe_release(scene.probe);
		scene.probe = create_for(&scene.target, false);
		scene.process = look_ready(scene.probe, &scene.target);
		read_own_counts(&scene);
		assert_int_equal(stops(&scene), 0);
		end(&scene);
	}
}

/* Then the executable of the process is the dynamic linker, and the program one of its libraries. */
static void test_dynamic_linker(void **state)
{
	(void)state;
	if (access(DYNAMIC_LINKER, X_OK) < 0) {
		skip_test("needs " DYNAMIC_LINKER "\n");
	}
	check_program(NULL, ARGUMENTS(DYNAMIC_LINKER, PROGRAM_SHARED, "park", "20"));
	check_program(NULL, ARGUMENTS(DYNAMIC_LINKER, PROGRAM_STATIC, "park", "20"));
}

/* A library loaded later, whose storage only each thread's own table can tell. */
static void test_dynamic_storage(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, false, ARGUMENTS(PROGRAM_DTV, LIBRARY_DTV, "20"));
	assert_int_equal(scene.count, 21);
	for (int i = 0; i < 2; i++)
		read_own_counts(&scene);
	/* threads that have counted nothing have no storage to be known */
	assert_int_equal(probe_counts(scene.probe).cached_reads, 10);
	assert_int_equal(stops(&scene), 0);
	end(&scene);
}

/* A static program that does not describe its threads: their place is found by its marks. */
static void test_undescribed_threads(void **state)
{
	(void)state;
	if (strcmp(PROGRAM_UNDESCRIBED, "") == 0) {
		skip_test("needs strip, and a C library to link statically");
	}
	check_program(NULL, ARGUMENTS(PROGRAM_UNDESCRIBED, "park", "20"));
}

static void test_many_threads(void **state)
{
	(void)state;
	check_program(NULL, PROGRAM("park", "2500"));
}

/* Read in parts, some more often than others: every thread is still looked for once. */
static void test_parts(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, false, PROGRAM("park", "500"));
	for (size_t round = 0; round < 60; round++) {
		for (size_t first = 0; first < scene.count; first += 10) {
			if (first >= 250 && round % 10 != 0)
				continue;
			assert_int_equal(probe_read(scene.probe, scene.process, &threads[first],
						    scene.count - first < 10 ? scene.count - first : 10,
						    NULL),
					 0);
		}
	}
	assert_equal_to_own_counts(&scene.target, scene.count);
	assert_int_equal(probe_counts(scene.probe).robust_list_calls, scene.count);
	end(&scene);
}

static uint64_t own_thread_pointer(void)
{
#ifdef __x86_64__
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#else
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#endif
}

/* What lies between the thread pointer of a thread and its robust list: the same in programs of one C
 * library. */
static uint64_t own_distance(void)
{
	void *head = NULL;
	size_t size;

	assert_int_equal(syscall(SYS_get_robust_list, 0L, &head, &size), 0);
	return (uint64_t)(uintptr_t)head - own_thread_pointer();
}

/* Gives each thread its own pointer, or that of the thread behind it. */
static void give_pointers(size_t count, bool right)
{
	for (size_t i = 0; i < count; i++) {
		void *head = NULL;
		size_t size;

		assert_int_equal(syscall(SYS_get_robust_list, (long)threads[right ? i : (i + 1) % count].tid,
					 &head, &size),
				 0);
		threads[i].thread_pointer = (uint64_t)(uintptr_t)head - own_distance();
	}
}

/* Given pointers save looking for them; a wrong one is found out, and its thread is looked for. */
static void test_given_pointers(void **state)
{
	(void)state;
	for (int right = 0; right <= 1; right++) {
		struct scene scene;

		begin(&scene, false, PROGRAM("park", "100"));
		give_pointers(scene.count, right != 0);
		read_own_counts(&scene);
		/* without a description of struct pthread one thread is looked for to know the distance */
		assert_in_range(probe_counts(scene.probe).robust_list_calls, right ? 0 : scene.count,
				right ? 1 : scene.count);
		assert_int_equal(stops(&scene), 0);
		end(&scene);
	}
}

static void test_namespace(void **state)
{
	struct target target;
	struct target inner;
	struct probe *probe;
	const struct probe_process *process;
	char path[64];
	size_t count;

	(void)state;
	need_capability(CAP_SYS_ADMIN, "make a pid namespace");
	target_start(&target, NULL,
		     ARGUMENTS("unshare", "--pid", "--fork", "--kill-child", PROGRAM_STATIC, "park", "10"));
	inner = target;
	inner.child = target_first_child(target.child);
	assert_true(inner.child > 0);
	snprintf(path, sizeof(path), "/proc/%d", inner.child);
	inner.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	probe = create_for(&inner, false);
	process = look_ready(probe, &inner);
	count = list_threads(&inner);
	assert_int_equal(count, 11);
	assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		bool found = false;

		assert_int_equal(threads[i].tag, HEAP_TAG_NONE);
		/* its reports carry the numbers inside */
		for (size_t k = 0; k < target.count; k++)
			found = found || (target.threads[k].allocated == threads[i].allocated &&
					  target.threads[k].deallocated == threads[i].deallocated);
		assert_true(found);
	}
	assert_int_equal(probe_counts(probe).stops, 0);
	probe_release(probe);
	close(inner.directory);
	target_end(&target);
}

/* The same numbers and the same program, but another address space. */
static void test_exec(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, false, PROGRAM("park", "0"));
	for (int i = 0; i < 5; i++) {
		scene.count = list_threads(&scene.target);
		assert_int_equal(scene.count, 1);
		read_own_counts(&scene);
		target_command(&scene.target, "exec " PROGRAM_STATIC " park 0");
		/* not seen by a look yet: nothing of the old program may be taken for the new one's */
		assert_int_equal(probe_read(scene.probe, scene.process, threads, scene.count, NULL), -ESRCH);
		assert_int_equal(threads[0].tag, HEAP_TAG_PROCESS_VM_READV);
		assert_int_equal(threads[0].error_number, ESRCH);
		scene.process = look_ready(scene.probe, &scene.target);
		read_own_counts(&scene);
		target_command(&scene.target, "exec " PROGRAM_OWN_TLS " park 0");
		scene.process = look_ready(scene.probe, &scene.target);
		read_own_counts(&scene);
	}
	end(&scene);
}

/*
 * Reads the main thread of each reported number, a process of its own: again where one got no CPU in time to
 * stop. Returns how often that was.
 */
static size_t read_family(struct probe *probe, const struct target *target, enum heap_tag parent,
			  enum heap_tag children)
{
	size_t late = 0;

	assert_int_equal(target->count, 3);
	for (size_t i = 0; i < target->count; i++) {
		struct target member = *target;
		char path[64];

		member.child = (pid_t)target->threads[i].tid;
		snprintf(path, sizeof(path), "/proc/%d", member.child);
		member.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(list_threads(&member), 1);
		for (struct measurement measurement = {0}; measure_again(&measurement);) {
			assert_int_equal(probe_read(probe, look_ready(probe, &member), threads, 1, NULL), 0);
			late += threads[0].tag == HEAP_TAG_WAITPID;
			measure_between(&measurement, "threads that did not stop in time",
					threads[0].tag == HEAP_TAG_WAITPID, 0, 0);
		}
		assert_int_equal(threads[0].tag, member.child == target->child ? parent : children);
		if (threads[0].tag == HEAP_TAG_NONE)
			assert_equal_to_own_counts(target, 1);
		close(member.directory);
	}
	return late;
}

static void test_fork(void **state)
{
	struct target target;
	struct probe *probe;

	(void)state;
	target_start(&target, NULL, PROGRAM("fork", "0"));
	probe = create_for(&target, false);
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NONE);
	/* a number that passed to a process with the same layout: what lies there is another thread's */
	for (size_t i = 0; i < target.count; i++) {
		if (target.threads[i].tid == (uint32_t)target.child)
			continue;
		threads[0] = (struct probe_thread){.tid = target.threads[i].tid, .start_time = 1};
		assert_int_equal(probe_read(probe, look_ready(probe, &target), threads, 1, NULL), 0);
		assert_int_equal(threads[0].tag, HEAP_TAG_PROCESS_VM_READV);
		assert_int_equal(threads[0].error_number, ESRCH);
	}
	probe_release(probe);
	target_end(&target);
}

/* Children that the C library knows nothing of have no robust list. */
static void test_raw_fork(void **state)
{
	struct target target;
	struct probe *probe;
	uint64_t stopped;
	size_t late;

	(void)state;
	target_start(&target, NULL, PROGRAM("rawfork", "0"));
	probe = create_for(&target, false);
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NEEDS_STOP);
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NEEDS_STOP);
	assert_int_equal(probe_counts(probe).stops, 0);
	probe_release(probe);
	probe = create_for(&target, true);
	late = read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NONE);
	stopped = probe_counts(probe).stops;
	assert_in_range(stopped, 2, 2 + late);
	/* known from then on */
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NONE);
	assert_int_equal(probe_counts(probe).stops, stopped);
	probe_release(probe);
	target_end(&target);
}

/* A thread of io_uring has the thread pointer of its maker and allocates nothing: it is not stopped for that.
 */
static void test_ring(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, true, PROGRAM("uring", "0"));
	if (scene.count < 2) {
		end(&scene);
		skip_test("the kernel makes no thread for a ring (Linux 5.12), or io_uring_setup(2) is "
			  "refused");
	}
	read_threads(&scene);
	for (size_t i = 0; i < scene.count; i++) {
		const struct target_thread *own = target_find(&scene.target, threads[i].tid);

		assert_int_equal(threads[i].tag, HEAP_TAG_NONE);
		assert_int_equal(threads[i].allocated, own != NULL ? own->allocated : 0);
	}
	assert_int_equal(stops(&scene), 0);
	end(&scene);
}

static size_t count_tag(size_t count, enum heap_tag tag)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += threads[i].tag == tag;
	return found;
}

/* Reads threads that have to be stopped: all anew where one got no CPU in time. Returns how often it stopped
 * one. */
static uint64_t read_stopped(struct scene *scene)
{
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		/* another start time is another thread */
		for (size_t i = 0; i < scene->count; i++)
			threads[i].start_time += measurement.windows - 1;
		read_threads(scene);
		measure_between(&measurement, "threads that did not stop in time",
				(double)count_tag(scene->count, HEAP_TAG_WAITPID), 0, 0);
	}
	assert_equal_to_own_counts(&scene->target, scene->count);
	return stops(scene);
}

static void test_stops(void **state)
{
	struct scene scene;
	volatile int flag = 1;
	uint64_t stopped;

	(void)state;
	begin(&scene, false, PROGRAM("bare", "300"));
	read_threads(&scene);
	assert_int_equal(count_tag(scene.count, HEAP_TAG_NEEDS_STOP), 300);
	assert_int_equal(count_tag(scene.count, HEAP_TAG_NONE), 1);
	probe_release(scene.probe);

	scene.probe = create_for(&scene.target, true);
	scene.process = look_ready(scene.probe, &scene.target);
	assert_int_equal(probe_read(scene.probe, scene.process, threads, scene.count, &flag), -EINTR);
	stopped = read_stopped(&scene);
	assert_true(stopped >= 300);
	for (int i = 0; i < 2; i++) {
		if (i == 1)
			target_command(&scene.target, "go");
		read_own_counts(&scene);
		assert_int_equal(stops(&scene), stopped);
	}
	end(&scene);
}

/* A process that its user has stopped stays so. */
static void test_stopped_process(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, true, PROGRAM("bare", "5"));
	kill(scene.target.child, SIGSTOP);
	assert_true(read_stopped(&scene) >= 5);
	for (size_t i = 0; i < scene.count; i++)
		wait_state(&scene.target, threads[i].tid, 'T');
	kill(scene.target.child, SIGCONT);
	for (size_t i = 0; i < scene.count; i++)
		wait_state(&scene.target, threads[i].tid, 'S');
	end(&scene);
}

/* Signals that arrive at a thread while it is stopped arrive all the same. */
static void test_signals(void **state)
{
	enum {
		SIGNALS = 200000,
	};
	struct scene scene;
	struct probe_thread *thread;
	pid_t sender;

	(void)state;
	begin(&scene, true, ARGUMENTS(PROGRAM_DTV, LIBRARY_DTV, "1", "bare"));
	assert_int_equal(scene.count, 2);
	thread = &threads[threads[0].tid == (uint32_t)scene.target.child];
	sender = fork();
	if (sender == 0) {
		/* no more than the kernel queues */
		for (int i = 0; i < SIGNALS;)
			i += syscall(SYS_tgkill, (long)scene.target.child, (long)thread->tid, SIGRTMIN) == 0;
		_exit(0);
	}
	while (waitpid(sender, NULL, WNOHANG) == 0) {
		for (struct measurement measurement = {0}; measure_again(&measurement);) {
			/* another start time is another thread */
			thread->start_time++;
			assert_int_equal(probe_read(scene.probe, scene.process, thread, 1, NULL), 0);
			measure_between(&measurement, "threads that did not stop in time",
					thread->tag == HEAP_TAG_WAITPID, 0, 0);
		}
		assert_int_equal(thread->tag, HEAP_TAG_NONE);
	}
	assert_true(stops(&scene) > 3);
	wait_state(&scene.target, thread->tid, 'S');
	assert_int_equal(probe_read(scene.probe, scene.process, thread, 1, NULL), 0);
	assert_int_equal(thread->allocated, 1007 + SIGNALS);
	end(&scene);
}

/* A thread in vfork(2) cannot stop; it is let go of when the helper ends, not when it could stop. */
static void test_vfork(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, true, PROGRAM("vfork", "5"));
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		uint64_t start;

		scene.count = list_threads(&scene.target);
		/* another start time is another thread: all are read again */
		for (size_t i = 0; i < scene.count; i++)
			threads[i].start_time += measurement.windows;
		start = now_ns();
		read_threads(&scene);
		measure_between(&measurement, "seconds to read it",
				(double)(now_ns() - start) / (double)SECOND, 0, 2);
	}
	assert_int_equal(count_tag(scene.count, HEAP_TAG_WAITPID), 1);
	assert_int_equal(count_tag(scene.count, HEAP_TAG_NONE), scene.count - 1);
	for (size_t i = 0; i < scene.count; i++) {
		if (threads[i].tag != HEAP_TAG_WAITPID)
			continue;
		assert_int_equal(threads[i].error_number, ETIMEDOUT);
		assert_int_equal(target_state(scene.target.child, threads[i].tid), 'D');
		/* still held, it would stop as soon as it wakes up */
		kill_children(scene.target.child, threads[i].tid);
		wait_state(&scene.target, threads[i].tid, 'S');
	}
	end(&scene);
}

/* Whoever reads is killed at any moment: all threads go on. */
static void test_killed_reader(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, true, PROGRAM("bare", "20"));
	for (unsigned int i = 0; i < 300; i++) {
		const pid_t reader = fork();

		assert_true(reader >= 0);
		while (reader == 0) {
			/* another start time is another thread: all are stopped again */
			for (size_t k = 0; k < scene.count; k++)
				threads[k].start_time++;
			probe_read(scene.probe, scene.process, threads, scene.count, NULL);
		}
		usleep(1000 + i * 37 % 5000); /* any moment is right */
		kill(reader, SIGKILL);
		waitpid(reader, NULL, 0);
		if (i % 10 != 0)
			continue;
		for (size_t k = 0; k < scene.count; k++)
			wait_state(&scene.target, threads[k].tid, 'S');
	}
	target_command(&scene.target, "go");
	end(&scene);
}

static void test_churn(void **state)
{
	struct scene scene;
	size_t largest = 0;

	(void)state;
	begin(&scene, false, PROGRAM("churn", "3"));
	for (int i = 0; i < 200; i++) {
		scene.count = list_threads(&scene.target);
		read_threads(&scene);
		largest = scene.count > largest ? scene.count : largest;
		for (size_t k = 0; k < scene.count; k++) {
			if (threads[k].tag == HEAP_TAG_NONE)
				continue; /* short threads allocate 1000 bytes at a time */
			/* ended, or too young to have registered anything */
			assert_true(threads[k].tag == HEAP_TAG_PROCESS_VM_READV ||
				    threads[k].tag == HEAP_TAG_NEEDS_STOP);
		}
	}
	assert_true(largest > 4);
	assert_int_equal(stops(&scene), 0);
	end(&scene);
}

/* Threads that ended are forgotten, however many come and go; a quiet one that lives is not. */
static void test_forgotten(void **state)
{
	enum {
		ROUNDS = 100,
		NEW = 100,            /* threads in each */
		NUMBER_MAX = 4 << 20, /* PID_MAX_LIMIT of the kernel: nobody has such a number */
		KNOWN_MAX = 5 * NEW,  /* far from all of them */
	};
	static const unsigned char mark[ATTACHMENT_RANDOM_SIZE] = "address space";
	struct attachment attachment = {
		.tgid = getpid(), .span = 16, .random_address = (uintptr_t)mark, .directory = -1};
	struct probe_thread quiet = {.tid = (uint32_t)getpid()};
	struct known_threads known = {0};
	struct thread_reader reader;
	uint32_t index;

	(void)state;
	memcpy(attachment.random, mark, sizeof(mark));
	thread_reader_initialise(&reader, false, NULL);
	assert_int_equal(thread_reader_read(&reader, &attachment, &known, &quiet, 1, NULL), 0);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < NEW; i++)
			threads[i] = (struct probe_thread){.tid = NUMBER_MAX + 1 + round * NEW + i};
		assert_int_equal(thread_reader_read(&reader, &attachment, &known, threads, NEW, NULL), 0);
	}
	assert_true(known.count < KNOWN_MAX);
	assert_true(hash_map_get(&known.by_tid, quiet.tid, &index));
	known_threads_release(&known);
	thread_reader_release(&reader);
}

static void test_death(void **state)
{
	struct scene scene;
	const struct probe_process *process;
	siginfo_t death;

	(void)state;
	begin(&scene, true, PROGRAM("park", "5"));
	read_threads(&scene);
	kill(scene.target.child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)scene.target.child, &death, WEXITED | WNOWAIT), 0);
	assert_int_equal(probe_read(scene.probe, scene.process, threads, scene.count, NULL), -ESRCH);
	assert_int_equal(count_tag(scene.count, HEAP_TAG_PROCESS_VM_READV), scene.count);
	waitpid(scene.target.child, NULL, 0);
	process = look(scene.probe, &scene.target);
	assert_int_equal(process->state, PROBE_STATE_FAILED);
	assert_int_equal(process->tag, HEAP_TAG_PID_MISSING);
	probe_drop_unseen(scene.probe);
	probe_drop_unseen(scene.probe);
	end(&scene);
}

/* Has another user do `work` with a program; what it returns is which step went wrong, 0 for none. */
static void check_as_nobody(int (*work)(const struct target *target), const char *const *arguments)
{
	struct target target;
	int status;
	pid_t child;

	target_start(&target, NULL, arguments);
	child = fork();
	if (child == 0)
		_exit(work(&target));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	target_end(&target);
}

static int look_as_nobody(const struct target *target)
{
	const struct probe_process *process;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	process = look(create(false), target);
	return process->state == PROBE_STATE_FAILED && process->tag == HEAP_TAG_NOT_PERMITTED ? 0 : 1;
}

static void test_nobody(void **state)
{
	(void)state;
	need_to_become_nobody();
	check_as_nobody(look_as_nobody, PROGRAM("park", "1"));
}

static int stop_as_nobody_with_capabilities(const struct target *target)
{
	struct probe *probe;
	const struct probe_process *process;
	struct error error;
	size_t count;

	nobody_become_with_capabilities();
	/* one whose processes are nobody's, too */
	if (supervisor_start(&error) < 0)
		return 2;
	probe = create_for(target, true);
	process = look(probe, target);
	if (process->state != PROBE_STATE_READY)
		return 3;
	count = list_threads(target);
	if (probe_read(probe, process, threads, count, NULL) != 0)
		return 4;
	/* the first has a robust list, so that its memory can be read without a stop */
	if (count_tag(count, HEAP_TAG_NONE) != 1 || count_tag(count, HEAP_TAG_NOT_PERMITTED) != count - 1)
		return 5;
	if (probe_counts(probe).stops != 0)
		return 6;
	probe_release(probe);
	return 0;
}

/* What the user could not trace himself is never stopped: he could stop the helper that holds it. */
static void test_no_borrowed_stop(void **state)
{
	(void)state;
	nobody_need_capabilities();
	check_as_nobody(stop_as_nobody_with_capabilities, PROGRAM("bare", "5"));
}

static void test_without_jemalloc(void **state)
{
	struct target target;
	struct probe *probe = create(false);
	const struct probe_process *process;

	(void)state;
	for (int i = 0; i < 3; i++) {
		target_start(&target, NULL, ARGUMENTS(PROGRAM_PRELOAD, "park", "1"));
		process = look(probe, &target);
		assert_int_equal(process->state, PROBE_STATE_FAILED);
		assert_int_equal(process->tag, HEAP_TAG_JEMALLOC_NOT_FOUND);
		assert_int_equal(process->cached, i > 0);
		target_end(&target);
		/* the same program, with it */
		target_start(&target, "LD_PRELOAD=libjemalloc.so.2", ARGUMENTS(PROGRAM_PRELOAD, "park", "1"));
		process = look_ready(probe, &target);
		assert_int_equal(process->cached, i > 0);
		target_end(&target);
	}
	probe_release(probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executable),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_ended_leader),
		cmocka_unit_test(test_dynamic_linker),
		cmocka_unit_test(test_dynamic_storage),
		cmocka_unit_test(test_undescribed_threads),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_given_pointers),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_raw_fork),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_stopped_process),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_killed_reader),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_no_borrowed_stop),
		cmocka_unit_test(test_without_jemalloc),
	};
	struct error error;
	int r;

	if (strcmp(PROGRAM_STATIC, "") == 0) {
		printf("SKIP: needs jemalloc, static and shared (libjemalloc-dev)\n");
		return 77;
	}
	if (supervisor_start(&error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	supervisor_stop();
	return r;
}
