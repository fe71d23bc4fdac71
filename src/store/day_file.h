/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_FILE_H
#define CTOP_DAY_FILE_H

#include "base/buffer.h"
#include "database.h"
#include "history.h"
#include "recording.h"

/*
 * One file of rounds, for the history alone. The id of a round is its time in ms since 1970, or one more than
 * the round before where that is not more, so that rounds are found by time without an index.
 */

enum {
	DAY_FILE_VERSION = 1,
};

enum day_file_statement {
	DAY_FILE_ADD_ROUND,
	DAY_FILE_ADD_BLOBS,
	DAY_FILE_ADD_BOOT,
	DAY_FILE_ADD_MARK,
	DAY_FILE_AT_OR_BEFORE,
	DAY_FILE_AT_OR_AFTER,
	DAY_FILE_RANGE,
	DAY_FILE_BLOBS,
	DAY_FILE_BOOT,
	DAY_FILE_FIND_BOOT,
	DAY_FILE_MARKS,
	DAY_FILE_STATEMENTS,
};

struct day_file {
	struct database database;
	uint32_t day;
	sqlite3_stmt *statements[DAY_FILE_STATEMENTS]; /* NULL: not needed so far */
};

/* A row of the table of rounds. */
struct day_file_row {
	struct history_round round; /* its boot is the id of the file's own table */
	int64_t against;            /* the round that it is encoded against, 0: it is whole */
	uint64_t slept_ns;          /* how long the host slept since its start */
};

/* Opens a file of a directory; errors as database_open(). */
int day_file_open(struct day_file *file, const char *directory, uint32_t day, enum database_access access,
		  struct error *error);
void day_file_close(struct day_file *file);

static inline bool day_file_is_open(const struct day_file *file)
{
	return file->database.connection != NULL;
}

/* Stores a round, in a transaction of its own: all of it, or nothing. */
int day_file_add(struct day_file *file, const struct day_file_row *row, const struct history_boot *boot,
		 const struct recording *recording, struct error *error);

/* Stores a mark; its id is the highest. */
int day_file_add_mark(struct day_file *file, const struct history_mark *mark, struct error *error);

/* The row at an id, or the nearest one after or before it. 1: found, 0: none, or a negative errno. */
int day_file_seek(struct day_file *file, bool forward, int64_t id, struct day_file_row *ret_row,
		  struct error *error);

/* Calls for each round of these ids, both included, in order, until it returns false. */
typedef bool day_file_visit(void *context, const struct day_file_row *row);
int day_file_list(struct day_file *file, int64_t from, int64_t to, day_file_visit *visit, void *context,
		  struct error *error);

/* The stored recording of a round, valid until day_file_end_blobs(). */
struct day_file_blobs {
	const void *state, *interval;
	size_t state_length, interval_length;
	sqlite3_stmt *statement;
};

/* Reads it: 0, or -EBADMSG where it is missing or not what was written, or another errno; then there is
 * nothing to end. */
int day_file_blobs(struct day_file *file, int64_t id, struct day_file_blobs *ret_blobs, struct error *error);
void day_file_end_blobs(struct day_file_blobs *blobs);

/* The texts of a boot, into `arena`. Results as above. */
int day_file_boot(struct day_file *file, uint32_t boot, struct arena *arena, struct history_boot *ret_boot,
		  struct error *error);

/* Appends the marks from a time on to another, both included, in the order in which they were made. */
int day_file_marks(struct day_file *file, uint64_t from_unix_ns, uint64_t to_unix_ns,
		   struct history_marks *marks, struct error *error);

#endif
