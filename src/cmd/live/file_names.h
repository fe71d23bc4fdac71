/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_NAMES_H
#define CTOP_FILE_NAMES_H

#include "base/buffer.h"

/*
 * Completes the name of a file while the names in its directory leave no choice. Appends lines: the text that
 * was given, its completion, and, when several names begin so, up to FILE_NAMES_LISTED of them in byte order.
 * Directories end in a slash. Hidden names are offered only if the text begins one. Reads a directory, which
 * may take as long as its file system likes.
 */
void file_names_complete(const char *text, struct buffer *lines);

enum {
	FILE_NAMES_LISTED = 20,
};

#endif
