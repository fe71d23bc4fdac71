/* SPDX-License-Identifier: GPL-2.0-only */
#include "group_minutes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "database.h"
#include "history_files.h"
#include "session/session.h"

enum {
	GROUP_MINUTES_VERSION = 1,
	GROUPS_PER_AXIS = 100, /* the others are one row, `(other)` */
	REMOVED_MINUTES = 4,   /* that are too old, with each that is written */
	MINUTE_S = 60,
	DAY_MINUTES = 1440,
};

enum column_kind {
	SUM,
	NOW,
};

/* One of the numbers of a row. */
static const struct minute_column {
	enum column column;
	const char *name, *view_name;
	unsigned int divisor;
	enum column_kind kind;
} minute_columns[] = {
#define GROUP_MINUTE_COLUMN(column, name, view_name, divisor, kind, ...)                                     \
	{COLUMN_##column, name, view_name, divisor, kind},
#include "group_minute_column.def"
#undef GROUP_MINUTE_COLUMN
};

enum {
	MINUTE_COLUMNS = ARRAY_COUNT(minute_columns),
};

/* Their groups are known by what the users of a host call them, and few enough. */
static const enum axis minute_axes[] = {AXIS_PROCESS, AXIS_CGROUP, AXIS_THREAD, AXIS_USER};

enum statement {
	BEGIN_MINUTE,
	FIND_NAME,
	ADD_NAME,
	TOUCH_NAME,
	ADD_GROUP,
	STATEMENTS,
};

struct group_minutes {
	char *directory;
	uint64_t keep_ns, max_bytes;
	struct session *session; /* its base is where the minute under way began; NULL: none is */
	uint64_t minute;         /* since 1970 */
	uint64_t base_boottime_ns, last_boottime_ns, rounds;
	struct database database;
	sqlite3_stmt *statements[STATEMENTS];
	int64_t names_cleared; /* the day on which names were last looked through */
	struct error notice;
	bool has_notice;
};

struct group_minutes *group_minutes_create(const char *directory, uint64_t keep_ns, uint64_t max_bytes)
{
	struct group_minutes *minutes = memory_allocate_zero(1, sizeof(*minutes));

	minutes->directory = memory_duplicate(directory);
	minutes->keep_ns = keep_ns;
	minutes->max_bytes = max_bytes;
	return minutes;
}

/* --- the file --- */

/* The tables, of the columns above. */
static char *make_schema(void)
{
	struct buffer text = {0};

	buffer_append_text(
		&text,
		"BEGIN IMMEDIATE;"
		"CREATE TABLE axes(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
		"CREATE TABLE names(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, day INTEGER NOT NULL);"
		"CREATE TABLE spans(minute INTEGER PRIMARY KEY, milliseconds INTEGER NOT NULL,"
		" rounds INTEGER NOT NULL);"
		"CREATE TABLE minutes(minute INTEGER NOT NULL, axis INTEGER NOT NULL, name INTEGER NOT "
		"NULL, ");
	for (size_t i = 0; i < MINUTE_COLUMNS; i++)
		buffer_append_format(&text, "%s INTEGER, ", minute_columns[i].name);
	buffer_append_text(&text,
			   "lower_bounds INTEGER NOT NULL, PRIMARY KEY(minute, axis, name)) WITHOUT ROWID;"
			   "CREATE VIEW group_minutes AS SELECT datetime(minute * 60, 'unixepoch') AS time,"
			   " minute * 60 AS unix, milliseconds / 1000.0 AS seconds, axes.name AS axis,"
			   " names.text AS \"group\"");
	for (size_t i = 0; i < MINUTE_COLUMNS; i++) {
		const struct minute_column *column = &minute_columns[i];

		if (column->divisor != 1)
			buffer_append_format(&text, ", %s / %u.0 AS %s", column->name, column->divisor,
					     column->view_name);
		else
			buffer_append_format(&text, ", %s", column->name);
	}
	buffer_append_text(&text,
			   ", lower_bounds FROM minutes JOIN spans USING(minute)"
			   " JOIN axes ON axes.id = minutes.axis JOIN names ON names.id = minutes.name;");
	for (size_t i = 0; i < AXIS_COUNT; i++)
		buffer_append_format(&text, "INSERT INTO axes VALUES(%zu, '%s');", i, axes[i].word);
	buffer_append_format(&text, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;",
			     DATABASE_APPLICATION, GROUP_MINUTES_VERSION);
	return buffer_steal(&text);
}

static char *make_statement(enum statement which)
{
	struct buffer text = {0};

	switch (which) {
	case BEGIN_MINUTE:
		buffer_append_text(&text, "INSERT INTO spans VALUES(?,?,?) ON CONFLICT DO UPDATE SET"
					  " milliseconds = milliseconds + excluded.milliseconds,"
					  " rounds = rounds + excluded.rounds");
		break;
	case FIND_NAME:
		buffer_append_text(&text, "SELECT id, day FROM names WHERE text = ?");
		break;
	case ADD_NAME:
		buffer_append_text(&text, "INSERT INTO names(text, day) VALUES(?,?)");
		break;
	case TOUCH_NAME:
		buffer_append_text(&text, "UPDATE names SET day = ? WHERE id = ?");
		break;
	default:
		buffer_append_text(&text, "INSERT INTO minutes VALUES(?,?,?,?");
		for (size_t i = 0; i < MINUTE_COLUMNS; i++)
			buffer_append_text(&text, ",?");
		/* two parts of a minute, when recording ended and began again within it */
		buffer_append_text(&text, ") ON CONFLICT DO UPDATE SET lower_bounds = lower_bounds |"
					  " excluded.lower_bounds");
		for (size_t i = 0; i < MINUTE_COLUMNS; i++) {
			const char *name = minute_columns[i].name;

			if (minute_columns[i].kind == SUM)
				buffer_append_format(&text,
						     ", %s = coalesce(%s + excluded.%s, excluded.%s, %s)",
						     name, name, name, name, name);
			else
				buffer_append_format(&text, ", %s = excluded.%s", name, name);
		}
	}
	return buffer_steal(&text);
}

static void close_file(struct group_minutes *minutes)
{
	for (size_t i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(minutes->statements[i]);
		minutes->statements[i] = NULL;
	}
	database_close(&minutes->database);
}

static int open_file(struct group_minutes *minutes, struct error *error)
{
	char *path, *schema;
	int result;

	if (minutes->database.connection != NULL && !database_has_moved(&minutes->database))
		return 0;
	close_file(minutes);
	path = history_files_path(minutes->directory, history_files_groups);
	schema = make_schema();
	result = database_open(&minutes->database, path, DATABASE_WRITE, GROUP_MINUTES_VERSION, schema,
			       error);
	free(path);
	free(schema);
	for (int i = 0; result == 0 && i < STATEMENTS; i++) {
		char *text = make_statement((enum statement)i);

		result = database_prepare(&minutes->database, text, &minutes->statements[i], error);
		free(text);
	}
	if (result < 0)
		close_file(minutes);
	return result;
}

static int run(struct group_minutes *minutes, enum statement which, struct error *error)
{
	const int result = database_step(&minutes->database, minutes->statements[which], error);

	sqlite3_reset(minutes->statements[which]);
	return result < 0 ? result : 0;
}

/* The id of a name, which is known to be in use on that day from then on. */
static int intern_name(struct group_minutes *minutes, const char *text, int64_t day, int64_t *ret_id,
		       struct error *error)
{
	sqlite3_stmt *find = minutes->statements[FIND_NAME];
	int64_t used;
	int result;

	sqlite3_bind_text(find, 1, text, -1, SQLITE_TRANSIENT);
	result = database_step(&minutes->database, find, error);
	if (result < 0)
		return result;
	if (result == 0) {
		sqlite3_bind_text(minutes->statements[ADD_NAME], 1, text, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(minutes->statements[ADD_NAME], 2, day);
		result = run(minutes, ADD_NAME, error);
		*ret_id = sqlite3_last_insert_rowid(minutes->database.connection);
		return result;
	}
	*ret_id = sqlite3_column_int64(find, 0);
	used = sqlite3_column_int64(find, 1);
	sqlite3_reset(find);
	if (used == day)
		return 0;
	sqlite3_bind_int64(minutes->statements[TOUCH_NAME], 1, day);
	sqlite3_bind_int64(minutes->statements[TOUCH_NAME], 2, *ret_id);
	return run(minutes, TOUCH_NAME, error);
}

/* --- a minute --- */

/* Numbers of a group, or of several. */
struct amounts {
	double values[MINUTE_COLUMNS];
	bool known[MINUTE_COLUMNS];
	uint64_t lower_bounds;
};

static void add_cell(struct amounts *amounts, size_t i, const struct cell *cell)
{
	const double number = cell_number(cell);

	if (isnan(number)) {
		/* of several groups the others are a lower bound; what does not apply lacks nothing */
		if (cell->state == CELL_UNAVAILABLE)
			amounts->lower_bounds |= UINT64_C(1) << i;
		return;
	}
	amounts->values[i] += number;
	amounts->known[i] = true;
	if (cell->partial)
		amounts->lower_bounds |= UINT64_C(1) << i;
}

/* The number of a column in the unit of its table: times are kept in us. */
static int64_t stored(const struct amounts *amounts, size_t i)
{
	const double value = amounts->values[i] / (minute_columns[i].divisor != 1 ? (double)NS_PER_US : 1);

	return value < 0 ? 0 : value > 9e18 ? INT64_MAX : (int64_t)(value + 0.5);
}

static int write_group(struct group_minutes *minutes, enum axis axis, const char *name,
		       struct amounts *amounts, struct error *error)
{
	sqlite3_stmt *statement = minutes->statements[ADD_GROUP];
	int64_t id = 0;
	const int result = intern_name(minutes, name, (int64_t)minutes->minute / DAY_MINUTES, &id, error);
	int index = 1;

	if (result < 0)
		return result;
	sqlite3_bind_int64(statement, index++, (int64_t)minutes->minute);
	sqlite3_bind_int64(statement, index++, axis);
	sqlite3_bind_int64(statement, index++, id);
	for (size_t i = 0; i < MINUTE_COLUMNS; i++) {
		if (amounts->known[i])
			sqlite3_bind_int64(statement, index++, stored(amounts, i));
		else
			sqlite3_bind_null(statement, index++);
		/* of nothing there is no bound */
		if (!amounts->known[i])
			amounts->lower_bounds &= ~(UINT64_C(1) << i);
	}
	sqlite3_bind_int64(statement, index, (int64_t)amounts->lower_bounds);
	return run(minutes, ADD_GROUP, error);
}

/* What a row is called: the pattern, which stays when another name joins it; of users the name. */
static void append_name(struct buffer *name, enum axis axis, const struct table_row *row)
{
	const bool by_label = axis == AXIS_USER;
	const char *text = by_label ? row->label : row->key;
	const size_t length = by_label ? row->label_length : row->key_length;
	struct arena arena = {0};

	buffer_clear(name);
	buffer_append_text(name, "");
	text = unicode_duplicate_without_nul(&arena, text, length);
	unicode_append_valid(name, text, strlen(text));
	arena_release(&arena);
}

static int write_axis(struct group_minutes *minutes, enum axis axis, struct error *error)
{
	enum column columns[MINUTE_COLUMNS];
	struct view view;
	struct table *table;
	struct amounts other = {0};
	struct buffer name = {0};
	int result = 0;

	view_initialise(&view);
	for (size_t i = 0; i < MINUTE_COLUMNS; i++)
		columns[i] = minute_columns[i].column;
	view.grouping.axis = axis;
	view.mode = VIEW_MODE_BASE;
	view.columns = columns;
	view.column_count = MINUTE_COLUMNS;
	view.sort = COLUMN_CPU;
	view.hide_idle = true;
	view.hide_gone = true;
	table = session_table(minutes->session, &view);
	for (size_t row = 0; result == 0 && row < table->row_count; row++) {
		struct amounts amounts = {0};

		for (size_t i = 0; i < MINUTE_COLUMNS; i++)
			add_cell(row < GROUPS_PER_AXIS ? &amounts : &other, i, &table->rows[row].cells[i]);
		if (row >= GROUPS_PER_AXIS)
			continue;
		append_name(&name, axis, &table->rows[row]);
		result = write_group(minutes, axis, name.data, &amounts, error);
	}
	if (result == 0 && table->row_count > GROUPS_PER_AXIS)
		result = write_group(minutes, axis, "(other)", &other, error);
	buffer_release(&name);
	table_release(table);
	view_release(&view);
	return result;
}

/* Whether what is in the file takes more than it may. */
static bool is_too_large(const struct group_minutes *minutes)
{
	int64_t pages = 0, free_pages = 0, page_bytes = 0;

	if (minutes->max_bytes == 0)
		return false;
	database_number(&minutes->database, "PRAGMA page_count", &pages, NULL);
	database_number(&minutes->database, "PRAGMA freelist_count", &free_pages, NULL);
	database_number(&minutes->database, "PRAGMA page_size", &page_bytes, NULL);
	return (uint64_t)((pages - free_pages) * page_bytes) > minutes->max_bytes;
}

/* Removes the oldest minutes that are too old or too many, a few at a time, and names that nobody uses any
 * more. */
static int remove_old(struct group_minutes *minutes, struct error *error)
{
	const int64_t kept = (int64_t)(minutes->keep_ns / NS_PER_S / MINUTE_S);
	const int64_t oldest = is_too_large(minutes) ? (int64_t)minutes->minute
						     : (int64_t)minutes->minute - kept;
	const int64_t day = (int64_t)minutes->minute / DAY_MINUTES;
	char *text = memory_format("DELETE FROM minutes WHERE minute IN"
				   " (SELECT minute FROM spans WHERE minute < %lld ORDER BY minute LIMIT %d);"
				   "DELETE FROM spans WHERE minute IN"
				   " (SELECT minute FROM spans WHERE minute < %lld ORDER BY minute LIMIT %d)",
				   (long long)oldest, REMOVED_MINUTES, (long long)oldest, REMOVED_MINUTES);
	int result = database_run(&minutes->database, text, error);

	free(text);
	if (result < 0 || minutes->names_cleared == day)
		return result;
	/* a name is still used by minutes that have not been removed yet */
	text = memory_format("DELETE FROM names WHERE day < %lld AND"
			     " day < (SELECT coalesce(min(minute), 0) / %d FROM spans)",
			     (long long)(day - kept / DAY_MINUTES), DAY_MINUTES);
	result = database_run(&minutes->database, text, error);
	free(text);
	if (result == 0)
		minutes->names_cleared = day;
	return result;
}

static int write_in_transaction(struct group_minutes *minutes, struct error *error)
{
	sqlite3_stmt *statement = minutes->statements[BEGIN_MINUTE];
	int result;

	sqlite3_bind_int64(statement, 1, (int64_t)minutes->minute);
	sqlite3_bind_int64(statement, 2,
			   (int64_t)((minutes->last_boottime_ns - minutes->base_boottime_ns) / NS_PER_MS));
	sqlite3_bind_int64(statement, 3, (int64_t)minutes->rounds);
	result = run(minutes, BEGIN_MINUTE, error);
	for (size_t i = 0; result == 0 && i < ARRAY_COUNT(minute_axes); i++)
		result = write_axis(minutes, minute_axes[i], error);
	return result == 0 ? remove_old(minutes, error) : result;
}

static int write_once(struct group_minutes *minutes, struct error *error)
{
	int result = open_file(minutes, error);

	if (result < 0)
		return result;
	result = database_run(&minutes->database, "BEGIN IMMEDIATE", error);
	if (result == 0)
		result = write_in_transaction(minutes, error);
	if (result == 0)
		result = database_run(&minutes->database, "COMMIT", error);
	if (result < 0) {
		if (sqlite3_get_autocommit(minutes->database.connection) == 0)
			sqlite3_exec(minutes->database.connection, "ROLLBACK", NULL, NULL, NULL);
		close_file(minutes);
	}
	return result;
}

/* Writes what was counted since the base, all of it or nothing. */
static int write_minute(struct group_minutes *minutes, struct error *error)
{
	struct error why = {0};
	int result;

	if (minutes->rounds == 0)
		return 0;
	result = write_once(minutes, &why);
	/* a file that is no good is kept under another name, for whoever wants to read what is whole in it */
	if (database_is_unusable(result) && history_files_set_groups_aside(minutes->directory) == 0) {
		error_set(&minutes->notice, 0, "%s is kept as %s, and another one is begun: %s",
			  history_files_groups, history_files_groups_aside, why.text);
		minutes->has_notice = true;
		result = write_once(minutes, &why);
	}
	return result < 0 ? error_set(error, result, "%s", why.text) : 0;
}

const char *group_minutes_take_notice(struct group_minutes *minutes)
{
	const bool has_notice = minutes->has_notice;

	minutes->has_notice = false;
	return has_notice ? minutes->notice.text : NULL;
}

/* From here on a minute is counted. */
static void begin_minute(struct group_minutes *minutes, const struct snapshot *round)
{
	minutes->minute = round->captured_at_unix_ns / NS_PER_S / MINUTE_S;
	minutes->base_boottime_ns = minutes->last_boottime_ns = round->provenance.boottime_ns;
	minutes->rounds = 0;
}

static void end_session(struct group_minutes *minutes)
{
	session_release(minutes->session);
	minutes->session = NULL;
}

int group_minutes_add(struct group_minutes *minutes, struct snapshot *round, bool after_gap,
		      struct error *error)
{
	int result = 0;

	if (minutes->session != NULL && after_gap) {
		/* if that fails, the minute is lost: what comes cannot be counted from it */
		result = write_minute(minutes, error);
		end_session(minutes);
	}
	if (minutes->session == NULL) {
		minutes->session = session_create();
		session_add_round(minutes->session, snapshot_reference(round));
		begin_minute(minutes, round);
		return result;
	}
	session_add_round(minutes->session, snapshot_reference(round));
	minutes->rounds++;
	minutes->last_boottime_ns = round->provenance.boottime_ns;
	if (round->captured_at_unix_ns / NS_PER_S / MINUTE_S == minutes->minute)
		return 0;
	result = write_minute(minutes, error);
	if (result < 0)
		return result;
	session_set_base(minutes->session);
	begin_minute(minutes, round);
	return 0;
}

void group_minutes_release(struct group_minutes *minutes)
{
	if (minutes == NULL)
		return;
	if (minutes->session != NULL)
		write_minute(minutes, NULL);
	end_session(minutes);
	close_file(minutes);
	free(minutes->directory);
	free(minutes);
}
