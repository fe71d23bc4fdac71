/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host: pressure and sched_ext. */
#include <string.h>

#include "table/cell_format.h"
#include "show_build.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_pressure_row(struct show_build *build, struct table *table, const char *name,
			     const struct pressure_half *half, reason_id missing)
{
	struct table_row *row = table_build_add_row(&build->base, table);

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
		    (missing == REASON_READ &&
		     table_build_pressure_is_zero(pressure, (enum pressure_resource)i)))
			continue;
		table = table_build_create(NULL, &host_pressure_columns);
		table->section = arena_format(&table->arena, "%s %s", sections[SECTION_HOST_PRESSURE].name,
					      pressure_resource_names[i]);
		add_pressure_row(build, table, "some", &pressure->resource[i].some, missing);
		add_pressure_row(build, table, "full", &pressure->resource[i].full, missing);
		table_build_finish(&build->base, table);
	}
}

static struct cell *add_attribute(struct show_build *build, struct table *table, const char *name)
{
	struct table_row *row = table_build_add_row(&build->base, table);

	if (row == NULL)
		return NULL;
	table_build_set_text(table, &row->cells[0], name, strlen(name));
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
	table = table_build_create(sections[SECTION_SCHED_EXT].name, &sched_ext_columns);
	cell = add_attribute(build, table, "state");
	if (cell != NULL && sched_ext->state != NULL && sched_ext->state[0] != '\0')
		table_build_set_text(table, cell, sched_ext->state, strlen(sched_ext->state));
	else if (cell != NULL)
		cell->state = CELL_ABSENT;
	for (size_t i = 0; i < COUNT(attributes); i++) {
		cell = add_attribute(build, table, attributes[i].name);
		if (cell != NULL)
			table_build_set_integer(&build->base, table, cell, attributes[i].value,
						LADDER_UNITLESS);
	}
	table_build_finish(&build->base, table);
}
