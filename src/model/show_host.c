/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host: pressure and sched_ext. */
#include <string.h>

#include "cell_format.h"
#include "show_build.h"

static const struct show_column_spec pressure_columns[] = {
	{"row", true, false},    {"avg10", false, true}, {"avg60", false, true},
	{"avg300", false, true}, {"total", false, true},
};

static const struct show_column_spec sched_ext_columns[] = {
	{"attr", true, false},
	{"value", false, true},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_pressure_row(struct show_build *build, struct table *table, const char *name,
			     const struct pressure_half *half, reason_id missing)
{
	struct table_row *row = show_add_row(build, table);

	if (row == NULL)
		return;
	if (missing == REASON_READ)
		show_set_pressure(build, table, row->cells, name, half);
	else
		show_set_pressure_unavailable(table, row->cells, name, missing);
}

void show_host_pressure_tables(struct show_build *build)
{
	const struct pressure *pressure = &build->snapshot->pressure;

	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		reason_id missing = build->by_flags ? REASON_READ : build->snapshot->pressure_missing[i];
		struct table *table;

		if (missing == REASON_NOT_IN_KERNEL ||
		    (missing == REASON_READ && show_pressure_is_zero(pressure, (enum pressure_resource)i)))
			continue;
		table = show_create_table(NULL, pressure_columns, COUNT(pressure_columns));
		table->section = arena_format(&table->arena, "%s %s", sections[SECTION_HOST_PRESSURE].name,
					      pressure_resource_names[i]);
		add_pressure_row(build, table, "some", &pressure->resource[i].some, missing);
		add_pressure_row(build, table, "full", &pressure->resource[i].full, missing);
		show_finish_table(build, table);
	}
}

static struct cell *add_attribute(struct show_build *build, struct table *table, const char *name)
{
	struct table_row *row = show_add_row(build, table);

	if (row == NULL)
		return NULL;
	show_set_text(table, &row->cells[0], name, strlen(name));
	return &row->cells[1];
}

void show_sched_ext_table(struct show_build *build)
{
	const struct sched_ext *sched_ext = &build->snapshot->sched_ext;
	const struct {
		const char *name;
		uint64_t value;
	} attributes[] = {
		{"switch_all", sched_ext->switch_all},
		{"nr_rejected", sched_ext->nr_rejected},
		{"hotplug_seq", sched_ext->hotplug_seq},
		{"enable_seq", sched_ext->enable_seq},
	};
	struct table *table;
	struct cell *cell;

	if (!sched_ext->present)
		return;
	table = show_create_table(sections[SECTION_SCHED_EXT].name, sched_ext_columns,
				  COUNT(sched_ext_columns));
	cell = add_attribute(build, table, "state");
	if (cell != NULL && sched_ext->state != NULL && sched_ext->state[0] != '\0')
		show_set_text(table, cell, sched_ext->state, strlen(sched_ext->state));
	else if (cell != NULL)
		cell->state = CELL_ABSENT;
	for (size_t i = 0; i < COUNT(attributes); i++) {
		cell = add_attribute(build, table, attributes[i].name);
		if (cell != NULL)
			show_set_integer(build, table, cell, attributes[i].value, LADDER_UNITLESS);
	}
	show_finish_table(build, table);
}
