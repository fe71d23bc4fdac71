/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads what a sched_ext scheduler keeps. The numbers of threads may come before what they are, so they wait,
 * coded, until the file ends. What does not fit together is left out, with a note.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "load_internal.h"

enum {
	EVENTS_MAX = 256,
};

/*
 * Bytes of contexts for each byte of the file, and what any file may have: a file of ctop has more than 3 KB
 * for a thread, a context at most 64 KiB, so that only a file made to take memory has less.
 */
static const uint64_t context_bytes_for_each = 64, context_bytes_at_least = 16u << 20;

/* --- as it comes --- */

/* The name of the member of the object that is being read. */
static const char *load_key(struct loader *loader, const struct frame *frame)
{
	return load_text(loader, frame->key.data, frame->key.length);
}

void load_task_field_event(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	struct task_fields *fields = &loader->snapshot->task_fields;
	const char *name = load_key(loader, frame);
	size_t i = 0;

	if (fields->events == NULL)
		fields->events = arena_allocate_zero(&loader->snapshot->arena, EVENTS_MAX,
						     sizeof(*fields->events));
	while (i < fields->event_count && strcmp(fields->events[i].name, name) != 0)
		i++;
	if (i == EVENTS_MAX)
		return;
	if (i == fields->event_count)
		fields->events[fields->event_count++].name = name;
	fields->events[i].value = value->number;
}

void *load_task_field_begin_member(struct loader *loader, struct frame *frame)
{
	(void)frame;
	loader->task_fields.member = (struct task_field_member_record){.member.kind = TASK_FIELD_KIND_OTHER};
	return &loader->task_fields.member;
}

void load_task_field_enumerator(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	const struct task_field_enumerator enumerator = {load_key(loader, frame), (int64_t)value->number};

	*(struct task_field_enumerator *)load_add_element(frame, sizeof(enumerator)) = enumerator;
}

void load_task_field_end_member(struct loader *loader, const struct frame *element)
{
	const struct task_field_member member = task_fields_create_member(&loader->task_fields.member);

	(void)element;
	if (loader->task_fields.members.count < TASK_FIELD_MEMBERS_MAX)
		*MEMORY_APPEND(loader->task_fields.members.items, loader->task_fields.members.count,
			       loader->task_fields.members.capacity) = member;
	else /* its numbers come behind those of all others */
		loader->task_fields.further_numbers += task_field_elements(&member);
}

/* Whatever its sign is, a number near 0 takes one byte: never more than it takes in the file. */
void load_task_field_value(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	(void)frame;
	coder_residual(&loader->task_fields.coder, &loader->task_fields.numbers, value->number, 0);
}

static uint64_t take_number(struct loader *loader)
{
	return coder_residual(&loader->task_fields.coder, &loader->task_fields.numbers, 0, 0);
}

static void add_pending(struct loader *loader, uint32_t numbers, bool is_list, reason_id reason)
{
	*MEMORY_APPEND(loader->task_fields.pending.items, loader->task_fields.pending.count,
		       loader->task_fields.pending.capacity) = (struct pending_task_fields){
		.thread = (uint32_t)loader->thread.index,
		.numbers = numbers,
		.is_list = is_list,
		.reason = reason,
	};
}

void load_task_field_end_values(struct loader *loader, struct frame *frame)
{
	add_pending(loader, (uint32_t)frame->index, true, REASON_READ);
}

void load_task_fields_thread_missing(struct loader *loader, reason_id reason)
{
	add_pending(loader, 0, false, reason);
}

/* --- at the end --- */

/* The count of numbers of a thread by the description in the file, possible or not. */
static uint64_t count_numbers(const struct loader *loader)
{
	uint64_t count = loader->task_fields.further_numbers;

	for (size_t i = 0; i < loader->task_fields.members.count; i++)
		count += task_field_elements(&loader->task_fields.members.items[i]);
	return count;
}

static struct task_field_owner *create_scheduler(const struct loader *loader)
{
	struct task_field_owner *scheduler = task_fields_create(&loader->task_fields.record);

