/* SPDX-License-Identifier: GPL-2.0-only */
/* The sides of a comparison, which of their threads are the same, and the groups of both. */
#include "compare_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "view/column_table.h"
#include "diff/diff_internal.h"

/* --- the sides --- */

void session_compare(struct session *session, struct snapshot *before)
{
	if (session->pair != NULL) {
		pair_forget(session->pair);
		snapshot_release(session->pair->before);
		free(session->pair);
		session->pair = NULL;
	}
	if (before == NULL)
		return;
	session->pair = memory_allocate_zero(1, sizeof(*session->pair));
	session->pair->before = before;
}

bool session_is_pair(const struct session *session)
{
	return session->pair != NULL;
}

void session_swap(struct session *session)
{
	if (session->pair == NULL)
		return;
	session->pair->swapped = !session->pair->swapped;
	session->pair->flip = PAIR_FLIP_UNKNOWN;
	comparability_release(session->pair->comparability);
	session->pair->comparability = NULL;
}

bool session_is_swapped(const struct session *session)
{
	return session->pair != NULL && session->pair->swapped;
}

const struct snapshot *session_side(const struct session *session, enum diff_side side)
{
	if (session->pair == NULL)
		return NULL;
	return (side == DIFF_BEFORE) != session->pair->swapped ? session->pair->before : session->now;
}

/* Whether the sides as shown stand the other way round than inside. */
static bool is_flipped(const struct session *session)
{
	const struct snapshot *before = session_side(session, DIFF_BEFORE);
	const struct snapshot *after = session_side(session, DIFF_AFTER);
	int64_t interval = comparability_interval(before, after);

	/* captures of other boots, or of one moment, have no order of their own: that of the files */
	if (!comparability_same_boot(before, after) || interval == 0)
		return session->pair->swapped;
	return interval < 0;
}

enum diff_side pair_inside(const struct session *session, enum diff_side shown)
{
	struct session_pair *pair = session->pair;

	if (pair->flip == PAIR_FLIP_UNKNOWN)
		pair->flip = is_flipped(session) ? PAIR_FLIPPED : PAIR_NOT_FLIPPED;
	if (pair->flip == PAIR_NOT_FLIPPED)
		return shown;
	return shown == DIFF_BEFORE ? DIFF_AFTER : DIFF_BEFORE;
}

const struct snapshot *pair_snapshot(const struct session *session, enum diff_side side)
{
	return session_side(session, pair_inside(session, side));
}

enum pair_boot session_pair_boot(const struct session *session)
{
	const struct snapshot *before = session_side(session, DIFF_BEFORE);
	const struct snapshot *after = session_side(session, DIFF_AFTER);

	if (before == NULL || after == NULL || before->provenance.boot_id == NULL ||
	    after->provenance.boot_id == NULL)
		return PAIR_BOOT_UNKNOWN;
	return comparability_same_boot(before, after) ? PAIR_BOOT_ONE : PAIR_BOOT_OTHER;
}

const struct comparability *session_pair_comparability(struct session *session)
{
	const struct snapshot *before = session_side(session, DIFF_BEFORE);
	const struct snapshot *after = session_side(session, DIFF_AFTER);

	if (before == NULL || after == NULL)
		return NULL;
	if (session->pair->comparability == NULL)
		session->pair->comparability = comparability_create(before, after);
	return session->pair->comparability;
}

uint64_t session_pair_distance_ns(const struct session *session)
{
	const struct snapshot *before = session_side(session, DIFF_BEFORE);
	const struct snapshot *after = session_side(session, DIFF_AFTER);
	int64_t interval;

	if (before == NULL || after == NULL)
		return 0;
	interval = comparability_interval(before, after);
	return (uint64_t)(interval < 0 ? -interval : interval);
}

static void release_join(struct pair_join *join)
{
	diff_release(join->diff);
	buffer_release(&join->signature);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		free(join->members[side]);
	free(join->same);
	free(join->labels);
	pair_records_release(join);
	arena_release(&join->arena);
	*join = (struct pair_join){0};
}

void pair_forget(struct session_pair *pair)
{
	pair_subjects_release(&pair->shown);
	for (size_t i = 0; i < PAIR_JOINS_KEPT; i++)
		release_join(&pair->joins[i]);
	diff_match_release(pair->match);
	pair->match = NULL;
	pair->matched = false;
	comparability_release(pair->comparability);
	pair->comparability = NULL;
	pair->flip = PAIR_FLIP_UNKNOWN;
}

/* --- threads --- */

