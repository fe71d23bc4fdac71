/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CODER_H
#define CTOP_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Numbers as bytes, both ways through the same calls: each takes the number that is to be encoded and returns
 * it, or, when decoding, takes anything and returns the one that was. So whoever codes a record says once
 * how. Numbers of one meaning follow each other in a stream of their own, seven bits a byte, the low ones
 * first; what compresses the streams is the caller's business.
 */

enum {
	CODER_MORE = 0x80, /* another byte of the number follows */
};

struct coder_stream {
	struct buffer bytes;       /* encoded */
	const uint8_t *next, *end; /* being decoded */
};

struct coder {
	bool decoding;
	bool failed; /* what was decoded cannot be: it is of no use from then on, though harmless */
	struct coder_stream *streams;
	size_t stream_count;
	uint64_t elements; /* of lists: how many were announced, and, when decoding, how many may yet be */
};

/* Begins to encode; coder_release() frees the streams, coder_begin() on the same coder uses them again. */
void coder_begin(struct coder *coder, size_t stream_count);

/* Ends encoding: appends everything to `buffer`. */
void coder_end(struct coder *coder, struct buffer *buffer);

/*
 * Begins to decode what coder_end() appended, which must stay until the end. `elements` is how many elements
 * all lists may have in all. Streams with higher numbers than this program has are skipped.
 */
void coder_open(struct coder *coder, size_t stream_count, const void *bytes, size_t length,
		uint64_t elements);

/* Skips the rest of a stream. */
static inline void coder_skip(struct coder_stream *stream)
{
	stream->next = stream->end;
}

/* Whether all of it was decoded, no byte is left and none was missing. */
bool coder_is_complete(const struct coder *coder);

void coder_release(struct coder *coder);

/* The slow half of coder_number(). */
uint64_t coder_long_number(struct coder *coder, struct coder_stream *stream, uint64_t number);

/* Any number. Most are small. */
static inline uint64_t coder_number(struct coder *coder, struct coder_stream *stream, uint64_t number)
{
	struct buffer *bytes = &stream->bytes;

	if (coder->decoding || number >= CODER_MORE || bytes->capacity - bytes->length <= 1)
		return coder_long_number(coder, stream, number);
	bytes->data[bytes->length++] = (char)number;
	return number;
}

/* Encodes `count` times 0, as coder_number() does one by one. Not while decoding. */
void coder_zeros(struct coder_stream *stream, size_t count);

static inline bool coder_bit(struct coder *coder, struct coder_stream *stream, bool bit)
{
	return coder_number(coder, stream, bit) != 0;
}

/* A number that was expected to be `expected`. */
static inline uint64_t coder_residual(struct coder *coder, struct coder_stream *stream, uint64_t number,
				      uint64_t expected)
{
	/* the lowest bit says that it is less, so that both small differences are small numbers */
	uint64_t more = number - expected;

	more = coder_number(coder, stream, more << 1 ^ (0 - (more >> 63)));
	return expected + (more >> 1 ^ (0 - (more & 1)));
}

/* Bytes of a text, not terminated: when decoding they lie in what is decoded. */
const char *coder_text(struct coder *coder, struct coder_stream *stream, const char *text, size_t *length);

/* The number of elements of a list: when decoding 0, and a failure, where more than there may be. */
size_t coder_count(struct coder *coder, struct coder_stream *stream, size_t count);

/*
 * The same for a list that shares elements with a list of `old_count` elements: only the others are
 * announced, by coder_take() for each.
 */
size_t coder_count_beside(struct coder *coder, struct coder_stream *stream, size_t count, size_t old_count);

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
