/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STRICT_READER_H
#define CTOP_STRICT_READER_H

#include <stddef.h>

#include "base/buffer.h"

/*
 * A second reader of the snapshot format, written from its description and from nothing of the program: every
 * required member, every type and range, no duplicate member, no null where none is allowed, members in
 * written order, map keys ascending. It knows no `ctop` objects: they are unknown members, which are ignored.
 *
 * Returns NULL, or what is wrong in words owned by the caller.
 */
char *strict_check(const char *json, size_t length);

/* Decompresses a file by bare zstd calls; fails the running test when it cannot. */
void strict_decompress(int descriptor, struct buffer *ret_json);

/* Removes every `ctop` member of the JSON text of a snapshot, with its comma. */
void strict_remove_extras(const char *json, size_t length, struct buffer *ret_json);

#endif
