/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host: pressure, sched_ext and its scheduler; pressure of cgroups looks the same. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/cell_format.h"
#include "tables_internal.h"

/* --- pressure --- */

static const struct table_column pressure_columns[] = {
	{"cgroup", .left = true},    {"row", .left = true},        {"avg10", .measured = true},
	{"avg60", .measured = true}, {"avg300", .measured = true}, {"total", .measured = true},
};

static bool is_zero(const struct pressure_half *half)
{
	return (half->avg10 | half->avg60 | half->avg300) == 0 && half->total_usec == 0;
}

/* Whether a number of a resource is not zero, or could not be read. */
static bool has_pressure(const struct tables_pressure *subject, enum pressure_resource resource)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct pressure *pressure = subject->pressure[side];

		if (subject->sides[side].state == CELL_UNAVAILABLE
			    ? subject->sides[side].reason != REASON_NOT_IN_KERNEL
			    : pressure != NULL && !(is_zero(&pressure->resource[resource].some) &&
						    is_zero(&pressure->resource[resource].full)))
			return true;
	}
	return false;
}

/* The four numbers of a half: averages in hundredths of a percent, and the total. */
enum {
	PRESSURE_TOTAL = 3,
	PRESSURE_NUMBERS = 4,
};

static uint64_t pressure_number(const struct pressure_half *half, size_t index)
{
	const uint64_t numbers[PRESSURE_NUMBERS] = {half->avg10, half->avg60, half->avg300, half->total_usec};

	return numbers[index];
}

static struct cell pressure_cell(struct tables_build *build, const struct tables_pressure *subject,
				 enum pressure_resource resource, bool full, size_t index)
{
	struct cell sides[DIFF_SIDE_COUNT];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct pressure *pressure = subject->pressure[side];
		struct cell *cell = &sides[side];
		uint64_t number;

		*cell = subject->sides[side];
		cell->unit = index == PRESSURE_TOTAL ? UNIT_US : UNIT_PERCENT;
		/* it counts from the start of the host or cgroup, which says nothing of a window */
		if (index == PRESSURE_TOTAL && build->diff->options.rates)
			*cell = cell_of_state(VALUE_ABSENT, REASON_READ, cell->unit);
		if (cell->state != CELL_VALUE)
			continue;
		number = pressure_number(full ? &pressure->resource[resource].full
					      : &pressure->resource[resource].some,
					 index);
		if (index == PRESSURE_TOTAL) {
			cell_set_value(cell, number);
			continue;
		}
		cell->form = CELL_FORM_REAL;
		cell->style = CELL_STYLE_PERCENT_EXACT;
		cell->value.real = cell->sort = (double)number / 100.0;
	}
	return tables_cell_sides(build, sides, CELL_STYLE_SIDES_CHANGE);
}

static void add_pressure(struct tables_build *build, const struct tables_pressure *subject,
			 enum pressure_resource resource)
{
	for (int full = 0; full < 2; full++) {
		struct table_row *row = subject->name != NULL ? tables_add_named_row(build, subject->name,
										     subject->name_length)
							      : tables_add_row(build);
		struct cell *cells;

		if (row == NULL)
			continue;
		cells = &row->cells[subject->name != NULL];
		cells[0] = cell_of_text(full ? "full" : "some");
		for (size_t i = 0; i < PRESSURE_NUMBERS; i++)
			cells[1 + i] = pressure_cell(build, subject, resource, full, i);
	}
}

void tables_pressure(struct tables_build *build, enum section section, enum pressure_resource resource,
		     const struct tables_pressure subjects[], size_t count)
{
	size_t first = 0;

	while (first < count && !has_pressure(&subjects[first], resource))
		first++;
	if (first == count)
		return;
	first = subjects->name == NULL;
	tables_begin(build, NULL, &pressure_columns[first], ARRAY_COUNT(pressure_columns) - first);
	build->table->section = arena_format(&build->table->arena, "%s %s", sections[section].name,
					     pressure_resource_names[resource]);
	for (size_t i = 0; i < count; i++)
		add_pressure(build, &subjects[i], resource);
	tables_finish(build);
}

void tables_host_pressure(struct tables_build *build)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		struct tables_pressure host = {.name = NULL};

		for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
			const struct snapshot *snapshot = build->diff->snapshots[side];
			const reason_id reason = tables_side_is_flagged(build, side)
							 ? REASON_READ
							 : snapshot->pressure_missing[i];

			host.pressure[side] = &snapshot->pressure;
			host.sides[side] = cell_of_state(
				reason == REASON_READ ? VALUE_READ : VALUE_UNAVAILABLE, reason, UNIT_NONE);
		}
		tables_pressure(build, SECTION_HOST_PRESSURE, (enum pressure_resource)i, &host, 1);
	}
}

/* --- attributes and their values --- */

/* A text, "-" where there is none, or with NULL for it a number that may be there. */
struct attribute {
	const char *name, *text;
	enum ladder ladder;
	struct optional_u64 number;
};

/* The attributes of a side. */
struct attributes {
	struct attribute *items;
	size_t count, capacity;
};

static void list_text(struct attributes *list, const char *name, const char *text)
{
	*MEMORY_APPEND(list->items, list->count, list->capacity) = (struct attribute){name, .text = text};
}

static void list_number(struct attributes *list, const char *name, enum ladder ladder, bool present,
			uint64_t number)
{
	*MEMORY_APPEND(list->items, list->count,
		       list->capacity) = (struct attribute){name, NULL, ladder, {number, present}};
}

static const struct attribute *find_attribute(const struct attributes *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	}
	return NULL;
}

