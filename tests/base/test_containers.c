/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/string_pool.h"

static void arena_keeps_apart_what_it_hands_out(void **state)
{
	enum {
		COUNT = 2000
	};
	struct arena arena = {0};
	unsigned char *pieces[COUNT];

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		size_t size = i * 37 % 1500 + (i % 500 == 0 ? 100000 : 1);

		pieces[i] = arena_allocate(&arena, size);
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		memset(pieces[i], (int)(i & 0xff), size);
	}
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(pieces[i][0], i & 0xff);
	assert_string_equal(arena_format(&arena, "%0300d", 7) + 299, "7");
	arena_release(&arena);
	assert_string_equal(arena_duplicate(&arena, "again", 5), "again");
	arena_release(&arena);
}

static void string_pool_gives_each_string_one_id(void **state)
{
	enum {
		COUNT = 5000
	};
	struct string_pool pool = {0};
	char text[32];

	(void)state;
	assert_int_equal(string_pool_intern(&pool, "", 0), 0);
	assert_int_equal(string_pool_find(&pool, "worker", 6), UINT32_MAX);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < COUNT; i++) {
			int length = snprintf(text, sizeof(text), "worker-%u", i);

			assert_int_equal(string_pool_intern(&pool, text, (size_t)length), i + 1);
		}
	}
	assert_string_equal(string_pool_text(&pool, 42), "worker-41");
	assert_int_equal(string_pool_length(&pool, 42), 9);
	assert_int_equal(string_pool_intern(&pool, "a\0b", 3), COUNT + 1);
	assert_int_equal(string_pool_intern(&pool, "a", 1), COUNT + 2);
	assert_int_equal(string_pool_find(&pool, "a\0b", 3), COUNT + 1);
	string_pool_release(&pool);
}

/* Each goes on by itself, and has its texts for as long as it is there. */
static void string_pool_continues_another(void **state)
{
	struct string_pool first = {0}, second = {0}, third = {0};
	char text[32];

	(void)state;
	string_pool_continue(&second, &first);
	assert_int_equal(second.count, 0);
	for (unsigned int i = 0; i < 100; i++) {
		int length = snprintf(text, sizeof(text), "worker-%u", i);

		string_pool_intern(&first, text, (size_t)length);
	}
	string_pool_continue(&second, &first);
	string_pool_continue(&third, &second);
	assert_int_equal(string_pool_intern(&second, "worker-41", 9), 42);
	assert_int_equal(string_pool_intern(&second, "new", 3), 101);
	assert_int_equal(string_pool_intern(&third, "other", 5), 101);
	assert_int_equal(string_pool_find(&first, "new", 3), UINT32_MAX);
	assert_int_equal(string_pool_find(&third, "new", 3), UINT32_MAX);
	string_pool_release(&first);
	for (unsigned int i = 0; i < 1000; i++) {
		int length = snprintf(text, sizeof(text), "late-%u", i);

		assert_int_equal(string_pool_intern(&second, text, (size_t)length), 102 + i);
	}
	assert_string_equal(string_pool_text(&second, 42), "worker-41");
	string_pool_release(&second);
	assert_string_equal(string_pool_text(&third, 42), "worker-41");
	assert_string_equal(string_pool_text(&third, 101), "other");
	assert_int_equal(string_pool_find(&third, "worker-99", 9), 100);
	string_pool_release(&third);
}

/* Another process hashes the same bytes otherwise: names that collide cannot be worked out beforehand. */
static void hash_has_a_secret(void **state)
{
	char here[16], there[16] = "";
	FILE *other = popen("exec /proc/$PPID/exe hash", "r");

	(void)state;
	assert_non_null(other);
	assert_non_null(fgets(there, sizeof(there), other));
	assert_int_equal(pclose(other), 0);
	snprintf(here, sizeof(here), "%08x\n", hash_bytes("a longer name", 13));
	assert_int_equal(strlen(there), strlen(here));
	assert_string_not_equal(here, there);
	assert_int_equal(hash_bytes("a longer name", 13), hash_bytes("a longer name.", 13));
	for (size_t length = 0; length < 13; length++)
		assert_int_not_equal(hash_bytes("a longer name", length),
				     hash_bytes("a longer name", length + 1));
}

