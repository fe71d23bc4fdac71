/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the threads. Most members of a thread read as they do for the thread before it, of the same process
 * or as idle: what does not differ is copied from its text, and only what differs is written by the tables.
 */
#include <string.h>

#include "emit_internal.h"

/* The layout that needs no mark: it was read from the program's own debug data. */
#define ORDINARY_LAYOUT "dwarf"

static const char *find_layout(const struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	const char *layout;
	uint32_t index;

	if (!snapshot->provenance.present || !(snapshot->thread_flags[thread] & THREAD_JEMALLOC_MEASURED) ||
	    !hash_map_get(&emitter->heap, snapshot->tgid[thread], &index))
		return NULL;
	layout = snapshot->provenance.heap[index].layout;
	return layout != NULL && strcmp(layout, ORDINARY_LAYOUT) != 0 ? layout : NULL;
}

static struct key_values find_smaps(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;

	while (emitter->next_smaps < snapshot->smaps_count &&
	       snapshot->smaps[emitter->next_smaps].thread < thread)
		emitter->next_smaps++;
	if (emitter->next_smaps < snapshot->smaps_count &&
	    snapshot->smaps[emitter->next_smaps].thread == thread)
		return snapshot->smaps[emitter->next_smaps].kib;
	return (struct key_values){0};
}

static struct optional_u64 find_resident(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	struct optional_u64 resident = {0};
	reason_id reason;

	resident.present = snapshot->provenance.present &&
			   snapshot_resident(snapshot, thread, &emitter->resident_hint, &resident.value,
					     &reason) == VALUE_READ;
	return resident;
}

void emit_gather_thread(struct emitter *emitter, size_t thread, struct thread_record *record)
{
	const struct snapshot *snapshot = emitter->snapshot;

	record->index = thread;
	record->tid = snapshot->tid[thread];
	record->tgid = snapshot->tgid[thread];
	record->uid = snapshot->uid[thread];
	record->names = snapshot->triples[snapshot->triple[thread]];
	record->flags = snapshot->thread_flags[thread];
	record->start_time = snapshot->start_time[thread];
	record->waiting_ns = snapshot->waiting_ns != NULL ? snapshot->waiting_ns[thread] : 0;
	record->stuck_ns = snapshot->waiting_ns == NULL && snapshot->stuck_ns != NULL
				   ? snapshot->stuck_ns[thread]
				   : 0;
	record->resident = find_resident(emitter, thread);
	record->smaps = find_smaps(emitter, thread);
	record->layout = find_layout(emitter, thread);
	for (size_t i = 0; i < emitter->column_count; i++)
		record->values[emitter->columns[i].metric] = emitter->columns[i].values[thread];
}

/* --- their text --- */

/* A member that can differ from thread to thread, and where it stands in the text of the thread before. */
struct part {
	const struct member *member;
	bool is_number;    /* of 64 bits and always there: only its value is written anew */
	size_t begin, end; /* of the value, else of the whole member, which may be omitted */
};

struct thread_writer {
	struct emitter *emitter;
	struct part parts[OBJECT_MEMBERS_MAX];
	size_t part_count;
	struct thread_record records[2]; /* of this thread and the one before, in turn */
	size_t start, length;            /* of the text before in emitter->json, unless it was flushed */
	struct buffer flushed;           /* then it is here */
};

/* A metric without a column is the same for all. */
static bool may_differ(const struct snapshot *snapshot, const struct member *member)
{
	switch (member->type) {
	case MEMBER_VALUE:
	case MEMBER_CPU_SET:
		return snapshot->values[member->metric] != NULL;
	default:
		return true;
	}
}

static bool is_number(const struct member *member)
{
	enum metric_encoding encoding;

	if (member->type != MEMBER_VALUE)
		return member->type == MEMBER_U64 && !(member->flags & MEMBER_OMITTED);
	encoding = metric_type(member->metric)->encoding;
	return encoding == METRIC_ENCODING_U64 || encoding == METRIC_ENCODING_U32;
}

static bool has_exception(const struct snapshot *snapshot, size_t index, size_t thread)
{
	return index < snapshot->exception_count && snapshot->exceptions[index].thread == thread;
}

/* Readings from the beginning of the capture on have no age. */
static bool have_same_age(const struct snapshot *snapshot, uint64_t read_at, uint64_t read_at_before)
{
	uint64_t now = snapshot->provenance.boottime_ns;

	return read_at == read_at_before || (read_at >= now && read_at_before >= now);
}

/* Whether the `ctop` object, with what thread_knowledge_members of member.c names, reads as that before. */
static bool is_same_knowledge(const struct emitter *emitter, const struct thread_record *record,
			      const struct thread_record *before)
{
	const struct snapshot *snapshot = emitter->snapshot;
	size_t next = emitter->next_exception; /* behind those of the thread before */

	if (record->uid != before->uid || record->layout != before->layout ||
	    record->waiting_ns != before->waiting_ns || record->stuck_ns != before->stuck_ns ||
	    record->resident.present || before->resident.present ||
	    ((record->flags ^ before->flags) & MEMBER_KNOWLEDGE_FLAGS) != 0)
		return false;
	if (has_exception(snapshot, next, record->index) ||
	    (next != 0 && has_exception(snapshot, next - 1, before->index)))
		return false;
	if (!emit_task_fields_are_same(emitter, record->index, before->index))
		return false;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const reason_id *column = snapshot->source_reason[i];
		const uint64_t *read_at = snapshot->read_at[i];

		if (column != NULL && column[record->index] != column[before->index])
			return false;
		if (read_at != NULL &&
		    !have_same_age(snapshot, read_at[record->index], read_at[before->index]))
			return false;
	}
	return true;
}

