/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REMOTE_INTERNAL_H
#define CTOP_REMOTE_INTERNAL_H

#include "remote.h"

/* What the files of a remote share: its messages, and its processes as functions that they run. */

/* A call, followed by its argument. A descriptor comes along where there is a directory. */
struct remote_request {
	remote_work
		*work; /* all processes are forked from one program: a function is where it is everywhere */
	uint32_t size; /* of the argument */
	uint32_t has_directory;
};

/* Its outcome, followed by the answer. */
struct remote_outcome {
	int32_t result;
	uint32_t size; /* of the answer */
	uint64_t cpu_ns;
};

/* What the supervisor tells of the process that makes calls from now on; its socket comes along. */
struct remote_process {
	pid_t pid; /* 0: there is none, too many hang */
};

/*
 * The supervisor: for each byte that comes over `control` it kills the process that made the calls, forks
 * another and sends a struct remote_process, until the other end is closed.
 */
_Noreturn void remote_supervisor_run(int control, pid_t program, bool use_rights);

/* Makes calls that come over `socket`, until its other end is closed. */
_Noreturn void remote_process_run(int socket, pid_t supervisor, bool use_rights);

/* Has the kernel end this process when its parent does, which must be `parent`. */
void remote_bind(pid_t parent);

/*
 * Sends both, the second of which may be empty, with one call, and `descriptor` unless it is -1. Returns
 * false when not all of it was sent: with MSG_DONTWAIT in `flags` it does not wait for room.
 */
bool remote_send(int socket, const void *first, size_t first_size, const void *second, size_t second_size,
		 int descriptor, int flags);

/*
 * Takes bytes, `first_size` of them to `first` and then up to `second_size` to `second`, and the descriptor
 * that came along (-1: none). Returns as recvmsg(2) does.
 */
ssize_t remote_receive(int socket, void *first, size_t first_size, void *second, size_t second_size,
		       int *ret_descriptor, int flags);

#endif
