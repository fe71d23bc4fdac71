/* SPDX-License-Identifier: GPL-2.0-only */
#include "origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "window/ended.h"

/*
 * Clears the threads for which standing still is not enough: readings that have a state of their own are not
 * compared, and waits go on, what they come to (window_add_wait()) and how long they are.
 */
static void drop_stirring(const struct snapshot *snapshot, bool *still)
{
	const uint64_t *states = snapshot->values[METRIC_STATE];

	for (size_t i = 0; i < snapshot->exception_count; i++)
		still[snapshot->exceptions[i].thread] = false;
	for (size_t i = 0; i < snapshot->thread_count && states != NULL; i++) {
		if (states[i] == 'D' || (states[i] == 'R' && snapshot_wait_under_way(snapshot, i) != 0))
			still[i] = false;
	}
}

bool *origin_find_still(const struct snapshot *now, const struct snapshot *before, const uint32_t before_of[])
{
	bool *still;

	if (!now->moved_known || now->carried_serial != before->serial)
		return NULL;
	still = memory_allocate(now->thread_count + 1);
	for (size_t i = 0; i < now->thread_count; i++)
		still[i] = before_of[i] < THREAD_UNKNOWN;
	for (size_t i = 0; i < now->moved_count; i++)
		still[now->moved[i]] = false;
	drop_stirring(now, still);
	return still;
}

void origin_release(struct origin *origin)
{
	snapshot_release(origin->from);
	free(origin->from_of);
	free(origin->still);
	ended_clear(&origin->ended);
	*origin = (struct origin){0};
}

void origin_set(struct origin *origin, struct snapshot *round, bool lasts)
{
	origin_release(origin);
	origin->from = snapshot_reference(round);
	origin->thread_count = round->thread_count;
	origin->lasts = lasts;
	origin->from_of = memory_allocate((round->thread_count + 1) * sizeof(*origin->from_of));
	for (uint32_t i = 0; i < round->thread_count; i++)
		origin->from_of[i] = i;
	origin->still = memory_allocate(round->thread_count + 1);
	memset(origin->still, true, round->thread_count);
	drop_stirring(round, origin->still);
}

void origin_take(struct origin *origin, struct snapshot *from, uint32_t *from_of)
{
	snapshot_release(origin->from);
	free(origin->from_of);
	origin->from = from;
	origin->from_of = from_of;
	origin->thread_count = from != NULL ? from->thread_count : 0;
}

void origin_set_window(struct origin *origin, const struct snapshot *now)
{
	const struct snapshot_window *window = now->window;
	uint32_t *from_of = memory_allocate((now->thread_count + 1) * sizeof(*from_of));

	memcpy(from_of, window->from_of, now->thread_count * sizeof(*from_of));
	origin_release(origin);
	origin_take(origin, snapshot_reference(window->from), from_of);
	origin->ended = ended_copy(&window->ended);
	/* the file has rows of what moved only */
	origin->thread_count = now->thread_count + window->ended.threads;
	for (size_t i = 0; i < now->thread_count; i++)
		origin->thread_count -= window->from_of[i] == THREAD_BORN;
	for (size_t i = 0; i < window->ended.count; i++)
		origin->thread_count -= window->ended.records[i].born;
}

struct window origin_window(const struct origin *origin, const struct snapshot *now, enum window_mode mode)
{
	struct window window = {.now = now, .mode = mode};

	if (origin->from == NULL)
		return window;
	window.from = origin->from;
	window.from_of = origin->from_of;
	window.still = origin->still;
	window.elapsed_ns = now->provenance.boottime_ns - origin->from->provenance.boottime_ns;
	return window;
}

/* The threads that stood still ever since the origin's round. */
static bool *follow_still(const struct origin *origin, const uint32_t before_of[], const bool still[],
			  size_t count)
{
	bool *followed;

	if (still == NULL || origin->still == NULL)
		return NULL;
	followed = memory_allocate(count + 1);
	for (size_t i = 0; i < count; i++)
		followed[i] = still[i] && origin->still[before_of[i]];
	return followed;
}

/*
 * Threads without a row that do not stand still any more get one: the round before has them as they were all
 * the time. `agrees`: what holds for all threads is the same in `from` and in the newest round.
 */
static void add_rows(struct origin *origin, const struct snapshot *before, const uint32_t before_of[],
		     size_t thread_count, bool agrees)
{
	uint32_t *rows = memory_allocate((thread_count + 1) * sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < thread_count; i++) {
		if (origin->from_of[i] != THREAD_STILL ||
		    (agrees && origin->still != NULL && origin->still[i]))
			continue;
		origin->from_of[i] = (uint32_t)(origin->from->thread_count + count);
		rows[count++] = before_of[i];
	}
	if (count != 0)
		snapshot_take_rows(origin->from, before, rows, count);
	free(rows);
}

/* Keeps in a snapshot of its own the rows that are counted from and differ from the newest round. */
static void drop_rows(struct origin *origin, size_t thread_count, bool agrees)
{
	bool *kept = memory_allocate_zero(origin->from->thread_count + 1, sizeof(*kept));
	bool *plain = agrees && origin->still != NULL ? snapshot_find_plain(origin->from) : NULL;
	size_t kept_count = 0;
	struct snapshot *excerpt;
	uint32_t *new_row;

	for (size_t i = 0; i < thread_count; i++) {
		const uint32_t row = origin->from_of[i];

		if (row >= THREAD_STILL || (plain != NULL && origin->still[i] && plain[row]))
			continue;
		kept[row] = true;
		kept_count++;
	}
	/* else it would be copied for little, or nothing */
	if (kept_count < origin->from->thread_count / 2 || (origin->lasts && !origin->owns_rows)) {
		excerpt = snapshot_excerpt(origin->from, kept, &new_row);
		snapshot_release(origin->from);
		origin->from = excerpt;
		origin->owns_rows = true;
		for (size_t i = 0; i < thread_count; i++) {
			const uint32_t row = origin->from_of[i];

			if (row < THREAD_STILL)
				origin->from_of[i] = kept[row] ? new_row[row] : THREAD_STILL;
		}
		free(new_row);
	}
	free(plain);
	free(kept);
}

void origin_follow(struct origin *origin, const struct snapshot *before, const struct snapshot *now,
		   const uint32_t before_of[], const bool still[])
{
	const size_t count = now->thread_count;
	const bool agrees = snapshot_agrees(now, origin->from);
	uint32_t *from_of = memory_allocate((count + 1) * sizeof(*from_of));
	bool *followed = follow_still(origin, before_of, still, count);

	for (size_t i = 0; i < count; i++)
		from_of[i] = before_of[i] < THREAD_UNKNOWN ? origin->from_of[before_of[i]] : before_of[i];
	free(origin->from_of);
	free(origin->still);
	origin->from_of = from_of;
	origin->still = followed;
	add_rows(origin, before, before_of, count, agrees);
	drop_rows(origin, count, agrees);
}
