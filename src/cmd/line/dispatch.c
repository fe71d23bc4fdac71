/* SPDX-License-Identifier: GPL-2.0-only */
#include "dispatch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/supervisor.h"
#include "built_with.h"
#include "help.h"
#include "output.h"

static int check_operand_count(command_table commands, const struct command *command, char **operands,
			       int count, const struct option_set *given, struct error *error)
{
	if (command->name == NULL && count > 0 && command_find(commands, operands[0]) != NULL)
		return error_set(error, -EINVAL, "'%s' must come first: ctop %s ...", operands[0],
				 operands[0]);
	if (count < command->minimum_operands)
		return error_set(error, -EINVAL, "%s needs %s: ctop %s %s",
				 command->name != NULL ? command->name : "ctop",
				 command->minimum_operands == 1 ? "a file" : "two files",
				 command->name != NULL ? command->name : "", command->usage);
	if (command->runs_operands && given->operands_before_separator != 0)
		return error_set(error, -EINVAL,
				 "'%.100s' is one word too many; a command to run follows --: ctop %s %s",
				 operands[0], command->name, command->usage);
	if (count <= command->maximum_operands)
		return 0;
	return error_set(error, -EINVAL, "'%.100s' is one word too many: ctop %s%s%s",
			 operands[command->maximum_operands], command->name != NULL ? command->name : "",
			 command->name != NULL ? " " : "", command->usage);
}

/* A first word that is neither a command nor a file, nor a moment (@-1h), is a command's name misspelt. */
static bool is_slip(command_table commands, const struct command *command, char **operands, int count)
{
	return command->name == NULL && count > 0 && command_find(commands, operands[0]) == NULL &&
	       strcmp(operands[0], "-") != 0 && operands[0][0] != '\0' && strchr(operands[0], '/') == NULL &&
	       strchr(operands[0], '.') == NULL && strchr(operands[0], '@') == NULL &&
	       access(operands[0], F_OK) != 0;
}

/* The words typed after a command's name, as that command reads them. */
struct command_words {
	const struct command *command;
	void *options;
	char **words; /* operands first */
	int operands; /* negative: the options are wrong, see `error` */
	struct option_set given;
	enum option_request request;
	struct error error;
};

static void read_words(const struct command *command, char *const *typed, int count,
		       struct command_words *reading)
{
	*reading = (struct command_words){
		.command = command,
		.options = memory_allocate_zero(1, command->options_size + 1),
		.words = memory_allocate_zero((size_t)count + 1, sizeof(*reading->words)),
	};
	for (int i = 0; i < count; i++)
		reading->words[i] = typed[i];
	if (command->set_defaults != NULL)
		command->set_defaults(reading->options);
	reading->operands = options_parse(command->tables, command->table_count, reading->options,
					  reading->words, count, command->has_sets, &reading->request,
					  &reading->given, &reading->error);
}

static void release(struct command_words *reading)
{
	options_release(reading->command->tables, reading->command->table_count, reading->options);
	free(reading->options);
	free(reading->words);
}

/* The command that runs instead. Where the options are invalid, that is one for which they are valid. */
static const struct command *find_instead(command_table commands, const struct command_words *reading,
					  char *const *typed, int count)
{
	const struct command *command = reading->command, *found = NULL;

	if (command->instead == NULL || reading->request != OPTION_REQUEST_NONE)
		return NULL;
	if (reading->operands >= 0) {
		if (reading->operands > 0 && command_find(commands, reading->words[0]) != NULL)
			return NULL;
		return is_slip(commands, command, reading->words, reading->operands)
			       ? NULL
			       : command->instead(reading->options, reading->operands);
	}
	for (int i = 1; found == NULL && i <= command->maximum_operands; i++) {
		const struct command *other = command->instead(reading->options, i);
		struct command_words attempt;

		if (other == NULL)
			continue;
		read_words(other, typed, count, &attempt);
		if (attempt.operands == i && command_find(commands, attempt.words[0]) == NULL)
			found = other;
		release(&attempt);
	}
	return found;
}

static int print_version(void)
{
	struct output output = {0};

	buffer_append_text(&output.buffer, "ctop " CTOP_VERSION "\nfeatures: " CTOP_FEATURES
					   "\nlibraries: " CTOP_LIBRARIES "\n");
	return output_end(&output);
}

static int run(command_table commands, const struct command *command, char *const *typed, int count)
{
	const struct command *instead;
	struct command_words reading;
	int status;

	read_words(command, typed, count, &reading);
	instead = find_instead(commands, &reading, typed, count);
	if (instead != NULL) {
		status = run(commands, instead, typed, count);
		if (status == COMMAND_MISUSED)
			command_note("without the screen this is 'ctop %s'", instead->name);
	} else if (reading.operands < 0) {
		status = command_misused(command, &reading.error);
	} else if (reading.request == OPTION_REQUEST_BRIEF && command->name == NULL) {
		status = help_print_brief(commands);
	} else if (reading.request == OPTION_REQUEST_BRIEF || reading.request == OPTION_REQUEST_HELP) {
		status = help_print(commands, command->name != NULL ? command : NULL);
	} else if (reading.request == OPTION_REQUEST_VERSION) {
		status = print_version();
	} else if (is_slip(commands, command, reading.words, reading.operands)) {
		command_unknown(commands, reading.words[0], &reading.error);
		status = command_misused(NULL, &reading.error);
	} else if (check_operand_count(commands, command, reading.words, reading.operands, &reading.given,
				       &reading.error) < 0) {
		status = command_misused(command, &reading.error);
	} else if (command->configure != NULL &&
		   command->configure(reading.options, &reading.given, &reading.error) < 0) {
		status = command_failed(&reading.error);
	} else {
		reading.words[reading.operands] = NULL;
		status = command->run(reading.options, reading.words, reading.operands);
	}
	release(&reading);
	return status;
}

int dispatch_run(command_table commands, int argc, char **argv)
{
	const struct command *command;
	struct error error;
	int status;

	/* before there is a thread, or anything open */
	if (supervisor_start(&error) < 0)
		command_note("what hangs on this host may hold ctop up: %s", error.text);
	command = argc > 1 ? command_find(commands, argv[1]) : NULL;
	if (command != NULL)
		status = run(commands, command, argv + 2, argc - 2);
	else
		status = run(commands, commands[0], argv + 1, argc > 0 ? argc - 1 : 0);
	supervisor_stop();
	return status;
}
