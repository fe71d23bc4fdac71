/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat_file.h"

#include <string.h>

const char *stat_file_field(const struct buffer *text, int number)
{
	/* the name may hold brackets, blanks and newlines: the last bracket of the file ends it */
	const char *blank = text->length != 0 ? strrchr(text->data, ')') : NULL;

	for (int i = STAT_FILE_STATE; blank != NULL && i <= number; i++)
		blank = strchr(blank + 1, ' ');
	return blank != NULL ? blank + 1 : "";
}
