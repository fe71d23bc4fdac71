/* SPDX-License-Identifier: GPL-2.0-only */
/* Two counters side by side: ratios and differences. */
#include "kind.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

struct both {
	bool *measured;
	bool as_rate;
	struct window_counter counters[2];
};

/* Adds both amounts, in rates as real numbers, where both are known. */
static void add_both(const struct column_values *values, struct accumulator *accumulator,
		     const uint16_t states[2], const union accumulated amounts[2])
{
	if (states[0] == REASON_READ && states[1] == REASON_READ) {
		for (size_t i = 0; i < 2; i++) {
			union accumulated *sum = &accumulator->sum[i];

			if (values->is_real)
				sum->real += amounts[i].real;
			else
				sum->whole = number_add_saturating(sum->whole, amounts[i].whole);
		}
		accumulator->read++;
		return;
	}
	/* one input is there and the other is not: the sums would be of different threads */
	accumulator->differs |= states[0] == REASON_READ || states[1] == REASON_READ;
	for (size_t i = 0; i < 2; i++) {
		if (states[i] != REASON_READ && states[i] != STATE_ABSENT) {
			accumulator_miss(accumulator, states[i]);
			return;
		}
	}
}

static void add_thread(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct both *both = reducer->work;
	union accumulated amounts[2];
	uint16_t states[2];

	for (size_t i = 0; i < 2; i++) {
		uint64_t elapsed;

		states[i] = window_amount(&both->counters[i], thread, both->as_rate, &amounts[i].whole,
					  &elapsed);
		if (both->as_rate && states[i] == REASON_READ)
			amounts[i].real = window_rate(&both->counters[i], amounts[i].whole, elapsed);
	}
	add_both(reducer->values, accumulator, states, amounts);
}

static void add_ended(const struct reducer *reducer, const struct ended_record *record,
		      struct accumulator *accumulator)
{
	const struct both *both = reducer->work;
	const double rate = reducer_scale(reducer->window, both->as_rate);
	union accumulated amounts[2];
	uint16_t states[2];

	for (size_t i = 0; i < 2; i++) {
		const int slot = reducer->entry->inputs[i];
		const uint8_t state = record->states[slot];

		if (both->as_rate)
			amounts[i].real = (double)record->amounts[slot] * rate;
		else
			amounts[i].whole = record->amounts[slot];
		states[i] = (state & ENDED_MISSED) != 0    ? record->reasons[slot]
			    : (state & ENDED_COUNTED) != 0 ? REASON_READ
							   : STATE_ABSENT;
	}
	add_both(reducer->values, accumulator, states, amounts);
}

static struct both *begin_both(struct reducer *reducer, bool as_rate)
{
	struct both *both = memory_allocate_zero(1, sizeof(*both));

	both->as_rate = reducer->values->is_real = as_rate;
	reducer->work = both;
	reducer->only_movers = reducer_knows_still(reducer);
	both->measured = reducer_find_counters(reducer, reducer->entry->inputs, 2, both->counters);
	return both;
}

/* A mean is one of the waits that were counted. */
static void begin_ratio(struct reducer *reducer)
{
	struct both *both = begin_both(reducer, false);

	for (size_t i = 0; i < 2; i++)
		both->counters[i].under_way &= column_counts_waits(reducer->values->column);
}

static void begin_net(struct reducer *reducer)
{
	begin_both(reducer, reducer->window->mode == WINDOW_MODE_RATE);
}

static void begin_difference(struct reducer *reducer)
{
	if (reducer->window->basis == WINDOW_MEASURED)
		reducer_count_lives(reducer);
	begin_both(reducer, false);
}

static void end(struct reducer *reducer)
{
	struct both *both = reducer->work;

	free(both->measured);
}

/* Sets the state; false where the inputs are not those of the same threads either. */
static bool set_state(const struct accumulator *accumulator, struct value *value)
{
	if (!value_set_state(accumulator, value))
		return false;
	value->form = VALUE_FORM_REAL;
	if (!accumulator->differs)
		return true;
	value->state = VALUE_UNAVAILABLE;
	value->reason = (reason_id)(accumulator->reason != REASON_READ ? accumulator->reason
								       : REASON_NOT_READ);
	return false;
}

static void conclude_ratio(const struct conclusion *of, struct value *value)
{
	const struct column_entry *entry = of->values->entry;
	const struct accumulator *accumulator = of->accumulators;
	double first = (double)accumulator->sum[0].whole, second = (double)accumulator->sum[1].whole;

	if (!set_state(accumulator, value))
		return;
	if (entry->operation == COLUMN_OPERATION_SHARE)
		second += first;
	if (second == 0.0) {
		value->state = VALUE_ABSENT;
		return;
	}
	value->real = first / second;
	if (entry->unit == UNIT_PERCENT)
		value->real *= 100.0;
	value->sort = value->real;
}

static void conclude_difference(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	if (!set_state(accumulator, value))
		return;
	if (accumulator->missed > 0 && of->values->basis != WINDOW_MEASURED) {
		/* it would be neither a bound nor a ratio of like parts */
		value->state = VALUE_UNAVAILABLE;
		value->reason = (reason_id)accumulator->reason;
		return;
	}
	value->partial = accumulator->missed > 0;
	value->real = (double)accumulator->sum[0].whole - (double)accumulator->sum[1].whole;
	value->sort = value->real;
}

const struct column_kind column_kind_ratio = {
	.begin = begin_ratio,
	.add_thread = add_thread,
	.add_ended = add_ended,
	.end = end,
	.conclude = conclude_ratio,
	.merge = merge_sums,
};

const struct column_kind column_kind_difference = {
	.begin = begin_difference,
	.add_thread = add_thread,
	.end = end,
	.conclude = conclude_difference,
	.merge = merge_sums,
};

const struct column_kind column_kind_net = {
	.begin = begin_net,
	.add_thread = add_thread,
	.add_ended = add_ended,
	.end = end,
	.conclude = conclude_net,
	.merge = merge_sums,
};
