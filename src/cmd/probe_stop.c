/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe_stop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define SLICE_NS (10 * NS_PER_MS)

volatile int probe_stop_flag;

static char deadline_marker[80];

static void set_flag(int number)
{
	const int before = errno;

	probe_stop_flag = 1;
	if (number == SIGALRM)
		(void)file_write_all(STDERR_FILENO, deadline_marker, strlen(deadline_marker));
	errno = before;
}

void probe_stop_start(uint64_t deadline_ms)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGALRM};
	const struct sigaction stop = {.sa_handler = set_flag}; /* without SA_RESTART */
	const struct timespec deadline = clock_timespec(deadline_ms * NS_PER_MS);
	const struct itimerval timer = {.it_value = {deadline.tv_sec, deadline.tv_nsec / (long)NS_PER_US}};

	snprintf(deadline_marker, sizeof(deadline_marker), "ctop-probe-deadline: abort after %" PRIu64 "ms\n",
		 deadline_ms);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &stop, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void probe_stop_end(void)
{
	const struct itimerval none = {0};

	setitimer(ITIMER_REAL, &none, NULL);
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
