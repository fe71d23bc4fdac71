/* SPDX-License-Identifier: GPL-2.0-only */
/* What has no partner under its own name: renamed cgroups, groups of one side only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables_internal.h"

static const struct table_column rename_columns[] = {
	{"baseline", .left = true},
	{"candidate", .left = true},
	{"baseline_root", .left = true},
	{"candidate_root", .left = true},
	{.name = "overlap"},
	{.name = "jaccard"},
	{.name = "cascaded"},
	{"baseline_only", .left = true},
	{"candidate_only", .left = true},
};

static const struct table_column orphan_columns[] = {{"group", .left = true}};

static void set_ratio(struct tables_build *build, struct table *table, struct cell *cell, double ratio)
{
	*cell = (struct cell){
		.state = CELL_VALUE,
		.form = CELL_FORM_REAL,
		.unit = UNIT_PERCENT,
		.value.real = ratio * 100.0,
		.sort = ratio * 100.0,
	};
	buffer_append_format(&build->text, "%.1f%%", ratio * 100.0);
	tables_cell_take_text(build, table, cell);
}

/* "process:thread, process:thread" */
static void set_types(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct diff_type *types, size_t count)
{
	struct buffer *text = &build->text;

	cell->state = CELL_VALUE;
	cell->sort = NAN;
	for (size_t i = 0; i < count; i++) {
		buffer_append_text(text, i != 0 ? ", " : "");
		buffer_append_text(text, types[i].process);
		buffer_append_char(text, ':');
		buffer_append_text(text, types[i].thread);
	}
	tables_cell_take_text(build, table, cell);
}

void tables_renames(struct tables_build *build)
{
	struct table *table = table_create_with("fudged", rename_columns, ARRAY_COUNT(rename_columns));
	size_t count = build->diff->rename_count;

	table->heading = arena_format(&table->arena,
				      build->request->like_screen ? "Renamed cgroups (%zu pair%s)"
								  : "Fudged cgroup matches (%zu pair%s)",
				      count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		const struct diff_rename *rename = &build->diff->renames[i];
		struct table_row *row = tables_add_row(build, table);

		if (row == NULL)
			continue;
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			row->cells[side] = cell_of_text(rename->path[side]);
			row->cells[2 + side] = cell_of_text(rename->root[side]);
			set_types(build, table, &row->cells[7 + side], rename->only[side],
				  rename->only_count[side]);
		}
		tables_cell_set_count(&row->cells[4], rename->overlap);
		set_ratio(build, table, &row->cells[5], rename->ratio);
		tables_cell_set_count(&row->cells[6], rename->cascaded);
	}
	tables_finish(build, table);
}

static void fill_row(struct tables_build *build, struct table *table, struct table_row *row,
		     const struct diff_pair *pair, bool in_tree)
{
	tables_row_append_label(build, pair, in_tree, &build->text);
	row->cells[0].state = CELL_VALUE;
	tables_cell_take_text(build, table, &row->cells[0]);
	row->key = pair->key;
	row->key_length = pair->key_length;
}

static void build_orphans(struct tables_build *build, enum diff_pair_kind kind, const char *section,
			  enum diff_side side)
{
	const struct diff *diff = build->diff;
	const size_t total = diff->kind_count[kind], limit = build->request->limit;
	const bool is_tree = build->request->layout && diff->options.grouping.axis == AXIS_ALL;
	struct table *table = table_create_with(section, orphan_columns, ARRAY_COUNT(orphan_columns));
	/* in byte order of their keys, as many as the limit lets through */
	const struct diff_pair **pairs = memory_allocate((total + 1) * sizeof(*pairs));
	size_t *rows = memory_allocate((total + 1) * sizeof(*rows));
	const char *name = build->request->names[side];
	size_t count = 0;

	table->heading = arena_format(
		&table->arena, "%zu group%s only in %s%s%s%s", total, total == 1 ? "" : "s",
		build->request->like_screen ? diff_side_names[side]
		: side == DIFF_BEFORE       ? "baseline"
					    : "candidate",
		name != NULL ? " (" : "", name != NULL ? name : "", name != NULL ? ")" : "");
	for (size_t i = 0; i < diff->pair_count; i++) {
		if (diff->pairs[i].kind == kind && (limit == 0 || count < limit))
			pairs[count++] = &diff->pairs[i];
	}
	if (is_tree)
		tables_row_add_tree(table, pairs, count, rows);
	for (size_t i = 0; i < count; i++) {
		if (!is_tree)
			table = tables_continue(build, table);
		fill_row(build, table, is_tree ? &table->rows[rows[i]] : table_add_row(table), pairs[i],
			 is_tree);
	}
	table->row_total = table->row_count + total - count;
	tables_finish(build, table);
	free(pairs);
	free(rows);
}

void tables_orphans(struct tables_build *build)
{
	build_orphans(build, DIFF_PAIR_ONLY_BEFORE, "only-baseline", DIFF_BEFORE);
	build_orphans(build, DIFF_PAIR_ONLY_AFTER, "only-candidate", DIFF_AFTER);
}
