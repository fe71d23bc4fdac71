/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_PROCESS_ROOT_H
#define CTOP_PROBE_PROCESS_ROOT_H

#include <limits.h>
#include <stdint.h>

#include "process_map.h"

/*
 * The root directory of a process, for opening the paths that procfs shows. Links and maps of procfs have
 * paths as ctop sees them (d_path() of fs/d_path.c): they begin with the directory of a chroot(2), but not
 * for a process in another mount namespace.
 */
enum {
	/* RESOLVE_CACHED of openat2(2), since Linux 5.12: fails instead of leaving the kernel's caches */
	PROCESS_ROOT_CACHED = 0x20,
};

struct process_root {
	int directory;       /* O_PATH; -1 if ctop may not enter it */
	char path[PATH_MAX]; /* as ctop sees it, without a trailing slash; "" if it equals ctop's own root */
};

void process_root_open(int process_directory, struct process_root *ret_root);
void process_root_close(struct process_root *root);

/* The part of `path` that the process sees: all of it, unless `path` is below the process's chroot(2). */
const char *process_root_inner(const struct process_root *root, const char *path);

/* openat2(2) with O_PATH, retried while others rename files. Returns a descriptor or a negative errno. */
int process_root_open_path(int directory, const char *path, uint64_t resolve);

/*
 * Opens a mapped file with O_PATH: below the process's root, then below ctop's, since the process may have
 * mapped it before chroot(2). `resolve` is 0 or PROCESS_ROOT_CACHED. Returns a descriptor, or a negative
 * errno (-ESTALE: the path now leads to another file).
 */
int process_root_open_object(const struct process_root *root, const struct mapped_object *object,
			     uint64_t resolve);

#endif
