/* SPDX-License-Identifier: GPL-2.0-only */
#include "help.h"

#include <string.h>

#include "output.h"

enum {
	HELP_WIDTH = 79,
	OPTION_COLUMN = 30,
	SUMMARY_COLUMN = 12,
	BRIEF_VALUE_CELLS = 7,
};

void help_append_wrapped(struct buffer *buffer, const char *text, const char *head, size_t column)
{
	size_t at = column;

	while (*text != '\0') {
		size_t word = strcspn(text, " ");

		if (at > column && at + 1 + word > HELP_WIDTH) {
			buffer_append_format(buffer, "\n%-*s", (int)column, head);
			at = column;
		} else if (at > column) {
			buffer_append_char(buffer, ' ');
			at++;
		}
		buffer_append(buffer, text, word);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
	buffer_append_char(buffer, '\n');
}

static void append_option(struct buffer *buffer, const struct option *option)
{
	struct buffer description = {0};
	size_t start = buffer->length;
	size_t used;

	if (option->letter != '\0')
		buffer_append_format(buffer, "  -%c%s", option->letter, option->name != NULL ? ", " : "");
	else
		buffer_append_text(buffer, "      ");
	if (option->name != NULL)
		buffer_append_format(buffer, "--%s", option->name);
	if (option->value_name != NULL)
		buffer_append_format(buffer, " %s", option->value_name);
	used = buffer->length - start;
	if (used + 2 > OPTION_COLUMN) {
		buffer_append_char(buffer, '\n');
		used = 0;
	}
	buffer_append_format(buffer, "%*s", (int)(OPTION_COLUMN - used), "");
	option_describe(option, &description);
	help_append_wrapped(buffer, description.data, "", OPTION_COLUMN);
	buffer_release(&description);
}

static void append_options(struct buffer *buffer, const struct command *command)
{
	for (size_t t = 0; t < command->table_count; t++) {
		const struct option_table *table = command->tables[t].table;

		buffer_append_format(buffer, "\n%s:\n", table->heading);
		for (size_t i = 0; i < table->count; i++)
			append_option(buffer, &table->options[i]);
	}
}

static void append_command(struct buffer *buffer, const struct command *command)
{
	buffer_append_format(buffer, "Usage: ctop %s %s\n\n", command->name, command->usage);
	buffer_append_format(buffer, "%s: %s.\n", command->name, command->summary);
	if (command->alias != NULL)
		buffer_append_format(buffer, "Also called %s.\n", command->alias);
	if (command->details != NULL) {
		buffer_append_char(buffer, '\n');
		help_append_wrapped(buffer, command->details, "", 0);
	}
	append_options(buffer, command);
}

static void append_program(struct buffer *buffer, command_table commands)
{
	const struct command *live = commands[0];

	buffer_append_format(buffer, "Usage: ctop %s\n       ", live->usage);
	buffer_append_text(buffer, "ctop COMMAND [ARGUMENT]...\n\n"
				   "ctop shows which groups of threads are running, waiting, reading and "
				   "allocating.\n\nCommands:\n");
	for (size_t i = 1; commands[i] != NULL; i++) {
		buffer_append_format(buffer, "  %-*s", SUMMARY_COLUMN - 2, commands[i]->name);
		help_append_wrapped(buffer, commands[i]->summary, "", SUMMARY_COLUMN);
	}
	append_options(buffer, live);
	buffer_append_text(buffer,
			   "\n  -h, --help                  print help, also after a command; -h is short\n"
			   "  -V, --version               print the version and what is built in\n");
}

static void append_brief_commands(struct buffer *buffer, command_table commands)
{
	static const char *const headings[COMMAND_PURPOSES] = {
		[COMMAND_LOOKS] = "Look",
		[COMMAND_KEEPS] = "Keep",
		[COMMAND_SERVES] = "Serve",
		[COMMAND_CHECKS] = "Check",
	};

	for (size_t purpose = 0; purpose < COMMAND_PURPOSES; purpose++) {
		buffer_append_format(buffer, "%s:\n", headings[purpose]);
		for (size_t i = 1; commands[i] != NULL; i++) {
			if (commands[i]->purpose != purpose)
				continue;
			buffer_append_format(buffer, "  %-*s", SUMMARY_COLUMN - 2, commands[i]->name);
			help_append_wrapped(buffer, commands[i]->summary, "", SUMMARY_COLUMN);
		}
	}
}

static void append_brief_options(struct buffer *buffer, const struct command *command)
{
	buffer_append_text(buffer, "Options of the screen:\n");
	for (size_t t = 0; t < command->table_count; t++) {
		const struct option_table *table = command->tables[t].table;

		for (size_t i = 0; i < table->count; i++) {
			const struct option *option = &table->options[i];

			const char *value = option->value_name != NULL ? option->value_name : "";

			if (option->brief != NULL)
				buffer_append_format(buffer, "  -%c %-*.*s %s\n", option->letter,
						     BRIEF_VALUE_CELLS, (int)strcspn(value, "["), value,
						     option->brief);
		}
	}
}

int help_print_brief(command_table commands)
{
	struct output output = {0};
	struct buffer *buffer = &output.buffer;

	buffer_append_text(
		buffer,
		"Usage: ctop [OPTION]... [FILE [FILE]]    the screen: this host, a file, two compared\n"
		"       ctop COMMAND [ARGUMENT]...\n\n");
	append_brief_commands(buffer, commands);
	append_brief_options(buffer, commands[0]);
	buffer_append_text(buffer,
			   "Examples:\n"
			   "  ctop -c nginx.service                     one service\n"
			   "  ctop capture --for 10 -o a.ctprof.zst     keep ten seconds\n"
			   "  ctop a.ctprof.zst b.ctprof.zst            what changed\n"
			   "  ctop show @03:12                          what was recorded\n"
			   "\nAll options: ctop --help. A command: ctop COMMAND --help. Topics: ctop help\n"
			   "columns, filters, keys, rules or times. Everything: man ctop.\n");
	return output_end(&output);
}

int help_print(command_table commands, const struct command *command)
{
	struct output output = {0};

	if (command != NULL)
		append_command(&output.buffer, command);
	else
		append_program(&output.buffer, commands);
	return output_end(&output);
}
