/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fuzz target on a fixed walk of mutations, so that every run of the tests takes a short one. It ends by
 * abort() or by the sanitizers, never by a comparison here.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "snapshot_example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	TEXT_ROUNDS = 10000,
	FILE_ROUNDS = 4000,
	CHANGES_MAX = 4,
};

static const char *const tokens[] = {
	"{",
	"}",
	"[",
	"]",
	",",
	":",
	"\"",
	"null",
	"true",
	"false",
	"-1",
	"0",
	"18446744073709551615",
	"18446744073709551616",
	"-2147483649",
	"1e99",
	"\\ud800",
	"\\udc00",
	"\\u0000",
	"\xff",
	"\xed\xa0\x80",
	"\"ctop\":{}",
	"\"missing\":{\"io\":\"x\"}",
	"\"threads\":[]",
	"\"tid\":1",
	"\"heap\":[{}]",
	"\"titles\":[{}]",
	"\"wait_classes\":true",
	"\"wait_class\":\"x\"",
	"\"missing\":{\"wait\":\"read\"}",
	"\"tallies\":{\"io\":{\"missed\":{\"y\":1}}}",
	"\"age_ns\":{\"io\":1}",
	"\"cpu_usage_usec\":1",
	"\"scx\":[]",
	"\"scx\":{\"size\":65536}",
	"\"missing\":{\"scx\":\"other-task\"}",
	"\"kind\":\"array\"",
	"\"count\":4097",
	"\"bit_size\":65",
	"-9223372036854775809",
};

static uint64_t random_state = 88172645463325252u;

/* xorshift64: the walk is the same everywhere. */
static size_t random_below(size_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return limit == 0 ? 0 : (size_t)(random_state % limit);
}

static void insert(struct buffer *input, size_t position, const char *bytes, size_t length)
{
	char *copy = memory_duplicate_bytes(bytes, length);

	buffer_append(input, copy, length);
	memmove(input->data + position + length, input->data + position, input->length - length - position);
	memcpy(input->data + position, copy, length);
	free(copy);
}

/* Changes anything but the first byte, by which the target tells text from files. */
static void mutate(struct buffer *input)
{
	size_t position = 1 + random_below(input->length - 1);
	size_t length = random_below(input->length - position < 64 ? input->length - position : 64);
	const char *token = tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))];

	switch (random_below(6)) {
	case 0:
		input->data[position] = (char)(input->data[position] ^ (1 << random_below(8)));
		break;
	case 1:
		input->data[position] = (char)random_below(256);
		break;
	case 2:
		memmove(input->data + position, input->data + position + length,
			input->length - position - length);
		input->length -= length;
		break;
	case 3:
		insert(input, position, input->data + position, length);
		break;
	case 4:
		insert(input, position, token, strlen(token));
		break;
	default:
		if (random_below(8) == 0)
			input->length = position + 1;
		break;
	}
}

static void walk(const struct buffer *seed, size_t rounds)
{
	for (size_t i = 0; i < rounds; i++) {
		struct buffer input = {0};
		size_t changes = 1 + random_below(CHANGES_MAX);

		buffer_append(&input, seed->data, seed->length);
		for (size_t j = 0; j < changes; j++)
			mutate(&input);
		LLVMFuzzerTestOneInput((const uint8_t *)input.data, input.length);
		buffer_release(&input);
	}
}

static void test_mutated_text(void **state)
{
	struct snapshot *snapshot = example_snapshot();
	struct buffer seed = {0};

	(void)state;
	example_add_knowledge(snapshot);
	example_emit(snapshot, &seed);
	walk(&seed, TEXT_ROUNDS);
	buffer_release(&seed);
	snapshot_release(snapshot);
}

static void test_mutated_windows(void **state)
{
	char *example = example_window();
	struct buffer seed = {0};

	(void)state;
	buffer_append_text(&seed, example);
	free(example);
	walk(&seed, TEXT_ROUNDS);
	buffer_release(&seed);
}

static void test_mutated_files(void **state)
{
	struct snapshot *snapshot = example_snapshot();
	int descriptor = example_written(snapshot);
	struct buffer seed = {0};

	(void)state;
	assert_int_equal(file_read_descriptor(descriptor, &seed, 1 << 20), 0);
	walk(&seed, FILE_ROUNDS);
	buffer_release(&seed);
	snapshot_release(snapshot);
	close(descriptor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutated_text),
		cmocka_unit_test(test_mutated_windows),
		cmocka_unit_test(test_mutated_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
