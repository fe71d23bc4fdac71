/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_FILE_H
#define CTOP_THREAD_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "metric/reason.h"

enum {
	THREAD_PATH_SIZE = 48, /* "TID/NAME" with any name of source.def */
};

/*
 * Reads a file of procfs into `buffer`, replacing its content: such a file (fs/seq_file.c, single_open) hands
 * everything over in one read when there is room, so one that comes back short is the whole. Returns 0 or a
 * negative errno.
 */
int thread_file_read(int directory, const char *path, struct buffer *buffer);

/* "TID/name" into `path`, which is returned. */
const char *thread_file_path(char path[static THREAD_PATH_SIZE], uint32_t tid, const char *name);

/*
 * Why reading a file of a thread failed, from the negative errno. ENOENT means that the thread is gone or
 * that the kernel has no such file: `other_path` of a file that every thread has tells which (NULL: the
 * thread is gone).
 */
enum reason thread_file_reason(int negative_errno, int directory, const char *other_path);

#endif
