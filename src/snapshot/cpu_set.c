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
	LIST_CPUS_MAX = 1 << 20, /* bounds the memory that a list of many long ranges can ask for */
};

struct cpu_list {
	uint32_t *items;
	size_t count, capacity;
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

/* Appends the CPUs of one item of a list, "8" or "0-3", without blanks. */
static bool append_item(struct cpu_list *cpus, const char *text, size_t length)
{
	const char *dash = memchr(text, '-', length);
	const char *second = dash != NULL ? dash + 1 : text;
	uint32_t first, last;

	if (!number_parse_u32(text, dash != NULL ? (size_t)(dash - text) : length, &first) ||
	    !number_parse_u32(second, length - (size_t)(second - text), &last) || first > last ||
	    last - first >= RANGE_CPUS_MAX || cpus->count + (last - first) >= LIST_CPUS_MAX)
		return false;
	for (uint32_t i = 0; i <= last - first; i++)
		*MEMORY_APPEND(cpus->items, cpus->count, cpus->capacity) = first + i;
	return true;
}

static bool append_items(struct cpu_list *cpus, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *item = text;
		size_t item_length = (size_t)((comma != NULL ? comma : end) - text);

		text += item_length + (comma != NULL);
		item_length = unicode_trim(&item, item_length);
		if (item_length != 0 && !append_item(cpus, item, item_length))
			return false;
	}
	return cpus->count != 0;
}

/* Sorts the CPUs, as the kernel prints them, and keeps each once. */
static void sort_cpus(struct cpu_list *cpus)
{
	size_t kept = 1;

	while (kept < cpus->count && cpus->items[kept - 1] < cpus->items[kept])
		kept++;
	if (kept == cpus->count)
		return;
	qsort(cpus->items, cpus->count, sizeof(*cpus->items), order_by_u32);
	kept = 1;
	for (size_t i = 1; i < cpus->count; i++) {
		if (cpus->items[i] != cpus->items[kept - 1])
			cpus->items[kept++] = cpus->items[i];
	}
	cpus->count = kept;
}

bool cpu_set_parse(struct string_pool *pool, const char *text, size_t length, uint32_t *ret_id)
{
	struct cpu_list cpus = {0};
	bool valid = append_items(&cpus, text, length);

	if (valid) {
		sort_cpus(&cpus);
		*ret_id = cpu_set_intern(pool, cpus.items, cpus.count);
	}
	free(cpus.items);
	return valid;
}
