/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SOURCE_H
#define CTOP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feature.h"

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
	SOURCE_EXPENSIVE = 1 << 2,
	SOURCE_PER_THREAD = 1 << 3,
	SOURCE_OF_ACTIVITY = 1 << 4,
	SOURCE_BY_ID = 1 << 5,
};

struct source_entry {
	const char *name;
	enum source part_of; /* SOURCE_NONE when it is read by itself */
	const char *file;    /* name below /proc/PID/task/TID, "" when it is no file */
	unsigned int flags;
	enum feature needs, rights; /* or FEATURE_NONE */
	const char *description;
};

extern const struct source_entry sources[SOURCE_COUNT];

/* A set of sources, one bit each. */
typedef uint32_t source_set;

static inline source_set source_bit(enum source source)
{
	return source == SOURCE_NONE ? 0 : (source_set)1 << source;
}

/* The sources whose flags have all of `flags`. */
source_set source_with_flags(unsigned int flags);

/* The source that is read for `source`: itself, or the one that it is part of. */
static inline enum source source_whole(enum source source)
{
	return sources[source].part_of == SOURCE_NONE ? source : sources[source].part_of;
}

/* Whether a source is `other` or part of it. */
static inline bool source_is_of(enum source source, enum source whole)
{
	return source == whole || (source != SOURCE_NONE && sources[source].part_of == whole);
}

/* The source of that name (`length` bytes), or SOURCE_NONE. */
enum source source_find(const char *name, size_t length);

#endif
