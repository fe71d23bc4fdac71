/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of who ran while others waited for a CPU: a row for each victim and culprit. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff_blame.h"
#include "table/cell_format.h"
#include "tables_internal.h"

/* Indexes of the columns. */
enum blame_column {
	BLAME_COLUMN_VICTIM,
	BLAME_COLUMN_CULPRIT,
	BLAME_COLUMN_CAUSE,
	BLAME_COLUMN_TIME,
	BLAME_COLUMN_CHANGE, /* of comparisons */
	BLAME_COLUMN_WAITS,
	BLAME_COLUMN_SHARE,
	BLAME_COLUMN_COUNT,
};

static const struct table_column blame_columns[BLAME_COLUMN_COUNT] = {
	[BLAME_COLUMN_VICTIM] = {"victim", .left = true},
	[BLAME_COLUMN_CULPRIT] = {"culprit", .left = true},
	[BLAME_COLUMN_CAUSE] = {"cause", .left = true},
	[BLAME_COLUMN_TIME] = {"time_per_s", .measured = true},
	[BLAME_COLUMN_CHANGE] = {"delta", .measured = true},
	[BLAME_COLUMN_WAITS] = {"waits_per_s", .measured = true},
	[BLAME_COLUMN_SHARE] = {"share", .measured = true},
};

/* The table under construction. */
struct making {
	struct tables_build *build;
	const struct diff_blame *blame;
	const struct diff_blame_entry *entry;
	double delayed[DIFF_SIDE_COUNT]; /* of its victim */
};

static bool has_column(const struct tables_build *build, enum blame_column column)
{
	return column != BLAME_COLUMN_CHANGE || build->is_comparison;
}

/* Marks what may be more. */
static void mark_bound(const struct making *making, enum diff_side side, struct cell *cell)
{
	if (!making->blame->is_at_least[side] || making->entry->victim == making->blame->other)
		return;
	cell->partial = true;
	cell->reason = REASON_UNDER_OTHER;
}

static struct cell real_cell(struct tables_build *build, double number, enum unit unit)
{
	struct cell cell = cell_of_real(number, unit);

	cell.text = tables_take_text(build);
	return cell;
}

static uint64_t whole_ns(double time)
{
	return (uint64_t)llround(time);
}

static struct cell time_cell(struct making *making, enum diff_side side)
{
	struct cell cell = cell_of_state(VALUE_READ, REASON_READ, UNIT_NS_PER_S);

	tables_cell_set_integer(making->build, &cell, whole_ns(making->entry->time[side]), LADDER_NS);
	return cell;
}

static struct cell waits_cell(struct making *making, enum diff_side side)
{
	const double waits = making->entry->waits[side];

	cell_format_derived(&making->build->text, waits, LADDER_UNITLESS, false);
	return real_cell(making->build, waits, UNIT_COUNT_PER_S);
}

static struct cell share_cell(struct making *making, enum diff_side side)
{
	const double whole = making->delayed[side];
	const double share = whole != 0 ? making->entry->time[side] / whole * 100 : 0;

	if (whole == 0)
		return cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_PERCENT);
	buffer_append_format(&making->build->text, "%.1f%%", share);
	return real_cell(making->build, share, UNIT_PERCENT);
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
	return making->build->is_comparison ? tables_cell_both(making->build, sides, " → ")
					    : sides[DIFF_AFTER];
}

static struct cell change_cell(struct making *making)
{
	const double *time = making->entry->time;
	const double change = tables_difference(whole_ns(time[DIFF_BEFORE]), whole_ns(time[DIFF_AFTER]));
	struct cell cell = {.state = CELL_VALUE};

	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;)
		mark_bound(making, (enum diff_side)side, &cell);
	if (cell.partial)
		return cell_of_state(VALUE_UNAVAILABLE, cell.reason, UNIT_NS_PER_S);
	cell_format_delta(&making->build->text, change, LADDER_NS);
	return real_cell(making->build, change, UNIT_NS_PER_S);
}

static struct cell make_cell(struct making *making, enum blame_column column)
{
	struct tables_build *build = making->build;
	const struct diff_blame_entry *entry = making->entry;

	switch (column) {
	case BLAME_COLUMN_VICTIM:
		diff_blame_append_group(making->blame, entry->victim, &build->text);
		break;
	case BLAME_COLUMN_CULPRIT:
		diff_blame_append_culprit(making->blame, entry, &build->text);
		break;
	case BLAME_COLUMN_CAUSE:
		return cell_of_text(latency_cause_names[entry->cause]);
	case BLAME_COLUMN_TIME:
		return sides_cell(making, time_cell);
	case BLAME_COLUMN_CHANGE:
		return change_cell(making);
	case BLAME_COLUMN_WAITS:
		return sides_cell(making, waits_cell);
	default:
		return sides_cell(making, share_cell);
	}
	return cell_of_text(tables_take_text(build));
}

static void add_pair(struct making *making)
{
	struct table_row *row = tables_add_row(making->build);
	size_t at = 0;

	if (row == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		making->delayed[side] = diff_blame_delayed(making->blame, making->entry->victim,
							   (enum diff_side)side);
	for (enum blame_column column = 0; column < BLAME_COLUMN_COUNT; column++) {
		if (has_column(making->build, column))
			row->cells[at++] = make_cell(making, column);
	}
	row->key = row->label = row->cells[BLAME_COLUMN_VICTIM].text;
	row->key_length = row->label_length = strlen(row->key);
}

static void begin(struct tables_build *build)
{
	struct table_column columns[BLAME_COLUMN_COUNT];
	size_t count = 0, change = 0;

	for (enum blame_column column = 0; column < BLAME_COLUMN_COUNT; column++) {
		if (!has_column(build, column))
			continue;
		if (column == BLAME_COLUMN_CHANGE)
			change = count;
		columns[count++] = blame_columns[column];
	}
	tables_begin(build, sections[SECTION_BLAME].name, columns, count);
	if (change != 0)
		build->table->columns[change].sides = false;
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
