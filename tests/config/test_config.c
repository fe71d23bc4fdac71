/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/config.h"
#include "base/memory.h"

/* The lines of a text as "1 [section]", "2 key=value", "3 ! problem", each with a newline. */
static void assert_lines(const char *text, const char *expected)
{
	struct config config;
	struct buffer lines = {0};

	config_parse(text, strlen(text), &config);
	buffer_append_text(&lines, "");
	for (size_t i = 0; i < config.count; i++) {
		const struct config_line *line = &config.lines[i];

		if (line->kind == CONFIG_SECTION && line->value != NULL)
			buffer_append_format(&lines, "%zu [%s] ! %s\n", line->number, line->name,
					     line->value);
		else if (line->kind == CONFIG_SECTION)
			buffer_append_format(&lines, "%zu [%s]\n", line->number, line->name);
		else if (line->kind == CONFIG_SETTING)
			buffer_append_format(&lines, "%zu %s=%s\n", line->number, line->name, line->value);
		else
			buffer_append_format(&lines, "%zu ! %s\n", line->number, line->value);
	}
	assert_string_equal(lines.data, expected);
	buffer_release(&lines);
	config_release(&config);
}

static void test_lines(void **state)
{
	(void)state;
	assert_lines("", "");
	assert_lines("\n  \n# interval = 5\n\t# x\n", "");
	assert_lines("interval = 5", "1 interval=5\n");
	assert_lines("\xef\xbb\xbfinterval=5\r\n  sort-by\t= cpu% \r\n", "1 interval=5\n2 sort-by=cpu%\n");
	assert_lines("filter =\n", "1 filter=\n");
	assert_lines("a = b = c\n", "1 a=b = c\n");
	assert_lines("[tab mine]\nx = 1\n[ tab \t other ] # mine\n", "1 [tab mine]\n2 x=1\n3 [tab other]\n");
}

static void test_comments_and_quotes(void **state)
{
	(void)state;
	assert_lines("a = 5 # five\n", "1 a=5\n");
	assert_lines("a = # nothing\n", "1 a=\n");
	assert_lines("a = b#c\n", "1 a=b#c\n");
	assert_lines("a = \" b # c \"\n", "1 a= b # c \n");
	assert_lines("a = \"b\" # c\n", "1 a=b\n");
	assert_lines("a = \"say \\\"x\\\" \\\\ \\d\"\n", "1 a=say \"x\" \\ \\d\n");
	assert_lines("a = b \"c\"\n", "1 a=b \"c\"\n");
}

static void test_problems(void **state)
{
	(void)state;
	assert_lines("interval 5\nb = 1\n",
		     "1 ! a line is KEY = VALUE, [tab NAME] or a comment, which begins with #\n2 b=1\n");
	assert_lines("= 5\n", "1 ! a key is one word\n");
	assert_lines("two words = 5\n", "1 ! a key is one word\n");
	assert_lines("a = \"b\n", "1 ! a value that begins with a \" ends with one\n");
	assert_lines("a = \"b\" c\n", "1 ! a value that begins with a \" ends with one\n");
	assert_lines("[tab x\n", "1 [] ! a section's name ends with ]\n");
	assert_lines("[]\n[ ]\n",
		     "1 [] ! a section has a name: [tab NAME]\n2 [] ! a section has a name: [tab NAME]\n");
	assert_lines("[tab x] y\n", "1 [] ! nothing stands behind the ] of a section\n");
	assert_lines("a = \xff\n", "1 ! this is no text in UTF-8\n");
}

static void test_bounds(void **state)
{
	struct buffer text = {0};
	struct config config;

	(void)state;
	buffer_append_text(&text, "a = ");
	while (text.length <= CONFIG_LINE_MAX)
		buffer_append_char(&text, 'x');
	buffer_append_text(&text, "\nb = 1\n");
	assert_lines(text.data, "1 ! the line is too long\n2 b=1\n");
	buffer_clear(&text);
	for (int i = 0; i < CONFIG_LINES_MAX + 5; i++)
		buffer_append_text(&text, "a=1\n");
	config_parse(text.data, text.length, &config);
	assert_int_equal(config.count, CONFIG_LINES_MAX + 1);
	assert_int_equal(config.lines[CONFIG_LINES_MAX].kind, CONFIG_PROBLEM);
	config_release(&config);
	config_parse("a\0 = 1", 6, &config);
	assert_int_equal(config.count, 1);
	assert_int_equal(config.lines[0].kind, CONFIG_PROBLEM);
	config_release(&config);
	buffer_release(&text);
}

static void test_values_read_back(void **state)
{
	static const char *const values[] = {"",   "5",     " x",      "x ",        "a # b",
					     "#a", "a#b",   "\"",      "\"a\"",     "a \"b\"",
					     "\\", " \\\"", "\t# x\t", "a\t# \\ b", "日本語 # ♥"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		struct buffer text = {0};
		struct config config;

		config_append_setting(&text, "key", values[i]);
		config_parse(text.data, text.length, &config);
		assert_int_equal(config.count, 1);
		assert_int_equal(config.lines[0].kind, CONFIG_SETTING);
		assert_string_equal(config.lines[0].value, values[i]);
		config_release(&config);
		buffer_release(&text);
	}
}

