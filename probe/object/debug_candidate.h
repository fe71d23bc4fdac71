/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DEBUG_CANDIDATE_H
#define CTOP_DEBUG_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Paths at which the separate debug files of an ELF object may be, by the names that the object itself gives.
 * Those names are untrusted: only safe ones become part of a path. The paths are the ones that gdb searches
 * ("Separate Debug Files" of its manual).
 */

/* Not empty, no '/', no NUL in its `length` bytes, neither "." nor "..". */
bool debug_link_is_safe(const char *name, size_t length);

/* Not empty, an even number of digits, only 0-9 and a-f. */
bool debug_build_id_is_safe(const char *hexadecimal, size_t length);

enum {
	DEBUG_CANDIDATE_MAX = 4,
};

/* Paths in the order in which they are to be tried, each once. */
struct debug_candidates {
	char *paths[DEBUG_CANDIDATE_MAX]; /* owned */
	size_t count;
};

/*
 * The candidates of the object at `object_path`: by build id below /usr/lib/debug/.build-id, then by
 * debuglink beside the object, in .debug beside it, and below /usr/lib/debug. `debuglink` (a name) and
 * `build_id` (hexadecimal) may be NULL; an unsafe one counts as none. The caller frees the paths.
 */
void debug_candidates_find(const char *object_path, const char *debuglink, const char *build_id,
			   struct debug_candidates *ret_candidates);

/*
 * The candidates of the common debug file of a package (dwz(1)), by the last component of the name in
 * .gnu_debugaltlink: below /usr/lib/debug/.dwz, as Fedora and Debian keep them. None for an unsafe name.
 */
void debug_candidates_find_alternate(const char *name, struct debug_candidates *ret_candidates);

#endif
