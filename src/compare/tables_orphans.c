/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups without a partner of their own name: of renamed cgroups, and of one side only. */
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

static struct cell ratio_cell(struct tables_build *build, double ratio)
{
	struct cell cell = cell_of_real(ratio * 100.0, UNIT_PERCENT);

	cell.text = arena_format(&build->table->arena, "%.1f%%", ratio * 100.0);
	return cell;
}

/* "process:thread, process:thread" */
static struct cell types_cell(struct tables_build *build, const struct diff_type *types, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer_append_format(&build->text, "%s%s:%s", i != 0 ? ", " : "", types[i].process,
				     types[i].thread);
	return cell_of_text(tables_take_text(build));
}

void tables_renames(struct tables_build *build)
{
	const size_t count = build->diff->rename_count;

	build->table = table_create_with("fudged", rename_columns, ARRAY_COUNT(rename_columns));
	build->table->heading = arena_format(&build->table->arena,
					     build->request->like_screen
						     ? "Renamed cgroups (%zu pair%s)"
						     : "Fudged cgroup matches (%zu pair%s)",
					     count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		const struct diff_rename *rename = &build->diff->renames[i];
		struct table_row *row = tables_add_row(build);

		if (row == NULL)
			continue;
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			row->cells[side] = cell_of_text(rename->path[side]);
			row->cells[2 + side] = cell_of_text(rename->root[side]);
			row->cells[7 + side] = types_cell(build, rename->only[side],
							  rename->only_count[side]);
		}
		row->cells[4] = cell_of_integer(rename->overlap, UNIT_NONE);
		row->cells[5] = ratio_cell(build, rename->ratio);
		row->cells[6] = cell_of_integer(rename->cascaded, UNIT_NONE);
	}
	tables_finish(build);
}

static void append_heading(const struct tables_build *build, size_t total, enum diff_side side)
{
	static const char *const sides[DIFF_SIDE_COUNT] = {"baseline", "candidate"};
	const char *name = build->request->names[side];

	build->table->heading = arena_format(
		&build->table->arena, "%zu group%s only in %s%s%s%s", total, total == 1 ? "" : "s",
		(build->request->like_screen ? diff_side_names : sides)[side], name != NULL ? " (" : "",
		name != NULL ? name : "", name != NULL ? ")" : "");
}

static void build_orphans(struct tables_build *build, enum diff_pair_kind kind, const char *section,
			  enum diff_side side)
{
	const struct diff *diff = build->diff;
	const size_t total = diff->kind_count[kind], limit = build->request->limit;
	const bool is_tree = build->request->layout && diff->options.grouping.axis == AXIS_ALL;
	/* in byte order of their keys, as many as the limit lets through */
	const struct diff_pair **pairs = memory_allocate((total + 1) * sizeof(*pairs));
	size_t *rows = memory_allocate((total + 1) * sizeof(*rows));
	size_t count = 0;

	build->table = table_create_with(section, orphan_columns, ARRAY_COUNT(orphan_columns));
	append_heading(build, total, side);
	for (size_t i = 0; i < diff->pair_count; i++) {
		if (diff->pairs[i].kind == kind && (limit == 0 || count < limit))
			pairs[count++] = &diff->pairs[i];
	}
	if (is_tree)
		tables_row_add_tree(build->table, pairs, count, rows);
	for (size_t i = 0; i < count; i++) {
		struct table_row *row;

		if (!is_tree)
			tables_continue(build);
		row = is_tree ? &build->table->rows[rows[i]] : table_add_row(build->table);
		tables_row_append_label(build, pairs[i], is_tree, &build->text);
		row->cells[0] = cell_of_text(tables_take_text(build));
		row->key = pairs[i]->key;
		row->key_length = pairs[i]->key_length;
	}
	build->table->row_total = build->table->row_count + total - count;
	tables_finish(build);
	free(pairs);
	free(rows);
}

void tables_orphans(struct tables_build *build)
{
	build_orphans(build, DIFF_PAIR_ONLY_BEFORE, "only-baseline", DIFF_BEFORE);
	build_orphans(build, DIFF_PAIR_ONLY_AFTER, "only-candidate", DIFF_AFTER);
}
