/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/unicode.h"

static void parses_numbers_strictly(void **state)
{
	static const struct {
		const char *text;
		bool valid;
		uint64_t value;
	} cases[] = {
		{"0", true, 0},
		{"+7", true, 7},
		{"007", true, 7},
		{"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0},
		{"99999999999999999999", false, 0},
		{"", false, 0},
		{"+", false, 0},
		{"-1", false, 0},
		{"1.0", false, 0},
		{"1e3", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"++1", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 42;

		assert_int_equal(number_parse_u64(cases[i].text, strlen(cases[i].text), &value),
				 cases[i].valid);
		assert_int_equal(value, cases[i].valid ? cases[i].value : 42);
	}
}

static void parses_signed_limits(void **state)
{
	int32_t small = 0;
	uint32_t unsigned_small = 0;

	(void)state;
	assert_true(number_parse_i32("-2147483648", 11, &small));
	assert_int_equal(small, INT32_MIN);
	assert_false(number_parse_i32("-2147483649", 11, &small));
	assert_false(number_parse_i32("2147483648", 10, &small));
	assert_true(number_parse_i32("+2147483647", 11, &small));
	assert_int_equal(small, INT32_MAX);
	assert_false(number_parse_i32("-18446744073709551616", 21, &small));
	assert_false(number_parse_i32("-+1", 3, &small));
	assert_false(number_parse_i32("-", 1, &small));
	assert_int_equal(small, INT32_MAX);
	assert_true(number_parse_u32("4294967295", 10, &unsigned_small));
	assert_false(number_parse_u32("4294967296", 10, &unsigned_small));
}

static void saturates(void **state)
{
	(void)state;
	assert_true(number_add_saturating(UINT64_MAX, 1) == UINT64_MAX);
	assert_true(number_add_saturating(2, 3) == 5);
	assert_true(number_multiply_saturating(UINT64_MAX / 1024 + 1, 1024) == UINT64_MAX);
	assert_true(number_multiply_saturating(512, 1024) == 524288);
}

/* A number is written as printf(3) writes it, into no more bytes than it has digits. */
static void assert_written(uint64_t value)
{
	char expected[NUMBER_DIGITS_MAX + 1], text[NUMBER_DIGITS_MAX + 1];
	size_t length = (size_t)snprintf(expected, sizeof(expected), "%" PRIu64, value);

	memset(text, 'x', sizeof(text));
	assert_int_equal(number_write_u64(value, text), length);
	assert_memory_equal(text, expected, length);
	for (size_t i = length; i < sizeof(text); i++)
		assert_int_equal(text[i], 'x');
}

static void writes_numbers(void **state)
{
	uint64_t power = 1, random = 88172645463325252u;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		assert_written(i);
	for (int i = 0; i < NUMBER_DIGITS_MAX; i++, power *= 10) {
		assert_written(power - 1);
		assert_written(power);
		assert_written(power + 1);
	}
	for (int i = 0; i < 64; i++) {
		assert_written((UINT64_C(1) << i) - 1);
		assert_written(UINT64_C(1) << i);
		assert_written(UINT64_MAX >> i);
	}
	/* of every length, by xorshift */
	for (int i = 0; i < 100000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		assert_written(random >> i % 64);
	}
}

static void refuses_invalid_utf8(void **state)
{
	static const char *const invalid[] = {
		"\x80",
		"\xc0\xaf",
		"\xc1\x81",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xe2\x82",
		"\xff",
	};
	uint32_t scalar = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		assert_int_equal(unicode_decode(invalid[i], strlen(invalid[i]), &scalar), 0);
		assert_int_equal(scalar, 1);
		assert_false(unicode_is_valid(invalid[i], strlen(invalid[i])));
	}
	assert_int_equal(unicode_decode("\xe2\x82\xac", 3, &scalar), 3);
	assert_int_equal(scalar, 0x20ac);
	assert_true(unicode_is_valid("a\xf4\x8f\xbf\xbf", 5));
}

static void every_scalar_survives_encoding(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	for (uint32_t scalar = 0; scalar <= 0x10ffff; scalar++) {
		uint32_t decoded = 0;

		if (scalar >= 0xd800 && scalar <= 0xdfff)
			continue;
		buffer_clear(&buffer);
		unicode_append(&buffer, scalar);
		if (unicode_decode(buffer.data, buffer.length, &decoded) != buffer.length ||
		    decoded != scalar)
			fail_msg("U+%04X becomes U+%04X", scalar, decoded);
	}
	buffer_release(&buffer);
}

static void trims_unicode_white_space(void **state)
{
	/* U+0085, U+00A0 and U+2003 are white space, U+001C is not */
	static const struct {
		const char *text, *trimmed;
	} cases[] = {
		{"  a b \n", "a b"},
		{"\xc2\x85x\xc2\xa0", "x"},
		{"\xe2\x80\x83x\xe2\x80\x83", "x"},
		{"\x1cx\x1c", "\x1cx\x1c"},
		{" \t\r\n", ""},
		{"x\x80 ", "x\x80"},
		{"\xa0 x", "\xa0 x"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text;
		size_t length = unicode_trim(&text, strlen(text));

		assert_int_equal(length, strlen(cases[i].trimmed));
		assert_memory_equal(text, cases[i].trimmed, length);
	}
}

static void makes_names_printable(void **state)
{
	static const char name[] = "a\x1b[2J\n\xffz\xc2\x9b\xe2\x80\xae\xe2\x82\xac";
	static const char *const invisible[] = {"\u00ad", "\u034f",     "\u115f",     "\u180e", "\u200b",
						"\u200d", "\u2060",     "\u206f",     "\u3164", "\ufe0f",
						"\ufeff", "\U000e0001", "\U000e0041", "\ufffb"};
	struct buffer buffer = {0};

	(void)state;
	unicode_append_printable(&buffer, name, sizeof(name) - 1, "?");
	assert_string_equal(buffer.data, "a?[2J??z??\xe2\x82\xac");
	/* names that would look like others: zero width space, tag, joiner, soft hyphen, variation selectors
	 */
	for (size_t i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++) {
		char *like = memory_format("sshd%s", invisible[i]);

		buffer_clear(&buffer);
		unicode_append_printable(&buffer, like, strlen(like), "?");
		assert_string_equal(buffer.data, "sshd?");
		free(like);
	}
	buffer_clear(&buffer);
	buffer_release(&buffer);
}

/* Folding works in the locale C, too. */
static void folds_case(void **state)
{
	(void)state;
	assert_int_equal(unicode_fold('Q'), 'q');
	assert_int_equal(unicode_fold('_'), '_');
	assert_int_equal(unicode_fold(0x419), 0x439);     /* Й */
	assert_int_equal(unicode_fold(0x3c2), 0x3c3);     /* ς as σ */
	assert_int_equal(unicode_fold(0x3a3), 0x3c3);     /* Σ */
	assert_int_equal(unicode_fold(0x10400), 0x10428); /* a Deseret letter */
	assert_int_equal(unicode_fold(0x65e5), 0x65e5);   /* has no case */
	/* unchanged: their lower case has another length in UTF-8 */
	assert_int_equal(unicode_fold(0x212a), 0x212a);
	assert_int_equal(unicode_fold(0x17f), 0x17f);
	assert_true(unicode_has_capital("aB"));
	assert_true(unicode_has_capital("йЦ"));
	assert_false(unicode_has_capital("aйß日_"));
	assert_false(unicode_has_capital("\xd0"));
	assert_true(unicode_contains("xЙЦУ", strlen("xЙЦУ"), "йц"));
	assert_false(unicode_contains("xЙ", strlen("xЙ"), "йц"));
	assert_true(unicode_contains("", 0, ""));
	assert_true(unicode_contains("a\0B", 3, "b"));
}

/* Each byte outside valid UTF-8 becomes an escape of its own; text that is already escaped stays. */
static void escapes_bytes(void **state)
{
	static const struct {
		const char *text, *escaped;
	} cases[] = {
		{"a\xffz", "a\\xffz"},
		{"x\xe8\xa1", "x\\xe8\\xa1"},
		{"\xd0\xb9\xd0", "\xd0\xb9\\xd0"},
		{"a\\xe8\x1b\t\xc2\x9b", "a\\xe8\x1b\t\xc2\x9b"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
	};
	struct buffer buffer = {0};
	unsigned char byte = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_clear(&buffer);
		unicode_append_escaped(&buffer, cases[i].text, strlen(cases[i].text));
		assert_string_equal(buffer.data, cases[i].escaped);
	}
	buffer_release(&buffer);
	assert_int_equal(unicode_decode_escape("\\xe8z", 5, &byte), 4);
	assert_int_equal(byte, 0xe8);
	assert_int_equal(unicode_decode_escape("\\x2d", 4, &byte), 4);
	assert_int_equal(byte, '-');
	byte = 7;
	assert_int_equal(unicode_decode_escape("\\xe8", 3, &byte), 0);
	assert_int_equal(unicode_decode_escape("\\xE8", 4, &byte), 0);
	assert_int_equal(unicode_decode_escape("xe8\\", 4, &byte), 0);
	assert_int_equal(byte, 7);
}

static void measures_cells(void **state)
{
	int cells;

	(void)state;
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		skip_test("there is no locale C.UTF-8");
	/* two wide characters, then a letter with a combining accent */
	assert_int_equal(unicode_width("\xe6\xbc\xa2\xe5\xad\x97"
				       "e\xcc\x81",
				       9),
			 5);
	assert_int_equal(unicode_prefix("\xe6\xbc\xa2\xe5\xad\x97", 6, 3, &cells), 3);
	assert_int_equal(cells, 2);
	assert_int_equal(unicode_prefix("e\xcc\x81x", 4, 1, &cells), 3);
	assert_int_equal(unicode_prefix("abc", 3, 10, NULL), 3);
	assert_int_equal(unicode_prefix("abc", 3, 0, NULL), 0);
}

static void carries_sentences(void **state)
{
	struct error error = {""};

	(void)state;
	assert_int_equal(error_set(&error, -EINVAL, "%s: no such axis", "pcom"), -EINVAL);
	assert_string_equal(error.text, "pcom: no such axis");
	/* a name that is too long leaves room for the reason */
	assert_int_equal(error_set(&error, -ENAMETOOLONG, "cannot open %05000d: too long", 0), -ENAMETOOLONG);
	assert_memory_equal(error.text, "cannot open 000", 15);
	assert_string_equal(strstr(error.text, ": too long"), ": too long");
	assert_int_equal(error_set(NULL, -ENOENT, "nobody listens"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_numbers_strictly),
		cmocka_unit_test(parses_signed_limits),
		cmocka_unit_test(saturates),
		cmocka_unit_test(writes_numbers),
		cmocka_unit_test(refuses_invalid_utf8),
		cmocka_unit_test(every_scalar_survives_encoding),
		cmocka_unit_test(trims_unicode_white_space),
		cmocka_unit_test(makes_names_printable),
		cmocka_unit_test(folds_case),
		cmocka_unit_test(escapes_bytes),
		cmocka_unit_test(measures_cells),
		cmocka_unit_test(carries_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
