/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scx_btf.h"

enum {
	NESTED_LEVELS = 8,
	STEPS = 65536,          /* members looked at in one go */
	ENUMERATORS_MAX = 8192, /* of all members of a type */
	TEXT_MAX = 512,         /* bytes of a path or of a type as text */
};

/* --- types as text --- */

static void append_type(const struct btf *btf, uint32_t id, struct buffer *buffer);

/* "struct name": what has no name is "struct" alone. */
static void append_tagged(const char *tag, const char *name, struct buffer *buffer)
{
	buffer_append_text(buffer, tag);
	if (*name != '\0')
		buffer_append_format(buffer, " %s", name);
}

static void append_array(const struct btf *btf, const struct btf_type *type, struct buffer *buffer)
{
	const struct btf_type *inner = type;
	uint32_t id = 0;

	for (int i = 0; i < SCX_BTF_CHAIN_MAX && inner != NULL && btf_is_array(inner); i++) {
		id = btf_array(inner)->type;
		inner = btf__type_by_id(btf, id);
	}
	if (inner != NULL && !btf_is_array(inner))
		append_type(btf, id, buffer);
	inner = type;
	for (int i = 0; i < SCX_BTF_CHAIN_MAX && inner != NULL && btf_is_array(inner); i++) {
		buffer_append_format(buffer, "[%u]", btf_array(inner)->nelems);
		inner = btf__type_by_id(btf, btf_array(inner)->type);
	}
}

/* What stands before the stars of a pointer, or is none. */
static void append_plain(const struct btf *btf, const struct btf_type *type, struct buffer *buffer)
{
	const char *name = scx_btf_name(btf, type->name_off);

	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
		append_tagged("struct", name, buffer);
		break;
	case BTF_KIND_UNION:
		append_tagged("union", name, buffer);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		append_tagged("enum", name, buffer);
		break;
	case BTF_KIND_FWD:
		append_tagged(btf_kflag(type) ? "union" : "struct", name, buffer);
		break;
	case BTF_KIND_ARRAY:
		append_array(btf, type, buffer);
		break;
	case BTF_KIND_FUNC_PROTO:
		buffer_append_text(buffer, "function");
		break;
	case BTF_KIND_INT:
		buffer_append_text(buffer, strcmp(name, "_Bool") == 0 ? "bool" : name);
		break;
	default:
		buffer_append_text(buffer, *name != '\0' ? name : "?");
	}
}

/* A type as in C, without qualifiers: "u64", "enum task_state", "struct bpf_cpumask *", "u32[4]". */
static void append_type(const struct btf *btf, uint32_t id, struct buffer *buffer)
{
	const struct btf_type *type = NULL;
	int stars = 0;

	for (int step = 0; id != 0 && step < SCX_BTF_CHAIN_MAX; step++) {
		type = btf__type_by_id(btf, id);
		if (type == NULL || (!btf_is_mod(type) && !btf_is_ptr(type)))
			break;
		stars += btf_is_ptr(type);
		id = type->type;
		type = NULL;
	}
	if (type != NULL)
		append_plain(btf, type, buffer);
	else
		buffer_append_text(buffer, id == 0 ? "void" : "?");
	if (stars != 0)
		buffer_append_char(buffer, ' ');
	for (; stars > 0; stars--)
		buffer_append_char(buffer, '*');
}

/* --- members --- */

struct gathering {
	const struct btf *btf;
	struct task_field_owner *scheduler;
	struct buffer path; /* of the member */
	struct buffer type; /* of it as text */
	struct task_field_enumerator *enumerators;
	size_t enumerator_count, enumerator_capacity;
	int enumerators_left, steps_left;
	bool left_out;
};

static void gather_enum(struct gathering *gathering, const struct btf_type *type,
			struct task_field_member *member)
{
	member->is_signed = btf_kflag(type);
	gathering->enumerator_count = 0;
	for (uint32_t i = 0; i < btf_vlen(type) && gathering->enumerators_left > 0; i++) {
		struct task_field_enumerator *enumerator = MEMORY_APPEND(
			gathering->enumerators, gathering->enumerator_count, gathering->enumerator_capacity);

		*enumerator = scx_btf_enumerator(gathering->btf, type, i);
		gathering->enumerators_left--;
	}
	member->enumerators = gathering->enumerators;
	member->enumerator_count = gathering->enumerator_count;
}

