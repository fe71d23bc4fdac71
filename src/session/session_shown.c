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
	uint32_t *row_of_group; /* UINT32_MAX until a thread of it is found */
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

static bool is_shown(const struct selection *selection, uint32_t thread)
{
	const struct snapshot *now = selection->session->now;

	return selection->allowed[0][now->triple[thread]] &&
	       !(selection->view->hide_kernel_threads && (now->thread_flags[thread] & THREAD_KERNEL) != 0);
}

/* The row of a group, made when it is new. */
static uint32_t row_of_group(struct selection *selection, struct shown *shown, uint32_t group)
{
	uint32_t *row = &selection->row_of_group[group];

	if (*row == UINT32_MAX) {
		*row = (uint32_t)shown->row_count++;
		shown->row_group[*row] = group;
	}
	return *row;
}

static bool is_wanted(const struct selection *selection, uint32_t group)
{
	return !selection->wanted_only || group == selection->wanted_group;
}

static void collect_groups(struct selection *selection, struct shown *shown)
{
	const struct session *session = selection->session;
	const struct snapshot *now = session->now;

	for (uint32_t i = 0; i < now->thread_count; i++) {
		uint32_t group = grouping_of_triple(shown->grouping, 0, now->triple[i]);

		if (!is_shown(selection, i) || !is_wanted(selection, group))
			continue;
		shown_add(shown, i, row_of_group(selection, shown, group));
	}
	if (!selection->with_ended)
		return;
	shown->ended_row_of = memory_allocate((session->ended.count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < session->ended.count; i++) {
		uint32_t group = grouping_of_triple(shown->grouping, 1, i);

		shown->ended_row_of[i] = selection->allowed[1][i] && is_wanted(selection, group)
						 ? row_of_group(selection, shown, group)
						 : UINT32_MAX;
	}
}

static void collect_threads(struct selection *selection, const char *key, size_t key_length,
			    struct shown *shown)
{
	const struct snapshot *now = selection->session->now;
	struct buffer own_key = {0};

	for (uint32_t i = 0; i < now->thread_count; i++) {
		if (!is_shown(selection, i))
			continue;
		if (key != NULL) {
			buffer_clear(&own_key);
			shown_append_thread_key(&own_key, now, i);
			if (own_key.length != key_length || memcmp(own_key.data, key, key_length) != 0)
				continue;
		}
		shown->row_group[shown->row_count] = i;
		shown_add(shown, i, (uint32_t)shown->row_count++);
	}
	buffer_release(&own_key);
}

void session_collect(struct session *session, const struct view *view, const char *key, size_t key_length,
		     bool with_ended, struct shown *shown)
{
	struct selection selection = {.session = session, .view = view, .wanted_only = key != NULL};
	const struct snapshot *now = session->now;

	*shown = (struct shown){.now = now, .by_thread = view->level == VIEW_LEVEL_THREADS};
	selection.with_ended = (with_ended || view->mode == VIEW_MODE_BASE) && !shown->by_thread &&
			       session->ended.names != NULL;
	apply_steps(&selection);
	if (shown->by_thread) {
		shown_reserve(shown, now->thread_count, now->thread_count);
		collect_threads(&selection, key, key_length, shown);
	} else {
		size_t group_count;

		shown->by_cgroup = view->grouping.axis == AXIS_CGROUP;
		shown->grouping = session_grouping(session, &view->grouping, selection.with_ended);
		group_count = grouping_count(shown->grouping);
		if (key != NULL)
			selection.wanted_group = grouping_find(shown->grouping, key, key_length);
		selection.row_of_group = memory_allocate((group_count + 1) * sizeof(uint32_t));
		memset(selection.row_of_group, 0xff, (group_count + 1) * sizeof(uint32_t));
		shown_reserve(shown, now->thread_count, group_count);
		collect_groups(&selection, shown);
		free(selection.row_of_group);
	}
	free(selection.allowed[0]);
	free(selection.allowed[1]);
}
