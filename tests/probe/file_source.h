/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_FILE_SOURCE_H
#define CTOP_TEST_FILE_SOURCE_H

#include "probe/dwarf/resolve.h"

/* A resolve_source for tests: a program, its libraries and its debug files, opened where they lie. */
struct file_source {
	const char *executable;
	const char *const *libraries;
	const char *root; /* put before /usr/lib/debug; "" for none */
	uint32_t library_count;
	unsigned int opened; /* files handed out */
};

/* A source over `files`, which must outlive it. */
struct resolve_source file_source(struct file_source *files);

#endif
