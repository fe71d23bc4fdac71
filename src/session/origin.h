/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ORIGIN_H
#define CTOP_ORIGIN_H

#include "snapshot/ended_records.h"
#include "snapshot/snapshot_window.h"
#include "window/window.h"

/*
 * The round that the newest one counts from: the round before, or the base. It never changes a snapshot that
 * somebody else may hold: it refers to one, or owns an excerpt of those rows that differ from the newest
 * round, which is all that a live screen has room for. A zeroed struct has nothing to count from.
 */
struct origin {
	struct snapshot *from; /* NULL: nothing to count from */
	uint32_t *from_of;     /* [newest round]: index in `from`, or THREAD_…, THREAD_STILL included */
	bool *still;           /* [newest round]: as in `from`; NULL: not known */
	size_t thread_count;   /* of the round that it began with */
	bool owns_rows;        /* `from` is an excerpt that nobody else has */
	bool lasts;            /* for many rounds */
	struct ended ended;    /* threads that ended since */
};

/*
 * Counts from a round, which is the newest one, of which it takes a reference; nothing has happened since.
 * `lasts`: it is the base, so that a copy of what is counted from it pays even where every thread moves.
 */
void origin_set(struct origin *origin, struct snapshot *round, bool lasts);

/*
 * Counts from a finished snapshot, whose reference is taken over (NULL: nothing), as is `from_of`. What ended
 * stays as it is.
 */
void origin_take(struct origin *origin, struct snapshot *from, uint32_t *from_of);

/* Counts from the beginning of a window, which the newest snapshot has. */
void origin_set_window(struct origin *origin, const struct snapshot *now);

/*
 * `now` becomes the newest round after `before`; which thread of `before` each of its threads was says
 * `before_of`, and `still` which are as they were there (NULL: not known).
 */
void origin_follow(struct origin *origin, const struct snapshot *before, const struct snapshot *now,
		   const uint32_t before_of[], const bool still[]);

/* The window of a mode; it has no beginning if there is nothing to count from. */
struct window origin_window(const struct origin *origin, const struct snapshot *now, enum window_mode mode);

void origin_release(struct origin *origin);

/*
 * Finds threads of a round that are as they were in the one before; NULL if the capture does not say. The
 * caller frees it.
 */
bool *origin_find_still(const struct snapshot *now, const struct snapshot *before,
			const uint32_t before_of[]);

#endif
