/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk of an allocator's tree, in images of memory that are made here. */
#include "tests/cmocka_include.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "allocator_types.h"
#include "base/memory.h"
#include "capture/scx/sdt_walk.h"

enum {
	IMAGE_SIZE = 8 << 20,
	FIRST_ADDRESS = 4096,
	DESCRIPTOR_SIZE = 80,
	CHUNK_SIZE = 512 * 8,
	ALLOCATOR_SIZE = 48,
	PAYLOAD = 24,
};

/* Pointers of arenas have bits above those that count. */
static const uint64_t high_bits = 0x7fff00000000;

struct image {
	uint8_t *bytes;
	uint64_t used;
	uint64_t hole, hole_size; /* that cannot be read */
	size_t reads;
	struct sdt_layout layout;
	uint8_t allocator[ALLOCATOR_SIZE];
};

static size_t read_image(void *context, uint64_t address, void *bytes, size_t size)
{
	struct image *image = context;
	uint64_t end = IMAGE_SIZE;

	image->reads++;
	assert_true(address + size <= 1ULL << 32);
	if (image->hole_size != 0 && address >= image->hole && address < image->hole + image->hole_size)
		return 0;
	if (image->hole_size != 0 && address < image->hole)
		end = image->hole;
	if (address >= end)
		return 0;
	if (size > end - address)
		size = end - address;
	memcpy(bytes, image->bytes + address, size);
	return size;
}

static void put(struct image *image, uint64_t pointer, uint32_t offset, uint64_t value)
{
	memcpy(image->bytes + (pointer & UINT32_MAX) + offset, &value, sizeof(value));
}

static uint64_t get(const struct image *image, uint64_t pointer, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, image->bytes + (pointer & UINT32_MAX) + offset, sizeof(value));
	return value;
}

static uint64_t allocate(struct image *image, uint64_t size)
{
	const uint64_t pointer = high_bits | image->used;

	image->used += size;
	assert_true(image->used <= IMAGE_SIZE);
	return pointer;
}

/* A descriptor and its chunk. */
static uint64_t add_descriptor(struct image *image)
{
	const uint64_t descriptor = allocate(image, DESCRIPTOR_SIZE);

	put(image, descriptor, image->layout.chunk, allocate(image, CHUNK_SIZE + image->layout.children));
	put(image, descriptor, image->layout.nr_free, SDT_WALK_ENTRIES);
	return descriptor;
}

static void set_pointer(struct image *image, uint64_t descriptor, uint32_t at, uint64_t pointer)
{
	put(image, get(image, descriptor, image->layout.chunk), image->layout.children + at * 8, pointer);
}

static void set_bit(struct image *image, uint64_t descriptor, uint32_t at)
{
	const uint32_t word = image->layout.allocated + at / 64 * 8;

	put(image, descriptor, word, get(image, descriptor, word) | 1ULL << at % 64);
}

/* An element with its id, whose payload starts with a number. */
static uint64_t add_element(struct image *image, int32_t idx, int32_t genn, uint64_t number)
{
	const uint32_t size = PAYLOAD + image->layout.id_size;
	const uint64_t element = allocate(image, size);
	const uint32_t id = image->layout.id_after ? PAYLOAD : 0;
	const uint32_t payload = image->layout.id_after ? 0 : image->layout.id_size;

	put(image, element, id, (uint64_t)(uint32_t)genn << 32 | (uint32_t)idx);
	put(image, element, payload, number);
	put(image, element, payload + 8, UINT64_MAX);
	put(image, element, payload + 16, 0x1122334455667788);
	return element;
}

static void add_leaf(struct image *image, uint64_t descriptor, uint32_t at, uint64_t element)
{
	set_pointer(image, descriptor, at, element);
	set_bit(image, descriptor, at);
}

static void set_allocator(struct image *image, uint64_t elem_size, uint64_t root)
{
	memcpy(image->allocator + image->layout.elem_size, &elem_size, sizeof(elem_size));
	memcpy(image->allocator + image->layout.root, &root, sizeof(root));
}

