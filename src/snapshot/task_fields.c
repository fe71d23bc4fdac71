/* SPDX-License-Identifier: GPL-2.0-only */
#include "task_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	BITS = 8,
	WORD_BITS = 64,
};

/* --- schedulers --- */

struct task_field_owner *task_field_owner_create(const char *source, const char *name, const char *type,
						 const char *storage, const char *layout, uint32_t size)
{
	struct task_field_owner *owner = memory_allocate_zero(1, sizeof(*owner));
	struct arena *arena = &owner->arena;

	atomic_init(&owner->references, 1);
	owner->source = arena_duplicate(arena, source, strlen(source));
	owner->name = arena_duplicate(arena, name, strlen(name));
	owner->family = arena_duplicate(arena, name, task_field_owner_word(name));
	owner->type = arena_duplicate(arena, type, strlen(type));
	owner->storage = arena_duplicate(arena, storage, strlen(storage));
	owner->layout = arena_duplicate(arena, layout, strlen(layout));
	owner->size = size;
	return owner;
}

static bool is_number(enum task_field_kind kind)
{
	return kind <= TASK_FIELD_KIND_ENUM;
}

/* Whether all of a member lies in its context, and its numbers fit a word. */
static bool lies_inside(const struct task_field_member *member, uint32_t size)
{
	const uint64_t bits = (uint64_t)member->bit_size * member->count;

	if (task_field_has_numbers(member) && (member->bit_size == 0 || member->bit_size > WORD_BITS))
		return false;
	return member->count != 0 && member->count <= TASK_FIELD_ELEMENTS_MAX &&
	       member->bit_offset + bits <= (uint64_t)size * BITS;
}

static const struct task_field_enumerator *copy_enumerators(struct arena *arena,
							    const struct task_field_member *member)
{
	struct task_field_enumerator *copy = arena_allocate_zero(arena, member->enumerator_count,
								 sizeof(*copy));

	for (size_t i = 0; i < member->enumerator_count; i++) {
		copy[i].name = arena_duplicate(arena, member->enumerators[i].name,
					       strlen(member->enumerators[i].name));
		copy[i].value = member->enumerators[i].value;
	}
	return copy;
}

/* A time stamp in ns takes 64 bits: what is narrower has but a name like one. */
static struct task_field_facts find_facts(const struct task_field_owner *owner,
					  const struct task_field_member *member)
{
	enum task_field_choice choice;
	const struct task_field_facts facts = task_field_facts_of(owner->family, member->name, member->kind,
								  &choice);

	if (member->bit_size < WORD_BITS && choice == TASK_FIELD_CHOICE_TABLE &&
	    facts.reduction == TASK_FIELD_REDUCTION_AGE)
		return (struct task_field_facts){TASK_FIELD_REDUCTION_COUNT, LADDER_UNITLESS};
	return facts;
}

bool task_field_owner_add_member(struct task_field_owner *owner, const struct task_field_member *member)
{
	struct task_field_member *added;

	if (owner->member_count == TASK_FIELD_MEMBERS_MAX)
		return false;
	added = MEMORY_APPEND(owner->members, owner->member_count, owner->member_capacity);
	*added = *member;
	added->name = arena_duplicate(&owner->arena, member->name, strlen(member->name));
	added->type = arena_duplicate(&owner->arena, member->type, strlen(member->type));
	added->enumerators = copy_enumerators(&owner->arena, member);
	if (!lies_inside(member, owner->size))
		added->kind = TASK_FIELD_KIND_OTHER;
	added->field = TASK_FIELD_NONE;
	if (is_number(added->kind)) {
		if (owner->field_count < TASK_FIELDS_OF_OWNER_MAX)
			added->field = task_field_intern(
				arena_format(&owner->arena, "%s.%s", owner->source, added->name));
		if (!added->has_facts)
			added->facts = find_facts(owner, added);
	}
	if (added->field != TASK_FIELD_NONE) {
		owner->field_count++;
		task_field_describe(added->field, added->facts, added->kind);
	}
	return true;
}

