/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASKSTATS_H
#define CTOP_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "taskstats_layout.h"

/*
 * taskstats over generic netlink: the counters and delays of a thread in one message, asked for many threads
 * at a time. Kernel: kernel/taskstats.c, Documentation/accounting/taskstats.rst.
 */
struct taskstats_connection;

/* What came for one thread. */
struct taskstats_reply {
	int error; /* 0; -EPERM, -ESRCH …: the kernel's answer; -EBADMSG malformed; -ETIMEDOUT no answer */
	const unsigned char
		*stats; /* `layout->size` bytes of the kernel's struct taskstats; NULL unless error is 0 */
	const struct taskstats_layout *layout;
};

/* Called once per thread asked for, in any order; `index` is that of its id in the list of thread ids. */
typedef void taskstats_receive(void *context, size_t index, const struct taskstats_reply *reply);

/*
 * Connects and resolves the family. Needs no privilege. Returns 0, -ENOENT where the kernel has no family, or
 * another negative errno, with a sentence. The caller ends it with taskstats_close().
 */
int taskstats_open(struct taskstats_connection **ret_connection, struct error *error);

/*
 * The same interface over saved replies: `directory` holds TID.bin, each a whole message as received, netlink
 * header included. A thread without a file answers -ESRCH.
 */
int taskstats_open_saved(const char *directory, struct taskstats_connection **ret_connection,
			 struct error *error);

/* NULL is allowed. */
void taskstats_close(struct taskstats_connection *taskstats);

/*
 * Asks for `count` threads by the ids of the caller's pid namespace, several in one send, never more than the
 * receive buffer holds, and hands each answer to `receive`. Each query needs CAP_NET_ADMIN in the initial
 * user namespace; the refusal is the same for every thread, so after the first one no more are sent and all
 * that remain answer -EPERM.
 */
void taskstats_query(struct taskstats_connection *taskstats, const uint32_t *tids, size_t count,
		     taskstats_receive *receive, void *context);

/* Asks for one thread, to see whether an answer comes. Returns the error of the reply. */
int taskstats_query_one(struct taskstats_connection *taskstats, uint32_t tid);

/* The layout of the last reply that carried one; its size is 0 before the first. Owned by the connection. */
const struct taskstats_layout *taskstats_layout(const struct taskstats_connection *taskstats);

/*
 * Takes one received message apart and checks that it answers for `tid`. Returns 0 and the payload, or a
 * negative errno as in struct taskstats_reply (-EBADMSG also when it is about another thread).
 */
int taskstats_parse_message(const void *bytes, size_t length, uint32_t tid, const unsigned char **ret_stats,
			    size_t *ret_size);

/*
 * The same for a message whose thread is not known: what the kernel sends when a thread ends. What such a
 * message says of a whole process (TASKSTATS_TYPE_AGGR_TGID), the sum of its threads, is passed over.
 */
int taskstats_parse_record(const void *bytes, size_t length, uint32_t *ret_tid,
			   const unsigned char **ret_stats, size_t *ret_size);

/* Asks for the calling thread: 0 when replies come, -ENOENT without the family, -EPERM when refused. */
int taskstats_probe(void);

#endif
