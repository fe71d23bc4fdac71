/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison as a whole: its sides, and which of their threads are the same. */
#include "compare_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

struct comparison *compare_create(struct snapshot *before)
{
	struct comparison *comparison = memory_allocate_zero(1, sizeof(*comparison));

	comparison->sides[DIFF_BEFORE] = before;
	return comparison;
}

void compare_join_release(struct compare_join *join)
{
	diff_release(join->diff);
	buffer_release(&join->signature);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		free(join->inside[side]);
	free(join->counts);
	free(join->labels);
	arena_release(&join->arena);
	*join = (struct compare_join){0};
}

void compare_subjects_release(struct compare_subjects *subjects)
{
	free(subjects->threads);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		reduction_release(subjects->reductions[side]);
	*subjects = (struct compare_subjects){0};
}

static void forget_doubts(struct comparison *comparison)
{
	comparability_release(comparison->doubts);
	comparison->doubts = NULL;
}

/* Drops what was made of the sides: one of them becomes another. */
static void forget(struct comparison *comparison)
{
	compare_subjects_release(&comparison->shown);
	for (size_t i = 0; i < COMPARE_JOINS_KEPT; i++)
		compare_join_release(&comparison->joins[i]);
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
				 "both have a window: what is compared are the rates of groups in each");
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
