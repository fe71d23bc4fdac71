/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison as a whole: its sides, joined once for each axis and narrowing, and what their pairs are. */
#include "compare_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

struct comparison *compare_create(struct snapshot *before)
{
	struct comparison *comparison = memory_allocate_zero(1, sizeof(*comparison));

	comparison->sides[DIFF_BEFORE] = before;
	return comparison;
}

static void release_join(struct compare_join *join)
{
	diff_release(join->diff);
	buffer_release(&join->signature);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		free(join->inside[side]);
		free(join->ended_inside[side]);
	}
	*join = (struct compare_join){0};
}

static void forget_doubts(struct comparison *comparison)
{
	comparability_release(comparison->doubts);
	comparison->doubts = NULL;
}

/* Drops what was made of the sides: one of them becomes another. */
static void forget(struct comparison *comparison)
{
	comparison->shown = NULL;
	for (size_t i = 0; i < COMPARE_JOINS_KEPT; i++)
		release_join(&comparison->joins[i]);
	diff_match_release(comparison->match);
	comparison->match = NULL;
	forget_doubts(comparison);
}

void compare_release(struct comparison *comparison)
{
	if (comparison == NULL)
		return;
	forget(comparison);
	snapshot_release(comparison->sides[DIFF_BEFORE]);
	snapshot_release(comparison->sides[DIFF_AFTER]);
	free(comparison);
}

/* Captures of different boots, or of one moment, have no order of their own but that in which they came. */
static bool is_earlier(const struct snapshot *after, const struct snapshot *before)
{
	return comparability_same_boot(before, after) && comparability_interval(before, after) < 0;
}

void compare_set_after(struct comparison *comparison, const struct snapshot *after)
{
	struct snapshot *before = comparison->sides[comparison->after_is_earlier];

	if (after == NULL)
		return;
	forget(comparison);
	snapshot_release(comparison->sides[!comparison->after_is_earlier]);
	comparison->after_is_earlier = is_earlier(after, before);
	comparison->sides[comparison->after_is_earlier] = before;
	comparison->sides[!comparison->after_is_earlier] = snapshot_reference(
		(struct snapshot *)(uintptr_t)after);
	comparison->match = diff_match_create(comparison->sides[DIFF_BEFORE], comparison->sides[DIFF_AFTER],
					      NULL);
}

void compare_swap(struct comparison *comparison)
{
	comparison->swapped = !comparison->swapped;
	forget_doubts(comparison);
}

/* --- what follows from the two snapshots alone --- */

const struct snapshot *compare_side(const struct comparison *comparison, enum diff_side side)
{
	return comparison->sides[compare_inside(comparison, side)];
}

bool compare_is_swapped(const struct comparison *comparison)
{
	return comparison->swapped;
}

enum compare_boot compare_boot(const struct comparison *comparison)
{
	const struct snapshot *before = comparison->sides[DIFF_BEFORE],
			      *after = comparison->sides[DIFF_AFTER];

	if (after == NULL || before->provenance.boot_id == NULL || after->provenance.boot_id == NULL)
		return COMPARE_BOOT_UNKNOWN;
	return comparability_same_boot(before, after) ? COMPARE_BOOT_ONE : COMPARE_BOOT_OTHER;
}

const struct comparability *compare_doubts(struct comparison *comparison)
{
	if (comparison->doubts == NULL && comparison->sides[DIFF_AFTER] != NULL)
		comparison->doubts = comparability_create(compare_side(comparison, DIFF_BEFORE),
							  compare_side(comparison, DIFF_AFTER));
	return comparison->doubts;
}

uint64_t compare_distance_ns(const struct comparison *comparison)
{
	int64_t interval;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return 0;
	interval = comparability_interval(comparison->sides[DIFF_BEFORE], comparison->sides[DIFF_AFTER]);
	return (uint64_t)(interval < 0 ? -interval : interval);
}

