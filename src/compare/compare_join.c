/* SPDX-License-Identifier: GPL-2.0-only */
/* The groups of both sides, joined once for each axis and narrowing that was looked at. */
#include "compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

static struct compare_join *find_join(struct comparison *comparison, const struct buffer *signature)
{
	for (size_t i = 0; i < COMPARE_JOINS_KEPT; i++) {
		struct compare_join *join = &comparison->joins[i];

		if (join->diff != NULL && order_bytes(join->signature.data, join->signature.length,
						      signature->data, signature->length) == 0)
			return join;
	}
	return NULL;
}

bool compare_join_has(const struct compare_join *join, size_t pair, enum diff_side side, size_t thread)
{
	return (join->inside[side] == NULL || join->inside[side][thread]) &&
	       diff_pair_of_thread(join->diff, side, thread) == pair;
}

/* Of that alone, and of kernel threads. A step counts by the groups of its own axis, so that renamed cgroups
 * stay together. */
static bool *inside_steps(struct comparison *comparison, const struct view *view, size_t step_count,
			  enum diff_side side)
{
	const struct snapshot *snapshot = comparison->sides[side];
	bool *inside = memory_allocate(snapshot->thread_count + 1);
	const struct view_step *step;
	const struct compare_join *join;
	size_t pair;

	if (step_count == 0) {
		for (size_t i = 0; i < snapshot->thread_count; i++)
			inside[i] = (snapshot->thread_flags[i] & THREAD_KERNEL) == 0;
		return inside;
	}
	step = &view->steps[step_count - 1];
	join = compare_join_of(comparison, view, step->axis, step_count - 1);
	pair = diff_find(join->diff, step->key, step->key_length);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		inside[i] = compare_join_has(join, pair, side, i);
	return inside;
}

bool *compare_threads_inside(struct comparison *comparison, const struct view *view, size_t step_count,
			     enum diff_side side)
{
	const struct snapshot *snapshot = comparison->sides[side];
	bool *members = filter_members(view_filter_at(view, step_count),
				       &(struct filter_subjects){.snapshot = snapshot});
	bool *inside;

	if (step_count == 0 && !view->hide_kernel_threads)
		return members;
	inside = inside_steps(comparison, view, step_count, side);
	for (size_t i = 0; members != NULL && i < snapshot->thread_count; i++)
		inside[i] &= members[i];
	free(members);
	return inside;
}

/*
 * Three parts become "process thread  cgroup", and one that was renamed "cgroup>other": what tells rows apart
 * stands where a narrow name is not cut.
 */
static void label_parts(const struct diff *diff, const struct diff_pair *pair, struct buffer *text)
{
	const char *cgroup = pair->label, *process = cgroup + strlen(cgroup) + 1;
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

static void make_labels(struct compare_join *join, enum axis axis)
{
	size_t count = join->diff->pair_count;
	struct buffer text = {0};

	join->labels = memory_allocate_zero(count + 1, sizeof(*join->labels));
	for (size_t i = 0; i < count; i++) {
		const struct diff_pair *pair = &join->diff->pairs[i];

		if (axis != AXIS_ALL) {
			join->labels[i] = (struct compare_label){pair->label, pair->label_length};
			continue;
		}
		buffer_clear(&text);
		label_parts(join->diff, pair, &text);
		join->labels[i] = (struct compare_label){
			arena_duplicate(&join->arena, text.data, text.length), text.length};
	}
	buffer_release(&text);
}

/* An entry for a new join: an unused one, else that whose last use is the longest ago. */
static struct compare_join *make_room(struct comparison *comparison)
{
	struct compare_join *oldest = &comparison->joins[0];

	for (size_t i = 1; i < COMPARE_JOINS_KEPT; i++) {
		if (comparison->joins[i].used < oldest->used)
			oldest = &comparison->joins[i];
	}
	compare_join_release(oldest);
	return oldest;
}

struct compare_join *compare_join_of(struct comparison *comparison, const struct view *view, enum axis axis,
				     size_t step_count)
{
	struct diff_options options = {.grouping = view->grouping, .rates = compare_has_rates(comparison)};
	bool *inside[DIFF_SIDE_COUNT];
	struct buffer signature = {0};
	struct compare_join *join;

	buffer_append_char(&signature, compare_by_threads(comparison) ? 't' : 'g');
	view_append_signature(view, axis, step_count, &signature);
	join = find_join(comparison, &signature);
	if (join != NULL) {
		buffer_release(&signature);
		join->used = ++comparison->clock;
		return join;
	}
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		options.members[side] = inside[side] = compare_threads_inside(comparison, view, step_count,
									      (enum diff_side)side);
	options.grouping.axis = axis;
	join = make_room(comparison);
	join->signature = signature;
	memcpy(join->inside, inside, sizeof(inside));
	if (compare_by_threads(comparison))
		diff_match_apply(comparison->match, &options);
	else if (options.rates && comparison->match != NULL)
		options.successor = comparison->match->mate[DIFF_BEFORE];
	join->diff = diff_create(comparison->sides[DIFF_BEFORE], comparison->sides[DIFF_AFTER], &options);
	join->used = ++comparison->clock;
	if (comparison->match != NULL)
		join->counts = diff_match_count(comparison->match, join->diff);
	make_labels(join, axis);
	return join;
}
