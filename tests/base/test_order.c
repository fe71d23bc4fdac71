/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

static void bytes_compare_as_unsigned_and_shorter_first(void **state)
{
	(void)state;
	assert_int_equal(sign(order_bytes("ab", 2, "ab", 2)), 0);
	assert_int_equal(sign(order_bytes("ab", 2, "abc", 3)), -1);
	assert_int_equal(sign(order_bytes("b", 1, "abc", 3)), 1);
	assert_int_equal(sign(order_bytes("\xff", 1, "a", 1)), 1);
	assert_int_equal(sign(order_bytes("a\0b", 3, "a\0c", 3)), -1);
	assert_int_equal(sign(order_bytes(NULL, 0, "a", 1)), -1);
	assert_int_equal(sign(order_bytes(NULL, 0, NULL, 0)), 0);
}

static void nan_comes_last(void **state)
{
	(void)state;
	for (int ascending = 0; ascending < 2; ascending++) {
		assert_int_equal(order_numbers(NAN, 1, ascending), 1);
		assert_int_equal(order_numbers(1, NAN, ascending), -1);
		assert_int_equal(order_numbers(NAN, -NAN, ascending), 0);
		assert_int_equal(order_numbers(2, 2, ascending), 0);
		assert_int_equal(order_numbers(INFINITY, INFINITY, ascending), 0);
	}
	assert_int_equal(order_numbers(1, 2, true), -1);
	assert_int_equal(order_numbers(1, 2, false), 1);
	assert_int_equal(order_numbers(-INFINITY, 2, true), -1);
}

/* Larger than what is swapped in one go. */
struct item {
	unsigned int key, id;
	unsigned char body[121];
};

static int compare_items(const void *a, const void *b, void *context)
{
	const struct item *left = a, *right = b;

	++*(size_t *)context;
	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->id > right->id) - (left->id < right->id);
}

static void fill(struct item *items, size_t count, unsigned int keys)
{
	for (size_t i = 0; i < count; i++) {
		items[i].key = keys != 0 ? (unsigned int)rand() % keys : (unsigned int)i;
		items[i].id = (unsigned int)i;
		memset(items[i].body, (int)(i & 0xff), sizeof(items[i].body));
	}
}

static void the_first_are_those_of_a_whole_sort(void **state)
{
	static const size_t counts[] = {0, 1, 2, 3, 10, 257, 1000};
	static const unsigned int keys[] = {0, 1, 2, 50, 1000000};

	(void)state;
	srand(7);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const size_t count = counts[i];

		for (size_t trial = 0; trial < 100; trial++) {
			struct item *items = memory_allocate_zero(count + 1, sizeof(*items));
			struct item *sorted = memory_allocate_zero(count + 1, sizeof(*sorted));
			size_t first = (size_t)rand() % (count + 3), calls = 0;

			fill(items, count, keys[trial % (sizeof(keys) / sizeof(keys[0]))]);
			memcpy(sorted, items, count * sizeof(*items));
			qsort_r(sorted, count, sizeof(*sorted), compare_items, &calls);
			order_first(items, count, sizeof(*items), first, compare_items, &calls);
			first = first < count ? first : count;
			assert_memory_equal(items, sorted, first * sizeof(*items));
			/* and nothing is lost behind them */
			qsort_r(items, count, sizeof(*items), compare_items, &calls);
			assert_memory_equal(items, sorted, count * sizeof(*items));
			free(items);
			free(sorted);
		}
	}
}

static void a_few_of_many_cost_no_whole_sort(void **state)
{
	const size_t count = 20000;
	struct item *items = memory_allocate_zero(count, sizeof(*items));
	size_t calls = 0;

	(void)state;
	srand(7);
	fill(items, count, 1000000);
	order_first(items, count, sizeof(*items), 10, compare_items, &calls);
	assert_in_range(calls, count, 8 * count);
	free(items);
}

static void keys_have_the_order_of_numbers(void **state)
{
	static const double numbers[] = {NAN, -INFINITY, -1e300, -2, -1,    -1e-300, -0.0,
					 0.0, 1e-300,    1,      2,  1e300, INFINITY};
	const size_t count = sizeof(numbers) / sizeof(numbers[0]);

	(void)state;
	for (size_t i = 0; i < count * count * 2; i++) {
		const double left = numbers[i / 2 / count], right = numbers[i / 2 % count];
		const bool ascending = i % 2;

		assert_int_equal(order_u64(order_key(left, ascending), order_key(right, ascending)),
				 order_numbers(left, right, ascending));
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct order_item *left = a, *right = b;
	int order = order_u64(left->first, right->first);

	order = order != 0 ? order : order_u64(left->second, right->second);
	return order != 0 ? order : order_u64(left->index, right->index);
}

static void items_come_by_both_numbers_and_equal_ones_as_they_were(void **state)
{
	static const uint64_t masks[] = {0, 1, 0xff00, UINT64_MAX};

	(void)state;
	srand(11);
	for (size_t count = 0; count < 2000; count = count * 3 + 1) {
		for (size_t i = 0; i < 16; i++) {
			struct order_item items[2000], expected[2000];

			for (uint32_t k = 0; k < count; k++)
				items[k] = (struct order_item){
					((uint64_t)rand() << 33 | (uint64_t)rand()) & masks[i / 4],
					((uint64_t)rand() << 33 | (uint64_t)rand()) & masks[i % 4], k};
			memcpy(expected, items, sizeof(items));
			qsort(expected, count, sizeof(*expected), compare_keys);
			order_items(items, count);
			for (size_t k = 0; k < count; k++)
				assert_int_equal(items[k].index, expected[k].index);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_compare_as_unsigned_and_shorter_first),
		cmocka_unit_test(nan_comes_last),
		cmocka_unit_test(the_first_are_those_of_a_whole_sort),
		cmocka_unit_test(a_few_of_many_cost_no_whole_sort),
		cmocka_unit_test(keys_have_the_order_of_numbers),
		cmocka_unit_test(items_come_by_both_numbers_and_equal_ones_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