static void assert_edit(const char *text, const struct config_change *changes, size_t count,
			const char *expected)
{
	struct buffer result = {0};

	assert_int_equal(config_edit(text, strlen(text), "tab mine", changes, count, &result, NULL), 0);
	buffer_append_text(&result, "");
	assert_string_equal(result.data, expected);
	buffer_release(&result);
}

static void test_edit(void **state)
{
	static const struct config_change changes[] = {
		{"columns", "CPU%, RSS"}, {"sort", "RSS"}, {"title", NULL}};

	(void)state;
	assert_edit("", changes, 3, "[tab mine]\ncolumns = CPU%, RSS\nsort = RSS\n");
	assert_edit("a = 1\n", &changes[2], 1, "a = 1\n");
	assert_edit("interval = 5", changes, 1, "interval = 5\n\n[tab mine]\ncolumns = CPU%, RSS\n");
	assert_edit("# top\ninterval=5 # s\nwhat\n\n[tab mine]\n# about\n  columns = A # why\ntitle = T\n"
		    "unknown = 1\n\n# next\n[tab other]\ncolumns = B\n",
		    changes, 3,
		    "# top\ninterval=5 # s\nwhat\n\n[tab mine]\n# about\ncolumns = CPU%, RSS # why\n"
		    "unknown = 1\nsort = RSS\n\n# next\n[tab other]\ncolumns = B\n");
	/* what stands behind a damaged head belongs to no section */
	assert_edit("[tab mine]\nsort = X\n[tab bad\nsort = Y\n", changes, 2,
		    "[tab mine]\nsort = RSS\ncolumns = CPU%, RSS\n[tab bad\nsort = Y\n");
	/* of several lines of a key the last one counts, and stays */
	assert_edit("[TAB Mine]\ncolumns = A\nsort = X\ncolumns = B\n", changes, 2,
		    "[TAB Mine]\nsort = RSS\ncolumns = CPU%, RSS\n");
	assert_edit("[tab mine]\ncolumns = A\n[tab b]\nsort = C\n[tab mine]\nx = 1", changes, 2,
		    "[tab mine]\ncolumns = CPU%, RSS\n[tab b]\nsort = C\n[tab mine]\nx = 1\nsort = RSS\n");
	/* a byte order mark stays and is not part of the first line */
	assert_edit("\xef\xbb\xbf[tab mine]\r\ncolumns = A\ntitle = T\n", changes, 3,
		    "\xef\xbb\xbf[tab mine]\r\ncolumns = CPU%, RSS\nsort = RSS\n");
	assert_edit("\xef\xbb\xbfinterval = 5", changes, 1,
		    "\xef\xbb\xbfinterval = 5\n\n[tab mine]\ncolumns = CPU%, RSS\n");
}

/* Refuses to write a file that could not be read back; the old one stays. */
static void assert_no_edit(const struct buffer *text, const struct config_change *change,
			   const char *sentence)
{
	struct buffer result = {0};
	struct error error = {""};

	assert_int_equal(config_edit(text->data, text->length, "tab mine", change, 1, &result, &error),
			 -EFBIG);
	assert_string_equal(error.text, sentence);
	buffer_release(&result);
}

static void test_edit_within_bounds(void **state)
{
	const struct config_change change = {"columns", "CPU%, RSS"}, removal = {"columns", NULL};
	struct config_change wide = {"columns", NULL};
	struct buffer text = {0}, value = {0}, result = {0};

	(void)state;
	/* the new section has three lines */
	for (int i = 0; i < CONFIG_LINES_MAX - 3; i++)
		buffer_append_text(&text, "a=1\n");
	assert_int_equal(config_edit(text.data, text.length, "tab mine", &change, 1, &result, NULL), 0);
	buffer_append_text(&text, "a=1\n");
	assert_no_edit(&text, &change, "only its first 10000 lines are read");
	buffer_append_text(&text, "a=1\na=1\na=1\n");
	assert_no_edit(&text, &removal, "only its first 10000 lines are read");
	buffer_clear(&text);
	buffer_append_text(&text, "# ");
	while (text.length < CONFIG_BYTES_MAX - 20)
		buffer_append_char(&text, 'x');
	assert_no_edit(&text, &change, "it would exceed the 256 KiB that ctop reads");
	while (value.length < CONFIG_LINE_MAX)
		buffer_append_text(&value, "CPU%, ");
	wide.value = value.data;
	buffer_clear(&text);
	buffer_append_text(&text, "[tab mine]\n");
	assert_no_edit(&text, &wide, "the line of columns would be longer than 4096 bytes");
	buffer_release(&text);
	buffer_release(&value);
	buffer_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_comments_and_quotes),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_edit_within_bounds),
		cmocka_unit_test(test_values_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
