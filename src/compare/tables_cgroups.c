/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of cgroup records: stats, limits, memory.stat, memory.events, pressure. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "table/cell_format.h"
#include "tables_internal.h"
#include "window/cgroup_merge.h"

static const struct table_column stats_columns[] = {
	{"cgroup", .left = true},
	{"cpu_usage_usec", .measured = true},
	{"nr_throttled", .measured = true},
	{"throttled_usec", .measured = true},
	{"memory_current", .measured = true},
};

static const struct table_column limits_columns[] = {
	{"cgroup", .left = true},          {"cpu.max", .measured = true},
	{"cpu.weight", .measured = true},  {"memory.max", .measured = true},
	{"memory.high", .measured = true}, {"pids.current", .measured = true},
	{"pids.max", .measured = true},
};

enum {
	LIST_COLUMNS = 3
};

static const struct table_column io_columns[] = {
	{"cgroup", .left = true},
	{"io_read_bytes", .measured = true},
	{"io_written_bytes", .measured = true},
};

static const struct table_column memory_stat_columns[LIST_COLUMNS] = {
	{"cgroup", .left = true},
	{"key", .left = true},
	{"value", .measured = true},
};

static const struct table_column memory_events_columns[LIST_COLUMNS] = {
	{"cgroup", .left = true},
	{"event", .left = true},
	{"count", .measured = true},
};

static const struct table_column pressure_columns[] = {
	{"cgroup", .left = true},    {"row", .left = true},        {"avg10", .measured = true},
	{"avg60", .measured = true}, {"avg300", .measured = true}, {"total", .measured = true},
};

/* The records of one key on both sides, NULL where there is none. */
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

/* What is known of a file's value on one side, without its number; nothing where there is no record. */
static struct tables_side begin_side(const struct merged_cgroup *cgroup, enum cgroup_file file)
{
	struct tables_side side = {.kind = CELL_SIDE_NONE};

	if (cgroup == NULL)
		return side;
	side.unavailable = cgroup_merge_state(cgroup, file, &side.reason) == VALUE_UNAVAILABLE;
	side.partial = cgroup_merge_is_partial(cgroup, file);
	if (!side.unavailable)
		side.kind = CELL_SIDE_INTEGER;
	return side;
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

static struct tables_side make_side(const struct merged_cgroup *cgroup,
				    const struct cgroup_record_entry *field)
{
	struct tables_side side = begin_side(cgroup, field->file);
	struct optional_u64 number = {0};

	if (cgroup != NULL)
		number = number_of(&cgroup->record, field);
	side.number = number.value;
	if (!side.unavailable && !number.present)
		side.kind = field->limit ? CELL_SIDE_UNLIMITED : CELL_SIDE_NONE;
	return side;
}

/* Fills the cells from `cell` on with the fields that a section has a column for. */
static void set_numbers(struct cgroups *tables, struct table *table, struct cell *cell,
			const struct cgroup_pair *pair, enum section section)
{
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
		const struct cgroup_record_entry *field = &cgroup_record_fields[i];
		const struct tables_side sides[DIFF_SIDE_COUNT] = {
			make_side(pair->side[DIFF_BEFORE], field),
			make_side(pair->side[DIFF_AFTER], field),
		};

		if (field->section != section)
			continue;
		if (field->limit)
			tables_sides_set_limit(tables->build, table, cell++, sides, field->ladder);
		else
			tables_sides_set(tables->build, table, cell++, sides, field->ladder);
	}
}

static struct table_row *add_row(struct cgroups *tables, struct table *table, const struct cgroup_pair *pair)
{
	struct table_row *row = tables_add_row(tables->build, table);
	const struct merged_cgroup *cgroup = any_side(pair);

	if (row == NULL)
		return NULL;
	tables_cell_set_text(table, &row->cells[0], cgroup->key, cgroup->key_length);
	row->key = row->label = row->cells[0].text;
	row->key_length = row->label_length = cgroup->key_length;
	return row;
}

static void build_stats(struct cgroups *tables)
{
	struct table *table = tables_sides_create_table(tables->build, sections[SECTION_CGROUP_STATS].name,
							stats_columns, ARRAY_COUNT(stats_columns));

	for (size_t i = 0; i < tables->count; i++) {
		struct table_row *row = add_row(tables, table, &tables->pairs[i]);

		if (row != NULL)
			set_numbers(tables, table, &row->cells[1], &tables->pairs[i], SECTION_CGROUP_STATS);
	}
	tables_finish(tables->build, table);
}

