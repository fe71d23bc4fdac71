/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration file: read, and changed in one section, of which all other lines stay. */
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct config_change changes[] = {{"columns", "CPU%, RSS # x"}, {"sort", NULL}};

/* Counts the settings outside of the section, and looks what the section has. */
static size_t look(const struct config *config, const char **ret_columns, size_t *ret_changed)
{
	size_t others = 0;
	int inside = 0;

	*ret_columns = NULL;
	*ret_changed = 0;
	for (size_t i = 0; i < config->count; i++) {
		const struct config_line *line = &config->lines[i];

		if ((line->kind != CONFIG_PROBLEM) != (line->name != NULL) ||
		    (line->kind == CONFIG_SECTION && line->name[0] != '\0') != (line->value == NULL))
			abort();
		if (line->kind == CONFIG_SECTION)
			inside = strcasecmp(line->name, "tab mine") == 0;
		others += !inside;
		if (inside && line->kind == CONFIG_SETTING && strcasecmp(line->name, "columns") == 0) {
			*ret_columns = line->value;
			++*ret_changed;
		}
		if (inside && line->kind == CONFIG_SETTING && strcasecmp(line->name, "sort") == 0)
			*ret_changed += 100;
	}
	return others;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *columns;
	struct buffer edited = {0}, again = {0};
	struct config before, after;
	size_t others, changed;
	bool is_edited;

	if (size > CONFIG_BYTES_MAX)
		return 0;
	config_parse(text, size, &before);
	others = look(&before, &columns, &changed);
	/* a result too large to be read back is refused */
	is_edited = config_edit(text, size, "tab mine", changes, 2, &edited, NULL) == 0;
	config_parse(edited.data, edited.length, &after);
	if (!is_edited && size < CONFIG_LINE_MAX / 2)
		abort();
	if (is_edited) {
		if (look(&after, &columns, &changed) != others || changed != 1 || columns == NULL ||
		    strcmp(columns, changes[0].value) != 0)
			abort();
		if (config_edit(edited.data, edited.length, "tab mine", changes, 2, &again, NULL) != 0 ||
		    again.length != edited.length || memcmp(again.data, edited.data, edited.length) != 0)
			abort();
	}
	config_release(&before);
	config_release(&after);
	buffer_release(&edited);
	buffer_release(&again);
	return 0;
}
