/* SPDX-License-Identifier: GPL-2.0-only */
/* All metrics of one row: now, in the interval, per second, since the base, and where they came from. */
#include "session_internal.h"
#include "table/explain.h"

#include "table/tab.h"
#include "window/column.h"

enum {
	CELL_NOW,
	CELL_INTERVAL,
	CELL_PER_SECOND,
	CELL_BASE,
	CELL_SOURCE,
	CELL_COUNT,
};

static const struct table_column metric_columns[CELL_COUNT] = {
	/* so narrow that the name of a source has room on a screen of 80 cells */
	[CELL_NOW] = {.name = "now", .title = "now", .width = 8},
	[CELL_INTERVAL] = {.name = "interval", .title = "interval", .width = 8},
	[CELL_PER_SECOND] = {.name = "per_s", .title = "per s", .width = 8},
	[CELL_BASE] = {.name = "base", .title = "since base", .width = 10},
	[CELL_SOURCE] = {.name = "source", .title = "source", .left = true, .width = 12},
};

static const enum window_mode cell_modes[] = {
	[CELL_NOW] = WINDOW_MODE_TOTAL,
	[CELL_INTERVAL] = WINDOW_MODE_INTERVAL,
	[CELL_PER_SECOND] = WINDOW_MODE_RATE,
	[CELL_BASE] = WINDOW_MODE_BASE,
};

/* The threads of the row, with those that ended since the base or since the round before. */
struct row_threads {
	struct shown since_base, lately;
};

/* Those that count in a mode. A row of ended threads alone need not be in both. */
static const struct shown *shown_in_mode(const struct row_threads *threads, enum window_mode mode)
{
	const struct shown *shown = mode == WINDOW_MODE_BASE ? &threads->since_base : &threads->lately;
	const struct shown *other = mode == WINDOW_MODE_BASE ? &threads->lately : &threads->since_base;

	return shown->row_count != 0 ? shown : other;
}

static void cell_in_mode(struct session *session, const struct shown *shown, enum column column,
			 enum window_mode mode, struct arena *arena, struct cell *cell)
{
	const struct window window = session_window(session, mode);
	struct column_values values;

	reduce_column(&window, shown, column, &values);
	column_cell(shown, &values, 0, arena, cell);
	column_values_release(&values);
	/* a share of time reads better as time per second beside amounts of time */
	if (mode == WINDOW_MODE_RATE && cell->unit == UNIT_PERCENT && column_entry(column)->unit == UNIT_NS) {
		cell->unit = UNIT_NS_PER_S;
		if (cell->form == CELL_FORM_REAL)
			cell->value.real *= 1e7;
	}
}

static bool changes_over_time(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	return column_is_task_field(column) ? entry->inputs[1] == TASK_FIELD_REDUCTION_COUNTER
					    : !column_has(entry, COLUMN_IS_PRESENT);
}

/* The number in each mode in which it can differ. */
static void fill_modes(struct session *session, const struct row_threads *threads, enum column column,
		       struct arena *arena, struct table_row *row)
{
	for (int i = CELL_NOW; i <= CELL_BASE; i++) {
		if (i == CELL_NOW || changes_over_time(column))
			cell_in_mode(session, shown_in_mode(threads, cell_modes[i]), column, cell_modes[i],
				     arena, &row->cells[i]);
	}
}

/* The origin of a number, or the reason why it is missing. */
static const char *source_text(const struct session *session, enum column column, const struct cell *now,
			       struct arena *arena)
{
	enum metric metric;
	enum source source;
	const char *name;

	if (column >= COLUMN_DERIVED)
		return derived_metrics[column - COLUMN_DERIVED].formula;
	if (column < COLUMN_METRICS)
		return "enumeration";
	metric = (enum metric)(column - COLUMN_METRICS);
	source = session->rounds.now->metric_source[metric];
	name = source != SOURCE_NONE ? sources[source].name : "";
	if (now->state != CELL_UNAVAILABLE)
		return name;
	return arena_format(arena, "%s: %s", name, reason_words(now->reason));
}

static void add_metric_row(struct session *session, const struct row_threads *threads, enum column column,
			   struct table *table)
{
	const char *name = column == COLUMN_THR ? metrics[METRIC_THREAD_COUNT].name : column_name(column);
	struct table_row *row = table_add_named_row(table, name, name);

	fill_modes(session, threads, column, &table->arena, row);
	row->cells[CELL_SOURCE] = cell_of_text(
		source_text(session, column, &row->cells[CELL_NOW], &table->arena));
}

/* --- what a sched_ext scheduler keeps --- */

/* The value in a context of a member that is no field or is a word, as text; NULL for other members. */
static const char *member_text(const struct task_field_member *member, const uint8_t *context,
			       struct arena *arena)
{
	struct buffer buffer = {0};
	const char *copy;

