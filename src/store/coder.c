/* SPDX-License-Identifier: GPL-2.0-only */
#include "coder.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	NUMBER_BYTES = 10, /* of 64 bits, seven a byte */
};

static void append_number(struct buffer *buffer, uint64_t number)
{
	buffer_reserve(buffer, NUMBER_BYTES);
	for (; number >= CODER_MORE; number >>= 7)
		buffer->data[buffer->length++] = (char)(uint8_t)(number | CODER_MORE);
	buffer->data[buffer->length++] = (char)(uint8_t)number;
}

/* False where no number begins, or its end is missing. */
static bool take_number(const uint8_t **next, const uint8_t *end, uint64_t *ret_number)
{
	const uint8_t *byte = *next;

	*ret_number = 0;
	for (unsigned int shift = 0; byte != end && shift < 64; shift += 7) {
		*ret_number |= (uint64_t)(*byte & (CODER_MORE - 1)) << shift;
		if ((*byte++ & CODER_MORE) == 0) {
			*next = byte;
			return true;
		}
	}
	return false;
}

void coder_begin(struct coder *coder, size_t stream_count)
{
	if (coder->streams == NULL)
		coder->streams = memory_allocate_zero(stream_count, sizeof(*coder->streams));
	coder->stream_count = stream_count;
	coder->decoding = coder->failed = false;
	coder->elements = 0;
	for (size_t i = 0; i < stream_count; i++)
		buffer_clear(&coder->streams[i].bytes);
}

void coder_end(struct coder *coder, struct buffer *buffer)
{
	size_t before = 0;

	/* for each that has any: how many numbers on it is, and its length; a length of 0 ends the list */
	for (size_t i = 0; i < coder->stream_count; i++) {
		if (coder->streams[i].bytes.length == 0)
			continue;
		append_number(buffer, coder->streams[i].bytes.length);
		append_number(buffer, i - before);
		before = i;
	}
	append_number(buffer, 0);
	for (size_t i = 0; i < coder->stream_count; i++)
		buffer_append(buffer, coder->streams[i].bytes.data, coder->streams[i].bytes.length);
}

void coder_open(struct coder *coder, size_t stream_count, const void *bytes, size_t length, uint64_t elements)
{
	const uint8_t *next = bytes, *end = next + length, *body, *list = next;
	uint64_t size, gap, index = 0;

	*coder = (struct coder){
		.decoding = true,
		.streams = memory_allocate_zero(stream_count, sizeof(*coder->streams)),
		.stream_count = stream_count,
		.elements = elements,
	};
	while (take_number(&next, end, &size) && size != 0 && take_number(&next, end, &gap))
		;
	body = next;
	next = list;
	while (take_number(&next, end, &size) && size != 0 && take_number(&next, end, &gap)) {
		if (size > (size_t)(end - body) || gap > UINT32_MAX) {
			coder->failed = true;
			return;
		}
		index += gap;
		if (index < stream_count) {
			coder->streams[index].next = body;
			coder->streams[index].end = body + size;
		}
		body += size;
	}
	coder->failed = next == list || size != 0 || body != end;
}

bool coder_is_complete(const struct coder *coder)
{
	for (size_t i = 0; i < coder->stream_count; i++) {
		if (coder->streams[i].next != coder->streams[i].end)
			return false;
	}
	return !coder->failed;
}

void coder_release(struct coder *coder)
{
	for (size_t i = 0; i < coder->stream_count; i++)
		buffer_release(&coder->streams[i].bytes);
	free(coder->streams);
	*coder = (struct coder){0};
}

uint64_t coder_long_number(struct coder *coder, struct coder_stream *stream, uint64_t number)
{
	if (!coder->decoding) {
		append_number(&stream->bytes, number);
	} else if (!take_number(&stream->next, stream->end, &number)) {
		number = coder_fail(coder);
	}
	return number;
}

void coder_zeros(struct coder_stream *stream, size_t count)
{
	buffer_reserve(&stream->bytes, count);
	memset(stream->bytes.data + stream->bytes.length, 0, count);
	stream->bytes.length += count;
}

const char *coder_text(struct coder *coder, struct coder_stream *stream, const char *text, size_t *length)
{
	*length = coder_number(coder, stream, *length);
	if (!coder->decoding) {
		buffer_append(&stream->bytes, text, *length);
		return text;
	}
	if (*length > (size_t)(stream->end - stream->next)) {
		coder_fail(coder);
		*length = 0;
	}
	/* a stream that has no bytes has no address either */
	if (*length == 0)
		return "";
	text = (const char *)stream->next;
	stream->next += *length;
	return text;
}

size_t coder_count(struct coder *coder, struct coder_stream *stream, size_t count)
{
	count = coder_number(coder, stream, count);
	coder_take(coder, count);
	return coder->failed ? 0 : count;
}

size_t coder_count_beside(struct coder *coder, struct coder_stream *stream, size_t count, size_t old_count)
{
	const uint64_t result = coder_residual(coder, stream, count, old_count);

	if (coder->decoding && result > old_count + coder->elements)
		return coder_fail(coder);
	return (size_t)result;
}
