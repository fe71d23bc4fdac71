// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of threads as sched_ext schedulers keep them, made on request by bpf(2) BPF_PROG_TEST_RUN where no
 * scheduler can run. One of these is defined:
 *
 *   CONTEXT_DIRECT  the storage of a thread holds its context
 *   CONTEXT_BEFORE  the storage points to an element in an arena: an id, then the context
 *   CONTEXT_RUSTY   the same under the names of scx_rusty
 *   CONTEXT_AFTER   an element is the context, then an id and a link; what is freed is used again later
 *
 * The elements hang on a tree of three levels with 512 entries a node. A bit of a leaf says that an element
 * is in use, a bit above that a child is full. A slot that was freed keeps its element.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "context.h"

enum {
	EPERM = 1,
	ENOENT = 2,
	ESRCH = 3,
	EAGAIN = 11,
	ENOMEM = 12,
	EEXIST = 17,
	EINVAL = 22,
};

char _license[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct load_weight {
	unsigned long weight;
};

struct sched_entity {
	struct load_weight load;
};

struct task_struct {
	int pid;
	int static_prio;
	struct sched_entity se;
};

struct vm_struct {
	void *addr;
};

struct bpf_arena {
	struct vm_struct *kern_vm;
};
#pragma clang attribute pop

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym;
extern void bpf_task_release(struct task_struct *task) __ksym;

#if defined(CONTEXT_DIRECT)

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} task_contexts SEC(".maps");

#define ARENA
#define USE_ARENA()
typedef struct task_ctx context_type;

#else

#define ARENA       __attribute__((address_space(1)))

enum {
	BPF_MAP_TYPE_ARENA_ = 33, /* enum bpf_map_type, which older headers end before */
	NO_NODE = -1,             /* NUMA_NO_NODE */
	PAGE = 4096,
	PAGES = 16384, /* of the arena */
	LEVELS = 3,
	ENTRIES = 512,
	ENTRY_SHIFT = 9,
	WORDS = ENTRIES / 64,
	SLAB_PAGES = 8,
	SPARE = 4,    /* pages that one allocation may need for nodes of the tree, at most */
	ATTEMPTS = 8, /* to allocate, while others take the pages that were laid in for it */
	LIMBO = 64,   /* elements that were freed and are not used again */
	OTHERS = 5,   /* elements of the second allocator */
};

extern void ARENA *bpf_arena_alloc_pages(void *map, void ARENA *address, __u32 count, int node,
					 __u64 flags) __ksym;
extern void bpf_arena_free_pages(void *map, void ARENA *address, __u32 count) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_ARENA_);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGES);
} arena SEC(".maps");

/* A program's arena is the one that it names, and what it reads of it alone names none. */
#define USE_ARENA() asm volatile("" : : "r"(&arena))

/* --- the types and variables that are known outside, by name --- */

#if defined(CONTEXT_RUSTY)
#define scx_allocator       sdt_allocator
#define scx_task_allocator  sdt_task_allocator
#define scx_queue_allocator sdt_queue_allocator
#define scx_task_map_val    sdt_task_map_val
#define scx_task_map        sdt_task_map
#endif

struct sdt_pool {
	void ARENA *slab;
#if defined(CONTEXT_AFTER)
	void ARENA *reserve;
#endif
	__u64 elem_size;
	__u64 max_elems;
	__u64 idx;
};

struct sdt_chunk;

struct sdt_desc {
	__u64 allocated[WORDS];
	__u64 nr_free;
	struct sdt_chunk ARENA *chunk;
};

struct scx_allocator {
	struct sdt_pool pool;
	struct sdt_desc ARENA *root;
};

#if defined(CONTEXT_AFTER)
struct element_tail {
	union sdt_id tid;
	__u64 urcu_link;
};
typedef void ARENA *element_pointer;
#else
struct sdt_data {
	union sdt_id tid;
	__u64 payload[];
};
typedef struct sdt_data ARENA *element_pointer;
#endif

struct sdt_chunk {
	union {
		struct sdt_desc ARENA *descs[ENTRIES];
		element_pointer data[ENTRIES];
	};
};

struct scx_task_map_val {
	union sdt_id tid;
	__u64 tptr; /* the thread */
#if defined(CONTEXT_AFTER)
	void ARENA *data;
#else
	struct sdt_data ARENA *data;
#endif
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scx_task_map_val);
} scx_task_map SEC(".maps");

