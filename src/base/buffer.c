/* SPDX-License-Identifier: GPL-2.0-only */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"

void buffer_enlarge(struct buffer *buffer, size_t more)
{
	buffer->data = memory_grow(buffer->data, &buffer->capacity, buffer->length + more + 1, 1);
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
	buffer_reserve(buffer, length);
	if (length != 0)
		memcpy(buffer->data + buffer->length, bytes, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_append_char(struct buffer *buffer, char character)
{
	buffer_reserve(buffer, 1);
	buffer->data[buffer->length++] = character;
	buffer->data[buffer->length] = '\0';
}

void buffer_append_format(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int length;

	buffer_reserve(buffer, 128);
	va_start(arguments, format);
	length = vsnprintf(buffer->data + buffer->length, buffer->capacity - buffer->length, format,
			   arguments);
	va_end(arguments);
	if (length < 0) {
		buffer->data[buffer->length] = '\0';
		return;
	}
	if ((size_t)length >= buffer->capacity - buffer->length) {
		buffer_reserve(buffer, (size_t)length);
		va_start(arguments, format);
		vsnprintf(buffer->data + buffer->length, buffer->capacity - buffer->length, format,
			  arguments);
		va_end(arguments);
	}
	buffer->length += (size_t)length;
}

void buffer_append_u64(struct buffer *buffer, uint64_t value)
{
	buffer_reserve(buffer, NUMBER_DIGITS_MAX);
	buffer->length += number_write_u64(value, buffer->data + buffer->length);
	buffer->data[buffer->length] = '\0';
}

void buffer_append_i64(struct buffer *buffer, int64_t value)
{
	uint64_t magnitude = (uint64_t)value;

	if (value < 0) {
		buffer_append_char(buffer, '-');
		magnitude = 0 - magnitude;
	}
	buffer_append_u64(buffer, magnitude);
}

void buffer_append_list(struct buffer *buffer, const char *const *words, size_t count, const char *last)
{
	for (size_t i = 0; i < count; i++) {
		if (i != 0 && i + 1 == count)
			buffer_append_format(buffer, " %s ", last);
		else if (i != 0)
			buffer_append_text(buffer, ", ");
		buffer_append_text(buffer, words[i]);
	}
}

void buffer_clear(struct buffer *buffer)
{
	buffer->length = 0;
	if (buffer->data != NULL)
		buffer->data[0] = '\0';
}

char *buffer_steal(struct buffer *buffer)
{
	char *data;

	buffer_append(buffer, "", 0);
	data = buffer->data;
	*buffer = (struct buffer){0};
	return data;
}

void buffer_release(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}
