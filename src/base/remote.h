/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REMOTE_H
#define CTOP_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "child.h"
#include "error.h"

/*
 * Calls that wait for a lock of another process, made in a process of their own: the address space of a
 * process is locked while somebody changes it there (mmap_lock of include/linux/mm_types.h), and that takes
 * as long as a file system that does not answer: mmap(2) over a page that was written waits until the page is
 * with the server (fuse_vma_close() in fs/fuse/file.c). Who reads such a process's memory, or files of /proc
 * that are made of it, waits too: for maps and smaps_rollup so that SIGKILL ends it
 * (mmap_read_lock_killable() in fs/proc/task_mmu.c), in process_vm_readv(2) so that nothing does
 * (mmap_read_lock() in mm/process_vm_access.c; measured on 6.18).
 *
 * So a call that takes too long is left alone, with its process, and another process makes the next ones.
 * What was asked about is then left in peace for a while: calls about it fail at once.
 *
 * One object belongs to one thread. A call costs some 15 us more than one that is made directly.
 */
struct remote;

/*
 * What a process of ours does for remote_call(): with what it was given, `answer` empty. Returns 0 or a
 * negative errno. It may allocate; nothing that it changes is seen by who asks, but for the answer.
 */
typedef int remote_work(int directory, const void *argument, size_t size, struct buffer *answer);

/*
 * Starts the supervisor, which forks the processes that make the calls; its caller has one thread. With
 * `use_rights` what the user may not read is read with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, if they are
 * permitted. Returns 0 or a negative errno with a sentence. All of them end when this process does, those
 * that hang as soon as the kernel lets them; they hold nothing open that is not their own.
 */
int remote_start(bool use_rights, struct remote **ret_remote, struct error *error);

/* Ends them. NULL is allowed. */
void remote_stop(struct remote *remote);

/*
 * Does `work`, a function of this program, about process `about` elsewhere, with the open `directory` (-1:
 * none) and `size` bytes (at most REMOTE_ARGUMENT_MAX) at `argument`. Replaces the content of `ret_answer`.
 * Returns what the work does; -ETIMEDOUT when it has not come back in time, or has not just now; -EIO when
 * nobody is there to do it. With `remote` NULL it is done here.
 */
int remote_call(struct remote *remote, pid_t about, remote_work *work, int directory, const void *argument,
		size_t size, struct buffer *ret_answer);

enum {
	REMOTE_ARGUMENT_MAX = 64 * 1024,
};

/* The CPU time that calls have taken which came back, in ns. 0 for NULL. */
uint64_t remote_cpu_ns(const struct remote *remote);

/* Whether `pid` is one of the processes. */
bool remote_owns(const struct remote *remote, pid_t pid);

#endif
