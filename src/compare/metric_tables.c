/* SPDX-License-Identifier: GPL-2.0-only */
#include "metric_tables.h"

#include "base/memory.h"
#include "metric/metric.h"

static const struct table_column metric_columns[] = {
	{.name = "order"},        {"name", .left = true},
	{"type", .left = true},   {"aggregation", .left = true},
	{"unit", .left = true},   {"class", .left = true},
	{"needs", .left = true},  {"section", .left = true},
	{"source", .left = true}, {"description", .left = true},
};

static const struct table_column derived_columns[] = {
	{.name = "order"},         {"name", .left = true},    {"unit", .left = true},
	{"section", .left = true}, {"formula", .left = true}, {"description", .left = true},
};

static struct table_row *add_row(struct table *table)
{
	struct table_row *row = table_add_row(table);

	row->cells[0] = cell_of_integer(table->row_count, UNIT_NONE);
	return row;
}

/* An empty text is absent. */
static struct cell text_or_absent(const char *text)
{
	return text != NULL && text[0] != '\0' ? cell_of_text(text)
					       : cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NONE);
}

/* "stat 41", "status voluntary_ctxt_switches, or taskstats nvcsw" */
static const char *source_text(struct arena *arena, const struct metric_entry *entry)
{
	const char *equivalent = "";

	if (entry->source == SOURCE_NONE)
		return NULL;
	if (entry->equivalent_source != SOURCE_NONE)
		equivalent = arena_format(arena, ", or %s %s", sources[entry->equivalent_source].name,
					  entry->equivalent_key);
	return arena_format(arena, "%s%s%s%s", sources[entry->source].name, entry->key[0] != '\0' ? " " : "",
			    entry->key, equivalent);
}

struct table *metric_tables_metrics(void)
{
	struct table *table = table_create_with("metrics", metric_columns, ARRAY_COUNT(metric_columns));

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric_entry *entry = &metrics[i];
		const struct metric_type_entry *type = metric_type((enum metric)i);
		struct cell *cells = add_row(table)->cells;

		cells[1] = text_or_absent(entry->name);
		cells[2] = text_or_absent(type->name);
		cells[3] = text_or_absent(type->aggregation);
		cells[4] = text_or_absent(unit_names[unit_of_ladder(type->ladder)]);
		cells[5] = text_or_absent(metric_tag_names[entry->tag]);
		cells[6] = text_or_absent(entry->config_gates);
		cells[7] = text_or_absent(sections[entry->section].name);
		cells[8] = text_or_absent(source_text(&table->arena, entry));
		cells[9] = text_or_absent(entry->description);
	}
	return table;
}

struct table *metric_tables_derived(void)
{
	struct table *table = table_create_with("derived", derived_columns, ARRAY_COUNT(derived_columns));

	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived_entry *entry = &derived_metrics[i];
		struct cell *cells = add_row(table)->cells;

		cells[1] = text_or_absent(entry->name);
		cells[2] = text_or_absent(entry->is_ratio ? unit_names[UNIT_RATIO]
							  : unit_names[unit_of_ladder(entry->ladder)]);
		cells[3] = text_or_absent(sections[entry->section].name);
		cells[4] = text_or_absent(entry->formula);
		cells[5] = text_or_absent(entry->description);
	}
	return table;
}
