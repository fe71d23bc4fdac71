/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_scx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

/* --- fields --- */

static bool is_field(const struct scx_member *member)
{
	return member->kind <= SCX_KIND_ENUM;
}

static struct diff_scx_field *find_field(const struct diff_scx *scx, const char *name)
{
	for (size_t i = 0; i < scx->field_count; i++) {
		if (strcmp(scx->fields[i].name + strlen(DIFF_SCX_PREFIX), name) == 0)
			return &scx->fields[i];
	}
	return NULL;
}

/* A field with its place on the tab, and in the type where it has none. */
struct placed {
	const struct scx_member *member;
	size_t place, index;
};

static int compare_places(const void *a, const void *b)
{
	const struct placed *left = a, *right = b;
	const int order = order_u64(left->place, right->place);

	return order != 0 ? order : order_u64(left->index, right->index);
}

/* The fields of a side, those that both have being joined. */
static void add_fields(struct diff_scx *scx, const struct scx_scheduler *scheduler, enum diff_side side)
{
	struct placed *placed = memory_allocate((scheduler->member_count + 1) * sizeof(*placed));
	size_t count = 0;

	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct scx_member *member = &scheduler->members[i];

		if (is_field(member))
			placed[count++] = (struct placed){
				member, scx_field_place(scheduler->family, member->name), i};
	}
	qsort(placed, count, sizeof(*placed), compare_places);
	for (size_t i = 0; i < count; i++) {
		struct diff_scx_field *field = find_field(scx, placed[i].member->name);

		if (field == NULL) {
			field = &scx->fields[scx->field_count++];
			field->name = arena_format(&scx->arena, DIFF_SCX_PREFIX "%s", placed[i].member->name);
		}
		/* of two of one name, which no type of C has, the first counts */
		if (field->member[side] == NULL)
			field->member[side] = placed[i].member;
	}
	free(placed);
}

/* --- threads --- */

static bool is_member(const struct diff *diff, enum diff_side side, size_t thread)
{
	const bool *members = diff->options.members[side];

	return members == NULL || members[thread];
}

static void list_threads(struct diff_scx *scx, const struct diff *diff, enum diff_side side)
{
	const struct snapshot *snapshot = diff->snapshots[side];
	uint32_t *first = memory_allocate_zero(diff->pair_count + 2, sizeof(*first));
	uint32_t *threads = memory_allocate((snapshot->thread_count + 1) * sizeof(*threads));

	/* how many each pair has, one further on; then where those before it end */
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (is_member(diff, side, i))
			first[diff_pair_of_thread(diff, side, i) + 2]++;
	}
	for (size_t i = 2; i < diff->pair_count + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (is_member(diff, side, i))
			threads[first[diff_pair_of_thread(diff, side, i) + 1]++] = (uint32_t)i;
	}
	scx->side[side].first = first;
	scx->side[side].threads = threads;
}

static const struct scx_scheduler *scheduler_of(const struct diff *diff, enum diff_side side)
{
	return diff->snapshots[side] != NULL ? diff->snapshots[side]->scx.scheduler : NULL;
}

struct diff_scx *diff_scx_create(const struct diff *diff)
{
	size_t members = 0;
	struct diff_scx *scx;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct scx_scheduler *scheduler = scheduler_of(diff, (enum diff_side)side);

		members += scheduler != NULL ? scheduler->member_count : 0;
	}
	if (members == 0)
		return NULL;
	scx = memory_allocate_zero(1, sizeof(*scx));
	scx->fields = memory_allocate_zero(members, sizeof(*scx->fields));
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		const struct scx_scheduler *scheduler = scheduler_of(diff, (enum diff_side)side);

		if (scheduler != NULL)
			add_fields(scx, scheduler, (enum diff_side)side);
		if (diff->snapshots[side] != NULL)
			list_threads(scx, diff, (enum diff_side)side);
	}
	return scx;
}

void diff_scx_release(struct diff_scx *scx)
{
	if (scx == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		free(scx->side[side].first);
		free(scx->side[side].threads);
	}
	free(scx->fields);
	arena_release(&scx->arena);
	free(scx);
}

const struct diff_scx_field *diff_scx_find(const struct diff_scx *scx, const char *name)
{
	return scx != NULL && strncmp(name, DIFF_SCX_PREFIX, strlen(DIFF_SCX_PREFIX)) == 0
		       ? find_field(scx, name + strlen(DIFF_SCX_PREFIX))
		       : NULL;
}

/* --- values --- */

/* Of threads that are not the same ones on both sides counters stand for zero (diff_match_apply()). */
static bool is_left_out(const struct diff *diff, enum diff_side side, const struct scx_member *member,
			size_t thread)
{
	const bool *counted = diff->options.counted[side];

	return counted != NULL && !counted[thread] && member->facts.reduction == SCX_REDUCTION_COUNTER;
}

