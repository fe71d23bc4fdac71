/* SPDX-License-Identifier: GPL-2.0-only */
#include "timeline.h"

#include <errno.h>
#include <stddef.h>

/* Whether a round is later than another one. */
static bool is_later(const struct history_round *a, const struct history_round *b)
{
	return a->day != b->day ? a->day > b->day : a->id > b->id;
}

bool timeline_has_gap(const struct timeline *timeline, const struct history_round *before,
		      const struct history_round *after)
{
	return after->after_gap || !timeline->functions->adjoins(timeline->source, before, after);
}

/* Whether a result says that a round is not there any more, or damaged, and not that reading failed. */
static bool is_lost(int result)
{
	return result == -ENOENT || result == -ENODATA || result == -EBADMSG;
}

/* Adds what ended in one round. */
static int add_gone(const struct timeline *timeline, const struct history_round *round,
		    struct session_moment *moment, struct error *error)
{
	struct snapshot *gone;
	double left_ns;
	int result;

	result = timeline->functions->read_gone(timeline->source, round, &gone, &left_ns, error);
	if (result < 0)
		return result;
	session_moment_add_gone(moment, gone, left_ns);
	snapshot_release(gone);
	return 0;
}

/* Adds what ended in each round after one, up to and with another. */
static int add_until(const struct timeline *timeline, const struct history_round *after,
		     const struct history_round *until, const atomic_bool *cancel,
		     struct session_moment *moment, struct error *error)
{
	struct history_round round = *after;
	int result = 0;

	while (result == 0 && is_later(until, &round)) {
		const struct history_round before = round;
		bool is_lost_here;

		if (cancel != NULL && atomic_load(cancel))
			return -ECANCELED;
		result = timeline->functions->step(timeline->source, &round, 1, &round, error);
		if (result == 0 && history_is_same(&round, &before)) /* it has been removed meanwhile */
			return error_set(error, -ENODATA, "the moment is not there any more");
		if (result < 0)
			break;
		is_lost_here = timeline_has_gap(timeline, &before, &round);
		if (!is_lost_here) {
			result = add_gone(timeline, &round, moment, error);
			is_lost_here = is_lost(result) && !history_is_same(&round, until);
		}
		if (is_lost_here) {
			session_moment_add_gap(moment);
			result = 0;
		}
	}
	return result;
}

static int read_round(const struct timeline *timeline, const struct history_round *round,
		      struct snapshot **ret_snapshot, struct error *error)
{
	return timeline->functions->read(timeline->source, round, ret_snapshot, error);
}

/* The round before; NULL for none, a lost one, or a gap between the two. */
static int read_previous(const struct timeline *timeline, const struct history_round *round,
			 struct snapshot **ret_previous, struct error *error)
{
	struct history_round before;
	int result;

	*ret_previous = NULL;
	if (round->after_gap)
		return 0;
	result = timeline->functions->step(timeline->source, round, -1, &before, error);
	if (result < 0 || history_is_same(round, &before) || timeline_has_gap(timeline, &before, round))
		return result;
	result = read_round(timeline, &before, ret_previous, error);
	return is_lost(result) ? 0 : result;
}

int timeline_make_moment(const struct timeline *timeline, const struct history_round *base,
			 const struct history_round *round, const atomic_bool *cancel,
			 struct session_moment **ret_moment, struct error *error)
{
	struct snapshot *base_snapshot = NULL, *previous = NULL, *now = NULL;
	struct session_moment *moment;
	bool base_is_lost = false;
	int result = read_previous(timeline, round, &previous, error);

	if (result == 0)
		result = read_round(timeline, round, &now, error);
	if (result == 0 && base != NULL)
		result = read_round(timeline, base, &base_snapshot, error);
	if (now != NULL && is_lost(result)) {
		base_is_lost = true;
		result = 0;
	}
	if (result < 0) {
		snapshot_release(previous);
		snapshot_release(now);
		return result;
	}
	moment = session_moment_create(base_snapshot);
	if (base_is_lost)
		session_moment_lose_base(moment);
	if (base_snapshot != NULL && is_later(round, base))
		result = add_until(timeline, base, round, cancel, moment, error);
	else if (previous != NULL)
		result = add_gone(timeline, round, moment, error);
	session_moment_finish(moment, previous, now);
	if (result < 0)
		session_moment_release(moment);
	else
		*ret_moment = moment;
	return result;
}

int timeline_read_window(const struct timeline *timeline, const struct history_round *base,
			 const struct history_round *round, struct snapshot **ret_snapshot,
			 struct error *error)
{
	struct snapshot_window *window;
	struct session_moment *moment;
	struct session *session;
	int result = timeline_make_moment(timeline, base, round, NULL, &moment, error);

	if (result < 0)
		return result;
	session = session_create();
	session_show_moment(session, moment);
	if (base != NULL && session_base(session) == NULL) {
		result = error_set(error, -EBADMSG, "the round that the range begins with is damaged");
	} else {
		window = session_save_window(session, base != NULL ? WINDOW_MODE_BASE : WINDOW_MODE_INTERVAL);
		*ret_snapshot = snapshot_with_window((struct snapshot *)(uintptr_t)session_now(session),
						     window);
	}
	session_release(session);
	return result;
}
