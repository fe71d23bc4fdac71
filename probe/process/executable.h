/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXECUTABLE_H
#define CTOP_EXECUTABLE_H

#include <stdint.h>

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
