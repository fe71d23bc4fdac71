/* SPDX-License-Identifier: GPL-2.0-only */
#include "hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "session_internal.h"
#include "table/row_names.h"

/* Data of a merged row that struct table_row has no members for. */
struct host_row {
	const char *host; /* the first host with this row */
	uint32_t hosts, threads;
	struct accumulator *sums; /* `sum_count` of them, column by column */
};

struct hosts {
	const struct view *view;
	struct view reading; /* the view that reads each host: all rows, in any order */
	bool apart;          /* no row is shared by two hosts */
	size_t count;
	uint64_t interval_ns;
	struct table *table;     /* its arena owns the sums and the host names; NULL before the first host */
	struct string_pool keys; /* a row's key has the id `subject` + 1 */
	struct host_row *rows;   /* by subject */
	size_t row_count, row_capacity;
	enum column columns[COLUMN_TOTAL];
	size_t column_count;
	struct column_values *like; /* by column: how the first host's values are scaled */
	size_t sum_count;           /* accumulators in a row's `sums` */
};

static bool has_host_column(const struct hosts *hosts)
{
	return hosts->view->grouping.axis != AXIS_HOST;
}

struct hosts *hosts_create(const struct view *view)
{
	struct hosts *hosts = memory_allocate_zero(1, sizeof(*hosts));

	hosts->view = view;
	hosts->reading = *view;
	hosts->reading.cells_on_demand = hosts->reading.mark_idle = true;
	hosts->reading.naming = VIEW_NAMING_APART;
	hosts->reading.limit = 0;
	hosts->apart = !has_host_column(hosts) || view->grouping.axis == AXIS_PID;
	return hosts;
}

void hosts_release(struct hosts *hosts)
{
	free(hosts->like);
	free(hosts->rows);
	string_pool_release(&hosts->keys);
	table_release(hosts->table);
	free(hosts);
}

/* Copies how the first host's values of a column are computed from sums. Pointers in the copy that belong to
 * the session are not used after it ends. */
static void add_like(struct hosts *hosts, struct session *session, size_t column)
{
	struct column_values *like = &hosts->like[column];

	*like = *session_kept_values(session, &hosts->reading, hosts->columns[column]);
	like->now = NULL;
	like->accumulators = NULL;
	like->blame = NULL;
	like->containers = (struct string_pool){0};
	like->container_of_path = NULL;
	like->member = NULL;
	hosts->sum_count += like->stride;
}

/* Creates the merged table with the columns of `first`, the table of the first host. */
static void begin_table(struct hosts *hosts, struct session *session, const struct table *first)
{
	const struct view *view = hosts->view;
	const char *title = view->naming == VIEW_NAMING_TITLES ? "HOST" : "host";
	struct table *table;

	hosts->column_count = view_columns(&hosts->reading, hosts->columns);
	hosts->table = table = table_create(NULL, ROW_NAMES_MAX + 1 + hosts->column_count);
	table->name_count = row_names_columns(view, &table->arena, table->columns);
	if (has_host_column(hosts))
		table->columns[table->name_count++] = (struct table_column){
			.name = title, .title = title, .left = true, .foreign = true, .column = UINT_MAX};
	table->column_count = table->name_count + hosts->column_count;
	if (first->sort_column != SIZE_MAX)
		table->sort_column = table->name_count + first->sort_column;
	hosts->like = memory_allocate_zero(hosts->column_count + 1, sizeof(*hosts->like));
	for (size_t i = 0; i < hosts->column_count; i++) {
		column_describe(hosts->columns[i], view->mode, false, &table->arena,
				&table->columns[table->name_count + i]);
		add_like(hosts, session, i);
	}
}

/* --- rows --- */

static void add_row(struct hosts *hosts, const char *host, const struct table_row *like)
{
	struct arena *arena = &hosts->table->arena;
	struct table_row *row = table_add_row(hosts->table);
	const bool is_host = !has_host_column(hosts);

	row->key = arena_duplicate(arena, like->key, like->key_length);
	row->key_length = like->key_length;
	row->label_length = is_host ? strlen(host) : like->label_length;
	row->label = is_host ? host : arena_duplicate(arena, like->label, like->label_length);
	row->tgid = like->tgid;
	row->is_own = like->is_own;
	row->idle = true;
	row->subject = (uint32_t)hosts->row_count;
	*MEMORY_APPEND(hosts->rows, hosts->row_count, hosts->row_capacity) = (struct host_row){
		.host = host,
		.sums = arena_allocate_zero(arena, hosts->sum_count, sizeof(struct accumulator)),
	};
}

/* Finds the merged row for a row of `host`, or adds one. Returns the merged row's subject. */
static uint32_t find_row(struct hosts *hosts, const char *host, const struct table_row *like,
			 struct buffer *key)
{
	struct table_row *row;
	uint32_t subject;

