/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CODER_H
#define CTOP_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Numbers as few bits, both ways through the same calls: each takes the number that is to be encoded and
 * returns it, or, when decoding, takes anything and returns the one that was. So whoever codes a record says
 * once how. Yes-or-no decisions are coded by an adaptive binary range coder (as in LZMA): one that is nearly
 * always the same costs some thousandths of a bit. The bits of numbers that nothing is known of are in a
 * stream of their own, texts are in another.
 */

/* How often a decision was yes so far. Zeroed: nothing is known. */
struct bit_model {
	uint16_t odds;  /* of 65,536 that it is a no, xor 0x8000 */
	uint16_t count; /* decisions seen, up to a limit */
};

enum {
	CODER_CLASSES = 64,
	CODER_LEAD_CLASSES = 24, /* numbers of so many bits have models for their second and third bit */
};

/* How large numbers were so far. */
struct number_model {
	struct bit_model size[CODER_CLASSES];
	struct bit_model second[CODER_LEAD_CLASSES];
	struct bit_model third[CODER_LEAD_CLASSES * 2];
};

struct coder {
	bool decoding;
	bool failed; /* what was decoded cannot be: it is of no use from then on, though harmless */
	/* Of the range coder. */
	uint32_t range;
	uint32_t code;
	uint64_t low;
	uint64_t pending; /* bytes that a carry may still change */
	uint8_t cache;
	/* Of plain bits. */
	uint64_t plain;
	unsigned int plain_bits;
	/* Encoded. */
	struct buffer decisions, bits, texts;
	/* Being decoded. */
	const uint8_t *next_decision, *end_of_decisions;
	const uint8_t *next_bits, *end_of_bits;
	const char *next_text, *end_of_texts;
	/* Elements of lists: how many were announced, and, when decoding, how many may yet be. */
	uint64_t elements;
};

/* Begins to encode; buffers are used again. */
void coder_begin(struct coder *coder);

/* Ends encoding: appends everything to `buffer`. */
void coder_end(struct coder *coder, struct buffer *buffer);

/* Begins to decode what coder_end() appended, which must stay until the end. `elements` is how many elements
 * all lists may have in all. */
void coder_open(struct coder *coder, const void *bytes, size_t length, uint64_t elements);

/* Whether all of it was decoded, no byte is left and none was missing. */
bool coder_is_complete(const struct coder *coder);

void coder_release(struct coder *coder);

/* The slow half of coder_bit(). */
void coder_shift(struct coder *coder);
uint8_t coder_next_byte(struct coder *coder);

enum {
	CODER_ODDS_SHIFT = 15,
	CODER_RANGE_LEAST = 1 << 24,
	CODER_COUNT_LIMIT = 60,
};

/* How far a model moves towards what it has just seen, of 65,536, by how much it has seen. */
extern const uint16_t coder_pace[CODER_COUNT_LIMIT + 1];

static inline bool coder_bit(struct coder *coder, struct bit_model *model, bool bit)
{
	const uint32_t odds = model->odds ^ 0x8000U;
	uint32_t part = odds >> 1, bound;

	if (part == 0)
		part = 1;
	bound = (coder->range >> CODER_ODDS_SHIFT) * part;
	if (coder->decoding)
		bit = coder->code >= bound;
	if (bit) {
		if (coder->decoding)
			coder->code -= bound;
		else
			coder->low += bound;
		coder->range -= bound;
		model->odds = (uint16_t)((odds - (odds * coder_pace[model->count] >> 16)) ^ 0x8000U);
	} else {
		coder->range = bound;
		model->odds = (uint16_t)((odds + ((0xffffU - odds) * coder_pace[model->count] >> 16)) ^
					 0x8000U);
	}
	if (model->count < CODER_COUNT_LIMIT)
		model->count++;
	while (coder->range < CODER_RANGE_LEAST) {
		coder->range <<= 8;
		if (coder->decoding)
			coder->code = coder->code << 8 | coder_next_byte(coder);
		else
			coder_shift(coder);
	}
	return bit;
}

/* Any number, by its size. */
uint64_t coder_number(struct coder *coder, struct number_model *model, uint64_t number);

/* `count` bits, up to 64, that nothing is known of. */
uint64_t coder_plain(struct coder *coder, uint64_t bits, unsigned int count);

/* What a number is beside what it was expected to be. */
struct residual_model {
	struct bit_model differs[4]; /* by what the caller knows */
	struct bit_model is_less;
	struct number_model by;
};

/* A number that was expected to be `expected`; `context` (0 to 3) chooses the model of whether it is. */
static inline uint64_t coder_residual(struct coder *coder, struct residual_model *model, unsigned int context,
				      uint64_t number, uint64_t expected)
{
	uint64_t more = number - expected;
	bool is_less;

	if (!coder_bit(coder, &model->differs[context], more != 0))
		return expected;
	is_less = coder_bit(coder, &model->is_less, more >> 63 != 0);
	more = coder_number(coder, &model->by, (is_less ? 0 - more : more) - 1) + 1;
	return is_less ? expected - more : expected + more;
}

/* Bytes of a text, not terminated: when decoding they lie in what is decoded. */
const char *coder_text(struct coder *coder, struct number_model *model, const char *text, size_t *length);

/* The number of elements of a list: when decoding 0, and a failure, where more than there may be. */
size_t coder_count(struct coder *coder, struct number_model *model, size_t count);

/*
 * The same of a list of which some elements are those of a list of `old_count` elements: only the others are
 * announced, by coder_take() for each.
 */
size_t coder_count_beside(struct coder *coder, struct residual_model *model, size_t count, size_t old_count);

/* Notes that what is decoded cannot be; returns 0 for whoever needs a number. */
static inline uint32_t coder_fail(struct coder *coder)
{
	coder->failed = true;
	return 0;
}

/* Announces so many elements. */
static inline void coder_take(struct coder *coder, uint64_t count)
{
	if (!coder->decoding)
		coder->elements += count;
	else if (count <= coder->elements)
		coder->elements -= count;
	else
		coder_fail(coder);
}

/* A decoded number that must be below `end`. */
static inline uint32_t coder_below(struct coder *coder, uint64_t number, uint64_t end)
{
	return number < end ? (uint32_t)number : coder_fail(coder);
}

#endif
