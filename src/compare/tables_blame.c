/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of who ran while others waited for a CPU: a row for each victim and culprit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "diff_blame.h"
#include "tables_internal.h"

/* The table under construction. */
struct making {
	struct tables_build *build;
	const struct diff_blame *blame;
	const struct diff_blame_entry *entry;
	double delayed[DIFF_SIDE_COUNT]; /* of its victim */
};

/* Marks what may be more. */
static void mark_bound(const struct making *making, enum diff_side side, struct cell *cell)
{
	if (!making->blame->is_at_least[side] || making->entry->victim == making->blame->other)
		return;
	cell->partial = true;
	cell->reason = REASON_UNDER_OTHER;
}

static uint64_t whole_ns(double time)
{
	return (uint64_t)llround(time);
}

static struct cell time_cell(struct making *making, enum diff_side side)
{
	struct cell cell = cell_of_state(VALUE_READ, REASON_READ, UNIT_NS_PER_S);

	cell_set_value(&cell, whole_ns(making->entry->time[side]));
	return cell;
}

static struct cell waits_cell(struct making *making, enum diff_side side)
{
	return cell_in_style(making->entry->waits[side], UNIT_COUNT_PER_S, CELL_STYLE_DERIVED);
}

static struct cell share_cell(struct making *making, enum diff_side side)
{
	const double whole = making->delayed[side];
	const double share = whole != 0 ? making->entry->time[side] / whole * 100 : 0;

	if (whole == 0)
		return cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_PERCENT);
	return cell_in_style(share, UNIT_PERCENT, CELL_STYLE_PERCENT);
}

/* A number of one side or of both. */
static struct cell sides_cell(struct making *making,
			      struct cell (*make)(struct making *making, enum diff_side side))
{
	struct cell sides[DIFF_SIDE_COUNT] = {0};

	for (size_t side = making->build->first_side; side < DIFF_SIDE_COUNT; side++) {
		sides[side] = make(making, (enum diff_side)side);
		/* of a part of all waits the share may be more or less */
		if (make != share_cell)
			mark_bound(making, (enum diff_side)side, &sides[side]);
	}
	return tables_cell_sides(making->build, sides, CELL_STYLE_DIGITS);
}

static struct cell change_cell(struct making *making)
{
	const double *time = making->entry->time;
	const double change = number_difference(whole_ns(time[DIFF_BEFORE]), whole_ns(time[DIFF_AFTER]));
	struct cell cell = {.state = CELL_VALUE};

	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;)
		mark_bound(making, (enum diff_side)side, &cell);
	if (cell.partial)
		return cell_of_state(VALUE_UNAVAILABLE, cell.reason, UNIT_NS_PER_S);
	return cell_in_style(change, UNIT_NS_PER_S, CELL_STYLE_CHANGE);
}

static void add_pair(struct making *making)
{
	struct tables_build *build = making->build;
	const struct diff_blame_entry *entry = making->entry;
	struct table_row *row = tables_add_row(build);
	struct cell *cell;

	if (row == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		making->delayed[side] = diff_blame_delayed(making->blame, entry->victim,
							   (enum diff_side)side);
	cell = row->cells;
	diff_blame_append_group(making->blame, entry->victim, &build->text);
	*cell++ = cell_of_text(tables_take_text(build));
	diff_blame_append_culprit(making->blame, entry, &build->text);
	*cell++ = cell_of_text(tables_take_text(build));
	*cell++ = cell_of_text(latency_cause_names[entry->cause]);
	*cell++ = sides_cell(making, time_cell);
	if (build->is_comparison)
		*cell++ = change_cell(making);
	*cell++ = sides_cell(making, waits_cell);
	*cell = sides_cell(making, share_cell);
}

static void begin(struct tables_build *build)
{
	struct table_column columns[] = {
		{"victim", .left = true},    {"culprit", .left = true},
		{"cause", .left = true},     {"time_per_s", .measured = true},
		{"delta", .measured = true}, {"waits_per_s", .measured = true},
		{"share", .measured = true},
	};
	const size_t count = ARRAY_COUNT(columns), delta = 4;

	if (build->is_comparison) {
		tables_begin(build, sections[SECTION_BLAME].name, columns, count);
		build->table->columns[delta].sides = false;
		return;
	}
	memmove(&columns[delta], &columns[delta + 1], (count - delta - 1) * sizeof(*columns));
	tables_begin(build, sections[SECTION_BLAME].name, columns, count - 1);
}

void tables_blame(struct tables_build *build)
{
	struct diff_blame *blame = diff_blame_create(build->diff);
	struct making making = {.build = build, .blame = blame};
	struct order_item *order;

	for (size_t side = build->first_side; blame != NULL && side < DIFF_SIDE_COUNT; side++) {
		if (blame->measured[side])
			continue;
		diff_blame_release(blame);
		blame = NULL;
	}
	if (blame == NULL)
		return;
	order = memory_allocate((blame->count + 1) * sizeof(*order));
	for (size_t i = 0; i < blame->count; i++) {
		const double *time = blame->entries[i].time;

		order[i] = (struct order_item){
			.first = order_key(fabs(time[DIFF_AFTER] - time[DIFF_BEFORE]), false),
			.index = (uint32_t)i,
		};
	}
	order_items(order, blame->count);
	begin(build);
	for (size_t i = 0; i < blame->count; i++) {
		making.entry = &blame->entries[order[i].index];
		add_pair(&making);
		tables_continue(build);
	}
	tables_finish(build);
	free(order);
	diff_blame_release(blame);
}
