/* SPDX-License-Identifier: GPL-2.0-only */
#include "json_walk.h"

#include <stdlib.h>

#include "base/json_reader.h"
#include "base/memory.h"

enum {
	DEPTH_MAX = 200, /* what lies deeper is skipped, which has a limit of its own */
};

ssize_t json_pieces_fetch(void *pieces_pointer, const char **ret_text)
{
	struct json_pieces *pieces = pieces_pointer;
	size_t length = pieces->length - pieces->offset;

	if (length > pieces->step)
		length = pieces->step;
	free(pieces->piece);
	pieces->piece = memory_duplicate_bytes(pieces->text + pieces->offset, length);
	pieces->offset += length;
	*ret_text = pieces->piece;
	return (ssize_t)length;
}

static void write_string(struct buffer *output, const char *text, size_t length)
{
	buffer_append_char(output, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < ' ' || byte == '"' || byte == '\\')
			buffer_append_format(output, "\\u%04x", byte);
		else
			buffer_append_char(output, text[i]);
	}
	buffer_append_char(output, '"');
}

static void write_scalar(struct buffer *output, const struct json_scalar *scalar)
{
	if (scalar->type == JSON_STRING)
		write_string(output, scalar->text, scalar->length);
	else if (scalar->type == JSON_NUMBER)
		buffer_append(output, scalar->text, scalar->length);
	else if (scalar->type == JSON_BOOLEAN)
		buffer_append_text(output, scalar->boolean ? "true" : "false");
	else
		buffer_append_text(output, "null");
}

static int walk(struct json_reader *reader, unsigned int depth, struct buffer *output)
{
	struct json_scalar scalar;
	enum json_type type;
	const char *name;
	size_t length;
	int more;

	if (depth == DEPTH_MAX)
		return json_reader_skip(reader);
	if (json_reader_type(reader, &type) < 0)
		return reader->result;
	if (type != JSON_OBJECT && type != JSON_ARRAY) {
		if (json_reader_scalar(reader, &scalar) == 0)
			write_scalar(output, &scalar);
		return reader->result;
	}
	json_reader_enter(reader);
	buffer_append_char(output, type == JSON_OBJECT ? '{' : '[');
	for (bool first = true;; first = false) {
		more = type == JSON_OBJECT ? json_reader_member(reader, JSON_TEXT_MAX, &name, &length)
					   : json_reader_element(reader);
		if (more <= 0)
			break;
		if (!first)
			buffer_append_char(output, ',');
		if (type == JSON_OBJECT) {
			write_string(output, name, length);
			buffer_append_char(output, ':');
		}
		if (walk(reader, depth + 1, output) < 0)
			return reader->result;
	}
	buffer_append_char(output, type == JSON_OBJECT ? '}' : ']');
	return more;
}

static struct json_outcome read_text(const char *text, size_t length, size_t step, struct buffer *output)
{
	struct json_pieces pieces = {.text = text, .length = length, .step = step};
	struct json_outcome outcome;
	struct json_reader reader;

	json_reader_begin(&reader, "", 0, json_pieces_fetch, &pieces);
	outcome.result = output != NULL ? walk(&reader, 0, output) : json_reader_skip(&reader);
	if (outcome.result == 0)
		outcome.result = json_reader_finish(&reader);
	outcome.damage = reader.damage;
	outcome.offset = json_reader_offset(&reader);
	json_reader_release(&reader);
	free(pieces.piece);
	return outcome;
}

struct json_outcome json_walk(const char *text, size_t length, size_t step, struct buffer *ret_text)
{
	return read_text(text, length, step, ret_text);
}

struct json_outcome json_walk_past(const char *text, size_t length, size_t step)
{
	return read_text(text, length, step, NULL);
}
