/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DWARF_SEARCH_H
#define CTOP_DWARF_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "probe/object/elf_object.h"
#include "probe/object/jemalloc_symbol.h"

/* Finding, among many compilation units, one that describes jemalloc's thread data. */

/* The two counters in jemalloc's struct tsd_s. */
struct tsd_members {
	bool has_allocated, has_deallocated;
	uint64_t allocated, deallocated; /* offsets, bytes */
};

/* When to stop walking. */
struct dwarf_limit {
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	uint64_t entries;     /* debugging entries seen up to now */
};

/* Reads the clock; -ETIME with a sentence once the time is over. */
int dwarf_limit_check(const struct dwarf_limit *limit, struct error *error);

/*
 * Searches the debug data in `object`: the units of jemalloc's functions and sources, then, unless the names
 * occur nowhere, all. `alternate` is the common debug file (dwz) or NULL. Returns 0 with both members,
 * -ENOENT when they are not there, or another negative errno; both with a sentence.
 */
int dwarf_search(struct elf_object *object, struct elf_object *alternate,
		 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
		 struct tsd_members *ret_members, struct error *error);

/*
 * DWARF packages (.dwp): the debug data of split units, joined into one file. libdw reads their index from
 * version 0.191 on. By itself it would open the package by the name of the program, which the sandbox
 * forbids, so it gets an image of the package, and the units are found here by the ids of the skeleton units.
 */

/*
 * Searches `package` for the members. The skeleton units in `skeletons` tell which units belong to the
 * program: likely ones are searched first, then all. Returns 0 with both members, -ENODATA when there are no
 * skeleton units, -EOPNOTSUPP with an older libdw, -ENOENT when the members are not there, or another
 * negative errno; all with a sentence.
 */
int dwarf_package_search(struct elf_object *package, struct elf_object *skeletons,
			 const struct jemalloc_symbols *symbols, struct dwarf_limit *limit,
			 struct tsd_members *ret_members, struct error *error);

#endif
