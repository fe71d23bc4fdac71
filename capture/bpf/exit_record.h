/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_EXIT_RECORD_H
#define CTOP_BPF_EXIT_RECORD_H

#include "task_record.h"

/* Shared with the program that watches for ended tasks (capture/bpf/exits.bpf.c). Times are ns. */

enum {
	EXIT_KEYS_MAX = 16384,  /* names and cgroups that were active lately */
	EXIT_ENDING_MAX = 4096, /* tasks for which memory is taken in advance: 2 MiB */
	EXIT_TASKS_MAX = 65536, /* not free yet, or known and ended in one interval */
	EXIT_LISTED_MAX = 1024, /* entries of a list, a power of 2; for more the reader walks the maps */
};

/* The counters of a task's life. */
enum exit_amount {
	EXIT_RUN_TIME,
	EXIT_RUN_DELAY,
	EXIT_TIMESLICES,
	EXIT_VOLUNTARY,
	EXIT_NONVOLUNTARY,
	EXIT_MIGRATIONS,
	EXIT_MINOR_FAULTS,
	EXIT_MAJOR_FAULTS,
	EXIT_USER_TIME, /* as sampled by the clock's tick, like the next */
	EXIT_SYSTEM_TIME,
	EXIT_IO,                                           /* as in struct task_record */
	EXIT_DELAYS = EXIT_IO + TASK_IO_COUNT,             /* count and total of each enum task_delay */
	EXIT_AMOUNTS = EXIT_DELAYS + 2 * TASK_DELAY_COUNT, /* their number */
};

/* By what tasks that nobody has seen are put together. */
struct exit_key {
	char process[TASK_COMM_SIZE]; /* name of the leader */
	char thread[TASK_COMM_SIZE];
	__u64 cgroup; /* same encoding as in struct task_record */
	__u32 kernel; /* whether it is a kernel thread */
	__u32 reserved;
};

/* Since the program was attached. */
struct exit_sum {
#ifdef __bpf__
	struct bpf_spin_lock lock;
	__u32 listed; /* number of the reading for which the sum is in the list */
#else
	__u64 lock; /* with `listed`; neither means anything here */
#endif
	__u64 threads;
	__u64 processes; /* leaders among them */
	__u64 delayed;   /* those with a record of delays */
	__u64 amounts[EXIT_AMOUNTS];
	/* The process that started most of these processes, where one did, by the vote of Boyer and Moore:
	 * each of its own adds to its votes, each of another takes one. */
	char parent[TASK_COMM_SIZE];
	__u64 parent_votes;
};

/*
 * Identifies a task. Its ids would not do: in execve(2) a thread that is not the leader takes over the
 * leader's id and start, and leaves the leader its own id (de_thread() of fs/exec.c). The next one to do so
 * may get the memory of the one before.
 */
struct exit_identity {
	__u64 start_boottime;
	__u64 task;         /* address of its structure */
	__u64 self_exec_id; /* grows with each execve(2) */
};

/* A task that has ended: of the time when it did, or, once the kernel has freed it, all of its life. */
struct exit_thread {
	struct exit_key key;
	__u32 tgid, tid; /* in the initial pid namespace; as a leader whose id was taken over had them */
	__u32 delayed, is_free;
	__u32 replaced; /* it was a leader whose id was taken over */
	__u32 reserved;
	char parent[TASK_COMM_SIZE]; /* the process that started it, if it is one itself */
	__u64 ended_boottime; /* when it ended, or was freed where its end was not seen; CLOCK_BOOTTIME */
	__u64 previous_user_time, previous_system_time; /* prev_cputime, as for struct task_record */
	__u64 amounts[EXIT_AMOUNTS];
};

/*
 * A ring of EXIT_LISTED_MAX entries, to which the programs append and from which the reader takes. The entry
 * with number n is at n % EXIT_LISTED_MAX.
 */
struct exit_list {
	__u64 begin;      /* number of the first entry that the reader has not taken */
	__u64 end;        /* number of the next entry */
	__u32 overflowed; /* whether an entry found no room since the reader looked last */
	__u32 reserved;
};

/* The entry of a sum that has grown. */
struct exit_touched {
	struct exit_key key;
	__u64 is_complete; /* whether `key` is there */
};

#endif
