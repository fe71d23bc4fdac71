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
#include "../measure.h"
#include "../wait.h"
#include "base/memory.h"
#include "base/supervisor.h"
#include "probe/probe.h"
#include "nobody.h"
#include "target_process.h"

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
static const struct probe_process *look(struct probe *probe, const struct target_process *target)
{
	const uint64_t deadline = now_ns() + WAIT_AT_MOST_S * SECOND;
	const struct probe_process *process;

	process = probe_look(probe, (uint32_t)target->pid, target->directory, NULL);
	while (process->state == PROBE_STATE_RESOLVING && now_ns() < deadline) {
		probe_serve(probe, deadline);
		process = probe_look(probe, (uint32_t)target->pid, target->directory, NULL);
	}
	return process;
}

static const struct probe_process *look_ready(struct probe *probe, const struct target_process *target)
{
	const struct probe_process *process = look(probe, target);

	if (process->state != PROBE_STATE_READY)
		fail_msg("state %d tag %s: %s", (int)process->state,
			 process->tag < HEAP_TAG_COUNT ? heap_tags[process->tag].name : "-", process->text);
	return process;
}

/* The threads that the process has now. */
static size_t list_threads(const struct target_process *target)
{
	char path[64];
	size_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", target->pid);
	directory = opendir(path);
	assert_non_null(directory);
	for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
		const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid == 0 || count == THREADS_MAX)
			continue;
		threads[count++] = (struct probe_thread){
			.tid = tid,
			.start_time = target_stat_field(target->pid, tid, 22),
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
static void wait_state(const struct target_process *target, uint32_t tid, char state)
{
	await("the thread goes on", target_state(target->pid, tid) == state);
}

static void assert_equal_to_own_counts(const struct target_process *target, size_t count)
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

/* Reads everything twice, then once more after another round of allocations, without stopping anybody. */
static void check_program(const struct target_start *start, const char *const *arguments)
{
	struct probe *probe = create(false);
	const struct probe_process *process;
	struct target_process target;
	struct probe_counts cold, warm;
	size_t count;

	target_start(&target, start, arguments);
	process = look_ready(probe, &target);
	count = list_threads(&target);
	assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
	assert_equal_to_own_counts(&target, count);
	cold = probe_counts(probe);
	assert_int_equal(cold.cached_reads, 0);
	assert_int_equal(cold.robust_list_calls, count);
	target_command(&target, "go");
	count = list_threads(&target);
	assert_ptr_equal(look_ready(probe, &target), process);
	assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
	assert_equal_to_own_counts(&target, count);
	warm = probe_counts(probe);
	assert_int_equal(warm.cached_reads, count);
	assert_int_equal(warm.robust_list_calls, count);
	assert_int_equal(warm.transfers - cold.transfers, (count + PROBE_BATCH - 1) / PROBE_BATCH);
	assert_int_equal(warm.stops, 0);
	probe_release(probe);
	target_end(&target);
}

static void check_reading(const struct target_start *start, const char *program, const char *threads_text)
{
	check_program(start, (const char *const[]){program, "park", threads_text, NULL});
}

static void test_executable(void **state)
{
	(void)state;
	check_reading(&(struct target_start){0}, PROGRAM_STATIC, "20");
	check_reading(&(struct target_start){0}, PROGRAM_OWN_TLS, "20");
}

static void test_library(void **state)
{
	(void)state;
	check_reading(&(struct target_start){0}, PROGRAM_SHARED, "20");
	check_reading(&(struct target_start){.preload = "libjemalloc.so.2"}, PROGRAM_PRELOAD, "20");
}

/* Then the executable of the process is the dynamic linker, and the program one of its libraries. */
static void test_dynamic_linker(void **state)
{
	(void)state;
	if (access(DYNAMIC_LINKER, X_OK) < 0) {
		print_message("SKIP: needs " DYNAMIC_LINKER "\n");
		skip();
	}
	check_program(&(struct target_start){0},
		      (const char *const[]){DYNAMIC_LINKER, PROGRAM_SHARED, "park", "20", NULL});
	check_program(&(struct target_start){0},
		      (const char *const[]){DYNAMIC_LINKER, PROGRAM_STATIC, "park", "20", NULL});
}

/* A library loaded later, whose storage only each thread's own table can tell. */
static void test_dynamic_storage(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);
	const struct probe_process *process;
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_DTV, LIBRARY_DTV, "20", NULL});
	process = look_ready(probe, &target);
	count = list_threads(&target);
	assert_int_equal(count, 21);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		assert_equal_to_own_counts(&target, count);
	}
	/* threads that have counted nothing have no storage to be known */
	assert_int_equal(probe_counts(probe).cached_reads, 10);
	assert_int_equal(probe_counts(probe).stops, 0);
	probe_release(probe);
	target_end(&target);
}

