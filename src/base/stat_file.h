/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STAT_FILE_H
#define CTOP_STAT_FILE_H

#include "buffer.h"

/* Single fields of the file stat of a process or thread (proc_pid_stat(5)). */

enum {
	STAT_FILE_BYTES_MAX = 4096,
	/* Numbers of fields. */
	STAT_FILE_STATE = 3,
	STAT_FILE_FLAGS = 9,
	STAT_FILE_START_TIME = 22,
	STAT_FILE_VIRTUAL = 23,
	STAT_FILE_RESIDENT = 24,
	STAT_FILE_START_CODE = 26,
	STAT_FILE_START_STACK = 28,
};

/*
 * The text of such a file from a field on, the third or a later one; "" where it has no such field, or is
 * empty.
 */
const char *stat_file_field(const struct buffer *text, int number);

#endif
