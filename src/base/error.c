/* SPDX-License-Identifier: GPL-2.0-only */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, int negative_errno, const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return negative_errno;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return negative_errno;
}
