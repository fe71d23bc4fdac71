/* SPDX-License-Identifier: GPL-2.0-only */
#include "worker.h"

#include <signal.h>
#include <stdlib.h>

#include "clock.h"
#include "memory.h"

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};

enum {
	HANDLER_STACK_BYTES = 64 << 10
};

struct worker {
	void *(*run)(void *argument);
	void *argument;
	char handler_stack[HANDLER_STACK_BYTES];
};

static void *start(void *context)
{
	struct worker *worker = context;
	stack_t former;
	void *result;

	sigaltstack(&(stack_t){.ss_sp = worker->handler_stack, .ss_size = HANDLER_STACK_BYTES}, &former);
	result = worker->run(worker->argument);
	sigaltstack(&former, NULL);
	free(worker);
	return result;
}

int worker_start(pthread_t *ret_thread, void *(*run)(void *argument), void *argument)
{
	struct worker *worker = memory_allocate(sizeof(*worker));
	sigset_t all, before;
	pthread_t thread;
	int result;

	worker->run = run;
	worker->argument = argument;
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&thread, NULL, start, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result != 0)
		free(worker);
	else if (ret_thread != NULL)
		*ret_thread = thread;
	else
		pthread_detach(thread);
	return -result;
}

bool worker_join(pthread_t thread, uint64_t deadline_ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const struct timespec until = clock_timespec(clock_ns(CLOCK_REALTIME) +
						     (deadline_ns > now ? deadline_ns - now : 0));

	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

void worker_initialise_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}