static bool has_limit(const struct merged_cgroup *cgroup)
{
	if (cgroup == NULL)
		return false;
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
		if (cgroup_record_fields[i].section == SECTION_CGROUP_LIMITS &&
		    number_of(&cgroup->record, &cgroup_record_fields[i]).present)
			return true;
	}
	return cgroup->record.max_quota_us.present;
}

static void append_cpu_limit(struct buffer *text, const struct merged_cgroup *cgroup)
{
	struct tables_side side = begin_side(cgroup, CGROUP_FILE_CPU_MAX);

	if (side.unavailable)
		buffer_append_text(text, "·");
	else if (cgroup == NULL)
		buffer_append_char(text, '-');
	else
		cell_format_cpu_limit(text, cgroup->record.max_quota_us, cgroup->record.max_period_us);
}

static void set_cpu_limit(struct cgroups *tables, struct table *table, struct cell *cell,
			  const struct cgroup_pair *pair)
{
	const struct tables_side side = begin_side(pair->side[DIFF_AFTER], CGROUP_FILE_CPU_MAX);
	struct buffer texts[DIFF_SIDE_COUNT] = {0};

	if (!tables->build->is_comparison && side.unavailable) {
		tables_cell_begin(cell, VALUE_UNAVAILABLE, side.reason);
		return;
	}
	for (size_t i = tables->build->first_side; i < DIFF_SIDE_COUNT; i++)
		append_cpu_limit(&texts[i], pair->side[i]);
	tables_sides_set_texts(tables->build, table, cell, texts[tables->build->first_side].data,
			       texts[DIFF_AFTER].data);
	if (!tables->build->is_comparison) {
		cell->partial = side.partial;
		cell->reason = side.partial ? side.reason : REASON_READ;
	}
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		buffer_release(&texts[i]);
}

static void build_limits(struct cgroups *tables)
{
	struct table *table = tables_sides_create_table(tables->build, sections[SECTION_CGROUP_LIMITS].name,
							limits_columns, ARRAY_COUNT(limits_columns));

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
		set_numbers(tables, table, &row->cells[2], pair, SECTION_CGROUP_LIMITS);
	}
	tables_finish(tables->build, table);
}

static bool has_io(const struct merged_cgroup *cgroup)
{
	return cgroup != NULL && (cgroup->record.io_read.present || cgroup->record.io_written.present);
}

/* Bytes by io.stat, of cgroups of which it is known on some side; no table without them. */
static void build_io(struct cgroups *tables)
{
	struct table *table = NULL;

	for (size_t i = 0; i < tables->count; i++) {
		const struct cgroup_pair *pair = &tables->pairs[i];
		struct table_row *row;

		if (!has_io(pair->side[DIFF_BEFORE]) && !has_io(pair->side[DIFF_AFTER]))
			continue;
		if (table == NULL)
			table = tables_sides_create_table(tables->build, sections[SECTION_CGROUP_IO].name,
							  io_columns, ARRAY_COUNT(io_columns));
		row = add_row(tables, table, pair);
		if (row != NULL)
			set_numbers(tables, table, &row->cells[1], pair, SECTION_CGROUP_IO);
	}
	if (table != NULL)
		tables_finish(tables->build, table);
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
static void add_list_row(struct cgroups *tables, struct table *table, const struct cgroup_pair *pair,
			 enum cgroup_file file, const char *key, size_t key_length,
			 const struct key_value *const items[DIFF_SIDE_COUNT])
{
	struct table_row *row = add_row(tables, table, pair);
	struct tables_side sides[DIFF_SIDE_COUNT];

	if (row == NULL)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		sides[side] = begin_side(pair->side[side], file);
		sides[side].number = items[side] != NULL ? items[side]->value : 0;
		if (items[side] == NULL)
			sides[side].kind = CELL_SIDE_NONE;
	}
	tables_cell_set_text(table, &row->cells[1], key, key_length);
	tables_sides_set(tables->build, table, &row->cells[2], sides, LADDER_UNITLESS);
}

/* One row for each key that differs, of one snapshot that is not zero; one with the file's name where a side
 * was not read. */
