/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of a sched_ext scheduler: what it is, and what it keeps for the threads of groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "tables_internal.h"

static const struct table_column scheduler_columns[] = {{"attr", .left = true}, {"value", .measured = true}};

/* --- the scheduler --- */

struct scheduler_table {
	struct tables_build *build;
	struct table *table;
	const struct task_fields *side[DIFF_SIDE_COUNT]; /* NULL: there is none */
};

static const struct task_field_owner *scheduler_of(const struct scheduler_table *scheduler, size_t side)
{
	return scheduler->side[side] != NULL ? scheduler->side[side]->owner : NULL;
}

static void add_text(struct scheduler_table *scheduler, const char *name, size_t offset)
{
	struct table_row *row = tables_add_row(scheduler->build, scheduler->table);
	const char *texts[DIFF_SIDE_COUNT] = {"-", "-"};

	if (row == NULL)
		return;
	for (size_t side = scheduler->build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (scheduler_of(scheduler, side) != NULL)
			memcpy(&texts[side], (const char *)scheduler_of(scheduler, side) + offset,
			       sizeof(texts[side]));
	}
	row->cells[0] = cell_of_text(name);
	tables_sides_set_texts(scheduler->build, scheduler->table, &row->cells[1],
			       texts[scheduler->build->first_side], texts[DIFF_AFTER]);
}

static void add_sides(struct scheduler_table *scheduler, const char *name,
		      const struct tables_side sides[DIFF_SIDE_COUNT], enum ladder ladder)
{
	struct table_row *row = tables_add_row(scheduler->build, scheduler->table);

	if (row == NULL)
		return;
	tables_cell_set_text(scheduler->table, &row->cells[0], name, strlen(name));
	tables_sides_set(scheduler->build, scheduler->table, &row->cells[1], sides, ladder);
}

static struct tables_side side_of(uint64_t number)
{
	return (struct tables_side){.kind = CELL_SIDE_INTEGER, .number = number};
}

/* A row of a number that `get` gives where the side has it. */
static void add_number(struct scheduler_table *scheduler, const char *name, enum ladder ladder,
		       bool (*get)(const struct snapshot *snapshot, uint64_t *ret_number))
{
	struct tables_side sides[DIFF_SIDE_COUNT] = {0};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		uint64_t number;

		if (scheduler_of(scheduler, side) != NULL &&
		    get(scheduler->build->diff->snapshots[side], &number))
			sides[side] = side_of(number);
	}
	add_sides(scheduler, name, sides, ladder);
}

static bool get_size(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->task_fields.owner->size;
	return true;
}

static bool get_uptime(const struct snapshot *snapshot, uint64_t *ret_number)
{
	const uint64_t loaded = snapshot->task_fields.owner->loaded_at_ns,
		       now = snapshot->provenance.boottime_ns;

	*ret_number = now - loaded;
	return loaded != 0 && now >= loaded;
}

static bool get_enable_seq(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->task_fields.owner->enable_seq;
	return true;
}

static bool get_rejected(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->sched_ext.nr_rejected;
	return snapshot->sched_ext.present;
}

static bool get_contexts(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->task_fields.context_count;
	return snapshot->task_fields.context_of != NULL;
}

static bool get_mismatched(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->task_fields.mismatched;
	return snapshot->task_fields.context_of != NULL;
}

static const struct task_field_event *find_event(const struct task_fields *fields, const char *name)
{
	for (size_t i = 0; fields != NULL && i < fields->event_count; i++) {
		if (strcmp(fields->events[i].name, name) == 0)
			return &fields->events[i];
	}
	return NULL;
}

static void add_event(struct scheduler_table *scheduler, const char *name)
{
	struct tables_side sides[DIFF_SIDE_COUNT] = {0};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct task_field_event *event = find_event(scheduler->side[side], name);

		if (event != NULL)
			sides[side] = side_of(event->value);
	}
	add_sides(scheduler, name, sides, LADDER_UNITLESS);
}

/* The events of after, then those that only before has. */
static void add_events(struct scheduler_table *scheduler)
{
	const struct task_fields *before = scheduler->side[DIFF_BEFORE], *after = scheduler->side[DIFF_AFTER];

	for (size_t i = 0; after != NULL && i < after->event_count; i++)
		add_event(scheduler, after->events[i].name);
	for (size_t i = 0; before != NULL && i < before->event_count; i++) {
		if (find_event(after, before->events[i].name) == NULL)
			add_event(scheduler, before->events[i].name);
	}
}

