/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target for tests of the allocator probe, whose allocations are known. Each thread allocates and frees a
 * pattern of its own, prints a line `TID ALLOCATED DEALLOCATED` with the counts of its own mallctl(3), and
 * parks. The main thread does so last, prints `ready` and then obeys commands from standard input, one per
 * line:
 *
 *   go               everybody does a round more and reports again, then `ready`
 *   gap              prints `gap NS`: how late the latest wake-up of mode latency was since the last `gap`
 *   release          ends the children of modes fork, rawfork and vfork, then `ready`
 *   retire           ends the main thread; a new thread takes over its work and prints `ready`
 *   exec PROGRAM …   becomes another program (thread ids of a process outlive that)
 *
 * It ends at the end of its input. Nothing here allocates between the counts and the parking: no stdio.
 *
 * Usage: target MODE [THREADS [BYTES [ROOT]]]. THREADS excludes the main thread, each thread holds BYTES in
 * addition to its pattern, and ROOT is a directory for chroot(2).
 *
 *   park     as above
 *   bare     parks, but the threads have taken back their robust lists, as some runtimes never register any
 *   busy     the threads go on allocating without a pause
 *   latency  the threads wake each millisecond and allocate
 *   churn    the threads create threads that end soon
 *   fork     the main thread has a child that parks too, and that one a grandchild
 *   rawfork  the same by bare system calls, behind the C library's back
 *   uring    the kernel has a thread of its own in the process, which polls a ring of io_uring(7)
 *   vfork    the last thread waits in a vfork(2) (state D) until `release`, its robust list taken back
 *
 * Built with -DOWN_TLS=SIZE it has thread-local data of its own, aligned to 64 bytes, beside jemalloc's.
 * Built with -DPREFIX(name)=je_##name for a jemalloc whose functions have a prefix. Without a mallctl (no
 * jemalloc in the program) both counters print as 0.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PREFIX
#define PREFIX(name) name
#endif

void *PREFIX(malloc)(size_t size);
void PREFIX(free)(void *block);
__attribute__((weak)) int PREFIX(mallctl)(const char *name, void *old, size_t *old_length, void *new,
					  size_t new_length);

enum {
	BLOCKS = 16,
	STACK_SIZE = 128 * 1024,
	MAX_THREADS = 40000,
	LATENCY_INTERVAL_NS = 1000000,
	GENERATIONS = 2, /* of mode fork */
	/* linux/futex.h, which a musl compiler does not see */
	FUTEX_WAIT_PRIVATE = 128,
	FUTEX_WAKE_PRIVATE = 129,
};

static struct {
	const char *mode;
	size_t threads, bytes;
	_Atomic unsigned int round; /* parked threads wait for it to change (futex) */
	_Atomic size_t reported;
	_Atomic int64_t gap_ns;
	int life[2]; /* children end with the process that holds life[1] */
} target;

#ifdef OWN_TLS
static _Thread_local _Alignas(64) volatile char own_tls[OWN_TLS] = {1};
#endif

/* Held until the next round; here, where no optimizer takes an allocation for unused. */
static void *volatile held[MAX_THREADS + 1][BLOCKS + 1];

static bool mode_is(const char *mode)
{
	return strcmp(target.mode, mode) == 0;
}

static void print(const char *line)
{
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		_exit(1);
}

static void fail(const char *what)
{
	char line[128];

	snprintf(line, sizeof(line), "target: %s: %s\n", what, strerror(errno));
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		_exit(2);
	_exit(1);
}

static void allocate(size_t thread)
{
#ifdef OWN_TLS
	own_tls[OWN_TLS - 1]++;
#endif
	for (size_t i = 0; i < BLOCKS; i++) {
		PREFIX(free)(held[thread][i]);
		held[thread][i] = PREFIX(malloc)(40 + (thread * 37 + i * 211) % 3000);
	}
	for (size_t i = 0; i < BLOCKS; i += 3) {
		PREFIX(free)(held[thread][i]);
		held[thread][i] = NULL;
	}
	if (target.bytes > 0 && held[thread][BLOCKS] == NULL)
		held[thread][BLOCKS] = PREFIX(malloc)(target.bytes);
}

static uint64_t own_count(const char *name)
{
	uint64_t count = 0;
	size_t length = sizeof(count);

	if (PREFIX(mallctl) != NULL && PREFIX(mallctl)(name, &count, &length, NULL, 0) != 0)
		fail(name);
	return count;
}

static void report(void)
{
	uint64_t allocated = own_count("thread.allocated"), deallocated = own_count("thread.deallocated");
	char line[96];

	snprintf(line, sizeof(line), "%ld %llu %llu\n", syscall(SYS_gettid), (unsigned long long)allocated,
		 (unsigned long long)deallocated);
	print(line);
}

