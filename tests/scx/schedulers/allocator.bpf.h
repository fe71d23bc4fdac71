/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_ALLOCATOR_BPF_H
#define CTOP_SCX_ALLOCATOR_BPF_H

/*
 * An allocator of contexts in a BPF arena, in the two layouts that released schedulers have. The types and
 * their members are named as there, because readers find them by name: a tree of three levels of 512 entries
 * each; a bit of a leaf says that a slot is taken, one further up that all below it is. With
 * ALLOCATOR_ID_AFTER the id stands behind the context and pointers lead to the context (from version 1.1.4
 * on), else it stands before it and pointers lead to the id.
 *
 * All memory is reserved by allocator_create(), so that a context can be had where nothing may sleep. Compile
 * with a clang that knows address spaces of BPF (19 or newer), -mcpu=v4 or lower.
 */

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#ifndef __BPF_FEATURE_ADDR_SPACE_CAST
#error "this clang makes no arena pointers; use clang 19 or newer"
#endif

#define __arena __attribute__((address_space(1)))

/* May be defined before, as tests want it: */
#ifndef ALLOCATOR_SPREAD
#define ALLOCATOR_SPREAD 1 /* entries of the root that are filled side by side, at most */
#endif
#ifndef ALLOCATOR_FIRST
#define ALLOCATOR_FIRST(root) descriptor_clear_bit(root) /* the entry of the root to take from */
#endif
#ifndef ALLOCATOR_KEEPS_IDS
#define ALLOCATOR_KEEPS_IDS false /* whether what is freed keeps its id and its context */
#endif

enum {
	ARENA_MAP_TYPE = 33, /* BPF_MAP_TYPE_ARENA of include/uapi/linux/bpf.h, Linux 6.9 */
	ARENA_PAGES = 1 << 16,
	ARENA_PAGE_SIZE = 4096,
	ARENA_ANY_NODE = -1, /* NUMA_NO_NODE */
	ALLOCATOR_ENTRIES = 512,
	ALLOCATOR_SHIFT = 9,
	ALLOCATOR_WORDS = ALLOCATOR_ENTRIES / 64,
	ALLOCATOR_TRIES = 64,
};

/* Its address (map_extra) is set before loading: the verifier wants one. */
struct {
	__uint(type, ARENA_MAP_TYPE);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ARENA_PAGES);
} arena SEC(".maps");

extern void __arena *bpf_arena_alloc_pages(void *map, void __arena *address, __u32 count, int node,
					   __u64 flags) __ksym __weak;

#ifndef ALLOCATOR_HAS_ID_TYPE
union sdt_id {
	__s64 val;
	struct {
		__s32 idx;  /* place in the tree */
		__s32 genn; /* grows when the slot is freed */
	};
};
#endif

struct sdt_chunk;

struct sdt_desc {
	__u64 allocated[ALLOCATOR_WORDS];
	__u64 nr_free; /* entries whose bit is clear */
	struct sdt_chunk __arena *chunk;
};

#ifdef ALLOCATOR_ID_AFTER
struct sdt_data {
	union sdt_id tid;
	__u64 urcu_link;
};

typedef void __arena *sdt_element;

struct sdt_pool {
	void __arena *slab;
	void __arena *reserve;
	__u64 elem_size; /* of the context and its id, bytes */
	__u64 max_elems;
	__u64 idx;
};
#else
struct sdt_data {
	union sdt_id tid;
	__u64 payload[];
};

typedef struct sdt_data __arena *sdt_element;

struct sdt_pool {
	void __arena *slab;
	__u64 elem_size; /* of the context and its id, bytes */
	__u64 max_elems;
	__u64 idx;
};
#endif

struct sdt_chunk {
	union {
		struct sdt_desc __arena *descs[ALLOCATOR_ENTRIES];
		sdt_element data[ALLOCATOR_ENTRIES];
	};
};

struct scx_allocator {
	struct sdt_pool pool;
	struct sdt_desc __arena *root;
};

/* For the tree itself; one allocator uses them. */
struct sdt_pool desc_pool;
struct sdt_pool chunk_pool;

struct allocator_guard {
	struct bpf_spin_lock lock;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct allocator_guard);
} allocator_guards SEC(".maps");

/*
 * A program that only follows pointers into the arena must name it all the same, else the verifier does not
 * know which one is meant (kernel/bpf/verifier.c, "addr_space_cast insn can only be used in a program that
 * has an associated arena").
 */
static __always_inline void arena_name(void)
{
	asm volatile("" ::"r"(&arena));
}

static __always_inline struct allocator_guard *allocator_guard(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&allocator_guards, &key);
}

static __always_inline struct sdt_data __arena *allocator_id(const struct scx_allocator *allocator,
							     sdt_element element)
{
#ifdef ALLOCATOR_ID_AFTER
	return element + (allocator->pool.elem_size - sizeof(struct sdt_data));
#else
	(void)allocator;
	return element;
#endif
}

