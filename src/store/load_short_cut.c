/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short cuts through the records of threads. Members that they do not take are read in full, and refused
 * there. A file of 5,100 threads is read in 6.9 ms instead of 17.6; in 8.3 without the memos.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "load_internal.h"

/* The largest number of a member that is a number and nothing else, 0 for other members. */
static uint64_t largest_number(const struct member *member)
{
	switch (member->type) {
	case MEMBER_U32:
		return UINT32_MAX;
	case MEMBER_U64:
		return UINT64_MAX;
	case MEMBER_VALUE:
		break;
	default:
		return 0;
	}
	switch (metric_type(member->metric)->encoding) {
	case METRIC_ENCODING_U64:
		return UINT64_MAX;
	case METRIC_ENCODING_U32:
		return UINT32_MAX;
	case METRIC_ENCODING_I32:
		return INT32_MAX; /* negative ones are read in full */
	default:
		return 0;
	}
}

void load_short_cuts_prepare(struct load_short_cuts *cuts)
{
	size_t behind = 0;

	for (size_t i = 0; i < thread_object.count; i++) {
		const struct member *member = &thread_object.members[i];

		cuts->position[i] = (uint16_t)cuts->zeros.length;
		cuts->largest[i] = (member->flags & MEMBER_OLDER) == 0 ? largest_number(member) : 0;
		if (cuts->largest[i] == 0)
			continue;
		cuts->is_number[i / 64] |= (uint64_t)1 << (i % 64);
		buffer_append(&cuts->zeros, member->prefix, member->length);
		buffer_append_char(&cuts->zeros, '0');
		cuts->member_at = memory_resize(cuts->member_at, cuts->zeros.length + 1, 1);
		memset(cuts->member_at + behind, (int)i, cuts->zeros.length - behind);
		behind = cuts->zeros.length;
	}
	cuts->position[thread_object.count] = (uint16_t)behind;
	cuts->member_at[behind] = (uint8_t)thread_object.count;
}

void load_short_cuts_release(struct load_short_cuts *cuts)
{
	buffer_release(&cuts->zeros);
	free(cuts->member_at);
}

/* In word `word` of a set of members: those before `index`. */
static uint64_t members_before(size_t index, size_t word)
{
	if (index <= word * 64)
		return 0;
	return index >= word * 64 + 64 ? UINT64_MAX : ((uint64_t)1 << (index % 64)) - 1;
}

/* Whether a member that the short cuts may come to has been there: members are out of order. */
static bool has_later_members(const struct frame *frame)
{
	uint64_t later = 0;

	for (size_t word = 0; word < OBJECT_MEMBERS_MAX / 64; word++)
		later |= frame->seen[word] & ~members_before(frame->next, word);
	return later != 0;
}

static void see(struct frame *frame, size_t index)
{
	frame->seen[index / 64] |= (uint64_t)1 << (index % 64);
	frame->member = &thread_object.members[index];
	frame->next = index + 1;
}

/*
 * Takes the numbers from the expected one on that are 0. Returns the number that comes then, or
 * thread_object.count for none, and `*ret_offset` how many bytes ahead its value stands.
 */
static size_t take_zeros(struct loader *loader, struct frame *frame, size_t *ret_offset)
{
	const struct load_short_cuts *cuts = &loader->short_cuts;
	struct json_reader *json = &loader->json;
	const size_t first = frame->next, start = cuts->position[first];
	const size_t left = (size_t)(json->end - json->next), zeros = cuts->zeros.length - start;
	size_t equal = json_count_equal(json->next, cuts->zeros.data + start, left < zeros ? left : zeros);
	size_t behind = cuts->member_at[start + equal];
	size_t length = cuts->position[behind] - start;

	/* the last 0 is the whole number only if what follows says so */
	if (equal == length && length != 0 &&
	    (equal == left || (json->next[equal] != '}' && json->next[equal] != ','))) {
		behind = cuts->member_at[start + length - 1];
		length = cuts->position[behind] - start;
		equal = length;
	}
	if (length != 0) {
		for (size_t word = 0; word < OBJECT_MEMBERS_MAX / 64; word++)
			frame->seen[word] |= cuts->is_number[word] & members_before(behind, word) &
					     ~members_before(first, word);
		see(frame, cuts->member_at[start + length - 1]);
		json->next += length;
	}
	if (behind == thread_object.count || equal - length < thread_object.members[behind].length)
		return thread_object.count;
	*ret_offset = thread_object.members[behind].length;
	return behind;
}

