/* SPDX-License-Identifier: GPL-2.0-only */
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/unicode.h"
#include "output.h"

enum {
	COMMANDS_MAX = 32
};

static bool is_called(const struct command *command, const char *name)
{
	return command->name != NULL && (strcmp(command->name, name) == 0 ||
					 (command->alias != NULL && strcmp(command->alias, name) == 0));
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		if (is_called(commands[i], name))
			return commands[i];
	}
	return NULL;
}

/* The command that needs no name, NULL when this build has none. */
static const struct command *unnamed_command(void)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		if (commands[i]->name == NULL)
			return commands[i];
	}
	return NULL;
}

int command_unknown(const char *name, struct error *error)
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
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
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

static int check_operand_count(const struct command *command, char **operands, int count, struct error *error)
{
	if (command->name == NULL && count > 0 && command_find(operands[0]) != NULL)
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
static bool is_slip(const struct command *command, char **operands, int count)
{
	return command->name == NULL && count > 0 && command_find(operands[0]) == NULL &&
	       strcmp(operands[0], "-") != 0 && operands[0][0] != '\0' && strchr(operands[0], '/') == NULL &&
	       strchr(operands[0], '.') == NULL && access(operands[0], F_OK) != 0;
}

static int run(const struct command *command, char **words, int word_count)
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
		status = command_print_help(command->name != NULL ? command : NULL);
	} else if (operands < 0) {
		status = command_misused(command, &error);
	} else if (is_slip(command, words, operands)) {
		command_unknown(words[0], &error);
		status = command_misused(NULL, &error);
	} else if (check_operand_count(command, words, operands, &error) < 0) {
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

int command_run(int argc, char **argv)
{
	const struct command *command;
	struct error error;

	if (argc > 1 && is_one_of(argv[1], "-V", "--version"))
		return print_version();
	command = argc > 1 ? command_find(argv[1]) : NULL;
	if (command != NULL)
		return run(command, argv + 2, argc - 2);
	command = unnamed_command();
	if (command != NULL)
		return run(command, argv + 1, argc > 0 ? argc - 1 : 0);
	if (argc < 2 || is_one_of(argv[1], "-h", "--help"))
		return command_print_help(NULL);
	command_unknown(argv[1], &error);
	return command_misused(NULL, &error);
}
