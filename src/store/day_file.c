/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "history_files.h"

/* Bits of a round's column `flags`. */
enum {
	ROUND_AFTER_GAP = 1 << 0,
	ROUND_AFTER_PAUSE = 1 << 1,
	ROUND_CLOCK_JUMPED = 1 << 2,
};

/* docs/history.md describes it. */
static const char *const tables[] = {
	"CREATE TABLE boots(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, kernel TEXT NOT NULL,"
	" host TEXT NOT NULL, architecture TEXT NOT NULL, program TEXT NOT NULL)",
	"CREATE TABLE rounds(id INTEGER PRIMARY KEY, unix_ns INTEGER NOT NULL, boottime_ns INTEGER NOT NULL,"
	" span_ns INTEGER NOT NULL, boot INTEGER NOT NULL, flags INTEGER NOT NULL, clock_jump_ns INTEGER,"
	" suspended_ns INTEGER, slept_ns INTEGER, against INTEGER, threads INTEGER NOT NULL,"
	" psi_cpu INTEGER, psi_memory INTEGER, psi_io INTEGER, load INTEGER)",
	"CREATE TABLE blobs(round INTEGER PRIMARY KEY, state BLOB NOT NULL, interval BLOB,"
	" checksum INTEGER NOT NULL)",
	"CREATE TABLE marks(id INTEGER PRIMARY KEY, unix_ns INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT,"
	" path TEXT)",
};

static const struct database_kind kind = {DAY_FILE_VERSION, tables, ARRAY_COUNT(tables)};

enum {
	MARKS_MAX = 100000,   /* of a file */
	TEXT_MAX = 65536,     /* bytes of a text that is shown */
	NAME_MAX_BYTES = 255, /* of a name of a host or a kernel */
};

/* Columns without names are those of a table, in its order. */
static const char *const statements[DAY_FILE_STATEMENTS] = {
	[DAY_FILE_ADD_ROUND] = "INSERT INTO rounds VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[DAY_FILE_ADD_BLOBS] = "INSERT INTO blobs VALUES(?,?,?,?)",
	[DAY_FILE_ADD_BOOT] = "INSERT INTO boots VALUES(NULL,?,?,?,?,?)",
	[DAY_FILE_ADD_MARK] = "INSERT INTO marks "
			      "VALUES(max(?, 1 + coalesce((SELECT max(id) FROM marks), 0)),?,?,?,?)",
	[DAY_FILE_AT_OR_BEFORE] = "SELECT * FROM rounds WHERE id <= ? ORDER BY id DESC LIMIT 1",
	[DAY_FILE_AT_OR_AFTER] = "SELECT * FROM rounds WHERE id >= ? ORDER BY id LIMIT 1",
	[DAY_FILE_RANGE] = "SELECT * FROM rounds WHERE id >= ? AND id <= ? ORDER BY id",
	[DAY_FILE_BLOBS] = "SELECT * FROM blobs WHERE round = ?",
	[DAY_FILE_BOOT] = "SELECT * FROM boots WHERE id = ?",
	[DAY_FILE_FIND_BOOT] = "SELECT id FROM boots WHERE boot_id = ? AND kernel = ? AND host = ? AND "
			       "architecture = ? AND program = ?",
	/* in the order of ids: ordered by time SQLite would sort them, with room for all */
	[DAY_FILE_MARKS] = "SELECT * FROM marks WHERE id > ? ORDER BY id",
};

int day_file_open(struct day_file *file, const char *directory, uint32_t day, enum database_access access,
		  struct error *error)
{
	char name[HISTORY_FILES_NAME];
	char *path = history_files_path(directory, history_files_name(day, name));
	int result;

	*file = (struct day_file){.day = day};
	result = access == DATABASE_WRITE ? history_files_check(directory, day, error) : 0;
	if (result == 0)
		result = database_open(&file->database, path, access, &kind, error);
	free(path);
	return result;
}

