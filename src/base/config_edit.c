/* SPDX-License-Identifier: GPL-2.0-only */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config_line.h"
#include "memory.h"

/* Whether a value read back without quotes would be another one. */
static bool needs_quotes(const char *value)
{
	const size_t length = strlen(value);

	if (length == 0)
		return false;
	if (value[0] == '"' || value[0] == '#' || strchr(" \t\r", value[0]) != NULL ||
	    strchr(" \t\r", value[length - 1]) != NULL)
		return true;
	return strstr(value, " #") != NULL || strstr(value, "\t#") != NULL || strstr(value, "\r#") != NULL;
}

void config_append_setting(struct buffer *buffer, const char *key, const char *value)
{
	const bool quoted = needs_quotes(value);

	buffer_append_format(buffer, "%s =%s%s", key, *value != '\0' ? " " : "", quoted ? "\"" : "");
	for (; *value != '\0'; value++) {
		if (quoted && (*value == '"' || *value == '\\'))
			buffer_append_char(buffer, '\\');
		buffer_append_char(buffer, (char)(*value == '\n' ? ' ' : *value));
	}
	buffer_append_text(buffer, quoted ? "\"\n" : "\n");
}

/* Positions in the text. */
struct section_place {
	bool found;
	size_t settings_end; /* behind the last setting of the section, or its head */
};

/* Reads a line as it counts in the section that the walk is in. */
static bool read_in_section(const char *line, size_t length, const char *section, bool *inside,
			    struct config_line *read)
{
	if (!config_read_line(line, length, read))
		return false;
	if (read->kind == CONFIG_SECTION)
		*inside = strcasecmp(read->name, section) == 0;
	return true;
}

static struct section_place find_section(const char *text, size_t length, const char *section)
{
	struct section_place place = {.found = false};
	const char *line, *rest = text;
	size_t line_length, whole;
	bool inside = false;

	while (config_next_line(&rest, &length, &line, &line_length, &whole)) {
		struct config_line read;

		if (!read_in_section(line, line_length, section, &inside, &read))
			continue;
		if (inside) {
			place.found = true;
			place.settings_end = (size_t)(line - text) + whole;
		}
		config_release_line(&read);
	}
	return place;
}

/* The change of a line, or NULL. */
static const struct config_change *find_change(const struct config_line *line,
					       const struct config_change *changes, size_t count)
{
	for (size_t i = 0; line->kind == CONFIG_SETTING && i < count; i++) {
		if (strcasecmp(changes[i].key, line->name) == 0)
			return &changes[i];
	}
	return NULL;
}

/* Counts the lines of each key in the section. */
static void count_lines(const char *text, size_t length, const char *section,
			const struct config_change *changes, size_t change_count, size_t *counts)
{
	const char *line;
	size_t line_length, whole;
	bool inside = false;

	while (config_next_line(&text, &length, &line, &line_length, &whole)) {
		struct config_line read;

		if (!read_in_section(line, line_length, section, &inside, &read))
			continue;
		if (inside && find_change(&read, changes, change_count) != NULL)
			counts[find_change(&read, changes, change_count) - changes]++;
		config_release_line(&read);
	}
}

static void append_missing(const struct config_change *changes, size_t count, const size_t *counts,
			   struct buffer *result)
{
	if (result->length != 0 && result->data[result->length - 1] != '\n')
		buffer_append_char(result, '\n');
	for (size_t i = 0; i < count; i++) {
		if (counts[i] == 0 && changes[i].value != NULL)
			config_append_setting(result, changes[i].key, changes[i].value);
	}
}

static bool has_value(const struct config_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (changes[i].value != NULL)
			return true;
	}
	return false;
}

static void append_section(const char *section, const struct config_change *changes, size_t count,
			   const size_t *counts, struct buffer *result)
{
	if (result->length != 0 && result->data[result->length - 1] != '\n')
		buffer_append_char(result, '\n');
	buffer_append_format(result, "%s[%s]\n", result->length != 0 ? "\n" : "", section);
	append_missing(changes, count, counts, result);
}

/* The setting with its new value, and with its comment. */
static void append_changed(const struct config_change *change, const char *line, size_t length,
			   struct buffer *result)
{
	const size_t comment = config_comment(line, length);

	config_append_setting(result, change->key, change->value);
	result->length--;
	buffer_append(result, line + comment, length - comment);
	buffer_append_char(result, '\n');
}

void config_edit(const char *text, size_t length, const char *section, const struct config_change *changes,
		 size_t change_count, struct buffer *result)
{
	const struct section_place place = find_section(text, length, section);
	size_t *counts = memory_allocate_zero(change_count + 1, sizeof(*counts));
	size_t *met = memory_allocate_zero(change_count + 1, sizeof(*met));
	const char *line, *rest = text;
	size_t line_length, whole;
	bool inside = false;

	count_lines(text, length, section, changes, change_count, counts);
	while (config_next_line(&rest, &length, &line, &line_length, &whole)) {
		const struct config_change *change = NULL;
		struct config_line read;

		if (read_in_section(line, line_length, section, &inside, &read)) {
			change = inside ? find_change(&read, changes, change_count) : NULL;
			config_release_line(&read);
		}
		if (change == NULL)
			buffer_append(result, line, whole);
		else if (change->value != NULL && ++met[change - changes] == counts[change - changes])
			append_changed(change, line, line_length, result);
		if (place.found && (size_t)(line - text) + whole == place.settings_end)
			append_missing(changes, change_count, counts, result);
	}
	if (!place.found && has_value(changes, change_count))
		append_section(section, changes, change_count, counts, result);
	free(met);
	free(counts);
}
