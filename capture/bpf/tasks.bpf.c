// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task of the host, in two ways, and the clock that their times are in. The programs are in one object
 * because libbpf goes through the types of the kernel for each object anew, which takes longer than all else
 * that loading does.
 */
#include "kernel_types.h"

enum {
	MASK_WORDS_MAX = 128,
	CPUS_MAX = 64 * MASK_WORDS_MAX,
	NICE_0_PRIORITY = 120,     /* DEFAULT_PRIO of include/linux/sched/prio.h */
	FIRST_FAIR_PRIORITY = 100, /* MAX_RT_PRIO */
	STATE_SLEEPING = 0x02,     /* TASK_UNINTERRUPTIBLE of include/linux/sched.h */
	STATE_NO_LOAD = 0x400,     /* TASK_NOLOAD: with it, it is TASK_IDLE */
	STATE_LOCK_WAIT = 0x1000,  /* TASK_RTLOCK_WAIT */
	FAMILY_UNIX = 1,           /* AF_UNIX … of include/linux/socket.h */
	FAMILY_INET = 2,
	FAMILY_INET6 = 10,
	BLOCKER_MASK = 0x3, /* type of a lock, in the low bits of its address: include/linux/hung_task.h */
	BLOCKER_MUTEX = 0x0,
	BLOCKER_SEMAPHORE = 0x1,
	MUTEX_FLAGS = 0x7, /* low bits of an owner: kernel/locking/mutex.h */
	RWSEM_FLAGS = 0x3, /* the same: kernel/locking/rwsem.c */
	RWSEM_READER_OWNED = 0x1,
};

const volatile __u32 mask_words;                        /* of a CPU mask that may hold CPUs */
const volatile __u32 ext_state_mask, ext_state_enabled; /* bits of scx.flags */

/* FNV-1a by words. */
static __always_inline __u64 hash_cpus(const struct task_struct *task)
{
	/* libbpf refuses a member whose size differs, so only the place of the mask is asked for */
	const __u64 *words = (const void *)task + bpf_core_field_offset(task->cpus_mask);
	__u64 hash = 0xcbf29ce484222325;

	barrier_var(words); /* or the compiler joins the place and the first load again */
			    /* every offset has to be a constant */
#pragma unroll
	for (int i = 0; i < MASK_WORDS_MAX; i++) {
		if ((__u32)i < mask_words)
			hash = (hash ^ words[i]) * 0x100000001b3;
	}
	return hash;
}

static __always_inline __u64 positive(__s64 value)
{
	return value > 0 ? (__u64)value : 0;
}

const volatile __u32 cpu_count; /* CPUs that may ever be there */
__u64 cpu_offsets[CPUS_MAX];    /* of the variables of each: see find_cpu() */
__u32 cpu_offset_count;         /* of those that are known */

static __always_inline bool cpus_are_known(void)
{
	return cpu_count != 0 && cpu_offset_count == cpu_count;
}

/* Counters of an address space, where the part of a CPU lies behind the CPU's own offset, and their sums. */
struct cpu_parts {
	const char *first, *second, *last;
	__s64 counts[4];
};

static long add_cpu_part(__u32 index, void *context)
{
	const __u64 offset = cpu_offsets[index % CPUS_MAX], size = sizeof(__s32);
	struct cpu_parts *sum = context;
	__s32 parts[4] = {0};

	/* side by side since Linux 6.6 */
	if (sum->last == sum->first + 3 * size) {
		bpf_probe_read_kernel(parts, sizeof(parts), sum->first + offset);
	} else {
		bpf_probe_read_kernel(&parts[0], size, sum->first + offset);
		bpf_probe_read_kernel(&parts[1], size, sum->second + offset);
		bpf_probe_read_kernel(&parts[3], size, sum->last + offset);
	}
	sum->counts[0] += parts[0];
	sum->counts[1] += parts[1];
	sum->counts[3] += parts[3];
	return 0;
}

/* File, anonymous and shared pages, not swap: get_mm_rss() of include/linux/mm.h. */
static __always_inline __u64 resident_pages(const struct mm_struct *mm)
{
	const struct mm_struct___atomic *old = (const void *)mm;
	__s64 counts[4];

	if (bpf_core_field_exists(mm->rss_stat[0].count))
		return positive(mm->rss_stat[0].count) + positive(mm->rss_stat[1].count) +
		       positive(mm->rss_stat[3].count);
	/* the verifier of 6.1 knows no way into an array of atomic_long_t */
	if (!bpf_core_field_exists(old->rss_stat.count) ||
	    bpf_probe_read_kernel(counts, sizeof(counts), &old->rss_stat) != 0)
		return 0;
	return positive(counts[0]) + positive(counts[1]) + positive(counts[3]);
}

/*
 * The same with what each CPU has counted for itself and not handed over yet, less than 32 pages or twice the
 * number of CPUs, as statm and status have it since Linux 6.16: __percpu_counter_sum() of
 * lib/percpu_counter.c. A CPU that is offline has none.
 *
 * The verifier looks at the body of bpf_loop() once, and at what follows without what this function had on
 * its stack: inlined, or as a plain loop, it takes the one of 6.12 ten times as long.
 */
