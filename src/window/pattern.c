/* SPDX-License-Identifier: GPL-2.0-only */
#include "pattern.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/unicode.h"

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

static bool is_letter(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

static bool is_hexadecimal(char character)
{
	return is_digit(character) || (character >= 'a' && character <= 'f');
}

/* Bytes of the separator that `text` begins with, 0 when it begins with none. */
static size_t separator_length(const char *text, size_t length)
{
	uint32_t scalar;
	size_t used;

	if (text[0] != '\0' && strchr(".-_/:@+[]", text[0]) != NULL)
		return 1;
	if (is_letter(text[0]) || is_digit(text[0]))
		return 0;
	used = unicode_decode(text, length, &scalar);
	return used != 0 && unicode_is_white_space(scalar) ? used : 0;
}

static size_t run_length(const char *text, size_t length, bool (*belongs)(char character))
{
	size_t run = 0;

	while (run < length && belongs(text[run]))
		run++;
	return run;
}

/* The first rule that fits a token: digits, hexadecimal, letters and digits, digits and letters, itself. */
static void append_token(struct buffer *buffer, const char *token, size_t length)
{
	size_t digits = run_length(token, length, is_digit);
	size_t letters;

	if (digits == length) {
		buffer_append_text(buffer, "{N}");
		return;
	}
	letters = run_length(token, length, is_letter);
	if (length >= 2 && letters < length && run_length(token, length, is_hexadecimal) == length) {
		buffer_append_text(buffer, "{H}");
	} else if (letters > 0 && letters < length &&
		   run_length(token + letters, length - letters, is_digit) == length - letters) {
		buffer_append(buffer, token, letters);
		buffer_append_text(buffer, "{N}");
	} else if (digits > 0 && run_length(token + digits, length - digits, is_letter) == length - digits) {
		buffer_append_text(buffer, "{N}");
		buffer_append(buffer, token + digits, length - digits);
	} else {
		buffer_append(buffer, token, length);
	}
}

void pattern_append(struct buffer *buffer, const char *name, size_t length)
{
	size_t token = 0;
	size_t i = 0;

	while (i < length) {
		size_t separator = separator_length(name + i, length - i);

		if (separator == 0) {
			i++;
			continue;
		}
		if (i > token)
			append_token(buffer, name + token, i - token);
		buffer_append(buffer, name + i, separator);
		i += separator;
		token = i;
	}
	if (i > token)
		append_token(buffer, name + token, i - token);
}

/* Whether INSTANCE of INSTANCE.service tells the copies of one unit apart and nothing else. */
static bool is_plain_instance(const char *instance, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (instance[i] == '.' || instance[i] == '_' || instance[i] == '-')
			return false;
	}
	return length != 0;
}

void pattern_append_systemd_instances(struct buffer *buffer, const char *path, size_t length)
{
	static const char suffix[] = ".service";
	const size_t suffix_length = sizeof(suffix) - 1;
	const char *end = path + length;

	for (;;) {
		const char *at = memchr(path, '@', (size_t)(end - path));
		const char *unit_end;
		size_t unit_length;

		if (at == NULL)
			break;
		at++;
		buffer_append(buffer, path, (size_t)(at - path));
		path = at;
		unit_end = memchr(at, '/', (size_t)(end - at));
		if (unit_end == NULL)
			unit_end = end;
		unit_length = (size_t)(unit_end - at);
		if (unit_length < suffix_length ||
		    memcmp(unit_end - suffix_length, suffix, suffix_length) != 0)
			continue;
		if (is_plain_instance(at, unit_length - suffix_length))
			buffer_append_text(buffer, "{I}.service");
		else
			buffer_append(buffer, at, unit_length);
		path = unit_end;
	}
	buffer_append(buffer, path, (size_t)(end - path));
}