static __always_inline void __arena *allocator_payload(sdt_element element)
{
#ifdef ALLOCATOR_ID_AFTER
	return element;
#else
	return element->payload;
#endif
}

/* Pages one after the other, or 0; the kernel may refuse them now and then although it has some. */
static __always_inline void __arena *allocator_pages(__u64 bytes)
{
	void __arena *pages = NULL;
	int try;

	for (try = 0; try < ALLOCATOR_TRIES && pages == NULL; try++)
		pages = bpf_arena_alloc_pages(&arena, NULL,
					      (__u32)((bytes + ARENA_PAGE_SIZE - 1) / ARENA_PAGE_SIZE),
					      ARENA_ANY_NODE, 0);
	return pages;
}

static __always_inline int pool_create(struct sdt_pool *pool, __u64 size, __u64 count)
{
	pool->slab = allocator_pages(size * count);
	pool->elem_size = size;
	pool->max_elems = count;
	pool->idx = 0;
	return pool->slab != NULL ? 0 : -12; /* ENOMEM */
}

static __always_inline void __arena *pool_take(struct sdt_pool *pool)
{
	if (pool->idx >= pool->max_elems)
		return NULL;
	return pool->slab + pool->elem_size * pool->idx++;
}

static __always_inline struct sdt_desc __arena *descriptor_create(void)
{
	struct sdt_desc __arena *descriptor;
	struct sdt_chunk __arena *chunk = pool_take(&chunk_pool);

	if (chunk == NULL)
		return NULL;
	descriptor = pool_take(&desc_pool);
	if (descriptor == NULL)
		return NULL;
	descriptor->nr_free = ALLOCATOR_ENTRIES;
	descriptor->chunk = chunk;
	return descriptor;
}

static __always_inline __u64 descriptor_clear_bit(const struct sdt_desc __arena *descriptor)
{
	int word;

	for (word = 0; word < ALLOCATOR_WORDS; word++) {
		__u64 clear = ~descriptor->allocated[word];

		if (clear != 0)
			return (__u64)word * 64 + (__u64)__builtin_popcountll(~clear & (clear - 1));
	}
	return ALLOCATOR_ENTRIES;
}

/*
 * Not inline, as in released schedulers: a function that takes a type has clang write all of it into the
 * types of the programs, where there would be its name only.
 */
static __noinline void descriptor_mark(struct sdt_desc __arena *descriptor, __u64 position)
{
	descriptor->allocated[position / 64] |= 1ULL << (position % 64);
	descriptor->nr_free--;
}

static __always_inline void descriptor_unmark(struct sdt_desc __arena *descriptor, __u64 position)
{
	descriptor->allocated[position / 64] &= ~(1ULL << (position % 64));
	descriptor->nr_free++;
}

static __always_inline struct sdt_desc __arena *descriptor_child(struct sdt_desc __arena *descriptor,
								 __u64 position)
{
	struct sdt_desc __arena *child = descriptor->chunk->descs[position];

	if (child == NULL) {
		child = descriptor_create();
		descriptor->chunk->descs[position] = child;
	}
	return child;
}

/*
 * Room for `count` contexts of `size` bytes each (a multiple of 8). 0 or a negative errno. From a program
 * that may sleep.
 */
static __always_inline int allocator_create(struct scx_allocator *allocator, __u64 size, __u64 count)
{
	/* the leaves, and one descriptor of each level above them; more where leaves stay half empty */
	__u64 nodes = (count + ALLOCATOR_ENTRIES - 1) / ALLOCATOR_ENTRIES + 2 * ALLOCATOR_SPREAD;
	int status = pool_create(&desc_pool, sizeof(struct sdt_desc), nodes);

	if (status == 0)
		status = pool_create(&chunk_pool, sizeof(struct sdt_chunk), nodes);
	if (status == 0)
		status = pool_create(&allocator->pool, size + sizeof(struct sdt_data), count);
	if (status == 0)
		allocator->root = descriptor_create();
	return status;
}

/* Under the guard's lock. */
static __always_inline sdt_element allocator_take_locked(struct scx_allocator *allocator)
{
	struct sdt_desc __arena *root = allocator->root, *middle, *leaf;
	__u64 first, second, third;
	sdt_element element;

	if (root == NULL)
		return NULL;
	first = ALLOCATOR_FIRST(root);
	if (first == ALLOCATOR_ENTRIES)
		return NULL;
	middle = descriptor_child(root, first);
	if (middle == NULL)
		return NULL;
	second = descriptor_clear_bit(middle);
	if (second == ALLOCATOR_ENTRIES)
		return NULL;
	leaf = descriptor_child(middle, second);
	if (leaf == NULL)
		return NULL;
	third = descriptor_clear_bit(leaf);
	if (third == ALLOCATOR_ENTRIES)
		return NULL;
	element = leaf->chunk->data[third];
	if (element == NULL) {
		element = pool_take(&allocator->pool);
		if (element == NULL)
			return NULL;
		leaf->chunk->data[third] = element;
	}
	descriptor_mark(leaf, third);
	if (leaf->nr_free == 0) {
		descriptor_mark(middle, second);
		if (middle->nr_free == 0)
			descriptor_mark(root, first);
	}
	allocator_id(allocator, element)->tid.idx = (__s32)(first << 2 * ALLOCATOR_SHIFT |
							    second << ALLOCATOR_SHIFT | third);
	return element;
}

