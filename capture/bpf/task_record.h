/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_TASK_RECORD_H
#define CTOP_BPF_TASK_RECORD_H

#include <linux/types.h>

/*
 * A task as the kernel keeps it, handed over by BPF programs and turned into the numbers that procfs and
 * taskstats print (task_decode.h). A record is a struct task_record, then the requested parts, in this order.
 * Times are ns.
 */

/* The parts behind struct task_record, on request. */
enum {
	TASK_PART_DELAYS = 1 << 0,     /* struct task_delays */
	TASK_PART_STATISTICS = 1 << 1, /* struct task_statistics */
	TASK_PART_CALL = 1 << 2,       /* struct task_call */
};

/* Flags of a record. */
enum {
	TASK_RUNNING = 1 << 0,    /* on a CPU */
	TASK_HAS_MEMORY = 1 << 1, /* it has an address space of its own */
	TASK_EXT = 1 << 2,        /* sched_ext schedules it */
	TASK_IN_FREEZER = 1 << 3, /* the freezer of cgroup v2 stops it */
	TASK_ON_QUEUE = 1 << 4,   /* on a run queue, where one that sleeps may stay (Linux 6.12) */
	TASK_THROTTLED = 1 << 5,  /* runnable, and the bandwidth limit of its cgroup keeps it from a CPU */
};

/* Marks: how a task compares with the pass before. */
enum {
	TASK_STILL, /* unchanged: its record is from an earlier pass */
	TASK_WAITS, /* unchanged, but it waits for a CPU or in D, and the wait grows */
	TASK_MOVED, /* its record is new */
	TASK_NEW,   /* not recognised from the pass before: its record is new */
};

/* The v1 controllers whose hierarchy tells containers apart, if the host has them on v1. */
enum {
	OLD_HIERARCHY_NONE,
	OLD_HIERARCHY_PIDS,
	OLD_HIERARCHY_MEMORY,
};

/* Marks a `cgroup` that holds the lower bits of a v2 and a v1 cgroup id. No single id is this large. */
#define TASK_CGROUP_PAIR (1ULL << 63)

/* Facts about this kernel, the same in every record: task_kernel of the objects. */
enum {
	TASK_KERNEL_SLICE = 1 << 0,           /* se.slice */
	TASK_KERNEL_EXT = 1 << 1,             /* sched_ext */
	TASK_KERNEL_IO = 1 << 2,              /* CONFIG_TASK_IO_ACCOUNTING */
	TASK_KERNEL_CHARS = 1 << 3,           /* CONFIG_TASK_XACCT */
	TASK_KERNEL_DELAYS = 1 << 4,          /* CONFIG_TASK_DELAY_ACCT */
	TASK_KERNEL_STATISTICS = 1 << 5,      /* CONFIG_SCHEDSTATS */
	TASK_KERNEL_RUN_DELAY_RANGE = 1 << 6, /* max_run_delay, min_run_delay */
	TASK_KERNEL_DELAY_RANGES = 1 << 7,    /* …_delay_max, …_delay_min */
	TASK_KERNEL_IRQ_DELAY = 1 << 8,
	TASK_KERNEL_FORCE_IDLE = 1 << 9, /* CONFIG_SCHED_CORE */
	TASK_KERNEL_WPCOPY_DELAY = 1 << 10,
	TASK_KERNEL_RESIDENT = 1 << 11,       /* mm->rss_stat of a kind that is known */
	TASK_KERNEL_KNOWN = 1 << 12,          /* the others are true or not */
	TASK_KERNEL_RESIDENT_EXACT = 1 << 13, /* `resident` has what each CPU counts for itself */
};

/* How a run of a program that stores tasks ended. */
enum {
	WALK_DONE,       /* all are stored */
	WALK_UNFINISHED, /* not all yet */
	WALK_LOST,       /* the process in which it was to go on is not there any more */
	WALK_FULL,       /* there is no room for the next one */
};

enum {
	TASK_COMM_SIZE = 16,             /* TASK_COMM_LEN of include/linux/sched.h */
	TASK_KERNEL_THREAD = 0x00200000, /* PF_KTHREAD of include/linux/sched.h */
	TASK_IO_WORKER = 0x10,           /* PF_IO_WORKER: its registers are a copy of its creator's */
	TASK_FROZEN_BEFORE =
		0x00010000, /* PF_FROZEN before 6.1; later kernels set this bit only on kernel threads */
	TASK_IO_COUNT = 7,  /* rchar, wchar, syscr, syscw, read, written, cancelled bytes */
};