static void describe_array(struct gathering *gathering, uint32_t id, struct task_field_member *member)
{
	uint64_t count = 0;
	uint32_t element = scx_btf_array(gathering->btf, id, &count);
	const struct btf_type *type = element != 0 ? btf__type_by_id(gathering->btf, element) : NULL;
	struct task_field_member inner = {0};

	if (type == NULL || !btf_is_int(type) || count == 0 || count > TASK_FIELD_ELEMENTS_MAX)
		return;
	scx_btf_describe_integer(type, &inner);
	if (inner.kind == TASK_FIELD_KIND_OTHER || inner.bit_size != type->size * SCX_BTF_BITS)
		return;
	member->kind = TASK_FIELD_KIND_ARRAY;
	member->is_signed = inner.is_signed;
	member->bit_size = inner.bit_size;
	member->count = (uint32_t)count;
}

/* A member without members of its own, or whose members nobody is to see. */
static void gather_leaf(struct gathering *gathering, uint32_t id, uint64_t bit_offset, uint32_t bit_field)
{
	const uint64_t size = scx_btf_size(gathering->btf, id);
	struct task_field_member member = {
		.kind = TASK_FIELD_KIND_OTHER, .bit_offset = (uint32_t)bit_offset, .count = 1};
	uint32_t resolved = 0;
	const struct btf_type *type = scx_btf_resolve(gathering->btf, id, &resolved);

	/* an array at the end that has no length of its own takes no room */
	if (type != NULL && size == 0 && btf_is_array(type))
		return;
	if (type == NULL || size == 0 || size > TASK_FIELDS_SIZE_MAX ||
	    bit_offset > (uint64_t)TASK_FIELDS_SIZE_MAX * SCX_BTF_BITS || gathering->path.length > TEXT_MAX) {
		gathering->left_out = true;
		return;
	}
	member.bit_size = (uint32_t)size * SCX_BTF_BITS;
	if (btf_is_int(type)) {
		scx_btf_describe_integer(type, &member);
	} else if (btf_is_any_enum(type) && size <= sizeof(uint64_t)) {
		member.kind = TASK_FIELD_KIND_ENUM;
		gather_enum(gathering, type, &member);
	} else if (btf_is_ptr(type)) {
		member.kind = TASK_FIELD_KIND_POINTER;
	} else if (btf_is_array(type)) {
		describe_array(gathering, resolved, &member);
	}
	if (bit_field != 0 && member.kind <= TASK_FIELD_KIND_ENUM)
		member.bit_size = bit_field;
	buffer_clear(&gathering->type);
	append_type(gathering->btf, id, &gathering->type);
	if (gathering->type.length > TEXT_MAX)
		gathering->type.data[TEXT_MAX] = '\0';
	member.name = gathering->path.data;
	member.type = gathering->type.data;
	if (!task_field_owner_add_member(gathering->scheduler, &member))
		gathering->left_out = true;
}

/*
 * Whether the members of a member stand among those of the whole: not those of unions, of which only the
 * scheduler knows which counts, unless it names them as its own by giving the union no name; and not those of
 * the kernel's structs in a context (locks, timers, nodes; kernel/bpf/btf.c).
 */
static bool is_opened(const struct btf *btf, const struct btf_type *type, const char *name, int level)
{
	if (!btf_is_composite(type) || level == NESTED_LEVELS)
		return false;
	return *name == '\0' || (btf_is_struct(type) &&
				 strncmp(scx_btf_name(btf, type->name_off), "bpf_", strlen("bpf_")) != 0);
}

static void gather(struct gathering *gathering, const struct btf_type *type, uint64_t base, int level)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *name = scx_btf_name(gathering->btf, member->name_off);
		const uint64_t bit_offset = base + btf_member_bit_offset(type, i);
		const size_t length = gathering->path.length;
		const struct btf_type *inner;
		uint32_t id;

		if (--gathering->steps_left < 0) {
			gathering->left_out = true;
			return;
		}
		inner = scx_btf_resolve(gathering->btf, member->type, &id);
		buffer_append_text(&gathering->path, name);
		if (inner != NULL && gathering->path.length <= TEXT_MAX &&
		    is_opened(gathering->btf, inner, name, level)) {
			if (*name != '\0')
				buffer_append_char(&gathering->path, '.');
			gather(gathering, inner, bit_offset, level + 1);
		} else {
			gather_leaf(gathering, member->type, bit_offset, btf_member_bitfield_size(type, i));
		}
		gathering->path.length = length;
		gathering->path.data[length] = '\0';
	}
}

