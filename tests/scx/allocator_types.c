/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include "allocator_types.h"

#include <bpf/btf.h>

enum {
	BITS = 8,
	POINTERS = 512,
	POINTER_SIZE = 8,
};

void add_member(struct btf *btf, const char *name, int type, uint32_t offset)
{
	assert_int_equal(btf__add_field(btf, name, type, offset * BITS, 0), 0);
}

struct basic_types add_basic_types(struct btf *btf)
{
	struct basic_types basic = {
		.u8 = btf__add_int(btf, "unsigned char", 1, 0),
		.u16 = btf__add_int(btf, "unsigned short", 2, 0),
		.u32 = btf__add_int(btf, "unsigned int", 4, 0),
		.s32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED),
		.s64 = btf__add_int(btf, "long long", 8, BTF_INT_SIGNED),
		.boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL),
		.character = btf__add_int(btf, "char", 1, BTF_INT_SIGNED),
		.pointer = btf__add_ptr(btf, 0),
	};

	basic.u64 = btf__add_typedef(btf, "u64", btf__add_int(btf, "unsigned long long", 8, 0));
	assert_true(basic.u64 > 0);
	return basic;
}

static void add_chunk(struct btf *btf, const struct basic_types *basic, const struct allocator_types *types)
{
	static const char *const names[] = {
		[CHUNK_DESCS] = "descs",
		[CHUNK_DATA] = "data",
		[CHUNK_SHIFTED] = "descs",
		[CHUNK_OTHER] = "others",
	};
	const uint32_t shift = types->chunk == CHUNK_SHIFTED ? POINTER_SIZE : 0;
	const uint32_t size = POINTERS * POINTER_SIZE;
	int array, inner;

	if (types->chunk == CHUNK_NONE)
		return;
	if (types->chunk == CHUNK_FORWARD) {
		assert_true(btf__add_fwd(btf, "sdt_chunk", BTF_FWD_STRUCT) > 0);
		return;
	}
	array = btf__add_array(btf, basic->s32, basic->pointer, POINTERS);
	inner = btf__add_union(btf, "", size);
	add_member(btf, names[types->chunk], array, 0);
	assert_true(btf__add_struct(btf, "sdt_chunk", size + shift) > 0);
	if (shift != 0)
		add_member(btf, "head", basic->u64, 0);
	add_member(btf, "", inner, shift);
}

static void add_data(struct btf *btf, const struct basic_types *basic, const struct allocator_types *types)
{
	static const uint32_t sizes[] = {
		[DATA_BEFORE] = 8,
		[DATA_AFTER] = 16,
		[DATA_LARGE] = 4097,
		[DATA_TINY] = 4,
	};

	if (types->data == DATA_NONE)
		return;
	if (types->data == DATA_FORWARD) {
		assert_true(btf__add_fwd(btf, "sdt_data", BTF_FWD_STRUCT) > 0);
		return;
	}
	const int tail = btf__add_array(btf, basic->s32, basic->u64, 0);

	assert_true(btf__add_struct(btf, "sdt_data", sizes[types->data]) > 0);
	add_member(btf, "tid", types->data == DATA_TINY ? basic->s32 : basic->s64, 0);
	if (types->data == DATA_AFTER)
		add_member(btf, "urcu_link", basic->u64, sizeof(uint64_t));
	else
		add_member(btf, "payload", tail, sizes[types->data]);
}

void add_allocator_types(struct btf *btf, const struct basic_types *basic,
			 const struct allocator_types *types)
{
	const uint32_t reserve = types->has_reserve ? POINTER_SIZE : 0;
	const int words = btf__add_array(btf, basic->s32, basic->u64, 8);
	int pool = 0;

	if (!types->no_pool) {
		pool = btf__add_struct(btf, "sdt_pool", 32 + reserve);
		add_member(btf, "slab", basic->pointer, 0);
		if (types->has_reserve)
			add_member(btf, "reserve", basic->pointer, POINTER_SIZE);
		add_member(btf, "elem_size", basic->u64, 8 + reserve);
		add_member(btf, "max_elems", basic->u64, 16 + reserve);
		add_member(btf, "idx", basic->u64, 24 + reserve);
	}
	if (types->forward_descriptor) {
		assert_true(btf__add_fwd(btf, "sdt_desc", BTF_FWD_STRUCT) > 0);
	} else if (!types->no_descriptor) {
		assert_true(btf__add_struct(btf, "sdt_desc", 80) > 0);
		add_member(btf, "allocated", words, 0);
		add_member(btf, "nr_free", basic->u64, 64);
		add_member(btf, "chunk", basic->pointer, 72);
	}
	add_chunk(btf, basic, types);
	add_data(btf, basic, types);
	if (types->forward_allocator) {
		assert_true(btf__add_fwd(btf, types->allocator, BTF_FWD_STRUCT) > 0);
	} else if (types->allocator != NULL) {
		assert_true(btf__add_struct(btf, types->allocator, 40 + reserve) > 0);
		add_member(btf, "pool", pool != 0 ? pool : basic->u64, 0);
		add_member(btf, "root", basic->pointer, 32 + reserve);
	}
}