struct task_record {
	/*
	 * The signs: stamps that tell whether a task has moved, and everything that others can change of a
	 * task that stands still. A pass compares the signs with those of the pass before (TASK_STILL).
	 */
	__u64 task;      /* address of the structure: no two tasks that live share it */
	__u32 tgid, tid; /* in the initial pid namespace */
	union {
		char comm[TASK_COMM_SIZE];
		__u64 comm_words[TASK_COMM_SIZE / 8];
	};
	__u64 cgroup;       /* id of its v2 cgroup, or TASK_CGROUP_PAIR and two ids */
	__u64 cpus;         /* hash of cpus_mask */
	__u64 last_queued;  /* clock of its run queue; 0 while it does not wait for a CPU */
	__u64 last_arrival; /* when it last got a CPU, the same clock */
	__u64 exec_start;   /* the run queue's task clock, when its run time was last brought up to date */
	__u64 slice;
	__u64 previous_user_time, previous_system_time; /* that somebody was shown; scaled */
	__u64 hiwater_rss, hiwater_vm;                  /* pages */
	__u32 task_flags;                               /* PF_… of include/linux/sched.h */
	__u32 state, exit_state;
	__u32 cpu;
	__u32 thread_count; /* of a leader: threads of its process; else 0 */
	__u32 policy, rt_priority;
	__s32 priority; /* as stat prints it */
	__s32 nice;
	__u32 flags;   /* TASK_… */
	__u32 exec_id; /* of a leader: lower half of self_exec_id, which grows with each execve(2); else 0 */

	__u32 uid;        /* only the task itself can change it */
	__u32 pass;       /* number of the pass that stored this record; 0 if an iterator handed it over */
	__u32 has_delays; /* 1 if delay accounting has a record of the task */
	/* Pages of the address space, read in each pass: for the leader, or for all threads once it ended. */
	__u64 resident;
	__u64 clock_lag; /* by which the task clock of its run queue was behind the clock */

	/* The rest changes only when the task runs, begins to wait or wakes. */
	__u64 start_boottime;
	__u64 thread_pointer; /* 0 where the architecture is not known */
	__u64 run_time, run_delay, timeslices;
	__u64 voluntary, nonvoluntary;
	__u64 migrations;
	__u64 minor_faults, major_faults;
	__u64 user_time, system_time; /* not scaled */
	__u64 arrival_run_time;       /* run_time at last_arrival; of the fair class only */
	__u64 io[TASK_IO_COUNT];
};

/* The signs but for the task and its name: ENTRY(member). */
#define TASK_SIGNS(ENTRY)                                                                                    \
	ENTRY(tgid)                                                                                          \
	ENTRY(tid)                                                                                           \
	ENTRY(cgroup)                                                                                        \
	ENTRY(cpus)                                                                                          \
	ENTRY(last_queued)                                                                                   \
	ENTRY(last_arrival)                                                                                  \
	ENTRY(exec_start)                                                                                    \
	ENTRY(slice)                                                                                         \
	ENTRY(previous_user_time)                                                                            \
	ENTRY(previous_system_time)                                                                          \
	ENTRY(hiwater_rss)                                                                                   \
	ENTRY(hiwater_vm)                                                                                    \
	ENTRY(task_flags)                                                                                    \
	ENTRY(state)                                                                                         \
	ENTRY(exit_state)                                                                                    \
	ENTRY(cpu)                                                                                           \
	ENTRY(thread_count)                                                                                  \
	ENTRY(policy)                                                                                        \
	ENTRY(rt_priority)                                                                                   \
	ENTRY(priority)                                                                                      \
	ENTRY(nice)                                                                                          \
	ENTRY(flags)                                                                                         \
	ENTRY(exec_id)

/* A task of a pass, in the order in which tasks were met. */
struct task_place {
	__u32 slot; /* index of the record and of its parts */
	__u32 mark; /* TASK_STILL … */
};

/* The delays of struct task_delay_info: ENTRY(id, name there, TASK_KERNEL_… it needs besides _DELAYS). */
#define TASK_DELAYS(ENTRY)                                                                                   \
	ENTRY(BLKIO, blkio, 0)                                                                               \
	ENTRY(SWAPIN, swapin, 0)                                                                             \
	ENTRY(FREEPAGES, freepages, 0)                                                                       \
	ENTRY(THRASHING, thrashing, 0)                                                                       \
	ENTRY(COMPACT, compact, 0)                                                                           \
	ENTRY(WPCOPY, wpcopy, TASK_KERNEL_WPCOPY_DELAY)                                                      \
	ENTRY(IRQ, irq, TASK_KERNEL_IRQ_DELAY)

enum task_delay {
#define TASK_DELAY_ID(id, name, needs) TASK_DELAY_##id,
	TASK_DELAYS(TASK_DELAY_ID)
#undef TASK_DELAY_ID
	TASK_DELAY_COUNT,
};

