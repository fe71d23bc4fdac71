/* SPDX-License-Identifier: GPL-2.0-only */
#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "snapshot/ended_set.h"
#include "snapshot/thread_match.h"
#include "window/ended.h"
#include "window/host_numbers.h"

enum {
	/* Threads of the rounds that are kept decoded: the memory they take goes with them. */
	DECODED_THREADS = 200000,
	DECODED_LEAST = 4, /* rounds, whatever they take */
};

/* The next round is overdue this long after the time that the newest round's interval predicts. */
#define LATE_NS (2 * NS_PER_S)

struct history_round history_round_of(const struct snapshot *before, const struct snapshot *now)
{
	struct history_round round = {
		.unix_ns = now->captured_at_unix_ns,
		.boottime_ns = now->provenance.boottime_ns,
		.threads = (uint32_t)now->thread_count,
		.after_gap = before == NULL,
		.load_centi = now->provenance.load_known ? (uint32_t)now->provenance.load_centi[0]
							 : UINT32_MAX,
	};

	if (before != NULL && now->provenance.boottime_ns > before->provenance.boottime_ns)
		round.span_ns = now->provenance.boottime_ns - before->provenance.boottime_ns;
	for (size_t i = 0; i < ARRAY_COUNT(round.psi); i++) {
		const double share = host_pressure_share(now, before, (enum pressure_resource)i);

		round.psi[i] = isnan(share) ? HISTORY_PSI_UNKNOWN : (uint16_t)lround(10000 * share);
	}
	return round;
}

double history_left_between(const struct snapshot *before, const struct snapshot *now)
{
	uint32_t *before_of;
	double left_ns;
	bool *seen;

	if (before == NULL || !ended_set_is_left(before) || !ended_set_is_left(now))
		return NAN;
	seen = memory_allocate_zero(before->thread_count + 1, sizeof(*seen));
	before_of = thread_match(now, before, seen, NULL);
	left_ns = ended_left_between(before, now, before_of);
	free(before_of);
	free(seen);
	return left_ns;
}

/* Whether a time is the whole second in which a round lies, which is how users name the round. */
static bool is_named(const struct history_round *round, uint64_t unix_ns)
{
	return unix_ns % NS_PER_S == 0 && round->unix_ns >= unix_ns && round->unix_ns - unix_ns < NS_PER_S;
}

int history_find(struct history *history, uint64_t unix_ns, enum history_side side,
		 struct history_round *ret_round, struct error *error)
{
	struct history_round before, after;
	int has_before = 0, has_after = 0;

	if (side != HISTORY_AT_OR_AFTER)
		has_before = history->functions->find_side(history, unix_ns, true, &before, error);
	if (side != HISTORY_AT_OR_BEFORE && has_before >= 0)
		has_after = history->functions->find_side(history, unix_ns, false, &after, error);
	if (has_before < 0 || has_after < 0)
		return has_before < 0 ? has_before : has_after;
	if (!has_before && !has_after)
		return history->functions->find_end(history, side == HISTORY_AT_OR_AFTER, ret_round, error);
	*ret_round = has_before && (!has_after || (!is_named(&after, unix_ns) &&
						   unix_ns - before.unix_ns <= after.unix_ns - unix_ns))
			     ? before
			     : after;
	return 0;
}

/* Distance of a round from a span of time, ns; 0 if the round lies in the span. */
static uint64_t find_distance(const struct history_round *round, uint64_t from_unix_ns, uint64_t to_unix_ns)
{
	if (round->unix_ns < from_unix_ns)
		return from_unix_ns - round->unix_ns;
	return round->unix_ns > to_unix_ns ? round->unix_ns - to_unix_ns : 0;
}

int history_find_within(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
			struct history_round *ret_round, struct error *error)
{
	const uint64_t end_ns = to_unix_ns % NS_PER_S == 0 ? number_add_saturating(to_unix_ns, NS_PER_S - 1)
							   : to_unix_ns;
	struct history_round before;
	int result = history_find(history, from_unix_ns, HISTORY_AT_OR_AFTER, ret_round, error);

