/* SPDX-License-Identifier: GPL-2.0-only */
#include "reduce.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "kind.h"

static const struct column_kind *const column_kinds[] = {
#define OPERATION(id, kind, ...) [COLUMN_OPERATION_##id] = &column_kind_##kind,
#include "column_operation.def"
#undef OPERATION
};

/* --- threads to accumulators --- */

/* Adds the counts and flags of `one` to an accumulator, `count` times: for threads that did nothing and only
 * have a state, or for a row of another host. */
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
	struct accumulator one[TIME_PART_COUNT] = {0};
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
	const size_t stride = kind->stored_by_input && window->basis != WINDOW_MEASURED
				      ? reducer.entry->input_count
			      : kind->stride != 0 ? kind->stride
						  : 1;

	*ret_values = (struct column_values){
		.column = column,
		.mode = window->mode,
		.entry = reducer.entry,
		.kind = kind,
		.now = window->now,
		.unit = window->per_second ? column_entry(column)->unit
					   : column_unit(column, window->mode, shown->by_thread),
		.basis = window->basis,
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

void reduce_merge(const struct column_values *values, size_t row, struct accumulator *into)
{
	const struct accumulator *from = reduce_accumulator(values, row);
	bool merges;

	if (into->reason == REASON_SEVERAL_HOSTS)
		return;
	/* the row's only accumulator has no number if no member was read */
	merges = (values->stride == 1 && from->read == 0) ||
		 (values->kind->merge != NULL && values->kind->merge(values, from, into));
	if (!merges)
		*into = (struct accumulator){.missed = 1, .reason = REASON_SEVERAL_HOSTS};
	for (size_t i = 0; merges && i < values->stride; i++)
		add_copies(&into[i], &from[i], 1);
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
