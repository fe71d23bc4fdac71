/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_BTF_H
#define CTOP_SCX_BTF_H

#include <stddef.h>
#include <stdint.h>

#include <bpf/btf.h>

#include "snapshot/task_fields.h"

/*
 * Steps through types that need not make sense: libbpf checks that each lies in its section, not what it
 * refers to.
 */

enum {
	SCX_BTF_CHAIN_MAX = 32,   /* typedefs, qualifiers and array dimensions in a row */
	SCX_BTF_POINTER_SIZE = 8, /* of BPF programs, on every host */
	SCX_BTF_BITS = 8,
};

/* A name of the types; "" where there is none. */
const char *scx_btf_name(const struct btf *btf, uint32_t offset);

/* The type behind typedefs, qualifiers and tags, and its id; NULL where there is none. */
const struct btf_type *scx_btf_resolve(const struct btf *btf, uint32_t id, uint32_t *ret_id);

/* How many bytes a value of a type takes; 0 where it has no size or one of 4 GiB or more. */
uint64_t scx_btf_size(const struct btf *btf, uint32_t id);

/* All elements of an array of any dimensions as one row. Returns their type's id; 0 where it is no array. */
uint32_t scx_btf_array(const struct btf *btf, uint32_t id, uint64_t *ret_count);

/*
 * Finds a member of a struct, also in structs and unions without a name. Returns its offset in bytes, or -1.
 */
int64_t scx_btf_member_offset(const struct btf *btf, const struct btf_type *type, const char *name);

/* A value of an enum; `index` is below its btf_vlen(). */
struct task_field_enumerator scx_btf_enumerator(const struct btf *btf, const struct btf_type *type,
						uint32_t index);

/*
 * What an integer is: kind, sign and bits; its type may say that not all of its bits count, which is how
 * bit-fields were once, so `bit_offset` grows. TASK_FIELD_KIND_OTHER for one of more than 64 bits.
 */
void scx_btf_describe_integer(const struct btf_type *type, struct task_field_member *member);

#endif
