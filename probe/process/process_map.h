/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_PROCESS_MAP_H
#define CTOP_PROBE_PROCESS_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/reader.h"

/* The ELF objects of a process, from its memory map (/proc/PID/maps, fs/proc/task_mmu.c). */

/* Tells a file from itself before it was rewritten. No padding. */
struct file_state {
	uint64_t size; /* 0: not known, like the rest */
	int64_t change_seconds, change_nanoseconds;
};

struct mapped_object {
	char *path;             /* owned; first blank-delimited word, as the map has it */
	uint64_t start, end;    /* of the executable mapping that made it known */
	uint64_t first;         /* where the object begins: its mapping with file offset 0 */
	uint64_t device, inode; /* as the map prints them: makedev(3) of major and minor */
	struct file_state state;
};

struct process_map {
	struct mapped_object *objects; /* distinct files with an executable mapping, but for the executable */
	size_t count;
	uint64_t executable_device, executable_inode; /* as stat(2) has them; 0, 0: not known */
};

/*
 * Reads PROCESS/maps below the open directory of process `tgid`. `executable_device` and `executable_inode`
 * name the file to leave out. `reader`, which may be NULL, reads the file: that may hang. The states of the
 * libraries are what the kernel has in its caches, and no file system is asked. Returns 0 or a negative errno
 * with a sentence (-EACCES, -ENOENT, -ESRCH, -ETIMEDOUT …).
 */
int process_map_read(struct reader *reader, pid_t tgid, int process_directory, dev_t executable_device,
		     ino_t executable_inode, struct process_map *ret_map, struct error *error);

/* A copy, which has to be released too. */
void process_map_copy(const struct process_map *map, struct process_map *ret_copy);

void process_map_release(struct process_map *map);

/* Tells one executable from another, and from itself before it was changed. No padding. */
struct executable {
	uint64_t device, inode, size;
	int64_t change_seconds, change_nanoseconds;
};

/*
 * Identifies the executable of the process whose open directory is `process_directory`. Its file system is
 * not asked: the kernel answers from what it knows of a file that is being run (statx(2),
 * AT_STATX_DONT_SYNC), so that a server which is gone holds nobody up. Returns 0 or a negative errno: -ENOENT
 * for a process without one, -EACCES.
 */
int executable_identify(int process_directory, struct executable *ret_executable);

#endif
