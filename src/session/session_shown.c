/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads a view shows, and to which row each belongs. Names are looked at per triple only. */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "view/view_names.h"

/* What decides about triples: [0] of the newest round, [1] of ended threads. */
struct selection {
	struct session *session;
	const struct view *view;
	const struct ended *ended; /* NULL when ended threads do not count, like the next of [1] */
	const struct snapshot *sides[2];
	bool *allowed[2]; /* by triple */
};

/* Forbids the triples that are not in a group. */
static void narrow(struct selection *selection, enum axis axis, const char *key, size_t key_length)
{
	struct grouping_options options = selection->view->grouping;
	const struct grouping *grouping;
	uint32_t group;

	options.axis = axis;
	grouping = session_grouping(selection->session, &options, selection->ended);
	group = grouping_find(grouping, key, key_length);
	for (size_t s = 0; s < 2 && selection->sides[s] != NULL; s++) {
		for (uint32_t i = 0; i < selection->sides[s]->triple_count; i++)
			selection->allowed[s][i] &= grouping_of_triple(grouping, s, i) == group;
	}
}

static bool is_shown(const struct selection *selection, uint32_t thread)
{
	const struct snapshot *now = selection->sides[0];

	return selection->allowed[0][now->triple[thread]] &&
	       !(selection->view->hide_kernel_threads && (now->thread_flags[thread] & THREAD_KERNEL) != 0);
}

/* The same of a record of ended threads, which is one of a triple. */
static bool ended_is_shown(const struct selection *selection, uint32_t record)
{
	return selection->allowed[1][record] &&
	       !(selection->view->hide_kernel_threads && selection->ended->records[record].kernel);
}

/* The row of a group, made when it is new. */
static uint32_t row_of(struct shown *shown, uint32_t rows[], uint32_t group)
{
	if (rows[group] == UINT32_MAX) {
		rows[group] = (uint32_t)shown->row_count++;
		shown->row_group[rows[group]] = group;
	}
	return rows[group];
}

