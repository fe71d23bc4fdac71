/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_TLS_H
#define CTOP_PROBE_TLS_H

#include <stdint.h>

#include "probe/object/layout.h"

/*
 * The distance of thread-local storage from the thread pointer ("ELF Handling For Thread-Local Storage",
 * variants I and II; elf/dl-tls.c of glibc, which also keeps p_vaddr modulo p_align).
 */

enum tls_variant {
	TLS_VARIANT_1, /* aarch64: the image lies above the thread pointer */
	TLS_VARIANT_2, /* x86_64: below it */
};

/* The variant of the machine that this program is built for. */
enum tls_variant tls_native_variant(void);

/*
 * Distance of the executable's TLS image from the thread pointer: image = thread pointer + distance (modulo
 * 2^64, negative on variant II). The linker writes this distance into the code (local-exec accesses), so it
 * holds with any C library; the dynamic linkers of glibc and musl put the image there
 * (_dl_determine_tlsoffset). -EOVERFLOW for a segment that fits nowhere.
 */
int tls_executable_distance(const struct tls_segment *segment, enum tls_variant variant,
			    uint64_t *ret_distance);

/*
 * The address `offset` bytes into the symbol at `symbol` in an image `distance` from `thread_pointer`.
 * -EOVERFLOW when it leaves the address space (an addition beyond 2^64, a subtraction below 0).
 */
int tls_address(uint64_t thread_pointer, uint64_t distance, enum tls_variant variant, uint64_t symbol,
		uint64_t offset, uint64_t *ret_address);

#endif