int scx_types_add_members(const struct btf *btf, uint32_t type, struct task_field_owner *scheduler)
{
	struct gathering gathering = {
		.btf = btf,
		.scheduler = scheduler,
		.enumerators_left = ENUMERATORS_MAX,
		.steps_left = STEPS,
	};
	uint32_t id;
	const struct btf_type *resolved = scx_btf_resolve(btf, type, &id);

	if (resolved == NULL || !btf_is_struct(resolved))
		return -ENOENT;
	buffer_append_text(&gathering.path, "");
	gather(&gathering, resolved, 0, 0);
	buffer_release(&gathering.path);
	buffer_release(&gathering.type);
	free(gathering.enumerators);
	return gathering.left_out ? -E2BIG : 0;
}

/* --- which type a context has --- */

struct candidate {
	uint32_t type;
	const char *name;   /* its own, or that of a typedef of it */
	unsigned int ranks; /* a bit for each of enum rank that one of its names has */
};

struct candidates {
	struct candidate *items;
	size_t count, capacity;
};

enum rank {
	RANK_WANTED,
	RANK_TASK_CTX,
	RANK_ARENA_CTX,
	RANK_ANY_TASK_CTX,
	RANK_CTX,
	RANK_COUNT,
};

static bool ends_in(const char *name, const char *ending)
{
	const size_t length = strlen(name), ending_length = strlen(ending);

	return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static unsigned int ranks_of(const char *name, const char *wanted)
{
	return (unsigned int)(wanted != NULL && strcmp(name, wanted) == 0) << RANK_WANTED |
	       (unsigned int)(strcmp(name, "task_ctx") == 0) << RANK_TASK_CTX |
	       (unsigned int)ends_in(name, "_arena_ctx") << RANK_ARENA_CTX |
	       (unsigned int)ends_in(name, "_task_ctx") << RANK_ANY_TASK_CTX |
	       (unsigned int)ends_in(name, "_ctx") << RANK_CTX;
}

/* Typedefs of it give a struct more names, and one without a name its only one. */
static void add_candidate(struct candidates *candidates, uint32_t type, const char *name, const char *wanted)
{
	struct candidate *candidate;

	if (*name == '\0')
		return;
	for (size_t i = 0; i < candidates->count; i++) {
		if (candidates->items[i].type == type) {
			candidates->items[i].ranks |= ranks_of(name, wanted);
			return;
		}
	}
	candidate = MEMORY_APPEND(candidates->items, candidates->count, candidates->capacity);
	*candidate = (struct candidate){type, name, ranks_of(name, wanted)};
}

static struct candidates find_candidates(const struct btf *btf, uint64_t size, const char *wanted)
{
	const uint32_t count = btf__type_cnt(btf);
	struct candidates candidates = {0};

	/* typedefs come second, so that a struct has its own name where it has one */
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 1; i < count; i++) {
			const struct btf_type *type = btf__type_by_id(btf, i);
			uint32_t id = i;
			const struct btf_type *target;

			if (type == NULL || (pass == 0 ? !btf_is_struct(type) : !btf_is_typedef(type)))
				continue;
			target = scx_btf_resolve(btf, i, &id);
			if (target != NULL && btf_is_struct(target) && target->size == size)
				add_candidate(&candidates, id, scx_btf_name(btf, type->name_off), wanted);
		}
	}
	return candidates;
}

/* The only candidate with this rank. */
static const struct candidate *only_one(const struct candidates *candidates, enum rank rank)
{
	const struct candidate *found = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		if ((candidates->items[i].ranks >> rank & 1) == 0)
			continue;
		if (found != NULL)
			return NULL;
		found = &candidates->items[i];
	}
	return found;
}

static void append_names(const struct candidates *candidates, struct buffer *buffer)
{
	for (size_t i = 0; i < candidates->count; i++) {
		if (i != 0)
			buffer_append_text(buffer, ", ");
		buffer_append_text(buffer, candidates->items[i].name);
	}
}

