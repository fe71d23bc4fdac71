/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_RESOLVE_H
#define CTOP_PROBE_RESOLVE_H

#include <stdint.h>

#include "probe/object/layout.h"

/*
 * Finding jemalloc's thread specific data in the ELF objects of a process. It parses untrusted files, so it
 * runs in a sandboxed child (resolver.h) that can open nothing itself and has to ask for every file.
 */

/* Kinds of files that belong to an object. */
enum resolve_file {
	RESOLVE_FILE_OBJECT,    /* the object itself: executable or library */
	RESOLVE_FILE_PACKAGE,   /* OBJECT.dwp */
	RESOLVE_FILE_DEBUGINFO, /* OBJECT.debuginfo */
	RESOLVE_FILE_DEBUG,     /* OBJECT.debug */
	RESOLVE_FILE_BUILD_ID, /* name: build id in hexadecimal; debug directories, then a debuginfod cache */
	RESOLVE_FILE_DEBUGLINK,      /* name: of .gnu_debuglink */
	RESOLVE_FILE_ALTERNATE,      /* name: build id of .gnu_debugaltlink (dwz), searched like BUILD_ID */
	RESOLVE_FILE_ALTERNATE_LINK, /* name: last component of its path; debug_candidates_find_alternate() */
	RESOLVE_FILE_COUNT,
};

enum {
	/* The search ends after this many seconds, with what was found by then. */
	RESOLVE_SECONDS_MAX = 5,
};

struct resolve_source {
	void *context;
	uint32_t object_count; /* libraries that the process maps, in the order of its memory map */
	/*
	 * Opens the `ordinal`-th existing candidate (first below the target's root, then on the host) of a
	 * file of `object` (LAYOUT_EXECUTABLE or a library's number). Returns a descriptor that the caller
	 * closes, -ENOENT when there are no more candidates, or another negative errno for one that exists
	 * and cannot be used (the next ordinal may).
	 */
	int (*open)(void *context, uint32_t object, enum resolve_file file, const char *name,
		    uint32_t ordinal);
};

/* Examines the executable, then the libraries; fills all of `ret_resolution` in any case. */
void resolve(const struct resolve_source *source, struct resolution *ret_resolution);

#endif