/* A static program that does not describe its threads: their place is found by its marks. */
static void test_undescribed_threads(void **state)
{
	(void)state;
	if (strcmp(PROGRAM_UNDESCRIBED, "") == 0) {
		print_message("SKIP: needs strip, and a C library to link statically\n");
		skip();
	}
	check_reading(&(struct target_start){0}, PROGRAM_UNDESCRIBED, "20");
}

static void test_many_threads(void **state)
{
	(void)state;
	check_reading(&(struct target_start){0}, PROGRAM_STATIC, "2500");
}

/* Read in parts, some more often than others: every thread is still looked for once. */
static void test_parts(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);
	const struct probe_process *process;
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "park", "500", NULL});
	process = look_ready(probe, &target);
	count = list_threads(&target);
	for (size_t round = 0; round < 60; round++) {
		for (size_t first = 0; first < count; first += 10) {
			if (first >= 250 && round % 10 != 0)
				continue;
			assert_int_equal(probe_read(probe, process, &threads[first],
						    count - first < 10 ? count - first : 10, NULL),
					 0);
		}
	}
	assert_equal_to_own_counts(&target, count);
	assert_int_equal(probe_counts(probe).robust_list_calls, count);
	probe_release(probe);
	target_end(&target);
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
	struct target_process target;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "park", "100", NULL});
	for (int right = 0; right <= 1; right++) {
		struct probe *probe = create(false);
		const struct probe_process *process = look_ready(probe, &target);
		const size_t count = list_threads(&target);

		give_pointers(count, right != 0);
		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		assert_equal_to_own_counts(&target, count);
		/* without a description of struct pthread one thread is looked for to know the distance */
		assert_in_range(probe_counts(probe).robust_list_calls, right ? 0 : count, right ? 1 : count);
		assert_int_equal(probe_counts(probe).stops, 0);
		probe_release(probe);
	}
	target_end(&target);
}

static void test_namespace(void **state)
{
	struct target_process target;
	struct probe *probe;
	const struct probe_process *process;
	size_t count;

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: needs root to make a pid namespace\n");
		skip();
	}
	probe = create(false);
	target_start(&target, &(struct target_start){.new_namespace = true},
		     (const char *const[]){PROGRAM_STATIC, "park", "10", NULL});
	process = look_ready(probe, &target);
	count = list_threads(&target);
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
	target_end(&target);
}

/* The same numbers and the same program, but another address space. */
static void test_exec(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);
	const struct probe_process *process;
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "park", "0", NULL});
	process = look_ready(probe, &target);
	for (int i = 0; i < 5; i++) {
		count = list_threads(&target);
		assert_int_equal(count, 1);
		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		assert_equal_to_own_counts(&target, count);
		target_command(&target, "exec " PROGRAM_STATIC " park 0");
		/* not seen by a look yet: nothing of the old program may be taken for the new one's */
		assert_int_equal(probe_read(probe, process, threads, count, NULL), -ESRCH);
		assert_int_equal(threads[0].tag, HEAP_TAG_PROCESS_VM_READV);
		assert_int_equal(threads[0].error_number, ESRCH);
		process = look_ready(probe, &target);
		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		assert_equal_to_own_counts(&target, count);
		target_command(&target, "exec " PROGRAM_OWN_TLS " park 0");
		process = look_ready(probe, &target);
		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		assert_equal_to_own_counts(&target, count);
	}
	probe_release(probe);
	target_end(&target);
}

