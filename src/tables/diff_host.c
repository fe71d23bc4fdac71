/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host of a comparison: pressure and sched_ext. */
#include <string.h>

#include "diff_build.h"

static const struct pressure *pressure_of(const struct diff_build *build, size_t side)
{
	return &diff_snapshot(build->diff, (enum diff_side)side)->pressure;
}

static reason_id missing_of(const struct diff_build *build, size_t side, enum pressure_resource resource)
{
	const struct snapshot *snapshot = diff_snapshot(build->diff, (enum diff_side)side);

	return build->by_flags[side] ? REASON_READ : snapshot->pressure_missing[resource];
}

/* A resource that says nothing on either side is left out. */
static bool has_pressure(const struct diff_build *build, enum pressure_resource resource)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		reason_id missing = missing_of(build, side, resource);

		if (missing == REASON_READ ? !table_build_pressure_is_zero(pressure_of(build, side), resource)
					   : missing != REASON_NOT_IN_KERNEL)
			return true;
	}
	return false;
}

static void add_pressure_row(struct diff_build *build, struct table *table, enum pressure_resource resource,
			     bool full)
{
	struct table_row *row = table_build_add_row(&build->base, table);
	struct diff_pressure_side sides[DIFF_SIDE_COUNT];

	if (row == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct pressure *pressure = pressure_of(build, side);

		sides[side] = (struct diff_pressure_side){
			.half = full ? &pressure->resource[resource].full
				     : &pressure->resource[resource].some,
			.reason = missing_of(build, side, resource),
		};
		sides[side].unavailable = sides[side].reason != REASON_READ;
	}
	diff_set_pressure(build, table, row->cells, full ? "full" : "some", sides);
}

void diff_host_pressure_tables(struct diff_build *build)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		struct table *table;

		if (!has_pressure(build, (enum pressure_resource)i))
			continue;
		table = table_build_create(NULL, &host_pressure_columns);
		table->section = arena_format(&table->arena, "%s %s", sections[SECTION_HOST_PRESSURE].name,
					      pressure_resource_names[i]);
		for (size_t column = 1; column < table->column_count; column++)
			table->columns[column].sides = true;
		add_pressure_row(build, table, (enum pressure_resource)i, false);
		add_pressure_row(build, table, (enum pressure_resource)i, true);
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

static void add_state(struct diff_build *build, struct table *table, const char *before, const char *after)
{
	struct table_row *row = table_build_add_row(&build->base, table);

	if (row == NULL)
		return;
	table_build_set_text(table, &row->cells[0], "state", strlen("state"));
	row->cells[1].state = CELL_VALUE;
	buffer_append_text(&build->base.text, before);
	if (strcmp(before, after) != 0)
		buffer_append_format(&build->base.text, " → %s", after);
	table_build_take_text(&build->base, table, &row->cells[1]);
}

void diff_sched_ext_table(struct diff_build *build)
{
	const struct sched_ext *const both[DIFF_SIDE_COUNT] = {
		&diff_snapshot(build->diff, DIFF_BEFORE)->sched_ext,
		&diff_snapshot(build->diff, DIFF_AFTER)->sched_ext,
	};
	struct table *table;

	if (!sched_ext_differs(both[DIFF_BEFORE], both[DIFF_AFTER]))
		return;
	table = table_build_create(sections[SECTION_SCHED_EXT].name, &sched_ext_columns);
	add_state(build, table, sched_ext_state(both[DIFF_BEFORE]), sched_ext_state(both[DIFF_AFTER]));
	for (size_t i = 0; i < SCHED_EXT_NUMBERS; i++) {
		struct table_row *row = table_build_add_row(&build->base, table);
		struct diff_cell_side sides[DIFF_SIDE_COUNT] = {0};

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
		diff_set_sides(build, table, &row->cells[1], sides, LADDER_UNITLESS);
	}
	table_build_finish(&build->base, table);
}
