/* SPDX-License-Identifier: GPL-2.0-only */
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

int order_bytes(const char *left, size_t left_length, const char *right, size_t right_length)
{
	size_t shorter = left_length < right_length ? left_length : right_length;
	int order = shorter != 0 ? memcmp(left, right, shorter) : 0;

	return order != 0 ? order : order_u64(left_length, right_length);
}

int order_by_u64(const void *left, const void *right)
{
	return order_u64(*(const uint64_t *)left, *(const uint64_t *)right);
}

int order_by_u32(const void *left, const void *right)
{
	return order_u64(*(const uint32_t *)left, *(const uint32_t *)right);
}

int order_by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

int order_numbers(double left, double right, bool ascending)
{
	if (isnan(left) || isnan(right))
		return (isnan(left) != 0) - (isnan(right) != 0);
	if (left == right)
		return 0;
	return (left < right) == ascending ? -1 : 1;
}

uint64_t order_key(double number, bool ascending)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t bits;

	if (isnan(number))
		return UINT64_MAX;
	number += 0.0; /* there is one zero */
	memcpy(&bits, &number, sizeof(bits));
	/* IEEE 754: larger magnitudes have larger bits */
	bits = (bits & sign) != 0 ? ~bits : bits | sign;
	return ascending ? bits : ~bits;
}

enum {
	KEY_BYTES = 16, /* of both numbers of an item */
	BYTE_VALUES = 256,
	FEW = 128, /* items that insertion sorts sooner than the counts of all bytes are cleared */
};

static uint8_t byte_of(const struct order_item *item, unsigned int byte)
{
	return (uint8_t)(byte < 8 ? item->second >> (8 * byte) : item->first >> (8 * (byte - 8)));
}

static bool is_behind(const struct order_item *left, const struct order_item *right)
{
	return left->first != right->first ? left->first > right->first : left->second > right->second;
}

/* By insertion: equal items keep their order. */
static void order_few(struct order_item *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct order_item item = items[i];
		size_t place = i;

		for (; place != 0 && is_behind(&items[place - 1], &item); place--)
			items[place] = items[place - 1];
		items[place] = item;
	}
}

/* By the lowest byte first, each pass keeping what the ones before it did. */
static void order_many(struct order_item *items, size_t count)
{
	size_t(*counts)[BYTE_VALUES] = memory_allocate_zero(KEY_BYTES, sizeof(*counts));
	struct order_item *from = items, *to = memory_allocate((count + 1) * sizeof(*to)), *spare = to;

	for (size_t i = 0; i < count; i++) {
		for (unsigned int byte = 0; byte < KEY_BYTES; byte++)
			counts[byte][byte_of(&items[i], byte)]++;
	}
	for (unsigned int byte = 0; byte < KEY_BYTES && count != 0; byte++) {
		struct order_item *const sorted = to;
		size_t start = 0;

		if (counts[byte][byte_of(&from[0], byte)] == count)
			continue;
		for (size_t value = 0; value < BYTE_VALUES; value++) {
			const size_t length = counts[byte][value];

			counts[byte][value] = start;
			start += length;
		}
		for (size_t i = 0; i < count; i++)
			to[counts[byte][byte_of(&from[i], byte)]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(spare);
	free(counts);
}

void order_items(struct order_item *items, size_t count)
{
	if (count <= FEW)
		order_few(items, count);
	else
		order_many(items, count);
}

static void swap(char *left, char *right, size_t size)
{
	char chunk[64];

	for (size_t length; size != 0; size -= length, left += length, right += length) {
		length = size < sizeof(chunk) ? size : sizeof(chunk);
		memcpy(chunk, left, length);
		memcpy(left, right, length);
		memcpy(right, chunk, length);
	}
}

/* Moves the first items to the front, in any order among themselves: Hoare's selection. */
static void select_first(char *items, size_t count, size_t size, size_t first, order_compare *compare,
			 void *context)
{
	size_t low = 0, high = count;
	char *pivot = memory_allocate(size);

	while (high - low > 1 && first > low && first < high) {
		size_t i = low, j = high - 1;

		memcpy(pivot, items + (low + (high - low - 1) / 2) * size, size);
		for (;; i++, j--) {
			while (compare(items + i * size, pivot, context) < 0)
				i++;
			while (compare(items + j * size, pivot, context) > 0)
				j--;
			if (i >= j)
				break;
			swap(items + i * size, items + j * size, size);
		}
		/* items up to j are not above the pivot, those behind it not below */
		if (first <= j + 1)
			high = j + 1;
		else
			low = j + 1;
	}
	free(pivot);
}

void order_first(void *items, size_t count, size_t size, size_t first, order_compare *compare, void *context)
{
	if (first < count)
		select_first(items, count, size, first, compare, context);
	else
		first = count;
	if (first > 1)
		qsort_r(items, first, size, compare, context);
}

static uint32_t key_at(const void *items, size_t size, size_t index)
{
	return *(const uint32_t *)(const void *)((const char *)items + index * size);
}

size_t order_find_run(const void *items, size_t count, size_t size, uint32_t key, size_t *ret_count)
{
	size_t first = 0, end = count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (key_at(items, size, middle) < key)
			first = middle + 1;
		else
			end = middle;
	}
	while (end < count && key_at(items, size, end) == key)
		end++;
	*ret_count = end - first;
	return first;
}
