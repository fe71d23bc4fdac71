/* SPDX-License-Identifier: GPL-2.0-only */
#include "hash.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

uint32_t hash_bytes(const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return (uint32_t)hash_u64(hash);
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
	size_t i = hash_u64(key) & mask;

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
