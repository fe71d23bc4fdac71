/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "tests/cmocka_include.h"

#include "report/json_text.h"

static void assert_string(const char *text, size_t length, const char *json)
{
	struct buffer buffer = {0};

	json_append_string(&buffer, text, length);
	assert_int_equal(buffer.length, strlen(json));
	assert_memory_equal(buffer.data, json, buffer.length);
	buffer_release(&buffer);
}

static void test_strings(void **state)
{
	(void)state;
	assert_string("", 0, "\"\"");
	assert_string("plain/text", 10, "\"plain/text\"");
	assert_string("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
	assert_string("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
	assert_string("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"");
	assert_string("\xc2\x80\xc2\x9b"
		      "1m\xc2\x9f\xc2\xa0",
		      10, "\"\\u0080\\u009b1m\\u009f\xc2\xa0\"");
	assert_string("\xe0\xc2\x9b\x9b", 4, "\"\xef\xbf\xbd\\u009b\xef\xbf\xbd\"");
	assert_string("\u202ea\u2028\U000e0041", 11, "\"\\u202ea\\u2028\\udb40\\udc41\"");
	assert_string("\xc3\xa9\xff\xe2\x82", 5, "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_texts(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	json_append_text(&buffer, "x");
	json_append_text(&buffer, NULL);
	assert_string_equal(buffer.data, "\"x\"null");
	buffer_release(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
