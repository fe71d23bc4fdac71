/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_FUTEX_RECORD_H
#define CTOP_BPF_FUTEX_RECORD_H

#include "task_record.h"

/* Shared by the programs that measure waits at futexes, their reader, and what decodes system calls. */

enum {
	FUTEX_RECORDS = 4096, /* futexes of one reading */
};

/* How a system call waits at a futex. */
enum futex_call {
	FUTEX_CALL_NONE,      /* it does not, or at several that are listed in user memory */
	FUTEX_CALL_ADDRESS,   /* at the address in its first argument */
	FUTEX_CALL_OPERATION, /* the same; then come the operation and the expected value */
	FUTEX_CALL_RESUMED,   /* as the call that it resumes, whose arguments are still in the registers */
};

/* The enum futex_call of system calls by number, of the kernel's own ABI [0] and of its 32-bit one [1]. */
struct futex_calls {
	__u8 of[2][TASK_CALL_LIMIT];
};

/* Waits at a futex since the last reading; times in ns. */
struct futex_sums {
	__u64 waits;   /* that ended */
	__u64 time;    /* of all threads, with unfinished waits */
	__u64 longest; /* from its beginning, which may be before the last reading */
	__u64 is_lock; /* futex_record_is_lock() of the last wait */
};

/* Operations of futex(2): include/uapi/linux/futex.h. */
enum {
	FUTEX_COMMAND_MASK = 0x7f,
	FUTEX_OP_WAIT = 0,
	FUTEX_OP_LOCK_PI = 6,
	FUTEX_OP_WAIT_BITSET = 9,
	FUTEX_OP_LOCK_PI2 = 13,
	LOCKED_WITH_WAITERS = 2, /* value of a contended mutex in glibc and Rust */
};

/*
 * Whether futex(2) waits for a value that only a locked mutex has. The mutexes of glibc and Rust have 2,
 * those of musl the owner's thread id and the top bit; -1 is a semaphore or rwlock of musl. It is rarely
 * wrong, but misses locks of Java, Go and Python.
 */
static inline _Bool futex_record_is_lock(__u64 operation, __u32 value)
{
	switch (operation & FUTEX_COMMAND_MASK) {
	case FUTEX_OP_LOCK_PI:
	case FUTEX_OP_LOCK_PI2:
		return 1;
	case FUTEX_OP_WAIT:
		return value == LOCKED_WITH_WAITERS || (value >> 31 != 0 && value != 0xffffffff);
	case FUTEX_OP_WAIT_BITSET:
		return value == LOCKED_WITH_WAITERS;
	default:
		return 0;
	}
}

#endif
