/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONFIG_H
#define CTOP_CONFIG_H

#include <stddef.h>

#include "buffer.h"
#include "error.h"

/*
 * The text of a configuration file, which people write by hand:
 *
 *	# a comment
 *	interval = 5
 *	filter = "name with a # in it"    # quotes where a value begins or ends with a blank or has a " #"
 *	[tab mine]
 *	columns = CPU%, RSS
 *
 * A line is empty, a comment, the head of a section or `key = value`; in quotes, \" and \\ stand for
 * themselves. This file knows no names of sections and keys. Reading never fails: a line that is none of
 * these is a problem, and everything else counts.
 */

enum {
	CONFIG_BYTES_MAX = 1 << 18, /* of a file */
	CONFIG_LINE_MAX = 4096,     /* bytes of a line */
	CONFIG_LINES_MAX = 10000,
};

enum config_kind {
	/* name: "tab mine"; the lines of it follow. Of one that cannot be read "", and value says why. */
	CONFIG_SECTION,
	CONFIG_SETTING, /* name, value */
	CONFIG_PROBLEM, /* value: what is wrong with the line, a sentence */
};

struct config_line {
	enum config_kind kind;
	size_t number; /* from 1 */
	char *name, *value;
};

/* The lines that are more than comments, in order. A zeroed struct has none. */
struct config {
	struct config_line *lines;
	size_t count, capacity;
};

/* Reads `length` bytes of text into `*config`, to be ended with config_release(). */
void config_parse(const char *text, size_t length, struct config *config);

void config_release(struct config *config);

/* Appends "KEY = VALUE" and a newline, with quotes where the value needs them. A newline becomes a blank. */
void config_append_setting(struct buffer *buffer, const char *key, const char *value);

/* The change that config_edit() makes to a key of the section. */
struct config_change {
	const char *key;
	const char *value; /* NULL: the key leaves */
};

/*
 * Appends `text` to `result`, with the settings of section `section` (its name without brackets, case
 * ignored) changed. The last line of each key, which is the one that counts, gets the value, and earlier ones
 * are removed; a new key follows the section's last setting. All other lines keep every byte, also comments
 * and names that ctop does not know. A missing section is added at the end unless it would be empty. Returns
 * 0, or -EFBIG with a sentence if the result is too large for a configuration file or config_parse() would
 * not read all of it; `result` is then not to be used.
 */
int config_edit(const char *text, size_t length, const char *section, const struct config_change *changes,
		size_t change_count, struct buffer *result, struct error *error);

#endif
