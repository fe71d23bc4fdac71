/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads what a sched_ext scheduler keeps. The numbers of threads may come before what they are, so they wait,
 * in bytes of seven bits each, until the file ends. What does not fit together is left out, with a note.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "load.h"
#include "metric/name.h"

enum {
	EVENTS_MAX = 256,
	SEVEN_BITS = 7,
	LAST_BYTES = 0x80, /* from here on more bytes of a number follow */
};

/*
 * Bytes of contexts for each byte of the file, and what any file may have: a file of ctop has more than 3 KB
 * for a thread, a context at most 64 KiB, so that only a file made to take memory has less.
 */
static const uint64_t context_bytes_for_each = 64, context_bytes_at_least = 16u << 20;

/* --- as it comes --- */

bool load_scx_kind(const struct json_scalar *scalar, enum scx_kind *ret_kind)
{
	const size_t kind = name_find(scx_kind_names, SCX_KIND_COUNT, sizeof(char *), scalar->text,
				      scalar->length);

	/* one of a later version has no numbers that we could read */
	*ret_kind = kind < SCX_KIND_COUNT ? (enum scx_kind)kind : SCX_KIND_OTHER;
	return true;
}

/* Any integer of 64 bits, with a sign or without. */
static bool load_number(struct loader *loader, const struct json_scalar *scalar, uint64_t *ret_value)
{
	const bool is_negative = scalar->type == JSON_NUMBER && scalar->text[0] == '-';
	uint64_t value;

	if (scalar->type == JSON_NUMBER &&
	    number_parse_u64(scalar->text + is_negative, scalar->length - is_negative, &value) &&
	    (!is_negative || value <= (uint64_t)INT64_MAX + 1)) {
		*ret_value = is_negative ? 0 - value : value;
		return true;
	}
	return load_refuse(loader, scalar,
			   "a whole number from -9223372036854775808 to 18446744073709551615");
}

/* The name of the member of the object that is being read. */
static const char *load_key(struct loader *loader, const struct frame *frame)
{
	return load_text(loader, &(struct json_scalar){.type = JSON_STRING,
						       .text = frame->key.data,
						       .length = frame->key.length});
}

bool load_scx_event(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	struct scx *scx = &loader->snapshot->scx;
	const char *name;
	uint64_t value;
	size_t i = 0;

	if (!load_number_u64(scalar, &value))
		return load_refuse(loader, scalar, "a whole number from 0 to 18446744073709551615");
	if (scx->events == NULL)
		scx->events = arena_allocate_zero(&loader->snapshot->arena, EVENTS_MAX, sizeof(*scx->events));
	name = load_key(loader, frame);
	while (i < scx->event_count && strcmp(scx->events[i].name, name) != 0)
		i++;
	if (i == EVENTS_MAX)
		return true;
	if (i == scx->event_count)
		scx->events[scx->event_count++].name = name;
	scx->events[i].value = value;
	return true;
}

void *load_scx_begin_member(struct loader *loader, struct frame *frame)
{
	(void)frame;
	loader->scx.member = (struct scx_member_record){.member.kind = SCX_KIND_OTHER};
	loader->scx.enumerators.count = 0;
	return &loader->scx.member;
}

bool load_scx_enumerator(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	uint64_t value;

	if (!load_number(loader, scalar, &value))
		return false;
	*MEMORY_APPEND(loader->scx.enumerators.items, loader->scx.enumerators.count,
		       loader->scx.enumerators.capacity) = (struct scx_enumerator){
		.name = load_key(loader, frame),
		.value = (int64_t)value,
	};
	return true;
}

static const char *text_or_empty(const char *text)
{
	return text != NULL ? text : "";
}

void load_scx_end_member(struct loader *loader, const struct frame *element)
{
	struct scx_member_record *record = &loader->scx.member;
	struct scx_member *member = &record->member;
	const size_t count = loader->scx.enumerators.count;
	struct scx_enumerator *enumerators;

	(void)element;
	enumerators = arena_allocate_zero(&loader->snapshot->arena, count, sizeof(*enumerators));
	if (count != 0)
		memcpy(enumerators, loader->scx.enumerators.items, count * sizeof(*enumerators));
	member->enumerators = enumerators;
	member->enumerator_count = count;
	member->name = text_or_empty(member->name);
	member->type = text_or_empty(member->type);
	member->is_signed |= member->kind == SCX_KIND_SIGNED;
	member->count = !record->count.present              ? 1
			: record->count.value <= UINT32_MAX ? (uint32_t)record->count.value
							    : UINT32_MAX;
	if (loader->scx.members.count < SCX_MEMBERS_MAX)
		*MEMORY_APPEND(loader->scx.members.items, loader->scx.members.count,
			       loader->scx.members.capacity) = *member;
	else /* its numbers come behind those of all others */
		loader->scx.further_numbers += scx_member_elements(member);
}

/* Whatever its sign is, a number near 0 takes one byte: never more than it takes in the file. */
static void keep_number(struct buffer *bytes, uint64_t value)
{
	uint64_t left = (value << 1) ^ (value >> 63 != 0 ? UINT64_MAX : 0);

	for (; left >= LAST_BYTES; left >>= SEVEN_BITS)
		buffer_append_char(bytes, (char)(left | LAST_BYTES));
	buffer_append_char(bytes, (char)left);
}

static uint64_t take_number(const char **bytes)
{
	uint64_t value = 0;
	uint32_t shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t) * (*bytes)++;
		value |= (uint64_t)(byte & (LAST_BYTES - 1)) << shift;
		shift += SEVEN_BITS;
	} while (byte >= LAST_BYTES);
	return (value >> 1) ^ ((value & 1) != 0 ? UINT64_MAX : 0);
}

