/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TIMELINE_H
#define CTOP_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "moment.h"
#include "snapshot/snapshot.h"
#include "store/history.h"

/*
 * Moments that have been, whoever has them: a recorded history, or the rounds that a live screen keeps
 * (ring.h). For one thread at a time. Functions return 0 or a negative errno with a sentence, as those of
 * history.h.
 */

struct timeline_functions {
	int (*first)(void *source, struct history_round *ret_round, struct error *error);
	int (*last)(void *source, struct history_round *ret_round, struct error *error);
	int (*find)(void *source, uint64_t unix_ns, enum history_side side, struct history_round *ret_round,
		    struct error *error);
	int (*step)(void *source, const struct history_round *from, int64_t rounds,
		    struct history_round *ret_round, struct error *error);
	/* Whether nothing is known to be lost between two rounds that step() says follow each other. */
	bool (*adjoins)(void *source, const struct history_round *before, const struct history_round *after);
	int (*range)(void *source, uint64_t from_unix_ns, uint64_t to_unix_ns, size_t limit,
		     struct history_round **ret_rounds, size_t *ret_count, struct error *error);
	int (*read)(void *source, const struct history_round *round, struct snapshot **ret_snapshot,
		    struct error *error);
	int (*read_gone)(void *source, const struct history_round *round, struct snapshot **ret_gone,
			 double *ret_left_ns, struct error *error);
	/* NULL: no marks */
	int (*next_mark)(void *source, uint64_t unix_ns, bool before, struct history_marks *ret_marks,
			 struct error *error);
};

struct timeline {
	const struct timeline_functions *functions;
	void *source;
};

/* A round that is in no timeline: ids and days are from 1 on. */
#define TIMELINE_NO_ROUND                                                                                    \
	{                                                                                                    \
		.day = 0, .id = 0                                                                            \
	}

/* The timeline of a history, which stays the caller's. */
struct timeline timeline_of_history(struct history *history);

/* Whether nothing is known of the time between two rounds that step() says follow each other, or less than
 * was recorded. */
bool timeline_has_gap(const struct timeline *timeline, const struct history_round *before,
		      const struct history_round *after);

/*
 * Makes the moment of a round. `base` is the round that numbers since the base count from; NULL: the round
 * before. Where it cannot be read any more, or never could (TIMELINE_NO_ROUND), numbers since the base are
 * unavailable and all others as always: session_moment_lose_base(). What ended between them is read round by
 * round, as long as `*cancel` (NULL: none) is false; rounds that are lost are a gap.
 * Returns 0 or a negative errno with a sentence; -ECANCELED.
 */
int timeline_make_moment(const struct timeline *timeline, const struct history_round *base,
			 const struct history_round *round, const atomic_bool *cancel,
			 struct session_moment **ret_moment, struct error *error);

/*
 * Reads a round with its window: what happened since the round before, or since `base` (NULL: the round
 * before). The caller releases the snapshot, which has no window where nothing is known of the time before.
 * Returns 0 or a negative errno with a sentence; -EBADMSG too where `base` cannot be read any more.
 */
int timeline_read_window(const struct timeline *timeline, const struct history_round *base,
			 const struct history_round *round, struct snapshot **ret_snapshot,
			 struct error *error);

#endif
