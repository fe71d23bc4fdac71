/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DATABASE_H
#define CTOP_DATABASE_H

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A file of SQLite, for the history alone. Errors of SQLite become a negative errno and a sentence that names
 * the file and what would help.
 *
 * The file may have been made to do harm. So its schema is the one that we write, to the letter: there are no
 * views, triggers or indexes that could run. A statement may take no more steps than the file could hold
 * rows, and no longer than a deadline, after which no other one is run; a value is no larger than the file.
 * Files that are read are opened as sqlite_reader.h says. A writer whose files somebody else may change maps
 * none of them either, and keeps other programs out while it writes.
 */
struct database {
	sqlite3 *connection; /* NULL: not open */
	char *path;
	bool is_reader;
	uint64_t deadline_ns; /* of the statement that runs, CLOCK_MONOTONIC */
	uint64_t steps_left;
	bool is_given_up; /* a statement took too long: no other one is run */
};

enum {
	DATABASE_APPLICATION = 0x63746f70, /* "ctop", in the header of the file */
};

enum database_access {
	DATABASE_READ,
	DATABASE_WRITE,
};

/* The kind of file that is expected. */
struct database_kind {
	int version;               /* PRAGMA user_version */
	const char *const *tables; /* each CREATE TABLE statement, as SQLite keeps it */
	size_t table_count;
};

/*
 * Opens the file at `path`. To write, a missing file is made (mode 0640, less the umask) with its tables, and
 * put into WAL mode. Returns 0 or a negative errno with a sentence: -ENOENT to read; -ENODATA to read,
 * nothing is in it yet; -EMEDIUMTYPE no file of SQLite, one of another program, or one with other tables;
 * -EPROTONOSUPPORT it is of a newer version; -EBADMSG it is damaged; others as SQLite and the system give
 * them. A zeroed struct is not open.
 */
int database_open(struct database *database, const char *path, enum database_access access,
		  const struct database_kind *kind, struct error *error);

/* Ends it; of a file that was written, the write-ahead log goes into it, so that it can be read without right
 * to write. Nothing for one that is not open. */
void database_close(struct database *database);

/* Whether the path of an open file does not lead to it any more: it was removed, moved or replaced, and what
 * is written would be found by nobody. */
bool database_has_moved(const struct database *database);

/* Whether an errno of database_open() and of what is written says that the file itself is no good, so that
 * another one has to take its place. */
static inline bool database_is_unusable(int result)
{
	return result == -EBADMSG || result == -EMEDIUMTYPE || result == -EPROTONOSUPPORT;
}

/* The size of a file and its log, bytes. */
uint64_t database_bytes(const struct database *database);

/* Runs statements that give no rows. */
int database_run(struct database *database, const char *statements, struct error *error);

/* Prepares a statement; NULL with an error. The caller ends it with sqlite3_finalize(). */
int database_prepare(struct database *database, const char *text, sqlite3_stmt **ret_statement,
		     struct error *error);

/*
 * Steps a statement: 1 a row is there, 0 it is done and was reset, or a negative errno; then it was reset
 * too. -ESTALE: the file changed after the first row, and the rest has to be asked for again.
 */
int database_step(struct database *database, sqlite3_stmt *statement, struct error *error);

/* Runs a statement that gives one row, and reads its first column. -ENODATA: no row. */
int database_number(struct database *database, const char *text, int64_t *ret_number, struct error *error);

#endif
