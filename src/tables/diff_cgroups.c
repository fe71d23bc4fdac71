/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of cgroup records of a comparison: stats, limits, memory.stat, memory.events, pressure. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "table/cell_format.h"
#include "group/cgroup_merge.h"
#include "diff_build.h"

/* The records of one key on both sides, NULL where there is none. */
struct cgroup_pair {
	const struct merged_cgroup *side[DIFF_SIDE_COUNT];
};

struct cgroup_tables {
	struct diff_build *build;
	struct merged_cgroups *cgroups[DIFF_SIDE_COUNT];
	struct cgroup_pair *pairs; /* ascending by the bytes of their keys */
	size_t count;
};

static void join_cgroups(struct cgroup_tables *tables)
{
	const struct merged_cgroups *before = tables->cgroups[DIFF_BEFORE];
	const struct merged_cgroups *after = tables->cgroups[DIFF_AFTER];

	tables->pairs = memory_allocate_zero(before->count + after->count + 1, sizeof(*tables->pairs));
	for (size_t i = 0, j = 0; i < before->count || j < after->count;) {
		const struct merged_cgroup *left = i < before->count ? &before->items[i] : NULL;
		const struct merged_cgroup *right = j < after->count ? &after->items[j] : NULL;
		int order = left == NULL ? 1 : -1;

		if (left != NULL && right != NULL)
			order = order_bytes(left->key, left->key_length, right->key, right->key_length);
		tables->pairs[tables->count++] = (struct cgroup_pair){
			{order <= 0 ? left : NULL, order >= 0 ? right : NULL}};
		i += order <= 0;
		j += order >= 0;
	}
}

static const struct merged_cgroup *any_side(const struct cgroup_pair *pair)
{
	return pair->side[DIFF_BEFORE] != NULL ? pair->side[DIFF_BEFORE] : pair->side[DIFF_AFTER];
}

/* A member of one side without its number; it has none to have where there is no record. */
static struct diff_cell_side begin_side(const struct merged_cgroup *cgroup, enum cgroup_member member)
{
	struct diff_cell_side side = {.kind = CELL_SIDE_NONE};

	if (cgroup == NULL)
		return side;
	side.unavailable = cgroup_merge_state(cgroup, member, &side.reason) == VALUE_UNAVAILABLE;
	side.partial = cgroup_merge_is_partial(cgroup, member);
	if (!side.unavailable)
		side.kind = CELL_SIDE_INTEGER;
	return side;
}

/* Numbers of records by their place: those that are always there, and those that may not be. */
struct number_cell {
	enum cgroup_member member;
	size_t offset;
	bool optional; /* a struct optional_u64 */
	bool limit;    /* "max" where it is not set */
	enum ladder ladder;
};

static const struct number_cell stats_cells[] = {
	{CGROUP_MEMBER_CPU_STAT, offsetof(struct cgroup_record, usage_usec), .ladder = LADDER_US},
	{CGROUP_MEMBER_CPU_STAT, offsetof(struct cgroup_record, nr_throttled), .ladder = LADDER_UNITLESS},
	{CGROUP_MEMBER_CPU_STAT, offsetof(struct cgroup_record, throttled_usec), .ladder = LADDER_US},
	{CGROUP_MEMBER_MEMORY_CURRENT, offsetof(struct cgroup_record, memory_current),
	 .ladder = LADDER_BYTES},
};

static const struct number_cell limits_cells[] = {
	{CGROUP_MEMBER_CPU_WEIGHT, offsetof(struct cgroup_record, weight), .optional = true,
	 .ladder = LADDER_UNITLESS},
	{CGROUP_MEMBER_MEMORY_MAX, offsetof(struct cgroup_record, memory_max), .optional = true,
	 .limit = true, .ladder = LADDER_BYTES},
	{CGROUP_MEMBER_MEMORY_HIGH, offsetof(struct cgroup_record, memory_high), .optional = true,
	 .limit = true, .ladder = LADDER_BYTES},
	{CGROUP_MEMBER_PIDS_CURRENT, offsetof(struct cgroup_record, pids_current), .optional = true,
	 .ladder = LADDER_UNITLESS},
	{CGROUP_MEMBER_PIDS_MAX, offsetof(struct cgroup_record, pids_max), .optional = true, .limit = true,
	 .ladder = LADDER_UNITLESS},
};

