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

int tls_round_up(uint64_t value, uint64_t alignment, uint64_t *ret_rounded)
{
	const uint64_t mask = alignment > 1 ? alignment - 1 : 0;
	uint64_t sum;

	if (__builtin_add_overflow(value, mask, &sum))
		return -EOVERFLOW;
	*ret_rounded = sum & ~mask;
	return 0;
}

int tls_executable_distance(const struct tls_segment *segment, enum tls_variant variant,
			    uint64_t *ret_distance)
{
	const uint64_t alignment = segment->alignment > 1 ? segment->alignment : 1;
	uint64_t misalignment, sum, rounded;

	if ((alignment & (alignment - 1)) != 0)
		return -EOVERFLOW;
	misalignment = segment->address & (alignment - 1);
	if (variant == TLS_VARIANT_1) {
		/* the first place behind the two words of the TCB that keeps p_vaddr modulo p_align */
		*ret_distance = TCB_SIZE_VARIANT_1 + ((misalignment - TCB_SIZE_VARIANT_1) & (alignment - 1));
		return 0;
	}
	/* the last place that ends at or below the thread pointer and keeps p_vaddr modulo p_align */
	if (__builtin_add_overflow(segment->size, misalignment, &sum) ||
	    tls_round_up(sum, alignment, &rounded) < 0)
		return -EOVERFLOW;
	*ret_distance = -(rounded - misalignment);
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