/* An empty image for a layout. */
static struct image begin(bool id_after)
{
	struct image image = {
		.bytes = memory_allocate_zero(1, IMAGE_SIZE),
		.used = FIRST_ADDRESS,
		.layout =
			{
				.allocator_size = id_after ? 48 : 40,
				.elem_size = id_after ? 16 : 8,
				.root = id_after ? 40 : 32,
				.allocated = 0,
				.nr_free = 64,
				.chunk = 72,
				.id_size = id_after ? 16 : 8,
				.id_after = id_after,
			},
	};

	set_allocator(&image, PAYLOAD + image.layout.id_size, 0);
	return image;
}

/* A root, one descriptor below it and a leaf below that. */
struct tree {
	uint64_t root, inner, leaf;
};

static struct tree add_tree(struct image *image)
{
	const struct tree tree = {add_descriptor(image), add_descriptor(image), add_descriptor(image)};

	set_pointer(image, tree.root, 3, tree.inner);
	set_pointer(image, tree.inner, 511, tree.leaf);
	set_allocator(image, PAYLOAD + image->layout.id_size, tree.root);
	return tree;
}

static struct sdt_walk walk_with(struct image *image, size_t entries_max)
{
	static const struct scx_types_choice none = {.reason = "no candidate of size 24"};
	const struct sdt_image source = {read_image, image};
	struct sdt_walk walk;

	image->reads = 0;
	sdt_walk(&source, &image->layout, image->allocator, "scx_task_allocator", &none, entries_max, &walk);
	return walk;
}

static struct sdt_walk walk_of(struct image *image)
{
	return walk_with(image, SDT_WALK_ENTRIES_MAX);
}

static void end(struct image *image, struct sdt_walk *walk)
{
	sdt_walk_release(walk);
	free(image->bytes);
}

/* Walks, requires so many entries and skipped parts, and gives the entries' memory back. */
static void require_counts(struct image *image, size_t entries, uint32_t skipped)
{
	struct sdt_walk walk = walk_of(image);

	assert_int_equal(walk.entry_count, entries);
	assert_int_equal(walk.skipped_subtrees, skipped);
	assert_false(walk.truncated);
	sdt_walk_release(&walk);
}

static void test_both_layouts(void **state)
{
	(void)state;
	for (int id_after = 0; id_after < 2; id_after++) {
		struct image image = begin(id_after != 0);
		const struct tree tree = add_tree(&image);
		const uint64_t later = add_element(&image, 70, -2, 7), sooner = add_element(&image, -1, 5, 9);
		struct sdt_walk walk;

		add_leaf(&image, tree.leaf, 70, later);
		add_leaf(&image, tree.leaf, 5, sooner);
		walk = walk_of(&image);
		assert_int_equal(walk.elem_size, PAYLOAD + image.layout.id_size);
		assert_int_equal(walk.payload_size, PAYLOAD);
		assert_int_equal(walk.entry_count, 2);
		assert_int_equal(walk.skipped_subtrees, 0);
		assert_int_equal(walk.entries[0].idx, -1);
		assert_int_equal(walk.entries[0].genn, 5);
		assert_int_equal(walk.entries[0].user_addr, sooner & UINT32_MAX);
		assert_int_equal(walk.entries[0].payload_size, PAYLOAD);
		assert_int_equal(walk.entries[0].payload[0], 9);
		assert_int_equal(walk.entries[1].idx, 70);
		assert_int_equal(walk.entries[1].genn, -2);
		assert_int_equal(walk.entries[1].payload[0], 7);
		end(&image, &walk);
	}
}

/* Pointers of a chunk need not stand at its start. */
static void test_children_offset(void **state)
{
	struct image image = begin(false);
	struct sdt_walk walk;
	struct tree tree;

	(void)state;
	image.layout.children = 16;
	tree = add_tree(&image);
	add_leaf(&image, tree.leaf, 511, add_element(&image, 511, 1, 3));
	walk = walk_of(&image);
	assert_int_equal(walk.entry_count, 1);
	assert_int_equal(walk.entries[0].idx, 511);
	end(&image, &walk);
}

