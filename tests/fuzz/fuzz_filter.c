/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user types as a filter. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct cell *cell_of(void *context, enum column column, bool as_rate)
{
	(void)column;
	(void)as_rate;
	return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cell cell = {.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .value.integer = 42};
	static const char label[] = "worker-{N}";
	char *text;
	struct error error = {{0}};
	struct filter *filter;

	/* The C library's regcomp() takes any memory for nested repetitions; that is no bug of ours. */
	if (memchr(data, '{', size) != NULL)
		return 0;
	text = malloc(size + 1);
	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	filter = filter_parse(text, &error);
	if (filter != NULL) {
		if (strcmp(filter_text(filter), text) != 0)
			abort();
		filter_matches(filter, label, sizeof(label) - 1, cell_of, &cell);
	} else if (error.text[0] == '\0') {
		abort();
	}
	filter_release(filter);
	free(text);
	return 0;
}