static struct optional_u64 number_of(const struct merged_cgroup *cgroup, const struct number_cell *from)
{
	const char *place = (const char *)&cgroup->record + from->offset;
	struct optional_u64 number = {.present = true};

	if (from->optional)
		memcpy(&number, place, sizeof(number));
	else
		memcpy(&number.value, place, sizeof(number.value));
	return number;
}

static struct diff_cell_side make_side(const struct merged_cgroup *cgroup, const struct number_cell *from)
{
	struct diff_cell_side side = begin_side(cgroup, from->member);
	struct optional_u64 number = {0};

	if (cgroup != NULL)
		number = number_of(cgroup, from);
	side.number = number.value;
	if (!side.unavailable && !number.present)
		side.kind = from->limit ? CELL_SIDE_UNLIMITED : CELL_SIDE_NONE;
	return side;
}

static void set_number(struct cgroup_tables *tables, struct table *table, struct cell *cell,
		       const struct cgroup_pair *pair, const struct number_cell *from)
{
	const struct diff_cell_side sides[DIFF_SIDE_COUNT] = {
		make_side(pair->side[DIFF_BEFORE], from),
		make_side(pair->side[DIFF_AFTER], from),
	};

	if (from->limit)
		diff_set_limit(tables->build, table, cell, sides, from->ladder);
	else
		diff_set_sides(tables->build, table, cell, sides, from->ladder);
}

static struct table *create_table(const char *section, const struct table_build_columns *columns)
{
	struct table *table = table_build_create(section, columns);

	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].sides = table->columns[i].measured;
	return table;
}

static struct table_row *add_row(struct cgroup_tables *tables, struct table *table,
				 const struct cgroup_pair *pair)
{
	struct table_row *row = table_build_add_row(&tables->build->base, table);
	const struct merged_cgroup *cgroup = any_side(pair);

	if (row == NULL)
		return NULL;
	table_build_set_text(table, &row->cells[0], cgroup->key, cgroup->key_length);
	row->key = row->label = row->cells[0].text;
	row->key_length = row->label_length = cgroup->key_length;
	return row;
}

static void build_stats(struct cgroup_tables *tables)
{
	struct table *table = create_table(sections[SECTION_CGROUP_STATS].name, &cgroup_stats_columns);

	for (size_t i = 0; i < tables->count; i++) {
		struct table_row *row = add_row(tables, table, &tables->pairs[i]);

		for (size_t j = 0; row != NULL && j < sizeof(stats_cells) / sizeof(stats_cells[0]); j++)
			set_number(tables, table, &row->cells[1 + j], &tables->pairs[i], &stats_cells[j]);
	}
	table_build_finish(&tables->build->base, table);
}

static bool has_limit(const struct merged_cgroup *cgroup)
{
	const struct cgroup_record *record = cgroup != NULL ? &cgroup->record : NULL;

	return record != NULL &&
	       (record->max_quota_us.present || record->weight.present || record->memory_max.present ||
		record->memory_high.present || record->pids_current.present || record->pids_max.present);
}

static void append_cpu_limit(struct buffer *text, const struct merged_cgroup *cgroup)
{
	struct diff_cell_side side = begin_side(cgroup, CGROUP_MEMBER_CPU_MAX);

	if (side.unavailable)
		buffer_append_text(text, "·");
	else if (cgroup == NULL)
		buffer_append_char(text, '-');
	else
		cell_format_cpu_limit(text, cgroup->record.max_quota_us, cgroup->record.max_period_us);
}