void day_file_close(struct day_file *file)
{
	for (size_t i = 0; i < DAY_FILE_STATEMENTS; i++)
		sqlite3_finalize(file->statements[i]);
	database_close(&file->database);
	*file = (struct day_file){0};
}

/* A statement, ready to be bound. */
static int statement_of(struct day_file *file, enum day_file_statement which, sqlite3_stmt **ret_statement,
			struct error *error)
{
	int result = 0;

	if (file->statements[which] == NULL)
		result = database_prepare(&file->database, statements[which], &file->statements[which],
					  error);
	*ret_statement = file->statements[which];
	return result;
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	if (text != NULL)
		sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, index);
}

static void bind_blob(sqlite3_stmt *statement, int index, const struct buffer *blob)
{
	if (blob->length != 0)
		sqlite3_bind_blob64(statement, index, blob->data, blob->length, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, index);
}

/* Runs a statement that gives no rows and has been bound. */
static int run(struct day_file *file, sqlite3_stmt *statement, struct error *error)
{
	const int result = database_step(&file->database, statement, error);

	sqlite3_clear_bindings(statement);
	return result;
}

/* The id of a boot in this file, which is added when it is new. */
static int intern_boot(struct day_file *file, const struct history_boot *boot, uint32_t *ret_id,
		       struct error *error)
{
	static const enum day_file_statement steps[] = {DAY_FILE_FIND_BOOT, DAY_FILE_ADD_BOOT};

	for (size_t step = 0; step < ARRAY_COUNT(steps); step++) {
		sqlite3_stmt *statement;
		int result = statement_of(file, steps[step], &statement, error);

		if (result < 0)
			return result;
		for (int i = 0; i < HISTORY_BOOT_TEXTS; i++)
			bind_text(statement, i + 1, boot->texts[i]);
		result = database_step(&file->database, statement, error);
		if (result > 0)
			*ret_id = (uint32_t)sqlite3_column_int64(statement, 0);
		sqlite3_reset(statement);
		sqlite3_clear_bindings(statement);
		if (result != 0)
			return result < 0 ? result : 0;
	}
	*ret_id = (uint32_t)sqlite3_last_insert_rowid(file->database.connection);
	return 0;
}

/* A statement whose parameters, or the row it is on, are the columns of a round. */
struct cells {
	sqlite3_stmt *statement;
	bool writes;
	int next;
};

/* Writes the number of the next column, or reads it; `none` is the one that is stored as NULL. */
static int64_t code_number(struct cells *cells, int64_t number, int64_t none)
{
	const int column = cells->next++;

	if (!cells->writes)
		return sqlite3_column_type(cells->statement, column) == SQLITE_INTEGER
			       ? sqlite3_column_int64(cells->statement, column)
			       : none;
	if (number != none)
		sqlite3_bind_int64(cells->statement, column + 1, number);
	else
		sqlite3_bind_null(cells->statement, column + 1);
	return number;
}

/* The same of a number that is none below 0. */
static uint64_t code_count(struct cells *cells, uint64_t number, uint64_t none)
{
	const int64_t count = code_number(cells, (int64_t)number, (int64_t)none);

	return count > 0 ? (uint64_t)count : 0;
}

