/* SPDX-License-Identifier: GPL-2.0-only */
#include "coder.h"

#include <string.h>

#include "base/memory.h"

enum {
	CACHED_BYTES = 5, /* of the range coder, at its end */
	CLASS_LEVELS = 6,
	WHOLE_BITS = 64,
	LENGTH_BYTES = 4,
};

/* 1 / (n + 1.5) of 65,536: the estimate that costs the least when nothing was known. */
const uint16_t coder_pace[CODER_COUNT_LIMIT + 1] = {
	43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698, 5242, 4854, 4519, 4228, 3971,
	3744,  3542,  3360,  3196,  3048,  2912,  2788, 2674, 2570, 2473, 2383, 2299, 2221, 2148, 2080, 2016,
	1956,  1899,  1846,  1795,  1747,  1702,  1659, 1618, 1579, 1542, 1506, 1472, 1440, 1409, 1379, 1351,
	1323,  1297,  1272,  1248,  1224,  1202,  1180, 1159, 1139, 1120, 1101, 1083, 1065,
};

void coder_begin(struct coder *coder)
{
	coder->decoding = coder->failed = false;
	coder->range = UINT32_MAX;
	coder->low = 0;
	coder->pending = 1;
	coder->cache = 0;
	coder->plain = 0;
	coder->plain_bits = 0;
	coder->elements = 0;
	buffer_clear(&coder->decisions);
	buffer_clear(&coder->bits);
	buffer_clear(&coder->texts);
}

void coder_shift(struct coder *coder)
{
	if ((uint32_t)coder->low < 0xff000000U || coder->low >> 32 != 0) {
		const uint8_t carry = (uint8_t)(coder->low >> 32);
		uint8_t byte = coder->cache;

		for (; coder->pending != 0; coder->pending--) {
			buffer_reserve(&coder->decisions, 1);
			coder->decisions.data[coder->decisions.length++] = (char)(uint8_t)(byte + carry);
			byte = 0xff;
		}
		coder->cache = (uint8_t)(coder->low >> 24);
	}
	coder->pending++;
	coder->low = (coder->low & 0x00ffffffU) << 8;
}

uint8_t coder_next_byte(struct coder *coder)
{
	if (coder->next_decision == coder->end_of_decisions) {
		coder->failed = true;
		return 0;
	}
	return *coder->next_decision++;
}

static void append_length(struct buffer *buffer, size_t length)
{
	for (unsigned int i = 0; i < LENGTH_BYTES; i++)
		buffer_append_char(buffer, (char)(length >> 8 * i & 0xff));
}

void coder_end(struct coder *coder, struct buffer *buffer)
{
	for (int i = 0; i < CACHED_BYTES; i++)
		coder_shift(coder);
	for (; coder->plain_bits != 0; coder->plain_bits -= coder->plain_bits < 8 ? coder->plain_bits : 8) {
		buffer_append_char(&coder->bits, (char)(coder->plain & 0xff));
		coder->plain >>= 8;
	}
	append_length(buffer, coder->texts.length);
	append_length(buffer, coder->bits.length);
	buffer_append(buffer, coder->texts.data, coder->texts.length);
	buffer_append(buffer, coder->bits.data, coder->bits.length);
	buffer_append(buffer, coder->decisions.data, coder->decisions.length);
}

/* Takes a part off the front of the bytes; false when there are not so many. */
static bool take_part(const uint8_t **bytes, size_t *left, size_t length, const uint8_t **ret_part)
{
	if (length > *left)
		return false;
	*ret_part = *bytes;
	*bytes += length;
	*left -= length;
	return true;
}