static void test_elem_size(void **state)
{
	static const struct {
		uint64_t elem_size;
		uint32_t id_size;
		uint64_t payload_size;
		bool has_entry;
	} cases[] = {
		{0, 8, 0, false},          {15, 8, 0, false},
		{16, 8, 8, true},          {16, 16, 0, true},
		{16, 17, 0, false},        {4096, 8, 4088, true},
		{4097, 8, 0, false},       {4096, 4096, 0, true},
		{UINT64_MAX, 8, 0, false}, {1ULL << 32 | 16, 8, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct image image = begin(false);
		const struct tree tree = add_tree(&image);
		struct sdt_walk walk;

		add_leaf(&image, tree.leaf, 0, add_element(&image, 0, 1, 3));
		image.layout.id_size = cases[i].id_size;
		set_allocator(&image, cases[i].elem_size, tree.root);
		walk = walk_of(&image);
		assert_int_equal(walk.elem_size, cases[i].elem_size);
		assert_int_equal(walk.payload_size, cases[i].payload_size);
		assert_int_equal(sdt_payload_size(&image.layout, cases[i].elem_size), cases[i].payload_size);
		assert_int_equal(walk.entry_count, cases[i].has_entry);
		assert_int_equal(walk.skipped_subtrees, 0);
		end(&image, &walk);
	}
}

/* Numbers of the allocator's object are taken only from inside of it. */
static void test_allocator_bytes(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff};
	static const struct {
		uint32_t size, offset;
		uint64_t value;
	} cases[] = {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		{9, 0, 0x0807060504030201},
		{9, 1, 0xff08070605040302},
#endif
		{9, 2, 0},
		{8, 1, 0},
		{7, 0, 0},
		{0, 0, 0},
		{9, UINT32_MAX, 0},
		{9, UINT32_MAX - 7, 0},
	};
	struct image image = begin(false);
	struct sdt_walk walk;
	struct tree tree;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct sdt_layout layout = {.allocator_size = cases[i].size,
						  .elem_size = cases[i].offset};

		assert_int_equal(sdt_elem_size(&layout, bytes), cases[i].value);
	}
	/* no root, and one that lies outside */
	tree = add_tree(&image);
	add_leaf(&image, tree.leaf, 0, add_element(&image, 0, 1, 3));
	require_counts(&image, 1, 0);
	image.layout.allocator_size = image.layout.root + 7;
	require_counts(&image, 0, 0);
	image.layout.allocator_size = image.layout.root + 8;
	set_allocator(&image, PAYLOAD + 8, 0);
	walk = walk_of(&image);
	assert_int_equal(walk.elem_size, PAYLOAD + 8);
	assert_int_equal(walk.entry_count, 0);
	assert_int_equal(walk.skipped_subtrees, 0);
	end(&image, &walk);
}

/* Damaged descriptors at each level: they are skipped, and all else is there. */
static void test_descriptors(void **state)
{
	enum {
		NOTHING,
		FREE_MOST,
		FREE_TOO_MANY,
		NO_CHUNK,
		CHUNK_OUTSIDE,
		ITSELF_OUTSIDE,
		ALL,
	};

	(void)state;
	for (int wrong = NOTHING; wrong < ALL; wrong++) {
		for (int level = 0; level < SDT_WALK_LEVELS; level++) {
			struct image image = begin(true);
			const struct tree tree = add_tree(&image);
			const uint64_t descriptors[] = {tree.root, tree.inner, tree.leaf};
			const uint64_t other = add_descriptor(&image);
			const bool harms = wrong > FREE_MOST;

			add_leaf(&image, tree.leaf, 0, add_element(&image, 0, 1, 3));
			add_leaf(&image, other, 9, add_element(&image, 9, 1, 3));
			set_pointer(&image, tree.inner, 2, other);
			if (wrong == FREE_MOST)
				put(&image, descriptors[level], 64, 512);
			else if (wrong == FREE_TOO_MANY)
				put(&image, descriptors[level], 64, 513);
			else if (wrong == NO_CHUNK)
				put(&image, descriptors[level], 72, 0);
			else if (wrong == CHUNK_OUTSIDE)
				put(&image, descriptors[level], 72, high_bits | IMAGE_SIZE);
			else if (wrong == ITSELF_OUTSIDE && level == 0)
				set_allocator(&image, PAYLOAD + 16, IMAGE_SIZE);
			else if (wrong == ITSELF_OUTSIDE)
				set_pointer(&image, descriptors[level - 1], level == 1 ? 3 : 511, UINT32_MAX);
			require_counts(&image, !harms ? 2 : level == SDT_WALK_LEVELS - 1 ? 1 : 0, harms);
			free(image.bytes);
		}
	}
}

