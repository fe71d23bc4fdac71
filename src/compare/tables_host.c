/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host: pressure and sched_ext. */
#include <string.h>

#include "base/memory.h"
#include "tables_internal.h"

static const struct table_column pressure_columns[] = {
	{"row", .left = true},        {"avg10", .measured = true}, {"avg60", .measured = true},
	{"avg300", .measured = true}, {"total", .measured = true},
};

static const struct table_column sched_ext_columns[] = {{"attr", .left = true}, {"value", .measured = true}};

void tables_host_pressure(struct tables_build *build)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		const enum pressure_resource resource = (enum pressure_resource)i;
		struct tables_pressure sides[DIFF_SIDE_COUNT] = {0};
		struct table *table;
		bool any = false;

		for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
			const struct snapshot *snapshot = build->diff->snapshots[side];

			sides[side].pressure = &snapshot->pressure;
			if (!build->by_flags[side])
				sides[side].side.reason = snapshot->pressure_missing[i];
			sides[side].side.unavailable = sides[side].side.reason != REASON_READ;
			any = any || tables_sides_has_pressure(&sides[side], resource);
		}
		if (!any)
			continue;
		table = tables_sides_create_table(build, NULL, pressure_columns,
						  ARRAY_COUNT(pressure_columns));
		table->section = arena_format(&table->arena, "%s %s", sections[SECTION_HOST_PRESSURE].name,
					      pressure_resource_names[i]);
		for (int full = 0; full < 2; full++) {
			struct table_row *row = tables_add_row(build, table);

			if (row != NULL)
				tables_sides_set_pressure(build, table, row->cells, full, resource, sides);
		}
		tables_finish(build, table);
	}
}

static const struct {
	const char *name;
	size_t offset;
} sched_ext_numbers[] = {
	{"switch_all", offsetof(struct sched_ext, switch_all)},
	{"nr_rejected", offsetof(struct sched_ext, nr_rejected)},
	{"hotplug_seq", offsetof(struct sched_ext, hotplug_seq)},
	{"enable_seq", offsetof(struct sched_ext, enable_seq)},
};

static uint64_t sched_ext_number(const struct sched_ext *sched_ext, size_t index)
{
	uint64_t number;

	memcpy(&number, (const char *)sched_ext + sched_ext_numbers[index].offset, sizeof(number));
	return number;
}

static const char *sched_ext_state(const struct sched_ext *sched_ext)
{
	return sched_ext->present && sched_ext->state != NULL && sched_ext->state[0] != '\0'
		       ? sched_ext->state
		       : "-";
}

static bool sched_ext_differs(const struct sched_ext *before, const struct sched_ext *after)
{
	if (before->present != after->present)
		return true;
	if (!before->present)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(sched_ext_numbers); i++) {
		if (sched_ext_number(before, i) != sched_ext_number(after, i))
			return true;
	}
	return strcmp(before->state != NULL ? before->state : "", after->state != NULL ? after->state : "") !=
	       0;
}

static void add_state(struct tables_build *build, struct table *table, const char *before, const char *after)
{
	struct table_row *row = tables_add_row(build, table);

	if (row == NULL)
		return;
	row->cells[0] = cell_of_text("state");
	if (!build->is_comparison && strcmp(after, "-") == 0)
		row->cells[1].state = CELL_ABSENT;
	else
		tables_sides_set_texts(build, table, &row->cells[1], build->is_comparison ? before : after,
				       after);
}

void tables_host_sched_ext(struct tables_build *build)
{
	static const struct sched_ext none;
	const struct snapshot *before = build->diff->snapshots[DIFF_BEFORE];
	const struct sched_ext *const both[DIFF_SIDE_COUNT] = {
		before != NULL ? &before->sched_ext : &none,
		&build->diff->snapshots[DIFF_AFTER]->sched_ext,
	};
	struct table *table;

	/* what is there differs from nothing */
	if (!sched_ext_differs(both[DIFF_BEFORE], both[DIFF_AFTER]))
		return;
	table = table_create_with(sections[SECTION_SCHED_EXT].name, sched_ext_columns,
				  ARRAY_COUNT(sched_ext_columns));
	add_state(build, table, sched_ext_state(both[DIFF_BEFORE]), sched_ext_state(both[DIFF_AFTER]));
	for (size_t i = 0; i < ARRAY_COUNT(sched_ext_numbers); i++) {
		struct table_row *row = tables_add_row(build, table);
		struct tables_side sides[DIFF_SIDE_COUNT] = {0};

		if (row == NULL)
			continue;
		row->cells[0] = cell_of_text(sched_ext_numbers[i].name);
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			if (!both[side]->present)
				continue;
			sides[side].kind = CELL_SIDE_INTEGER;
			sides[side].number = sched_ext_number(both[side], i);
		}
		tables_sides_set(build, table, &row->cells[1], sides, LADDER_UNITLESS);
	}
	tables_finish(build, table);
}
