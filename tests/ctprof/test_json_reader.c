/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader of JSON against the public cases and against what it must hand over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "base/json_reader.h"
#include "json_walk.h"

static const struct {
	const char *name;
	bool accepted;
	const char *text;
	size_t length;
} cases[] = {
#define JSON_CASE(name, accepted, text) {name, accepted, text, sizeof(text) - 1},
#include "json_cases.def"
#undef JSON_CASE
};

/* However a text is cut and whether it is wanted or not, the same becomes of it. */
static void check_text(const char *name, const char *text, size_t length, bool accepted)
{
	struct buffer outputs[8] = {0};

	for (size_t kind = 0; kind < 2; kind++) {
		struct json_outcome whole = {0};

		for (size_t i = 0; i < 8; i++) {
			size_t step = i == 0 ? length + 1 : i;
			struct json_outcome outcome = kind == 0 ? json_walk_past(text, length, step)
								: json_walk(text, length, step, &outputs[i]);

			if (i == 0)
				whole = outcome;
			if (outcome.result != (accepted ? 0 : -EBADMSG) ||
			    (outcome.damage == NULL) != accepted || outcome.damage != whole.damage ||
			    outcome.offset != whole.offset)
				fail_msg("%s: in steps of %zu %d at byte %zu: %s", name, step, outcome.result,
					 (size_t)outcome.offset,
					 outcome.damage != NULL ? outcome.damage : "");
		}
	}
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(outputs[i].length, outputs[0].length);
		if (outputs[0].length != 0)
			assert_memory_equal(outputs[i].data, outputs[0].data, outputs[0].length);
	}
	for (size_t i = 0; i < 8; i++)
		buffer_release(&outputs[i]);
}

static void test_public_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_text(cases[i].name, cases[i].text, cases[i].length, cases[i].accepted);
}

