/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "comparability.h"
#include "snapshot/thread_match.h"

static void find_mates(struct diff_match *match)
{
	const struct snapshot *after = match->snapshots[DIFF_AFTER];
	/* of before exactly those add up that are still there */
	uint32_t *before_of = thread_match(after, match->snapshots[DIFF_BEFORE], match->counted[DIFF_BEFORE],
					   match->replaced);

	memset(match->mate[DIFF_BEFORE], 0xff,
	       match->snapshots[DIFF_BEFORE]->thread_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < after->thread_count; i++) {
		const bool has_mate = before_of[i] < THREAD_UNKNOWN;

		match->mate[DIFF_AFTER][i] = has_mate ? before_of[i] : UINT32_MAX;
		match->counted[DIFF_AFTER][i] = before_of[i] != THREAD_UNKNOWN;
		if (has_mate)
			match->mate[DIFF_BEFORE][before_of[i]] = i;
		match->same += has_mate;
	}
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		match->only[side] = match->snapshots[side]->thread_count - match->same;
	free(before_of);
}

static int check_boot(const struct snapshot *before, const struct snapshot *after, struct error *error)
{
	const struct snapshot *const snapshots[] = {before, after};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (snapshots[side]->provenance.boot_id == NULL)
			return error_set(
				error, -EINVAL,
				"threads cannot be matched: the file of %s does not tell the boot it "
				"was captured in; compare by groups",
				diff_side_names[side]);
	}
	if (!comparability_same_boot(before, after))
		return error_set(error, -EINVAL,
				 "threads cannot be matched: the captures are of different boots; compare by "
				 "groups");
	if (comparability_interval(before, after) < 0)
		return error_set(
			error, -EINVAL,
			"threads cannot be matched: the second capture is the older one; swap the two files");
	return 0;
}

struct diff_match *diff_match_create(const struct snapshot *before, const struct snapshot *after,
				     struct error *error)
{
	struct diff_match *match;

	if (check_boot(before, after, error) < 0)
		return NULL;
	match = memory_allocate_zero(1, sizeof(*match));
	match->snapshots[DIFF_BEFORE] = before;
	match->snapshots[DIFF_AFTER] = after;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const size_t count = match->snapshots[side]->thread_count;

		match->mate[side] = memory_allocate_zero(count + 1, sizeof(*match->mate[side]));
		match->counted[side] = memory_allocate_zero(count + 1, sizeof(*match->counted[side]));
	}
	match->replaced = memory_allocate_zero(after->thread_count + 1, sizeof(*match->replaced));
	find_mates(match);
	return match;
}

void diff_match_release(struct diff_match *match)
{
	if (match == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		free(match->mate[side]);
		free(match->counted[side]);
	}
	free(match->replaced);
	free(match);
}

void diff_match_apply(const struct diff_match *match, struct diff_options *options)
{
	options->successor = match->mate[DIFF_BEFORE];
	options->replaced = match->replaced;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		options->counted[side] = match->counted[side];
}

void diff_match_describe(const struct diff_match *match, bool by_thread, struct buffer *buffer)
{
	char same[28], came[28], went[28];

	buffer_append_format(
		buffer, "of the threads %s are the same on both sides, %s came%s, %s went%s",
		number_group_digits(match->same, same), number_group_digits(match->only[DIFF_AFTER], came),
		by_thread ? " and count from zero" : "", number_group_digits(match->only[DIFF_BEFORE], went),
		by_thread ? " and are left out: what they did since before is not known" : "");
}

struct diff_match_count *diff_match_count(const struct diff_match *match, const struct diff *diff)
{
	struct diff_match_count *counts = memory_allocate_zero(diff->pair_count + 1, sizeof(*counts));

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const enum diff_side other = side == DIFF_BEFORE ? DIFF_AFTER : DIFF_BEFORE;

		for (size_t i = 0; i < match->snapshots[side]->thread_count; i++) {
			const uint32_t mate = match->mate[side][i];
			const bool *members = diff->options.members[side];
			const bool *others = diff->options.members[other];
			size_t pair;
			bool stayed;

			if (members != NULL && !members[i])
				continue;
			pair = diff_pair_of_thread(diff, (enum diff_side)side, i);
			stayed = mate != UINT32_MAX && (others == NULL || others[mate]) &&
				 diff_pair_of_thread(diff, other, mate) == pair;
			if (!stayed && side == DIFF_BEFORE)
				counts[pair].went++;
			else if (!stayed)
				counts[pair].came++;
			else if (side == DIFF_AFTER)
				counts[pair].same++;
		}
	}
	return counts;
}
