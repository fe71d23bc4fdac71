/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DWARF_MEMBERS_H
#define CTOP_DWARF_MEMBERS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The two counters in jemalloc's struct tsd_s, as one compilation unit describes it. */

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
 * Walks the entries below `unit`, depth first, up to the end or until a structure tsd_s gives one of the
 * members. Each member that is not yet known in `members` takes the first value found. A member of a jemalloc
 * that mangles its names (5.0 and later) counts wherever it stands; the plain names of 4.x count only as
 * direct members of tsd_s. Returns 0 or a negative errno with a sentence (-ETIME, -EBADMSG).
 */
int dwarf_members_walk(Dwarf_Die *unit, struct tsd_members *members, struct dwarf_limit *limit,
		       struct error *error);

enum {
	TSD_MEMBER_SPELLINGS = 3,
};

/* A spelling of the first member's name, the newest at `index` 0. */
const char *tsd_member_allocated(size_t index);

static inline bool tsd_members_complete(const struct tsd_members *members)
{
	return members->has_allocated && members->has_deallocated;
}

#endif
