/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_KNOWN_BUILD_H
#define CTOP_KNOWN_BUILD_H

#include <stdint.h>

/* Releases of jemalloc whose thread data is known without debug data. */
struct known_build {
	uint16_t machine; /* e_machine */
	const char *version;
	uint64_t size; /* of struct tsd_s, bytes */
	uint64_t allocated, deallocated;
};

/* The build of that machine, version and size, or NULL: all three must agree. */
const struct known_build *known_build_find(uint16_t machine, const char *version, uint64_t size);

#endif
