/* SPDX-License-Identifier: GPL-2.0-only */
/* The sides of a comparison, and which of their threads are the same. */
#include "compare_internal.h"

#include <errno.h>

const struct snapshot *compare_side(const struct comparison *comparison, enum diff_side side)
{
	return comparison->sides[compare_inside(comparison, side)];
}

bool compare_is_swapped(const struct comparison *comparison)
{
	return comparison->swapped;
}

static bool is_complete(const struct comparison *comparison)
{
	return comparison->sides[DIFF_BEFORE] != NULL && comparison->sides[DIFF_AFTER] != NULL;
}

enum compare_boot compare_boot(const struct comparison *comparison)
{
	const struct snapshot *before = comparison->sides[DIFF_BEFORE],
			      *after = comparison->sides[DIFF_AFTER];

	if (!is_complete(comparison) || before->provenance.boot_id == NULL ||
	    after->provenance.boot_id == NULL)
		return COMPARE_BOOT_UNKNOWN;
	return comparability_same_boot(before, after) ? COMPARE_BOOT_ONE : COMPARE_BOOT_OTHER;
}

const struct comparability *compare_doubts(struct comparison *comparison)
{
	if (comparison->doubts == NULL && is_complete(comparison))
		comparison->doubts = comparability_create(compare_side(comparison, DIFF_BEFORE),
							  compare_side(comparison, DIFF_AFTER));
	return comparison->doubts;
}

uint64_t compare_distance_ns(const struct comparison *comparison)
{
	int64_t interval;

	if (!is_complete(comparison))
		return 0;
	interval = comparability_interval(comparison->sides[DIFF_BEFORE], comparison->sides[DIFF_AFTER]);
	return (uint64_t)(interval < 0 ? -interval : interval);
}

const struct diff_match *compare_match(struct comparison *comparison)
{
	if (!comparison->matched && is_complete(comparison)) {
		comparison->match = diff_match_create(comparison->sides[DIFF_BEFORE],
						      comparison->sides[DIFF_AFTER], NULL);
		comparison->matched = true;
	}
	return comparison->match;
}

bool compare_by_threads(struct comparison *comparison)
{
	return !comparison->by_groups && compare_match(comparison) != NULL;
}

int compare_set_by_threads(struct comparison *comparison, bool by_threads, struct error *error)
{
	if (by_threads && compare_match(comparison) == NULL)
		return error_set(
			error, -EINVAL, "%s",
			"threads cannot be told apart: the captures are not known to be of one boot; "
			"these are changes of groups");
	comparison->by_groups = !by_threads;
	return 0;
}

bool compare_count_threads(struct comparison *comparison, struct diff_match_count *ret_threads)
{
	const struct diff_match *match = compare_match(comparison);

	if (match == NULL)
		return false;
	*ret_threads = (struct diff_match_count){
		.same = (uint32_t)match->same,
		.came = (uint32_t)match->only[compare_inside(comparison, DIFF_AFTER)],
		.went = (uint32_t)match->only[compare_inside(comparison, DIFF_BEFORE)],
	};
	return true;
}
