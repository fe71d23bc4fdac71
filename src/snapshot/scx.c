/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	BITS = 8,
	WORD_BITS = 64,
	FIRST_MEMBERS = 32,
};

/* --- schedulers --- */

struct scx_scheduler *scx_scheduler_create(const char *name, const char *type, const char *storage,
					   const char *layout, uint32_t size)
{
	struct scx_scheduler *scheduler = memory_allocate_zero(1, sizeof(*scheduler));
	struct arena *arena = &scheduler->arena;

	atomic_init(&scheduler->references, 1);
	scheduler->name = arena_duplicate(arena, name, strlen(name));
	scheduler->family = arena_duplicate(arena, name, scx_field_scheduler(name));
	scheduler->type = arena_duplicate(arena, type, strlen(type));
	scheduler->storage = arena_duplicate(arena, storage, strlen(storage));
	scheduler->layout = arena_duplicate(arena, layout, strlen(layout));
	scheduler->size = size;
	return scheduler;
}

static bool is_number(enum scx_kind kind)
{
	return kind <= SCX_KIND_ENUM;
}

/* Whether all of a member lies in its context, and its numbers fit a word. */
static bool lies_inside(const struct scx_member *member, uint32_t size)
{
	const uint64_t bits = (uint64_t)member->bit_size * member->count;

	if (scx_member_has_numbers(member) && (member->bit_size == 0 || member->bit_size > WORD_BITS))
		return false;
	return member->count != 0 && member->count <= SCX_ELEMENTS_MAX &&
	       member->bit_offset + bits <= (uint64_t)size * BITS;
}

static const struct scx_enumerator *copy_enumerators(struct arena *arena, const struct scx_member *member)
{
	struct scx_enumerator *copy = arena_allocate_zero(arena, member->enumerator_count, sizeof(*copy));

	for (size_t i = 0; i < member->enumerator_count; i++) {
		copy[i].name = arena_duplicate(arena, member->enumerators[i].name,
					       strlen(member->enumerators[i].name));
		copy[i].value = member->enumerators[i].value;
	}
	return copy;
}

/* A larger array in the arena: the old one stays there until the end. */
static void grow_members(struct scx_scheduler *scheduler)
{
	const size_t capacity = scheduler->member_capacity != 0 ? scheduler->member_capacity * 2
								: FIRST_MEMBERS;
	struct scx_member *members = arena_allocate_zero(&scheduler->arena, capacity, sizeof(*members));

	if (scheduler->member_count != 0)
		memcpy(members, scheduler->members, scheduler->member_count * sizeof(*members));
	scheduler->members = members;
	scheduler->member_capacity = capacity;
}

/* A time stamp in ns takes 64 bits: what is narrower has but a name like one. */
static struct scx_field_facts find_facts(const struct scx_scheduler *scheduler,
					 const struct scx_member *member)
{
	const char *family = scheduler->family;

	if (member->bit_size < WORD_BITS &&
	    scx_field_choice_of(family, member->name, member->kind) == SCX_FIELD_CHOICE_TABLE &&
	    scx_field_facts_of(family, member->name, member->kind).reduction == SCX_REDUCTION_AGE)
		return (struct scx_field_facts){SCX_REDUCTION_COUNT, LADDER_UNITLESS};
	return scx_field_facts_of(family, member->name, member->kind);
}

bool scx_scheduler_add_member(struct scx_scheduler *scheduler, const struct scx_member *member)
{
	struct scx_member *added;

	if (scheduler->member_count == SCX_MEMBERS_MAX)
		return false;
	if (scheduler->member_count == scheduler->member_capacity)
		grow_members(scheduler);
	added = &scheduler->members[scheduler->member_count++];
	*added = *member;
	added->name = arena_duplicate(&scheduler->arena, member->name, strlen(member->name));
	added->type = arena_duplicate(&scheduler->arena, member->type, strlen(member->type));
	added->enumerators = copy_enumerators(&scheduler->arena, member);
	if (!lies_inside(member, scheduler->size))
		added->kind = SCX_KIND_OTHER;
	added->field = SCX_FIELD_NONE;
	if (is_number(added->kind)) {
		if (scheduler->field_count < SCX_FIELDS_MAX)
			added->field = scx_field_intern(added->name);
		added->facts = find_facts(scheduler, added);
	}
	if (added->field != SCX_FIELD_NONE) {
		scheduler->field_count++;
		scx_field_describe(added->field, added->facts, added->kind);
	}
	return true;
}

struct scx_scheduler *scx_scheduler_reference(struct scx_scheduler *scheduler)
{
	atomic_fetch_add_explicit(&scheduler->references, 1, memory_order_relaxed);
	return scheduler;
}

