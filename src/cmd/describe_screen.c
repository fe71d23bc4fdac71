/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop help columns`. */
#include "describe.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/line/help.h"
#include "view/column.h"
#include "view/view.h"

enum {
	TITLE_CELLS = 12,
};

static void append_entry(struct buffer *buffer, const char *word, size_t cells, const char *text)
{
	char blanks[40];

	snprintf(blanks, sizeof(blanks), "%*s", (int)cells, "");
	buffer_append_format(buffer, "  %-*s", (int)cells - 2, word);
	if (strlen(word) + 3 > cells)
		buffer_append_format(buffer, "\n%s", blanks);
	help_append_wrapped(buffer, text, blanks);
}

void describe_columns(struct buffer *buffer)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		append_entry(buffer, column_title(column, VIEW_MODE_RATE), TITLE_CELLS,
			     column_description(column));
	buffer_append_text(buffer,
			   "\nEvery metric is a column too: 'ctop metrics' lists them, 'ctop metrics NAME' "
			   "says all of one.\n");
}
