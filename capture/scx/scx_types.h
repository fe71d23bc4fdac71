/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_TYPES_H
#define CTOP_SCX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "snapshot/task_fields.h"

/*
 * What the types (BTF, Documentation/bpf/btf.rst of the kernel) of a sched_ext scheduler's programs say: how
 * its contexts are laid out, and the allocator that they come from. Pure: nothing is asked of the kernel, and
 * types that make no sense (cycles, sizes, counts) cost little and break nothing.
 */

struct btf;

/*
 * Adds the members of a struct (or a typedef of one) of the scheduler's types to `scheduler`, in their order;
 * those of nested structs under their path ("stats.runtime"), those of structs and unions without a name as
 * if they stood outside. What is no integer, bool or enum becomes a pointer, an array of integers, or other:
 * unions with a name, arrays of structs, floats, structs of the kernel ("bpf_spin_lock"), and structs nested
 * more than eight deep. Returns 0, -ENOENT where `type` is no struct, -E2BIG where members were left out
 * (TASK_FIELD_MEMBERS_MAX).
 */
int scx_types_add_members(const struct btf *btf, uint32_t type, struct task_field_owner *scheduler);

/* Which type contexts of an arena have. */
struct scx_types_choice {
	uint32_t type;      /* of the struct, 0: none */
	const char *name;   /* of it, or of a typedef of a struct without one; owned by the BTF, NULL: none */
	const char *reason; /* why there is none: "payload_size == 0", "no candidate of size 512" … ("" where
			       there is one) */
};

/*
 * Chooses among the structs of this size (bytes) that have a name, or a typedef, by their names: `wanted`,
 * which the user chose (NULL for none; then nothing else will do), else the only one, else the first of
 * "task_ctx", "…_arena_ctx", "…_task_ctx", "…_ctx" that exactly one struct fits. `arena` owns the reason.
 */
void scx_types_choose(const struct btf *btf, uint64_t size, const char *wanted, struct arena *arena,
		      struct scx_types_choice *ret_choice);

/* Appends the names of the structs of this size (bytes), separated by ", ", for the user to choose from. */
void scx_types_append_candidates(const struct btf *btf, uint64_t size, struct buffer *buffer);

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

/*
 * Appends the bytes of a value of a type as one line of text, nested as in C: "{.weight = 100, .state =
 * READY}". At most `limit` bytes of text, the last of which are then "..."; what lies behind `size` bytes is
 * "?".
 */
void scx_types_render(const struct btf *btf, uint32_t type, const uint8_t *bytes, size_t size, size_t limit,
		      struct buffer *buffer);

#endif
