/* SPDX-License-Identifier: GPL-2.0-only */
#include "session_fixture.h"

#include <string.h>

#include "base/clock.h"
#include "table/screen_format.h"

struct snapshot *fixture_snapshot(double seconds)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = (uint64_t)(seconds * 1e9);
	snapshot->captured_at_unix_ns = (uint64_t)(1e18 + seconds * 1e9);
	return snapshot;
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

size_t fixture_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *process,
		      const char *name, double start_seconds)
{
	size_t thread = snapshot_add_thread(snapshot, tgid, tid);
	struct triple triple = {intern(snapshot, process), intern(snapshot, name), intern(snapshot, "/")};

	snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
	snapshot->start_time[thread] = (uint64_t)(start_seconds * USER_HZ);
	return thread;
}

void fixture_cgroup(struct snapshot *snapshot, size_t thread, const char *path)
{
	struct triple triple = snapshot->triples[snapshot->triple[thread]];

	triple.cgroup = intern(snapshot, path);
	snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
}

void fixture_set(struct snapshot *snapshot, size_t thread, enum metric metric, uint64_t value)
{
	snapshot_column(snapshot, metric)[thread] = value;
}

void fixture_set_text(struct snapshot *snapshot, size_t thread, enum metric metric, const char *text)
{
	fixture_set(snapshot, thread, metric, intern(snapshot, text));
}

struct session *fixture_two_rounds(void (*fill)(struct snapshot *snapshot, int round))
{
	struct session *session = session_create();

	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fill(snapshot, round);
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
	}
	return session;
}

struct view fixture_view(enum tab tab, enum window_mode mode, enum axis axis)
{
	struct view view;

	view_initialise(&view);
	view.tab = tab;
	view.mode = mode;
	view.grouping.axis = axis;
	return view;
}

struct table *fixture_table_of(struct session *session, const struct view *view)
{
	static struct table *tables[8];
	static size_t next;
	struct table **table = &tables[next++ % ARRAY_COUNT(tables)];

	table_release(*table);
	*table = session_table(session, view);
	return *table;
}

struct table *fixture_table(struct session *session, enum tab tab, enum window_mode mode)
{
	const struct view view = fixture_view(tab, mode, AXIS_PROCESS);

	return fixture_table_of(session, &view);
}

size_t fixture_column(const struct table *table, enum column column)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].column == (unsigned int)column)
			return i;
	}
	fail_msg("no column %s", column_name(column));
	return 0;
}

static const struct table_row *find_row(const struct table *table, const char *label)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].label_length == strlen(label) &&
		    memcmp(table->rows[i].label, label, strlen(label)) == 0)
			return &table->rows[i];
	}
	return NULL;
}

bool fixture_has_row(const struct table *table, const char *label)
{
	return find_row(table, label) != NULL;
}

const struct table_row *fixture_row(const struct table *table, const char *label)
{
	const struct table_row *row = find_row(table, label);

	if (row == NULL)
		fail_msg("no row %s", label);
	return row;
}

const struct cell *fixture_cell(const struct table *table, const char *label, enum column column)
{
	return &fixture_row(table, label)->cells[fixture_column(table, column)];
}

void fixture_expect_missing(const struct table *table, const char *label, enum column column,
			    reason_id reason)
{
	const struct cell *cell = fixture_cell(table, label, column);

	assert_int_equal(cell->state, CELL_UNAVAILABLE);
	assert_int_equal(cell->reason, reason);
}

const char *fixture_shown(const struct table *table, const char *label, enum column column)
{
	static char shown[64];
	struct buffer buffer = {0};

	screen_format_cell(&buffer, fixture_cell(table, label, column), &screen_marks_utf8);
	assert_true(buffer.length < sizeof(shown));
	memcpy(shown, buffer.data != NULL ? buffer.data : "", buffer.length);
	shown[buffer.length] = '\0';
	buffer_release(&buffer);
	return shown;
}

void fixture_expect(struct session *session, enum tab tab, enum window_mode mode, const char *label,
		    enum column column, const char *shown)
{
	assert_string_equal(fixture_shown(fixture_table(session, tab, mode), label, column), shown);
}

void fixture_expect_told(struct session *session, const struct view *view, const char *label,
			 enum column column, const char *text)
{
	struct table *table = fixture_table_of(session, view);
	const struct table_row *row = fixture_row(table, label);
	struct buffer lines = {0};

	session_explain(session, view, row->key, row->key_length, fixture_column(table, column), &lines);
	if (strstr(lines.data, text) == NULL)
		fail_msg("no '%s' in: %s", text, lines.data);
	buffer_release(&lines);
}
