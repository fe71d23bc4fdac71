/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HELP_H
#define CTOP_HELP_H

#include "command.h"

/*
 * Prints the help of a command, or of the whole program for NULL, to stdout; returns the exit status. It is
 * made from the table of commands and their option tables.
 */
int help_print(command_table commands, const struct command *command);

/* Prints the short help of the program in the same way: commands by purpose, the commonest options, examples.
 */
int help_print_brief(command_table commands);

/* Appends a text in lines of at most 79 characters with a newline at the end. The first line begins at
 * `column` already; the others get `head` and blanks up to there. */
void help_append_wrapped(struct buffer *buffer, const char *text, const char *head, size_t column);

#endif
