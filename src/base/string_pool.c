/* SPDX-License-Identifier: GPL-2.0-only */
#include "string_pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "hash.h"
#include "memory.h"
#include "order.h"

/* The bytes of strings, which stay where they are. */
struct string_texts {
	atomic_uint references; /* pools that have some of them */
	struct arena arena;
};

static const struct string_pool_entry empty_entry = {"", 0, 0};

static struct string_pool_slot *find_slot(const struct string_pool *pool, const char *text, size_t length,
					  uint32_t hash)
{
	size_t mask = pool->slot_count - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct string_pool_slot *slot = &pool->slots[i];
		const struct string_pool_entry *entry;

		if (slot->entry == 0)
			return slot;
		if (slot->hash != hash)
			continue;
		entry = &pool->entries[slot->entry - 1];
		if (entry->length == length && memcmp(entry->text, text, length) == 0)
			return slot;
	}
}

static void enlarge(struct string_pool *pool)
{
	size_t count = pool->slot_count != 0 ? pool->slot_count * 2 : 64, mask = count - 1;

	free(pool->slots);
	pool->slots = memory_allocate_zero(count, sizeof(*pool->slots));
	pool->slot_count = count;
	for (size_t i = 1; i < pool->count; i++) {
		size_t slot = pool->entries[i].hash & mask;

		/* no comparison: of two equal entries, the first one added is found first */
		while (pool->slots[slot].entry != 0)
			slot = (slot + 1) & mask;
		pool->slots[slot] = (struct string_pool_slot){pool->entries[i].hash, (uint32_t)i + 1};
	}
}

static uint32_t add_entry(struct string_pool *pool, const char *text, size_t length, uint32_t hash)
{
	if (pool->texts == NULL) {
		pool->texts = memory_allocate_zero(1, sizeof(*pool->texts));
		atomic_init(&pool->texts->references, 1);
	}
	*MEMORY_APPEND(pool->entries, pool->count, pool->capacity) = (struct string_pool_entry){
		arena_duplicate(&pool->texts->arena, text, length),
		(uint32_t)length,
		hash,
	};
	return (uint32_t)pool->count - 1;
}

void string_pool_continue(struct string_pool *pool, const struct string_pool *from)
{
	if (from->texts == NULL)
		return;
	atomic_fetch_add_explicit(&from->texts->references, 1, memory_order_relaxed);
	*pool = *from;
	pool->entries = memory_copy(from->entries, from->count, from->capacity, sizeof(*from->entries));
	pool->slots = memory_copy(from->slots, from->slot_count, from->slot_count, sizeof(*from->slots));
}

uint32_t string_pool_intern(struct string_pool *pool, const char *text, size_t length)
{
	struct string_pool_slot *slot;
	uint32_t hash;

	if (length == 0)
		return 0;
	if (pool->count == 0)
		*MEMORY_APPEND(pool->entries, pool->count, pool->capacity) = empty_entry;
	if ((pool->count + 1) * 2 > pool->slot_count)
		enlarge(pool);
	hash = hash_bytes(text, length);
	slot = find_slot(pool, text, length, hash);
	if (slot->entry != 0)
		return slot->entry - 1;
	*slot = (struct string_pool_slot){hash, add_entry(pool, text, length, hash) + 1};
	return slot->entry - 1;
}

uint32_t string_pool_append(struct string_pool *pool, const char *text, size_t length)
{
	return add_entry(pool, text, length, hash_bytes(text, length));
}

uint32_t string_pool_copy(struct string_pool *pool, const struct string_pool *from, uint32_t id)
{
	return string_pool_intern(pool, string_pool_text(from, id), string_pool_length(from, id));
}

uint32_t string_pool_find(const struct string_pool *pool, const char *text, size_t length)
{
	if (length == 0)
		return 0;
	if (pool->slot_count == 0)
		return UINT32_MAX;
	/* one less than the 0 of an empty slot is UINT32_MAX */
	return find_slot(pool, text, length, hash_bytes(text, length))->entry - 1;
}

const char *string_pool_text(const struct string_pool *pool, uint32_t id)
{
	return id == 0 ? "" : pool->entries[id].text;
}

size_t string_pool_length(const struct string_pool *pool, uint32_t id)
{
	return id == 0 ? 0 : pool->entries[id].length;
}

int string_pool_compare(const struct string_pool *pool, uint32_t left, uint32_t right)
{
	return order_bytes(string_pool_text(pool, left), string_pool_length(pool, left),
			   string_pool_text(pool, right), string_pool_length(pool, right));
}

static void release_texts(struct string_texts *texts)
{
	if (texts == NULL || atomic_fetch_sub_explicit(&texts->references, 1, memory_order_acq_rel) != 1)
		return;
	arena_release(&texts->arena);
	free(texts);
}

void string_pool_release(struct string_pool *pool)
{
	release_texts(pool->texts);
	free(pool->entries);
	free(pool->slots);
	*pool = (struct string_pool){0};
}
