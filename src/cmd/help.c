/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop help`. */
#include "cmd/line/help.h"
#include "commands.h"

static int help_run(void *options, char **operands, int operand_count)
{
	const struct command *command;
	struct error error;

	(void)options;
	if (operand_count == 0)
		return help_print(commands, NULL);
	command = command_find(commands, operands[0]);
	if (command == NULL) {
		command_unknown(commands, operands[0], &error);
		return command_misused(NULL, &error);
	}
	return help_print(commands, command);
}

const struct command help_command = {
	.name = "help",
	.summary = "print help about the program or a command",
	.usage = "[COMMAND]",
	.maximum_operands = 1,
	.run = help_run,
};
