/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups and threads without a partner of their own name: of renamed cgroups, and of one side only. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
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
	build->table->heading = arena_format(
		&build->table->arena, "%s (%zu pair%s)",
		dialect_word(build->diff->options.dialect, "Fudged cgroup matches", true), count,
		count == 1 ? "" : "s");
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
		row->cells[5] = cell_in_style(rename->ratio * 100.0, UNIT_PERCENT, CELL_STYLE_PERCENT);
		row->cells[6] = cell_of_integer(rename->cascaded, UNIT_NONE);
	}
	tables_finish(build);
}

static void build_orphans(struct tables_build *build, enum diff_pair_kind kind, const char *section)
{
	const struct diff *diff = build->diff;

	build->table = table_create_with(section, orphan_columns, ARRAY_COUNT(orphan_columns));
	for (size_t i = 0; i < diff->pair_count; i++) {
		struct table_row *row;

		if (diff->pairs[i].kind != kind)
			continue;
		tables_continue(build);
		row = tables_add_row(build);
		if (row == NULL)
			continue;
		diff_append_key(&diff->pairs[i], &build->text);
		row->cells[0] = cell_of_text(tables_take_text(build));
		row->key = diff->pairs[i].key;
		row->key_length = diff->pairs[i].key_length;
	}
	tables_finish(build);
}

void tables_orphans(struct tables_build *build)
{
	build_orphans(build, DIFF_PAIR_ONLY_BEFORE, "only-baseline");
	build_orphans(build, DIFF_PAIR_ONLY_AFTER, "only-candidate");
}

/* --- threads --- */

static const struct table_column thread_columns[] = {
	{"group", .left = true},           {.name = "pid"},          {.name = "tid"},
	{"process", .left = true},         {"thread", .left = true}, {"cgroup", .left = true},
	{"run_time_ns", .measured = true},
};

/* The threads of one side only: those that ran longest first, then in the order of their ids. */
static struct order_item *collect(const struct diff_match *match, enum diff_side side, size_t *ret_count)
{
	const struct snapshot *snapshot = match->snapshots[side];
	struct order_item *listed = memory_allocate_zero(match->only[side] + 1, sizeof(*listed));
	size_t count = 0;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (match->mate[side][i] != UINT32_MAX)
			continue;
		listed[count++] = (struct order_item){
			.first = UINT64_MAX - snapshot_value(snapshot, i, METRIC_RUN_TIME_NS),
			.second = (uint64_t)snapshot->tgid[i] << 32 | snapshot->tid[i],
			.index = (uint32_t)i,
		};
	}
	order_items(listed, count);
	*ret_count = count;
	return listed;
}

static struct cell name_cell(struct tables_build *build, const struct snapshot *snapshot, uint32_t id)
{
	const struct name_text name = snapshot_name(snapshot, id);

	return tables_cell_text(build, name.text, name_shown_length(name.text, name.length));
}

static struct cell run_time_cell(struct tables_build *build, size_t thread, enum diff_side side)
{
	const struct snapshot *snapshot = build->diff->snapshots[side];
	const uint16_t state = window_value_state(&build->diff->reductions[side]->window, (uint32_t)thread,
						  METRIC_RUN_TIME_NS);
	struct cell cell;

	if (state == STATE_ABSENT)
		return cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NS);
	if (state != REASON_READ)
		return cell_of_state(VALUE_UNAVAILABLE, (reason_id)state, UNIT_NS);
	cell = cell_of_state(VALUE_READ, REASON_READ, UNIT_NS);
	cell_set_value(&cell, snapshot_value(snapshot, thread, METRIC_RUN_TIME_NS));
	return cell;
}

static void fill_row(struct tables_build *build, struct cell *cells, size_t thread, enum diff_side side)
{
	const struct snapshot *snapshot = build->diff->snapshots[side];
	const struct triple *names = &snapshot->triples[snapshot->triple[thread]];

	diff_append_label(build->diff, &build->diff->pairs[diff_pair_of_thread(build->diff, side, thread)],
			  &build->text);
	*cells++ = cell_of_text(tables_take_text(build));
	*cells++ = cell_of_integer(snapshot->tgid[thread], UNIT_NONE);
	*cells++ = cell_of_integer(snapshot->tid[thread], UNIT_NONE);
	*cells++ = name_cell(build, snapshot, names->pcomm);
	*cells++ = name_cell(build, snapshot, names->comm);
	*cells++ = name_cell(build, snapshot, names->cgroup);
	*cells = run_time_cell(build, thread, side);
}

static void build_threads(struct tables_build *build, enum diff_side side, const char *section,
			  const char *heading)
{
	size_t count;
	struct order_item *listed = collect(build->diff->options.match, side, &count);

	build->table = table_create_with(section, thread_columns, ARRAY_COUNT(thread_columns));
	build->table->heading = heading;
	for (size_t i = 0; i < count; i++) {
		struct table_row *row;

		tables_continue(build);
		row = tables_add_row(build);
		if (row != NULL)
			fill_row(build, row->cells, listed[i].index, side);
	}
	tables_finish(build);
	free(listed);
}

void tables_threads(struct tables_build *build)
{
	build_threads(build, DIFF_AFTER, "threads-came", "Threads that came, with their run time");
	build_threads(
		build, DIFF_BEFORE, "threads-went",
		"Threads that went, with their run time until before; what they did since is not known");
}
