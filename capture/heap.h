/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HEAP_H
#define CTOP_HEAP_H

#include "round.h"

struct resolver;

/*
 * The allocator probe in a capture: which processes it examines, what it reads of them, and why it does not.
 */

/*
 * To be called after the roots were opened. There is no probe without a resolver, or if process ids from
 * these roots do not work in system calls.
 */
void heap_open(struct capture *capture, struct resolver *resolver);
void heap_close(struct heap *heap);

/* What a round reads of it: what is needed, or wanted while the budget lasts; sets heap_is_on too. */
void heap_choose_use(struct round *round);

/* The reason of what is not read in this round. */
enum reason heap_default_reason(const struct capture *capture);

/* To be called when the rows are made: sets what they hold while the probe is off, or until they are read. */
void heap_begin(struct round *round);

/*
 * Whether there is nothing to look for in a process: kernel threads and zombies have no memory; ctop's own
 * processes are left out.
 */
bool heap_has_none(const struct round *round, const struct process *process);

/* Whether a process is one of ctop's: neither examined nor counted. */
bool heap_is_own(const struct heap *heap, uint32_t tgid);

/*
 * Starts examining a process, so that its executable is resolved while others are read. `tasks` is its task
 * directory.
 */
void heap_look_ahead(struct round *round, struct process *process, int tasks);

/* Reads the counters of all threads that ran since they were last read. Returns 0 or -ECANCELED. */
int heap_read(struct round *round);

#endif