static void add_list(struct cgroups *tables, struct table *table, const struct cgroup_pair *pair,
		     enum cgroup_file file)
{
	const struct key_values *before = list_of(pair->side[DIFF_BEFORE], file);
	const struct key_values *after = list_of(pair->side[DIFF_AFTER], file);

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (!begin_side(pair->side[side], file).unavailable)
			continue;
		add_list_row(tables, table, pair, file, cgroup_file_names[file],
			     strlen(cgroup_file_names[file]), (const struct key_value *const[]){NULL, NULL});
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
		add_list_row(tables, table, pair, file, snapshot_text(snapshot, key),
			     string_pool_length(&snapshot->strings, key),
			     (const struct key_value *const[]){order <= 0 ? left : NULL,
							       order >= 0 ? right : NULL});
	}
}

static void build_list(struct cgroups *tables, enum section section, const struct table_column columns[],
		       enum cgroup_file file)
{
	struct table *table = tables_sides_create_table(tables->build, sections[section].name, columns,
							LIST_COLUMNS);

	for (size_t i = 0; i < tables->count; i++)
		add_list(tables, table, &tables->pairs[i], file);
	tables_finish(tables->build, table);
}

static void make_pressure(const struct cgroup_pair *pair, enum pressure_resource resource,
			  struct tables_pressure sides[DIFF_SIDE_COUNT])
{
	/* both enumerations have one order */
	const enum cgroup_file file = (enum cgroup_file)(CGROUP_FILE_CPU_PRESSURE + (int)resource);

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		sides[i] = (struct tables_pressure){
			.pressure = pair->side[i] != NULL ? &pair->side[i]->record.pressure : NULL,
			.side = begin_side(pair->side[i], file),
		};
}

/* Whether any cgroup has a number of the resource that is not zero, or could not be read. */
static bool has_pressure(const struct cgroups *tables, enum pressure_resource resource)
{
	for (size_t i = 0; i < tables->count; i++) {
		struct tables_pressure sides[DIFF_SIDE_COUNT];

		make_pressure(&tables->pairs[i], resource, sides);
		if (tables_sides_has_pressure(&sides[DIFF_BEFORE], resource) ||
		    tables_sides_has_pressure(&sides[DIFF_AFTER], resource))
			return true;
	}
	return false;
}

static void add_pressure_rows(struct cgroups *tables, struct table *table, const struct cgroup_pair *pair,
			      enum pressure_resource resource)
{
	struct tables_pressure sides[DIFF_SIDE_COUNT];

	make_pressure(pair, resource, sides);
	for (int full = 0; full < 2; full++) {
		struct table_row *row = add_row(tables, table, pair);

		if (row != NULL)
			tables_sides_set_pressure(tables->build, table, &row->cells[1], full, resource,
						  sides);
	}
}

static void build_pressure(struct cgroups *tables, enum pressure_resource resource)
{
	struct table *table;

	if (!has_pressure(tables, resource))
		return;
	table = tables_sides_create_table(tables->build, NULL, pressure_columns,
					  ARRAY_COUNT(pressure_columns));
	table->section = arena_format(&table->arena, "%s %s", sections[SECTION_PRESSURE].name,
				      pressure_resource_names[resource]);
	for (size_t i = 0; i < tables->count; i++)
		add_pressure_rows(tables, table, &tables->pairs[i], resource);
	tables_finish(tables->build, table);
}

void tables_cgroups(struct tables_build *build)
{
	const bool *wanted = build->request->sections;
	struct cgroups tables = {.build = build};

	for (size_t i = build->first_side; i < DIFF_SIDE_COUNT; i++)
		tables.cgroups[i] = cgroup_merge_create(build->diff->snapshots[i],
							&build->diff->options.grouping, build->by_flags[i]);
	join_cgroups(&tables);
	if (wanted[SECTION_CGROUP_STATS])
		build_stats(&tables);
	if (wanted[SECTION_CGROUP_LIMITS])
		build_limits(&tables);
	if (wanted[SECTION_CGROUP_IO] && !build->diff->options.by_flags) /* the reference has no such table */
		build_io(&tables);
	if (wanted[SECTION_MEMORY_STAT])
		build_list(&tables, SECTION_MEMORY_STAT, memory_stat_columns, CGROUP_FILE_MEMORY_STAT);
	if (wanted[SECTION_MEMORY_EVENTS])
		build_list(&tables, SECTION_MEMORY_EVENTS, memory_events_columns, CGROUP_FILE_MEMORY_EVENTS);
	for (size_t i = 0; wanted[SECTION_PRESSURE] && i < PRESSURE_RESOURCE_COUNT; i++)
		build_pressure(&tables, (enum pressure_resource)i);
	cgroup_merge_release(tables.cgroups[DIFF_BEFORE]);
	cgroup_merge_release(tables.cgroups[DIFF_AFTER]);
	free(tables.pairs);
}
