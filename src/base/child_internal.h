/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CHILD_INTERNAL_H
#define CTOP_CHILD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The supervisor, or a process that it forked. It is signalled through a handle (pidfd_open(2)), never by a
 * number that somebody else may have by then: where the program that started us ignores SIGCHLD, the kernel
 * collects children by itself.
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

/*
 * To be called first in a forked process. The kernel ends it when its parent does, at once where that is not
 * `parent` any more. Every descriptor is closed but the `count` in `kept`, which become 3, 4 and so on, as
 * `kept` then says: nobody who reads what the program writes has to wait for a copy that hangs. /dev/null
 * stands on 0, 1 and 2, so that nothing that is printed gets into those. Ends the process where any of this
 * fails.
 */
void child_isolate(pid_t parent, int *kept, size_t count);

#endif
