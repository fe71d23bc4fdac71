/* SPDX-License-Identifier: GPL-2.0-only */
#include "cpu_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "base/unicode.h"

enum {
	RANGE_CPUS_MAX = 65536,
	SET_CPUS_MAX = 1 << 20, /* bounds the memory that a list of many long ranges can ask for */
};

struct range {
	uint32_t first, last;
};

struct ranges {
	struct range *items;
	size_t count;
	size_t capacity;
};

uint32_t cpu_set_intern(struct string_pool *pool, const uint32_t *cpus, size_t count)
{
	return string_pool_intern(pool, (const char *)cpus, count * sizeof(*cpus));
}

size_t cpu_set_count(const struct string_pool *pool, uint32_t id)
{
	return string_pool_length(pool, id) / sizeof(uint32_t);
}

const uint32_t *cpu_set_cpus(const struct string_pool *pool, uint32_t id)
{
	/* the pool's arena aligns its strings for any type */
	return id == 0 ? NULL : (const void *)string_pool_text(pool, id);
}

void cpu_set_append_ranges(const struct string_pool *pool, uint32_t id, struct buffer *buffer)
{
	const uint32_t *cpus = cpu_set_cpus(pool, id);
	size_t count = cpu_set_count(pool, id);

	for (size_t i = 0; i < count; i++) {
		uint32_t first = cpus[i];
		uint32_t last = first;

		if (i != 0)
			buffer_append_char(buffer, ',');
		while (i + 1 < count && last != UINT32_MAX && cpus[i + 1] == last + 1) {
			last++;
			i++;
		}
		buffer_append_u64(buffer, first);
		if (last != first) {
			buffer_append_char(buffer, '-');
			buffer_append_u64(buffer, last);
		}
	}
}

/* One item of a list, "8" or "0-3", without blanks. */
static bool parse_item(const char *text, size_t length, struct range *ret_range)
{
	const char *dash = memchr(text, '-', length);
	const char *second = dash != NULL ? dash + 1 : text;
	size_t first_length = dash != NULL ? (size_t)(dash - text) : length;
	size_t second_length = length - (size_t)(second - text);

	return number_parse_u32(text, first_length, &ret_range->first) &&
	       number_parse_u32(second, second_length, &ret_range->last) &&
	       ret_range->first <= ret_range->last && ret_range->last - ret_range->first < RANGE_CPUS_MAX;
}

static bool parse_items(const char *text, size_t length, struct ranges *ranges)
{
	const char *end = text + length;

	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *item = text;
		size_t item_length = (size_t)((comma != NULL ? comma : end) - text);

		text += item_length + (comma != NULL);
		item_length = unicode_trim(&item, item_length);
		if (item_length == 0)
			continue;
		if (!parse_item(item, item_length,
				MEMORY_APPEND(ranges->items, ranges->count, ranges->capacity)))
			return false;
	}
	return ranges->count != 0;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return order_u64(a->first, b->first);
}

/* Sorts and joins ranges that overlap; returns the number of CPUs in them. */
static size_t join_ranges(struct ranges *ranges)
{
	size_t kept = 0, total = 0;

	qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
	for (size_t i = 1; i < ranges->count; i++) {
		struct range *previous = &ranges->items[kept], next = ranges->items[i];

		if (next.first > previous->last)
			ranges->items[++kept] = next;
		else if (next.last > previous->last)
			previous->last = next.last;
	}
	ranges->count = kept + 1;
	for (size_t i = 0; i < ranges->count; i++)
		total += (size_t)(ranges->items[i].last - ranges->items[i].first) + 1;
	return total;
}

static uint32_t intern_ranges(struct string_pool *pool, const struct ranges *ranges, size_t total)
{
	uint32_t *cpus = memory_allocate(total * sizeof(*cpus));
	size_t count = 0;
	uint32_t id;

	for (size_t i = 0; i < ranges->count; i++) {
		size_t length = (size_t)(ranges->items[i].last - ranges->items[i].first) + 1;

		for (size_t j = 0; j < length; j++)
			cpus[count++] = ranges->items[i].first + (uint32_t)j;
	}
	id = cpu_set_intern(pool, cpus, count);
	free(cpus);
	return id;
}

bool cpu_set_parse(struct string_pool *pool, const char *text, size_t length, uint32_t *ret_id)
{
	struct ranges ranges = {0};
	bool valid = parse_items(text, length, &ranges);

	if (valid) {
		size_t total = join_ranges(&ranges);

		valid = total <= SET_CPUS_MAX;
		if (valid)
			*ret_id = intern_ranges(pool, &ranges, total);
	}
	free(ranges.items);
	return valid;
}
