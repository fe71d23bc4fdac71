/* SPDX-License-Identifier: GPL-2.0-only */
#include "json_text.h"

#include <string.h>

#include "base/unicode.h"

static const char short_escapes[] = {
	['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
};

static void append_escape(struct buffer *buffer, unsigned char character)
{
	if (character < sizeof(short_escapes) && short_escapes[character] != '\0') {
		buffer_append_char(buffer, '\\');
		buffer_append_char(buffer, short_escapes[character]);
	} else {
		buffer_append_format(buffer, "\\u%04x", character);
	}
}

void json_append_string(struct buffer *buffer, const char *text, size_t length)
{
	size_t start = 0;

	buffer_append_char(buffer, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char character = (unsigned char)text[i];

		if (character >= ' ' && character != '"' && character != '\\')
			continue;
		unicode_append_valid(buffer, text + start, i - start);
		append_escape(buffer, character);
		start = i + 1;
	}
	unicode_append_valid(buffer, text + start, length - start);
	buffer_append_char(buffer, '"');
}

void json_append_text(struct buffer *buffer, const char *text)
{
	if (text != NULL)
		json_append_string(buffer, text, strlen(text));
	else
		buffer_append_text(buffer, "null");
}