static char *repeat(const char *text, size_t count)
{
	size_t length = strlen(text);
	char *copies = memory_allocate(count * length + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(copies + i * length, text, length);
	copies[count * length] = '\0';
	return copies;
}

/* The two public cases that are too long for the table, and where the limit of depth lies. */
static void test_depth(void **state)
{
	char *arrays = repeat("[", 100000), *both = repeat("[{\"\":", 50000);
	char *begin = repeat("[", 128), *end = repeat("]", 128);
	char *deep = memory_format("%s%s", begin, end), *deepest = memory_format("%s1%s", begin + 1, end + 1);

	(void)state;
	check_text("n_structure_100000_opening_arrays", arrays, strlen(arrays), false);
	check_text("n_structure_open_array_object", both, strlen(both), false);
	assert_int_equal(json_walk_past(deepest, strlen(deepest), 64).result, 0);
	assert_string_equal(json_walk_past(deep, strlen(deep), 64).damage,
			    "more than 127 objects and arrays lie in each other");
	assert_int_equal(json_walk_past(deep, strlen(deep), 64).offset, 127);
	free(arrays);
	free(both);
	free(begin);
	free(end);
	free(deep);
	free(deepest);
}

static void test_values(void **state)
{
	static const char *const texts[][2] = {
		{" { \"a\" : [ 1 , true , false , null ] , \"\" : { } } ",
		 "{\"a\":[1,true,false,null],\"\":{}}"},
		{"[-0, 0.50, 1E+2, 18446744073709551616]", "[-0,0.50,1E+2,18446744073709551616]"},
		{"\"\\b\\f\\n\\r\\t\\/\\u0041\\u00e4\\u20ac\\ud83d\\ude00\"",
		 "\"\\u0008\\u000c\\u000a\\u000d\\u0009/A\u00e4\u20ac\U0001f600\""},
		{"\"a\\u0000b\\\"\\\\\"", "\"a\\u0000b\\u0022\\u005c\""},
		{"{\"\\u0061\u00e4\":\"\u00e4\\u0061\"}", "{\"a\u00e4\":\"\u00e4a\"}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t step = 1; step < 64; step++) {
			struct buffer output = {0};

			assert_int_equal(json_walk(texts[i][0], strlen(texts[i][0]), step, &output).result,
					 0);
			assert_string_equal(output.data, texts[i][1]);
			buffer_release(&output);
		}
	}
}

/* Endless text, as long as it is wanted. */
struct stream {
	const char *begin, *middle, *end;
	size_t count; /* of the middle's pieces that are still to come */
};

static ssize_t fetch_stream(void *stream_pointer, const char **ret_text)
{
	struct stream *stream = stream_pointer;

	*ret_text = stream->end;
	if (stream->begin != NULL) {
		*ret_text = stream->begin;
		stream->begin = NULL;
	} else if (stream->count != 0) {
		*ret_text = stream->middle;
		stream->count--;
	} else {
		stream->end = "";
	}
	return (ssize_t)strlen(*ret_text);
}

/* What is not wanted takes no memory, however long it is. */
static void test_memory_for_what_is_skipped(void **state)
{
	static const struct stream streams[] = {
		{"\"", "xxxxxxxxxxxxxxxx", "\"", 4 << 20},
		{"{\"", "\u00e4\\n\\u00e4xxx\\ud83d\\ude00", "\":1}", 1 << 20},
		{"1.", "1234567812345678", "e5", 4 << 20},
		{" ", "\t \n ", "1", 4 << 20},
		{"[0", ",{\"a\":[1]}", "]", 1 << 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct stream stream = streams[i];
		struct json_reader reader;

		json_reader_begin(&reader, "", 0, fetch_stream, &stream);
		assert_int_equal(json_reader_skip(&reader), 0);
		assert_int_equal(json_reader_finish(&reader), 0);
		assert_in_range(reader.text.capacity, 0, 256);
		json_reader_release(&reader);
	}
}

/* A name is kept as far as it is wanted; a string that is wanted has a limit. */
static void test_long_texts(void **state)
{
	struct stream stream = {"{\"", "xxxxxxxxxxxxxxxx", "\":1}", 4 << 20};
	struct stream value = {"\"", "xxxxxxxxxxxxxxxx", "\"", 1 << 16};
	struct json_scalar scalar;
	struct json_reader reader;
	const char *name;
	size_t length;

	(void)state;
	json_reader_begin(&reader, "", 0, fetch_stream, &stream);
	assert_int_equal(json_reader_type(&reader, &(enum json_type){0}), 0);
	json_reader_enter(&reader);
	assert_int_equal(json_reader_member(&reader, 20, &name, &length), 1);
	assert_int_equal(length, 20);
	assert_memory_equal(name, "xxxxxxxxxxxxxxxxxxxx", 20);
	assert_in_range(reader.text.capacity, 0, 256);
	assert_int_equal(json_reader_skip(&reader), 0);
	assert_int_equal(json_reader_member(&reader, 20, &name, &length), 0);
	json_reader_release(&reader);

	json_reader_begin(&reader, "", 0, fetch_stream, &value);
	assert_int_equal(json_reader_scalar(&reader, &scalar), 0);
	assert_int_equal(scalar.length, JSON_TEXT_MAX);
	json_reader_release(&reader);
	value = (struct stream){"\"", "xxxxxxxxxxxxxxxx", "x\"", 1 << 16};
	json_reader_begin(&reader, "", 0, fetch_stream, &value);
	assert_int_equal(json_reader_scalar(&reader, &scalar), -EBADMSG);
	assert_string_equal(reader.damage, "a string or number is longer than 1048576 bytes");
	json_reader_release(&reader);
}

struct failing {
	struct json_pieces pieces;
	size_t count; /* pieces before the failure */
};

static ssize_t fetch_failing(void *failing_pointer, const char **ret_text)
{
	struct failing *failing = failing_pointer;

	return failing->count-- != 0 ? json_pieces_fetch(&failing->pieces, ret_text) : -EIO;
}

/* What the next piece failed with is what everything fails with from then on, and no damage of the text. */
static void test_failing_fetch(void **state)
{
	static const char text[] = " {\"a\":[1,2.5e3,\"\\ud83d\\ude00\u00e4\",true],\"b\":null} ";

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		struct failing failing = {{.text = text, .length = sizeof(text) - 1, .step = 1}, i};
		struct json_reader reader;

		json_reader_begin(&reader, "", 0, fetch_failing, &failing);
		assert_int_equal(json_reader_skip(&reader) < 0 ? reader.result : json_reader_finish(&reader),
				 -EIO);
		assert_null(reader.damage);
		assert_int_equal(json_reader_finish(&reader), -EIO);
		json_reader_release(&reader);
		free(failing.pieces.piece);
	}
}

/* The short cut for numbers takes those, and only those, that the grammar and 19 digits allow. */
static void test_short_cut_for_numbers(void **state)
{
	static const char *const digits = "98765432101234567890123";

	(void)state;
	for (size_t length = 0; length <= 22; length++) {
		for (int following = 1; following < 256; following++) {
			for (size_t zeros = 0; zeros < 2; zeros++) {
				struct json_reader reader;
				uint64_t value = 7, wanted;
				size_t count = length + zeros;
				bool is_digit = following >= '0' && following <= '9';
				char *text = memory_format("ab%.*s%.*s%c%s", (int)zeros, "0", (int)length,
							   digits, following, "}}}}}}}}}}}}}}}}}}}}");
				bool fits = count >= 1 && count + is_digit <= JSON_DIGITS_MAX &&
					    (zeros == 0 || count + is_digit == 1);
				bool good = fits && (is_digit || following == ',' || following == '}');
				bool taken;

				if (is_digit && count == 0)
					good = true;
				wanted = strtoull(text + 2, NULL, 10);
				json_reader_begin(&reader, text, strlen(text), NULL, NULL);
				taken = json_reader_take_number(&reader, 2, &value);
				assert_int_equal(taken, good);
				assert_int_equal(value, good ? wanted : 7);
				assert_ptr_equal(reader.next, good ? text + 2 + count + is_digit : text);
				free(text);
			}
		}
	}
}

/* The same of elements of arrays, which may be negative; what it leaves is taken or refused in full. */
static void test_short_cut_for_elements(void **state)
{
#define MORE "                        "
	static const struct {
		const char *text;
		size_t taken; /* bytes; 0: it is left */
		uint64_t value;
	} elements[] = {
		{"7,8]" MORE, 1, 7},
		{"-0]" MORE, 2, 0},
		{"-5]" MORE, 2, (uint64_t)-5},
		{"9999999999999999999," MORE, 19, UINT64_C(9999999999999999999)},
		{"-9223372036854775808," MORE, 20, (uint64_t)INT64_MIN},
		{"-9223372036854775809," MORE, 0, 0},
		{"18446744073709551615]" MORE, 0, 0},
		{"07]" MORE, 0, 0},
		{"-]" MORE, 0, 0},
		{"]" MORE, 0, 0},
		{"7 ]" MORE, 0, 0},
		{"7}" MORE, 0, 0},
		{"7.5]" MORE, 0, 0},
		{"7e1]" MORE, 0, 0},
		{" 7]" MORE, 0, 0},
		{"\"7\"]" MORE, 0, 0},
		{",7]" MORE, 0, 0},
		{"7]", 0, 0}, /* the piece may end in the middle of the number */
	};
#undef MORE

	(void)state;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		for (int first = 0; first < 2; first++) {
			char *text = memory_format("%s%s", first ? "[" : "[1,", elements[i].text);
			struct json_scalar scalar;
			struct json_reader reader;
			uint64_t value = 3;

			json_reader_begin(&reader, text, strlen(text), NULL, NULL);
			json_reader_enter(&reader);
			if (!first) {
				assert_int_equal(json_reader_element(&reader), 1);
				assert_int_equal(json_reader_scalar(&reader, &scalar), 0);
			}
			assert_int_equal(json_reader_take_element(&reader, &value), elements[i].taken != 0);
			assert_true(value == (elements[i].taken != 0 ? elements[i].value : 3));
			assert_ptr_equal(reader.next, text +
							      (first                    ? 1
							       : elements[i].taken != 0 ? 3
											: 2) +
							      elements[i].taken);
			json_reader_release(&reader);
			free(text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public_cases),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_memory_for_what_is_skipped),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_failing_fetch),
		cmocka_unit_test(test_short_cut_for_numbers),
		cmocka_unit_test(test_short_cut_for_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
