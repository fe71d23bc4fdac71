/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of cgroup records: stats, limits, memory.stat, memory.events, pressure. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "table/cell_format.h"
#include "tables_internal.h"
#include "window/cgroup_merge.h"

enum {
	COLUMNS_MAX = 7
};

/* The tables but those of pressure: a row of numbers for each cgroup, or with `file` the keys of a file below
 * each other. */
static const struct cgroup_table {
	enum section section;
	enum cgroup_file file; /* CGROUP_FILE_COUNT: none */
	size_t name_count;     /* columns of names; those behind them are measured */
	const char *columns[COLUMNS_MAX];
} cgroup_tables[] = {
	{SECTION_CGROUP_STATS,
	 CGROUP_FILE_COUNT,
	 1,
	 {"cgroup", "cpu_usage_usec", "nr_throttled", "throttled_usec", "memory_current"}},
	{SECTION_CGROUP_LIMITS,
	 CGROUP_FILE_COUNT,
	 1,
	 {"cgroup", "cpu.max", "cpu.weight", "memory.max", "memory.high", "pids.current", "pids.max"}},
	{SECTION_CGROUP_IO, CGROUP_FILE_COUNT, 1, {"cgroup", "io_read_bytes", "io_written_bytes"}},
	{SECTION_MEMORY_STAT, CGROUP_FILE_MEMORY_STAT, 2, {"cgroup", "key", "value"}},
	{SECTION_MEMORY_EVENTS, CGROUP_FILE_MEMORY_EVENTS, 2, {"cgroup", "event", "count"}},
};

/* The records of one key on both sides, NULL on a side without. */
struct cgroup_pair {
	const struct merged_cgroup *side[DIFF_SIDE_COUNT];
};

struct cgroups {
	struct tables_build *build;
	struct merged_cgroups *cgroups[DIFF_SIDE_COUNT];
	struct cgroup_pair *pairs; /* ascending by the bytes of their keys */
	size_t count;
};

static void join_cgroups(struct cgroups *tables)
{
	static const struct merged_cgroups none;
	const struct merged_cgroups *before = tables->cgroups[DIFF_BEFORE] != NULL
						      ? tables->cgroups[DIFF_BEFORE]
						      : &none;
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

/* A side's cell of a value in a file, still without its number; absent where the side has no record. */
static struct cell begin_side(const struct merged_cgroup *cgroup, enum cgroup_file file, enum unit unit)
{
	enum value_state state;
	reason_id reason;
	struct cell cell;

	if (cgroup == NULL)
		return cell_of_state(VALUE_ABSENT, REASON_READ, unit);
	state = cgroup_merge_state(cgroup, file, &reason);
	cell = cell_of_state(state, reason, unit);
	cell.partial = cgroup_merge_is_partial(cgroup, file);
	cell.reason = reason;
	return cell;
}

static struct optional_u64 number_of(const struct cgroup_record *record,
				     const struct cgroup_record_entry *field)
{
	const char *number = (const char *)record + field->offset;
	struct optional_u64 result = {.present = true};

	if (field->type == CGROUP_TYPE_OPTIONAL_U64)
		memcpy(&result, number, sizeof(result));
	else
		memcpy(&result.value, number, sizeof(result.value));
	return result;
}

/* Whether a field counts since the cgroup was made: that tells nothing about a window. */
static bool is_of_life(const struct cgroup_record_entry *field)
{
	return field->merge == CGROUP_MERGE_SUM && field->section != SECTION_CGROUP_LIMITS;
}

/* A side without a record has no limit, as in ktstr. */
static struct cell make_side(const struct tables_build *build, const struct merged_cgroup *cgroup,
			     const struct cgroup_record_entry *field)
{
	struct cell cell = begin_side(cgroup, field->file, unit_of_ladder(field->ladder));
	const struct optional_u64 number = cgroup != NULL ? number_of(&cgroup->record, field)
							  : (struct optional_u64){0};

	if (build->diff->options.rates && is_of_life(field))
		return cell_of_state(VALUE_ABSENT, REASON_READ, cell.unit);
	if (cell.state == CELL_UNAVAILABLE)
		return cell;
	cell.state = number.present || field->limit ? CELL_VALUE : CELL_ABSENT;
	if (number.present)
		cell_set_value(&cell, number.value);
	else if (field->limit) {
		cell.text = "max";
		cell.sort = DBL_MAX;
	}
	return cell;
}

/* Fills the cells from `cell` on with the fields that a section has a column for. */
static void set_numbers(struct tables_build *build, struct cell *cell, const struct cgroup_pair *pair,
			enum section section)
{
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
		const struct cgroup_record_entry *field = &cgroup_record_fields[i];
		struct cell sides[DIFF_SIDE_COUNT];

		if (field->section != section)
			continue;
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
			sides[side] = make_side(build, pair->side[side], field);
		*cell++ = tables_cell_sides(build, sides,
					    field->limit ? CELL_STYLE_SIDES_ONCE : CELL_STYLE_SIDES_CHANGE);
	}
}

