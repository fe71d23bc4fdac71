/* SPDX-License-Identifier: GPL-2.0-only */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"

enum {
	BUSY_MS = 2000,            /* how long another program may hold a lock */
	LONGEST_VALUE = 512 << 20, /* bytes: of a blob that somebody made up, too */
	CHECKPOINT_PAGES = 256,    /* of the write-ahead log, before they go into the file */
	LOG_BYTES_KEPT = 4 << 20,  /* of the log's file, once what is in it was taken over */
};

/* What the system said to a call that failed: SQLite knows it of the connection, or only of its log. */
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

/* What SQLite calls an error, in the numbers of the system. */
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
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_TOOBIG:
		return -EFBIG;
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

/* What would help. */
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
	case EMEDIUMTYPE:
		return "it is no file of a history";
	case EACCES:
	case EPERM:
		return "permission denied; run as its owner or as root";
	default:
		return NULL;
	}
}

int database_error(const struct database *database, int status, struct error *error)
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

int database_run(const struct database *database, const char *statements, struct error *error)
{
	const int status = sqlite3_exec(database->connection, statements, NULL, NULL, NULL);

	return status == SQLITE_OK ? 0 : database_error(database, status, error);
}

int database_prepare(const struct database *database, const char *text, sqlite3_stmt **ret_statement,
		     struct error *error)
{
	const int status = sqlite3_prepare_v3(database->connection, text, -1, SQLITE_PREPARE_PERSISTENT,
					      ret_statement, NULL);

	/* a table or column that is missing is all that can be wrong with a statement of ours */
	if (status == SQLITE_ERROR)
		return error_set(error, -EBADMSG, "%s: it is no whole file of a history: %s", database->path,
				 sqlite3_errmsg(database->connection));
	return status == SQLITE_OK ? 0 : database_error(database, status, error);
}

int database_step(const struct database *database, sqlite3_stmt *statement, struct error *error)
{
	const int status = sqlite3_step(statement);
	int result = 0;

	if (status == SQLITE_ROW)
		return 1;
	if (status != SQLITE_DONE)
		result = database_error(database, status, error);
	sqlite3_reset(statement);
	return result;
}

int database_number(const struct database *database, const char *text, int64_t *ret_number,
		    struct error *error)
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

/* Whether a file is one of ours and not newer than we know; an empty one gets its tables. */
static int check_kind(struct database *database, enum database_access access, int version, const char *schema,
		      struct error *error)
{
	int64_t application = 0, found = 0, tables = 0;
	int result = database_number(database, "PRAGMA application_id", &application, error);

	if (result == 0)
		result = database_number(database, "PRAGMA user_version", &found, error);
	if (result == 0)
		result = database_number(database, "SELECT count(*) FROM sqlite_schema", &tables, error);
	if (result < 0)
		return result;
	if (application == 0 && found == 0 && tables == 0) {
		if (access == DATABASE_READ)
			return error_set(error, -ENODATA, "%s: it holds nothing yet", database->path);
		/* all or nothing, whenever the process is ended */
		return database_run(database, schema, error);
	}
	if (application != DATABASE_APPLICATION)
		return error_set(error, -EMEDIUMTYPE, "%s: it is a data base of another program",
				 database->path);
	if (found > version)
		return error_set(
			error, -EPROTONOSUPPORT,
			"%s: it was written by a newer ctop (schema %lld, this one knows %d); use that one",
			database->path, (long long)found, version);
	return 0;
}

/* A path as SQLite takes it as a URI. */
static char *uri_of(const char *path, const char *parameters)
{
	struct buffer uri = {0};

	buffer_append_text(&uri, path[0] == '/' ? "file://" : "file:");
	for (; *path != '\0'; path++) {
		if (strchr("%?#", *path) != NULL)
			buffer_append_format(&uri, "%%%02x", (unsigned char)*path);
		else
			buffer_append_char(&uri, *path);
	}
	buffer_append_text(&uri, parameters);
	return buffer_steal(&uri);
}

/*
 * With `salvage` what is whole in a damaged file can be read: SQLite refuses one that is shorter than its
 * first page says, and one in whose schema there is anything wrong, unless the schema may be changed
 * (sqlite.org/pragma.html#pragma_writable_schema) - which no one can who only reads.
 */
static int open_connection(struct database *database, int flags, const char *parameters, bool salvage,
			   struct error *error)
{
	char *uri = uri_of(database->path, parameters);
	int status = sqlite3_open_v2(uri, &database->connection,
				     flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

	free(uri);
	if (status != SQLITE_OK)
		return database_error(database, status, error);
	sqlite3_extended_result_codes(database->connection, 1);
	sqlite3_busy_timeout(database->connection, BUSY_MS);
	sqlite3_limit(database->connection, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_DEFENSIVE, !salvage, NULL);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_WRITABLE_SCHEMA, salvage, NULL);
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return database_run(database, "PRAGMA cell_size_check=ON", error);
}

static void drop_connection(struct database *database)
{
	sqlite3_close_v2(database->connection);
	database->connection = NULL;
}

static int try_to_read(struct database *database, const char *parameters, bool salvage, int version,
		       struct error *error)
{
	int result;

	drop_connection(database);
	result = open_connection(database, SQLITE_OPEN_READONLY, parameters, salvage, error);
	return result == 0 ? check_kind(database, DATABASE_READ, version, NULL, error) : result;
}

static int open_to_read(struct database *database, int version, struct error *error)
{
	const char *parameters = "";
	int result = access(database->path, R_OK) == 0 ? 0 : -errno;

	if (result < 0)
		return error_set(error, result, "%s: %s", database->path,
				 result == -EACCES ? remedy_of(result) : strerror(-result));
	result = try_to_read(database, parameters, false, version, error);
	if (result == -EACCES || result == -EROFS || result == -ENOENT || result == -EIO) {
		/*
		 * A log that was left behind, or the wish for one, in a directory that may not be written:
		 * without the log the file is as it was when the log last went into it.
		 */
		parameters = "?immutable=1";
		result = try_to_read(database, parameters, false, version, error);
	}
	if (result == -EBADMSG)
		result = try_to_read(database, parameters, true, version, error);
	return result != 0 ? result : database_run(database, "PRAGMA query_only=ON", error);
}

static int open_to_write(struct database *database, int version, const char *schema, struct error *error)
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
	result = open_connection(database, SQLITE_OPEN_READWRITE, "", false, error);
	/* the size of pages can be chosen only before the first one is there */
	settings = memory_format("PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
				 "PRAGMA wal_autocheckpoint=%d; PRAGMA journal_size_limit=%d; "
				 "PRAGMA cache_size=-256",
				 4096, CHECKPOINT_PAGES, LOG_BYTES_KEPT);
	if (result == 0)
		result = database_run(database, settings, error);
	free(settings);
	return result == 0 ? check_kind(database, DATABASE_WRITE, version, schema, error) : result;
}

int database_open(struct database *database, const char *path, enum database_access access, int version,
		  const char *schema, struct error *error)
{
	int result;

	*database = (struct database){.path = memory_duplicate(path)};
	result = access == DATABASE_READ ? open_to_read(database, version, error)
					 : open_to_write(database, version, schema, error);
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
		/* it is ended for whoever moved it; the logs that are there by now belong to another file */
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
