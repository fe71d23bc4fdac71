/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONFIG_FILE_H
#define CTOP_CONFIG_FILE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/config.h"
#include "base/error.h"

/*
 * The user's configuration file: $XDG_CONFIG_HOME/ctop/ctop.conf, by default ~/.config/ctop/ctop.conf.
 *
 * It is opened with the user's own rights: never by a program that runs setuid or setgid, and where the
 * program has capabilities, while none of them is effective (privilege.h). It counts only if it belongs to
 * the user or to root and not everybody may write to it. Since it may hang as every file may, it is read in a
 * process of its own.
 */
struct config_file {
	char *path; /* NULL for none */
	struct buffer text;
	struct config config;
	/* Problems with it that the user was told about. */
	char *first_problem; /* NULL for none */
	size_t problem_count;
};

/*
 * A path of the user by the XDG Base Directory Specification: `name` below the directory in the environment
 * `variable`, by default below `directory` of the home directory. NULL for neither. Owned by the caller.
 */
char *config_file_user_path(const char *variable, const char *directory, const char *name);

/* The path of the user's file, which may not exist; NULL without a home directory. Owned by the caller. */
char *config_file_path(void);

/*
 * Reads the file `path`, or for NULL the user's own, which need not exist, into `*file`; release it with
 * config_file_release() in any case. Problems of a file that the user has not named, and of lines, are told
 * to him. Returns 0, or a negative errno with a sentence for a file that was named.
 */
int config_file_read(const char *path, struct config_file *file, struct error *error);

/* Tells the user of something wrong in a line of the file (0: in all of it), on stderr; counts it. */
void config_file_problem(struct config_file *file, size_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The line that a value of the file's settings stands in; 0 for any other text. */
size_t config_file_line(const struct config_file *file, const char *value);

void config_file_release(struct config_file *file);

/*
 * Makes the directories above a path, private ones as the XDG Base Directory Specification asks. Failures are
 * left to who makes the file itself.
 */
void config_file_make_directories(const char *path);

/*
 * Changes one section of the file `path`, which is made if it does not exist, directory included: see
 * config_edit(). It is replaced at once or not at all and keeps its permissions; a new one has 0644 less the
 * umask. Returns 0, or a negative errno with a sentence.
 */
int config_file_edit(const char *path, const char *section, const struct config_change *changes, size_t count,
		     struct error *error);

#endif
