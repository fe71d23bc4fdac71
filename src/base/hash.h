/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HASH_H
#define CTOP_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A well-mixed hash of `length` bytes, keyed with a secret of this process so that nobody can choose names
 * that collide. It differs from run to run: nothing that is printed or ordered may depend on it.
 */
uint32_t hash_bytes(const void *bytes, size_t length);

/* A well-mixed 64-bit hash of a number, without the key. */
uint64_t hash_u64(uint64_t value);

/* Numbers to numbers, open addressing. A zeroed struct is an empty map. */
struct hash_map {
	struct hash_map_slot *slots;
	size_t slot_count;
	size_t count;
};

struct hash_map_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

/* Sets the value of `key`, adding it when it is new. */
void hash_map_set(struct hash_map *map, uint64_t key, uint32_t value);

/* True and the value when `key` is there. */
bool hash_map_get(const struct hash_map *map, uint64_t key, uint32_t *ret_value);

/* Forgets all keys, keeps the memory. */
void hash_map_clear(struct hash_map *map);

void hash_map_release(struct hash_map *map);

#endif
