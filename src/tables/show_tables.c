/* SPDX-License-Identifier: GPL-2.0-only */
#include "show_tables.h"

#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "show_build.h"

static void set_average(struct show_build *build, struct table *table, struct cell *cell, uint32_t hundredths)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_REAL;
	cell->unit = UNIT_PERCENT;
	cell->value.real = hundredths / 100.0;
	cell->sort = cell->value.real;
	cell_format_pressure(&build->base.text, hundredths);
	table_build_take_text(&build->base, table, cell);
}

void show_set_pressure(struct show_build *build, struct table *table, struct cell *first, const char *row,
		       const struct pressure_half *half)
{
	table_build_set_text(table, &first[0], row, strlen(row));
	set_average(build, table, &first[1], half->avg10);
	set_average(build, table, &first[2], half->avg60);
	set_average(build, table, &first[3], half->avg300);
	table_build_set_integer(&build->base, table, &first[4], half->total_usec, LADDER_US);
}

void show_set_pressure_unavailable(struct table *table, struct cell *first, const char *row, reason_id reason)
{
	table_build_set_text(table, &first[0], row, strlen(row));
	for (size_t i = 1; i <= 3; i++)
		table_build_set_unavailable(&first[i], reason, UNIT_PERCENT);
	table_build_set_unavailable(&first[4], reason, UNIT_US);
}

void show_tables(const struct snapshot *snapshot, const struct show_request *request,
		 void (*emit)(void *context, const struct table *table), void *context)
{
	struct show_build build = {
		.snapshot = snapshot,
		.request = request,
		.by_flags = request->by_flags || !snapshot->provenance.present,
		.base =
			{
				.emit = emit,
				.context = context,
				.limit = request->limit,
				.chunk_rows = request->chunk_rows,
			},
	};

	show_group_tables(&build);
	if (request->grouping.axis == AXIS_CGROUP)
		show_cgroup_tables(&build);
	if (request->sections[SECTION_HOST_PRESSURE])
		show_host_pressure_tables(&build);
	if (request->sections[SECTION_SMAPS_ROLLUP])
		show_smaps_table(&build);
	if (request->sections[SECTION_SCHED_EXT])
		show_sched_ext_table(&build);
	buffer_release(&build.base.text);
}
