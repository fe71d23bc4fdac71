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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_compare_as_unsigned_and_shorter_first),
		cmocka_unit_test(nan_comes_last),
		cmocka_unit_test(the_first_are_those_of_a_whole_sort),
		cmocka_unit_test(a_few_of_many_cost_no_whole_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
