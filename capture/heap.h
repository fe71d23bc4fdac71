/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HEAP_H
#define CTOP_HEAP_H

#include "round.h"

struct resolver;

/* The allocator probe in a capture: whom it looks at, what is read of whom, and why not. */

/* After the roots were opened. Without a resolver, or where calls by process id reach nobody, there is no
 * probe. */
void heap_open(struct capture *capture, struct resolver *resolver);
void heap_close(struct heap *heap);

/* What a round reads of it, of sources that are needed or wanted while the budget lasts; sets heap_is_on too.
 */
void heap_choose_use(struct round *round);

/* The reason of what is not read in this round. */
enum reason heap_default_reason(const struct capture *capture);

/* When the rows are made: what they hold while the probe is off, or until they are read. */
void heap_begin(struct round *round);

/*
 * Whether there is nothing to look for in a process: kernel threads have no memory of their own, nor have
 * processes that are waited for; our own are left out.
 */
bool heap_has_none(const struct round *round, const struct process *process);

/* Whether a process is ours: neither looked at nor counted. */
bool heap_is_own(const struct heap *heap, uint32_t tgid);

/* Starts looking at a process, so that its executable is resolved while others are read. `tasks` is its task
 * directory. */
void heap_look_ahead(struct round *round, struct process *process, int tasks);

/* Reads the counters of all threads that moved since they were read. Returns 0 or -ECANCELED. */
int heap_read(struct round *round);

#endif