/* The second one is there so that the first has to be chosen. */
struct scx_allocator scx_task_allocator;
struct scx_allocator scx_queue_allocator;

/* An element of the second allocator: as large as a thread's context, so that a name decides. */
struct queue_ctx {
	__u64 id;
	__u64 rest[sizeof(struct task_ctx) / sizeof(__u64) - 1];
};

typedef struct task_ctx ARENA context_type;

/* BTF has the members of these types because of these variables; of others that are only pointed to, the
 * names alone.
 */
struct queue_ctx ARENA *last_queue;
struct sdt_desc ARENA *last_node;
#if defined(CONTEXT_RUSTY)
struct sdt_data ARENA *last_element;
#endif

/* --- pages laid in: bpf_arena_alloc_pages() sleeps, and may not be called with a lock --- */

struct lock {
	struct bpf_spin_lock lock;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock);
} locks SEC(".maps");

/* All under the lock. Not static, since the compiler splits such into members, with types that the kernel
 * refuses. */
struct sdt_pool node_pool;
static __u64 spare_pages[SPARE * 2];
static __u32 spares;
static __u32 root_children; /* that are filled side by side, 1 at least */
static __u32 root_turn;
static bool keeps_ids;
#if defined(CONTEXT_AFTER)
static __u64 limbo_first, limbo_last;
static __u32 limbo;
#define RESERVE(allocator) (&(allocator)->pool.reserve)
#else
static void ARENA *task_reserve, *queue_reserve;
#define RESERVE(allocator) ((allocator) == &scx_task_allocator ? &task_reserve : &queue_reserve)
#endif

static __always_inline struct lock *the_lock(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&locks, &key);
}

static __always_inline int lay_in(struct scx_allocator *allocator, struct lock *lock)
{
	void ARENA **reserve = RESERVE(allocator);
	void ARENA *page;

	for (int i = 0; i < SPARE; i++) {
		if (*(volatile __u32 *)&spares >= SPARE)
			break;
		page = bpf_arena_alloc_pages(&arena, (void ARENA *)0, 1, NO_NODE, 0);
		if (!page)
			return -ENOMEM;
		bpf_spin_lock(&lock->lock);
		if (spares < SPARE * 2) {
			spare_pages[spares & (SPARE * 2 - 1)] = (__u64)page;
			spares++;
			page = (void ARENA *)0;
		}
		bpf_spin_unlock(&lock->lock);
		if (page)
			bpf_arena_free_pages(&arena, page, 1);
	}
	if (*(void ARENA *volatile *)reserve)
		return 0;
	page = bpf_arena_alloc_pages(&arena, (void ARENA *)0, SLAB_PAGES, NO_NODE, 0);
	if (!page)
		return -ENOMEM;
	bpf_spin_lock(&lock->lock);
	if (!*reserve) {
		*reserve = page;
		page = (void ARENA *)0;
	}
	bpf_spin_unlock(&lock->lock);
	if (page)
		bpf_arena_free_pages(&arena, page, SLAB_PAGES);
	return 0;
}

/* --- under the lock --- */

static __always_inline void ARENA *take_page(void)
{
	if (spares == 0)
		return (void ARENA *)0;
	spares--;
	return (void ARENA *)spare_pages[spares & (SPARE * 2 - 1)];
}

static __always_inline struct sdt_desc ARENA *take_node(void)
{
	struct sdt_desc ARENA *node;

	if (spares < 2)
		return (struct sdt_desc ARENA *)0;
	if (node_pool.idx >= node_pool.max_elems) {
		node_pool.slab = take_page();
		node_pool.idx = 0;
	}
	node = (struct sdt_desc ARENA *)(node_pool.slab + node_pool.idx * sizeof(struct sdt_desc));
	node_pool.idx++;
	node->nr_free = ENTRIES;
	node->chunk = (struct sdt_chunk ARENA *)take_page();
	last_node = node;
	return node;
}