/* Makes the cell of an attribute; a side without it is NULL. */
static struct cell attribute_cell(struct tables_build *build, const struct attribute *listed,
				  const struct attribute *const attributes[DIFF_SIDE_COUNT])
{
	const char *texts[DIFF_SIDE_COUNT] = {"-", "-"};
	struct cell sides[DIFF_SIDE_COUNT], cell;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct attribute *attribute = attributes[side];
		const bool present = attribute != NULL && attribute->number.present;

		if (attribute != NULL)
			texts[side] = attribute->text;
		sides[side] = cell_of_state(present ? VALUE_READ : VALUE_ABSENT, REASON_READ,
					    unit_of_ladder(listed->ladder));
		if (present)
			cell_set_value(&sides[side], attribute->number.value);
	}
	if (listed->text == NULL)
		return tables_cell_sides(build, sides, CELL_STYLE_SIDES_CHANGE);
	cell = tables_cell_texts(build, texts);
	if (!build->is_comparison && strcmp(cell.text, "-") == 0)
		cell.state = CELL_ABSENT;
	return cell;
}

/* Adds the attributes of after, then those that only before has. */
static void add_attributes(struct tables_build *build, const struct attributes lists[DIFF_SIDE_COUNT])
{
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		for (size_t i = 0; i < lists[side].count; i++) {
			const struct attribute *listed = &lists[side].items[i];
			const struct attribute *const attributes[] = {
				find_attribute(&lists[DIFF_BEFORE], listed->name),
				find_attribute(&lists[DIFF_AFTER], listed->name),
			};
			struct table_row *row;

			if (side == DIFF_BEFORE && attributes[DIFF_AFTER] != NULL)
				continue;
			row = tables_add_named_row(build, listed->name, strlen(listed->name));
			if (row != NULL)
				row->cells[1] = attribute_cell(build, listed, attributes);
		}
	}
}

/* Makes the table of both lists, and releases them; with `sides` programs get a column of each side. */
static void make_table(struct tables_build *build, const char *section, bool sides,
		       struct attributes lists[DIFF_SIDE_COUNT])
{
	static const struct table_column columns[] = {{"attr", .left = true}, {"value", .measured = true}};

	tables_begin(build, section, columns, ARRAY_COUNT(columns));
	build->table->columns[1].sides &= sides;
	add_attributes(build, lists);
	tables_finish(build);
	free(lists[DIFF_BEFORE].items);
	free(lists[DIFF_AFTER].items);
}

/* --- sched_ext --- */

static const char *state_of(const struct sched_ext *sched_ext)
{
	return sched_ext->present && sched_ext->state != NULL && sched_ext->state[0] != '\0'
		       ? sched_ext->state
		       : "-";
}

/* Whether the sides differ; what is there differs from nothing. */
static bool differs(const struct sched_ext *before, const struct sched_ext *after)
{
	return before->present != after->present || strcmp(state_of(before), state_of(after)) != 0 ||
	       before->switch_all != after->switch_all || before->nr_rejected != after->nr_rejected ||
	       before->hotplug_seq != after->hotplug_seq || before->enable_seq != after->enable_seq;
}

void tables_host_sched_ext(struct tables_build *build)
{
	const struct sched_ext *sides[DIFF_SIDE_COUNT] = {&(struct sched_ext){0}};
	struct attributes lists[DIFF_SIDE_COUNT] = {0};

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		sides[side] = &build->diff->snapshots[side]->sched_ext;
	if (!differs(sides[DIFF_BEFORE], sides[DIFF_AFTER]))
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct sched_ext *from = sides[side];
		const bool present = from->present;

		list_text(&lists[side], "state", state_of(from));
		list_number(&lists[side], "switch_all", LADDER_UNITLESS, present, from->switch_all);
		list_number(&lists[side], "nr_rejected", LADDER_UNITLESS, present, from->nr_rejected);
		list_number(&lists[side], "hotplug_seq", LADDER_UNITLESS, present, from->hotplug_seq);
		list_number(&lists[side], "enable_seq", LADDER_UNITLESS, present, from->enable_seq);
	}
	make_table(build, sections[SECTION_SCHED_EXT].name, false, lists);
}

/* --- the scheduler --- */

static void list_scheduler(const struct snapshot *snapshot, struct attributes *list)
{
	const struct task_fields *fields = &snapshot->task_fields;
	const struct task_field_owner *owner = fields->owner;
	const bool has_contexts = fields->context_of != NULL;
	const uint64_t now = snapshot->provenance.boottime_ns, loaded = owner->loaded_at_ns;

	list_text(list, "scheduler", owner->name);
	list_text(list, "type", owner->type);
	list_text(list, "storage", owner->storage);
	list_text(list, "layout", owner->layout);
	list_number(list, "size", LADDER_BYTES, true, owner->size);
	list_number(list, "running_for", LADDER_NS, loaded != 0 && now >= loaded, now - loaded);
	list_number(list, "enable_seq", LADDER_UNITLESS, true, owner->enable_seq);
	list_number(list, "nr_rejected", LADDER_UNITLESS, snapshot->sched_ext.present,
		    snapshot->sched_ext.nr_rejected);
	list_number(list, "contexts", LADDER_UNITLESS, has_contexts, fields->context_count);
	list_number(list, "mismatched", LADDER_UNITLESS, has_contexts, fields->mismatched);
	for (size_t i = 0; i < fields->event_count; i++)
		list_number(list, fields->events[i].name, LADDER_UNITLESS, true, fields->events[i].value);
}

void tables_scheduler(struct tables_build *build)
{
	struct attributes lists[DIFF_SIDE_COUNT] = {0};

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		const struct snapshot *snapshot = build->diff->snapshots[side];

		if (snapshot->task_fields.owner != NULL)
			list_scheduler(snapshot, &lists[side]);
	}
	make_table(build, TASK_FIELD_SOURCE " scheduler", true, lists);
}