/* An element for one context, zeroed; 0 when none is left. */
static __always_inline sdt_element allocator_take(struct scx_allocator *allocator)
{
	struct allocator_guard *guard = allocator_guard();
	sdt_element element;

	if (guard == NULL)
		return NULL;
	bpf_spin_lock(&guard->lock);
	element = allocator_take_locked(allocator);
	bpf_spin_unlock(&guard->lock);
	return element;
}

/* Under the guard's lock. The slot keeps its memory. */
static __always_inline void allocator_give_locked(struct scx_allocator *allocator, __u32 index, __u64 size)
{
	struct sdt_desc __arena *root = allocator->root, *middle, *leaf;
	__u64 first = index >> 2 * ALLOCATOR_SHIFT & (ALLOCATOR_ENTRIES - 1);
	__u64 second = index >> ALLOCATOR_SHIFT & (ALLOCATOR_ENTRIES - 1);
	__u64 third = index & (ALLOCATOR_ENTRIES - 1), word;
	struct sdt_data __arena *id;
	volatile __u64 __arena
		*words; /* or clang makes one store of all of them, and loses whose address it is */
	sdt_element element;

	if (root == NULL)
		return;
	middle = root->chunk->descs[first];
	if (middle == NULL)
		return;
	leaf = middle->chunk->descs[second];
	if (leaf == NULL)
		return;
	element = leaf->chunk->data[third];
	if (element == NULL)
		return;
	if (!ALLOCATOR_KEEPS_IDS) {
		id = allocator_id(allocator, element);
		id->tid.idx = 0;
		id->tid.genn++;
		words = allocator_payload(element);
		for (word = 0; word < size / sizeof(__u64); word++)
			words[word] = 0;
	}
	descriptor_unmark(leaf, third);
	if (leaf->nr_free == 1) {
		descriptor_unmark(middle, second);
		if (middle->nr_free == 1)
			descriptor_unmark(root, first);
	}
}

/*
 * Frees the slot `index` (sdt_id.idx) of a context of `size` bytes, which must be a constant: the verifier
 * goes through every word of it.
 */
static __always_inline void allocator_give(struct scx_allocator *allocator, __u32 index, __u64 size)
{
	struct allocator_guard *guard = allocator_guard();

	if (guard == NULL)
		return;
	bpf_spin_lock(&guard->lock);
	allocator_give_locked(allocator, index, size);
	bpf_spin_unlock(&guard->lock);
}

/*
 * The contexts of tasks: the map says which element is whose.
 */

struct task_struct;

struct scx_task_map_val {
	union sdt_id tid;
	__u64 tptr;
	sdt_element data;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scx_task_map_val);
} scx_task_map SEC(".maps");

struct scx_allocator scx_task_allocator;

/* A context for the task, all zero; 0 without memory. */
static __always_inline void __arena *allocator_task_take(struct task_struct *task)
{
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, NULL,
							      BPF_LOCAL_STORAGE_GET_F_CREATE);
	sdt_element element;

	arena_name();
	if (value == NULL)
		return NULL;
	element = allocator_take(&scx_task_allocator);
	if (element == NULL)
		return NULL;
	value->tid.val = allocator_id(&scx_task_allocator, element)->tid.val;
	value->tptr = (__u64)task;
	value->data = element;
	return allocator_payload(element);
}

/* The task's context, 0 when it has none. */
static __always_inline void __arena *allocator_task_find(struct task_struct *task)
{
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, NULL, 0);

	arena_name();
	return value != NULL && value->data != NULL ? allocator_payload(value->data) : NULL;
}

/* Frees the task's context of `size` bytes, if it has one. The newer schedulers leave the map's value to the
 * kernel. */
static __always_inline void allocator_task_give(struct task_struct *task, __u64 size)
{
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, NULL, 0);

	arena_name();
	if (value == NULL || value->data == NULL)
		return;
	value->data = NULL;
	allocator_give(&scx_task_allocator, (__u32)value->tid.idx, size);
#ifndef ALLOCATOR_ID_AFTER
	bpf_task_storage_delete(&scx_task_map, task);
#endif
}

#endif