struct task_field_owner *task_field_owner_reference(struct task_field_owner *owner)
{
	atomic_fetch_add_explicit(&owner->references, 1, memory_order_relaxed);
	return owner;
}

void task_field_owner_release(struct task_field_owner *owner)
{
	if (owner == NULL || atomic_fetch_sub_explicit(&owner->references, 1, memory_order_acq_rel) != 1)
		return;
	arena_release(&owner->arena);
	free(owner->members);
	free(owner);
}

bool task_field_owner_has_same_type(const struct task_field_owner *a, const struct task_field_owner *b)
{
	if (a->size != b->size || a->member_count != b->member_count || strcmp(a->type, b->type) != 0)
		return false;
	for (size_t i = 0; i < a->member_count; i++) {
		const struct task_field_member *left = &a->members[i], *right = &b->members[i];

		if (strcmp(left->name, right->name) != 0 || strcmp(left->type, right->type) != 0 ||
		    left->kind != right->kind || left->bit_offset != right->bit_offset ||
		    left->bit_size != right->bit_size || left->count != right->count)
			return false;
	}
	return true;
}

bool task_field_owner_is_same_run(const struct task_field_owner *a, const struct task_field_owner *b)
{
	if (a == NULL || b == NULL)
		return false;
	return a == b || (a->enable_seq == b->enable_seq && a->loaded_at_ns == b->loaded_at_ns &&
			  strcmp(a->name, b->name) == 0 && task_field_owner_has_same_type(a, b));
}

/* --- members --- */

const struct task_field_member *task_field_find_member(const struct task_field_owner *owner, uint16_t field)
{
	for (size_t i = 0; owner != NULL && field != TASK_FIELD_NONE && i < owner->member_count; i++) {
		if (owner->members[i].field == field)
			return &owner->members[i];
	}
	return NULL;
}

const char *task_field_find_enumerator(const struct task_field_member *member, int64_t value)
{
	for (size_t i = 0; i < member->enumerator_count; i++) {
		if (member->enumerators[i].value == value)
			return member->enumerators[i].name;
	}
	return NULL;
}

bool task_field_has_numbers(const struct task_field_member *member)
{
	return is_number(member->kind) || member->kind == TASK_FIELD_KIND_ARRAY;
}

size_t task_field_elements(const struct task_field_member *member)
{
	if (!task_field_has_numbers(member))
		return 0;
	return member->kind == TASK_FIELD_KIND_ARRAY ? member->count : 1;
}

/* The bit of a context that is bit `bit` of a number: bytes are in the order of the host. */
static uint64_t bit_place(const struct task_field_member *member, uint64_t start, uint32_t bit)
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

static bool is_whole(const struct task_field_member *member, uint64_t start)
{
	return start % BITS == 0 && (member->bit_size == 8 || member->bit_size == 16 ||
				     member->bit_size == 32 || member->bit_size == 64);
}

/* The bytes of a word that hold a number of so many bits. */
static uint8_t *low_bytes(uint64_t *word, uint32_t bit_size)
{
	uint8_t *bytes = (uint8_t *)word;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	(void)bit_size;
	return bytes;
#else
	return bytes + sizeof(*word) - bit_size / BITS;
#endif
}

