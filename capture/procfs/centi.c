/* SPDX-License-Identifier: GPL-2.0-only */
#include "centi.h"

#include "base/number.h"

enum {
	FRACTION_DIGITS = 2,
	HUNDREDTHS = 100,
};

uint64_t centi_parse(struct text text)
{
	const char *dot = text.length != 0 ? memchr(text.data, '.', text.length) : NULL;
	size_t whole_length = dot != NULL ? (size_t)(dot - text.data) : text.length;
	char digits[FRACTION_DIGITS] = {'0', '0'};
	uint32_t whole, fraction = 0;

	if (!number_parse_u32(text.data, whole_length, &whole))
		return 0;
	if (dot != NULL) {
		size_t count = text.length - whole_length - 1;

		memcpy(digits, dot + 1, count < FRACTION_DIGITS ? count : FRACTION_DIGITS);
		if (!number_parse_u32(digits, FRACTION_DIGITS, &fraction))
			fraction = 0;
	}
	return (uint64_t)whole * HUNDREDTHS + fraction;
}