static __noinline __u64 exact_resident_pages(const struct mm_struct *mm)
{
	struct cpu_parts sum = {0};

	if (!bpf_core_field_exists(mm->rss_stat[0].counters))
		return 0;
	sum.first = (const void *)mm->rss_stat[0].counters;
	sum.second = (const void *)mm->rss_stat[1].counters;
	sum.last = (const void *)mm->rss_stat[3].counters;
	bpf_loop(cpu_count, add_cpu_part, &sum, 0);
	return positive(sum.counts[0] + mm->rss_stat[0].count) +
	       positive(sum.counts[1] + mm->rss_stat[1].count) +
	       positive(sum.counts[3] + mm->rss_stat[3].count);
}

__u32 pass; /* number of the pass, set before it */

/* The record of the task at hand: too large for the stack, and only one reader uses it. */
static struct task_whole whole;

/*
 * The memory of the process whose task was met last: it is read once for all of its threads, which come one
 * after the other. Pages. Not static: clang would take it apart, the sizes in the object's types would be
 * wrong, and the kernel, which refuses such types, would know no function by its type (bpf_loop() needs
 * that).
 */
struct {
	__u64 memory; /* address of its mm_struct */
	__u64 resident, hiwater_rss, hiwater_vm;
	__u32 tgid, pass;
	bool leader_has_it; /* the leader has not ended before the others */
} family;

static __always_inline void read_family(const struct task_struct *task, const struct mm_struct *mm)
{
	__u64 size;

	family.memory = (__u64)mm;
	family.tgid = task->tgid;
	family.pass = pass;
	family.leader_has_it = task->pid == task->tgid || task->group_leader->mm != NULL;
	family.resident = resident_pages(mm);
	family.hiwater_rss = mm->hiwater_rss;
	if (family.resident > family.hiwater_rss)
		family.hiwater_rss = family.resident;
	size = mm->total_vm;
	family.hiwater_vm = mm->hiwater_vm;
	if (size > family.hiwater_vm)
		family.hiwater_vm = size;
}

/* As xacct_add_tsk() of kernel/tsacct.c sees it: a kernel thread only borrows an address space. */
static __always_inline void fill_peaks(const struct task_struct *task, struct task_record *record)
{
	const struct mm_struct *mm = task->mm;

	record->hiwater_rss = record->hiwater_vm = 0;
	if (mm == NULL || (record->task_flags & TASK_KERNEL_THREAD) != 0)
		return;
	record->flags |= TASK_HAS_MEMORY;
	if (family.memory != (__u64)mm || family.tgid != record->tgid || family.pass != pass)
		read_family(task, mm);
	record->hiwater_rss = family.hiwater_rss;
	record->hiwater_vm = family.hiwater_vm;
}

/*
 * Stores the resident memory of a process, which changes while its threads stand still: once for a process,
 * by its leader, unless that has ended before the others. The task's signs have to be in `whole`.
 */
static __always_inline void fill_resident(const struct task_struct *task, struct task_record *record)
{
	const struct mm_struct *mm = task->mm;
	__u64 pages = 0;

	if (mm != NULL && (whole.record.flags & TASK_HAS_MEMORY) != 0 &&
	    (whole.record.tid == whole.record.tgid || !family.leader_has_it))
		pages = bpf_core_field_exists(mm->rss_stat[0].counters) && cpus_are_known()
				? exact_resident_pages(mm)
				: family.resident;
	/* a cache line that was written is slower to read on another CPU */
	if (record->resident != pages)
		record->resident = pages;
}

/*
 * Whether a bandwidth limit keeps a runnable task from its CPU: kernel/sched/fair.c. Since Linux 6.18 it
 * takes the task from the run queue on the way back to user space. Before, it takes the queue of the cgroup
 * from the CPU, which concerns tasks of the fair class only.
 */
static __always_inline bool is_throttled(struct task_struct *task, const struct task_record *record)
{
	const struct cfs_rq *queue = NULL;

	if (record->state != 0 || (record->flags & TASK_RUNNING) != 0)
		return false;
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (!bpf_core_field_exists(queue->throttle_count) || record->priority < 0 ||
	    (record->flags & TASK_EXT) != 0)
		return false;
	queue = plain_task(task)->se.cfs_rq;
	return queue->throttle_count != 0;
}

/*
 * Fills the signs of a task. The scheduler's stamps tell whether it has moved; the rest is everything that
 * others can change while it stands still.
 *
 * Members of the task itself are read through the pointer that was given, which costs a plain load. Pointers
 * to other structures are followed from the plain one, which the verifier does not look at: see plain_task().
 */
static __always_inline void fill_signs(struct task_struct *task, struct task_record *record)
{
	const struct task_struct *plain = plain_task(task);
	/* as with the mask of CPUs */
	const __u64 *comm = (const void *)task + bpf_core_field_offset(task->comm);

	barrier_var(comm);
	record->task = (__u64)task;
	record->tgid = task->tgid;
	record->tid = task->pid;
	record->comm_words[0] = comm[0];
	record->comm_words[1] = comm[1];
	record->cgroup = cgroup_of(plain);
	record->cpus = hash_cpus(task);
	record->last_queued = task->sched_info.last_queued;
	record->last_arrival = task->sched_info.last_arrival;
	record->exec_start = task->se.exec_start;
	record->slice = 0;
	if (bpf_core_field_exists(task->se.slice))
		record->slice = task->se.slice;
	record->previous_user_time = task->prev_cputime.utime;
	record->previous_system_time = task->prev_cputime.stime;
	record->task_flags = task->flags;
	record->state = task->__state;
	record->exit_state = task->exit_state;
	record->cpu = task->thread_info.cpu;
	record->policy = task->policy;
	record->rt_priority = task->rt_priority;
	record->priority = (__s32)task->prio - FIRST_FAIR_PRIORITY;
	record->nice = (__s32)task->static_prio - NICE_0_PRIORITY;
	record->flags = task->on_cpu != 0 ? TASK_RUNNING : 0;
	if (task->on_rq != 0)
		record->flags |= TASK_ON_QUEUE;
	record->thread_count = record->exec_id = 0;
	/* their cache lines are read for nothing else */
	if (task->pid == task->tgid) {
		record->thread_count = plain->signal->nr_threads;
		record->exec_id = (__u32)task->self_exec_id;
	}
	if (bpf_core_field_exists(task->scx.flags) && (task->scx.flags & ext_state_mask) == ext_state_enabled)
		record->flags |= TASK_EXT;
	if (is_frozen(task))
		record->flags |= TASK_IN_FREEZER;
	if (is_throttled(task, record))
		record->flags |= TASK_THROTTLED;
	fill_peaks(plain, record);
}