uint64_t task_field_read(const struct task_field_member *member, const uint8_t *context, size_t index)
{
	const uint64_t start = member->bit_offset + (uint64_t)index * member->bit_size;
	uint64_t value = 0;

	if (!task_field_has_numbers(member) || index >= member->count)
		return 0;
	if (is_whole(member, start)) {
		memcpy(low_bytes(&value, member->bit_size), context + start / BITS, member->bit_size / BITS);
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

void task_field_write(const struct task_field_member *member, uint8_t *context, size_t index, uint64_t value)
{
	const uint64_t start = member->bit_offset + (uint64_t)index * member->bit_size;

	if (!task_field_has_numbers(member) || index >= member->count)
		return;
	if (is_whole(member, start)) {
		memcpy(context + start / BITS, low_bytes(&value, member->bit_size), member->bit_size / BITS);
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

void task_fields_begin(struct task_fields *fields, struct task_field_owner *owner, size_t count)
{
	task_fields_release(fields);
	fields->owner = owner;
	fields->context_of = memory_allocate((count + 1) * sizeof(*fields->context_of));
	memset(fields->context_of, 0xff, (count + 1) * sizeof(*fields->context_of)); /* TASK_FIELDS_NONE */
	fields->context_of_count = count;
}

void task_fields_expect(struct task_fields *fields, size_t contexts)
{
	if (contexts <= fields->context_capacity)
		return;
	fields->context_capacity = contexts;
	fields->contexts = memory_resize(fields->contexts, contexts, fields->owner->size);
}

uint8_t *task_fields_add_context(struct task_fields *fields, size_t thread)
{
	uint8_t *context;

	if (fields->context_count == fields->context_capacity) {
		fields->context_capacity = fields->context_capacity != 0 ? fields->context_capacity * 2
									 : fields->context_of_count + 1;
		fields->contexts = memory_resize(fields->contexts, fields->context_capacity,
						 fields->owner->size);
	}
	fields->context_of[thread] = (uint32_t)fields->context_count;
	context = fields->contexts + fields->context_count++ * fields->owner->size;
	memset(context, 0, fields->owner->size);
	return context;
}

const uint8_t *task_fields_context(const struct task_fields *fields, size_t thread, reason_id *ret_reason)
{
	const uint32_t of = fields->context_of != NULL && thread < fields->context_of_count
				    ? fields->context_of[thread]
				    : TASK_FIELDS_NOT_READ;

	if (ret_reason != NULL)
		*ret_reason = of == TASK_FIELDS_NOT_READ     ? REASON_NOT_READ
			      : of == TASK_FIELDS_OTHER_TASK ? REASON_OTHER_TASK
							     : REASON_READ;
	return of < TASK_FIELDS_NOT_READ ? fields->contexts + (size_t)of * fields->owner->size : NULL;
}

void task_fields_release(struct task_fields *fields)
{
	task_field_owner_release(fields->owner);
	free(fields->context_of);
	free(fields->contexts);
	*fields = (struct task_fields){0};
}

void task_fields_take_row(struct task_fields *fields, size_t thread, const struct task_fields *from,
			  size_t row)
{
	const uint8_t *context = task_fields_context(from, row, NULL);

	if (fields->context_of == NULL)
		return;
	fields->context_of = memory_resize(fields->context_of, thread + 1, sizeof(*fields->context_of));
	for (size_t i = fields->context_of_count; i <= thread; i++)
		fields->context_of[i] = TASK_FIELDS_NOT_READ;
	fields->context_of_count = thread + 1;
	if (!task_field_owner_is_same_run(fields->owner, from->owner))
		return;
	if (context != NULL)
		memcpy(task_fields_add_context(fields, thread), context, fields->owner->size);
	else if (from->context_of != NULL && row < from->context_of_count)
		fields->context_of[thread] = from->context_of[row];
}

/* --- numbers and words --- */

double task_field_number(const struct task_field_member *member, uint64_t value)
{
	return member->is_signed ? (double)(int64_t)value : (double)value;
}

bool task_field_counter_added(const struct task_field_member *member, uint64_t then, uint64_t now,
			      uint64_t *ret_added)
{
	if (member->is_signed ? (int64_t)now < (int64_t)then : now < then)
		return false;
	*ret_added = now - then;
	return true;
}

void task_field_append(const struct task_field_member *member, uint64_t value, struct buffer *text)
{
	const char *name = member->kind == TASK_FIELD_KIND_ENUM
				   ? task_field_find_enumerator(member, (int64_t)value)
				   : NULL;

	if (name != NULL)
		buffer_append_text(text, name);
	else if (member->kind == TASK_FIELD_KIND_BOOLEAN)
		buffer_append_text(text, value != 0 ? "true" : "false");
	else if (member->is_signed)
		buffer_append_i64(text, (int64_t)value);
	else
		buffer_append_u64(text, value);
}
