/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields that a sched_ext scheduler keeps for each task, by group. */
#include "kind.h"

#include <stdlib.h>

#include "base/memory.h"

/* Why nobody has a context in a snapshot, REASON_READ where somebody may. */
static reason_id nothing_read(const struct window *window)
{
	const struct task_fields *fields = &window->now->task_fields;
	const struct feature_result *results = window->now->provenance.features;
	const struct feature_result *result = &results[feature_cause(results, FEATURE_TASK_FIELDS)];

	if (fields->context_of != NULL)
		return REASON_READ;
	if (window->as_stored && window->now->provenance.present)
		return fields->owner != NULL ? REASON_NOT_READ : REASON_READ;
	if (result->state == FEATURE_STATE_OFF && result->reason != REASON_READ)
		return (reason_id)result->reason;
	return window->missing;
}

/* Why what was read before says nothing of what this run of the scheduler added since. */
static reason_id nothing_before(const struct window *window)
{
	if (window->from == NULL)
		return window->missing;
	if (window->from->task_fields.context_of == NULL ||
	    !task_field_owner_is_same_run(window->now->task_fields.owner, window->from->task_fields.owner))
		return REASON_NOT_READ;
	return REASON_READ;
}

/* Contexts are read together, at a time of their own. */
static double change_scale(const struct window *window)
{
	const uint64_t now_ns = window->now->task_fields.read_at_ns,
		       from_ns = window->from->task_fields.read_at_ns;

	if (window->mode != WINDOW_MODE_RATE)
		return 1;
	return from_ns != 0 && now_ns > from_ns ? 1e9 / (double)(now_ns - from_ns)
						: reducer_scale(window, true);
}

void window_describe_fields(const struct task_field_owner *scheduler)
{
	for (size_t i = 0; scheduler != NULL && i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		if (member->field != TASK_FIELD_NONE)
			task_field_describe(member->field, member->facts, member->kind);
	}
}

struct window_field window_field_of(const struct window *window, uint16_t field)
{
	struct window_field result = {
		.window = window,
		.member = task_field_find_member(window->now->task_fields.owner, field),
		.missing = nothing_read(window),
		.scale = 1,
	};

	result.is_change = result.member != NULL && window->mode != WINDOW_MODE_TOTAL &&
			   result.member->facts.reduction == TASK_FIELD_REDUCTION_COUNTER;
	if (!result.is_change)
		return result;
	result.from_missing = nothing_before(window);
	if (result.from_missing == REASON_READ)
		result.scale = change_scale(window);
	return result;
}

/*
 * The value of the thread at the beginning of a change. A context that was not there has had nothing to count
 * from: schedulers begin one as a copy of the parent's, or with what the others have come to by then (lavd
 * does both), and may make one for a thread that has run for hours.
 */
static uint16_t value_before(const struct window_field *field, uint32_t thread, uint64_t now,
			     uint64_t *ret_value)
{
	const struct window *window = field->window;
	const uint32_t other = window->from_of[thread];
	const uint8_t *context;
	reason_id reason;

	if (other == THREAD_STILL) {
		*ret_value = now; /* it did nothing */
		return REASON_READ;
	}
	if (other == THREAD_UNKNOWN || other == THREAD_BORN)
		return REASON_NOT_READ;
	context = task_fields_context(&window->from->task_fields, other, &reason);
	if (context == NULL)
		return reason != REASON_READ ? reason : REASON_NOT_READ;
	*ret_value = task_field_read(field->member, context, 0);
	return REASON_READ;
}

/* As stored a counter of threads that do not count is 0, see struct window. */
static uint16_t count_stored(const struct window_field *field, uint32_t thread, uint64_t *ret_value)
{
	const struct window *window = field->window;

	if (window->counted == NULL || window->counted[thread] ||
	    field->member->facts.reduction != TASK_FIELD_REDUCTION_COUNTER)
		return REASON_READ;
	*ret_value = 0;
	return window->replaced != NULL && window->replaced[thread] ? REASON_NOT_READ : REASON_READ;
}

