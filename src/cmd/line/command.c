/* SPDX-License-Identifier: GPL-2.0-only */
#include "command.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "metric/nearest.h"
#include "base/unicode.h"

enum {
	COMMANDS_MAX = 32
};

static bool is_called(const struct command *command, const char *name)
{
	return command->name != NULL && (strcmp(command->name, name) == 0 ||
					 (command->alias != NULL && strcmp(command->alias, name) == 0));
}

const struct command *command_find(command_table commands, const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		if (is_called(commands[i], name))
			return commands[i];
	}
	return NULL;
}

int command_unknown(command_table commands, const char *name, struct error *error)
{
	const char *names[COMMANDS_MAX];
	size_t count = 0;

	for (size_t i = 0; commands[i] != NULL && count < COMMANDS_MAX; i++) {
		if (commands[i]->name != NULL)
			names[count++] = commands[i]->name;
	}
	return nearest_refuse(error, "command", name, names, count);
}

static void print_note(const char *text)
{
	struct buffer line = {0};

	buffer_append_text(&line, "ctop: ");
	unicode_append_printable(&line, text, strlen(text), "?");
	buffer_append_char(&line, '\n');
	file_write_all(STDERR_FILENO, line.data, line.length);
	buffer_release(&line);
}

void command_note(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = memory_format_list(format, arguments);
	va_end(arguments);
	print_note(text);
	free(text);
}

int command_failed(const struct error *error)
{
	print_note(error->text);
	return COMMAND_FAILED;
}

int command_misused(const struct command *command, const struct error *error)
{
	print_note(error->text);
	if (command != NULL && command->name != NULL)
		command_note("see 'ctop %s --help'", command->name);
	else
		command_note("see 'ctop --help'");
	return COMMAND_MISUSED;
}
