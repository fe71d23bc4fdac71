/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BUFFER_H
#define CTOP_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* A growing byte string. A zeroed struct is empty; `data` is NULL until the first append. */
struct buffer {
	char *data; /* always followed by a NUL that `length` does not count */
	size_t length;
	size_t capacity;
};

/* The slow half of buffer_reserve(). */
void buffer_enlarge(struct buffer *buffer, size_t more);

/* Makes room for `more` bytes behind `length` (and the NUL) without changing the content. */
static inline void buffer_reserve(struct buffer *buffer, size_t more)
{
	if (buffer->capacity - buffer->length <= more)
		buffer_enlarge(buffer, more);
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t length);
void buffer_append_text(struct buffer *buffer, const char *text);
void buffer_append_char(struct buffer *buffer, char character);
void buffer_append_format(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Decimal digits of an unsigned or signed number, faster than a format. */
void buffer_append_u64(struct buffer *buffer, uint64_t value);
void buffer_append_i64(struct buffer *buffer, int64_t value);

/* Appends words as in a sentence: "a, b LAST c", `last` being "or", "and". */
void buffer_append_list(struct buffer *buffer, const char *const *words, size_t count, const char *last);

/* Empties the buffer and keeps its memory. */
void buffer_clear(struct buffer *buffer);

/* Hands the NUL-terminated content to the caller, who frees it; the buffer is then empty. Never NULL. */
char *buffer_steal(struct buffer *buffer) __attribute__((returns_nonnull));

void buffer_release(struct buffer *buffer);

#endif
