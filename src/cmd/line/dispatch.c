/* SPDX-License-Identifier: GPL-2.0-only */
#include "dispatch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "help.h"
#include "output.h"

static int check_operand_count(command_table commands, const struct command *command, char **operands,
			       int count, struct error *error)
{
	if (command->name == NULL && count > 0 && command_find(commands, operands[0]) != NULL)
		return error_set(error, -EINVAL, "'%s' must come first: ctop %s ...", operands[0],
				 operands[0]);
	if (count < command->minimum_operands)
		return error_set(error, -EINVAL, "%s needs %s: ctop %s %s",
				 command->name != NULL ? command->name : "ctop",
				 command->minimum_operands == 1 ? "a file" : "two files",
				 command->name != NULL ? command->name : "", command->usage);
	if (count <= command->maximum_operands)
		return 0;
	return error_set(error, -EINVAL, "'%s' is one word too many: ctop %s%s%s",
			 operands[command->maximum_operands], command->name != NULL ? command->name : "",
			 command->name != NULL ? " " : "", command->usage);
}

/* A word in a command's place that is neither a command nor a file is a slip of the pen. */
static bool is_slip(command_table commands, const struct command *command, char **operands, int count)
{
	return command->name == NULL && count > 0 && command_find(commands, operands[0]) == NULL &&
	       strcmp(operands[0], "-") != 0 && operands[0][0] != '\0' && strchr(operands[0], '/') == NULL &&
	       strchr(operands[0], '.') == NULL && access(operands[0], F_OK) != 0;
}

static int run(command_table commands, const struct command *command, char **words, int word_count)
{
	void *options = memory_allocate_zero(1, command->options_size + 1);
	struct error error;
	bool help;
	int operands, status;

	if (command->set_defaults != NULL)
		command->set_defaults(options);
	operands = options_parse(command->tables, command->table_count, options, words, word_count, &help,
				 &error);
	if (operands >= 0 && help) {
		status = help_print(commands, command->name != NULL ? command : NULL);
	} else if (operands < 0) {
		status = command_misused(command, &error);
	} else if (is_slip(commands, command, words, operands)) {
		command_unknown(commands, words[0], &error);
		status = command_misused(NULL, &error);
	} else if (check_operand_count(commands, command, words, operands, &error) < 0) {
		status = command_misused(command, &error);
	} else {
		char **list = memory_allocate_zero((size_t)operands + 1, sizeof(*list));

		for (int i = 0; i < operands; i++)
			list[i] = words[i];
		status = command->run(options, list, operands);
		free(list);
	}
	options_release(command->tables, command->table_count, options);
	free(options);
	return status;
}

static int print_version(void)
{
	struct error error;
	struct output output;

	if (output_open(&output, NULL, &error) < 0)
		return command_failed(&error);
	buffer_append_text(&output.buffer, "ctop " CTOP_VERSION "\n");
	return output_close(&output, &error) < 0 ? output_failed(&output, &error) : COMMAND_DONE;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

int dispatch_run(command_table commands, int argc, char **argv)
{
	const struct command *command;

	if (argc > 1 && is_one_of(argv[1], "-V", "--version"))
		return print_version();
	command = argc > 1 ? command_find(commands, argv[1]) : NULL;
	if (command != NULL)
		return run(commands, command, argv + 2, argc - 2);
	return run(commands, commands[0], argv + 1, argc > 0 ? argc - 1 : 0);
}