static void set_cpu_limit(struct cgroup_tables *tables, struct table *table, struct cell *cell,
			  const struct cgroup_pair *pair)
{
	struct buffer *text = &tables->build->base.text;
	struct buffer after = {0};

	cell->state = CELL_VALUE;
	append_cpu_limit(text, pair->side[DIFF_BEFORE]);
	append_cpu_limit(&after, pair->side[DIFF_AFTER]);
	if (strcmp(text->data, after.data) != 0)
		buffer_append_format(text, " → %s", after.data);
	table_build_take_text(&tables->build->base, table, cell);
	buffer_release(&after);
}

static void build_limits(struct cgroup_tables *tables)
{
	struct table *table = create_table(sections[SECTION_CGROUP_LIMITS].name, &cgroup_limits_columns);

	table->columns[1].sides = false; /* cpu.max is a text */
	for (size_t i = 0; i < tables->count; i++) {
		const struct cgroup_pair *pair = &tables->pairs[i];
		struct table_row *row;

		if (!has_limit(pair->side[DIFF_BEFORE]) && !has_limit(pair->side[DIFF_AFTER]))
			continue;
		row = add_row(tables, table, pair);
		if (row == NULL)
			continue;
		set_cpu_limit(tables, table, &row->cells[1], pair);
		for (size_t j = 0; j < sizeof(limits_cells) / sizeof(limits_cells[0]); j++)
			set_number(tables, table, &row->cells[2 + j], pair, &limits_cells[j]);
	}
	table_build_finish(&tables->build->base, table);
}

static const struct key_values *list_of(const struct merged_cgroup *cgroup, enum cgroup_member member)
{
	static const struct key_values none;

	if (cgroup == NULL)
		return &none;
	return member == CGROUP_MEMBER_MEMORY_STAT ? &cgroup->record.memory_stat
						   : &cgroup->record.memory_events;
}

static void add_list_row(struct cgroup_tables *tables, struct table *table, const struct cgroup_pair *pair,
			 enum cgroup_member member, const char *key,
			 const struct key_value *const items[DIFF_SIDE_COUNT])
{
	struct table_row *row = add_row(tables, table, pair);
	struct diff_cell_side sides[DIFF_SIDE_COUNT];

	if (row == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		sides[side] = begin_side(pair->side[side], member);
		sides[side].number = items[side] != NULL ? items[side]->value : 0;
		if (items[side] == NULL)
			sides[side].kind = CELL_SIDE_NONE;
	}
	table_build_set_text(table, &row->cells[1], key, strlen(key));
	diff_set_sides(tables->build, table, &row->cells[2], sides, LADDER_UNITLESS);
}

static const char *key_of(const struct cgroup_tables *tables, enum diff_side side,
			  const struct key_value *item)
{
	return snapshot_text(diff_snapshot(tables->build->diff, side), item->key);
}

/* One row for each key that differs; one with the file's name where a side was not read. */
static void add_list(struct cgroup_tables *tables, struct table *table, const struct cgroup_pair *pair,
		     enum cgroup_member member)
{
	const struct key_values *before = list_of(pair->side[DIFF_BEFORE], member);
	const struct key_values *after = list_of(pair->side[DIFF_AFTER], member);

	if (begin_side(pair->side[DIFF_BEFORE], member).unavailable ||
	    begin_side(pair->side[DIFF_AFTER], member).unavailable) {
		add_list_row(tables, table, pair, member, cgroup_member_names[member],
			     (const struct key_value *const[]){NULL, NULL});
		return;
	}
	for (uint32_t i = 0, j = 0; i < before->count || j < after->count;) {
		const struct key_value *left = i < before->count ? &before->items[i] : NULL;
		const struct key_value *right = j < after->count ? &after->items[j] : NULL;
		int order = left == NULL ? 1 : -1;

		if (left != NULL && right != NULL)
			order = strcmp(key_of(tables, DIFF_BEFORE, left), key_of(tables, DIFF_AFTER, right));
		i += order <= 0;
		j += order >= 0;
		if (order == 0 && left->value == right->value)
			continue;
		add_list_row(tables, table, pair, member,
			     order <= 0 ? key_of(tables, DIFF_BEFORE, left)
					: key_of(tables, DIFF_AFTER, right),
			     (const struct key_value *const[]){order <= 0 ? left : NULL,
							       order >= 0 ? right : NULL});
	}
}

