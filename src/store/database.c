/* SPDX-License-Identifier: GPL-2.0-only */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "history_files.h"
#include "sqlite_reader.h"

enum {
	BUSY_MS = 2000,            /* how long another program may hold a lock */
	LONGEST_VALUE = 256 << 20, /* bytes */
	LEAST_VALUE = 1 << 16,     /* bytes that may be read of whatever file */
	LEAST_STEPS = 1 << 20,
	LONGEST_SCHEMA = 1 << 16, /* bytes of a statement */
	STATEMENT_SECONDS = 20,
	STEPS_AT_A_TIME = 1000,   /* of SQLite's virtual machine, before the deadline is looked at */
	TRIES = 50,               /* to read what somebody writes meanwhile */
	CHECKPOINT_PAGES = 256,   /* of the write-ahead log, before they go into the file */
	LOG_BYTES_KEPT = 4 << 20, /* of the log's file, once what is in it was taken over */
};

/* The errno of a failed call: SQLite keeps it for the connection, or only for its log. */
static int system_errno_of(sqlite3 *connection)
{
	int system_errno = sqlite3_system_errno(connection);
	sqlite3_file *log = NULL;

	if (system_errno == 0 &&
	    sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK &&
	    log != NULL && log->pMethods != NULL)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &system_errno);
	return system_errno;
}

/* A status of SQLite as a negative errno. */
static int errno_of(sqlite3 *connection, int status)
{
	int system_errno = 0;

	switch (status & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EAGAIN;
	case SQLITE_CORRUPT:
		return -EBADMSG;
	case SQLITE_NOTADB:
		return -EMEDIUMTYPE;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_NOMEM: /* also for what a damaged file asks for */
		return -ENOMEM;
	case SQLITE_TOOBIG:
	/* our statements are right: what they fail for is the file, such as a format that is not known, or a
	 * row that is there already */
	case SQLITE_ERROR:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		return -EBADMSG;
	case SQLITE_INTERRUPT:
		return -ETIMEDOUT;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		if (connection != NULL)
			system_errno = system_errno_of(connection);
		/* a file that is shorter than its header says */
		if (status == SQLITE_IOERR_SHORT_READ)
			return -EBADMSG;
		return system_errno > 0 ? -system_errno : -EIO;
	default:
		return -EIO;
	}
}

/* A remedy, as the end of a sentence. */
static const char *remedy_of(int negative_errno)
{
	switch (-negative_errno) {
	case ENOSPC:
		return "the file system is full: make room on it, or let --max-size remove old days";
	case EDQUOT:
		return "the quota is used up: make room, or let --max-size remove old days";
	case EROFS:
		return "it cannot be written: check its permissions and whether the file system is mounted "
		       "read-only";
	case EAGAIN:
		return "another program keeps it locked; end its transaction";
	case EBADMSG:
		return "it is damaged; what is whole in it can still be read";
	case ENOMEM:
		return "it takes more memory than there is; it may be damaged";
	case EMEDIUMTYPE:
		return "it is no file of a history";
	case ETIMEDOUT:
		return "reading it takes far longer than it should: it was made to do harm, or the disk "
		       "hangs";
	case EACCES:
	case EPERM:
		return "permission denied; run as its owner or as root";
	default:
		return NULL;
	}
}

/* The errno and the sentence of the call that failed last with `status` (SQLITE_…). */
static int database_error(const struct database *database, int status, struct error *error)
{
	const int result = errno_of(database->connection, status);
	const char *remedy = remedy_of(result);

	if (remedy != NULL)
		return error_set(error, result, "%s: %s", database->path, remedy);
	if (database->connection != NULL && result == -EIO)
		return error_set(error, result, "%s: SQLite says: %s", database->path,
				 sqlite3_errmsg(database->connection));
	return error_set(error, result, "%s: %s", database->path, strerror(-result));
}

/* --- bounds --- */

/* SQLite calls it every STEPS_AT_A_TIME; other than 0 ends the statement. */
static int check_bounds(void *context)
{
	struct database *database = context;

	if (database->steps_left < STEPS_AT_A_TIME || clock_ns(CLOCK_MONOTONIC) > database->deadline_ns)
		database->is_given_up = true;
	if (database->is_given_up)
		return 1;
	database->steps_left -= STEPS_AT_A_TIME;
	return 0;
}

