/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that several kinds of columns share. */
#include "kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"

bool *reducer_find_measured(const struct window *window, const struct shown *shown, enum metric metric)
{
	const size_t part_count = shown->part_of != NULL ? shown->part_count : shown->row_count;
	const uint32_t *part_of = shown->part_of != NULL ? shown->part_of : shown->row_of;
	bool *parts, *measured;

	if (window->basis != WINDOW_FLAGGED)
		return NULL;
	measured = memory_allocate_zero(window->now->thread_count + 1, sizeof(*measured));
	if (metrics[metric].family == METRIC_FAMILY_ALWAYS ||
	    metrics[metric].family == METRIC_FAMILY_LEADER || metrics[metric].family == METRIC_FAMILY_USER) {
		memset(measured, true, window->now->thread_count);
		return measured;
	}
	parts = memory_allocate_zero(part_count + 1, sizeof(*parts));
	for (size_t k = 0; k < shown->count; k++) {
		if (!parts[part_of[k]])
			parts[part_of[k]] = snapshot_flagged_state(window->now, shown->threads[k], metric) ==
					    REASON_READ;
	}
	for (size_t k = 0; k < shown->count; k++)
		measured[shown->threads[k]] = parts[part_of[k]];
	free(parts);
	return measured;
}

bool *reducer_find_counters(struct reducer *reducer, const int inputs[], size_t count,
			    struct window_counter counters[])
{
	bool *measured = reducer_find_measured(reducer->window, reducer->shown, (enum metric)inputs[0]);

	for (size_t i = 0; i < count; i++) {
		counters[i] = window_counter_of(reducer->window, (enum metric)inputs[i]);
		counters[i].measured = measured;
		counters[i].without_io_uring = reducer->values->column < COLUMN_COUNT;
		reducer->only_movers &= window_counter_is_even(&counters[i]);
	}
	return measured;
}

/* Whether a thread has a value; counts it as missing where it should have one. */
static inline bool is_read(const struct metric_reader *reader, uint32_t thread,
			   struct accumulator *accumulator)
{
	const uint16_t state = metric_reader_state(reader, thread);

	if (state != REASON_READ && state != STATE_ABSENT)
		accumulator_miss(accumulator, state);
	return state == REASON_READ;
}

void reducer_add_stored(struct reducer *reducer, const struct metric_reader *reader, const bool *measured,
			bool is_sum)
{
	const struct shown *shown = reducer->shown;

	if (reducer->window->basis == WINDOW_MEASURED || reducer->window->counted != NULL)
		return;
	/* the threads of one row mostly follow each other */
	for (size_t k = 0; k < shown->count;) {
		const uint32_t row = shown->row_of[k];
		struct accumulator *accumulator = reducer_row(reducer, row);
		uint64_t number = is_sum ? accumulator->sum[0].whole : accumulator->present.value;
		uint32_t read = 0;

		for (; k < shown->count && shown->row_of[k] == row; k++) {
			const uint32_t thread = shown->threads[k];
			const uint64_t value = metric_reader_value(reader, thread);

			if (measured != NULL ? !measured[thread] : !is_read(reader, thread, accumulator))
				continue;
			read++;
			number = is_sum           ? number_add_saturating(number, value)
				 : value > number ? value
						  : number;
		}
		accumulator->read += read;
		if (is_sum)
			accumulator->sum[0].whole = number;
		else
			accumulator->present.value = number;
	}
	reducer->no_threads = true;
}

/* --- the commonest value --- */

void reducer_add_word(struct accumulator *accumulator, uint64_t value)
{
	if (accumulator->read++ == 0)
		accumulator->present.value = value;
	accumulator->differs |= value != accumulator->present.value;
	accumulator->present.threads++;
}

/* Takes a run of equal values of a row, if it is longer than those before or comes first of equals. */
static void elect(const struct reducer *reducer, reducer_comes_first *comes_first, size_t row, uint64_t value,
		  uint32_t threads)
{
	struct accumulator *accumulator = reducer_row(reducer, row);

	if (threads < accumulator->present.threads ||
	    (threads == accumulator->present.threads &&
	     !comes_first(reducer, value, accumulator->present.value)))
		return;
	accumulator->present.threads = threads;
	accumulator->present.value = value;
}