/* Reads the main thread of each reported number, a process of its own. */
static void read_family(struct probe *probe, const struct target_process *target, enum heap_tag parent,
			enum heap_tag children)
{
	assert_int_equal(target->count, 3);
	for (size_t i = 0; i < target->count; i++) {
		struct target_process member = *target;
		char path[64];

		member.pid = (pid_t)target->threads[i].tid;
		snprintf(path, sizeof(path), "/proc/%d", member.pid);
		member.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(list_threads(&member), 1);
		assert_int_equal(probe_read(probe, look_ready(probe, &member), threads, 1, NULL), 0);
		assert_int_equal(threads[0].tag, member.pid == target->pid ? parent : children);
		if (threads[0].tag == HEAP_TAG_NONE)
			assert_equal_to_own_counts(target, 1);
		close(member.directory);
	}
}

static void test_fork(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "fork", "0", NULL});
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NONE);
	/* a number that passed to a process with the same layout: what lies there is another thread's */
	for (size_t i = 0; i < target.count; i++) {
		if (target.threads[i].tid == (uint32_t)target.pid)
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
	struct target_process target;
	struct probe *probe = create(false);

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "rawfork", "0", NULL});
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NEEDS_STOP);
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NEEDS_STOP);
	assert_int_equal(probe_counts(probe).stops, 0);
	probe_release(probe);
	probe = create(true);
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NONE);
	assert_int_equal(probe_counts(probe).stops, 2);
	/* known from then on */
	read_family(probe, &target, HEAP_TAG_NONE, HEAP_TAG_NONE);
	assert_int_equal(probe_counts(probe).stops, 2);
	probe_release(probe);
	target_end(&target);
}

static size_t count_tag(size_t count, enum heap_tag tag)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += threads[i].tag == tag;
	return found;
}

static void test_stops(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);
	volatile int flag = 1;
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "bare", "300", NULL});
	count = list_threads(&target);
	assert_int_equal(probe_read(probe, look_ready(probe, &target), threads, count, NULL), 0);
	assert_int_equal(count_tag(count, HEAP_TAG_NEEDS_STOP), 300);
	assert_int_equal(count_tag(count, HEAP_TAG_NONE), 1);
	probe_release(probe);

	probe = create(true);
	assert_int_equal(probe_read(probe, look_ready(probe, &target), threads, count, &flag), -EINTR);
	flag = 0;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(probe_read(probe, look_ready(probe, &target), threads, count, &flag), 0);
		assert_equal_to_own_counts(&target, count);
	}
	assert_int_equal(probe_counts(probe).stops, 300);
	target_command(&target, "go");
	assert_int_equal(probe_read(probe, look_ready(probe, &target), threads, count, &flag), 0);
	assert_equal_to_own_counts(&target, count);
	probe_release(probe);
	target_end(&target);
}

/* A process that its user has stopped stays so. */
static void test_stopped_process(void **state)
{
	struct target_process target;
	struct probe *probe = create(true);
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "bare", "5", NULL});
	count = list_threads(&target);
	kill(target.pid, SIGSTOP);
	assert_int_equal(probe_read(probe, look_ready(probe, &target), threads, count, NULL), 0);
	assert_equal_to_own_counts(&target, count);
	assert_int_equal(probe_counts(probe).stops, 5);
	for (size_t i = 0; i < count; i++)
		wait_state(&target, threads[i].tid, 'T');
	kill(target.pid, SIGCONT);
	for (size_t i = 0; i < count; i++)
		wait_state(&target, threads[i].tid, 'S');
	probe_release(probe);
	target_end(&target);
}