static __always_inline element_pointer take_element(struct scx_allocator *allocator)
{
	struct sdt_pool *pool = &allocator->pool;
	void ARENA **reserve = RESERVE(allocator);
	void ARENA *element;

	if (pool->idx >= pool->max_elems) {
		if (!*reserve)
			return (element_pointer)0;
		pool->slab = *reserve;
		pool->idx = 0;
		*reserve = (void ARENA *)0;
	}
	element = pool->slab + pool->idx * pool->elem_size;
	pool->idx++;
#if defined(CONTEXT_RUSTY)
	last_element = element;
#endif
	return (element_pointer)element;
}

/* The lowest bit that is set, by the count of those below it. */
static __always_inline __u32 lowest(__u64 word)
{
	__u64 below = ~word & (word - 1);

	below -= below >> 1 & 0x5555555555555555;
	below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (__u32)(below * 0x0101010101010101 >> 56);
}

/* The first entry whose bit is not set; ENTRIES when all are. */
static __always_inline __u32 first_clear(struct sdt_desc ARENA *node)
{
	for (__u32 i = 0; i < WORDS; i++) {
		__u64 clear = ~node->allocated[i];

		if (clear)
			return i * 64 + lowest(clear);
	}
	return ENTRIES;
}

/* Sets an entry's bit. True when that was the last one that was not. */
static __always_inline bool set_bit(struct sdt_desc ARENA *node, __u32 entry)
{
	node->allocated[entry / 64 & (WORDS - 1)] |= 1ULL << entry % 64;
	node->nr_free--;
	return node->nr_free == 0;
}

/* Clears it. True when all were set. */
static __always_inline bool clear_bit(struct sdt_desc ARENA *node, __u32 entry)
{
	node->allocated[entry / 64 & (WORDS - 1)] &= ~(1ULL << entry % 64);
	node->nr_free++;
	return node->nr_free == 1;
}

static __always_inline struct sdt_desc ARENA *child(struct sdt_desc ARENA *node, __u32 entry)
{
	struct sdt_desc ARENA *ARENA *place = &node->chunk->descs[entry];

	if (!*place)
		*place = take_node();
	return *place;
}

#if defined(CONTEXT_AFTER)
#define ID_OF(allocator, element)                                                                            \
	(&((struct element_tail ARENA *)((element) + (allocator)->pool.elem_size -                           \
					 sizeof(struct element_tail)))                                       \
		  ->tid)
#define LINK_OF(allocator, element)                                                                          \
	(&((struct element_tail ARENA *)((element) + (allocator)->pool.elem_size -                           \
					 sizeof(struct element_tail)))                                       \
		  ->urcu_link)
#define PAYLOAD_OF(element) ((__u64 ARENA *)(element))
#else
#define ID_OF(allocator, element) (&(element)->tid)
#define PAYLOAD_OF(element)       ((element)->payload)
#endif

/* An element that is not in use, or NULL when what was laid in did not suffice. */
static __always_inline element_pointer take_slot(struct scx_allocator *allocator)
{
	struct sdt_desc ARENA *root, *middle, *leaf;
	__u32 first, second, third;
	element_pointer element;

	if (!allocator->root)
		allocator->root = take_node();
	root = allocator->root;
	if (!root)
		return (element_pointer)0;
	first = root_children > 1 ? root_turn++ / 16 % root_children : 0;
	if (root->allocated[first / 64 & (WORDS - 1)] >> first % 64 & 1)
		first = first_clear(root);
	if (first == ENTRIES)
		return (element_pointer)0;
	middle = child(root, first);
	if (!middle)
		return (element_pointer)0;
	second = first_clear(middle);
	leaf = child(middle, second);
	if (!leaf)
		return (element_pointer)0;
	third = first_clear(leaf);
	element = leaf->chunk->data[third];
	if (!element) {
		element = take_element(allocator);
		if (!element)
			return element;
	}
	if (set_bit(leaf, third) && set_bit(middle, second))
		set_bit(root, first);
	leaf->chunk->data[third] = element;
	ID_OF(allocator, element)->idx = (__s32)((first << ENTRY_SHIFT | second) << ENTRY_SHIFT | third);
	return element;
}

/* A freed slot goes to another thread next time, and says so. */
static __always_inline void clear_element(struct scx_allocator *allocator, element_pointer element)
{
	(void)allocator; /* only an id behind the context needs its size */
	ID_OF(allocator, element)->genn++;
	ID_OF(allocator, element)->idx = 0;
	/* volatile: a memset() that the compiler makes of it is not one of an arena's memory */
	for (__u32 i = 0; i < sizeof(struct task_ctx) / sizeof(__u64); i++)
		((volatile __u64 ARENA *)PAYLOAD_OF(element))[i] = 0;
}

