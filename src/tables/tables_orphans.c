/* SPDX-License-Identifier: GPL-2.0-only */
/* What has no partner under its own name: renamed cgroups, groups of one side only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables_build.h"
#include "diff/diff_internal.h"
#include "diff/diff_tree.h"

static const struct table_build_columns rename_columns = {
	{
		{"baseline", .left = true},
		{"candidate", .left = true},
		{"baseline_root", .left = true},
		{"candidate_root", .left = true},
		{"overlap", .left = false},
		{"jaccard", .left = false},
		{"cascaded", .left = false},
		{"baseline_only", .left = true},
		{"candidate_only", .left = true},
	},
	9,
};

static const struct table_build_columns orphan_columns = {{{"group", .left = true}}, 1};

static void set_ratio(struct tables_build *build, struct table *table, struct cell *cell, double ratio)
{
	*cell = (struct cell){
		.state = CELL_VALUE,
		.form = CELL_FORM_REAL,
		.unit = UNIT_PERCENT,
		.value.real = ratio * 100.0,
		.sort = ratio * 100.0,
	};
	buffer_append_format(&build->base.text, "%.1f%%", ratio * 100.0);
	table_build_take_text(&build->base, table, cell);
}

/* "process:thread, process:thread" */
static void set_types(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct diff_type *types, size_t count)
{
	struct buffer *text = &build->base.text;

	cell->state = CELL_VALUE;
	cell->sort = NAN;
	for (size_t i = 0; i < count; i++) {
		buffer_append_text(text, i != 0 ? ", " : "");
		buffer_append_text(text, types[i].process);
		buffer_append_char(text, ':');
		buffer_append_text(text, types[i].thread);
	}
	table_build_take_text(&build->base, table, cell);
}

void tables_renames(struct tables_build *build)
{
	struct table *table = table_build_create("fudged", &rename_columns);
	size_t count = diff_rename_count(build->diff);

	table->heading = arena_format(&table->arena, "Fudged cgroup matches (%zu pair%s)", count,
				      count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		const struct diff_rename *rename = diff_rename(build->diff, i);
		struct table_row *row = table_build_add_row(&build->base, table);

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
	table_build_finish(&build->base, table);
}

struct orphans {
	struct tables_build *build;
	struct table *table;
	uint32_t *pairs; /* in byte order of their keys, as many as the limit lets through */
	size_t count;
};

static void add_flat(struct orphans *orphans)
{
	struct buffer label = {0};

	for (size_t i = 0; i < orphans->count; i++) {
		const struct diff_pair *pair = diff_pair(orphans->build->diff, orphans->pairs[i]);
		struct table_row *row;

		orphans->table = table_build_continue(&orphans->build->base, orphans->table);
		row = table_add_row(orphans->table);
		buffer_clear(&label);
		diff_append_label(pair, &label);
		table_build_set_text(orphans->table, &row->cells[0], label.data != NULL ? label.data : "",
				     label.length);
		row->key = pair->key;
		row->key_length = pair->key_length;
	}
	buffer_release(&label);
}

static void add_tree(struct orphans *orphans)
{
	struct diff_tree *tree = diff_tree_create();
	struct diff_tree_line *lines;
	size_t count;

	for (size_t i = 0; i < orphans->count; i++)
		diff_tree_add(tree, diff_pair(orphans->build->diff, orphans->pairs[i]), i);
	lines = diff_tree_lines(tree, &count);
	for (size_t i = 0; i < count; i++) {
		struct table_row *row = table_add_row(orphans->table);
		const struct diff_pair *pair;
		const char *thread;

		row->depth = lines[i].depth;
		row->heading = lines[i].heading != NULL;
		if (row->heading) {
			table_build_set_text(orphans->table, &row->cells[0], lines[i].heading,
					     lines[i].heading_length);
			continue;
		}
		pair = diff_pair(orphans->build->diff, orphans->pairs[lines[i].id]);
		thread = diff_thread_part(pair);
		table_build_set_text(orphans->table, &row->cells[0], thread,
				     (size_t)(pair->key + pair->key_length - thread));
	}
	free(lines);
	diff_tree_release(tree);
}

static void build_orphans(struct tables_build *build, enum diff_pair_kind kind, const char *section,
			  enum diff_side side)
{
	size_t total = diff_kind_count(build->diff, kind), limit = build->request->limit;
	struct orphans orphans = {.build = build, .table = table_build_create(section, &orphan_columns)};
	const char *name = build->request->names[side];

	orphans.table->heading = arena_format(
		&orphans.table->arena, "%zu group%s only in %s%s%s%s", total, total == 1 ? "" : "s",
		side == DIFF_BEFORE ? "baseline" : "candidate", name != NULL ? " (" : "",
		name != NULL ? name : "", name != NULL ? ")" : "");
	orphans.pairs = memory_allocate_zero(total + 1, sizeof(*orphans.pairs));
	for (size_t i = 0; i < diff_pair_count(build->diff); i++) {
		if (diff_pair(build->diff, i)->kind == kind && (limit == 0 || orphans.count < limit))
			orphans.pairs[orphans.count++] = (uint32_t)i;
	}
	if (build->request->layout && diff_options(build->diff)->grouping.axis == AXIS_ALL)
		add_tree(&orphans);
	else
		add_flat(&orphans);
	orphans.table->row_total = orphans.table->row_count + total - orphans.count;
	table_build_finish(&build->base, orphans.table);
	free(orphans.pairs);
}

void tables_orphans(struct tables_build *build)
{
	build_orphans(build, DIFF_PAIR_ONLY_BEFORE, "only-baseline", DIFF_BEFORE);
	build_orphans(build, DIFF_PAIR_ONLY_AFTER, "only-candidate", DIFF_AFTER);
}