/* Signals that arrive at a thread while it is stopped arrive all the same. */
static void test_signals(void **state)
{
	enum {
		SIGNALS = 200000,
	};
	struct target_process target;
	struct probe *probe = create(true);
	const struct probe_process *process;
	size_t count, one = 0;
	pid_t sender;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_DTV, LIBRARY_DTV, "1", "bare", NULL});
	process = look_ready(probe, &target);
	count = list_threads(&target);
	assert_int_equal(count, 2);
	one = threads[0].tid == (uint32_t)target.pid;
	sender = fork();
	if (sender == 0) {
		/* no more than the kernel queues */
		for (int i = 0; i < SIGNALS;)
			i += syscall(SYS_tgkill, (long)target.pid, (long)threads[one].tid, SIGRTMIN) == 0;
		_exit(0);
	}
	while (waitpid(sender, NULL, WNOHANG) == 0) {
		threads[one].start_time++;
		assert_int_equal(probe_read(probe, process, &threads[one], 1, NULL), 0);
		assert_int_equal(threads[one].tag, HEAP_TAG_NONE);
	}
	assert_true(probe_counts(probe).stops > 3);
	wait_state(&target, threads[one].tid, 'S');
	assert_int_equal(probe_read(probe, process, &threads[one], 1, NULL), 0);
	assert_int_equal(threads[one].allocated, 1007 + SIGNALS);
	probe_release(probe);
	target_end(&target);
}

/* A thread in vfork(2) cannot stop; it is let go of when the helper ends, not when it could stop. */
static void test_vfork(void **state)
{
	struct target_process target;
	struct probe *probe = create(true);
	const struct probe_process *process;
	size_t count = 0;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "vfork", "5", NULL});
	process = look_ready(probe, &target);
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		uint64_t start;

		count = list_threads(&target);
		/* another start time is another thread: all are read again */
		for (size_t i = 0; i < count; i++)
			threads[i].start_time += measurement.windows;
		start = now_ns();
		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		measure_between(&measurement, "seconds to read it",
				(double)(now_ns() - start) / (double)SECOND, 0, 2);
	}
	assert_int_equal(count_tag(count, HEAP_TAG_WAITPID), 1);
	assert_int_equal(count_tag(count, HEAP_TAG_NONE), count - 1);
	for (size_t i = 0; i < count; i++) {
		if (threads[i].tag != HEAP_TAG_WAITPID)
			continue;
		assert_int_equal(threads[i].error_number, ETIMEDOUT);
		assert_int_equal(target_state(target.pid, threads[i].tid), 'D');
		/* still held, it would stop as soon as it wakes up */
		kill_children(target.pid, threads[i].tid);
		wait_state(&target, threads[i].tid, 'S');
	}
	probe_release(probe);
	target_end(&target);
}

/* Whoever reads is killed at any moment: all threads go on. */
static void test_killed_reader(void **state)
{
	struct target_process target;
	struct probe *probe = create(true);
	const struct probe_process *process;
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "bare", "20", NULL});
	count = list_threads(&target);
	process = look_ready(probe, &target);
	for (unsigned int i = 0; i < 300; i++) {
		const pid_t reader = fork();

		assert_true(reader >= 0);
		while (reader == 0) {
			/* another start time is another thread: all are stopped again */
			for (size_t k = 0; k < count; k++)
				threads[k].start_time++;
			probe_read(probe, process, threads, count, NULL);
		}
		usleep(1000 + i * 37 % 5000); /* any moment is right */
		kill(reader, SIGKILL);
		waitpid(reader, NULL, 0);
		if (i % 10 != 0)
			continue;
		for (size_t k = 0; k < count; k++)
			wait_state(&target, threads[k].tid, 'S');
	}
	target_command(&target, "go");
	probe_release(probe);
	target_end(&target);
}

