/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "cmd/line/command.h"
#include "compare/pair_table.h"

struct host_changes {
	struct view view; /* the view of every comparison */
	enum column columns[COLUMN_TOTAL];
	struct table **tables; /* one for each host, all with the same columns */
	size_t count, capacity;
};

/* Names a row after its host, followed by its group unless the axis is host. */
static void name_row(struct table *table, const char *host, enum axis axis, struct table_row *row)
{
	row->label = axis == AXIS_HOST ? arena_duplicate(&table->arena, host, strlen(host))
				       : arena_format(&table->arena, "%s  %.*s", host, (int)row->label_length,
						      row->label);
	row->label_length = strlen(row->label);
	row->cells[0] = cell_of_text(row->label);
}

/* `context` is a struct host_changes. */
static void compare_host(void *context, const char *host, const struct history_moment files[])
{
	struct host_changes *changes = context;
	const enum axis axis = changes->view.grouping.axis;
	const struct snapshot *before = files[DIFF_BEFORE].snapshot, *after = files[DIFF_AFTER].snapshot;
	struct diff_match *match;
	struct table *table;
	struct diff *diff;

	if (before->window == NULL || after->window == NULL) {
		command_note("%s is left out: one of its rounds has no time before it", host);
		return;
	}
	match = diff_match_create(before, after, NULL);
	diff = diff_create(
		before, after,
		&(struct diff_options){.grouping = changes->view.grouping, .rates = true, .match = match});
	table = pair_table_create(&(struct pair_sides){.diff = diff}, &changes->view,
				  axis == AXIS_HOST ? axes[axis].header : "host and group");
	for (size_t i = 0; i < table->row_count; i++)
		name_row(table, host, axis, &table->rows[i]);
	*MEMORY_APPEND(changes->tables, changes->count, changes->capacity) = table;
	diff_release(diff);
	diff_match_release(match);
}

static int compare_rows(const void *a, const void *b)
{
	const struct table_row *left = a, *right = b;
	const int order = order_numbers(left->harm, right->harm, false);

	return order != 0 ? order
			  : order_bytes(left->label, left->label_length, right->label, right->label_length);
}

/* Adds the rows of the other tables to the first. Their cells stay owned by those tables. */
static struct table *join_tables(const struct host_changes *changes, size_t limit)
{
	struct table *all = changes->tables[0];

	for (size_t i = 1; i < changes->count; i++) {
		const struct table *table = changes->tables[i];

		for (size_t k = 0; k < table->row_count; k++)
			*table_add_bare_row(all) = table->rows[k];
		all->row_folded += table->row_folded;
		all->row_unknown += table->row_unknown;
	}
	if (all->row_count != 0)
		qsort(all->rows, all->row_count, sizeof(*all->rows), compare_rows);
	all->row_total = all->row_count;
	if (limit != 0 && limit < all->row_count)
		all->row_count = limit;
	return all;
}

static void draw_changes(const struct host_changes *changes, const struct hosts_moment *moment, size_t limit,
			 struct report *report)
{
	struct table *table = join_tables(changes, limit);

	table->heading = arena_format(&table->arena, "%s → %s, %s: %zu host%s, largest change first",
				      moment->names[DIFF_BEFORE], moment->names[DIFF_AFTER], moment->zone,
				      changes->count, changes->count == 1 ? "" : "s");
	report_begin(report, &(struct report_subject){.command = "diff"});
	report_table(report, table);
	report_end(report);
}

int diff_hosts_print(struct snapshot_report *printing, const struct hosts_moment *moment,
		     const struct report_options *options, struct error *error)
{
	static struct host_changes changes; /* large for a stack */
	struct view *view = &changes.view;
	int result;

	view_initialise(view);
	view->grouping = printing->how.grouping;
	view->tab = printing->request.tab;
	view->compares = view->sort_by_change = true;
	view->equal_rows = printing->request.all;
	/* every table gets all columns of the tab, even those that a host cannot measure */
	view->column_count = view_columns(view, changes.columns);
	view->columns = changes.columns;
	result = hosts_moment_read(moment, options, compare_host, &changes, error);
	if (result == 0 && changes.count == 0)
		result = error_set(error, -ENODATA, "%s: no host has two windows to compare",
				   moment->directory);
	if (result == 0)
		draw_changes(&changes, moment, printing->request.limit, &printing->report);
	for (size_t i = 0; i < changes.count; i++)
		table_release(changes.tables[i]);
	free(changes.tables);
	return result;
}
