/* SPDX-License-Identifier: GPL-2.0-only */
/* A moment of a row of rounds, without those between it and the base. */
#include "moment.h"

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
	latency_spans_add_round(&moment->rounds.latency, gone);
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

void session_moment_lose_base(struct session_moment *moment)
{
	moment->rounds.base_is_lost = true;
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

/* Finds the threads of the base. */
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

/* Counts from the round before. */
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

const struct snapshot *session_moment_previous(const struct session_moment *moment)
{
	return moment->rounds.lately.from;
}

const struct snapshot *session_moment_base(const struct session_moment *moment)
{
	return moment->rounds.base.from;
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