bool compare_by_threads(const struct comparison *comparison)
{
	return !comparison->by_groups && comparison->match != NULL && !compare_has_rates(comparison);
}

bool compare_has_rates(const struct comparison *comparison)
{
	return comparison->sides[DIFF_AFTER] != NULL && comparison->sides[DIFF_BEFORE]->window != NULL &&
	       comparison->sides[DIFF_AFTER]->window != NULL;
}

int compare_set_by_threads(struct comparison *comparison, bool by_threads, struct error *error)
{
	if (by_threads && compare_has_rates(comparison))
		return error_set(error, -EINVAL,
				 "both have a window: the rates of groups in each are compared");
	if (by_threads && comparison->match == NULL)
		return error_set(
			error, -EINVAL, "%s",
			"threads cannot be told apart: the captures are not known to be of one boot; "
			"these are changes of groups");
	comparison->by_groups = !by_threads;
	return 0;
}

bool compare_count_threads(const struct comparison *comparison, struct diff_match_count *ret_threads)
{
	const struct diff_match *match = comparison->match;

	if (match == NULL)
		return false;
	*ret_threads = (struct diff_match_count){
		.same = (uint32_t)match->same,
		.came = (uint32_t)match->only[compare_inside(comparison, DIFF_AFTER)],
		.went = (uint32_t)match->only[compare_inside(comparison, DIFF_BEFORE)],
	};
	return true;
}

/* --- joins --- */

static struct compare_join *find_join(struct comparison *comparison, const struct buffer *signature)
{
	for (size_t i = 0; i < COMPARE_JOINS_KEPT; i++) {
		struct compare_join *join = &comparison->joins[i];

		if (join->diff != NULL && order_bytes(join->signature.data, join->signature.length,
						      signature->data, signature->length) == 0)
			return join;
	}
	return NULL;
}

static struct compare_join *join_of(struct comparison *comparison, const struct view *view, enum axis axis,
				    size_t step_count, bool single);

/*
 * Marks the threads of a side inside the first `step_count` steps of a view, by index, without any step those
 * that are not hidden; NULL for all. A step counts by the groups of its own axis, so that renamed cgroups
 * stay together.
 */
static bool *threads_inside(struct comparison *comparison, const struct view *view, size_t step_count,
			    enum diff_side side)
{
	const struct snapshot *snapshot = comparison->sides[side];
	const struct view_step *step = step_count != 0 ? &view->steps[step_count - 1] : NULL;
	bool *inside = filter_members(view_filter_at(view, step_count),
				      &(struct filter_subjects){.snapshot = snapshot});
	const struct compare_join *join;
	size_t pair;

	if (step == NULL && !view->hide_kernel_threads)
		return inside;
	if (inside == NULL) {
		inside = memory_allocate(snapshot->thread_count + 1);
		memset(inside, true, snapshot->thread_count);
	}
	for (size_t i = 0; i < snapshot->thread_count && step == NULL; i++)
		inside[i] &= (snapshot->thread_flags[i] & THREAD_KERNEL) == 0;
	if (step == NULL)
		return inside;
	join = join_of(comparison, view, step->axis, step_count - 1, false);
	pair = diff_find(join->diff, step->key, step->key_length);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		inside[i] &= pair != SIZE_MAX && diff_pair_of_thread(join->diff, side, i) == pair;
	return inside;
}

/* Does the same for records of threads that ended in the window of a side. */
static bool *ended_inside(struct comparison *comparison, const struct view *view, size_t step_count,
			  enum diff_side side)
{
	const struct filter *filter = view_filter_at(view, step_count);
	const struct view_step *step = step_count != 0 ? &view->steps[step_count - 1] : NULL;
	const struct compare_join *join;
	const struct ended *ended;
	bool *inside;
	size_t pair;

