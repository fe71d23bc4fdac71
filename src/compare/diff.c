/* SPDX-License-Identifier: GPL-2.0-only */
/* Joins two snapshots: which threads are the same, and the groups of both. */
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "base/number.h"
#include "diff_evidence.h"
#include "snapshot/thread_match.h"

/* --- the same threads --- */

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

void diff_match_describe(const struct diff_match *match, bool by_threads, struct buffer *buffer)
{
	char same[28], came[28], went[28];

	buffer_append_format(buffer, "%s threads are the same on both sides, %s came%s, %s went%s",
			     humanize_digits(match->same, same),
			     humanize_digits(match->only[DIFF_AFTER], came),
			     by_threads ? " and count from zero if they started in between" : "",
			     humanize_digits(match->only[DIFF_BEFORE], went),
			     by_threads ? " and are left out: what they did since before is not known" : "");
}

/* --- groups --- */

/* The runs of both sides; without sets each side has its snapshot as the only one. */
static void list_runs(struct diff *diff)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct comparability_set *set = &diff->options.sets[side];

		if (diff->snapshots[side] == NULL)
			continue;
		diff->run_count[side] = set->count != 0 ? set->count : 1;
		diff->runs[side] = memory_allocate_zero(diff->run_count[side], sizeof(*diff->runs[side]));
		for (size_t i = 0; i < diff->run_count[side]; i++)
			diff->runs[side][i].snapshot = set->count != 0 ? set->runs[i] : diff->snapshots[side];
	}
}

/* The group of a thread by its own names. */
static uint32_t group_by_names(const struct diff *diff, const struct diff_run *run, size_t thread)
{
	return grouping_of_thread(diff->grouping, run->names, run->snapshot, thread);
}

/* The group of a thread, by its own names or those of the thread it has become. */
static uint32_t find_group(const struct diff *diff, enum diff_side side, const struct diff_run *run,
			   size_t thread)
{
	const struct diff_match *match = diff->options.match;
	const uint32_t own = group_by_names(diff, run, thread);
	uint32_t group;

	if (side != DIFF_BEFORE || match == NULL || !(diff->options.by_threads || diff->options.rates) ||
	    match->mate[DIFF_BEFORE][thread] == UINT32_MAX)
		return own;
	group = group_by_names(diff, diff_last_run(diff, DIFF_AFTER), match->mate[DIFF_BEFORE][thread]);
	diff->threads[DIFF_BEFORE][own].renamed |= group != own;
	diff->threads[DIFF_BEFORE][group].renamed |= group != own;
	return group;
}

/* Groups the names of all snapshots. What stands for several threads here is a pattern wherever names are
 * grouped. */
static void group_names(struct diff *diff)
{
	const size_t run_count = diff->run_count[DIFF_BEFORE] + diff->run_count[DIFF_AFTER];
	const struct snapshot **names = memory_allocate((2 * run_count + DIFF_SIDE_COUNT) * sizeof(*names));
	size_t count = 0;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < diff->run_count[side]; i++) {
			diff->runs[side][i].names = count;
			names[count++] = diff->runs[side][i].snapshot;
		}
	}
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < diff->run_count[side]; i++) {
			const struct ended *ended = diff_run_ended(diff, &diff->runs[side][i]);

			diff->runs[side][i].ended_names = count;
			if (ended != NULL)
				names[count++] = ended->names;
		}
		diff->part_names[side] = count;
		if (diff->options.rates && !diff_has_sets(diff) &&
		    diff->snapshots[side]->window->parts.names != NULL)
			names[count++] = diff->snapshots[side]->window->parts.names;
	}
	diff->grouping = grouping_create(&diff->options.grouping, names, count, diff->patterns);
	diff->options.grouping.rules = grouping_rules(diff->grouping);
	free(names);
}

/* Marks the groups of ended threads, which are those of their names. */
static void count_ended(struct diff *diff, enum diff_side side, const struct diff_run *run)
{
	const struct ended *ended = diff_run_ended(diff, run);
	const bool *members = diff->options.ended_members[side];

	for (uint32_t i = 0; ended != NULL && i < ended->count; i++) {
		const uint32_t group = grouping_of_triple(diff->grouping, run->ended_names, i);

		/* threads of which only the end is known need no row of their own */
		diff->threads[side][group].has_ended |= !ended->records[i].untold &&
							!ended_is_void(ended, i) &&
							(members == NULL || members[i]);
	}
}

