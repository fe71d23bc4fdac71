/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_ALLOCATOR_TYPES_H
#define CTOP_TEST_ALLOCATOR_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct btf;

/* Differences between the types of schedulers' allocators. */
struct allocator_types {
	const char *allocator; /* "scx_allocator" or "sdt_allocator", NULL: none */
	bool no_pool, no_descriptor;
	bool has_reserve; /* in the pool, as where the id stands behind the payload */
	bool forward_allocator, forward_descriptor;
	enum {
		CHUNK_FORWARD,
		CHUNK_DESCS,
		CHUNK_DATA,
		CHUNK_SHIFTED,
		CHUNK_OTHER,
		CHUNK_NONE
	} chunk;
	enum {
		DATA_NONE,
		DATA_FORWARD,
		DATA_BEFORE,
		DATA_AFTER,
		DATA_LARGE,
		DATA_TINY
	} data;
};

/* Adds the types that every test needs; the numbers of integers. */
struct basic_types {
	int u8, u16, u32, s32, u64, s64, boolean, character, pointer;
};

struct basic_types add_basic_types(struct btf *btf);
void add_allocator_types(struct btf *btf, const struct basic_types *basic,
			 const struct allocator_types *types);

/* Adds a member at a place in bytes. */
void add_member(struct btf *btf, const char *name, int type, uint32_t offset);

#endif