/* Writes or reads the columns in the order of the table; a column without NULL has UINT64_MAX for none. */
static void code_row(struct cells *cells, struct day_file_row *row)
{
	struct history_round *round = &row->round;
	uint64_t flags = (round->after_gap ? ROUND_AFTER_GAP : 0U) |
			 (round->after_pause ? ROUND_AFTER_PAUSE : 0U) |
			 (round->clock_jumped ? ROUND_CLOCK_JUMPED : 0U);

	round->id = code_number(cells, round->id, 0);
	round->unix_ns = code_count(cells, round->unix_ns, UINT64_MAX);
	round->boottime_ns = code_count(cells, round->boottime_ns, UINT64_MAX);
	round->span_ns = code_count(cells, round->span_ns, UINT64_MAX);
	round->boot = (uint32_t)code_count(cells, round->boot, UINT64_MAX);
	flags = code_count(cells, flags, UINT64_MAX);
	round->after_gap = (flags & ROUND_AFTER_GAP) != 0;
	round->after_pause = (flags & ROUND_AFTER_PAUSE) != 0;
	round->clock_jumped = (flags & ROUND_CLOCK_JUMPED) != 0;
	round->clock_jump_ns = code_number(cells, round->clock_jump_ns, 0);
	round->suspended_ns = code_count(cells, round->suspended_ns, 0);
	row->slept_ns = code_count(cells, row->slept_ns, 0);
	row->against = code_number(cells, row->against, 0);
	round->threads = (uint32_t)code_count(cells, round->threads, UINT64_MAX);
	for (size_t i = 0; i < PRESSURE_IRQ; i++)
		round->psi[i] = (uint16_t)code_count(cells, round->psi[i], HISTORY_PSI_UNKNOWN);
	round->load_centi = (uint32_t)code_count(cells, round->load_centi, UINT32_MAX);
}

static int add_round(struct day_file *file, const struct day_file_row *row, uint32_t boot,
		     struct error *error)
{
	struct day_file_row copy = *row;
	struct cells cells = {.writes = true};
	const int result = statement_of(file, DAY_FILE_ADD_ROUND, &cells.statement, error);

	if (result < 0)
		return result;
	copy.round.boot = boot;
	code_row(&cells, &copy);
	return run(file, cells.statement, error);
}

/* SQLite does not check the pages of a blob. */
static sqlite3_int64 checksum_of(const void *state, size_t state_length, const void *interval,
				 size_t interval_length)
{
	uLong sum = crc32_z(0, NULL, 0);

	sum = crc32_z(sum, state, state_length);
	/* without bytes crc32_z() returns its initial value */
	return (sqlite3_int64)(interval_length != 0 ? crc32_z(sum, interval, interval_length) : sum);
}

static int add_blobs(struct day_file *file, int64_t id, const struct recording *recording,
		     struct error *error)
{
	sqlite3_stmt *statement;
	const int result = statement_of(file, DAY_FILE_ADD_BLOBS, &statement, error);

	if (result < 0)
		return result;
	sqlite3_bind_int64(statement, 1, id);
	bind_blob(statement, 2, &recording->state);
	bind_blob(statement, 3, &recording->interval);
	sqlite3_bind_int64(statement, 4,
			   checksum_of(recording->state.data, recording->state.length,
				       recording->interval.data, recording->interval.length));
	return run(file, statement, error);
}

int day_file_add(struct day_file *file, const struct day_file_row *row, const struct history_boot *boot,
		 const struct recording *recording, struct error *error)
{
	uint32_t boot_number = 0;
	int result = database_run(&file->database, "BEGIN IMMEDIATE", error);

	if (result < 0)
		return result;
	result = intern_boot(file, boot, &boot_number, error);
	if (result == 0)
		result = add_round(file, row, boot_number, error);
	if (result == 0)
		result = add_blobs(file, row->round.id, recording, error);
	if (result == 0)
		result = database_run(&file->database, "COMMIT", error);
	/* some errors have undone it already (sqlite.org/lang_transaction.html) */
	if (result < 0 && sqlite3_get_autocommit(file->database.connection) == 0)
		sqlite3_exec(file->database.connection, "ROLLBACK", NULL, NULL, NULL);
	return result;
}

int day_file_add_mark(struct day_file *file, const struct history_mark *mark, struct error *error)
{
	sqlite3_stmt *statement;
	const int result = statement_of(file, DAY_FILE_ADD_MARK, &statement, error);

	if (result < 0)
		return result;
	sqlite3_bind_int64(statement, 1, (sqlite3_int64)(mark->unix_ns / NS_PER_MS));
	sqlite3_bind_int64(statement, 2, (sqlite3_int64)mark->unix_ns);
	bind_text(statement, 3, mark->kind != NULL ? mark->kind : "");
	bind_text(statement, 4, mark->text);
	bind_text(statement, 5, mark->path);
	return run(file, statement, error);
}

