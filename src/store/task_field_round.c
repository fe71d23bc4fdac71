/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sched_ext scheduler keeps of threads. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fields.h"

enum {
	WORD = sizeof(uint64_t),
	WORD_MODELS = STREAM_COLUMNS - STREAM_TASK_FIELD_WORDS,
	CONTEXT_STATES = 3,        /* TASK_FIELDS_NONE and the like */
	BYTES_FOR_AN_ELEMENT = 64, /* that contexts may have beyond those of `against` */
};

/* --- the scheduler --- */

static const struct field scheduler_fields[] = {
	FIELD(TEXT, struct task_field_owner, name),        FIELD(TEXT, struct task_field_owner, type),
	FIELD(TEXT, struct task_field_owner, storage),     FIELD(TEXT, struct task_field_owner, layout),
	FIELD(U32, struct task_field_owner, size),         FIELD(U64, struct task_field_owner, enable_seq),
	FIELD(U64, struct task_field_owner, loaded_at_ns),
};

static const struct field member_fields[] = {
	FIELD(TEXT, struct task_field_member, name),
	FIELD(TEXT, struct task_field_member, type),
	{offsetof(struct task_field_member, kind), FIELD_BELOW, TASK_FIELD_KIND_COUNT, 1, 0, false, 0, 0},
	FIELD(U32, struct task_field_member, bit_offset),
	FIELD(U32, struct task_field_member, bit_size),
	FIELD(U32, struct task_field_member, count),
	FIELD(BOOL, struct task_field_member, is_signed),
};

/* Since the second version. */
static const struct field source_fields[] = {
	FIELD(TEXT, struct task_field_owner, source),
};

static const struct field facts_fields[] = {
	FIELD(BOOL, struct task_field_member, has_facts),
	{offsetof(struct task_field_member, facts.reduction), FIELD_BELOW, TASK_FIELD_REDUCTION_TOTAL, 1, 0,
	 false, 0, 0},
	{offsetof(struct task_field_member, facts.ladder), FIELD_BELOW, LADDER_TICKS + 1, 1, 0, false, 0, 0},
};

static const struct field enumerator_fields[] = {
	FIELD(TEXT, struct task_field_enumerator, name),
	FIELD(U64, struct task_field_enumerator, value),
};

static bool have_same_enumerators(const struct task_field_owner *a, const struct task_field_owner *b)
{
	for (size_t i = 0; i < a->member_count; i++) {
		const struct task_field_member *left = &a->members[i], *right = &b->members[i];

		if (left->is_signed != right->is_signed || left->enumerator_count != right->enumerator_count)
			return false;
		for (size_t j = 0; j < left->enumerator_count; j++) {
			if (left->enumerators[j].value != right->enumerators[j].value ||
			    strcmp(left->enumerators[j].name, right->enumerators[j].name) != 0)
				return false;
		}
	}
	return true;
}

static bool are_same(const struct task_field_owner *a, const struct task_field_owner *b)
{
	return a == b || (task_field_owner_is_same_run(a, b) && strcmp(a->source, b->source) == 0 &&
			  strcmp(a->storage, b->storage) == 0 && strcmp(a->layout, b->layout) == 0 &&
			  have_same_enumerators(a, b));
}

static size_t code_count(struct round *round, size_t count)
{
	return coder_count(&round->coder, &round->streams[STREAM_COUNT], round->coder.decoding ? 0 : count);
}

#define CODE(fields, record, expected)                                                                       \
	fields_code(round, fields, ARRAY_COUNT(fields), STREAM_TASK_FIELDS, record, expected, false)

static void code_enumerators(struct round *round, struct task_field_member *member)
{
	const size_t count = code_count(round, member->enumerator_count);
	struct task_field_enumerator *items = (struct task_field_enumerator *)(uintptr_t)member->enumerators;

	if (round->coder.decoding) {
		items = arena_allocate_zero(&round->now->arena, count, sizeof(*items));
		member->enumerators = items;
		member->enumerator_count = count;
	}
	for (size_t i = 0; i < count && !round->coder.failed; i++) {
		CODE(enumerator_fields, &items[i], i != 0 ? &items[i - 1] : NULL);
		if (items[i].name == NULL) {
			items[i].name = "";
			coder_fail(&round->coder);
		}
	}
}