/* Counts the threads of a run in their groups, and finds which group each thread is of. */
static void count_run(struct diff *diff, enum diff_side side, struct diff_run *run)
{
	const struct snapshot *snapshot = run->snapshot;
	const bool *members = diff->options.members[side];
	struct diff_threads *threads = diff->threads[side];

	run->group_of_thread = memory_allocate((snapshot->thread_count + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint32_t group = members == NULL || members[i] ? find_group(diff, side, run, i)
								     : UINT32_MAX;

		run->group_of_thread[i] = group;
		if (group == UINT32_MAX)
			continue;
		threads[group].count++;
		if (snapshot->start_time[i] == 0)
			continue;
		threads[group].started++;
		threads[group].start_sum = number_add_saturating(threads[group].start_sum,
								 snapshot->start_time[i]);
	}
	count_ended(diff, side, run);
}

/* Thread counts and start times of the groups of a side. */
static void count_threads(struct diff *diff, enum diff_side side)
{
	diff->threads[side] = memory_allocate_zero(grouping_count(diff->grouping) + 1,
						   sizeof(*diff->threads[side]));
	for (size_t i = 0; i < diff->run_count[side]; i++)
		count_run(diff, side, &diff->runs[side][i]);
}

/* The threads of a group in a run on average: no fewer than one where a run has any. */
static uint32_t mean_threads(const struct diff *diff, enum diff_side side, uint32_t group)
{
	const size_t count = diff->threads[side][group].count, runs = diff->run_count[side];
	const size_t mean = (count + runs / 2) / runs;

	return (uint32_t)(mean == 0 && count != 0 ? 1 : mean);
}

static uint64_t mean_start(const struct diff *diff, enum diff_side side, uint32_t group)
{
	const struct diff_threads *threads = &diff->threads[side][group];

	return threads->started != 0 ? threads->start_sum / threads->started : 0;
}

static void match_by_key(struct diff *diff)
{
	size_t group_count = grouping_count(diff->grouping);

	diff->partner = memory_allocate((group_count + 1) * sizeof(*diff->partner));
	for (uint32_t group = 0; group < group_count; group++)
		diff->partner[group] = diff_has_group(diff, DIFF_BEFORE, group) ? group : UINT32_MAX;
}

/* Whether the threads of a group of after are those of a group of before under another name. */
static bool is_renamed(const struct diff *diff, uint32_t group)
{
	return diff_has_group(diff, DIFF_AFTER, group) && diff->partner[group] != UINT32_MAX &&
	       diff->partner[group] != group;
}

static struct diff_pair *add_pair(struct diff *diff, uint32_t group)
{
	struct diff_pair *pair = &diff->pairs[diff->pair_count];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		pair->group[side] = UINT32_MAX;
		if (!diff_has_group(diff, (enum diff_side)side, group) ||
		    (side == DIFF_AFTER && is_renamed(diff, group)))
			continue;
		pair->group[side] = group;
		pair->threads[side] = mean_threads(diff, (enum diff_side)side, group);
		pair->start_time[side] = mean_start(diff, (enum diff_side)side, group);
		diff->pair_of_group[side][group] = (uint32_t)diff->pair_count;
	}
	pair->key = grouping_key(diff->grouping, group, &pair->key_length);
	pair->label = grouping_label(diff->grouping, group, &pair->label_length);
	pair->is_own = grouping_is_own(diff->grouping, group);
	pair->candidates = pair->group[DIFF_AFTER] != UINT32_MAX ? 1 : 0;
	if (pair->candidates == 0)
		pair->kind = DIFF_PAIR_ONLY_BEFORE;
	else if (pair->group[DIFF_BEFORE] == UINT32_MAX)
		pair->kind = DIFF_PAIR_ONLY_AFTER;
	else
		pair->kind = DIFF_PAIR_MATCHED;
	diff->pair_count++;
	return pair;
}

/* Joins a group of after, under another name, to a pair of before; several add up. */
static void join_candidate(struct diff *diff, uint32_t group)
{
	uint32_t index = diff->pair_of_group[DIFF_BEFORE][diff->partner[group]];
	struct diff_pair *pair = &diff->pairs[index];

	diff->pair_of_group[DIFF_AFTER][group] = index;
	pair->kind = DIFF_PAIR_FUDGED;
	pair->threads[DIFF_AFTER] += mean_threads(diff, DIFF_AFTER, group);
	/* the sum of the means until all are here */
	pair->start_time[DIFF_AFTER] = number_add_saturating(pair->start_time[DIFF_AFTER],
							     mean_start(diff, DIFF_AFTER, group));
	/* threads that ended under the old name belong to the pair but do not name it */
	if (pair->candidates != 0 && diff->threads[DIFF_AFTER][pair->group[DIFF_AFTER]].count != 0) {
		pair->candidates++;
		return;
	}
	pair->candidates = 1;
	pair->group[DIFF_AFTER] = group;
}

