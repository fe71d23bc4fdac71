/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of the whole host: pressure, sched_ext and its scheduler; pressure of cgroups looks the same. */
#include <stddef.h>
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
			tables_cell_set_integer(build, cell, number, LADDER_US);
			continue;
		}
		cell->form = CELL_FORM_REAL;
		cell->value.real = cell->sort = (double)number / 100.0;
		cell_format_pressure(&build->text, (uint32_t)number);
		cell->text = tables_take_text(build);
	}
	return tables_cell_sides(build, sides, LADDER_US);
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

static const struct table_column attribute_columns[] = {{"attr", .left = true}, {"value", .measured = true}};

/* A number that a side may have. */
struct attribute {
	const char *name;
	enum ladder ladder;
	uint64_t number;
	bool present;
};

static void add_attribute(struct tables_build *build,
			  const struct attribute *const attributes[DIFF_SIDE_COUNT])
{
	const struct attribute *named = attributes[DIFF_AFTER];
	struct table_row *row = tables_add_row(build);
	struct cell sides[DIFF_SIDE_COUNT];

	if (row == NULL)
		return;
	row->cells[0] = tables_cell_text(build, named->name, strlen(named->name));
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		sides[side] = cell_of_state(attributes[side]->present ? VALUE_READ : VALUE_ABSENT,
					    REASON_READ, unit_of_ladder(named->ladder));
		if (attributes[side]->present)
			tables_cell_set_integer(build, &sides[side], attributes[side]->number, named->ladder);
	}
	row->cells[1] = tables_cell_sides(build, sides, named->ladder);
}

static void add_attributes(struct tables_build *build, const struct attribute *before,
			   const struct attribute *after, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_attribute(build, (const struct attribute *const[]){&before[i], &after[i]});
}

static void add_text(struct tables_build *build, const char *name, const char *const texts[DIFF_SIDE_COUNT])
{
	struct table_row *row = tables_add_row(build);

	if (row == NULL)
		return;
	row->cells[0] = cell_of_text(name);
	row->cells[1] = tables_cell_texts(build, texts);
}

/* --- sched_ext --- */

enum {
	SCHED_EXT_NUMBERS = 4
};

static void list_sched_ext(const struct sched_ext *from, struct attribute ret_numbers[SCHED_EXT_NUMBERS])
{
	const struct attribute numbers[SCHED_EXT_NUMBERS] = {
		{"switch_all", LADDER_UNITLESS, from->switch_all, from->present},
		{"nr_rejected", LADDER_UNITLESS, from->nr_rejected, from->present},
		{"hotplug_seq", LADDER_UNITLESS, from->hotplug_seq, from->present},
		{"enable_seq", LADDER_UNITLESS, from->enable_seq, from->present},
	};

	memcpy(ret_numbers, numbers, sizeof(numbers));
}

static const char *state_of(const struct sched_ext *sched_ext)
{
	return sched_ext->present && sched_ext->state != NULL && sched_ext->state[0] != '\0'
		       ? sched_ext->state
		       : "-";
}

static bool differs(const struct attribute *before, const struct attribute *after, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (before[i].present != after[i].present || before[i].number != after[i].number)
			return true;
	}
	return false;
}

void tables_host_sched_ext(struct tables_build *build)
{
	static const struct sched_ext none;
	const struct sched_ext *before = build->is_comparison
						 ? &build->diff->snapshots[DIFF_BEFORE]->sched_ext
						 : &none;
	const struct sched_ext *after = &build->diff->snapshots[DIFF_AFTER]->sched_ext;
	struct attribute numbers[DIFF_SIDE_COUNT][SCHED_EXT_NUMBERS];

	list_sched_ext(before, numbers[DIFF_BEFORE]);
	list_sched_ext(after, numbers[DIFF_AFTER]);
	/* what is there differs from nothing */
	if (!differs(numbers[DIFF_BEFORE], numbers[DIFF_AFTER], SCHED_EXT_NUMBERS) &&
	    strcmp(state_of(before), state_of(after)) == 0)
		return;
	tables_begin(build, sections[SECTION_SCHED_EXT].name, attribute_columns,
		     ARRAY_COUNT(attribute_columns));
	build->table->columns[1].sides = false;
	add_text(build, "state", (const char *const[]){state_of(before), state_of(after)});
	if (!build->is_comparison && build->table->row_count != 0 && strcmp(state_of(after), "-") == 0)
		build->table->rows[0].cells[1].state = CELL_ABSENT;
	add_attributes(build, numbers[DIFF_BEFORE], numbers[DIFF_AFTER], SCHED_EXT_NUMBERS);
	tables_finish(build);
}