static void build_list(struct cgroup_tables *tables, enum section section,
		       const struct table_build_columns *columns, enum cgroup_member member)
{
	struct table *table = create_table(sections[section].name, columns);

	for (size_t i = 0; i < tables->count; i++)
		add_list(tables, table, &tables->pairs[i], member);
	table_build_finish(&tables->build->base, table);
}

/* The member of a record that holds the pressure of a resource; both enumerations have one order. */
static enum cgroup_member pressure_member(enum pressure_resource resource)
{
	return (enum cgroup_member)(CGROUP_MEMBER_CPU_PRESSURE + (int)resource);
}

static bool says_pressure(const struct merged_cgroup *cgroup, enum pressure_resource resource)
{
	reason_id reason;

	if (cgroup == NULL)
		return false;
	if (cgroup_merge_state(cgroup, pressure_member(resource), &reason) == VALUE_UNAVAILABLE)
		return reason != REASON_NOT_IN_KERNEL;
	return !table_build_pressure_is_zero(&cgroup->record.pressure, resource);
}

/* A resource none of whose numbers says anything is left out. */
static bool has_pressure(const struct cgroup_tables *tables, enum pressure_resource resource)
{
	for (size_t i = 0; i < tables->count; i++) {
		if (says_pressure(tables->pairs[i].side[DIFF_BEFORE], resource) ||
		    says_pressure(tables->pairs[i].side[DIFF_AFTER], resource))
			return true;
	}
	return false;
}

static void add_pressure_row(struct cgroup_tables *tables, struct table *table,
			     const struct cgroup_pair *pair, enum pressure_resource resource, bool full)
{
	struct table_row *row = add_row(tables, table, pair);
	struct diff_pressure_side sides[DIFF_SIDE_COUNT] = {0};

	if (row == NULL)
		return;
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		const struct merged_cgroup *cgroup = pair->side[i];
		struct diff_cell_side side = begin_side(cgroup, pressure_member(resource));

		if (cgroup == NULL)
			continue;
		sides[i].half = full ? &cgroup->record.pressure.resource[resource].full
				     : &cgroup->record.pressure.resource[resource].some;
		sides[i].unavailable = side.unavailable;
		sides[i].partial = side.partial;
		sides[i].reason = side.reason;
	}
	diff_set_pressure(tables->build, table, &row->cells[1], full ? "full" : "some", sides);
}

static void build_pressure(struct cgroup_tables *tables, enum pressure_resource resource)
{
	struct table *table;

	if (!has_pressure(tables, resource))
		return;
	table = create_table(NULL, &cgroup_pressure_columns);
	table->section = arena_format(&table->arena, "%s %s", sections[SECTION_PRESSURE].name,
				      pressure_resource_names[resource]);
	for (size_t i = 0; i < tables->count; i++) {
		add_pressure_row(tables, table, &tables->pairs[i], resource, false);
		add_pressure_row(tables, table, &tables->pairs[i], resource, true);
	}
	table_build_finish(&tables->build->base, table);
}

void diff_cgroup_tables(struct diff_build *build)
{
	const bool *wanted = build->request->sections;
	struct cgroup_tables tables = {.build = build};

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		tables.cgroups[i] = cgroup_merge_create(diff_snapshot(build->diff, (enum diff_side)i),
							&diff_options(build->diff)->grouping,
							build->by_flags[i]);
	join_cgroups(&tables);
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
	cgroup_merge_release(tables.cgroups[DIFF_BEFORE]);
	cgroup_merge_release(tables.cgroups[DIFF_AFTER]);
	free(tables.pairs);
}
