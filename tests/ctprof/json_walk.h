/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JSON_WALK_H
#define CTOP_JSON_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

/* A text in pieces of `step` bytes, each of which is gone when the next one is fetched. */
struct json_pieces {
	const char *text;
	size_t length, step, offset;
	char *piece; /* freed by the caller in the end */
};

/* Hands the next piece over; for json_reader_begin() and load_snapshot(). */
ssize_t json_pieces_fetch(void *pieces, const char **ret_text);

/* What became of reading a text. */
struct json_outcome {
	int result;
	const char *damage;
	uint64_t offset;
};

/* Reads the text, each value by itself, in pieces of `step` bytes, and writes it without blanks and escapes
 * that are not needed. */
struct json_outcome json_walk(const char *text, size_t length, size_t step, struct buffer *ret_text);

/* Reads the text as one value that is not wanted. */
struct json_outcome json_walk_past(const char *text, size_t length, size_t step);

#endif
