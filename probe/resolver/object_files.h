/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_OBJECT_FILES_H
#define CTOP_OBJECT_FILES_H

#include <stdint.h>

#include "probe/process/process_map.h"
#include "probe/process/process_root.h"
#include "probe/dwarf/resolve.h"

/*
 * Opening the files of a process for a child that may not open anything. Requests, and most of the paths,
 * come from untrusted sources: names are checked, paths below the target's root cannot leave it,
 * links of procfs are never followed, and only regular files are opened at all (a FIFO or a device not even
 * for a check). Debug files are opened with the rights of the user alone: capabilities serve for the
 * executable and its libraries, which are those that the process runs.
 */
struct object_files {
	/* The caller's, as resolver_submit() has them: */
	int process_directory;
	const char *executable_path;
	const struct process_map *map;
	struct process_root root;
};

/* Opens the root, which nobody closes: it goes with the process that serves the requests. */
void object_files_open(struct object_files *files, int process_directory, const char *executable_path,
		       const struct process_map *map);

/* resolve_source.open() with unchecked arguments. */
int object_files_ask(const struct object_files *files, uint32_t object, uint32_t file, const char *name,
		     uint32_t ordinal);

#endif