	buffer_clear(key);
	buffer_append_text(key, hosts->apart ? host : "");
	buffer_append_char(key, '\0');
	buffer_append(key, like->key, like->key_length);
	subject = string_pool_intern(&hosts->keys, key->data, key->length) - 1;
	if (subject == hosts->row_count)
		add_row(hosts, host, like);
	row = &hosts->table->rows[subject];
	/* hosts may fill in a pattern such as worker-{N} differently: show the pattern */
	if (!hosts->apart &&
	    order_bytes(row->label, row->label_length, like->label, like->label_length) != 0) {
		row->label = row->key;
		row->label_length = row->key_length;
	}
	row->idle &= like->idle;
	hosts->rows[subject].hosts++;
	hosts->rows[subject].threads += like->threads;
	return subject;
}

/* Adds one column of a host's rows to the merged rows `subjects`, whose sums of this column begin at index
 * `sums_at`. A merged row that no other host has yet also gets this host's cell. */
static void add_column(struct hosts *hosts, struct session *session, const struct table *table,
		       const uint32_t subjects[], size_t column, size_t sums_at)
{
	const struct column_values *values = session_kept_values(session, &hosts->reading,
								 hosts->columns[column]);
	struct table *merged = hosts->table;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct host_row *row = &hosts->rows[subjects[i]];

		reduce_merge(values, table->rows[i].subject, row->sums + sums_at);
		if (row->hosts == 1)
			column_cell(&session->kept_rows.shown, values, table->rows[i].subject, &merged->arena,
				    &merged->rows[subjects[i]].cells[merged->name_count + column]);
	}
}

void hosts_add(struct hosts *hosts, const char *name, struct snapshot *snapshot)
{
	struct session *session = session_create_file(snapshot);
	struct buffer key = {0};
	struct table *table;
	uint32_t *subjects;
	const char *host;
	size_t sums_at = 0;

	if (hosts->count++ == 0)
		view_set_scheduler(&hosts->reading, session_scheduler(session));
	hosts->interval_ns = session_interval_ns(session);
	table = session_table(session, &hosts->reading);
	if (hosts->table == NULL)
		begin_table(hosts, session, table);
	host = arena_duplicate(&hosts->table->arena, name, strlen(name));
	subjects = memory_allocate((table->row_count + 1) * sizeof(*subjects));
	for (size_t i = 0; i < table->row_count; i++)
		subjects[i] = find_row(hosts, host, &table->rows[i], &key);
	for (size_t i = 0; i < hosts->column_count; i++) {
		add_column(hosts, session, table, subjects, i, sums_at);
		sums_at += hosts->like[i].stride;
	}
	free(subjects);
	buffer_release(&key);
	table_release(table);
	session_release(session);
}

/* --- the table --- */

/* Sorts by the view's sort column if the table has it, else by name. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct hosts *hosts = context;
	const struct table_row *left = a, *right = b;
	const bool ascending = hosts->view->sort_ascending;
	const size_t sort = hosts->table->sort_column;
	const int by_name = order_bytes(left->label, left->label_length, right->label, right->label_length);
	int order = sort != SIZE_MAX
			    ? order_numbers(left->cells[sort].sort, right->cells[sort].sort, ascending)
		    : hosts->view->sort_by_name && !ascending ? -by_name
							      : by_name;

	order = order != 0 ? order : by_name;
	return order != 0 ? order : order_u64(left->subject, right->subject);
}

/* Makes a cell from the merged sums of a row, which begin at index `sums_at`. */
static void make_cell(const struct hosts *hosts, const struct host_row *of, size_t column, size_t sums_at,
		      struct cell *cell)
{
	struct column_values values = hosts->like[column];
	uint32_t threads = of->threads;
	const struct shown shown = {.row_count = 1, .row_threads = &threads};

	values.accumulators = of->sums + sums_at;
	column_cell(&shown, &values, 0, &hosts->table->arena, cell);
}

/* Sets the names of a row, and its cells if several hosts have the row. */
static void finish_row(struct hosts *hosts, struct table_row *row)
{
	const struct host_row *of = &hosts->rows[row->subject];
	struct table *table = hosts->table;
	size_t sums_at = 0;

	row->threads = of->threads;
	row_names_set(hosts->view, &table->arena, row);
	if (has_host_column(hosts))
		row->cells[table->name_count - 1] = cell_of_text(
			of->hosts == 1 ? of->host : arena_format(&table->arena, "%u hosts", of->hosts));
	for (size_t i = 0; of->hosts != 1 && i < hosts->column_count; i++) {
		make_cell(hosts, of, i, sums_at, &row->cells[table->name_count + i]);
		sums_at += hosts->like[i].stride;
	}
}

struct table *hosts_table(struct hosts *hosts, size_t *ret_hosts, uint64_t *ret_interval_ns)
{
	const bool hides_idle = view_hides_idle(hosts->view);
	struct table *table = hosts->table;
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		struct table_row *row = &table->rows[i];

		finish_row(hosts, row);
		table->threads += row->threads;
		if (hides_idle && row->idle)
			table->row_idle++;
		else
			table->rows[count++] = *row;
	}
	order_first(table->rows, count, sizeof(*table->rows), count, compare_rows, hosts);
	table->row_total = count;
	table->row_count = hosts->view->limit != 0 && hosts->view->limit < count ? hosts->view->limit : count;
	*ret_hosts = hosts->count;
	*ret_interval_ns = hosts->interval_ns;
	return table;
}
