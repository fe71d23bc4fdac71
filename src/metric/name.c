/* SPDX-License-Identifier: GPL-2.0-only */
#include "name.h"

#include <string.h>

size_t name_find(const void *rows, size_t count, size_t size, const char *name, size_t length)
{
	const char *row = rows;
	size_t i;

	for (i = 0; i < count; i++, row += size) {
		const char *candidate = *(const char *const *)(const void *)row;

		if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
			break;
	}
	return i;
}