/* Fills the numbers that change only when the task moves. */
static __always_inline void fill_numbers(struct task_struct *task, struct task_record *record)
{
	const struct task_struct *plain = plain_task(task);
	const struct rq *queue = NULL;

	record->uid = plain->real_cred->uid.val;
	record->has_delays = bpf_core_field_exists(task->delays) && plain->delays != NULL;
	record->clock_lag = 0;
	if (bpf_core_field_exists(task->se.cfs_rq)) {
		queue = plain->se.cfs_rq->rq;
		record->clock_lag = clock_lag(queue);
	}
	record->start_boottime = task->start_boottime;
	record->thread_pointer = 0;
	if (bpf_core_field_exists(task->thread.fsbase))
		record->thread_pointer = task->thread.fsbase;
	else if (bpf_core_field_exists(task->thread.uw.tp_value))
		record->thread_pointer = task->thread.uw.tp_value;
	record->run_time = task->se.sum_exec_runtime;
	record->run_delay = task->sched_info.run_delay;
	record->timeslices = task->sched_info.pcount;
	record->voluntary = task->nvcsw;
	record->nonvoluntary = task->nivcsw;
	record->migrations = task->se.nr_migrations;
	record->minor_faults = task->min_flt;
	record->major_faults = task->maj_flt;
	record->user_time = task->utime;
	record->system_time = task->stime;
	record->arrival_run_time = task->se.prev_sum_exec_runtime;
	__builtin_memset(record->io, 0, sizeof(record->io));
	fill_io(task, record->io);
}

