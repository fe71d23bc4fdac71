/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASKSTATS_H
#define CTOP_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "metric/metric.h"

/* Members of struct taskstats; the table is taskstats.def. */
enum taskstats_member {
#define TASKSTATS_MEMBER(id, ...) TASKSTATS_MEMBER_##id,
#include "taskstats.def"
#undef TASKSTATS_MEMBER
	TASKSTATS_MEMBER_COUNT,
	TASKSTATS_MEMBER_NONE = TASKSTATS_MEMBER_COUNT,
};

enum {
	TASKSTATS_NOT_THERE = UINT16_MAX, /* offset of a member that a layout does not have */
};

/* The offsets of members in replies of one version and size. */
struct taskstats_layout {
	uint16_t version;
	uint16_t size;
	uint16_t offset[TASKSTATS_MEMBER_COUNT];
};

/*
 * Works out the layout of payloads that say `version` and are `size` bytes long. Version 15, and 14 with the
 * size of 15 (kernel 6.14.0), carry the maxima and minima in the middle. Members newer than the version or
 * beyond the payload are not there.
 */
void taskstats_layout_resolve(struct taskstats_layout *layout, unsigned int version, size_t size);

/*
 * The member that carries `metric`, by the column `key` of metrics.def: of its own source or of the
 * equivalent one. TASKSTATS_MEMBER_NONE when no reply carries it.
 */
enum taskstats_member taskstats_member_of_metric(enum metric metric);

/* Whether payloads of this layout carry the member. */
static inline bool taskstats_has(const struct taskstats_layout *layout, enum taskstats_member member)
{
	return layout->offset[member] != TASKSTATS_NOT_THERE;
}

/* A member of eight bytes; 0 when it is not there. `stats` holds `layout->size` bytes of any alignment. */
static inline uint64_t taskstats_u64(const struct taskstats_layout *layout, const unsigned char *stats,
				     enum taskstats_member member)
{
	uint64_t value = 0;

	if (taskstats_has(layout, member))
		memcpy(&value, stats + layout->offset[member], sizeof(value));
	return value;
}

/* A member of any width up to eight bytes, zero-extended; 0 when it is not there. */
uint64_t taskstats_number(const struct taskstats_layout *layout, const unsigned char *stats,
			  enum taskstats_member member);

/*
 * The number of a metric as a column holds it, for all metrics that replies carry but `policy` (whose number
 * is the policy's): kibibytes are multiplied, saturating, and nice is sign-extended.
 */
uint64_t taskstats_metric_value(const struct taskstats_layout *layout, const unsigned char *stats,
				enum metric metric, enum taskstats_member member);

/*
 * taskstats over generic netlink: the counters and delays of a thread in one message, asked for many threads
 * at a time. Kernel: kernel/taskstats.c, Documentation/accounting/taskstats.rst.
 */
struct taskstats_connection;

/* The answer for one thread. */
struct taskstats_reply {
	int error; /* 0; -EPERM, -ESRCH …: the kernel's answer; -EBADMSG malformed; -ETIMEDOUT no answer */
	const unsigned char
		*stats; /* `layout->size` bytes of the kernel's struct taskstats; NULL unless error is 0 */
	const struct taskstats_layout *layout;
};

/* Called once per thread asked for, in any order; `index` is that of its id in the list of thread ids. */
typedef void taskstats_receive(void *context, size_t index, const struct taskstats_reply *reply);

/*
 * Connects, resolves the family and asks for the calling thread, to see that replies come. Returns 0, -ENOENT
 * where the kernel has no family, -EPERM when it refuses, or another negative errno, with a sentence. The
 * caller ends it with taskstats_close().
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

/*
 * The kernel sends a record of each thread that ends to listeners that registered for its CPU
 * (TASKSTATS_CMD_ATTR_REGISTER_CPUMASK). It is sent before the thread gives its memory back, so that a
 * little of its run time is missing. Kernel: kernel/taskstats.c, Documentation/accounting/taskstats.rst.
 */
struct taskstats_exits;

/* Takes the record of one thread: `layout->size` bytes, which are not kept. */
typedef void taskstats_exit_receive(void *context, uint32_t tid, const unsigned char *stats,
				    const struct taskstats_layout *layout);

/*
 * Registers for all CPUs, and lets a thread of its own end to see that records come. Needs CAP_NET_ADMIN in
 * the initial user namespace, and the initial pid and network namespaces: into others nothing is sent.
 * Returns 0, -EPERM without the right, -EINVAL in another user or pid namespace, -ETIMEDOUT when no record
 * came (another network namespace), -ENOENT without the family, or another negative errno, with a sentence.
 * The caller ends it with taskstats_exits_close().
 */
int taskstats_exits_open(struct taskstats_exits **ret_exits, struct error *error);

/* NULL is allowed. Without it, as after SIGKILL, the kernel forgets us at the next thread that ends. */
void taskstats_exits_close(struct taskstats_exits *exits);

/*
 * Hands over the records that have come, without waiting for others. Returns how many messages were dropped
 * since the last call because nobody read in time; each is one thread.
 */
uint64_t taskstats_exits_read(struct taskstats_exits *exits, taskstats_exit_receive *receive, void *context);

#endif
