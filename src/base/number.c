/* SPDX-License-Identifier: GPL-2.0-only */
#include "number.h"

#include <string.h>

static bool parse_digits(const char *text, size_t length, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned int digit = (unsigned int)((unsigned char)text[i] - '0');

		if (digit > 9)
			return false;
		if (__builtin_mul_overflow(value, (uint64_t)10, &value))
			return false;
		if (__builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*ret_value = value;
	return true;
}

bool number_parse_u64(const char *text, size_t length, uint64_t *ret_value)
{
	if (length != 0 && text[0] == '+') {
		text++;
		length--;
	}
	return parse_digits(text, length, ret_value);
}

bool number_parse_u32(const char *text, size_t length, uint32_t *ret_value)
{
	uint64_t value;

	if (!number_parse_u64(text, length, &value) || value > UINT32_MAX)
		return false;
	*ret_value = (uint32_t)value;
	return true;
}

bool number_parse_i32(const char *text, size_t length, int32_t *ret_value)
{
	bool negative = length != 0 && text[0] == '-';
	uint64_t magnitude;

	if (negative ? !parse_digits(text + 1, length - 1, &magnitude)
		     : !number_parse_u64(text, length, &magnitude))
		return false;
	if (magnitude > (uint64_t)INT32_MAX + negative)
		return false;
	*ret_value = (int32_t)(negative ? -(int64_t)magnitude : (int64_t)magnitude);
	return true;
}

/* "00" to "99": a division by 100 gives two digits. */
#define TEN(tens) tens "0" tens "1" tens "2" tens "3" tens "4" tens "5" tens "6" tens "7" tens "8" tens "9"
static const char pairs[] = TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8")
	TEN("9");
#undef TEN

static size_t count_digits(uint64_t value)
{
	/* by n: the least number of n + 1 digits */
	static const uint64_t powers[NUMBER_DIGITS_MAX] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	/* 1233 / 4096 is a little more than the decimal logarithm of 2 */
	size_t guess = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;

	return guess + (value >= powers[guess]);
}

size_t number_write_u64(uint64_t value, char text[static NUMBER_DIGITS_MAX])
{
	size_t length, end;

	if (value < 10) {
		text[0] = (char)('0' + value);
		return 1;
	}
	length = count_digits(value);
	for (end = length; end >= 2; end -= 2) {
		memcpy(text + end - 2, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (end != 0)
		text[0] = (char)('0' + value);
	return length;
}
