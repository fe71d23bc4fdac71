/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JSON_TEXT_H
#define CTOP_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Appends `text` as a JSON string in quotes (RFC 8259). Quotes, backslashes and unprintable characters
 * (unicode_is_printable()) are escaped; bytes outside valid UTF-8 become U+FFFD.
 */
void json_append_string(struct buffer *buffer, const char *text, size_t length);

/* The same for a NUL-terminated text; NULL gives null. */
void json_append_text(struct buffer *buffer, const char *text);

/* Begins a member of an object, with a comma unless it is the first; the others append one with its value. */
void json_append_name(struct buffer *buffer, const char *name);
void json_append_member(struct buffer *buffer, const char *name, const char *text);
void json_append_count(struct buffer *buffer, const char *name, uint64_t value);

#endif