/* Frees a slot: clears its element, then its bit. */
static __always_inline void free_slot(struct scx_allocator *allocator, __u32 index)
{
	__u32 first = index >> 2 * ENTRY_SHIFT & (ENTRIES - 1), second = index >> ENTRY_SHIFT & (ENTRIES - 1);
	__u32 third = index & (ENTRIES - 1);
	struct sdt_desc ARENA *root = allocator->root, *middle, *leaf;
	element_pointer element;

	if (!root)
		return;
	middle = root->chunk->descs[first];
	if (!middle)
		return;
	leaf = middle->chunk->descs[second];
	if (!leaf)
		return;
	element = leaf->chunk->data[third];
	if (!element)
		return;
	if (!keeps_ids)
		clear_element(allocator, element);
	if (clear_bit(leaf, third) && clear_bit(middle, second))
		clear_bit(root, first);
}

#if defined(CONTEXT_AFTER)
/* The element that waits longest, if more than `most` do: it may be used again. */
static __always_inline void leave_limbo(__u32 most)
{
	void ARENA *element = (void ARENA *)limbo_first;

	if (limbo <= most || !element)
		return;
	limbo_first = *LINK_OF(&scx_task_allocator, element);
	*LINK_OF(&scx_task_allocator, element) = 0;
	limbo--;
	free_slot(&scx_task_allocator, (__u32)ID_OF(&scx_task_allocator, element)->idx);
}

static __always_inline void enter_limbo(void ARENA *element)
{
	*LINK_OF(&scx_task_allocator, element) = 0;
	if (limbo == 0)
		limbo_first = (__u64)element;
	else
		*LINK_OF(&scx_task_allocator, (void ARENA *)limbo_last) = (__u64)element;
	limbo_last = (__u64)element;
	limbo++;
}
#endif

/* --- not under the lock --- */

static __always_inline element_pointer allocate(struct scx_allocator *allocator)
{
	struct lock *lock = the_lock();
	element_pointer element = (element_pointer)0;

	if (!lock)
		return element;
	for (int i = 0; i < ATTEMPTS && !element; i++) {
		if (lay_in(allocator, lock) != 0)
			break;
		bpf_spin_lock(&lock->lock);
		element = take_slot(allocator);
		bpf_spin_unlock(&lock->lock);
	}
	return element;
}

#if defined(CONTEXT_AFTER)
#define ELEMENT_SIZE (sizeof(struct task_ctx) + sizeof(struct element_tail))
#else
#define ELEMENT_SIZE (sizeof(struct sdt_data) + sizeof(struct task_ctx))
#endif

static __always_inline void prepare_pool(struct sdt_pool *pool, __u64 size, __u32 pages)
{
	pool->elem_size = size;
	pool->max_elems = pages * PAGE / size;
	pool->idx = pool->max_elems;
}

/* Makes the allocators, the root of the threads' with as many children as are asked for. */
SEC("syscall") int context_prepare(struct context_request *request)
{
	keeps_ids = request->count != 0;
	root_children = (__u32)request->value;
	if (root_children == 0 || root_children > ENTRIES)
		return -EINVAL;
	prepare_pool(&node_pool, sizeof(struct sdt_desc), 1);
	prepare_pool(&scx_task_allocator.pool, ELEMENT_SIZE, SLAB_PAGES);
	prepare_pool(&scx_queue_allocator.pool, ELEMENT_SIZE, SLAB_PAGES);
	for (int i = 0; i < OTHERS; i++) {
		element_pointer element = allocate(&scx_queue_allocator);

		if (!element)
			return -ENOMEM;
		last_queue = (struct queue_ctx ARENA *)PAYLOAD_OF(element);
		last_queue->id = (__u64)i;
	}
	return 0;
}

/* The kernel keeps half of it free before an arena: GUARD_SZ in kernel/bpf/arena.c. */
#define GUARD_SIZE 65536ULL

struct page_walk {
	__u64 start;
	__u32 present;
};