static void make_pairs(struct diff *diff)
{
	size_t group_count = grouping_count(diff->grouping);

	diff->pairs = memory_allocate_zero(group_count + 1, sizeof(*diff->pairs));
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		diff->pair_of_group[side] = memory_allocate_zero(group_count + 1, sizeof(uint32_t));
	for (uint32_t group = 0; group < group_count; group++) {
		bool has_before = diff_has_group(diff, DIFF_BEFORE, group);
		bool has_after = diff_has_group(diff, DIFF_AFTER, group);

		if (has_before || (has_after && diff->partner[group] == UINT32_MAX))
			add_pair(diff, group);
	}
	for (uint32_t group = 0; group < group_count; group++) {
		if (is_renamed(diff, group))
			join_candidate(diff, group);
	}
	for (size_t i = 0; i < diff->pair_count; i++) {
		struct diff_pair *pair = &diff->pairs[i];

		if (pair->candidates > 1)
			pair->start_time[DIFF_AFTER] /= pair->candidates;
	}
}

/* Counts the threads of each pair that are the same, came and went. */
static void count_members(struct diff *diff)
{
	const struct diff_match *match = diff->options.match;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const enum diff_side other = side == DIFF_BEFORE ? DIFF_AFTER : DIFF_BEFORE;

		for (size_t i = 0; i < match->snapshots[side]->thread_count; i++) {
			const size_t pair = diff_pair_of_thread(diff, (enum diff_side)side, i);
			const uint32_t mate = match->mate[side][i];
			struct diff_match_count *members;
			bool stayed;

			if (pair == SIZE_MAX)
				continue;
			members = &diff->pairs[pair].members;
			stayed = mate != UINT32_MAX && diff_pair_of_thread(diff, other, mate) == pair;
			members->went += !stayed && side == DIFF_BEFORE;
			members->came += !stayed && side == DIFF_AFTER;
			members->unknown += !stayed && side == DIFF_AFTER && !match->counted[DIFF_AFTER][i];
			members->same += stayed && side == DIFF_AFTER;
		}
	}
}

static void join_groups(struct diff *diff)
{
	group_names(diff);
	count_threads(diff, DIFF_BEFORE);
	count_threads(diff, DIFF_AFTER);
	match_by_key(diff);
	if (diff->options.grouping.axis == AXIS_ALL)
		diff_find_renames(diff);
	make_pairs(diff);
	if (diff->options.match != NULL)
		count_members(diff);
}

/* --- single threads --- */

/* Adds a thread of either or both sides, UINT32_MAX where it is not. */
static void add_thread(struct diff *diff, uint32_t before, uint32_t after)
{
	const uint32_t threads[DIFF_SIDE_COUNT] = {before, after};
	const enum diff_side named = after != UINT32_MAX ? DIFF_AFTER : DIFF_BEFORE;
	const struct snapshot *snapshot = diff->snapshots[named];
	const uint32_t index = (uint32_t)diff->pair_count++;
	struct diff_pair *pair = &diff->pairs[index];
	struct buffer key = {0};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const bool is_there = threads[side] != UINT32_MAX;

		pair->group[side] = threads[side];
		pair->threads[side] = is_there;
		if (!is_there)
			continue;
		diff->runs[side]->group_of_thread[threads[side]] = threads[side];
		diff->pair_of_group[side][threads[side]] = index;
	}
	pair->kind = after == UINT32_MAX    ? DIFF_PAIR_ONLY_BEFORE
		     : before == UINT32_MAX ? DIFF_PAIR_ONLY_AFTER
					    : DIFF_PAIR_MATCHED;
	pair->label = shown_thread_name(snapshot, threads[named], &pair->label_length);
	shown_append_thread_key(&key, snapshot->tid[threads[named]], snapshot->start_time[threads[named]]);
	/* on another boot its numbers may be those of another thread */
	if (named == DIFF_BEFORE)
		buffer_append_char(&key, '-');
	pair->key = arena_duplicate(&diff->arena, key.data, key.length);
	pair->key_length = key.length;
	buffer_release(&key);
}

static bool is_member(const struct diff *diff, enum diff_side side, uint32_t thread)
{
	return diff->options.members[side] == NULL || diff->options.members[side][thread];
}

