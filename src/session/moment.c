/* SPDX-License-Identifier: GPL-2.0-only */
/* A moment of a row of rounds, without those between it and the base. */
#include "moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "session_internal.h"
#include "window/ended.h"

struct session_moment {
	struct rounds
		rounds; /* once it is finished, what a session shows; until then the base and what ended */
	bool has_base;  /* one was given */
	struct hash_map base_rows;  /* identity to the row of the base */
	bool *base_gone;            /* by row of the base: it is gone since */
	struct hash_map other_gone; /* processes that are not in the base and are gone */
	bool left_base;             /* what was added is of a round after it, or a gap */
	/* Added last, though more may follow. */
	bool is_told;
	struct snapshot *told; /* a reference; NULL: nothing */
	double told_left_ns;
};

/* Threads of one boot are told apart by id and start time; 64 bits of hash do not collide by chance. */
static uint64_t identity(const struct snapshot *snapshot, size_t row)
{
	return hash_u64(hash_u64(((uint64_t)snapshot->tgid[row] << 32) | snapshot->tid[row]) ^
			snapshot->start_time[row]);
}

struct session_moment *session_moment_create(struct snapshot *base)
{
	struct session_moment *moment = memory_allocate_zero(1, sizeof(*moment));

	moment->rounds.base.from = base;
	moment->has_base = base != NULL;
	if (base == NULL)
		return moment;
	moment->base_gone = memory_allocate_zero(base->thread_count + 1, sizeof(*moment->base_gone));
	for (uint32_t i = 0; i < base->thread_count; i++)
		hash_map_set(&moment->base_rows, identity(base, i), i);
	return moment;
}

/*
 * What a thread of a later round was in the base, where rounds followed it all the time: one that was gone
 * once is another one, as is what took over the id of a process (de_thread() in fs/exec.c).
 */
static uint32_t follow(const struct session_moment *moment, const struct snapshot *snapshot, uint32_t row)
{
	const struct snapshot *base = moment->rounds.base.from;
	const uint64_t key = identity(snapshot, row);
	uint32_t of;

	if (hash_map_get(&moment->base_rows, key, &of))
		return moment->base_gone[of] ? THREAD_UNKNOWN : of;
	if (snapshot->start_time[row] < base->provenance.boottime_ns / NS_PER_TICK)
		return THREAD_UNKNOWN;
	return hash_map_get(&moment->other_gone, key, &of) ? THREAD_UNKNOWN : THREAD_BORN;
}

/* Notes that a thread is gone. Beside those of the base only ids of processes come to be another thread's. */
static void note_gone(struct session_moment *moment, const struct snapshot *gone, uint32_t row)
{
	const uint64_t key = identity(gone, row);
	uint32_t of;

	if (hash_map_get(&moment->base_rows, key, &of))
		moment->base_gone[of] = true;
	else if (gone->tid[row] == gone->tgid[row])
		hash_map_set(&moment->other_gone, key, 0);
}

/* Folds what ended in a round. `now`: the round, or what tells the same of what was not read in it. */
static void fold_gone(struct session_moment *moment, const struct snapshot *gone, const struct snapshot *now)
{
	const size_t count = gone->thread_count;
	uint32_t *same = memory_allocate((count + 1) * sizeof(*same));
	uint32_t *base_of = memory_allocate((count + 1) * sizeof(*base_of));
	struct ending ending = {
		.before = gone,
		.now = now,
		.set = gone->ended,
		.rows = memory_allocate((count + 1) * sizeof(*ending.rows)),
		.count = count,
	};
	struct window lately = {.now = gone, .from = gone, .from_of = same, .mode = WINDOW_MODE_INTERVAL},
		      since_base = {.now = gone, .from = gone, .from_of = same, .mode = WINDOW_MODE_BASE};

	for (uint32_t i = 0; i < count; i++) {
		ending.rows[i] = (struct ended_row){.thread = i};
		same[i] = i;
		base_of[i] = moment->has_base ? follow(moment, gone, i) : i;
	}
	ended_fold_ending(&ending, &lately, true, &moment->rounds.lately.ended);
	if (moment->has_base) {
		/* the rows of the first one are those of the base */
		since_base.from = moment->left_base ? moment->rounds.base.from : gone;
		since_base.from_of = moment->left_base ? base_of : same;
		for (uint32_t i = 0; i < count; i++)
			note_gone(moment, gone, i);
	}
	for (size_t i = 0; i < count; i++)
		ending.rows[i].last = NULL;
	ended_fold_ending(&ending, &since_base, ending.set != NULL, &moment->rounds.base.ended);
	free(ending.rows);
	free(same);
	free(base_of);
}

