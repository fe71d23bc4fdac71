/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEXT_SCAN_H
#define CTOP_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/unicode.h"

/* Lines, words and trimming over bytes that are not copied and not terminated. */
struct text {
	const char *data;
	size_t length;
};

/* The content of a buffer. */
static inline struct text text_of(const struct buffer *buffer)
{
	return (struct text){buffer->data, buffer->length};
}

static inline bool text_is_blank(char character)
{
	return character == ' ' || ((unsigned char)character >= '\t' && (unsigned char)character <= '\r');
}

static inline bool text_is_eight_blanks(const char *data)
{
	uint64_t bytes;

	memcpy(&bytes, data, sizeof(bytes));
	return bytes == 0x2020202020202020;
}

/* The text without White_Space (Unicode) at both ends. */
static inline struct text text_trim(struct text text)
{
	/* the kernel fills columns with blanks */
	while (text.length >= sizeof(uint64_t) && text_is_eight_blanks(text.data)) {
		text.data += sizeof(uint64_t);
		text.length -= sizeof(uint64_t);
	}
	while (text.length != 0 && text_is_blank(text.data[0])) {
		text.data++;
		text.length--;
	}
	while (text.length >= sizeof(uint64_t) &&
	       text_is_eight_blanks(text.data + text.length - sizeof(uint64_t)))
		text.length -= sizeof(uint64_t);
	while (text.length != 0 && text_is_blank(text.data[text.length - 1]))
		text.length--;
	/* the rest of the property is above ASCII, which the kernel prints in names only */
	if (text.length != 0 &&
	    (((unsigned char)text.data[0] | (unsigned char)text.data[text.length - 1]) & 0x80) != 0)
		text.length = unicode_trim(&text.data, text.length);
	return text;
}

/* A name without blanks at its ends; one of nothing but blanks stays, since it is not the empty one. */
static inline struct text text_trim_name(struct text name)
{
	const struct text trimmed = text_trim(name);

	/* /proc has none with the end of a line (proc_task_name() of fs/proc/array.c) */
	if (trimmed.length != 0 || name.length == 0 || memchr(name.data, '\n', name.length) != NULL)
		return trimmed;
	return name;
}

/* The same of a name in a structure of the kernel, terminated where it is shorter. */
static inline struct text text_of_name(const char *name, size_t size)
{
	return text_trim_name((struct text){name, strnlen(name, size)});
}

/*
 * Takes the next line off `rest`: up to '\n', without it and without a '\r' before it. False when nothing is
 * left.
 */
static inline bool text_next_line(struct text *rest, struct text *ret_line)
{
	const char *end;

	if (rest->length == 0)
		return false;
	end = memchr(rest->data, '\n', rest->length);
	*ret_line = (struct text){rest->data, end != NULL ? (size_t)(end - rest->data) : rest->length};
	rest->data += ret_line->length + (end != NULL);
	rest->length -= ret_line->length + (end != NULL);
	if (end != NULL && ret_line->length != 0 && ret_line->data[ret_line->length - 1] == '\r')
		ret_line->length--;
	return true;
}

/* ASCII white space between words: blank, TAB, LF, FF, CR, but not VT. */
static inline bool text_is_separator(char character)
{
	return text_is_blank(character) && character != '\v';
}

/* Takes the next word off `rest`. False when nothing but white space is left. */
static inline bool text_next_word(struct text *rest, struct text *ret_word)
{
	size_t start = 0, end;

	while (start < rest->length && text_is_separator(rest->data[start]))
		start++;
	if (start == rest->length)
		return false;
	for (end = start; end < rest->length && !text_is_separator(rest->data[end]); end++)
		;
	*ret_word = (struct text){rest->data + start, end - start};
	rest->data += end;
	rest->length -= end;
	return true;
}

/* The same with words separated by any White_Space (Unicode), as in pressure files and meminfo. */
static inline bool text_next_unicode_word(struct text *rest, struct text *ret_word)
{
	struct text word = text_trim(*rest);
	uint32_t scalar;
	size_t end, used;

	if (word.length == 0)
		return false;
	for (end = 0; end < word.length; end += used) {
		used = unicode_decode(word.data + end, word.length - end, &scalar);
		if (used != 0 && unicode_is_white_space(scalar))
			break;
		if (used == 0)
			used = 1;
	}
	*ret_word = (struct text){word.data, end};
	*rest = (struct text){word.data + end, word.length - end};
	return true;
}

/* Splits a line at its first `separator`; the key is trimmed, the value is not. False without one. */
static inline bool text_split(struct text line, char separator, struct text *ret_key, struct text *ret_value)
{
	const char *at = line.length != 0 ? memchr(line.data, separator, line.length) : NULL;
	size_t before;

	if (at == NULL)
		return false;
	before = (size_t)(at - line.data);
	*ret_key = text_trim((struct text){line.data, before});
	*ret_value = (struct text){at + 1, line.length - before - 1};
	return true;
}

static inline bool text_equals(struct text text, const char *words)
{
	return strlen(words) == text.length && memcmp(text.data, words, text.length) == 0;
}

static inline bool text_starts_with(struct text text, const char *words)
{
	size_t length = strlen(words);

	return length <= text.length && memcmp(text.data, words, length) == 0;
}

static inline bool text_has_word(struct text text, const char *wanted)
{
	struct text word;

	while (text_next_word(&text, &word)) {
		if (text_equals(word, wanted))
			return true;
	}
	return false;
}

/* Whether `wanted` is a member of a list such as `a,b`. */
static inline bool text_has_part(struct text list, char separator, const char *wanted)
{
	struct text part;

	while (text_split(list, separator, &part, &list)) {
		if (text_equals(part, wanted))
			return true;
	}
	return text_equals(text_trim(list), wanted);
}

/* The trimmed value of the first line `key: value`. False without such a line. */
static inline bool text_find_value(struct text text, const char *wanted, struct text *ret_value)
{
	struct text line, key, value;

	while (text_next_line(&text, &line)) {
		if (!text_split(line, ':', &key, &value) || !text_equals(key, wanted))
			continue;
		*ret_value = text_trim(value);
		return true;
	}
	return false;
}

/*
 * A decimal fraction as hundredths, cut after two digits: "18.59" is 1859, "1.501" is 150, "42" is 4200. A
 * part that is no number (or does not fit 32 bits before the dot) counts as 0; a bad fraction leaves the
 * whole part.
 */
static inline uint64_t text_hundredths(struct text text)
{
	const char *dot = text.length != 0 ? memchr(text.data, '.', text.length) : NULL;
	size_t whole_length = dot != NULL ? (size_t)(dot - text.data) : text.length;
	char digits[2] = {'0', '0'};
	uint32_t whole, fraction = 0;

	if (!number_parse_u32(text.data, whole_length, &whole))
		return 0;
	if (dot != NULL) {
		size_t count = text.length - whole_length - 1;

		memcpy(digits, dot + 1, count < 2 ? count : 2);
		if (!number_parse_u32(digits, 2, &fraction))
			fraction = 0;
	}
	return (uint64_t)whole * 100 + fraction;
}

#endif
