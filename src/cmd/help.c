/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop help`. */
#include <string.h>

#include "cmd/line/help.h"
#include "cmd/line/output.h"
#include "commands.h"
#include "describe.h"

/* What there is help about besides commands. */
static const struct {
	const char *name;
	void (*append)(struct buffer *buffer);
} topics[] = {{"columns", describe_columns}, {"filter", describe_filter}, {"keys", describe_keys}};

static void list_names(struct buffer *buffer)
{
	for (size_t i = 1; commands[i] != NULL; i++)
		buffer_append_format(buffer, "%s\n", commands[i]->name);
	for (size_t i = 0; i < ARRAY_COUNT(topics); i++)
		buffer_append_format(buffer, "%s\n", topics[i].name);
}

static int help_run(void *options, char **operands, int operand_count)
{
	const struct command *command;
	struct error error;

	(void)options;
	if (operand_count == 0)
		return help_print(commands, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(topics); i++) {
		struct output output = {0};

		if (strcmp(operands[0], topics[i].name) != 0)
			continue;
		topics[i].append(&output.buffer);
		return output_end(&output);
	}
	command = command_find(commands, operands[0]);
	if (command == NULL) {
		command_unknown(commands, operands[0], &error);
		return command_misused(NULL, &error);
	}
	return help_print(commands, command);
}

const struct command help_command = {
	.name = "help",
	.summary = "print help about the program, a command, the columns and keys of the screen, or filters",
	.usage = "[COMMAND|columns|filter|keys]",
	.list_operands = list_names,
	.maximum_operands = 1,
	.run = help_run,
};