uint64_t database_bytes(const struct database *database)
{
	static const int operations[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_COUNT(operations); i++) {
		sqlite3_file *file = NULL;
		sqlite3_int64 size = 0;

		if (sqlite3_file_control(database->connection, "main", operations[i], &file) == SQLITE_OK &&
		    file != NULL && file->pMethods != NULL &&
		    file->pMethods->xFileSize(file, &size) == SQLITE_OK && size > 0)
			bytes += (uint64_t)size;
	}
	return bytes;
}

/*
 * Before a statement runs. A row takes at least some bytes, and SQLite some steps for a row: a statement that
 * takes more steps than the file has bytes goes round in pages that refer to each other. In the same way a
 * value can be made that is larger than the file.
 */
static void set_bounds(struct database *database)
{
	const uint64_t bytes = database_bytes(database);

	sqlite3_limit(database->connection, SQLITE_LIMIT_LENGTH,
		      (int)(!database->is_reader || bytes > LONGEST_VALUE ? LONGEST_VALUE
			    : bytes > LEAST_VALUE                         ? bytes
									  : LEAST_VALUE));
	database->steps_left = bytes > LEAST_STEPS ? bytes : LEAST_STEPS;
	sqlite3_progress_handler(database->connection, STEPS_AT_A_TIME, check_bounds, database);
	database->deadline_ns = clock_ns(CLOCK_MONOTONIC) + STATEMENT_SECONDS * NS_PER_S;
}

/* --- statements --- */

int database_run(struct database *database, const char *statements, struct error *error)
{
	int status;

	set_bounds(database);
	status = sqlite3_exec(database->connection, statements, NULL, NULL, NULL);
	return status == SQLITE_OK ? 0 : database_error(database, status, error);
}

/* Whether what SQLite just said may come from a file that was written meanwhile, so that it is worth asking
 * again; waits a little. */
static bool is_torn(const struct database *database, unsigned int tries)
{
	if (!database->is_reader || tries >= TRIES || sqlite_reader_is_current(database->connection))
		return false;
	if (tries > 1)
		usleep(1000 * tries);
	return true;
}

int database_prepare(struct database *database, const char *text, sqlite3_stmt **ret_statement,
		     struct error *error)
{
	int status = SQLITE_OK;

	set_bounds(database);
	for (unsigned int tries = 0; tries == 0 || (status != SQLITE_OK && is_torn(database, tries)); tries++)
		status = sqlite3_prepare_v3(database->connection, text, -1, SQLITE_PREPARE_PERSISTENT,
					    ret_statement, NULL);
	/* a table or column that is missing is all that can be wrong with a statement of ours */
	if (status == SQLITE_ERROR)
		return error_set(error, -EBADMSG, "%s: it is no whole file of a history: %s", database->path,
				 sqlite3_errmsg(database->connection));
	return status == SQLITE_OK ? 0 : database_error(database, status, error);
}

int database_step(struct database *database, sqlite3_stmt *statement, struct error *error)
{
	const bool is_first = sqlite3_stmt_busy(statement) == 0;
	unsigned int tries = 0;
	int status, result = 0;

	if (database->is_given_up)
		return database_error(database, SQLITE_INTERRUPT, error);
	if (is_first)
		set_bounds(database);
	status = sqlite3_step(statement);
	while (is_torn(database, ++tries)) {
		sqlite3_reset(statement);
		if (!is_first)
			return error_set(error, -ESTALE, "%s: it is being written", database->path);
		status = sqlite3_step(statement);
	}
	if (tries >= TRIES) {
		sqlite3_reset(statement);
		return error_set(error, -EAGAIN, "%s: it is written all the time", database->path);
	}
	if (status == SQLITE_ROW)
		return 1;
	if (status != SQLITE_DONE)
		result = database_error(database, status, error);
	sqlite3_reset(statement);
	return result;
}

int database_number(struct database *database, const char *text, int64_t *ret_number, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	int result = database_prepare(database, text, &statement, error);

	if (result == 0)
		result = database_step(database, statement, error);
	if (result == 0)
		result = error_set(error, -ENODATA, "%s: it holds nothing", database->path);
	if (result > 0) {
		*ret_number = sqlite3_column_int64(statement, 0);
		result = 0;
	}
	sqlite3_finalize(statement);
	return result;
}

/* --- what a file is --- */