/* Whether it is a time of the file's day; the last round of a day may come in its last millisecond. */
static bool is_id(const struct day_file *file, int64_t id)
{
	return id > 0 && id >= (int64_t)(history_files_begin(file->day) / NS_PER_MS) &&
	       id <= (int64_t)(history_files_end(file->day) / NS_PER_MS);
}

/* Reads the row that a statement is on. False: no recorder wrote it like this. */
static bool read_row(const struct day_file *file, sqlite3_stmt *statement, struct day_file_row *ret_row)
{
	struct cells cells = {.statement = statement};
	const struct history_round *round = &ret_row->round;

	*ret_row = (struct day_file_row){.round.day = file->day};
	code_row(&cells, ret_row);
	return round->unix_ns >= history_files_begin(file->day) &&
	       round->unix_ns < history_files_end(file->day) && is_id(file, round->id) &&
	       round->id >= (int64_t)(round->unix_ns / NS_PER_MS) &&
	       (ret_row->against == 0 || is_id(file, ret_row->against)) && ret_row->against < round->id;
}

static int refuse_row(const struct day_file *file, struct error *error)
{
	return error_set(error, -EBADMSG, "%s: a round in it is damaged", file->database.path);
}

int day_file_seek(struct day_file *file, bool forward, int64_t id, struct day_file_row *ret_row,
		  struct error *error)
{
	sqlite3_stmt *statement;
	int result = statement_of(file, forward ? DAY_FILE_AT_OR_AFTER : DAY_FILE_AT_OR_BEFORE, &statement,
				  error);
	bool is_good;

	if (result < 0)
		return result;
	sqlite3_bind_int64(statement, 1, id);
	result = database_step(&file->database, statement, error);
	if (result <= 0)
		return result;
	is_good = read_row(file, statement, ret_row) &&
		  (forward ? ret_row->round.id >= id : ret_row->round.id <= id);
	sqlite3_reset(statement);
	return is_good ? 1 : refuse_row(file, error);
}

int day_file_list(struct day_file *file, int64_t from, int64_t to, day_file_visit *visit, void *context,
		  struct error *error)
{
	struct day_file_row row;
	sqlite3_stmt *statement;
	int result = statement_of(file, DAY_FILE_RANGE, &statement, error);

	if (result < 0)
		return result;
	do {
		sqlite3_bind_int64(statement, 1, from);
		sqlite3_bind_int64(statement, 2, to);
		while ((result = database_step(&file->database, statement, error)) > 0) {
			/* they ascend, whatever the pages say */
			if (!read_row(file, statement, &row) || row.round.id < from || row.round.id > to)
				result = refuse_row(file, error);
			if (result < 0 || !visit(context, &row))
				break;
			from = row.round.id + 1;
		}
	} while (result == -ESTALE);
	sqlite3_reset(statement);
	return result < 0 ? result : 0;
}

int day_file_blobs(struct day_file *file, int64_t id, struct day_file_blobs *ret_blobs, struct error *error)
{
	sqlite3_stmt *statement;
	int result = statement_of(file, DAY_FILE_BLOBS, &statement, error);

	*ret_blobs = (struct day_file_blobs){0};
	if (result < 0)
		return result;
	sqlite3_bind_int64(statement, 1, id);
	result = database_step(&file->database, statement, error);
	if (result == 0)
		return error_set(error, -EBADMSG, "%s: the recording of a round is missing",
				 file->database.path);
	if (result < 0)
		return result;
	ret_blobs->statement = statement;
	ret_blobs->state = sqlite3_column_blob(statement, 1);
	ret_blobs->state_length = (size_t)sqlite3_column_bytes(statement, 1);
	ret_blobs->interval = sqlite3_column_blob(statement, 2);
	ret_blobs->interval_length = (size_t)sqlite3_column_bytes(statement, 2);
	if (sqlite3_column_int64(statement, 3) == checksum_of(ret_blobs->state, ret_blobs->state_length,
							      ret_blobs->interval,
							      ret_blobs->interval_length))
		return 0;
	day_file_end_blobs(ret_blobs);
	return error_set(error, -EBADMSG, "%s: the recording of a round is damaged", file->database.path);
}

