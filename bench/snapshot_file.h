/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BENCH_SNAPSHOT_FILE_H
#define CTOP_BENCH_SNAPSHOT_FILE_H

#include <stdbool.h>

#include "snapshot/snapshot.h"

/* Snapshots that are generated, and what their files cost at least. */

enum {
	PROCESS_THREADS = 100, /* of a generated process */
};

/* A formatted string, interned into the snapshot. */
uint32_t intern(struct snapshot *snapshot, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct generation {
	size_t threads;
	uint64_t limit;     /* counters are below it */
	unsigned int share; /* of so many counters one is not zero */
	unsigned int kind;  /* for `name` */
	struct triple (*name)(struct snapshot *snapshot, unsigned int kind, size_t thread);
};

/* A snapshot with every column filled, the same at each start of the program; the caller finishes it. */
struct snapshot *snapshot_generate(const struct generation *wanted);

/*
 * Unpacks a snapshot file from the offset of `file`, with `check` also has its JSON checked, and keeps
 * nothing. Ends the benchmark when it is no such file.
 */
void unpack_file(int file, bool check);

#endif
