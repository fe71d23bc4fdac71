/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_READER_H
#define CTOP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"

/*
 * Calls that may hang, made in a process of their own. The address space of a process is locked while
 * somebody changes it there (mmap_lock of include/linux/mm_types.h), and that takes as long as a file system
 * that does not answer: mmap(2) over a page that was written waits until the page is with the server
 * (fuse_vma_close() in fs/fuse/file.c). Whoever reads such a process's memory, or files of /proc that are
 * made of it, waits too: for maps and smaps_rollup so that SIGKILL ends it (mmap_read_lock_killable() in
 * fs/proc/task_mmu.c), in process_vm_readv(2) so that nothing does (mmap_read_lock() in
 * mm/process_vm_access.c; measured on 6.18). So do readers of a process in execve(2) (statm.h). The services
 * that know the names of users (nsswitch.conf(5)) may hang as well.
 *
 * A call that takes too long is left alone with its process, and another process makes the next ones. Calls
 * about the same target then fail at once for a while.
 *
 * The supervisor (supervisor.h) forks these processes when they are needed. One of them waits for the next
 * call of anybody, and ends after a minute without any. A call costs some 15 us more than one that is made
 * directly.
 */

/* Somebody who has calls made. Belongs to one thread. */
struct reader;

struct reader_options {
	/*
	 * The capabilities that calls are made with if they are permitted, out of READER_RIGHTS: a set of
	 * RIGHTS_BIT() (rights.h). Root keeps all of its own.
	 */
	uint64_t rights;
	uint64_t patience_ns; /* for a call that does not run; 0: 100 ms, enough for a lock that nobody holds
			       */
	uint64_t pause_ns;    /* until a target that hung is asked about again, at first; 0: 5 s */
	/* Calls are made without any right, root's neither, by a process that then ends: for foreign code. */
	bool is_foreign;
};

#define READER_RIGHTS                                                                                        \
	(RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_SYS_ADMIN) | RIGHTS_BIT(CAP_DAC_READ_SEARCH))

/* NULL where no supervisor was started: then calls are made in the thread that asks for them. */
struct reader *reader_create(const struct reader_options *options);

/* Ends the processes that hang, as soon as the kernel lets them. NULL is allowed. */
void reader_release(struct reader *reader);

/*
 * The work of a call, with `answer` empty at first. Returns 0 or a negative errno. It may
 * allocate; nothing that it changes is seen by whoever asks, but for the answer.
 */
typedef int reader_work(int directory, const void *argument, size_t size, struct buffer *answer);

enum {
	READER_ARGUMENT_MAX = 64 * 1024,
};

/*
 * Does `work`, a function of this program, about process `about` (or another number that stands for what may
 * hang) elsewhere, with the open `directory` (-1: none) and `size` bytes (at most READER_ARGUMENT_MAX) at
 * `argument`. Replaces the content of `ret_answer`. Returns what the work does; -ETIMEDOUT when it has not
 * come back in time, or has not just now; -EIO when nobody is there to do it. With `reader` NULL it is done
 * here.
 */
int reader_call(struct reader *reader, pid_t about, reader_work *work, int directory, const void *argument,
		size_t size, struct buffer *ret_answer);

/*
 * Does `work` as reader_call() does, for a caller that asks once about a file that the user names: with the
 * user's own rights, and with any open `descriptor` (-1: none). Returns what the work does, or -ETIMEDOUT
 * with an empty answer when the work neither ends nor runs after `patience_ns`. If no process can do the
 * work, or the process is killed, this thread does it from the beginning.
 */
int reader_call_once(uint64_t patience_ns, reader_work *work, int descriptor, const void *argument,
		     size_t size, struct buffer *ret_answer);

/* The CPU time that calls have taken which came back, in ns. 0 for NULL. */
uint64_t reader_cpu_ns(const struct reader *reader);

#endif