/* --- the scheduler --- */

enum {
	SCHEDULER_NUMBERS = 6
};

/* The numbers of a side's scheduler; of a side without one all are absent. */
static void list_scheduler(const struct snapshot *snapshot, struct attribute ret_numbers[SCHEDULER_NUMBERS])
{
	static const struct snapshot nothing;
	static const struct task_field_owner nobody;
	const struct snapshot *from = snapshot != NULL ? snapshot : &nothing;
	const struct task_fields *fields = &from->task_fields;
	const struct task_field_owner *owner = fields->owner != NULL ? fields->owner : &nobody;
	const bool has = fields->owner != NULL, has_contexts = has && fields->context_of != NULL;
	const uint64_t now = from->provenance.boottime_ns, loaded = owner->loaded_at_ns;
	const struct attribute numbers[SCHEDULER_NUMBERS] = {
		{"size", LADDER_BYTES, owner->size, has},
		{"running_for", LADDER_NS, now - loaded, has && loaded != 0 && now >= loaded},
		{"enable_seq", LADDER_UNITLESS, owner->enable_seq, has},
		{"nr_rejected", LADDER_UNITLESS, from->sched_ext.nr_rejected, has && from->sched_ext.present},
		{"contexts", LADDER_UNITLESS, fields->context_count, has_contexts},
		{"mismatched", LADDER_UNITLESS, fields->mismatched, has_contexts},
	};

	memcpy(ret_numbers, numbers, sizeof(numbers));
}

static struct attribute find_event(const struct task_fields *fields, const char *name)
{
	for (size_t i = 0; fields != NULL && i < fields->event_count; i++) {
		if (strcmp(fields->events[i].name, name) == 0)
			return (struct attribute){name, LADDER_UNITLESS, fields->events[i].value, true};
	}
	return (struct attribute){.name = name, .ladder = LADDER_UNITLESS};
}

/* The events of after, then those that only before has. */
static void add_events(struct tables_build *build, const struct task_fields *const sides[DIFF_SIDE_COUNT])
{
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		for (size_t i = 0; sides[side] != NULL && i < sides[side]->event_count; i++) {
			const char *name = sides[side]->events[i].name;
			const struct attribute before = find_event(sides[DIFF_BEFORE], name),
					       after = find_event(sides[DIFF_AFTER], name);

			if (side == DIFF_AFTER || !after.present)
				add_attributes(build, &before, &after, 1);
		}
	}
}

void tables_scheduler(struct tables_build *build)
{
	static const struct {
		const char *name;
		size_t offset;
	} words[] = {
		{"scheduler", offsetof(struct task_field_owner, name)},
		{"type", offsetof(struct task_field_owner, type)},
		{"storage", offsetof(struct task_field_owner, storage)},
		{"layout", offsetof(struct task_field_owner, layout)},
	};
	const struct task_fields *sides[DIFF_SIDE_COUNT] = {NULL};
	struct attribute numbers[DIFF_SIDE_COUNT][SCHEDULER_NUMBERS];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct snapshot *snapshot = build->diff->snapshots[side];

		if (snapshot != NULL && snapshot->task_fields.owner != NULL)
			sides[side] = &snapshot->task_fields;
		list_scheduler(snapshot, numbers[side]);
	}
	if (sides[DIFF_BEFORE] == NULL && sides[DIFF_AFTER] == NULL)
		return;
	tables_begin(build, TASK_FIELD_SOURCE " scheduler", attribute_columns,
		     ARRAY_COUNT(attribute_columns));
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		const char *texts[DIFF_SIDE_COUNT] = {"-", "-"};

		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			if (sides[side] != NULL)
				memcpy(&texts[side], (const char *)sides[side]->owner + words[i].offset,
				       sizeof(texts[side]));
		}
		add_text(build, words[i].name, texts);
	}
	add_attributes(build, numbers[DIFF_BEFORE], numbers[DIFF_AFTER], SCHEDULER_NUMBERS);
	add_events(build, sides);
	tables_finish(build);
}