static int walk_page(__u32 page, struct page_walk *walk)
{
	__u64 word;

	if (bpf_probe_read_kernel(&word, sizeof(word), (void *)(walk->start + (__u64)page * PAGE)) == 0)
		walk->present++;
	return 0;
}

/* The address where the kernel maps the arena, itself at `value`; 0 for an address outside it. */
static __always_inline __u64 kernel_address(__u64 value)
{
	struct bpf_arena *kernel_arena = (struct bpf_arena *)&arena;

	return (__u64)kernel_arena->kern_vm->addr + GUARD_SIZE / 2 + (__u32)value;
}

/* Counts the pages, of `count` from the address `value` on, that the arena has: those the kernel has mapped.
 */
SEC("syscall") int context_pages(struct context_request *request)
{
	struct page_walk walk = {.start = kernel_address(request->value)};

	bpf_loop(request->count, walk_page, &walk, 0);
	request->count = walk.present;
	return 0;
}

/* Lets everything that was freed be used again; `count` is what still waits. */
SEC("syscall") int context_settle(struct context_request *request)
{
	struct lock *lock = the_lock();

	if (!lock)
		return -ENOENT;
#if defined(CONTEXT_AFTER)
	bpf_spin_lock(&lock->lock);
	leave_limbo(0);
	request->count = limbo;
	bpf_spin_unlock(&lock->lock);
#else
	request->count = 0;
#endif
	USE_ARENA();
	return 0;
}

#endif

/* --- the contexts --- */

/* sched_prio_to_weight[] of the kernel's nice values gives 1024 << 10 at 0; 100 there, as in the groups'
 * cpu.weight. */
static __always_inline __u64 weight_of(struct task_struct *task)
{
	return ((task->se.load.weight >> 10) * 100 + 512) / 1024;
}

static __always_inline void fill(context_type *context, struct task_struct *task)
{
	__u32 pid = (__u32)task->pid;

	context->pid = pid;
	context->domain_id = pid % CONTEXT_DOMAINS;
	context->slice_shift = pid % CONTEXT_SLICE_SHIFTS;
	context->nice = (__s8)(task->static_prio - 120);
	context->weight = weight_of(task);
	context->sum_runtime = 0;
	context->last_run_at = bpf_ktime_get_ns();
	context->lag = -(__s64)pid << 20;
	context->credit = CONTEXT_CREDITS - (__s32)pid;
	context->step = (__s16) - (pid & 0x7fff);
	context->interactive = pid & 1;
	context->all_cpus = pid >> 1 & 1;
	context->queue = pid % 3 == 0   ? CONTEXT_QUEUE_SHARED
			 : pid % 3 == 1 ? CONTEXT_QUEUE_LOCAL
					: CONTEXT_QUEUE_NONE;
	context->level = pid & 31;
	context->bias = (int)(pid & 15) - 8;
	context->kicked = pid >> 2 & 1;
	context->mask = (__u64)pid << 13 | 1;
	context->load.value = (__u64)pid << 33;
	context->load.trend = -(__s32)pid;
	context->load.range.low = pid & 0xff;
	context->load.range.high = pid >> 3 & 0xffff;
	*(unsigned long ARENA *)&context->turns = 0;
	for (__u32 i = 0; i < CONTEXT_LATENCIES; i++)
		context->latencies[i] = pid + i;
	context->cpumask = task;
	context->seal = context_seal(pid);
}

/* As when a thread has run: `amount` ns more, a new time stamp, what else changes. */
static __always_inline void add_run(context_type *context, struct task_struct *task, __u64 amount)
{
	context->nice = (__s8)(task->static_prio - 120);
	context->weight = weight_of(task);
	context->sum_runtime += amount;
	context->last_run_at = bpf_ktime_get_ns();
	context->lag += (__s64)amount;
	context->interactive = !context->interactive;
	*(unsigned long ARENA *)&context->turns += 1;
}

static __always_inline context_type *context_of(struct task_struct *task)
{
#if defined(CONTEXT_DIRECT)
	return bpf_task_storage_get(&task_contexts, task, 0, 0);
#else
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, 0, 0);

	if (!value || !value->data)
		return (context_type *)0;
	return (context_type *)PAYLOAD_OF(value->data);
#endif
}