#define FILL_DELAY(id, name, needs)                                                                          \
	if (bpf_core_field_exists(info->name##_delay)) {                                                     \
		delays->of[TASK_DELAY_##id].count = info->name##_count;                                      \
		delays->of[TASK_DELAY_##id].total = info->name##_delay;                                      \
	}                                                                                                    \
	if (bpf_core_field_exists(info->name##_delay_max)) {                                                 \
		delays->of[TASK_DELAY_##id].max = info->name##_delay_max;                                    \
		delays->of[TASK_DELAY_##id].min = info->name##_delay_min;                                    \
	}

static __always_inline void fill_delays(const struct task_struct *task, struct task_delays *delays)
{
	const struct task_delay_info *info;

	__builtin_memset(delays, 0, sizeof(*delays));
	if (bpf_core_field_exists(task->sched_info.max_run_delay)) {
		delays->run_delay_max = task->sched_info.max_run_delay;
		delays->run_delay_min = task->sched_info.min_run_delay;
	}
	if (!bpf_core_field_exists(task->delays))
		return;
	info = task->delays;
	if (info == NULL)
		return;
	TASK_DELAYS(FILL_DELAY)
}

#define FILL_STATISTIC(name, metric) statistics->name = task->stats.name;

static __always_inline void fill_statistics(const struct task_struct *task,
					    struct task_statistics *statistics)
{
	__builtin_memset(statistics, 0, sizeof(*statistics));
	if (!bpf_core_field_exists(task->stats.wait_max))
		return;
	TASK_STATISTICS(FILL_STATISTIC)
	statistics->sum_sleep_runtime = task->stats.sum_sleep_runtime;
	if (bpf_core_field_exists(task->stats.core_forceidle_sum))
		statistics->core_forceidle_sum = task->stats.core_forceidle_sum;
}

/*
 * --- system calls ---
 *
 * Registers and files are read for threads that sleep, and mostly from cache lines that nothing else has
 * read, so only when a record is stored. The call of a thread that stands still is that of its record.
 */

const volatile bool with_calls, with_files;  /* what this kernel allows is found by loading */
const volatile struct task_call_set by_file; /* calls whose first argument is a descriptor to follow */

static __always_inline void fill_socket(__u64 file, struct task_call *call)
{
	__u64 socket, sock, peer, address;
	__u16 family, port;
	__u32 number;

	FETCH(socket, file, file, private_data);
	FETCH(sock, socket, socket, sk);
	FETCH(family, sock, sock, __sk_common.skc_family);
	call->device = family;
	if (family == FAMILY_UNIX) {
		FETCH(peer, sock, sock, sk_peer_pid);
		if (peer != 0) {
			FETCH(number, pid, peer, numbers[0].nr);
			call->peer = number;
		}
	}
	if (family != FAMILY_INET && family != FAMILY_INET6)
		return;
	FETCH(port, sock, sock, __sk_common.skc_num);
	call->local_port = port;
	FETCH(port, sock, sock, __sk_common.skc_dport);
	call->remote_port = port;
	if (family == FAMILY_INET) {
		FETCH(number, sock, sock, __sk_common.skc_daddr);
		call->remote_address[0] = number;
	} else if (bpf_core_field_exists(struct sock, __sk_common.skc_v6_daddr)) {
		address = sock + bpf_core_field_offset(struct sock, __sk_common.skc_v6_daddr);
		FETCH_WORD(call->remote_address[0], address);
		FETCH_WORD(call->remote_address[1], address + sizeof(__u64));
	}
}

static __always_inline void fill_name(__u64 file, struct task_call *call)
{
	__u64 dentry, name;

	FETCH(dentry, file, file, f_path.dentry);
	FETCH(name, dentry, dentry, d_name.name);
#pragma unroll
	for (__u32 i = 0; i < TASK_FILE_NAME_SIZE / sizeof(__u64); i++)
		FETCH_WORD(call->name_words[i], name + i * sizeof(__u64));
}

/*
 * Fills what the call of the task at hand says of the file behind a descriptor. It counts only if the
 * descriptor still stands for that file afterwards: the structures of a closed file are used again.
 */
__noinline int fill_file(__u32 descriptor)
{
	struct task_call *call = &whole.call;
	const __u64 task = whole.record.task;
	__u64 files, table, slot, file, file_after, inode, superblock, number;
	__u32 limit, device;
	__u16 mode;

	FETCH(files, task_struct, task, files);
	if (files == 0)
		return 0;
	FETCH(table, files_struct, files, fdt);
	FETCH(limit, fdtable, table, max_fds);
	if (descriptor >= limit)
		return 0;
	FETCH(slot, fdtable, table, fd);
	slot += descriptor * sizeof(__u64);
	FETCH_WORD(file, slot);
	if (file == 0)
		return 0;
	FETCH(inode, file, file, f_inode);
	FETCH(superblock, inode, inode, i_sb);
	FETCH(number, super_block, superblock, s_magic);
	call->magic = (__u32)number;
	FETCH(number, inode, inode, i_ino);
	call->inode = number;
	FETCH(mode, inode, inode, i_mode);
	call->mode = mode;
	mode &= FORMAT_MASK;
	if (mode == FORMAT_CHARACTER || mode == FORMAT_BLOCK) {
		FETCH(device, inode, inode, i_rdev);
		call->device = device;
	}
	if (mode == FORMAT_SOCKET)
		fill_socket(file, call);
	else
		fill_name(file, call);
	FETCH_WORD(file_after, slot);
	if (file_after == file)
		call->flags |= TASK_CALL_FILE;
	return 0;
}

static __always_inline bool is_blocked(const struct task_record *record)
{
	return (record->state & (STATE_SLEEPING | STATE_NO_LOAD)) == STATE_SLEEPING;
}

/*
 * Whether task_struct.blocked_on is a mutex, as since Linux 6.17. Older kernels have it only with
 * CONFIG_DEBUG_MUTEXES, for another structure.
 */
static __always_inline bool knows_mutex(void)
{
	return bpf_core_field_exists(struct task_struct, blocked_on) &&
	       !bpf_core_field_exists(struct mutex, magic);
}

/* Whether a task is in D for a lock that the kernel remembers: `blocker` is there since Linux 6.16. */
static __always_inline bool waits_for_lock(const struct task_struct *task, const struct task_record *record)
{
	return with_calls && is_blocked(record) &&
	       ((bpf_core_field_exists(task->blocker) && task->blocker != 0) ||
		(knows_mutex() && task->blocked_on != NULL));
}

/* Fills the lock that the task at hand waits for, and the lock's owner. */
__noinline int fill_lock(void)
{
	struct task_call *call = &whole.call;
	const __u64 task = whole.record.task;
	__u64 lock = 0, owner = 0;
	__u32 type, number;

	/* as numbers, since the verifier refuses arithmetic on pointers */
	if (bpf_core_field_exists(struct task_struct, blocker))
		FETCH_WORD(lock, task + bpf_core_field_offset(struct task_struct, blocker));
	if (lock == 0 && knows_mutex())
		FETCH_WORD(lock, task + bpf_core_field_offset(struct task_struct, blocked_on));
	type = lock & BLOCKER_MASK;
	lock -= type;
	if (lock == 0)
		return 0;
	call->flags |= TASK_CALL_LOCK;
	if (type == BLOCKER_MUTEX) {
		call->lock = TASK_LOCK_MUTEX;
		if (bpf_core_field_exists(struct mutex, owner.counter))
			FETCH(owner, mutex, lock, owner.counter);
		owner &= ~(__u64)MUTEX_FLAGS;
	} else if (type == BLOCKER_SEMAPHORE) {
		call->lock = TASK_LOCK_SEMAPHORE;
		if (bpf_core_field_exists(struct semaphore, last_holder))
			FETCH(owner, semaphore, lock, last_holder);
	} else {
		if (bpf_core_field_exists(struct rw_semaphore, owner.counter))
			FETCH(owner, rw_semaphore, lock, owner.counter);
		call->lock = (owner & RWSEM_READER_OWNED) != 0 ? TASK_LOCK_RWSEM_READ : TASK_LOCK_RWSEM;
		owner &= ~(__u64)RWSEM_FLAGS;
	}
	if (owner == 0)
		return 0;
	call->owner = owner;
	FETCH(number, task_struct, owner, tgid);
	call->owner_tgid = number;
	FETCH(number, task_struct, owner, pid);
	call->owner_tid = number;
	return 0;
}

static __always_inline bool has_descriptor(const struct task_call *call)
{
	const __u32 number = (__u32)call->number, abi = (call->flags & TASK_CALL_COMPAT) != 0;

	return (call->flags & TASK_CALL_READ) != 0 && number < TASK_CALL_LIMIT &&
	       (by_file.bits[abi][(number & (TASK_CALL_LIMIT - 1)) / 64] >> number % 64 & 1) != 0;
}

/* Fills the call of the task at hand, whose signs are in `whole`, there. */
static __always_inline void fill_call(struct task_struct *task)
{
	const struct task_record *record = &whole.record;
	struct task_call *call = &whole.call;

	__builtin_memset(call, 0, sizeof(*call));
	if (record->state == 0 || record->exit_state != 0 || (record->flags & TASK_RUNNING) != 0)
		return;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait) != 0)
		call->flags = TASK_CALL_IN_IOWAIT;
	if ((record->task_flags & (TASK_KERNEL_THREAD | TASK_IO_WORKER)) == 0)
		fill_registers(task, call);
	if (waits_for_lock(task, record) && (call->flags & TASK_CALL_IN_IOWAIT) == 0)
		fill_lock();
	else if (with_files && has_descriptor(call))
		fill_file((__u32)call->arguments[0]);
	barrier();
	if (task->on_cpu != 0 || task->sched_info.last_arrival != record->last_arrival)
		call->flags = TASK_CALL_MOVED;
}

static __always_inline __u32 kernel_facts(const struct task_struct *task)
{
	const struct task_delay_info *delays = NULL;
	const struct mm_struct *mm = NULL;
	const struct mm_struct___atomic *old = NULL;
	__u32 facts = accounting_facts(task);

	if (bpf_core_field_exists(task->se.slice))
		facts |= TASK_KERNEL_SLICE;
	if (bpf_core_field_exists(task->scx.flags))
		facts |= TASK_KERNEL_EXT;
	if (bpf_core_field_exists(task->stats.wait_max))
		facts |= TASK_KERNEL_STATISTICS;
	if (bpf_core_field_exists(task->sched_info.max_run_delay))
		facts |= TASK_KERNEL_RUN_DELAY_RANGE;
	if (bpf_core_field_exists(delays->blkio_delay_max))
		facts |= TASK_KERNEL_DELAY_RANGES;
	if (bpf_core_field_exists(task->stats.core_forceidle_sum))
		facts |= TASK_KERNEL_FORCE_IDLE;
	if (bpf_core_field_exists(mm->rss_stat[0].count) || bpf_core_field_exists(old->rss_stat.count))
		facts |= TASK_KERNEL_RESIDENT;
	if (bpf_core_field_exists(mm->rss_stat[0].counters) && cpus_are_known())
		facts |= TASK_KERNEL_RESIDENT_EXACT;
	return facts;
}

__u32 parts;       /* TASK_PART_…, set before each pass */
__u32 task_kernel; /* TASK_KERNEL_… */

/*
 * --- what is stored ---
 *
 * Records are in memory that ctop has mapped. A task keeps its slot from pass to pass, and a pass stores the
 * tasks that moved. A task that stands still costs a comparison of its signs, and one place.
 */

enum {
	SEARCHED = 16, /* places of the pass before in which a task is looked for */
};

#define NO_SLOT ((__u32)-1)

__u32 outcome;    /* WALK_… of the last run */
__u32 task_count; /* tasks met; set to 0 before each pass */

/* Set before each pass. */
__u32 is_full;     /* tasks that stand still are stored, too */
__u32 by_number;   /* tasks come in the order of their numbers */
__u64 known_since; /* CLOCK_BOOTTIME ns: the pass before met every task that started earlier */

/* Parts of `task_places`: the pass before, this one, and free slots. */
__u32 before_begin, before_count;
__u32 now_begin;
__u32 free_begin, free_count;

/* Set to 0 before each pass. */
__u32 before;     /* places of the pass before whose tasks were met again or have ended */
__u32 free_taken; /* free slots that were taken */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set before loading, as those of the next five */
	__type(key, __u32);
	__type(value, struct task_place);
} task_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_delays);
} delays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_statistics);
} statistics SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_call);
} calls SEC(".maps");

