/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_WATCH_H
#define CTOP_ENDED_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "capture/host/feature.h"
#include "capture/procfs/root.h"
#include "snapshot/snapshot.h"

/*
 * What threads did that ended between two rounds, as BPF programs tell it, or taskstats where there are none
 * (ended_records.h). Who was in the round before is listed with what it counted in its life; of who came and
 * went between two rounds there are sums.
 */
struct ended_watch;

enum ended_side {
	ENDED_SIDE_NOW,
	ENDED_SIDE_BEFORE,
};

/* One round, whose snapshot has all of its rows by now; nothing of it is kept. */
struct ended_round {
	const struct roots *roots;
	const struct feature_checks *checks;
	const struct snapshot *snapshot;
	const struct snapshot *previous; /* the last that was taken, whatever for; NULL: this is the first */
	/* The path of a cgroup that rounds have met, by its id, NULL for others: it may be removed by now. */
	const char *(*cgroup_path)(const void *context, uint64_t id);
	/* The address of the task's structure that a row of either snapshot is of; NULL: nobody knows. */
	uint64_t (*task_at)(const void *context, enum ended_side side, size_t row);
	const void *context;
};

/*
 * Begins to watch all processes, or those of a `scope`, whose list the caller keeps. The rights that
 * bpf_check() and taskstats_exits_open() ask for are not needed afterwards. `*ret_result` is on, partial by
 * taskstats, or tells why nothing is watched; its words are owned by `arena`. Where it is off beforehand, it
 * tells why BPF is not tried. Returns the watch, to be ended with ended_watch_close(), or NULL.
 */
struct ended_watch *ended_watch_open(const struct roots *roots, const uint32_t *scope, size_t scope_count,
				     struct arena *arena, struct feature_result *ret_result);

/* NULL is allowed in all calls: nothing is watched. */
void ended_watch_close(struct ended_watch *watch);

/* A round begins: whatever ends from now on may have been seen by it. */
void ended_watch_begin(struct ended_watch *watch);

/*
 * Reads what has come, between two rounds, so that there is room for more; `previous` is as in struct
 * ended_round. Returns when it wants to be called again, CLOCK_MONOTONIC: UINT64_MAX for never.
 */
uint64_t ended_watch_serve(struct ended_watch *watch, const struct snapshot *previous,
			   const struct feature_checks *checks);

/* What ended since the round before; owned by the caller. NULL when it is not known. */
struct ended_set *ended_watch_read(struct ended_watch *watch, const struct ended_round *round);

#endif
