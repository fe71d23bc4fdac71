/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASKSTATS_EXITS_H
#define CTOP_TASKSTATS_EXITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "taskstats_layout.h"

/*
 * What the kernel sends of each thread when it ends, to whoever has registered for the CPUs on which threads
 * end (TASKSTATS_CMD_ATTR_REGISTER_CPUMASK). It is sent before the thread gives its memory back, so that a
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

/* The layout of the last record. Owned by `exits`. */
const struct taskstats_layout *taskstats_exits_layout(const struct taskstats_exits *exits);

#endif