/* At inner levels pointers count, not bits; at leaves bits, and pointers with a bit. */
static void test_liveness(void **state)
{
	struct image image = begin(false);
	const struct tree tree = add_tree(&image);
	const uint64_t full = add_descriptor(&image);
	uint64_t freed = add_element(&image, 0, 8, 0);
	struct sdt_walk walk;

	(void)state;
	/* a child that is full has its bit, one that is not has none, and a bit alone is nobody's */
	set_bit(&image, tree.root, 3);
	set_bit(&image, tree.inner, 7);
	set_pointer(&image, tree.inner, 0, full);
	for (uint32_t i = 0; i < SDT_WALK_ENTRIES; i++)
		add_leaf(&image, full, i, add_element(&image, (int32_t)i, 1, i));
	put(&image, full, image.layout.nr_free, 0);
	/* freed: pointer without bit. Being allocated: bit without pointer. Being freed: all zero. */
	set_pointer(&image, tree.leaf, 1, freed);
	set_bit(&image, tree.leaf, 2);
	add_leaf(&image, tree.leaf, 3, allocate(&image, PAYLOAD + image.layout.id_size));
	walk = walk_of(&image);
	assert_int_equal(walk.entry_count, SDT_WALK_ENTRIES + 1);
	assert_int_equal(walk.skipped_subtrees, 0);
	for (uint32_t i = 0; i < SDT_WALK_ENTRIES; i++)
		assert_int_equal(walk.entries[i].idx, i);
	assert_int_equal(walk.entries[SDT_WALK_ENTRIES].genn, 0);
	assert_int_equal(walk.entries[SDT_WALK_ENTRIES].payload_size, PAYLOAD);
	for (size_t i = 0; i < PAYLOAD; i++)
		assert_int_equal(walk.entries[SDT_WALK_ENTRIES].payload[i], 0);
	end(&image, &walk);
}

