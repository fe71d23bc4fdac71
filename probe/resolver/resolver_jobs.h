/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_JOBS_H
#define CTOP_RESOLVER_JOBS_H

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/child.h"

/*
 * The processes that work for jobs, in the process that forks them, one a job. Each ends by itself, or is
 * killed when the program has given the job up, which closes the other end of its socket.
 */

enum {
	RESOLVER_JOBS_MAX = 128, /* the callers' own bound is far lower */
	RESOLVER_FIXED_POLLS = 2 /* the control socket, the signals */
};

struct resolver_job {
	struct child child;
	int socket;  /* the end that the child has too: tells when the job was given up */
	bool killed; /* for that reason; it will be collected */
};

struct resolver_jobs {
	int control, signals; /* the socket that orders come from; a signalfd(2) for SIGCHLD */
	struct resolver_job items[RESOLVER_JOBS_MAX];
	size_t count;
};

/* Makes the signalfd, blocking the signal. Returns 0 or a negative errno. */
int resolver_jobs_open(struct resolver_jobs *jobs, int control);

/*
 * Forks a process for a job. Returns as fork(2) does, but a negative errno. The socket is taken over by the
 * table where there is a process, and left to the caller where not.
 */
pid_t resolver_jobs_fork(struct resolver_jobs *jobs, int socket);

enum resolver_jobs_event {
	RESOLVER_JOBS_ORDER = 1 << 0, /* there is something in the control socket */
	RESOLVER_JOBS_ENDED = 1 << 1, /* children have ended: collect them with resolver_jobs_reap() */
};

/* Waits for events, and kills what works for jobs that were given up. Returns a set of events. */
unsigned int resolver_jobs_wait(struct resolver_jobs *jobs);

/*
 * Collects one child of this process. Returns 0 when no other has ended, or its process id; `*ret_socket` is
 * the socket of its job, now the caller's, or -1 for one that is not in the table.
 */
pid_t resolver_jobs_reap(struct resolver_jobs *jobs, int *ret_socket, int *ret_status);

#endif