void scx_scheduler_release(struct scx_scheduler *scheduler)
{
	if (scheduler == NULL ||
	    atomic_fetch_sub_explicit(&scheduler->references, 1, memory_order_acq_rel) != 1)
		return;
	arena_release(&scheduler->arena);
	free(scheduler);
}

bool scx_scheduler_has_same_type(const struct scx_scheduler *a, const struct scx_scheduler *b)
{
	if (a->size != b->size || a->member_count != b->member_count || strcmp(a->type, b->type) != 0)
		return false;
	for (size_t i = 0; i < a->member_count; i++) {
		const struct scx_member *left = &a->members[i], *right = &b->members[i];

		if (strcmp(left->name, right->name) != 0 || strcmp(left->type, right->type) != 0 ||
		    left->kind != right->kind || left->bit_offset != right->bit_offset ||
		    left->bit_size != right->bit_size || left->count != right->count)
			return false;
	}
	return true;
}

bool scx_scheduler_is_same_run(const struct scx_scheduler *a, const struct scx_scheduler *b)
{
	if (a == NULL || b == NULL)
		return false;
	return a == b || (a->enable_seq == b->enable_seq && a->loaded_at_ns == b->loaded_at_ns &&
			  strcmp(a->name, b->name) == 0 && scx_scheduler_has_same_type(a, b));
}

/* --- members --- */

const struct scx_member *scx_find_member(const struct scx_scheduler *scheduler, uint16_t field)
{
	for (size_t i = 0; scheduler != NULL && field != SCX_FIELD_NONE && i < scheduler->member_count; i++) {
		if (scheduler->members[i].field == field)
			return &scheduler->members[i];
	}
	return NULL;
}

const char *scx_find_enumerator(const struct scx_member *member, int64_t value)
{
	for (size_t i = 0; i < member->enumerator_count; i++) {
		if (member->enumerators[i].value == value)
			return member->enumerators[i].name;
	}
	return NULL;
}

bool scx_member_has_numbers(const struct scx_member *member)
{
	return is_number(member->kind) || member->kind == SCX_KIND_ARRAY;
}

size_t scx_member_elements(const struct scx_member *member)
{
	if (!scx_member_has_numbers(member))
		return 0;
	return member->kind == SCX_KIND_ARRAY ? member->count : 1;
}

/* The bit of a context that is bit `bit` of a number: bytes are in the order of the host. */
static uint64_t bit_place(const struct scx_member *member, uint64_t start, uint32_t bit)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	(void)member;
	return start + bit;
#else
	/* the lowest bit is the last one, and within a byte the highest is the first */
	const uint64_t place = start + member->bit_size - 1 - bit;

	return place / BITS * BITS + (BITS - 1 - place % BITS);
#endif
}

static bool is_whole(const struct scx_member *member, uint64_t start)
{
	return start % BITS == 0 && (member->bit_size == 8 || member->bit_size == 16 ||
				     member->bit_size == 32 || member->bit_size == 64);
}

static uint64_t read_whole(const uint8_t *bytes, uint32_t bit_size)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	uint64_t all;

	switch (bit_size) {
	case 8:
		memcpy(&byte, bytes, sizeof(byte));
		return byte;
	case 16:
		memcpy(&half, bytes, sizeof(half));
		return half;
	case 32:
		memcpy(&word, bytes, sizeof(word));
		return word;
	default:
		memcpy(&all, bytes, sizeof(all));
		return all;
	}
}

static void write_whole(uint8_t *bytes, uint32_t bit_size, uint64_t value)
{
	const uint8_t byte = (uint8_t)value;
	const uint16_t half = (uint16_t)value;
	const uint32_t word = (uint32_t)value;

	switch (bit_size) {
	case 8:
		memcpy(bytes, &byte, sizeof(byte));
		break;
	case 16:
		memcpy(bytes, &half, sizeof(half));
		break;
	case 32:
		memcpy(bytes, &word, sizeof(word));
		break;
	default:
		memcpy(bytes, &value, sizeof(value));
		break;
	}
}

uint64_t scx_member_read(const struct scx_member *member, const uint8_t *context, size_t index)
{
	const uint64_t start = member->bit_offset + (uint64_t)index * member->bit_size;
	uint64_t value = 0;

	if (!scx_member_has_numbers(member) || index >= member->count)
		return 0;
	if (is_whole(member, start)) {
		value = read_whole(context + start / BITS, member->bit_size);
	} else {
		for (uint32_t bit = 0; bit < member->bit_size; bit++) {
			const uint64_t place = bit_place(member, start, bit);

			value |= (uint64_t)(context[place / BITS] >> place % BITS & 1) << bit;
		}
	}
	if (member->is_signed && member->bit_size < WORD_BITS && (value >> (member->bit_size - 1) & 1) != 0)
		value |= UINT64_MAX << member->bit_size;
	return value;
}