static void code_members(struct round *round, struct task_field_owner *scheduler, size_t count)
{
	struct coder *coder = &round->coder;
	struct task_field_member above = {0};

	for (size_t i = 0; i < count && !coder->failed; i++) {
		struct task_field_member decoded = {0};
		struct task_field_member *member = coder->decoding ? &decoded : &scheduler->members[i];

		CODE(member_fields, member, &above);
		CODE(facts_fields, member, &above);
		code_enumerators(round, member);
		above = *member;
		if (coder->decoding && (coder->failed || member->name == NULL || member->type == NULL ||
					!task_field_owner_add_member(scheduler, member)))
			coder_fail(coder);
	}
}

static struct task_field_owner *make_scheduler(struct round *round, const struct task_field_owner *decoded)
{
	struct task_field_owner *scheduler;

	if (round->coder.failed || decoded->name == NULL || decoded->type == NULL ||
	    decoded->storage == NULL || decoded->layout == NULL || decoded->size > TASK_FIELDS_SIZE_MAX ||
	    decoded->size == 0) {
		coder_fail(&round->coder);
		return NULL;
	}
	scheduler = task_field_owner_create(decoded->source != NULL ? decoded->source : TASK_FIELD_SOURCE,
					    decoded->name, decoded->type, decoded->storage, decoded->layout,
					    decoded->size);
	scheduler->enable_seq = decoded->enable_seq;
	scheduler->loaded_at_ns = decoded->loaded_at_ns;
	return scheduler;
}

static void code_new_scheduler(struct round *round)
{
	struct task_field_owner decoded = {0};
	struct task_field_owner *scheduler = round->coder.decoding ? &decoded : round->now->task_fields.owner;
	size_t count;

	CODE(scheduler_fields, scheduler, NULL);
	CODE(source_fields, scheduler, NULL);
	count = code_count(round, scheduler->member_count);
	if (round->coder.decoding)
		scheduler = round->now->task_fields.owner = make_scheduler(round, &decoded);
	if (scheduler != NULL)
		code_members(round, scheduler, count);
}

static bool code_scheduler(struct round *round)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_TASK_FIELDS];
	struct task_fields *fields = &round->now->task_fields;
	struct task_field_owner *old = round->against != NULL ? round->against->task_fields.owner : NULL;

	if (!coder_bit(coder, stream, !coder->decoding && fields->owner != NULL))
		return false;
	if (old != NULL && !coder_bit(coder, stream, !coder->decoding && !are_same(fields->owner, old))) {
		if (coder->decoding)
			fields->owner = task_field_owner_reference(old);
	} else {
		code_new_scheduler(round);
	}
	return !coder->failed && fields->owner != NULL;
}

/* --- contexts --- */

/* A context, or why there is none, as one number. */
static uint64_t state_of(uint32_t context)
{
	return (uint32_t)(context + CONTEXT_STATES);
}

static uint32_t old_state(const struct round *round, size_t row)
{
	const struct task_fields *old = round->against != NULL ? &round->against->task_fields : NULL;
	const uint32_t old_row = row < round->now->thread_count ? round->old_row[row] : UINT32_MAX;

	return old != NULL && old->context_of != NULL && old_row < old->context_of_count
		       ? old->context_of[old_row]
		       : TASK_FIELDS_NONE;
}

