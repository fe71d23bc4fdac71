/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_btf.h"

#include <string.h>

enum {
	ANONYMOUS_LEVELS = 4,
	MEMBERS_LOOKED_AT = 65536,
};

const char *scx_btf_name(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name != NULL ? name : "";
}

const struct btf_type *scx_btf_resolve(const struct btf *btf, uint32_t id, uint32_t *ret_id)
{
	const struct btf_type *type = NULL;

	for (int step = 0; id != 0 && step < SCX_BTF_CHAIN_MAX; step++) {
		type = btf__type_by_id(btf, id);
		if (type == NULL)
			return NULL;
		if (!btf_is_mod(type) && !btf_is_typedef(type)) {
			*ret_id = id;
			return type;
		}
		id = type->type;
	}
	return NULL;
}

uint32_t scx_btf_array(const struct btf *btf, uint32_t id, uint64_t *ret_count)
{
	const struct btf_type *type = scx_btf_resolve(btf, id, &id);
	uint64_t count = 1;
	int step = 0;

	if (type == NULL || !btf_is_array(type))
		return 0;
	for (; type != NULL && btf_is_array(type) && step < SCX_BTF_CHAIN_MAX; step++) {
		count *= btf_array(type)->nelems;
		if (count > UINT32_MAX)
			return 0;
		type = scx_btf_resolve(btf, btf_array(type)->type, &id);
	}
	if (type == NULL || btf_is_array(type))
		return 0;
	*ret_count = count;
	return id;
}

uint64_t scx_btf_size(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = scx_btf_resolve(btf, id, &id);
	uint64_t count = 1;
	uint64_t size;

	if (type != NULL && btf_is_array(type)) {
		id = scx_btf_array(btf, id, &count);
		type = id != 0 ? btf__type_by_id(btf, id) : NULL;
	}
	if (type == NULL)
		return 0;
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FLOAT:
		size = type->size;
		break;
	case BTF_KIND_PTR:
		size = SCX_BTF_POINTER_SIZE;
		break;
	default:
		return 0;
	}
	/* both fit 32 bits */
	return size * count <= UINT32_MAX ? size * count : 0;
}

static int64_t find_member(const struct btf *btf, const struct btf_type *type, const char *name, int level,
			   int *left)
{
	for (uint32_t i = 0; i < btf_vlen(type) && --*left > 0; i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *own = scx_btf_name(btf, member->name_off);
		const int64_t offset = btf_member_bit_offset(type, i) / SCX_BTF_BITS;
		const struct btf_type *inner;
		int64_t inside;
		uint32_t id;

		if (strcmp(own, name) == 0)
			return offset;
		if (*own != '\0' || level == ANONYMOUS_LEVELS)
			continue;
		inner = scx_btf_resolve(btf, member->type, &id);
		if (inner == NULL || !btf_is_composite(inner))
			continue;
		inside = find_member(btf, inner, name, level + 1, left);
		if (inside >= 0)
			return offset + inside;
	}
	return -1;
}

int64_t scx_btf_member_offset(const struct btf *btf, const struct btf_type *type, const char *name)
{
	int left = MEMBERS_LOOKED_AT;

	return find_member(btf, type, name, 0, &left);
}

struct task_field_enumerator scx_btf_enumerator(const struct btf *btf, const struct btf_type *type,
						uint32_t index)
{
	if (btf_is_enum64(type)) {
		const struct btf_enum64 *wide = &btf_enum64(type)[index];

		return (struct task_field_enumerator){scx_btf_name(btf, wide->name_off),
						      (int64_t)btf_enum64_value(wide)};
	}
	const struct btf_enum *narrow = &btf_enum(type)[index];

	return (struct task_field_enumerator){scx_btf_name(btf, narrow->name_off),
					      btf_kflag(type) ? (int64_t)narrow->val
							      : (int64_t)(uint32_t)narrow->val};
}

void scx_btf_describe_integer(const struct btf_type *type, struct task_field_member *member)
{
	const uint32_t encoding = btf_int_encoding(type);

	member->is_signed = (encoding & BTF_INT_SIGNED) != 0;
	member->kind = (encoding & BTF_INT_BOOL) != 0 ? TASK_FIELD_KIND_BOOLEAN
		       : member->is_signed            ? TASK_FIELD_KIND_SIGNED
						      : TASK_FIELD_KIND_UNSIGNED;
	member->bit_size = btf_int_bits(type);
	member->bit_offset += btf_int_offset(type);
	if (type->size > sizeof(uint64_t) || member->bit_size == 0 ||
	    member->bit_size > type->size * SCX_BTF_BITS) {
		member->kind = TASK_FIELD_KIND_OTHER;
		member->bit_size = type->size <= TASK_FIELDS_SIZE_MAX ? type->size * SCX_BTF_BITS : 0;
	}
}
