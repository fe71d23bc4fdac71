/* SPDX-License-Identifier: GPL-2.0-only */
#include "fake_clock.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	COMMANDS = 3,
	ANSWERS = 4,
};

#define BEGIN_NS      (12 * 86400 * NS_PER_S)
#define BEGIN_UNIX_NS (1700000000 * NS_PER_S)

static uint64_t passed_ns;
static char asked[32]; /* the line that is to be answered, with its end; empty: none */

int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __real_poll(struct pollfd *waits, nfds_t count, int milliseconds);
int __wrap_poll(struct pollfd *waits, nfds_t count, int milliseconds);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
		*ret_time = clock_timespec(BEGIN_NS + passed_ns);
		return 0;
	case CLOCK_REALTIME:
		*ret_time = clock_timespec(BEGIN_UNIX_NS + passed_ns);
		return 0;
	default:
		return __real_clock_gettime(clock, ret_time);
	}
}

void fake_clock_pass(uint64_t nanoseconds)
{
	passed_ns += nanoseconds;
}

bool fake_clock_obey(const char *line)
{
	unsigned long long number;

	if (sscanf(line, "clock %llu", &number) == 1)
		fake_clock_pass(number * NS_PER_MS);
	else if (sscanf(line, "sync %llu", &number) == 1)
		snprintf(asked, sizeof(asked), "%s\n", line);
	else
		return false;
	return true;
}

static bool is_loop(const struct pollfd *waits, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++) {
		if (waits[i].fd == COMMANDS)
			return true;
	}
	return false;
}

/*
 * The screen's loop waits here with its frame sent. Nothing becomes due before the clock is moved, which is a
 * command. Looking at a terminal also waits for what was typed to come out of the kernel's queue
 * (n_tty_poll() of drivers/tty/n_tty.c flushes it), so a second look that finds nothing has seen all that
 * came before the command.
 */
int __wrap_poll(struct pollfd *waits, nfds_t count, int milliseconds)
{
	ssize_t written;
	int ready;

	if (!is_loop(waits, count) || milliseconds == 0)
		return __real_poll(waits, count, milliseconds);
	if (asked[0] != '\0') {
		ready = __real_poll(waits, count, 0);
		if (ready != 0)
			return ready;
		written = write(ANSWERS, asked, strlen(asked));
		(void)written;
		asked[0] = '\0';
	}
	return __real_poll(waits, count, -1);
}
