/* SPDX-License-Identifier: GPL-2.0-only */
#include "tls.h"

#include <errno.h>

enum {
	TCB_SIZE_VARIANT_1 = 16, /* tcbhead_t of sysdeps/aarch64/nptl/tls.h */
};

enum tls_variant tls_native_variant(void)
{
#if defined(__x86_64__)
	return TLS_VARIANT_2;
#elif defined(__aarch64__)
	return TLS_VARIANT_1;
#else
#error "the thread pointer of this architecture is not known"
#endif
}

int tls_executable_distance(const struct tls_segment *segment, enum tls_variant variant,
			    uint64_t *ret_distance)
{
	const uint64_t alignment = segment->alignment > 1 ? segment->alignment : 1;
	const uint64_t mask = alignment - 1, misalignment = segment->address & mask;
	uint64_t end;

	if ((alignment & mask) != 0)
		return -EOVERFLOW;
	if (variant == TLS_VARIANT_1) {
		/* the first address behind the two words of the TCB that keeps p_vaddr modulo p_align */
		*ret_distance = TCB_SIZE_VARIANT_1 + ((misalignment - TCB_SIZE_VARIANT_1) & mask);
		return 0;
	}
	/* the last one that ends at or below the thread pointer and keeps p_vaddr modulo p_align */
	if (__builtin_add_overflow(segment->size, misalignment, &end) ||
	    __builtin_add_overflow(end, mask, &end))
		return -EOVERFLOW;
	*ret_distance = misalignment - (end & ~mask);
	return 0;
}

int tls_address(uint64_t thread_pointer, uint64_t distance, enum tls_variant variant, uint64_t symbol,
		uint64_t offset, uint64_t *ret_address)
{
	uint64_t image = thread_pointer + distance, address;

	if (variant == TLS_VARIANT_1 ? image < thread_pointer : image > thread_pointer)
		return -EOVERFLOW;
	if (__builtin_add_overflow(image, symbol, &address) ||
	    __builtin_add_overflow(address, offset, &address))
		return -EOVERFLOW;
	*ret_address = address;
	return 0;
}