static void build_scheduler(struct tables_build *build)
{
	struct scheduler_table scheduler = {.build = build};
	bool any = false;

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		const struct task_fields *fields = &build->diff->snapshots[side]->task_fields;

		scheduler.side[side] = fields->owner != NULL ? fields : NULL;
		any |= fields->owner != NULL;
	}
	if (!any)
		return;
	scheduler.table = tables_sides_create_table(build, TASK_FIELD_SOURCE " scheduler", scheduler_columns,
						    ARRAY_COUNT(scheduler_columns));
	add_text(&scheduler, "scheduler", offsetof(struct task_field_owner, name));
	add_text(&scheduler, "type", offsetof(struct task_field_owner, type));
	add_text(&scheduler, "storage", offsetof(struct task_field_owner, storage));
	add_text(&scheduler, "layout", offsetof(struct task_field_owner, layout));
	add_number(&scheduler, "size", LADDER_BYTES, get_size);
	add_number(&scheduler, "running_for", LADDER_NS, get_uptime);
	add_number(&scheduler, "enable_seq", LADDER_UNITLESS, get_enable_seq);
	add_number(&scheduler, "nr_rejected", LADDER_UNITLESS, get_rejected);
	add_number(&scheduler, "contexts", LADDER_UNITLESS, get_contexts);
	add_number(&scheduler, "mismatched", LADDER_UNITLESS, get_mismatched);
	add_events(&scheduler);
	tables_finish(build, scheduler.table);
}

/* --- fields by group --- */

struct field_table {
	struct tables_build *build;
	struct table *table;
	enum column *fields; /* that are shown */
	size_t field_count;
};

/* A field with its place on the tab, and in the type where it has none. */
struct placed {
	uint16_t field;
	size_t place, index;
};

static int compare_places(const void *a, const void *b)
{
	const struct placed *left = a, *right = b;
	const int order = order_u64(left->place, right->place);

	return order != 0 ? order : order_u64(left->index, right->index);
}

static bool has_field(const struct field_table *fields, enum column column)
{
	for (size_t i = 0; i < fields->field_count; i++) {
		if (fields->fields[i] == column)
			return true;
	}
	return false;
}

/* Adds the fields of a side's scheduler that are asked for and that the other side does not have. */
static void add_fields(struct field_table *fields, const struct task_field_owner *scheduler)
{
	struct placed *placed = memory_allocate((scheduler->member_count + 1) * sizeof(*placed));
	size_t count = 0;

	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		if (member->field != TASK_FIELD_NONE)
			placed[count++] = (struct placed){
				member->field, task_field_place(scheduler->family, member->name), i};
	}
	qsort(placed, count, sizeof(*placed), compare_places);
	fields->fields = memory_resize(fields->fields, fields->field_count + count + 1,
				       sizeof(*fields->fields));
	for (size_t i = 0; i < count; i++) {
		const enum column column = column_of_task_field(placed[i].field);

		if (selected_fields_has(&fields->build->request->fields, column_name(column)) &&
		    !has_field(fields, column))
			fields->fields[fields->field_count++] = column;
	}
	free(placed);
}

/* By how much the field of a group that changed most did; groups of one snapshot come by their names. */
static double weigh(const struct field_table *fields, size_t pair)
{
	const struct diff *diff = fields->build->diff;
	double weight = -INFINITY;

	for (size_t i = 0; fields->build->is_comparison && i < fields->field_count; i++)
		weight = fmax(weight, diff_column_sort(diff, &diff->pairs[pair], fields->fields[i]));
	return weight;
}

static void add_row(struct field_table *fields, size_t pair, enum column field, const struct buffer *label)
{
	struct tables_build *build = fields->build;
	const struct tables_row content = tables_row_of_column(build, fields->table,
							       &build->diff->pairs[pair], field, label);

	/* such as a group none of whose threads has a context, or has ever run */
	if (content.value.side[DIFF_BEFORE].state == VALUE_ABSENT &&
	    content.value.side[DIFF_AFTER].state == VALUE_ABSENT)
		return;
	if (tables_add_row(build, fields->table) != NULL)
		tables_row_fill(build, fields->table, fields->table->row_count - 1, &content);
}

static void build_fields(struct field_table *fields)
{
	const struct diff *diff = fields->build->diff;
	double *weights = memory_allocate((diff->pair_count + 1) * sizeof(*weights));
	struct buffer label = {0};
	size_t *order;

	for (size_t i = 0; i < diff->pair_count; i++)
		weights[i] = weigh(fields, i);
	order = tables_order(weights, diff->pair_count);
	fields->table = tables_row_create_table(fields->build, sections[SECTION_TASK_FIELDS].name,
						axes[diff->options.grouping.axis].header);
	for (size_t i = 0; i < diff->pair_count; i++) {
		buffer_clear(&label);
		diff_append_label(&diff->pairs[order[i]], &label);
		for (size_t j = 0; j < fields->field_count; j++)
			add_row(fields, order[i], fields->fields[j], &label);
		fields->table = tables_continue(fields->build, fields->table);
	}
	tables_finish(fields->build, fields->table);
	buffer_release(&label);
	free(order);
	free(weights);
}

void tables_task_fields(struct tables_build *build)
{
	const struct diff *diff = build->diff;
	struct field_table fields = {.build = build};

	if (diff->options.by_flags)
		return; /* the reference has no such tables */
	build_scheduler(build);
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		if (diff->snapshots[side] != NULL && diff->snapshots[side]->task_fields.owner != NULL)
			add_fields(&fields, diff->snapshots[side]->task_fields.owner);
	}
	if (fields.field_count != 0)
		build_fields(&fields);
	free(fields.fields);
}
