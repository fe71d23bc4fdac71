/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_types.h"

#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- steps --- */

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
	const int resolved = btf__resolve_type(btf, id);

	if (resolved < 0)
		return NULL;
	*ret_id = (uint32_t)resolved;
	return btf__type_by_id(btf, *ret_id);
}

const struct btf_type *scx_btf_struct(const struct btf *btf, const char *name, uint32_t *ret_id)
{
	const int32_t id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	*ret_id = id > 0 ? (uint32_t)id : 0;
	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

/* All elements of an array of any dimensions as one row. Returns their type's id; 0 where it is no array. */
static uint32_t flatten_array(const struct btf *btf, uint32_t id, uint64_t *ret_count)
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
	const int64_t size = btf__resolve_size(btf, id);

	return size > 0 ? (uint64_t)size : 0;
}

static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
					    const char *name, int level, int *left, uint32_t *ret_offset)
{
	for (uint32_t i = 0; i < btf_vlen(type) && --*left > 0; i++) {
		const struct btf_member *member = &btf_members(type)[i], *found;
		const char *own = scx_btf_name(btf, member->name_off);
		const uint32_t offset = btf_member_bit_offset(type, i) / SCX_BTF_BITS;
		const struct btf_type *inner;
		uint32_t id;

		*ret_offset = offset;
		if (strcmp(own, name) == 0)
			return member;
		if (*own != '\0' || level == ANONYMOUS_LEVELS)
			continue;
		inner = scx_btf_resolve(btf, member->type, &id);
		if (inner == NULL || !btf_is_composite(inner))
			continue;
		found = find_member(btf, inner, name, level + 1, left, ret_offset);
		*ret_offset += offset;
		if (found != NULL)
			return found;
	}
	return NULL;
}

const struct btf_member *scx_btf_member(const struct btf *btf, const struct btf_type *type, const char *name,
					uint32_t *ret_offset)
{
	int left = MEMBERS_LOOKED_AT;

	return find_member(btf, type, name, 0, &left, ret_offset);
}

static struct task_field_enumerator enumerator_at(const struct btf *btf, const struct btf_type *type,
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

/*
 * The type may say that not all bits of an integer count, which is how bit-fields were once, so `bit_offset`
 * grows. TASK_FIELD_KIND_OTHER for one of more than 64 bits.
 */
static void describe_integer(const struct btf_type *type, struct task_field_member *member)
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

/* Describes an integer, an enum or a pointer: kind, sign and bits. Leaves `member` alone for other types. */
static void describe_scalar(const struct btf_type *type, uint32_t bit_field, struct task_field_member *member)
{
	if (btf_is_int(type)) {
		describe_integer(type, member);
	} else if (btf_is_any_enum(type) && type->size <= sizeof(uint64_t)) {
		member->kind = TASK_FIELD_KIND_ENUM;
		member->is_signed = btf_kflag(type);
		member->bit_size = type->size * SCX_BTF_BITS;
	} else if (btf_is_ptr(type)) {
		member->kind = TASK_FIELD_KIND_POINTER;
		member->bit_size = SCX_BTF_POINTER_SIZE * SCX_BTF_BITS;
	}
	if (bit_field != 0 && member->kind <= TASK_FIELD_KIND_ENUM)
		member->bit_size = bit_field;
}

enum {
	NESTED_LEVELS = 8,
	STEPS = 65536,          /* members looked at in one go */
	ENUMERATORS_MAX = 8192, /* of all members of a type */
	TEXT_MAX = 512,         /* bytes of a path or of a type as text */
};

/* --- types as text --- */

static void append_type(const struct btf *btf, uint32_t id, int depth, struct buffer *buffer);

/* "struct name": what has no name is "struct" alone. */
static void append_tagged(const char *tag, const char *name, struct buffer *buffer)
{
	buffer_append_text(buffer, tag);
	if (*name != '\0')
		buffer_append_format(buffer, " %s", name);
}

static void append_array(const struct btf *btf, const struct btf_type *type, int depth, struct buffer *buffer)
{
	const struct btf_type *inner = type;
	uint32_t id = 0;

	for (int i = 0; i < SCX_BTF_CHAIN_MAX && inner != NULL && btf_is_array(inner); i++) {
		id = btf_array(inner)->type;
		inner = btf__type_by_id(btf, id);
	}
	if (inner != NULL && !btf_is_array(inner))
		append_type(btf, id, depth + 1, buffer);
	inner = type;
	for (int i = 0; i < SCX_BTF_CHAIN_MAX && inner != NULL && btf_is_array(inner); i++) {
		buffer_append_format(buffer, "[%u]", btf_array(inner)->nelems);
		inner = btf__type_by_id(btf, btf_array(inner)->type);
	}
}

/* Appends the part before the stars of a pointer. */
static void append_plain(const struct btf *btf, const struct btf_type *type, int depth, struct buffer *buffer)
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
		append_array(btf, type, depth, buffer);
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

/*
 * A type as in C, without qualifiers: "u64", "enum task_state", "struct bpf_cpumask *", "u32[4]". `depth`: of
 * arrays of pointers to arrays, which may be of themselves.
 */
static void append_type(const struct btf *btf, uint32_t id, int depth, struct buffer *buffer)
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
	if (type != NULL && depth < NESTED_LEVELS)
		append_plain(btf, type, depth, buffer);
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
	gathering->enumerator_count = 0;
	for (uint32_t i = 0; i < btf_vlen(type) && gathering->enumerators_left > 0; i++) {
		struct task_field_enumerator *enumerator = MEMORY_APPEND(
			gathering->enumerators, gathering->enumerator_count, gathering->enumerator_capacity);

		*enumerator = enumerator_at(gathering->btf, type, i);
		gathering->enumerators_left--;
	}
	member->enumerators = gathering->enumerators;
	member->enumerator_count = gathering->enumerator_count;
}

