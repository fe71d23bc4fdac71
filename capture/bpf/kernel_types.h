/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_KERNEL_TYPES_H
#define CTOP_BPF_KERNEL_TYPES_H

/*
 * The members of kernel structures that the BPF programs read. Only names count: libbpf finds each member in
 * the BTF of the running kernel when a program is loaded. It fits the width of unsigned members alone, so a
 * member whose width differs between kernels is unsigned here whatever it is there. Members that not every
 * kernel has are asked for by bpf_core_field_exists() first. Sources: include/linux/sched.h,
 * include/linux/mm_types.h, include/linux/delayacct.h, kernel/sched/sched.h.
 */

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "file_class.h"
#include "task_record.h"

enum {
	JOBCTL_TRAP_FREEZE = 1 << 23, /* include/linux/sched/jobctl.h */
	STATUS_COMPAT = 1 << 1,       /* TS_COMPAT of arch/x86/include/asm/thread_info.h */
	FLAG_32BIT = 1 << 22,         /* of TIF_32BIT, arch/arm64/include/asm/thread_info.h */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1]; /* as many as CONFIG_NR_CPUS needs */
};

struct rq {
	__u64 clock, clock_task;
	struct task_struct *curr, *donor;
};

struct cfs_rq {
	struct rq *rq;
	__u64 throttled_clock_self, throttled_clock_self_time;
	unsigned int throttle_count; /* cgroups from its own to the root that are throttled on this CPU */
};

struct sched_entity {
	__u64 exec_start, sum_exec_runtime, prev_sum_exec_runtime, nr_migrations, slice;
	struct cfs_rq *cfs_rq;
};

struct sched_ext_entity {
	__u32 flags;
};

struct sched_info {
	unsigned long pcount;
	__u64 run_delay, max_run_delay, min_run_delay, last_arrival, last_queued;
};

struct sched_statistics {
	TASK_STATISTICS(TASK_STATISTIC_MEMBER)
	__u64 sum_sleep_runtime, core_forceidle_sum;
};

struct prev_cputime {
	__u64 utime, stime;
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

struct task_delay_info {
#define TASK_DELAY_MEMBERS(id, name, needs)                                                                  \
	__u64 name##_delay, name##_delay_max, name##_delay_min;                                              \
	__u32 name##_count;
	TASK_DELAYS(TASK_DELAY_MEMBERS)
#undef TASK_DELAY_MEMBERS
};

struct percpu_counter {
	__s64 count;
	__s32 *counters; /* an offset: each CPU has one of its own */
};

struct mm_struct {
	unsigned long hiwater_rss, hiwater_vm, total_vm; /* pages */
	struct percpu_counter rss_stat[4];
};

/* Before 6.2: an array of atomic_long_t. */
struct page_counter___atomic {
	long counter;
};

struct mm_rss_stat___atomic {
	struct page_counter___atomic count[4];
};

struct mm_struct___atomic {
	struct mm_rss_stat___atomic rss_stat;
};

struct bpf_array {
	void *pptrs[0];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
	int level; /* 0: root of its hierarchy */
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* indexed by cgroup_subsys_id */
	struct cgroup *dfl_cgrp;
};

enum cgroup_subsys_id {
	memory_cgrp_id,
	pids_cgrp_id,
};

struct cred {
	struct {
		__u32 val;
	} uid;
};

struct signal_struct {
	unsigned int nr_threads;
};

struct thread_info {
	__u32 cpu;
	__u32 status;        /* x86 */
	unsigned long flags; /* arm64 reads it */
};

/* The registers with which a task entered the kernel. */
struct pt_regs {
	unsigned long bx, cx, dx, si, di, orig_ax; /* x86 */
	__u64 regs[31], orig_x0;                   /* arm64 */
	__s32 syscallno;
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	__u16 i_mode;
	__u32 i_rdev;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct upid {
	__u32 nr;
};

struct pid {
	struct upid numbers[1]; /* the first is that of the initial pid namespace */
};

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__u16 skc_family, skc_num;
	__u16 skc_dport;
	__u32 skc_daddr;
	struct in6_addr skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
	struct pid *sk_peer_pid;
};

struct socket {
	struct sock *sk;
};

struct atomic_long {
	unsigned long counter;
};

struct mutex {
	struct atomic_long owner;
	void *magic; /* with CONFIG_DEBUG_MUTEXES */
};

struct rw_semaphore {
	struct atomic_long owner;
};

struct semaphore {
	unsigned long last_holder; /* with CONFIG_DETECT_HUNG_TASK_BLOCKER */
};

struct user_fpsimd_words {
	unsigned long tp_value;
};

struct thread_struct {
	unsigned long fsbase;        /* x86 */
	struct user_fpsimd_words uw; /* arm64 */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int on_cpu;
	unsigned int on_rq;
	unsigned int prio, static_prio, rt_priority;
	struct sched_entity se;
	struct sched_ext_entity scx;
	struct sched_statistics stats;
	unsigned int policy;
	unsigned long jobctl;
	unsigned frozen : 1;
	unsigned in_iowait : 1;
	struct cpumask cpus_mask;
	struct sched_info sched_info;
	struct mm_struct *mm;
	unsigned int exit_state;
	unsigned int pid, tgid;
	struct task_struct *group_leader, *real_parent;
	__u64 utime, stime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw, nivcsw;
	__u64 start_boottime;
	__u64 self_exec_id;
	unsigned long min_flt, maj_flt;
	struct cred *real_cred;
	char comm[16];
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	struct files_struct *files;
	struct mutex *blocked_on;
	unsigned long blocker;
	bool throttled;
	struct task_delay_info *delays;
	struct thread_struct thread;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* Only processes of these ids, in the initial pid namespace, when `scoped`. */
const volatile bool scoped;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, __u32);
	__type(value, __u8);
} scope SEC(".maps");