__u32 is_searched; /* the last search went through all places that it may look at */

/*
 * Returns the slot of a thread that the pass before met, or NO_SLOT. Each pass meets tasks in the same order,
 * so the place of the thread is among the next ones, and tasks at places in front of it have ended. A thread
 * that is not found counts as new, which costs one record.
 *
 * Indices are kept in memory because the verifier would follow each value of a variable. A global function is
 * verified once, and not again for each way to its call.
 */
__noinline __u32 find_slot(__u32 tgid, __u32 tid)
{
	const __u32 first = *(volatile __u32 *)&before;

	is_searched = 0;
	for (__u32 i = 0; i < SEARCHED; i++) {
		const __u32 number = first + i;
		__u32 index = *(volatile __u32 *)&before_begin + number, slot;
		const struct task_place *place;
		const struct task_record *record;

		if (number >= before_count)
			return NO_SLOT;
		place = bpf_map_lookup_elem(&task_places, &index);
		if (place == NULL)
			return NO_SLOT;
		slot = place->slot;
		record = bpf_map_lookup_elem(&records, &slot);
		if (record == NULL)
			return NO_SLOT;
		if (record->tid == tid) {
			before = number + 1;
			return slot;
		}
		/* new threads come at the end of their process */
		if (by_number != 0 ? record->tid > tid : tid != tgid && record->tgid != tgid)
			return NO_SLOT;
	}
	is_searched = 1;
	return NO_SLOT;
}

