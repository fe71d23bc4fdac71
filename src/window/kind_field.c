/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields that a sched_ext scheduler keeps for each task, by group. */
#include "kind.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

/* Why nobody has a context in a snapshot, REASON_READ where somebody may. */
static reason_id nothing_read(const struct window *window)
{
	const struct task_fields *fields = &window->now->task_fields;
	const struct feature_result *results = window->now->provenance.features;
	const struct feature_result *result = &results[feature_cause(results, FEATURE_TASK_FIELDS)];

	if (fields->context_of != NULL)
		return REASON_READ;
	if (window->basis != WINDOW_MEASURED && window->now->provenance.present)
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
		return STATE_ABSENT;
	context = task_fields_context(fields, thread, &reason);
	if (context == NULL)
		return reason == REASON_READ ? STATE_ABSENT : reason;
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

/* --- threads to accumulators --- */

/* A time stamp may be later than the reading by as much as two clocks of a kernel differ. */
#define CLOCKS_DIFFER_NS NS_PER_S

static bool is_less(const struct task_field_member *member, uint64_t a, uint64_t b)
{
	return member->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static bool is_negative(const struct task_field_member *member, uint64_t value)
{
	return member->is_signed && (int64_t)value < 0;
}

static void begin(struct reducer *reducer)
{
	struct window_field *field = memory_allocate(sizeof(*field));

	*field = window_field_of(reducer->window, (uint16_t)reducer->entry->inputs[0]);
	reducer->work = field;
	reducer->values->member = field->member;
	reducer->values->is_real = field->is_change;
}

/* Adds to a sum of more than 64 bits: fields of no meaning known may all be near 2^64. */
static void add_to_sum(const struct task_field_member *member, uint64_t value,
		       struct accumulator *accumulator)
{
	accumulator->wide.low += value;
	accumulator->wide.high += (accumulator->wide.low < value) - (int64_t)is_negative(member, value);
}

static void add_value(const struct task_field_member *member, uint64_t value, struct accumulator *accumulator)
{
	uint64_t *present = &accumulator->present.value;

	switch (member->facts.reduction) {
	case TASK_FIELD_REDUCTION_MAXIMUM:
		if (accumulator->read == 0 || is_less(member, *present, value))
			*present = value;
		break;
	case TASK_FIELD_REDUCTION_AGE: /* the oldest; 0 is no time stamp */
		if (value != 0 && (*present == 0 || value < *present))
			*present = value;
		break;
	default:
		add_to_sum(member, value, accumulator);
		break;
	}
	accumulator->read++;
}

static void add_thread(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct window_field *field = reducer->work;
	uint64_t value = 0;
	const uint16_t state = window_field_value(field, thread, &value);

	if (state == STATE_ABSENT)
		return;
	if (state != REASON_READ) {
		accumulator_miss(accumulator, state);
	} else if (field->is_change) {
		accumulator->sum[0].real += (double)value * field->scale;
		accumulator->read++;
	} else if (column_values_are_words(reducer->values)) {
		reducer_add_word(accumulator, value);
	} else {
		add_value(field->member, value, accumulator);
	}
}

static bool word_of(const struct reducer *reducer, uint32_t thread, uint64_t *ret_value)
{
	return window_field_value(reducer->work, thread, ret_value) == REASON_READ;
}

/* Numbers stand by their size. */
static bool comes_first(const struct reducer *reducer, uint64_t a, uint64_t b)
{
	return is_less(reducer->values->member, a, b);
}

static void end(struct reducer *reducer)
{
	if (column_values_are_words(reducer->values))
		reducer_elect_words(reducer, word_of, comes_first);
}

/* --- accumulators to values --- */

static void set_whole(uint64_t whole, struct value *value)
{
	value->form = VALUE_FORM_WHOLE;
	value->whole = whole;
	value->sort = (double)whole;
}

static void set_real(double real, struct value *value)
{
	value->form = VALUE_FORM_REAL;
	value->real = value->sort = real;
}

static void set_unavailable(reason_id reason, struct value *value)
{
	value->state = VALUE_UNAVAILABLE;
	value->reason = reason;
}

static double sum_number(const struct accumulator *accumulator)
{
	const uint64_t low = accumulator->wide.low;
	const int64_t high = accumulator->wide.high;

	if (high >= 0)
		return (double)high * 0x1p64 + (double)low;
	return -((double)-(high + (low != 0)) * 0x1p64 + (double)(0 - low));
}

static void set_sum(const struct accumulator *accumulator, struct value *value)
{
	if (accumulator->wide.high == 0)
		set_whole(accumulator->wide.low, value);
	else
		set_real(sum_number(accumulator), value);
}

/* A mean that is a whole number is one, however large the sum is. */
static void set_mean(const struct accumulator *accumulator, struct value *value)
{
	const uint64_t low = accumulator->wide.low, count = accumulator->read;
	uint64_t upper, lower;

	if (accumulator->wide.high >= 0) {
		upper = (uint64_t)accumulator->wide.high << 32 | low >> 32;
		lower = upper % count << 32 | (low & UINT32_MAX);
		if (lower % count == 0) {
			set_whole((upper / count << 32) + lower / count, value);
			return;
		}
	}
	set_real(sum_number(accumulator) / (double)count, value);
}

static void set_maximum(const struct task_field_member *member, uint64_t most, struct value *value)
{
	if (is_negative(member, most))
		set_real(task_field_number(member, most), value);
	else
		set_whole(most, value);
}

/* Ages count from the reading of the contexts. What is much later than that is no time stamp. */
static void set_age(uint64_t oldest, uint64_t read_at_ns, struct value *value)
{
	if (oldest == 0)
		value->state = VALUE_ABSENT; /* never */
	else if (read_at_ns == 0)
		set_unavailable(REASON_NOT_IN_FILE, value);
	else if (oldest > number_add_saturating(read_at_ns, CLOCKS_DIFFER_NS))
		set_unavailable(REASON_BAD_STAMP, value);
	else
		set_whole(read_at_ns > oldest ? read_at_ns - oldest : 0, value);
}

/* An amount of a counter; of a rate of time percent, unless a report asks for ns. */
static void set_amount(const struct conclusion *of, struct value *value)
{
	const struct task_field_member *member = of->values->member;
	const bool is_time = column_unit_of_task_field(member->facts, member->kind) == UNIT_NS;
	double amount = of->accumulators->sum[0].real;

	if (of->values->mode == WINDOW_MODE_RATE && is_time && of->values->unit != UNIT_NS)
		amount /= 1e7;
	set_real(amount, value);
	if (of->values->mode != WINDOW_MODE_RATE)
		value_make_whole(value);
}

/* A word, or a number by which it is sorted where it has no name. */
static void set_commonest(const struct conclusion *of, struct value *value)
{
	const struct task_field_member *member = of->values->member;

	conclude_word(of, value);
	if (task_field_find_enumerator(member, (int64_t)value->word.value) == NULL)
		value->sort = task_field_number(member, value->word.value);
}

static void set_number(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;
	const struct task_field_member *member = of->values->member;

	switch (member->facts.reduction) {
	case TASK_FIELD_REDUCTION_MEAN:
		set_mean(accumulator, value);
		break;
	case TASK_FIELD_REDUCTION_MAXIMUM:
		set_maximum(member, accumulator->present.value, value);
		break;
	case TASK_FIELD_REDUCTION_AGE:
		set_age(accumulator->present.value, of->values->now->task_fields.read_at_ns, value);
		break;
	default:
		set_sum(accumulator, value);
		/* amounts are whole */
		if (member->facts.reduction == TASK_FIELD_REDUCTION_COUNTER &&
		    value->form == VALUE_FORM_REAL && value->real >= 0)
			value_make_whole(value);
		break;
	}
}

static void conclude(const struct conclusion *of, struct value *value)
{
	if (!value_set_state(of->accumulators, value))
		return;
	if (column_values_are_words(of->values)) {
		set_commonest(of, value);
		return;
	}
	if (of->values->is_real)
		set_amount(of, value);
	else
		set_number(of, value);
	value->partial = value->state == VALUE_READ && of->accumulators->missed != 0;
}

const struct column_kind column_kind_field = {
	.begin = begin,
	.add_thread = add_thread,
	.end = end,
	.conclude = conclude,
};
