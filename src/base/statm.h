/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STATM_H
#define CTOP_STATM_H

#include <stdbool.h>
#include <stdint.h>

/* The memory of a process, in pages: /proc/PID/statm (proc_pid_statm(5)), which takes no lock. */
struct statm {
	uint64_t size, resident, text;
};

/* Reads `path`, relative to `directory`. Returns 0 or a negative errno (-EINVAL: it does not look like that).
 */
int statm_read(int directory, const char *path, struct statm *ret_statm);

/*
 * Whether the process is in execve(2), which has made an address space without a program so far. Then it may
 * be closing files, which takes as long as a file system that does not answer, under exec_update_lock
 * (begin_new_exec() in fs/exec.c). Who reads its memory waits for that lock, and who reads `io` or one of its
 * links, or on some kernels `stat` (measured on 6.18.44).
 */
static inline bool statm_is_in_exec(const struct statm *statm)
{
	return statm->size != 0 && statm->text == 0;
}

#endif
