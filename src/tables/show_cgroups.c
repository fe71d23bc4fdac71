/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of cgroup records: stats, limits, memory.stat, memory.events, pressure. */
#include <string.h>

#include "table/cell_format.h"
#include "show_build.h"

struct cgroup_tables {
	struct show_build *build;
	const struct merged_cgroups *cgroups;
};

/* Marks a cell by the state of the member that it comes from; true when there is a value to fill in. */
static bool begin_cell(struct cell *cell, const struct merged_cgroup *cgroup, enum cgroup_member member)
{
	reason_id reason;

	if (cgroup_merge_state(cgroup, member, &reason) == VALUE_UNAVAILABLE) {
		table_build_set_unavailable(cell, reason, UNIT_NONE);
		return false;
	}
	cell->state = CELL_VALUE;
	cell->partial = cgroup_merge_is_partial(cgroup, member);
	cell->reason = cell->partial ? reason : REASON_READ;
	return true;
}

static void set_member(struct cgroup_tables *tables, struct table *table, struct cell *cell,
		       const struct merged_cgroup *cgroup, enum cgroup_member member, uint64_t value,
		       enum ladder ladder)
{
	if (begin_cell(cell, cgroup, member))
		table_build_set_integer(&tables->build->base, table, cell, value, ladder);
	cell->unit = cell_format_unit(ladder);
}

/* A number that may not be there, and what stands for it then. */
static void set_optional(struct cgroup_tables *tables, struct table *table, struct cell *cell,
			 const struct merged_cgroup *cgroup, enum cgroup_member member,
			 struct optional_u64 value, enum ladder ladder, const char *without)
{
	if (value.present || without == NULL) {
		set_member(tables, table, cell, cgroup, member, value.value, ladder);
		if (!value.present && cell->state == CELL_VALUE)
			cell->state = CELL_ABSENT;
		return;
	}
	if (begin_cell(cell, cgroup, member))
		table_build_set_text(table, cell, without, strlen(without));
	cell->unit = cell_format_unit(ladder);
}

static struct table_row *add_cgroup_row(struct cgroup_tables *tables, struct table *table,
					const struct merged_cgroup *cgroup)
{
	struct table_row *row = table_build_add_row(&tables->build->base, table);

	if (row == NULL)
		return NULL;
	table_build_set_text(table, &row->cells[0], cgroup->key, cgroup->key_length);
	row->key = row->label = row->cells[0].text;
	row->key_length = row->label_length = cgroup->key_length;
	return row;
}

static void build_stats(struct cgroup_tables *tables)
{
	struct table *table = table_build_create(sections[SECTION_CGROUP_STATS].name, &cgroup_stats_columns);

	for (size_t i = 0; i < tables->cgroups->count; i++) {
		const struct merged_cgroup *cgroup = &tables->cgroups->items[i];
		const struct cgroup_record *record = &cgroup->record;
		struct table_row *row = add_cgroup_row(tables, table, cgroup);

		if (row == NULL)
			continue;
		set_member(tables, table, &row->cells[1], cgroup, CGROUP_MEMBER_CPU_STAT, record->usage_usec,
			   LADDER_US);
		set_member(tables, table, &row->cells[2], cgroup, CGROUP_MEMBER_CPU_STAT,
			   record->nr_throttled, LADDER_UNITLESS);
		set_member(tables, table, &row->cells[3], cgroup, CGROUP_MEMBER_CPU_STAT,
			   record->throttled_usec, LADDER_US);
		set_member(tables, table, &row->cells[4], cgroup, CGROUP_MEMBER_MEMORY_CURRENT,
			   record->memory_current, LADDER_BYTES);
	}
	table_build_finish(&tables->build->base, table);
}

static bool has_limit(const struct cgroup_record *record)
{
	return record->max_quota_us.present || record->weight.present || record->memory_max.present ||
	       record->memory_high.present || record->pids_current.present || record->pids_max.present;
}

static void set_cpu_limit(struct cgroup_tables *tables, struct table *table, struct cell *cell,
			  const struct merged_cgroup *cgroup)
{
	if (!begin_cell(cell, cgroup, CGROUP_MEMBER_CPU_MAX))
		return;
	cell_format_cpu_limit(&tables->build->base.text, cgroup->record.max_quota_us,
			      cgroup->record.max_period_us);
	table_build_take_text(&tables->build->base, table, cell);
}

static void build_limits(struct cgroup_tables *tables)
{
	struct table *table = table_build_create(sections[SECTION_CGROUP_LIMITS].name,
						 &cgroup_limits_columns);

	for (size_t i = 0; i < tables->cgroups->count; i++) {
		const struct merged_cgroup *cgroup = &tables->cgroups->items[i];
		const struct cgroup_record *record = &cgroup->record;
		struct table_row *row;

		if (!has_limit(record))
			continue;
		row = add_cgroup_row(tables, table, cgroup);
		if (row == NULL)
			continue;
		set_cpu_limit(tables, table, &row->cells[1], cgroup);
		set_optional(tables, table, &row->cells[2], cgroup, CGROUP_MEMBER_CPU_WEIGHT, record->weight,
			     LADDER_UNITLESS, NULL);
		set_optional(tables, table, &row->cells[3], cgroup, CGROUP_MEMBER_MEMORY_MAX,
			     record->memory_max, LADDER_BYTES, "max");
		set_optional(tables, table, &row->cells[4], cgroup, CGROUP_MEMBER_MEMORY_HIGH,
			     record->memory_high, LADDER_BYTES, "max");
		set_optional(tables, table, &row->cells[5], cgroup, CGROUP_MEMBER_PIDS_CURRENT,
			     record->pids_current, LADDER_UNITLESS, NULL);
		set_optional(tables, table, &row->cells[6], cgroup, CGROUP_MEMBER_PIDS_MAX, record->pids_max,
			     LADDER_UNITLESS, "max");
	}
	table_build_finish(&tables->build->base, table);
}