/* Members of struct sched_statistics that are handed on unchanged: ENTRY(name there, metric). */
#define TASK_STATISTICS(ENTRY)                                                                               \
	ENTRY(wait_max, WAIT_MAX)                                                                            \
	ENTRY(wait_count, WAIT_COUNT)                                                                        \
	ENTRY(wait_sum, WAIT_SUM)                                                                            \
	ENTRY(iowait_count, IOWAIT_COUNT)                                                                    \
	ENTRY(iowait_sum, IOWAIT_SUM)                                                                        \
	ENTRY(sleep_max, SLEEP_MAX)                                                                          \
	ENTRY(block_max, BLOCK_MAX)                                                                          \
	ENTRY(sum_block_runtime, BLOCK_SUM)                                                                  \
	ENTRY(exec_max, EXEC_MAX)                                                                            \
	ENTRY(slice_max, SLICE_MAX)                                                                          \
	ENTRY(nr_failed_migrations_affine, NR_FAILED_MIGRATIONS_AFFINE)                                      \
	ENTRY(nr_failed_migrations_running, NR_FAILED_MIGRATIONS_RUNNING)                                    \
	ENTRY(nr_failed_migrations_hot, NR_FAILED_MIGRATIONS_HOT)                                            \
	ENTRY(nr_forced_migrations, NR_FORCED_MIGRATIONS)                                                    \
	ENTRY(nr_wakeups, NR_WAKEUPS)                                                                        \
	ENTRY(nr_wakeups_sync, NR_WAKEUPS_SYNC)                                                              \
	ENTRY(nr_wakeups_migrate, NR_WAKEUPS_MIGRATE)                                                        \
	ENTRY(nr_wakeups_local, NR_WAKEUPS_LOCAL)                                                            \
	ENTRY(nr_wakeups_remote, NR_WAKEUPS_REMOTE)                                                          \
	ENTRY(nr_wakeups_affine, NR_WAKEUPS_AFFINE)                                                          \
	ENTRY(nr_wakeups_affine_attempts, NR_WAKEUPS_AFFINE_ATTEMPTS)

#define TASK_STATISTIC_MEMBER(name, metric) __u64 name;

struct task_delays {
	__u64 run_delay_max, run_delay_min;
	struct {
		__u64 count, total, max, min;
	} of[TASK_DELAY_COUNT];
};

struct task_statistics {
	TASK_STATISTICS(TASK_STATISTIC_MEMBER)
	__u64 sum_sleep_runtime, core_forceidle_sum;
};

/* Flags of a call. */
enum {
	TASK_CALL_READ = 1 << 0,      /* `number` and `arguments` are known */
	TASK_CALL_COMPAT = 1 << 1,    /* by the 32-bit ABI of the architecture */
	TASK_CALL_FILE = 1 << 2,      /* the first argument is a descriptor, and its file is known */
	TASK_CALL_IN_IOWAIT = 1 << 3, /* task_struct.in_iowait: it waits for block I/O, or for an io_uring */
	TASK_CALL_MOVED = 1 << 4, /* the task got a CPU after its signs were read; nothing else is known */
	TASK_CALL_LOCK = 1 << 5,  /* the task is in D for a kernel lock, which is known instead of the file */
};

enum {
	TASK_CALL_ARGUMENTS = 3,
	TASK_CALL_LIMIT = 512,    /* no ABI has a call with a number from here on; a power of two */
	TASK_FILE_NAME_SIZE = 24, /* a longer name is cut */
};

/* Kinds of kernel locks. */
enum task_lock {
	TASK_LOCK_MUTEX,
	TASK_LOCK_RWSEM,      /* held by a writer, or free */
	TASK_LOCK_RWSEM_READ, /* `owner` is the last of its readers, and may have ended */
	TASK_LOCK_SEMAPHORE,  /* `owner` is the last task that took it, and may have ended */
	TASK_LOCK_COUNT,
};

/*
 * The system call that a task sleeps in, by the registers with which it entered the kernel, and the file
 * behind its first argument. Known of user threads that sleep; of others it has flags and the lock
 * alone.
 */
struct task_call {
	__u16 flags;  /* TASK_CALL_… */
	__u16 mode;   /* i_mode of the file; without a format of anonymous inodes, in some kernels */
	__s32 number; /* -1: it entered the kernel by an exception */
	__u64 arguments[TASK_CALL_ARGUMENTS];
	__u64 inode;
	__u32 magic;  /* of the file's superblock: include/uapi/linux/magic.h */
	__u32 device; /* i_rdev of a device file, as the kernel encodes it; AF_… of a socket; else 0 */
	union {
		/* Of a file that is no socket: the beginning of its name; it need not end with NUL. */
		char name[TASK_FILE_NAME_SIZE];
		__u64 name_words[TASK_FILE_NAME_SIZE / 8];
		/* Of a socket. */
		struct {
			__u64 remote_address[2]; /* in network byte order; IPv4 in the first four bytes */
			__u16 local_port;        /* host byte order */
			__u16 remote_port;       /* network byte order */
			__u32 peer; /* process at the other end of a unix socket, in the initial pid namespace
				     */
		};
		/* A kernel lock. */
		struct {
			__u64 owner; /* address of a task, 0: none, or unknown */
			__u32 owner_tgid, owner_tid;
			__u32 lock; /* enum task_lock */
		};
	};
};

/* A set of system calls, by number, of the kernel's own ABI [0] and of its 32-bit one [1]. */
struct task_call_set {
	__u64 bits[2][TASK_CALL_LIMIT / 64];
};

/* A record with all parts. */
struct task_whole {
	struct task_record record;
	struct task_delays delays;
	struct task_statistics statistics;
	struct task_call call;
};

#endif