static __always_inline bool is_in_scope(const struct task_struct *task)
{
	__u32 process = task->tgid;

	return !scoped || bpf_map_lookup_elem(&scope, &process) != NULL;
}

/* The accounting of the running kernel, TASK_KERNEL_…; the loader turns the tests into constants. */
static __always_inline __u32 accounting_facts(const struct task_struct *task)
{
	const struct task_delay_info *delays = NULL;
	__u32 facts = TASK_KERNEL_KNOWN;

	if (bpf_core_field_exists(task->ioac.read_bytes))
		facts |= TASK_KERNEL_IO;
	if (bpf_core_field_exists(task->ioac.rchar))
		facts |= TASK_KERNEL_CHARS;
	if (bpf_core_field_exists(task->delays))
		facts |= TASK_KERNEL_DELAYS;
	if (bpf_core_field_exists(delays->irq_delay))
		facts |= TASK_KERNEL_IRQ_DELAY;
	if (bpf_core_field_exists(delays->wpcopy_delay))
		facts |= TASK_KERNEL_WPCOPY_DELAY;
	return facts;
}

/* Leaves alone what the kernel does not count. */
static __always_inline void fill_io(const struct task_struct *task, __u64 io[TASK_IO_COUNT])
{
	if (bpf_core_field_exists(task->ioac.rchar)) {
		io[0] = task->ioac.rchar;
		io[1] = task->ioac.wchar;
		io[2] = task->ioac.syscr;
		io[3] = task->ioac.syscw;
	}
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		io[4] = task->ioac.read_bytes;
		io[5] = task->ioac.write_bytes;
		io[6] = task->ioac.cancelled_write_bytes;
	}
}

const volatile __u32 old_hierarchy; /* OLD_HIERARCHY_… of this host */

/*
 * The id of the task's v2 cgroup. If the task is also in a v1 cgroup below the root: TASK_CGROUP_PAIR and the
 * lower halves of both ids. If the controllers are on v1, runtimes create no v2 cgroups.
 */
static __always_inline __u64 cgroup_of(const struct task_struct *task)
{
	const struct css_set *set = task->cgroups;
	const __u64 id = set->dfl_cgrp->kn->id;
	const struct cgroup *cgroup;

	if (old_hierarchy == OLD_HIERARCHY_PIDS &&
	    bpf_core_enum_value_exists(enum cgroup_subsys_id, pids_cgrp_id))
		cgroup = set->subsys[bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id)]->cgroup;
	else if (old_hierarchy == OLD_HIERARCHY_MEMORY &&
		 bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		cgroup = set->subsys[bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id)]->cgroup;
	else
		return id;
	return cgroup->level == 0 ? id : TASK_CGROUP_PAIR | (id & 0x7fffffff) << 32 | (__u32)cgroup->kn->id;
}