/* Adds what was told of last. */
static void fold_told(struct session_moment *moment, const struct snapshot *now)
{
	struct snapshot *gone = moment->told;

	if (!moment->is_told)
		return;
	ended_clear(&moment->rounds.lately.ended);
	if (!moment->has_base) {
		ended_clear(&moment->rounds.base.ended);
		latency_spans_set_base(&moment->rounds.latency);
	}
	if (gone == NULL)
		gone = snapshot_create();
	else
		fold_gone(moment, gone, now != NULL ? now : gone);
	moment->left_base = true;
	ended_add_left(&moment->rounds.lately.ended, moment->told_left_ns);
	ended_add_left(&moment->rounds.base.ended, moment->told_left_ns);
	latency_spans_add_told(&moment->rounds.latency, gone);
	snapshot_release(gone);
	moment->told = NULL;
	moment->is_told = false;
}

void session_moment_add_gone(struct session_moment *moment, struct snapshot *gone, double left_ns)
{
	/* what it has of the round before is what is asked of that round */
	fold_told(moment, gone);
	moment->told = gone != NULL ? snapshot_reference(gone) : NULL;
	moment->told_left_ns = left_ns;
	moment->is_told = true;
}

void session_moment_add_gap(struct session_moment *moment)
{
	fold_told(moment, NULL);
	moment->rounds.base.ended.incomplete = true;
	moment->left_base = true;
}

/* Whether anything can be counted from the base: it was in the same life of the host, and before. */
static bool base_counts(const struct rounds *rounds)
{
	const struct provenance *base = &rounds->base.from->provenance, *now = &rounds->now->provenance;

	if (base->boot_id != NULL && now->boot_id != NULL && strcmp(base->boot_id, now->boot_id) != 0)
		return false;
	return base->boottime_ns <= now->boottime_ns;
}

/* Counts what was in the base, is not there any more, and was never told to be gone. */
static void fold_lost(struct session_moment *moment, const bool *found)
{
	const struct snapshot *base = moment->rounds.base.from;
	uint32_t *same = memory_allocate((base->thread_count + 1) * sizeof(*same));
	const struct window window = {.now = base, .from = base, .from_of = same, .mode = WINDOW_MODE_BASE};
	struct ending ending = {.before = base, .now = base};
	size_t capacity = 0;

	for (uint32_t i = 0; i < base->thread_count; i++) {
		same[i] = i;
		if (!found[i] && !moment->base_gone[i])
			*MEMORY_APPEND(ending.rows, ending.count, capacity) = (struct ended_row){.thread = i};
	}
	ended_fold_ending(&ending, &window, true, &moment->rounds.base.ended);
	free(ending.rows);
	free(same);
}

static void match_base(struct session_moment *moment)
{
	const struct snapshot *now = moment->rounds.now;
	uint32_t *base_of = memory_allocate((now->thread_count + 1) * sizeof(*base_of));
	bool *found = memory_allocate_zero(moment->rounds.base.from->thread_count + 1, sizeof(*found));

	for (uint32_t i = 0; i < now->thread_count; i++) {
		base_of[i] = follow(moment, now, i);
		if (base_of[i] < THREAD_UNKNOWN)
			found[base_of[i]] = true;
	}
	moment->rounds.base.from_of = base_of;
	fold_lost(moment, found);
	free(found);
}

