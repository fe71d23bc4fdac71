/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_TYPES_H
#define CTOP_SCX_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "snapshot/task_fields.h"

/*
 * The types (BTF, Documentation/bpf/btf.rst of the kernel) of a sched_ext scheduler's programs describe its
 * contexts: members, names, and values as text. Also steps through types for other searches.
 * Pure: nothing is asked of the kernel. libbpf checks that each type lies in its section, not what it refers
 * to: types that make no sense (cycles, sizes, counts) cost little and break nothing.
 */

struct btf;
struct btf_member;
struct btf_type;

/*
 * Adds the members of a struct (or a typedef of one) of the scheduler's types to `scheduler`, in their order;
 * those of nested structs under their path ("stats.runtime"), those of structs and unions without a name as
 * if they stood outside. What is no integer, bool or enum becomes a pointer, an array of integers, or other:
 * unions with a name, arrays of structs, floats, structs of the kernel ("bpf_spin_lock"), and structs nested
 * more than eight deep. Returns 0, -ENOENT where `type` is no struct, -E2BIG where members were left out
 * (TASK_FIELD_MEMBERS_MAX).
 */
int scx_types_add_members(const struct btf *btf, uint32_t type, struct task_field_owner *scheduler);

/* The type of contexts in an arena. */
struct scx_types_choice {
	uint32_t type;      /* of the struct, 0: none */
	const char *name;   /* of it, or of a typedef of a struct without one; owned by the BTF, NULL: none */
	const char *reason; /* why `type` is 0: "payload_size == 0", "no candidate of size 512" … ("" where
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

/*
 * Appends the bytes of a value of a type as one line of text, nested as in C: "{.weight = 100, .state =
 * READY}". At most `limit` bytes of text, the last of which are then "..."; what lies behind `size` bytes is
 * "?".
 */
void scx_types_render(const struct btf *btf, uint32_t type, const uint8_t *bytes, size_t size, size_t limit,
		      struct buffer *buffer);

/* --- steps --- */

enum {
	SCX_BTF_CHAIN_MAX = 32,   /* typedefs, qualifiers and array dimensions in a row */
	SCX_BTF_POINTER_SIZE = 8, /* of BPF programs, on every host */
	SCX_BTF_BITS = 8,
};

/* A name of the types, or "". */
const char *scx_btf_name(const struct btf *btf, uint32_t offset);

/* The type behind typedefs, qualifiers and tags, and its id; or NULL. */
const struct btf_type *scx_btf_resolve(const struct btf *btf, uint32_t id, uint32_t *ret_id);

/* The whole struct of a name and its id; or NULL, and 0. */
const struct btf_type *scx_btf_struct(const struct btf *btf, const char *name, uint32_t *ret_id);

/* The size of a value of a type, bytes; 0 where it has none or one of 4 GiB or more. */
uint64_t scx_btf_size(const struct btf *btf, uint32_t id);

/*
 * Finds a member of a struct, also in structs and unions without a name. Returns it or NULL.
 * `*ret_offset` is in bytes.
 */
const struct btf_member *scx_btf_member(const struct btf *btf, const struct btf_type *type, const char *name,
					uint32_t *ret_offset);

#endif
