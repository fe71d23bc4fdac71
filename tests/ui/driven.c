/* SPDX-License-Identifier: GPL-2.0-only */
#include "driven.h"

#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum {
	COMMANDS = 3,
	ANSWERS = 4,
};

#define BEGIN_NS      (12 * 86400 * NS_PER_S)
#define BEGIN_UNIX_NS (1700000000 * NS_PER_S)

static uint64_t passed_ns;
static struct buffer received; /* commands that were read */
static char asked[32];         /* the line that is to be answered, with its end; empty: none */

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

void driven_pass(uint64_t nanoseconds)
{
	passed_ns += nanoseconds;
}

/* Takes a command, if it is one of the clock. Returns whether it was. */
static bool obey_clock(const char *line)
{
	unsigned long long number;

	if (sscanf(line, "clock %llu", &number) == 1)
		driven_pass(number * NS_PER_MS);
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

/* A command that was read already is there without a look at the pipe. */
static int look_again(struct pollfd *waits, nfds_t count)
{
	int ready = __real_poll(waits, count, 0);

	for (nfds_t i = 0; ready >= 0 && i < count; i++) {
		if (waits[i].fd != COMMANDS)
			continue;
		ready += waits[i].revents == 0;
		waits[i].revents |= POLLIN;
	}
	return ready;
}

/*
 * The screen's loop waits here with its frame sent. Nothing becomes due before the clock is moved, which is a
 * command. Looking at a terminal also waits for what was typed to come out of the kernel's queue
 * (n_tty_poll() of drivers/tty/n_tty.c flushes it), so a second look that finds nothing has seen all that
 * came before the command.
 */
int __wrap_poll(struct pollfd *waits, nfds_t count, int milliseconds)
{
	int ready;

	if (!is_loop(waits, count) || milliseconds == 0)
		return __real_poll(waits, count, milliseconds);
	if (received.length != 0 && memchr(received.data, '\n', received.length) != NULL)
		return look_again(waits, count);
	if (asked[0] != '\0') {
		ready = __real_poll(waits, count, 0);
		if (ready != 0)
			return ready;
		driven_answer("%s", asked);
		asked[0] = '\0';
	}
	return __real_poll(waits, count, -1);
}

void driven_answer(const char *format, ...)
{
	char text[256];
	va_list arguments;
	ssize_t written;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	written = write(ANSWERS, text, (size_t)length);
	(void)written;
}

bool driven_receive(bool (*obey)(void *context, char *line, struct ui_event *event), void *context,
		    struct ui_event *event)
{
	bool made = false;
	char bytes[4096];
	ssize_t length;
	char *newline;

	*event = (struct ui_event){0};
	while ((length = read(COMMANDS, bytes, sizeof(bytes))) > 0)
		buffer_append(&received, bytes, (size_t)length);
	while (!made && received.length != 0 &&
	       (newline = memchr(received.data, '\n', received.length)) != NULL) {
		const size_t line = (size_t)(newline - received.data);
		char *text = memory_duplicate_bytes(received.data, line);

		memmove(received.data, newline + 1, received.length - line);
		received.length -= line + 1;
		made = !obey_clock(text) && obey(context, text, event);
		free(text);
	}
	return made;
}

int driven_run(struct session *session, struct ui_host *host, const struct ui_options *options)
{
	struct error error = {0};
	int result;

	host->descriptor = COMMANDS;
	setlocale(LC_CTYPE, "");
	fcntl(COMMANDS, F_SETFL, O_NONBLOCK);
	result = ui_run(session, host, options, &error);
	session_release(session);
	if (result < 0) {
		fprintf(stderr, "fake: %s\n", error.text);
		return 1;
	}
	if (result > 0)
		raise(result);
	return 0;
}