/* Joins threads of after, each with itself in before, then those that are in before only. */
static void join_threads(struct diff *diff)
{
	const struct diff_match *match = diff->options.match;
	const size_t before_count = diff->snapshots[DIFF_BEFORE]->thread_count;
	const size_t after_count = diff->snapshots[DIFF_AFTER]->thread_count;

	diff->pairs = memory_allocate_zero(before_count + after_count + 1, sizeof(*diff->pairs));
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const size_t count = diff->snapshots[side]->thread_count;

		diff->pair_of_group[side] = memory_allocate_zero(count + 1, sizeof(uint32_t));
		diff->runs[side]->group_of_thread = memory_allocate((count + 1) * sizeof(uint32_t));
		memset(diff->runs[side]->group_of_thread, 0xff, count * sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < after_count; i++) {
		const uint32_t mate = match != NULL ? match->mate[DIFF_AFTER][i] : UINT32_MAX;

		/* one that moved from here to another group, or to here from there, is still itself */
		if (is_member(diff, DIFF_AFTER, i) ||
		    (mate != UINT32_MAX && is_member(diff, DIFF_BEFORE, mate)))
			add_thread(diff, mate, i);
	}
	for (uint32_t i = 0; i < before_count; i++) {
		if (is_member(diff, DIFF_BEFORE, i) &&
		    (match == NULL || match->mate[DIFF_BEFORE][i] == UINT32_MAX))
			add_thread(diff, i, UINT32_MAX);
	}
}

/* --- the whole --- */

/* 0 where no thread of it lives afterwards. */
static uint64_t lifetime(uint64_t now, const struct diff_pair *pair)
{
	return pair->threads[DIFF_AFTER] != 0 && now > pair->start_time[DIFF_AFTER]
		       ? now - pair->start_time[DIFF_AFTER]
		       : 0;
}

/* The lifetime of the groups of after, as a percentage of the longest. */
static void compute_uptimes(struct diff *diff)
{
	const struct snapshot *after = diff->snapshots[DIFF_AFTER];
	uint64_t now = 0, longest = 1;

	for (size_t i = 0; i < after->thread_count; i++)
		now = after->start_time[i] > now ? after->start_time[i] : now;
	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];

		if (diff_pair_is_joined(pair) && lifetime(now, pair) > longest)
			longest = lifetime(now, pair);
	}
	for (size_t i = 0; i < diff->pair_count; i++) {
		if (diff_pair_is_joined(&diff->pairs[i]))
			diff->pairs[i].uptime = (double)lifetime(now, &diff->pairs[i]) * 100.0 /
						(double)longest;
	}
}

/* Marks the rows of a run that have a thread, living or ended; what is known by names may be of any. */
static bool *find_rows(const struct reduction *reduction, size_t pair_count)
{
	const struct shown *shown = &reduction->shown;
	bool *has = memory_allocate_zero(pair_count + 1, sizeof(*has));

	for (size_t i = 0; i < pair_count; i++)
		has[i] = shown->row_threads[i] != 0;
	for (uint32_t i = 0; shown->ended != NULL && i < shown->ended->count; i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			has[shown->ended_row_of[i]] = true;
	}
	has[pair_count] = true;
	return has;
}

static void reduce_runs(struct diff *diff, enum diff_side side)
{
	for (size_t i = 0; i < diff->run_count[side]; i++) {
		struct diff_run *run = &diff->runs[side][i];

		run->reduction = diff_reduce(diff, side, run);
		if (diff_has_sets(diff))
			run->has = find_rows(run->reduction, diff->pair_count);
	}
	diff->reductions[side] = diff_last_run(diff, side)->reduction;
}

static void release_runs(struct diff *diff, enum diff_side side)
{
	for (size_t i = 0; i < diff->run_count[side]; i++) {
		reduction_release(diff->runs[side][i].reduction);
		free(diff->runs[side][i].group_of_thread);
		free(diff->runs[side][i].has);
	}
	free(diff->runs[side]);
}