	if (member->kind == TASK_FIELD_KIND_ARRAY)
		return arena_format(arena, "[%u]", member->count);
	if (member->kind == TASK_FIELD_KIND_POINTER)
		return "pointer";
	if (member->kind == TASK_FIELD_KIND_OTHER)
		return "bytes";
	if (member->kind == TASK_FIELD_KIND_BOOLEAN)
		return task_field_read(member, context, 0) != 0 ? "true" : "false";
	if (member->field != TASK_FIELD_NONE)
		return NULL;
	/* there are more than have numbers as columns */
	task_field_append(member, task_field_read(member, context, 0), &buffer);
	copy = arena_duplicate(arena, buffer.data, buffer.length);
	buffer_release(&buffer);
	return copy;
}

/* The type of a member, with its value if that does not fit a cell. */
static const char *type_text(const struct task_field_owner *scheduler, const struct task_field_member *member,
			     const uint8_t *context, struct arena *arena)
{
	struct buffer text = {0};
	const char *copy;

	buffer_append_text(&text, member->type);
	if (context != NULL &&
	    (member->kind == TASK_FIELD_KIND_ARRAY || member->kind == TASK_FIELD_KIND_POINTER)) {
		buffer_append_text(&text, " = ");
		explain_member_value(scheduler, member, context, &text);
	}
	copy = arena_duplicate(arena, text.data, text.length);
	buffer_release(&text);
	return copy;
}

/* A thread has all members, a group those that can be taken together. */
static void add_member_row(struct session *session, const struct row_threads *threads,
			   const struct task_field_member *member, struct table *table)
{
	const struct shown *shown = shown_in_mode(threads, WINDOW_MODE_TOTAL);
	const bool is_field = member->field != TASK_FIELD_NONE;
	const uint8_t *context = NULL;
	struct table_row *row;
	const char *name, *text;
	reason_id reason;

	if (!shown->by_thread && !is_field)
		return;
	name = arena_format(&table->arena, "%s.%s", session->rounds.now->task_fields.owner->source,
			    member->name);
	row = table_add_named_row(table, name, name);
	if (is_field)
		fill_modes(session, threads, column_of_task_field(member->field), &table->arena, row);
	if (shown->by_thread)
		context = task_fields_context(&session->rounds.now->task_fields, shown->threads[0], &reason);
	text = context != NULL ? member_text(member, context, &table->arena) : NULL;
	if (text != NULL)
		row->cells[CELL_NOW] = cell_of_text(text);
	row->cells[CELL_SOURCE] = cell_of_text(
		type_text(session->rounds.now->task_fields.owner, member, context, &table->arena));
}

static void add_members(struct session *session, const struct row_threads *threads, struct table *table)
{
	const struct task_field_owner *scheduler = session->rounds.now->task_fields.owner;

	/* where nobody was asked for the contexts their rows would say no more than that */
	if (session->rounds.now->task_fields.context_of == NULL)
		return;
	for (size_t i = 0; i < scheduler->member_count; i++)
		add_member_row(session, threads, &scheduler->members[i], table);
}

/* --- all of them --- */

/* The present state of a thread; NULL for a group and if it is not known. */
static const char *wait_heading(const struct snapshot *now, const struct shown *shown, struct arena *arena)
{
	struct buffer text = {0};
	const char *heading;

	if (!shown->by_thread)
		return NULL;
	explain_wait(now, shown->threads[0], &text);
	heading = text.length != 0 ? arena_duplicate(arena, text.data, text.length) : NULL;
	buffer_release(&text);
	return heading;
}

struct table *session_metric_table(struct session *session, const struct view *view, const char *key,
				   size_t key_length)
{
	struct row_threads threads;
	struct table *table = NULL;

	if (session->rounds.now == NULL)
		return NULL;
	window_describe_fields(session->scheduler);
	session_collect(session, view, key, key_length, session_ended(session, WINDOW_MODE_BASE),
			&threads.since_base);
	session_collect(session, view, key, key_length, session_ended(session, WINDOW_MODE_INTERVAL),
			&threads.lately);
	if (threads.since_base.row_count != 0 || threads.lately.row_count != 0) {
		table = table_create_with(NULL, metric_columns, CELL_COUNT);
		table->heading = wait_heading(session->rounds.now, shown_in_mode(&threads, WINDOW_MODE_TOTAL),
					      &table->arena);
		/* what the tab is about comes first */
		if (view->tab == TAB_TASK_FIELDS)
			add_members(session, &threads, table);
		for (int i = 0; i < METRIC_COUNT; i++)
			add_metric_row(session, &threads, column_of_metric((enum metric)i), table);
		for (int i = 0; i < DERIVED_COUNT; i++)
			add_metric_row(session, &threads, column_of_derived((enum derived)i), table);
		if (view->tab != TAB_TASK_FIELDS)
			add_members(session, &threads, table);
	}
	shown_release(&threads.since_base);
	shown_release(&threads.lately);
	return table;
}