static __always_inline int give(struct task_struct *task)
{
#if defined(CONTEXT_DIRECT)
	struct task_ctx *context;

	if (context_of(task))
		return -EEXIST;
	context = bpf_task_storage_get(&task_contexts, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!context)
		return -ENOMEM;
	fill(context, task);
#else
	struct scx_task_map_val *value;
	element_pointer element;

	if (context_of(task))
		return -EEXIST;
	value = bpf_task_storage_get(&scx_task_map, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!value)
		return -ENOMEM;
	element = allocate(&scx_task_allocator);
	if (!element)
		return -ENOMEM;
	fill((context_type *)PAYLOAD_OF(element), task);
	value->tid.val = ID_OF(&scx_task_allocator, element)->val;
	value->tptr = (__u64)task;
	value->data = element;
#endif
	return 0;
}

static __always_inline int take(struct task_struct *task)
{
#if defined(CONTEXT_DIRECT)
	return bpf_task_storage_delete(&task_contexts, task);
#else
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, 0, 0);
	struct lock *lock = the_lock();

	element_pointer element;
	__u32 index;
	int result;

	if (!value || !lock)
		return -ENOENT;
	element = value->data;
	index = (__u32)value->tid.idx;
	/* schedulers do it last; but where no id tells that a slot was freed, only this does */
	if (keeps_ids)
		result = bpf_task_storage_delete(&scx_task_map, task);
	if (element) {
		bpf_spin_lock(&lock->lock);
#if defined(CONTEXT_AFTER)
		(void)index;
		enter_limbo(element);
		leave_limbo(LIMBO);
#else
		free_slot(&scx_task_allocator, index);
#endif
		bpf_spin_unlock(&lock->lock);
	}
	if (!keeps_ids)
		result = bpf_task_storage_delete(&scx_task_map, task);
	return result;
#endif
}

static __always_inline int look(struct task_struct *task, struct context_request *request)
{
	context_type *context = context_of(task);
	volatile __u64 ARENA *from = (volatile __u64 ARENA *)context; /* see clear_element() */
	__u64 *to = (__u64 *)&request->context;

	if (!context)
		return -ENOENT;
#if !defined(CONTEXT_DIRECT)
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, 0, 0);

	if (!value || !value->data)
		return -ENOENT;
	request->id.val = value->tid.val;
	request->element = (__u64)value->data;
	request->element_id.val = ID_OF(&scx_task_allocator, value->data)->val;
#endif
#pragma unroll
	for (__u32 i = 0; i < sizeof(struct task_ctx) / sizeof(__u64); i++)
		to[i] = from[i];
	return 0;
}

/* Makes a program that does `call` with the thread of its request. */
#define TASK_PROGRAM(name, call)                                                                             \
	SEC("syscall") int name(struct context_request *request)                                             \
	{                                                                                                    \
		struct task_struct *task = bpf_task_from_pid((__s32)request->tid);                           \
		int result;                                                                                  \
		USE_ARENA();                                                                                 \
		if (!task)                                                                                   \
			return -ESRCH;                                                                       \
		result = call;                                                                               \
		bpf_task_release(task);                                                                      \
		return result;                                                                               \
	}

/* Gives a thread a context. */
TASK_PROGRAM(context_give, give(task))

/* Takes it away. */
TASK_PROGRAM(context_take, take(task))

/* Copies it, and where it is, into the request. */
TASK_PROGRAM(context_look, look(task, request))

static __always_inline int run(struct task_struct *task, __u64 amount)
{
	context_type *context = context_of(task);

	if (!context)
		return -ENOENT;
	add_run(context, task, amount);
	return 0;
}

/* Adds `value` ns of run time. */
TASK_PROGRAM(context_run, run(task, request->value))

#if !defined(CONTEXT_DIRECT)
static __always_inline int point(struct task_struct *task, __u64 address)
{
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, 0,
							      BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!value)
		return -ENOMEM;
	value->data = (element_pointer)address;
	return 0;
}

/* Lets a thread's storage point to the address `value`, as it should not. */
TASK_PROGRAM(context_point, point(task, request->value))
#endif

/* A thread that ends leaves its context, as with a scheduler. */
SEC("tp_btf/sched_process_exit") int context_exit(__u64 *arguments)
{
	USE_ARENA();
	take((struct task_struct *)arguments[0]);
	return 0;
}