uint16_t window_field_value(const struct window_field *field, uint32_t thread, uint64_t *ret_value)
{
	const struct task_fields *fields = &field->window->now->task_fields;
	const uint8_t *context;
	uint64_t before;
	reason_id reason;
	uint16_t state;

	if (field->missing != REASON_READ)
		return field->missing;
	if (field->member == NULL)
		return WINDOW_ABSENT;
	context = task_fields_context(fields, thread, &reason);
	if (context == NULL)
		return reason == REASON_READ ? WINDOW_ABSENT : reason;
	*ret_value = task_field_read(field->member, context, 0);
	if (field->member->kind == TASK_FIELD_KIND_BOOLEAN)
		*ret_value = *ret_value != 0; /* a byte of BPF memory may hold anything */
	if (!field->is_change)
		return count_stored(field, thread, ret_value);
	if (field->from_missing != REASON_READ)
		return field->from_missing;
	state = value_before(field, thread, *ret_value, &before);
	if (state != REASON_READ)
		return state;
	return task_field_counter_added(field->member, before, *ret_value, ret_value) ? REASON_READ
										      : REASON_WENT_BACKWARDS;
}

static void add_thread(const struct window_field *field, uint32_t thread,
		       struct task_field_accumulator *accumulator)
{
	uint64_t value = 0;
	const uint16_t state = window_field_value(field, thread, &value);

	if (state == WINDOW_ABSENT)
		return;
	if (state != REASON_READ)
		task_field_accumulate_missing(accumulator, (reason_id)state);
	else if (field->is_change)
		task_field_accumulate_amount(accumulator, (double)value * field->scale);
	else
		task_field_accumulate(accumulator, field->member, value);
}

/* A member for what nobody has read: it is only asked how it is reduced. */
static const struct task_field_member nobody = {.count = 1};

static void begin(struct reducer *reducer)
{
	const struct shown *shown = reducer->shown;
	struct column_values *values = reducer->values;
	const struct window_field field = window_field_of(reducer->window,
							  (uint16_t)reducer->entry->inputs[0]);
	struct task_field_accumulator *accumulators = memory_allocate_zero(shown->row_count + 1,
									   sizeof(*accumulators));

	values->member = field.member;
	values->fields = memory_allocate_zero(shown->row_count + 1, sizeof(*values->fields));
	for (size_t k = 0; k < shown->count; k++)
		add_thread(&field, shown->threads[k], &accumulators[shown->row_of[k]]);
	for (size_t row = 0; row < shown->row_count; row++) {
		values->fields[row] = task_field_reduce(&accumulators[row],
							field.member != NULL ? field.member : &nobody,
							reducer->window->now->task_fields.read_at_ns);
		task_field_accumulator_release(&accumulators[row]);
	}
	free(accumulators);
}

/* A word, or a number by which it is sorted where it has no name. */
static void set_commonest(const struct task_field_member *member, const struct task_field_reduced *reduced,
			  struct value *value)
{
	value->form = VALUE_FORM_WORD;
	value->differs = reduced->differs;
	value->partial = reduced->partial;
	value->word.value = reduced->value;
	value->word.threads = reduced->threads;
	value->word.of = reduced->read;
	if (task_field_find_enumerator(member, (int64_t)reduced->value) == NULL)
		value->sort = task_field_number(member, reduced->value);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const struct task_field_reduced *reduced = &of->values->fields[of->row];
	const struct task_field_member *member = of->values->member;

	value->reason = reduced->reason;
	value->state = reduced->state;
	if (value->state != VALUE_READ)
		return;
	if (column_values_are_words(of->values)) {
		set_commonest(member, reduced, value);
		return;
	}
	value->partial = reduced->partial;
	value->sort = reduced->number;
	value->form = VALUE_FORM_REAL;
	value->real = reduced->number;
	if (of->values->mode == WINDOW_MODE_RATE && member->facts.reduction == TASK_FIELD_REDUCTION_COUNTER) {
		if (column_unit_of_task_field(member->facts, member->kind) == UNIT_NS &&
		    of->values->unit != UNIT_NS) /* as a percentage */
			value->sort = value->real = reduced->number / 1e7;
	} else if (reduced->is_whole) {
		value->form = VALUE_FORM_WHOLE;
		value->whole = reduced->whole;
	} else if (member->facts.reduction == TASK_FIELD_REDUCTION_COUNTER && reduced->number >= 0) {
		value_make_whole(value);
	}
}

const struct column_kind column_kind_field = {
	.begin = begin,
	.conclude = conclude,
};