	if (!compare_has_rates(comparison) || comparison->sides[side]->window->ended.names == NULL ||
	    (step == NULL && !view->hide_kernel_threads && !filter_narrows(filter)))
		return NULL;
	ended = &comparison->sides[side]->window->ended;
	inside = filter_ended_members(filter, ended);
	if (inside == NULL) {
		inside = memory_allocate(ended->count + 1);
		memset(inside, true, ended->count);
	}
	for (uint32_t i = 0; i < ended->count && step == NULL && view->hide_kernel_threads; i++)
		inside[i] &= !ended->records[i].kernel;
	if (step == NULL)
		return inside;
	join = join_of(comparison, view, step->axis, step_count - 1, false);
	pair = diff_find(join->diff, step->key, step->key_length);
	for (uint32_t i = 0; i < ended->count; i++)
		inside[i] &= pair != SIZE_MAX && diff_pair_of_ended(join->diff, side, i) == pair;
	return inside;
}

/* An entry for a new join: an unused one, else the least recently used. */
static struct compare_join *make_room(struct comparison *comparison)
{
	struct compare_join *oldest = &comparison->joins[0];

	for (size_t i = 1; i < COMPARE_JOINS_KEPT; i++) {
		if (comparison->joins[i].used < oldest->used)
			oldest = &comparison->joins[i];
	}
	if (comparison->shown == oldest)
		comparison->shown = NULL;
	release_join(oldest);
	return oldest;
}

/* The join of an axis, or of single threads, in the first `step_count` steps of a view. */
static struct compare_join *join_of(struct comparison *comparison, const struct view *view, enum axis axis,
				    size_t step_count, bool single)
{
	struct diff_options options = {
		.grouping = view->grouping,
		.rates = compare_has_rates(comparison),
		.match = comparison->match,
		.by_threads = compare_by_threads(comparison),
		.single = single,
	};
	bool *inside[DIFF_SIDE_COUNT], *ended[DIFF_SIDE_COUNT];
	struct buffer signature = {0};
	struct compare_join *join;

	buffer_append_format(&signature, "%d%d", options.by_threads, single);
	view_append_signature(view, axis, step_count, &signature);
	join = find_join(comparison, &signature);
	if (join != NULL) {
		buffer_release(&signature);
		join->used = ++comparison->clock;
		return join;
	}
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		options.members[side] = inside[side] = threads_inside(comparison, view, step_count,
								      (enum diff_side)side);
		options.ended_members[side] = ended[side] = ended_inside(comparison, view, step_count,
									 (enum diff_side)side);
	}
	options.grouping.axis = axis;
	join = make_room(comparison);
	join->signature = signature;
	memcpy(join->inside, inside, sizeof(inside));
	memcpy(join->ended_inside, ended, sizeof(ended));
	join->diff = diff_create(comparison->sides[DIFF_BEFORE], comparison->sides[DIFF_AFTER], &options);
	join->used = ++comparison->clock;
	return join;
}

struct compare_join *compare_join_of_view(struct comparison *comparison, const struct view *view)
{
	return join_of(comparison, view, view->grouping.axis, view->step_count,
		       view->level == VIEW_LEVEL_THREADS);
}

/* --- pairs as they are shown --- */

struct pair_sides compare_sides(const struct comparison *comparison, const struct compare_join *join)
{
	return (struct pair_sides){
		.diff = join->diff,
		.swapped = compare_inside(comparison, DIFF_AFTER) != DIFF_AFTER,
	};
}

struct table *compare_table(struct comparison *comparison, const struct view *view)
{
	struct pair_sides sides;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return table_create(NULL, 0);
	comparison->shown = compare_join_of_view(comparison, view);
	sides = compare_sides(comparison, comparison->shown);
	return pair_table_create(&sides, view, NULL);
}

void compare_table_fill(struct comparison *comparison, struct table *table, size_t first, size_t count)
{
	struct pair_sides sides;

	if (comparison->shown == NULL)
		return;
	sides = compare_sides(comparison, comparison->shown);
	pair_table_fill(&sides, table, first, count);
}