static void test_churn(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);
	const struct probe_process *process;
	size_t largest = 0;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "churn", "3", NULL});
	process = look_ready(probe, &target);
	for (int i = 0; i < 200; i++) {
		const size_t count = list_threads(&target);

		assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
		largest = count > largest ? count : largest;
		for (size_t k = 0; k < count; k++) {
			if (threads[k].tag == HEAP_TAG_NONE)
				continue; /* short threads allocate 1000 bytes at a time */
			/* ended, or too young to have registered anything */
			assert_true(threads[k].tag == HEAP_TAG_PROCESS_VM_READV ||
				    threads[k].tag == HEAP_TAG_NEEDS_STOP);
		}
	}
	assert_true(largest > 4);
	assert_int_equal(probe_counts(probe).stops, 0);
	probe_release(probe);
	target_end(&target);
}

static void test_death(void **state)
{
	struct target_process target;
	struct probe *probe = create(true);
	const struct probe_process *process;
	siginfo_t end;
	size_t count;

	(void)state;
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "park", "5", NULL});
	process = look_ready(probe, &target);
	count = list_threads(&target);
	assert_int_equal(probe_read(probe, process, threads, count, NULL), 0);
	kill(target.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)target.pid, &end, WEXITED | WNOWAIT), 0);
	assert_int_equal(probe_read(probe, process, threads, count, NULL), -ESRCH);
	assert_int_equal(count_tag(count, HEAP_TAG_PROCESS_VM_READV), count);
	waitpid(target.pid, NULL, 0);
	process = look(probe, &target);
	assert_int_equal(process->state, PROBE_STATE_FAILED);
	assert_int_equal(process->tag, HEAP_TAG_PID_MISSING);
	probe_drop_unseen(probe);
	probe_drop_unseen(probe);
	probe_release(probe);
	target_end(&target);
}

static int look_as_nobody(const struct target_process *target)
{
	struct probe *probe = create(false);
	const struct probe_process *process = look(probe, target);
	const bool refused = process->state == PROBE_STATE_FAILED && process->tag == HEAP_TAG_NOT_PERMITTED;

	probe_release(probe);
	return refused ? 0 : 1;
}

static void test_nobody(void **state)
{
	struct target_process target;
	int status;
	pid_t child;

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: needs root to become somebody else\n");
		skip();
	}
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "park", "1", NULL});
	child = fork();
	if (child == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		_exit(look_as_nobody(&target));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	target_end(&target);
}

/* Which step goes wrong, 0 for none. */
static int stop_as_nobody_with_capabilities(const struct target_process *target)
{
	struct probe *probe;
	const struct probe_process *process;
	size_t count;

	nobody_become_with_capabilities();
	probe = create(true);
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
	struct target_process target;
	int status;
	pid_t child;

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: needs root to become a user with capabilities\n");
		skip();
	}
	target_start(&target, &(struct target_start){0},
		     (const char *const[]){PROGRAM_STATIC, "bare", "5", NULL});
	child = fork();
	if (child == 0)
		_exit(stop_as_nobody_with_capabilities(&target));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	target_end(&target);
}

static void test_without_jemalloc(void **state)
{
	struct target_process target;
	struct probe *probe = create(false);
	const struct probe_process *process;

	(void)state;
	for (int i = 0; i < 3; i++) {
		target_start(&target, &(struct target_start){0},
			     (const char *const[]){PROGRAM_PRELOAD, "park", "1", NULL});
		process = look(probe, &target);
		assert_int_equal(process->state, PROBE_STATE_FAILED);
		assert_int_equal(process->tag, HEAP_TAG_JEMALLOC_NOT_FOUND);
		assert_int_equal(process->cached, i > 0);
		target_end(&target);
		/* the same program, with it */
		target_start(&target, &(struct target_start){.preload = "libjemalloc.so.2"},
			     (const char *const[]){PROGRAM_PRELOAD, "park", "1", NULL});
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
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_stopped_process),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_killed_reader),
		cmocka_unit_test(test_churn),
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
