/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes what a shell completes after `ctop`: commands, their options and the words that these take, from the
 * tables that the program itself uses.
 *
 *     generate bash|zsh|fish OUTPUT
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/commands.h"

/* The value of an option, or an operand. */
enum value_kind {
	VALUE_NONE, /* a flag */
	VALUE_ANY,  /* a text or number, of which nothing is known */
	VALUE_WORDS,
	VALUE_LIST, /* words with commas between */
	VALUE_FILE,
	VALUE_DIRECTORY,
};

static enum value_kind kind_of(const struct option *option)
{
	static const char *const files[] = {"FILE", "OUT", "PATH"};

	if (option->kind == OPTION_FLAG)
		return VALUE_NONE;
	if (option->kind == OPTION_CHOICE)
		return VALUE_WORDS;
	if (option->list != NULL)
		return strstr(option->value_name, ",...") != NULL ? VALUE_LIST : VALUE_WORDS;
	if (strcmp(option->value_name, "DIR") == 0)
		return VALUE_DIRECTORY;
	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		if (strcmp(option->value_name, files[i]) == 0)
			return VALUE_FILE;
	}
	return VALUE_ANY;
}

/* Makes lines to words with a blank between. */
static char *join(struct buffer *lines)
{
	buffer_append_text(lines, "");
	for (size_t i = 0; i < lines->length; i++) {
		if (lines->data[i] == '\n')
			lines->data[i] = i + 1 < lines->length ? ' ' : '\0';
	}
	return buffer_steal(lines);
}

/* The words that an option takes; NULL where it takes none that are known. */
static char *words_of(const struct option *option)
{
	const enum value_kind kind = kind_of(option);
	struct buffer words = {0};

	if (kind != VALUE_WORDS && kind != VALUE_LIST)
		return NULL;
	for (size_t i = 0; option->kind == OPTION_CHOICE && option->choices[i] != NULL; i++)
		buffer_append_format(&words, "%s\n", option->choices[i]);
	if (option->kind != OPTION_CHOICE)
		option->list(&words);
	return join(&words);
}

/* The words that stand for a command's operands; empty where operands are files. */
static char *operands_of(const struct command *command)
{
	struct buffer words = {0};

	if (command->list_operands != NULL)
		command->list_operands(&words);
	return join(&words);
}

/* Whether operands are files. */
static bool takes_files(const struct command *command)
{
	return command->maximum_operands > 0 && command->list_operands == NULL;
}

/* Writes a text in single quotes of a shell, with a backslash before each of `escaped`. */
static void write_quoted(FILE *output, const char *text, const char *escaped)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs("'\\'", output);
		else if (strchr(escaped, *text) != NULL)
			fputc('\\', output);
		fputc(*text, output);
	}
}

static void write_description(FILE *output, const struct option *option, const char *escaped)
{
	struct buffer text = {0};

	option_describe(option, &text);
	/* what stands in a line: the first half of a long sentence */
	text.data[strcspn(text.data, ";")] = '\0';
	write_quoted(output, text.data, escaped);
	buffer_release(&text);
}

static const char *name_of(const struct command *command)
{
	return command->name != NULL ? command->name : "";
}

/* Calls `write` for each option of a command. */
static void each_option(FILE *output, const struct command *command,
			void (*write)(FILE *output, const struct command *command,
				      const struct option *option))
{
	for (size_t t = 0; t < command->table_count; t++) {
		for (size_t i = 0; i < command->tables[t].table->count; i++)
			write(output, command, &command->tables[t].table->options[i]);
	}
}

static void write_names(FILE *output)
{
	for (size_t i = 1; commands[i] != NULL; i++)
		fprintf(output, "%s%s", i > 1 ? " " : "", commands[i]->name);
}

/* --- bash --- */

static void write_bash_option(FILE *output, const struct command *command, const struct option *option)
{
	(void)command;
	if (option->letter != '\0')
		fprintf(output, " -%c", option->letter);
	if (option->name != NULL)
		fprintf(output, " --%s", option->name);
}

static void write_bash_value(FILE *output, const struct command *command, const struct option *option)
{
	const enum value_kind kind = kind_of(option);
	char *words = words_of(option);

	if (kind == VALUE_NONE)
		return;
	fputs("    ", output);
	if (option->letter != '\0')
		fprintf(output, "%s:-%c%s", name_of(command), option->letter,
			option->name != NULL ? " | " : "");
	if (option->name != NULL)
		fprintf(output, "%s:--%s", name_of(command), option->name);
	fputs(")\n        ", output);
	switch (kind) {
	case VALUE_WORDS:
	case VALUE_LIST:
		fprintf(output, "_ctop_%s '%s'", kind == VALUE_LIST ? "list" : "words", words);
		break;
	case VALUE_FILE:
		fputs("_ctop_files -f", output);
		break;
	case VALUE_DIRECTORY:
		fputs("_ctop_files -d", output);
		break;
	default:
		fputs(":", output);
	}
	fputs("\n        return\n        ;;\n", output);
	free(words);
}

