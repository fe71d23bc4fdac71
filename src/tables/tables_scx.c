/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of a sched_ext scheduler: what it is, and what it keeps for the threads of groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff/diff_scx.h"
#include "table/cell_format.h"
#include "tables_build.h"

/* Whole numbers up to here are exact in a double. */
#define MAX_EXACT 9007199254740992.0

static const struct table_column scheduler_columns[] = {{"attr", .left = true}, {"value", .measured = true}};

/* --- the scheduler --- */

struct scheduler_table {
	struct tables_build *build;
	struct table *table;
	const struct scx *side[DIFF_SIDE_COUNT]; /* NULL: there is none */
};

static const struct scx_scheduler *scheduler_of(const struct scheduler_table *scheduler, size_t side)
{
	return scheduler->side[side] != NULL ? scheduler->side[side]->scheduler : NULL;
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
	*ret_number = snapshot->scx.scheduler->size;
	return true;
}

static bool get_uptime(const struct snapshot *snapshot, uint64_t *ret_number)
{
	const uint64_t loaded = snapshot->scx.scheduler->loaded_at_ns, now = snapshot->provenance.boottime_ns;

	*ret_number = now - loaded;
	return loaded != 0 && now >= loaded;
}

static bool get_enable_seq(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->scx.scheduler->enable_seq;
	return true;
}

static bool get_rejected(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->sched_ext.nr_rejected;
	return snapshot->sched_ext.present;
}

static bool get_contexts(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->scx.context_count;
	return snapshot->scx.context_of != NULL;
}

static bool get_mismatched(const struct snapshot *snapshot, uint64_t *ret_number)
{
	*ret_number = snapshot->scx.mismatched;
	return snapshot->scx.context_of != NULL;
}

static const struct scx_event *find_event(const struct scx *scx, const char *name)
{
	for (size_t i = 0; scx != NULL && i < scx->event_count; i++) {
		if (strcmp(scx->events[i].name, name) == 0)
			return &scx->events[i];
	}
	return NULL;
}

static void add_event(struct scheduler_table *scheduler, const char *name)
{
	struct tables_side sides[DIFF_SIDE_COUNT] = {0};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct scx_event *event = find_event(scheduler->side[side], name);

		if (event != NULL)
			sides[side] = side_of(event->value);
	}
	add_sides(scheduler, name, sides, LADDER_UNITLESS);
}

/* The events of after, then those that only before has. */
static void add_events(struct scheduler_table *scheduler)
{
	const struct scx *before = scheduler->side[DIFF_BEFORE], *after = scheduler->side[DIFF_AFTER];

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
		const struct scx *scx = &build->diff->snapshots[side]->scx;

		scheduler.side[side] = scx->scheduler != NULL ? scx : NULL;
		any |= scx->scheduler != NULL;
	}
	if (!any)
		return;
	scheduler.table = tables_sides_create_table(build, "scx scheduler", scheduler_columns,
						    ARRAY_COUNT(scheduler_columns));
	add_text(&scheduler, "scheduler", offsetof(struct scx_scheduler, name));
	add_text(&scheduler, "type", offsetof(struct scx_scheduler, type));
	add_text(&scheduler, "storage", offsetof(struct scx_scheduler, storage));
	add_text(&scheduler, "layout", offsetof(struct scx_scheduler, layout));
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
	const struct diff_scx_field **fields; /* that are shown */
	size_t field_count;
	size_t *order; /* pairs */
	double *weight;
};

/* By how much the field of a group that changed most did; groups of one snapshot come by their names. */
static double weigh(const struct field_table *fields, size_t pair)
{
	const struct diff *diff = fields->build->diff;
	double weight = -INFINITY;

	for (size_t i = 0; fields->build->is_comparison && i < fields->field_count; i++)
		weight = fmax(weight, diff_scx_value(diff, &diff->pairs[pair], fields->fields[i], NULL).sort);
	return weight;
}

static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct field_table *fields = context;
	const size_t left = *(const size_t *)a, right = *(const size_t *)b;

	if (fields->weight[left] != fields->weight[right])
		return fields->weight[left] > fields->weight[right] ? -1 : 1;
	return order_u64(left, right);
}

/* A negative number that is whole has no decimals, like one that is not negative. */
static void append_real(struct buffer *text, double number, enum ladder ladder)
{
	if (number < 0 && number >= -MAX_EXACT && number == trunc(number)) {
		buffer_append_char(text, '-');
		cell_format_value(text, (uint64_t)-number, ladder);
	} else {
		cell_format_derived(text, number, ladder, false);
	}
}