void scx_member_write(const struct scx_member *member, uint8_t *context, size_t index, uint64_t value)
{
	const uint64_t start = member->bit_offset + (uint64_t)index * member->bit_size;

	if (!scx_member_has_numbers(member) || index >= member->count)
		return;
	if (is_whole(member, start)) {
		write_whole(context + start / BITS, member->bit_size, value);
		return;
	}
	for (uint32_t bit = 0; bit < member->bit_size; bit++) {
		const uint64_t place = bit_place(member, start, bit);
		const uint8_t mask = (uint8_t)(1U << place % BITS);

		if ((value >> bit & 1) != 0)
			context[place / BITS] |= mask;
		else
			context[place / BITS] &= (uint8_t)~mask;
	}
}

/* --- contexts --- */

void scx_begin(struct scx *scx, struct scx_scheduler *scheduler, size_t count)
{
	scx_release(scx);
	scx->scheduler = scheduler;
	scx->context_of = memory_allocate((count + 1) * sizeof(*scx->context_of));
	memset(scx->context_of, 0xff, (count + 1) * sizeof(*scx->context_of)); /* SCX_CONTEXT_NONE */
	scx->context_of_count = count;
}

void scx_expect(struct scx *scx, size_t contexts)
{
	if (contexts <= scx->context_capacity)
		return;
	scx->context_capacity = contexts;
	scx->contexts = memory_resize(scx->contexts, contexts, scx->scheduler->size);
}

uint8_t *scx_add_context(struct scx *scx, size_t thread)
{
	uint8_t *context;

	if (scx->context_count == scx->context_capacity) {
		scx->context_capacity = scx->context_capacity != 0 ? scx->context_capacity * 2
								   : scx->context_of_count + 1;
		scx->contexts = memory_resize(scx->contexts, scx->context_capacity, scx->scheduler->size);
	}
	scx->context_of[thread] = (uint32_t)scx->context_count;
	context = scx->contexts + scx->context_count++ * scx->scheduler->size;
	memset(context, 0, scx->scheduler->size);
	return context;
}

const uint8_t *scx_context(const struct scx *scx, size_t thread, reason_id *ret_reason)
{
	const uint32_t of = scx->context_of != NULL && thread < scx->context_of_count
				    ? scx->context_of[thread]
				    : SCX_CONTEXT_NOT_READ;

	if (ret_reason != NULL)
		*ret_reason = of == SCX_CONTEXT_NOT_READ     ? REASON_NOT_READ
			      : of == SCX_CONTEXT_OTHER_TASK ? REASON_OTHER_TASK
							     : REASON_READ;
	return of < SCX_CONTEXT_NOT_READ ? scx->contexts + (size_t)of * scx->scheduler->size : NULL;
}

void scx_release(struct scx *scx)
{
	scx_scheduler_release(scx->scheduler);
	free(scx->context_of);
	free(scx->contexts);
	*scx = (struct scx){0};
}

void scx_keep_rows(struct scx *scx, const uint32_t rows[], size_t count)
{
	uint32_t *context_of;
	size_t kept = 0;

	if (scx->context_of == NULL)
		return;
	/* contexts need not lie in the order of threads, so those that are kept go into room of their own */
	uint8_t *contexts = memory_allocate(count * scx->scheduler->size + 1);

	context_of = memory_allocate((count + 1) * sizeof(*context_of));
	for (size_t i = 0; i < count; i++) {
		const uint8_t *context = scx_context(scx, rows[i], NULL);

		context_of[i] = rows[i] < scx->context_of_count ? scx->context_of[rows[i]]
								: SCX_CONTEXT_NOT_READ;
		if (context == NULL)
			continue;
		memcpy(contexts + kept * scx->scheduler->size, context, scx->scheduler->size);
		context_of[i] = (uint32_t)kept++;
	}
	free(scx->context_of);
	free(scx->contexts);
	scx->context_of = context_of;
	scx->context_of_count = count;
	scx->contexts = contexts;
	scx->context_count = kept;
	scx->context_capacity = count;
}

void scx_take_row(struct scx *scx, size_t thread, const struct scx *from, size_t row)
{
	const uint8_t *context = scx_context(from, row, NULL);

	if (scx->context_of == NULL)
		return;
	scx->context_of = memory_resize(scx->context_of, thread + 1, sizeof(*scx->context_of));
	for (size_t i = scx->context_of_count; i <= thread; i++)
		scx->context_of[i] = SCX_CONTEXT_NOT_READ;
	scx->context_of_count = thread + 1;
	if (!scx_scheduler_is_same_run(scx->scheduler, from->scheduler))
		return;
	if (context != NULL)
		memcpy(scx_add_context(scx, thread), context, scx->scheduler->size);
	else if (from->context_of != NULL && row < from->context_of_count)
		scx->context_of[thread] = from->context_of[row];
}