static void hash_map_remembers(void **state)
{
	struct hash_map map = {0};
	uint32_t value = 0;

	(void)state;
	assert_false(hash_map_get(&map, 1, &value));
	for (uint64_t key = 0; key < 10000; key++)
		hash_map_set(&map, key << 32 | (key * 7), (uint32_t)key);
	hash_map_set(&map, 5ull << 32 | 35, 99);
	assert_int_equal(map.count, 10000);
	for (uint64_t key = 0; key < 10000; key++) {
		assert_true(hash_map_get(&map, key << 32 | (key * 7), &value));
		assert_int_equal(value, key == 5 ? 99 : key);
	}
	assert_false(hash_map_get(&map, 10000ull << 32 | 70000, &value));
	hash_map_clear(&map);
	assert_false(hash_map_get(&map, 0, &value));
	hash_map_release(&map);
}

static void buffer_lists(void **state)
{
	static const char *const words[] = {"a", "b", "c"};
	static const char *const lists[] = {"", "a", "a or b", "a, b or c"};

	(void)state;
	for (size_t count = 0; count <= 3; count++) {
		struct buffer buffer = {0};
		char *text;

		buffer_append_list(&buffer, words, count, "or");
		text = buffer_steal(&buffer);
		assert_string_equal(text, lists[count]);
		free(text);
	}
}

static void buffer_grows(void **state)
{
	struct buffer buffer = {0};
	char *text;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		buffer_append_format(&buffer, "%u,", i);
	assert_int_equal(buffer.length, 3890);
	assert_memory_equal(buffer.data + buffer.length - 4, "999,", 5);
	buffer_clear(&buffer);
	buffer_append_format(&buffer, "%0500d", 1);
	assert_int_equal(buffer.length, 500);
	buffer_clear(&buffer);
	buffer_append_u64(&buffer, UINT64_MAX);
	buffer_append_char(&buffer, ' ');
	buffer_append_i64(&buffer, INT64_MIN);
	buffer_append_text(&buffer, " ");
	buffer_append_i64(&buffer, 0);
	text = buffer_steal(&buffer);
	assert_string_equal(text, "18446744073709551615 -9223372036854775808 0");
	assert_null(buffer.data);
	free(text);
	text = buffer_steal(&buffer);
	assert_string_equal(text, "");
	free(text);
}

static void memory_grow_doubles(void **state)
{
	size_t capacity = 0;
	int *array = NULL;

	(void)state;
	array = memory_grow(array, &capacity, 1, sizeof(*array));
	assert_int_equal(capacity, 8);
	array = memory_grow(array, &capacity, 9, sizeof(*array));
	assert_int_equal(capacity, 16);
	array = memory_grow(array, &capacity, 16, sizeof(*array));
	assert_int_equal(capacity, 16);
	free(array);
}

static void memory_empty_keeps_what_is_used(void **state)
{
	size_t capacity = 0, count = 100000;
	uint64_t *array = memory_grow(NULL, &capacity, count, sizeof(*array));
	const uint64_t *kept = array;

	(void)state;
	array = memory_empty(array, &count, &capacity, sizeof(*array));
	assert_ptr_equal(array, kept);
	assert_int_equal(count, 0);
	count = 100; /* far less than there is room for */
	array = memory_empty(array, &count, &capacity, sizeof(*array));
	assert_null(array);
	assert_int_equal(count, 0);
	assert_int_equal(capacity, 0);
	array = memory_grow(NULL, &capacity, 100, sizeof(*array));
	array = memory_empty(array, &count, &capacity, sizeof(*array));
	assert_non_null(array); /* small: not worth it */
	free(array);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_keeps_apart_what_it_hands_out),
		cmocka_unit_test(string_pool_gives_each_string_one_id),
		cmocka_unit_test(string_pool_continues_another),
		cmocka_unit_test(hash_has_a_secret),
		cmocka_unit_test(hash_map_remembers),
		cmocka_unit_test(buffer_grows),
		cmocka_unit_test(buffer_lists),
		cmocka_unit_test(memory_grow_doubles),
		cmocka_unit_test(memory_empty_keeps_what_is_used),
	};

	if (argc > 1 && strcmp(argv[1], "hash") == 0) {
		printf("%08x\n", hash_bytes("a longer name", 13));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