static bool take_numbers(struct loader *loader, struct frame *frame)
{
	const struct load_short_cuts *cuts = &loader->short_cuts;
	const size_t first = frame->next;

	while (cuts->largest[frame->next] != 0) {
		const char *next;
		size_t offset, index = take_zeros(loader, frame, &offset);
		const struct member *member;
		uint64_t value;

		if (index == thread_object.count)
			break;
		next = loader->json.next;
		if (!json_reader_take_number(&loader->json, offset, &value))
			break;
		if (value > cuts->largest[index]) {
			loader->json.next = next;
			break;
		}
		member = &thread_object.members[index];
		see(frame, index);
		if (member->type == MEMBER_U32) {
			*(uint32_t *)(void *)((char *)frame->target + member->offset) = (uint32_t)value;
			continue;
		}
		*(uint64_t *)(void *)((char *)frame->target + member->offset) = value;
		if (member->type == MEMBER_VALUE)
			loader->touched[loader->touched_count++] = (uint8_t)member->metric;
	}
	return frame->next != first;
}

/* The member that is expected next, where it is what it was in the record before. */
static bool take_memo(struct loader *loader, struct frame *frame)
{
	const size_t index = frame->next;
	const struct load_memo *memo = &loader->short_cuts.memos[index];
	struct thread_record *record = frame->target;
	struct json_reader *json = &loader->json;
	const struct member *member;
	void *field;

	if (memo->length == 0 || json->end - json->next <= memo->length ||
	    (json->next[memo->length] != ',' && json->next[memo->length] != '}') ||
	    !json_reader_take_text(json, memo->text, memo->length))
		return false;
	see(frame, index);
	member = frame->member;
	field = (char *)frame->target + member->offset;
	record->flags |= memo->flags;
	switch (member->type) {
	case MEMBER_NAME:
		*(uint32_t *)field = (uint32_t)memo->value;
		break;
	case MEMBER_VALUE:
	case MEMBER_CPU_SET:
		*(uint64_t *)field = memo->value;
		loader->touched[loader->touched_count++] = (uint8_t)member->metric;
		break;
	case MEMBER_OBJECT:
		record->uid = (uint32_t)memo->value;
		break;
	default:
		break;
	}
	return true;
}

void load_short_cut(struct loader *loader, struct frame *frame)
{
	if (loader->json.fresh || has_later_members(frame))
		return;
	while (take_numbers(loader, frame) || take_memo(loader, frame))
		;
}

void load_short_cut_begin(struct loader *loader)
{
	struct load_short_cuts *cuts = &loader->short_cuts;

	cuts->start = loader->json.next;
	cuts->piece = loader->json.before;
	cuts->reason_count = loader->reasons.count;
	cuts->age_count = loader->ages.count;
	cuts->task_fields_count = loader->task_fields.pending.count;
}

/* Whether the record has nothing of a member but what a memo holds, and what that is. */
static bool describe(const struct loader *loader, const struct member *member, struct load_memo *memo)
{
	const struct load_short_cuts *cuts = &loader->short_cuts;
	const struct thread_record *record = &loader->thread;
	const void *field = (const char *)record + member->offset;

	switch (member->type) {
	case MEMBER_NAME:
		memo->value = *(const uint32_t *)field;
		return true;
	case MEMBER_VALUE:
	case MEMBER_CPU_SET:
		memo->value = *(const uint64_t *)field;
		return true;
	case MEMBER_FLAG:
		memo->flags = record->flags & member->bit;
		return true;
	case MEMBER_KEY_VALUES:
		return record->smaps.count == 0;
	case MEMBER_OBJECT:
		memo->value = record->uid;
		memo->flags = record->flags & MEMBER_KNOWLEDGE_FLAGS;
		return record->layout == NULL && record->waiting_ns == 0 && !record->resident.present &&
		       loader->reasons.count == cuts->reason_count && loader->ages.count == cuts->age_count &&
		       loader->task_fields.pending.count == cuts->task_fields_count;
	default:
		return false;
	}
}

void load_short_cut_end(struct loader *loader, const struct frame *frame)
{
	struct load_short_cuts *cuts = &loader->short_cuts;
	const struct member *member = frame->member;
	struct load_memo *memo;
	size_t length;

	if (member == NULL)
		return;
	length = (size_t)(loader->json.next - cuts->start);
	memo = &cuts->memos[member - thread_object.members];
	if (loader->json.before != cuts->piece || length <= member->length || length > LOAD_MEMO_MAX ||
	    cuts->largest[member - thread_object.members] != 0 || (member->flags & MEMBER_OLDER) ||
	    memcmp(cuts->start, member->prefix, member->length) != 0)
		return;
	memo->flags = 0;
	memo->length = 0;
	if (!describe(loader, member, memo))
		return;
	memcpy(memo->text, cuts->start, length);
	memo->length = (uint8_t)length;
}
