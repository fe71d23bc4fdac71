// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sched_ext scheduler for tests: it leaves all decisions to the kernel's defaults (kernel/sched/ext.c:
 * every task into the global queue, an idle CPU if possible) and keeps a context for each task, as
 * others do. SCHEDULER_DIRECT: in task storage itself; else in an arena, in the layout that
 * ALLOCATOR_ID_AFTER chooses. SCHEDULER_CID: it registers the operations that take numbers of CPUs by
 * topology, for which the kernel wants an arena.
 */
#ifdef SCHEDULER_DIRECT
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define __arena
#else
#include "allocator.bpf.h"
#endif

#include <bpf/bpf_core_read.h>

#include "ending.h"
#include "task_context.h"

enum {
	MOST_TASKS = 16384,
	WEIGHT_OF_NICE_0 = 100,
	IS_KTHREAD = 0x00200000, /* PF_KTHREAD of include/linux/sched.h */
	NS_PER_US = 1000,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	struct sched_entity se;
	int pid;
	unsigned int flags;
};

enum scx_exit_kind {
	SCX_EXIT_NONE,
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	const char *reason;
};

#pragma clang attribute pop

struct scx_init_task_args;
struct scx_exit_task_args;

#ifdef SCHEDULER_CID
#define SCHEDULER_OPERATIONS sched_ext_ops_cid
#else
#define SCHEDULER_OPERATIONS sched_ext_ops
#endif

/* Those members of the kernel's that this scheduler has, the same in both forms; libbpf finds them by name.
 */
struct SCHEDULER_OPERATIONS {
	void (*running)(struct task_struct *task);
	void (*stopping)(struct task_struct *task, _Bool runnable);
	void (*set_weight)(struct task_struct *task, __u32 weight);
	int (*init_task)(struct task_struct *task, struct scx_init_task_args *arguments);
	void (*exit_task)(struct task_struct *task, struct scx_exit_task_args *arguments);
	int (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	char name[128];
};

/* Why the kernel let go of this scheduler, when it did. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scheduler_ending);
} ending SEC(".maps");

#ifdef SCHEDULER_DIRECT
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} task_contexts SEC(".maps");

static __always_inline struct task_ctx *context_take(struct task_struct *task)
{
	return bpf_task_storage_get(&task_contexts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline struct task_ctx *context_find(struct task_struct *task)
{
	return bpf_task_storage_get(&task_contexts, task, NULL, 0);
}

static __always_inline void context_give(struct task_struct *task)
{
	bpf_task_storage_delete(&task_contexts, task);
}

static __always_inline int contexts_create(void)
{
	return 0;
}
#else
static __always_inline struct task_ctx __arena *context_take(struct task_struct *task)
{
	return allocator_task_take(task);
}

static __always_inline struct task_ctx __arena *context_find(struct task_struct *task)
{
	return allocator_task_find(task);
}

static __always_inline void context_give(struct task_struct *task)
{
	allocator_task_give(task, sizeof(struct task_ctx));
}

static __always_inline int contexts_create(void)
{
	return allocator_create(&scx_task_allocator, sizeof(struct task_ctx), MOST_TASKS);
}
#endif

SEC("struct_ops/test_init")
int test_init(void *arguments)
{
	(void)arguments;
	return contexts_create();
}

SEC("struct_ops/test_init_task")
int test_init_task(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	struct task_ctx __arena *context = context_take(task);

	if (context == NULL)
		return -12; /* ENOMEM */
	context->pid = task->pid;
	context->is_kthread = (task->flags & IS_KTHREAD) != 0;
	return 0;
}

SEC("struct_ops/test_exit_task")
int test_exit_task(__u64 *arguments)
{
	context_give((struct task_struct *)arguments[0]);
	return 0;
}

SEC("struct_ops/test_set_weight")
int test_set_weight(__u64 *arguments)
{
	struct task_ctx __arena *context = context_find((struct task_struct *)arguments[0]);
	__u32 weight = (__u32)arguments[1];

	if (context == NULL)
		return 0;
	context->weight = weight;
	context->class = weight > WEIGHT_OF_NICE_0   ? TASK_CLASS_INTERACTIVE
			 : weight < WEIGHT_OF_NICE_0 ? TASK_CLASS_BATCH
						     : TASK_CLASS_NORMAL;
	return 0;
}

SEC("struct_ops/test_running")
int test_running(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	struct task_ctx __arena *context = context_find(task);

	if (context == NULL)
		return 0;
	context->exec_before = task->se.sum_exec_runtime;
	context->last_run_at = bpf_ktime_get_ns();
	context->run_count++;
	context->on_cpu = 1;
	context->last_cpu = bpf_get_smp_processor_id();
	return 0;
}

/* Not inline for the sake of the types, as descriptor_mark() of allocator.bpf.h. */
static __noinline void context_account(struct task_ctx __arena *context, __u64 runtime)
{
	context->sum_runtime += runtime;
	context->burst.avg_runtime = context->burst.avg_runtime / 4 * 3 + runtime / 4;
	if (runtime > context->burst.max_runtime)
		context->burst.max_runtime = runtime;
	context->on_cpu = 0;
	context->recent[2] = context->recent[1];
	context->recent[1] = context->recent[0];
	context->recent[0] = (__u32)(runtime / NS_PER_US);
}

SEC("struct_ops/test_stopping")
int test_stopping(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	struct task_ctx __arena *context = context_find(task);

	/* a task that runs when the scheduler begins has not been seen to start */
	if (context != NULL && context->last_run_at != 0)
		context_account(context, task->se.sum_exec_runtime - context->exec_before);
#ifdef SCHEDULER_DIRECT
	if (context != NULL && arguments[1] == 0)
		context->sleep_count++;
#endif
	return 0;
}

SEC("struct_ops/test_exit")
int test_exit(__u64 *arguments)
{
	struct scx_exit_info *info = (struct scx_exit_info *)arguments[0];
	__u32 key = 0;
	struct scheduler_ending *value = bpf_map_lookup_elem(&ending, &key);

	if (value == NULL)
		return 0;
	bpf_probe_read_kernel_str(value->reason, sizeof(value->reason), info->reason);
	value->kind = (int)info->kind;
	return 0;
}

#ifdef SCHEDULER_DIRECT
#define SCHEDULER_NAME "ctop_direct"
#elif defined(SCHEDULER_CID)
#define SCHEDULER_NAME "ctop_cid"
#elif defined(ALLOCATOR_ID_AFTER)
#define SCHEDULER_NAME "ctop_after"
#else
#define SCHEDULER_NAME "ctop_before"
#endif

SEC(".struct_ops")
struct SCHEDULER_OPERATIONS scheduler = {
	.running = (void *)test_running,
	.stopping = (void *)test_stopping,
	.set_weight = (void *)test_set_weight,
	.init_task = (void *)test_init_task,
	.exit_task = (void *)test_exit_task,
	.init = (void *)test_init,
	.exit = (void *)test_exit,
	.name = SCHEDULER_NAME,
};

const char program_license[] SEC("license") = "GPL";
