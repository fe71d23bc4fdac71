/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host: pressure and sched_ext. */
#include <string.h>

#include "tables_build.h"

void tables_host_pressure(struct tables_build *build)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		const enum pressure_resource resource = (enum pressure_resource)i;
		struct tables_pressure sides[DIFF_SIDE_COUNT] = {0};
		struct table *table;
		bool any = false;

		for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
			const struct snapshot *snapshot = diff_snapshot(build->diff, (enum diff_side)side);

			sides[side].pressure = &snapshot->pressure;
			if (!build->by_flags[side])
				sides[side].reason = snapshot->pressure_missing[i];
			sides[side].unavailable = sides[side].reason != REASON_READ;
			any = any || tables_sides_has_pressure(&sides[side], resource);
		}
		if (!any) /* a resource that says nothing is left out */
			continue;
		table = tables_sides_create_table(build, NULL, &host_pressure_columns);
		table->section = arena_format(&table->arena, "%s %s", sections[SECTION_HOST_PRESSURE].name,
					      pressure_resource_names[i]);
		for (int full = 0; full < 2; full++) {
			struct table_row *row = table_build_add_row(&build->base, table);

			if (row != NULL)
				tables_sides_set_pressure(build, table, row->cells, full, resource, sides);
		}
		table_build_finish(&build->base, table);
	}
}

enum {
	SCHED_EXT_NUMBERS = 4
};

static const struct {
	const char *name;
	size_t offset;
} sched_ext_numbers[SCHED_EXT_NUMBERS] = {
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
	for (size_t i = 0; i < SCHED_EXT_NUMBERS; i++) {
		if (sched_ext_number(before, i) != sched_ext_number(after, i))
			return true;
	}
	return strcmp(before->state != NULL ? before->state : "", after->state != NULL ? after->state : "") !=
	       0;
}

static void add_state(struct tables_build *build, struct table *table, const char *before, const char *after)
{
	struct table_row *row = table_build_add_row(&build->base, table);

	if (row == NULL)
		return;
	table_build_set_text(table, &row->cells[0], "state", strlen("state"));
	if (!build->is_comparison && strcmp(after, "-") == 0)
		row->cells[1].state = CELL_ABSENT;
	else
		tables_sides_set_texts(build, table, &row->cells[1], build->is_comparison ? before : after,
				       after);
}

void tables_host_sched_ext(struct tables_build *build)
{
	static const struct sched_ext none;
	const struct snapshot *before = diff_snapshot(build->diff, DIFF_BEFORE);
	const struct sched_ext *const both[DIFF_SIDE_COUNT] = {
		before != NULL ? &before->sched_ext : &none,
		&diff_snapshot(build->diff, DIFF_AFTER)->sched_ext,
	};
	struct table *table;

	/* what is there differs from nothing */
	if (!sched_ext_differs(both[DIFF_BEFORE], both[DIFF_AFTER]))
		return;
	table = table_build_create(sections[SECTION_SCHED_EXT].name, &sched_ext_columns);
	add_state(build, table, sched_ext_state(both[DIFF_BEFORE]), sched_ext_state(both[DIFF_AFTER]));
	for (size_t i = 0; i < SCHED_EXT_NUMBERS; i++) {
		struct table_row *row = table_build_add_row(&build->base, table);
		struct tables_side sides[DIFF_SIDE_COUNT] = {0};

		if (row == NULL)
			continue;
		table_build_set_text(table, &row->cells[0], sched_ext_numbers[i].name,
				     strlen(sched_ext_numbers[i].name));
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			if (!both[side]->present)
				continue;
			sides[side].kind = CELL_SIDE_INTEGER;
			sides[side].number = sched_ext_number(both[side], i);
		}
		tables_sides_set(build, table, &row->cells[1], sides, LADDER_UNITLESS);
	}
	table_build_finish(&build->base, table);
}
