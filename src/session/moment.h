/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SESSION_MOMENT_H
#define CTOP_SESSION_MOMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "session.h"
#include "snapshot/snapshot.h"
#include "store/history.h"

/*
 * A moment of a row of rounds as a live session showed it when its round was the newest: made of that round,
 * the one before, the base, and what ended in between, without the rounds in between. Made by whoever loads
 * it, on any thread; one thread at a time.
 */
struct session_moment;

/*
 * Takes over a reference to the base, a finished snapshot of an earlier round; NULL: the round before is the
 * base.
 */
struct session_moment *session_moment_create(struct snapshot *base);

/*
 * Adds what ended in a round, for each one after the base up to and with that of the moment, in order; where
 * there is no base, or it is the round of the moment or a later one, only for that of the moment. `gone`
 * stays the caller's, who changes it no more. NULL: nothing ended, nobody told of anything, no wait was
 * measured.
 *
 * Its threads are those rows of the round before, ascending by (tgid, tid), that thread_match() with the
 * round does not mark as seen: also those whose id and start time another thread has now. They are as in the
 * round before: values, state and waits under way, reasons, exceptions, reading times, flags, names. So are,
 * of the snapshot, boottime_ns, features, metric_source, metric_reason and default_reason, and the resident
 * memory of the processes among them. `ended` and `latency` are those of the round.
 *
 * `left_ns` is ended_left_between() of the two rounds, NAN where it is not known.
 */
void session_moment_add_gone(struct session_moment *moment, struct snapshot *gone, double left_ns);

/* Says that it is not known what ended between a round after the base, or that of the moment, and the one
 * before it. */
void session_moment_add_gap(struct session_moment *moment);

/*
 * Takes over a reference to the round before, NULL where there is none or a gap is between them, and to the
 * round of the moment. Where the base is of another boot, or later, numbers since the base are unavailable.
 * Of what was in the base and got lost in a gap it is counted that it ended; what it did is not known.
 */
void session_moment_finish(struct session_moment *moment, struct snapshot *previous, struct snapshot *now);

/* The round of a complete moment. */
const struct snapshot *session_moment_now(const struct session_moment *moment);

/* Frees a moment that no session took over; NULL is allowed. */
void session_moment_release(struct session_moment *moment);

/*
 * Shows a complete moment and takes it over: every table is what it was then, but for how long waits took in
 * total, which nobody knows. Rows are marked as new or gone when the last moment shown was the round before
 * (the same snapshot). Not for a session that rounds are added to. session_set_base() works; whoever makes
 * the next moment has to follow it.
 */
void session_show_moment(struct session *session, struct session_moment *moment);

/*
 * Makes the moment of a round of a history. `base` is the round that numbers since the base count from; NULL:
 * the round before. Where it cannot be read any more, or never could (a round of zeros), numbers since the
 * base are unavailable, session_base() is NULL while the moment is shown, and all else is as always. What
 * ended between them is read round by round, as long as `*cancel` (NULL: none) is false; rounds that are lost
 * are a gap. Returns 0 or a negative errno with a sentence; -ECANCELED.
 */
int session_moment_make(struct history *history, const struct history_round *base,
			const struct history_round *round, const atomic_bool *cancel,
			struct session_moment **ret_moment, struct error *error);

/* The same in a session of its own, which the caller releases; -EBADMSG too where `base` cannot be read. */
int session_open_moment(struct history *history, const struct history_round *base,
			const struct history_round *round, const atomic_bool *cancel,
			struct session **ret_session, struct error *error);

/*
 * Reads the round nearest to a time that can be read, with its window: what happened since the round before,
 * or since `base` (NULL: the round before). The caller releases the snapshot, which has no window where
 * nothing is known of the time before. `*ret_damaged` says whether a nearer one is damaged. Returns as above.
 */
int session_read_nearest(struct history *history, const struct history_round *base, uint64_t unix_ns,
			 const atomic_bool *cancel, struct history_round *ret_round,
			 struct snapshot **ret_snapshot, bool *ret_damaged, struct error *error);

#endif
