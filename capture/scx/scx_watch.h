/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_WATCH_H
#define CTOP_SCX_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/procfs/root.h"
#include "metric/feature.h"
#include "scx_reader.h"
#include "snapshot/snapshot.h"

/*
 * The sched_ext scheduler that runs, from round to round: what it is and counts from sysfs, its contexts by a
 * reader that is made when it is first seen, and given up with all that it holds in the round that finds
 * another one or none (docs/reference/scx.md).
 */
struct scx_watch;

/*
 * Calls `call` with the rights that finding a scheduler takes (CAP_SYS_ADMIN, CAP_BPF, CAP_PERFMON), where
 * they can be had, and takes them back.
 */
typedef void scx_watch_rights(void (*call)(void *argument), void *argument);

/*
 * `roots` and the texts of `choice` outlive the watch; `rights` may be NULL: those of the caller. To be ended
 * with scx_watch_close().
 */
struct scx_watch *scx_watch_open(const struct roots *roots, const struct context_choice *choice,
				 scx_watch_rights *rights);
void scx_watch_close(struct scx_watch *watch);

/*
 * Lets go of a scheduler that ended or was replaced, whose memory the kernel keeps for us. To be called
 * between rounds, which may be far apart. Returns when it is to be called again (CLOCK_MONOTONIC ns),
 * UINT64_MAX for never.
 */
uint64_t scx_watch_serve(struct scx_watch *watch);

/*
 * Gives a snapshot whose threads have their final rows, ascending by (tgid, tid), the scheduler and its
 * counters, and with `contexts` the contexts of its threads; none where the scheduler ended or was replaced
 * while they were read. `cancel` may be NULL. `*ret_result` tells whether and why not contexts can be read,
 * in words that are valid until the next round.
 */
void scx_watch_read(struct scx_watch *watch, bool contexts, const atomic_bool *cancel,
		    struct snapshot *snapshot, struct feature_result *ret_result);

/*
 * Gives the rows of a snapshot, after task_fields_begin(), the contexts that were read, by thread and time of
 * start: a number that another thread has by now gets nothing, and what was another task's is counted. Pure.
 */
void scx_watch_fill(const struct scx_reading *reading, struct snapshot *snapshot);

/*
 * Adds the threads whose contexts are other ones than in `previous` to those that the snapshot says moved; it
 * says nothing of that any more where contexts of the two are not of one kind. `old_row` is their row there,
 * UINT32_MAX for none.
 */
void scx_watch_list_moved(struct snapshot *snapshot, const struct snapshot *previous,
			  const uint32_t old_row[]);

/* Whether contexts can be read now, with the rights of the caller: tries it. The words are owned by `arena`.
 */
void scx_watch_check(const struct roots *roots, struct arena *arena, struct feature_result *ret_result);

#endif