	for (size_t i = 0; i < loader->task_fields.members.count; i++)
		task_field_owner_add_member(scheduler, &loader->task_fields.members.items[i]);
	return scheduler;
}

/* Takes the numbers of a thread into its context; false when one does not fit its member. */
static bool fill_context(struct loader *loader, uint8_t *context)
{
	const struct task_field_owner *scheduler = loader->snapshot->task_fields.owner;
	bool fits = true;

	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];
		const size_t elements = task_field_elements(&loader->task_fields.members.items[i]);

		for (size_t j = 0; j < elements; j++) {
			const uint64_t value = take_number(loader);

			if (!task_field_has_numbers(member))
				continue; /* it does not lie in the context */
			task_field_write(member, context, j, value);
			fits &= task_field_read(member, context, j) == value;
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

	for (size_t i = 0; i < loader->task_fields.pending.count; i++)
		count += loader->task_fields.pending.items[i].is_list &&
			 loader->task_fields.pending.items[i].numbers == numbers;
	return count <= most / (loader->task_fields.record.size + 1) ? count : 0;
}

static bool add_context(struct loader *loader, const struct pending_task_fields *pending)
{
	struct task_fields *fields = &loader->snapshot->task_fields;

	if (fill_context(loader, task_fields_add_context(fields, pending->thread)))
		return true;
	fields->context_count--;
	return false;
}

static void apply_pending(struct loader *loader)
{
	const uint64_t numbers = count_numbers(loader);
	const size_t contexts = count_contexts(loader, numbers);
	struct task_fields *fields = &loader->snapshot->task_fields;
	struct coder_stream *stream = &loader->task_fields.numbers;

	loader->task_fields.coder.decoding = true;
	stream->next = stream->end = (const void *)stream->bytes.data;
	if (stream->bytes.length != 0) /* NULL otherwise */
		stream->end += stream->bytes.length;
	task_fields_expect(fields, contexts);
	for (size_t i = 0; i < loader->task_fields.pending.count; i++) {
		const struct pending_task_fields *pending = &loader->task_fields.pending.items[i];
		const uint8_t *next = stream->next;

		if (!pending->is_list) {
			fields->context_of[pending->thread] = pending->reason == REASON_OTHER_TASK
								      ? TASK_FIELDS_OTHER_TASK
								      : TASK_FIELDS_NOT_READ;
		} else if (contexts == 0 || pending->numbers != numbers || !add_context(loader, pending)) {
			fields->context_of[pending->thread] = TASK_FIELDS_NOT_READ;
			loader->task_fields.left_out++;
		}
		stream->next = next;
		for (uint32_t j = 0; j < pending->numbers; j++)
			take_number(loader);
	}
}

void load_task_fields_conclude(struct loader *loader)
{
	struct task_fields *fields = &loader->snapshot->task_fields;
	const struct task_fields events = *fields; /* task_fields_begin() forgets them */

	if (!loader->task_fields.record.present)
		return;
	if (loader->task_fields.record.size > TASK_FIELDS_SIZE_MAX) {
		loader->task_fields.left_out = loader->task_fields.pending.count;
		loader->task_fields.is_missing = true;
		loader->task_fields.record.size = 0;
		loader->task_fields.members.count = 0;
	}
	if (loader->task_fields.is_missing) {
		fields->owner = create_scheduler(loader);
	} else {
		task_fields_begin(fields, create_scheduler(loader), loader->snapshot->thread_count);
		fields->events = events.events;
		fields->event_count = events.event_count;
		apply_pending(loader);
	}
	fields->only_numbers = true;
	fields->read_at_ns = loader->task_fields.record.read_at_ns;
	fields->mismatched = loader->task_fields.record.mismatched;
}

void load_task_fields_release(struct loader *loader)
{
	free(loader->task_fields.members.items);
	free(loader->task_fields.pending.items);
	buffer_release(&loader->task_fields.numbers.bytes);
}
