/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SDT_WALK_H
#define CTOP_SDT_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "scx_types.h"

/*
 * All contexts of an allocator in an arena, whether their tasks live or not, by walking its tree in any image
 * of the memory. Inner levels go by the pointers that are not null, since a bit there says that a child is
 * full; leaves go by their bits. Numbers in the image are in the order of the host.
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
	 * Copies up to `size` bytes from an address of the arena, which is below 4 GiB, as are the bytes
	 * behind it; returns how many could be read from its start on, 0 where the address does not
	 * translate.
	 */
	size_t (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
};

struct sdt_walk_entry {
	int32_t idx, genn;     /* both -1 where the id lies behind what could be read */
	uint64_t user_addr;    /* the pointer's low 32 bits, of what the chunk points at */
	uint8_t *payload;      /* owned by the walk */
	uint32_t payload_size; /* bytes that could be read; 0: none */
	const char *text;      /* of the payload, by sdt_walk_render(); else NULL */
	uint32_t tid;          /* of the living task that has it, where that was looked up; 0: none has */
};

struct sdt_walk {
	const char *allocator_name;
	const char *head;                /* in words, by sdt_walk_render(); else NULL */
	uint64_t elem_size;              /* bytes, as the allocator has it */
	uint64_t payload_size;           /* of that; 0 where elem_size makes no sense */
	uint32_t payload_type;           /* BTF id, 0: hex */
	const char *payload_type_reason; /* "" with a type */
	bool truncated;                  /* not all entries are here */
	uint32_t skipped_subtrees;       /* that could not be read or make no sense; stays at its maximum */
	struct sdt_walk_entry *entries;  /* in the order of the tree */
	size_t entry_count, entry_capacity;
	struct arena arena;
};

/* The allocator of contexts in an arena: offsets, in bytes, of what a walk and a reader need. */
struct sdt_layout {
	uint32_t allocator_type; /* id of the struct scx_allocator or sdt_allocator */
	uint32_t allocator_size;
	uint32_t elem_size; /* in the allocator: pool.elem_size */
	uint32_t root;      /* in the allocator */
	uint32_t allocated; /* in a descriptor */
	uint32_t nr_free;   /* in a descriptor */
	uint32_t chunk;     /* in a descriptor */
	uint32_t children;  /* in a chunk */
	uint32_t id_size;   /* of what an element has beside its payload: 8, or 16 with the id behind it */
	bool id_after;      /* the payload comes first, and chunks point at it */
};

/*
 * Finds it in the types of a scheduler. Returns 0; -ENOENT where it has no such allocator ("not there") or
 * only a forward declaration of a type that has to be whole, -EINVAL where a type lacks a member, with a
 * sentence that names the type and says which.
 */
int sdt_layout_find(const struct btf *btf, struct sdt_layout *ret_layout, struct error *error);

/*
 * The same for who only reads elements that are pointed at: of the tree above them it needs no types, and its
 * members of `ret_layout` are 0.
 */
int sdt_layout_find_elements(const struct btf *btf, struct sdt_layout *ret_layout, struct error *error);

/* The size of an element, bytes, out of the bytes of an allocator's object; 0 where they end before it. */
uint64_t sdt_elem_size(const struct sdt_layout *layout, const uint8_t *allocator);

/*
 * The size of an element's payload, bytes; 0 where the size of an element is outside SDT_ELEM_SIZE_MIN
 * to SDT_ELEM_SIZE_MAX or has no room for one.
 */
uint64_t sdt_payload_size(const struct sdt_layout *layout, uint64_t elem_size);

/*
 * Walks the tree of the allocator whose object has these bytes (`allocator_size` of its layout). At most
 * `entries_max` entries (SDT_WALK_ENTRIES_MAX as in the description of the format). What cannot be read is
 * skipped and counted; an image that leads about for ever ends the walk as truncated. The caller gives
 * everything up with sdt_walk_release(); the name and the texts in `choice` stay the caller's.
 */
void sdt_walk(const struct sdt_image *image, const struct sdt_layout *layout, const uint8_t *allocator,
	      const char *allocator_name, const struct scx_types_choice *choice, size_t entries_max,
	      struct sdt_walk *ret_walk);
void sdt_walk_release(struct sdt_walk *walk);

/*
 * Makes the text of the walk in a line, and that of each payload, by its type of `btf` (NULL: hex); one
 * without bytes says why it has none.
 */
void sdt_walk_render(struct sdt_walk *walk, const struct btf *btf);

#endif
