/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SOURCE_H
#define CTOP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* A kernel interface that one read fills; the table is source.def. */
enum source {
#define SOURCE(id, ...) SOURCE_##id,
#include "source.def"
#undef SOURCE
	SOURCE_COUNT,
	SOURCE_NONE = SOURCE_COUNT,
};

enum {
	SOURCE_USER_ONLY = 1 << 0,
	SOURCE_LEADER_ONLY = 1 << 1,
	SOURCE_UNBOUNDED = 1 << 2,
};

struct source_entry {
	const char *name;
	enum source part_of; /* SOURCE_NONE when it is read by itself */
	const char *file;    /* name below /proc/PID/task/TID, "" when it is no file */
	unsigned int flags;
	const char *description;
};

extern const struct source_entry sources[SOURCE_COUNT];

/* A set of sources, a bit each. */
typedef uint32_t source_set;

static inline source_set source_bit(enum source source)
{
	return source == SOURCE_NONE ? 0 : (source_set)1 << source;
}

/* The source of that name (`length` bytes), or SOURCE_NONE. */
enum source source_find(const char *name, size_t length);

#endif
