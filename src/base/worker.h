/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WORKER_H
#define CTOP_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Starts a thread beside the one that draws. Signals are the business of that one, but for faults: the kernel
 * ends a process whose thread blocks the signal of its own fault, without the handler that restores the
 * terminal (force_sig_info_to_task() in kernel/signal.c). A stack of its own lets that handler run when the
 * thread's is used up. Returns 0 or a negative errno; with `ret_thread` NULL the thread is detached.
 */
int worker_start(pthread_t *ret_thread, void *(*run)(void *argument), void *argument);

/* Waits for the thread until `deadline_ns` (CLOCK_MONOTONIC); returns whether it ended. */
bool worker_join(pthread_t thread, uint64_t deadline_ns);

/* A condition whose timed waits are by CLOCK_MONOTONIC; to be ended with pthread_cond_destroy(3). */
void worker_initialise_condition(pthread_cond_t *condition);

#endif