static void set_side(struct field_table *fields, struct tables_row *content, enum diff_side side,
		     const struct scx_member *member, const struct scx_reduced *reduced)
{
	struct tables_build *build = fields->build;
	struct cell *cell = &content->sides[side];

	cell->unit = content->value.is_category ? UNIT_NONE : cell_format_unit(content->ladder);
	if (!tables_cell_begin(cell, reduced->state, reduced->reason))
		return;
	if (content->value.is_category) {
		struct buffer word = {0};

		scx_member_append(member, reduced->value, &word);
		cell_format_mode(&build->text, word.data, word.length,
				 member->facts.reduction == SCX_REDUCTION_COUNT ? reduced->threads : 0,
				 member->facts.reduction == SCX_REDUCTION_COUNT ? reduced->read : 0);
		tables_cell_take_text(build, fields->table, cell);
		buffer_release(&word);
	} else if (reduced->is_whole) {
		tables_cell_set_integer(build, fields->table, cell, reduced->whole, content->ladder);
	} else {
		cell->form = CELL_FORM_REAL;
		cell->value.real = cell->sort = reduced->number;
		append_real(&build->text, reduced->number, content->ladder);
		tables_cell_take_text(build, fields->table, cell);
	}
	/* a mean of those that were read is no lower bound */
	cell->partial = reduced->partial &&
			(content->value.is_category || member->facts.reduction != SCX_REDUCTION_MEAN);
	cell->reason = cell->partial ? reduced->reason : REASON_READ;
}

static void add_row(struct field_table *fields, size_t pair, const struct diff_scx_field *field,
		    const struct buffer *label)
{
	struct tables_build *build = fields->build;
	struct scx_reduced sides[DIFF_SIDE_COUNT];
	struct tables_row content = {
		.label = label->data,
		.label_length = label->length,
		.pair = &build->diff->pairs[pair],
		.name = field->name,
		.metric = METRIC_NONE,
		.is_counter = diff_scx_is_counter(field),
		.ladder = diff_scx_ladder(field),
		.value = diff_scx_value(build->diff, &build->diff->pairs[pair], field, sides),
	};

	/* such as a group none of whose threads has a context, or has ever run */
	if (sides[DIFF_BEFORE].state == VALUE_ABSENT && sides[DIFF_AFTER].state == VALUE_ABSENT)
		return;
	if (tables_add_row(build, fields->table) == NULL)
		return;
	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		set_side(fields, &content, (enum diff_side)side, field->member[side], &sides[side]);
	tables_row_fill(build, fields->table, fields->table->row_count - 1, &content);
}

static void build_fields(struct field_table *fields)
{
	const struct diff *diff = fields->build->diff;
	struct buffer label = {0};

	for (size_t i = 0; i < diff->pair_count; i++) {
		fields->order[i] = i;
		fields->weight[i] = weigh(fields, i);
	}
	qsort_r(fields->order, diff->pair_count, sizeof(*fields->order), compare_pairs, fields);
	fields->table = tables_row_create_table(fields->build, sections[SECTION_SCX].name,
						axes[diff->options.grouping.axis].header);
	for (size_t i = 0; i < diff->pair_count; i++) {
		buffer_clear(&label);
		diff_append_label(&diff->pairs[fields->order[i]], &label);
		for (size_t j = 0; j < fields->field_count; j++)
			add_row(fields, fields->order[i], fields->fields[j], &label);
		fields->table = tables_continue(fields->build, fields->table);
	}
	tables_finish(fields->build, fields->table);
	buffer_release(&label);
}

void tables_scx(struct tables_build *build)
{
	const struct diff *diff = build->diff;
	struct field_table fields = {.build = build};

	if (diff->options.by_flags)
		return; /* the reference has no such tables */
	build_scheduler(build);
	if (diff->scx == NULL)
		return;
	fields.fields = memory_allocate((diff->scx->field_count + 1) * sizeof(*fields.fields));
	for (size_t i = 0; i < diff->scx->field_count; i++) {
		if (selected_fields_has(&build->request->fields, diff->scx->fields[i].name))
			fields.fields[fields.field_count++] = &diff->scx->fields[i];
	}
	if (fields.field_count != 0) {
		fields.order = memory_allocate((diff->pair_count + 1) * sizeof(*fields.order));
		fields.weight = memory_allocate((diff->pair_count + 1) * sizeof(*fields.weight));
		build_fields(&fields);
	}
	free(fields.fields);
	free(fields.order);
	free(fields.weight);
}
