/* SPDX-License-Identifier: GPL-2.0-only */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	KEPT = 1000, /* bytes of either end of a sentence that is too long */
};

int error_set(struct error *error, int negative_errno, const char *format, ...)
{
	const size_t size = sizeof(error->text);
	va_list arguments;
	char *whole;
	int length;

	if (error == NULL)
		return negative_errno;
	va_start(arguments, format);
	length = vsnprintf(error->text, size, format, arguments);
	va_end(arguments);
	if (length < (int)size)
		return negative_errno;
	va_start(arguments, format);
	length = vasprintf(&whole, format, arguments);
	va_end(arguments);
	if (length >= (int)size) {
		/* the end says why, and what helps */
		snprintf(error->text + KEPT, size - KEPT, " ... %s", whole + length - KEPT);
		free(whole);
	}
	return negative_errno;
}