static void write_bash(FILE *output)
{
	fputs("# bash completion of ctop, made from its tables\n\n"
	      "_ctop_words()\n{\n    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")\n}\n\n"
	      "# Words with commas between: the last one is completed.\n"
	      "_ctop_list()\n{\n    local before=\n"
	      "    [[ $current == *,* ]] && before=${current%,*},\n"
	      "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\")\n"
	      "    compopt -o nospace 2>/dev/null\n}\n\n"
	      "_ctop_files()\n{\n    compopt -o filenames 2>/dev/null\n"
	      "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$current\")\n}\n\n"
	      "_ctop()\n{\n"
	      "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} "
	      "command=\n\n"
	      "    # --option=value is three words here\n"
	      "    if [[ $current == '=' ]]; then\n        current=\n"
	      "    elif [[ $previous == '=' ]]; then\n        previous=${COMP_WORDS[COMP_CWORD - 2]}\n    "
	      "fi\n"
	      "    COMPREPLY=()\n",
	      output);
	fputs("    if ((COMP_CWORD > 1)); then\n        case ${COMP_WORDS[1]} in\n", output);
	for (size_t i = 1; commands[i] != NULL; i++)
		fprintf(output, "        %s%s%s) command=%s ;;\n", commands[i]->name,
			commands[i]->alias != NULL ? " | " : "",
			commands[i]->alias != NULL ? commands[i]->alias : "", commands[i]->name);
	fputs("        esac\n    fi\n    case $command:$previous in\n", output);
	for (size_t i = 0; commands[i] != NULL; i++)
		each_option(output, commands[i], write_bash_value);
	fputs("    esac\n    case $command:$current in\n", output);
	for (size_t i = 0; commands[i] != NULL; i++) {
		char *operands = operands_of(commands[i]);

		fprintf(output, "    %s:-*) _ctop_words '-h --help", name_of(commands[i]));
		fputs(i == 0 ? " -V --version" : "", output);
		each_option(output, commands[i], write_bash_option);
		fputs("' ;;\n", output);
		if (operands[0] != '\0')
			fprintf(output, "    %s:*) _ctop_words '%s' ;;\n", name_of(commands[i]), operands);
		else if (i != 0 && takes_files(commands[i]))
			fprintf(output, "    %s:*) _ctop_files -f ;;\n", name_of(commands[i]));
		free(operands);
	}
	fputs("    :*)\n        _ctop_files -f\n        if ((COMP_CWORD == 1)); then\n"
	      "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W '",
	      output);
	write_names(output);
	fputs("' -- \"$current\")\n        fi\n        ;;\n    esac\n}\n\ncomplete -F _ctop ctop\n", output);
}

/* --- zsh --- */

static void write_zsh_option(FILE *output, const struct command *command, const struct option *option)
{
	const enum value_kind kind = kind_of(option);
	const bool repeats = option->kind == OPTION_TEXTS || option->kind == OPTION_NUMBERS;
	char *words = words_of(option);
	const char *value_mark = kind != VALUE_NONE ? "+" : "";

	(void)command;
	fputs(" \\\n        ", output);
	if (repeats)
		fputs("'*'", output);
	else if (option->letter != '\0' && option->name != NULL)
		fprintf(output, "'(-%c --%s)'", option->letter, option->name);
	if (option->letter != '\0' && option->name != NULL)
		fprintf(output, "{-%c%s,--%s%s}'", option->letter, value_mark, option->name,
			kind != VALUE_NONE ? "=" : "");
	else if (option->letter != '\0')
		fprintf(output, "'-%c%s", option->letter, value_mark);
	else
		fprintf(output, "'--%s%s", option->name, kind != VALUE_NONE ? "=" : "");
	fputc('[', output);
	write_description(output, option, "[]:\\");
	fputc(']', output);
	if (kind != VALUE_NONE) {
		fputc(':', output);
		write_quoted(output, option->value_name, "[]:\\");
		fputc(':', output);
	}
	if (kind == VALUE_WORDS)
		fprintf(output, "(%s)", words);
	else if (kind == VALUE_LIST)
		fprintf(output, "_sequence -s , compadd - %s", words);
	else if (kind == VALUE_FILE)
		fputs("_files", output);
	else if (kind == VALUE_DIRECTORY)
		fputs("_files -/", output);
	fputc('\'', output);
	free(words);
}

static void write_zsh_command(FILE *output, const struct command *command)
{
	char *operands = operands_of(command);

	fputs("_arguments -s -S '(- *)'{-h,--help}'[print help]'", output);
	if (command->name == NULL)
		fputs(" '(- *)'{-V,--version}'[print the version]'", output);
	each_option(output, command, write_zsh_option);
	if (command->name == NULL)
		fputs(" \\\n        '1: :_ctop_first' '*:file:_files'", output);
	else if (operands[0] != '\0')
		fprintf(output, " \\\n        '*:name:(%s)'", operands);
	else if (takes_files(command))
		fputs(" \\\n        '*:file:_files'", output);
	fputc('\n', output);
	free(operands);
}

