/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses the threads that a view shows and the row of each. Names are judged once per triple. */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "table/view.h"
#include "window/ended.h"

enum {
	RARE_PART = 100, /* less than this part of one thread's time is rare */
};

/* The state of choosing threads: [0] of the newest round, [1] of ended threads. */
struct selection {
	struct session *session;
	const struct view *view;
	const struct ended *ended; /* NULL when ended threads do not count, like the next of [1] */
	const struct snapshot *sides[2];
	bool *allowed[2];     /* by triple */
	bool *allowed_thread; /* of the newest round besides; NULL: all that `allowed` has */
};

/*
 * The group of a record of ended threads. On the axes by thread those of one process belong to it while it is
 * there; of others it is not known whose they were.
 */
static uint32_t group_of_ended(const struct selection *selection, const struct grouping *grouping,
			       enum axis axis, uint32_t record)
{
	const struct ended_record *ended = &selection->ended->records[record];
	const struct snapshot *now = selection->sides[0];
	uint32_t leader;

	if (axis_is_by_thread(axis) && ended->tgid != 0) {
		leader = snapshot_find_row(now, ended->tgid, ended->tgid);
		if (leader != SNAPSHOT_NO_ROW && now->start_time[leader] <= ended->earliest_start)
			return grouping_of_thread(grouping, 0, now, leader);
	}
	return grouping_of_triple(grouping, 1, record);
}

/* Names do not suffice to decide. */
static void allow_by_thread(struct selection *selection)
{
	const struct snapshot *now = selection->sides[0];

	if (selection->allowed_thread != NULL)
		return;
	selection->allowed_thread = memory_allocate(now->thread_count + 1);
	memset(selection->allowed_thread, true, now->thread_count);
}

static void narrow(struct selection *selection, enum axis axis, const char *key, size_t key_length)
{
	struct grouping_options options = selection->view->grouping;
	const struct snapshot *now = selection->sides[0], *ended = selection->sides[1];
	const struct grouping *grouping;
	const uint32_t *groups;
	bool by_thread;
	uint32_t group;

	options.axis = axis;
	grouping = session_grouping(selection->session, &options, selection->ended);
	group = grouping_find(grouping, key, key_length);
	groups = grouping_map(grouping, 0, &by_thread);
	if (by_thread)
		allow_by_thread(selection);
	for (uint32_t i = 0; i < now->thread_count && by_thread; i++)
		selection->allowed_thread[i] &= groups[i] == group;
	for (uint32_t i = 0; i < now->triple_count && !by_thread; i++)
		selection->allowed[0][i] &= groups[i] == group;
	for (uint32_t i = 0; ended != NULL && i < ended->triple_count; i++)
		selection->allowed[1][i] &= group_of_ended(selection, grouping, axis, i) == group;
}

static void forbid(bool *allowed, bool *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		allowed[i] &= members[i];
	free(members);
}

static void forbid_self(const struct snapshot *snapshot, bool *allowed)
{
	const uint32_t self_name = snapshot_self_name(snapshot);

	for (size_t i = 0; i < snapshot->triple_count; i++)
		allowed[i] &= snapshot->triples[i].pcomm != self_name;
}

static void narrow_living(struct selection *selection, const struct filter *filter)
{
	const struct snapshot *now = selection->sides[0];

	if (!filter_narrows(filter))
		return;
	allow_by_thread(selection);
	forbid(selection->allowed_thread,
	       filter_members(filter, &(struct filter_subjects){.snapshot = now,
								.commands = selection->view->commands,
								.titles = true}),
	       now->thread_count);
}

/*
 * Hides ended threads that the filter excludes, also if a condition is on facts unknown for them. On an axis
 * by thread, also hides threads of ended processes unless each matches by itself, as their row is not a
 * group.
 */
