/* SPDX-License-Identifier: GPL-2.0-only */
/* The groups and threads that the rows of a comparison are of. */
#include "compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diff/diff_internal.h"

static void add_thread(struct pair_subjects *subjects, uint32_t before, uint32_t after)
{
	subjects->threads[subjects->count++] = (struct pair_thread){{before, after}};
}

/* Threads of after, each with itself in before, then those that are in before only. */
static void collect_threads(struct session *session, const struct view *view, struct pair_subjects *subjects)
{
	const struct diff_match *match = pair_match(session);
	const size_t before_count = pair_snapshot(session, DIFF_BEFORE)->thread_count;
	const size_t after_count = pair_snapshot(session, DIFF_AFTER)->thread_count;
	bool *before = pair_members(session, view, view->step_count, DIFF_BEFORE);
	bool *after = pair_members(session, view, view->step_count, DIFF_AFTER);

	subjects->threads = memory_allocate((before_count + after_count + 1) * sizeof(*subjects->threads));
	for (uint32_t i = 0; i < after_count; i++) {
		uint32_t mate = match != NULL ? match->mate[DIFF_AFTER][i] : PAIR_NONE;

		/* one that moved from here to another group, or to here from there, is still itself */
		if (after == NULL || after[i] || (mate != PAIR_NONE && before[mate]))
			add_thread(subjects, mate, i);
	}
	for (uint32_t i = 0; i < before_count; i++) {
		if ((before == NULL || before[i]) &&
		    (match == NULL || match->mate[DIFF_BEFORE][i] == PAIR_NONE))
			add_thread(subjects, i, PAIR_NONE);
	}
	free(before);
	free(after);
}

void pair_subjects_collect(struct session *session, const struct view *view, struct pair_subjects *subjects)
{
	*subjects = (struct pair_subjects){.session = session};
	if (view->level == VIEW_LEVEL_THREADS) {
		collect_threads(session, view, subjects);
		return;
	}
	subjects->join = pair_join_of(session, view, view->grouping.axis, view->step_count);
	subjects->count = diff_pair_count(subjects->join->diff);
}

void pair_subjects_release(struct pair_subjects *subjects)
{
	free(subjects->threads);
	*subjects = (struct pair_subjects){0};
}

/* A thread that is in before only has a '-' behind: on another boot its numbers may be those of another. */
const char *pair_subject_key(const struct pair_subjects *subjects, size_t subject, struct buffer *buffer,
			     size_t *ret_length)
{
	const struct pair_thread *thread;

	if (subjects->join != NULL) {
		const struct diff_pair *pair = diff_pair(subjects->join->diff, subject);

		*ret_length = pair->key_length;
		return pair->key;
	}
	thread = &subjects->threads[subject];
	buffer_clear(buffer);
	if (thread->index[DIFF_AFTER] != PAIR_NONE) {
		append_thread_key(buffer, pair_snapshot(subjects->session, DIFF_AFTER),
				  thread->index[DIFF_AFTER]);
	} else {
		append_thread_key(buffer, pair_snapshot(subjects->session, DIFF_BEFORE),
				  thread->index[DIFF_BEFORE]);
		buffer_append_char(buffer, '-');
	}
	*ret_length = buffer->length;
	return buffer->data;
}

size_t pair_subjects_find(const struct pair_subjects *subjects, const char *key, size_t key_length)
{
	struct buffer buffer = {0};
	size_t found = SIZE_MAX;

	if (subjects->join != NULL)
		return diff_find(subjects->join->diff, key, key_length);
	for (size_t i = 0; i < subjects->count && found == SIZE_MAX; i++) {
		size_t length;
		const char *own = pair_subject_key(subjects, i, &buffer, &length);

		if (length == key_length && memcmp(own, key, length) == 0)
			found = i;
	}
	buffer_release(&buffer);
	return found;
}

struct pair_label pair_subject_label(const struct pair_subjects *subjects, size_t subject)
{
	const struct snapshot *snapshot;
	enum diff_side side;
	uint32_t comm;

	if (subjects->join != NULL)
		return subjects->join->labels[subject];
	side = subjects->threads[subject].index[DIFF_AFTER] != PAIR_NONE ? DIFF_AFTER : DIFF_BEFORE;
	snapshot = pair_snapshot(subjects->session, side);
	comm = snapshot->triples[snapshot->triple[subjects->threads[subject].index[side]]].comm;
	return (struct pair_label){snapshot_text(snapshot, comm),
				   string_pool_length(&snapshot->strings, comm)};
}

uint32_t pair_subject_threads(const struct pair_subjects *subjects, size_t subject, enum diff_side side)
{
	side = pair_inside(subjects->session, side);
	if (subjects->join != NULL)
		return diff_pair(subjects->join->diff, subject)->threads[side];
	return subjects->threads[subject].index[side] != PAIR_NONE;
}

bool pair_subject_has(const struct pair_subjects *subjects, size_t subject, enum diff_side side,
		      size_t thread)
{
	const struct pair_join *join = subjects->join;

	side = pair_inside(subjects->session, side);
	if (join == NULL)
		return subjects->threads[subject].index[side] == thread;
	return (join->members[side] == NULL || join->members[side][thread]) &&
	       diff_pair_of_thread(join->diff, side, thread) == subject;
}

bool pair_subject_same(const struct pair_subjects *subjects, size_t subject, struct pair_threads *ret_threads)
{
	const struct pair_join *join = subjects->join;
	uint32_t same;

	if (join == NULL || join->same == NULL)
		return false;
	same = join->same[subject];
	*ret_threads = (struct pair_threads){
		.same = same,
		.came = pair_subject_threads(subjects, subject, DIFF_AFTER) - same,
		.gone = pair_subject_threads(subjects, subject, DIFF_BEFORE) - same,
	};
	return true;
}

enum row_mark pair_subject_mark(const struct pair_subjects *subjects, size_t subject)
{
	struct pair_threads threads;

	if (pair_subject_threads(subjects, subject, DIFF_BEFORE) == 0)
		return ROW_MARK_NEW;
	if (pair_subject_threads(subjects, subject, DIFF_AFTER) == 0)
		return ROW_MARK_LEFT;
	if (pair_subject_same(subjects, subject, &threads) && threads.same == 0)
		return ROW_MARK_RESTARTED;
	return ROW_MARK_NONE;
}

const char *pair_subject_cgroup(const struct pair_subjects *subjects, size_t subject, enum diff_side side)
{
	const struct diff_pair *pair;
	size_t length;

	if (subjects->join == NULL)
		return NULL;
	pair = diff_pair(subjects->join->diff, subject);
	if (pair->kind != DIFF_PAIR_FUDGED)
		return NULL;
	/* the first of three parts */
	return grouping_key(subjects->join->diff->grouping, pair->group[pair_inside(subjects->session, side)],
			    &length);
}