const struct diff_match *pair_match(struct session *session)
{
	struct session_pair *pair = session->pair;

	if (!pair->matched)
		pair->match = diff_match_create(pair_snapshot(session, DIFF_BEFORE),
						pair_snapshot(session, DIFF_AFTER), NULL);
	pair->matched = true;
	return pair->match;
}

bool session_pair_by_threads(struct session *session)
{
	return session->pair != NULL && session->now != NULL && !session->pair->by_groups &&
	       pair_match(session) != NULL;
}

int session_pair_set_by_threads(struct session *session, bool by_threads, struct error *error)
{
	if (by_threads && (session->now == NULL || pair_match(session) == NULL))
		return error_set(
			error, -EINVAL, "%s",
			"threads cannot be told apart: the captures are not known to be of one boot; "
			"these are changes of groups");
	session->pair->by_groups = !by_threads;
	return 0;
}

bool session_pair_threads(struct session *session, struct pair_threads *ret_threads)
{
	const struct diff_match *match = session->pair != NULL && session->now != NULL ? pair_match(session)
										       : NULL;

	if (match == NULL)
		return false;
	*ret_threads = (struct pair_threads){
		.same = match->same,
		.came = match->only[pair_inside(session, DIFF_AFTER)],
		.gone = match->only[pair_inside(session, DIFF_BEFORE)],
	};
	return true;
}

/* --- groups --- */

/* Everything that a join depends on but the sides. */
static void sign(struct session *session, const struct view *view, enum axis axis, size_t step_count,
		 struct buffer *signature)
{
	const struct grouping_options *grouping = &view->grouping;

	buffer_append_format(signature, "%d %d%d%d%d %p %zu", (int)axis, session_pair_by_threads(session),
			     grouping->keep_thread_names, grouping->keep_cgroup_names,
			     view->hide_kernel_threads, (const void *)grouping->flatten,
			     grouping->flatten_count);
	for (size_t i = 0; i < step_count; i++) {
		buffer_append_format(signature, " %d %zu ", (int)view->steps[i].axis,
				     view->steps[i].key_length);
		buffer_append(signature, view->steps[i].key, view->steps[i].key_length);
	}
}

static struct pair_join *find_join(struct session_pair *pair, const struct buffer *signature)
{
	for (size_t i = 0; i < PAIR_JOINS_KEPT; i++) {
		struct pair_join *join = &pair->joins[i];

		if (join->diff != NULL && join->signature.length == signature->length &&
		    memcmp(join->signature.data, signature->data, signature->length) == 0)
			return join;
	}
	return NULL;
}

/* A step counts by the groups of its own axis, so that renamed cgroups stay together. */
bool *pair_members(struct session *session, const struct view *view, size_t step_count, enum diff_side side)
{
	const struct snapshot *snapshot = pair_snapshot(session, side);
	const struct view_step *step;
	const struct pair_join *join;
	bool *members;
	size_t pair;

	if (step_count == 0 && !view->hide_kernel_threads)
		return NULL;
	members = memory_allocate(snapshot->thread_count + 1);
	if (step_count == 0) {
		for (size_t i = 0; i < snapshot->thread_count; i++)
			members[i] = (snapshot->thread_flags[i] & THREAD_KERNEL) == 0;
		return members;
	}
	step = &view->steps[step_count - 1];
	join = pair_join_of(session, view, step->axis, step_count - 1);
	pair = diff_find(join->diff, step->key, step->key_length);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		members[i] = pair != SIZE_MAX && (join->members[side] == NULL || join->members[side][i]) &&
			     diff_pair_of_thread(join->diff, side, i) == pair;
	return members;
}

/* How many threads of each group are on both sides. */
static void count_same(struct session *session, struct pair_join *join)
{
	const struct diff_match *match = pair_match(session);

	if (match == NULL)
		return;
	join->same = memory_allocate_zero(diff_pair_count(join->diff) + 1, sizeof(*join->same));
	for (size_t i = 0; i < pair_snapshot(session, DIFF_AFTER)->thread_count; i++) {
		uint32_t mate = match->mate[DIFF_AFTER][i];
		size_t pair;

		if (mate == PAIR_NONE ||
		    (join->members[DIFF_AFTER] != NULL &&
		     (!join->members[DIFF_AFTER][i] || !join->members[DIFF_BEFORE][mate])))
			continue;
		pair = diff_pair_of_thread(join->diff, DIFF_AFTER, i);
		if (diff_pair_of_thread(join->diff, DIFF_BEFORE, mate) == pair)
			join->same[pair]++;
	}
}

