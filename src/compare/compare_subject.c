/* SPDX-License-Identifier: GPL-2.0-only */
/* The groups and threads that the rows of a comparison are of. */
#include "compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void add_thread(struct compare_subjects *subjects, uint32_t before, uint32_t after)
{
	subjects->threads[subjects->count++] = (struct compare_thread){{before, after}};
}

/* Threads of after, each with itself in before, then those that are in before only. */
static void collect_threads(struct comparison *comparison, const struct view *view,
			    struct compare_subjects *subjects)
{
	const struct diff_match *match = comparison->match;
	const size_t before_count = comparison->sides[DIFF_BEFORE]->thread_count;
	const size_t after_count = comparison->sides[DIFF_AFTER]->thread_count;
	bool *before = compare_threads_inside(comparison, view, view->step_count, DIFF_BEFORE);
	bool *after = compare_threads_inside(comparison, view, view->step_count, DIFF_AFTER);

	subjects->threads = memory_allocate((before_count + after_count + 1) * sizeof(*subjects->threads));
	for (uint32_t i = 0; i < after_count; i++) {
		uint32_t mate = match != NULL ? match->mate[DIFF_AFTER][i] : COMPARE_NONE;

		/* one that moved from here to another group, or to here from there, is still itself */
		if (after == NULL || after[i] || (mate != COMPARE_NONE && before[mate]))
			add_thread(subjects, mate, i);
	}
	for (uint32_t i = 0; i < before_count; i++) {
		if ((before == NULL || before[i]) &&
		    (match == NULL || match->mate[DIFF_BEFORE][i] == COMPARE_NONE))
			add_thread(subjects, i, COMPARE_NONE);
	}
	free(before);
	free(after);
}

/* The threads of a side as rows, each of itself. */
static struct reduction *reduce_threads(const struct compare_subjects *subjects, enum diff_side side)
{
	const struct snapshot *snapshot = subjects->comparison->sides[side];
	const struct window window = diff_window(snapshot, compare_has_rates(subjects->comparison));
	struct shown shown = {.now = snapshot, .row_count = subjects->count, .by_thread = true};

	shown_reserve(&shown, subjects->count, subjects->count);
	for (uint32_t i = 0; i < subjects->count; i++) {
		if (subjects->threads[i].index[side] != COMPARE_NONE)
			shown_add(&shown, subjects->threads[i].index[side], i);
	}
	return reduction_create(&window, &shown);
}

void compare_subjects_collect(struct comparison *comparison, const struct view *view,
			      struct compare_subjects *subjects)
{
	*subjects = (struct compare_subjects){.comparison = comparison};
	if (view->level == VIEW_LEVEL_THREADS) {
		collect_threads(comparison, view, subjects);
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
			subjects->reductions[side] = reduce_threads(subjects, (enum diff_side)side);
		return;
	}
	subjects->join = compare_join_of(comparison, view, view->grouping.axis, view->step_count);
	subjects->count = subjects->join->diff->pair_count;
}

const struct snapshot *compare_subject_thread(const struct compare_subjects *subjects, size_t subject,
					      uint32_t *ret_thread)
{
	const struct compare_thread *thread = &subjects->threads[subject];
	enum diff_side side = thread->index[DIFF_AFTER] != COMPARE_NONE ? DIFF_AFTER : DIFF_BEFORE;

	*ret_thread = thread->index[side];
	return subjects->comparison->sides[side];
}

/* The key of a thread of before only ends in '-': on another boot, its numbers may be another thread's. */
const char *compare_subject_key(const struct compare_subjects *subjects, size_t subject,
				struct buffer *buffer, size_t *ret_length)
{
	const struct snapshot *snapshot;
	uint32_t thread;

