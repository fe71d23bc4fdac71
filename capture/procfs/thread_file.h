/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_FILE_H
#define CTOP_THREAD_FILE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/reader.h"
#include "metric/reason.h"
#include "metric/source.h"

enum {
	THREAD_PATH_SIZE = 48, /* "TID/NAME" with any name of source.def */
};

/*
 * Reads a file of procfs into `buffer`, replacing its content: such a file (fs/seq_file.c, single_open) hands
 * everything over in one read that has room for it, so a short read is the whole. Returns 0 or a
 * negative errno.
 */
int thread_file_read(int directory, const char *path, struct buffer *buffer);

/* "TID/name" into `path`, which is returned. */
const char *thread_file_path(char path[static THREAD_PATH_SIZE], uint32_t tid, const char *name);

/*
 * Reads the file of `source` of a thread into `buffer`. `tasks` is the task directory of its process, -1 when
 * that is gone; the proc root has the same files of processes. Returns REASON_READ, or why it was not read:
 * without such a file, stat tells whether the thread has ended or the kernel has none.
 */
enum reason thread_file_read_source(int tasks, uint32_t tid, enum source source, struct buffer *buffer);

/*
 * The same for a file that waits for a lock, such as that of the process's address space: `reader`, which may
 * be NULL, reads it. REASON_NOT_IN_TIME when it is.
 */
enum reason thread_file_read_locked(struct reader *reader, int tasks, uint32_t tid, enum source source,
				    struct buffer *buffer);

#endif
