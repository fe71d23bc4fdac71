/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PATTERN_H
#define CTOP_PATTERN_H

#include <stddef.h>

#include "base/buffer.h"

/*
 * Appends the token pattern of a name: `worker-12` gives `worker-{N}`, `7890ab` gives `{H}`; separators (. -
 * _ / : @ + [ ] and Unicode white space) are copied. Bytes that are not UTF-8 count as letters of no class.
 */
void pattern_append(struct buffer *buffer, const char *name, size_t length);

/*
 * Appends a cgroup path with `@INSTANCE.service` turned into `@{I}.service` where the instance holds none of
 * '.', '_', '-' and is not empty.
 */
void pattern_append_systemd_instances(struct buffer *buffer, const char *path, size_t length);

#endif
