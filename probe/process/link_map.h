/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LINK_MAP_H
#define CTOP_LINK_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "probe/object/layout.h"
#include "process_map.h"
#include "transfer.h"

/*
 * The notes of a running process's dynamic linker about its objects (struct r_debug and struct link_map of
 * <link.h>, found through DT_DEBUG). All of it is untrusted memory: every walk is bounded.
 */

/* The entries of the auxiliary vector that matter here (getauxval(3)); 0 for one that is not there. */
struct auxiliary_vector {
	uint64_t headers, header_size, header_count; /* AT_PHDR, AT_PHENT, AT_PHNUM */
	uint64_t random;                             /* AT_RANDOM */
};

/* Reads PROCESS/auxv. Returns 0 or a negative errno. */
int auxiliary_vector_read(int process_directory, struct auxiliary_vector *ret_vector);

/* The place of a shared object's thread-local storage. */
struct link_map_tls {
	uint64_t offset; /* l_tls_offset; meaningless when `is_static` is false */
	uint64_t module; /* l_tls_modid: index in each thread's DTV, 0 for none */
	bool is_static;  /* at the same distance from every thread pointer */
};

/*
 * Finds object number `object` of `map` in the link map of process `pid` and reads its thread-local storage
 * at the offsets that `library` gives. Returns 0, -EAGAIN if the dynamic linker has not reached it yet,
 * -EPERM, -ESRCH, -ETIMEDOUT or -EIO, or -ENOENT without such an entry; with a sentence.
 */
int link_map_find_tls(pid_t pid, const struct auxiliary_vector *vector, const struct process_map *map,
		      uint32_t object, const struct c_library *library, struct link_map_tls *ret_tls,
		      struct transfer_way *way, struct error *error);

#endif
