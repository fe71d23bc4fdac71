/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_NAMES_H
#define CTOP_FILE_NAMES_H

#include "base/buffer.h"

/*
 * Completes the name of a file as far as the names in its directory leave no choice. Appends lines: the text
 * that was asked about, what it becomes, and, where several names begin so, up to FILE_NAMES_LISTED of them
 * in byte order. Directories end in a slash. Hidden names are offered to who begins one. Reads a directory:
 * that may take as long as its file system likes.
 */
void file_names_complete(const char *text, struct buffer *lines);

enum {
	FILE_NAMES_LISTED = 20,
};

#endif
