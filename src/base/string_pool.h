/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STRING_POOL_H
#define CTOP_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

struct string_texts;

/*
 * Byte strings with small ids in the order of their first use; id 0 is always the empty string. Strings may
 * hold any byte, are also NUL-terminated, and all except the empty one are aligned for any type. A zeroed
 * struct is a valid pool.
 */
struct string_pool {
	struct string_texts *texts; /* shared with pools that string_pool_continue() made of this one */
	struct string_pool_entry *entries;
	size_t count;
	size_t capacity;
	struct string_pool_slot *slots; /* hash table */
	size_t slot_count;
};

struct string_pool_slot {
	uint32_t hash;  /* of the entry: one that differs need not be looked at */
	uint32_t entry; /* its index + 1, 0 for none */
};

struct string_pool_entry {
	const char *text;
	uint32_t length;
	uint32_t hash;
};

/*
 * Makes an empty pool a copy of another one: every id stands for the same string in both. They share the
 * texts, so that only one thread at a time may add strings to pools that were made of each other; any thread
 * may read strings that were there before.
 */
void string_pool_continue(struct string_pool *pool, const struct string_pool *from);

/* Returns the id of the string, adding it when it is new. */
uint32_t string_pool_intern(struct string_pool *pool, const char *text, size_t length);

/* Adds a second id for a non-empty string that the pool already has. Lookups still find its first id. */
uint32_t string_pool_append(struct string_pool *pool, const char *text, size_t length);

/* The same of string `id` of another pool. */
uint32_t string_pool_copy(struct string_pool *pool, const struct string_pool *from, uint32_t id);

/* Returns the id of a string already in the pool, or UINT32_MAX. */
uint32_t string_pool_find(const struct string_pool *pool, const char *text, size_t length);

/* The NUL-terminated text of an id handed out by this pool; owned by the pool. */
const char *string_pool_text(const struct string_pool *pool, uint32_t id);

/* Its length in bytes. */
size_t string_pool_length(const struct string_pool *pool, uint32_t id);

/* Order of two strings by their bytes: below, at or above 0. */
int string_pool_compare(const struct string_pool *pool, uint32_t left, uint32_t right);

void string_pool_release(struct string_pool *pool);

#endif
