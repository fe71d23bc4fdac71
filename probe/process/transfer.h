/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TRANSFER_H
#define CTOP_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/reader.h"

/*
 * Reading many small pieces of another process's memory with few calls.
 */

/* The way to read memory. A zeroed one reads it in this process. */
struct transfer_way {
	struct reader *reader; /* that reads, since reading may hang; not owned */
	uint64_t calls;        /* to read so far */
	struct buffer answer;  /* of the reader */
	bool killable; /* SIGKILL has to end a wait for the address space of a process that we trace */
};

void transfer_way_release(struct transfer_way *way);

enum {
	TRANSFER_MAX = 1024, /* pieces of one call: UIO_MAXIOV, more is EINVAL */
};

/* The pieces of one call. A zeroed struct is empty. */
struct transfer {
	size_t count;
	struct iovec pieces[TRANSFER_MAX]; /* addresses in the other process */
	bool read[TRANSFER_MAX];           /* results: the whole piece was read */
};

void transfer_clear(struct transfer *transfer);

/* Adds `size` bytes at `address`. There must be room. Returns the number of the piece. */
size_t transfer_add(struct transfer *transfer, uint64_t address, size_t size);

/*
 * Reads all pieces of the process that `pid` (any of its threads) belongs to. They are placed in `buffer` one
 * after the other, each at the sum of the sizes before it, whether read or not. Returns 0 however many pieces
 * were read, or a negative errno when the process itself cannot be (-ESRCH, -EPERM; -ETIMEDOUT when its
 * address space is locked).
 */
int transfer_run(struct transfer *transfer, pid_t pid, void *buffer, struct transfer_way *way);

/*
 * Has `work` done by the reader of the way: one call instead of one for each piece that it reads about
 * process `pid`. Its answer has to be of `result_size` bytes. Returns what the work does, or -ETIMEDOUT or
 * -EIO.
 */
int transfer_call(struct transfer_way *way, pid_t pid, reader_work *work, const void *argument, size_t size,
		  void *result, size_t result_size);

/* Reads one piece. Returns 0 or a negative errno (-EFAULT when not all of it is there). */
int transfer_read(pid_t pid, uint64_t address, void *buffer, size_t size, struct transfer_way *way);

#endif