/* Which contexts threads have. The result is by context: that of the same thread in `against`. */
static uint32_t *code_context_of(struct round *round, size_t count)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_TASK_FIELD_WORDS - 1];
	struct task_fields *fields = &round->now->task_fields;
	uint32_t *old_of = memory_allocate((count + 1) * sizeof(*old_of));
	uint32_t next = 0;

	memset(old_of, 0xff, (count + 1) * sizeof(*old_of));
	for (size_t row = 0; row < fields->context_of_count; row++) {
		const uint32_t old = old_state(round, row);
		const bool had = old < TASK_FIELDS_NOT_READ;
		const uint64_t expected = had || round->against == NULL ? state_of(next) : state_of(old);
		const uint64_t state = coder_residual(coder, stream, state_of(fields->context_of[row]),
						      expected);
		const uint32_t context = (uint32_t)state - CONTEXT_STATES;

		if (coder->decoding)
			fields->context_of[row] = context;
		if (context >= TASK_FIELDS_NOT_READ)
			continue;
		if (context >= count || state > UINT32_MAX) {
			if (coder->decoding)
				fields->context_of[row] = TASK_FIELDS_NONE;
			coder_fail(coder);
			continue;
		}
		if (had)
			old_of[context] = old;
		next = context + 1;
	}
	return old_of;
}

static void code_words(struct round *round, uint8_t *context, const uint8_t *old, size_t size)
{
	struct coder *coder = &round->coder;

	for (size_t at = 0; at < size; at += WORD) {
		const size_t length = size - at < WORD ? size - at : WORD;
		uint64_t word = 0, was = 0;

		if (!coder->decoding)
			memcpy(&word, context + at, length);
		if (old != NULL)
			memcpy(&was, old + at, length);
		word = coder_residual(
			coder, &round->streams[STREAM_TASK_FIELD_WORDS + at / WORD % WORD_MODELS], word, was);
		if (coder->decoding)
			memcpy(context + at, &word, length);
	}
}

/* How many contexts there are; when decoding no more than `against` and the length of what is decoded allow.
 */
static size_t code_context_count(struct round *round)
{
	struct coder *coder = &round->coder;
	const struct task_fields *fields = &round->now->task_fields;
	const size_t old_count = round->against != NULL ? round->against->task_fields.context_count : 0;
	const uint64_t count = coder_residual(coder, &round->streams[STREAM_COUNT], fields->context_count,
					      old_count);
	const uint64_t more = count > old_count ? count - old_count : 0;
	const uint64_t cost = more > UINT32_MAX ? UINT64_MAX
						: more * (fields->owner->size / BYTES_FOR_AN_ELEMENT + 1);

	coder_take(coder, cost);
	if (coder->failed)
		return 0;
	return (size_t)count;
}

static void code_contexts(struct round *round)
{
	struct coder *coder = &round->coder;
	struct task_fields *fields = &round->now->task_fields;
	const struct task_fields *old = round->against != NULL ? &round->against->task_fields : NULL;
	const size_t size = fields->owner->size;
	const size_t rows = coder_below(coder,
					coder_residual(coder, &round->streams[STREAM_COUNT],
						       fields->context_of_count, round->now->thread_count),
					(uint64_t)round->now->thread_count + 1);
	const size_t count = code_context_count(round);
	uint32_t *old_of;

	if (coder->failed)
		return;
	if (coder->decoding) {
		fields->context_of = memory_allocate_zero(rows + 1, sizeof(*fields->context_of));
		fields->context_of_count = rows;
		fields->contexts = memory_allocate_zero(count + 1, size);
		fields->context_count = fields->context_capacity = count;
	}
	old_of = code_context_of(round, count);
	for (size_t i = 0; i < count && !coder->failed; i++) {
		const bool has_old = old_of[i] != UINT32_MAX && old->owner->size == size &&
				     old_of[i] < old->context_count;

		code_words(round, fields->contexts + i * size,
			   has_old ? old->contexts + old_of[i] * size : NULL, size);
	}
	free(old_of);
}

void round_code_task_fields(struct round *round)
{
	struct coder *coder = &round->coder;

	if (code_scheduler(round) &&
	    coder_bit(coder, &round->streams[STREAM_TASK_FIELDS],
		      !coder->decoding && round->now->task_fields.context_of != NULL))
		code_contexts(round);
}