static struct table_row *add_row(struct cgroups *tables, const struct cgroup_pair *pair)
{
	const struct merged_cgroup *cgroup = any_side(pair);

	return tables_add_named_row(tables->build, cgroup->key, cgroup->key_length);
}

/* Whether a record has any of the numbers that may be missing in a section. */
static bool has_any(const struct merged_cgroup *cgroup, enum section section)
{
	if (cgroup == NULL)
		return false;
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
		if (cgroup_record_fields[i].section == section &&
		    number_of(&cgroup->record, &cgroup_record_fields[i]).present)
			return true;
	}
	return section == SECTION_CGROUP_LIMITS && cgroup->record.max_quota_us.present;
}

/* cpu.max is a text. */
static struct cell cpu_limit_cell(struct tables_build *build, const struct cgroup_pair *pair)
{
	struct cell sides[DIFF_SIDE_COUNT], both;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct merged_cgroup *cgroup = pair->side[side];

		sides[side] = begin_side(cgroup, CGROUP_FILE_CPU_MAX, UNIT_NONE);
		if (sides[side].state != CELL_VALUE)
			continue;
		cell_format_cpu_limit(&build->text, cgroup->record.max_quota_us,
				      cgroup->record.max_period_us);
		sides[side].text = tables_take_text(build);
	}
	if (!build->is_comparison ||
	    (sides[DIFF_BEFORE].state != CELL_VALUE && sides[DIFF_AFTER].state != CELL_VALUE))
		return sides[DIFF_AFTER];
	both = tables_cell_sides(build, sides, CELL_STYLE_SIDES_ONCE);
	cell_format_cell(&build->text, &both);
	return cell_of_text(tables_take_text(build));
}

/* A row of numbers, where a side has any of those that may be missing. */
static void add_numbers(struct cgroups *tables, const struct cgroup_pair *pair, enum section section)
{
	struct tables_build *build = tables->build;
	struct table_row *row;

	if (!has_any(pair->side[DIFF_BEFORE], section) && !has_any(pair->side[DIFF_AFTER], section))
		return;
	row = add_row(tables, pair);
	if (row == NULL)
		return;
	if (section == SECTION_CGROUP_LIMITS)
		row->cells[1] = cpu_limit_cell(build, pair);
	set_numbers(build, &row->cells[1 + (section == SECTION_CGROUP_LIMITS)], pair, section);
}

static const struct key_values *list_of(const struct merged_cgroup *cgroup, enum cgroup_file file)
{
	static const struct key_values none;

	if (cgroup == NULL)
		return &none;
	return file == CGROUP_FILE_MEMORY_STAT ? &cgroup->record.memory_stat : &cgroup->record.memory_events;
}

/* By the bytes of their keys; NULL is the end of a list. */
static int compare_items(const struct cgroups *tables, const struct key_value *before,
			 const struct key_value *after)
{
	const struct snapshot *const *snapshots = tables->build->diff->snapshots;

	if (before == NULL || after == NULL)
		return before == NULL ? 1 : -1;
	return order_bytes(snapshot_text(snapshots[DIFF_BEFORE], before->key),
			   string_pool_length(&snapshots[DIFF_BEFORE]->strings, before->key),
			   snapshot_text(snapshots[DIFF_AFTER], after->key),
			   string_pool_length(&snapshots[DIFF_AFTER]->strings, after->key));
}

/* A row for an item that is on one side or both; `key` may hold a NUL. */
static void add_list_row(struct cgroups *tables, const struct cgroup_pair *pair, enum cgroup_file file,
			 const char *key, size_t key_length,
			 const struct key_value *const items[DIFF_SIDE_COUNT])
{
	struct table_row *row = add_row(tables, pair);
	/* what counts from the beginning of a cgroup says nothing of a window */
	const bool is_of_life = tables->build->diff->options.rates &&
				(file == CGROUP_FILE_MEMORY_EVENTS || !cgroup_merge_is_gauge(key));
	struct cell sides[DIFF_SIDE_COUNT];

	if (row == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		sides[side] = begin_side(pair->side[side], file, unit_of_ladder(LADDER_UNITLESS));
		if (sides[side].state == CELL_VALUE && items[side] != NULL && !is_of_life)
			cell_set_value(&sides[side], items[side]->value);
		else if (sides[side].state == CELL_VALUE)
			sides[side].state = CELL_ABSENT;
	}
	row->cells[1] = tables_cell_text(tables->build, key, key_length);
	row->cells[2] = tables_cell_sides(tables->build, sides, CELL_STYLE_SIDES_CHANGE);
}

