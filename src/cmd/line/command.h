/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMMAND_H
#define CTOP_COMMAND_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "options.h"

/*
 * The interface of commands. Each is one file of src/cmd with one `const struct command`, declared in
 * cmd/commands.h and listed in commands.c; dispatch, option parsing, usage errors and help are made from it.
 * A short example is doctor.c.
 */

/* Exit statuses of the process. */
enum command_status {
	COMMAND_DONE = 0,
	COMMAND_FAILED = 1,
	COMMAND_MISUSED = 2,
	COMMAND_RULE_BROKEN = 3,
	COMMAND_NOT_JUDGED = 4,
};

/* What a command is for: the headings of the short help. */
enum command_purpose {
	COMMAND_LOOKS,
	COMMAND_KEEPS,
	COMMAND_SERVES,
	COMMAND_CHECKS,
	COMMAND_PURPOSES,
};

struct command {
	const char *name;    /* NULL for the live screen, which needs none */
	const char *alias;   /* a second name, or NULL */
	const char *summary; /* what it does, without a period: at most 66 characters, or -h has two lines */
	enum command_purpose purpose;
	const char *usage;   /* what follows the name: "FILE [OPTION]..." */
	const char *details; /* more sentences for its help, NULL for none */
	const struct option_table_use *tables;
	size_t table_count;
	size_t options_size;                 /* of the struct that the tables set */
	void (*set_defaults)(void *options); /* called on the zeroed struct; NULL: zero is the default */
	int minimum_operands, maximum_operands;
	bool has_sets;      /* a `--` between operands parts them into sets: see options_parse() */
	bool runs_operands; /* operands are a command to run, and stand after `--` */
	/* Appends words that operands may be, each with a newline, for completions; NULL where they are
	 * files. */
	void (*list_operands)(struct buffer *buffer);
	/*
	 * The command that should do the work, judging by the options understood so far and the number of
	 * operands; it then parses the words itself. Returns NULL for this command. May be NULL.
	 */
	const struct command *(*instead)(const void *options, int operand_count);
	/*
	 * Sets what the command line has not (`given`) from the configuration file; NULL for a command that
	 * has none. Returns 0, or a negative errno with a sentence. What it keeps is freed by run().
	 */
	int (*configure)(void *options, const struct option_set *given, struct error *error);
	/*
	 * Does the work and returns the exit status. `operands` are operand_count words and a NULL. Lists in
	 * `options` are freed by the caller.
	 */
	int (*run)(void *options, char **operands, int operand_count);
};

/* All commands: first the one that is run when none is named, at the end a NULL. */
typedef const struct command *const command_table[];

/* The command of that name or alias, or NULL. */
const struct command *command_find(command_table commands, const char *name);

/* Writes the unknown-command sentence with the nearest name; returns -EINVAL. */
int command_unknown(command_table commands, const char *name, struct error *error);

/* Prints the sentence to stderr, fit for a terminal, and returns COMMAND_FAILED. */
int command_failed(const struct error *error);

/* The same with a pointer to the help of `command` (NULL: of the program); returns COMMAND_MISUSED. */
int command_misused(const struct command *command, const struct error *error);

/* Prints "ctop: " and the formatted text to stderr, fit for a terminal, as one line. */
void command_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