/*
 * Returns a slot for a task that has none. If the pass before must have met the task, too many others have
 * ended in between, and the next search begins farther on.
 */
static __always_inline __u32 take_new_slot(const struct task_struct *task)
{
	const __u32 number = *(volatile __u32 *)&free_taken;
	__u32 index = *(volatile __u32 *)&free_begin + number;
	const struct task_place *place = bpf_map_lookup_elem(&task_places, &index);

	if (is_searched != 0 && (by_number != 0 || task->start_boottime < known_since))
		before += SEARCHED;
	if (place == NULL || number >= free_count)
		return NO_SLOT;
	free_taken = number + 1;
	return place->slot;
}

#define COMPARE_SIGN(member) difference |= now->member ^ earlier->member;

/* Compares the signs one by one: a CPU is slow to read a word that it has just written in parts. */
static __always_inline bool signs_differ(const struct task_record *now, const struct task_record *earlier)
{
	__u64 difference = (now->comm_words[0] ^ earlier->comm_words[0]) |
			   (now->comm_words[1] ^ earlier->comm_words[1]);

	TASK_SIGNS(COMPARE_SIGN)
	return difference != 0;
}

/*
 * Returns the mark of the task at hand, by its signs and its record of an earlier pass. Another task may have
 * the number by now, in execve(2) or because it was free again.
 */
static __always_inline __u32 judge(const struct task_struct *task, const struct task_record *record)
{
	const struct task_record *now = &whole.record;

	if (record->task != now->task)
		return TASK_NEW;
	/* the scheduler changes the statistics of a thread on a queue without its stamps, and a pass that
	 * meets a task twice has to mark it both times */
	if ((now->flags & TASK_RUNNING) != 0 || record->pass == pass || signs_differ(now, record) ||
	    ((now->flags & TASK_ON_QUEUE) != 0 && (parts & TASK_PART_STATISTICS) != 0) ||
	    waits_for_lock(task, now)) /* the lock may have another owner by now */
		return record->start_boottime == task->start_boottime ? TASK_MOVED : TASK_NEW;
	if (now->state == 0 || now->last_queued != 0 || (now->state & STATE_LOCK_WAIT) != 0 ||
	    is_blocked(now))
		return TASK_WAITS;
	return TASK_STILL;
}

/*
 * Stores the numbers of a task in its record, and the parts of the record. `trusted` is the task as it was
 * handed over (see plain_task()). False without room.
 */
static __always_inline bool store_numbers(struct task_struct *task, struct task_struct *trusted, __u32 slot,
					  struct task_record *record)
{
	fill_numbers(task, record);
	if ((parts & TASK_PART_DELAYS) != 0) {
		struct task_delays *part = bpf_map_lookup_elem(&delays, &slot);

		if (part == NULL)
			return false;
		fill_delays(plain_task(task), part);
	}
	if ((parts & TASK_PART_STATISTICS) != 0) {
		struct task_statistics *part = bpf_map_lookup_elem(&statistics, &slot);

		if (part == NULL)
			return false;
		fill_statistics(task, part);
	}
	if (with_calls && (parts & TASK_PART_CALL) != 0) {
		struct task_call *part = bpf_map_lookup_elem(&calls, &slot);

		if (part == NULL)
			return false;
		fill_call(trusted);
		*part = whole.call;
	}
	return true;
}

/*
 * Gives a task the next place, and stores its record unless the one of an earlier pass still holds. Returns
 * false if the task does not fit.
 *
 * The signs are read before the numbers: if the task moves in between, the next pass sees other signs. A full
 * pass must not mark the task as still then.
 */
static __always_inline bool place_task(struct task_struct *task, struct task_struct *trusted)
{
	__u32 index = *(volatile __u32 *)&now_begin + *(volatile __u32 *)&task_count, slot;
	struct task_record *record;
	struct task_place *place;
	bool is_known;

	fill_signs(task, &whole.record);
	slot = find_slot(whole.record.tgid, whole.record.tid);
	is_known = slot != NO_SLOT;
	if (!is_known)
		slot = take_new_slot(task);
	place = bpf_map_lookup_elem(&task_places, &index);
	record = bpf_map_lookup_elem(&records, &slot);
	if (place == NULL || record == NULL)
		return false;
	place->slot = slot;
	place->mark = is_known ? judge(task, record) : TASK_NEW;
	if (is_full != 0 || *(volatile __u32 *)&place->mark >= TASK_MOVED) {
		__builtin_memcpy(record, &whole.record, offsetof(struct task_record, uid));
		record->pass = pass;
		if (!store_numbers(task, trusted, slot, record))
			return false;
		barrier();
		if (*(volatile __u32 *)&place->mark < TASK_MOVED &&
		    (task->on_cpu != 0 || task->sched_info.last_arrival != record->last_arrival))
			place->mark = TASK_MOVED;
	}
	fill_resident(plain_task(task), record);
	return true;
}

