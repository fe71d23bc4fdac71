/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CHILD_H
#define CTOP_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A forked process. It is signalled through a handle (pidfd_open(2)), never by a number that somebody else
 * may have by then: where the program that started us ignores SIGCHLD, the kernel collects children by
 * itself.
 */
struct child {
	pid_t pid;  /* 0: there is none, or it was collected */
	int handle; /* -1 where the kernel has none (before Linux 5.3) */
};

/* Takes over what fork(2) returned. */
struct child child_adopt(pid_t pid);

/* SIGKILL. Nothing is waited for: a process that hangs in the kernel ends when it comes back from there. */
void child_kill(const struct child *child);

/* Collects it if it has ended. Returns whether it has; `*ret_status` (may be NULL) is that of waitpid(2). */
bool child_reap(struct child *child, int *ret_status);

/* Kills it and waits for its end, which must not hang. */
void child_end(struct child *child);

/* Closes the handle of one that is collected otherwise, or by nobody. */
void child_forget(struct child *child);

#endif