struct diff *diff_create(const struct snapshot *before, const struct snapshot *after,
			 const struct diff_options *options)
{
	struct diff *diff = memory_allocate_zero(1, sizeof(*diff));

	diff->snapshots[DIFF_BEFORE] = before;
	diff->snapshots[DIFF_AFTER] = after;
	diff->options = *options;
	if (options->dialect == NULL)
		diff->options.dialect = &dialect_ctop;
	if (diff->options.dialect->names != NULL)
		diff->options.grouping.rules = diff->options.dialect->names;
	diff->patterns = memory_allocate_zero(1, sizeof(*diff->patterns));
	if (before != NULL)
		diff->interval_ns = (uint64_t)llabs(comparability_interval(before, after));
	list_runs(diff);
	if (options->single)
		join_threads(diff);
	else
		join_groups(diff);
	compute_uptimes(diff);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (diff->snapshots[side] == NULL)
			continue;
		reduce_runs(diff, (enum diff_side)side);
		/* columns of fields are from now on as the scheduler of after has them, else that of before
		 */
		window_describe_fields(diff->snapshots[side]->task_fields.owner);
	}
	if ((options->rates || diff_has_sets(diff)) && !options->single)
		diff->evidence = diff_evidence_create(diff);
	return diff;
}

void diff_release(struct diff *diff)
{
	if (diff == NULL)
		return;
	diff_evidence_release(diff->evidence);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		release_runs(diff, (enum diff_side)side);
		free(diff->counted[side]);
		free(diff->threads[side]);
		free(diff->pair_of_group[side]);
	}
	grouping_release(diff->grouping);
	pattern_memory_release(diff->patterns);
	free(diff->patterns);
	free(diff->partner);
	free(diff->pairs);
	free(diff->renames);
	arena_release(&diff->arena);
	free(diff);
}

size_t diff_pair_of_thread(const struct diff *diff, enum diff_side side, size_t thread)
{
	const uint32_t group = diff_last_run(diff, side)->group_of_thread[thread];

	return group != UINT32_MAX ? diff->pair_of_group[side][group] : SIZE_MAX;
}

size_t diff_pair_of_ended(const struct diff *diff, enum diff_side side, uint32_t record)
{
	const bool *members = diff->options.ended_members[side];
	const uint32_t group = grouping_of_triple(diff->grouping, diff_last_run(diff, side)->ended_names,
						  record);

	return diff_has_group(diff, side, group) && (members == NULL || members[record])
		       ? diff->pair_of_group[side][group]
		       : SIZE_MAX;
}

size_t diff_find(const struct diff *diff, const char *key, size_t length)
{
	uint32_t group;

	for (size_t i = 0; diff->options.single && i < diff->pair_count; i++) {
		if (diff->pairs[i].key_length == length && memcmp(diff->pairs[i].key, key, length) == 0)
			return i;
	}
	if (diff->options.single)
		return SIZE_MAX;
	group = grouping_find(diff->grouping, key, length);
	if (group == UINT32_MAX)
		return SIZE_MAX;
	if (diff_has_group(diff, DIFF_BEFORE, group))
		return diff->pair_of_group[DIFF_BEFORE][group];
	return diff_has_group(diff, DIFF_AFTER, group) ? diff->pair_of_group[DIFF_AFTER][group] : SIZE_MAX;
}

void diff_append_key(const struct diff_pair *pair, struct buffer *buffer)
{
	diff_append_parts(pair->label, pair->label_length, buffer);
}

/* Whether another pair has the same part of its name, of AXIS_ALL, and another one of the part before. */
static bool is_shared(const struct diff *diff, const struct diff_pair *pair, size_t part, size_t of)
{
	for (size_t i = 0; i < diff->pair_count; i++) {
		if (strcmp(diff_part(diff->pairs[i].label, part), diff_part(pair->label, part)) == 0 &&
		    strcmp(diff_part(diff->pairs[i].label, of), diff_part(pair->label, of)) != 0)
			return true;
	}
	return false;
}

void diff_append_name(const struct diff *diff, const struct diff_pair *pair, struct buffer *text)
{
	const char *process, *thread;

	if (diff->options.grouping.axis != AXIS_ALL || diff->options.single) {
		buffer_append(text, pair->label, pair->label_length);
		return;
	}
	process = diff_part(pair->label, 1);
	thread = diff_part(pair->label, 2);
	buffer_append_text(text, thread);
	if (strcmp(process, thread) != 0 && is_shared(diff, pair, 2, 1))
		buffer_append_format(text, " of %s", process);
	if (is_shared(diff, pair, 1, 0))
		buffer_append_format(text, " in %s", pair->label);
}

void diff_append_label(const struct diff *diff, const struct diff_pair *pair, struct buffer *buffer)
{
	const char *slash = strrchr(pair->key, '/');
	const char *leaf = slash != NULL ? slash + 1 : pair->key;

	if (pair->kind == DIFF_PAIR_FUDGED)
		buffer_append_format(buffer, "%s%s%s] ", dialect_word(diff->options.dialect, "[fudged", true),
				     *leaf != '\0' ? ": " : "", leaf);
	diff_append_key(pair, buffer);
}
