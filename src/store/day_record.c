/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_record.h"

#include <string.h>

#include "day_frame.h"
#include "history_files.h"

/* Bits of the flags of a record. */
enum {
	FLAG_AFTER_GAP = 1 << 0,
	FLAG_AFTER_PAUSE = 1 << 1,
	FLAG_CLOCK_JUMPED = 1 << 2,
};

#define END_32 (UINT64_C(1) << 32)
#define END_16 (UINT64_C(1) << 16)

static uint64_t code(struct day_list *list, uint64_t number, uint64_t last)
{
	return coder_residual(&list->coder, &list->stream, number, last);
}

/* As code(), for a number below `end`. */
static uint32_t code_below(struct day_list *list, uint64_t number, uint64_t last, uint64_t end)
{
	return coder_below(&list->coder, code(list, number, last), end);
}

/* Converts an offset to the distance by which it precedes a round's frame, or such a distance to the offset.
 * 0 stays 0. */
static uint64_t turn(const struct day_round *round, uint64_t number)
{
	return number != 0 ? (uint64_t)round->round.id - number : 0;
}

static uint64_t flags_of(const struct history_round *round)
{
	return (round->after_gap ? FLAG_AFTER_GAP : 0U) | (round->after_pause ? FLAG_AFTER_PAUSE : 0U) |
	       (round->clock_jumped ? FLAG_CLOCK_JUMPED : 0U);
}

/* Encodes or decodes the numbers in the order of ctop-history(5). */
static void code_record(struct day_list *list, struct day_round *round)
{
	struct history_round *now = &round->round;
	const struct day_round *last = &list->last;
	const struct history_round *before = &last->round;
	uint32_t flags;

	now->boottime_ns = code(list, now->boottime_ns, before->boottime_ns);
	now->span_ns = code(list, now->span_ns, before->span_ns);
	now->clock_jump_ns = (int64_t)code(list, (uint64_t)now->clock_jump_ns,
					   (uint64_t)before->clock_jump_ns);
	now->suspended_ns = code(list, now->suspended_ns, before->suspended_ns);
	round->slept_ns = code(list, round->slept_ns, last->slept_ns);
	round->against = turn(round, code(list, turn(round, round->against), turn(last, last->against)));
	round->interval = turn(round, code(list, turn(round, round->interval), turn(last, last->interval)));
	round->facts = code(list, round->facts, last->facts);
	now->threads = code_below(list, now->threads, before->threads, END_32);
	now->load_centi = code_below(list, now->load_centi, before->load_centi, END_32);
	for (size_t i = 0; i < PRESSURE_IRQ; i++)
		now->psi[i] = (uint16_t)code_below(list, now->psi[i], before->psi[i], END_16);
	flags = code_below(list, flags_of(now), flags_of(before), END_16);
	now->after_gap = (flags & FLAG_AFTER_GAP) != 0;
	now->after_pause = (flags & FLAG_AFTER_PAUSE) != 0;
	now->clock_jumped = (flags & FLAG_CLOCK_JUMPED) != 0;
}

/* Encodes or decodes a round of a list. */
static void code_entry(struct day_list *list, struct day_round *round)
{
	const struct history_round *before = &list->last.round;

	round->round.id = (int64_t)code(list, (uint64_t)round->round.id, (uint64_t)before->id);
	round->round.unix_ns = code(list, round->round.unix_ns, before->unix_ns);
	round->length = code(list, round->length, list->last.length);
	code_record(list, round);
	list->last = *round;
}

void day_record_append(struct buffer *bytes, const struct day_round *round)
{
	struct day_list list = {.stream.bytes = *bytes};
	struct day_round copy = *round;

	code_record(&list, &copy);
	*bytes = list.stream.bytes;
}

size_t day_record_read(struct day_round *round, const void *bytes, size_t length)
{
	struct day_list list;

	if (length < DAY_RECORD_NUMBERS)
		return 0;
	list = day_list_open(bytes, length);
	code_record(&list, round);
	return list.coder.failed ? 0 : (size_t)(list.stream.next - (const uint8_t *)bytes);
}

bool day_round_is_same(const struct day_round *a, const struct day_round *b)
{
	struct day_list first = {0}, second = {0};
	bool is_same;

	day_list_append(&first, a);
	day_list_append(&second, b);
	is_same = first.stream.bytes.length == second.stream.bytes.length &&
		  memcmp(first.stream.bytes.data, second.stream.bytes.data, first.stream.bytes.length) == 0;
	day_list_release(&first);
	day_list_release(&second);
	return is_same;
}

void day_list_append(struct day_list *list, const struct day_round *round)
{
	struct day_round copy = *round;

	code_entry(list, &copy);
	list->count++;
}

struct day_list day_list_open(const void *bytes, size_t length)
{
	return (struct day_list){
		.coder.decoding = true,
		.stream = {.next = bytes, .end = (const uint8_t *)bytes + length},
	};
}

bool day_list_next(struct day_list *list, struct day_round *ret_round)
{
	*ret_round = (struct day_round){0};
	code_entry(list, ret_round);
	return !list->coder.failed;
}

void day_list_release(struct day_list *list)
{
	buffer_release(&list->stream.bytes);
	*list = (struct day_list){0};
}

static bool is_signed(uint64_t number)
{
	return number <= INT64_MAX;
}

bool day_round_is_valid(const struct day_round *round, const struct day_round *before, uint32_t day)
{
	const struct history_round *numbers = &round->round;
	const uint64_t id = (uint64_t)numbers->id;
	const uint64_t begin = before != NULL
				       ? (uint64_t)before->round.id + DAY_FRAME_HEADER_BYTES + before->length
				       : DAY_HEADER_BYTES;

	return is_signed(id) && id >= begin && round->length >= DAY_RECORD_NUMBERS &&
	       round->length <= DAY_FRAME_PAYLOAD_MAX && numbers->unix_ns >= history_files_begin(day) &&
	       numbers->unix_ns < history_files_end(day) &&
	       (before == NULL || numbers->unix_ns > before->round.unix_ns) && round->against < id &&
	       (round->interval == 0 || (round->interval >= begin && round->interval < id)) &&
	       round->facts >= DAY_HEADER_BYTES && round->facts < id && is_signed(numbers->boottime_ns) &&
	       is_signed(numbers->span_ns) && is_signed(numbers->suspended_ns) &&
	       is_signed(round->slept_ns) && numbers->clock_jump_ns != INT64_MIN;
}