bool load_scx_value(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	uint64_t value;

	(void)frame;
	if (!load_number(loader, scalar, &value))
		return false;
	keep_number(&loader->scx.numbers, value);
	return true;
}

void load_scx_take_values(struct loader *loader, struct frame *frame)
{
	uint64_t value;

	for (; json_reader_take_element(&loader->json, &value); frame->index++)
		keep_number(&loader->scx.numbers, value);
}

static void add_pending(struct loader *loader, uint32_t numbers, bool is_list, reason_id reason)
{
	*MEMORY_APPEND(loader->scx.pending.items, loader->scx.pending.count,
		       loader->scx.pending.capacity) = (struct pending_scx){
		.thread = (uint32_t)loader->thread.index,
		.numbers = numbers,
		.is_list = is_list,
		.reason = reason,
	};
}

void load_scx_end_values(struct loader *loader, struct frame *frame)
{
	add_pending(loader, (uint32_t)frame->index, true, REASON_READ);
}

void load_scx_thread_missing(struct loader *loader, reason_id reason)
{
	add_pending(loader, 0, false, reason);
}

/* --- at the end --- */

/* How many numbers a thread has by what the file says, what it says being possible or not. */
static uint64_t count_numbers(const struct loader *loader)
{
	uint64_t count = loader->scx.further_numbers;

	for (size_t i = 0; i < loader->scx.members.count; i++)
		count += scx_member_elements(&loader->scx.members.items[i]);
	return count;
}

static struct scx_scheduler *create_scheduler(const struct loader *loader)
{
	const struct scx_record *record = &loader->scx.record;
	struct scx_scheduler *scheduler = scx_scheduler_create(
		text_or_empty(record->scheduler), text_or_empty(record->type), text_or_empty(record->storage),
		text_or_empty(record->layout), record->size);

	scheduler->enable_seq = record->enable_seq;
	scheduler->loaded_at_ns = record->loaded_at_ns;
	for (size_t i = 0; i < loader->scx.members.count; i++)
		scx_scheduler_add_member(scheduler, &loader->scx.members.items[i]);
	return scheduler;
}

/* Writes the numbers of a thread into its context; false when one does not fit its member. */
static bool fill_context(const struct loader *loader, const char *bytes, uint8_t *context)
{
	const struct scx_scheduler *scheduler = loader->snapshot->scx.scheduler;
	bool fits = true;

	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct scx_member *member = &scheduler->members[i];
		const size_t elements = scx_member_elements(&loader->scx.members.items[i]);

		for (size_t j = 0; j < elements; j++) {
			const uint64_t value = take_number(&bytes);

			if (!scx_member_has_numbers(member))
				continue; /* it does not lie in the context */
			scx_member_write(member, context, j, value);
			fits &= scx_member_read(member, context, j) == value;
		}
	}
	return fits;
}

/* Lists are as long as the description says, with as much room as a file of that size may want. */
static size_t count_contexts(const struct loader *loader, uint64_t numbers)
{
	const uint64_t most = context_bytes_at_least +
			      context_bytes_for_each * json_reader_offset(&loader->json);
	size_t count = 0;

	for (size_t i = 0; i < loader->scx.pending.count; i++)
		count += loader->scx.pending.items[i].is_list &&
			 loader->scx.pending.items[i].numbers == numbers;
	return count <= most / (loader->scx.record.size + 1) ? count : 0;
}

static bool add_context(struct loader *loader, const struct pending_scx *pending, const char *bytes)
{
	struct scx *scx = &loader->snapshot->scx;

	if (fill_context(loader, bytes, scx_add_context(scx, pending->thread)))
		return true;
	scx->context_count--;
	return false;
}

static void apply_pending(struct loader *loader)
{
	const uint64_t numbers = count_numbers(loader);
	const size_t contexts = count_contexts(loader, numbers);
	struct scx *scx = &loader->snapshot->scx;
	const char *bytes = loader->scx.numbers.data;

	scx_expect(scx, contexts);
	for (size_t i = 0; i < loader->scx.pending.count; i++) {
		const struct pending_scx *pending = &loader->scx.pending.items[i];

		if (!pending->is_list) {
			scx->context_of[pending->thread] = pending->reason == REASON_OTHER_TASK
								   ? SCX_CONTEXT_OTHER_TASK
								   : SCX_CONTEXT_NOT_READ;
		} else if (contexts == 0 || pending->numbers != numbers ||
			   !add_context(loader, pending, bytes)) {
			scx->context_of[pending->thread] = SCX_CONTEXT_NOT_READ;
			loader->scx.left_out++;
		}
		for (uint32_t j = 0; j < pending->numbers; j++)
			take_number(&bytes);
	}
}

void load_scx_conclude(struct loader *loader)
{
	struct scx *scx = &loader->snapshot->scx;
	const struct scx events = *scx; /* scx_begin() forgets them */

	if (!loader->scx.record.present)
		return;
	if (loader->scx.record.size > SCX_SIZE_MAX) {
		loader->scx.left_out = loader->scx.pending.count;
		loader->scx.is_missing = true;
		loader->scx.record.size = 0;
		loader->scx.members.count = 0;
	}
	if (loader->scx.is_missing) {
		scx->scheduler = create_scheduler(loader);
	} else {
		scx_begin(scx, create_scheduler(loader), loader->snapshot->thread_count);
		scx->events = events.events;
		scx->event_count = events.event_count;
		apply_pending(loader);
	}
	scx->only_numbers = true;
	scx->read_at_ns = loader->scx.record.read_at_ns;
	scx->mismatched = loader->scx.record.mismatched;
}

void load_scx_release(struct loader *loader)
{
	free(loader->scx.members.items);
	free(loader->scx.enumerators.items);
	free(loader->scx.pending.items);
	buffer_release(&loader->scx.numbers);
}