/*
 * --- in runs of a program ---
 *
 * With the open-coded task iterator of kernel/bpf/task_iter.c and bpf_task_from_pid(), which is open to
 * programs of this type from Linux 6.10 on. A run stores tasks for RUN_NS, since nothing else may run on its
 * CPU, and the next one goes on. The iterator begins at any thread of a process, but among processes only at
 * the first one: a run passes over those that are stored.
 *
 * Processes, and the threads of each, are lists, in which they keep their order, and new ones come at the
 * end. A run goes on after the last one that was stored and still is there. So each task that lives through
 * the pass is stored once, whatever became of the others. But a thread that calls execve(2) moves: it takes
 * the place of its leader (de_thread() of fs/exec.c), and may be stored at both. Where too many threads have
 * ended to find a place, their process is stored again. What is stored twice counts once: bpf_pass_order().
 */

struct bpf_iter_task {
	__u64 opaque[3];
};

enum {
	RUN_NS = 600000,
	CLOCK_EVERY = 64,    /* tasks are stored until the time is looked at */
	MANY_CPUS = 64,      /* from which on one process takes so long that it is looked at each time */
	PLACES_MAX = 8,      /* at which a run tries to go on in a process */
	ALL_PROCESSES = 0,   /* BPF_TASK_ITER_ALL_PROCS */
	PROCESS_THREADS = 2, /* BPF_TASK_ITER_PROC_THREADS */
};

/* Weak: a kernel that lacks them is to take the other programs all the same. */
extern int bpf_iter_task_new(struct bpf_iter_task *iterator, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *iterator) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *iterator) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym __weak;
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

/* The process in which a run goes on. */
__u32 process;         /* its number, for walk_process() */
__u64 leader_task;     /* its leader's address, for walk_tasks(); 0: begin with the first process */
__u64 leader_start;    /* the same task's start_boottime */
__u32 process_begin;   /* tasks that were stored before it */
__u32 process_before;  /* value of `before` at its leader */
__u32 process_is_done; /* go on with the next one */

/* Global, and thus verified once: btf_prepare_func_args() of kernel/bpf/btf.c; the tag from Linux 6.9 on. */
__noinline bool store_task(struct task_struct *task __attribute__((btf_decl_tag("arg:trusted"))))
{
	return place_task(task, task);
}

/* In memory, as the indices of places. */
static __u64 run_end;   /* CLOCK_MONOTONIC ns */
static __u32 run_begin; /* tasks that were stored before the run */
static bool first_is_stored;

/* Not before the run has stored something: each one gets on, however late its CPU gives it time. */
static __always_inline bool is_time_over(void)
{
	const __u32 count = *(volatile __u32 *)&task_count;

	return (count % CLOCK_EVERY == 0 || cpu_count >= MANY_CPUS) && count != run_begin &&
	       bpf_ktime_get_ns() >= run_end;
}

/* The last task but `back` that was stored, if it is of this process and still there; the caller releases it.
 */
static __always_inline struct task_struct *stored_task(__u32 back)
{
	const __u32 number = *(volatile __u32 *)&task_count - 1 - back;
	__u32 index = *(volatile __u32 *)&now_begin + number, slot;
	const struct task_place *place = bpf_map_lookup_elem(&task_places, &index);
	const struct task_record *record;
	struct task_struct *task;

	if (place == NULL || number + 1 <= process_begin)
		return NULL;
	slot = place->slot;
	record = bpf_map_lookup_elem(&records, &slot);
	if (record == NULL)
		return NULL;
	task = bpf_task_from_pid((__s32)record->tid);
	if (task == NULL)
		return NULL;
	if ((__u64)task == record->task && task->start_boottime == record->start_boottime)
		return task;
	bpf_task_release(task);
	return NULL;
}

static __noinline struct task_struct *find_place(void)
{
	struct task_struct *task = NULL;

	for (__u32 back = 0; back < PLACES_MAX && task == NULL; back++)
		task = stored_task(back);
	return task;
}

/* Stores the threads of a process that are not stored, and releases its leader. */
static __always_inline void store_process(struct task_struct *leader)
{
	struct bpf_iter_task iterator;
	struct task_struct *first = process_begin != task_count ? find_place() : NULL, *task;

	first_is_stored = first != NULL;
	if (first != NULL) {
		bpf_task_release(leader);
	} else {
		first = leader;
		before = process_before;
	}
	bpf_iter_task_new(&iterator, first, PROCESS_THREADS);
	while ((task = bpf_iter_task_next(&iterator)) != NULL) {
		if (first_is_stored) {
			first_is_stored = false;
			continue;
		}
		if (is_time_over()) {
			outcome = WALK_UNFINISHED;
			break;
		}
		/* not plain_task(): at each reading of such a pointer its address is looked at, a fifth of
		 * the time of a pass, each round */
		if (!store_task(task)) {
			outcome = WALK_FULL;
			break;
		}
		task_count++;
	}
	bpf_iter_task_destroy(&iterator);
	bpf_task_release(first);
}

