/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLUTION_CACHE_H
#define CTOP_RESOLUTION_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/object/layout.h"
#include "probe/process/process_map.h"
#include "resolver.h"

/*
 * Each executable is resolved once. A finding in the executable itself holds for all its processes; one in
 * its libraries, or none, holds for processes that map the same ones, not rewritten since, as LD_PRELOAD and
 * mount namespaces give one executable different libraries. Files that hold no jemalloc are remembered one by
 * one, so that a new combination of known ones needs no search.
 */
struct resolution_cache;

struct resolution_cache *resolution_cache_create(void);
void resolution_cache_release(struct resolution_cache *cache);

enum resolution_state {
	RESOLUTION_WAITING, /* for its turn, or for the resolver */
	RESOLUTION_DONE,
	RESOLUTION_VOID, /* the process it was begun with ended, or ran another program, before the end */
};

/* One resolution, shared by processes; each holds it with resolution_cache_find() and _leave(). */
struct resolution_entry;

/*
 * The resolution for a process: `process_directory` is its open directory, `executable_path` the text of its
 * exe link, `executable` that file, `map` its memory map. Begins one where none is known. NULL when
 * no descriptor is left to begin with: try again later. `*ret_known` is true when another process had
 * caused it.
 */
struct resolution_entry *resolution_cache_find(struct resolution_cache *cache, int process_directory,
					       const char *executable_path,
					       const struct executable *executable,
					       const struct process_map *map, bool *ret_known);
void resolution_cache_leave(struct resolution_entry *entry);

enum resolution_state resolution_entry_state(const struct resolution_entry *entry);

/* Whether it failed for a reason that may have passed: resolution_cache_find() begins again. */
bool resolution_entry_is_due(const struct resolution_entry *entry);

/* How often it was begun: whoever took the outcome of an earlier try has to ask again. */
unsigned int resolution_entry_tries(const struct resolution_entry *entry);

/* The outcome of one that is done; a library has its number in `map`, the map of the process that asks. */
void resolution_entry_result(const struct resolution_entry *entry, const struct process_map *map,
			     struct resolution *ret_resolution);

/*
 * Starts what may start by the headroom rule and takes what is there. With `deadline_ns` (CLOCK_MONOTONIC, 0:
 * do not wait) waits until all is done or the time has come. Returns the number still waiting.
 */
size_t resolution_cache_serve(struct resolution_cache *cache, uint64_t deadline_ns);

/*
 * The number of resolutions that may run at once so that they use only idle CPUs: the whole number of CPUs
 * that `load` (runnable threads, mean of a minute) leaves free, at least 1 and at most one more than half of
 * `cpus`.
 */
unsigned int resolution_headroom(unsigned int cpus, double load);

/* Pause in ns after the `hangs`th successive try (from 1) without an answer from a file system. */
uint64_t resolution_pause_ns(unsigned int hangs);

/* Forgets outcomes that no process holds when there are very many. */
void resolution_cache_trim(struct resolution_cache *cache);

#endif
