/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JSON_READER_H
#define CTOP_JSON_READER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "buffer.h"

/*
 * One JSON text (RFC 8259), read value by value. Strict: valid UTF-8 only (RFC 3629), no half surrogate
 * pairs, no control characters in strings, numbers by the grammar, nothing but blanks around the value. The
 * caller walks through the text; the reader fetches the next piece when it needs one. Pieces may end
 * anywhere, and memory does not grow with the text: what is skipped is checked and not stored.
 */
enum {
	JSON_TEXT_MAX = 1 << 20,   /* bytes of one string or number that is handed over */
	JSON_SKIP_DEPTH_MAX = 127, /* objects and arrays in each other in a value that is skipped */
};

enum json_type {
	JSON_NULL,
	JSON_BOOLEAN,
	JSON_NUMBER,
	JSON_STRING,
	JSON_OBJECT,
	JSON_ARRAY,
};

/* A value, if it is neither object nor array. The text of a number or string lives until the next call. */
struct json_scalar {
	enum json_type type;
	bool boolean;
	const char *text; /* a number as it is written; a string with its escapes replaced */
	size_t length;
};

struct json_reader {
	const char *next, *end; /* of the piece at hand */
	const char *piece;      /* where it begins */
	uint64_t before;        /* bytes of the pieces before it */
	/* Fetches the next piece, which lives until the call after it: its length, 0 at the end of the text,
	 * or a negative errno, with which every function of the reader then returns. */
	ssize_t (*fetch)(void *context, const char **ret_text);
	void *context;
	struct buffer text; /* of a string or number that is cut by a piece or has escapes */
	bool fresh;         /* an object or array has just begun: no comma comes before its first value */
	int result;         /* the first failure: nothing can be read after it */
	const char *damage; /* for -EBADMSG: what is wrong with the text, part of a sentence */
};

/*
 * Functions return a negative errno when the text is damaged (-EBADMSG, and `damage` says how) or fetch()
 * failed. Each but the first expects to stand before a value.
 */

/* `text` is the first piece, or the whole text when `fetch` is NULL. */
void json_reader_begin(struct json_reader *reader, const char *text, size_t length,
		       ssize_t (*fetch)(void *context, const char **ret_text), void *context);

/* The type of the value that comes, by its first character; takes nothing but the blanks before it. */
int json_reader_type(struct json_reader *reader, enum json_type *ret_type);

/*
 * Takes the next value if it is a scalar. For an object or array it only tells the type: go on with
 * json_reader_enter().
 */
int json_reader_scalar(struct json_reader *reader, struct json_scalar *ret_scalar);

/* Takes the bracket of the object or array that comes. Then come its members or elements. */
void json_reader_enter(struct json_reader *reader);

/*
 * Takes the name of the next member of the object: 1, and the value comes next; or the bracket that ends the
 * object: 0. The name lives until the next call; from byte `keep` on it may be cut off.
 */
int json_reader_member(struct json_reader *reader, size_t keep, const char **ret_name, size_t *ret_length);

/* 1 when another element of the array comes next; 0 at its end, whose bracket is then taken. */
int json_reader_element(struct json_reader *reader);

/* Takes the value that comes, whatever it is, and checks it. */
int json_reader_skip(struct json_reader *reader);

/* Checks that nothing follows the value that was read. */
int json_reader_finish(struct json_reader *reader);

/* Bytes of the text taken so far: in a damaged text, the position of the damage. */
uint64_t json_reader_offset(const struct json_reader *reader);

void json_reader_release(struct json_reader *reader);

/* Whether two texts of one length are equal. Most are so short that calls of memcmp() would cost more. */
static inline bool json_is_equal(const char *left, const char *right, size_t length)
{
	uint64_t a, b;

	if (length < sizeof(a))
		return memcmp(left, right, length) == 0;
	for (size_t i = 0; i + sizeof(a) < length; i += sizeof(a)) {
		memcpy(&a, left + i, sizeof(a));
		memcpy(&b, right + i, sizeof(b));
		if (a != b)
			return false;
	}
	memcpy(&a, left + length - sizeof(a), sizeof(a));
	memcpy(&b, right + length - sizeof(b), sizeof(b));
	return a == b;
}

