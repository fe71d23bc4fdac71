/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_DISCOVERY_H
#define CTOP_SCX_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scx_kernel.h"

/* From the name of the scheduler that runs to the maps of its programs. */

struct scx_discovery {
	uint32_t *maps; /* ids, each once; the caller frees */
	size_t map_count, map_capacity;
	uint64_t loaded_at_ns; /* CLOCK_BOOTTIME, when the last of its programs was */
};

/*
 * Finds the operations by the links that hold them, else by the maps that are in use without one, and among
 * several the ones of this name. Takes CAP_SYS_ADMIN (ids of objects) and CAP_BPF. Returns 0 or a negative
 * errno: -EPERM, -ENOENT where no operations of that name are attached.
 */
int scx_discovery_find(const struct scx_kernel *kernel, const char *name,
		       struct scx_discovery *ret_discovery);

/*
 * Whether the value of a map of operations, as user space sees it, is that of the scheduler `name`. Pure.
 */
bool scx_discovery_is_named(const struct scx_operations *operations, const unsigned char *value, size_t size,
			    const char *name);

/* Whether those operations are attached without a link. Pure. */
bool scx_discovery_is_in_use(const struct scx_operations *operations, const unsigned char *value,
			     size_t size);

/* The ids of the programs of the operations, at most `capacity`, those that are not set left out. Pure. */
size_t scx_discovery_programs(const struct scx_operations *operations, const unsigned char *value,
			      size_t size, uint32_t programs[], size_t capacity);

#endif
