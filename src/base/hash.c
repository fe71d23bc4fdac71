/* SPDX-License-Identifier: GPL-2.0-only */
#include "hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "memory.h"

static uint64_t secret[2];

/* Before main(): later a sandbox may forbid the call. */
__attribute__((constructor)) static void choose_secret(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes (getauxval(3)) */

	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret) && random != NULL)
		memcpy(secret, random, sizeof(secret));
}

static uint64_t rotate(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

/* Inline, so that the state stays in registers: short names take half the time. */
__attribute__((always_inline)) static inline void mix(uint64_t v[static 4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson and Bernstein), words in the order of this machine. */
uint32_t hash_bytes(const void *bytes, size_t length)
{
	const unsigned char *next = bytes;
	uint64_t v[4] = {secret[0] ^ 0x736f6d6570736575u, secret[1] ^ 0x646f72616e646f6du,
			 secret[0] ^ 0x6c7967656e657261u, secret[1] ^ 0x7465646279746573u};
	uint64_t last = (uint64_t)length << 56, word;

	for (; length >= sizeof(word); next += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, next, sizeof(word));
		v[3] ^= word;
		mix(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < length; i++)
		last |= (uint64_t)next[i] << 8 * i;
	v[3] ^= last;
	mix(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int round = 0; round < 3; round++)
		mix(v);
	return (uint32_t)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

uint64_t hash_u64(uint64_t value)
{
	value ^= value >> 33;
	value *= 0xff51afd7ed558ccdu;
	value ^= value >> 33;
	value *= 0xc4ceb9fe1a85ec53u;
	value ^= value >> 33;
	return value;
}

static struct hash_map_slot *find_slot(const struct hash_map *map, uint64_t key)
{
	size_t mask = map->slot_count - 1;
	size_t i = hash_u64(key ^ secret[0]) & mask;

	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

static void enlarge(struct hash_map *map)
{
	struct hash_map old = *map;

	map->slot_count = old.slot_count != 0 ? old.slot_count * 2 : 64;
	map->slots = memory_allocate_zero(map->slot_count, sizeof(*map->slots));
	for (size_t i = 0; i < old.slot_count; i++) {
		if (old.slots[i].used)
			*find_slot(map, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
}

void hash_map_set(struct hash_map *map, uint64_t key, uint32_t value)
{
	struct hash_map_slot *slot;

	if ((map->count + 1) * 2 > map->slot_count)
		enlarge(map);
	slot = find_slot(map, key);
	if (!slot->used)
		map->count++;
	*slot = (struct hash_map_slot){key, value, true};
}

bool hash_map_get(const struct hash_map *map, uint64_t key, uint32_t *ret_value)
{
	const struct hash_map_slot *slot;

	if (map->slot_count == 0)
		return false;
	slot = find_slot(map, key);
	if (!slot->used)
		return false;
	*ret_value = slot->value;
	return true;
}

void hash_map_clear(struct hash_map *map)
{
	if (map->slot_count != 0)
		memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
	map->count = 0;
}

void hash_map_release(struct hash_map *map)
{
	free(map->slots);
	*map = (struct hash_map){0};
}
