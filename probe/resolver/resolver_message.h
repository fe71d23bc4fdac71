/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_MESSAGE_H
#define CTOP_RESOLVER_MESSAGE_H

#include <stdint.h>

#include "probe/object/layout.h"

/*
 * What goes over the sockets between the program, the resolver's parent and its children: SOCK_SEQPACKET,
 * each message one of these structs, with processes of the same binary at both ends.
 */

enum {
	RESOLVER_NAME_SIZE = 256, /* NAME_MAX and a NUL: the names asked for are file names or build ids */
};

/* To the parent, with one descriptor: the child's end of the socket of a job. */
struct resolver_order {
	uint32_t object_count; /* libraries that can be asked for */
};

enum resolver_message_kind {
	RESOLVER_MESSAGE_OPEN = 1, /* child: asks for a file */
	RESOLVER_MESSAGE_RESULT,   /* child: its last word */
	RESOLVER_MESSAGE_ENDED,    /* parent: how the child ended */
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
	int32_t error_number; /* 0, or why there was no child */
	int32_t wait_status;  /* waitpid(2) */
};

union resolver_message {
	uint32_t kind;
	struct resolver_open open;
	struct resolver_result result;
	struct resolver_ended ended;
};

/* To the child, with a descriptor when `result` is 0. */
struct resolver_answer {
	int32_t result; /* 0 or a negative errno */
};

#endif