static void describe_array(struct gathering *gathering, uint32_t id, struct task_field_member *member)
{
	uint64_t count = 0;
	uint32_t element = flatten_array(gathering->btf, id, &count);
	const struct btf_type *type = element != 0 ? btf__type_by_id(gathering->btf, element) : NULL;
	struct task_field_member inner = {0};

	if (type == NULL || !btf_is_int(type) || count == 0 || count > TASK_FIELD_ELEMENTS_MAX)
		return;
	describe_integer(type, &inner);
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
	describe_scalar(type, bit_field, &member);
	if (member.kind == TASK_FIELD_KIND_ENUM)
		gather_enum(gathering, type, &member);
	else if (btf_is_array(type))
		describe_array(gathering, resolved, &member);
	buffer_clear(&gathering->type);
	append_type(gathering->btf, id, 0, &gathering->type);
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

/* --- values as text --- */

enum {
	RENDERED_LEVELS = 16,
};

struct rendering {
	const struct btf *btf;
	const uint8_t *bytes;
	uint64_t bit_size;
	struct buffer *buffer;
	size_t end; /* length of the buffer at which the text is long enough */
	int steps_left;
};

static void render(struct rendering *rendering, uint32_t id, uint64_t bit_offset, uint32_t bit_field,
		   int level);

/* Whether one more value may be rendered. */
static bool goes_on(struct rendering *rendering)
{
	return rendering->buffer->length <= rendering->end && --rendering->steps_left > 0;
}

/* Reads a number that lies in the bytes. */
static bool read_number(const struct rendering *rendering, const struct task_field_member *member,
			uint64_t offset, uint64_t *ret_value)
{
	struct task_field_member shifted = *member;
	const uint64_t first = (offset + member->bit_offset) / SCX_BTF_BITS;

	if (offset + member->bit_offset + member->bit_size > rendering->bit_size || member->bit_size == 0 ||
	    member->bit_size > sizeof(*ret_value) * SCX_BTF_BITS)
		return false;
	/* an offset of a member has 32 bits */
	shifted.bit_offset = (uint32_t)((offset + member->bit_offset) % SCX_BTF_BITS);
	*ret_value = task_field_read(&shifted, rendering->bytes + first, 0);
	return true;
}

/* The name of an enum's value, or NULL. */
static const char *find_name(const struct btf *btf, const struct btf_type *type, uint64_t value)
{
	for (uint32_t i = 0; btf_is_any_enum(type) && i < btf_vlen(type); i++) {
		const struct task_field_enumerator enumerator = enumerator_at(btf, type, i);

		if (enumerator.value == (int64_t)value && *enumerator.name != '\0')
			return enumerator.name;
	}
	return NULL;
}

static void render_scalar(struct rendering *rendering, const struct btf_type *type, uint64_t offset,
			  uint32_t bit_field)
{
	struct task_field_member member = {.kind = TASK_FIELD_KIND_OTHER, .count = 1};
	const char *name;
	uint64_t value;

	describe_scalar(type, bit_field, &member);
	if (btf_is_ptr(type))
		member.kind = TASK_FIELD_KIND_UNSIGNED; /* so that it has a number */
	if (member.kind == TASK_FIELD_KIND_OTHER || !read_number(rendering, &member, offset, &value)) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	name = find_name(rendering->btf, type, value);
	if (name != NULL)
		buffer_append_text(rendering->buffer, name);
	else if (btf_is_ptr(type))
		buffer_append_format(rendering->buffer, "0x%llx", (unsigned long long)value);
	else
		task_field_append(&member, value, rendering->buffer);
}

static void render_float(struct rendering *rendering, uint32_t size, uint64_t offset)
{
	const uint8_t *bytes = rendering->bytes + offset / SCX_BTF_BITS;
	double value;
	float narrow;

	if (offset + (uint64_t)size * SCX_BTF_BITS > rendering->bit_size || offset % SCX_BTF_BITS != 0 ||
	    (size != sizeof(value) && size != sizeof(narrow))) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	if (size == sizeof(value)) {
		memcpy(&value, bytes, sizeof(value));
	} else {
		memcpy(&narrow, bytes, sizeof(narrow));
		value = (double)narrow;
	}
	buffer_append_format(rendering->buffer, "%g", value);
}

/* Characters up to the NUL in quotes, each that is none of ASCII as in C. */
static void render_string(struct rendering *rendering, uint64_t count, uint64_t offset)
{
	const uint64_t first = offset / SCX_BTF_BITS;

	buffer_append_char(rendering->buffer, '"');
	for (uint64_t i = first; i < first + count && i < rendering->bit_size / SCX_BTF_BITS &&
				 rendering->bytes[i] != '\0' && goes_on(rendering);
	     i++) {
		const uint8_t character = rendering->bytes[i];

		if (character == '"' || character == '\\')
			buffer_append_format(rendering->buffer, "\\%c", character);
		else if (character < 0x80 && isprint(character))
			buffer_append_char(rendering->buffer, (char)character);
		else
			buffer_append_format(rendering->buffer, "\\x%02x", character);
	}
	buffer_append_char(rendering->buffer, '"');
}

static bool is_character(const struct btf *btf, const struct btf_type *type)
{
	return btf_is_int(type) && type->size == 1 &&
	       ((btf_int_encoding(type) & BTF_INT_CHAR) != 0 ||
		strcmp(scx_btf_name(btf, type->name_off), "char") == 0);
}

static void render_array(struct rendering *rendering, uint32_t id, uint64_t offset, int level)
{
	uint64_t count = 0;
	const uint32_t element = flatten_array(rendering->btf, id, &count);
	const uint64_t step = scx_btf_size(rendering->btf, element) * SCX_BTF_BITS;

	if (element == 0) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	if (count != 0 && offset % SCX_BTF_BITS == 0 &&
	    is_character(rendering->btf, btf__type_by_id(rendering->btf, element))) {
		render_string(rendering, count, offset);
		return;
	}
	buffer_append_char(rendering->buffer, '[');
	for (uint64_t i = 0; i < count && goes_on(rendering); i++) {
		if (i != 0)
			buffer_append_text(rendering->buffer, ", ");
		render(rendering, element, offset + i * step, 0, level + 1);
	}
	buffer_append_char(rendering->buffer, ']');
}

static void render_members(struct rendering *rendering, const struct btf_type *type, uint64_t offset,
			   int level)
{
	buffer_append_char(rendering->buffer, '{');
	for (uint32_t i = 0; i < btf_vlen(type) && goes_on(rendering); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *name = scx_btf_name(rendering->btf, member->name_off);

		if (i != 0)
			buffer_append_text(rendering->buffer, ", ");
		if (*name != '\0')
			buffer_append_format(rendering->buffer, ".%s = ", name);
		render(rendering, member->type, offset + btf_member_bit_offset(type, i),
		       btf_member_bitfield_size(type, i), level + 1);
	}
	buffer_append_char(rendering->buffer, '}');
}

static void render(struct rendering *rendering, uint32_t id, uint64_t bit_offset, uint32_t bit_field,
		   int level)
{
	uint32_t resolved = 0;
	const struct btf_type *type = scx_btf_resolve(rendering->btf, id, &resolved);

	if (!goes_on(rendering))
		return;
	if (type == NULL || level > RENDERED_LEVELS) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_PTR:
		render_scalar(rendering, type, bit_offset, bit_field);
		break;
	case BTF_KIND_FLOAT:
		render_float(rendering, type->size, bit_offset);
		break;
	case BTF_KIND_ARRAY:
		render_array(rendering, resolved, bit_offset, level);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		render_members(rendering, type, bit_offset, level);
		break;
	default:
		buffer_append_char(rendering->buffer, '?');
	}
}

void scx_types_render(const struct btf *btf, uint32_t type, const uint8_t *bytes, size_t size, size_t limit,
		      struct buffer *buffer)
{
	static const char cut[] = "...";
	struct rendering rendering = {
		.btf = btf,
		.bytes = bytes,
		.bit_size = (uint64_t)size * SCX_BTF_BITS,
		.buffer = buffer,
		.end = buffer->length + limit,
		.steps_left = STEPS,
	};

	render(&rendering, type, 0, 0, 0);
	if (buffer->length <= rendering.end && rendering.steps_left > 0)
		return;
	if (limit < strlen(cut))
		buffer->length = rendering.end - limit;
	else if (buffer->length > rendering.end - strlen(cut))
		buffer->length = rendering.end - strlen(cut);
	buffer_append_text(buffer, limit < strlen(cut) ? "" : cut);
}
