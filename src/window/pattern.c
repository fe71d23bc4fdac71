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

enum {
	ID_DIGITS = 32, /* hexadecimal digits of a systemd id */
};

/* Length in bytes of the first character, and whether it is a separator. */
static size_t character_length(const struct name_rules *rules, const char *text, size_t length,
			       bool *ret_is_separator)
{
	unsigned char byte;
	uint32_t scalar;
	size_t used;

	*ret_is_separator = false;
	if (is_letter(text[0]) || is_digit(text[0]))
		return 1;
	used = rules->knows_escapes ? unicode_decode_escape(text, length, &byte) : 0;
	if (used != 0) {
		*ret_is_separator = byte < 0x80;
		return used;
	}
	*ret_is_separator = text[0] != '\0' && strchr(rules->separators, text[0]) != NULL;
	if (*ret_is_separator)
		return 1;
	used = unicode_decode(text, length, &scalar);
	*ret_is_separator = used != 0 && unicode_is_white_space(scalar);
	return used != 0 ? used : 1;
}

static size_t run_length(const char *text, size_t length, bool (*belongs)(char character))
{
	size_t run = 0;

	while (run < length && belongs(text[run]))
		run++;
	return run;
}

/* Length of the letters before an id's digits; 0 if the token, longer than an id, has none. */
static size_t letters_before_id(const char *token, size_t length)
{
	const size_t letters = length - ID_DIGITS;

	return run_length(token, letters, is_letter) == letters &&
			       run_length(token + letters, ID_DIGITS, is_hexadecimal) == ID_DIGITS
		       ? letters
		       : 0;
}

/* The first rule that fits a token: digits, hexadecimal, letters and digits, digits and letters, itself. */
static void append_token(const struct name_rules *rules, struct buffer *buffer, const char *token,
			 size_t length)
{
	const size_t before_id = rules->knows_ids && length > ID_DIGITS ? letters_before_id(token, length)
									: 0;
	size_t digits = run_length(token, length, is_digit);
	size_t letters;

	if (digits == length) {
		buffer_append_text(buffer, "{N}");
		return;
	}
	letters = run_length(token, length, is_letter);
	if (length >= 2 && letters < length && run_length(token, length, is_hexadecimal) == length) {
		buffer_append_text(buffer, "{H}");
	} else if (before_id != 0) {
		buffer_append(buffer, token, before_id);
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

void pattern_append(struct buffer *buffer, const char *name, size_t length, const struct name_rules *rules)
{
	size_t token = 0;
	size_t i = 0;

	while (i < length) {
		bool is_separator;
		const size_t used = character_length(rules, name + i, length - i, &is_separator);

		if (is_separator) {
			if (i > token)
				append_token(rules, buffer, name + token, i - token);
			buffer_append(buffer, name + i, used);
			token = i + used;
		}
		i += used;
	}
	if (i > token)
		append_token(rules, buffer, name + token, i - token);
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

/* --- pods --- */

enum {
	POD_SUFFIX =
		5, /* characters of the random end (maxNameLength of k8s.io/apiserver/pkg/storage/names) */
	POD_HASH_MIN = 4,
	POD_HASH_MAX = 10, /* digits of a 32-bit number, encoded one by one (SafeEncodeString()) */
};

static bool is_of_name(char character)
{
	return is_digit(character) || (character >= 'a' && character <= 'z');
}

/* The characters of random names: no vowels and nothing like them (k8s.io/apimachinery/pkg/util/rand). */
static bool is_random(char character)
{
	return character != '\0' && strchr("bcdfghjklmnpqrstvwxz2456789", character) != NULL;
}

static bool consists_of(const char *text, size_t length, bool (*belongs)(char character))
{
	return length != 0 && run_length(text, length, belongs) == length;
}

/* The hash of a template: letters and digits. */
static bool is_hash(const char *text, size_t length)
{
	size_t digits = 0;

	for (size_t i = 0; i < length; i++)
		digits += is_digit(text[i]);
	return length >= POD_HASH_MIN && length <= POD_HASH_MAX && digits != 0 && digits != length &&
	       consists_of(text, length, is_of_name);
}

/* The token that ends at `length`, behind a '-' that is not the first character; `length` where there is
 * none. */
static size_t begin_of_token(const char *pod, size_t length)
{
	size_t begin = length;

	while (begin > 0 && pod[begin - 1] != '-')
		begin--;
	return begin > 1 ? begin : length;
}

/* NAME-HASH-SUFFIX of a Deployment, NAME-TIME-SUFFIX of a CronJob, NAME-SUFFIX of others, NAME-N of a
 * StatefulSet. */
static void append_pod(struct buffer *buffer, const char *pod, size_t length)
{
	const size_t last = begin_of_token(pod, length), size = length - last;
	size_t before;

	if (consists_of(pod + last, size, is_digit)) {
		buffer_append(buffer, pod, last);
		buffer_append_text(buffer, "{N}");
		return;
	}
	if (size != POD_SUFFIX || !consists_of(pod + last, size, is_of_name)) {
		buffer_append(buffer, pod, length);
		return;
	}
	before = begin_of_token(pod, last - 1);
	if (is_hash(pod + before, last - 1 - before)) {
		buffer_append(buffer, pod, before);
		buffer_append_text(buffer, "{H}-{N}");
	} else if (consists_of(pod + before, last - 1 - before, is_digit)) {
		buffer_append(buffer, pod, before);
		buffer_append_text(buffer, "{N}-{N}");
	} else if (consists_of(pod + last, size, is_random)) {
		buffer_append(buffer, pod, last);
		buffer_append_text(buffer, "{N}");
	} else {
		buffer_append(buffer, pod, length);
	}
}

void pattern_append_container(struct buffer *buffer, const char *name, size_t length)
{
	const char *const end = name + length;
	const char *pod = memchr(name, '/', length), *container;

	container = pod != NULL ? memchr(pod + 1, '/', (size_t)(end - pod - 1)) : NULL;
	if (container == NULL) {
		pattern_append(buffer, name, length, &name_rules_ctop);
		return;
	}
	pod++;
	buffer_append(buffer, name, (size_t)(pod - name));
	append_pod(buffer, pod, (size_t)(container - pod));
	buffer_append(buffer, container, (size_t)(end - container));
}