	if (result < 0)
		return result;
	if (find_distance(ret_round, from_unix_ns, end_ns) == 0)
		return 1;
	result = history_find(history, from_unix_ns, HISTORY_AT_OR_BEFORE, &before, error);
	if (result == 0 &&
	    find_distance(&before, from_unix_ns, end_ns) <= find_distance(ret_round, from_unix_ns, end_ns))
		*ret_round = before;
	return result;
}

int history_holds(struct history *history, uint64_t unix_ns, struct error *error)
{
	struct history_round newest, after;
	int result = history_last(history, &newest, error);

	if (result < 0)
		return result;
	if (newest.unix_ns < unix_ns && unix_ns - newest.unix_ns <= newest.span_ns + LATE_NS)
		return 1;
	result = history->functions->find_side(history, unix_ns, false, &after, error);
	return result <= 0 ? result : is_named(&after, unix_ns) || after.unix_ns - unix_ns <= after.span_ns;
}

int history_step(struct history *history, const struct history_round *from, int64_t rounds,
		 struct history_round *ret_round, struct error *error)
{
	struct history_round at = *from;
	int result = 1;

	for (int64_t left = rounds < 0 ? -rounds : rounds; left > 0 && result > 0; left--)
		result = history->functions->find_next(history, &at, rounds > 0, &at, error);
	if (result >= 0)
		*ret_round = at;
	return result < 0 ? result : 0;
}

int history_marks_read(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		       struct history_marks *ret_marks, struct error *error)
{
	*ret_marks = (struct history_marks){0};
	if (history->functions->read_marks == NULL)
		return error_set(error, -ENOENT, "there are no marks: ctop record --when sets them");
	return history->functions->read_marks(history, from_unix_ns, to_unix_ns, ret_marks, error);
}

void history_marks_release(struct history_marks *marks)
{
	free(marks->items);
	arena_release(&marks->arena);
	*marks = (struct history_marks){0};
}

/* --- decoded rounds --- */

const struct history_decoded *history_find_decoded(struct history *history, uint32_t day, int64_t id)
{
	for (size_t i = 0; i < history->decoded_max; i++) {
		struct history_decoded *decoded = &history->decoded[i];

		if (decoded->snapshot != NULL && decoded->day == day && decoded->id == id) {
			decoded->used = ++history->decoded_clock;
			return decoded;
		}
	}
	return NULL;
}

/* Gives up the rounds that were not used for longest, for another one. Returns its place. */
static size_t make_room(struct history *history, size_t threads)
{
	for (;;) {
		size_t oldest = SIZE_MAX, free_place = SIZE_MAX, kept = 0, total = threads;

		for (size_t i = 0; i < history->decoded_max; i++) {
			if (history->decoded[i].snapshot == NULL) {
				free_place = i;
				continue;
			}
			kept++;
			total += history->decoded[i].snapshot->thread_count;
			if (oldest == SIZE_MAX || history->decoded[i].used < history->decoded[oldest].used)
				oldest = i;
		}
		if (free_place != SIZE_MAX && (kept < DECODED_LEAST || total <= DECODED_THREADS))
			return free_place;
		snapshot_release(history->decoded[oldest].snapshot);
		history->decoded[oldest].snapshot = NULL;
	}
}

void history_keep_decoded(struct history *history, uint32_t day, int64_t id, unsigned int depth,
			  struct snapshot *snapshot)
{
	history->decoded[make_room(history, snapshot->thread_count)] = (struct history_decoded){
		snapshot, day, id, depth, ++history->decoded_clock};
}

void history_forget_decoded(struct history *history)
{
	for (size_t i = 0; i < history->decoded_max; i++) {
		snapshot_release(history->decoded[i].snapshot);
		history->decoded[i].snapshot = NULL;
	}
	if (history->functions->forget_parts != NULL)
		history->functions->forget_parts(history);
}

int history_read(struct history *history, const struct history_round *round, struct snapshot **ret_snapshot,
		 struct error *error)
{
	const struct history_decoded *decoded = history_find_decoded(history, round->day, round->id);

	if (decoded == NULL) {
		const int result = history->functions->decode(history, round, error);

		if (result < 0)
			return result;
		decoded = history_find_decoded(history, round->day, round->id);
	}
	*ret_snapshot = snapshot_reference(decoded->snapshot);
	return 0;
}
