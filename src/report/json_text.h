/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JSON_TEXT_H
#define CTOP_JSON_TEXT_H

#include <stddef.h>

#include "base/buffer.h"

/*
 * Appends `text` as a JSON string with its quotes (RFC 8259): control characters (DEL and C1 too),
 * quotes and backslashes escaped, each byte that belongs to no valid UTF-8 sequence as U+FFFD.
 */
void json_append_string(struct buffer *buffer, const char *text, size_t length);

/* The same for a NUL-terminated text; NULL gives null. */
void json_append_text(struct buffer *buffer, const char *text);

#endif