static const char *refuse_wanted(const struct candidates *candidates, uint64_t size, const char *wanted,
				 struct arena *arena)
{
	struct buffer names = {0};
	const char *reason;

	append_names(candidates, &names);
	reason = arena_format(arena, "no struct '%s' of size %llu%s%s", wanted, (unsigned long long)size,
			      candidates->count != 0 ? ", only " : "", names.data != NULL ? names.data : "");
	buffer_release(&names);
	return reason;
}

void scx_types_choose(const struct btf *btf, uint64_t size, const char *wanted, struct arena *arena,
		      struct scx_types_choice *ret_choice)
{
	struct candidates candidates = {0};
	const struct candidate *chosen = NULL;

	*ret_choice = (struct scx_types_choice){.reason = ""};
	if (size == 0) {
		ret_choice->reason = "payload_size == 0";
		return;
	}
	candidates = find_candidates(btf, size, wanted);
	if (wanted != NULL)
		chosen = only_one(&candidates, RANK_WANTED);
	else if (candidates.count == 1)
		chosen = &candidates.items[0];
	for (enum rank rank = RANK_TASK_CTX; wanted == NULL && chosen == NULL && rank < RANK_COUNT; rank++)
		chosen = only_one(&candidates, rank);
	if (chosen != NULL) {
		ret_choice->type = chosen->type;
		ret_choice->name = chosen->name;
	} else if (wanted != NULL) {
		ret_choice->reason = refuse_wanted(&candidates, size, wanted, arena);
	} else if (candidates.count == 0) {
		ret_choice->reason = arena_format(arena, "no candidate of size %llu",
						  (unsigned long long)size);
	} else {
		ret_choice->reason = arena_format(arena, "ambiguous: %zu candidates", candidates.count);
	}
	free(candidates.items);
}

void scx_types_append_candidates(const struct btf *btf, uint64_t size, struct buffer *buffer)
{
	struct candidates candidates = find_candidates(btf, size, NULL);

	append_names(&candidates, buffer);
	free(candidates.items);
}

/* --- the allocator --- */

/* The whole struct of a name, or NULL; `*ret_id` is then that of a forward declaration, 0 when there is none.
 */
static const struct btf_type *find_struct(const struct btf *btf, const char *name, uint32_t *ret_id)
{
	const uint32_t count = btf__type_cnt(btf);

	*ret_id = 0;
	for (uint32_t i = 1; i < count; i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);

		if (type == NULL || (!btf_is_struct(type) && !btf_is_fwd(type)) ||
		    strcmp(scx_btf_name(btf, type->name_off), name) != 0)
			continue;
		*ret_id = i;
		if (btf_is_struct(type))
			return type;
	}
	return NULL;
}

/* The same of a struct that has to be whole. */
static const struct btf_type *need_struct(const struct btf *btf, const char *name, uint32_t *ret_id,
					  struct error *error)
{
	const struct btf_type *type = find_struct(btf, name, ret_id);

	if (type == NULL && *ret_id != 0)
		error_set(error, -ENOENT,
			  "of struct %s the scheduler's types have a forward declaration only", name);
	else if (type == NULL)
		error_set(error, -ENOENT,
			  "struct %s is not there: the scheduler has no sdt_alloc allocator of contexts",
			  name);
	return type;
}

struct wanted_offset {
	const char *member;
	uint32_t *ret_offset;
};

static int find_offsets(const struct btf *btf, const struct btf_type *type, const char *name,
			const struct wanted_offset wanted[], size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		const int64_t offset = scx_btf_member_offset(btf, type, wanted[i].member);

		if (offset < 0)
			return error_set(error, -EINVAL, "struct %s of the scheduler has no member '%s'",
					 name, wanted[i].member);
		*wanted[i].ret_offset = (uint32_t)offset;
	}
	return 0;
}

static int find_allocator(const struct btf *btf, struct sdt_layout *layout, bool *ret_has_reserve,
			  struct error *error)
{
	uint32_t pool_offset = 0, elem_size = 0, id;
	const struct wanted_offset of_allocator[] = {{"pool", &pool_offset}, {"root", &layout->root}};
	const struct wanted_offset of_pool[] = {{"elem_size", &elem_size}};
	const char *name = "sdt_allocator"; /* of rusty */
	const struct btf_type *allocator = find_struct(btf, name, &layout->allocator_type);
	const struct btf_type *pool;
	int result;

