/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASKS_H
#define CTOP_TASKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Tasks of a screen, which read, make and write what takes long. Each has a thread of its own, since the file
 * system of another one may hang.
 */
struct tasks;

struct tasks *tasks_create(void);

struct task {
	void (*run)(void *argument);
	void *argument;
	bool must_finish; /* also when the screen is closed right after */
};

/* Runs a task in another thread. Returns 0, or a negative errno where no thread can be started. */
int tasks_start(struct tasks *tasks, struct task task);

/* Waits for tasks that must finish, for as long as their threads use CPU time. */
void tasks_finish(struct tasks *tasks);

/*
 * Waits until no task is under way, until `deadline_ns` (CLOCK_MONOTONIC). Returns false where a thread is
 * left behind: the process has to end without exit(3), and what the task uses stays.
 */
bool tasks_stop(struct tasks *tasks, uint64_t deadline_ns);

/* Once they have been stopped; NULL is allowed. */
void tasks_release(struct tasks *tasks);

#endif
