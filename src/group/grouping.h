/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GROUPING_H
#define CTOP_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "snapshot/snapshot.h"

/* What threads are grouped by. */
enum axis {
	AXIS_PROCESS,      /* pattern of the process name */
	AXIS_CGROUP,       /* flattened and normalised cgroup path */
	AXIS_THREAD,       /* pattern of the thread name */
	AXIS_THREAD_EXACT, /* thread name as it is */
	AXIS_ALL,          /* cgroup, process and thread pattern together */
	AXIS_COUNT,
};

struct axis_entry {
	const char *name;   /* "pcomm": in options, TSV and files */
	const char *word;   /* "process": on the screen, and a second spelling in options */
	const char *header; /* column header of reports */
	const char *description;
};

extern const struct axis_entry axes[AXIS_COUNT];

/* The axis of that name or word, or AXIS_COUNT. */
enum axis axis_find(const char *name);

struct grouping_options {
	enum axis axis;
	bool keep_thread_names;     /* --no-thread-normalize */
	bool keep_cgroup_names;     /* --no-cg-normalize */
	const char *const *flatten; /* --cgroup-flatten globs, in order */
	size_t flatten_count;
};

/* Whether two make the same groups of the same threads. */
bool grouping_options_agree(const struct grouping_options *a, const struct grouping_options *b);

/*
 * Patterns that once had two threads in a live session and so remain patterns (singleton revert is not
 * applied to them). A zeroed struct is empty.
 */
struct pattern_memory {
	struct string_pool patterns[AXIS_COUNT];
};

/* Forgets all of them. */
void pattern_memory_release(struct pattern_memory *memory);

/* Group keys of the triples of one or more snapshots, taken together. */
struct grouping;

/*
 * Computes the group of every triple of `snapshots`. Singleton revert counts threads over all of them.
 * `memory` may be NULL; otherwise patterns with two threads are noted there, and those already noted remain
 * patterns. The snapshots must outlive the grouping. The caller releases it with grouping_release().
 */
struct grouping *grouping_create(const struct grouping_options *options,
				 const struct snapshot *const *snapshots, size_t snapshot_count,
				 struct pattern_memory *memory);
void grouping_release(struct grouping *grouping);

/* Number of distinct groups; group ids are 0 … count - 1, in ascending byte order of their keys. */
size_t grouping_count(const struct grouping *grouping);

/* Group of a triple of the `snapshot`-th snapshot. */
uint32_t grouping_of_triple(const struct grouping *grouping, size_t snapshot, uint32_t triple);

/* Key of a group, NUL-terminated, owned by the grouping; on AXIS_ALL three parts with a NUL between. */
const char *grouping_key(const struct grouping *grouping, uint32_t group, size_t *ret_length);

/* Group whose key is these bytes, or UINT32_MAX. */
uint32_t grouping_find(const struct grouping *grouping, const char *key, size_t length);

#endif