static void collect_groups(const struct selection *selection, struct shown *shown)
{
	const struct snapshot *now = selection->sides[0], *ended = selection->sides[1];
	size_t group_count;
	uint32_t *rows; /* of each group, UINT32_MAX until a thread of it is found */

	shown->by_cgroup = selection->view->grouping.axis == AXIS_CGROUP;
	shown->grouping = session_grouping(selection->session, &selection->view->grouping, selection->ended);
	group_count = grouping_count(shown->grouping);
	shown_reserve(shown, now->thread_count, group_count + 1); /* see add_other() */
	rows = memory_allocate((group_count + 1) * sizeof(*rows));
	memset(rows, 0xff, (group_count + 1) * sizeof(*rows));
	for (uint32_t i = 0; i < now->thread_count; i++) {
		if (is_shown(selection, i))
			shown_add(
				shown, i,
				row_of(shown, rows, grouping_of_triple(shown->grouping, 0, now->triple[i])));
	}
	shown->ended = selection->ended;
	if (ended != NULL)
		shown->ended_row_of = memory_allocate((ended->triple_count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; ended != NULL && i < ended->triple_count; i++) {
		const uint32_t group = grouping_of_triple(shown->grouping, 1, i);

		shown->ended_row_of[i] = !ended_is_shown(selection, i)         ? UINT32_MAX
					 : selection->ended->records[i].untold ? rows[group]
									       : row_of(shown, rows, group);
	}
	free(rows);
}

static void collect_threads(const struct selection *selection, const char *key, size_t key_length,
			    struct shown *shown)
{
	const struct snapshot *now = selection->sides[0];
	struct buffer own_key = {0};

	shown_reserve(shown, now->thread_count, now->thread_count);
	for (uint32_t i = 0; i < now->thread_count; i++) {
		if (!is_shown(selection, i))
			continue;
		if (key != NULL) {
			buffer_clear(&own_key);
			shown_append_thread_key(&own_key, now->tid[i], now->start_time[i]);
			if (order_bytes(own_key.data, own_key.length, key, key_length) != 0)
				continue;
		}
		shown->row_group[shown->row_count] = i;
		shown_add(shown, i, (uint32_t)shown->row_count++);
	}
	buffer_release(&own_key);
}

/* Gives the waits that may be of any group a row of their own in a view of all groups, or the row alone. */
static void add_other(const struct view *view, const char *key, size_t key_length, struct shown *shown)
{
	const size_t length = strlen(latency_other_name);

	if (view->step_count != 0 ||
	    (key != NULL && order_bytes(key, key_length, latency_other_name, length) != 0))
		return;
	shown->latency_row_of[shown->latency_other] = (uint32_t)shown->row_count;
	shown->row_group[shown->row_count++] = UINT32_MAX;
}

/* Finds the rows of how long waits took, which is known by names only. */
static void collect_latency(struct session *session, const struct view *view, const char *key,
			    size_t key_length, struct shown *shown)
{
	struct snapshot *whole = session->latency.whole;
	uint32_t *rows; /* of each group */

	if (shown->by_thread || whole == NULL || !view_needs_latency(view))
		return;
	shown->latency_row_of = view_group_names(view, key, key_length, whole, &session->patterns,
						 shown->grouping);
	rows = memory_allocate((grouping_count(shown->grouping) + 1) * sizeof(*rows));
	memset(rows, 0xff, (grouping_count(shown->grouping) + 1) * sizeof(*rows));
	for (uint32_t row = 0; row < shown->row_count; row++)
		rows[shown->row_group[row]] = row;
	for (size_t i = 0; i < whole->latency.count; i++) {
		uint32_t *row_of = &shown->latency_row_of[i];

		*row_of = *row_of == UINT32_MAX ||
					  (view->hide_kernel_threads && whole->latency.records[i].is_kernel)
				  ? UINT32_MAX
				  : rows[*row_of];
	}
	free(rows);
	shown->latency_other = latency_sums_other(whole);
	if (shown->latency_other == UINT32_MAX)
		return;
	if (view->hide_kernel_threads && whole->latency.records[shown->latency_other].is_kernel)
		shown->latency_other = UINT32_MAX;
	else if (shown->latency_row_of[shown->latency_other] == UINT32_MAX)
		add_other(view, key, key_length, shown);
}

void session_collect(struct session *session, const struct view *view, const char *key, size_t key_length,
		     const struct ended *ended, struct shown *shown)
{
	struct selection selection = {.session = session, .view = view, .sides = {session->now}};
	const bool *still;

	*shown = (struct shown){.now = session->now, .by_thread = view->level == VIEW_LEVEL_THREADS};
	if (ended != NULL && !shown->by_thread) {
		selection.ended = ended;
		selection.sides[1] = ended->names;
	}
	for (size_t s = 0; s < 2 && selection.sides[s] != NULL; s++) {
		selection.allowed[s] = memory_allocate(selection.sides[s]->triple_count + 1);
		memset(selection.allowed[s], true, selection.sides[s]->triple_count);
	}
	for (size_t i = 0; i < view->step_count; i++)
		narrow(&selection, view->steps[i].axis, view->steps[i].key, view->steps[i].key_length);
	if (shown->by_thread) {
		collect_threads(&selection, key, key_length, shown);
	} else {
		if (key != NULL)
			narrow(&selection, view->grouping.axis, key, key_length);
		collect_groups(&selection, shown);
		still = session_span(session, view->mode).still;
		if (still != NULL)
			shown_gather_still(shown, still);
	}
	collect_latency(session, view, key, key_length, shown);
	free(selection.allowed[0]);
	free(selection.allowed[1]);
}

struct session_identity session_identify(struct session *session, const struct view *view)
{
	const struct snapshot *now = session->now;
	struct session_identity identity = {0};
	struct triple triple;
	struct shown shown;

	if (now == NULL)
		return identity;
	session_collect(session, view, NULL, 0, NULL, &shown);
	identity.threads = (uint32_t)shown.count;
	for (size_t k = 0; k < shown.count; k++) {
		const uint32_t thread = shown.threads[k];
		const struct triple *own = &now->triples[now->triple[thread]];

		if (k == 0) {
			triple = *own;
			identity.tgid = now->tgid[thread];
			identity.process = snapshot_text(now, own->pcomm);
			identity.cgroup = snapshot_text(now, own->cgroup);
			identity.uid = now->uid[thread];
			identity.has_user = identity.uid != UINT32_MAX;
		}
		if (now->tgid[thread] != identity.tgid)
			identity.tgid = 0;
		if (own->pcomm != triple.pcomm)
			identity.process = NULL;
		if (own->cgroup != triple.cgroup)
			identity.cgroup = NULL;
		identity.has_user &= now->uid[thread] == identity.uid;
	}
	shown_release(&shown);
	return identity;
}
