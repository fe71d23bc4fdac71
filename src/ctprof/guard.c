/* SPDX-License-Identifier: GPL-2.0-only */
#include "guard.h"

#include <string.h>

enum {
	STAGE_NONE,
	STAGE_BACKSLASH,
	STAGE_FIRST_DIGIT,
	STAGE_LAST_DIGIT = STAGE_FIRST_DIGIT + 3,
};

/* Bytes at the beginning of the text that are ASCII. */
static size_t ascii_prefix(const char *text, size_t length)
{
	const uint64_t high_bits = 0x8080808080808080u;
	size_t i = 0;

	for (; length - i >= 4 * sizeof(uint64_t); i += 4 * sizeof(uint64_t)) {
		uint64_t words[4];

		memcpy(words, text + i, sizeof(words));
		if (((words[0] | words[1] | words[2] | words[3]) & high_bits) != 0)
			break;
	}
	while (i < length && (unsigned char)text[i] < 0x80)
		i++;
	return i;
}

/* The first byte of a sequence: how many must follow, and the bounds of the second (RFC 3629 section 4). */
static bool begin_sequence(struct json_guard *guard, uint8_t byte)
{
	guard->sequence.low = 0x80;
	guard->sequence.high = 0xbf;
	if (byte >= 0xc2 && byte <= 0xdf) {
		guard->sequence.missing = 1;
	} else if (byte >= 0xe0 && byte <= 0xef) {
		guard->sequence.missing = 2;
		if (byte == 0xe0)
			guard->sequence.low = 0xa0;
		else if (byte == 0xed)
			guard->sequence.high = 0x9f;
	} else if (byte >= 0xf0 && byte <= 0xf4) {
		guard->sequence.missing = 3;
		if (byte == 0xf0)
			guard->sequence.low = 0x90;
		else if (byte == 0xf4)
			guard->sequence.high = 0x8f;
	} else {
		return false;
	}
	return true;
}

static size_t check_utf8(struct json_guard *guard, const char *text, size_t length)
{
	size_t i = 0;

	while (i < length) {
		uint8_t byte = (uint8_t)text[i];

		if (guard->sequence.missing != 0) {
			if (byte < guard->sequence.low || byte > guard->sequence.high)
				return i;
			guard->sequence.missing--;
			guard->sequence.low = 0x80;
			guard->sequence.high = 0xbf;
			i++;
		} else if (byte < 0x80) {
			i += ascii_prefix(text + i, length - i);
		} else {
			if (!begin_sequence(guard, byte))
				return i;
			i++;
		}
	}
	return length;
}

static int hexadecimal_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

/* One byte of an escape or right behind a high surrogate; false when half of a pair stands alone. */
static bool check_escape_byte(struct json_guard *guard, char character)
{
	int digit;

	switch (guard->escape.stage) {
	case STAGE_NONE:
		if (character == '\\')
			guard->escape.stage = STAGE_BACKSLASH;
		return character == '\\' || !guard->escape.needs_low;
	case STAGE_BACKSLASH:
		guard->escape.stage = character == 'u' ? STAGE_FIRST_DIGIT : STAGE_NONE;
		guard->escape.value = 0;
		return character == 'u' || !guard->escape.needs_low;
	default:
		break;
	}
	digit = hexadecimal_digit(character);
	if (digit < 0) {
		/* the parser refuses such an escape with a message of its own */
		guard->escape.stage = STAGE_NONE;
		guard->escape.needs_low = false;
		return true;
	}
	guard->escape.value = guard->escape.value << 4 | (uint32_t)digit;
	if (guard->escape.stage++ != STAGE_LAST_DIGIT)
		return true;
	guard->escape.stage = STAGE_NONE;
	if ((guard->escape.value & 0xfc00) == 0xdc00) {
		bool paired = guard->escape.needs_low;

		guard->escape.needs_low = false;
		return paired;
	}
	if (guard->escape.needs_low)
		return false;
	guard->escape.needs_low = (guard->escape.value & 0xfc00) == 0xd800;
	return true;
}

static size_t check_escapes(struct json_guard *guard, const char *text, size_t length)
{
	size_t i = 0;

	while (i < length) {
		if (guard->escape.stage == STAGE_NONE && !guard->escape.needs_low) {
			const char *backslash = memchr(text + i, '\\', length - i);

			if (backslash == NULL)
				return length;
			i = (size_t)(backslash - text);
		}
		if (!check_escape_byte(guard, text[i]))
			return i;
		i++;
	}
	return length;
}

size_t json_guard_check(struct json_guard *guard, const char *text, size_t length, const char **ret_damage)
{
	size_t valid = check_utf8(guard, text, length);
	size_t paired = check_escapes(guard, text, valid);

	if (paired < valid)
		*ret_damage = "half of a surrogate pair stands alone in an escape";
	else if (valid < length)
		*ret_damage = "the text is not valid UTF-8";
	return paired;
}
