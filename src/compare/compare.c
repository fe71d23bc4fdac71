/* SPDX-License-Identifier: GPL-2.0-only */
#include "compare_internal.h"

#include <stdlib.h>

#include "base/memory.h"

struct comparison *compare_create(struct snapshot *before)
{
	struct comparison *comparison = memory_allocate_zero(1, sizeof(*comparison));

	comparison->sides[DIFF_BEFORE] = before;
	return comparison;
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
	comparison->matched = false;
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

/* Captures of other boots, or of one moment, have no order of their own: that in which they came. */
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
	comparison->flipped = comparison->swapped != comparison->after_is_earlier;
	comparison->sides[comparison->after_is_earlier] = before;
	comparison->sides[!comparison->after_is_earlier] = snapshot_reference(
		(struct snapshot *)(uintptr_t)after);
}

void compare_swap(struct comparison *comparison)
{
	comparison->swapped = !comparison->swapped;
	comparison->flipped = !comparison->flipped;
	forget_doubts(comparison);
}
