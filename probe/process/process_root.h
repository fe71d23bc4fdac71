/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_PROCESS_ROOT_H
#define CTOP_PROBE_PROCESS_ROOT_H

#include <limits.h>
#include <stdint.h>

#include "process_map.h"

/*
 * The root directory of a process, and the way from a path that procfs tells to a file. Links and maps of
 * procfs name files as this program sees them (d_path() of fs/d_path.c): with the directory that a process
 * called chroot(2) on in front, and without any for a process in a mount namespace of its own.
 */
enum {
	/* RESOLVE_CACHED of openat2(2), from Linux 5.12 on: nothing but the kernel's caches is asked */
	PROCESS_ROOT_CACHED = 0x20,
};

struct process_root {
	int directory;       /* O_PATH; -1 where it may not be entered */
	char path[PATH_MAX]; /* as this program sees it, without a slash at the end: "" for a root like its
				own */
};

void process_root_open(int process_directory, struct process_root *ret_root);
void process_root_close(struct process_root *root);

/* The part of `path` that the process sees: `path` itself, unless it lies below a chroot(2). */
const char *process_root_inner(const struct process_root *root, const char *path);

/* openat2(2) with O_PATH, tried again while renames elsewhere interfere. Returns a descriptor or a negative
 * errno. */
int process_root_open_path(int directory, const char *path, uint64_t resolve);

/*
 * Opens a mapped file with O_PATH: below the root, then as this program sees it, since a process may have
 * mapped its libraries before chroot(2). `resolve` is 0 or PROCESS_ROOT_CACHED. Returns a descriptor, or a
 * negative errno (-ESTALE: the path leads to another file by now).
 */
int process_root_open_object(const struct process_root *root, const struct mapped_object *object,
			     uint64_t resolve);

#endif
