/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_OPTIONS_H
#define CTOP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * Command line options as tables: a table has what an option is called, what it takes, where its value goes
 * and what it is for. Parsing, help and the man page are made from it.
 */

/* The value that an option takes, and the type of the member that it sets. */
enum option_kind {
	OPTION_FLAG,    /* nothing; bool, set to true */
	OPTION_TEXT,    /* const char *, the argument itself */
	OPTION_TEXTS,   /* struct option_texts; may be repeated */
	OPTION_COUNT,   /* uint64_t from minimum to maximum */
	OPTION_NUMBERS, /* struct option_numbers, each from minimum to maximum, with commas; may be repeated
			 */
	OPTION_REAL,    /* double from minimum to maximum */
	OPTION_CHOICE,  /* int, the index in choices */
	OPTION_PARSED,  /* whatever parse() writes */
};

/* The part of the work that an option is about, where a command may have to do without it. */
enum option_about {
	OPTION_ABOUT_ANY,
	OPTION_ABOUT_HOST, /* how this host is read */
	OPTION_ABOUT_ROWS, /* which rows a table has, and in which order */
};

struct option_texts {
	const char **items; /* the arguments themselves */
	size_t count;
	size_t capacity;
};

struct option_numbers {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

struct option {
	char letter;          /* "-g", '\0' for none */
	const char *name;     /* "group-by" for --group-by, NULL for none */
	const char *old_name; /* a name that is still accepted but listed nowhere, NULL for none */
	bool warns_of_old_name;
	enum option_kind kind;
	const char *value_name; /* in help: "AXIS"; NULL for a flag */
	size_t offset;          /* of the member that it sets in the struct of its table */
	double minimum, maximum;
	/* Of OPTION_COUNT and OPTION_REAL: the unit of a plain number ("s", "min", "ms", "B", "MiB"), where
	 * other units of time or size may follow the number instead; NULL: none may. */
	const char *unit;
	const char *const *choices; /* NULL at the end */
	/* Writes `value` to `member`, or returns -EINVAL with a sentence that lists what is valid. */
	int (*parse)(const char *value, void *member, struct error *error);
	const char *description; /* one sentence for help; NULL: describe() appends it */
	void (*describe)(struct buffer *buffer);
	const char *brief; /* a few words for the short help of the program; NULL: it has no place there */
	/*
	 * Whether it may stand in the configuration file, under its name: what is shown and how, but nothing
	 * that widens what is read.
	 */
	bool in_file;
	/* For OPTION_PARSED: parse() sets no member; print() appends something only after it was called. */
	bool is_kept_elsewhere;
	/* For OPTION_PARSED in files: appends the present value as it is written, nothing for none. */
	void (*print)(const void *member, struct buffer *buffer);
	/* Appends words that it takes, each with a newline, for completions; NULL for none but choices. */
	void (*list)(struct buffer *buffer);
	const char *excludes;    /* the name of an option that contradicts it, or NULL */
	enum option_about about; /* for options_refuse() */
};

/*
 * The first members of a struct option, '\0' or NULL where it has none: letter, name, the value's name in
 * help, and the member of `type` that it sets, whose type says what the option takes.
 */
#define OPTION(letter_, name_, value_name_, type, member)                                                    \
	.letter = (letter_), .name = (name_), .value_name = (value_name_), .offset = offsetof(type, member),  \
	.kind = _Generic(((type *)NULL)->member,                                                             \
		bool: OPTION_FLAG,                                                                            \
		const char *: OPTION_TEXT,                                                                    \
		struct option_texts: OPTION_TEXTS,                                                            \
		uint64_t: OPTION_COUNT,                                                                       \
		struct option_numbers: OPTION_NUMBERS,                                                        \
		double: OPTION_REAL,                                                                          \
		int: OPTION_CHOICE)

/* The same of an option whose value `parser` writes to the member. */
#define PARSED_OPTION(letter_, name_, value_name_, type, member, parser)                                     \
	.letter = (letter_), .name = (name_), .kind = OPTION_PARSED, .value_name = (value_name_),            \
	.offset = offsetof(type, member), .parse = (parser)

/* Appends the option's sentence for help. */
void option_describe(const struct option *option, struct buffer *buffer);

/* Options that belong together under one heading of the help, and set members of one struct. */
struct option_table {
	const char *heading; /* "Options", "View" */
	const struct option *options;
	size_t count;
};

/* A table as a command uses it: its struct lies `offset` bytes into the command's options. */
struct option_table_use {
	const struct option_table *table;
	size_t offset;
};

enum {
	OPTIONS_MAX = 128 /* options of one command */
};

/* Options of the tables of a command, by their place there. */
struct option_set {
	bool has[OPTIONS_MAX];
	int operands_before_separator; /* operands that came before the `--` that ends the options; without
					  one, all */
};

/* What the user asks for instead of running the command. */
enum option_request {
	OPTION_REQUEST_NONE,
	OPTION_REQUEST_BRIEF,   /* -h */
	OPTION_REQUEST_HELP,    /* --help */
	OPTION_REQUEST_VERSION, /* -V, --version */
};

/* The operand that parts operands into sets, of commands that have such. */
extern const char options_separator[]; /* "--" */

/*
 * Parses `words` (the first is the first after the command's name) into `values`, the command's options, by
 * the `use_count` tables. Options and operands may be mixed; `--` ends the options, `-` is an operand. With
 * `has_sets` the first `--` after an operand is an operand itself, options_separator, and options may follow.
 * Moves the operands to the front of `words`. Sets `*ret_request` at the first request and stops there. A
 * flag that may stand in a file may have a value, yes or no. `*ret_given` gets the options that are there.
 * Returns the number of operands, or -EINVAL with a sentence: that names the nearest valid word, or two
 * options that contradict each other.
 */
int options_parse(const struct option_table_use *uses, size_t use_count, void *values, char **words,
		  int word_count, bool has_sets, enum option_request *ret_request,
		  struct option_set *ret_given, struct error *error);

/* Whether the option `name` is among `given`. */
bool options_have(const struct option_table_use *uses, size_t use_count, const struct option_set *given,
		  const char *name);

/* Refuses options about something that are among `given`: 0, or -EINVAL with the sentence "--NAME `why`". */
int options_refuse(const struct option_table_use *uses, size_t use_count, const struct option_set *given,
		   enum option_about about, const char *why, struct error *error);

/*
 * Sets the option `name` as a configuration file has it, unless it is among `given`: `value` has to stay
 * where it is. Returns 0, or a negative errno with a sentence that names the nearest valid word: -ENOENT for
 * a name that no option of files has, -EINVAL for a value.
 */
int options_set(const struct option_table_use *uses, size_t use_count, void *values,
		const struct option_set *given, const char *name, const char *value, struct error *error);

/*
 * Appends the present value of an option of files, `member` being what it sets, as it is written in one:
 * nothing if it has none. Of OPTION_TEXTS item `index`. Returns whether it has a value (an item).
 */
bool option_print(const struct option *option, const void *member, size_t index, struct buffer *buffer);

/* Frees the lists that options_parse() has made. */
void options_release(const struct option_table_use *uses, size_t use_count, void *values);

#endif
