/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SUPERVISOR_H
#define CTOP_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/*
 * The process that forks all those that may hang or must not be trusted: readers (reader.h), and the
 * processes that resolve strangers' executables (probe/resolver/resolver.h). It is forked before any thread
 * exists, holds nothing open, reads no file and so always answers. A process that it forked is killed when
 * the program gives its socket up; one that hangs in the kernel all the same is left there and collected when
 * it comes back.
 *
 * All of them are called as the program is, and end when it does, in whatever way; those that hang, as soon
 * as the kernel lets them.
 */

/*
 * Forks the supervisor; its caller has one thread. A program has one. Gives SIGCHLD its default action.
 * Returns 0 or a negative errno with a sentence.
 */
int supervisor_start(struct error *error);

/* Ends it and all below it. Allowed where none runs. */
void supervisor_stop(void);

/* Whether one was started; it may have been killed since. */
bool supervisor_is_started(void);

/* Whether `pid` is the supervisor or one of those that it forked. */
bool supervisor_owns(pid_t pid);

enum {
	SUPERVISOR_DESCRIPTORS_MAX = 4, /* of one process */
	SUPERVISOR_ARGUMENT_MAX = 64,   /* bytes */
	SUPERVISOR_PROCESSES_MAX = 512,
};

/*
 * The work of a forked process, a function of this program: all processes are forked from one, so it is where
 * it is everywhere. It holds only the descriptors of its order, has one thread, may allocate, and cannot get
 * more rights (PR_SET_NO_NEW_PRIVS). Returns the exit status.
 */
typedef int supervisor_work(const int *descriptors, const void *argument);

/* The supervisor says this over the first descriptor of an order. */
enum supervisor_report {
	SUPERVISOR_SAYS_NOTHING,
	SUPERVISOR_SAYS_FAILURE, /* why it could not fork */
	SUPERVISOR_SAYS_END,     /* that too, and how the process ended */
};

/* Its message. */
struct supervisor_ended {
	uint32_t kind;        /* SUPERVISOR_ENDED, to tell it from other messages */
	int32_t error_number; /* 0, or why there was no process */
	int32_t wait_status;  /* waitpid(2) */
};

#define SUPERVISOR_ENDED UINT32_C(0x656e6465)

struct supervisor_order {
	supervisor_work *work;
	enum supervisor_report report;
	unsigned int hanging_max; /* no process while so many with that work were killed and hang */
	/*
	 * The first is the end of a socket whose other end the program has: the process is killed when that
	 * is closed or shut down for writing. They stay the caller's.
	 */
	int descriptors[SUPERVISOR_DESCRIPTORS_MAX];
	size_t descriptor_count;
	const void *argument; /* copied */
	size_t size;          /* of it, at most SUPERVISOR_ARGUMENT_MAX */
};

/*
 * Orders a process, without waiting for it; safe from any thread. Returns 0 or a negative errno: -EPIPE or
 * -ECONNRESET when the supervisor has ended, -ESRCH when none was started. Without a process the supervisor
 * closes the descriptors.
 */
int supervisor_fork(const struct supervisor_order *order);

#endif