void reducer_elect_words(const struct reducer *reducer, reducer_word *word_of,
			 reducer_comes_first *comes_first)
{
	const struct shown *shown = reducer->shown;
	struct order_item *pairs; /* of row and value, to be counted by sorting */
	size_t count = 0, differing = 0;

	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		differing += accumulator->differs;
		if (accumulator->differs)
			accumulator->present.threads = 0;
	}
	if (differing == 0)
		return;
	pairs = memory_allocate((shown->count + 1) * sizeof(*pairs));
	for (size_t k = 0; k < shown->count; k++) {
		pairs[count] = (struct order_item){.first = shown->row_of[k]};
		count += reducer_row(reducer, shown->row_of[k])->differs &&
			 word_of(reducer, shown->threads[k], &pairs[count].second);
	}
	order_items(pairs, count);
	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count && pairs[i + run].first == pairs[i].first &&
			      pairs[i + run].second == pairs[i].second;)
			run++;
		elect(reducer, comes_first, (size_t)pairs[i].first, pairs[i].second, (uint32_t)run);
	}
	free(pairs);
}

/* --- accumulators to values --- */

bool value_set_state(const struct accumulator *accumulator, struct value *value)
{
	value->reason = (reason_id)accumulator->reason;
	if (accumulator->read > 0)
		value->state = VALUE_READ;
	else if (accumulator->missed > 0)
		value->state = VALUE_UNAVAILABLE;
	return value->state == VALUE_READ;
}

void conclude_sum(const struct conclusion *of, struct value *value)
{
	const struct column_values *values = of->values;
	const struct accumulator *accumulator = of->accumulators;

	if (!value_set_state(accumulator, value))
		return;
	value->partial = accumulator->missed > 0 || accumulator->partial;
	if (values->is_real) {
		value->form = VALUE_FORM_REAL;
		value->real = values->unit == UNIT_PERCENT ? accumulator->sum[0].real / 1e7
			      : values->in_ticks           ? accumulator->sum[0].real / NS_PER_TICK
							   : accumulator->sum[0].real;
		value->sort = value->real;
	} else {
		value->form = VALUE_FORM_WHOLE;
		value->whole = number_multiply_saturating(accumulator->sum[0].whole, values->scale);
		value->sort = (double)value->whole;
	}
}

void conclude_present(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	if (!value_set_state(accumulator, value))
		return;
	value->form = VALUE_FORM_WHOLE;
	value->whole = accumulator->present.value;
	value->sort = (double)accumulator->present.value;
	value->partial = accumulator->missed > 0 || accumulator->partial;
	value->rose = accumulator->rose;
}

void conclude_net(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;
	const union accumulated *sum = accumulator->sum;

	value->reason = (reason_id)accumulator->reason;
	/* a difference that lacks a part may be more or less than the known rest */
	if (accumulator->missed > 0) {
		value->state = VALUE_UNAVAILABLE;
		return;
	}
	if (!value_set_state(accumulator, value))
		return;
	value->form = VALUE_FORM_REAL;
	value->real = of->values->is_real ? sum[0].real - sum[1].real
					  : (double)sum[0].whole - (double)sum[1].whole;
	value->sort = value->real;
}

void conclude_word(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	if (!value_set_state(accumulator, value))
		return;
	value->form = VALUE_FORM_WORD;
	value->differs = accumulator->differs;
	value->partial = accumulator->missed > 0;
	value->word.value = accumulator->present.value;
	value->word.threads = accumulator->present.threads;
	value->word.of = accumulator->read;
}

/* --- several hosts --- */

bool merge_sums(const struct column_values *values, const struct accumulator *from, struct accumulator *into)
{
	for (size_t i = 0; i < values->stride; i++) {
		for (size_t k = 0; k < ARRAY_COUNT(into->sum); k++) {
			union accumulated *sum = &into[i].sum[k];

			if (values->is_real)
				sum->real += from[i].sum[k].real;
			else
				sum->whole = number_add_saturating(sum->whole, from[i].sum[k].whole);
		}
	}
	return true;
}

bool merge_present(const struct column_values *values, const struct accumulator *from,
		   struct accumulator *into)
{
	(void)values;
	into->present.value = number_add_saturating(into->present.value, from->present.value);
	return true;
}

bool merge_largest(const struct column_values *values, const struct accumulator *from,
		   struct accumulator *into)
{
	(void)values;
	if (into->read != 0 && from->present.value < into->present.value)
		return true;
	into->rose = from->rose || (into->rose && from->present.value == into->present.value);
	into->present.value = from->present.value;
	return true;
}

void value_make_whole(struct value *value)
{
	/* 2^64: a double from here on does not fit */
	const double limit = 18446744073709551616.0;

	value->form = VALUE_FORM_WHOLE;
	value->whole = value->real < limit ? (uint64_t)round(value->real) : UINT64_MAX;
}