	if (subjects->join != NULL) {
		const struct diff_pair *pair = &subjects->join->diff->pairs[subject];

		*ret_length = pair->key_length;
		return pair->key;
	}
	buffer_clear(buffer);
	snapshot = compare_subject_thread(subjects, subject, &thread);
	shown_append_thread_key(buffer, snapshot->tid[thread], snapshot->start_time[thread]);
	if (snapshot == subjects->comparison->sides[DIFF_BEFORE])
		buffer_append_char(buffer, '-');
	*ret_length = buffer->length;
	return buffer->data;
}

size_t compare_subjects_find(const struct compare_subjects *subjects, const char *key, size_t key_length)
{
	struct buffer buffer = {0};
	size_t found = SIZE_MAX;

	if (subjects->join != NULL)
		return diff_find(subjects->join->diff, key, key_length);
	for (size_t i = 0; i < subjects->count && found == SIZE_MAX; i++) {
		size_t length;
		const char *own = compare_subject_key(subjects, i, &buffer, &length);

		if (length == key_length && memcmp(own, key, length) == 0)
			found = i;
	}
	buffer_release(&buffer);
	return found;
}

struct compare_label compare_subject_label(const struct compare_subjects *subjects, size_t subject)
{
	const struct snapshot *snapshot;
	struct compare_label label;
	uint32_t thread;

	if (subjects->join != NULL)
		return subjects->join->labels[subject];
	snapshot = compare_subject_thread(subjects, subject, &thread);
	label.text = shown_thread_name(snapshot, thread, &label.length);
	return label;
}

uint32_t compare_subject_threads(const struct compare_subjects *subjects, size_t subject, enum diff_side side)
{
	side = compare_inside(subjects->comparison, side);
	if (subjects->join != NULL)
		return subjects->join->diff->pairs[subject].threads[side];
	return subjects->threads[subject].index[side] != COMPARE_NONE;
}

bool compare_subject_is_on(const struct compare_subjects *subjects, size_t subject, enum diff_side side)
{
	if (subjects->join == NULL)
		return compare_subject_threads(subjects, subject, side) != 0;
	return subjects->join->diff->pairs[subject].group[compare_inside(subjects->comparison, side)] !=
	       UINT32_MAX;
}

bool compare_subject_has(const struct compare_subjects *subjects, size_t subject, enum diff_side side,
			 size_t thread)
{
	side = compare_inside(subjects->comparison, side);
	return subjects->join != NULL ? compare_join_has(subjects->join, subject, side, thread)
				      : subjects->threads[subject].index[side] == thread;
}

bool compare_subject_same(const struct compare_subjects *subjects, size_t subject,
			  struct diff_match_count *ret_threads)
{
	const struct compare_join *join = subjects->join;

	if (join == NULL || join->counts == NULL)
		return false;
	*ret_threads = join->counts[subject];
	if (compare_inside(subjects->comparison, DIFF_AFTER) != DIFF_AFTER) {
		ret_threads->came = join->counts[subject].went;
		ret_threads->went = join->counts[subject].came;
	}
	return true;
}

enum row_mark compare_subject_mark(const struct compare_subjects *subjects, size_t subject)
{
	struct diff_match_count threads;

	if (!compare_subject_is_on(subjects, subject, DIFF_BEFORE))
		return ROW_MARK_NEW;
	if (!compare_subject_is_on(subjects, subject, DIFF_AFTER))
		return ROW_MARK_LEFT;
	if (compare_subject_same(subjects, subject, &threads) && threads.same == 0)
		return ROW_MARK_RESTARTED;
	return ROW_MARK_NONE;
}

const char *compare_subject_cgroup(const struct compare_subjects *subjects, size_t subject,
				   enum diff_side side)
{
	const struct diff_pair *pair;
	size_t length;

	if (subjects->join == NULL)
		return NULL;
	pair = &subjects->join->diff->pairs[subject];
	if (pair->kind != DIFF_PAIR_FUDGED)
		return NULL;
	/* the first of three parts */
	return grouping_key(subjects->join->diff->grouping,
			    pair->group[compare_inside(subjects->comparison, side)], &length);
}
