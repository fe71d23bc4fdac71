/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_UNPACK_H
#define CTOP_UNPACK_H

#include <stddef.h>

#include "elf_object.h"

/*
 * Unpacks a compressed section into exactly `size` bytes at `destination`. Returns 0, -EBADMSG if the data is
 * damaged or unpacks to another number of bytes, -EOPNOTSUPP for an unknown compression.
 */
int unpack(enum elf_packing packing, struct byte_range packed, void *destination, size_t size);

#endif