/* Elements whose start alone can be read, or nothing; and a chunk that ends early. */
static void test_short_reads(void **state)
{
	static const struct {
		bool id_after;
		uint32_t readable, payload_size;
		bool is_there, has_id;
		const char *text; /* how it begins */
	} cases[] = {
		{false, 0, 0, false, false, NULL},
		{false, 7, 0, true, false, ""},
		{false, 8, 0, true, true, "unsupported (the payload at 0x"},
		{false, 11, 3, true, true, "070000"},
		{false, 32, 24, true, true, "0700000000000000ffffffffffffffff8877665544332211"},
		{true, 0, 0, false, false, NULL},
		{true, 3, 3, true, false, ""},
		{true, 24, 24, true, false, "0700000000000000ffffffffffffffff8877665544332211"},
		{true, 31, 24, true, false, ""},
		{true, 32, 24, true, true, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct image image = begin(cases[i].id_after);
		const struct tree tree = add_tree(&image);
		const uint64_t element = add_element(&image, 4, 6, 7);
		struct sdt_walk walk;

		add_leaf(&image, tree.leaf, 4, element);
		image.hole = (element & UINT32_MAX) + cases[i].readable;
		image.hole_size = 4096;
		walk = walk_of(&image);
		assert_int_equal(walk.entry_count, cases[i].is_there);
		assert_int_equal(walk.skipped_subtrees, !cases[i].is_there);
		if (cases[i].is_there) {
			assert_int_equal(walk.entries[0].payload_size, cases[i].payload_size);
			assert_int_equal(walk.entries[0].idx, cases[i].has_id ? 4 : -1);
			assert_int_equal(walk.entries[0].genn, cases[i].has_id ? 6 : -1);
			sdt_walk_render(&walk, NULL);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			assert_memory_equal(walk.entries[0].text, cases[i].text, strlen(cases[i].text));
#endif
		}
		end(&image, &walk);
	}
	/* what lies behind the end of a chunk is missing, and that is counted */
	struct image image = begin(false);
	const struct tree tree = add_tree(&image);

	add_leaf(&image, tree.leaf, 10, add_element(&image, 10, 1, 1));
	add_leaf(&image, tree.leaf, 20, add_element(&image, 20, 1, 1));
	image.hole = (get(&image, tree.leaf, image.layout.chunk) & UINT32_MAX) + 15 * 8 + 3;
	image.hole_size = 64;
	image.layout.children = 0;
	require_counts(&image, 1, 1);
	free(image.bytes);
}

/* Elements, and descriptors, that lie outside; addresses end at 4 GiB. */
static void test_outside(void **state)
{
	struct image image = begin(false);
	const struct tree tree = add_tree(&image);

	(void)state;
	add_leaf(&image, tree.leaf, 0, IMAGE_SIZE);
	add_leaf(&image, tree.leaf, 1, UINT32_MAX);
	add_leaf(&image, tree.leaf, 2, UINT64_MAX);
	add_leaf(&image, tree.leaf, 3, add_element(&image, 3, 1, 1));
	set_pointer(&image, tree.inner, 0, UINT32_MAX - 70);
	require_counts(&image, 1, 4);
	free(image.bytes);
}

static void fill(struct image *image, size_t count)
{
	const struct tree tree = add_tree(image);
	uint64_t leaf = 0;

	for (size_t i = 0; i < count; i++) {
		if (i % SDT_WALK_ENTRIES == 0) {
			leaf = add_descriptor(image);
			set_pointer(image, tree.inner, (uint32_t)(i / SDT_WALK_ENTRIES), leaf);
		}
		add_leaf(image, leaf, i % SDT_WALK_ENTRIES, add_element(image, (int32_t)i, 1, i));
	}
	set_pointer(image, tree.inner, 511, 0);
}

static void test_cap(void **state)
{
	static const struct {
		size_t there, entries_max, entries;
		bool truncated;
	} cases[] = {
		{4096, SDT_WALK_ENTRIES_MAX, 4096, false},
		{4097, SDT_WALK_ENTRIES_MAX, 4096, true},
		{5000, SDT_WALK_ENTRIES_MAX, 4096, true},
		{5000, 6000, 5000, false},
		{5, 5, 5, false},
		{5, 4, 4, true},
		{5, 0, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct image image = begin(true);
		struct sdt_walk walk;

		fill(&image, cases[i].there);
		walk = walk_with(&image, cases[i].entries_max);
		assert_int_equal(walk.entry_count, cases[i].entries);
		assert_int_equal(walk.truncated, cases[i].truncated);
		assert_int_equal(walk.skipped_subtrees, 0);
		for (size_t j = 0; j < walk.entry_count; j++)
			assert_int_equal(walk.entries[j].idx, j);
		end(&image, &walk);
	}
}

/* An image that leads in circles: each level has all its children, all of them the root. */
static void test_circles(void **state)
{
	struct image image = begin(false);
	const uint64_t root = add_descriptor(&image);
	struct sdt_walk walk;

	(void)state;
	for (uint32_t i = 0; i < SDT_WALK_ENTRIES; i++)
		set_pointer(&image, root, i, root);
	set_allocator(&image, PAYLOAD + 8, root);
	walk = walk_of(&image);
	assert_int_equal(walk.entry_count, 0);
	assert_true(walk.truncated);
	assert_true(image.reads < 100000);
	sdt_walk_release(&walk);
	/* bits make entries, up to the limit */
	for (uint32_t i = 0; i < SDT_WALK_ENTRIES; i++)
		set_bit(&image, root, i);
	walk = walk_of(&image);
	assert_int_equal(walk.entry_count, SDT_WALK_ENTRIES_MAX);
	assert_true(walk.truncated);
	sdt_walk_release(&walk);
	/* elements that cannot be read count as skipped, not for ever */
	image.layout.children = 8;
	for (uint32_t i = 1; i < SDT_WALK_ENTRIES; i++)
		put(&image, get(&image, root, 72), 8 + i * 8, UINT32_MAX);
	put(&image, get(&image, root, 72), 8, root);
	walk = walk_of(&image);
	assert_true(walk.skipped_subtrees >= 511);
	assert_true(image.reads < 100000);
	end(&image, &walk);
}

static void test_text(void **state)
{
	struct btf *btf = btf__new_empty();
	const struct basic_types basic = add_basic_types(btf);
	struct image image = begin(true);
	const struct tree tree = add_tree(&image);
	const struct sdt_image source = {read_image, &image};
	struct scx_types_choice choice = {.reason = "ambiguous: 2 candidates"};
	struct sdt_walk walk;
	char expected[512];
	int type;

	(void)state;
	set_allocator(&image, 5000, tree.root);
	sdt_walk(&source, &image.layout, image.allocator, "a", &choice, 10, &walk);
	sdt_walk_render(&walk, btf);
	assert_string_equal(
		walk.head,
		"sdt_alloc a (elem_size=5000, btf_type_id=0, reason=ambiguous: 2 candidates): 0 live");
	sdt_walk_release(&walk);

	type = btf__add_struct(btf, "task_ctx", PAYLOAD);
	add_member(btf, "weight", basic.u64, 0);
	add_member(btf, "nice", basic.s64, 8);
	choice = (struct scx_types_choice){(uint32_t)type, "task_ctx", ""};
	set_allocator(&image, PAYLOAD + 16, tree.root);
	const uint64_t element = add_element(&image, 0, 3, 305);
	add_leaf(&image, tree.leaf, 0, element);
	add_leaf(&image, tree.leaf, 1, UINT32_MAX);
	add_leaf(&image, tree.leaf, 2, add_element(&image, 2, 3, 11));
	sdt_walk(&source, &image.layout, image.allocator, "scx_task_allocator", &choice, 1, &walk);
	sdt_walk_render(&walk, btf);
	snprintf(expected, sizeof(expected),
		 "sdt_alloc scx_task_allocator (elem_size=40, btf_type_id=%d): 1 live (truncated)", type);
	assert_string_equal(walk.head, expected);
	assert_int_equal(walk.entries[0].idx, 0);
	assert_int_equal(walk.entries[0].genn, 3);
	assert_int_equal(walk.entries[0].user_addr, element & UINT32_MAX);
	assert_string_equal(walk.entries[0].text, "{.weight = 305, .nice = -1}");
	sdt_walk_release(&walk);
	sdt_walk(&source, &image.layout, image.allocator, "x", &choice, 2, &walk);
	sdt_walk_render(&walk, btf);
	assert_non_null(strstr(walk.head, "): 2 live (1 subtrees skipped)"));
	end(&image, &walk);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_layouts), cmocka_unit_test(test_children_offset),
		cmocka_unit_test(test_elem_size),    cmocka_unit_test(test_allocator_bytes),
		cmocka_unit_test(test_descriptors),  cmocka_unit_test(test_liveness),
		cmocka_unit_test(test_short_reads),  cmocka_unit_test(test_outside),
		cmocka_unit_test(test_cap),          cmocka_unit_test(test_circles),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests_name("scx_walk", tests, NULL, NULL);
}
