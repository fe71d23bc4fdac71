/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NAME_H
#define CTOP_NAME_H

#include <stddef.h>

/*
 * The row with this name (`length` bytes) in a table of `count` rows of `size` bytes, each of which begins
 * with a `const char *`, its name: its index, or `count`. Exact and case-sensitive.
 */
size_t name_find(const void *rows, size_t count, size_t size, const char *name, size_t length);

#endif
