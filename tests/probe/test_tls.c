/* SPDX-License-Identifier: GPL-2.0-only */
/* The arithmetic of thread-local storage, for both variants. */
#include <errno.h>

#include "../cmocka_include.h"
#include "probe/process/tls.h"

static void test_executable_distance(void **state)
{
	static const struct {
		enum tls_variant variant;
		struct tls_segment segment; /* p_vaddr, p_memsz, p_align */
		int64_t distance;
		int result;
	} cases[] = {
		{TLS_VARIANT_2, {0, 0x100, 1}, -0x100, 0},
		{TLS_VARIANT_2, {0x1000, 0xa48, 64}, -0xa80, 0},
		{TLS_VARIANT_2, {0x1000, 0, 0}, 0, 0},
		{TLS_VARIANT_2, {0, 7, 0}, -7, 0},
		{TLS_VARIANT_2, {0, 7, 8}, -8, 0},
		{TLS_VARIANT_2, {0, 8, 8}, -8, 0},
		{TLS_VARIANT_2, {0, 9, 8}, -16, 0},
		{TLS_VARIANT_2, {0, UINT64_MAX, 1}, 1, 0}, /* 1 less 2^64 */
		/* measured: programs linked with p_vaddr 8 bytes off its alignment (tls.sh) */
		{TLS_VARIANT_2, {0x403c08, 548, 256}, -760, 0},
		{TLS_VARIANT_2, {0x4a1508, 616, 256}, -760, 0},
		{TLS_VARIANT_2, {8, 2, 256}, -248, 0},
		{TLS_VARIANT_2, {0, UINT64_MAX, 2}, 0, -EOVERFLOW},
		{TLS_VARIANT_2, {0, UINT64_MAX, 8}, 0, -EOVERFLOW},
		{TLS_VARIANT_2, {0, 16, 24}, 0, -EOVERFLOW},
		/* by _dl_determine_tlsoffset() of glibc and lld's rule: first place from 16 on */
		{TLS_VARIANT_1, {0, 0x100, 0}, 16, 0},
		{TLS_VARIANT_1, {0, 0x100, 8}, 16, 0},
		{TLS_VARIANT_1, {0, 0x100, 16}, 16, 0},
		{TLS_VARIANT_1, {0, 0x100, 64}, 64, 0},
		{TLS_VARIANT_1, {8, 0x100, 16}, 24, 0},
		{TLS_VARIANT_1, {8, 0x100, 64}, 72, 0},
		{TLS_VARIANT_1, {16, 0x100, 64}, 16, 0},
		{TLS_VARIANT_1, {32, 0x100, 64}, 32, 0},
		{TLS_VARIANT_1, {0, 0x100, UINT64_MAX}, 0, -EOVERFLOW},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t distance = 0;

		assert_int_equal(tls_executable_distance(&cases[i].segment, cases[i].variant, &distance),
				 cases[i].result);
		assert_int_equal(distance, (uint64_t)cases[i].distance);
	}
}

static void test_address(void **state)
{
	static const struct {
		enum tls_variant variant;
		uint64_t thread_pointer, image, symbol, offset, address; /* image: size or alignment */
		int result;
	} cases[] = {
		{TLS_VARIANT_2, 0x10000, 0x100, 0x10, 8, 0xff18, 0},
		{TLS_VARIANT_2, 0x7f1234567000, 512, 0x100, 264, 0x7f1234567008, 0},
		{TLS_VARIANT_2, 4096, 4096, 0, 0, 0, 0},
		{TLS_VARIANT_2, 0x100, 0x200, 0, 0, 0, -EOVERFLOW},
		{TLS_VARIANT_2, 13000009, 1009, 307, 83, 12999390, 0},
		{TLS_VARIANT_2, 0x10000, 0x100, UINT64_MAX, 0, 0, -EOVERFLOW},
		{TLS_VARIANT_2, 0x10000, 0x100, 0, UINT64_MAX, 0, -EOVERFLOW},
		{TLS_VARIANT_1, 0x7f1234567000, 16, 0x100, 264, 0x7f1234567218, 0},
		{TLS_VARIANT_1, 0x1000, 64, 0, 0, 0x1040, 0},
		{TLS_VARIANT_1, 0x1000, 16, 0, 0, 0x1010, 0},
		{TLS_VARIANT_1, 0x1000, 8, 0, 0, 0x1010, 0},
		{TLS_VARIANT_1, 0x1000, 0, 0, 0, 0x1010, 0},
		{TLS_VARIANT_1, 13000009, 64, 307, 83, 13000463, 0},
		{TLS_VARIANT_1, UINT64_MAX - 10, 16, 0x100, 0, 0, -EOVERFLOW},
		{TLS_VARIANT_1, 0x1000, UINT64_MAX, 0, 0, 0, -EOVERFLOW},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool below = cases[i].variant == TLS_VARIANT_2;
		const struct tls_segment segment = {
			.size = below ? cases[i].image : 0,
			.alignment = below ? 1 : cases[i].image,
		};
		uint64_t distance = 0, address = 0;
		int r = tls_executable_distance(&segment, cases[i].variant, &distance);

		if (r == 0)
			r = tls_address(cases[i].thread_pointer, distance, cases[i].variant, cases[i].symbol,
					cases[i].offset, &address);
		assert_int_equal(r, cases[i].result);
		assert_int_equal(address, cases[i].address);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executable_distance),
		cmocka_unit_test(test_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
