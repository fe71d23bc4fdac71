/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_POINTER_H
#define CTOP_THREAD_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "attach.h"
#include "probe/process/transfer.h"

/*
 * Thread pointers without stopping a thread. A C library that supports robust mutexes tells the kernel where
 * a thread's list of them begins; get_robust_list(2) gives that address to whoever may read the process
 * (PTRACE_MODE_READ_REALCREDS, kernel/futex/syscalls.c). In glibc it lies in struct pthread, at a fixed
 * distance from the thread pointer. musl registers no list before a robust mutex is used.
 */

/*
 * The head of the robust list of thread `tid`, 0 when it has registered none. Returns 0 or a negative errno
 * (-ESRCH, -EPERM).
 */
int thread_pointer_robust_head(uint32_t tid, uint64_t *ret_head);

/*
 * Finds the distance between head and thread pointer in an attachment that does not know it, from the memory
 * below `head`: on x86_64 a thread control block begins with a pointer to itself and has another after one
 * word. Reads through `pid`. Does nothing where a machine has no such mark, or the memory shows none.
 */
void thread_pointer_calibrate(struct attachment *attachment, pid_t pid, uint64_t head,
			      struct transfer_way *way);

/* Read together with a thread's counters, to prove that they are its own. */
struct thread_pointer_proof {
	size_t piece, size; /* in the transfer; bytes of the piece */
	uint64_t thread_pointer;
	uint32_t own_number; /* tid in the thread's own pid namespace */
};

/*
 * Adds the piece of the proof to `transfer`: the tid field below `head` and, on x86_64, everything from the
 * pointer of the control block to itself up to there (some 700 bytes, cheaper than a second piece).
 */
void thread_pointer_add_proof(struct transfer *transfer, uint64_t head, uint64_t thread_pointer,
			      uint32_t own_number, struct thread_pointer_proof *ret_proof);

/*
 * Does the proof hold? `bytes` points to its piece in the buffer that the transfer filled. The piece comes
 * after the counters, and the kernel reads in order: a thread that ended before them fails here.
 */
bool thread_pointer_is_proved(const struct transfer *transfer, const struct thread_pointer_proof *proof,
			      const char *bytes);

#endif