static size_t read_length(const uint8_t *bytes)
{
	return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

void coder_open(struct coder *coder, const void *bytes_pointer, size_t length, uint64_t elements)
{
	const uint8_t *bytes = bytes_pointer, *lengths, *texts = bytes, *bits = bytes;
	size_t text_length = 0, bits_length = 0;

	*coder = (struct coder){.decoding = true, .range = UINT32_MAX, .elements = elements};
	if (take_part(&bytes, &length, (size_t)2 * LENGTH_BYTES, &lengths)) {
		text_length = read_length(lengths);
		bits_length = read_length(lengths + LENGTH_BYTES);
	} else {
		coder->failed = true;
	}
	if (!take_part(&bytes, &length, text_length, &texts) ||
	    !take_part(&bytes, &length, bits_length, &bits)) {
		coder->failed = true;
		text_length = bits_length = 0;
	}
	coder->next_text = (const char *)texts;
	coder->end_of_texts = coder->next_text + text_length;
	coder->next_bits = bits;
	coder->end_of_bits = bits + bits_length;
	coder->next_decision = bytes;
	coder->end_of_decisions = bytes + length;
	for (int i = 0; i < CACHED_BYTES; i++)
		coder->code = coder->code << 8 | coder_next_byte(coder);
}

bool coder_is_complete(const struct coder *coder)
{
	return !coder->failed && coder->next_decision == coder->end_of_decisions &&
	       coder->next_bits == coder->end_of_bits && coder->next_text == coder->end_of_texts;
}

void coder_release(struct coder *coder)
{
	buffer_release(&coder->decisions);
	buffer_release(&coder->bits);
	buffer_release(&coder->texts);
}

/* Up to 32 bits. */
static uint64_t plain_word(struct coder *coder, uint64_t bits, unsigned int count)
{
	if (!coder->decoding) {
		coder->plain |= bits << coder->plain_bits;
		for (coder->plain_bits += count; coder->plain_bits >= 8; coder->plain_bits -= 8) {
			buffer_reserve(&coder->bits, 1);
			coder->bits.data[coder->bits.length++] = (char)(coder->plain & 0xff);
			coder->plain >>= 8;
		}
		return bits;
	}
	for (; coder->plain_bits < count; coder->plain_bits += 8) {
		if (coder->next_bits == coder->end_of_bits)
			coder->failed = true;
		else
			coder->plain |= (uint64_t)*coder->next_bits++ << coder->plain_bits;
	}
	bits = coder->plain & ((UINT64_C(1) << count) - 1);
	coder->plain >>= count;
	coder->plain_bits -= count;
	return bits;
}

uint64_t coder_plain(struct coder *coder, uint64_t bits, unsigned int count)
{
	uint64_t low;

	if (count <= 32)
		return plain_word(coder, count == 0 ? 0 : bits & (UINT64_MAX >> (WHOLE_BITS - count)), count);
	low = plain_word(coder, bits & UINT32_MAX, 32);
	return low | coder_plain(coder, bits >> 32, count - 32) << 32;
}

/* How many bits a number has; what needs all 64 counts as 63, and is coded whole. */
static unsigned int class_of(uint64_t number)
{
	const unsigned int bits = number == 0 ? 0 : WHOLE_BITS - (unsigned int)__builtin_clzll(number);

	return bits < CODER_CLASSES ? bits : CODER_CLASSES - 1;
}

uint64_t coder_number(struct coder *coder, struct number_model *model, uint64_t number)
{
	unsigned int node = 1, class = coder->decoding ? 0 : class_of(number), known = 1;

	for (unsigned int level = CLASS_LEVELS; level-- > 0;)
		node = node << 1 | coder_bit(coder, &model->size[node], (class >> level & 1) != 0);
	class = node - CODER_CLASSES;
	if (class <= 1)
		return class;
	if (class == CODER_CLASSES - 1)
		return coder_plain(coder, number, WHOLE_BITS);
	/* the first bit is a one; that of the next two is not as likely as the other */
	if (class < CODER_LEAD_CLASSES) {
		known = 2 | coder_bit(coder, &model->second[class], (number >> (class - 2) & 1) != 0);
		if (class > 2)
			known = known << 1 | coder_bit(coder, &model->third[class * 2 + (known & 1)],
						       (number >> (class - 3) & 1) != 0);
		class -= class > 2 ? 3 : 2;
	} else {
		class -= 1;
	}
	return (uint64_t)known << class | coder_plain(coder, number, class);
}

const char *coder_text(struct coder *coder, struct number_model *model, const char *text, size_t *length)
{
	*length = coder_number(coder, model, *length);
	if (!coder->decoding) {
		buffer_append(&coder->texts, text, *length);
		return text;
	}
	if (*length > (size_t)(coder->end_of_texts - coder->next_text)) {
		coder->failed = true;
		*length = 0;
	}
	text = coder->next_text;
	coder->next_text += *length;
	return text;
}

size_t coder_count(struct coder *coder, struct number_model *model, size_t count)
{
	count = coder_number(coder, model, count);
	coder_take(coder, count);
	return coder->failed ? 0 : count;
}

size_t coder_count_beside(struct coder *coder, struct residual_model *model, size_t count, size_t old_count)
{
	const uint64_t result = coder_residual(coder, model, 0, count, old_count);

	if (coder->decoding && result > old_count + coder->elements)
		return coder_fail(coder);
	return (size_t)result;
}
