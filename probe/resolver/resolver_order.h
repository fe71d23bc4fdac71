/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_ORDER_H
#define CTOP_RESOLVER_ORDER_H

#include "probe/process/process_map.h"

/*
 * What the opener of a job has to know of its process, in a file without a name: too much for a message.
 */

/* Returns a descriptor or a negative errno. */
int resolver_order_write(const char *executable_path, const struct process_map *map);

/* Reads it from the beginning; the caller frees both. Returns 0 or a negative errno. */
int resolver_order_read(int descriptor, char **ret_executable_path, struct process_map *ret_map);

#endif