static bool is_same(const struct emitter *emitter, const struct member *member,
		    const struct thread_record *record, const struct thread_record *before)
{
	const void *field = (const char *)record + member->offset;
	const void *field_before = (const char *)before + member->offset;

	switch (member->type) {
	case MEMBER_VALUE:
	case MEMBER_CPU_SET:
	case MEMBER_U64:
		return *(const uint64_t *)field == *(const uint64_t *)field_before;
	case MEMBER_U32:
	case MEMBER_NAME:
		return *(const uint32_t *)field == *(const uint32_t *)field_before;
	case MEMBER_FLAG:
		return ((*(const uint8_t *)field ^ *(const uint8_t *)field_before) & member->bit) == 0;
	case MEMBER_KEY_VALUES:
		return ((const struct key_values *)field)->count == 0 &&
		       ((const struct key_values *)field_before)->count == 0;
	case MEMBER_OBJECT:
		return is_same_knowledge(emitter, record, before);
	default:
		return false;
	}
}

static void add_part(struct thread_writer *writer, const struct member *member, size_t begin, size_t end)
{
	struct part *part = &writer->parts[writer->part_count++];

	*part = (struct part){member, is_number(member), begin, end};
	/* never the first member, whose name has no comma before it */
	if (part->is_number)
		part->begin += member->length;
}

/* Everything by the tables. */
static void write_first(struct thread_writer *writer, const struct thread_record *record)
{
	struct emitter *emitter = writer->emitter;
	struct buffer *json = &emitter->json;
	size_t start = json->length;

	buffer_append_char(json, '{');
	for (size_t i = 0; i < thread_object.count; i++) {
		const struct member *member = &thread_object.members[i];
		size_t begin = json->length - start;

		if (member->flags & MEMBER_OLDER)
			continue;
		emit_member(emitter, member, record);
		if (may_differ(emitter->snapshot, member))
			add_part(writer, member, begin, json->length - start);
	}
	buffer_append_char(json, '}');
}

/* Copies a piece of the text of the thread before. */
static void copy(struct thread_writer *writer, size_t begin, size_t end)
{
	struct buffer *json = &writer->emitter->json;
	const char *before;

	buffer_reserve(json, end - begin);
	before = writer->flushed.length != 0 ? writer->flushed.data : json->data + writer->start;
	memcpy(json->data + json->length, before + begin, end - begin);
	json->length += end - begin;
	json->data[json->length] = '\0';
}

static uint64_t number_of(const struct thread_record *record, const struct member *member)
{
	return *(const uint64_t *)((const char *)record + member->offset);
}

static bool is_same_part(const struct emitter *emitter, const struct part *part,
			 const struct thread_record *record, const struct thread_record *before)
{
	if (part->is_number)
		return number_of(record, part->member) == number_of(before, part->member);
	return is_same(emitter, part->member, record, before);
}

static void write_next(struct thread_writer *writer, const struct thread_record *record,
		       const struct thread_record *before)
{
	struct emitter *emitter = writer->emitter;
	struct buffer *json = &emitter->json;
	size_t start = json->length;
	size_t copied = 0, shift = 0; /* modulo its size: how much further back the text now is */

	for (size_t i = 0; i < writer->part_count; i++) {
		struct part *part = &writer->parts[i];

		if (is_same_part(emitter, part, record, before)) {
			part->begin += shift;
			part->end += shift;
			continue;
		}
		copy(writer, copied, part->begin);
		copied = part->end;
		part->begin = json->length - start;
		if (part->is_number)
			buffer_append_u64(json, number_of(record, part->member));
		else
			emit_member(emitter, part->member, record);
		part->end = json->length - start;
		shift = part->end - copied;
	}
	copy(writer, copied, writer->length);
}

/* Hands over the text once it is long, and keeps a copy of the last thread. */
static void keep_flushed(struct thread_writer *writer)
{
	struct emitter *emitter = writer->emitter;

	buffer_clear(&writer->flushed);
	if (emitter->json.length < EMIT_FLUSH_BYTES)
		return;
	buffer_append(&writer->flushed, emitter->json.data + writer->start, writer->length);
	emit_flush(emitter);
}

void emit_threads(struct emitter *emitter)
{
	struct thread_writer writer = {.emitter = emitter};

	for (size_t i = 0; i < emitter->snapshot->thread_count; i++) {
		struct thread_record *record = &writer.records[i % 2];
		size_t start;

		emit_gather_thread(emitter, i, record);
		emit_separator(emitter);
		start = emitter->json.length;
		if (i == 0)
			write_first(&writer, record);
		else
			write_next(&writer, record, &writer.records[(i + 1) % 2]);
		writer.start = start;
		writer.length = emitter->json.length - start;
		keep_flushed(&writer);
	}
	buffer_release(&writer.flushed);
}