static void match_previous(struct rounds *rounds, struct snapshot *previous)
{
	bool *seen = memory_allocate_zero(previous->thread_count + 1, sizeof(*seen));

	origin_take(&rounds->lately, previous, thread_match(rounds->now, previous, seen, NULL));
	rounds->lately.still = origin_find_still(rounds->now, previous, rounds->lately.from_of);
	ended_conclude_left(&rounds->lately.ended, previous, rounds->now);
	free(seen);
}

/* Another snapshot is the base, and it is known which rows of it the threads are; NULL: they are the same. */
static void set_base(struct rounds *rounds, struct snapshot *base, const uint32_t *base_of)
{
	uint32_t *copy = memory_allocate((rounds->now->thread_count + 1) * sizeof(*copy));

	for (uint32_t i = 0; i < rounds->now->thread_count; i++)
		copy[i] = base_of != NULL ? base_of[i] : i;
	origin_take(&rounds->base, snapshot_reference(base), copy);
}

void session_moment_finish(struct session_moment *moment, struct snapshot *previous, struct snapshot *now)
{
	struct rounds *rounds = &moment->rounds;

	rounds->now = now;
	fold_told(moment, now);
	if (previous != NULL)
		match_previous(rounds, previous);
	else
		ended_clear(&rounds->lately.ended);
	if (!moment->has_base) {
		set_base(rounds, previous != NULL ? previous : now, rounds->lately.from_of);
		rounds->base_is_void = rounds->base_is_lost;
	} else if (!base_counts(rounds)) {
		rounds->base_is_void = true;
	} else if (rounds->base.from->provenance.boottime_ns == now->provenance.boottime_ns) {
		set_base(rounds, now, NULL);
		ended_clear(&rounds->base.ended);
		latency_spans_set_base(&rounds->latency);
		return;
	} else {
		match_base(moment);
	}
	if (rounds->base_is_void)
		ended_clear(&rounds->base.ended);
	else
		ended_conclude_left(&rounds->base.ended, rounds->base.from, now);
}

const struct snapshot *session_moment_now(const struct session_moment *moment)
{
	return moment->rounds.now;
}

void session_moment_release(struct session_moment *moment)
{
	if (moment == NULL)
		return;
	rounds_release(&moment->rounds);
	snapshot_release(moment->told);
	free(moment->base_gone);
	hash_map_release(&moment->base_rows);
	hash_map_release(&moment->other_gone);
	ended_clear(&moment->rounds.base.ended);
	ended_clear(&moment->rounds.lately.ended);
	latency_spans_release(&moment->rounds.latency);
	free(moment);
}

void session_show_moment(struct session *session, struct session_moment *moment)
{
	const struct rounds before = session->rounds;
	const bool goes_on = before.now != NULL && moment->rounds.lately.from == before.now;

	session_forget_groupings(session);
	/* rows are compared with those of the table before where that was of the round before */
	session->round_count += goes_on ? 1 : 2;
	session->is_moment = true;
	session->rounds = moment->rounds;
	session_keep_scheduler(session);
	moment->rounds = before;
	session_moment_release(moment);
}

/* --- of a history --- */

static bool is_later(const struct history_round *a, const struct history_round *b)
{
	return a->day != b->day ? a->day > b->day : a->id > b->id;
}

/* Whether a result says that a round is not there any more, or damaged, and not that reading failed. */
static bool is_lost(int result)
{
	return result == -ENOENT || result == -ENODATA || result == -EBADMSG;
}

static int add_gone(struct history *history, const struct history_round *round, struct session_moment *moment,
		    struct error *error)
{
	struct snapshot *gone;
	double left_ns;
	int result;

	result = history_read_gone(history, round, &gone, &left_ns, error);
	if (result < 0)
		return result;
	session_moment_add_gone(moment, gone, left_ns);
	snapshot_release(gone);
	return 0;
}