/* One row for each key that is not zero; one with the file's name where it was not read. */
static void build_list(struct cgroup_tables *tables, enum section section,
		       const struct table_build_columns *columns, enum cgroup_member member)
{
	struct table *table = table_build_create(sections[section].name, columns);

	for (size_t i = 0; i < tables->cgroups->count; i++) {
		const struct merged_cgroup *cgroup = &tables->cgroups->items[i];
		const struct key_values *list = member == CGROUP_MEMBER_MEMORY_STAT
							? &cgroup->record.memory_stat
							: &cgroup->record.memory_events;
		reason_id reason;
		struct table_row *row;

		if (cgroup_merge_state(cgroup, member, &reason) == VALUE_UNAVAILABLE) {
			row = add_cgroup_row(tables, table, cgroup);
			if (row == NULL)
				continue;
			table_build_set_text(table, &row->cells[1], cgroup_member_names[member],
					     strlen(cgroup_member_names[member]));
			table_build_set_unavailable(&row->cells[2], reason, UNIT_COUNT);
		}
		for (uint32_t j = 0; j < list->count; j++) {
			const struct key_value *item = &list->items[j];

			row = item->value != 0 ? add_cgroup_row(tables, table, cgroup) : NULL;
			if (row == NULL)
				continue;
			table_build_set_text(
				table, &row->cells[1], snapshot_text(tables->build->snapshot, item->key),
				string_pool_length(&tables->build->snapshot->strings, item->key));
			set_member(tables, table, &row->cells[2], cgroup, member, item->value,
				   LADDER_UNITLESS);
		}
	}
	table_build_finish(&tables->build->base, table);
}

/* The member of a record that holds the pressure of a resource; both enumerations have one order. */
static enum cgroup_member pressure_member(enum pressure_resource resource)
{
	return (enum cgroup_member)(CGROUP_MEMBER_CPU_PRESSURE + (int)resource);
}

/* A resource none of whose numbers says anything is left out. */
static bool has_pressure(const struct cgroup_tables *tables, enum pressure_resource resource)
{
	for (size_t i = 0; i < tables->cgroups->count; i++) {
		const struct merged_cgroup *cgroup = &tables->cgroups->items[i];
		reason_id reason;

		if (!table_build_pressure_is_zero(&cgroup->record.pressure, resource))
			return true;
		if (cgroup_merge_state(cgroup, pressure_member(resource), &reason) == VALUE_UNAVAILABLE &&
		    reason != REASON_NOT_IN_KERNEL)
			return true;
	}
	return false;
}

static void add_pressure_row(struct cgroup_tables *tables, struct table *table,
			     const struct merged_cgroup *cgroup, enum pressure_resource resource,
			     const char *name, const struct pressure_half *half)
{
	enum cgroup_member member = pressure_member(resource);
	struct table_row *row = add_cgroup_row(tables, table, cgroup);
	reason_id reason;

	if (row == NULL)
		return;
	if (cgroup_merge_state(cgroup, member, &reason) == VALUE_UNAVAILABLE) {
		show_set_pressure_unavailable(table, &row->cells[1], name, reason);
		return;
	}
	for (size_t column = 2; column < table->column_count; column++)
		begin_cell(&row->cells[column], cgroup, member);
	show_set_pressure(tables->build, table, &row->cells[1], name, half);
}

static void build_pressure(struct cgroup_tables *tables, enum pressure_resource resource)
{
	struct table *table;

	if (!has_pressure(tables, resource))
		return;
	table = table_build_create(NULL, &cgroup_pressure_columns);
	table->section = arena_format(&table->arena, "%s %s", sections[SECTION_PRESSURE].name,
				      pressure_resource_names[resource]);
	for (size_t i = 0; i < tables->cgroups->count; i++) {
		const struct merged_cgroup *cgroup = &tables->cgroups->items[i];

		add_pressure_row(tables, table, cgroup, resource, "some",
				 &cgroup->record.pressure.resource[resource].some);
		add_pressure_row(tables, table, cgroup, resource, "full",
				 &cgroup->record.pressure.resource[resource].full);
	}
	table_build_finish(&tables->build->base, table);
}

void show_cgroup_tables(struct show_build *build)
{
	const bool *wanted = build->request->sections;
	struct merged_cgroups *cgroups = cgroup_merge_create(build->snapshot, &build->request->grouping,
							     build->by_flags);
	struct cgroup_tables tables = {build, cgroups};

	if (wanted[SECTION_CGROUP_STATS])
		build_stats(&tables);
	if (wanted[SECTION_CGROUP_LIMITS])
		build_limits(&tables);
	if (wanted[SECTION_MEMORY_STAT])
		build_list(&tables, SECTION_MEMORY_STAT, &memory_stat_columns, CGROUP_MEMBER_MEMORY_STAT);
	if (wanted[SECTION_MEMORY_EVENTS])
		build_list(&tables, SECTION_MEMORY_EVENTS, &memory_events_columns,
			   CGROUP_MEMBER_MEMORY_EVENTS);
	for (size_t i = 0; wanted[SECTION_PRESSURE] && i < PRESSURE_RESOURCE_COUNT; i++)
		build_pressure(&tables, (enum pressure_resource)i);
	cgroup_merge_release(cgroups);
}
