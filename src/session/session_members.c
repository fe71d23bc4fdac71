/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads a view shows, and to which row each belongs. Names are looked at per triple only. */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What decides about the triples of one side: 0 the newest round, 1 the names of ended threads. */
struct selection {
	struct session *session;
	const struct view *view;
	bool with_ended;
	bool *allowed[2];       /* [triple] */
	uint32_t *row_of_group; /* UINT32_MAX until a member is found */
	uint32_t wanted_group;  /* the only one wanted, or UINT32_MAX for all */
	bool wanted_only;       /* `wanted_group` counts even when no group has its key */
};

static const struct snapshot *side(const struct session *session, size_t s)
{
	return s == 0 ? session->now : session->ended.names;
}

static struct grouping_options options_of_axis(const struct view *view, enum axis axis)
{
	struct grouping_options options = view->grouping;

	options.axis = axis;
	return options;
}

/* Forbids the triples that are not in the group of a step. */
static void apply_step(struct selection *selection, const struct view_step *step, size_t side_count)
{
	struct grouping_options options = options_of_axis(selection->view, step->axis);
	const struct grouping *grouping = session_grouping(selection->session, &options,
							   selection->with_ended);
	uint32_t group = grouping_find(grouping, step->key, step->key_length);

	for (size_t s = 0; s < side_count; s++) {
		for (uint32_t i = 0; i < side(selection->session, s)->triple_count; i++) {
			if (group == UINT32_MAX || grouping_of_triple(grouping, s, i) != group)
				selection->allowed[s][i] = false;
		}
	}
}

static void apply_steps(struct selection *selection)
{
	size_t side_count = selection->with_ended ? 2 : 1;

	for (size_t s = 0; s < side_count; s++) {
		size_t count = side(selection->session, s)->triple_count;

		selection->allowed[s] = memory_allocate(count + 1);
		memset(selection->allowed[s], true, count + 1);
	}
	for (size_t i = 0; i < selection->view->step_count; i++)
		apply_step(selection, &selection->view->steps[i], side_count);
}

static void reserve(struct members *members, size_t threads, size_t rows)
{
	members->threads = memory_allocate((threads + 1) * sizeof(uint32_t));
	members->rows = memory_allocate((threads + 1) * sizeof(uint32_t));
	members->row_threads = memory_allocate_zero(rows + 1, sizeof(uint32_t));
	members->row_group = memory_allocate((rows + 1) * sizeof(uint32_t));
}

static bool is_shown(const struct selection *selection, uint32_t thread)
{
	const struct snapshot *now = selection->session->now;

	return selection->allowed[0][now->triple[thread]] &&
	       !(selection->view->hide_kernel_threads && (now->thread_flags[thread] & THREAD_KERNEL) != 0);
}

/* The row of a group, made when it is new. */
static uint32_t row_of_group(struct selection *selection, struct members *members, uint32_t group)
{
	uint32_t *row = &selection->row_of_group[group];

	if (*row == UINT32_MAX) {
		*row = (uint32_t)members->row_count++;
		members->row_group[*row] = group;
	}
	return *row;
}

static bool is_wanted(const struct selection *selection, uint32_t group)
{
	return !selection->wanted_only || group == selection->wanted_group;
}

static void collect_groups(struct selection *selection, struct members *members)
{
	const struct session *session = selection->session;
	const struct snapshot *now = session->now;

	for (uint32_t i = 0; i < now->thread_count; i++) {
		uint32_t group = grouping_of_triple(members->grouping, 0, now->triple[i]);

		if (!is_shown(selection, i) || !is_wanted(selection, group))
			continue;
		members->threads[members->count] = i;
		members->rows[members->count] = row_of_group(selection, members, group);
		members->row_threads[members->rows[members->count++]]++;
	}
	if (!selection->with_ended)
		return;
	members->ended_rows = memory_allocate((session->ended.count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < session->ended.count; i++) {
		uint32_t group = grouping_of_triple(members->grouping, 1, i);

		members->ended_rows[i] = selection->allowed[1][i] && is_wanted(selection, group)
						 ? row_of_group(selection, members, group)
						 : UINT32_MAX;
	}
}

static void collect_threads(struct selection *selection, const char *key, size_t key_length,
			    struct members *members)
{
	const struct snapshot *now = selection->session->now;
	struct buffer own_key = {0};

	for (uint32_t i = 0; i < now->thread_count; i++) {
		if (!is_shown(selection, i))
			continue;
		if (key != NULL) {
			buffer_clear(&own_key);
			append_thread_key(&own_key, now, i);
			if (own_key.length != key_length || memcmp(own_key.data, key, key_length) != 0)
				continue;
		}
		members->threads[members->count] = i;
		members->rows[members->count] = (uint32_t)members->row_count;
		members->row_group[members->row_count] = i;
		members->row_threads[members->row_count++] = 1;
		members->count++;
	}
	buffer_release(&own_key);
}

void members_collect(struct session *session, const struct view *view, const char *key, size_t key_length,
		     bool with_ended, struct members *members)
{
	struct selection selection = {.session = session, .view = view, .wanted_only = key != NULL};
	const struct snapshot *now = session->now;

	*members = (struct members){.by_thread = view->level == VIEW_LEVEL_THREADS};
	selection.with_ended = (with_ended || view->mode == VIEW_MODE_BASE) && !members->by_thread &&
			       session->ended.names != NULL;
	apply_steps(&selection);
	if (members->by_thread) {
		reserve(members, now->thread_count, now->thread_count);
		collect_threads(&selection, key, key_length, members);
	} else {
		size_t group_count;

		members->by_cgroup = view->grouping.axis == AXIS_CGROUP;
		members->grouping = session_grouping(session, &view->grouping, selection.with_ended);
		group_count = grouping_count(members->grouping);
		if (key != NULL)
			selection.wanted_group = grouping_find(members->grouping, key, key_length);
		selection.row_of_group = memory_allocate((group_count + 1) * sizeof(uint32_t));
		memset(selection.row_of_group, 0xff, (group_count + 1) * sizeof(uint32_t));
		reserve(members, now->thread_count, group_count);
		collect_groups(&selection, members);
		free(selection.row_of_group);
	}
	free(selection.allowed[0]);
	free(selection.allowed[1]);
}

void members_release(struct members *members)
{
	free(members->threads);
	free(members->rows);
	free(members->ended_rows);
	free(members->row_threads);
	free(members->row_group);
	*members = (struct members){0};
}

void append_thread_key(struct buffer *buffer, const struct snapshot *snapshot, uint32_t thread)
{
	buffer_append_u64(buffer, snapshot->tid[thread]);
	buffer_append_char(buffer, ':');
	buffer_append_u64(buffer, snapshot->start_time[thread]);
}

const char *members_row_key(const struct session *session, const struct members *members, size_t row,
			    struct buffer *buffer, size_t *ret_length)
{
	if (!members->by_thread)
		return grouping_key(members->grouping, members->row_group[row], ret_length);
	buffer_clear(buffer);
	append_thread_key(buffer, session->now, members->row_group[row]);
	*ret_length = buffer->length;
	return buffer->data;
}