/* Whether the schema is the one we write: the same tables and nothing else. */
static int check_schema(struct database *database, const struct database_kind *kind, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	size_t found, good;
	unsigned int tries = 0;
	int result = database_prepare(database, "SELECT sql FROM sqlite_schema", &statement, error);

	do {
		found = good = 0;
		if (result == -ESTALE)
			result = 0;
		while (result == 0 && (result = database_step(database, statement, error)) > 0) {
			const char *text = (const char *)sqlite3_column_text(statement, 0);

			for (size_t i = 0; i < kind->table_count; i++)
				good += text != NULL && strcmp(text, kind->tables[i]) == 0;
			result = ++found <= kind->table_count ? 0 : -EMEDIUMTYPE;
		}
	} while (result == -ESTALE && ++tries < TRIES);
	sqlite3_finalize(statement);
	if (result == 0 && (good != kind->table_count || found != good))
		result = -EMEDIUMTYPE;
	if (result == -EMEDIUMTYPE)
		return error_set(error, result,
				 "%s: it has other tables, indexes, views or triggers than a history",
				 database->path);
	return result;
}

/* All or nothing, whenever the process is ended. */
static int create_tables(struct database *database, const struct database_kind *kind, struct error *error)
{
	struct buffer text = {0};
	int result;

	buffer_append_text(&text, "BEGIN IMMEDIATE;");
	for (size_t i = 0; i < kind->table_count; i++)
		buffer_append_format(&text, "%s;", kind->tables[i]);
	buffer_append_format(&text, "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT",
			     DATABASE_APPLICATION, kind->version);
	result = database_run(database, text.data, error);
	buffer_release(&text);
	return result;
}

/* Whether a file is one of ours and not newer than we know; an empty one gets its tables. */
static int check_kind(struct database *database, const struct database_kind *kind, struct error *error)
{
	int64_t application = 0, found = 0, any = 0;
	int result = database_number(database, "PRAGMA application_id", &application, error);

	if (result == 0)
		result = database_number(database, "PRAGMA user_version", &found, error);
	if (result < 0)
		return result;
	if (application == 0 && found == 0) {
		result = database_number(database, "SELECT 1 FROM sqlite_schema LIMIT 1", &any, NULL);
		if (result == -ENODATA)
			return database->is_reader
				       ? error_set(error, result, "%s: it holds nothing yet", database->path)
				       : create_tables(database, kind, error);
	}
	if (application != DATABASE_APPLICATION)
		return error_set(error, -EMEDIUMTYPE, "%s: it is a data base of another program",
				 database->path);
	if (found > kind->version)
		return error_set(
			error, -EPROTONOSUPPORT,
			"%s: it was written by a newer ctop (schema %lld, this one knows %d); use that one",
			database->path, (long long)found, kind->version);
	return check_schema(database, kind, error);
}

/* --- opening --- */

/* The directory of a file. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash != path ? memory_duplicate_bytes(path, (size_t)(slash - path))
					      : memory_duplicate(slash != NULL ? "/" : ".");
}

/* The path of a file as SQLite takes it as a URI. Its directory may be a link, which SQLite would refuse. */
static char *uri_of(const char *path)
{
	char *directory = directory_of(path), *resolved = realpath(directory, NULL);
	const char *slash = strrchr(path, '/');
	char *target = memory_format("%s/%s", resolved != NULL ? resolved : directory,
				     slash != NULL ? slash + 1 : path);
	struct buffer uri = {0};

	buffer_append_text(&uri, target[0] == '/' ? "file://" : "file:");
	for (const char *next = target; *next != '\0'; next++) {
		if (strchr("%?#", *next) != NULL)
			buffer_append_format(&uri, "%%%02x", (unsigned char)*next);
		else
			buffer_append_char(&uri, *next);
	}
	free(directory);
	free(resolved);
	free(target);
	return buffer_steal(&uri);
}

/*
 * With `salvage` what is whole in a damaged file can be read: SQLite refuses one that is shorter than its
 * first page says, and one in whose schema there is anything wrong, unless the schema may be changed
 * (sqlite.org/pragma.html#pragma_writable_schema) - which no one can who only reads.
 */
static int open_connection(struct database *database, int flags, const char *vfs, bool salvage,
			   struct error *error)
{
	char *uri = uri_of(database->path);
	int status = sqlite3_open_v2(uri, &database->connection,
				     flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
				     vfs);

	free(uri);
	if (status != SQLITE_OK)
		return database_error(database, status, error);
	sqlite3_extended_result_codes(database->connection, 1);
	sqlite3_busy_timeout(database->connection, BUSY_MS);
	sqlite3_limit(database->connection, SQLITE_LIMIT_SQL_LENGTH, LONGEST_SCHEMA);
	sqlite3_limit(database->connection, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_DEFENSIVE, !salvage, NULL);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_WRITABLE_SCHEMA, salvage, NULL);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return database_run(database, "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON", error);
}

