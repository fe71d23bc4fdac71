/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_UNPACK_H
#define CTOP_UNPACK_H

#include <stddef.h>

#include "elf_object.h"

/*
 * Unpacks a compressed section into exactly `size` bytes at `destination`. Returns 0, -EBADMSG when the data
 * is damaged or gives another number of bytes, -EOPNOTSUPP for a compression that is not known.
 */
int unpack(enum elf_packing packing, struct byte_range packed, void *destination, size_t size);

#endif
