/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_INTERNAL_H
#define CTOP_RESOLVER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/rights.h"
#include "base/supervisor.h"
#include "probe/dwarf/resolve.h"
#include "probe/object/layout.h"
#include "probe/process/process_map.h"
#include "resolver.h"

/* Shared by the program and the two processes of a job (resolver.h). */

/* The work of a child: resolve(), or something worse in tests. */
typedef void resolver_work(const struct resolve_source *source, struct resolution *ret_resolution);

/* resolver_submit() for any work; the job is given up after `patience_ns`. */
struct resolve_job *resolver_submit_for(resolver_work *work, uint64_t patience_ns, int process_directory,
					const char *executable_path, const struct process_map *map);

enum {
	RESOLVER_NAME_SIZE = 256, /* NAME_MAX and a NUL: the names asked for are file names or build ids */
};

/* --- resolver_opener.c --- */

/* The descriptors of an opener: its job's socket, over which results go to the program; the socket of a
 * child. */
enum {
	OPENER_JOB,
	OPENER_FILES,
	OPENER_DIRECTORY, /* of the process */
	OPENER_MAP,       /* a file made by resolver_opener_write_map() */
	OPENER_DESCRIPTORS,
};

struct opener_order {
	struct rights rights;  /* of the thread that orders; files are opened with the same */
	uint32_t object_count; /* libraries that can be asked for */
};

/*
 * Writes what an opener has to know of its process into a file without a name: it is too much for a message.
 * Returns a descriptor or a negative errno.
 */
int resolver_opener_write_map(const char *executable_path, const struct process_map *map);

/* A supervisor_work: opens what the child asks for, and hands its result on to the program. */
int resolver_opener_run(const int *descriptors, const void *order);

/* --- resolver_child.c --- */

/* The descriptors of a child: the sockets of its job and of the opener. */
enum {
	CHILD_JOB,
	CHILD_FILES,
	CHILD_DESCRIPTORS,
};

struct child_order {
	resolver_work *work;
	uint32_t object_count;
};

/*
 * A supervisor_work: gives every right up, enters the sandbox, does the work and sends its result to the
 * opener, which it asks for files, too; or to the program when the opener does not answer any more.
 */
int resolver_child_run(const int *descriptors, const void *order);

/* Exit statuses of a child that was not answered in time: opening a file hangs. */
enum {
	CHILD_EXECUTABLE_HANGS = 3,
	CHILD_LIBRARY_HANGS = 4,
};

/* --- messages: each is one of these structs (SOCK_SEQPACKET) --- */

enum resolver_message_kind {
	/* child to opener: asks for a file; answered by an int, 0 and a descriptor or a negative errno */
	RESOLVER_MESSAGE_OPEN = 1,
	RESOLVER_MESSAGE_RESULT, /* child to opener to program, or from the opener alone */
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

union resolver_message {
	uint32_t kind;
	struct resolver_open open;
	struct resolver_result result;
	struct supervisor_ended ended; /* supervisor to program: how the child ended */
};

#endif
