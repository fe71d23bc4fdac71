/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GROUPING_H
#define CTOP_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "name_rules.h"
#include "snapshot/snapshot.h"

/* The property that threads are grouped by. */
enum axis {
	AXIS_PROCESS,      /* pattern of the process name */
	AXIS_CGROUP,       /* flattened and normalised cgroup path */
	AXIS_CONTAINER,    /* container, else systemd unit */
	AXIS_THREAD,       /* pattern of the thread name */
	AXIS_THREAD_EXACT, /* thread name as it is */
	AXIS_ALL,          /* cgroup, process and thread pattern together */
	AXIS_PID,          /* each process by itself */
	AXIS_USER,         /* real user id */
	AXIS_WAIT,         /* what it waits for now */
	AXIS_HOST,         /* all threads of the host together */
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

/* Whether its groups are not known from the names of threads: threads that ended have one of their own. */
static inline bool axis_is_by_thread(enum axis axis)
{
	return axis == AXIS_PID || axis == AXIS_USER || axis == AXIS_WAIT;
}

struct grouping_options {
	enum axis axis;
	bool keep_thread_names;     /* --no-thread-normalize */
	bool keep_cgroup_names;     /* --no-cg-normalize */
	bool fold_containers;       /* those of one template are one group of AXIS_CONTAINER */
	const char *const *flatten; /* --cgroup-flatten globs, in order */
	size_t flatten_count;
	/* NULL: ctop's, or ktstr's where one of the snapshots was not made by ctop */
	const struct name_rules *rules;
};

/* Whether two make the same groups of the same threads. */
bool grouping_options_agree(const struct grouping_options *a, const struct grouping_options *b);

/* Patterns of names, worked out once for all rounds that name alike (snapshot.names_serial). */
struct name_patterns {
	uint64_t names_serial; /* that of the rounds; 0 before the first round */
	const struct name_rules *rules;
	struct string_pool texts; /* the patterns, and keys of cgroups */
	uint32_t *of_name;        /* by string id: id in `texts`, UINT32_MAX until needed */
	size_t count;             /* strings that `of_name` has */
};

/*
 * The patterns that a live session remembers from round to round. A pattern that once stood for two names (by
 * ktstr's rules: had two threads) remains a pattern, and the patterns of known names are not worked out
 * again. A zeroed struct is empty.
 */
struct pattern_memory {
	struct string_pool patterns[AXIS_COUNT];
	struct name_patterns known;
};

/* Forgets all of them. */
void pattern_memory_release(struct pattern_memory *memory);

/* Group keys of the threads of one or more snapshots, taken together. */
struct grouping;

/*
 * Computes the group of every thread of `snapshots`. Each group has a key and a label. The key of a name is
 * its pattern, and the label of a pattern that stands for one name only is that name, counted over all
 * snapshots; name_rules.h has what else the rules decide. `memory` may be NULL; otherwise patterns that are
 * shown are noted there, and those already noted are shown. A snapshot with threads may have triples that no
 * thread has any more: they get no group. The triples of a snapshot without threads belong to threads that
 * ended; on the axes of axis_is_by_thread() they have one group. The snapshots must outlive the grouping. The
 * caller releases it with grouping_release().
 */
struct grouping *grouping_create(const struct grouping_options *options,
				 const struct snapshot *const *snapshots, size_t snapshot_count,
				 struct pattern_memory *memory);
void grouping_release(struct grouping *grouping);

/* The rules that its groups were made by. */
const struct name_rules *grouping_rules(const struct grouping *grouping);

/* Number of distinct groups; group ids are 0 … count - 1, in ascending byte order of their keys. */
size_t grouping_count(const struct grouping *grouping);

/*
 * The groups of the `snapshot`-th snapshot: by thread where `*ret_by_thread`, else by triple. Owned by the
 * grouping. It is by triple of a snapshot without threads in any case.
 */
const uint32_t *grouping_map(const struct grouping *grouping, size_t snapshot, bool *ret_by_thread);

/*
 * Group of a triple of the `snapshot`-th snapshot, UINT32_MAX for one that no thread has; not for threads on
 * an axis of axis_is_by_thread().
 */
uint32_t grouping_of_triple(const struct grouping *grouping, size_t snapshot, uint32_t triple);

/* Group of a thread, by its index in the `snapshot`-th snapshot, which is `of`. */
uint32_t grouping_of_thread(const struct grouping *grouping, size_t snapshot, const struct snapshot *of,
			    size_t thread);

/*
 * Key of a group, NUL-terminated, owned by the grouping. On AXIS_ALL it has three parts separated by NULs.
 * Keys of made-up names have a mark: see struct name_text, or a fourth part on AXIS_ALL.
 */
const char *grouping_key(const struct grouping *grouping, uint32_t group, size_t *ret_length);

/*
 * The text shown for a group, owned by the grouping: `4120 engine` for a process, the name of a user where it
 * is known by now. Parts as in the key.
 */
const char *grouping_label(const struct grouping *grouping, uint32_t group, size_t *ret_length);

/* The id of the process that a group of AXIS_PID is; 0 for any other group. */
uint32_t grouping_pid(const struct grouping *grouping, uint32_t group);

/* Whether ctop made a group's name up, such as `(ended)`; false for names of threads. */
bool grouping_is_own(const struct grouping *grouping, uint32_t group);

/* Group whose key is these bytes, or UINT32_MAX. */
uint32_t grouping_find(const struct grouping *grouping, const char *key, size_t length);

/* The text for a name that nobody would see: "(no name)" for an empty one, blanks in quotes; else NULL. */
const char *grouping_invisible_name(const char *name, size_t length);

/* A name, or what stands for one that nobody would see; its length is put into `*length`. */
const char *grouping_visible_name(const char *name, size_t *length);

#endif