void day_file_end_blobs(struct day_file_blobs *blobs)
{
	sqlite3_reset(blobs->statement);
	*blobs = (struct day_file_blobs){0};
}

/* The text of a column, of at most so many bytes; NULL: none. */
static const char *text_at(sqlite3_stmt *statement, int column, size_t max, struct arena *arena)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text != NULL ? arena_duplicate(arena, text, strnlen(text, max)) : NULL;
}

static const char *or_empty(const char *text)
{
	return text != NULL ? text : "";
}

int day_file_boot(struct day_file *file, uint32_t boot, struct arena *arena, struct history_boot *ret_boot,
		  struct error *error)
{
	sqlite3_stmt *statement;
	int result = statement_of(file, DAY_FILE_BOOT, &statement, error);

	if (result < 0)
		return result;
	sqlite3_bind_int64(statement, 1, boot);
	result = database_step(&file->database, statement, error);
	if (result <= 0)
		return result;
	for (int i = 0; i < HISTORY_BOOT_TEXTS; i++)
		ret_boot->texts[i] = or_empty(text_at(statement, 1 + i, NAME_MAX_BYTES, arena));
	sqlite3_reset(statement);
	return 1;
}

/* Reads the mark that a statement is on; returns the bytes of its texts. */
static uint64_t read_mark(sqlite3_stmt *statement, struct arena *arena, struct history_mark *ret_mark)
{
	*ret_mark = (struct history_mark){
		.unix_ns = ret_mark->unix_ns,
		.kind = or_empty(text_at(statement, 2, TEXT_MAX, arena)),
		.text = text_at(statement, 3, TEXT_MAX, arena),
		.path = text_at(statement, 4, TEXT_MAX, arena),
	};
	return strlen(ret_mark->kind) + strlen(or_empty(ret_mark->text)) + strlen(or_empty(ret_mark->path));
}

int day_file_marks(struct day_file *file, uint64_t from_unix_ns, uint64_t to_unix_ns,
		   struct history_marks *marks, struct error *error)
{
	/* rows may have their bytes on the same pages: in all they have no more than the file */
	uint64_t bytes_left = database_bytes(&file->database);
	sqlite3_stmt *statement;
	int64_t last = INT64_MIN;
	size_t count = 0;
	int result = statement_of(file, DAY_FILE_MARKS, &statement, error);

	if (result < 0)
		return result;
	do {
		sqlite3_bind_int64(statement, 1, last);
		while ((result = database_step(&file->database, statement, error)) > 0) {
			const int64_t id = sqlite3_column_int64(statement, 0);
			struct history_mark mark = {
				.unix_ns = code_count(&(struct cells){statement, false, 1}, 0, 0)};
			const bool is_asked = mark.unix_ns >= from_unix_ns && mark.unix_ns <= to_unix_ns;
			const uint64_t bytes = is_asked ? read_mark(statement, &marks->arena, &mark) : 0;

			if (id <= last || ++count > MARKS_MAX || bytes > bytes_left) {
				result = error_set(error, -EBADMSG, "%s: its marks are damaged",
						   file->database.path);
				break;
			}
			last = id;
			bytes_left -= bytes;
			if (is_asked)
				*MEMORY_APPEND(marks->items, marks->count, marks->capacity) = mark;
		}
	} while (result == -ESTALE);
	sqlite3_reset(statement);
	return result < 0 ? result : 0;
}
