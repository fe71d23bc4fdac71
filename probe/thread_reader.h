/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_READER_H
#define CTOP_THREAD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach.h"
#include "base/hash.h"
#include "probe.h"
#include "probe/process/transfer.h"
#include "stop.h"

/* The threads of one attached process whose counters were found. A zeroed struct is empty. */
struct known_threads {
	struct hash_map by_tid; /* index in `threads` */
	struct known_thread *threads;
	size_t count, capacity;
	size_t stayed; /* of them, when those that had ended were last forgotten */
};

void known_threads_clear(struct known_threads *known);
void known_threads_release(struct known_threads *known);

/* Memory for reading, shared by all processes, and what one reading needs to know. */
struct thread_reader {
	bool allow_stop;
	struct probe_counts counts; /* but for transfers */
	struct transfer_way way;
	struct thread_reader_memory *memory; /* owned */
};

void thread_reader_initialise(struct thread_reader *reader, bool allow_stop, struct reader *memory_reader);
void thread_reader_release(struct thread_reader *reader);

/*
 * Reads `count` threads by the rules of probe_read(). Returns 0, -EINTR by `stop_flag`, or -ESRCH if the
 * process is gone or now runs another program (then no result holds and `known` is empty), -EPERM, or
 * -ETIMEDOUT while its address space is locked.
 */
int thread_reader_read(struct thread_reader *reader, struct attachment *attachment,
		       struct known_threads *known, struct probe_thread *threads, size_t count,
		       const volatile int *stop_flag);

#endif