/*
 * Whether the cgroup v2 freezer stops the task: kernel/cgroup/freezer.c. The bit `frozen` alone only means
 * that the freezer need not wait for the task: a stopped task has it, and so does the parent of a vfork(2).
 */
static __always_inline bool is_frozen(const struct task_struct *task)
{
	return bpf_core_field_exists(task->frozen) && (task->jobctl & JOBCTL_TRAP_FREEZE) != 0 &&
	       BPF_CORE_READ_BITFIELD(task, frozen) != 0;
}

/*
 * update_rq_clock() of kernel/sched/core.c adds to the clock first, and a CPU that has been idle for long
 * adds much at once. Read in this order the two never give a lag that is too small.
 */
static __always_inline __u64 clock_lag(const struct rq *queue)
{
	const __u64 task_clock = queue->clock_task;
	__u64 clock;

	barrier();
	clock = queue->clock;
	return clock > task_clock ? clock - task_clock : 0;
}

extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

/*
 * The same task, to be read only, by a pointer that the verifier does not trust: reading is as safe, and at
 * each pointer that is followed from a trusted one Linux 6.3 to 6.18 look several times through the names of
 * all types of the kernel (btf_nested_type_is_trusted() of kernel/bpf/btf.c), which is most of the time that
 * loading takes.
 */
static __always_inline struct task_struct *plain_task(struct task_struct *task)
{
	if (bpf_rdonly_cast)
		return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
	return task;
}

/*
 * Reads a member of a structure at an address that is only a number. What a task has may be freed at any
 * time: then the load gives 0, or what is there now. Before Linux 6.2 it takes a helper that lockdown
 * disables.
 */
#define FETCH(to, structure, address, member)                                                                \
	do {                                                                                                 \
		if (bpf_rdonly_cast)                                                                         \
			(to) = (__typeof__(to))((const struct structure *)bpf_rdonly_cast(                   \
							(void *)(address),                                   \
							bpf_core_type_id_kernel(struct structure)))          \
				       ->member;                                                             \
		else                                                                                         \
			bpf_probe_read_kernel(                                                               \
				&(to), sizeof(to),                                                           \
				(void *)((address) + bpf_core_field_offset(struct structure, member)));      \
	} while (0)

/* Reads 8 bytes: a type of the kernel that begins with so many does. */
#define FETCH_WORD(to, address) FETCH(to, prev_cputime, address, utime)

/*
 * Fills the registers of a user thread that sleeps: it entered the kernel by a system call or by an
 * exception, and its registers are those of that moment (syscall_get_nr() and syscall_get_arguments() of
 * each architecture). Only the trusted pointer is accepted.
 */
static __always_inline void fill_registers(struct task_struct *task, struct task_call *call)
{
	const struct pt_regs *registers = (const void *)bpf_task_pt_regs(task);

	if (bpf_core_field_exists(registers->orig_ax)) {
		call->flags |= TASK_CALL_READ;
		call->number = (__s32)registers->orig_ax;
		call->arguments[2] = registers->dx;
		if ((task->thread_info.status & STATUS_COMPAT) == 0) {
			call->arguments[0] = registers->di;
			call->arguments[1] = registers->si;
		} else {
			call->flags |= TASK_CALL_COMPAT;
			call->arguments[0] = (__u32)registers->bx;
			call->arguments[1] = (__u32)registers->cx;
			call->arguments[2] = (__u32)registers->dx;
		}
	} else if (bpf_core_field_exists(registers->syscallno)) {
		call->flags |= TASK_CALL_READ;
		if ((task->thread_info.flags & FLAG_32BIT) != 0)
			call->flags |= TASK_CALL_COMPAT;
		call->number = registers->syscallno;
		call->arguments[0] = registers->orig_x0;
		call->arguments[1] = registers->regs[1];
		call->arguments[2] = registers->regs[2];
	}
}

#endif