static void write_zsh(FILE *output)
{
	fputs("#compdef ctop\n# zsh completion of ctop, made from its tables\n\n"
	      "_ctop_first()\n{\n    local -a names\n    names=(\n",
	      output);
	for (size_t i = 1; commands[i] != NULL; i++) {
		fprintf(output, "        '%s:", commands[i]->name);
		write_quoted(output, commands[i]->summary, ":\\");
		fputs("'\n", output);
	}
	fputs("    )\n    _describe -t commands command names\n    _files\n}\n\n_ctop()\n{\n"
	      "    local command=\n\n    (( CURRENT > 2 )) && command=$words[2]\n    case $command in\n",
	      output);
	for (size_t i = 1; commands[i] != NULL; i++) {
		fprintf(output, "    %s%s%s)\n        shift words\n        (( CURRENT-- ))\n        ",
			commands[i]->name, commands[i]->alias != NULL ? "|" : "",
			commands[i]->alias != NULL ? commands[i]->alias : "");
		write_zsh_command(output, commands[i]);
		fputs("        ;;\n", output);
	}
	fputs("    *)\n        ", output);
	write_zsh_command(output, commands[0]);
	fputs("        ;;\n    esac\n}\n\n"
	      "# loaded by a function's name, or sourced\n"
	      "if [[ $funcstack[1] == _ctop ]]; then\n    _ctop \"$@\"\nelse\n    compdef _ctop ctop\nfi\n",
	      output);
}

/* --- fish --- */

static void write_fish_condition(FILE *output, const struct command *command)
{
	fputs("complete -c ctop -n '", output);
	if (command->name == NULL)
		fputs("not __fish_seen_subcommand_from $__ctop_commands", output);
	else
		fprintf(output, "__fish_seen_subcommand_from %s%s%s", command->name,
			command->alias != NULL ? " " : "", command->alias != NULL ? command->alias : "");
	fputc('\'', output);
}

static void write_fish_option(FILE *output, const struct command *command, const struct option *option)
{
	const enum value_kind kind = kind_of(option);
	char *words = words_of(option);

	write_fish_condition(output, command);
	if (option->letter != '\0')
		fprintf(output, " -s %c", option->letter);
	if (option->name != NULL)
		fprintf(output, " -l %s", option->name);
	switch (kind) {
	case VALUE_WORDS:
		fprintf(output, " -x -a '(string split \" \" \"%s\")'", words);
		break;
	case VALUE_LIST:
		fprintf(output, " -x -a '(__fish_append , (string split \" \" \"%s\"))'", words);
		break;
	case VALUE_FILE:
		fputs(" -r -F", output);
		break;
	case VALUE_DIRECTORY:
		fputs(" -x -a '(__fish_complete_directories)'", output);
		break;
	case VALUE_ANY:
		fputs(" -x", output);
		break;
	default:
		break;
	}
	fputs(" -d '", output);
	write_description(output, option, "\\");
	fputs("'\n", output);
	free(words);
}

static void write_fish(FILE *output)
{
	fputs("# fish completion of ctop, made from its tables\n\nset -g __ctop_commands ", output);
	write_names(output);
	for (size_t i = 1; commands[i] != NULL; i++) {
		if (commands[i]->alias != NULL)
			fprintf(output, " %s", commands[i]->alias);
	}
	fputs("\n\ncomplete -c ctop -s h -l help -d 'print help'\n"
	      "complete -c ctop -n '__fish_use_subcommand' -s V -l version -d 'print the version'\n",
	      output);
	for (size_t i = 1; commands[i] != NULL; i++) {
		fprintf(output, "complete -c ctop -n '__fish_use_subcommand' -a %s -d '", commands[i]->name);
		write_quoted(output, commands[i]->summary, "\\");
		fputs("'\n", output);
	}
	for (size_t i = 0; commands[i] != NULL; i++) {
		char *operands = operands_of(commands[i]);

		each_option(output, commands[i], write_fish_option);
		if (commands[i]->name != NULL && !takes_files(commands[i])) {
			write_fish_condition(output, commands[i]);
			/* fish reads bare words as a command line, in which WAIT>1s would be a redirection */
			fprintf(output, " -f -a '(string split \" \" \"%s\")'\n", operands);
		}
		free(operands);
	}
}

static const struct {
	const char *name;
	void (*write)(FILE *output);
} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};

int main(int argc, char **argv)
{
	FILE *output;

	for (size_t i = 0; argc == 3 && i < ARRAY_COUNT(shells); i++) {
		if (strcmp(argv[1], shells[i].name) != 0)
			continue;
		output = fopen(argv[2], "we");
		if (output != NULL)
			shells[i].write(output);
		if (output == NULL || (ferror(output) | fclose(output)) != 0) {
			fprintf(stderr, "generate: %s: %s\n", argv[2], strerror(errno));
			return EXIT_FAILURE;
		}
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "usage: generate bash|zsh|fish OUTPUT\n");
	return EXIT_FAILURE;
}
