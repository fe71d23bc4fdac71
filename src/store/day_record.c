/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_record.h"

#include "day_frame.h"
#include "history_files.h"

/* Bits of the flags of a record. */
enum {
	FLAG_AFTER_GAP = 1 << 0,
	FLAG_AFTER_PAUSE = 1 << 1,
	FLAG_CLOCK_JUMPED = 1 << 2,
};

/* A cursor in a record that is encoded or decoded. */
struct cells {
	uint8_t *next;
	bool writes;
};

/* Encodes a number of `size` bytes, or decodes and returns it. */
static uint64_t code(struct cells *cells, size_t size, uint64_t number)
{
	if (cells->writes)
		day_put(cells->next, size, number);
	else
		number = day_get(cells->next, size);
	cells->next += size;
	return number;
}

/* Encodes or decodes the members in the order of ctop-history(5). */
static void code_record(struct cells cells, struct day_round *round)
{
	struct history_round *numbers = &round->round;
	uint64_t flags = (numbers->after_gap ? FLAG_AFTER_GAP : 0U) |
			 (numbers->after_pause ? FLAG_AFTER_PAUSE : 0U) |
			 (numbers->clock_jumped ? FLAG_CLOCK_JUMPED : 0U);

	numbers->boottime_ns = code(&cells, 8, numbers->boottime_ns);
	numbers->span_ns = code(&cells, 8, numbers->span_ns);
	numbers->clock_jump_ns = (int64_t)code(&cells, 8, (uint64_t)numbers->clock_jump_ns);
	numbers->suspended_ns = code(&cells, 8, numbers->suspended_ns);
	round->slept_ns = code(&cells, 8, round->slept_ns);
	round->against = code(&cells, 8, round->against);
	round->interval = code(&cells, 8, round->interval);
	round->facts = code(&cells, 8, round->facts);
	numbers->threads = (uint32_t)code(&cells, 4, numbers->threads);
	numbers->load_centi = (uint32_t)code(&cells, 4, numbers->load_centi);
	for (size_t i = 0; i < PRESSURE_IRQ; i++)
		numbers->psi[i] = (uint16_t)code(&cells, 2, numbers->psi[i]);
	flags = code(&cells, 2, flags);
	numbers->after_gap = (flags & FLAG_AFTER_GAP) != 0;
	numbers->after_pause = (flags & FLAG_AFTER_PAUSE) != 0;
	numbers->clock_jumped = (flags & FLAG_CLOCK_JUMPED) != 0;
}

_Static_assert(8 * 8 + 2 * 4 + (PRESSURE_IRQ + 1) * 2 == DAY_RECORD_BYTES, "the record has what it says");

void day_record_write(const struct day_round *round, uint8_t bytes[static DAY_RECORD_BYTES])
{
	struct day_round copy = *round;

	code_record((struct cells){bytes, true}, &copy);
}

void day_record_read(struct day_round *round, const uint8_t bytes[static DAY_RECORD_BYTES])
{
	/* decoding does not write to the bytes */
	code_record((struct cells){(uint8_t *)(uintptr_t)bytes, false}, round);
}

void day_entry_write(const struct day_round *round, uint8_t bytes[static DAY_ENTRY_BYTES])
{
	day_put(bytes, 8, (uint64_t)round->round.id);
	day_put(bytes + 8, 8, round->round.unix_ns);
	day_put(bytes + 16, 8, round->length);
	day_record_write(round, bytes + DAY_ENTRY_BYTES - DAY_RECORD_BYTES);
}

struct day_round day_entry_read(const uint8_t bytes[static DAY_ENTRY_BYTES])
{
	struct day_round round = {
		.round.id = (int64_t)day_get(bytes, 8),
		.round.unix_ns = day_get(bytes + 8, 8),
		.length = day_get(bytes + 16, 8),
	};

	day_record_read(&round, bytes + DAY_ENTRY_BYTES - DAY_RECORD_BYTES);
	return round;
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

	return is_signed(id) && id >= begin && round->length >= DAY_RECORD_BYTES &&
	       round->length <= DAY_FRAME_PAYLOAD_MAX && numbers->unix_ns >= history_files_begin(day) &&
	       numbers->unix_ns < history_files_end(day) &&
	       (before == NULL || numbers->unix_ns > before->round.unix_ns) && round->against < id &&
	       (round->interval == 0 || (round->interval >= begin && round->interval < id)) &&
	       round->facts >= DAY_HEADER_BYTES && round->facts < id && is_signed(numbers->boottime_ns) &&
	       is_signed(numbers->span_ns) && is_signed(numbers->suspended_ns) &&
	       is_signed(round->slept_ns) && numbers->clock_jump_ns != INT64_MIN;
}
