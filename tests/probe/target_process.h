/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TARGET_PROCESS_H
#define CTOP_TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A running program of tests/targets/target.c and what its threads say of themselves. */

struct target_thread {
	uint32_t tid;
	uint64_t allocated, deallocated;
};

struct target_process {
	pid_t pid;
	int input, output;
	int directory; /* its /proc directory */
	struct target_thread *threads;
	size_t count;
	char line[256]; /* read so far */
	size_t line_length;
};

/* How a program is started. */
struct target_start {
	const char *preload; /* LD_PRELOAD, or NULL */
	bool new_namespace;  /* of process ids */
	uid_t user;          /* 0: ours */
};

/* Starts the program and waits until it has reported and says that it is ready. Fails the test if not. */
void target_start(struct target_process *target, const struct target_start *start,
		  const char *const *arguments);

/* Gives a command and takes the reports up to the next "ready". */
void target_command(struct target_process *target, const char *command);

/* Ends it by the end of its input, and its family with it. */
void target_end(struct target_process *target);

/* What the thread said of itself last, NULL when it did not. */
const struct target_thread *target_find(const struct target_process *target, uint32_t tid);

/* The state letter of a thread, 0 when it is gone. */
char target_state(pid_t pid, uint32_t tid);

/* Field `field` (from 3 on) of the stat file of a thread. */
uint64_t target_stat_field(pid_t pid, uint32_t tid, unsigned int field);

#endif
