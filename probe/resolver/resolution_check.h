/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLUTION_CHECK_H
#define CTOP_RESOLUTION_CHECK_H

#include <stdbool.h>

#include "probe/object/layout.h"

/*
 * Accepts a resolution that came as bytes from a child that may have been made to lie: `bytes` are
 * sizeof(struct resolution) of them. Every field that anybody will use is checked against its range,
 * `object_count` is the number of libraries of the process. Returns true and fills `*ret_resolution`, or
 * false if the bytes are not valid.
 */
bool resolution_check(const unsigned char *bytes, uint32_t object_count, struct resolution *ret_resolution);

#endif