static void add_left_out(struct scx_accumulator *accumulator, const struct diff *diff, enum diff_side side,
			 const struct scx_member *member, size_t thread)
{
	if (scx_context(&diff->snapshots[side]->scx, thread, NULL) == NULL)
		return;
	if (side == DIFF_AFTER && diff->options.replaced != NULL && diff->options.replaced[thread])
		scx_accumulate_missing(accumulator, REASON_NOT_READ);
	else
		scx_accumulate(accumulator, member, 0, 1);
}

/* Why a whole side has no contexts. */
static bool is_unknown(const struct diff *diff, enum diff_side side, reason_id *ret_reason)
{
	const struct snapshot *snapshot = diff->snapshots[side];

	*ret_reason = snapshot->provenance.present ? REASON_NOT_READ : REASON_NOT_IN_FILE;
	return snapshot->scx.context_of == NULL &&
	       (snapshot->scx.scheduler != NULL || !snapshot->provenance.present);
}

struct scx_reduced diff_scx_reduce(const struct diff *diff, const struct diff_pair *pair, enum diff_side side,
				   const struct diff_scx_field *field)
{
	const size_t index = (size_t)(pair - diff->pairs);
	const struct scx_member *member = field->member[side];
	struct scx_reduced reduced = {.state = VALUE_ABSENT};
	struct scx_accumulator accumulator = {0};
	const struct scx *scx;

	if (diff->snapshots[side] == NULL || pair->group[side] == UINT32_MAX)
		return reduced;
	scx = &diff->snapshots[side]->scx;
	if (is_unknown(diff, side, &reduced.reason)) {
		reduced.state = VALUE_UNAVAILABLE;
		return reduced;
	}
	reduced.reason = REASON_READ;
	if (member == NULL)
		return reduced;
	for (uint32_t i = diff->scx->side[side].first[index]; i < diff->scx->side[side].first[index + 1];
	     i++) {
		const uint32_t thread = diff->scx->side[side].threads[i];

		if (is_left_out(diff, side, member, thread))
			add_left_out(&accumulator, diff, side, member, thread);
		else
			scx_accumulate_thread(&accumulator, scx, member, thread);
	}
	reduced = scx_reduce(&accumulator, member, scx->read_at_ns);
	scx_accumulator_release(&accumulator);
	return reduced;
}

static bool is_category(const struct scx_member *member)
{
	return member != NULL && member->facts.reduction == SCX_REDUCTION_COUNT &&
	       member->kind != SCX_KIND_BOOLEAN;
}

/* Whether the commonest values do not read alike. */
static bool words_differ(const struct diff_scx_field *field, const struct scx_reduced sides[DIFF_SIDE_COUNT])
{
	struct buffer texts[DIFF_SIDE_COUNT] = {0};
	bool differ;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		scx_member_append(field->member[side], sides[side].value, &texts[side]);
	differ = strcmp(texts[DIFF_BEFORE].data, texts[DIFF_AFTER].data) != 0;
	buffer_release(&texts[DIFF_BEFORE]);
	buffer_release(&texts[DIFF_AFTER]);
	return differ;
}

struct diff_value diff_scx_value(const struct diff *diff, const struct diff_pair *pair,
				 const struct diff_scx_field *field,
				 struct scx_reduced ret_sides[DIFF_SIDE_COUNT])
{
	struct scx_reduced sides[DIFF_SIDE_COUNT];
	struct diff_value value = {
		.is_category = is_category(field->member[DIFF_BEFORE]) ||
			       is_category(field->member[DIFF_AFTER]),
	};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		sides[side] = diff_scx_reduce(diff, pair, (enum diff_side)side, field);
		value.side[side] = (struct diff_side_value){
			.state = sides[side].state,
			.reason = sides[side].reason,
			.partial = sides[side].partial,
			.has_number = sides[side].state == VALUE_READ && !value.is_category,
			.number = sides[side].number,
		};
	}
	diff_value_conclude(&value, false);
	if (value.is_category && value.state == VALUE_READ)
		value.differs = words_differ(field, sides);
	if (ret_sides != NULL)
		memcpy(ret_sides, sides, sizeof(sides));
	return value;
}

static const struct scx_member *either_member(const struct diff_scx_field *field)
{
	return field->member[DIFF_AFTER] != NULL ? field->member[DIFF_AFTER] : field->member[DIFF_BEFORE];
}

enum ladder diff_scx_ladder(const struct diff_scx_field *field)
{
	return either_member(field)->facts.ladder;
}

bool diff_scx_is_counter(const struct diff_scx_field *field)
{
	return either_member(field)->facts.reduction == SCX_REDUCTION_COUNTER;
}