/* Short cut: takes this text, blanks and all, where it comes next in the piece at hand. */
static inline bool json_reader_take_text(struct json_reader *reader, const char *text, size_t length)
{
	if ((size_t)(reader->end - reader->next) < length || !json_is_equal(reader->next, text, length))
		return false;
	reader->next += length;
	return true;
}

enum {
	JSON_DIGITS_MAX = 19, /* that always fit a uint64_t */
};

/*
 * The digits at the beginning of a text of at least JSON_DIGITS_MAX + 1 bytes: how many, at most that, and
 * the number that they are. Eight at a time: their values lie in the bytes of a word, which are joined to
 * pairs, fours and all eight.
 */
static inline size_t json_parse_digits(const char *text, uint64_t *ret_value)
{
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
	uint64_t value = 0, word, other;
	size_t count = 0, digits = 8;

	/* most are 0 */
	if ((unsigned char)(text[0] - '0') <= 9 && (unsigned char)(text[1] - '0') > 9) {
		*ret_value = (unsigned char)(text[0] - '0');
		return 1;
	}
	while (digits == 8 && count + 8 <= JSON_DIGITS_MAX) {
		memcpy(&word, text + count, sizeof(word));
		word = le64toh(word) ^ 0x3030303030303030u;
		/* a bit is set in the bytes that are above 9: exact up to the first of them */
		other = (word | (word + 0x7676767676767676u)) & 0x8080808080808080u;
		digits = other != 0 ? (size_t)__builtin_ctzll(other) / 8 : 8;
		if (digits == 0)
			break;
		word <<= 64 - 8 * digits;
		word = word * 10 + (word >> 8);
		word = ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
			((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
		       32;
		value = value * powers[digits] + word;
		count += digits;
	}
	while (digits == 8 && count < JSON_DIGITS_MAX && (unsigned char)(text[count] - '0') <= 9)
		value = value * 10 + (unsigned char)(text[count++] - '0');
	*ret_value = value;
	return count;
}

/*
 * Short cut: takes the whole number that stands `offset` bytes ahead and what comes before it, where it has
 * at most JSON_DIGITS_MAX digits and a comma or } follows. False, and nothing is taken, when anything else
 * comes, or the piece at hand may end too early to tell.
 */
static inline bool json_reader_take_number(struct json_reader *reader, size_t offset, uint64_t *ret_value)
{
	const char *text = reader->next + offset;
	uint64_t value;
	size_t count;

	if ((size_t)(reader->end - reader->next) < offset + JSON_DIGITS_MAX + 1)
		return false;
	count = json_parse_digits(text, &value);
	if (count == 0 || (*text == '0' && count > 1) || (text[count] != ',' && text[count] != '}'))
		return false;
	reader->next = text + count;
	*ret_value = value;
	return true;
}

/*
 * Short cut: takes the next element of an array, with the comma before it, where it is a whole number of at
 * most JSON_DIGITS_MAX digits and a comma or ] follows; one below 0 comes as (uint64_t)(int64_t). False, and
 * nothing is taken, as above, also for one below INT64_MIN.
 */
static inline bool json_reader_take_element(struct json_reader *reader, uint64_t *ret_value)
{
	const char *text = reader->next;
	bool is_negative;
	uint64_t value;
	size_t count;

	if (reader->end - text < JSON_DIGITS_MAX + 3 || (!reader->fresh && *text != ','))
		return false;
	text += !reader->fresh;
	is_negative = *text == '-';
	text += is_negative;
	count = json_parse_digits(text, &value);
	if (count == 0 || (*text == '0' && count > 1) || (text[count] != ',' && text[count] != ']') ||
	    (is_negative && value > (uint64_t)INT64_MAX + 1))
		return false;
	reader->next = text + count;
	reader->fresh = false;
	*ret_value = is_negative ? 0 - value : value;
	return true;
}

#endif
