/* SPDX-License-Identifier: GPL-2.0-only */
#include "reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "kind.h"

static const struct column_kind *const column_kinds[] = {
#define OPERATION(id, kind, ...) [COLUMN_OPERATION_##id] = &column_kind_##kind,
#include "column_operation.def"
#undef OPERATION
};

/* --- threads to accumulators --- */

/* Adds threads that stand still as often as there are: they did nothing, and have a state. */
static void add_copies(struct accumulator *accumulator, const struct accumulator *one, uint32_t count)
{
	accumulator->read += one->read * count;
	accumulator->missed += one->missed * count;
	if (accumulator->reason == REASON_READ)
		accumulator->reason = one->reason;
	accumulator->partial |= one->partial;
	accumulator->differs |= one->differs;
}

static void add_still_group(const struct reducer *reducer, const struct column_kind *kind,
			    const struct still_group *group)
{
	const struct shown *shown = reducer->shown;
	struct accumulator one[VALUE_SHARES] = {0};
	struct accumulator *accumulators = reducer_row(reducer, shown->row_of[group->first]);

	kind->add_thread(reducer, shown->threads[group->first], one);
	for (size_t i = 0; i < reducer->values->stride; i++)
		add_copies(&accumulators[i], &one[i], group->count);
}

/* Groups that stand still take their turn with their first threads: the first of several reasons counts. */
static void add_movers(const struct reducer *reducer, const struct column_kind *kind)
{
	const struct shown *shown = reducer->shown;
	size_t next = 0;

	for (size_t i = 0; i <= shown->mover_count; i++) {
		const uint32_t k = i < shown->mover_count ? shown->movers[i] : UINT32_MAX;

		for (; next < shown->still_count && shown->still_groups[next].first < k; next++)
			add_still_group(reducer, kind, &shown->still_groups[next]);
		if (k != UINT32_MAX)
			kind->add_thread(reducer, shown->threads[k], reducer_row(reducer, shown->row_of[k]));
	}
}

static void add_threads(const struct reducer *reducer, const struct column_kind *kind)
{
	const struct shown *shown = reducer->shown;

	if (reducer->only_movers) {
		add_movers(reducer, kind);
		return;
	}
	for (size_t k = 0; k < shown->count; k++)
		kind->add_thread(reducer, shown->threads[k], reducer_row(reducer, shown->row_of[k]));
}

static void add_ended(const struct reducer *reducer, const struct column_kind *kind)
{
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;

	if (window->ended == NULL || window->ended != shown->ended)
		return;
	for (size_t i = 0; i < window->ended->count; i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			kind->add_ended(reducer, &window->ended->records[i],
					reducer_row(reducer, shown->ended_row_of[i]));
	}
}

static const struct column_kind *kind_of(enum column column)
{
	/* the number of threads is that of a row */
	return column == COLUMN_METRICS + (int)METRIC_THREAD_COUNT
		       ? &column_kind_threads
		       : column_kinds[column_entry(column)->operation];
}

void reduce_column(const struct window *window, const struct shown *shown, enum column column,
		   struct column_values *ret_values)
{
	const struct column_kind *kind = kind_of(column);
	struct reducer reducer = {
		.window = window,
		.shown = shown,
		.entry = column_entry(column),
		.values = ret_values,
	};
	const size_t stride = kind->stored_by_input && window->as_stored ? reducer.entry->input_count
			      : kind->stride != 0                        ? kind->stride
									 : 1;

	*ret_values = (struct column_values){
		.column = column,
		.mode = window->mode,
		.entry = reducer.entry,
		.kind = kind,
		.now = window->now,
		.unit = window->per_second ? column_entry(column)->unit
					   : column_unit(column, window->mode, shown->by_thread),
		.as_stored = window->as_stored,
		.in_ticks = window->per_second && column_is_metric(column) &&
			    column_report_ladder(column) == LADDER_TICKS,
		.scale = 1,
		.stride = stride,
		.accumulators = memory_allocate_zero((shown->row_count + 1) * stride,
						     sizeof(struct accumulator)),
	};
	if (kind->begin != NULL)
		kind->begin(&reducer);
	if (kind->add_thread != NULL && !reducer.no_threads)
		add_threads(&reducer, kind);
	if (kind->add_ended != NULL && !reducer.no_threads)
		add_ended(&reducer, kind);
	if (kind->end != NULL)
		kind->end(&reducer);
	free(reducer.work);
}