	if (allocator == NULL) {
		name = "scx_allocator";
		allocator = need_struct(btf, name, &layout->allocator_type, error);
	}
	if (allocator == NULL)
		return -ENOENT;
	pool = need_struct(btf, "sdt_pool", &id, error);
	if (pool == NULL)
		return -ENOENT;
	result = find_offsets(btf, allocator, name, of_allocator, ARRAY_COUNT(of_allocator), error);
	if (result == 0)
		result = find_offsets(btf, pool, "sdt_pool", of_pool, ARRAY_COUNT(of_pool), error);
	layout->allocator_size = allocator->size;
	layout->elem_size = pool_offset + elem_size;
	*ret_has_reserve = scx_btf_member_offset(btf, pool, "reserve") >= 0;
	return result;
}

static int find_descriptor(const struct btf *btf, struct sdt_layout *layout, struct error *error)
{
	const struct wanted_offset of_descriptor[] = {
		{"allocated", &layout->allocated}, {"nr_free", &layout->nr_free}, {"chunk", &layout->chunk}};
	uint32_t id;
	const struct btf_type *descriptor = need_struct(btf, "sdt_desc", &id, error);

	if (descriptor == NULL)
		return -ENOENT;
	return find_offsets(btf, descriptor, "sdt_desc", of_descriptor, ARRAY_COUNT(of_descriptor), error);
}

/* The types of schedulers hold a chunk as a forward declaration, and its pointers are all there is to it. */
static int find_chunk(const struct btf *btf, struct sdt_layout *layout, struct error *error)
{
	uint32_t id;
	const struct btf_type *chunk = find_struct(btf, "sdt_chunk", &id);
	int64_t children = 0;

	if (chunk != NULL) {
		children = scx_btf_member_offset(btf, chunk, "descs");
		if (children < 0)
			children = scx_btf_member_offset(btf, chunk, "data");
	} else if (id == 0) {
		need_struct(btf, "sdt_chunk", &id, error);
		return -ENOENT;
	}
	if (children < 0)
		return error_set(error, -EINVAL,
				 "struct sdt_chunk of the scheduler has neither 'descs' nor 'data'");
	layout->children = (uint32_t)children;
	return 0;
}

/*
 * Where the id of an element stands. The elder kind has it before the payload, as all of sdt_data; the newer
 * one has it behind, together with what frees it late, and keeps pages in reserve. The types need not hold
 * sdt_data, since programs reach the id by a pointer.
 */
static int find_id(const struct btf *btf, struct sdt_layout *layout, bool has_reserve, struct error *error)
{
	enum {
		ID_SIZE = 8,
		ID_SIZE_LATE = 16,
		ID_SIZE_MAX = 4096,
	};
	uint32_t id;
	const struct btf_type *data = find_struct(btf, "sdt_data", &id);

	layout->id_after = has_reserve;
	layout->id_size = has_reserve ? ID_SIZE_LATE : ID_SIZE;
	if (data == NULL)
		return 0;
	layout->id_after = scx_btf_member_offset(btf, data, "urcu_link") >= 0;
	layout->id_size = data->size;
	if (data->size < ID_SIZE || data->size > ID_SIZE_MAX)
		return error_set(error, -EINVAL, "struct sdt_data of the scheduler has %u bytes", data->size);
	return 0;
}

int sdt_layout_find_elements(const struct btf *btf, struct sdt_layout *ret_layout, struct error *error)
{
	struct sdt_layout layout = {0};
	bool has_reserve = false;
	int result = find_allocator(btf, &layout, &has_reserve, error);

	if (result == 0)
		result = find_id(btf, &layout, has_reserve, error);
	if (result == 0)
		*ret_layout = layout;
	return result;
}

int sdt_layout_find(const struct btf *btf, struct sdt_layout *ret_layout, struct error *error)
{
	struct sdt_layout layout;
	int result = sdt_layout_find_elements(btf, &layout, error);

	if (result == 0)
		result = find_descriptor(btf, &layout, error);
	if (result == 0)
		result = find_chunk(btf, &layout, error);
	if (result == 0)
		*ret_layout = layout;
	return result;
}