static void futex(_Atomic unsigned int *word, int operation, unsigned int value)
{
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *short_life(void *argument)
{
	const struct timespec pause = {.tv_nsec = 300000};
	void *volatile block = PREFIX(malloc)(1000);

	nanosleep(&pause, NULL);
	PREFIX(free)(block);
	return argument;
}

static void create(pthread_t *thread, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	int result;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	result = pthread_create(thread, &attributes, run, argument);
	if (result != 0) {
		errno = result;
		fail("pthread_create");
	}
	pthread_attr_destroy(&attributes);
}

_Noreturn static void churn(void)
{
	for (;;) {
		pthread_t threads[3];

		for (size_t i = 0; i < 3; i++)
			create(&threads[i], short_life, NULL);
		for (size_t i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
}

_Noreturn static void wake_up(size_t thread)
{
	int64_t planned = now_ns();

	for (;;) {
		struct timespec wake;
		int64_t late, longest = target.gap_ns;

		planned += LATENCY_INTERVAL_NS;
		wake.tv_sec = (time_t)(planned / 1000000000);
		wake.tv_nsec = (long)(planned % 1000000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
		late = now_ns() - planned;
		while (late > longest &&
		       !__atomic_compare_exchange_n((int64_t *)&target.gap_ns, &longest, late, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		if (late > LATENCY_INTERVAL_NS)
			planned += late;
		allocate(thread);
	}
}

/* The child holds the thread in vfork(2) until the input ends. */
static void wait_in_vfork(void)
{
	char byte;

	if (vfork() == 0) {
		close(target.life[1]);
		_exit(read(target.life[0], &byte, 1) != 0);
	}
}

static void *run_thread(void *argument)
{
	size_t thread = (size_t)argument;
	bool in_vfork = mode_is("vfork") && thread == target.threads;

	/* kernel/futex/core.c takes NULL for no list; musl has none from the start */
	if (mode_is("bare") || in_vfork)
		syscall(SYS_set_robust_list, NULL, 3 * sizeof(long));
	for (;;) {
		unsigned int round = target.round;

		allocate(thread);
		report();
		target.reported++;
		if (in_vfork)
			wait_in_vfork();
		if (mode_is("latency"))
			wake_up(thread);
		if (mode_is("churn"))
			churn();
		while (mode_is("busy"))
			allocate(thread);
		while (target.round == round)
			futex(&target.round, FUTEX_WAIT_PRIVATE, round);
	}
	return NULL;
}

/*
 * Allocates as thread 0 and reports; before that, in modes with children, the family below does so and stays.
 */
static void report_family(int generation)
{
	bool raw = mode_is("rawfork");
	int reported[2];
	char byte = 0;
	pid_t child;

	allocate(0);
	if ((raw || mode_is("fork")) && generation < GENERATIONS) {
		if (pipe(reported) < 0)
			fail("pipe");
		child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
		if (child < 0)
			fail("fork");
		if (child == 0) {
			close(target.life[1]);
			report_family(generation + 1);
			if (write(reported[1], &byte, 1) < 0 || read(target.life[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
		if (read(reported[0], &byte, 1) < 0)
			fail("read");
		close(reported[0]);
		close(reported[1]);
	}
	report();
}

static void wait_for_reports(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (target.reported < target.threads)
		nanosleep(&pause, NULL);
}

static void *take_over(void *argument);

static void obey(char *line)
{
	char *words[16] = {NULL}, *rest = line;
	char text[64];

	for (size_t i = 0; i < 15; i++)
		words[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
	if (words[0] == NULL)
		return;
	if (strcmp(words[0], "go") == 0) {
		target.reported = 0;
		target.round++;
		futex(&target.round, FUTEX_WAKE_PRIVATE, INT32_MAX);
		wait_for_reports();
		allocate(0);
		report();
		print("ready\n");
	} else if (strcmp(words[0], "gap") == 0) {
		snprintf(text, sizeof(text), "gap %lld\n", (long long)target.gap_ns);
		target.gap_ns = 0;
		print(text);
	} else if (strcmp(words[0], "release") == 0) {
		close(target.life[1]);
		print("ready\n");
	} else if (strcmp(words[0], "retire") == 0) {
		pthread_t thread;

		create(&thread, take_over, NULL);
		/* pthread_exit(3) loads a library, even in a static program */
		syscall(SYS_exit, 0);
	} else if (strcmp(words[0], "exec") == 0 && words[1] != NULL) {
		execv(words[1], words + 1);
		fail(words[1]);
	}
}

/* IORING_SETUP_SQPOLL of linux/io_uring.h, which a musl compiler does not see; without it there is no thread.
 */
static void make_ring(void)
{
	uint32_t parameters[30] = {[2] = 2};

	(void)syscall(SYS_io_uring_setup, 8, parameters);
}

_Noreturn static void obey_input(void)
{
	char line[4096];
	size_t length = 0;
	ssize_t got;

	while ((got = read(STDIN_FILENO, line + length, sizeof(line) - 1 - length)) > 0) {
		char *end;

		length += (size_t)got;
		while ((end = memchr(line, '\n', length)) != NULL) {
			*end = '\0';
			obey(line);
			length -= (size_t)(end + 1 - line);
			memmove(line, end + 1, length);
		}
	}
	_exit(0);
}

static void *take_over(void *argument)
{
	(void)argument;
	report();
	print("ready\n");
	obey_input();
}

int main(int argc, char **argv)
{
	target.mode = argc > 1 ? argv[1] : "park";
	target.threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	target.bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	if (target.threads > MAX_THREADS || pipe(target.life) < 0)
		fail("too many threads, or no pipe");
	if (argc > 4 && chroot(argv[4]) < 0)
		fail(argv[4]);
	if (mode_is("uring"))
		make_ring();
	for (size_t i = 1; i <= target.threads; i++) {
		pthread_t thread;

		create(&thread, run_thread, (void *)i);
		pthread_detach(thread);
	}
	wait_for_reports();
	report_family(0);
	print("ready\n");
	obey_input();
}