static void narrow_ended(struct selection *selection, const struct filter *filter, enum axis axis)
{
	const struct snapshot *ended = selection->sides[1];
	struct grouping_options options = selection->view->grouping;
	struct filter_subjects subjects = {.snapshot = ended};
	const struct grouping *grouping;
	const char *label;
	uint32_t *pids;
	bool *members;
	size_t length;

	if (filter == NULL || ended == NULL || ended->triple_count == 0)
		return;
	if (filter_narrows(filter))
		forbid(selection->allowed[1], filter_ended_members(filter, selection->ended),
		       ended->triple_count);
	if (axis_is_by_thread(axis)) {
		subjects.ended_pids = pids = ended_pids(selection->ended);
		options.axis = axis;
		grouping = session_grouping(selection->session, &options, selection->ended);
		label = grouping_label(grouping, grouping_of_triple(grouping, 1, 0), &length);
		members = filter_pool_members(filter, axis, label, length, &subjects);
		for (uint32_t i = 0; members != NULL && i < ended->triple_count; i++)
			selection->allowed[1][i] &= members[i] ||
						    group_of_ended(selection, grouping, axis, i) !=
							    grouping_of_triple(grouping, 1, i);
		free(members);
		free(pids);
	}
}

static bool is_shown(const struct selection *selection, uint32_t thread)
{
	const struct snapshot *now = selection->sides[0];

	return selection->allowed[0][now->triple[thread]] &&
	       (selection->allowed_thread == NULL || selection->allowed_thread[thread]) &&
	       !(selection->view->hide_kernel_threads && (now->thread_flags[thread] & THREAD_KERNEL) != 0);
}

