/* SPDX-License-Identifier: GPL-2.0-only */
#include "sdt_walk.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- the layout --- */

/* The whole struct of a name, or NULL; `*ret_id` is then the id of a forward declaration, or 0. */
static const struct btf_type *find_struct(const struct btf *btf, const char *name, uint32_t *ret_id)
{
	const struct btf_type *type = scx_btf_struct(btf, name, ret_id);
	const int32_t id = type == NULL ? btf__find_by_name_kind(btf, name, BTF_KIND_FWD) : 0;

	if (id > 0)
		*ret_id = (uint32_t)id;
	return type;
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
		if (scx_btf_member(btf, type, wanted[i].member, wanted[i].ret_offset) == NULL)
			return error_set(error, -EINVAL, "struct %s of the scheduler has no member '%s'",
					 name, wanted[i].member);
	}
	return 0;
}

static int find_allocator(const struct btf *btf, struct sdt_layout *layout, bool *ret_has_reserve,
			  struct error *error)
{
	uint32_t pool_offset = 0, elem_size = 0, unused, id;
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
	*ret_has_reserve = scx_btf_member(btf, pool, "reserve", &unused) != NULL;
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

/* The types of schedulers hold a chunk as a forward declaration; it consists of its pointers alone. */
static int find_chunk(const struct btf *btf, struct sdt_layout *layout, struct error *error)
{
	uint32_t id;
	const struct btf_type *chunk = find_struct(btf, "sdt_chunk", &id);

	if (chunk == NULL && id == 0) {
		need_struct(btf, "sdt_chunk", &id, error);
		return -ENOENT;
	}
	layout->children = 0;
	if (chunk != NULL && scx_btf_member(btf, chunk, "descs", &layout->children) == NULL &&
	    scx_btf_member(btf, chunk, "data", &layout->children) == NULL)
		return error_set(error, -EINVAL,
				 "struct sdt_chunk of the scheduler has neither 'descs' nor 'data'");
	return 0;
}

/*
 * Finds the id of an element. The older kind has it before the payload, as all of sdt_data; the newer one has
 * it behind, together with the fields for freeing it late, and keeps pages in reserve. The types need not
 * hold sdt_data, since programs reach the id by a pointer.
 */
static int find_id(const struct btf *btf, struct sdt_layout *layout, bool has_reserve, struct error *error)
{
	enum {
		ID_SIZE = 8,
		ID_SIZE_LATE = 16,
		ID_SIZE_MAX = 4096,
	};
	uint32_t id, unused;
	const struct btf_type *data = find_struct(btf, "sdt_data", &id);

	layout->id_after = has_reserve;
	layout->id_size = has_reserve ? ID_SIZE_LATE : ID_SIZE;
	if (data == NULL)
		return 0;
	layout->id_after = scx_btf_member(btf, data, "urcu_link", &unused) != NULL;
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

/* --- the walk --- */

enum {
	LEAF = SDT_WALK_LEVELS - 1,
	WORD_BITS = 64,
	WORDS = SDT_WALK_ENTRIES / WORD_BITS,
	ID_BYTES = 8,
	/*
	 * Reads of one walk, besides one for each entry: a tree has 512 * 512 leaves, of which an allocator
	 * that fills from the start needs few; one that leads in circles would have them all.
	 */
	READS_MAX = 65536,
	RENDERED_MAX = 32768, /* bytes of text of a payload */
};

static const uint64_t arena_end = 1ULL << 32;

struct walking {
	const struct sdt_image *image;
	const struct sdt_layout *layout;
	struct sdt_walk *walk;
	size_t entries_max;
	size_t reads_left;
};

static void skip(struct walking *walking)
{
	if (walking->walk->skipped_subtrees != UINT32_MAX)
		walking->walk->skipped_subtrees++;
}

/* Reads behind an arena pointer; returns how many bytes could be. A null pointer leads nowhere. */
static size_t read_bytes(struct walking *walking, uint64_t pointer, uint32_t offset, void *bytes, size_t size)
{
	const uint64_t address = (pointer & UINT32_MAX) + offset;

	if (pointer == 0 || address >= arena_end)
		return 0;
	if (size > arena_end - address)
		size = arena_end - address;
	if (walking->reads_left != 0)
		walking->reads_left--;
	return walking->image->read(walking->image->context, address, bytes, size);
}

static bool read_u64(struct walking *walking, uint64_t pointer, uint32_t offset, uint64_t *ret_value)
{
	return read_bytes(walking, pointer, offset, ret_value, sizeof(*ret_value)) == sizeof(*ret_value);
}

/* Whether the walk has to end here. */
static bool is_over(struct walking *walking)
{
	if (walking->walk->entry_count >= walking->entries_max || walking->reads_left == 0)
		walking->walk->truncated = true;
	return walking->walk->truncated;
}

static void add_entry(struct walking *walking, uint64_t pointer)
{
	const struct sdt_layout *layout = walking->layout;
	struct sdt_walk *walk = walking->walk;
	uint8_t element[SDT_ELEM_SIZE_MAX];
	const size_t got = read_bytes(walking, pointer, 0, element, (size_t)walk->elem_size);
	const size_t id_at = layout->id_after ? (size_t)walk->payload_size : 0;
	const size_t payload_at = layout->id_after ? 0 : layout->id_size;
	struct sdt_walk_entry entry = {.idx = -1, .genn = -1, .user_addr = pointer & UINT32_MAX};

	if (got == 0) {
		skip(walking);
		return;
	}
	if (got >= id_at + ID_BYTES) {
		memcpy(&entry.idx, element + id_at, sizeof(entry.idx));
		memcpy(&entry.genn, element + id_at + sizeof(entry.idx), sizeof(entry.genn));
	}
	if (got > payload_at) {
		const size_t rest = got - payload_at;

		entry.payload_size = (uint32_t)(rest < walk->payload_size ? rest : walk->payload_size);
		entry.payload = arena_allocate(&walk->arena, entry.payload_size);
		memcpy(entry.payload, element + payload_at, entry.payload_size);
	}
	*MEMORY_APPEND(walk->entries, walk->entry_count, walk->entry_capacity) = entry;
}

static void visit(struct walking *walking, uint64_t descriptor, int level);

/* Follows the pointers of a chunk, of a leaf only those with a bit. */
static void visit_chunk(struct walking *walking, uint64_t chunk, const uint64_t allocated[WORDS], int level)
{
	uint64_t pointers[SDT_WALK_ENTRIES] = {0};
	const size_t got = read_bytes(walking, chunk, walking->layout->children, pointers, sizeof(pointers));

	if (got < sizeof(pointers)) {
		/* what could not be read of it may have been anything */
		skip(walking);
		memset((uint8_t *)pointers + got / sizeof(*pointers) * sizeof(*pointers), 0,
		       sizeof(pointers) - got / sizeof(*pointers) * sizeof(*pointers));
	}
	for (size_t i = 0; i < SDT_WALK_ENTRIES; i++) {
		const bool has_bit = (allocated[i / WORD_BITS] >> i % WORD_BITS & 1) != 0;

		if (level == LEAF ? !has_bit : pointers[i] == 0)
			continue;
		if (is_over(walking))
			return;
		if (level != LEAF)
			visit(walking, pointers[i], level + 1);
		else if (pointers[i] != 0) /* the bit is set before the pointer is stored */
			add_entry(walking, pointers[i]);
	}
}

static void visit(struct walking *walking, uint64_t descriptor, int level)
{
	const struct sdt_layout *layout = walking->layout;
	uint64_t allocated[WORDS] = {0};
	uint64_t nr_free = 0, chunk = 0;

	if (is_over(walking) || level >= SDT_WALK_LEVELS)
		return;
	if (!read_u64(walking, descriptor, layout->nr_free, &nr_free) || nr_free > SDT_WALK_ENTRIES ||
	    !read_u64(walking, descriptor, layout->chunk, &chunk) || chunk == 0 ||
	    (level == LEAF && read_bytes(walking, descriptor, layout->allocated, allocated,
					 sizeof(allocated)) != sizeof(allocated))) {
		skip(walking);
		return;
	}
	visit_chunk(walking, chunk, allocated, level);
}

/* A number of the allocator's object. */
static bool member_of(const struct sdt_layout *layout, const uint8_t *allocator, uint32_t offset,
		      uint64_t *ret_value)
{
	if (layout->allocator_size < sizeof(*ret_value) ||
	    offset > layout->allocator_size - sizeof(*ret_value))
		return false;
	memcpy(ret_value, allocator + offset, sizeof(*ret_value));
	return true;
}

uint64_t sdt_elem_size(const struct sdt_layout *layout, const uint8_t *allocator)
{
	uint64_t elem_size = 0;

	member_of(layout, allocator, layout->elem_size, &elem_size);
	return elem_size;
}

static bool makes_sense(const struct sdt_layout *layout, uint64_t elem_size)
{
	return elem_size >= SDT_ELEM_SIZE_MIN && elem_size <= SDT_ELEM_SIZE_MAX &&
	       elem_size >= layout->id_size;
}

uint64_t sdt_payload_size(const struct sdt_layout *layout, uint64_t elem_size)
{
	return makes_sense(layout, elem_size) ? elem_size - layout->id_size : 0;
}

void sdt_walk(const struct sdt_image *image, const struct sdt_layout *layout, const uint8_t *allocator,
	      const char *allocator_name, const struct scx_types_choice *choice, size_t entries_max,
	      struct sdt_walk *ret_walk)
{
	struct walking walking = {
		.image = image,
		.layout = layout,
		.walk = ret_walk,
		.entries_max = entries_max,
		.reads_left = READS_MAX + entries_max,
	};
	uint64_t root;

	*ret_walk = (struct sdt_walk){
		.allocator_name = allocator_name,
		.elem_size = sdt_elem_size(layout, allocator),
		.payload_type = choice->type,
		.payload_type_reason = choice->reason,
	};
	if (!makes_sense(layout, ret_walk->elem_size))
		return;
	ret_walk->payload_size = sdt_payload_size(layout, ret_walk->elem_size);
	if (member_of(layout, allocator, layout->root, &root) && root != 0)
		visit(&walking, root, 0);
}

void sdt_walk_release(struct sdt_walk *walk)
{
	free(walk->entries);
	arena_release(&walk->arena);
	*walk = (struct sdt_walk){0};
}

/* --- text --- */

static void append_payload(const struct sdt_walk *walk, const struct sdt_walk_entry *entry,
			   const struct btf *btf, struct buffer *buffer)
{
	if (entry->payload_size == 0 && walk->payload_size != 0)
		buffer_append_format(buffer, "unsupported (the payload at 0x%llx could not be read)",
				     (unsigned long long)entry->user_addr);
	else if (walk->payload_type != 0 && btf != NULL)
		scx_types_render(btf, walk->payload_type, entry->payload, entry->payload_size, RENDERED_MAX,
				 buffer);
	else
		for (uint32_t i = 0; i < entry->payload_size; i++)
			buffer_append_format(buffer, "%02x", entry->payload[i]);
}

static void append_head(const struct sdt_walk *walk, struct buffer *buffer)
{
	buffer_append_format(buffer, "sdt_alloc %s (elem_size=%llu, btf_type_id=%u", walk->allocator_name,
			     (unsigned long long)walk->elem_size, walk->payload_type);
	if (*walk->payload_type_reason != '\0')
		buffer_append_format(buffer, ", reason=%s", walk->payload_type_reason);
	buffer_append_format(buffer, "): %zu live%s", walk->entry_count,
			     walk->truncated ? " (truncated)" : "");
	if (walk->skipped_subtrees != 0)
		buffer_append_format(buffer, " (%u subtrees skipped)", walk->skipped_subtrees);
}

void sdt_walk_render(struct sdt_walk *walk, const struct btf *btf)
{
	struct buffer text = {0};

	for (size_t i = 0; i < walk->entry_count; i++) {
		struct sdt_walk_entry *entry = &walk->entries[i];

		buffer_clear(&text);
		append_payload(walk, entry, btf, &text);
		entry->text = arena_duplicate(&walk->arena, text.data != NULL ? text.data : "", text.length);
	}
	buffer_clear(&text);
	append_head(walk, &text);
	walk->head = arena_duplicate(&walk->arena, text.data, text.length);
	buffer_release(&text);
}
