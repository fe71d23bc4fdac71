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
	ENOENT = 2,
	ESRCH = 3,
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

#if defined(CONTEXT_RUSTY)
#define scx_allocator      sdt_allocator
#define scx_task_allocator sdt_task_allocator
#define scx_task_map_val   sdt_task_map_val
#define scx_task_map       sdt_task_map
#elif defined(CONTEXT_AFTER)
#define ALLOCATOR_ID_AFTER
#endif

enum {
	ELEMENTS = 16384,
	OTHERS = 5, /* elements of the second allocator */
	LIMBO = 64, /* elements that were freed and are not used again */
	PAGE = 4096,
};

static __u32 root_children; /* that are filled side by side, 1 at least */
static __u32 root_turn;
static bool keeps_ids;

#define ALLOCATOR_HAS_ID_TYPE
#define ALLOCATOR_SPREAD      CONTEXT_SPREAD_MAX
#define ALLOCATOR_FIRST(root) next_child(root)
#define ALLOCATOR_KEEPS_IDS   keeps_ids

struct sdt_desc;
static __always_inline __u64 next_child(const struct sdt_desc __attribute__((address_space(1))) * root);

#include "schedulers/allocator.bpf.h"

#define ARENA       __arena
#define USE_ARENA() arena_name()

/* Any of them in turn that is not full, else the first. */
static __always_inline __u64 next_child(const struct sdt_desc ARENA *root)
{
	__u64 child = root_children > 1 ? root_turn++ / 16 % root_children : 0;

	if (root->allocated[child / 64 & (ALLOCATOR_WORDS - 1)] >> child % 64 & 1)
		child = descriptor_clear_bit(root);
	return child;
}

/* The second one is there so that the first has to be chosen. */
struct scx_allocator scx_queue_allocator;

/* An element of the second allocator: as large as a thread's context, so that a name decides. */
struct queue_ctx {
	__u64 id;
	__u64 rest[sizeof(struct task_ctx) / sizeof(__u64) - 1];
};

typedef struct task_ctx ARENA context_type;

/* BTF has the members of this type because of this variable; of others that are only pointed to, the name
 * alone. */
struct queue_ctx ARENA *last_queue;

#if defined(CONTEXT_AFTER)
static __u64 limbo_first, limbo_last;
static __u32 limbo;

static __always_inline __u64 ARENA *link_of(sdt_element element)
{
	return &allocator_id(&scx_task_allocator, element)->urcu_link;
}

/* Under the lock: the element that waits longest, if more than `most` do, may be used again. */
static __always_inline void leave_limbo(__u32 most)
{
	sdt_element element = (sdt_element)limbo_first;

	if (limbo <= most || !element)
		return;
	limbo_first = *link_of(element);
	*link_of(element) = 0;
	limbo--;
	allocator_give_locked(&scx_task_allocator, (__u32)allocator_id(&scx_task_allocator, element)->tid.idx,
			      sizeof(struct task_ctx));
}

static __always_inline void enter_limbo(sdt_element element)
{
	*link_of(element) = 0;
	if (limbo == 0)
		limbo_first = (__u64)element;
	else
		*link_of((sdt_element)limbo_last) = (__u64)element;
	limbo_last = (__u64)element;
	limbo++;
}
#endif

/* Makes the allocators, the root of the threads' with as many children as are asked for. */
SEC("syscall") int context_prepare(struct context_request *request)
{
	int status;

	keeps_ids = request->count != 0;
	root_children = (__u32)request->value;
	if (root_children == 0 || root_children > CONTEXT_SPREAD_MAX)
		return -EINVAL;
	status = allocator_create(&scx_queue_allocator, sizeof(struct queue_ctx), OTHERS);
	for (int i = 0; i < OTHERS && status == 0; i++) {
		sdt_element element = allocator_take(&scx_queue_allocator);

		if (!element)
			return -ENOMEM;
		last_queue = (struct queue_ctx ARENA *)allocator_payload(element);
		last_queue->id = (__u64)i;
	}
	return status == 0 ? allocator_create(&scx_task_allocator, sizeof(struct task_ctx), ELEMENTS)
			   : status;
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
#if defined(CONTEXT_AFTER)
	struct allocator_guard *guard = allocator_guard();

	if (!guard)
		return -ENOENT;
	bpf_spin_lock(&guard->lock);
	leave_limbo(0);
	request->count = limbo;
	bpf_spin_unlock(&guard->lock);
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
	return allocator_task_find(task);
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
	sdt_element element;

	if (context_of(task))
		return -EEXIST;
	value = bpf_task_storage_get(&scx_task_map, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	element = value ? allocator_take(&scx_task_allocator) : (sdt_element)0;
	if (!element)
		return -ENOMEM;
	/* not by allocator_task_take(): it is filled before anybody finds it */
	fill(allocator_payload(element), task);
	value->tid.val = allocator_id(&scx_task_allocator, element)->tid.val;
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
	struct allocator_guard *guard = allocator_guard();
	sdt_element element;
	__u32 index;
	int result;

	if (!value || !guard)
		return -ENOENT;
	element = value->data;
	index = (__u32)value->tid.idx;
	/* schedulers do it last; but where no id tells that a slot was freed, only this does */
	if (keeps_ids)
		result = bpf_task_storage_delete(&scx_task_map, task);
	if (element) {
		bpf_spin_lock(&guard->lock);
#if defined(CONTEXT_AFTER)
		(void)index;
		enter_limbo(element);
		leave_limbo(LIMBO);
#else
		allocator_give_locked(&scx_task_allocator, index, sizeof(struct task_ctx));
#endif
		bpf_spin_unlock(&guard->lock);
	}
	if (!keeps_ids)
		result = bpf_task_storage_delete(&scx_task_map, task);
	return result;
#endif
}

static __always_inline int look(struct task_struct *task, struct context_request *request)
{
	context_type *context = context_of(task);
	volatile __u64 ARENA *from = (volatile __u64 ARENA *)context; /* see allocator_give_locked() */
	__u64 *to = (__u64 *)&request->context;

	if (!context)
		return -ENOENT;
#if !defined(CONTEXT_DIRECT)
	struct scx_task_map_val *value = bpf_task_storage_get(&scx_task_map, task, 0, 0);

	if (!value || !value->data)
		return -ENOENT;
	request->id.val = value->tid.val;
	request->element = (__u64)value->data;
	request->element_id.val = allocator_id(&scx_task_allocator, value->data)->tid.val;
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
	value->data = (sdt_element)address;
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
