/* SPDX-License-Identifier: GPL-2.0-only */
#include "crash_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

static const int guarded_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

enum {
	GUARDED_SIGNAL_COUNT = sizeof(guarded_signals) / sizeof(guarded_signals[0]),
	/* room for a handler although the ordinary stack may be what ran out */
	ALTERNATE_STACK_BYTES = 64 << 10
};

static struct crash_guard_state state;
static atomic_bool armed;
static struct sigaction former_actions[GUARDED_SIGNAL_COUNT];
static stack_t former_stack;
static void *alternate_stack;

/* Write errors are not looked at: the process is dying and has nobody else to tell. */
static void write_best_effort(int descriptor, const char *bytes, size_t length)
{
	while (length != 0) {
		ssize_t written = write(descriptor, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		bytes += written;
		length -= (size_t)written;
	}
}

static void show_captured_error(void)
{
	char bytes[4096];

	if (state.standard_error < 0)
		return;
	dup2(state.standard_error, STDERR_FILENO);
	while (state.captured_error >= 0) {
		ssize_t length = read(state.captured_error, bytes, sizeof(bytes));

		if (length <= 0)
			return;
		write_best_effort(STDERR_FILENO, bytes, (size_t)length);
	}
}

void crash_guard_restore(void)
{
	if (!atomic_exchange(&armed, false))
		return;
	write_best_effort(state.terminal, state.reset, state.reset_length);
	tcsetattr(state.terminal, TCSANOW, &state.modes);
	show_captured_error();
}

/* The former action (a core dump, a sanitizer's report) sees the signal when this handler has returned. */
static void handle_crash(int signal_number)
{
	int saved_errno = errno;

	crash_guard_restore();
	for (size_t i = 0; i < GUARDED_SIGNAL_COUNT; i++) {
		if (guarded_signals[i] == signal_number)
			sigaction(signal_number, &former_actions[i], NULL);
	}
	raise(signal_number);
	errno = saved_errno;
}

void crash_guard_set(const struct crash_guard_state *new_state)
{
	static bool registered;
	struct sigaction action = {.sa_handler = handle_crash, .sa_flags = SA_ONSTACK};

	state = *new_state;
	if (!registered) {
		registered = true;
		atexit(crash_guard_restore);
	}
	alternate_stack = memory_allocate(ALTERNATE_STACK_BYTES);
	sigaltstack(&(stack_t){.ss_sp = alternate_stack, .ss_size = ALTERNATE_STACK_BYTES}, &former_stack);
	atomic_store(&armed, true);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < GUARDED_SIGNAL_COUNT; i++)
		sigaction(guarded_signals[i], &action, &former_actions[i]);
	memory_set_failure_handler(crash_guard_restore);
}

void crash_guard_clear(void)
{
	if (alternate_stack == NULL)
		return;
	memory_set_failure_handler(NULL);
	for (size_t i = 0; i < GUARDED_SIGNAL_COUNT; i++)
		sigaction(guarded_signals[i], &former_actions[i], NULL);
	sigaltstack(&former_stack, NULL);
	free(alternate_stack);
	alternate_stack = NULL;
	atomic_store(&armed, false);
}