/* One row for each key that differs, of one snapshot that is not zero; one with the file's name where a side
 * was not read. */
static void add_list(struct cgroups *tables, const struct cgroup_pair *pair, enum cgroup_file file)
{
	const struct key_values *before = list_of(pair->side[DIFF_BEFORE], file);
	const struct key_values *after = list_of(pair->side[DIFF_AFTER], file);

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (begin_side(pair->side[side], file, UNIT_NONE).state != CELL_UNAVAILABLE)
			continue;
		add_list_row(tables, pair, file, cgroup_file_names[file], strlen(cgroup_file_names[file]),
			     (const struct key_value *const[]){NULL, NULL});
		return;
	}
	for (uint32_t i = 0, j = 0; i < before->count || j < after->count;) {
		const struct key_value *left = i < before->count ? &before->items[i] : NULL;
		const struct key_value *right = j < after->count ? &after->items[j] : NULL;
		const int order = compare_items(tables, left, right);
		const struct snapshot *snapshot =
			tables->build->diff->snapshots[order <= 0 ? DIFF_BEFORE : DIFF_AFTER];
		const uint32_t key = order <= 0 ? left->key : right->key;

		i += order <= 0;
		j += order >= 0;
		if (tables->build->is_comparison ? order == 0 && left->value == right->value
						 : right->value == 0)
			continue;
		add_list_row(tables, pair, file, snapshot_text(snapshot, key),
			     string_pool_length(&snapshot->strings, key),
			     (const struct key_value *const[]){order <= 0 ? left : NULL,
							       order >= 0 ? right : NULL});
	}
}

static void build_table(struct cgroups *tables, const struct cgroup_table *table)
{
	struct tables_build *build = tables->build;
	struct table_column columns[COLUMNS_MAX];
	size_t count = 0;

	for (; count < COLUMNS_MAX && table->columns[count] != NULL; count++) {
		const bool is_name = count < table->name_count;

		columns[count] = (struct table_column){
			.name = table->columns[count], .left = is_name, .measured = !is_name};
	}
	tables_begin(build, sections[table->section].name, columns, count);
	if (table->section == SECTION_CGROUP_LIMITS)
		build->table->columns[1].sides = false;
	for (size_t i = 0; i < tables->count; i++) {
		if (table->file == CGROUP_FILE_COUNT)
			add_numbers(tables, &tables->pairs[i], table->section);
		else
			add_list(tables, &tables->pairs[i], table->file);
	}
	tables_finish(build);
}

static void build_pressure(const struct cgroups *tables, enum pressure_resource resource)
{
	/* both enumerations have one order */
	const enum cgroup_file file = (enum cgroup_file)(CGROUP_FILE_CPU_PRESSURE + (int)resource);
	struct tables_pressure *subjects = memory_allocate_zero(tables->count + 1, sizeof(*subjects));

	for (size_t i = 0; i < tables->count; i++) {
		const struct merged_cgroup *const *records = tables->pairs[i].side;

		subjects[i].name = any_side(&tables->pairs[i])->key;
		subjects[i].name_length = any_side(&tables->pairs[i])->key_length;
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			subjects[i].pressure[side] = records[side] != NULL ? &records[side]->record.pressure
									   : NULL;
			subjects[i].sides[side] = begin_side(records[side], file, UNIT_NONE);
		}
	}
	tables_pressure(tables->build, SECTION_PRESSURE, resource, subjects, tables->count);
	free(subjects);
}

void tables_cgroups(struct tables_build *build)
{
	const bool *wanted = build->request->sections;
	struct cgroups tables = {.build = build};

	for (size_t i = build->first_side; i < DIFF_SIDE_COUNT; i++)
		tables.cgroups[i] = cgroup_merge_create(&build->diff->reductions[i]->window,
							&build->diff->options.grouping);
	join_cgroups(&tables);
	for (size_t i = 0; i < ARRAY_COUNT(cgroup_tables); i++) {
		if (wanted[cgroup_tables[i].section])
			build_table(&tables, &cgroup_tables[i]);
	}
	for (size_t i = 0; wanted[SECTION_PRESSURE] && i < PRESSURE_RESOURCE_COUNT; i++)
		build_pressure(&tables, (enum pressure_resource)i);
	cgroup_merge_release(tables.cgroups[DIFF_BEFORE]);
	cgroup_merge_release(tables.cgroups[DIFF_AFTER]);
	free(tables.pairs);
}