/* The same of a record of ended threads, which is one of a triple. */
static bool ended_is_shown(const struct selection *selection, uint32_t record)
{
	return selection->allowed[1][record] && !ended_is_void(selection->ended, record) &&
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
	const uint32_t *groups;
	size_t group_count;
	bool by_thread;
	uint32_t *rows; /* of each group, UINT32_MAX until a thread of it is found */

	shown->by_cgroup = selection->view->grouping.axis == AXIS_CGROUP;
	shown->grouping = session_grouping(selection->session, &selection->view->grouping, selection->ended);
	group_count = grouping_count(shown->grouping);
	groups = grouping_map(shown->grouping, 0, &by_thread);
	shown_reserve(shown, now->thread_count, group_count + 1); /* see add_other() */
	rows = memory_allocate((group_count + 1) * sizeof(*rows));
	memset(rows, 0xff, (group_count + 1) * sizeof(*rows));
	for (uint32_t i = 0; i < now->thread_count; i++) {
		if (is_shown(selection, i))
			shown_add(shown, i, row_of(shown, rows, groups[by_thread ? i : now->triple[i]]));
	}
	shown->ended = selection->ended;
	if (ended != NULL)
		shown->ended_row_of = memory_allocate((ended->triple_count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; ended != NULL && i < ended->triple_count; i++) {
		const uint32_t group = group_of_ended(selection, shown->grouping,
						      selection->view->grouping.axis, i);

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
	if (view->step_count != 0 ||
	    (key != NULL && order_bytes(key, key_length, name_other.text, name_other.length) != 0))
		return;
	shown->latency_other_row = (uint32_t)shown->row_count;
	shown->row_group[shown->row_count++] = UINT32_MAX;
}

/* Finds the record of the waits that may be of any group, and its row. */
static void find_other(const struct view *view, const char *key, size_t key_length, struct snapshot *whole,
		       struct shown *shown)
{
	shown->latency_other = latency_sums_other(whole);
	shown->latency_other_row = UINT32_MAX;
	if (shown->latency_other == UINT32_MAX)
		return;
	if (view->hide_kernel_threads && whole->latency.records[shown->latency_other].is_kernel) {
		shown->latency_other = UINT32_MAX;
		return;
	}
	if (shown->latency_row_of != NULL)
		shown->latency_other_row = shown->latency_row_of[shown->latency_other];
	if (shown->latency_other_row == UINT32_MAX && !view_narrows_threads(view))
		add_other(view, key, key_length, shown);
	if (shown->latency_row_of != NULL)
		shown->latency_row_of[shown->latency_other] = shown->latency_other_row;
}

/* The row of each thread of the newest round, UINT32_MAX for none. */
static uint32_t *rows_of_threads(const struct shown *shown)
{
	const size_t count = shown->now->thread_count + 1;
	uint32_t *row_of = memory_allocate(count * sizeof(*row_of));

	memset(row_of, 0xff, count * sizeof(*row_of));
	for (size_t i = 0; i < shown->count; i++)
		row_of[shown->threads[i]] = shown->row_of[i];
	return row_of;
}

/*
 * Marks the records whose waits by ended processes count: names that match the filters, and none inside a
 * group by thread. Returns NULL if all count. `ended` is the group of these processes, UINT32_MAX if rows are
 * names.
 */
static bool *find_gone(const struct view *view, const struct snapshot *whole, const struct grouping *grouping,
		       uint32_t ended)
{
	uint32_t *pids = memory_allocate_zero(whole->triple_count + 1, sizeof(*pids)); /* all 0: unknown */
	const struct filter_subjects subjects = {.snapshot = whole, .ended_pids = pids};
	bool *gone = NULL;
	size_t length = 0;
	const char *label = ended != UINT32_MAX ? grouping_label(grouping, ended, &length) : "";

	for (size_t i = 0; i <= view->step_count; i++) {
		const struct filter *filter = view_filter_at(view, i);
		const enum axis axis = i < view->step_count ? view->steps[i].axis : view->grouping.axis;
		bool *members[] = {filter_members(filter, &subjects),
				   axis_is_by_thread(axis)
					   ? filter_pool_members(filter, axis, label, length, &subjects)
					   : NULL};

		if (i < view->step_count && axis_is_by_thread(axis) && ended == UINT32_MAX) {
			free(members[0]);
			members[0] = memory_allocate_zero(whole->triple_count + 1, sizeof(bool));
		}
		for (size_t k = 0; k < ARRAY_COUNT(members); k++) {
			if (gone == NULL)
				gone = members[k];
			else if (members[k] != NULL)
				forbid(gone, members[k], whole->triple_count);
		}
	}
	free(pids);
	return gone;
}

/* The same where names do not tell the rows, but names and process do. `row_of_record` is what
 * view_group_names() gives, with rows instead of groups; it is taken. */
static void collect_latency_by_process(const struct view *view, struct snapshot *whole,
				       uint32_t *row_of_record, const uint32_t rows[], bool by_thread,
				       struct shown *shown)
{
	const struct snapshot *now = shown->now;
	uint32_t *row_of_thread = rows_of_threads(shown);
	uint32_t *records = memory_allocate((now->triple_count + 1) * sizeof(*records));
	const uint32_t ended = by_thread ? grouping_find(shown->grouping, name_ended.text, name_ended.length)
					 : UINT32_MAX;

	for (size_t i = 0; i < now->triple_count; i++)
		records[i] = snapshot_look_up_triple(whole, &now->strings, &now->triples[i]);
	shown->latency_rows = latency_rows_create(&(struct latency_rows_options){
		.now = now,
		.row_of_thread = row_of_thread,
		.record_of_triple = records,
		.row_of_record = row_of_record,
		.by_thread = by_thread,
		.ended_row = ended != UINT32_MAX ? rows[ended] : UINT32_MAX,
		.gone = find_gone(view, whole, shown->grouping, ended),
	});
	free(row_of_thread);
	free(records);
}

/* Finds the rows of how long waits took, which is known by names, and mostly by process. */
static void collect_latency(struct session *session, const struct view *view, const char *key,
			    size_t key_length, struct shown *shown)
{
	struct snapshot *whole = session->rounds.latency.whole;
	const bool by_thread = axis_is_by_thread(view->grouping.axis);
	uint32_t *rows; /* of each group */
	uint32_t *row_of_record;

	if (shown->by_thread || whole == NULL || !view_shows_latency(view))
		return;
	row_of_record = view_group_names(view, key, key_length, whole, &session->patterns, shown->grouping);
	rows = memory_allocate((grouping_count(shown->grouping) + 1) * sizeof(*rows));
	memset(rows, 0xff, (grouping_count(shown->grouping) + 1) * sizeof(*rows));
	for (uint32_t row = 0; row < shown->row_count; row++)
		rows[shown->row_group[row]] = row;
	for (size_t i = 0; i < whole->latency.count; i++) {
		uint32_t *row_of = &row_of_record[i];

		if (view->hide_kernel_threads && whole->latency.records[i].is_kernel)
			*row_of = UINT32_MAX;
		else if (*row_of != UINT32_MAX && !by_thread)
			*row_of = rows[*row_of];
	}
	if (shown->behind_names) {
		collect_latency_by_process(view, whole, row_of_record, rows, by_thread, shown);
	} else {
		shown->latency_row_of = row_of_record;
		shown->latency_names.snapshot = whole;
		shown->latency_names.patterns = &session->patterns;
		shown->latency_names.options = view->grouping;
		shown->latency_names.options.rules = grouping_rules(shown->grouping);
	}
	free(rows);
	find_other(view, key, key_length, whole, shown);
}

void session_collect(struct session *session, const struct view *view, const char *key, size_t key_length,
		     const struct ended *ended, struct shown *shown)
{
	struct selection selection = {.session = session, .view = view, .sides = {session->rounds.now}};
	const bool *still;

	*shown = (struct shown){.now = session->rounds.now, .by_thread = view->level == VIEW_LEVEL_THREADS};
	shown->behind_names = view_looks_behind_names(view);
	if (ended != NULL && !shown->by_thread) {
		selection.ended = ended;
		selection.sides[1] = ended->names;
	}
	for (size_t s = 0; s < 2 && selection.sides[s] != NULL; s++) {
		selection.allowed[s] = memory_allocate(selection.sides[s]->triple_count + 1);
		memset(selection.allowed[s], true, selection.sides[s]->triple_count);
	}
	for (size_t s = 0; s < 2 && view->hide_self && selection.sides[s] != NULL; s++)
		forbid_self(selection.sides[s], selection.allowed[s]);
	for (size_t i = 0; i < view->step_count; i++)
		narrow(&selection, view->steps[i].axis, view->steps[i].key, view->steps[i].key_length);
	for (size_t i = 0; i <= view->step_count; i++) {
		narrow_living(&selection, view_filter_at(view, i));
		narrow_ended(&selection, view_filter_at(view, i),
			     i < view->step_count ? view->steps[i].axis : view->grouping.axis);
	}
	if (shown->by_thread) {
		collect_threads(&selection, key, key_length, shown);
	} else {
		if (key != NULL)
			narrow(&selection, view->grouping.axis, key, key_length);
		collect_groups(&selection, shown);
		still = session_window(session, view->mode).still;
		if (still != NULL)
			shown_gather_still(shown, still);
	}
	collect_latency(session, view, key, key_length, shown);
	free(selection.allowed[0]);
	free(selection.allowed[1]);
	free(selection.allowed_thread);
}

void session_find_rows(struct session *session, const struct view *view, struct row_values *ret_rows)
{
	struct row_values *kept = &session->kept_rows;
	struct buffer signature = {0};

	buffer_append_format(&signature, "%d %d %d %d ", (int)view->level, (int)view->mode, view->hide_self,
			     view_shows_latency(view));
	/* filters on names select what the row of ended processes contains */
	for (size_t i = 0; i <= view->step_count && view_looks_behind_names(view); i++) {
		if (view_filter_at(view, i) != NULL)
			buffer_append_format(&signature, "%zu:%s ", i, filter_text(view_filter_at(view, i)));
	}
	view_append_signature(view, view->grouping.axis, view->step_count, &signature);
	/* command lines that a filter asks for may have been read since then */
	if (!view_narrows_threads(view) && order_bytes(kept->signature.data, kept->signature.length,
						       signature.data, signature.length) == 0) {
		*ret_rows = *kept;
		*kept = (struct row_values){0};
		/* the cache has to see that it is used */
		if (!ret_rows->shown.by_thread)
			session_grouping(session, &view->grouping, ret_rows->shown.ended);
		buffer_release(&signature);
		return;
	}
	*ret_rows = (struct row_values){0};
	session_collect(session, view, NULL, 0, session_ended(session, view->mode), &ret_rows->shown);
	ret_rows->signature = signature;
}

void session_keep_rows(struct session *session, struct row_values *rows, const struct table *table)
{
	row_values_release(&session->kept_rows);
	session->kept_rows = *rows;
	session->kept_rows.table = table;
	*rows = (struct row_values){0};
}

struct session_identity session_identify(struct session *session, const struct view *view)
{
	const struct snapshot *now = session->rounds.now;
	struct session_identity identity = {0};
	struct row_values rows;
	struct triple triple;
	size_t length;

	if (now == NULL)
		return identity;
	session_find_rows(session, view, &rows);
	identity.threads = (uint32_t)rows.shown.count;
	for (size_t k = 0; k < rows.shown.count; k++) {
		const uint32_t thread = rows.shown.threads[k];
		const struct triple *own = &now->triples[now->triple[thread]];

		if (k == 0) {
			triple = *own;
			identity.tgid = now->tgid[thread];
			const struct name_text process = snapshot_name(now, own->pcomm);

			length = name_shown_length(process.text, process.length);
			identity.process = grouping_visible_name(process.text, &length);
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
	session_keep_rows(session, &rows, NULL);
	return identity;
}

/* The classes in which the rows spent a part of the time that counts, since measuring began. */
static uint32_t find_measured_classes(const struct window *window, const struct shown *shown)
{
	uint32_t classes = 0;

	for (enum wait_class class = WAIT_CLASS_RUN_QUEUE + 1; class < WAIT_CLASS_COUNT; class ++) {
		struct row_time *times = reduce_times(window, shown, class);
		uint64_t time = 0;

		for (size_t row = 0; row < shown->row_count; row++)
			time = number_add_saturating(
				time, number_add_saturating(times[row].known, times[row].unknown));
		if (time >= window->latency->span_ns / RARE_PART)
			classes |= UINT32_C(1) << class;
		free(times);
	}
	return classes;
}

/* The same by samples. */
static uint32_t find_sampled_classes(const struct wait_samples *samples, const struct shown *shown)
{
	double shares[WAIT_CLASS_COUNT] = {0};
	uint32_t classes = 0;

	for (size_t k = 0; k < shown->count; k++)
		wait_samples_divide(samples, shown->now, shown->threads[k], shares);
	for (size_t class = WAIT_CLASS_RUN_QUEUE + 1; class < WAIT_CLASS_COUNT; class ++) {
		if (shares[class] >= 1.0 / RARE_PART)
			classes |= UINT32_C(1) << class;
	}
	return classes;
}

void session_leave_out_classes(struct session *session, struct view *view)
{
	const struct window window = session_window(session, WINDOW_MODE_TOTAL);
	const bool is_measured = window.latency != NULL && window.latency->span_ns != 0;
	struct buffer signature = {0};
	struct row_values rows = {0};
	uint32_t classes = 0;

	if (is_measured || window.samples != NULL) {
		session_find_rows(session, view, &rows);
		if (is_measured && reduce_times_missing(&window, &rows.shown) == REASON_READ)
			classes = find_measured_classes(&window, &rows.shown);
		else if (window.samples != NULL && !rows.shown.by_thread)
			classes = find_sampled_classes(window.samples, &rows.shown);
		session_keep_rows(session, &rows, NULL);
	}
	buffer_append_format(&signature, "%d ", is_measured);
	view_append_signature(view, view->grouping.axis, view->step_count, &signature);
	if (order_bytes(session->chosen.rows.data, session->chosen.rows.length, signature.data,
			signature.length) == 0)
		classes |= session->chosen.classes;
	buffer_release(&session->chosen.rows);
	session->chosen.rows = signature;
	session->chosen.classes = classes;
	for (enum wait_class class = WAIT_CLASS_RUN_QUEUE + 1; class < WAIT_CLASS_COUNT; class ++) {
		if ((classes >> class & 1) == 0)
			column_set_add(&view->left_out, column_of_wait_class(class));
	}
}

static int compare_users(const void *a, const void *b)
{
	const struct session_user *left = a, *right = b;
	const int order = order_u64(right->threads, left->threads);

	return order != 0 ? order : order_u64(left->uid, right->uid);
}

struct session_user *session_users(struct session *session, const struct view *view, size_t *ret_count)
{
	const struct snapshot *now = session->rounds.now;
	struct view unfiltered = *view;
	struct session_user *users = NULL;
	struct hash_map index_of = {0};
	size_t count = 0, capacity = 0;
	struct shown shown;

	*ret_count = 0;
	if (now == NULL)
		return NULL;
	unfiltered.filter = NULL;
	session_collect(session, &unfiltered, NULL, 0, NULL, &shown);
	for (size_t k = 0; k < shown.count; k++) {
		const uint32_t uid = now->uid[shown.threads[k]];
		uint32_t index;

		if (uid == UINT32_MAX)
			continue;
		if (!hash_map_get(&index_of, uid, &index)) {
			index = (uint32_t)count;
			*MEMORY_APPEND(users, count, capacity) = (struct session_user){.uid = uid};
			hash_map_set(&index_of, uid, index);
		}
		users[index].threads++;
	}
	if (count != 0)
		qsort(users, count, sizeof(*users), compare_users);
	hash_map_release(&index_of);
	shown_release(&shown);
	*ret_count = count;
	return users;
}
