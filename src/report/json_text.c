/* SPDX-License-Identifier: GPL-2.0-only */
#include "json_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/unicode.h"

enum {
	REPLACEMENT = 0xfffd /* for what is not UTF-8 */
};

static const char short_escapes[] = {
	['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
};

static void append_escape(struct buffer *buffer, uint32_t character)
{
	if (character < sizeof(short_escapes) && short_escapes[character] != '\0') {
		buffer_append_char(buffer, '\\');
		buffer_append_char(buffer, short_escapes[character]);
	} else if (character < 0x10000) {
		buffer_append_format(buffer, "\\u%04" PRIx32, character);
	} else {
		/* encode as a surrogate pair (RFC 8259, 7) */
		character -= 0x10000;
		buffer_append_format(buffer, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (character >> 10),
				     0xdc00 + (character & 0x3ff));
	}
}

void json_append_string(struct buffer *buffer, const char *text, size_t length)
{
	buffer_append_char(buffer, '"');
	while (length != 0) {
		uint32_t character = REPLACEMENT;
		size_t used = unicode_decode(text, length, &character);

		if (!unicode_is_printable(character) || character == '"' || character == '\\')
			append_escape(buffer, character);
		else
			unicode_append(buffer, character);
		used = used != 0 ? used : 1;
		text += used;
		length -= used;
	}
	buffer_append_char(buffer, '"');
}

void json_append_text(struct buffer *buffer, const char *text)
{
	if (text != NULL)
		json_append_string(buffer, text, strlen(text));
	else
		buffer_append_text(buffer, "null");
}

void json_append_name(struct buffer *buffer, const char *name)
{
	if (buffer->data[buffer->length - 1] != '{')
		buffer_append_char(buffer, ',');
	json_append_text(buffer, name);
	buffer_append_char(buffer, ':');
}

void json_append_member(struct buffer *buffer, const char *name, const char *text)
{
	json_append_name(buffer, name);
	json_append_text(buffer, text);
}

void json_append_count(struct buffer *buffer, const char *name, uint64_t value)
{
	json_append_name(buffer, name);
	buffer_append_u64(buffer, value);
}
