/* SPDX-License-Identifier: GPL-2.0-only */
#include "stop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define SLICE_NS (10 * NS_PER_MS)

volatile int probe_stop_flag;

/* The deadline's thread; `end` (an eventfd) is readable when it is not needed any more. */
static struct {
	bool running;
	pthread_t thread;
	pid_t process, main_thread;
	uint64_t deadline_ms;
	int end;
} deadline;

static void set_flag(int number)
{
	(void)number;
	probe_stop_flag = 1;
}

/* Does nothing but make the call under way return EINTR. */
static void wake(int number)
{
	(void)number;
}

static void *watch(void *argument)
{
	struct pollfd end = {.fd = deadline.end, .events = POLLIN};
	const struct timespec patience = clock_timespec(deadline.deadline_ms * NS_PER_MS);
	char marker[80];

	/* with all signals blocked here nothing but the end of time and the end of the run ends this */
	if (ppoll(&end, 1, &patience, NULL) != 0)
		return argument;
	snprintf(marker, sizeof(marker), "ctop-probe-deadline: abort after %" PRIu64 "ms\n",
		 deadline.deadline_ms);
	file_write_all(STDERR_FILENO, marker, strlen(marker));
	probe_stop_flag = 1;
	syscall(SYS_tgkill, deadline.process, deadline.main_thread, SIGALRM);
	return argument;
}

static int start_deadline(uint64_t deadline_ms, struct error *error)
{
	sigset_t all, before;
	int result;

	deadline.deadline_ms = deadline_ms;
	deadline.process = getpid();
	deadline.main_thread = gettid();
	deadline.end = eventfd(0, EFD_CLOEXEC);
	if (deadline.end < 0)
		return error_set(error, -errno, "cannot create an eventfd: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&deadline.thread, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result != 0) {
		close(deadline.end);
		return error_set(error, -result, "cannot start a thread: %s", strerror(result));
	}
	deadline.running = true;
	return 0;
}

int probe_stop_start(uint64_t deadline_ms, struct error *error)
{
	const struct sigaction stop = {.sa_handler = set_flag};
	const struct sigaction alarm = {.sa_handler = wake};

	probe_stop_flag = 0;
	/* without SA_RESTART, all of them */
	if (sigaction(SIGINT, &stop, NULL) < 0 || sigaction(SIGTERM, &stop, NULL) < 0 ||
	    sigaction(SIGALRM, &alarm, NULL) < 0)
		return error_set(error, -errno, "cannot install signal handlers: %s", strerror(errno));
	return deadline_ms != 0 ? start_deadline(deadline_ms, error) : 0;
}

void probe_stop_end(void)
{
	const uint64_t one = 1;

	if (!deadline.running)
		return;
	(void)!write(deadline.end, &one, sizeof(one));
	pthread_join(deadline.thread, NULL);
	close(deadline.end);
	deadline.running = false;
}

void probe_stop_sleep(uint64_t until_ns)
{
	uint64_t now;

	while (probe_stop_flag == 0 && (now = clock_ns(CLOCK_MONOTONIC)) < until_ns) {
		const uint64_t left = until_ns - now;
		const struct timespec slice = clock_timespec(left < SLICE_NS ? left : SLICE_NS);

		nanosleep(&slice, NULL);
	}
}