static void drop_connection(struct database *database)
{
	sqlite3_close_v2(database->connection);
	database->connection = NULL;
}

static int open_to_read(struct database *database, const struct database_kind *kind, struct error *error)
{
	struct stat status;
	int result = lstat(database->path, &status) == 0 && access(database->path, R_OK) == 0 ? 0 : -errno;

	if (result < 0)
		return error_set(error, result, "%s: %s", database->path,
				 result == -EACCES ? remedy_of(result) : strerror(-result));
	/* a pipe would wait for somebody who writes into it */
	if (!S_ISREG(status.st_mode))
		return error_set(error, -EMEDIUMTYPE, "%s: it is no regular file", database->path);
	for (int salvage = 0; salvage <= 1; salvage++) {
		result = open_connection(database, SQLITE_OPEN_READONLY, sqlite_reader_vfs(), salvage != 0,
					 error);
		if (result == 0)
			result = check_kind(database, kind, error);
		/* a damaged schema looks like that of another program */
		if (result == -EMEDIUMTYPE && salvage != 0)
			result = database_error(database, SQLITE_CORRUPT, error);
		if (result != -EBADMSG || salvage != 0)
			break;
		drop_connection(database);
	}
	return result != 0 ? result : database_run(database, "PRAGMA query_only=ON", error);
}

/* Whether another user may change the files in the directory of a file. */
static bool is_shared_place(const char *path)
{
	char *directory = directory_of(path);
	const bool is_shared = history_files_is_shared(directory);

	free(directory);
	return is_shared;
}

static int open_to_write(struct database *database, const struct database_kind *kind, struct error *error)
{
	char *settings;
	/*
	 * Made by ourselves, since SQLite would let everybody read it; its logs get its permissions. One that
	 * is there is not opened: closing it again would end what locks this process has on it (fcntl(2)).
	 */
	const int descriptor = open(database->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	int result = descriptor < 0 && errno != EEXIST ? -errno : 0;

	if (result < 0)
		return error_set(error, result, "%s: %s", database->path,
				 remedy_of(result) != NULL ? remedy_of(result) : strerror(-result));
	if (descriptor >= 0)
		close(descriptor);
	result = open_connection(database, SQLITE_OPEN_READWRITE, NULL, false, error);
	/* the size of pages can be chosen only before the first one is there */
	settings = memory_format("%sPRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
				 "PRAGMA wal_autocheckpoint=%d; PRAGMA journal_size_limit=%d; "
				 "PRAGMA cache_size=-256",
				 is_shared_place(database->path) ? "PRAGMA locking_mode=EXCLUSIVE; " : "",
				 4096, CHECKPOINT_PAGES, LOG_BYTES_KEPT);
	if (result == 0)
		result = database_run(database, settings, error);
	free(settings);
	/* SQLite only reads a file whose header has a newer version of the format */
	if (result == -EROFS && access(database->path, W_OK) == 0)
		return error_set(error, -EBADMSG, "%s: its format is not one that can be written",
				 database->path);
	return result == 0 ? check_kind(database, kind, error) : result;
}

int database_open(struct database *database, const char *path, enum database_access access,
		  const struct database_kind *kind, struct error *error)
{
	int result;

	*database = (struct database){.path = memory_duplicate(path), .is_reader = access == DATABASE_READ};
	result = database->is_reader ? open_to_read(database, kind, error)
				     : open_to_write(database, kind, error);
	if (result < 0) {
		drop_connection(database);
		free(database->path);
		database->path = NULL;
	}
	return result;
}

bool database_has_moved(const struct database *database)
{
	int moved = 0;

	/* what the path leads to is compared with what is open
	 * (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html) */
	return sqlite3_file_control(database->connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
		       SQLITE_OK &&
	       moved != 0;
}

void database_close(struct database *database)
{
	if (database->connection == NULL)
		return;
	if (database_has_moved(database)) {
		/* finish it for whoever moved it; the logs now at its path belong to another file */
		sqlite3_wal_checkpoint_v2(database->connection, "main", SQLITE_CHECKPOINT_PASSIVE, NULL,
					  NULL);
		sqlite3_db_config(database->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	} else if (sqlite3_db_readonly(database->connection, "main") == 0) {
		/* fails where somebody reads it at the moment: then it stays as it is, which is well too */
		sqlite3_busy_timeout(database->connection, 0);
		sqlite3_exec(database->connection, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	}
	drop_connection(database);
	free(database->path);
	*database = (struct database){0};
}
