/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SDT_WALK_H
#define CTOP_SDT_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scx_types.h"

/*
 * All contexts of an allocator in an arena, whether their tasks live or not, by walking its tree in any image
 * of the memory. Inner levels go by the pointers that are not null, since a bit there says that a child is
 * full; leaves go by their bits.
 */

enum {
	SDT_WALK_LEVELS = 3,
	SDT_WALK_ENTRIES = 512,      /* of a chunk */
	SDT_WALK_ENTRIES_MAX = 4096, /* that a walk gives by default */
	SDT_ELEM_SIZE_MIN = 16,
	SDT_ELEM_SIZE_MAX = 4096,
};

/* Memory in which arena pointers (their low 32 bits) can be followed. */
struct sdt_image {
	/*
	 * Copies up to `size` bytes from the address of an arena pointer; returns how many could be read from
	 * its start on, 0 where the address does not translate.
	 */
	size_t (*read)(void *context, uint64_t pointer, void *bytes, size_t size);
	void *context;
};

struct sdt_walk_entry {
	int32_t idx, genn;
	uint64_t user_addr; /* the pointer's low 32 bits, of what the chunk points at */
	uint8_t *payload;
	uint32_t payload_size; /* bytes that could be read; 0: none */
};

struct sdt_walk {
	const char *allocator_name;
	uint64_t elem_size;
	uint32_t payload_type;           /* BTF id, 0: hex */
	const char *payload_type_reason; /* "" where there is a type */
	bool truncated;
	uint32_t skipped_subtrees;
	struct sdt_walk_entry *entries;
	size_t entry_count, entry_capacity;
};

/*
 * Walks the tree of the allocator whose object has these bytes (`allocator_size` of its layout). At most
 * `entries_max` entries (SDT_WALK_ENTRIES_MAX as in the description of the format). What cannot be read is
 * skipped and counted. The caller gives everything up with sdt_walk_release(); the texts in `choice` stay the
 * caller's.
 */
void sdt_walk(const struct sdt_image *image, const struct sdt_layout *layout, const uint8_t *allocator,
	      const char *allocator_name, const struct scx_types_choice *choice, size_t entries_max,
	      struct sdt_walk *ret_walk);
void sdt_walk_release(struct sdt_walk *walk);

/* Its text: a line for the allocator and one for each entry; payloads by their type of `btf` (NULL: hex). */
void sdt_walk_append_text(const struct sdt_walk *walk, const struct btf *btf, struct buffer *buffer);

#endif
