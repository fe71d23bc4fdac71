/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_TARGET_PROCESS_H
#define CTOP_TEST_TARGET_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* A running program of target.c, or one that talks like it, and what its threads say of themselves. */

/* What a thread said that its own mallctl(3) counts. */
struct target_thread {
	uint32_t tid;
	uint64_t allocated, deallocated;
};

struct target {
	pid_t child;
	int directory; /* its /proc directory */
	FILE *commands, *answers;
	struct target_thread *threads; /* of the last report, in the order of their lines */
	size_t count, capacity;
};

/*
 * Starts a program (`arguments[0]` is its path; a wrapper such as chroot(8) may come first) and waits for its
 * report. `environment`: NAME=VALUE more, or NULL. It ends with the test.
 */
void target_start(struct target *target, const char *environment, const char *const *arguments);

/* Gives a command ("go", "exec …") and reads the report that follows. */
void target_command(struct target *target, const char *command);

/* Asks a target in mode latency how late its latest wake-up was since the last call, in ns. */
int64_t target_gap(struct target *target);

/* Ends it by the end of its input, and waits. */
void target_end(struct target *target);

/* The last line that the thread printed about itself; NULL when it printed none. */
const struct target_thread *target_find(const struct target *target, uint32_t tid);

/* The first child of a process; 0 without one, -1 where the kernel lists none (CONFIG_PROC_CHILDREN). */
pid_t target_first_child(pid_t pid);

/* The state letter of a thread, 0 when it is gone. */
char target_state(pid_t pid, uint32_t tid);

/* Field `field` (from 3 on) of the stat file of a thread. */
uint64_t target_stat_field(pid_t pid, uint32_t tid, unsigned int field);

#endif