SEC("syscall")
int walk_tasks(void *context)
{
	struct bpf_iter_task processes;
	struct task_struct *leader;

	(void)context;
	task_kernel = kernel_facts(NULL);
	outcome = leader_task != 0 ? WALK_LOST : WALK_DONE;
	run_begin = task_count;
	run_end = bpf_ktime_get_ns() + RUN_NS;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&processes, NULL, ALL_PROCESSES);
	while ((leader = bpf_iter_task_next(&processes)) != NULL) {
		if (outcome == WALK_LOST) {
			if ((__u64)leader != leader_task || leader->start_boottime != leader_start)
				continue;
			outcome = WALK_DONE;
			run_end = bpf_ktime_get_ns() + RUN_NS;
			if (process_is_done)
				continue;
		} else {
			if (leader->pid == 0)
				continue;
			leader_task = (__u64)leader;
			leader_start = leader->start_boottime;
			process_begin = task_count;
			process_before = before;
		}
		leader = bpf_task_acquire(leader);
		if (leader != NULL)
			store_process(leader);
		if (outcome != WALK_DONE)
			break;
	}
	bpf_iter_task_destroy(&processes);
	bpf_rcu_read_unlock();
	return 0;
}

SEC("syscall")
int walk_process(void *context)
{
	struct task_struct *leader;

	(void)context;
	task_kernel = kernel_facts(NULL);
	outcome = WALK_DONE;
	run_begin = task_count;
	run_end = bpf_ktime_get_ns() + RUN_NS;
	/* before the task is looked up: what stands behind it in its list has to stay */
	bpf_rcu_read_lock();
	leader = bpf_task_from_pid((__s32)process);
	if (leader != NULL) {
		/* the number of a process that ended may be that of a thread of another one */
		if (leader->tgid == process)
			store_process(leader);
		else
			bpf_task_release(leader);
	}
	bpf_rcu_read_unlock();
	return 0;
}

/*
 * --- one after the other ---
 *
 * As the reader of an iterator asks for them (Documentation/bpf/bpf_iterators.rst): stored in the same way,
 * or handed over. A read returns whole records, at most 32 KiB of them.
 */

__u32 process_threads; /* threads of the process whose task was met last */

/*
 * Stores tasks and hands nothing over. If output did not fit into a read, the kernel would run the program
 * again for the same task (bpf_seq_read() of kernel/bpf/bpf_iter.c).
 */
SEC("iter/task")
int sift_task(struct bpf_iter__task *context)
{
	struct task_struct *trusted = context->task, *task;

	task_kernel = kernel_facts(NULL);
	if (trusted == NULL || outcome == WALK_FULL || !is_in_scope(trusted))
		return 0;
	task = plain_task(trusted);
	process_threads = task->signal->nr_threads;
	if (place_task(task, trusted))
		task_count++;
	else
		outcome = WALK_FULL;
	return 0;
}

SEC("iter/task")
int dump_task(struct bpf_iter__task *context)
{
	struct seq_file *file = context->meta->seq;
	struct task_struct *trusted = context->task, *task;

	task_kernel = kernel_facts(NULL);
	if (trusted == NULL || !is_in_scope(trusted))
		return 0;
	task = plain_task(trusted);
	process_threads = task->signal->nr_threads;
	fill_signs(task, &whole.record);
	fill_numbers(task, &whole.record);
	fill_resident(task, &whole.record);
	bpf_seq_write(file, &whole.record, sizeof(whole.record));
	/* what does not fit is undone with the record, which then begins the next read */
	if ((parts & TASK_PART_DELAYS) != 0) {
		fill_delays(task, &whole.delays);
		bpf_seq_write(file, &whole.delays, sizeof(whole.delays));
	}
	if ((parts & TASK_PART_STATISTICS) != 0) {
		fill_statistics(task, &whole.statistics);
		bpf_seq_write(file, &whole.statistics, sizeof(whole.statistics));
	}
	if (with_calls && (parts & TASK_PART_CALL) != 0) {
		fill_call(trusted);
		bpf_seq_write(file, &whole.call, sizeof(whole.call));
	}
	return 0;
}

/*
 * --- the clock ---
 *
 * Reads the scheduler's clock. A run queue brings its clock up to date when a thread wakes on it, so
 * that of the caller, which has just slept, is a moment old.
 */

__u64 queue_clock;     /* of the run queue of the calling thread, ns */
__u64 monotonic_clock; /* at the same time, CLOCK_MONOTONIC ns */

SEC("syscall")
int read_clock(void *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();

	(void)context;
	if (!bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	queue_clock = task->se.cfs_rq->rq->clock;
	monotonic_clock = bpf_ktime_get_ns();
	return 0;
}

/*
 * --- the CPUs ---
 *
 * Where the variables of a CPU are, from where a pointer to such variables says. That a value of a map is for
 * each CPU one tells; the kernel's own table is not among the symbols of every kernel.
 */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} places SEC(".maps");

__u32 cpu; /* to be found */
/* Read back from memory they are numbers to the verifier; of pointers to maps it allows no arithmetic. */
volatile __u64 map_address, cpu_place;

SEC("syscall")
int find_cpu(void *context)
{
	const struct bpf_array *array = NULL;
	const __u32 first = 0, at = cpu_offset_count;
	__u64 pointer = 0;

	(void)context;
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_map_lookup_percpu_elem))
		return 0;
	cpu_place = (__u64)bpf_map_lookup_percpu_elem(&places, &first, cpu);
	map_address = (__u64)&places;
	if (cpu_place == 0 || at >= CPUS_MAX ||
	    bpf_probe_read_kernel(&pointer, sizeof(pointer),
				  (void *)(map_address + bpf_core_field_offset(array->pptrs))) != 0)
		return 0;
	cpu_offsets[at] = cpu_place - pointer;
	cpu_offset_count++;
	return 0;
}

const char program_license[] SEC("license") = "GPL";