/* Adds what ended in each round after one, up to and with another. */
static int add_until(struct history *history, const struct history_round *after,
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
		result = history_step(history, &round, 1, &round, error);
		if (result == 0 && history_is_same(&round, &before)) /* it has been removed meanwhile */
			return error_set(error, -ENODATA, "the moment is not there any more");
		if (result < 0)
			break;
		is_lost_here = !history_adjoins(history, &before, &round);
		if (!is_lost_here) {
			result = add_gone(history, &round, moment, error);
			is_lost_here = is_lost(result) && !history_is_same(&round, until);
		}
		if (is_lost_here) {
			session_moment_add_gap(moment);
			result = 0;
		}
	}
	return result;
}

/* The round before; NULL for none, a lost one, or a gap between the two. */
static int read_previous(struct history *history, const struct history_round *round,
			 struct snapshot **ret_previous, struct error *error)
{
	struct history_round before;
	int result;

	*ret_previous = NULL;
	if (round->after_gap)
		return 0;
	result = history_step(history, round, -1, &before, error);
	if (result < 0 || history_is_same(round, &before) || !history_adjoins(history, &before, round))
		return result;
	result = history_read(history, &before, ret_previous, error);
	return is_lost(result) ? 0 : result;
}

int session_moment_make(struct history *history, const struct history_round *base,
			const struct history_round *round, const atomic_bool *cancel,
			struct session_moment **ret_moment, struct error *error)
{
	struct snapshot *base_snapshot = NULL, *previous = NULL, *now = NULL;
	struct session_moment *moment;
	bool base_is_lost = false;
	int result = read_previous(history, round, &previous, error);

	if (result == 0)
		result = history_read(history, round, &now, error);
	if (result == 0 && base != NULL)
		result = history_read(history, base, &base_snapshot, error);
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
	moment->rounds.base_is_lost = base_is_lost;
	if (base_snapshot != NULL && is_later(round, base))
		result = add_until(history, base, round, cancel, moment, error);
	else if (previous != NULL)
		result = add_gone(history, round, moment, error);
	session_moment_finish(moment, previous, now);
	if (result < 0)
		session_moment_release(moment);
	else
		*ret_moment = moment;
	return result;
}

int session_open_moment(struct history *history, const struct history_round *base,
			const struct history_round *round, const atomic_bool *cancel,
			struct session **ret_session, struct error *error)
{
	struct session_moment *moment;
	struct session *session;
	int result = session_moment_make(history, base, round, cancel, &moment, error);

	if (result < 0)
		return result;
	session = session_create();
	session_show_moment(session, moment);
	if (base != NULL && session_base(session) == NULL) {
		session_release(session);
		return error_set(error, -ENODATA, "the round that the range begins with is damaged");
	}
	*ret_session = session;
	return 0;
}

static int read_window(struct history *history, const struct history_round *base,
		       const struct history_round *round, const atomic_bool *cancel,
		       struct snapshot **ret_snapshot, struct error *error)
{
	struct snapshot_window *window;
	struct session *session;
	const int result = session_open_moment(history, base, round, cancel, &session, error);

	if (result < 0)
		return result;
	window = session_save_window(session, base != NULL ? WINDOW_MODE_BASE : WINDOW_MODE_INTERVAL);
	*ret_snapshot = snapshot_with_window((struct snapshot *)(uintptr_t)session_now(session), window);
	session_release(session);
	return 0;
}

int session_read_nearest(struct history *history, const struct history_round *base, uint64_t unix_ns,
			 const atomic_bool *cancel, struct history_round *ret_round,
			 struct snapshot **ret_snapshot, bool *ret_damaged, struct error *error)
{
	int result, tries = 0;

	/* once it was read, a round that is damaged is not found any more */
	do {
		result = history_find(history, unix_ns, HISTORY_NEAREST, ret_round, error);
		if (result < 0)
			break;
		result = read_window(history, base, ret_round, cancel, ret_snapshot, error);
	} while (result == -EBADMSG && ++tries < HISTORY_DAMAGED_MAX);
	*ret_damaged = tries != 0;
	return result;
}
