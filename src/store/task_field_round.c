/* SPDX-License-Identifier: GPL-2.0-only */
/* The contexts that a sched_ext scheduler keeps for threads. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "member.h"
#include "round.h"

enum {
	WORD = sizeof(uint64_t),
	WORD_MODELS = STREAM_COLUMNS - STREAM_TASK_FIELD_WORDS,
	CONTEXT_STATES = 3,        /* TASK_FIELDS_NONE and the like */
	BYTES_FOR_AN_ELEMENT = 64, /* that contexts may have beyond those of `against` */
};

/* --- the scheduler --- */

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

static void code_members(struct round *round, struct task_field_owner *scheduler, size_t count)
{
	struct coder *coder = &round->coder;
	struct task_field_member_record above = {0};

	for (size_t i = 0; i < count && !coder->failed; i++) {
		struct task_field_member_record record = {0};
		struct task_field_member member;

		if (!coder->decoding)
			record = task_fields_describe_member(&scheduler->members[i]);
		round_code_object(round, &task_field_member_object, STREAM_TASK_FIELDS, false, &record,
				  &above, false);
		above = record;
		if (!coder->decoding || coder->failed)
			continue;
		for (size_t j = 0; j < record.member.enumerator_count; j++) {
			if (record.member.enumerators[j].name == NULL)
				coder_fail(coder);
		}
		member = task_fields_create_member(&record);
		if (coder->failed || !task_field_owner_add_member(scheduler, &member))
			coder_fail(coder);
	}
}

static void code_new_scheduler(struct round *round)
{
	struct task_fields *fields = &round->now->task_fields;
	struct task_fields_record record = {0};
	size_t count = 0;

	if (!round->coder.decoding) {
		record = task_fields_describe(fields);
		count = fields->owner->member_count;
	}
	round_code_object(round, &task_fields_object, STREAM_TASK_FIELDS, false, &record, NULL, false);
	count = round_new_count(round, count);
	if (round->coder.decoding) {
		if (round->coder.failed || record.size > TASK_FIELDS_SIZE_MAX || record.size == 0) {
			coder_fail(&round->coder);
			return;
		}
		fields->owner = task_fields_create(&record);
	}
	code_members(round, fields->owner, count);
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

/* A context, or why it is missing, as one number. */
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

/* Codes which context each thread has. Returns for each context that of the same thread in `against`. */
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

/* The number of contexts; when decoding no more than `against` and the length of what is decoded allow.
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