bool *reducer_find_measured(const struct window *window, const struct shown *shown, enum metric metric)
{
	const size_t part_count = shown->part_of != NULL ? shown->part_count : shown->row_count;
	const uint32_t *part_of = shown->part_of != NULL ? shown->part_of : shown->row_of;
	bool *parts, *measured;

	if (!window->by_flags)
		return NULL;
	measured = memory_allocate_zero(window->now->thread_count + 1, sizeof(*measured));
	if (metrics[metric].family == METRIC_FAMILY_ALWAYS ||
	    metrics[metric].family == METRIC_FAMILY_LEADER) {
		memset(measured, true, window->now->thread_count);
		return measured;
	}
	parts = memory_allocate_zero(part_count + 1, sizeof(*parts));
	for (size_t k = 0; k < shown->count; k++) {
		if (!parts[part_of[k]])
			parts[part_of[k]] = snapshot_value_state(window->now, shown->threads[k], metric, true,
								 NULL) == VALUE_READ;
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
		reducer->only_movers &= window_counter_is_even(&counters[i]);
	}
	return measured;
}

/* Whether a thread has a value; counts it as missing where it should have one. */
static inline bool is_read(const struct metric_reader *reader, uint32_t thread,
			   struct accumulator *accumulator)
{
	reason_id reason;
	const enum value_state state = metric_reader_state(reader, thread, &reason);

	if (state == VALUE_UNAVAILABLE)
		accumulator_miss(accumulator, reason);
	return state == VALUE_READ;
}

void reducer_add_stored(struct reducer *reducer, const struct metric_reader *reader, const bool *measured,
			bool is_sum)
{
	const struct shown *shown = reducer->shown;

	if (!reducer->window->as_stored || reducer->window->counted != NULL)
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

void value_set_sum(const struct column_values *values, const struct accumulator *accumulator,
		   struct value *value)
{
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

void value_make_whole(struct value *value)
{
	/* 2^64: a double from here on does not fit */
	const double limit = 18446744073709551616.0;

	value->form = VALUE_FORM_WHOLE;
	value->whole = value->real < limit ? (uint64_t)round(value->real) : UINT64_MAX;
}

void value_set_present(const struct accumulator *accumulator, struct value *value)
{
	if (!value_set_state(accumulator, value))
		return;
	value->form = VALUE_FORM_WHOLE;
	value->whole = accumulator->present.value;
	value->sort = (double)accumulator->present.value;
	value->partial = accumulator->missed > 0 || accumulator->partial;
	value->rose = accumulator->rose;
}

void value_set_net(const struct column_values *values, const struct accumulator *accumulator,
		   struct value *value)
{
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
	value->real = values->is_real ? sum[0].real - sum[1].real
				      : (double)sum[0].whole - (double)sum[1].whole;
	value->sort = value->real;
}

void conclude_sum(const struct conclusion *of, struct value *value)
{
	value_set_sum(of->values, of->accumulators, value);
}

void conclude_present(const struct conclusion *of, struct value *value)
{
	value_set_present(of->accumulators, value);
}

void conclude_net(const struct conclusion *of, struct value *value)
{
	value_set_net(of->values, of->accumulators, value);
}

void reduce_value(const struct shown *shown, const struct column_values *values, size_t row,
		  struct value *ret_value)
{
	*ret_value = (struct value){.state = VALUE_ABSENT, .sort = NAN};
	values->kind->conclude(&(struct conclusion){.shown = shown,
						    .values = values,
						    .accumulators = reduce_accumulator(values, row),
						    .row = row},
			       ret_value);
}
