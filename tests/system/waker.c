/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waker NAME: a thread that wakes at given times, on one CPU with a thread of a realtime policy that leaves
 * it the CPU only now and then, and measures how late it runs; then it waits once for a child of vfork(2), in
 * uninterruptible sleep. Prints "ready", begins when it gets a line, prints how often it left the CPU, how
 * late the median of its wakes, the 99th of a hundred and the latest were, and how long it waited for the
 * child (not: for a CPU after that), all in ns, and ends with its standard input. Ends with status 77 where
 * it may not set a realtime policy.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WAKES = 1000,
	PERIOD_NS = 2100000,
	SPIN_NS = 6000000, /* of the other thread, and then as long asleep as it takes */
	EDGE_NS = 2000000, /* from the end of a wait until the clock has been read */
	REST_NS = 1000000, /* shorter than the period: nearly every wake has to wait, about as long */
	BLOCKED_MS = 200,
	NS_PER_S = 1000000000,
	SKIPPED = 77,
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t time)
{
	const struct timespec until = {(time_t)(time / NS_PER_S), (long)(time % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* The process that takes the CPU away. */
static pid_t start_other(void)
{
	const struct sched_param priority = {.sched_priority = 1};
	pid_t child = fork();

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "waker-other");
	if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
		_exit(SKIPPED);
	for (;;) {
		const uint64_t begin = now_ns();

		while (now_ns() - begin < SPIN_NS)
			;
		sleep_until(now_ns() + REST_NS);
	}
}

static int order_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The time that this thread has waited for a CPU in all, ns: the second number of schedstat (sched-stats of
 * the kernel's documentation); 0 without that file. */
static uint64_t waited_ns(int schedstat)
{
	unsigned long long ran, waited;
	char text[128];
	ssize_t length = pread(schedstat, text, sizeof(text) - 1, 0);

	if (length <= 0)
		return 0;
	text[length] = '\0';
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

/* A timer that is late itself, as on a machine that is starved, is no wait: then what the kernel counted
 * stands. */
static void measure(uint64_t late[WAKES])
{
	const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	uint64_t next = now_ns() + PERIOD_NS;

	for (size_t i = 0; i < WAKES; i++) {
		const uint64_t before = waited_ns(schedstat);
		uint64_t now, waited;

		sleep_until(next);
		now = now_ns();
		waited = waited_ns(schedstat) - before;
		late[i] = now > next ? now - next : 0;
		if (waited != 0 && late[i] > waited + EDGE_NS)
			late[i] = waited;
		next = now + PERIOD_NS;
	}
	close(schedstat);
	qsort(late, WAKES, sizeof(late[0]), order_numbers);
}

/* The number of times this thread has left its CPU, and so had to wait for one afterwards. */
static unsigned long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (unsigned long)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* The parent of a vfork(2) sleeps uninterruptibly until the child has ended: kernel_clone(). */
static uint64_t block(void)
{
	const struct timespec pause = {0, BLOCKED_MS * 1000000L};
	const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	const uint64_t waited = waited_ns(schedstat), begin = now_ns();
	pid_t child = vfork();
	uint64_t result;

	if (child == 0) {
		nanosleep(&pause, NULL);
		_exit(0);
	}
	result = now_ns() - begin - (waited_ns(schedstat) - waited);
	close(schedstat);
	return result;
}

int main(int argc, char **argv)
{
	static uint64_t late[WAKES];
	unsigned long left;
	uint64_t blocked;
	cpu_set_t cpu;
	int status;
	pid_t other;

	if (argc != 2)
		return 2;
	prctl(PR_SET_NAME, argv[1]);
	CPU_ZERO(&cpu);
	CPU_SET((unsigned int)sched_getcpu(), &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	if (getchar() == EOF)
		return 1;
	left = switches();
	other = start_other();
	measure(late);
	kill(other, SIGKILL);
	if (waitpid(other, &status, 0) == other && WIFEXITED(status))
		return WEXITSTATUS(status);
	blocked = block();
	printf("%lu %llu %llu %llu %llu\n", switches() - left, (unsigned long long)late[WAKES / 2 - 1],
	       (unsigned long long)late[WAKES * 99 / 100 - 1], (unsigned long long)late[WAKES - 1],
	       (unsigned long long)blocked);
	while (getchar() != EOF)
		;
	return 0;
}
