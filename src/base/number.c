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

char *number_group_digits(uint64_t value, char text[static 28])
{
	char reversed[28];
	size_t length = 0;
	unsigned int digits = 0;

	do {
		if (digits != 0 && digits % 3 == 0)
			reversed[length++] = ',';
		reversed[length++] = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value != 0);
	for (size_t i = 0; i < length; i++)
		text[i] = reversed[length - 1 - i];
	text[length] = '\0';
	return text;
}
