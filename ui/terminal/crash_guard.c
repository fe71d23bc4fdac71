/* SPDX-License-Identifier: GPL-2.0-only */
#include "crash_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

/*
 * Faults, and every other signal whose default ends a process (signal(7)), except those of the signal pipe.
 * The real-time signals follow; their numbers are known at run time only.
 */
static const int named_signals[] = {
	SIGSEGV, SIGBUS,  SIGILL,    SIGFPE,  SIGABRT, SIGTRAP, SIGSYS,    SIGUSR1, SIGUSR2,
	SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,  SIGSTKFLT, SIGXFSZ,
};

enum {
	NAMED_SIGNAL_COUNT = sizeof(named_signals) / sizeof(named_signals[0]),
	GUARDED_SIGNALS_MAX = NAMED_SIGNAL_COUNT + _NSIG,
	/* for the handler: the ordinary stack may have run out */
	ALTERNATE_STACK_BYTES = 64 << 10
};

static struct crash_guard_state state;
static atomic_bool armed;
static struct sigaction former_actions[GUARDED_SIGNALS_MAX];
static stack_t former_stack;
static void *alternate_stack;

static int guarded_signal_count(void)
{
	return NAMED_SIGNAL_COUNT + SIGRTMAX - SIGRTMIN + 1;
}

static int guarded_signal(int index)
{
	return index < NAMED_SIGNAL_COUNT ? named_signals[index] : SIGRTMIN + index - NAMED_SIGNAL_COUNT;
}

/* Write errors are ignored: the process is dying and cannot report them. */
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

/*
 * Redirects the terminal's descriptor to /dev/null, since other threads still run and may draw until the
 * process dies. Returns another descriptor of the terminal.
 */
static int take_terminal(void)
{
	const int own = fcntl(state.terminal, F_DUPFD_CLOEXEC, 0),
		  nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (own >= 0 && nowhere >= 0)
		dup3(nowhere, state.terminal, O_CLOEXEC);
	return own >= 0 ? own : state.terminal;
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

bool crash_guard_is_in_background(int terminal)
{
	const pid_t foreground = tcgetpgrp(terminal);

	return foreground >= 0 && foreground != getpgrp();
}

void crash_guard_restore(void)
{
	int terminal;

	if (!atomic_exchange(&armed, false) || crash_guard_is_in_background(state.terminal))
		return;
	terminal = take_terminal();
	write_best_effort(terminal, state.reset, state.reset_length);
	tcsetattr(terminal, TCSANOW, &state.modes);
	show_captured_error();
}

/* The former action (a core dump, a sanitizer's report) gets the signal once this handler has returned. */
static void handle_crash(int signal_number)
{
	int saved_errno = errno;

	crash_guard_restore();
	for (int i = 0; i < guarded_signal_count(); i++) {
		if (guarded_signal(i) == signal_number)
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
	atomic_store(&armed, true);
	memory_set_failure_handler(crash_guard_restore);
	alternate_stack = memory_allocate(ALTERNATE_STACK_BYTES);
	sigaltstack(&(stack_t){.ss_sp = alternate_stack, .ss_size = ALTERNATE_STACK_BYTES}, &former_stack);
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < guarded_signal_count(); i++) {
		sigaction(guarded_signal(i), &action, &former_actions[i]);
		/* a signal that was ignored stays so */
		if (former_actions[i].sa_handler == SIG_IGN)
			sigaction(guarded_signal(i), &former_actions[i], NULL);
	}
}

void crash_guard_pause(bool paused)
{
	atomic_store(&armed, !paused && alternate_stack != NULL);
}

void crash_guard_clear(void)
{
	if (alternate_stack == NULL)
		return;
	memory_set_failure_handler(NULL);
	for (int i = 0; i < guarded_signal_count(); i++)
		sigaction(guarded_signal(i), &former_actions[i], NULL);
	sigaltstack(&former_stack, NULL);
	free(alternate_stack);
	alternate_stack = NULL;
	atomic_store(&armed, false);
}