/*
 * Three parts become "process thread  cgroup", and one that was renamed "cgroup>other": what tells rows apart
 * stands where a narrow name is not cut.
 */
static void label_parts(const struct diff *diff, const struct diff_pair *pair, struct buffer *text)
{
	const char *cgroup = pair->key, *process = cgroup + strlen(cgroup) + 1;
	const char *thread = process + strlen(process) + 1;
	size_t length;

	buffer_append_text(text, process);
	if (strcmp(process, thread) != 0)
		buffer_append_format(text, " %s", thread);
	buffer_append_format(text, "  %s", cgroup);
	if (pair->kind == DIFF_PAIR_FUDGED)
		buffer_append_format(text, ">%s",
				     grouping_key(diff->grouping, pair->group[DIFF_AFTER], &length));
}

static void make_labels(struct pair_join *join, enum axis axis)
{
	size_t count = diff_pair_count(join->diff);
	struct buffer text = {0};

	join->labels = memory_allocate_zero(count + 1, sizeof(*join->labels));
	for (size_t i = 0; i < count; i++) {
		const struct diff_pair *pair = diff_pair(join->diff, i);

		if (axis != AXIS_ALL) {
			join->labels[i] = (struct pair_label){pair->key, pair->key_length};
			continue;
		}
		buffer_clear(&text);
		label_parts(join->diff, pair, &text);
		join->labels[i] = (struct pair_label){arena_duplicate(&join->arena, text.data, text.length),
						      text.length};
	}
	buffer_release(&text);
}

/* A place for a new join: an unused one, else the one that was not used for longest. */
static struct pair_join *make_room(struct session_pair *pair)
{
	struct pair_join *oldest = &pair->joins[0];

	for (size_t i = 1; i < PAIR_JOINS_KEPT; i++) {
		if (pair->joins[i].used < oldest->used)
			oldest = &pair->joins[i];
	}
	release_join(oldest);
	return oldest;
}

struct pair_join *pair_join_of(struct session *session, const struct view *view, enum axis axis,
			       size_t step_count)
{
	struct diff_options options = {.grouping = view->grouping};
	bool *members[DIFF_SIDE_COUNT];
	struct buffer signature = {0};
	struct pair_join *join;

	sign(session, view, axis, step_count, &signature);
	join = find_join(session->pair, &signature);
	if (join != NULL) {
		buffer_release(&signature);
		join->used = ++session->pair->clock;
		return join;
	}
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		options.members[side] = members[side] = pair_members(session, view, step_count,
								     (enum diff_side)side);
	options.grouping.axis = axis;
	join = make_room(session->pair);
	join->signature = signature;
	memcpy(join->members, members, sizeof(members));
	if (session_pair_by_threads(session))
		diff_match_apply(pair_match(session), &options);
	join->diff = diff_create(pair_snapshot(session, DIFF_BEFORE), pair_snapshot(session, DIFF_AFTER),
				 &options);
	join->used = ++session->pair->clock;
	count_same(session, join);
	make_labels(join, axis);
	return join;
}

/* --- keys of rows: "METRIC\0SUBJECT" --- */

void session_pair_append_key(enum column metric, const char *subject, size_t subject_length,
			     struct buffer *buffer)
{
	buffer_append_text(buffer, column_name(metric));
	buffer_append_char(buffer, '\0');
	buffer_append(buffer, subject, subject_length);
}

static enum column find_metric(const char *name, size_t length)
{
	enum metric metric = metric_find(name, length);
	enum derived derived = derived_find(name, length);

	if (metric != METRIC_NONE)
		return pair_column_of(metric);
	if (derived != DERIVED_NONE)
		return column_of_derived(derived);
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (pair_is_record(column) && strlen(column_name(column)) == length &&
		    memcmp(column_name(column), name, length) == 0)
			return column;
	}
	return COLUMN_COUNT;
}

bool pair_split_key(const char *key, size_t key_length, enum column *ret_metric, const char **ret_subject,
		    size_t *ret_subject_length)
{
	const char *end = memchr(key, '\0', key_length);

	if (end == NULL)
		return false;
	*ret_metric = find_metric(key, (size_t)(end - key));
	*ret_subject = end + 1;
	*ret_subject_length = key_length - (size_t)(end + 1 - key);
	return *ret_metric != COLUMN_COUNT;
}

const char *session_row_subject(const struct session *session, const struct table_row *row,
				size_t *ret_length)
{
	const char *subject = row->key;
	enum column metric;

	*ret_length = row->key_length;
	if (session->pair != NULL)
		pair_split_key(row->key, row->key_length, &metric, &subject, ret_length);
	return subject;
}
