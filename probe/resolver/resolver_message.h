/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_MESSAGE_H
#define CTOP_RESOLVER_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/rights.h"
#include "probe/object/layout.h"
#include "probe/process/process_map.h"

/*
 * What goes over the sockets between the program and the processes of the resolver (resolver.h):
 * SOCK_SEQPACKET, each message one of these structs, with processes of the same binary at both ends.
 */

enum {
	RESOLVER_NAME_SIZE = 256, /* NAME_MAX and a NUL: the names asked for are file names or build ids */
};

/*
 * Program to supervisor: resolve an executable. With ORDER_JOB, the end of the job's socket that the
 * processes of the job have; ORDER_DIRECTORY, the directory of the process; ORDER_MAP, a file with the text
 * of its exe link and its memory map (resolver_order_write()). Supervisor to resolver: with ORDER_JOB and
 * ORDER_FILES, the socket over which the child asks for files. Supervisor to program, over the same socket: a
 * pid_t, the process id that the resolver has now.
 */
struct resolver_order {
	uint32_t object_count; /* libraries that can be asked for */
	struct rights rights;  /* of the thread that orders; files are opened with the same */
};

enum {
	ORDER_JOB,
	ORDER_DIRECTORY,
	ORDER_MAP,
	ORDER_DESCRIPTORS,
	ORDER_FILES = ORDER_DIRECTORY,
	ORDER_RESOLVER_DESCRIPTORS = ORDER_MAP,
};

enum resolver_message_kind {
	/* child to opener: asks for a file; answered by an int, 0 and a descriptor or a negative errno */
	RESOLVER_MESSAGE_OPEN = 1,
	RESOLVER_MESSAGE_RESULT, /* child to opener to program, or from the opener alone */
	RESOLVER_MESSAGE_ENDED,  /* resolver or supervisor to program: how the child ended */
};

/* The arguments of resolve_source.open(). */
struct resolver_open {
	uint32_t kind;
	uint32_t object, file, ordinal;
	char name[RESOLVER_NAME_SIZE];
};

struct resolver_result {
	uint32_t kind;
	struct resolution resolution;
};

struct resolver_ended {
	uint32_t kind;
	uint32_t without_resolver; /* 1: the resolver itself ended, and the child with it */
	int32_t error_number;      /* 0, or why there was no child */
	int32_t wait_status;       /* waitpid(2) */
};

union resolver_message {
	uint32_t kind;
	struct resolver_open open;
	struct resolver_result result;
	struct resolver_ended ended;
};

/* Exit statuses of a child that was not answered in time: opening a file hangs. */
enum {
	CHILD_EXECUTABLE_HANGS = 3,
	CHILD_LIBRARY_HANGS = 4,
};

/*
 * Sends a message and `count` descriptors; with MSG_DONTWAIT in `flags` it never waits. Returns 0 or a
 * negative errno. Like the next, allocates nothing and makes no call but sendmsg(2).
 */
int resolver_message_send(int socket, const void *message, size_t size, const int *descriptors, size_t count,
			  int flags);

/*
 * Takes a message of at most `size` bytes. Returns its size, 0 at the end, or a negative errno. Up to `count`
 * descriptors that came along (close-on-exec) are in `descriptors`, the others -1; when more or less than
 * `count` came, all are closed, and are -1.
 */
ssize_t resolver_message_receive(int socket, void *message, size_t size, int *descriptors, size_t count,
				 int flags);

/*
 * Writes what the opener of a job has to know of its process into a file without a name: too much for a
 * message. Returns a descriptor or a negative errno.
 */
int resolver_order_write(const char *executable_path, const struct process_map *map);

/* Reads it from the beginning; the caller frees both. Returns 0 or a negative errno. */
int resolver_order_read(int descriptor, char **ret_executable_path, struct process_map *ret_map);

/* Tells the program how a job ended. A failure is ignored: then the program is gone, or gave the job up. */
void resolver_message_send_ended(int socket, struct resolver_ended ended);

#endif
